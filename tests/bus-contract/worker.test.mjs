// Sections 1, 2.6, 15, 16: how the worker shows itself on the bus, and its settings.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventually, sleep } from '../lib/proc.mjs'
import { Bus } from './lib/bus.mjs'
import { table } from './lib/table.mjs'

const own = ['run', 'teardown', 'register_function', 'inject-guidance', 'ui-content', 'on-config-change'].map((name) => `code-runner::${name}`)
const defaults = { max_runtimes: 32, default_timeout_ms: 5000, max_timeout_ms: 30000, idle_ttl_secs: 900, heap_mb: 128, external_mb: 64, scratch_mb: 8, scratch_files: 64, scratch_root: null, inject_guidance: true, max_result_bytes: 32768, max_stream_bytes: 16384 }
const one = (s, name, steps, more = {}) => ({ s, name, langs: ['node'], steps, ...more })
const fields = { run: ['code', 'keep', 'lang', 'memory_mb', 'runtime_id', 'timeout_ms'], register_function: ['description', 'function_id', 'lang', 'request_format', 'response_format', 'source'], teardown: ['namespace', 'runtime_id'] }
const required = { run: ['code'], register_function: ['function_id', 'lang', 'source'], teardown: undefined }
const answers = { run: ['duration_ms', 'exit_code', 'result', 'stderr', 'stdout', 'success'], register_function: ['function_id', 'registered'], teardown: ['torn_down', 'unregistered'] }

table('on the bus (1, 2.6)', [
  one('1', 'the worker by its name', async (t) => {
    const { workers } = await t.ok('engine::workers::list', {})
    const worker = workers.find((each) => each.name === 'code-runner')
    assert.match(worker.version, /^\d+\.\d+\.\d+/)
    assert.equal(worker.status, 'connected')
    assert.ok(worker.description)
  }),
  one('1', 'exactly its functions, each described', async (t) => {
    const { functions } = await t.ok('engine::functions::list', { include_internal: true })
    const mine = functions.filter((each) => each.function_id.startsWith('code-runner::')).map((each) => each.function_id)
    assert.deepEqual(mine.filter((id) => id !== 'code-runner::configuration-id' && own.includes(id)).sort(), [...own].sort())
    for (const id of own) assert.ok((await t.bus.info(id)).description, id)
  }),
  one('1', 'three are internal, and not in the catalogue', async (t) => {
    const { functions } = await t.ok('engine::functions::list', {})
    const ids = functions.map((each) => each.function_id)
    assert.deepEqual(own.filter((id) => ids.includes(id)), own.slice(0, 3))
  }),
  ...Object.keys(fields).map((name) => one('2.6', `schemas of ${name}`, async (t) => {
    const { request_schema: request, response_schema: response } = await t.bus.info(`code-runner::${name}`)
    assert.deepEqual(Object.keys(request.properties).sort(), fields[name])
    assert.deepEqual(request.required, required[name])
    assert.deepEqual([...response.required].sort(), answers[name])
    assert.notEqual(request.additionalProperties, false)
    assert.equal(request.$schema, 'http://json-schema.org/draft-07/schema#')
  })),
  ...own.slice(3).map((id) => one('2.6', `schemas of ${id}`, async (t) => {
    const { request_schema: request, response_schema: response } = await t.bus.info(id)
    assert.deepEqual([request.type, response.type], ['object', 'object'])
  })),
  ...['eval', 'register_worker', 'list_runtimes', 'eject'].map((name) => one('1', `there is no ${name}`, async (t) => {
    assert.equal((await t.call(`code-runner::${name}`, {})).error.code, 'function_not_found')
  })),
  one('15.4', 'bound to changes of its settings', async (t) => {
    const listed = await t.ok('engine::registered-triggers::list', {})
    const mine = Object.values(listed).flat().find((each) => each.function_id === 'code-runner::on-config-change')
    assert.equal(mine.trigger_type ?? mine.type, 'configuration')
    assert.deepEqual(mine.config, { configuration_id: 'code-runner', event_types: ['configuration:updated'] })
  }),
])

