// Check 26: what the engine tells of functions, types, bindings and workers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect, startEngine, until, worker } from './lib/engine.mjs'

const schema = { type: 'object', properties: { a: { type: 'number', minimum: 1.50 } } }

// One worker `shop` with functions, a type and bindings, seen by another.
async function scene(t) {
  const engine = await startEngine(t)
  const shop = await worker(t, engine.url, { name: 'shop', description: 'sells', version: '1.2', os: 'linux', isolation: 'none' })
  shop.send(
    { type: 'registerfunction', id: 'shop::buy', description: 'Buys a thing', request_format: schema, response_format: { type: 'null' }, metadata: { tags: ['x'] } },
    { type: 'registerfunction', id: 'shop::secret', metadata: { internal: true } },
    { type: 'registerfunction', id: 'other::thing', description: 'to buy' },
    { type: 'registertriggertype', id: 'sale', description: 'A sale', trigger_request_format: schema, call_request_format: { type: 'array' } },
    { type: 'registertrigger', id: 't-1', trigger_type: 'sale', function_id: 'shop::buy', config: { long: 'ä'.repeat(100) }, metadata: { m: 1 } },
    { type: 'registertrigger', id: 't-2', trigger_type: 'sale', function_id: 'engine::x', config: {} }
  )
  await shop.settle()
  const peer = await worker(t, engine.url, { name: 'viewer' })
  return { engine, shop, peer }
}

const ids = (list, key = 'function_id') => list.map((item) => item[key])
const summary = { function_id: 'shop::buy', namespace: 'default', worker_name: 'shop', description: 'Buys a thing', metadata: { tags: ['x'] } }

test('26: functions::list is sorted, filtered, and hides what is internal', async (t) => {
  const { peer } = await scene(t)
  const list = async (input) => (await peer.result('engine::functions::list', input)).functions
  const all = await list({})
  assert.deepEqual(ids(all), [...ids(all)].sort())
  assert.deepEqual(all.find(({ function_id }) => function_id === 'shop::buy'), summary)
  assert.ok(!ids(all).some((id) => id.startsWith('engine::')) && !ids(all).includes('shop::secret') && ids(all).includes('state::get'))
  const everything = ids(await list({ include_internal: true }))
  assert.ok(everything.includes('engine::functions::list') && everything.includes('shop::secret'))
  assert.deepEqual(ids(await list({ prefix: 'shop::' })), ['shop::buy'])
  assert.deepEqual(ids(await list({ worker: 'shop' })), ['other::thing', 'shop::buy'])
  assert.deepEqual(ids(await list({ workers: ['shop', 'nobody'], prefix: 'o' })), ['other::thing'])
  assert.deepEqual(ids(await list({ search: 'BUY' })), ['shop::buy', 'other::thing'])
})

test('26: functions::info has the schemas verbatim and the bindings', async (t) => {
  const { peer } = await scene(t)
  const detail = {
    ...summary,
    request_schema: schema,
    response_schema: { type: 'null' },
    registered_triggers: [{ id: 't-1', trigger_type: 'sale', config: { long: 'ä'.repeat(100) } }]
  }
  assert.deepEqual(await peer.result('engine::functions::info', { function_id: 'shop::buy' }), detail)
  assert.deepEqual((await peer.result('engine::functions::info', { function_ids: ['shop::buy', 'no::such'] })).functions, [detail, { function_id: 'no::such', error: 'not_found' }])
})

test('26: functions::info refuses what is not one selector', async (t) => {
  const { peer } = await scene(t)
  const code = async (input) => (await peer.failure('engine::functions::info', input)).code
  assert.equal(await code({}), 'INVALID_ARGUMENTS')
  assert.equal(await code({ function_id: 'a', function_ids: ['b'] }), 'INVALID_ARGUMENTS')
  assert.equal(await code({ function_ids: Array(33).fill('a') }), 'INVALID_ARGUMENTS')
  assert.equal(await code({ function_ids: [7] }), 'INVALID_ARGUMENTS')
  assert.equal(await code([]), 'deserialization_error')
  assert.deepEqual(await peer.failure('engine::functions::info', { function_id: 'no::such' }), { code: 'NOT_FOUND', message: "Function 'no::such' is not registered." })
})

test('26: without a namespace default is preferred, then the only other; else it is ambiguous', async (t) => {
  const { engine, peer } = await scene(t)
  for (const namespace of ['a', 'b']) {
    const other = await worker(t, engine.url, { namespace })
    other.send({ type: 'registerfunction', id: 'n::twice' }, { type: 'registerfunction', id: 'shop::buy' }, { type: 'registerfunction', id: `n::${namespace}` })
    await other.settle()
  }
  const info = (function_id, namespace) => peer.result('engine::functions::info', { function_id, namespace })
  assert.equal((await info('shop::buy')).namespace, 'default')
  assert.equal((await info('n::a')).namespace, 'a')
  assert.equal((await info('n::twice', 'b')).namespace, 'b')
  await assert.rejects(info('n::twice'), { code: 'NOT_FOUND', message: "Function 'n::twice' is ambiguous: it is registered in namespace(s): a, b" })
})

