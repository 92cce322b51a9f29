// SIGKILL from outside, at random moments, under load: every request is answered, the worker's pid stays, later requests
// succeed. And a worker that is killed itself leaves no process behind.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { descendants, eventually, exists, family, processes, sleep } from '../lib/proc.mjs'
import { Worker } from '../lib/worker.mjs'

const seconds = Number(process.env.KILL_SECONDS ?? 60)
const stated = new Set(['engine', 'timeout', 'expired', 'runtime_not_found', 'capacity', 'resource_exhausted'].map((code) => `code-runner::${code}`))

function kill(one) {
  if (!one) return null
  try {
    process.kill(one.pid, 'SIGKILL')
    return one
  } catch {
    return null
  }
}

const any = (list) => list[Math.floor(Math.random() * list.length)]

async function load(worker, until, tally) {
  const codes = { node: ['return 2+2', 'await new Promise(r => setTimeout(r, 30)); return 1', 'console.log("x".repeat(5000)); return 1'], python: ['result = 2+2', 'import time\ntime.sleep(0.03)\nresult = 1', 'print("x" * 5000)\nresult = 1'] }
  while (performance.now() < until) {
    const lang = any(['node', 'python'])
    const keep = Math.random() < 0.2
    const answer = await worker.run({ lang, code: any(codes[lang]), keep, timeout_ms: 10000 })
    tally(answer)
    const id = answer.result?.runtime_id
    if (!id) continue
    for (let i = 0; i < 3; i++) tally(await worker.run({ runtime_id: id, code: any(codes[lang]), timeout_ms: 10000 }))
    tally(await worker.teardown({ runtime_id: id }))
  }
}

test(`runtimes, spares, zygotes and inits are killed for ${seconds} s under load`, { timeout: (seconds + 60) * 1000 }, async () => {
  const worker = await Worker.start()
  const until = performance.now() + seconds * 1000
  const counts = { answers: 0, results: 0, killed: 0 }
  const tally = ({ result, error, raw }) => {
    counts.answers++
    if (result) counts.results++
    else {
      assert.ok(stated.has(error?.code), raw)
      counts[error.code] = (counts[error.code] ?? 0) + 1
    }
  }
  const callers = Array.from({ length: 6 }, () => load(worker, until, tally))
  const killing = (async () => {
    for (let round = 0; performance.now() < until; round++) {
      const { inits, zygotes, runtimes } = family(worker.pid)
      const victim = round % 40 === 39 ? any(inits) : round % 10 === 9 ? any(zygotes) : any(runtimes)
      if (kill(victim)) counts.killed++
      await sleep(20 + Math.random() * 150)
    }
  })()
  await Promise.all([...callers, killing])
  console.log(`# ${JSON.stringify(counts)}`)
  assert.ok(exists(worker.pid))
  assert.equal(worker.end, undefined)
  assert.ok(counts.killed > seconds, 'something was killed')
  assert.ok(counts.results > counts.answers / 2, 'most of the work was done all the same')
  for (const [lang, code] of [['node', 'return 2+2'], ['python', 'result = 2+2']])
    for (let i = 0; i < 20; i++) assert.equal((await worker.run({ lang, code, timeout_ms: 20000 })).result?.result, 4, worker.log.slice(-1000))
  assert.deepEqual(await worker.close(), { code: 0, signal: null })
})

test('a kept runtime of a killed zygote lives on, and the next zygote serves', async () => {
  const worker = await Worker.start()
  const kept = { node: await worker.keep('node', 'globalThis.n = 1'), python: await worker.keep('python', 'n = 1') }
  const before = family(worker.pid).zygotes.map((one) => one.pid)
  for (const pid of before) process.kill(pid, 'SIGKILL')
  for (const [lang, code] of [['node', 'return n'], ['python', 'result = n']]) {
    assert.equal((await worker.run({ runtime_id: kept[lang], code })).result?.result, 1)
    assert.equal((await worker.run({ lang, code: code.replace('n', '5') })).error, undefined)
  }
  await worker.close()
})

test('a killed kept node runtime is expired, a killed python one has a fresh interpreter', async () => {
  const worker = await Worker.start({ args: ['--spares', '0'] })
  for (const [lang, code] of [['node', 'require("fs").writeFileSync("f", "kept")'], ['python', 'open("f", "w").write("kept")']]) {
    const before = new Set(descendants(worker.pid).map((one) => one.pid))
    const id = await worker.keep(lang, code)
    const [runtime] = descendants(worker.pid).filter((one) => !before.has(one.pid))
    process.kill(runtime.pid, 'SIGKILL')
    await eventually(() => !exists(runtime.pid))
    await sleep(100)
    const answer = await worker.run({ runtime_id: id, code: lang === 'node' ? 'return 1' : 'result = open("f").read()' })
    if (lang === 'node') assert.equal(answer.error?.code, 'code-runner::expired', answer.raw)
    else assert.equal(answer.result?.result, 'kept', answer.raw)
  }
  await worker.close()
})

test('kill -9 of the worker leaves no process behind', async () => {
  for (let round = 0; round < 5; round++) {
    const worker = await Worker.start()
    await worker.keep('node', 'setInterval(() => {}, 5)')
    await worker.keep('python')
    for (const [lang, code] of [['node', 'for(;;);'], ['python', 'while True: pass']]) worker.run({ lang, code }).catch(() => {})
    await sleep(40 * round)
    const below = descendants(worker.pid)
    assert.ok(below.length >= 6)
    await worker.kill('SIGKILL')
    const left = () => processes().filter((one) => one.state !== 'Z' && below.some((was) => was.pid === one.pid && was.started === one.started))
    assert.ok(await eventually(() => left().length === 0, 5000), JSON.stringify(left()))
  }
})

test('kill -9 of a worker that is still starting leaves no process behind', async () => {
  for (const wait of [5, 20, 60, 150]) {
    const worker = await Worker.start({ ready: false })
    await sleep(wait)
    const below = descendants(worker.pid)
    await worker.kill('SIGKILL')
    const left = () => processes().filter((one) => one.state !== 'Z' && below.some((was) => was.pid === one.pid && was.started === one.started))
    assert.ok(await eventually(() => left().length === 0, 5000), JSON.stringify(left()))
  }
})
