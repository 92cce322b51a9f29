// Hostile guests: every case answers as it should, and afterwards nothing else has noticed.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { readFileSync, readdirSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDirectory } from '../lib/paths.mjs'
import { eventually, exists, holdings, memory, returnsTo } from '../lib/proc.mjs'
import { Worker } from '../lib/worker.mjs'

const read = (name) => readFileSync(new URL(name, import.meta.url), 'utf8').trim().split('\n').map((line) => JSON.parse(line))
const groups = { 'the given cases': read('cases.jsonl'), 'their neighbours': read('neighbours.jsonl') }
// For work on one case or one language.
const only = process.env.HOSTILE_ONLY?.split(',')
const langs = (process.env.HOSTILE_LANGS ?? 'node,python').split(',')
const promptly = 1000

const first = { node: 'globalThis.n = 0; require("fs").writeFileSync("mine", "node")', python: 'n = 0\nopen("mine", "w").write("python")' }
const then = { node: 'return [++n, require("fs").readFileSync("mine", "utf8")]', python: 'n += 1\nresult = [n, open("mine").read()]' }
const served = { node: 'let n = 0; const handler = (p) => [++n, p.lang]', python: 'calls = 0\ndef handler(payload):\n  global calls\n  calls += 1\n  return [calls, payload["lang"]]' }

function matches(expected, answer) {
  if (expected.one_of) return expected.one_of.some((one) => matches(one, answer))
  const { result, error } = answer
  if (expected.error) return error?.code === expected.error
  if (!result || result.exit_code !== expected.exit_code) return false
  if ('result' in expected && JSON.stringify(result.result) !== JSON.stringify(expected.result)) return false
  if (expected.stdout_has && !result.stdout.includes(expected.stdout_has)) return false
  return !expected.stderr_has || result.stderr.includes(expected.stderr_has)
}

// One worker with a file system of its own for each runtime, one with directories under scratch_root.
function suite(title, config, choose) {
  describe(title, () => {
    let worker, kept, baseline, counter

    before(async () => {
      worker = await Worker.start({ config })
      kept = {}
      for (const lang of langs) kept[lang] = await worker.keep(lang, first[lang])
      for (const lang of langs) {
        const answer = await worker.call('code-runner::register_function', { function_id: `probe::${lang}`, lang, source: served[lang] })
        assert.ok(answer.result?.registered, answer.raw)
      }
      counter = 0
      await unharmed(false)
      baseline = await holdings(worker.pid)
    })
    after(async () => {
      const end = await worker.close()
      assert.deepEqual(end, { code: 0, signal: null }, worker.log.slice(-2000))
      if (config.scratch_root) assert.deepEqual(readdirSync(config.scratch_root), [])
    })

    async function unharmed(settled = true) {
      assert.ok(exists(worker.pid), 'the worker lives')
      counter++
      for (const lang of langs) {
        const answer = await worker.run({ runtime_id: kept[lang], code: then[lang] })
        assert.deepEqual(answer.result?.result, [counter, lang], answer.raw)
        const called = await worker.call(`probe::${lang}`, { lang })
        assert.deepEqual(called.result, [counter, lang], called.raw)
      }
      if (!settled) return
      // Directories on disk are removed beside the loop: a hundred thousand entries take a while.
      const held = await returnsTo(worker.pid, baseline, config.scratch_root ? 30000 : 3000)
      assert.equal(held, null, `held before: ${JSON.stringify(baseline)}, now: ${JSON.stringify(held)}`)
      if (config.scratch_root) assert.ok(await eventually(() => readdirSync(config.scratch_root).length <= 4 + 8, 30000), 'scratch directories are left')
    }

    for (const [group, cases] of Object.entries(groups))
      for (const one of cases.filter((candidate) => choose(candidate) && langs.includes(candidate.lang) && (!only || only.includes(candidate.id))))
        test(`${group}: ${one.id} (${one.lang})`, { timeout: 90000 }, async () => {
          const started = performance.now()
          const answer = await worker.run({ lang: one.lang, code: one.code, ...(one.timeout_ms && { timeout_ms: one.timeout_ms }) })
          const took = performance.now() - started
          const shown = answer.raw.slice(0, 1500)
          assert.ok(matches(one.expect, answer), `expected ${JSON.stringify(one.expect)}, got ${shown}`)
          assert.ok(took <= (one.timeout_ms ?? 5000) + promptly, `${took} ms`)
          await unharmed()
        })

    test('the worker has not grown', () => {
      const rss = memory(worker.pid)
      assert.ok(rss < 64 << 20, `${rss} bytes`)
    })
  })
}

const scratch = join(temporaryDirectory({ inMemory: true }), 'scratch')
mkdirSync(scratch)
suite('scratch directories of the kernel', {}, () => true)
suite('scratch directories under scratch_root', { scratch_root: scratch }, (one) => /^(d-|p-link|f-|t-loop$|t-pyloop|m-push|x-|n-(symlink|hardlink|rename|remove|mkdir|py(hardlink|rename|sym|files|deepdir|sparse)))/.test(one.id))
