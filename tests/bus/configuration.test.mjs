// Check 27: configuration::*, its files and events.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sleep, startEngine, temporary, until, worker } from './lib/engine.mjs'

const schema = { type: 'object', properties: { port: { type: 'integer', minimum: 1 }, mode: { enum: ['a', 'b'] } }, required: ['port'], additionalProperties: false }
const entry = (extra = {}) => ({ id: 'demo', name: 'Demo', description: 'Demo worker settings', schema, ...extra })

async function scene(t, options = {}) {
  const engine = await startEngine(t, options)
  const peer = await worker(t, engine.url)
  const file = (name = 'demo') => join(engine.directory, 'config', `${name}.yaml`)
  return { engine, peer, file }
}

test('27: register, set, get, list, schema', async (t) => {
  const { peer } = await scene(t)
  const registered = await peer.result('configuration::register', entry({ initial_value: { port: 8080 }, metadata: { ui: 1 } }))
  assert.deepEqual(registered, { ...entry(), value: { port: 8080 }, metadata: { ui: 1 } })
  assert.deepEqual(await peer.result('configuration::set', { id: 'demo', value: { port: 9090 } }), { old_value: { port: 8080 }, new_value: { port: 9090 } })
  assert.deepEqual(await peer.result('configuration::get', { id: 'demo' }), { id: 'demo', value: { port: 9090 } })
  await peer.result('configuration::register', { ...entry(), id: 'a-first' })
  const { configurations } = await peer.result('configuration::list', {})
  assert.deepEqual(configurations, [{ ...entry(), id: 'a-first' }, { ...entry(), metadata: { ui: 1 } }])
  assert.deepEqual(await peer.result('configuration::schema', { id: 'demo' }), { ...entry(), metadata: { ui: 1 } })
  assert.deepEqual(await peer.result('configuration::get', { id: 'a-first' }), { id: 'a-first', value: null })
})

test('27: registering again keeps the value, replaces the rest; an initial value replaces it', async (t) => {
  const { peer } = await scene(t)
  await peer.result('configuration::register', entry({ initial_value: { port: 1 }, metadata: { m: 1 } }))
  assert.deepEqual((await peer.result('configuration::register', entry({ name: 'New' }))).value, { port: 1 })
  assert.deepEqual(await peer.result('configuration::schema', { id: 'demo' }), entry({ name: 'New' }))
  assert.deepEqual((await peer.result('configuration::register', entry({ initial_value: { port: 2 } }))).value, { port: 2 })
})

test('27: every error', async (t) => {
  const { peer } = await scene(t)
  const fails = async (id, input, code, message) => {
    const error = await peer.failure(`configuration::${id}`, input)
    assert.equal(error.code, code)
    if (message) assert.match(error.message, message)
  }
  await fails('register', { ...entry(), id: 'Bad Id' }, 'INVALID_ID', /^invalid configuration id 'Bad Id': must match \[a-z0-9_-\]\{1,64\}$/)
  await fails('register', { ...entry(), id: 'x'.repeat(65) }, 'INVALID_ID')
  await fails('set', { id: 'A', value: 1 }, 'INVALID_ID')
  await fails('set', { id: 'demo', value: 1 }, 'NOT_REGISTERED', /^configuration 'demo' is not registered; call configuration::register first$/)
  await fails('get', { id: 'demo' }, 'NOT_FOUND', /^configuration 'demo' not found$/)
  await fails('schema', { id: 'demo' }, 'NOT_FOUND')
  await fails('register', entry({ initial_value: {} }), 'SCHEMA_INVALID', /^schema validation failed: "port" is a required property$/)
  await fails('get', { id: 'demo' }, 'NOT_FOUND')
  await peer.result('configuration::register', entry())
  await fails('set', { id: 'demo', value: { port: 'x', mode: 'c' } }, 'SCHEMA_INVALID', /"x" is not of type "integer"; "c" is not one of/)
  await fails('set', { id: 'demo', value: { port: 1, more: 1 } }, 'SCHEMA_INVALID', /Additional properties are not allowed \('more' was unexpected\)/)
  await fails('register', entry({ schema: { type: 'nonsense' }, initial_value: 1 }), 'SCHEMA_INVALID', /invalid JSON Schema: /)
  await fails('set', { id: 'demo' }, 'deserialization_error')
  await fails('get', 'demo', 'deserialization_error')
  await fails('register', { id: 'demo' }, 'deserialization_error', /missing field `name`/)
})

