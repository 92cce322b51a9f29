// Every module that guests were promised is imported and used, each in a runtime of its own.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Worker } from '../lib/worker.mjs'
import { modules } from './modules.mjs'

let worker
before(async () => {
  worker = await Worker.start()
})
after(() => worker.close())

for (const [name, code, result, { stderr = '', stdout = '' } = {}] of modules) {
  test(name, async () => {
    const { result: answer, raw } = await worker.run({ lang: 'python', code, timeout_ms: 20000 })
    assert.equal(answer?.exit_code, 0, raw)
    assert.deepEqual(answer.result, result)
    if (stdout instanceof RegExp) assert.match(answer.stdout, stdout)
    else assert.equal(answer.stdout, stdout)
    assert.equal(answer.stderr, stderr)
  })
}

// Whatever the interpreter can find can be imported: nothing was left behind that needs what is not there.
test('all other modules of the library import', async () => {
  const code = `
import sys, importlib
library = next(f for f in sys.meta_path if repr(f) == '<standard library>')
expected = {'_aix_support', '_distutils_system_mod', 'antigravity', 'this', 'tty', '_osx_support', 'idlelib.__main__'}
failed = {}
for name in sorted(library.modules):
    top = name.split('.')[0]
    if name.endswith('__main__') or top in ('_pyrepl', 'tzdata', 'pydoc_data') or name in expected:
        continue
    try:
        importlib.import_module(name)
    except ImportError as error:
        failed[name] = str(error)
result = failed`
  const { result: answer, raw } = await worker.run({ lang: 'python', code, timeout_ms: 30000, memory_mb: 512 })
  assert.equal(answer?.exit_code, 0, raw)
  const known = /_curses|_ctypes|termios|fcntl|msvcrt|winreg|_winapi|_overlapped|_scproxy|readline|sandbox|_socket|mmap|_posixshmem|win32|mbcs_encode|oem_encode/
  const unknown = Object.entries(answer.result).filter(([, why]) => !known.test(why))
  assert.deepEqual(unknown, [])
})
