// A worker on a bus, reached as any caller reaches it: through iii-sdk.
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { program, temporaryDirectory } from '../../lib/paths.mjs'
import { sleep } from '../../lib/proc.mjs'
import { connect } from './sdk.mjs'

const alive = new Set()
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL')
})

// A process of the program; `line` is the first line of its standard output.
export function start(args, { cwd = temporaryDirectory(), env = {} } = {}) {
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env.PATH, ...env } })
  const started = { child, cwd, pid: child.pid, log: '' }
  alive.add(child)
  child.stderr.setEncoding('utf8').on('data', (text) => (started.log = (started.log + text).slice(-(1 << 20))))
  started.ended = new Promise((resolve) =>
    child.on('close', (code, signal) => {
      alive.delete(child)
      resolve({ code, signal })
    }),
  )
  started.line = new Promise((resolve, reject) => {
    child.stdout.once('data', (text) => resolve(String(text).trim()))
    started.ended.then(() => reject(new Error(`it ended: ${started.log}`)))
  })
  started.line.catch(() => {})
  return started
}

export function engine(port = 0, cwd = temporaryDirectory()) {
  return start(['engine', '--port', String(port), '--config-dir', join(cwd, 'config')], { cwd })
}

// {result} or {error: {code, message}}, as tests/contract/expect.mjs reads them. An error of a function arrives as
// `invocation_failed` whose message starts with the worker's code (contract 3.1).
export async function ask(client, function_id, payload, more = {}) {
  let answer
  try {
    // The bus drops a null result, which the library then shows as undefined.
    answer = { id: 0, result: (await client.trigger({ function_id, payload, ...more })) ?? null }
  } catch (failure) {
    const message = failure.message.startsWith(`${failure.code}: `) ? failure.message.slice(failure.code.length + 2) : failure.message
    const inner = message.match(/^(code-runner::[a-z_]+): /)?.[1]
    answer = { id: 0, error: inner ? { code: inner, message } : { code: failure.code, message: failure.message } }
  }
  Object.defineProperty(answer, 'raw', { value: JSON.stringify(answer.error ?? answer.result) })
  return answer
}

export class Bus {
  // Options: config (the stored settings), env, args; url: an engine that is there, instead of the embedded one.
  static async start({ config, env, args = [], url } = {}) {
    const cwd = temporaryDirectory()
    const seed = join(cwd, 'seed.yaml')
    if (config) writeFileSync(seed, JSON.stringify(config))
    mkdirSync(join(cwd, 'config'))
    const where = url ? ['--url', url] : ['--embedded=127.0.0.1:0']
    const bus = new Bus(start(['serve', ...where, ...(config ? ['--config', seed] : []), ...args], { cwd, env }))
    bus.url = url ?? (await bus.process.line)
    bus.client = connect(bus.url, { workerName: 'caller' })
    await bus.serves('code-runner::on-config-change', 15000)
    return bus
  }

  constructor(started) {
    this.process = started
    this.pid = started.pid
  }
  get log() {
    return this.process.log
  }

  call(function_id, payload, more) {
    return ask(this.client, function_id, payload, more)
  }
  run(payload) {
    return this.call('code-runner::run', payload)
  }
  async ok(function_id, payload, more) {
    const { result, error } = await this.call(function_id, payload, more)
    if (error) throw new Error(`${function_id}: ${error.message}`)
    return result
  }
  info(function_id) {
    return this.ok('engine::functions::info', { function_id })
  }
  async has(function_id) {
    return !(await this.call('engine::functions::info', { function_id })).error
  }
  // Waits until the function is on the bus, or (`there` false) has left it.
  async serves(function_id, milliseconds = 3000, there = true) {
    for (const end = performance.now() + milliseconds; ; await sleep(20)) {
      if ((await this.has(function_id)) === there) return
      if (performance.now() > end) throw new Error(`${function_id} ${there ? 'is not' : 'stays'} on the bus\n${this.log}`)
    }
  }

  async close() {
    await this.client.shutdown()
    this.process.child.kill('SIGTERM')
    return this.process.ended
  }
}
