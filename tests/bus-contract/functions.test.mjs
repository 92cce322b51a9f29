// Section 13 and 14: register_function, the functions it publishes, their namespaces, teardown.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { eventually, sleep } from '../lib/proc.mjs'
import { table } from './lib/table.mjs'

const echo = { node: 'function handler(p) { return p }', python: 'def handler(p): return p' }
const gives = (value) => ({ node: `function handler() { return ${JSON.stringify(value)} }`, python: `def handler(p): return ${JSON.stringify(value)}` })
const plain = (data) => {
  if (data && typeof data === 'object' && !Array.isArray(data)) delete data._caller_worker_id
  return data
}
const shown = async (t, id) => {
  const info = await t.bus.info(id)
  return { description: info.description, request: info.request_schema ?? null, response: info.response_schema ?? null }
}
const other = (t) => t.pick({ node: 'python', python: 'node' })
const payloads = [['text', 'ü\u{1f600}'], ['a number', 1.5], ['false', false], ['null', null], ['an array', [1, { a: [] }]], ['an object', { a: { 'ключ': null } }]]
const spellings = [
  ['async function', 'async function handler(p) { return p.n + 1 }'], ['const', 'const handler = (p) => p.n + 1'], ['let', 'let handler = function (p) { return p.n + 1 }'],
  ['var', 'var handler = async (p) => p.n + 1'], ['an assignment', 'handler = (p) => p.n + 1'], ['export function', 'export function handler(p) { return p.n + 1 }'],
  ['export const', '  export const handler = (p) => p.n + 1'], ['a strict prologue', '"use strict"; function handler(p) { return this === undefined ? p.n + 1 : 0 }'],
  ['after other code', 'const one = 1\n// a word\nfunction handler(p) { return p.n + one }'],
]
const noHandler = [['a bare expression', '(p) => p.n'], ['nothing', ''], ['no function', 'const handler = 5'], ['a throw', 'throw new Error("broken source")', 'broken source'], ['no JavaScript', 'function handler( {', 'export'], ['export default', 'export default function handler() {}']]
const noHandlerPython = [['nothing', '', 'handler(payload)'], ['not callable', 'handler = 5', 'handler(payload)', '5'], ['an exception', 'raise ValueError("broken source")', 'broken source'], ['no Python', 'def handler(:', 'line 1'], ['sys.exit', 'import sys\nsys.exit(0)']]

