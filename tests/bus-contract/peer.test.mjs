// A second, independent worker, written with iii-sdk: it serves guests, calls them, fires triggers into them and binds to
// a trigger type that a guest provides.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { eventually } from '../lib/proc.mjs'
import { Bus, ask } from './lib/bus.mjs'
import { TriggerAction, connect } from './lib/sdk.mjs'

describe('an independent worker', { timeout: 60000 }, () => {
  let bus, shop
  const stock = new Map([['apple', 3]])
  const listeners = new Map()
  const fired = []

  before(async () => {
    bus = await Bus.start()
    shop = connect(bus.url, { workerName: 'shop', workerDescription: 'A worker of the tests' })
    shop.registerFunction('shop::stock', async ({ item }) => ({ item, count: stock.get(item) ?? 0 }), { description: 'How many are there' })
    shop.registerFunction('shop::take', async ({ item }) => {
      if (!stock.get(item)) throw new Error(`no ${item} left`)
      stock.set(item, stock.get(item) - 1)
      await Promise.all([...listeners.values()].filter((one) => one.config.item === item).map((one) => shop.trigger({ function_id: one.function_id, payload: { item, left: stock.get(item) } })))
      return { left: stock.get(item) }
    })
    shop.registerTriggerType({ id: 'shop::sold', description: 'Something was taken' }, {
      registerTrigger: async (binding) => void listeners.set(binding.id, binding),
      unregisterTrigger: async (binding) => void listeners.delete(binding.id),
    })
    shop.registerFunction('shop::on-tick', async (event) => void fired.push(event))
    await bus.serves('shop::on-tick')
  })
  after(async () => {
    await shop.shutdown()
    assert.deepEqual(await bus.close(), { code: 0, signal: null }, bus.log)
  })

  test('guests of both languages call it', async () => {
    assert.deepEqual((await bus.ok('code-runner::run', { lang: 'node', code: 'return iii.trigger({ function_id: "shop::stock", payload: { item: "apple" } })' })).result, { item: 'apple', count: 3 })
    assert.deepEqual((await bus.ok('code-runner::run', { lang: 'python', code: 'result = iii.trigger({"function_id": "shop::stock", "payload": {"item": "pear"}})' })).result, { item: 'pear', count: 0 })
  })

  test('its failure reaches the guest', async () => {
    const { stderr, exit_code } = await bus.ok('code-runner::run', { lang: 'python', code: 'iii.trigger({"function_id": "shop::take", "payload": {"item": "pear"}})' })
    assert.equal(exit_code, 1)
    assert.match(stderr, /no pear left/)
  })

  test('it calls functions of guests, waiting and void', async () => {
    for (const [lang, source] of [['node', 'let n = 0; function handler(p) { n += p.by ?? 0; return n }'], ['python', 'n = 0\ndef handler(p):\n  global n\n  n += p.get("by", 0)\n  return n']]) {
      await bus.ok('code-runner::register_function', { function_id: `count::${lang}`, lang, source })
      assert.equal(await shop.trigger({ function_id: `count::${lang}`, payload: { by: 2 } }), 2)
      await shop.trigger({ function_id: `count::${lang}`, payload: { by: 3 }, action: TriggerAction.Void() })
      assert.ok(await eventually(async () => (await shop.trigger({ function_id: `count::${lang}`, payload: {} })) === 5), lang)
    }
  })

  test('it is called from a handler that it called', async () => {
    for (const [lang, source] of [['node', 'async function handler(p) { return (await iii.trigger({ function_id: "shop::stock", payload: p })).count }'], ['python', 'def handler(p): return iii.trigger({"function_id": "shop::stock", "payload": p})["count"]']]) {
      await bus.ok('code-runner::register_function', { function_id: `ask::${lang}`, lang, source })
      assert.equal(await shop.trigger({ function_id: `ask::${lang}`, payload: { item: 'apple' } }), 3)
    }
  })

  test('it runs code itself, and learns an id only when it keeps', async () => {
    const once = await shop.trigger({ function_id: 'code-runner::run', payload: { lang: 'node', code: 'return 1' } })
    assert.equal('runtime_id' in once, false)
    const { runtime_id } = await shop.trigger({ function_id: 'code-runner::run', payload: { lang: 'node', code: 'globalThis.a = 5', keep: true } })
    assert.equal((await bus.ok('code-runner::run', { runtime_id, code: 'return a' })).result, 5)
    await shop.trigger({ function_id: 'code-runner::teardown', payload: { runtime_id } })
    assert.equal((await ask(shop, 'code-runner::run', { runtime_id, code: '' })).error.code, 'code-runner::runtime_not_found')
  })

  test('its trigger type fires into guest handlers of both languages', async () => {
    await bus.ok('code-runner::register_function', { function_id: 'watch::py', lang: 'python', source: 'seen = []\ndef handler(p):\n  if "left" in p: seen.append(p["left"])\n  return seen' })
    await bus.ok('engine::register_trigger', { trigger_type: 'shop::sold', function_id: 'watch::py', config: { item: 'apple' } })
    await bus.ok('code-runner::register_function', {
      function_id: 'watch::js',
      lang: 'node',
      source: 'const seen = []; const bound = iii.registerTrigger({ type: "shop::sold", function_id: "watch::js", config: { item: "apple" } }); async function handler(p) { if (p.left !== undefined) seen.push(p.left); if (p.end) await (await bound).unregister(); return seen }',
    })
    assert.ok(await eventually(() => listeners.size === 2))
    assert.deepEqual([...listeners.values()].map((one) => one.function_id).sort(), ['watch::js', 'watch::py'])
    assert.deepEqual(await shop.trigger({ function_id: 'shop::take', payload: { item: 'apple' } }), { left: 2 })
    assert.deepEqual(await bus.ok('watch::py', {}), [2])
    assert.deepEqual(await bus.ok('watch::js', { end: true }), [2])
    assert.ok(await eventually(() => listeners.size === 1))
    await shop.trigger({ function_id: 'shop::take', payload: { item: 'apple' } })
    assert.deepEqual(await bus.ok('watch::py', {}), [2, 1])
    assert.deepEqual(await bus.ok('watch::js', {}), [2])
  })

  test('it binds to the trigger type of a guest, and is fired', async () => {
    const { runtime_id } = await bus.ok('code-runner::run', {
      lang: 'node',
      keep: true,
      code: `globalThis.bindings = new Map(); globalThis.ended = []
        iii.registerTriggerType({ id: iii.namespace + "tick", description: "ticks" }, {
          registerTrigger(b) { bindings.set(b.id, b) }, unregisterTrigger(b) { bindings.delete(b.id); ended.push(b) } })
        iii.registerFunction(iii.namespace + "tick-now", async ({ n }) => { for (const b of bindings.values()) await iii.trigger({ function_id: b.function_id, payload: { n, every: b.config.every, note: b.metadata?.note ?? null } }); return bindings.size })`,
    })
    const namespace = (await bus.ok('code-runner::run', { runtime_id, code: 'return iii.namespace' })).result
    const binding = shop.registerTrigger({ type: `${namespace}tick`, function_id: 'shop::on-tick', config: { every: 2 }, metadata: { note: 'mine' } })
    assert.ok(await eventually(async () => (await bus.ok(`${namespace}tick-now`, { n: 1 })) === 1))
    assert.deepEqual({ ...fired.at(-1), _caller_worker_id: undefined }, { n: 1, every: 2, note: 'mine', _caller_worker_id: undefined })
    binding.unregister()
    assert.ok(await eventually(async () => (await bus.ok(`${namespace}tick-now`, { n: 2 })) === 0))
    const { result } = await bus.ok('code-runner::run', { runtime_id, code: 'return ended' })
    assert.deepEqual(result.map(({ function_id, config }) => [function_id, config]), [['shop::on-tick', { every: 2 }]])
    await bus.ok('code-runner::teardown', { runtime_id })
    assert.equal(await bus.has(`${namespace}tick-now`), false)
  })

  test('its own functions cannot be taken by a guest', async () => {
    const { error } = await bus.call('code-runner::register_function', { function_id: 'shop::stock', lang: 'node', source: 'function handler() { return "stolen" }' })
    const answer = await bus.ok('shop::stock', { item: 'apple' })
    assert.equal(answer.count, 1, JSON.stringify(error))
  })

  test('it leaves: guests are told at once', async () => {
    const leaving = connect(bus.url, { workerName: 'leaving' })
    leaving.registerFunction('leaving::slow', () => new Promise(() => {}))
    await bus.serves('leaving::slow')
    const run = bus.ok('code-runner::run', { lang: 'node', code: 'try { await iii.trigger({ function_id: "leaving::slow" }) } catch (e) { return e.message }' })
    await eventually(() => false, 150)
    const started = performance.now()
    await leaving.shutdown()
    assert.match((await run).result, /invocation_stopped|stopped|disconnect/i)
    assert.ok(performance.now() - started < 2000)
  })
})
