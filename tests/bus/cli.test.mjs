// Check 30: `code-runner trigger` behaves as the table of `iii trigger` says.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callable, run, sdk, startEngine, until, worker } from './lib/engine.mjs'

async function scene(t) {
  const engine = await startEngine(t)
  const client = sdk(t, engine.url)
  client.registerFunction('cli::echo', async (input) => {
    const { _caller_worker_id, ...rest } = input ?? {}
    return input && typeof input === 'object' && !Array.isArray(input) ? rest : { bare: input }
  })
  client.registerFunction('cli::nothing', async () => null)
  client.registerFunction('cli::scalar', async () => 'text')
  client.registerFunction('cli::empty', async () => ({ z: {}, a: [] }))
  client.registerFunction('cli::hang', () => new Promise(() => {}))
  client.registerFunction(
    'cli::described',
    async () => {
      throw new Error('boom')
    },
    { description: 'Does it', request_format: { type: 'object', properties: { n: { type: 'number', description: 'how many' } }, required: ['n'] } }
  )
  await callable(client, 'cli::described')
  engine.trigger = trigger(engine.url)
  return engine
}

const trigger = (url) => async (...args) => {
  const child = run(['trigger', '--url', url, ...args])
  child.text = ''
  child.stdout.on('data', (piece) => (child.text += piece))
  await new Promise((resolve) => child.stdout.on('end', resolve))
  const { code } = await child.done
  return { code, out: child.text, err: child.log }
}

test('30: payloads: pairs, --json, both, neither', async (t) => {
  const { trigger } = await scene(t)
  const table = [
    [[], {}],
    [['n=10', 'b=true', 's=abc', 'q="10"', 'o={"x":[1]}', 'e=', 'a=b=c', 'neg=-1'], { n: 10, b: true, s: 'abc', q: '10', o: { x: [1] }, e: '', a: 'b=c', neg: -1 }],
    [['--json', '{"a":1,"b":2}', 'b=3'], { a: 1, b: 3 }],
    [['--json=[1]'], { bare: [1] }],
    [['--json', 'null'], { bare: null }]
  ]
  for (const [args, value] of table) {
    const { code, out, err } = await trigger('cli::echo', ...args)
    assert.deepEqual([code, err], [0, ''], args.join(' '))
    assert.deepEqual(JSON.parse(out), value)
  }
})

test('30: results are pretty, with sorted keys; none and null print nothing', async (t) => {
  const { trigger } = await scene(t)
  assert.deepEqual(await trigger('cli::echo', 'b=1', 'a={"d":[],"c":1.10}'), { code: 0, out: '{\n  "a": {\n    "c": 1.1,\n    "d": []\n  },\n  "b": 1\n}\n', err: '' })
  assert.deepEqual(await trigger('cli::empty'), { code: 0, out: '{\n  "a": [],\n  "z": {}\n}\n', err: '' })
  assert.deepEqual(await trigger('cli::scalar'), { code: 0, out: '"text"\n', err: '' })
  assert.deepEqual(await trigger('cli::nothing'), { code: 0, out: '', err: '' })
})

test('30: a remote error is JSON on stderr, exit 1', async (t) => {
  const { trigger } = await scene(t)
  const { code, out, err } = await trigger('no::such')
  assert.deepEqual([code, out], [1, ''])
  assert.deepEqual(JSON.parse(err.replace(/^Error: /, '')), { code: 'function_not_found', message: 'Function no::such not found in namespace default.', stacktrace: null })
  const thrown = await trigger('cli::described')
  assert.equal(thrown.code, 1)
  assert.match(JSON.parse(thrown.err.replace(/^Error: /, '')).stacktrace, /^Error: boom\n/)
})