table('register_function: sources (13.4)', [
  ...spellings.map(([name, source]) => ({ s: '13.4', name: `node: ${name}`, langs: ['node'], steps: async (t) => assert.equal(await t.ok(await t.register('f', source), { n: 1 }), 2) })),
  ...noHandler.map(([name, source, ...fragments]) => ({ s: '13.4', name: `node, refused: ${name}`, langs: ['node'], steps: async (t) => {
    const { error } = await t.call('code-runner::register_function', { function_id: `${t.ns}::f`, lang: 'node', source })
    assert.equal(error?.code, 'code-runner::invalid_request', JSON.stringify(error))
    for (const one of ['handler(payload)', `${t.ns}::f`, ...fragments]) assert.ok(error.message.includes(one), error.message)
    assert.doesNotMatch(error.message, /\n|harness|at .*:\d+:\d+/)
    assert.equal(await t.bus.has(`${t.ns}::f`), false)
  } })),
  ...noHandlerPython.map(([name, source, ...fragments]) => ({ s: '13.4', name: `python, refused: ${name}`, langs: ['python'], steps: async (t) => {
    await t.refuses('f', source, 'invalid_request', fragments)
    assert.equal(await t.bus.has(`${t.ns}::f`), false)
  } })),
  { s: '13.4', name: 'a class is a handler whose calls fail', langs: ['node'], steps: async (t) => {
    const id = await t.register('f', 'class handler {}')
    await t.fails('handler_error', "without 'new'", id, {})
  } },
  { s: '13.4', name: 'each source has its own scope in node', langs: ['node'], steps: async (t) => {
    const one = await t.register('one', 'const secret = 1; function handler() { return secret }')
    const two = await t.register('two', 'const secret = 2; function handler() { return secret }')
    assert.deepEqual([await t.ok(one, {}), await t.ok(two, {})], [1, 2])
    await t.refuses('three', 'const nothing = 3', 'invalid_request', 'handler(payload)')
  } },
  { s: '13.4', name: 'python sources share globals', langs: ['python'], steps: async (t) => {
    await t.register('one', 'def helper(): return 7\ndef handler(p): return 1')
    assert.equal(await t.ok(await t.register('two', 'def handler(p): return helper()'), {}), 7)
  } },
  { s: '13.4', name: 'a stale handler does not count', steps: async (t) => {
    await t.register('one', echo)
    await t.refuses('two', { node: 'globalThis.x = 1', python: 'x = 1' }, 'invalid_request', 'handler(payload)')
  } },
  { s: '13.4', name: 'each id answers with its own handler', steps: async (t) => {
    const ids = []
    for (let i = 0; i < 5; i++) ids.push(await t.register(`f${i}`, gives(i)))
    for (let i = 0; i < 5; i++) assert.equal(await t.ok(ids[i], {}), i)
  } },
  { s: '13.4', name: 'the name handler is its own in a call', langs: ['python'], steps: async (t) => {
    const one = await t.register('one', 'def handler(p): return [1, handler.__code__.co_consts is not None and handler is me()]\ndef me(): return handler')
    await t.register('two', 'def handler(p): return 2')
    assert.deepEqual(await t.ok(one, {}), [1, true])
  } },
  { s: '13.4', name: 'a source past its budget', config: { default_timeout_ms: 400 }, steps: async (t) => {
    await t.refuses('f', { node: 'for (;;) {}', python: 'while True: pass' }, 'timeout', 'deadline')
    assert.equal(await t.bus.has(`${t.ns}::f`), false)
    assert.equal(await t.ok(await t.register('f', gives(1)), {}), 1)
  } },
  { s: '9.9', name: 'a python source over 1 MiB', langs: ['python'], steps: async (t) => t.refuses('f', `${'#'.repeat(1048577)}`, 'invalid_request', ['1048577', 'max 1048576']) },
])