const prompt = (system_prompt) => ({ generate: { system_prompt } })
table('guidance (16.1)', [
  one('16.1', 'after the prompt, whole', async (t) => {
    const { mutations } = await t.ok('code-runner::inject-guidance', prompt('You are.\nü'))
    const text = mutations.system_prompt
    assert.ok(text.startsWith('You are.\nü\n\n'))
    for (const word of ['code-runner::run', 'code-runner::register_function', 'code-runner::teardown', 'runtime_id', 'keep', 'code-runner::expired', 'iii.trigger', 'iii.registerFunction', 'iii.namespace', 'iii.files', '/work', 'iii.shutdown()', 'handler(payload)', 'engine::functions::info', 'globalThis', 'result = x', 'return x']) assert.ok(text.includes(word), word)
    for (const word of ['eval', 'register_worker', 'eject', 'callFunction', 'id_taken', 'list_runtimes']) assert.ok(!text.includes(word), word)
  }),
  ...[['an empty prompt', prompt('')], ['no prompt', { generate: {} }], ['nothing', {}], ['other fields', { other: 1, generate: { messages: [] } }]].map(([name, payload]) => one('16.1', `${name}: no mutation`, async (t) => assert.deepEqual(await t.ok('code-runner::inject-guidance', payload), { mutations: {} }))),
  one('16.1', 'off', async (t) => assert.deepEqual(await t.ok('code-runner::inject-guidance', prompt('x')), { mutations: {} }), { config: { inject_guidance: false } }),
  one('16.1', 'twice is twice', async (t) => {
    const first = (await t.ok('code-runner::inject-guidance', prompt('x'))).mutations.system_prompt
    const second = (await t.ok('code-runner::inject-guidance', prompt(first))).mutations.system_prompt
    assert.equal(second, first + first.slice(1))
  }),
])

// One worker whose settings change under it.
let shared
const changing = (s, name, body) => test(`${s} ${name}`, { timeout: 20000 }, async () => {
  shared ??= await Bus.start()
  const set = async (value) => {
    await shared.ok('configuration::set', { id: 'code-runner', value: { ...defaults, ...value } })
    await shared.ok('code-runner::on-config-change', { forged: { max_runtimes: 0 } })
    await sleep(100)
  }
  await body(shared, set)
  await set({})
})
const result = async (bus, code, more) => (await bus.ok('code-runner::run', { lang: 'node', code, ...more })).result