test('27: placeholders', async (t) => {
  const env = { CR_PORT: '3111', CR_TRUE: 'true', CR_ON: 'on', CR_ZERO: '007', CR_JSON: '{"a":[1,2]}', CR_EMPTY: '', CR_NULL: '~' }
  const { peer } = await scene(t, { env })
  const expand = async (value) => {
    await peer.result('configuration::register', { id: 'e', name: 'e', description: 'e', schema: {}, initial_value: { value } })
    return (await peer.result('configuration::get', { id: 'e' })).value.value
  }
  const table = [
    ['${CR_PORT}', 3111], [' ${CR_PORT} ', 3111], ['p${CR_PORT}', 'p3111'], ['${CR_PORT}${CR_PORT}', '31113111'], ['${CR_TRUE}', true],
    ['${CR_ON}', 'on'], ['${CR_ZERO}', '007'], ['${CR_JSON}', { a: [1, 2] }], ['${CR_EMPTY}', ''], ['${CR_NULL}', null], ['${CR_UNSET:8.5}', 8.5],
    ['${CR_UNSET:}', ''], ['${CR_UNSET:a:b}', 'a:b'], ['${}', '${}'], ['${CR_PORT', '${CR_PORT'], ['$CR_PORT', '$CR_PORT'],
    [{ '${CR_PORT}': ['${CR_TRUE}'] }, { '${CR_PORT}': [true] }]
  ]
  for (const [from, to] of table) assert.deepEqual(await expand(from), to, JSON.stringify(from))
})

test('27: an unresolved placeholder is stored unchecked and told at get; raw tells the text', async (t) => {
  const { peer } = await scene(t)
  const value = { port: '${CR_A}', mode: '${CR_B} ${CR_A}' }
  await peer.result('configuration::register', entry({ initial_value: value }))
  assert.deepEqual(await peer.failure('configuration::get', { id: 'demo' }), {
    code: 'EXPAND_FAILED',
    message: "configuration 'demo' references unset environment variable(s) with no default: CR_A, CR_B"
  })
  assert.deepEqual((await peer.result('configuration::get', { id: 'demo', raw: true })).value, value)
  assert.equal((await peer.failure('configuration::set', { id: 'demo', value: { port: '${CR_A:x}' } })).code, 'SCHEMA_INVALID')
})

test('27: the file is the YAML of the specification, without the schema', async (t) => {
  const { peer, file } = await scene(t)
  await peer.result('configuration::register', entry({ initial_value: { port: '${DEMO_PORT:8080}' } }))
  assert.equal(readFileSync(file(), 'utf8'), 'id: demo\nname: Demo\ndescription: Demo worker settings\nvalue:\n  port: ${DEMO_PORT:8080}\n')
  assert.deepEqual(readdirSync(join(file(), '..')), ['demo.yaml'])
})

test('27: values survive a restart exactly, whatever they look like', async (t) => {
  const directory = temporary(t)
  const value = {
    texts: ['', ' ', 'yes', 'no', 'null', '~', '1', '1.0', '0x10', '-', '- a', 'a: b', '#x', '"q"', "it's", 'ä\u0000\u2028\ud83d\ude00', 'a\nb\n', '\ttab', '{a}', '[a]', '*x', '&x', '!x', '%x', '@x', '`x', '|', '>', 'on', 'y', '<<', '=', '.5', '1e3', '2020-01-01', '---', '...'],
    numbers: [0, -1, 1.5, 1e100, 12345678901234567, 1e-7],
    'odd: key': { '': [], '#': {} },
    on: true,
    nothing: null,
    long: 'x'.repeat(5000)
  }
  {
    const { engine, peer } = await scene(t, { directory })
    await peer.result('configuration::register', { id: 'v', name: '1', description: 'no', schema: {}, initial_value: value, metadata: { m: [1] } })
    await engine.stop()
  }
  const { peer } = await scene(t, { directory })
  assert.deepEqual((await peer.result('configuration::get', { id: 'v', raw: true })).value, value)
  assert.deepEqual(await peer.result('configuration::schema', { id: 'v' }), { id: 'v', name: '1', description: 'no', schema: null, metadata: { m: [1] } })
})

test('27: after a restart the schema is unknown until the worker registers again', async (t) => {
  const directory = temporary(t)
  {
    const { engine, peer } = await scene(t, { directory })
    await peer.result('configuration::register', entry({ initial_value: { port: 1 } }))
    await engine.stop()
  }
  const { peer } = await scene(t, { directory })
  const error = await peer.failure('configuration::set', { id: 'demo', value: { port: 2 } })
  assert.equal(error.code, 'SCHEMA_UNAVAILABLE')
  assert.match(error.message, /^configuration 'demo' has no schema available yet; /)
  assert.deepEqual((await peer.result('configuration::get', { id: 'demo' })).value, { port: 1 })
  await peer.result('configuration::register', entry())
  await peer.result('configuration::set', { id: 'demo', value: { port: 2 } })
})

test('27: unreadable files are skipped, the id inside counts', async (t) => {
  const directory = temporary(t)
  mkdirSync(join(directory, 'config'))
  const write = (name, text) => writeFileSync(join(directory, 'config', name), text)
  write('broken.yaml', '{')
  write('noid.yaml', 'value: 1\n')
  write('bad.yaml', 'id: Not Valid\nvalue: 1\n')
  write('other.yaml', 'id: inside\nvalue: {a: 1}\n')
  write('x.yaml.tmp', 'id: half\n')
  const { peer } = await scene(t, { directory })
  assert.deepEqual((await peer.result('configuration::list', {})).configurations.map(({ id }) => id), ['inside'])
})

