// What must survive: the engine killed and restarted under load, floods, slow consumers, answers no message carries.
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { describe, test } from 'node:test'
import { eventually, exists, memory, sleep } from '../lib/proc.mjs'
import { Bus, ask, engine } from './lib/bus.mjs'
import { connect } from './lib/sdk.mjs'

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

const MiB = 1 << 20

describe('the engine ends and comes back', { timeout: 90000 }, () => {
  test('everything is there again, nothing hangs, the worker is the same process', async () => {
    const port = await freePort()
    let bus
    let now = engine(port)
    const { cwd } = now
    await now.line
    bus = await Bus.start({ url: `ws://127.0.0.1:${port}` })
    const peer = connect(bus.url, { workerName: 'peer' })
    peer.registerFunction('peer::echo', async (data) => data.n)
    await bus.serves('peer::echo')
    const node = (await bus.ok('code-runner::run', {
      lang: 'node',
      keep: true,
      code: `globalThis.n = 1; globalThis.bound = []; iii.registerFunction(iii.namespace + "f", (p) => p.n + n, { description: "mine" })
        iii.registerTriggerType({ id: iii.namespace + "t" }, { registerTrigger(b) { bound.push(b.id) }, unregisterTrigger() {} })
        await iii.registerTrigger({ type: "state", function_id: iii.namespace + "f", config: { scope: "s" } })`,
    })).runtime_id
    const namespace = (await bus.ok('code-runner::run', { runtime_id: node, code: 'return iii.namespace' })).result
    const python = (await bus.ok('code-runner::run', { lang: 'python', keep: true, code: 'n = 2' })).runtime_id
    await bus.ok('code-runner::register_function', { function_id: 'app::js', lang: 'node', source: 'let n = 0; async function handler(p) { if (p.wait) await new Promise((r) => setTimeout(r, p.wait)); return ++n }', description: 'counts', request_format: { type: 'object' } })
    await bus.ok('code-runner::register_function', { function_id: 'app::py', lang: 'python', source: 'n = 0\ndef handler(p):\n  global n\n  n += 1\n  return n' })
    const { pid } = bus

    for (let round = 0; round < 3; round++) {
      // Calls in flight: of callers, of guests, of handlers.
      const load = [
        ...Array.from({ length: 20 }, () => ask(bus.client, 'app::js', { wait: 400 }, { timeoutMs: 3000 })),
        ...Array.from({ length: 5 }, () => ask(bus.client, 'app::py', {}, { timeoutMs: 3000 })),
        ask(bus.client, 'code-runner::run', { runtime_id: node, code: 'try { await iii.trigger({ function_id: "app::js", payload: { wait: 400 }, timeout: 2000 }) } catch {}' }, { timeoutMs: 3000 }),
      ]
      await sleep(150)
      now.child.kill('SIGKILL')
      await now.ended
      await sleep(round * 300)
      now = engine(port, cwd)
      await now.line
      await Promise.all(load)
      for (const id of ['code-runner::run', 'app::js', 'app::py', `${namespace}f`, 'peer::echo']) await bus.serves(id, 8000)
      assert.equal(exists(pid), true)
      assert.equal((await bus.ok('code-runner::run', { runtime_id: node, code: 'return n' })).result, 1)
      assert.equal((await bus.ok('code-runner::run', { runtime_id: python, code: 'result = n' })).result, 2)
      assert.equal(await bus.ok(`${namespace}f`, { n: 1 }), 2)
      assert.ok((await bus.ok('app::js', {})) > 20 * round, 'state is the one it had')
      const info = await bus.info('app::js')
      assert.deepEqual([info.description, info.request_schema], ['counts', { type: 'object' }])
      assert.equal((await bus.info(`${namespace}f`)).description, 'mine')
      const types = (await bus.ok('engine::triggers::list', {})).triggers.map((one) => one.id)
      assert.ok(types.includes(`${namespace}t`), 'trigger types')
      const triggers = Object.values(await bus.ok('engine::registered-triggers::list', {})).flat()
      assert.ok(triggers.some((one) => one.function_id === `${namespace}f`), 'guest triggers')
      assert.ok(triggers.some((one) => one.function_id === 'code-runner::on-config-change'), 'own triggers')
      assert.equal((await bus.ok('code-runner::run', { lang: 'node', code: 'return iii.trigger({ function_id: "peer::echo", payload: { n: 7 } })' })).result, 7)
    }
    // What was unpublished stays so.
    await bus.ok('code-runner::teardown', { namespace: 'app' })
    now.child.kill('SIGKILL')
    await now.ended
    now = engine(port, cwd)
    await now.line
    await bus.serves(`${namespace}f`, 8000)
    assert.deepEqual([await bus.has('app::js'), await bus.has('app::py')], [false, false])
    await bus.ok('code-runner::teardown', { runtime_id: node })
    await bus.ok('code-runner::teardown', { runtime_id: python })
    await peer.shutdown()
    assert.deepEqual(await bus.close(), { code: 0, signal: null })
    now.child.kill('SIGTERM')
    assert.equal((await now.ended).code, 0)
  })

  test('while it is away a guest runs on, and may register', async () => {
    const port = await freePort()
    let now = engine(port)
    const { cwd } = now
    await now.line
    const bus = await Bus.start({ url: `ws://127.0.0.1:${port}` })
    const id = (await bus.ok('code-runner::run', { lang: 'node', keep: true, code: 'globalThis.ticks = 0; setInterval(() => { ticks++; if (ticks === 20) iii.registerFunction(iii.namespace + "late", () => "late") }, 20)' })).runtime_id
    const namespace = (await bus.ok('code-runner::run', { runtime_id: id, code: 'return iii.namespace' })).result
    now.child.kill('SIGKILL')
    await now.ended
    await sleep(800)
    now = engine(port, cwd)
    await now.line
    await bus.serves(`${namespace}late`, 8000)
    assert.equal(await bus.ok(`${namespace}late`, {}), 'late')
    assert.deepEqual(await bus.close(), { code: 0, signal: null })
    now.child.kill('SIGTERM')
    await now.ended
  })

  test('no engine at the start: it waits for one', async () => {
    const port = await freePort()
    const starting = Bus.start({ url: `ws://127.0.0.1:${port}` })
    await sleep(600)
    const now = engine(port)
    const bus = await starting
    assert.match(bus.log, /serve --embedded/)
    assert.equal((await bus.ok('code-runner::run', { lang: 'node', code: 'return 1' })).result, 1)
    assert.deepEqual(await bus.close(), { code: 0, signal: null })
    now.child.kill('SIGTERM')
    await now.ended
  })
})

