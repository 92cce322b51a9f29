// Checks 12.1.1 to 10: the C client, against an engine played with `ws`.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { WebSocketServer } from 'ws'
import { build } from '../lib/paths.mjs'
import { sleep, startEngine, until, worker } from './lib/engine.mjs'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

// A list that can be waited on.
class Inbox {
  constructor() {
    this.items = []
    this.all = []
  }
  push(item) {
    this.items.push(item)
    this.all.push(item)
  }
  async next(match, ms = 4000) {
    const test = typeof match === 'string' ? (item) => item.type === match || item.event === match : match
    const find = () => this.items.findIndex(test)
    await until(() => find() >= 0, ms).catch(() => {
      throw new Error(`no ${match}; got ${JSON.stringify(this.items).slice(0, 1500)}`)
    })
    return this.items.splice(find(), 1)[0]
  }
}

// An engine that says hello and leaves the rest to the test. `sessions` has one inbox a connection.
async function fake(t, { hello = true, port = 0 } = {}) {
  const server = new WebSocketServer({ port, host: '127.0.0.1', autoPong: false, maxPayload: 100 << 20 })
  await new Promise((resolve) => server.on('listening', resolve))
  t.after(() => {
    for (const client of server.clients) client.terminate()
    server.close()
  })
  const engine = { server, sessions: [], url: `ws://127.0.0.1:${server.address().port}`, pings: [] }
  server.on('connection', (socket) => {
    const session = new Inbox()
    session.socket = socket
    session.id = randomUUID()
    session.token = randomUUID()
    session.send = (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message))
    session.invoke = (function_id, data, extra = {}) => {
      const invocation_id = randomUUID()
      session.send({ type: 'invokefunction', invocation_id, function_id, data, ...extra })
      return session.next((m) => m.type === 'invocationresult' && m.invocation_id === invocation_id)
    }
    socket.on('message', (text) => session.push(JSON.parse(text)))
    socket.on('ping', (data) => {
      engine.pings.push(Date.now())
      if (!engine.silent) socket.pong(data)
    })
    if (hello) session.send({ type: 'workerregistered', worker_id: session.id, reattach_token: session.token })
    engine.sessions.push(session)
  })
  engine.session = async (n = 0, ms = 4000) => (await until(() => engine.sessions[n], ms))
  return engine
}

function client(t, url, name = 'c-test', name_space) {
  const child = spawn(join(build, 'tests/bus/bus-testclient'), [url, name, ...(name_space ? [name_space] : [])], { stdio: ['pipe', 'pipe', 'inherit'] })
  const inbox = new Inbox()
  createInterface({ input: child.stdout }).on('line', (line) => inbox.push(JSON.parse(line)))
  inbox.do = (...lines) => child.stdin.write(lines.join('\n') + '\n')
  inbox.exit = new Promise((resolve) => child.on('exit', (code, signal) => resolve({ code, signal })))
  inbox.child = child
  inbox.state = (state, ms) => inbox.next((item) => item.state === state, ms)
  child.stdin.on('error', () => {})
  t.after(() => child.kill('SIGKILL'))
  return inbox
}

async function scene(t, options, ...more) {
  const engine = await fake(t, options)
  const c = client(t, engine.url, ...more)
  await c.state('connected')
  return { engine, c, session: await engine.session() }
}

// Nobody null, nobody undefined, in no frame.
const noNulls = (value) => JSON.stringify(value).includes(':null') === false

test('C1: the metadata is first, then types, functions, triggers, calls', async (t) => {
  const engine = await fake(t)
  const c = client(t, engine.url, 'my-name', 'orders')
  c.do('call q x::y 1000 {"early":1}', 'register my::f echo', 'bind t-1 some-type my::f {"a":1}', 'provide my-type accept')
  const session = await engine.session()
  await session.next('registertrigger')
  await session.next((m) => m.function_id === 'x::y')
  const [metadata, ...rest] = session.all
  const { data, ...frame } = metadata
  assert.deepEqual(frame, { type: 'invokefunction', function_id: 'engine::workers::register', action: { type: 'void' }, namespace: 'default' })
  const { version, os, ...told } = data
  assert.deepEqual(told, { runtime: 'c', name: 'my-name', description: 'test client', pid: c.child.pid, namespace: 'orders' })
  assert.match(os, /^linux .+ \(.+\)$/)
  assert.equal(typeof version, 'string')
  assert.deepEqual(rest.map(({ type, id }) => id ?? type), ['my-type', 'my::f', 't-1', 'invokefunction'])
  assert.deepEqual(rest[0], { type: 'registertriggertype', id: 'my-type', description: 'described', trigger_request_format: { type: 'object' } })
  assert.deepEqual(rest[1], { type: 'registerfunction', id: 'my::f', description: 'described', request_format: { type: 'object' }, metadata: { n: 1.5 } })
  assert.deepEqual(rest[2], { type: 'registertrigger', id: 't-1', trigger_type: 'some-type', function_id: 'my::f', config: { a: 1 }, namespace: 'orders' })
})

