// Sections 2, 3 and 4: requests, responses, errors, the life of a run.
import assert from 'node:assert/strict'
import { check } from './expect.mjs'
import { table } from './table.mjs'
import { Worker } from '../lib/worker.mjs'
import { sleep } from '../lib/proc.mjs'

const invalid = (message) => ({ error: 'invalid_request', message })
const one = { node: 'return 1', python: 'result = 1' }

const badPayloads = [null, [], 'text', 1, true].map((payload) => ({
  s: '2.1', name: `a payload that is ${JSON.stringify(payload)} is refused`, langs: ['node'],
  steps: async (t) => check(await t.w.call('code-runner::run', payload), invalid('object')),
}))

const badFields = [
  ['code', undefined], ['code', null], ['code', 1], ['code', ['x']], ['code', { a: 1 }],
  ['runtime_id', 1], ['runtime_id', false], ['runtime_id', {}],
  ['lang', 'ruby'], ['lang', 'Node'], ['lang', ''], ['lang', 1], ['lang', ['node']], ['lang', true],
  ['keep', null], ['keep', 1], ['keep', 'true'], ['keep', []],
  ['timeout_ms', -1], ['timeout_ms', 1.5], ['timeout_ms', '100'], ['timeout_ms', true], ['timeout_ms', []],
  ['memory_mb', -1], ['memory_mb', 0.5], ['memory_mb', '64'], ['memory_mb', {}],
].map(([field, value]) => ({
  s: '2.2', name: `${field}: ${JSON.stringify(value) ?? 'missing'} is refused by name`, langs: ['node'],
  steps: async (t) => check(await t.w.run({ lang: 'node', code: 'return 1', [field]: value }), invalid(field)),
}))

table('Requests (2)', [
  ...badPayloads,
  ...badFields,
  { s: '2.1', name: 'unknown fields are ignored', ...one, ask: { _caller_worker_id: 'w', payload: 1, env: {}, network: true, image: 'x', namespace: 'n', '': null }, want: { result: 1 } },
  { s: '2.1', name: 'null for an optional field is "not given"', ...one, ask: { runtime_id: null, timeout_ms: null, memory_mb: null }, want: { result: 1 } },
  { s: '2.2', name: 'empty code is legal', node: '', python: '', want: { result: null, stdout: '', stderr: '' } },
  { s: '2.2', name: 'code of white space and comments is legal', node: '  // nothing\n', python: '\n# nothing\n', want: { result: null } },
  { s: '2.2', name: 'a response has exactly its keys', ...one, want: { result: 1, stdout: '', stderr: '' } },
  { s: '2.2', name: 'runtime_id is present when a runtime outlives the call', langs: ['node', 'python'], steps: async (t) => {
    const answer = await t.run(one, { id: true, result: 1 }, { keep: true })
    t.kept.push(answer.result.runtime_id)
    await t.on(answer.result.runtime_id, one, { result: 1 })
  } },
  { s: '2.2', name: 'keep: false with a runtime_id never destroys the runtime', steps: async (t) => {
    const id = await t.keep()
    await t.on(id, one, { result: 1 }, { keep: false })
    await t.on(id, one, { result: 1 })
  } },
  { s: '2.2', name: 'keep: true with a runtime_id mints no second one', steps: async (t) => {
    const id = await t.keep()
    const { result } = await t.on(id, one, { result: 1 }, { keep: true })
    assert.equal(result.runtime_id, id)
  } },
  { s: '2.2', name: 'timeout_ms 0 is "not given"', ...one, ask: { timeout_ms: 0 }, want: { result: 1 } },
  { s: '2.2', name: 'an enormous timeout_ms is clamped', ...one, ask: { timeout_ms: Number.MAX_SAFE_INTEGER }, want: { result: 1 } },
  { s: '2.2', name: 'duration_ms is wall time, queueing included', steps: async (t) => {
    const id = await t.keep()
    const pause = { node: 'await new Promise(r => setTimeout(r, 200))', python: 'import time\ntime.sleep(0.2)' }
    const [first, second] = await Promise.all([t.on(id, pause, {}), t.on(id, pause, {})])
    assert.ok(first.result.duration_ms >= 195 && first.result.duration_ms < 390, `${first.result.duration_ms}`)
    assert.ok(second.result.duration_ms >= 390, `${second.result.duration_ms}`)
  } },
  { s: '2.2', name: 'text of every plane survives in code, result and streams', node: 'console.log("é€😀"); return "é€😀\\u0000\\t\\"\\\\"', python: 'print("é€😀")\nresult = "é€😀\\0\\t\\"\\\\"', want: { result: 'é€😀\0\t"\\', stdout: 'é€😀\n' } },
  { s: '1', name: 'a function that is not there is not found', langs: ['node'], steps: async (t) => {
    const answer = await t.w.call('code-runner::nope', {})
    assert.ok(answer.error, answer.raw)
    assert.ok(answer.error.message.includes('code-runner::nope'))
  } },
  { s: '1', name: 'eval, list_runtimes and register_worker do not exist', langs: ['node'], steps: async (t) => {
    for (const name of ['eval', 'list_runtimes', 'register_worker', 'eject'])
      assert.ok((await t.w.call(`code-runner::${name}`, { code: '1' })).error, name)
  } },
])