describe('floods', { timeout: 90000 }, () => {
  let shared
  const bus = async () => (shared ??= await Bus.start())

  test('a million calls that nobody awaits', async () => {
    const b = await bus()
    const peer = connect(b.url, { workerName: 'sink' })
    peer.registerFunction('sink::f', async () => null)
    await b.serves('sink::f')
    await b.ok('code-runner::run', { lang: 'node', code: 'return 1' })
    const before = memory(b.pid)
    let most = before
    const watch = setInterval(() => (most = Math.max(most, memory(b.pid))), 20)
    const code = `let refused = 0
      for (let i = 0; i < 1e6; i++) { iii.trigger({ function_id: "sink::f", payload: { i } }).catch(() => refused++); if (i % 1000 === 999) await null }
      await new Promise((r) => setImmediate(r))
      return refused`
    const { result, exit_code, stderr } = await b.ok('code-runner::run', { lang: 'node', code, timeout_ms: 30000 })
    clearInterval(watch)
    assert.equal(exit_code, 0, stderr)
    assert.ok(result > 0)
    const grown = Math.round((most - before) / MiB)
    console.log(`flood: a million calls, ${result} refused, the worker grew by ${grown} MiB at most`)
    assert.ok(grown < 24, `${grown} MiB`)
    await peer.shutdown()
  })

  test('void calls do not wait for anybody, and are bounded as well', async () => {
    const b = await bus()
    const before = memory(b.pid)
    let most = before
    const watch = setInterval(() => (most = Math.max(most, memory(b.pid))), 20)
    await b.call('code-runner::run', { lang: 'node', code: 'const p = "x".repeat(10000); for (let i = 0; i < 2e5; i++) iii.trigger({ function_id: "nobody::f", payload: p, action: "void" }).catch(() => {}); return 1', timeout_ms: 20000 })
    clearInterval(watch)
    const grown = Math.round((most - before) / MiB)
    console.log(`flood: void calls, the worker grew by ${grown} MiB at most`)
    assert.ok(grown < 48, `${grown} MiB`)
  })

  test('a caller that reads nothing is dropped: others wait no longer than the engine\'s patience, 15 s', async () => {
    const b = await bus()
    const lazy = connect(b.url, { workerName: 'lazy' })
    await ask(lazy, 'engine::workers::list', {})
    await b.ok('code-runner::register_function', { function_id: 'slow::big', lang: 'node', source: 'const text = "x".repeat(1 << 20); function handler() { return text }' })
    await b.ok('slow::big', {})
    const before = memory(b.pid)
    lazy.ws._socket.pause()
    const answers = Promise.all(Array.from({ length: 64 }, () => ask(lazy, 'slow::big', {}, { timeoutMs: 10000 })))
    const started = performance.now()
    for (let i = 0; i < 20; i++) await b.ok('code-runner::run', { lang: 'node', code: 'return 1' })
    const took = performance.now() - started
    const grown = Math.round((memory(b.pid) - before) / MiB)
    console.log(`slow: 20 runs beside 64 MiB that nobody reads took ${Math.round(took)} ms, engine and worker grew by ${grown} MiB`)
    lazy.ws._socket.resume()
    await answers
    await lazy.shutdown()
    assert.ok(took < 20000, `${took} ms`)
    assert.ok(grown < 96, `${grown} MiB`)
    assert.equal((await b.ok('slow::big', {})).length, MiB)
    await b.ok('code-runner::teardown', { namespace: 'slow' })
  })

  test('answers of 20 MiB from runs, handlers and peers are stated errors', async () => {
    const b = await bus()
    await b.ok('code-runner::register_function', { function_id: 'big::f', lang: 'node', source: 'function handler(p) { return "x".repeat(p.n) }' })
    for (let i = 0; i < 3; i++) assert.match((await b.call('big::f', { n: 20 * MiB })).error?.message ?? '', /16 MiB/)
    assert.equal((await b.ok('big::f', { n: 15 * MiB })).length, 15 * MiB)
    const { stderr, exit_code } = await b.ok('code-runner::run', { lang: 'node', code: 'return (await iii.trigger({ function_id: "big::f", payload: { n: 20 << 20 } })).length' })
    assert.equal(exit_code, 1)
    assert.match(stderr, /16 MiB/)
    await b.ok('code-runner::teardown', { namespace: 'big' })
  })

  test('five hundred runs at once from one caller: an answer for each', async () => {
    const b = await bus()
    const all = await Promise.all(Array.from({ length: 500 }, (_, i) => b.run({ lang: i % 2 ? 'node' : 'python', code: i % 2 ? `return ${i}` : `result = ${i}` })))
    for (const [i, one] of all.entries()) assert.ok(one.result?.result === i || one.error?.code === 'code-runner::capacity', JSON.stringify(one))
    assert.ok(all.filter((one) => one.result).length >= 32)
  })

  test('callers that vanish leave nothing behind', async () => {
    const b = await bus()
    for (let i = 0; i < 5; i++) {
      const gone = connect(b.url, { workerName: `gone-${i}` })
      await ask(gone, 'engine::workers::list', {})
      for (let n = 0; n < 5; n++) gone.trigger({ function_id: 'code-runner::run', payload: { lang: 'node', code: 'await new Promise((r) => setTimeout(r, 300))' } }).catch(() => {})
      await sleep(30)
      await gone.shutdown()
    }
    // Their slots are free again.
    assert.ok(await eventually(async () => {
      const all = await Promise.all(Array.from({ length: 32 }, () => b.run({ lang: 'node', code: 'await new Promise((r) => setTimeout(r, 100)); return 1' })))
      return all.every((one) => one.result)
    }, 8000))
  })

  test('the worker is the same process and ends in order', async () => {
    const b = await bus()
    assert.equal(exists(b.pid), true)
    assert.deepEqual(await b.close(), { code: 0, signal: null })
  })
})
