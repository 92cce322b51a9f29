// Peers that misbehave, and an engine that dies while it writes.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { connect as tcp } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect, program, run, sleep, startEngine, temporary, until, worker } from './lib/engine.mjs'

// A sanitizer keeps freed memory for a while: 256 MiB, and what surrounds every block.
const sanitized = readFileSync(program).includes('__asan_init')
const most = (bytes) => (sanitized ? 3 * bytes + (400 << 20) : bytes)
const memory = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024
const descriptors = async (pid) => (await import('node:fs')).readdirSync(`/proc/${pid}/fd`).length

// The engine still serves a new worker.
async function alive(t, engine) {
  const peer = await worker(t, engine.url)
  assert.equal((await peer.result('engine::health::check', {})).status, 'healthy')
}

const raw = (t, engine) => {
  const socket = tcp(engine.port, '127.0.0.1')
  socket.on('error', () => {})
  t.after(() => socket.destroy())
  socket.closed_ = new Promise((resolve) => socket.on('close', resolve))
  return socket
}

async function upgraded(t, engine) {
  const socket = raw(t, engine)
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n')
  await new Promise((resolve) => socket.once('data', resolve))
  return socket
}

test('bytes that are no HTTP are answered or dropped', async (t) => {
  const engine = await startEngine(t)
  for (const bytes of ['\r\n\r\n', '\0\0\0\0\r\n\r\n', 'GET\r\n\r\n', 'x'.repeat(40000), 'GET / HTTP/1.1\r\nnocolon\r\n\r\n', `GET /${'a'.repeat(2000)} HTTP/1.1\r\n\r\n`]) {
    const socket = raw(t, engine)
    socket.resume()
    socket.write(bytes)
    await socket.closed_
  }
  await alive(t, engine)
})

test('frames that break RFC 6455 end the connection and nothing else', async (t) => {
  const engine = await startEngine(t)
  const frames = {
    unmasked: [0x81, 0x02, 0x7b, 0x7d],
    'reserved bits': [0xf1, 0x80, 1, 2, 3, 4],
    'unknown opcode': [0x83, 0x80, 1, 2, 3, 4],
    'fragmented ping': [0x09, 0x80, 1, 2, 3, 4],
    'long ping': [0x89, 0xfe, 0x00, 0x7e, 1, 2, 3, 4],
    'continuation of nothing': [0x80, 0x80, 1, 2, 3, 4],
    'invalid UTF-8': [0x81, 0x82, 0, 0, 0, 0, 0xff, 0xfe],
    'length with the top bit': [0x82, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4],
    '17 MiB announced': [0x82, 0xff, 0, 0, 0, 0, 0x01, 0x10, 0, 0, 1, 2, 3, 4, 5],
    'one byte of Close': [0x88, 0x81, 0, 0, 0, 0, 1]
  }
  for (const [what, bytes] of Object.entries(frames)) {
    const socket = await upgraded(t, engine)
    socket.resume()
    socket.write(Buffer.from(bytes))
    const started = Date.now()
    await socket.closed_
    assert.ok(Date.now() - started < 3000, what)
  }
  await alive(t, engine)
})

test('half a frame waits for the rest and holds up nobody', async (t) => {
  const engine = await startEngine(t)
  const socket = await upgraded(t, engine)
  socket.write(Buffer.from([0x81, 0xfe, 0x10, 0x00, 1, 2, 3, 4, 0x7b]))
  await alive(t, engine)
  socket.destroy()
  await alive(t, engine)
})

test('a 20 MiB frame is refused with 1009, the same in fragments is taken', async (t) => {
  const engine = await startEngine(t)
  const big = await worker(t, engine.url)
  big.send(JSON.stringify({ type: 'invokefunction', function_id: 'x::y', data: 'x'.repeat(20 << 20) }))
  assert.equal((await big.closed).code, 1009)
  const peer = await worker(t, engine.url)
  const text = JSON.stringify({ type: 'invokefunction', function_id: 'x::y', data: 'x'.repeat(20 << 20) })
  for (let at = 0; at < text.length; at += 8 << 20) peer.socket.send(text.slice(at, at + (8 << 20)), { binary: false, fin: at + (8 << 20) >= text.length })
  await peer.settle()
  await until(() => memory(engine.pid) < most(120 << 20))
})