test('C1: without a namespace none is sent', async (t) => {
  const { session, c } = await scene(t)
  c.do('register f::f echo', 'bind t tt f::f null', 'call a f::g 1000 {}')
  await session.next((m) => m.function_id === 'f::g')
  assert.ok(!('namespace' in session.all[0].data))
  for (const message of session.all.slice(1)) assert.ok(!('namespace' in message), JSON.stringify(message))
})

test('C2: calls have UUIDs and data, and no nulls; engine:: goes to default', async (t) => {
  const { session, c } = await scene(t, {}, 'n', 'orders')
  c.do('call a x::y 1000 null', 'void b x::y 1000 [1]', 'enqueue c x::y 1000 "t"', 'call d engine::functions::list 1000 {}')
  const [a, b, e, d] = [await session.next((m) => m.data === null), await session.next((m) => Array.isArray(m.data)), await session.next((m) => m.data === 't'), await session.next((m) => m.function_id === 'engine::functions::list')]
  assert.match(a.invocation_id, uuid)
  assert.deepEqual({ ...a, invocation_id: 0 }, { type: 'invokefunction', invocation_id: 0, function_id: 'x::y', data: null, namespace: 'orders' })
  assert.deepEqual(b, { type: 'invokefunction', function_id: 'x::y', data: [1], action: { type: 'void' }, namespace: 'orders' })
  assert.deepEqual(e.action, { type: 'enqueue', queue: 'q' })
  assert.equal(d.namespace, 'default')
  assert.deepEqual(await c.next((item) => item.tag === 'b'), { event: 'answer', tag: 'b' })
  assert.ok(session.all.slice(0, 1).every(noNulls))
})

test('C3: every invocation is answered exactly once', async (t) => {
  const { session, c } = await scene(t)
  c.do('register f::echo echo', 'register f::error error', 'register f::none none', 'register f::hold hold', 'register f::meta metadata')
  await session.next((m) => m.id === 'f::meta')
  assert.deepEqual((await session.invoke('f::echo', { a: [1, null] })).result, { a: [1, null] })
  assert.deepEqual((await session.invoke('f::error', 1)).error, { code: 'own::code', message: 'it "failed"' })
  assert.ok(!('result' in (await session.invoke('f::none', 1))))
  assert.deepEqual((await session.invoke('f::missing', 1)).error, { code: 'function_not_found', message: 'Function not found' })
  assert.deepEqual((await session.invoke('f::meta', 1, { metadata: { m: 1 } })).result, { m: 1 })
  assert.ok(!('result' in (await session.invoke('f::meta', 1))))
  const traced = await session.invoke('f::echo', 1, { traceparent: 'T', baggage: 'k=v' })
  assert.deepEqual([traced.traceparent, traced.baggage], ['T', 'k=v'])
  session.send({ type: 'invokefunction', function_id: 'f::echo', data: 'no id' })
  const held = session.invoke('f::hold', 1)
  await session.invoke('f::echo', 2)
  c.do('answer')
  assert.equal((await held).result, 'held')
  assert.equal(session.items.filter((m) => m.type === 'invocationresult').length, 0)
})

test('C3: while shutting down what is open is answered, then comes a Close without status', async (t) => {
  const { session, c } = await scene(t)
  c.do('register f::hold hold', 'call q x::y 5000 {}')
  await session.next((m) => m.function_id === 'x::y')
  const open = session.invoke('f::hold', 1)
  await session.invoke('f::missing', 1)
  const closed = new Promise((resolve) => session.socket.on('close', resolve))
  c.do('close')
  assert.equal((await open).error.code, 'invocation_stopped')
  assert.equal((await c.next('answer')).code, 'invocation_stopped')
  assert.equal(await closed, 1005)
  await c.next('closed')
  assert.deepEqual(await c.exit, { code: 0, signal: null })
})

