// Sections 7, 10, 11: what guests do on the bus, and what they may not.
import assert from 'node:assert/strict'
import { sleep, eventually } from '../lib/proc.mjs'
import { table } from './lib/table.mjs'

const js = JSON.stringify
// Guest code whose result is [name, message] of what a call raises, or 'accepted'.
const caught = {
  node: (expression) => `try { await ${expression}; return "accepted" } catch (e) { return [e.name, e.message, e instanceof Error] }`,
  python: (expression) => `try:\n  ${expression}\n  result = "accepted"\nexcept BaseException as e:\n  result = [type(e).__name__, str(e), isinstance(e, Exception)]`,
}
const trigger = (request) => ({ node: `iii.trigger(${js(request)})`, python: `iii.trigger(__import__("json").loads(${js(js(request))}))` })
const answer = (request) => ({ node: `return iii.trigger(${js(request)})`, python: `result = ${trigger(request).python}` })

// A worker that serves <ns>-peer::<name>; what it was called with is in `seen`.
async function peer(t, name = 'f', handler = async (data) => data, id = `${t.ns}-peer::${name}`) {
  const client = t.worker()
  const seen = []
  await t.serve(client, id, async (data) => {
    seen.push(data)
    return handler(data)
  })
  return { client, id, seen }
}
const plain = ({ _caller_worker_id, ...rest }) => rest

const kinds = [['text', 'ü\u{1f600}"\\'], ['a number', 1.5], ['zero', 0], ['false', false], ['an array', [1, [null]]], ['null', null]]