table('register_function: names and metadata (13.1, 13.2, 13.5)', [
  ...['my.app', 'my_app', 'app2', 'a', '0-0', 'a'.repeat(64)].map((name) => ({ s: '13.1', name: `namespace ${name.slice(0, 10)}`, steps: async (t) => {
    t.ns = name
    assert.equal(await t.ok(await t.register('f', gives(1)), {}), 1)
  } })),
  { s: '13.1', name: 'ids nest', steps: async (t) => {
    const id = await t.register('v2::save it!', gives(1))
    assert.equal(await t.ok(id, {}), 1)
    assert.deepEqual((await t.ok('code-runner::teardown', { namespace: t.ns })).unregistered, [id])
  } },
  { s: '13.1', name: 'an id of exactly 512 bytes', steps: async (t) => assert.equal(await t.ok(await t.register('x'.repeat(510 - t.ns.length), gives(1)), {}), 1) },
  { s: '13.3', name: 'another id under code-runner:: is ordinary', steps: async (t) => {
    t.ns = 'code-runner'
    assert.equal(await t.ok(await t.register('mine', gives(1)), {}), 1)
  } },
  { s: '13.2', name: 'description and formats are shown unchanged, not enforced', steps: async (t) => {
    const format = { type: 'object', properties: { n: { type: 'number', 'x-any': [1.10] } }, required: ['n'] }
    const id = await t.register('f', echo, { description: 'what it does', request_format: format, response_format: { $ref: '#/x' } })
    assert.deepEqual(await shown(t, id), { description: 'what it does', request: format, response: { $ref: '#/x' } })
    assert.deepEqual(plain(await t.ok(id, { n: 'no number' })), { n: 'no number' })
  } },
  ...['type', 'properties', '$ref', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', 'not', 'items'].map((key) => ({ s: '13.2', name: `a format with only ${key}`, langs: ['node'], steps: async (t) => {
    const format = { [key]: { enum: [1], anyOf: [{}], oneOf: [{}], allOf: [{}], type: 'object', $ref: '#' }[key] ?? {} }
    assert.deepEqual((await shown(t, await t.register('f', echo, { request_format: format }))).request, format)
  } })),
  { s: '13.2', name: 'a description of 4096 and a format of 16384 bytes', steps: async (t) => {
    const format = { type: 'object', title: '' }
    format.title = 'x'.repeat(16384 - JSON.stringify(format).length)
    const id = await t.register('f', echo, { description: 'd'.repeat(4096), response_format: format })
    assert.deepEqual(await shown(t, id), { description: 'd'.repeat(4096), request: null, response: format })
  } },
  { s: '13.5', name: 'a default description names the language', steps: async (t) => {
    const { description } = await shown(t, await t.register('f', echo, { description: null, request_format: null }))
    assert.match(description, /code-runner/)
    assert.match(description, t.lang === 'node' ? /JavaScript|node/ : /Python/)
  } },
  { s: '13.5', name: 'redeploy: the new one answers, and only that', steps: async (t) => {
    const id = await t.register('f', gives(1))
    await t.register('f', gives(2))
    assert.equal(await t.ok(id, {}), 2)
    const { functions } = await t.ok('engine::functions::list', {})
    assert.equal(functions.filter((one) => one.function_id === id).length, 1)
  } },
  { s: '13.5', name: 'redeploy without metadata: node keeps, python resets', steps: async (t) => {
    const id = await t.register('f', gives(1), { description: 'old', request_format: { type: 'object' } })
    await t.register('f', gives(2))
    const now = await shown(t, id)
    if (t.lang === 'node') assert.deepEqual(now, { description: 'old', request: { type: 'object' }, response: null })
    else assert.deepEqual([now.request, now.description === 'old'], [null, false])
  } },
  { s: '13.5', name: 'redeploy with some metadata replaces all', steps: async (t) => {
    const id = await t.register('f', gives(1), { description: 'old', request_format: { type: 'object' } })
    await t.register('f', gives(2), { response_format: { type: 'number' } })
    const now = await shown(t, id)
    assert.deepEqual([now.request, now.response, now.description === 'old'], [null, { type: 'number' }, false])
  } },
  { s: '13.5', name: 'a failed redeploy keeps function, claim and metadata', steps: async (t) => {
    const id = await t.register('f', gives(1), { description: 'old' })
    await t.refuses('f', { node: 'nothing here', python: 'x = 1' }, 'invalid_request', 'handler(payload)', { description: 'new' })
    assert.equal(await t.ok(id, {}), 1)
    assert.equal((await shown(t, id)).description, 'old')
    await t.fails('invalid_request', 'already', 'code-runner::register_function', { function_id: id, lang: other(t), source: t.pick(echo) })
    await t.register('f', gives(2))
    assert.equal(await t.ok(id, {}), 2)
  } },
  { s: '13.5', name: 'a failed first registration leaves no namespace', steps: async (t) => {
    await t.refuses('f', { node: 'throw 1', python: 'x = 1' }, 'invalid_request', 'handler(payload)')
    await t.fails('runtime_not_found', t.ns, 'code-runner::teardown', { namespace: t.ns })
    await t.fails('runtime_not_found', [], 'code-runner::teardown', { namespace: t.ns })
    assert.equal(await t.ok(await t.register('f', gives(1)), {}), 1)
  } },
  { s: '13.5', name: 'it takes no slot for good', config: { max_runtimes: 1 }, steps: async (t) => {
    for (let i = 0; i < 3; i++) await t.refuses('f', { node: 'throw 1', python: 'x = 1' }, 'invalid_request', 'handler(payload)')
    assert.equal(await t.ok(await t.register('f', gives(1)), {}), 1)
  } },
  { s: '13.3', name: 'one namespace, both languages; one id, one of them', steps: async (t) => {
    const one = await t.register('a', gives(1))
    await t.fails('invalid_request', [one, 'already taken'], 'code-runner::register_function', { function_id: one, lang: other(t), source: 'x' })
    await t.ok('code-runner::register_function', { function_id: `${t.ns}::b`, lang: other(t), source: gives(2)[other(t)] })
    assert.deepEqual([await t.ok(one, {}), await t.ok(`${t.ns}::b`, {})], [1, 2])
    assert.deepEqual(await t.ok('code-runner::teardown', { namespace: `${t.ns}:` }), { torn_down: true, unregistered: [`${t.ns}::a`, `${t.ns}::b`], namespace: `${t.ns}::` })
  } },
  { s: '13.5', name: 'twenty concurrent registrations, a failing one among them', steps: async (t) => {
    const all = await Promise.all(Array.from({ length: 20 }, (_, i) => t.call('code-runner::register_function', { function_id: `${t.ns}::f${i}`, lang: t.lang, source: i % 5 === 0 ? 'broken source' : t.pick(gives(i)) })))
    for (let i = 0; i < 20; i++) {
      assert.equal(Boolean(all[i].error), i % 5 === 0, JSON.stringify(all[i]))
      if (i % 5) assert.equal(await t.ok(`${t.ns}::f${i}`, {}), i)
    }
  } },
  { s: '13.5', name: 'concurrent redeploys of one id leave one', steps: async (t) => {
    const answers = await Promise.all([1, 2, 3, 4].map((n) => t.call('code-runner::register_function', { function_id: `${t.ns}::f`, lang: t.lang, source: t.pick(gives(n)) })))
    assert.ok(answers.some((one) => one.result))
    assert.ok([1, 2, 3, 4].includes(await t.ok(`${t.ns}::f`, {})))
  } },
  { s: '13.5', name: 'a teardown that races: engine, and nothing is left', steps: async (t) => {
    const slow = { node: 'const end = Date.now() + 400; while (Date.now() < end); function handler() {}', python: 'import time\ntime.sleep(0.4)\ndef handler(p): pass' }
    const first = await t.register('there', gives(1))
    const late = t.call('code-runner::register_function', { function_id: `${t.ns}::late`, lang: t.lang, source: t.pick(slow) })
    await sleep(100)
    await t.ok('code-runner::teardown', { namespace: t.ns })
    const { error } = await late
    assert.equal(error?.code, 'code-runner::engine', JSON.stringify(await late))
    assert.match(error.message, /torn down/)
    assert.deepEqual([await t.bus.has(first), await t.bus.has(`${t.ns}::late`)], [false, false])
    await t.fails('runtime_not_found', t.ns, 'code-runner::teardown', { namespace: t.ns })
  } },
])