test('more than 64 MiB in one message is refused', async (t) => {
  const engine = await startEngine(t)
  const peer = await worker(t, engine.url)
  const piece = ' '.repeat(8 << 20)
  for (let n = 0; n < 9; n++) peer.socket.send(piece, { binary: false, fin: false })
  assert.equal((await peer.closed).code, 1009)
  await alive(t, engine)
})

test('a handshake that is never finished is ended', { timeout: 20000 }, async (t) => {
  const engine = await startEngine(t)
  const socket = raw(t, engine)
  socket.resume()
  socket.write('GET / HTTP/1.1\r\n')
  const started = Date.now()
  await socket.closed_
  assert.ok(Date.now() - started > 8000)
})

test('a million tiny messages leave the memory flat', { timeout: 120000 }, async (t) => {
  const engine = await startEngine(t, { env: { CODE_RUNNER_LOG: 'error' } })
  const peer = await worker(t, engine.url)
  const before = memory(engine.pid)
  for (let n = 0; n < 1000000; n++) {
    peer.socket.send(n % 2 ? '{"type":"nonsense"}' : '{"type":"pong"}')
    if (n % 20000 === 0) await until(() => peer.socket.bufferedAmount < 1 << 20, 20000)
  }
  await peer.result('engine::health::check', {}, { ms: 30000 })
  assert.ok(memory(engine.pid) - before < most(16 << 20), String(memory(engine.pid) - before))
})

test('registrations before the metadata are bounded', async (t) => {
  const engine = await startEngine(t)
  const peer = await connect(t, engine.url)
  const description = 'x'.repeat(1 << 20)
  for (let n = 0; n < 20; n++) peer.send({ type: 'registerfunction', id: `f::${n}`, description })
  await peer.closed
  await alive(t, engine)
})

test('what one worker can register is bounded', async (t) => {
  const engine = await startEngine(t)
  const peer = await worker(t, engine.url)
  const description = 'x'.repeat(1 << 20)
  for (let n = 0; n < 50; n++) peer.send({ type: 'registerfunction', id: `f::${n}`, description })
  await peer.result('engine::health::check', {}, { ms: 20000 })
  const kept = (await peer.result('engine::functions::info', { function_ids: Array.from({ length: 32 }, (_, n) => `f::${n + 18}`) }, { ms: 20000 })).functions
  assert.ok(kept.some(({ error }) => error === 'not_found'))
  assert.ok(memory(engine.pid) < most(250 << 20))
})

test('an executor that stops reading holds its callers back, not the engine', { timeout: 60000 }, async (t) => {
  const engine = await startEngine(t)
  const executor = await worker(t, engine.url)
  executor.send({ type: 'registerfunction', id: 'slow::f' })
  await executor.settle()
  executor.socket._socket.pause()
  const caller = await connect(t, engine.url)
  const frame = JSON.stringify({ type: 'invokefunction', function_id: 'slow::f', data: 'x'.repeat(1 << 20) })
  for (let n = 0; n < 200; n++) caller.socket.send(frame)
  await sleep(1000)
  assert.ok(caller.socket.bufferedAmount > 100 << 20, 'the caller is not read')
  assert.ok(memory(engine.pid) < most(100 << 20), String(memory(engine.pid)))
  await alive(t, engine)
  executor.socket._socket.resume()
  await until(() => caller.socket.bufferedAmount === 0, 20000)
  await until(() => executor.messages.length >= 200, 20000)
})

