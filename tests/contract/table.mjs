// Runs a table of cases: every case names its section of the contract and has code for one language or for both.
//   {s, name, node, python}  code by language       ask: more fields of the request     config: of the worker
//   want, wantNode, wantPython                      see expect.mjs; the language's own wins key by key
//   {s, name, langs, steps}                         steps(t): several calls; t is below
import { after, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { check } from './expect.mjs'
import { Worker } from '../lib/worker.mjs'
import { descendants } from '../lib/proc.mjs'

const workers = new Map()

export function workerFor(config = {}, options = {}) {
  const key = JSON.stringify([config, options])
  if (!workers.has(key)) workers.set(key, Worker.start({ config, ...options }))
  return workers.get(key)
}

after(async () => {
  for (const starting of workers.values()) {
    const worker = await starting
    const below = descendants(worker.pid)
    assert.deepEqual(await worker.close(), { code: 0, signal: null }, worker.log)
    const left = below.filter((one) => descendants(1).some((other) => other.pid === one.pid && other.started === one.started))
    assert.deepEqual(left, [], 'processes are left behind')
  }
})

class Steps {
  constructor(worker, lang) {
    this.w = worker
    this.lang = lang
    this.kept = []
  }
  // Of {node, python} the one for this language.
  pick(both) {
    return typeof both === 'string' ? both : both[this.lang]
  }
  async run(both, want, more = {}) {
    const answer = await this.w.run({ lang: this.lang, code: this.pick(both), ...more })
    if (want) check(answer, want)
    return answer
  }
  async keep(both = '', more = {}) {
    const id = await this.w.keep(this.lang, this.pick(both), more)
    this.kept.push(id)
    return id
  }
  async on(id, both, want, more = {}) {
    const answer = await this.w.run({ runtime_id: id, code: this.pick(both), ...more })
    if (want) check(answer, { id: true, ...want })
    return answer
  }
  async end() {
    for (const id of this.kept) await this.w.teardown({ runtime_id: id })
  }
}

async function runSteps(one, lang) {
  const steps = new Steps(await workerFor(one.config, one.options), lang)
  try {
    await one.steps(steps)
  } finally {
    await steps.end()
  }
}

async function runCode(one, lang) {
  const worker = await workerFor(one.config, one.options)
  const own = { node: one.wantNode, python: one.wantPython }[lang]
  check(await worker.run({ lang, code: one[lang], ...one.ask }), { ...one.want, ...own })
}

export function table(title, cases) {
  describe(title, () => {
    for (const one of cases) {
      const langs = one.langs ?? ['node', 'python'].filter((lang) => one.steps || typeof one[lang] === 'string')
      for (const lang of langs)
        test(`${one.s} ${one.name}${langs.length > 1 ? ` (${lang})` : ''}`, { timeout: one.timeout ?? 60000, skip: one.skip }, () =>
          one.steps ? runSteps(one, lang) : runCode(one, lang),
        )
    }
  })
}
