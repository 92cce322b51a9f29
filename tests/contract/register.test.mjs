// Section 13, and 14 by namespace: functions that guests serve. Through `serve --stdio` a registered function is called by its id.
import assert from 'node:assert/strict'
import { check } from './expect.mjs'
import { table } from './table.mjs'
import { sleep } from '../lib/proc.mjs'

const register = (t, payload) => t.w.call('code-runner::register_function', payload)
const invalid = (message) => ({ error: 'invalid_request', message })
const echo = { node: 'function handler(p) { return { got: p } }', python: 'def handler(payload):\n  return {"got": payload}' }
const thrower = { node: 'function handler(p) { throw new RangeError("bad " + p.n) }', python: 'def handler(payload):\n  raise ValueError("bad " + str(payload["n"]))' }

// Registers, and takes the namespace down at the end of the case.
async function published(t, id, source, more = {}) {
  const answer = await register(t, { function_id: id, lang: t.lang, source: t.pick(source), ...more })
  assert.deepEqual(answer.result, { function_id: id, registered: true }, answer.raw)
  return answer
}
const down = (t, namespace) => t.w.teardown({ namespace })
const steps = (s, name, run, more = {}) => ({ s, name, ...more, steps: async (t) => {
  t.ns = `app-${t.lang}-${Math.random().toString(36).slice(2, 8)}`
  try {
    await run(t)
  } finally {
    await down(t, t.ns)
  }
} })
const answers = async (t, id, payload, result) => {
  const answer = await t.w.call(id, payload)
  assert.deepEqual(answer.result, result, answer.raw)
}
const fails = async (t, id, payload, code, ...fragments) => {
  const { error, raw } = await t.w.call(id, payload)
  assert.equal(error?.code, `code-runner::${code}`, raw)
  for (const fragment of fragments) assert.ok(error.message.includes(fragment), `${fragment}: ${error.message}`)
  assert.doesNotMatch(error.message, /rt-[0-9a-f]{8}-/)
}
const gone = async (t, id) => assert.ok((await t.w.call(id, {})).error, `${id} still answers`)

const refusals = [
  ['no `::`', { function_id: 'nothing' }, 'has no namespace', 'my-app::greet'],
  ['an empty head', { function_id: '::x' }, 'has no namespace', 'my-app::greet'],
  ['nothing after it', { function_id: 'app::' }, 'app::'],
  ...['MyApp', 'my app', 'a:b', '.x', 'a..b', 'x'.repeat(65), 'é'.repeat(33), 'a/b'].map((head) => [`the head ${head.slice(0, 12)}`, { function_id: `${head}::f` }, 'is not one worker name', 'my-app::']),
  ['an id of 513 bytes', { function_id: `app::${'x'.repeat(508)}` }, '513', 'the limit is 512', 'xxxxxxxxxx'],
  ['a description of 4097 bytes', { description: 'x'.repeat(4097) }, '4097', 'the limit is 4096'],
  ['a description counts bytes', { description: 'é'.repeat(2049) }, '4098', 'the limit is 4096'],
  ['request_format: a string', { request_format: 'string' }, 'request_format', 'OBJECT', 'a string'],
  ['request_format: an array', { request_format: [] }, 'request_format', 'OBJECT', 'an array'],
  ['response_format: a number', { response_format: 3 }, 'response_format', 'OBJECT', 'a number'],
  ['response_format: true', { response_format: true }, 'response_format', 'OBJECT'],
  ['a format that constrains nothing', { request_format: { description: 'x' } }, 'request_format', 'constrains nothing'],
  ['an empty format', { response_format: {} }, 'response_format', 'constrains nothing'],
  ['a format that is too big', { request_format: { type: 'object', description: 'x'.repeat(16384) } }, 'request_format', 'the limit is 16384'],
  ['one of the worker\'s own ids', { function_id: 'code-runner::run' }, 'code-runner::run', 'already taken'],
  ['another of them', { function_id: 'code-runner::inject-guidance' }, 'already taken'],
  ['no lang', { lang: undefined }, 'lang'],
  ['lang null', { lang: null }, 'lang'],
  ['an unknown lang', { lang: 'ruby' }, 'lang'],
  ['no source', { source: undefined }, 'source'],
  ['a source that is no string', { source: 1 }, 'source'],
  ['no id', { function_id: undefined }, 'function_id'],
  ['an id that is no string', { function_id: ['a::b'] }, 'function_id'],
  ['a description that is no string', { description: 1 }, 'description'],
]