table('Errors and responses (3)', [
  { s: '3.2', name: 'a raised error is a response', node: 'throw new Error("boom")', python: 'raise ValueError("boom")', want: { exit: 1, result: null, stderr: ['boom'] } },
  { s: '3.2', name: 'a rejected promise is a response', node: 'return Promise.reject(new TypeError("no"))', want: { exit: 1, stderr: /^TypeError: no\n/ } },
  { s: '3.2', name: 'a syntax error is a response', node: 'return (', python: 'x = (', want: { exit: 1, result: null }, wantNode: { stderr: /^SyntaxError: / } },
  { s: '3.2', name: 'an uncaught exception of iii is a response', node: 'iii.files.read("missing")', python: 'iii.trigger(3)', want: { exit: 1, stderr: ['TypeError'] } },
  { s: '3.2', name: 'BaseException is a response', python: 'raise KeyboardInterrupt("k")', want: { exit: 1, stderr: /^KeyboardInterrupt: k\n/ } },
  ...[['', 0], ['0', 0], ['None', 0], ['False', 0]].map(([argument, exit]) => ({ s: '3.2', name: `sys.exit(${argument}) is a success and the result stands`, python: `import sys\nresult = 7\nsys.exit(${argument})`, want: { exit, result: 7, stderr: '' } })),
  ...[[1, 1], [3, 3], [255, 255], [256, 1], [257, 1], [258, 2], [-1, 255], [512, 1], ['True', 1], ['10**30', 1]].map(([n, exit]) => ({ s: '3.2', name: `sys.exit(${n}) gives ${exit}`, python: `import sys\nresult = 7\nsys.exit(${n})`, want: { exit, result: null } })),
  { s: '3.2', name: 'sys.exit(text) writes the text', python: 'import sys\nsys.exit("bye")', want: { exit: 1, result: null, stderr: 'bye\n' } },
  { s: '3.2', name: 'sys.exit of a list writes it', python: 'import sys\nsys.exit([1, 2])', want: { exit: 1, stderr: '[1, 2]\n' } },
  { s: '3.2', name: 'SystemExit raised by hand counts alike', python: 'raise SystemExit(5)', want: { exit: 5, stderr: '' } },
  { s: '3.2', name: 'a deadline is an error', node: 'for(;;);', python: 'while True: pass', ask: { timeout_ms: 200 }, want: { error: 'timeout', message: 'execution exceeded its deadline' } },
  { s: '3.3', name: 'an unknown id is not found, by its name', langs: ['node'], steps: async (t) => {
    const id = 'rt-01234567-89ab-4cde-8f01-23456789abcd'
    check(await t.w.run({ runtime_id: id, code: '' }), { id: true, error: 'runtime_not_found', message: id })
    check(await t.w.run({ runtime_id: '', code: '' }), { error: 'runtime_not_found' })
    check(await t.w.run({ runtime_id: 'x'.repeat(100000), code: '' }), { error: 'runtime_not_found' })
    check(await t.w.run({ runtime_id: `${id}\0`, code: '' }), { id: true, error: 'runtime_not_found' })
  } },
  { s: '3.4', name: 'neither lang nor runtime_id', langs: ['node'], steps: async (t) => check(await t.w.run({ code: '1' }), invalid(['`lang` is required', 'node', 'python'])) },
  { s: '3.4', name: 'a lang that contradicts the runtime', steps: async (t) => {
    const id = await t.keep()
    const other = t.lang === 'node' ? 'python' : 'node'
    check(await t.w.run({ runtime_id: id, lang: other, code: '' }), invalid([t.lang, 'cannot be mixed']))
    await t.on(id, one, { result: 1 }, { lang: t.lang })
  } },
  { s: '3.4', name: 'memory_mb with a runtime_id', steps: async (t) => {
    const id = await t.keep()
    check(await t.w.run({ runtime_id: id, memory_mb: 64, code: '' }), invalid('memory_mb'))
    await t.on(id, one, { result: 1 }, { memory_mb: null })
  } },
  { s: '4', name: 'an unknown id is looked up before lang and memory_mb', langs: ['node'], steps: async (t) =>
    check(await t.w.run({ runtime_id: 'rt-x', lang: 'node', memory_mb: 64, code: '' }), { error: 'runtime_not_found' }) },
  { s: '3.4', name: 'python code over 1 MiB', steps: async (t) => {
    const code = `result = 1 #${'x'.repeat(1048576 - 12)}`
    await t.run(code, { result: 1 })
    await t.run(`${code}y`, invalid(['1048577', 'max 1048576']))
    await t.run(`#${'é'.repeat(524288)}`, invalid(['1048577', 'max 1048576']))
    const id = await t.keep()
    check(await t.w.run({ runtime_id: id, code: `${code}y` }), invalid('max 1048576'))
  }, langs: ['python'] },
  { s: '9.9', name: 'node code has room for megabytes', node: `/*${'x'.repeat(3 << 20)}*/ return 1`, want: { result: 1 } },
  { s: '3.5', name: 'a failed keep: true answers without an id and leaves nothing', config: { max_runtimes: 1 }, steps: async (t) => {
    for (let i = 0; i < 3; i++) await t.run({ node: 'throw new Error("no")', python: 'raise Exception("no")' }, { exit: 1 }, { keep: true })
    await t.run({ node: 'for(;;);', python: 'while True: pass' }, { error: 'timeout' }, { keep: true, timeout_ms: 200 })
    await t.run(one, { result: 1 })
  } },
  { s: '3.5', name: 'an id printed by one guest is masked in errors to others', langs: ['node'], steps: async (t) => {
    const id = await t.keep()
    const secret = `console.log(${JSON.stringify(id)}); for(;;);`
    const answer = await t.run(secret, { error: 'timeout', message: '[last of stdout]' }, { timeout_ms: 200 })
    assert.ok(!answer.error.message.includes(id))
  } },
  { s: '2.1', name: 'nothing of a request or an answer is logged', options: { env: { CODE_RUNNER_LOG: 'debug' } }, steps: async (t) => {
    const id = await t.keep({ node: 'globalThis.a = "qqsecretqq"; return a', python: 'result = "qqsecretqq"' })
    await t.on(id, { node: 'return "qqsecretqq"', python: 'raise Exception("qqsecretqq")' })
    await t.w.run({ lang: t.lang, code: 'qqsecretqq (' })
    await sleep(50)
    assert.ok(!t.w.log.includes('qqsecretqq'), t.w.log)
    assert.ok(!t.w.log.includes(id), t.w.log)
  } },
])