table('iii.trigger (7.3, 10)', [
  ...kinds.map(([name, payload]) => ({ s: '7.3', name: `a payload: ${name}`, steps: async (t) => {
    const { id } = await peer(t)
    await t.run(answer({ function_id: id, payload }), { result: payload })
  } })),
  { s: '7.3', name: 'an object arrives, and its answer', steps: async (t) => {
    const { id } = await peer(t, 'f', async (data) => ({ got: plain(data) }))
    await t.run(answer({ function_id: id, payload: { a: { 'ключ': [1] } } }), { result: { got: { a: { 'ключ': [1] } } } })
  } },
  { s: '7.3', name: 'no payload: {} in node, null in python', steps: async (t) => {
    const { id, seen } = await peer(t, 'f', async () => 1)
    await t.run(answer({ function_id: id }), { result: 1 })
    assert.deepEqual(seen[0] && plain(seen[0]), t.lang === 'node' ? {} : null)
  } },
  { s: '7.3', name: 'a failure of the function', steps: async (t) => {
    const { id } = await peer(t, 'f', async () => { throw new Error('peer says no') })
    const [name, message, is] = await t.run(t.pick({ node: caught.node(trigger({ function_id: id }).node), python: caught.python(trigger({ function_id: id }).python) }))
    assert.deepEqual([name, is], [t.pick({ node: 'Error', python: 'RuntimeError' }), true])
    assert.match(message, t.lang === 'node' ? /peer says no/ : /^iii\.trigger: .*peer says no/)
  } },
  { s: '7.3', name: 'an unknown function', steps: async (t) => {
    const [, message] = await t.run(t.pick({ node: caught.node(trigger({ function_id: 'no::where' }).node), python: caught.python(trigger({ function_id: 'no::where' }).python) }))
    assert.match(message, /not found/)
  } },
  { s: '3.2', name: 'an uncaught failure is a response', steps: async (t) => {
    await t.run(answer({ function_id: 'no::where' }), { exit: 1, stderr: /not found/ })
  } },
  { s: '7.3', name: 'a timeout of the call', steps: async (t) => {
    const { id } = await peer(t, 'f', () => sleep(1500))
    const request = { function_id: id, timeout: 100, timeout_ms: 100 }
    const started = performance.now()
    const [, message] = await t.run(t.pick({ node: caught.node(trigger(request).node), python: caught.python(trigger(request).python) }))
    assert.match(message, /time|TIMEOUT/i)
    assert.ok(performance.now() - started < 1200)
  } },
  { s: '10', name: 'a bus timeout leaves time to handle it', langs: ['python'], steps: async (t) => {
    const { id } = await peer(t, 'f', () => sleep(3000))
    const [name] = await t.run(caught.python(trigger({ function_id: id }).python), {}, { timeout_ms: 700 })
    assert.equal(name, 'RuntimeError')
  } },
  { s: '12.5', name: 'the deadline ends a waiting guest', langs: ['node'], steps: async (t) => {
    const { id } = await peer(t, 'f', () => sleep(1500))
    await t.run(answer({ function_id: id }), { error: 'timeout' }, { timeout_ms: 200 })
  } },
  { s: '7.3', name: 'void: null at once, and it arrives', langs: ['node'], steps: async (t) => {
    const { id, seen } = await peer(t, 'f', () => sleep(1000))
    await t.run(answer({ function_id: id, payload: { n: 1 }, action: 'void' }), { result: null })
    assert.ok(await eventually(() => seen.length === 1))
  } },
  { s: '7.3', name: 'an action that is no JSON', langs: ['node'], steps: async (t) => {
    assert.match((await t.run(caught.node(trigger({ function_id: 'a::b', action: 'nonsense' }).node)))[1], /invalid action/)
  } },
  { s: '7.3', name: 'enqueue without a queue worker is the bus\'s failure', langs: ['node'], steps: async (t) => {
    assert.match((await t.run(caught.node(trigger({ function_id: 'a::b', action: '{"type":"enqueue","queue":"q"}' }).node)))[1], /queue/)
  } },
  { s: '7.3', name: '32 calls in flight, not 33; settled ones give their slot back', langs: ['node'], steps: async (t) => {
    const { id, seen } = await peer(t, 'f', () => sleep(200))
    const result = await t.run(`const all = await Promise.allSettled(Array.from({ length: 33 }, () => iii.trigger({ function_id: ${js(id)} })))
      const again = await Promise.allSettled(Array.from({ length: 32 }, () => iii.trigger({ function_id: ${js(id)} })))
      return [all.filter((one) => one.status === "fulfilled").length, all[32].reason?.message, again.every((one) => one.status === "fulfilled")]`)
    assert.equal(result[0], 32)
    assert.match(result[1], /32/)
    assert.equal(result[2], true)
    assert.equal(seen.length, 64)
  } },
  { s: '10', name: 'action is ignored', langs: ['python'], steps: async (t) => {
    const { id } = await peer(t, 'f', async () => 7)
    await t.run(answer({ function_id: id, action: 'void' }), { result: 7 })
  } },
  { s: '12.4', name: 'code-runner::run inside a run', steps: async (t) => {
    const result = await t.run(answer({ function_id: 'code-runner::run', payload: { lang: 'python', code: 'result = 6 * 7' } }))
    assert.equal(result.result, 42)
  } },
  { s: '12.4', name: 'guests call each other three deep', steps: async (t) => {
    const inner = await t.register('inner', { node: 'function handler(p) { return p.n + 1 }', python: 'def handler(p): return p["n"] + 1' })
    const code = answer({ function_id: inner, payload: { n: 1 } })
    const nested = await t.run(answer({ function_id: 'code-runner::run', payload: { lang: t.lang, code: t.pick(code) } }))
    assert.equal(nested.result, 2)
  } },
  { s: '7.3', name: 'a handler calls its own runtime without deadlock', langs: ['node'], steps: async (t) => {
    await t.run(`const f = iii.namespace + "f", g = iii.namespace + "g"
      iii.registerFunction(g, (p) => p.n * 2)
      iii.registerFunction(f, async (p) => (await iii.trigger({ function_id: g, payload: { n: p.n } })) + 1)
      return iii.trigger({ function_id: f, payload: { n: 20 } })`, { result: 41 })
  } },
  { s: '10', name: 'a request over 1 MiB names the limit', langs: ['python'], steps: async (t) => {
    const [name, message] = await t.run(caught.python('iii.trigger({"function_id": "a::b", "payload": "x" * 1048577})'))
    assert.deepEqual([name, message.includes('1048576')], ['RuntimeError', true], message)
  } },
  { s: '10', name: 'a function_id over 512 bytes names the limit', langs: ['python'], steps: async (t) => {
    const [name, message] = await t.run(caught.python('iii.trigger({"function_id": "a::" + "x" * 510})'))
    assert.deepEqual([name, message.includes('512')], ['RuntimeError', true], message)
  } },
  { s: '7.3', name: 'a payload of exactly 1 MiB passes', langs: ['node'], steps: async (t) => {
    const { id } = await peer(t, 'f', async (data) => data.length)
    await t.run(`return iii.trigger({ function_id: ${js(id)}, payload: "x".repeat(1048574) })`, { result: 1048574 })
  } },
  { s: '6.6', name: 'poisoned builtins do not change what is sent', langs: ['node'], steps: async (t) => {
    const { id, seen } = await peer(t, 'f', async () => ({ honest: true }))
    await t.run(`JSON.stringify = () => '"forged"'; JSON.parse = () => "forged"; Promise.prototype.then = function () { return "forged" }; Object.prototype.toJSON = undefined
      return await iii.trigger({ function_id: ${js(id)}, payload: { n: 1 } })`, { result: { honest: true } })
    assert.deepEqual(plain(seen[0]), { n: 1 })
  } },
  { s: '6.5', name: 'an answer after the run belongs to no response', langs: ['node'], steps: async (t) => {
    const { id } = await peer(t, 'f', () => sleep(150))
    const runtime = await t.keep(`iii.trigger({ function_id: ${js(id)} }).then(() => console.log("late"))`)
    await sleep(300)
    await t.on(runtime, 'return 1', { result: 1, stdout: '' })
  } },
])

