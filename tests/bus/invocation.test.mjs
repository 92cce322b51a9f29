// Checks 12 to 20: calls and their answers.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { InvocationError, TriggerAction } from 'iii-sdk'
import { callable, connect, sdk, sleep, startEngine, until, worker } from './lib/engine.mjs'

const register = (id) => ({ type: 'registerfunction', id })

// A worker that answers by itself with what `handle` gives: {result} or {error}; undefined answers nothing.
async function serving(t, engine, handlers, data) {
  const peer = await worker(t, engine.url, data)
  peer.served = []
  peer.socket.on('message', (text) => {
    const message = JSON.parse(text)
    if (message.type !== 'invokefunction') return
    peer.served.push(message)
    const answer = handlers[message.function_id]?.(message)
    if (answer) peer.send({ type: 'invocationresult', invocation_id: message.invocation_id, function_id: message.function_id, ...answer })
  })
  for (const id of Object.keys(handlers)) peer.send(register(id))
  return peer.settle()
}

const echo = (message) => ({ result: { data: message.data } })

test('12: payloads of every kind arrive as they were sent', async (t) => {
  const engine = await startEngine(t)
  await serving(t, engine, { 'e::echo': echo })
  const peer = await worker(t, engine.url)
  for (const data of [null, 0, -1.5, 'text', '', true, [], [1, [2, { a: null }]], 'ü\u0000"\\\u2028'])
    assert.deepEqual((await peer.result('e::echo', data)).data, data)
  const object = { a: { b: [1, 2] }, 'ключ': '\u{1f600}' }
  assert.deepEqual((await peer.result('e::echo', object)).data, { ...object, _caller_worker_id: peer.registered.worker_id })
})

test('12: numbers are never converted', async (t) => {
  const engine = await startEngine(t)
  const executor = await serving(t, engine, { 'e::echo': () => undefined })
  const peer = await worker(t, engine.url)
  const id = randomUUID()
  const numbers = '[1.10,1e2,123456789012345678901234567890,0.1000000000000000055511151231257827,-0]'
  let raw
  executor.socket.on('message', (text) => (raw = String(text)))
  peer.send(`{"type":"invokefunction","invocation_id":"${id}","function_id":"e::echo","data":${numbers}}`)
  await until(() => raw)
  assert.ok(raw.includes(`"data":${numbers}`), raw)
  let answer
  peer.socket.on('message', (text) => (answer = String(text)))
  executor.send(`{"type":"invocationresult","invocation_id":"${id}","function_id":"e::echo","result":${numbers}}`)
  await until(() => answer)
  assert.ok(answer.includes(`"result":${numbers}`), answer)
})

test('12: the caller is named in objects only, and cannot name another', async (t) => {
  const engine = await startEngine(t)
  await serving(t, engine, { 'e::echo': echo })
  const peer = await worker(t, engine.url)
  const { data } = await peer.result('e::echo', { _caller_worker_id: 'forged', a: 1 })
  assert.deepEqual(data, { a: 1, _caller_worker_id: peer.registered.worker_id })
  assert.deepEqual((await peer.result('e::echo', {})).data, { _caller_worker_id: peer.registered.worker_id })
})

test('12: a missing payload is null', async (t) => {
  const engine = await startEngine(t)
  const client = sdk(t, engine.url)
  client.registerFunction('e::kind', async (input) => ({ kind: input === null ? 'null' : typeof input }))
  await callable(client, 'e::kind')
  assert.deepEqual(await client.trigger({ function_id: 'e::kind' }), { kind: 'null' })
})

test('12: a worker can call itself, and 200 calls at once', async (t) => {
  const engine = await startEngine(t)
  const client = sdk(t, engine.url)
  client.registerFunction('e::double', async ({ n }) => {
    await sleep(Math.random() * 10)
    return n * 2
  })
  client.registerFunction('e::outer', async ({ n }) => client.trigger({ function_id: 'e::double', payload: { n } }))
  await callable(client, 'e::outer')
  const results = await Promise.all(Array.from({ length: 200 }, (_, n) => client.trigger({ function_id: 'e::outer', payload: { n } })))
  assert.deepEqual(results, Array.from({ length: 200 }, (_, n) => n * 2))
})

test('12: calls of one connection keep their order', async (t) => {
  const engine = await startEngine(t)
  const executor = await serving(t, engine, { 'e::f': () => undefined })
  const peer = await worker(t, engine.url)
  for (let n = 0; n < 500; n++) peer.send({ type: 'invokefunction', function_id: 'e::f', data: n })
  await until(() => executor.served.length === 500)
  assert.deepEqual(executor.served.map(({ data }) => data), Array.from({ length: 500 }, (_, n) => n))
})