test('C3: numbers pass through unconverted', async (t) => {
  const { session, c } = await scene(t)
  c.do('register f::echo echo')
  await session.next('registerfunction')
  let text
  session.socket.on('message', (message) => (text = String(message)))
  session.send(`{"type":"invokefunction","invocation_id":"${randomUUID()}","function_id":"f::echo","data":[1.10,123456789012345678901,1e2]}`)
  await session.next('invocationresult')
  assert.ok(text.includes('"result":[1.10,123456789012345678901,1e2]'), text)
})

test('C4: pings are answered, and sent every 20 s; 60 s of silence end the connection', { timeout: 120000 }, async (t) => {
  const { engine, session, c } = await scene(t)
  const pong = new Promise((resolve) => session.socket.once('pong', resolve))
  session.socket.ping('payload')
  assert.equal(String(await pong), 'payload')
  session.send({ type: 'ping' })
  await session.next('pong')
  engine.silent = true
  const started = Date.now()
  const lost = await c.state('waiting', 90000)
  assert.equal(lost.why, 'the engine is silent')
  const took = Date.now() - started
  assert.ok(took > 55000 && took < 85000, String(took))
  assert.ok(Math.abs(engine.pings[1] - engine.pings[0] - 20000) < 1500)
})

test('C4: a server that never answers the handshake is given up after 10 s', { timeout: 30000 }, async (t) => {
  const server = createServer(() => {})
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const c = client(t, `ws://127.0.0.1:${server.address().port}`)
  const started = Date.now()
  assert.equal((await c.state('waiting', 15000)).why, 'no handshake in time')
  assert.ok(Date.now() - started > 9000)
  c.child.kill()
})

