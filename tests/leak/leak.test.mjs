// Thousands of one-shots in one worker: nothing grows. The slope of the memory is printed.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { family, holdings, memory } from '../lib/proc.mjs'
import { Worker } from '../lib/worker.mjs'

const atOnce = 4
// A tenth of the requests fails, prints much, or is killed: what goes wrong must not leak either.
const mixes = {
  node: (i) => (i % 200 === 7 ? { code: 'for(;;);', timeout_ms: 20 } : i % 20 === 3 ? { code: 'throw new Error("x".repeat(2000))' } : i % 20 === 5 ? { code: 'process.stdout.write("x".repeat(100000)); require("fs").writeFileSync("f", "x".repeat(10000))' } : { code: 'return 2+2' }),
  python: (i) => (i % 200 === 7 ? { code: 'while True: pass', timeout_ms: 20 } : i % 20 === 3 ? { code: 'raise Exception("x" * 2000)' } : i % 20 === 5 ? { code: 'print("x" * 100000)\nopen("f", "w").write("x" * 10000)' } : { code: 'result = 2+2' }),
}

// Least squares, bytes a run.
function slope(points) {
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length
  const x = mean(points.map((point) => point[0])), y = mean(points.map((point) => point[1]))
  const down = points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0)
  return points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0) / down
}

async function burst(worker, lang, runs, points, parts) {
  let next = 0
  const caller = async () => {
    while (next < runs) {
      const i = next++
      const { result, error } = await worker.run({ lang, ...mixes[lang](i) })
      assert.ok(result || error.code === 'code-runner::timeout', JSON.stringify(error))
      if (i % Math.floor(runs / 50) === 0) points.push([i, ...parts()])
    }
  }
  await Promise.all(Array.from({ length: atOnce }, caller))
}

for (const [lang, runs] of [['node', 5000], ['python', 2000]])
  test(`${runs} ${lang} one-shots in one worker`, { timeout: 300000 }, async () => {
    const worker = await Worker.start()
    const scratchNames = () => readdirSync(tmpdir()).filter((name) => /^code-runner-[0-9a-f]{8}-/.test(name)).length
    const zygote = family(worker.pid).zygotes.map((one) => one.pid)
    const parts = () => [memory(worker.pid), zygote.reduce((sum, pid) => sum + memory(pid), 0)]
    await burst(worker, lang, 300, [], parts)
    const before = await holdings(worker.pid, 300), directories = scratchNames()
    const points = []
    const started = performance.now()
    await burst(worker, lang, runs, points, parts)
    const seconds = (performance.now() - started) / 1000
    const after = await holdings(worker.pid, 300)
    const perRun = [1, 2].map((column) => slope(points.map((point) => [point[0], point[column]])))
    console.log(`# ${lang}: ${runs} runs in ${seconds.toFixed(1)} s; slope of RSS: worker ${perRun[0].toFixed(1)}, zygotes ${perRun[1].toFixed(1)} bytes a run; ` +
      `worker ${(memory(worker.pid) / 1048576).toFixed(1)} MiB; processes ${before.processes} -> ${after.processes}; descriptors ${before.descriptors} -> ${after.descriptors}`)
    assert.ok(perRun[0] < 100, `the worker grows by ${perRun[0]} bytes a run`)
    assert.ok(perRun[1] < 300, `the zygotes grow by ${perRun[1]} bytes a run`)
    assert.deepEqual(after, before)
    assert.equal(scratchNames(), directories)
    assert.deepEqual(family(worker.pid).zygotes.map((one) => one.pid).sort(), zygote.sort(), 'the zygotes are the same')
    assert.deepEqual(await worker.close(), { code: 0, signal: null })
  })

test('300 kept runtimes come and go', { timeout: 120000 }, async () => {
  const worker = await Worker.start()
  const cycle = async () => {
    const ids = await Promise.all(Array.from({ length: 10 }, (_, i) => worker.keep(i % 2 ? 'node' : 'python')))
    await Promise.all(ids.map((id) => worker.teardown({ runtime_id: id })))
  }
  for (let i = 0; i < 5; i++) await cycle()
  const before = await holdings(worker.pid, 300), rss = memory(worker.pid)
  for (let i = 0; i < 30; i++) await cycle()
  assert.deepEqual(await holdings(worker.pid, 300), before)
  assert.ok(memory(worker.pid) - rss < 1 << 20, `${memory(worker.pid) - rss} bytes more`)
  await worker.close()
})
