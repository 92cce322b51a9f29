// Checks 21 to 25: trigger types, bindings, and the engine's own events.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { callable, connect, sdk, sleep, startEngine, until, worker } from './lib/engine.mjs'

const type = (id, extra = {}) => ({ type: 'registertriggertype', id, description: 'a type', ...extra })
const bind = (trigger_type, function_id, extra = {}) => ({ type: 'registertrigger', id: randomUUID(), trigger_type, function_id, config: {}, ...extra })

// A worker that keeps the payloads of its functions, and answers each.
async function listening(t, engine, ids, data) {
  const peer = await worker(t, engine.url, data)
  peer.got = []
  peer.socket.on('message', (text) => {
    const message = JSON.parse(text)
    if (message.type !== 'invokefunction') return
    peer.got.push(message)
    peer.send({ type: 'invocationresult', invocation_id: message.invocation_id, function_id: message.function_id, result: peer.answer?.(message) ?? null })
  })
  for (const id of ids) peer.send({ type: 'registerfunction', id })
  return peer.settle()
}

test('21: an SDK provider fires an SDK function with the metadata of the binding', async (t) => {
  const engine = await startEngine(t)
  const provider = sdk(t, engine.url)
  const bindings = new Map()
  provider.registerTriggerType(
    { id: 'clock', description: 'ticks' },
    {
      registerTrigger: async (binding) => void bindings.set(binding.id, binding),
      unregisterTrigger: async ({ id }) => void bindings.delete(id)
    }
  )
  const user = sdk(t, engine.url)
  const got = []
  user.registerFunction('app::tick', async (input, metadata) => void got.push([input.at, metadata]))
  const handle = user.registerTrigger({ type: 'clock', function_id: 'app::tick', config: { every: '1s' }, metadata: { k: 1 } })
  await until(() => bindings.size === 1)
  const [binding] = bindings.values()
  assert.deepEqual([binding.function_id, binding.config, binding.metadata], ['app::tick', { every: '1s' }, { k: 1 }])
  await callable(user, 'app::tick')
  await provider.trigger({ function_id: binding.function_id, payload: { at: 7 }, metadata: binding.metadata })
  assert.deepEqual(got, [[7, { k: 1 }]])
  handle.unregister()
  await until(() => bindings.size === 0)
})

test('22: a binding waits for its type, and is delivered again when the provider comes back', async (t) => {
  const engine = await startEngine(t)
  const user = await worker(t, engine.url)
  const binding = bind('later', 'app::f', { config: { x: [1.50] }, metadata: { m: null } })
  user.send(binding)
  await user.settle()
  await user.nothing(() => true)
  assert.equal((await user.result('engine::registered-triggers::list', {})).registered_triggers.length, 0)
  for (let round = 0; round < 2; round++) {
    const provider = await worker(t, engine.url)
    provider.send(type('later'))
    assert.deepEqual(await provider.next('registertrigger'), binding)
    assert.equal((await user.result('engine::registered-triggers::list', {})).registered_triggers.length, 1)
    provider.socket.terminate()
    await until(async () => (await user.result('engine::registered-triggers::list', {})).registered_triggers.length === 0)
  }
})

test('22: the provider hears of unregistration and of disconnects, by id and type', async (t) => {
  const engine = await startEngine(t)
  const provider = await worker(t, engine.url)
  provider.send(type('clock'))
  await provider.settle()
  const user = await worker(t, engine.url)
  const one = bind('clock', 'a::f'), two = bind('clock', 'a::g')
  user.send(one, two)
  await provider.next((m) => m.id === one.id)
  await provider.next((m) => m.id === two.id)
  user.send({ type: 'unregistertrigger', id: one.id })
  assert.deepEqual(await provider.next('unregistertrigger'), { type: 'unregistertrigger', id: one.id, trigger_type: 'clock' })
  user.socket.terminate()
  assert.deepEqual(await provider.next('unregistertrigger'), { type: 'unregistertrigger', id: two.id, trigger_type: 'clock' })
})

test('22: the same id again replaces the binding', async (t) => {
  const engine = await startEngine(t)
  const provider = await worker(t, engine.url)
  provider.send(type('clock'))
  await provider.settle()
  const user = await worker(t, engine.url)
  const first = bind('clock', 'a::f')
  user.send(first, { ...first, function_id: 'a::g' })
  await provider.next((m) => m.function_id === 'a::f')
  await provider.next((m) => m.function_id === 'a::g')
  assert.deepEqual((await user.result('engine::registered-triggers::list', {})).registered_triggers.map((b) => b.function_id), ['a::g'])
})