table('calls of published functions (13.6)', [
  ...payloads.map(([name, payload]) => ({ s: '13.6', name: `payload and answer: ${name}`, steps: async (t) => assert.deepEqual(plain(await t.ok(await t.register('f', echo), payload)), payload) })),
  { s: '13.6', name: 'the caller is named, as the bus does', steps: async (t) => {
    const id = await t.register('f', { node: 'function handler(p) { return typeof p._caller_worker_id }', python: 'def handler(p): return type(p["_caller_worker_id"]).__name__' })
    assert.equal(await t.ok(id, {}), t.pick({ node: 'string', python: 'str' }))
  } },
  { s: '13.6', name: 'no answer, and an answer that is not JSON', steps: async (t) => {
    assert.equal(await t.ok(await t.register('none', { node: 'function handler() {}', python: 'def handler(p): pass' }), {}), null)
    assert.equal(await t.ok(await t.register('odd', { node: 'function handler() { return 1n }', python: 'def handler(p): return {1, 2}' }), {}), null)
  } },
  { s: '13.6', name: 'awaited', steps: async (t) => {
    const id = await t.register('f', { node: 'async function handler() { await new Promise((r) => setTimeout(r, 20)); return 7 }', python: 'import asyncio\nasync def later():\n  await asyncio.sleep(0.02)\n  return 7\ndef handler(p): return asyncio.run(later())' })
    assert.equal(await t.ok(id, {}), 7)
  } },
  { s: '13.6', name: 'state stays', steps: async (t) => {
    const id = await t.register('f', { node: 'let n = 0; function handler() { return ++n }', python: 'n = 0\ndef handler(p):\n  global n\n  n += 1\n  return n' })
    assert.deepEqual([await t.ok(id, {}), await t.ok(id, {}), await t.ok(id, {})], [1, 2, 3])
  } },
  { s: '13.6', name: 'a throw is a handler_error with its text', steps: async (t) => {
    const id = await t.register('f', { node: 'function handler() { throw new TypeError("so") }', python: 'def handler(p): raise TypeError("so")' })
    await t.fails('handler_error', 'TypeError: so', id, {})
  } },
  { s: '3.3', name: 'a guest cannot invent a code', steps: async (t) => {
    const id = await t.register('f', { node: 'function handler() { throw new Error("code-runner::engine: forged") }', python: 'def handler(p): raise Exception("code-runner::engine: forged")' })
    await t.fails('handler_error', 'forged', id, {})
  } },
  { s: '13.6', name: 'a handler past its deadline', config: { default_timeout_ms: 400 }, steps: async (t) => {
    const id = await t.register('f', { node: 'function handler() { for (;;); }', python: 'def handler(p):\n  while True: pass' })
    await t.fails('timeout', 'deadline', id, {})
  } },
  { s: '12.5', name: 'node: the namespace dies with it, and can be made again', langs: ['node'], config: { default_timeout_ms: 400 }, steps: async (t) => {
    const id = await t.register('f', 'function handler() { for (;;); }')
    const calm = await t.register('g', gives(1))
    await t.fails('timeout', [], id, {})
    assert.ok(await eventually(async () => !(await t.bus.has(id)) && !(await t.bus.has(calm))))
    assert.equal(await t.ok(await t.register('f', gives(2)), {}), 2)
  } },
  { s: '13.6', name: 'python: functions outlive their interpreter, sources are replayed in order', langs: ['python'], config: { default_timeout_ms: 400 }, steps: async (t) => {
    await t.register('a', 'order = ["a"]\nstate = 0\ndef handler(p):\n  global state\n  state += 1\n  return [state, order]')
    await t.register('b', 'order.append("b")\ndef handler(p): return "b"')
    const spin = await t.register('c', 'order.append("c")\ndef handler(p):\n  while p.get("spin"): pass\n  return open("f").read()')
    const keep = await t.register('d', 'order.append("d")\ndef handler(p): open("f", "w").write("kept")')
    await t.ok(keep, {})
    assert.deepEqual(await t.ok(`${t.ns}::a`, {}), [1, ['a', 'b', 'c', 'd']])
    assert.deepEqual((await t.ok(`${t.ns}::a`, {}))[0], 2)
    await t.fails('timeout', 'deadline', spin, { spin: true })
    assert.deepEqual(await t.ok(`${t.ns}::a`, {}), [1, ['a', 'b', 'c', 'd']])
    assert.deepEqual([await t.ok(`${t.ns}::b`, {}), await t.ok(spin, {})], ['b', 'kept'])
  } },
  { s: '13.6', name: 'python: a source that fails at the replay', langs: ['python'], config: { default_timeout_ms: 400 }, steps: async (t) => {
    const once = await t.register('once', 'import os\nassert not os.path.exists("f"), "second time"\nopen("f", "w").write("x")\ndef handler(p): return 1')
    const spin = await t.register('spin', 'def handler(p):\n  while p.get("spin"): pass\n  return 2')
    await t.fails('timeout', [], spin, { spin: true })
    assert.equal(await t.ok(spin, {}), 2)
    await t.fails('handler_error', 'second time', once, {})
    await t.register('once', gives(3))
    assert.equal(await t.ok(once, {}), 3)
  } },
  { s: '13.6', name: 'python: an interpreter that ends itself', langs: ['python'], steps: async (t) => {
    const id = await t.register('f', 'import os\ndef handler(p):\n  if p.get("end"): os._exit(3)\n  return 1')
    await t.fails('handler_error', [], id, { end: true })
    assert.equal(await t.ok(id, {}), 1)
  } },
  { s: '13.6', name: 'python: sys.exit in a handler', langs: ['python'], steps: async (t) => {
    const id = await t.register('f', 'import sys\ndef handler(p): sys.exit(p["n"])')
    assert.equal(await t.ok(id, { n: 0 }), null)
    await t.fails('handler_error', [], id, { n: 3 })
    await t.fails('handler_error', 'words', id, { n: 'words' })
  } },
  { s: '13.6', name: 'python: a result over 1 MiB', langs: ['python'], steps: async (t) => {
    const id = await t.register('f', 'def handler(p): return "x" * p["n"]')
    assert.equal((await t.ok(id, { n: 1048574 })).length, 1048574)
    await t.fails('handler_error', '1048576', id, { n: 1048575 })
  } },
  { s: '9.9', name: 'python: a payload over 1 MiB', langs: ['python'], steps: async (t) => {
    const id = await t.register('f', 'def handler(p): return len(p["t"])')
    await t.fails('invalid_request', '1048576', id, { t: 'x'.repeat(1048577) })
    assert.equal(await t.ok(id, { t: 'x' }), 1)
  } },
  { s: '13.6', name: 'node: no cap on a result', langs: ['node'], steps: async (t) => {
    const id = await t.register('f', 'function handler(p) { return "x".repeat(p.n) }')
    assert.equal((await t.ok(id, { n: 5 << 20 })).length, 5 << 20)
  } },
  { s: '13.6', name: 'node: 20 MiB fit no message of the bus: a stated error, then on', langs: ['node'], steps: async (t) => {
    const id = await t.register('f', 'function handler(p) { return "x".repeat(p.n) }')
    const { error } = await t.call(id, { n: 20 << 20 })
    assert.match(error?.message ?? '', /16 MiB|longer|large/)
    assert.equal(await t.ok(id, { n: 1 }), 'x')
  } },
  { s: '12.6', name: 'a handler over its memory', steps: async (t) => {
    const id = await t.register('f', { node: 'function handler() { const a = []; for (;;) a.push(new Array(1e5).fill(1.5)) }', python: 'def handler(p):\n  a = []\n  while True: a.append(bytes(1 << 20) + b"1")' })
    await t.fails('resource_exhausted', [], id, {})
    if (t.lang === 'python') assert.equal(await t.bus.has(id), true)
  } },
  { s: '12.4', name: 'node handlers interleave at their awaits', langs: ['node'], steps: async (t) => {
    const id = await t.register('f', 'let open; const gate = new Promise((r) => open = r); async function handler(p) { if (p.open) { open(); return 1 } await gate; return 2 }')
    const waiting = t.ok(id, {})
    await sleep(50)
    assert.deepEqual([await t.ok(id, { open: true }), await waiting], [1, 2])
  } },
  { s: '12.4', name: 'python turns are exclusive', langs: ['python'], steps: async (t) => {
    const id = await t.register('f', 'import time\ninside = 0\ndef handler(p):\n  global inside\n  inside += 1\n  time.sleep(0.02)\n  seen = inside\n  inside -= 1\n  return seen')
    assert.deepEqual(await Promise.all(Array.from({ length: 8 }, () => t.ok(id, {}))), Array(8).fill(1))
  } },
  { s: '10', name: 'python: a handler that calls its own namespace gets an exception', langs: ['python'], config: { default_timeout_ms: 1500 }, steps: async (t) => {
    await t.register('g', gives(1))
    const id = await t.register('f', `def handler(p):\n  try: return iii.trigger({"function_id": "${t.ns}::g"})\n  except RuntimeError as e: return "caught"`)
    assert.equal(await t.ok(id, {}), 'caught')
  } },
  { s: '7.2', name: 'iii.namespace of a namespace', steps: async (t) => assert.equal(await t.ok(await t.register('f', { node: 'function handler() { return iii.namespace }', python: 'def handler(p): return iii.namespace' }), {}), `${t.ns}::`) },
  { s: '3.5', name: 'no caller of a function learns an id', langs: ['node'], config: { default_timeout_ms: 400 }, steps: async (t) => {
    const runtime = await t.keep('iii.registerFunction(iii.namespace + "f", () => { throw new Error("I am " + iii.namespace) }); iii.registerFunction(iii.namespace + "s", () => { for (;;); })')
    const ns = await t.on(runtime, 'return iii.namespace')
    for (const name of ['f', 's']) assert.doesNotMatch((await t.call(ns + name, {})).error.message.replaceAll('rt-…', ''), /rt-[0-9a-f]{8}/)
  } },
  { s: '9.8', name: 'python: /work is the namespace\'s, and its size is bounded', langs: ['python'], timeout: 60000, config: { default_timeout_ms: 30000 }, steps: async (t) => {
    const id = await t.register('f', 'def handler(p):\n  with open("big", "wb") as f:\n    for i in range(300): f.write(bytes(1 << 20))')
    await t.fails('resource_exhausted', '/work', id, {})
  } },
])

