// Runtimes of the node zygote without a worker: frames in, frames out (docs/protocol.md).
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { build, libexec } from '../lib/paths.mjs'

const program = join(build, 'tests/node-drive')
if (!existsSync(program)) throw new Error(`${program} is missing: run make first`)

export const type = { SETUP: 1, RUN: 2, DEFINE: 3, INVOKE: 4, FORGET: 5, NOTIFY: 6, ANSWER: 7, MARKED: 8, SETTINGS: 9, PING: 10,
  DONE: 65, CALL: 66, MARK: 67, PONG: 68, PARKED: 69 }
const ONE_SHOT = 1

function encode(kind, flags, id, fields) {
  const parts = fields.map((field) => {
    const body = typeof field === 'number' ? Buffer.alloc(8) : Buffer.from(field)
    if (typeof field === 'number') body.writeBigInt64LE(BigInt(field))
    const size = Buffer.alloc(4)
    size.writeUInt32LE(body.length)
    return Buffer.concat([size, body])
  })
  const payload = Buffer.concat(parts)
  const header = Buffer.alloc(12)
  header.writeUInt32LE(payload.length)
  header[4] = kind
  header[5] = flags
  header.writeUInt32LE(id, 8)
  return Buffer.concat([header, payload])
}

function decode(payload) {
  const fields = []
  for (let at = 0; at < payload.length; ) {
    const size = payload.readUInt32LE(at)
    fields.push(payload.subarray(at + 4, at + 4 + size))
    at += 4 + size
  }
  return fields
}

const number = (field) => Number(field.readBigInt64LE())

function outcome(frame) {
  const [exit, kind, value, failure, note] = frame.fields
  const answer = { exit: number(exit), flags: frame.flags, failure: failure.toString(), note: note.toString() }
  if (number(kind) === 1) answer.json = value.toString()
  if (number(kind) === 2) {
    const [bytes, shape, count] = decode(value).map(number)
    answer.omitted = { bytes, shape, count }
  }
  answer.value = answer.json === undefined ? null : JSON.parse(answer.json)
  return answer
}

export class Runtime {
  constructor(stream, out, err) {
    this.stream = stream
    this.pending = Buffer.alloc(0)
    this.turns = new Map()
    this.calls = []
    this.frames = []  // everything that came, by type
    this.lastTurn = 0
    this.stdout = ''
    this.stderr = ''
    this.answers = () => ({ json: 'null' })  // what a CALL gets
    out.setEncoding('utf8').on('data', (text) => (this.stdout += text))
    err.setEncoding('utf8').on('data', (text) => (this.stderr += text))
    this.closed = new Promise((resolve) => stream.on('close', resolve))
    stream.on('error', () => {})
    stream.on('data', (chunk) => this.take(chunk))
  }

  take(chunk) {
    this.pending = Buffer.concat([this.pending, chunk])
    while (this.pending.length >= 12 && this.pending.length >= 12 + this.pending.readUInt32LE(0)) {
      const size = 12 + this.pending.readUInt32LE(0)
      const bytes = this.pending.subarray(0, size)
      this.pending = this.pending.subarray(size)
      this.handle({ type: bytes[4], flags: bytes[5], id: bytes.readUInt32LE(8), fields: decode(bytes.subarray(12)) })
    }
  }

  handle(frame) {
    this.frames.push(frame.type)
    if (frame.type === type.MARK && !this.holdMarks) this.send(type.MARKED, 0, frame.id)
    if (frame.type === type.DONE) {
      this.turns.get(frame.id)?.(outcome(frame))
      this.turns.delete(frame.id)
    }
    if (frame.type === type.CALL) this.call(frame)
  }

  async call(frame) {
    const call = { operation: frame.flags, fields: frame.fields.map((field) => field.toString()), raw: frame.fields }
    this.calls.push(call)
    const answer = await this.answers(call)
    if (!answer) return
    if (answer.error) this.send(type.ANSWER, 1, frame.id, answer.error)
    else this.send(type.ANSWER, 0, frame.id, answer.json)
  }

  send(kind, flags, id, ...fields) {
    this.stream.write(encode(kind, flags, id, fields))
  }

  turn(kind, flags, ...fields) {
    const id = ++this.lastTurn
    return new Promise((resolve, reject) => {
      this.turns.set(id, resolve)
      this.closed.then(() => reject(new Error(`the runtime is gone: ${this.stderr}`)))
      this.send(kind, flags, id, ...fields)
    })
  }

  setup(namespace = 'app::', { scratch = 8 << 20, files = 64, timeout = 5000, max = 30000 } = {}) {
    this.send(type.SETUP, 0, 0, namespace, timeout, max, scratch, files)
    return this
  }

  run(code, { max = 0, flags = 0 } = {}) {
    return this.turn(type.RUN, flags, code, max, 5000)
  }

  oneShot(code, options) {
    return this.run(code, { ...options, flags: ONE_SHOT })
  }

  define(id, source) {
    return this.turn(type.DEFINE, 0, id, source, 5000)
  }

  invoke(id, payload) {
    return this.turn(type.INVOKE, 0, id, JSON.stringify(payload), 5000)
  }

  notify(id, method, binding) {
    return this.turn(type.NOTIFY, 0, id, method, JSON.stringify(binding), 5000)
  }
}

// A zygote and `count` runtimes, set up; `close()` ends them all.
export async function startRuntimes(count, setup = (runtime) => runtime.setup()) {
  const pipes = Array.from({ length: 3 * count }, () => 'pipe')
  const child = spawn(program, [libexec, `${count}`], { stdio: ['ignore', 'pipe', 'inherit', ...pipes] })
  process.on('exit', () => child.kill('SIGKILL'))
  const ended = new Map()
  let spawned = 0
  await new Promise((resolve, reject) => {
    child.on('exit', () => reject(new Error('the zygote did not start')))
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [what, first, second] = line.split(' ')
      if (what === 'ended') ended.set(Number(first), Number(second))
      if (what === 'spawned' && ++spawned === count) resolve()
    })
  })
  const runtimes = Array.from({ length: count }, (_, i) => new Runtime(...child.stdio.slice(3 + 3 * i, 6 + 3 * i)))
  for (const runtime of runtimes) setup(runtime)
  const all = [...runtimes]
  const exited = new Promise((resolve) => child.on('exit', resolve))
  return {
    runtimes,
    ended,
    next: () => runtimes.shift(),
    async close() {
      for (const runtime of all) runtime.stream.destroy()
      child.kill('SIGKILL')
      await exited
    },
  }
}