const refused = ['state::claim-namespace', 'harness::state::set', 'provider-openai-codex::state::get', 'provider::openai-codex::login::start', 'provider::openai-codex::auth::token']
const allowed = ['state::claim-namespaces', 'harness::states::set', 'provider-openai-codex::state-info', 'provider::openai-codex::stream', 'provider::openai-codex::authenticate', 'State::claim-namespace']
const paths = [
  ['direct', ['node', 'python'], (target) => trigger({ function_id: target, payload: { n: 1 } })],
  ['void', ['node', 'python'], (target) => trigger({ function_id: target, action: 'void' })],
  ['void as JSON', ['node'], (target) => trigger({ function_id: target, action: '{"type":"void"}' })],
  ['queued', ['node'], (target) => trigger({ function_id: target, action: '{"type":"enqueue","queue":"q"}' })],
  ['as a trigger\'s target', ['node'], (target) => ({ node: `iii.registerTrigger({ type: "subscribe", function_id: ${js(target)}, config: { topic: "x" } })` })],
  ['as the target of a nested binding', ['node', 'python'], (target) => trigger({ function_id: 'engine::register_trigger', payload: { type: 'subscribe', trigger_type: 'subscribe', function_id: target, config: { topic: 'x' } } })],
]
const noTarget = [['missing', {}], ['a number', { function_id: 1 }], ['null', { function_id: null }], ['an array', { function_id: ['state::claim-namespace'] }]]
const catching = (t, code) => t.run(caught[t.lang](code[t.lang]))

function checkRefusal(t, caughtError, ...fragments) {
  assert.notEqual(caughtError, 'accepted')
  const [name, message, catchable] = caughtError
  assert.equal(catchable, true)
  if (t.lang === 'python') assert.deepEqual([name, message.startsWith('iii.trigger: ')], ['RuntimeError', true], message)
  for (const fragment of fragments) assert.ok(message.includes(fragment), message)
}