test('23: a refusal reaches the registrant and parks the binding; success reaches nobody', async (t) => {
  const engine = await startEngine(t)
  const provider = sdk(t, engine.url)
  provider.registerTriggerType(
    { id: 'picky', description: 'd' },
    {
      registerTrigger: async ({ config }) => {
        if (config.bad) throw new Error('bad config')
      },
      unregisterTrigger: async () => {}
    }
  )
  await until(async () => (await provider.trigger({ function_id: 'engine::triggers::list', payload: {} })).triggers.some(({ id }) => id === 'picky'))
  const user = await worker(t, engine.url)
  const bad = bind('picky', 'a::f', { config: { bad: true } }), good = bind('picky', 'a::f')
  user.send(bad, good)
  const refusal = await user.next('triggerregistrationresult')
  assert.deepEqual([refusal.id, refusal.error.code, refusal.error.message], [bad.id, 'trigger_registration_failed', 'bad config'])
  await user.nothing('triggerregistrationresult')
  const { registered_triggers } = await user.result('engine::registered-triggers::list', {})
  assert.deepEqual(registered_triggers.map(({ id }) => id), [good.id])
})

test('23: only the provider can refuse', async (t) => {
  const engine = await startEngine(t)
  const provider = await worker(t, engine.url)
  provider.send(type('clock'))
  await provider.settle()
  const user = await worker(t, engine.url), other = await worker(t, engine.url)
  const binding = bind('clock', 'a::f')
  user.send(binding)
  await provider.next('registertrigger')
  other.send({ type: 'triggerregistrationresult', id: binding.id, trigger_type: 'clock', function_id: 'a::f', error: { code: 'c', message: 'm' } })
  await other.settle()
  await user.nothing('triggerregistrationresult')
})

test('23: the engine refuses configs of its own types, and blank namespaces', async (t) => {
  const engine = await startEngine(t)
  const user = await worker(t, engine.url)
  user.send(bind('subscribe', 'a::f', { config: { topic: '' } }))
  assert.equal((await user.next('triggerregistrationresult')).error.code, 'trigger_registration_failed')
  user.send(bind('state', 'a::f', { config: 7 }))
  assert.equal((await user.next('triggerregistrationresult')).error.code, 'trigger_registration_failed')
  user.send(bind('state', 'a::f', { namespace: ' ' }))
  assert.equal((await user.next('triggerregistrationresult')).error.code, 'INVALID_NAMESPACE')
})

test('24: a worker can bind to its own type', async (t) => {
  const engine = await startEngine(t)
  const client = sdk(t, engine.url)
  const bound = []
  const own = client.registerTriggerType({ id: 'own', description: 'd' }, { registerTrigger: async (b) => void bound.push(b), unregisterTrigger: async () => {} })
  own.registerFunction('own::f', async () => 1, { a: 1 })
  await until(() => bound.length === 1)
  assert.deepEqual(bound[0].config, { a: 1 })
  await callable(client, 'own::f')
})

test('24: namespaces of providers: own first, then default; a named one is strict', async (t) => {
  const engine = await startEngine(t)
  const base = await worker(t, engine.url)
  base.send(type('clock'))
  await base.settle()
  const user = await worker(t, engine.url, { namespace: 'a' })
  const binding = bind('clock', 'f', { namespace: 'a' })
  user.send(binding, bind('clock', 'g', { trigger_namespace: 'a' }))
  assert.equal((await base.next('registertrigger')).namespace, 'a')
  await base.nothing('registertrigger')
  const near = await worker(t, engine.url, { namespace: 'a' })
  near.send(type('clock'))
  await near.next((m) => m.type === 'registertrigger' && m.function_id === 'f')
  assert.equal((await near.next((m) => m.type === 'registertrigger' && m.function_id === 'g')).trigger_namespace, 'a')
  assert.equal((await base.next('unregistertrigger')).id, binding.id)
  near.socket.terminate()
  assert.equal((await base.next('registertrigger')).id, binding.id)
  await base.nothing('registertrigger')
})

test('24: the function form waits for the provider and outlives its caller', async (t) => {
  const engine = await startEngine(t)
  const provider = await worker(t, engine.url)
  provider.send(type('clock'))
  await provider.settle()
  const caller = await worker(t, engine.url)
  const answer = caller.result('engine::register_trigger', { trigger_type: 'clock', function_id: 'a::f', config: { n: 1 } })
  const { id } = await provider.next('registertrigger')
  await caller.nothing('invocationresult')
  provider.send({ type: 'triggerregistrationresult', id, trigger_type: 'clock', function_id: 'a::f' })
  assert.deepEqual(await answer, { id })
  caller.socket.terminate()
  await provider.nothing('unregistertrigger')
  assert.deepEqual(await provider.result('engine::unregister_trigger', { id }), { removed: true })
  assert.equal((await provider.next('unregistertrigger')).id, id)
  assert.deepEqual(await provider.result('engine::unregister_trigger', { id }), { removed: false })
  const refused = provider.failure('engine::register_trigger', { trigger_type: 'clock', function_id: 'a::f' })
  const again = await provider.next('registertrigger')
  provider.send({ type: 'triggerregistrationresult', id: again.id, trigger_type: 'clock', function_id: 'a::f', error: { code: 'x', message: 'no' } })
  assert.deepEqual(await refused, { code: 'trigger_registration_failed', message: 'no' })
  assert.equal((await provider.failure('engine::register_trigger', { function_id: 'a' })).code, 'deserialization_error')
})

