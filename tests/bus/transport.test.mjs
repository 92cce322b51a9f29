// Checks 1 to 6: the connection itself.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { connect as tcp } from 'node:net'
import { test } from 'node:test'
import WebSocket from 'ws'
import { callable, connect, run, sdk, startEngine, worker } from './lib/engine.mjs'

const upgrade = (port, { path = '/', headers = {}, method = 'GET' } = {}) =>
  new Promise((resolve, reject) => {
    const socket = tcp(port, '127.0.0.1', () => {
      const all = { Host: 'x', Upgrade: 'websocket', Connection: 'Upgrade', 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==', ...headers }
      const lines = Object.entries(all).filter(([, value]) => value !== null).map(([name, value]) => `${name}: ${value}`)
      socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
    })
    let text = ''
    socket.on('data', (data) => {
      text += data
      if (text.includes('\r\n\r\n')) socket.destroy(), resolve(text)
    })
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
  })

test('1: the root takes an upgrade, with and without a query', async (t) => {
  const engine = await startEngine(t)
  for (const path of ['', '/', '/?a=b&c', '?x=%20']) {
    const peer = await connect(t, engine.url + path)
    assert.equal((await peer.next('workerregistered')).type, 'workerregistered')
  }
})

test('1: any other path is 404, and the accept key is that of RFC 6455', async (t) => {
  const engine = await startEngine(t)
  for (const path of ['/x', '/otelx', '/ws', '/ws/channels/nope?key=a&dir=read', '/../'])
    assert.match(await upgrade(engine.port, { path }), /^HTTP\/1\.1 404 /, path)
  assert.match(await upgrade(engine.port), /Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/)
})

test('1: requests that are no upgrade are refused with the status that fits', async (t) => {
  const engine = await startEngine(t)
  assert.match(await upgrade(engine.port, { headers: { Upgrade: null } }), /^HTTP\/1\.1 426 /)
  assert.match(await upgrade(engine.port, { headers: { 'Sec-WebSocket-Version': '8' } }), /^HTTP\/1\.1 426 /)
  assert.match(await upgrade(engine.port, { headers: { 'Sec-WebSocket-Key': 'short' } }), /^HTTP\/1\.1 426 /)
  assert.match(await upgrade(engine.port, { method: 'POST' }), /^HTTP\/1\.1 405 /)
  assert.match(await upgrade(engine.port, { headers: { 'X-Long': 'x'.repeat(20000) } }), /^HTTP\/1\.1 431 /)
})

test('1: a browser page of another origin is refused, one of this machine is not', async (t) => {
  const engine = await startEngine(t)
  assert.match(await upgrade(engine.port, { headers: { Origin: 'https://evil.example' } }), /^HTTP\/1\.1 403 /)
  assert.match(await upgrade(engine.port, { headers: { Origin: 'http://localhost.evil.example' } }), /^HTTP\/1\.1 403 /)
  assert.match(await upgrade(engine.port, { headers: { Origin: 'null' } }), /^HTTP\/1\.1 403 /)
  for (const origin of ['http://localhost:3000', 'http://127.0.0.1:5173', 'http://[::1]:1'])
    assert.match(await upgrade(engine.port, { headers: { Origin: origin } }), /^HTTP\/1\.1 101 /, origin)
})

test('1: offered compression is not accepted', async (t) => {
  const engine = await startEngine(t)
  const peer = await connect(t, engine.url, { deflate: true })
  assert.equal(peer.headers['sec-websocket-extensions'], undefined)
  assert.equal((await peer.next('workerregistered')).type, 'workerregistered')
})

test('1: /otel takes telemetry and answers nothing, and so does the root', async (t) => {
  const engine = await startEngine(t)
  const telemetry = await connect(t, engine.url + '/otel')
  telemetry.socket.send(Buffer.from('OTLP{"resourceSpans":[]}'))
  telemetry.send('text')
  await telemetry.nothing(() => true)
  assert.equal(telemetry.socket.readyState, WebSocket.OPEN)
  const peer = await worker(t, engine.url)
  for (const prefix of ['OTLP', 'MTRC', 'LOGS']) peer.socket.send(Buffer.from(prefix + '{}'))
  await peer.settle()
  assert.deepEqual(peer.messages, [])
})

test('2: workerregistered comes once, first, with UUIDs', async (t) => {
  const engine = await startEngine(t)
  const peer = await connect(t, engine.url)
  const first = await peer.next(() => true)
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
  assert.deepEqual(Object.keys(first).sort(), ['reattach_token', 'type', 'worker_id'])
  assert.match(first.worker_id, uuid)
  assert.match(first.reattach_token, uuid)
  await peer.nothing('workerregistered')
})

test('3: pings are answered with their payload', async (t) => {
  const engine = await startEngine(t)
  const peer = await connect(t, engine.url)
  for (const payload of ['', 'x', 'y'.repeat(125)]) {
    const pong = new Promise((resolve) => peer.socket.once('pong', resolve))
    peer.socket.ping(payload)
    assert.equal(String(await pong), payload)
  }
  peer.send({ type: 'ping' })
  await peer.next('pong')
})

test('4: a Close is echoed and TCP ends', async (t) => {
  const engine = await startEngine(t)
  for (const [code, seen] of [[undefined, 1005], [1000, 1000], [4321, 4321]]) {
    const peer = await connect(t, engine.url)
    const started = Date.now()
    peer.socket.close(code)
    assert.equal((await peer.closed).code, seen)
    assert.ok(Date.now() - started < 500)
  }
})

test('4: a Node process with the SDK ends soon after shutdown()', async (t) => {
  const engine = await startEngine(t)
  const code = `import { registerWorker } from 'iii-sdk'
    const worker = registerWorker(${JSON.stringify(engine.url)})
    await worker.trigger({ function_id: 'engine::workers::list', payload: {} })
    await worker.shutdown()
    console.log('done at', Date.now())`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'ignore'] })
  let text = ''
  child.stdout.on('data', (piece) => (text += piece))
  await new Promise((resolve) => child.on('exit', resolve))
  assert.ok(Date.now() - Number(/done at (\d+)/.exec(text)[1]) < 1000, text)
})