table('refused targets (11)', [
  ...refused.flatMap((target) => paths.map(([path, langs, code]) => ({ s: '11', name: `${target}: ${path}`, langs, steps: async (t) => {
    const { seen } = await peer(t, '', async () => 'reached', target)
    checkRefusal(t, await catching(t, code(target)), 'operator-only', target)
    await t.ok('engine::functions::info', { function_id: target })
    assert.deepEqual(seen, [])
  } }))),
  ...['engine::register_trigger', 'engine::unregister_trigger'].flatMap((target) => paths.slice(4).map(([path, langs, code]) => ({ s: '11', name: `${target}: ${path}`, langs, steps: async (t) =>
    checkRefusal(t, await catching(t, code(target)), target, 'bound') }))),
  ...noTarget.map(([name, payload]) => ({ s: '11', name: `a nested binding whose function_id is ${name}`, steps: async (t) =>
    checkRefusal(t, await catching(t, trigger({ function_id: 'engine::register_trigger', payload })), 'function_id') })),
  ...allowed.map((target) => ({ s: '11', name: `${target} is allowed`, steps: async (t) => {
    await peer(t, '', async () => 'reached', target)
    await t.run(answer({ function_id: target }), { result: 'reached' })
  } })),
  { s: '11', name: 'uncaught it makes a response', steps: async (t) => t.run(answer({ function_id: refused[0] }), { exit: 1, stderr: /operator-only/ }) },
  { s: '11', name: 'an ordinary nested binding is allowed', steps: async (t) => {
    const { id } = await peer(t)
    assert.equal(typeof (await catching(t, trigger({ function_id: 'engine::register_trigger', payload: { trigger_type: 'subscribe', function_id: id, config: { topic: 'x' } } }))), 'string')
  } },
  { s: '11', name: 'other workers are not inspected', langs: ['node'], steps: async (t) => {
    const { id, client } = await peer(t, 'proxy', async () => client.trigger({ function_id: refused[1], payload: {} }))
    await t.serve(client, refused[1], async () => 'reached')
    await t.run(answer({ function_id: id }), { result: 'reached' })
  } },
])

const keeping = (body) => `const id = (name) => iii.namespace + name; ${body}`