test('C4: attempts come after 1, 2, 4 s, more or less', { timeout: 30000 }, async (t) => {
  const times = []
  const server = createServer((socket) => {
    times.push(Date.now())
    socket.destroy()
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  client(t, `ws://127.0.0.1:${server.address().port}`)
  await until(() => times.length === 4, 15000)
  for (const [n, base] of [1000, 2000, 4000].entries()) {
    const gap = times[n + 1] - times[n]
    assert.ok(gap > base * 0.65 && gap < base * 1.45, `${n}: ${gap}`)
  }
})

test('C5: a reconnect presents the last identity and replays everything with the same ids', async (t) => {
  const { engine, session, c } = await scene(t)
  c.do('register f::f echo', 'register f::gone echo', 'unregister f::gone', 'provide tt accept', 'bind t-1 other f::f {}', 'bind t-2 other f::f {}', 'unbind t-2')
  await session.next('unregistertrigger')
  await session.next('unregisterfunction')
  session.socket.terminate()
  await c.state('waiting')
  c.do('register f::late echo')
  const next = await engine.session(1)
  await next.next((m) => m.id === 't-1')
  assert.deepEqual(next.all[0], { type: 'reattach', previous_worker_id: session.id, reattach_token: session.token })
  assert.equal(next.all[1].function_id, 'engine::workers::register')
  assert.deepEqual(next.all.slice(2).map(({ id }) => id), ['tt', 'f::f', 'f::late', 't-1'])
  next.socket.terminate()
  const third = await engine.session(2)
  await third.next('reattach')
  assert.equal(third.all[0].previous_worker_id, next.id)
})

test('C5: without a token the reattach has none; results for the old connection go nowhere', async (t) => {
  const engine = await fake(t, { hello: false })
  const c = client(t, engine.url)
  const session = await engine.session()
  session.send({ type: 'workerregistered', worker_id: 'w-1' })
  c.do('register f::hold hold')
  await session.next('registerfunction')
  session.send({ type: 'invokefunction', invocation_id: randomUUID(), function_id: 'f::hold', data: 1 })
  await session.invoke('f::missing', 1)
  session.socket.terminate()
  const next = await engine.session(1)
  await next.next('registerfunction')
  assert.deepEqual(next.all[0], { type: 'reattach', previous_worker_id: 'w-1' })
  c.do('answer')
  await next.invoke('f::missing', 1)
  assert.equal(next.all.filter((m) => m.type === 'invocationresult').length, 1)
})

test('C6: calls time out here, late results are ignored, a lost connection ends what was under way', async (t) => {
  const { engine, session, c } = await scene(t)
  c.do('call a x::y 100 {}')
  const { invocation_id } = await session.next((m) => m.function_id === 'x::y')
  assert.deepEqual(await c.next('answer'), { event: 'answer', tag: 'a', code: 'TIMEOUT', message: 'invocation timed out after 100ms' })
  session.send({ type: 'invocationresult', invocation_id, function_id: 'x::y', result: 1 })
  c.do('call b x::y 60000 {}')
  await session.next((m) => m.function_id === 'x::y')
  session.socket.terminate()
  assert.equal((await c.next('answer')).code, 'invocation_stopped')
  c.do('call d x::y 60000 {}', 'void e x::y 60000 {}', 'call f x::y 50 {"short":1}')
  assert.equal((await c.next('answer')).tag, 'f')
  const next = await engine.session(1)
  const queued = await next.next((m) => m.function_id === 'x::y' && m.invocation_id)
  await next.next((m) => m.function_id === 'x::y' && m.action)
  next.send({ type: 'invocationresult', invocation_id: queued.invocation_id, function_id: 'x::y', result: { ok: 1 } })
  assert.deepEqual((await c.next((item) => item.tag === 'd')).result, { ok: 1 })
  assert.ok(await c.next((item) => item.tag === 'e'))
  assert.ok(!next.all.some((m) => m.data?.short))
})

test('C6: errors of the engine come with code, message and stack; a cancelled call says nothing', async (t) => {
  const { session, c } = await scene(t)
  c.do('call a x::y 1000 {}', 'call b x::z 1000 {}', 'cancel')
  const a = await session.next((m) => m.function_id === 'x::y'), b = await session.next((m) => m.function_id === 'x::z')
  session.send({ type: 'invocationresult', invocation_id: b.invocation_id, function_id: 'x::z', result: 1 })
  session.send({ type: 'invocationresult', invocation_id: a.invocation_id, function_id: 'x::y', error: { code: 'c', message: 'm', stacktrace: 's' } })
  assert.deepEqual(await c.next('answer'), { event: 'answer', tag: 'a', code: 'c', message: 'm', stacktrace: 's' })
  await sleep(50)
  assert.ok(!c.items.some(({ event }) => event === 'answer'))
})

test('C6: what waits for a connection is bounded', async (t) => {
  const { engine, session, c } = await scene(t)
  engine.server.close()
  session.socket.terminate()
  await c.state('waiting')
  for (let n = 0; n < 5; n++) c.do(`big q${n} x::y 60000 4000000`)
  assert.equal((await c.next('answer')).code, 'queue_full')
})

test('C7: a function conflict is told and harmless, a worker conflict is the end', async (t) => {
  const { engine, session, c } = await scene(t)
  c.do('register f::f echo', 'call a x::y 60000 {}')
  await session.next('registerfunction')
  session.send({ type: 'registrationrejected', code: 'FUNCTION_NAMESPACE_CONFLICT', namespace: 'default', function_id: 'f::f', owner_worker_id: 'w' })
  assert.deepEqual(await c.next('conflict'), { event: 'conflict', code: 'FUNCTION_NAMESPACE_CONFLICT', function_id: 'f::f' })
  assert.equal((await session.invoke('f::f', 1)).result, 1)
  session.send({ type: 'registrationrejected', code: 'WORKER_NAMESPACE_CONFLICT', namespace: 'default', worker_name: 'c-test', owner_worker_id: 'w' })
  await c.state('failed')
  assert.equal((await c.next('answer')).code, 'invocation_stopped')
  await sleep(1800)
  assert.equal(engine.sessions.length, 1)
  c.do('call b x::y 1000 {}')
  assert.equal((await c.next('answer')).code, 'invocation_stopped')
  c.do('close')
  assert.deepEqual(await c.exit, { code: 0, signal: null })
})

test('C9: as a provider: binds by upsert, acknowledges once, unbinds by id', async (t) => {
  const { session, c } = await scene(t)
  c.do('provide tt accept', 'provide picky refuse', 'provide slow later')
  await session.next((m) => m.id === 'slow')
  const binding = { type: 'registertrigger', id: 't-1', trigger_type: 'tt', function_id: 'o::f', config: { x: [1] }, metadata: { z: 1 }, namespace: 'orders' }
  session.send(binding)
  assert.deepEqual(await c.next('bound'), { event: 'bound', id: 't-1', function_id: 'o::f', config: { x: [1] }, metadata: { z: 1 }, namespace: 'orders' })
  assert.deepEqual(await session.next('triggerregistrationresult'), { type: 'triggerregistrationresult', id: 't-1', trigger_type: 'tt', function_id: 'o::f' })
  session.send({ ...binding, config: null })
  assert.equal((await c.next('bound')).config, null)
  await session.next('triggerregistrationresult')
  session.send({ ...binding, trigger_type: 'picky', id: 't-2' })
  assert.deepEqual((await session.next('triggerregistrationresult')).error, { code: 'trigger_registration_failed', message: 'no' })
  session.send({ ...binding, trigger_type: 'unknown', id: 't-3' })
  assert.deepEqual((await session.next('triggerregistrationresult')).error, { code: 'trigger_type_not_found', message: 'Trigger type not found' })
  session.send({ ...binding, trigger_type: 'slow', id: 't-4' })
  await c.next((item) => item.id === 't-4')
  c.do('acknowledge')
  assert.equal((await session.next('triggerregistrationresult')).id, 't-4')
  session.send({ type: 'unregistertrigger', id: 't-1' })
  assert.deepEqual(await c.next('unbound'), { event: 'unbound', id: 't-1', trigger_type: 'tt' })
  session.send({ type: 'unregistertrigger', id: 't-1', trigger_type: 'tt' })
  session.send({ type: 'unregistertrigger', id: 't-2', trigger_type: 'picky' })
  await session.invoke('x', 1)
  assert.ok(!c.items.some(({ event }) => event === 'unbound'))
})

test('C9: a refusal of a binding of ours is told', async (t) => {
  const { session, c } = await scene(t)
  c.do('bind t-9 other f::f {}')
  await session.next('registertrigger')
  session.send({ type: 'triggerregistrationresult', id: 't-9', trigger_type: 'other', function_id: 'f::f', error: { code: 'trigger_registration_failed', message: 'why' } })
  assert.deepEqual(await c.next('refused'), { event: 'refused', id: 't-9', trigger_type: 'other', code: 'trigger_registration_failed', message: 'why' })
})

test('C10: what fits no frame becomes a stated error, both ways', async (t) => {
  const { session, c } = await scene(t)
  c.do('register f::huge huge', 'register f::hugeerror hugeerror', 'big a x::y 1000 17000000')
  assert.equal((await c.next('answer')).code, 'message_too_large')
  await session.next((m) => m.id === 'f::hugeerror')
  assert.equal((await session.invoke('f::huge', 1)).error.code, 'message_too_large')
  assert.equal((await session.invoke('f::hugeerror', '\u0001'.repeat(3 << 20))).error.code, 'message_too_large')
  c.do('big b x::y 5000 16000000')
  const { invocation_id, data } = await session.next((m) => m.function_id === 'x::y', 8000)
  assert.equal(data.length, 16000000 - 2)
  session.send({ type: 'invocationresult', invocation_id, function_id: 'x::y', result: 1 })
  assert.equal((await c.next((item) => item.tag === 'b')).result, 1)
})

test('the client outlives an engine that sends nonsense', async (t) => {
  const { session, c } = await scene(t)
  c.do('register f::f echo')
  await session.next('registerfunction')
  const frames = ['', '{', '[]', '{"type":"invokefunction"}', '{"type":"invocationresult","invocation_id":"x","function_id":"y"}', '{"type":"workerregistered","worker_id":7}', `{"type":"workerregistered","worker_id":"${'x'.repeat(1000)}"}`, '{"type":"registertrigger","id":"a"}', '{"type":"unregistertrigger","id":"nobody"}', `{"type":"invocationresult","invocation_id":"${randomUUID()}","function_id":"y","error":"text"}`, '{"type":"error","error":{"code":"AUTH_ERROR","message":"m"}}', '{"type":"futuretype"}', `{"type":"invokefunction","function_id":"f::f","data":${'['.repeat(200)}${']'.repeat(200)}}`]
  for (const frame of frames) session.send(frame)
  session.socket.send(Buffer.from([0, 1, 2]))
  assert.equal((await session.invoke('f::f', 'fine')).result, 'fine')
})

test('against the embedded engine: kill and restart, everything is back', { timeout: 60000 }, async (t) => {
  let engine = await startEngine(t)
  const { port } = engine
  const c = client(t, engine.url)
  c.do('register f::f echo')
  const known = async () => {
    const peer = await worker(t, engine.url)
    const answer = await peer.call('f::f', { a: 1 })
    peer.socket.terminate()
    return answer.result?.a === 1
  }
  await until(known)
  for (let round = 0; round < 2; round++) {
    await engine.stop('SIGKILL')
    engine = await startEngine(t, { port })
    await until(known, 10000)
  }
})