table('register_function: requests (13.1 to 13.3)', [
  ...refusals.map(([name, payload, ...fragments]) => ({ s: '13.1', name, langs: ['node'], steps: async (t) => check(await register(t, { function_id: 'app-refused::f', lang: 'node', source: echo.node, ...payload }), invalid(fragments)) })),
  { s: '13.1', name: 'no refusal takes a slot or leaves a namespace', langs: ['node'], steps: async (t) => check(await t.w.teardown({ namespace: 'app-refused' }), { error: 'runtime_not_found', message: 'app-refused' }) },
  ...['my.app', 'my_app', 'app2', 'a', 'x'.repeat(64)].map((head) => ({ s: '13.1', name: `the head ${head.slice(0, 12)} is fine`, langs: ['node'], steps: async (t) => {
    await published(t, `${head}::f`, echo)
    await answers(t, `${head}::f`, 1, { got: 1 })
    assert.deepEqual((await t.w.teardown({ namespace: head })).result, { namespace: `${head}::`, torn_down: true, unregistered: [`${head}::f`] })
  } })),
  steps('13.1', 'ids may nest and the rest is free text', async (t) => {
    for (const rest of ['v2::save', 'a b', 'é😀', ':', 'x'.repeat(400)]) {
      await published(t, `${t.ns}::${rest}`, echo)
      await answers(t, `${t.ns}::${rest}`, rest, { got: rest })
    }
  }),
  steps('13.1', 'an id of 512 bytes, a description of 4096, a format of 16384', async (t) => {
    const frame = JSON.stringify({ type: 'object', description: '' }).length
    await published(t, `${t.ns}::${'x'.repeat(512 - t.ns.length - 2)}`, echo, { description: 'd'.repeat(4096), request_format: { type: 'object', description: 'x'.repeat(16384 - frame) } })
  }),
  steps('13.2', 'null is not given; one known key suffices', async (t) => {
    for (const key of ['type', 'properties', '$ref', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', 'not', 'items'])
      await published(t, `${t.ns}::f`, echo, { description: null, request_format: { [key]: {} }, response_format: null })
  }),
  steps('13.3', 'an id exists once, in whichever language', async (t) => {
    await published(t, `${t.ns}::a`, echo)
    const other = t.lang === 'node' ? 'python' : 'node'
    check(await register(t, { function_id: `${t.ns}::a`, lang: other, source: echo[other] }), invalid([`${t.ns}::a`, 'already taken']))
    await answers(t, `${t.ns}::a`, 1, { got: 1 })
    assert.ok((await register(t, { function_id: `${t.ns}::b`, lang: other, source: echo[other] })).result)
    await answers(t, `${t.ns}::b`, 2, { got: 2 })
    assert.deepEqual((await down(t, t.ns)).result.unregistered, [`${t.ns}::a`, `${t.ns}::b`])
    await gone(t, `${t.ns}::a`)
    await gone(t, `${t.ns}::b`)
  }),
])

const nodeSources = { 'an arrow': 'const handler = (p) => p.n', 'let': 'let handler = function (p) { return p.n }', 'var': 'var handler = p => p.n', 'an assignment': 'handler = p => p.n', 'async': 'async function handler(p) { await 1; return p.n }',
  'export': 'export function handler(p) { return p.n }', 'export async': '  export async function handler(p) { return p.n }', 'export const': 'export const handler = p => p.n', 'strict': '"use strict"; function handler(p) { return p.n }' }
const noHandlers = {
  node: { 'a bare expression': '(p) => p.n', 'nothing': 'const x = 1', 'no function': 'const handler = 5', 'a throw': 'throw new Error("inner text")', 'no JavaScript': 'function handler( {', 'a default export': 'export default function handler(p) {}' },
  python: { 'nothing': 'x = 1', 'not callable': 'handler = 5', 'an exception': 'raise ValueError("inner text")', 'no Python': 'def handler(', 'another name': 'def handle(payload): pass' },
}

table('register_function: sources (13.4)', [
  ...Object.entries(nodeSources).map(([name, source]) => steps('13.4', `node: ${name}`, async (t) => {
    await published(t, `${t.ns}::f`, source)
    await answers(t, `${t.ns}::f`, { n: 7 }, 7)
  }, { langs: ['node'] })),
  ...Object.entries(noHandlers).flatMap(([lang, sources]) => Object.entries(sources).map(([name, source]) => steps('13.4', `${lang}: ${name} is refused`, async (t) => {
    const answer = await register(t, { function_id: `${t.ns}::f`, lang, source })
    assert.equal(answer.error?.code, 'code-runner::invalid_request', answer.raw)
    if (!/exception|no Python/.test(name)) assert.ok(answer.error.message.includes('handler(payload)'), answer.error.message)
    if (source.includes('inner text')) assert.ok(answer.error.message.includes('inner text'), answer.error.message)
    if (lang === 'node') assert.ok(!answer.error.message.includes('\n') && answer.error.message.includes(`${t.ns}::f`), answer.error.message)
    check(await down(t, t.ns), { error: 'runtime_not_found' })
    await published(t, `${t.ns}::f`, echo)
    await answers(t, `${t.ns}::f`, 1, { got: 1 })
  }, { langs: [lang] }))),
  steps('13.4', 'a source that binds nothing does not pick up an earlier handler', async (t) => {
    await published(t, `${t.ns}::a`, echo)
    check(await register(t, { function_id: `${t.ns}::b`, lang: t.lang, source: 'x = 1' }), invalid('handler(payload)'))
    await answers(t, `${t.ns}::a`, 1, { got: 1 })
  }),
  steps('13.4', 'each id has its own handler', async (t) => {
    for (const name of ['a', 'b', 'c']) await published(t, `${t.ns}::${name}`, { node: `function handler(p) { return "${name}" }`, python: `def handler(payload): return "${name}"` })
    for (const name of ['c', 'a', 'b']) await answers(t, `${t.ns}::${name}`, {}, name)
  }),
  steps('13.4', 'python sources share their globals, node sources do not clash', async (t) => {
    await published(t, `${t.ns}::a`, { node: 'const helper = 1; function handler(p) { return helper }', python: 'def helper(): return 1\ndef handler(payload): return helper()' })
    await published(t, `${t.ns}::b`, { node: 'const helper = 2; function handler(p) { return helper }', python: 'def handler(payload): return helper() + 1' })
    await answers(t, `${t.ns}::a`, {}, 1)
    await answers(t, `${t.ns}::b`, {}, 2)
  }),
  steps('13.4', 'python: the global handler is the function\'s own', async (t) => {
    await published(t, `${t.ns}::a`, 'def handler(payload): return handler.tag\nhandler.tag = "a"')
    await published(t, `${t.ns}::b`, 'def handler(payload): return handler.tag\nhandler.tag = "b"')
    await answers(t, `${t.ns}::a`, {}, 'a')
    await answers(t, `${t.ns}::b`, {}, 'b')
  }, { langs: ['python'] }),
  steps('13.4', 'a source that never ends is a timeout', async (t) => {
    check(await register(t, { function_id: `${t.ns}::f`, lang: t.lang, source: t.pick({ node: 'for(;;);', python: 'while True: pass' }) }), { error: 'timeout' })
    check(await down(t, t.ns), { error: 'runtime_not_found' })
  }, { config: { default_timeout_ms: 400 } }),
  steps('9.9', 'a python source over 1 MiB', async (t) => check(await register(t, { function_id: `${t.ns}::f`, lang: 'python', source: `#${'x'.repeat(1048576)}` }), invalid('max 1048576')), { langs: ['python'] }),
])

table('register_function: redeploy (13.5)', [
  steps('13.5', 'the new source answers', async (t) => {
    await published(t, `${t.ns}::f`, echo)
    await published(t, `${t.ns}::f`, { node: 'const handler = () => "new"', python: 'def handler(payload): return "new"' })
    await answers(t, `${t.ns}::f`, {}, 'new')
    assert.deepEqual((await down(t, t.ns)).result.unregistered, [`${t.ns}::f`])
  }),
  steps('13.3', 'a failed redeploy keeps the old function', async (t) => {
    await published(t, `${t.ns}::f`, echo)
    assert.equal((await register(t, { function_id: `${t.ns}::f`, lang: t.lang, source: 'x = = 1' })).error.code, 'code-runner::invalid_request')
    await answers(t, `${t.ns}::f`, 1, { got: 1 })
    const other = t.lang === 'node' ? 'python' : 'node'
    check(await register(t, { function_id: `${t.ns}::f`, lang: other, source: echo[other] }), invalid('already taken'))
  }),
  steps('13.5', 'concurrent registrations share a runtime', async (t) => {
    const all = await Promise.all(Array.from({ length: 8 }, (_, i) => register(t, { function_id: `${t.ns}::f${i}`, lang: t.lang, source: i % 3 === 2 ? 'x = 1' : t.pick(echo) })))
    assert.deepEqual(all.map((answer) => Boolean(answer.result)), [true, true, false, true, true, false, true, true])
    for (const i of [0, 1, 3, 4, 6, 7]) await answers(t, `${t.ns}::f${i}`, i, { got: i })
  }),
  steps('12.2', 'a namespace and language take one slot', async (t) => {
    await published(t, `${t.ns}::a`, echo)
    await published(t, `${t.ns}::b`, echo)
    await t.run({ node: '', python: '' }, {})
    const id = await t.keep()
    check(await t.run({ node: '', python: '' }), { error: 'capacity' })
    check(await register(t, { function_id: `other-${t.lang}::a`, lang: t.lang, source: t.pick(echo) }), { error: 'capacity' })
    await t.w.teardown({ runtime_id: id })
    await t.run({ node: '', python: '' }, {})
  }, { config: { max_runtimes: 2 } }),
])

table('register_function: calls (13.6)', [
  steps('13.6', 'payloads of every kind, as received', async (t) => {
    await published(t, `${t.ns}::f`, echo)
    for (const payload of [{}, [], null, 1, 'text', true, { a: [1, { b: 'é😀' }], _caller_worker_id: 'w' }]) await answers(t, `${t.ns}::f`, payload, { got: payload })
  }),
  steps('13.6', 'state persists from call to call', async (t) => {
    await published(t, `${t.ns}::f`, { node: 'let n = 0; const handler = () => ++n', python: 'n = 0\ndef handler(payload):\n  global n\n  n += 1\n  return n' })
    for (const n of [1, 2, 3]) await answers(t, `${t.ns}::f`, {}, n)
  }),
  steps('13.6', 'nothing returned, and what JSON cannot carry, is null', async (t) => {
    await published(t, `${t.ns}::none`, { node: 'function handler() {}', python: 'def handler(payload): pass' })
    await published(t, `${t.ns}::bad`, { node: 'const handler = () => 1n', python: 'def handler(payload): return {1, 2}' })
    await answers(t, `${t.ns}::none`, {}, null)
    await answers(t, `${t.ns}::bad`, {}, null)
  }),
  steps('5', 'no output caps', async (t) => {
    await published(t, `${t.ns}::f`, { node: 'const handler = () => "x".repeat(200000)', python: 'def handler(payload): return "x" * 200000' })
    await answers(t, `${t.ns}::f`, {}, 'x'.repeat(200000))
  }),
  steps('13.6', 'an exception is a handler_error with its text', async (t) => {
    await published(t, `${t.ns}::f`, thrower)
    await fails(t, `${t.ns}::f`, { n: 5 }, 'handler_error', t.lang === 'node' ? 'RangeError: bad 5' : 'ValueError: bad 5')
    await fails(t, `${t.ns}::f`, { n: 6 }, 'handler_error', 'bad 6')
  }),
  steps('13.6', 'a rejected promise is a handler_error', async (t) => {
    await published(t, `${t.ns}::f`, 'const handler = async () => { throw new TypeError("late") }')
    await fails(t, `${t.ns}::f`, {}, 'handler_error', 'TypeError: late')
  }, { langs: ['node'] }),
  steps('13.6', 'a python result over 1 MiB is a handler_error', async (t) => {
    await published(t, `${t.ns}::f`, 'def handler(payload): return "x" * 1048576')
    await fails(t, `${t.ns}::f`, {}, 'handler_error', '1048578', '1048576')
  }, { langs: ['python'] }),
  steps('13.6', 'sys.exit in a handler', async (t) => {
    await published(t, `${t.ns}::f`, 'import sys\ndef handler(payload): sys.exit(payload)')
    await answers(t, `${t.ns}::f`, null, null)
    await answers(t, `${t.ns}::f`, 0, null)
    await fails(t, `${t.ns}::f`, 3, 'handler_error')
    await answers(t, `${t.ns}::f`, 0, null)
  }, { langs: ['python'] }),
  steps('13.6', 'a handler past its deadline is a timeout, without what it printed', async (t) => {
    await published(t, `${t.ns}::f`, { node: 'console.log("private"); function handler(p) { console.log("private"); if (p.spin) for(;;); return 1 }', python: 'def handler(payload):\n  print("private", flush=True)\n  while payload.get("spin"): pass\n  return 1' })
    await answers(t, `${t.ns}::f`, {}, 1)
    const { error } = await t.w.call(`${t.ns}::f`, { spin: true })
    assert.equal(error.code, 'code-runner::timeout')
    assert.ok(!error.message.includes('private'))
    if (t.lang === 'node') await gone(t, `${t.ns}::f`)
    else await answers(t, `${t.ns}::f`, {}, 1)
  }, { config: { default_timeout_ms: 400 } }),
  steps('13.6', 'python: functions outlive their interpreter and are as freshly registered', async (t) => {
    await published(t, `${t.ns}::a`, 'n = 0\nimport os\ndef handler(payload):\n  global n\n  n += 1\n  if payload == "die": os._exit(3)\n  return n')
    await published(t, `${t.ns}::b`, 'open("made", "a").write("x")\ndef handler(payload): return [n, len(open("made").read())]')
    await answers(t, `${t.ns}::a`, {}, 1)
    await answers(t, `${t.ns}::b`, {}, [1, 1])
    assert.ok((await t.w.call(`${t.ns}::a`, 'die')).error)
    await answers(t, `${t.ns}::b`, {}, [0, 2])
    await answers(t, `${t.ns}::a`, {}, 1)
  }, { langs: ['python'] }),
  steps('13.6', 'node handlers interleave at their awaits', async (t) => {
    await published(t, `${t.ns}::slow`, 'const handler = async (p) => { await new Promise(r => setTimeout(r, p)); return p }')
    const started = performance.now()
    await Promise.all([300, 300, 300, 300].map((wait) => answers(t, `${t.ns}::slow`, wait, wait)))
    assert.ok(performance.now() - started < 900)
  }, { langs: ['node'] }),
  steps('12.4', 'python turns are exclusive, in their order', async (t) => {
    await published(t, `${t.ns}::f`, 'import time\nlog = []\ndef handler(payload):\n  log.append(payload)\n  time.sleep(0.02)\n  log.append(payload)\n  return list(log)')
    const all = await Promise.all([1, 2, 3].map((n) => t.w.call(`${t.ns}::f`, n)))
    assert.deepEqual(all[2].result, [1, 1, 2, 2, 3, 3])
  }, { langs: ['python'] }),
  steps('12.7', 'node namespaces are swept when idle, python ones are not', async (t) => {
    await published(t, `${t.ns}::f`, echo)
    await sleep(2600)
    if (t.lang === 'node') {
      await gone(t, `${t.ns}::f`)
      await published(t, `${t.ns}::f`, echo)
    }
    await answers(t, `${t.ns}::f`, 1, { got: 1 })
  }, { config: { idle_ttl_secs: 1 } }),
  steps('12.7', 'calls keep a node namespace', async (t) => {
    await published(t, `${t.ns}::f`, echo)
    for (let i = 0; i < 5; i++) {
      await sleep(450)
      await answers(t, `${t.ns}::f`, i, { got: i })
    }
  }, { langs: ['node'], config: { idle_ttl_secs: 1 } }),
  steps('7.2, 10', 'the namespace is what it is in a namespace runtime', async (t) => {
    await published(t, `${t.ns}::f`, { node: 'const handler = () => iii.namespace', python: 'def handler(payload): return iii.namespace' })
    await answers(t, `${t.ns}::f`, {}, `${t.ns}::`)
  }),
  steps('9.8', 'a namespace has files of its own', async (t) => {
    await published(t, `${t.ns}::f`, { node: 'const fs = require("fs"); function handler() { fs.appendFileSync("log", "x"); return fs.readFileSync("/work/log", "utf8") }', python: 'def handler(payload):\n  open("log", "a").write("x")\n  return open("/work/log").read()' })
    await answers(t, `${t.ns}::f`, {}, 'x')
    await answers(t, `${t.ns}::f`, {}, 'xx')
  }),
])

table('teardown by namespace (14)', [
  steps('14', 'canonical forms, sorted ids, freed at once', async (t) => {
    for (const form of [t.ns, `${t.ns}:`, `${t.ns}::`, `${t.ns}:::`]) {
      for (const name of ['b', 'a::x', 'c']) await published(t, `${t.ns}::${name}`, echo)
      assert.deepEqual((await down(t, form)).result, { namespace: `${t.ns}::`, torn_down: true, unregistered: [`${t.ns}::a::x`, `${t.ns}::b`, `${t.ns}::c`] })
    }
    check(await down(t, t.ns), { error: 'runtime_not_found', message: t.ns })
    const other = t.lang === 'node' ? 'python' : 'node'
    assert.ok((await register(t, { function_id: `${t.ns}::b`, lang: other, source: echo[other] })).result, 'free in either language')
  }),
  steps('14', 'it waits for a call in flight', async (t) => {
    await published(t, `${t.ns}::f`, { node: 'const handler = async () => { await new Promise(r => setTimeout(r, 200)); return "done" }', python: 'import time\ndef handler(payload):\n  time.sleep(0.2)\n  return "done"' })
    const call = t.w.call(`${t.ns}::f`, {})
    const { result } = await down(t, t.ns)
    assert.equal(result.torn_down, true)
    const answer = await call
    assert.ok(answer.result === 'done' || answer.error.code === 'code-runner::engine', answer.raw)
  }),
])