test('an executor that never reads again is given up', { timeout: 60000 }, async (t) => {
  const engine = await startEngine(t)
  const executor = await worker(t, engine.url)
  executor.send({ type: 'registerfunction', id: 'slow::f' })
  await executor.settle()
  executor.socket._socket.pause()
  const caller = await worker(t, engine.url)
  const answers = Array.from({ length: 20 }, () => caller.call('slow::f', 'x'.repeat(1 << 20), { ms: 40000 }))
  const results = await Promise.all(answers)
  const codes = new Set(results.map(({ error }) => error.code))
  assert.ok(codes.delete('invocation_stopped'))
  codes.delete('function_not_found')
  assert.deepEqual([...codes], [])
})

test('a caller that does not read its answers holds only itself back', { timeout: 60000 }, async (t) => {
  const engine = await startEngine(t)
  const owner = await worker(t, engine.url)
  await owner.result('state::set', { scope: 's', key: 'big', value: 'x'.repeat(1 << 20) })
  const caller = await worker(t, engine.url)
  caller.socket._socket.pause()
  const call = JSON.stringify({ type: 'invokefunction', invocation_id: '', function_id: 'state::get', data: { scope: 's', key: 'big' } })
  for (let n = 0; n < 2000; n++) caller.socket.send(call.replace('"invocation_id":""', `"invocation_id":"${crypto.randomUUID()}"`))
  await sleep(1500)
  assert.ok(memory(engine.pid) < most(120 << 20), String(memory(engine.pid)))
  await alive(t, engine)
})

test('connections that come and go leave nothing behind', { timeout: 60000 }, async (t) => {
  const engine = await startEngine(t, { env: { CODE_RUNNER_LOG: 'error' } })
  const round = async () => {
    const peer = await worker(t, engine.url)
    peer.send({ type: 'registerfunction', id: 'x::f' }, { type: 'registertriggertype', id: 'tt', description: '' }, { type: 'registertrigger', id: crypto.randomUUID(), trigger_type: 'tt', function_id: 'x::f', config: null })
    peer.call('x::f', {}).catch(() => {})
    await peer.settle()
    peer.socket.terminate()
  }
  for (let n = 0; n < 50; n++) await round()
  await sleep(100)
  const before = [memory(engine.pid), await descriptors(engine.pid)]
  for (let n = 0; n < 500; n++) await round()
  await sleep(100)
  assert.ok(memory(engine.pid) - before[0] < most(4 << 20), String(memory(engine.pid) - before[0]))
  assert.equal(await descriptors(engine.pid), before[1])
  const peer = await worker(t, engine.url)
  assert.equal((await peer.result('engine::functions::list', { prefix: 'x::' })).functions.length, 0)
})

test('kill -9 during configuration writes: the file is always one of the two values', { timeout: 240000 }, async (t) => {
  const directory = temporary(t)
  const schema = { type: 'object' }
  const values = ['a', 'b'].map((letter) => ({ letter, text: letter.repeat(20000) }))
  for (let round = 0; round < 200; round++) {
    const child = run(['engine', '--port', '0', '--config-dir', join(directory, 'config')], { env: { ...process.env, CODE_RUNNER_LOG: 'warn' } })
    const url = String(await new Promise((resolve) => child.stdout.once('data', resolve))).trim()
    const peer = await worker(t, url)
    if (round) {
      const { value } = await peer.result('configuration::get', { id: 'crash', raw: true })
      assert.ok(values.some(({ letter, text }) => value.letter === letter && value.text === text), `round ${round}`)
      assert.equal(child.log, '')
    }
    await peer.result('configuration::register', { id: 'crash', name: 'n', description: 'd', schema, ...(!round && { initial_value: values[0] }) })
    peer.socket.on('error', () => {})
    setTimeout(() => child.kill('SIGKILL'), Math.random() * 20)
    for (let n = 0; n < 400; n++) peer.send({ type: 'invokefunction', function_id: 'configuration::set', data: { id: 'crash', value: values[n % 2] } })
    await child.done
    peer.socket.terminate()
  }
})
