// Checks 7 to 11: who may register what, and what stays after a disconnect.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { callable, connect, sdk, sleep, startEngine, until, worker } from './lib/engine.mjs'

const register = (id, extra = {}) => ({ type: 'registerfunction', id, ...extra })
const isKnown = async (peer, id, name_space) =>
  !(await peer.call('engine::functions::info', { function_id: id, ...(name_space && { namespace: name_space }) })).error

test('7: registrations wait for the metadata, first or last', async (t) => {
  const engine = await startEngine(t)
  const other = await worker(t, engine.url)
  const first = await connect(t, engine.url)
  first.describe().send(register('first::f'))
  await first.settle()
  assert.ok(await isKnown(other, 'first::f'))
  const last = await connect(t, engine.url)
  last.send(register('last::f'))
  await last.settle()
  assert.ok(!(await isKnown(other, 'last::f')))
  last.describe()
  await last.settle()
  assert.ok(await isKnown(other, 'last::f'))
})

test('7: the order of held registrations is kept', async (t) => {
  const engine = await startEngine(t)
  const peer = await connect(t, engine.url)
  peer.send(register('a::f'), { type: 'unregisterfunction', id: 'a::f' }, register('a::g'), register('a::g', { description: 'two' })).describe()
  await peer.settle()
  assert.ok(!(await isKnown(peer, 'a::f')))
  assert.equal((await peer.result('engine::functions::info', { function_id: 'a::g' })).description, 'two')
})

test('7: without metadata registrations take effect after the grace', async (t) => {
  const engine = await startEngine(t, { env: { III_NAMESPACE_GRACE_MS: '300' } })
  const peer = await connect(t, engine.url)
  peer.send(register('late::f'))
  await peer.settle()
  assert.ok(!(await isKnown(peer, 'late::f')))
  await until(() => isKnown(peer, 'late::f'))
  peer.describe({ namespace: 'elsewhere' }).send(register('late::g'))
  await peer.settle()
  assert.ok(await isKnown(peer, 'late::g', 'default'))
})

test('7: the namespace of the metadata is that of the registrations; a blank one is refused', async (t) => {
  const engine = await startEngine(t, { env: { III_NAMESPACE_GRACE_MS: '200' } })
  const orders = await worker(t, engine.url, { namespace: 'orders' })
  orders.send(register('o::f'))
  await orders.settle()
  assert.ok(await isKnown(orders, 'o::f', 'orders'))
  assert.ok(!(await isKnown(orders, 'o::f', 'default')))
  const blank = await connect(t, engine.url)
  assert.equal((await blank.failure('engine::workers::register', { namespace: ' ' })).code, 'INVALID_NAMESPACE')
  blank.send(register('b::f'))
  await until(() => isKnown(blank, 'b::f', 'default'))
})

test('7: the SDK, which sends its metadata last, is callable', async (t) => {
  const engine = await startEngine(t)
  const client = sdk(t, engine.url)
  client.registerFunction('sdk::f', async (input) => ({ got: input.a }))
  await callable(client, 'sdk::f')
  assert.deepEqual(await client.trigger({ function_id: 'sdk::f', payload: { a: 1 } }), { got: 1 })
})

test('8: the first owner of an id keeps it, the second goes on without', async (t) => {
  const engine = await startEngine(t)
  const one = await worker(t, engine.url)
  const two = await worker(t, engine.url)
  one.send(register('x::f'))
  await one.settle()
  two.send(register('x::f'), register('x::own'))
  const rejection = await two.next('registrationrejected')
  assert.deepEqual(rejection, {
    type: 'registrationrejected',
    code: 'FUNCTION_NAMESPACE_CONFLICT',
    namespace: 'default',
    function_id: 'x::f',
    owner_worker_id: one.registered.worker_id
  })
  await two.settle()
  assert.ok(await isKnown(two, 'x::own'))
  one.socket.terminate()
  await until(async () => !(await isKnown(two, 'x::f')))
  two.send(register('x::f'))
  await until(() => isKnown(two, 'x::f'))
})

test('8: builtins and engine:: ids outside default cannot be taken', async (t) => {
  const engine = await startEngine(t)
  const peer = await worker(t, engine.url)
  peer.send(register('state::get'))
  assert.equal((await peer.next('registrationrejected')).owner_worker_id, '')
  const other = await worker(t, engine.url, { namespace: 'orders' })
  other.send(register('engine::x'), register('state::get'))
  assert.equal((await other.next('registrationrejected')).function_id, 'engine::x')
  await other.settle()
  assert.ok(await isKnown(other, 'state::get', 'orders'))
})

test('8: an owner that registers again replaces', async (t) => {
  const engine = await startEngine(t)
  const peer = await worker(t, engine.url)
  peer.send(register('x::f', { description: 'a', request_format: { type: 'object' } }), register('x::f', { description: 'b' }))
  await peer.settle()
  const info = await peer.result('engine::functions::info', { function_id: 'x::f' })
  assert.equal(info.description, 'b')
  assert.ok(!('request_schema' in info))
})