test('25: workers-available tells of connects, metadata and disconnects', async (t) => {
  const engine = await startEngine(t)
  const user = await listening(t, engine, ['w::on'])
  user.send(bind('engine::workers-available', 'w::on'))
  await user.settle()
  const other = await worker(t, engine.url)
  other.socket.terminate()
  await until(() => user.got.length === 3)
  const worker_id = other.registered.worker_id
  assert.deepEqual(
    user.got.map(({ data }) => data),
    ['worker_connected', 'worker_metadata_updated', 'worker_disconnected'].map((event) => ({ event, worker_id }))
  )
})

test('25: functions-available fires within 5 s, and only when the set changes', async (t) => {
  const engine = await startEngine(t)
  const user = await listening(t, engine, ['w::on'])
  user.send(bind('engine::functions-available', 'w::on'))
  await until(() => user.got.length === 1, 6000)
  assert.equal(user.got[0].data.event, 'functions_changed')
  assert.ok(user.got[0].data.functions.some(({ function_id }) => function_id === 'engine::workers::register'))
  user.send({ type: 'registerfunction', id: 'w::on', description: 'changed' })
  await sleep(5500)
  assert.equal(user.got.length, 1)
  user.send({ type: 'registerfunction', id: 'w::more' })
  await until(() => user.got.length === 2, 6000)
})

test('25: state events have exactly the members of the specification', async (t) => {
  const engine = await startEngine(t)
  const user = await listening(t, engine, ['s::on', 's::all'])
  user.send(bind('state', 's::on', { config: { scope: 'a', key: 'k' }, metadata: { mine: 1 } }), bind('state', 's::all', { config: {} }))
  await user.settle()
  await user.result('state::set', { scope: 'a', key: 'k', value: 1 })
  await user.result('state::set', { scope: 'a', key: 'k', value: { b: 2 } })
  await user.result('state::set', { scope: 'other', key: 'k', value: 1 })
  await user.result('state::delete', { scope: 'a', key: 'k' })
  await user.result('state::delete', { scope: 'a', key: 'k' })
  await until(() => user.got.filter((m) => m.function_id === 's::all').length === 5)
  const base = { type: 'state', scope: 'a', key: 'k' }
  const own = user.got.filter((m) => m.function_id === 's::on')
  assert.deepEqual(own.map(({ data }) => data), [
    { ...base, event_type: 'state:created', old_value: null, new_value: 1 },
    { ...base, event_type: 'state:updated', old_value: 1, new_value: { b: 2 } },
    { ...base, event_type: 'state:deleted', old_value: { b: 2 }, new_value: null },
    { ...base, event_type: 'state:deleted', old_value: null, new_value: null }
  ])
  assert.deepEqual(own[0].metadata, { mine: 1 })
})

test('25: a condition keeps an event back only with false or an error', async (t) => {
  const engine = await startEngine(t)
  const user = await listening(t, engine, ['s::on', 's::if'])
  user.answer = ({ function_id, data }) => (function_id === 's::if' ? data.new_value : null)
  user.send(bind('state', 's::on', { config: { condition_function_id: 's::if' } }), bind('state', 's::on', { config: { condition_function_id: 's::missing' } }))
  await user.settle()
  for (const value of [false, true, 0]) await user.result('state::set', { scope: 'a', key: 'k', value })
  await until(() => user.got.filter((m) => m.function_id === 's::on').length === 2)
  await sleep(100)
  assert.deepEqual(user.got.filter((m) => m.function_id === 's::on').map(({ data }) => data.new_value), [true, 0])
})

test('25: publish reaches the subscribers of the topic, without binding metadata', async (t) => {
  const engine = await startEngine(t)
  const user = await listening(t, engine, ['p::one', 'p::two'])
  const one = bind('subscribe', 'p::one', { config: { topic: 'x' }, metadata: { m: 1 } }), two = bind('subscribe', 'p::two', { config: { topic: 'x' } })
  user.send(one, two)
  await user.settle()
  assert.equal(await user.result('publish', { topic: 'x', data: [1] }), undefined)
  await user.result('publish', { topic: 'y', data: [2] })
  await until(() => user.got.length === 2)
  assert.deepEqual(user.got.map(({ function_id, data, metadata }) => [function_id, data, metadata]), [['p::one', [1], undefined], ['p::two', [1], undefined]])
  user.send({ type: 'unregistertrigger', id: one.id })
  await user.result('publish', { topic: 'x', data: [3] })
  await until(() => user.got.length === 3)
  assert.equal(user.got[2].function_id, 'p::two')
  assert.equal((await user.failure('publish', { topic: '', data: 1 })).code, 'topic_not_set')
})

test('25: handlers of one event run one after the other', async (t) => {
  const engine = await startEngine(t)
  const user = await worker(t, engine.url)
  user.send({ type: 'registerfunction', id: 's::on' }, bind('state', 's::on'), bind('state', 's::on'))
  await user.settle()
  await user.result('state::set', { scope: 'a', key: 'k', value: 1 })
  const first = await user.next('invokefunction')
  await user.nothing('invokefunction')
  user.send({ type: 'invocationresult', invocation_id: first.invocation_id, function_id: 's::on' })
  await user.next('invokefunction')
})