test('settings (15)', async (t) => {
  await changing('15.2', 'stored with schema and metadata at the first start', async (bus) => {
    const entry = await bus.ok('configuration::get', { id: 'code-runner' })
    assert.deepEqual(entry.value, defaults)
    const { schema } = await bus.ok('configuration::schema', { id: 'code-runner' })
    assert.deepEqual(Object.keys(schema.properties).sort(), Object.keys(defaults).sort())
    assert.equal(schema.additionalProperties, false)
    for (const [key, value] of Object.entries(defaults)) assert.deepEqual(schema.properties[key].default, value, key)
  })
  await changing('15.4', 'caps at once, runtimes made earlier included', async (bus, set) => {
    const { runtime_id } = await bus.ok('code-runner::run', { lang: 'node', code: '', keep: true })
    await set({ max_result_bytes: 10, max_stream_bytes: 60 })
    const answer = await bus.ok('code-runner::run', { runtime_id, code: 'console.log("x".repeat(500)); return "y".repeat(20)' })
    assert.match(answer.result, /^<omitted: result was ~0 KB \(a 20-char string\)/)
    assert.match(answer.stdout, /stdout truncated/)
  })
  await changing('15.4', 'the default budget at once, handlers made earlier included', async (bus, set) => {
    for (const [lang, source] of [['node', 'async function handler() { await new Promise((r) => setTimeout(r, 600)) }'], ['python', 'import time\ndef handler(p): time.sleep(0.6)']]) {
      await bus.ok('code-runner::register_function', { function_id: `hot::${lang}`, lang, source })
      await bus.ok(`hot::${lang}`, {})
    }
    await set({ default_timeout_ms: 150 })
    for (const lang of ['node', 'python']) assert.equal((await bus.call(`hot::${lang}`, {})).error?.code, 'code-runner::timeout', lang)
    assert.equal((await bus.run({ lang: 'node', code: 'for (;;);' })).error.code, 'code-runner::timeout')
  })
  await changing('15.4', 'the largest budget at once', async (bus, set) => {
    await set({ max_timeout_ms: 200 })
    const started = performance.now()
    assert.equal((await bus.run({ lang: 'node', code: 'for (;;);', timeout_ms: 20000 })).error.code, 'code-runner::timeout')
    assert.ok(performance.now() - started < 2000)
  })
  await changing('15.4', 'guidance at once', async (bus, set) => {
    await set({ inject_guidance: false })
    assert.deepEqual(await bus.ok('code-runner::inject-guidance', prompt('x')), { mutations: {} })
    await set({})
    assert.ok((await bus.ok('code-runner::inject-guidance', prompt('x'))).mutations.system_prompt)
  })
  await changing('15.4', 'without a call: the trigger does it', async (bus) => {
    await bus.ok('configuration::set', { id: 'code-runner', value: { ...defaults, max_result_bytes: 5 } })
    assert.ok(await eventually(async () => /^<omitted/.test(await result(bus, 'return "xxxxxxxxxx"'))))
  })
  await changing('15.4', 'keys of the next start are logged, the others apply', async (bus, set) => {
    await set({ max_runtimes: 0, heap_mb: 16, max_result_bytes: 5 })
    assert.ok(await eventually(() => /next worker restart/.test(bus.log)), bus.log)
    assert.match(await result(bus, 'return "xxxxxxxxxx"'), /^<omitted/)
  })
  await changing('15.1', 'missing keys are defaults', async (bus) => {
    await bus.ok('configuration::set', { id: 'code-runner', value: {} })
    await sleep(100)
    assert.equal(await result(bus, 'return 1'), 1)
  })
  for (const [name, value, key] of [['an unknown key', { bogus: 1 }, 'bogus'], ['a wrong type', { max_result_bytes: 'x' }, 'max_result_bytes'], ['a negative', { default_timeout_ms: -1 }, 'default_timeout_ms'], ['a fraction', { max_stream_bytes: 1.5 }, 'max_stream_bytes'], ['null', { inject_guidance: null }, 'inject_guidance']])
    await changing('15.4', `${name} changes nothing and is named`, async (bus, set) => {
      await set({ max_result_bytes: 7 })
      // Another worker has replaced the schema: the configuration worker lets anything pass.
      await bus.ok('configuration::register', { id: 'code-runner', name: 'code-runner', description: 'x', schema: { type: 'object' } })
      const before = bus.log.length
      await bus.ok('configuration::set', { id: 'code-runner', value: { ...defaults, max_result_bytes: 3, ...value } })
      assert.ok(await eventually(() => new RegExp(`error.*${key}`).test(bus.log.slice(before))), bus.log.slice(before))
      assert.equal(await result(bus, 'return "xxxxx"'), 'xxxxx')
      assert.match(await result(bus, 'return "xxxxxx"'), /^<omitted/)
    })
  await changing('15.4', 'on-config-change answers even for text', async (bus) => assert.deepEqual(await bus.ok('code-runner::on-config-change', 'x'), { ok: true }))
  await changing('15.3', 'the file holds what was set', async (bus) => {
    await bus.ok('configuration::set', { id: 'code-runner', value: { ...defaults, heap_mb: 77 } })
    assert.match(readFileSync(join(bus.process.cwd, 'config', 'code-runner.yaml'), 'utf8'), /heap_mb: 77/)
  })
  t.after(async () => assert.deepEqual(await shared.close(), { code: 0, signal: null }))
})

test('15.3 the seed is the first value, never a later one', async () => {
  const bus = await Bus.start({ config: { max_result_bytes: 9 } })
  assert.equal((await bus.ok('configuration::get', { id: 'code-runner' })).value.max_result_bytes, 9)
  assert.match(await result(bus, 'return "xxxxxxxxxx"'), /^<omitted/)
  assert.deepEqual(await bus.close(), { code: 0, signal: null })
})

test('15.2 another entry by III_CONFIG_NAME', async () => {
  const bus = await Bus.start({ env: { III_CONFIG_NAME: '  other-entry ' } })
  assert.deepEqual((await bus.ok('configuration::get', { id: 'other-entry' })).value, defaults)
  assert.deepEqual(await bus.close(), { code: 0, signal: null })
})

test('2.1 neither code nor ids nor results in the log', async () => {
  const bus = await Bus.start({ env: { CODE_RUNNER_LOG: 'debug' } })
  const { runtime_id } = await bus.ok('code-runner::run', { lang: 'node', code: 'return "secret" + "-result"', keep: true })
  await bus.call('code-runner::run', { code: 'throw new Error("secret-code")', runtime_id })
  await bus.call('code-runner::register_function', { function_id: 'log::f', lang: 'python', source: 'def handler(p): raise Exception("secret-source")' })
  await bus.call('log::f', { secret: 'secret-payload' })
  await bus.call('code-runner::teardown', { runtime_id })
  assert.deepEqual(await bus.close(), { code: 0, signal: null })
  assert.doesNotMatch(bus.log, /secret|rt-[0-9a-f]{8}/)
})
