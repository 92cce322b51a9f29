// What a clone must not share with its siblings: a hundred one-shots per language, all distinct; and clocks of now.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Worker } from '../lib/worker.mjs'

const runs = 100

const sources = {
  node: `const c = require('crypto'); return {
    'Math.random': Math.random(), 'second Math.random': [Math.random(), Math.random()][1],
    'crypto.randomUUID': c.randomUUID(), 'crypto.randomUUID, uncached': c.randomUUID({ disableEntropyCache: true }),
    'crypto.randomBytes': c.randomBytes(16).toString('hex'), 'crypto.randomInt': c.randomInt(2 ** 47),
    'webcrypto.getRandomValues': crypto.getRandomValues(new Uint32Array(4)).join(), 'webcrypto.randomUUID': crypto.randomUUID(),
    'mkdtemp': require('fs').mkdtempSync('x-'), 'generateKey': c.generateKeySync('hmac', { length: 128 }).export().toString('hex'),
    'vm context': require('vm').runInNewContext('Math.random()'),
  }`,
  python: `
import random, uuid, secrets, os, tempfile
rng = random.Random()
result = {
  'random.random': random.random(), 'random.getrandbits': str(random.getrandbits(128)), 'random.Random()': rng.random(),
  'random.SystemRandom': random.SystemRandom().random(), 'uuid.uuid4': str(uuid.uuid4()), 'uuid.uuid1': str(uuid.uuid1()),
  'secrets.token_hex': secrets.token_hex(16), 'secrets.randbelow': secrets.randbelow(2**62), 'os.urandom': os.urandom(16).hex(),
  'tempfile.mkdtemp': tempfile.mkdtemp(), 'random.sample': str(random.sample(range(10**9), 4)),
}`,
}

const clocks = {
  node: `const a = process.hrtime.bigint(); let n = 0; while (process.hrtime.bigint() - a < 5000000n) n++
    return { now: Date.now(), date: new Date().getTime(), origin: performance.timeOrigin + performance.now(), advances: n > 0, monotonic: performance.now() >= 0 }`,
  python: `
import time, datetime
a = time.monotonic()
time.sleep(0.005)
result = {'now': time.time() * 1000, 'date': datetime.datetime.now(datetime.timezone.utc).timestamp() * 1000,
  'origin': time.time_ns() / 1e6, 'advances': time.monotonic() > a, 'monotonic': time.perf_counter() > 0}`,
}

let worker
before(async () => {
  worker = await Worker.start()
})
after(() => worker.close())

for (const lang of ['node', 'python']) {
  test(`${lang}: ${runs} one-shots draw ${runs} different values from every source`, async () => {
    const seen = {}
    for (let i = 0; i < runs; i += 10) {
      const answers = await Promise.all(Array.from({ length: 10 }, () => worker.run({ lang, code: sources[lang] })))
      for (const { result, raw } of answers) {
        assert.equal(result?.exit_code, 0, raw)
        for (const [source, value] of Object.entries(result.result)) (seen[source] ??= []).push(value)
      }
    }
    for (const [source, values] of Object.entries(seen)) {
      assert.equal(values.length, runs)
      assert.equal(new Set(values.map(String)).size, runs, `${source} repeats`)
    }
    assert.ok(Object.keys(seen).length >= 10)
  })

  test(`${lang}: kept runtimes draw different values as well, and go on drawing`, async () => {
    const ids = await Promise.all(Array.from({ length: 10 }, () => worker.keep(lang)))
    const draw = { node: 'return [Math.random(), Math.random()]', python: 'import random\nresult = [random.random(), random.random()]' }[lang]
    const values = []
    for (let round = 0; round < 3; round++) for (const id of ids) values.push(...(await worker.run({ runtime_id: id, code: draw })).result.result)
    assert.equal(new Set(values).size, 60)
    for (const id of ids) await worker.teardown({ runtime_id: id })
  })

  test(`${lang}: an explicit seed is obeyed`, { skip: lang === 'node' }, async () => {
    const seeded = 'import random\nrandom.seed(7)\nresult = [random.random(), random.Random(7).random()]'
    const first = await worker.run({ lang, code: seeded })
    const second = await worker.run({ lang, code: seeded })
    assert.deepEqual(first.result.result, second.result.result)
    assert.equal(first.result.result[0], 0.32383276483316237)
  })

  test(`${lang}: the clocks are those of now`, async () => {
    await new Promise((resolve) => setTimeout(resolve, 1200))
    for (let i = 0; i < 3; i++) {
      const before = Date.now()
      const { result, raw } = await worker.run({ lang, code: clocks[lang] })
      const after = Date.now()
      assert.equal(result?.exit_code, 0, raw)
      for (const clock of ['now', 'date', 'origin']) assert.ok(result.result[clock] >= before - 50 && result.result[clock] <= after + 50, `${clock}: ${result.result[clock]} is not in ${before}..${after}`)
      assert.ok(result.result.advances && result.result.monotonic)
    }
  })
}
