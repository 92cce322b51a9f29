// Sections 3 to 6, 9, 12 over the bus: answers, errors, caps, life of a runtime, who learns an id.
import assert from 'node:assert/strict'
import { sleep } from '../lib/proc.mjs'
import { table } from './lib/table.mjs'

const both = (s, name, node, python, want, more = {}) => ({ s, name, node, python, want, ...more })
const forever = { node: 'for (;;) {}', python: 'while True: pass' }
const values = [['null', null], ['true', true], ['a number', -1.5], ['text', 'ü\u0000"\\\u2028\u{1f600}'], ['an empty text', ''], ['an array', [1, [2, {}]]], ['an object', { a: { 'ключ': [null] } }]]

table('answers of run', [
  ...values.map(([name, value]) => both('6.2', `result: ${name}`, `return ${JSON.stringify(value)}`, `import json\nresult = json.loads(${JSON.stringify(JSON.stringify(value))})`, { result: value })),
  both('2.2', 'nothing at all', '', '', { result: null, stdout: '', stderr: '' }),
  both('3.2', 'streams', 'console.log("out"); console.error("err")', 'import sys\nprint("out")\nprint("err", file=sys.stderr)', { stdout: 'out\n', stderr: 'err\n' }),
  both('3.2', 'a failure is a response', 'console.log(1); throw new TypeError("so")', 'print(1)\nraise TypeError("so")', { exit: 1, stdout: '1\n', stderr: /^TypeError: so\n/ }),
  both('3.2', 'a SyntaxError is a response', 'return (', 'def (', { exit: 1 }, { wantNode: { stderr: /^SyntaxError: / }, wantPython: { stderr: /\(line 1\)\n$/ } }),
  both('3.2', 'exit with a number', 'process.exit(3)', 'import sys\nsys.exit(3)', { exit: 3 }),
  both('3.2', 'not JSON', 'return () => 1', 'result = object()', { result: null }),
  both('3.2', 'past the deadline', forever.node, forever.python, { error: 'timeout', message: 'execution exceeded its deadline' }, { more: { timeout_ms: 200 } }),
  both('12.5', 'a sleeping guest is stopped as well', 'await new Promise(() => {})', 'import time\ntime.sleep(60)', { error: 'timeout' }, { more: { timeout_ms: 200 } }),
  both('12.6', 'memory', 'const a = []; for (;;) a.push(new Array(1e5).fill(1.5))', 'a = []\nwhile True: a.append(bytes(1 << 20) + b"1")', { error: 'resource_exhausted' }, { more: { timeout_ms: 20000 } }),
  both('12.5', 'timeout_ms 0 is the default', 'return 1', 'result = 1', { result: 1 }, { more: { timeout_ms: 0 } }),
])

const marker = '\n[…stdout truncated: was ~19 KB; middle omitted]\n'
const budget = 16384 - Buffer.byteLength(marker)
const head = Math.floor(budget * 0.6)