test('30: bad payloads are exit 1, bad options exit 2', async (t) => {
  const { trigger } = await scene(t)
  const table = [
    [['cli::echo', '=x'], 1, /^Error: /],
    [['cli::echo', 'novalue'], 1, /^Error: .*KEY=VALUE/],
    [['cli::echo', '--json', '{'], 1, /^Error: [^]*\n\nCaused by:\n/],
    [['cli::echo', '--json', '[1]', 'a=1'], 1, /^Error: .*object/],
    [[], 1, /^Error: /],
    [['cli::echo', '--nonsense'], 2, /usage/],
    [['--function-id', 'x'], 2, /usage/],
    [['cli::echo', '--port', 'x'], 2, /usage/],
    [['cli::echo', '-n'], 2, /usage/]
  ]
  for (const [args, code, err] of table) {
    const result = await trigger(...args)
    assert.equal(result.code, code, args.join(' '))
    assert.match(result.err, err)
    assert.equal(result.out, '')
  }
})

test('30: no answer in time, and nobody there', async (t) => {
  const { trigger } = await scene(t)
  const text = 'Error: Timed out waiting for the engine (no response within the timeout). Is the engine running at the given address and port?\n'
  for (const option of ['--timeout-ms', '--timeout']) assert.deepEqual(await trigger('cli::hang', option, '300'), { code: 1, out: '', err: text })
  const child = run(['trigger', 'cli::echo', '--address', '127.0.0.1', '--port', '1', '--timeout-ms', '300'])
  assert.equal((await child.done).code, 1)
  assert.ok(child.log.startsWith(text))
  assert.match(child.log, /code-runner serve --embedded/)
})

test('30: --address and --port, and an engine that comes later', async (t) => {
  const first = await startEngine(t)
  await first.stop()
  const child = run(['trigger', 'state::list', 'scope=s', '--address', 'localhost', '--port', String(first.port), '--timeout-ms', '8000'])
  let out = ''
  child.stdout.on('data', (piece) => (out += piece))
  await startEngine(t, { port: first.port })
  assert.equal((await child.done).code, 0, child.log)
  assert.equal(out, '[]\n')
})

test('30: the namespace: -n, else III_NAMESPACE', async (t) => {
  const { trigger, url } = await scene(t)
  const peer = await worker(t, url, { namespace: 'orders' })
  peer.send({ type: 'registerfunction', id: 'o::f' })
  peer.socket.on('message', (text) => {
    const { type, invocation_id, function_id } = JSON.parse(text)
    if (type === 'invokefunction') peer.send({ type: 'invocationresult', invocation_id, function_id, result: 1 })
  })
  await peer.settle()
  assert.equal((await trigger('o::f')).code, 1)
  assert.equal((await trigger('o::f', '-n', 'orders')).out, '1\n')
  assert.equal((await trigger('o::f', '--namespace=orders')).out, '1\n')
  process.env.III_NAMESPACE = 'orders'
  t.after(() => delete process.env.III_NAMESPACE)
  assert.equal((await trigger('o::f')).out, '1\n')
  assert.equal((await trigger('cli::scalar', '-n', 'default')).out, '"text"\n')
})

test('30: FUNCTION --help tells what the engine knows', async (t) => {
  const { trigger } = await scene(t)
  const { code, out } = await trigger('cli::described', '--help')
  assert.equal(code, 0)
  assert.match(out, /Does it[^]*n <number> \(required\)\n +how many/)
  const unknown = await trigger('no::such', '--help')
  assert.equal(unknown.code, 1)
  assert.match(unknown.err, /not registered/)
  const child = run(['trigger', 'x::y', '--help', '--url', 'ws://127.0.0.1:1', '--timeout-ms', '200'])
  let text = ''
  child.stdout.on('data', (piece) => (text += piece))
  assert.equal((await child.done).code, 0)
  assert.match(text, /usage/)
  assert.match(child.log, /warning/)
})

test('30: two at once do not get in each other\'s way', async (t) => {
  const { trigger } = await scene(t)
  const results = await Promise.all(Array.from({ length: 8 }, (_, n) => trigger('cli::echo', `n=${n}`)))
  assert.deepEqual(results.map(({ out }) => JSON.parse(out).n), [0, 1, 2, 3, 4, 5, 6, 7])
})