table('teardown of namespaces (14)', [
  { s: '14', name: 'sorted ids, canonical name, ids free at once in either language', steps: async (t) => {
    const ids = []
    for (const name of ['c', 'a', 'b']) ids.push(await t.register(name, gives(1)))
    assert.deepEqual(await t.ok('code-runner::teardown', { namespace: `${t.ns}:::` }), { torn_down: true, unregistered: ids.sort(), namespace: `${t.ns}::` })
    for (const id of ids) assert.equal(await t.bus.has(id), false)
    t.lang = other(t)
    assert.equal(await t.ok(await t.register('a', gives(5)), {}), 5)
  } },
  { s: '14', name: 'guest registrations go with it; their trigger types too', langs: ['node'], steps: async (t) => {
    await t.register('f', 'iii.registerFunction(iii.namespace + "side", () => 1); iii.registerTriggerType({ id: iii.namespace + "type" }, { registerTrigger() {}, unregisterTrigger() {} }); function handler() {}')
    const types = async () => (await t.ok('engine::triggers::list', {})).triggers.map((one) => one.id)
    assert.ok((await types()).includes(`${t.ns}::type`))
    assert.deepEqual((await t.ok('code-runner::teardown', { namespace: t.ns })).unregistered, [`${t.ns}::f`, `${t.ns}::side`])
    assert.ok(!(await types()).includes(`${t.ns}::type`))
  } },
  { s: '14', name: 'a kept run\'s prefix is not addressable', langs: ['node'], steps: async (t) => {
    const runtime = await t.keep('iii.registerFunction(iii.namespace + "f", () => 1)')
    await t.fails('invalid_request', 'is not one worker name', 'code-runner::teardown', { namespace: `code-runner::${runtime}` }, { want: { id: true } })
    await t.fails('runtime_not_found', 'code-runner', 'code-runner::teardown', { namespace: 'code-runner' })
  } },
  { s: '12.7', name: 'idle: node namespaces go, python ones stay', config: { idle_ttl_secs: 1 }, steps: async (t) => {
    const id = await t.register('f', gives(1))
    await sleep(2600)
    assert.equal(await t.bus.has(id), t.lang === 'python')
    if (t.lang === 'python') return assert.equal(await t.ok(id, {}), 1)
    await t.fails('runtime_not_found', t.ns, 'code-runner::teardown', { namespace: t.ns })
    assert.equal(await t.ok(await t.register('f', gives(2)), {}), 2)
  } },
  { s: '8', name: 'scratch directories go with their runtimes', steps: async (t) => {
    const root = (await t.bus.ok('configuration::get', { id: 'code-runner' })).value.scratch_root
    assert.equal(root, null)
    const before = readdirSync('/tmp').filter((name) => name.includes('code-runner')).length
    await t.register('f', gives(1))
    await t.ok('code-runner::teardown', { namespace: t.ns })
    assert.ok(await eventually(() => readdirSync('/tmp').filter((name) => name.includes('code-runner')).length <= before))
  } },
])