table('Life of a run (4)', [
  { s: '4', name: 'a one-shot leaves nothing to the next', steps: async (t) => {
    await t.run({ node: 'globalThis.left = 1; require("fs").writeFileSync("left", "x")', python: 'import builtins\nbuiltins.left = 1\nopen("left", "w").write("x")' }, {})
    await t.run({ node: 'return [typeof left, require("fs").existsSync("left")]', python: 'import os\nresult = ["left" in dir(__builtins__), os.path.exists("left")]' }, { result: t.lang === 'node' ? ['undefined', false] : [false, false] })
  } },
  { s: '4', name: "a one-shot's slot is free when its answer is there", config: { max_runtimes: 1 }, steps: async (t) => {
    for (let i = 0; i < 20; i++) await t.run(one, { result: 1 })
  } },
  { s: '4', name: 'a run that fails in a kept runtime keeps it', steps: async (t) => {
    const id = await t.keep({ node: 'globalThis.n = 5', python: 'n = 5' })
    await t.on(id, { node: 'throw new Error("x")', python: '1/0' }, { exit: 1 })
    await t.on(id, { node: 'return n', python: 'result = n' }, { result: 5 })
  } },
  { s: '4', name: 'a node runtime past its deadline is expired', langs: ['node'], steps: async (t) => {
    const id = await t.keep('globalThis.n = 5')
    check(await t.on(id, 'for(;;);', null, { timeout_ms: 150 }), { id: true, error: 'timeout' })
    check(await t.on(id, 'return n'), { id: true, error: 'expired', message: [id, 'without'] })
    check(await t.w.teardown({ runtime_id: id }), { id: true, error: 'expired' })
  } },
  { s: '9.6', name: 'a python runtime past its deadline has a fresh interpreter on the same files', langs: ['python'], steps: async (t) => {
    const id = await t.keep('n = 5\nopen("f", "w").write("kept")')
    check(await t.on(id, 'open("g", "w").write("late")\nwhile True: pass', null, { timeout_ms: 200 }), { id: true, error: 'timeout' })
    await t.on(id, 'result = ["n" in globals(), open("f").read(), open("g").read()]', { result: [false, 'kept', 'late'] })
  } },
  { s: '4', name: 'a run that waits while its runtime is torn down is not found', steps: async (t) => {
    const id = await t.keep()
    const pause = { node: 'await new Promise(r => setTimeout(r, 300)); return "done"', python: 'import time\ntime.sleep(0.3)\nresult = "done"' }
    const first = t.on(id, pause)
    const second = t.on(id, one)
    const down = t.w.teardown({ runtime_id: id })
    check(await first, { id: true, result: 'done' })
    check(await second, { id: true, error: 'runtime_not_found' })
    assert.equal((await down).result.torn_down, true)
  } },
  { s: '4', name: 'a node run that waits while its runtime is killed is expired', langs: ['node'], steps: async (t) => {
    const id = await t.keep()
    const first = t.on(id, 'for(;;);', null, { timeout_ms: 200 })
    check(await t.on(id, one), { id: true, error: 'expired' })
    check(await first, { id: true, error: 'timeout' })
  } },
  { s: '4', name: 'a python run that waits while its interpreter is killed goes on with a fresh one', langs: ['python'], steps: async (t) => {
    const id = await t.keep('n = 1')
    const first = t.on(id, 'while True: pass', null, { timeout_ms: 200 })
    check(await t.on(id, 'result = "n" in globals()'), { id: true, result: false })
    check(await first, { id: true, error: 'timeout' })
  } },
])