table('iii.registerFunction (7.4)', [
  { s: '7.4', name: 'published at once, called by others, gone with its runtime', langs: ['node'], steps: async (t) => {
    const runtime = await t.keep()
    const id = await t.on(runtime, 'iii.registerFunction(iii.namespace + "f", (p) => ({ n: p.n + 1 })); return iii.namespace + "f"')
    assert.deepEqual(await t.ok(id, { n: 1 }), { n: 2 })
    assert.deepEqual(await t.ok('code-runner::teardown', { runtime_id: runtime }), { torn_down: true, unregistered: [id], runtime_id: runtime })
    assert.equal(await t.bus.has(id), false)
  } },
  { s: '7.4', name: 'metadata is shown, replaced wholesale, kept when none is given', langs: ['node'], steps: async (t) => {
    const runtime = await t.keep()
    const register = (opts) => t.on(runtime, `iii.registerFunction(iii.namespace + "f", () => 1${opts ? `, ${opts}` : ''}); return iii.namespace + "f"`)
    const id = await register('{ description: "first", request_format: { type: "object" } }')
    const shown = async () => {
      const info = await t.bus.info(id)
      return [info.description, info.request_schema?.type ?? null, info.response_schema?.type ?? null]
    }
    assert.deepEqual(await shown(), ['first', 'object', null])
    await register()
    assert.deepEqual(await shown(), ['first', 'object', null])
    await register('{ response_format: { type: "number" } }')
    const [description, request, response] = await shown()
    assert.notEqual(description, 'first')
    assert.deepEqual([request, response], [null, 'number'])
  } },
  { s: '7.4', name: 'the same id again replaces the handler', langs: ['node'], steps: async (t) => {
    const runtime = await t.keep('iii.registerFunction(iii.namespace + "f", () => 1)')
    const id = await t.on(runtime, 'iii.registerFunction(iii.namespace + "f", () => 2); return iii.namespace + "f"')
    assert.equal(await t.ok(id, {}), 2)
  } },
  { s: '7.4', name: 'unregister, twice', langs: ['node'], steps: async (t) => {
    const runtime = await t.keep('globalThis.r = iii.registerFunction(iii.namespace + "f", () => 1)')
    const id = await t.on(runtime, 'return iii.namespace + "f"')
    assert.equal(await t.bus.has(id), true)
    await t.on(runtime, 'r.unregister(); r.unregister()')
    assert.equal(await t.bus.has(id), false)
    await t.on(runtime, 'iii.registerFunction(iii.namespace + "f", () => 3)')
    assert.equal(await t.ok(id, {}), 3)
  } },
  { s: '7.4', name: 'outside of the prefix', langs: ['node'], steps: async (t) => {
    const [name, message] = await t.run('try { iii.registerFunction("other::f", () => 1) } catch (e) { return [e.name, e.message.replaceAll(iii.namespace, "NS")] }')
    assert.deepEqual([name, message.includes('other::f'), message.includes('NS')], ['TypeError', true, true])
  } },
  { s: '7.4', name: '256 registrations, not 257', langs: ['node'], steps: async (t) => {
    const [count, message] = await t.run(keeping('let n = 0; try { for (; n < 300; n++) iii.registerFunction(id("f" + n), () => 1) } catch (e) { return [n, e.message] }'))
    assert.equal(count, 256)
    assert.match(message, /256/)
  } },
  { s: '7.4', name: 'an unregistered one gives its place back', langs: ['node'], steps: async (t) => {
    await t.run(keeping('for (let n = 0; n < 300; n++) iii.registerFunction(id("f"), () => 1); for (let n = 0; n < 300; n++) iii.registerFunction(id("g" + n), () => 1).unregister(); return 1'), { result: 1 })
  } },
  { s: '13.3', name: 'an id held by a registration', langs: ['node'], steps: async (t) => {
    const id = await t.register('made', 'iii.registerFunction(iii.namespace + "side", () => "side"); function handler() { return iii.namespace }')
    assert.equal(await t.ok(id, {}), `${t.ns}::`)
    assert.equal(await t.ok(`${t.ns}::side`, {}), 'side')
    await t.fails('invalid_request', [`${t.ns}::side`, 'already'], 'code-runner::register_function', { function_id: `${t.ns}::side`, lang: 'python', source: 'def handler(p): pass' })
  } },
  { s: '13.3', name: 'an id that python holds', langs: ['node'], steps: async (t) => {
    await t.ok('code-runner::register_function', { function_id: `${t.ns}::py`, lang: 'python', source: 'def handler(p): return 1' })
    const id = await t.register('made', 'let said; try { iii.registerFunction(iii.namespace + "py", () => 2) } catch (e) { said = [e.name, e.message] } function handler() { return said }')
    const [name, message] = await t.ok(id, {})
    assert.equal(name, 'Error')
    assert.match(message, /already/)
    assert.equal(await t.ok(`${t.ns}::py`, {}), 1)
  } },
  { s: '13.6', name: 'a handler that throws', langs: ['node'], steps: async (t) => {
    const runtime = await t.keep('iii.registerFunction(iii.namespace + "f", () => { throw new RangeError("far") })')
    const id = await t.on(runtime, 'return iii.namespace + "f"')
    const { error } = await t.call(id, {})
    assert.equal(error.code, 'code-runner::handler_error')
    assert.match(error.message, /^code-runner::handler_error: RangeError: far/)
  } },
  { s: '12.5', name: 'a handler that spins takes its runtime with it', langs: ['node'], config: { default_timeout_ms: 300 }, steps: async (t) => {
    const runtime = await t.keep('iii.registerFunction(iii.namespace + "f", () => { for (;;); }); iii.registerFunction(iii.namespace + "g", () => 1)')
    const ns = await t.on(runtime, 'return iii.namespace')
    const { error } = await t.call(`${ns}f`, {})
    assert.equal(error.code, 'code-runner::timeout')
    assert.ok(await eventually(async () => !(await t.bus.has(`${ns}g`))))
    await t.on(runtime, '', { error: 'expired' })
  } },
  { s: '7.4', name: 'an object is no handler', langs: ['node'], steps: async (t) => {
    const [name, message] = await t.run(caught.node('iii.registerFunction(iii.namespace + "f", { url: "http://x" })'))
    assert.deepEqual([name, message.includes('HttpInvocationConfig'), message.includes('engine::functions::register')], ['TypeError', true, true])
  } },
])