async function events(t, peer, config) {
  const got = []
  peer.socket.on('message', (text) => {
    const message = JSON.parse(text)
    if (message.type !== 'invokefunction') return
    got.push(message)
    peer.send({ type: 'invocationresult', invocation_id: message.invocation_id, function_id: message.function_id })
  })
  peer.send({ type: 'registerfunction', id: 'c::on' }, { type: 'registertrigger', id: 'c', trigger_type: 'configuration', function_id: 'c::on', config, metadata: { b: 1 } })
  await peer.settle()
  return got
}

test('25: configuration events have exactly the members of the specification', async (t) => {
  const { peer } = await scene(t, { env: { CR_PORT: '7' } })
  const got = await events(t, peer, {})
  await peer.result('configuration::register', entry({ initial_value: { port: '${CR_PORT}' }, metadata: { owner: 'x' } }))
  await peer.result('configuration::register', entry())
  await peer.result('configuration::set', { id: 'demo', value: { port: 8 } })
  await until(() => got.length === 3)
  const base = { type: 'configuration', id: 'demo', name: 'Demo', description: 'Demo worker settings', schema }
  assert.deepEqual(got.map(({ data }) => data), [
    { ...base, event_type: 'configuration:registered', old_value: null, new_value: { port: 7 }, metadata: { owner: 'x' } },
    { ...base, event_type: 'configuration:updated', old_value: { port: 7 }, new_value: { port: 7 } },
    { ...base, event_type: 'configuration:updated', old_value: { port: 7 }, new_value: { port: 8 } }
  ])
  assert.deepEqual(got[0].metadata, { b: 1 })
})

test('25: configuration bindings filter by id and event', async (t) => {
  const { peer } = await scene(t)
  const got = await events(t, peer, { configuration_id: 'demo', event_types: ['configuration:updated'] })
  await peer.result('configuration::register', entry({ initial_value: { port: 1 } }))
  await peer.result('configuration::register', { ...entry({ initial_value: { port: 1 } }), id: 'other' })
  await peer.result('configuration::register', { ...entry(), id: 'other' })
  await peer.result('configuration::set', { id: 'demo', value: { port: 2 } })
  await until(() => got.length)
  await sleep(100)
  assert.deepEqual(got.map(({ data }) => [data.id, data.event_type]), [['demo', 'configuration:updated']])
})

test('27: an edit from outside is taken, an invalid one is not, a new file and a deleted one are told', async (t) => {
  const { peer, file } = await scene(t)
  await peer.result('configuration::register', entry({ initial_value: { port: 1 } }))
  const got = await events(t, peer, {})
  const value = async () => (await peer.result('configuration::get', { id: 'demo' })).value
  const edit = (text) => writeFileSync(file(), `id: demo\nname: Demo\ndescription: d\nvalue: ${text}\n`)
  edit('{port: 2}')
  await until(async () => (await value()).port === 2)
  edit('{port: x}')
  await sleep(900)
  assert.deepEqual(await value(), { port: 2 })
  edit('{port: "${CR_NOPE}"}')
  await sleep(900)
  assert.deepEqual(await value(), { port: 2 })
  writeFileSync(file('new'), 'id: new\nvalue: 1\n')
  await until(() => got.some(({ data }) => data.event_type === 'configuration:registered' && data.id === 'new'))
  rmSync(file())
  await until(() => got.some(({ data }) => data.event_type === 'configuration:deleted' && data.id === 'demo'))
  assert.equal((await peer.failure('configuration::get', { id: 'demo' })).code, 'NOT_FOUND')
  assert.deepEqual(got.map(({ data }) => data.event_type), ['configuration:updated', 'configuration:registered', 'configuration:deleted'])
})

test('27: a store that cannot be written is an ADAPTER_ERROR, and the old value stays', async (t) => {
  const { peer, file, engine } = await scene(t)
  await peer.result('configuration::register', entry({ initial_value: { port: 1 } }))
  mkdirSync(file() + '.tmp')
  assert.equal((await peer.failure('configuration::set', { id: 'demo', value: { port: 2 } })).code, 'ADAPTER_ERROR')
  assert.deepEqual((await peer.result('configuration::get', { id: 'demo' })).value, { port: 1 })
  const deep = '{"a":'.repeat(70) + '1' + '}'.repeat(70)
  await peer.result('configuration::register', { ...entry(), id: 'deep', schema: {} })
  assert.equal((await peer.failure('configuration::set', { id: 'deep', value: JSON.parse(deep) })).code, 'ADAPTER_ERROR')
  assert.equal((await peer.failure('configuration::set', { id: 'deep', value: 'x'.repeat(2 << 20) })).code, 'ADAPTER_ERROR')
  assert.ok(existsSync(join(engine.directory, 'config/deep.yaml')))
})