test('5: 10 MiB go both ways', async (t) => {
  const engine = await startEngine(t)
  const client = sdk(t, engine.url)
  client.registerFunction('echo::big', async ({ text }) => ({ text }))
  await callable(client, 'echo::big')
  const text = 'ä'.repeat(5 << 20)
  assert.equal((await client.trigger({ function_id: 'echo::big', payload: { text } })).text, text)
})

test('5: fragments are put together, and control frames may come between them', async (t) => {
  const engine = await startEngine(t)
  const peer = await worker(t, engine.url)
  const id = randomUUID()
  const text = JSON.stringify({ type: 'invokefunction', invocation_id: id, function_id: 'engine::baggage::get_all', data: {} })
  for (let at = 0; at < text.length; at += 7) {
    peer.socket.send(text.slice(at, at + 7), { binary: false, fin: at + 7 >= text.length })
    peer.socket.ping()
  }
  assert.deepEqual((await peer.next((message) => message.invocation_id === id)).result, { baggage: {} })
})

test('5: JSON in a binary frame counts as text', async (t) => {
  const engine = await startEngine(t)
  const peer = await worker(t, engine.url)
  const id = randomUUID()
  peer.socket.send(Buffer.from(JSON.stringify({ type: 'invokefunction', invocation_id: id, function_id: 'engine::baggage::get_all', data: {} })))
  assert.deepEqual((await peer.next((message) => message.invocation_id === id)).result, { baggage: {} })
})

const uuid = randomUUID()
const ignored = {
  'no JSON': 'hello',
  blank: '   \n',
  'an array': '[]',
  'no type': '{}',
  'an unknown type': '{"type":"frobnicate"}',
  'a type that is no text': '{"type":7}',
  'a missing field': '{"type":"invokefunction","data":{}}',
  'a field of the wrong type': '{"type":"registerfunction","id":7}',
  'an id that is no UUID': '{"type":"invokefunction","invocation_id":"x","function_id":"engine::baggage::get_all","data":{}}',
  'an unknown action': `{"type":"invokefunction","invocation_id":"${uuid}","function_id":"engine::baggage::get_all","data":{},"action":{"type":"x"}}`,
  'nesting beyond 128': `{"type":"invokefunction","invocation_id":"${uuid}","function_id":"engine::baggage::get_all","data":${'['.repeat(129)}${']'.repeat(129)}}`,
  'a NUL in an id': '{"type":"registerfunction","id":"a\\u0000b"}',
  'a lone surrogate': `{"type":"invokefunction","invocation_id":"${uuid}","function_id":"\\ud800","data":{}}`
}
for (const [what, text] of Object.entries(ignored))
  test(`6: ${what} is ignored, the session goes on`, async (t) => {
    const engine = await startEngine(t)
    const peer = await worker(t, engine.url)
    peer.send(text)
    await peer.settle()
    assert.deepEqual(peer.messages, [])
  })

test('6: fields that nobody knows do no harm', async (t) => {
  const engine = await startEngine(t)
  const peer = await worker(t, engine.url)
  peer.send({ type: 'registerfunction', id: 'x::y', message_type: 'registerfunction', extra: [1, { a: 2 }] })
  assert.equal((await peer.result('engine::functions::info', { function_id: 'x::y', unknown: 1 })).function_id, 'x::y')
})

test('an address that other machines reach needs a flag', async () => {
  const child = run(['engine', '--host', '0.0.0.0', '--port', '0'])
  assert.equal((await child.done).code, 70)
  assert.match(child.log, /--allow-remote/)
})

test('a taken port is named', async (t) => {
  const engine = await startEngine(t)
  const child = run(['engine', '--port', String(engine.port)])
  assert.equal((await child.done).code, 70)
  assert.match(child.log, new RegExp(`port ${engine.port}: address already in use`))
})

test('SIGTERM ends the engine with 0, and tells its peers', async (t) => {
  const engine = await startEngine(t)
  const peer = await worker(t, engine.url)
  assert.deepEqual(await engine.stop(), { code: 0, signal: null })
  assert.equal((await peer.closed).code, 1001)
})