table('triggers of guests (7.5, 7.6)', [
  { s: '7.5', name: 'a guest binds, is fired, unbinds', langs: ['node'], steps: async (t) => {
    const runtime = await t.keep('globalThis.events = []; iii.registerFunction(iii.namespace + "on", (e) => { events.push(e.event_type); return null })')
    const scope = `${t.ns}-scope`
    await t.on(runtime, `globalThis.bound = await iii.registerTrigger({ type: "state", function_id: iii.namespace + "on", config: { scope: ${js(scope)} } })`)
    await t.ok('state::set', { scope, key: 'k', value: 1 })
    assert.ok(await eventually(async () => (await t.on(runtime, 'return events.length')) === 1))
    await t.on(runtime, 'await bound.unregister(); await bound.unregister()')
    await t.ok('state::set', { scope, key: 'k', value: 2 })
    await sleep(100)
    assert.equal(await t.on(runtime, 'return events.length'), 1)
  } },
  { s: '7.5', name: 'a binding ends with its runtime', langs: ['node'], steps: async (t) => {
    const { id, seen } = await peer(t, 'on', async () => null)
    const scope = `${t.ns}-scope`
    const runtime = await t.keep(`await iii.registerTrigger({ type: "state", function_id: ${js(id)}, config: { scope: ${js(scope)} } })`)
    await t.ok('state::set', { scope, key: 'k', value: 1 })
    assert.ok(await eventually(() => seen.length === 1))
    await t.ok('code-runner::teardown', { runtime_id: runtime })
    await t.ok('state::set', { scope, key: 'k', value: 2 })
    await sleep(100)
    assert.equal(seen.length, 1)
  } },
  ...[['input', '1', 'object'], ['type', '{ function_id: "a::b", config: {} }', 'type'], ['trigger_type is not type', '{ trigger_type: "state", function_id: "a::b", config: {} }', 'type'], ['function_id', '{ type: "state", config: {} }', 'function_id'], ['config', '{ type: "state", function_id: "a::b" }', 'config'], ['input over 1 MiB', '{ type: "state", function_id: "a::b", config: "x".repeat(1048576) }', '1048576']].map(([name, input, fragment]) => ({
    s: '7.5', name: `registerTrigger: ${name}`, langs: ['node'], steps: async (t) => {
      const [kind, message] = await t.run(caught.node(`iii.registerTrigger(${input})`))
      assert.deepEqual([kind, message.includes(fragment)], ['TypeError', true], message)
    } })),
  { s: '7.6', name: 'a guest\'s trigger type: bound, fired and unbound by others', langs: ['node'], steps: async (t) => {
    const runtime = await t.keep(`globalThis.log = []; iii.registerTriggerType({ id: iii.namespace + "tick", description: "ticks" }, {
      registerTrigger(b) { log.push(["bound", b]); return iii.trigger({ function_id: b.function_id, payload: { tick: b.config.n } }) },
      unregisterTrigger(b) { log.push(["unbound", b]) } })`)
    const type = await t.on(runtime, 'return iii.namespace + "tick"')
    const { client, id, seen } = await peer(t, 'on', async () => null)
    const binding = client.registerTrigger({ type, function_id: id, config: { n: 5 } })
    assert.ok(await eventually(() => seen.length === 1))
    assert.equal(seen[0].tick, 5)
    binding.unregister()
    assert.ok(await eventually(async () => (await t.on(runtime, 'return log.length')) === 2))
    const [[, bound], [, unbound]] = await t.on(runtime, 'return log')
    assert.deepEqual(Object.keys(bound).sort().join(), 'config,function_id,id,metadata')
    assert.deepEqual([bound.function_id, bound.config], [id, { n: 5 }])
    assert.equal(unbound.id, bound.id)
  } },
  { s: '7.6', name: 'its failure fails the binding', langs: ['node'], steps: async (t) => {
    const runtime = await t.keep('iii.registerTriggerType({ id: iii.namespace + "never" }, { registerTrigger() { throw new Error("not today") }, unregisterTrigger() {} })')
    const type = await t.on(runtime, 'return iii.namespace + "never"')
    const { id } = await peer(t)
    const { error } = await t.call('engine::register_trigger', { trigger_type: type, function_id: id, config: {} })
    assert.match(error?.message ?? 'bound', /not today/)
  } },
  { s: '7.6', name: 'a function and a trigger type share an id', langs: ['node'], steps: async (t) => {
    const runtime = await t.keep('const id = iii.namespace + "x"; globalThis.f = iii.registerFunction(id, () => 1); iii.registerTriggerType({ id }, { registerTrigger() {}, unregisterTrigger() {} })')
    const id = await t.on(runtime, 'return iii.namespace + "x"')
    await t.on(runtime, 'iii.unregisterTriggerType(iii.namespace + "x")')
    assert.equal(await t.ok(id, {}), 1)
  } },
  { s: '7.6', name: 'a type that is not there and one that is not yours', langs: ['node'], steps: async (t) => {
    await t.run('iii.unregisterTriggerType(iii.namespace + "nothing"); iii.unregisterTriggerType({ id: iii.namespace + "nothing" }); return 1', { result: 1 })
    const result = await t.run('const said = []; for (const f of [() => iii.unregisterTriggerType("state"), () => iii.registerTriggerType({ id: "state" }, { registerTrigger() {}, unregisterTrigger() {} })]) try { f() } catch (e) { said.push((e.name + e.message).replace(iii.namespace, "")) } return said')
    assert.equal(result.length, 2)
    assert.equal(result[0], result[1])
  } },
  ...[['the type', '1, { registerTrigger() {}, unregisterTrigger() {} }'], ['an id over 512 bytes', '{ id: iii.namespace + "x".repeat(512) }, { registerTrigger() {}, unregisterTrigger() {} }'], ['one method is missing', '{ id: iii.namespace + "x" }, { registerTrigger() {} }']].map(([name, args]) => ({
    s: '7.6', name: `registerTriggerType: ${name}`, langs: ['node'], steps: async (t) => assert.equal((await t.run(caught.node(`iii.registerTriggerType(${args})`)))[0], 'TypeError') })),
  { s: '7.7', name: 'shutdown throws, the bus stays', langs: ['node'], steps: async (t) => {
    const [, message] = await t.run(caught.node('iii.shutdown()'))
    assert.match(message, /code-runner::teardown/)
    await t.run('return 1', { result: 1 })
  } },
  { s: '7.5', name: 'the budget of 256 is shared with functions', langs: ['node'], steps: async (t) => {
    const [n, message] = await t.run(keeping(`for (let n = 0; n < 250; n++) iii.registerFunction(id("f" + n), () => 1)
      iii.registerTriggerType({ id: id("t") }, { registerTrigger() {}, unregisterTrigger() {} })
      let n = 0; try { for (; n < 20; n++) await iii.registerTrigger({ type: "subscribe", function_id: id("f0"), config: { topic: "x" + n } }) } catch (e) { return [n, e.message] }`))
    assert.equal(n, 5)
    assert.match(message, /256/)
  } },
])