const lines = (name, input, verify, options) => ({ s: 'stdio', name, langs: ['node'], steps: async () => {
  const worker = await Worker.start(options)
  try {
    await input(worker)
    await verify(worker, await worker.close())
  } finally {
    await worker.kill()
  }
} })

table('One request a line', [
  lines('an id of any type comes back as it was', async (w) => {
    for (const id of ['"text"', 'null', '1e3', '[1,{"a":2}]', '12345678901234567890', '1.0']) w.writeLine(`{"id":${id},"function_id":"code-runner::run","payload":{"lang":"node","code":"return 1"}}`)
  }, (w, end) => {
    assert.equal(end.code, 0)
    for (const id of ['"text"', 'null', '1e3', '[1,{"a":2}]', '12345678901234567890', '1.0']) assert.ok(w.unclaimed.some((line) => line.includes(`"id":${id},`) && line.includes('"result":1}')), id)
    assert.equal(w.unclaimed.length, 6)
  }),
  lines('what is no request gets an error and the rest goes on', async (w) => {
    for (const line of ['nonsense', '{"id":7}', '[]', '3', '{"id":8,"function_id":5}', '{"id":9,"function_id":"code-runner::run"}', '', '   ']) w.writeLine(line)
    w.writeLine('{"id":10,"function_id":"code-runner::run","payload":{"lang":"node","code":"return 1"}}')
  }, (w, end) => {
    assert.equal(end.code, 0)
    const answers = w.unclaimed.map((line) => JSON.parse(line))
    assert.equal(answers.length, 7)
    assert.equal(answers.filter((answer) => answer.error?.code === 'code-runner::invalid_request').length, 6)
    assert.equal(answers.find((answer) => answer.id === 10).result.result, 1)
  }),
  lines('the last line needs no line end, and all in flight is answered before the end', async (w) => {
    w.writeLine('{"id":1,"function_id":"code-runner::run","payload":{"lang":"python","code":"import time\\ntime.sleep(0.3)\\nresult = 1"}}\r')
    w.child.stdin.write('{"id":2,"function_id":"code-runner::run","payload":{"lang":"node","code":"return 2"}}')
  }, (w, end) => {
    assert.equal(end.code, 0)
    assert.deepEqual(w.unclaimed.map((line) => JSON.parse(line).id), [2, 1])
  }),
  lines('answers come in the order in which calls end', async (w) => {
    w.writeLine('{"id":1,"function_id":"code-runner::run","payload":{"lang":"node","code":"await new Promise(r => setTimeout(r, 400))"}}')
    w.writeLine('{"id":2,"function_id":"code-runner::run","payload":{"lang":"node","code":"await new Promise(r => setTimeout(r, 150))"}}')
    w.writeLine('{"id":3,"function_id":"code-runner::run","payload":{"lang":"node","code":""}}')
  }, (w) => assert.deepEqual(w.unclaimed.map((line) => JSON.parse(line).id), [3, 2, 1])),
  lines('SIGTERM ends it with status 0', async (w) => {
    w.run({ lang: 'node', code: 'for(;;);' }).catch(() => {})
    await sleep(50)
    w.child.kill('SIGTERM')
  }, (w, end) => assert.deepEqual(end, { code: 0, signal: null })),
])