test('13: metadata, traceparent and baggage reach the executor, and only when given', async (t) => {
  const engine = await startEngine(t)
  const executor = await serving(t, engine, { 'e::echo': echo })
  const peer = await worker(t, engine.url)
  const side = { metadata: { tenant: 'acme', n: [1] }, traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', baggage: 'k=v' }
  const answer = await peer.call('e::echo', 1, side)
  const { type, invocation_id, function_id, data, ...rest } = executor.served[0]
  assert.deepEqual(rest, side)
  assert.equal(answer.traceparent, side.traceparent)
  assert.equal(answer.baggage, 'k=v')
  await peer.call('e::echo', 1)
  assert.deepEqual(Object.keys(executor.served[1]).sort(), ['data', 'function_id', 'invocation_id', 'type'])
})

test('13: metadata is the second argument of an SDK handler', async (t) => {
  const engine = await startEngine(t)
  const client = sdk(t, engine.url)
  client.registerFunction('e::meta', async (_, metadata) => ({ metadata: metadata ?? 'absent' }))
  await callable(client, 'e::meta')
  assert.deepEqual(await client.trigger({ function_id: 'e::meta', payload: {}, metadata: { a: 1 } }), { metadata: { a: 1 } })
  assert.deepEqual(await client.trigger({ function_id: 'e::meta', payload: {} }), { metadata: 'absent' })
})

test('14: undefined and null results are no result', async (t) => {
  const engine = await startEngine(t)
  const client = sdk(t, engine.url)
  client.registerFunction('e::undefined', async () => undefined)
  client.registerFunction('e::null', async () => null)
  await callable(client, 'e::null')
  assert.equal(await client.trigger({ function_id: 'e::undefined', payload: {} }), undefined)
  assert.equal(await client.trigger({ function_id: 'e::null', payload: {} }), undefined)
  const peer = await worker(t, engine.url)
  assert.ok(!('result' in (await peer.call('e::null', {}))))
})

test('15: what a handler throws is an InvocationError with message and stack', async (t) => {
  const engine = await startEngine(t)
  const client = sdk(t, engine.url)
  client.registerFunction('e::throw', async () => {
    throw new Error('boom')
  })
  await callable(client, 'e::throw')
  await assert.rejects(client.trigger({ function_id: 'e::throw', payload: {} }), (error) => {
    assert.ok(error instanceof InvocationError)
    assert.equal(error.code, 'invocation_failed')
    assert.match(error.message, /boom/)
    assert.match(error.stacktrace, /Error: boom\n +at /)
    return true
  })
  await assert.rejects(client.trigger({ function_id: 'e::missing', payload: {} }), { code: 'function_not_found' })
})

test('15: an error passes verbatim, without a null stacktrace; an error beats a result', async (t) => {
  const engine = await startEngine(t)
  await serving(t, engine, {
    'e::own': () => ({ error: { code: 'mine::code', message: 'm\u0000"', stacktrace: null, more: 1 } }),
    'e::both': () => ({ result: 1, error: { code: 'c', message: 'm', stacktrace: 's' } }),
    'e::neither': () => ({ result: 2, error: null })
  })
  const peer = await worker(t, engine.url)
  assert.deepEqual(await peer.failure('e::own'), { code: 'mine::code', message: 'm\u0000"' })
  const both = await peer.call('e::both')
  assert.deepEqual([both.error, 'result' in both], [{ code: 'c', message: 'm', stacktrace: 's' }, false])
  assert.equal(await peer.result('e::neither'), 2)
})

test('16: a void call runs, and nothing comes back', async (t) => {
  const engine = await startEngine(t)
  const executor = await serving(t, engine, { 'e::echo': echo })
  const peer = await worker(t, engine.url)
  const invocation_id = randomUUID()
  peer.send({ type: 'invokefunction', invocation_id, function_id: 'e::echo', data: 1, action: { type: 'void' } })
  peer.send({ type: 'invokefunction', function_id: 'e::echo', data: 2 }, { type: 'invokefunction', invocation_id: null, function_id: 'e::missing', data: 2 })
  await until(() => executor.served.length === 2)
  assert.notEqual(executor.served[0].invocation_id, invocation_id)
  assert.ok(executor.served[1].invocation_id)
  await peer.settle()
  await peer.nothing(() => true)
})

test('17: the caller hears when the executor goes', async (t) => {
  const engine = await startEngine(t)
  const executor = await serving(t, engine, { 'e::hang': () => undefined })
  const peer = await worker(t, engine.url)
  const failure = peer.failure('e::hang')
  await until(() => executor.served.length)
  executor.socket.terminate()
  assert.deepEqual(await failure, { code: 'invocation_stopped', message: 'Invocation stopped' })
})

test('17: the answer for a caller that is gone goes nowhere', async (t) => {
  const engine = await startEngine(t)
  const executor = await serving(t, engine, { 'e::hang': () => undefined, 'e::echo': echo })
  const peer = await worker(t, engine.url)
  peer.call('e::hang').catch(() => {})
  await until(() => executor.served.length)
  peer.socket.terminate()
  await sleep(50)
  executor.send({ type: 'invocationresult', invocation_id: executor.served[0].invocation_id, function_id: 'e::hang', result: 1 })
  await executor.settle()
  assert.equal((await executor.result('e::echo', 7)).data, 7)
})

test('17: nobody but the executor can answer a call', async (t) => {
  const engine = await startEngine(t)
  const executor = await serving(t, engine, { 'e::hang': () => undefined })
  const peer = await worker(t, engine.url)
  const other = await worker(t, engine.url)
  const answer = peer.call('e::hang')
  await until(() => executor.served.length)
  const { invocation_id } = executor.served[0]
  other.send({ type: 'invocationresult', invocation_id, function_id: 'e::hang', result: 'forged' })
  await other.settle()
  executor.send({ type: 'invocationresult', invocation_id, function_id: 'e::hang', result: 'real' })
  assert.equal((await answer).result, 'real')
})

test('18: a client timeout is local; late and repeated results do no harm', async (t) => {
  const engine = await startEngine(t)
  const client = sdk(t, engine.url)
  const executor = await serving(t, engine, { 'e::hang': () => undefined, 'e::echo': echo })
  await assert.rejects(client.trigger({ function_id: 'e::hang', payload: {}, timeoutMs: 100 }), { code: 'TIMEOUT' })
  const late = { type: 'invocationresult', invocation_id: executor.served[0].invocation_id, function_id: 'e::hang', result: 1 }
  executor.send(late, late)
  await executor.settle()
  assert.equal((await client.trigger({ function_id: 'e::echo', payload: 5 })).data, 5)
})

test('18: an id that is in use starts no second call', async (t) => {
  const engine = await startEngine(t)
  const executor = await serving(t, engine, { 'e::hang': () => undefined })
  const peer = await worker(t, engine.url)
  const message = { type: 'invokefunction', invocation_id: randomUUID(), function_id: 'e::hang', data: 1 }
  peer.send(message, message)
  await peer.settle()
  await until(() => executor.served.length)
  await sleep(50)
  assert.equal(executor.served.length, 1)
})

test('19: enqueue needs a provider, and uses the one there is', async (t) => {
  const engine = await startEngine(t)
  const client = sdk(t, engine.url)
  const enqueue = () => client.trigger({ function_id: 'jobs::run', payload: { a: 1 }, action: TriggerAction.Enqueue({ queue: 'q' }) })
  await assert.rejects(enqueue(), (error) => error.code === 'enqueue_error' && /no queue provider/.test(error.message))
  const provider = await serving(t, engine, { 'engine::queue::enqueue': () => ({ result: {} }) })
  const { messageReceiptId } = await enqueue()
  const { data } = provider.served[0]
  assert.deepEqual(data, { queue: 'q', function_id: 'jobs::run', data: { a: 1 }, messageReceiptId })
})

test('20: namespaces are strict; a miss names the others', async (t) => {
  const engine = await startEngine(t)
  await serving(t, engine, { 'n::f': () => ({ result: 'default' }) })
  await serving(t, engine, { 'n::f': () => ({ result: 'a' }), 'n::g': () => ({ result: 'g' }) }, { namespace: 'a' })
  await serving(t, engine, { 'n::g': () => ({ result: 'g' }) }, { namespace: 'b' })
  const peer = await worker(t, engine.url, { namespace: 'c' })
  assert.equal(await peer.result('n::f', {}), 'default')
  assert.equal(await peer.result('n::f', {}, { namespace: 'a' }), 'a')
  assert.equal(await peer.result('n::f', {}, { namespace: 'default' }), 'default')
  assert.equal(await peer.result('n::f', {}, { namespace: null }), 'default')
  assert.deepEqual(await peer.failure('n::g', {}), {
    code: 'function_not_found',
    message: 'Function n::g not found in namespace default. It is registered in namespace(s): a, b.'
  })
  assert.deepEqual(await peer.failure('n::h', {}, { namespace: 'a' }), {
    code: 'function_not_found',
    message: 'Function n::h not found in namespace a.'
  })
  assert.equal((await peer.failure('n::f', {}, { namespace: ' ' })).code, 'INVALID_NAMESPACE')
})

test('a worker that answers nothing cannot be given calls without end', async (t) => {
  const engine = await startEngine(t)
  await serving(t, engine, { 'e::hang': () => undefined })
  const peer = await connect(t, engine.url)
  const frame = JSON.stringify({ type: 'invokefunction', function_id: 'e::hang', data: 1 })
  for (let n = 0; n < 70000; n++) peer.socket.send(frame)
  assert.equal((await peer.failure('e::hang', {}, { ms: 20000 })).code, 'invocation_error')
})
