// Runs a table of cases over the bus: every case names its section of the contract.
//   {s, name, ask: [function, payload], error, message}    one call and the error it has to end with
//   {s, name, node, python, want, …}                       code by language for one `run`; want: see contract/expect.mjs
//   {s, name, langs, steps}                                steps(t): several calls; t is below
// config: settings of the worker; cases with equal settings share one.
import { after, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { check } from '../../contract/expect.mjs'
import { descendants } from '../../lib/proc.mjs'
import { Bus, ask } from './bus.mjs'
import { connect } from './sdk.mjs'

const buses = new Map()

export function busFor(config) {
  const key = JSON.stringify(config)
  if (!buses.has(key)) buses.set(key, Bus.start({ config }))
  return buses.get(key)
}

after(async () => {
  for (const starting of buses.values()) {
    const bus = await starting
    const below = descendants(bus.pid)
    assert.deepEqual(await bus.close(), { code: 0, signal: null }, bus.log)
    const left = below.filter((one) => descendants(1).some((other) => other.pid === one.pid && other.started === one.started))
    assert.deepEqual(left, [], 'processes are left behind')
  }
})

let names = 0

// What a case works with. `ns` is a namespace of its own, torn down at its end with everything the case kept.
export class Steps {
  constructor(bus, lang) {
    this.bus = bus
    this.lang = lang
    this.ns = `ns${++names}`
    this.kept = []
    this.workers = []
    this.served = []
  }
  pick(both) {
    return typeof both === 'string' ? both : both[this.lang]
  }
  call(function_id, payload, more) {
    return this.bus.call(function_id, payload, more)
  }
  ok(function_id, payload, more) {
    return this.bus.ok(function_id, payload, more)
  }
  async fails(error, message, function_id, payload, more = {}) {
    check(await this.call(function_id, payload, more), { error, message: [message].flat(), ...more.want })
  }
  async run(both, want = {}, more = {}) {
    const answer = await this.bus.run({ lang: this.lang, code: this.pick(both), ...more })
    check(answer, want)
    return answer.result?.result
  }
  async keep(both = '', more = {}) {
    const { runtime_id } = await this.ok('code-runner::run', { lang: this.lang, code: this.pick(both), keep: true, ...more })
    assert.match(runtime_id ?? '', /^rt-/)
    this.kept.push(runtime_id)
    return runtime_id
  }
  async on(id, both, want = {}, more = {}) {
    const answer = await this.bus.run({ runtime_id: id, code: this.pick(both), ...more })
    check(answer, { id: true, ...want })
    return answer.result?.result
  }
  // Publishes `<ns>::<name>`; answers its id.
  async register(name, both, more = {}) {
    const function_id = `${this.ns}::${name}`
    const answer = await this.ok('code-runner::register_function', { function_id, lang: this.lang, source: this.pick(both), ...more })
    assert.deepEqual(answer, { function_id, registered: true })
    return function_id
  }
  // The error with which a registration of `<ns>::<name>` ends.
  async refuses(name, both, error, message, more = {}) {
    const function_id = `${this.ns}::${name}`
    await this.fails(error, message, 'code-runner::register_function', { function_id, lang: this.lang, source: this.pick(both), ...more })
  }
  // A worker of its own on the same bus.
  worker(name = `${this.ns}-worker`) {
    const client = connect(this.bus.url, { workerName: name })
    this.workers.push(client)
    client.ask = (function_id, payload, more) => ask(client, function_id, payload, more)
    return client
  }
  async serve(client, function_id, handler, options) {
    client.registerFunction(function_id, handler, options)
    this.served.push(function_id)
    await this.bus.serves(function_id)
    return function_id
  }
  async end() {
    for (const client of this.workers) await client.shutdown()
    for (const id of this.served) await this.bus.serves(id, 3000, false)
    for (const id of this.kept) await this.call('code-runner::teardown', { runtime_id: id })
    await this.call('code-runner::teardown', { namespace: this.ns })
  }
}

async function runSteps(one, lang) {
  const steps = new Steps(await busFor(one.config), lang)
  try {
    await one.steps(steps)
  } finally {
    await steps.end()
  }
}

async function runOne(one, lang) {
  const bus = await busFor(one.config)
  if (one.ask) return check(await bus.call(...one.ask), { error: one.error, message: [one.message ?? []].flat(), id: one.id })
  check(await bus.run({ lang, code: one[lang], ...one.more }), { ...one.want, ...(lang === 'node' ? one.wantNode : one.wantPython) })
}

export function table(title, cases) {
  describe(title, () => {
    for (const one of cases) {
      const langs = one.ask ? [undefined] : (one.langs ?? ['node', 'python'].filter((lang) => one.steps || typeof one[lang] === 'string'))
      for (const lang of langs)
        test(`${one.s} ${one.name}${langs.length > 1 ? ` (${lang})` : ''}`, { timeout: one.timeout ?? 30000 }, () =>
          one.steps ? runSteps(one, lang) : runOne(one, lang),
        )
    }
  })
}
