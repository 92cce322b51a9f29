// Check 29: channels.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChannel } from 'iii-sdk/helpers'
import { callable, connect, Peer, sdk, sleep, startEngine, until, worker } from './lib/engine.mjs'

const address = (engine, ref, changes = {}) => {
  const { channel_id, access_key, direction } = { ...ref, ...changes }
  return `${engine.url}/ws/channels/${channel_id}?key=${encodeURIComponent(access_key)}&dir=${direction}`
}
const open = (t, engine, ref) => connect(t, address(engine, ref), { ws: {} })

async function scene(t, input = {}) {
  const engine = await startEngine(t)
  const peer = await worker(t, engine.url)
  return { engine, peer, ...(await peer.result('engine::channels::create', input)) }
}

// Everything a plain reader gets, until it is closed.
function collect(t, engine, ref) {
  const reader = new Peer(t, address(engine, ref))
  reader.socket.removeAllListeners('message')
  reader.got = []
  reader.socket.on('message', (data, binary) => reader.got.push(binary ? data.length : String(data)))
  return reader
}

test('29: text and binary pass unchanged and in order, and the end does too', async (t) => {
  const { engine, writer, reader } = await scene(t)
  const to = collect(t, engine, reader)
  await to.opened
  const from = await open(t, engine, writer)
  from.socket.send(Buffer.alloc(65536))
  from.socket.send('text')
  from.socket.send(Buffer.alloc(4464))
  from.socket.close(1000, 'stream_complete')
  assert.equal((await to.closed).code, 1000)
  assert.deepEqual(to.got, [65536, 'text', 4464])
})

test('29: what is written before the reader comes waits for it', async (t) => {
  const { engine, writer, reader } = await scene(t)
  const from = await open(t, engine, writer)
  for (let n = 0; n < 10; n++) from.socket.send(`m${n}`)
  from.socket.close(1000)
  await from.closed
  const to = collect(t, engine, reader)
  await to.closed
  assert.deepEqual(to.got, Array.from({ length: 10 }, (_, n) => `m${n}`))
})

test('29: each direction is taken once', async (t) => {
  const { engine, writer, reader } = await scene(t)
  await open(t, engine, reader)
  const second = await open(t, engine, reader)
  await second.closed
  await open(t, engine, writer)
  await (await open(t, engine, writer)).closed
})

test('29: an unknown id or a wrong key is 404', async (t) => {
  const { engine, writer } = await scene(t)
  for (const change of [{ access_key: writer.channel_id }, { channel_id: writer.access_key }, { direction: 'both' }])
    await assert.rejects(connect(t, address(engine, writer, change)), { status: 404 })
})

test('29: a writer nobody reads is held back', async (t) => {
  const { engine, writer, reader } = await scene(t, { buffer_size: 1 })
  const from = await open(t, engine, writer)
  const piece = Buffer.alloc(1 << 20)
  for (let n = 0; n < 64; n++) from.socket.send(piece)
  await sleep(500)
  assert.ok(from.socket.bufferedAmount > 32 << 20, String(from.socket.bufferedAmount))
  const to = collect(t, engine, reader)
  await until(() => to.got.length === 64, 10000)
})

test('29: when the reader goes, the writer is closed', async (t) => {
  const { engine, writer, reader } = await scene(t)
  const to = await open(t, engine, reader)
  const from = await open(t, engine, writer)
  to.socket.terminate()
  await from.closed
})

test('29: the SDK moves 70 000 bytes through a channel that it passes in a payload', async (t) => {
  const engine = await startEngine(t)
  const client = sdk(t, engine.url), other = sdk(t, engine.url)
  const bytes = Buffer.alloc(70000, 'ab')
  other.registerFunction('c::read', async ({ from }) => {
    const pieces = []
    for await (const piece of from.stream) pieces.push(piece)
    return { length: Buffer.concat(pieces).length, same: Buffer.concat(pieces).equals(bytes) }
  })
  await callable(client, 'c::read')
  const channel = await createChannel(client)
  const answer = client.trigger({ function_id: 'c::read', payload: { from: channel.readerRef } })
  await new Promise((resolve) => channel.writer.stream.end(bytes, resolve))
  assert.deepEqual(await answer, { length: 70000, same: true })
})
