// Engines, peers and SDK workers for the tests: each test makes what it needs and everything ends with it.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { registerWorker } from 'iii-sdk'
import WebSocket from 'ws'
import { program } from '../../lib/paths.mjs'

export { program }

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

export async function until(what, ms = 5000) {
  const end = Date.now() + ms
  for (;;) {
    const value = await what()
    if (value) return value
    if (Date.now() > end) throw new Error(`not in ${ms} ms: ${what}`)
    await sleep(10)
  }
}

export function temporary(t) {
  const path = mkdtempSync(join(tmpdir(), 'code-runner-bus-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

// A process of the program whose standard error is kept.
export function run(args, options = {}) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options })
  child.log = ''
  child.stderr.on('data', (piece) => (child.log += piece))
  child.done = new Promise((resolve) => child.on('exit', (code, signal) => resolve({ code, signal })))
  return child
}

// An engine on a free port, its files in `directory`. `stop` asks it to end and gives its exit code.
export async function startEngine(t, { directory = temporary(t), env = {}, args = [], port = 0 } = {}) {
  const child = run(['engine', '--port', String(port), '--config-dir', join(directory, 'config'), ...args], {
    env: { ...process.env, CODE_RUNNER_LOG: 'debug', ...env }
  })
  const url = await new Promise((resolve, reject) => {
    child.stdout.once('data', (line) => resolve(String(line).trim()))
    child.on('exit', () => reject(new Error(`the engine did not start: ${child.log}`)))
  })
  const engine = { url, child, directory, port: Number(new URL(url).port), pid: child.pid }
  engine.stop = async (signal = 'SIGTERM') => {
    child.kill(signal)
    return child.done
  }
  // However the test ended, the engine ends well: under a sanitizer that includes that it lost nothing.
  t.after(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = await Promise.race([engine.stop(), sleep(8000)])
    if (!ended) await engine.stop('SIGKILL')
    if (ended?.code !== 0) throw new Error(`the engine ended badly: ${JSON.stringify(ended)} ${child.log.slice(-4000)}`)
  })
  return engine
}

// One plain WebSocket connection that keeps every message; it shuts down with the test.
export class Peer {
  constructor(t, url, options = {}) {
    this.messages = []
    this.waiting = new Set()
    this.socket = new WebSocket(url, options.protocols, { perMessageDeflate: options.deflate ?? false, ...options.ws })
    this.socket.on('message', (data, binary) => {
      this.messages.push(binary ? data : JSON.parse(data))
      for (const check of this.waiting) check()
    })
    this.socket.on('upgrade', (response) => (this.headers = response.headers))
    this.closed = new Promise((resolve) => this.socket.on('close', (code, reason) => resolve({ code, reason: String(reason) })))
    this.opened = new Promise((resolve, reject) => {
      this.socket.on('open', () => resolve(this))
      this.socket.on('error', reject)
      this.socket.on('unexpected-response', (_, response) => reject(Object.assign(new Error('refused'), { status: response.statusCode })))
    })
    this.opened.catch(() => {})
    t.after(() => this.socket.terminate())
  }

  send(...messages) {
    for (const message of messages) this.socket.send(typeof message === 'string' ? message : JSON.stringify(message))
    return this
  }

  // The first message that matches, taken out of the queue.
  next(match, ms = 3000) {
    const test = typeof match === 'string' ? (message) => message.type === match : match
    return new Promise((resolve, reject) => {
      const check = () => {
        const at = this.messages.findIndex(test)
        if (at < 0) return
        this.waiting.delete(check)
        clearTimeout(timer)
        resolve(this.messages.splice(at, 1)[0])
      }
      const timer = setTimeout(() => {
        this.waiting.delete(check)
        reject(new Error(`no such message: ${match}; got ${JSON.stringify(this.messages).slice(0, 2000)}`))
      }, ms)
      this.waiting.add(check)
      check()
    })
  }

  call(function_id, data = {}, extra = {}) {
    const invocation_id = randomUUID()
    this.send({ type: 'invokefunction', invocation_id, function_id, data, ...extra })
    return this.next((message) => message.type === 'invocationresult' && message.invocation_id === invocation_id, extra.ms ?? 5000)
  }

  async result(function_id, data, extra) {
    const answer = await this.call(function_id, data, extra)
    if (answer.error) throw Object.assign(new Error(answer.error.message), answer.error)
    return answer.result
  }

  // The error that a call ends with.
  async failure(function_id, data, extra) {
    const answer = await this.call(function_id, data, extra)
    if (!answer.error) throw new Error(`no error but ${JSON.stringify(answer)}`)
    return answer.error
  }

  // Everything sent before has been handled when this returns.
  async settle() {
    await this.result('engine::baggage::get_all', {})
    return this
  }

  describe(data = {}) {
    return this.send({
      type: 'invokefunction',
      function_id: 'engine::workers::register',
      data: { runtime: 'test', version: '0.23.0', pid: process.pid, name: randomUUID(), ...data },
      action: { type: 'void' }
    })
  }

  async nothing(match, ms = 150) {
    await sleep(ms)
    const test = typeof match === 'string' ? (message) => message.type === match : match
    const found = this.messages.find(test)
    if (found) throw new Error(`unexpected: ${JSON.stringify(found)}`)
  }
}

export const connect = (t, url, options) => new Peer(t, url, options).opened

// A peer that has described itself, so that its registrations take effect at once.
export async function worker(t, url, data) {
  const peer = await connect(t, url)
  peer.registered = await peer.next('workerregistered')
  return peer.describe(data).settle()
}

export const sdk = (t, url, options = {}) => {
  const client = registerWorker(url, { otel: { enabled: false }, ...options })
  t.after(() => client.shutdown())
  return client
}

// The function can be called.
export const callable = (client, function_id) =>
  until(async () => {
    try {
      await client.trigger({ function_id: 'engine::functions::info', payload: { function_id } })
      return true
    } catch {
      return false
    }
  })