test('26: triggers::list and ::info', async (t) => {
  const { peer } = await scene(t)
  const { triggers } = await peer.result('engine::triggers::list', {})
  assert.deepEqual(triggers.find(({ id }) => id === 'sale'), { id: 'sale', namespace: 'default', worker_name: 'shop', description: 'A sale' })
  assert.ok(!triggers.some(({ id }) => id.startsWith('engine::')))
  const all = (await peer.result('engine::triggers::list', { include_internal: true })).triggers
  assert.deepEqual(ids(all, 'id').filter((id) => id !== 'sale'), ['configuration', 'engine::functions-available', 'engine::workers-available', 'state', 'subscribe'])
  assert.deepEqual(await peer.result('engine::triggers::info', { id: 'sale' }), {
    id: 'sale',
    namespace: 'default',
    worker_name: 'shop',
    description: 'A sale',
    configuration_schema: schema,
    request_schema: { type: 'array' },
    instance_count: 2
  })
  assert.deepEqual(await peer.failure('engine::triggers::info', { id: 'no' }), { code: 'NOT_FOUND', message: "Trigger type 'no' is not registered in namespace 'default'." })
  assert.equal((await peer.failure('engine::triggers::info', {})).message, 'Failed to deserialize input for engine::triggers::info: missing field `id`')
})

test('26: registered-triggers::list and ::info', async (t) => {
  const { peer } = await scene(t)
  const config = { long: 'ä'.repeat(100) }
  const base = { id: 't-1', trigger_type: 'sale', function_id: 'shop::buy', worker_name: 'shop', config }
  const { registered_triggers } = await peer.result('engine::registered-triggers::list', {})
  assert.deepEqual(registered_triggers, [{ ...base, config_summary: [...JSON.stringify(config)].slice(0, 80).join('') + '…' }])
  assert.deepEqual(ids((await peer.result('engine::registered-triggers::list', { include_internal: true })).registered_triggers, 'id'), ['t-1', 't-2'])
  const info = await peer.result('engine::registered-triggers::info', { id: 't-1' })
  assert.deepEqual(Object.keys(info).sort(), ['config', 'function', 'function_id', 'id', 'metadata', 'trigger', 'trigger_type', 'worker_name'])
  assert.deepEqual([info.metadata, info.trigger.id, info.function.function_id], [{ m: 1 }, 'sale', 'shop::buy'])
  assert.equal((await peer.result('engine::registered-triggers::info', { id: 't-2' })).function, null)
  assert.equal((await peer.failure('engine::registered-triggers::info', { id: 'x' })).message, "Registered trigger 'x' was not found.")
})

test('26: workers::list has every described worker and the modules, sorted', async (t) => {
  const { engine, peer, shop } = await scene(t)
  const hidden = await connect(t, engine.url)
  await hidden.next('workerregistered')
  hidden.describe({ name: 'hidden', pid: undefined })
  await hidden.settle()
  const { workers } = await peer.result('engine::workers::list', {})
  const { connected_at_ms, ip_address, ...found } = workers.find(({ name }) => name === 'shop')
  assert.deepEqual(found, {
    name: 'shop',
    description: 'sells',
    version: '1.2',
    id: shop.registered.worker_id,
    namespace: 'default',
    runtime: 'test',
    os: 'linux',
    status: 'connected',
    function_count: 3,
    active_invocations: 0,
    isolation: 'none'
  })
  assert.ok(Math.abs(Date.now() - connected_at_ms) < 20000)
  assert.equal(ip_address, '127.0.0.1')
  assert.deepEqual(ids(workers, 'name'), ['configuration', 'engine', 'shop', 'state', 'viewer'])
  assert.deepEqual(ids((await peer.result('engine::workers::list', { status: 'available' })).workers, 'name'), ['configuration', 'engine', 'state'])
  assert.deepEqual(ids((await peer.result('engine::workers::list', { runtime: 'test', search: 'SHO' })).workers, 'name'), ['shop'])
})

test('26: workers::info', async (t) => {
  const { peer } = await scene(t)
  const info = await peer.result('engine::workers::info', { name: 'shop' })
  assert.equal(info.worker.pid, process.pid)
  assert.equal(info.worker.internal, false)
  assert.deepEqual(ids(info.functions).sort(), ['other::thing', 'shop::buy', 'shop::secret'])
  assert.deepEqual(ids(info.trigger_types, 'id'), ['sale'])
  assert.deepEqual(ids(info.registered_triggers, 'id').sort(), ['t-1', 't-2'])
  assert.equal((await peer.result('engine::workers::info', { name: 'state' })).worker.isolation, 'in-process')
  assert.equal((await peer.failure('engine::workers::info', { name: 'nobody' })).message, "Worker 'nobody' is not connected.")
})

test('26: names are made harmless', async (t) => {
  const { engine, peer } = await scene(t)
  await worker(t, engine.url, { name: 'a\u0007b\u202ec' + 'x'.repeat(400), description: ' \u0001 ' })
  const { workers } = await peer.result('engine::workers::list', { search: 'abc' })
  assert.equal(workers[0].name, 'abc' + 'x'.repeat(277))
  assert.equal(workers[0].description, null)
})

test('26: log, baggage and health', async (t) => {
  const { peer, engine } = await scene(t)
  for (const level of ['trace', 'debug', 'info', 'warn', 'error']) assert.equal(await peer.result(`engine::log::${level}`, { message: `hello ${level}\nforged` }), undefined)
  await until(() => /hello error\\x0aforged\n/.test(engine.child.log))
  assert.deepEqual(await peer.result('engine::baggage::get_all', {}, { baggage: 'a=1, b=2;p=q' }), { baggage: { a: '1', b: '2' } })
  assert.deepEqual(await peer.result('engine::baggage::get', { key: 'b' }, { baggage: 'a=1, b=2;p=q' }), { value: '2' })
  assert.deepEqual(await peer.result('engine::baggage::get', { key: 'c' }), { value: null })
  assert.equal((await peer.result('engine::baggage::set', { key: 'a', value: 'b' })).success, false)
  assert.equal((await peer.result('engine::health::check', {})).status, 'healthy')
})