table('caps', [
  both('5.1', 'result over 32768 bytes', 'return Array.from({ length: 100000 }, (_, i) => i)', 'result = list(range(100000))', { result: '<omitted: result was ~575 KB (100000 array elements); returning it whole would flood the model context — print a slice, aggregate in code, or write it to iii.files and return a summary>' }),
  both('5.1', 'result of exactly 32768 bytes', 'return "x".repeat(32766)', 'result = "x" * 32766', { result: (r) => r.length === 32766 }),
  both('5.1', 'result of 32769 bytes', 'return "x".repeat(32767)', 'result = "x" * 32767', { result: (r) => r.startsWith('<omitted: result was ~32 KB (a 32767-char string)') }),
  both('5.2', 'a stream of exactly 16384 bytes', 'process.stdout.write("x".repeat(16384))', 'print("x" * 16384, end="")', { stdout: 'x'.repeat(16384) }),
  both('5.2', 'a stream over 16384 bytes', 'process.stdout.write("a".repeat(10000) + "z".repeat(10000))', 'print("a" * 10000 + "z" * 10000, end="")', { stdout: `${'a'.repeat(head)}${marker}${'z'.repeat(budget - head)}` }),
  both('5', 'errors carry at most the end of the streams', 'console.log("first".repeat(1000)); console.log("last words"); for (;;) {}', 'print("first" * 1000)\nprint("last words", flush=True)\nwhile True: pass', { error: 'timeout', message: ['last words'] }, { more: { timeout_ms: 300 } }),
  { s: '5', name: 'caps off: what no bus message carries is a stated error', langs: ['node'], config: { max_result_bytes: 0 }, steps: async (t) => {
    const { error } = await t.call('code-runner::run', { lang: 'node', code: 'return "x".repeat(20 << 20)' })
    assert.deepEqual([error.code, /16 MiB/.test(error.message)], ['message_too_large', true], error.message)
    await t.run('return 1', { result: 1 })
  } },
  both('5', 'caps off: a long result passes whole', 'return "x".repeat(5 << 20)', 'result = "x" * 1000000', { result: (r) => r.length >= 1000000 }, { config: { max_result_bytes: 0 } }),
  { s: '5.4', name: 'caps off: python over 1 MiB is a failed run', python: 'result = "x" * 1048576', config: { max_result_bytes: 0 }, want: { exit: 1, stderr: ['serialized result is 1048578 bytes; max 1048576'] } },
])

