// Check 3, the slow half: connections outlive the idle limits of their clients.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callable, connect, sdk, sleep, startEngine, worker } from './lib/engine.mjs'

test('3: an idle SDK worker and an idle plain peer are connected after 66 s', { timeout: 90000 }, async (t) => {
  const engine = await startEngine(t)
  const client = sdk(t, engine.url)
  client.registerFunction('idle::f', async () => 'still here')
  await callable(client, 'idle::f')
  const plain = await worker(t, engine.url)
  const first = (await plain.result('engine::workers::list', {})).workers.map(({ id }) => id)
  await sleep(66000)
  assert.equal(await plain.result('idle::f', {}), 'still here')
  assert.deepEqual((await plain.result('engine::workers::list', {})).workers.map(({ id }) => id), first)
})