test('9: a second worker of the same name is told, closed, and nothing of it stays', async (t) => {
  const engine = await startEngine(t)
  const one = await worker(t, engine.url, { name: 'twin' })
  const two = await connect(t, engine.url)
  two.send(register('twin::f')).describe({ name: 'twin' })
  const rejection = await two.next('registrationrejected')
  assert.deepEqual(rejection, {
    type: 'registrationrejected',
    code: 'WORKER_NAMESPACE_CONFLICT',
    namespace: 'default',
    worker_name: 'twin',
    owner_worker_id: one.registered.worker_id
  })
  await two.closed
  assert.ok(!(await isKnown(one, 'twin::f')))
  await worker(t, engine.url, { name: 'twin', namespace: 'other' })
  one.socket.terminate()
  await sleep(100)
  const three = await worker(t, engine.url, { name: 'twin' })
  await three.nothing('registrationrejected')
})

test('9: SDKs before 0.23, which do not know the rejection, may share a name', async (t) => {
  const engine = await startEngine(t)
  const one = sdk(t, engine.url, { workerName: 'same' })
  const two = sdk(t, engine.url, { workerName: 'same' })
  one.registerFunction('same::one', async () => 1)
  two.registerFunction('same::two', async () => 2)
  await callable(one, 'same::two')
  await callable(two, 'same::one')
})

const reattach = (peer, old, token = old.registered.reattach_token) =>
  peer.send({ type: 'reattach', previous_worker_id: old.registered.worker_id, reattach_token: token })

test('10: reattach with the right token retires the predecessor before anything else', async (t) => {
  const engine = await startEngine(t)
  const old = await worker(t, engine.url, { name: 'w' })
  const binding = { type: 'registertrigger', id: randomUUID(), trigger_type: 'state', function_id: 'w::f', config: {} }
  old.send(register('w::f'), binding)
  await old.settle()
  old.socket._socket.pause()
  const fresh = await connect(t, engine.url)
  const registered = await fresh.next('workerregistered')
  reattach(fresh, old).describe({ name: 'w' }).send(register('w::f'), binding)
  await fresh.settle()
  await fresh.nothing('registrationrejected')
  assert.notEqual(registered.worker_id, old.registered.worker_id)
  const { functions } = await fresh.result('engine::functions::list', { prefix: 'w::' })
  assert.equal(functions.length, 1)
  const { registered_triggers } = await fresh.result('engine::registered-triggers::list', { function_id: 'w::f' })
  assert.deepEqual(registered_triggers.map(({ id }) => id), [binding.id])
  assert.equal((await fresh.result('engine::workers::list', { search: 'w' })).workers.filter(({ name }) => name === 'w').length, 1)
})

test('10: reattach with a wrong token, a missing one or an unknown id changes nothing', async (t) => {
  const engine = await startEngine(t)
  const old = await worker(t, engine.url)
  old.send(register('w::f'))
  await old.settle()
  for (const message of [{ reattach_token: randomUUID() }, {}, { reattach_token: old.registered.reattach_token, previous_worker_id: randomUUID() }]) {
    const fresh = await connect(t, engine.url)
    fresh.send({ type: 'reattach', previous_worker_id: old.registered.worker_id, ...message })
    await fresh.settle()
  }
  assert.ok(await isKnown(old, 'w::f'))
})

test('10: an SDK worker whose connection breaks is back with exactly what it had', async (t) => {
  const engine = await startEngine(t)
  const client = sdk(t, engine.url)
  client.registerFunction('back::f', async () => 'here')
  client.registerTrigger({ type: 'state', function_id: 'back::f', config: { scope: 's' } })
  await callable(client, 'back::f')
  const other = await worker(t, engine.url)
  client.ws._socket.destroy()
  await until(async () => !(await isKnown(other, 'back::f')))
  await until(() => isKnown(other, 'back::f'), 8000)
  await until(async () => (await other.result('engine::registered-triggers::list', { function_id: 'back::f' })).registered_triggers.length === 1)
  assert.equal((await other.result('engine::functions::list', { prefix: 'back::' })).functions.length, 1)
  assert.equal(await other.result('back::f', {}), 'here')
})

test('11: unregisterfunction removes, but only the owner can', async (t) => {
  const engine = await startEngine(t)
  const owner = await worker(t, engine.url)
  const other = await worker(t, engine.url)
  owner.send(register('x::f'))
  await owner.settle()
  other.send({ type: 'unregisterfunction', id: 'x::f' })
  await other.settle()
  assert.ok(await isKnown(owner, 'x::f'))
  owner.send({ type: 'unregisterfunction', id: 'x::f' }, { type: 'unregisterfunction', id: 'x::f' })
  await owner.settle()
  assert.ok(!(await isKnown(owner, 'x::f')))
})
