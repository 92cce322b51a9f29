// The worker and the zygotes' C under AddressSanitizer and UndefinedBehaviorSanitizer (make asan): a part of the contract
// again, hostile frames, and a clean end without a leak. build/asan has the same layout as build.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { cpSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { build, libexec, program, root, temporaryDirectory } from '../lib/paths.mjs'
import { probeProgram } from '../lib/probe.mjs'
import { Worker } from '../lib/worker.mjs'

// What the sanitizers say ends the process and stands in its log.
const options = { ASAN_OPTIONS: 'detect_leaks=1:abort_on_error=1:detect_stack_use_after_return=1', UBSAN_OPTIONS: 'halt_on_error=1:print_stacktrace=1' }
const reports = /AddressSanitizer|LeakSanitizer|runtime error:/

// Node.js itself is not instrumented, so neither can its addon be: that one comes from the ordinary build.
function engines() {
  const directory = temporaryDirectory()
  const parts = join(directory, 'libexec/code-runner')
  mkdirSync(join(directory, 'bin'))
  cpSync(program, join(directory, 'bin/code-runner'))
  cpSync(libexec, parts, { recursive: true })
  cpSync(join(root, 'build/libexec/code-runner/node-guest.node'), join(parts, 'node-guest.node'))
  return join(directory, 'bin/code-runner')
}

async function ends(worker) {
  const end = await worker.close()
  assert.doesNotMatch(worker.log, reports)
  assert.deepEqual(end, { code: 0, signal: null }, worker.log)
}

test('it is an instrumented build', () => {
  assert.ok(existsSync(program), `${program}: make asan`)
  const { stdout } = spawnSync('nm', ['-D', '--defined-only', program], { encoding: 'utf8' })
  const symbols = stdout + spawnSync('nm', [program], { encoding: 'utf8' }).stdout
  assert.match(symbols, /__asan_/)
  assert.match(symbols, /__ubsan_/)
})

describe('frames and system calls of the probe', () => {
  let worker
  before(async () => {
    worker = await Worker.start({ bin: probeProgram(), env: options, config: { default_timeout_ms: 2000 } })
  })
  after(() => ends(worker))
  const attempts = ['garbage', 'too_long', 'done_of_nobody', 'done_cut_short', 'unknown_type', 'unknown_operation', 'value_not_json', 'value_with_lines', 'value_not_text',
    'value_forges_answer', 'value_empty', 'value_half_surrogate', 'kind_unknown', 'omitted_cut_short', 'exit_code_huge', 'exit_code_negative', 'all_flags', 'value_deep', 'done_twice',
    'close_all', 'close_stream', 'abort_itself', 'kill_itself', 'leave_quietly', 'leave_loudly', 'fill', 'many_files']
  for (const lang of ['node', 'python'])
    for (const name of attempts)
      test(`${name} (${lang})`, async () => {
        const { result, error } = await worker.run({ lang, code: name })
        assert.ok(result || error)
        assert.equal((await worker.run({ lang, code: 'count' })).result?.result.returned, 1)
      })
  for (const name of ['call_flood', 'mark_flood', 'output_flood', 'half_a_frame', 'spin'])
    test(name, async () => assert.equal((await worker.run({ lang: 'node', code: name, timeout_ms: 500 })).error?.code, 'code-runner::timeout'))
})

describe('both engines', () => {
  let worker, bin
  const ids = {}
  before(async () => {
    bin = engines()
    worker = await Worker.start({ bin, env: options })
  })
  after(() => ends(worker))
  const cases = {
    'a result': { node: 'return { a: [1, "é😀"] }', python: 'result = {"a": [1, "é😀"]}' },
    'a failure': { node: 'throw new Error("x")', python: 'raise Exception("x")' },
    'a syntax error': { node: 'return (', python: 'x = (' },
    'a large result': { node: 'return "x".repeat(1 << 20)', python: 'result = "x" * (1 << 20)' },
    'much output': { node: 'for (let i = 0; i < 300; i++) console.log("é".repeat(1000))', python: 'for i in range(300): print("é" * 1000)' },
    'bytes that are no text': { node: 'require("fs").writeSync(1, Buffer.from([255, 254, 0xe2, 0x82]))', python: 'import os\nos.write(1, b"\\xff\\xfe\\xe2\\x82")' },
    'files': { node: 'iii.files.write("a", "b"); return iii.files.list()', python: 'open("a", "w").write("b")\nimport os\nresult = os.listdir()' },
    'a bus call': { node: 'try { await iii.trigger({ function_id: "a::b" }) } catch (e) { return 1 }', python: 'try: iii.trigger({"function_id": "a::b"})\nexcept RuntimeError: result = 1' },
    'a deadline': { node: 'console.log("x"); for(;;);', python: 'print("x", flush=True)\nwhile True: pass' },
    'an early end': { node: 'process.exit(3)', python: 'import os\nos._exit(3)' },
    'a crash': { node: 'process.abort()', python: 'import os\nos.abort()' },
  }
  for (const [name, code] of Object.entries(cases))
    for (const lang of ['node', 'python'])
      test(`${name} (${lang})`, async () => {
        const { result, error } = await worker.run({ lang, code: code[lang], timeout_ms: name === 'a deadline' ? 300 : 20000 })
        assert.ok(result ?? error.code === 'code-runner::timeout', JSON.stringify(error))
        assert.doesNotMatch(worker.log, reports)
      })
  for (const lang of ['node', 'python'])
    test(`a kept runtime, waiting runs, teardown (${lang})`, async () => {
      ids[lang] = await worker.keep(lang)
      const code = lang === 'node' ? 'await new Promise(r => setTimeout(r, 50))' : 'import time\ntime.sleep(0.05)'
      const runs = Array.from({ length: 4 }, () => worker.run({ runtime_id: ids[lang], code }))
      const down = worker.teardown({ runtime_id: ids[lang] })
      await Promise.all(runs)
      assert.ok((await down).result.torn_down)
      assert.equal((await worker.teardown({ runtime_id: ids[lang] })).error.code, 'code-runner::runtime_not_found')
    })
  test('malformed requests', async () => {
    for (const line of ['nonsense', '{"id":', '[]', '{"id":1,"function_id":"code-runner::run","payload":{"code":1}}', '\u0000', '{"id":2,"function_id":"code-runner::teardown","payload":{"namespace":"A"}}']) worker.writeLine(line)
    await worker.ready()
    assert.equal(worker.unclaimed.length >= 5, true)
  })
  test('requests in flight when the input ends', async () => {
    const other = await Worker.start({ bin, env: options })
    const runs = Array.from({ length: 8 }, (_, i) => other.run({ lang: i % 2 ? 'node' : 'python', code: '', timeout_ms: 20000 }))
    await ends(other)
    for (const answer of await Promise.all(runs)) assert.ok(answer.result, JSON.stringify(answer))
  })
  test('a worker that is told to stop in the middle', async () => {
    const other = await Worker.start({ bin, env: options })
    for (let i = 0; i < 6; i++) other.run({ lang: i % 2 ? 'node' : 'python', code: i % 2 ? 'for(;;);' : 'while True: pass' }).catch(() => {})
    other.keep('node').catch(() => {})
    await new Promise((resolve) => setTimeout(resolve, 300))
    const end = await other.kill('SIGTERM')
    assert.doesNotMatch(other.log, reports)
    assert.deepEqual(end, { code: 0, signal: null }, other.log)
  })
})
