// A worker of one's own, driven through `serve --stdio`: one JSON request a line in, one answer a line out.
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { program, temporaryDirectory } from './paths.mjs'

let configurations = 0

function configurationFile(config) {
  const path = join(temporaryDirectory(), `config-${++configurations}.yaml`)
  // JSON is YAML.
  writeFileSync(path, typeof config === 'string' ? config : JSON.stringify(config))
  return path
}

// Every worker that a test forgot, or could not end because it failed, ends with the test process.
const alive = new Set()
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL')
})

export class Worker {
  // Options: config (object or YAML text), args (more options of serve), bin, env, ready (false: do not wait).
  static async start(options = {}) {
    const worker = new Worker(options)
    if (options.ready !== false) await worker.ready()
    return worker
  }

  constructor({ config, args = [], bin = program, env = {} } = {}) {
    const given = config === undefined ? [] : ['--config', configurationFile(config)]
    this.child = spawn(bin, ['serve', '--stdio', ...given, ...args], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, ...env },
    })
    this.pid = this.child.pid
    this.log = ''
    this.unclaimed = []
    this.waiting = new Map()
    this.next = 1
    this.parts = []
    this.ended = new Promise((resolve) =>
      this.child.on('close', (code, signal) => {
        alive.delete(this.child)
        const end = { code, signal }
        this.end = end
        for (const { reject } of this.waiting.values()) reject(new Error(`the worker ended (${code ?? signal})\n${this.log}`))
        this.waiting.clear()
        resolve(end)
      }),
    )
    alive.add(this.child)
    this.child.stderr.setEncoding('utf8').on('data', (text) => {
      this.log = (this.log + text).slice(-(1 << 20))
    })
    this.child.stdin.on('error', () => {})
    this.child.stdout.on('data', (chunk) => this.take(chunk))
  }

  take(chunk) {
    for (let at; (at = chunk.indexOf(10)) >= 0; chunk = chunk.subarray(at + 1)) {
      this.parts.push(chunk.subarray(0, at))
      this.answer(Buffer.concat(this.parts).toString('utf8'))
      this.parts = []
    }
    if (chunk.length) this.parts.push(chunk)
  }

  answer(line) {
    const answer = JSON.parse(line)
    const caller = this.waiting.get(answer.id)
    if (!caller) {
      this.unclaimed.push(line)
      return
    }
    this.waiting.delete(answer.id)
    // The text as it came, for what JSON.parse cannot show: exact numbers, the order of keys.
    Object.defineProperty(answer, 'raw', { value: line })
    caller.resolve(answer)
  }

  writeLine(text) {
    this.child.stdin.write(text + '\n')
  }

  // Resolves to {id, result} or {id, error}; rejects only when the worker ends.
  call(functionId, payload) {
    if (this.end) return Promise.reject(new Error(`the worker has ended\n${this.log}`))
    const id = this.next++
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject })
      this.writeLine(JSON.stringify({ id, function_id: functionId, payload }))
    })
  }

  run(payload) {
    return this.call('code-runner::run', payload)
  }

  teardown(payload) {
    return this.call('code-runner::teardown', payload)
  }

  // A kept runtime's id.
  async keep(lang, code = '', more = {}) {
    const { result, error } = await this.run({ lang, code, keep: true, ...more })
    if (!result?.runtime_id) throw new Error(`no runtime: ${JSON.stringify(error ?? result)}`)
    return result.runtime_id
  }

  // The worker takes requests once its zygotes are parked.
  async ready() {
    await this.call('code-runner::teardown', {})
  }

  // End of input: the worker answers what is in flight and ends.
  async close() {
    this.child.stdin.end()
    return this.ended
  }

  async kill(signal = 'SIGKILL') {
    this.child.kill(signal)
    return this.ended
  }
}