table('life of a runtime', [
  { s: '4', name: 'one-shots answer no id and share nothing', steps: async (t) => {
    await t.run({ node: 'globalThis.a = 1', python: 'a = 1' })
    await t.run({ node: 'return typeof a', python: 'result = "a" in globals() and "number" or "undefined"' }, { result: 'undefined' })
  } },
  { s: '4', name: 'kept: globals and files stay', steps: async (t) => {
    const id = await t.keep({ node: 'globalThis.a = 41; iii.files.write("f", "x")', python: 'a = 41\nopen("f", "w").write("x")' })
    assert.equal(await t.on(id, { node: 'return a + 1 + iii.files.readText("f")', python: 'result = str(a + 1) + open("f").read()' }), '42x')
  } },
  { s: '4', name: 'keep: false with an id keeps', steps: async (t) => {
    const id = await t.keep()
    await t.on(id, '', {}, { keep: false })
    await t.on(id, '')
  } },
  { s: '4', name: 'a failed keep answers no id and leaves no slot', steps: async (t) => {
    for (let i = 0; i < 40; i++) await t.run({ node: 'throw 1', python: 'raise Exception' }, { exit: 1 }, { keep: true })
  } },
  { s: '4', name: 'a failure keeps a kept runtime', steps: async (t) => {
    const id = await t.keep()
    await t.on(id, { node: 'throw 1', python: '1 / 0' }, { exit: 1 })
    await t.on(id, '')
  } },
  { s: '12.5', name: 'a deadline ends a node runtime: expired', langs: ['node'], steps: async (t) => {
    const id = await t.keep()
    await t.on(id, forever, { error: 'timeout' }, { timeout_ms: 150 })
    await t.on(id, '', { error: 'expired', message: [id] })
    await t.fails('expired', id, 'code-runner::teardown', { runtime_id: id }, { want: { id: true } })
  } },
  { s: '9.6', name: 'a deadline costs python its globals, not its files', langs: ['python'], steps: async (t) => {
    const id = await t.keep('a = 1\nopen("f", "w").write("x")')
    await t.on(id, forever, { error: 'timeout' }, { timeout_ms: 150 })
    assert.deepEqual(await t.on(id, 'result = ["a" in globals(), open("f").read()]'), [false, 'x'])
  } },
  { s: '12.6', name: 'memory ends a node runtime: expired', langs: ['node'], steps: async (t) => {
    const id = await t.keep()
    await t.on(id, 'const a = []; for (;;) a.push(new Array(1e5).fill(1.5))', { error: 'resource_exhausted' }, { timeout_ms: 20000 })
    await t.on(id, '', { error: 'expired' })
  } },
  { s: '9.7', name: 'memory_mb binds', langs: ['python'], steps: async (t) => {
    await t.run('b = bytes(100 << 20)\nresult = len(b)', { result: 100 << 20 }, { memory_mb: 256 })
    await t.run('b = bytes(100 << 20)', { error: 'resource_exhausted' }, { memory_mb: 64 })
  } },
  { s: '12.2', name: 'capacity, shared by the languages', langs: ['node', 'python'], config: { max_runtimes: 2 }, steps: async (t) => {
    const other = t.pick({ node: 'python', python: 'node' })
    await t.keep()
    await t.keep('', { lang: other })
    await t.run('', { error: 'capacity', message: 'all 2 runtime slots are in use' })
    await t.run('', { error: 'capacity' }, { lang: other, keep: true })
    await t.refuses('f', { node: 'function handler() {}', python: 'def handler(p): pass' }, 'capacity', '2')
    await t.ok('code-runner::teardown', { runtime_id: t.kept.pop() })
    await t.run({ node: 'return 1', python: 'result = 1' }, { result: 1 })
  } },
  { s: '12.2', name: 'max_runtimes 0 refuses everything', node: '', python: '', config: { max_runtimes: 0 }, want: { error: 'capacity', message: 'all 0 runtime slots are in use' } },
  { s: '12.4', name: 'runs on one runtime are in order', steps: async (t) => {
    const id = await t.keep({ node: 'globalThis.a = []', python: 'a = []' })
    await Promise.all(Array.from({ length: 10 }, (_, i) => t.on(id, { node: `a.push(${i})`, python: `a.append(${i})` })))
    assert.deepEqual(await t.on(id, { node: 'return a', python: 'result = a' }), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  } },
  { s: '12.4', name: 'a spinning guest delays nobody', steps: async (t) => {
    const id = await t.keep()
    const spin = t.on(id, forever, { error: 'timeout' }, { timeout_ms: 1000 })
    const started = performance.now()
    for (let i = 0; i < 5; i++) await t.run({ node: 'return 1', python: 'result = 1' }, { result: 1 })
    assert.ok(performance.now() - started < 1000)
    await spin
  } },
  { s: '14', name: 'teardown by id: exactly its fields, then not found', steps: async (t) => {
    const id = await t.keep()
    assert.deepEqual(await t.ok('code-runner::teardown', { runtime_id: id }), { torn_down: true, unregistered: [], runtime_id: id })
    await t.on(id, '', { error: 'runtime_not_found' })
    await t.fails('runtime_not_found', id, 'code-runner::teardown', { runtime_id: id }, { want: { id: true } })
  } },
  { s: '4', name: 'torn down while a run waits', steps: async (t) => {
    const id = await t.keep()
    const first = t.on(id, { node: 'await new Promise((r) => setTimeout(r, 300))', python: 'import time\ntime.sleep(0.3)' })
    await sleep(50)
    const end = t.ok('code-runner::teardown', { runtime_id: id })
    await sleep(20)
    const late = t.on(id, '', { error: 'runtime_not_found' })
    await Promise.all([first, end, late])
  } },
  { s: '12.7', name: 'an idle runtime expires', config: { idle_ttl_secs: 1 }, steps: async (t) => {
    const id = await t.keep()
    await sleep(2600)
    await t.on(id, '', { error: 'expired' })
  } },
  { s: '12.7', name: 'a busy runtime does not', config: { idle_ttl_secs: 1 }, steps: async (t) => {
    const id = await t.keep()
    await t.on(id, { node: 'await new Promise((r) => setTimeout(r, 2600)); return 1', python: 'import time\ntime.sleep(2.6)\nresult = 1' }, { result: 1 })
  } },
  { s: '12.1', name: 'ids are random', steps: async (t) => {
    assert.notEqual(await t.keep(), await t.keep())
  } },
])
