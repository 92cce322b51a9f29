// Figures over the bus: an iii-sdk caller, the embedded engine, the worker; and an iii-sdk worker beside it as baseline.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { program, root, temporaryDirectory } from '../tests/lib/paths.mjs'
import { sleep } from '../tests/lib/proc.mjs'

export const available = existsSync(join(root, 'tests/bus/node_modules/iii-sdk'))

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

const percentile = (sorted, part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]

// Milliseconds of `runs` calls, one after the other; `pause` milliseconds between them, so that a run finds a spare.
async function latency(call, runs, pause) {
  for (let i = 0; i < 50; i++) await call()
  const times = []
  for (let i = 0; i < runs; i++) {
    if (pause) await sleep(pause)
    const started = performance.now()
    await call()
    times.push(performance.now() - started)
  }
  times.sort((a, b) => a - b)
  return { p50: percentile(times, 0.5), p95: percentile(times, 0.95), p99: percentile(times, 0.99) }
}

async function perSecond(call, inFlight, calls) {
  let left = calls
  const started = performance.now()
  await Promise.all(Array.from({ length: inFlight }, async () => {
    while (left-- > 0) await call()
  }))
  return calls / ((performance.now() - started) / 1000)
}

// The baseline in a process of its own, as a worker is.
const echoWorker = (url) => `
  const { registerWorker } = require('iii-sdk')
  const iii = registerWorker(${JSON.stringify(url)}, { otel: { enabled: false } })
  iii.registerFunction('plain::echo', async (p) => p)
  setInterval(() => {}, 1000)`

async function until(condition, what) {
  for (let i = 0; i < 300; i++) {
    if (await condition().catch(() => false)) return
    await sleep(50)
  }
  throw new Error(`${what} did not happen`)
}

// Calls `row` of bench.mjs for each figure.
export async function busFigures(row, ms, scale) {
  const { connect } = await import('../tests/bus-contract/lib/sdk.mjs')
  const url = `ws://127.0.0.1:${await freePort()}`
  const engine = spawn(program, ['serve', `--embedded=${url.slice(5)}`], { stdio: 'ignore', env: { PATH: process.env.PATH, CODE_RUNNER_LOG: 'error' }, cwd: temporaryDirectory() })
  const plain = spawn(process.execPath, ['-e', echoWorker(url)], { stdio: 'ignore', cwd: join(root, 'tests/bus') })
  const client = connect(url)
  const call = (function_id, payload) => client.trigger({ function_id, payload })
  try {
    const simple = (lang) => () => call('code-runner::run', { lang, code: { node: 'return 2+2', python: 'result = 2+2' }[lang] })
    await until(async () => (await simple('node')()).result === 4, 'a first run')
    await until(async () => (await call('plain::echo', { n: 1 })).n === 1, 'the plain worker')
    const spread = (figures) => `p95 ${ms(figures.p95)}, p99 ${ms(figures.p99)}`
    const figure = async (what, floor, aim, one, runs, pause = 0) => {
      const figures = await latency(one, runs * scale, pause)
      row(what, floor, aim, figures.p50, -1, ms, spread(figures))
    }
    await figure('bus: run node one-shot, iii-sdk caller, p50', 2, 0.6, simple('node'), 400, 5)
    const sources = { node: 'const handler = (p) => p', python: 'def handler(payload): return payload' }
    for (const lang of ['node', 'python']) await call('code-runner::register_function', { function_id: `bench-${lang}::echo`, lang, source: sources[lang], description: 'echo' })
    await figure('bus: handler invocation, node, p50', 0.6, 0.2, () => call('bench-node::echo', { n: 1 }), 2000)
    await figure('bus: handler invocation, python, p50', 1, 0.3, () => call('bench-python::echo', { n: 1 }), 2000)
    const loop = `const t = []; for (let i = 0; i < ${500 * scale}; i++) { const a = performance.now(); await iii.trigger({ function_id: 'plain::echo', payload: { i } }); t.push(performance.now() - a) } t.sort((a, b) => a - b); return [t[t.length >> 1], t[Math.floor(t.length * .95)], t[Math.floor(t.length * .99)]]`
    const { result } = await call('code-runner::run', { lang: 'node', code: loop, timeout_ms: 30000 })
    row('bus: iii.trigger from a guest and back, p50', 0.5, 0.15, result[0], -1, ms, `p95 ${ms(result[1])}, p99 ${ms(result[2])}`)
    const rate = (id) => perSecond(() => call(id, { n: 1 }), 32, Math.round(20000 * scale))
    const own = await rate('bench-node::echo'), theirs = await rate('plain::echo')
    row('bus: calls per second, 32 in flight, node handler', 5000, 20000, own, 1, (value) => value.toFixed(0), 'one iii-sdk caller')
    row('bus: throughput against an iii-sdk Node worker', 0.5, 1, own / theirs, 1, (value) => value.toFixed(2), `iii-sdk worker: ${theirs.toFixed(0)} a second`)
  } finally {
    await client.shutdown?.()
    plain.kill()
    engine.kill()
  }
}
