// The node runtime by its frames: runs, handlers, trigger types, marks.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startRuntimes, type } from './runtime.mjs'

let batch
before(async () => {
  batch = await startRuntimes(21)
})
after(() => batch.close())
const fresh = () => batch.next()
const until = async (condition) => {
  for (let i = 0; i < 400 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 5))
  assert.ok(condition(), 'in vain')
}

describe('runs', () => {
  test('a one-shot ends with its answer, whatever it left running', async () => {
    const runtime = fresh()
    const answer = await runtime.oneShot(`setInterval(() => {}, 1); console.log('said'); return [1, { a: 'é' }]`)
    assert.equal(answer.json, '[1,{"a":"é"}]')
    await runtime.closed
    assert.equal(runtime.stdout, 'said\n')
    assert.ok(!runtime.frames.includes(type.MARK))
  })

  test('globals and files stay, declarations do not', async () => {
    const runtime = fresh()
    await runtime.run(`globalThis.n = 1; x = 2; const y = 3; iii.files.write('f', 'text')`)
    assert.deepEqual((await runtime.run(`return [n, x, typeof y, iii.files.readText('f')]`)).value, [1, 2, 'undefined', 'text'])
  })

  test('sizes and shapes of what is too long', async () => {
    const runtime = fresh()
    const omitted = async (code, max) => (await runtime.run(code, { max })).omitted
    assert.deepEqual(await omitted('return "x".repeat(11)', 12), { bytes: 13, shape: 3, count: 11 })
    assert.equal((await runtime.run('return "x".repeat(10)', { max: 12 })).value, 'x'.repeat(10))
    assert.deepEqual(await omitted('return "\\u{1f600}é\\n\\u2028\\ud800"', 1), { bytes: 4 + 2 + 2 + 3 + 3 + 2, shape: 3, count: 5 })
    assert.deepEqual(await omitted('return [[1, 2], "a,b", { c: [3] }]', 1), { bytes: 23, shape: 1, count: 3 })
    assert.deepEqual(await omitted('return { "a,\\"": 1, b: { c: 1, d: 2 } }', 1), { bytes: 28, shape: 2, count: 2 })
    assert.deepEqual(await omitted('return [[]]', 1), { bytes: 4, shape: 1, count: 1 })
    assert.deepEqual(await omitted('return []', 1), { bytes: 2, shape: 1, count: 0 })
    assert.deepEqual(await omitted('return 1234', 1), { bytes: 4, shape: 0, count: 0 })
  })

  test('half characters become U+FFFD, whole ones stay', async () => {
    const runtime = fresh()
    const { json } = await runtime.run(String.raw`return ['\ud800', 'a\udc00b', '\\ud800', '\ud83d\ude00', JSON.rawJSON('"\\ud83d\\ude00"')]`)
    assert.equal(json, String.raw`["�","a�b","\\ud800","😀","\ud83d\ude00"]`)
  })

  test('uncaught exceptions of callbacks fail the run that is active, or go to stderr', async () => {
    const runtime = fresh()
    const answer = await runtime.run(`setTimeout(() => { throw new TypeError('late') }, 1); await new Promise(() => {})`)
    assert.equal(answer.exit, 1)
    assert.match(answer.failure, /^TypeError: late\n {4}at .*<code>:1:26/)
    await runtime.run(`setTimeout(() => { throw new TypeError('later') }, 1)`)
    await until(() => runtime.stderr.includes('TypeError: later'))
    assert.equal((await runtime.run('return 1')).value, 1)
  })

  test('process.exit answers at once and leaves a kept runtime alive', async () => {
    const runtime = fresh()
    assert.equal((await runtime.run('globalThis.n = 5; try { process.exit(3) } catch {} return 1')).exit, 3)
    assert.equal((await runtime.run(`setTimeout(() => process.exit('4'), 1); await new Promise(() => {})`)).exit, 4)
    const fine = await runtime.run('process.exit()')
    assert.deepEqual([fine.exit, fine.value, fine.failure], [0, null, ''])
    assert.equal((await runtime.run('return n')).value, 5)
  })

  test('marks stand before and after every run of a kept runtime', async () => {
    const runtime = fresh()
    await runtime.run(`setTimeout(() => console.log('background'), 20)`)
    await until(() => runtime.frames.includes(type.MARK))
    runtime.holdMarks = true
    const second = runtime.run(`console.log('second')`)
    await until(() => runtime.stdout.includes('background') || runtime.frames.filter((one) => one === type.MARK).length === 2)
    await new Promise((resolve) => setTimeout(resolve, 60))
    assert.ok(!runtime.stdout.includes('second'), 'it waits for the answer to its mark')
    runtime.holdMarks = false
    runtime.send(type.MARKED, 0, 2)
    assert.equal((await second).exit, 0)
  })

  test('a ping is answered between runs', async () => {
    const runtime = fresh()
    await runtime.run('return 1')
    runtime.send(type.PING, 0, 77)
    await until(() => runtime.frames.includes(type.PONG))
  })

  test('the end of the stream is the end of the runtime', async () => {
    const runtime = fresh()
    await runtime.run('setInterval(() => {}, 1000)')
    runtime.stream.end()
    await runtime.closed
  })
})

describe('handlers', () => {
  let runtime
  before(() => {
    runtime = fresh()
  })
  const forms = {
    declaration: 'function handler(p) { return p.n + 1 }',
    asynchronous: 'async function handler(p) { await null; return p.n + 1 }',
    constant: 'const handler = (p) => p.n + 1',
    variable: 'var handler = function(p) { return p.n + 1 }',
    assignment: 'handler = (p) => p.n + 1',
    exported: '  export const handler = (p) => p.n + 1',
    'exported function': '\n\texport async function handler(p) { return p.n + 1 }',
    strict: '"use strict"; let handler = (p) => p.n + 1 // end',
    typed: 'export const handler = (p: { n: number }): number => p.n + 1',
  }
  for (const [name, source] of Object.entries(forms))
    test(`${name} binds`, async () => {
      assert.deepEqual([(await runtime.define(`app::${name}`, source)).exit, (await runtime.invoke(`app::${name}`, { n: 1 })).value], [0, 2])
    })

  const refused = {
    'a bare expression': ['(p) => p.n', /binds no `handler`/],
    'nothing, after a source that bound it': ['const other = 1', /binds no `handler`/],
    'an object': ['const handler = {}', /its handler is an object/],
    'a source that throws': ['throw new TypeError("at\\nonce")', /it threw TypeError: at once$/],
    'a syntax error': ['function handler( {', /does not parse, SyntaxError: .*`export` is only recognised as the first token/],
    'a late export': ['const a = 1; export function handler() {}', /Unexpected token 'export'/],
    'a default export': ['export default function handler() {}', /Unexpected token 'export'/],
    'a return': ['return (p) => p', /Illegal return statement/],
    'a brace too many': ['} function handler() {} {', /Unexpected token '}'/],
  }
  for (const [name, [source, reason]] of Object.entries(refused))
    test(`${name} is refused in one line`, async () => {
      const answer = await runtime.define('app::refused', source)
      assert.equal(answer.exit, 1)
      assert.equal(answer.flags, 8)
      assert.match(answer.failure, reason)
      assert.match(answer.failure, /^the source of app::refused must define handler\(payload\): [^\n]*$/)
      assert.equal((await runtime.invoke('app::refused', {})).flags, 8)
    })

  test('a class registers and cannot be called', async () => {
    assert.equal((await runtime.define('app::class', 'class handler {}')).exit, 0)
    assert.match((await runtime.invoke('app::class', {})).failure, /without 'new'/)
  })

  test('errors, nulls, notes and forgetting', async () => {
    await runtime.define('app::e', 'function handler(p) { if (p.t) throw new RangeError("no"); return p.v === "f" ? handler : undefined }')
    const thrown = await runtime.invoke('app::e', { t: 1 })
    assert.equal(thrown.exit, 1)
    assert.equal(thrown.failure, 'RangeError: no\n    at handler (<code>:1:38)')
    assert.equal((await runtime.invoke('app::e', {})).json, undefined)
    assert.match((await runtime.invoke('app::e', { v: 'f' })).note, /function at result is not JSON/)
    runtime.send(type.FORGET, 0, 0, 'app::e')
    assert.equal((await runtime.invoke('app::e', {})).flags, 8)
  })

  test('a failed redeployment leaves the old handler', async () => {
    await runtime.define('app::r', 'const handler = () => 1')
    await runtime.define('app::r', 'const handler = 1')
    assert.equal((await runtime.invoke('app::r', {})).value, 1)
    await runtime.define('app::r', 'const handler = () => 2')
    assert.equal((await runtime.invoke('app::r', {})).value, 2)
  })

  test('handlers interleave with a run at its awaits', async () => {
    await runtime.define('app::set', 'function handler(p) { globalThis.given?.(p.v); return typeof given }')
    const run = runtime.run('return await new Promise((resolve) => { globalThis.given = resolve })')
    assert.equal((await runtime.invoke('app::set', { v: 7 })).value, 'function')
    assert.equal((await run).value, 7)
  })

  test('process.exit in a handler is a failure unless it is 0', async () => {
    await runtime.define('app::x', 'async function handler(p) { process.exit(p.c) }')
    assert.deepEqual([(await runtime.invoke('app::x', { c: 0 })).exit, (await runtime.invoke('app::x', { c: 2 })).exit], [0, 2])
  })

  test('a thenable is awaited', async () => {
    await runtime.define('app::t', 'const handler = () => ({ then(ok) { ok(3) } })')
    assert.equal((await runtime.invoke('app::t', {})).value, 3)
  })
})

describe('calls', () => {
  test('registerFunction publishes before it returns, and its handler is called', async () => {
    const runtime = fresh()
    runtime.answers = async (call) => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      return call.fields[0] === 'app::held' ? { error: 'app::held is already taken' } : { json: 'null' }
    }
    await runtime.run(`globalThis.r = iii.registerFunction('app::f', (p) => p * 2, { description: 'doubles' })
      try { iii.registerFunction('app::held', () => 1) } catch (error) { globalThis.message = error.message }`)
    assert.deepEqual(runtime.calls.map((call) => call.fields), [['app::f', '{"description":"doubles"}'], ['app::held', '{}']])
    assert.equal((await runtime.invoke('app::f', 4)).value, 8)
    assert.equal((await runtime.invoke('app::held', 4)).flags, 8)
    assert.equal((await runtime.run('r.unregister(); r.unregister(); return message')).value, 'app::held is already taken')
    assert.deepEqual(runtime.calls.slice(2).map((call) => call.operation), [3])
    assert.equal((await runtime.invoke('app::f', 4)).flags, 8)
  })

  test('frames that come while a registration waits keep their order', async () => {
    const runtime = fresh()
    await runtime.define('app::n', 'function handler(p) { (globalThis.seen ??= []).push(p); return p }')
    let invoked
    runtime.answers = async () => {
      invoked = [runtime.invoke('app::n', 1), runtime.invoke('app::n', 2)]
      return { json: 'null' }
    }
    await runtime.run(`iii.registerFunction('app::late', () => 1)`)
    assert.deepEqual((await Promise.all(invoked)).map((answer) => answer.value), [1, 2])
    assert.deepEqual((await runtime.run('return seen')).value, [1, 2])
  })

  test('32 calls are in flight at most; each that settles gives its place back', async () => {
    const runtime = fresh()
    const held = []
    runtime.answers = () => new Promise((resolve) => held.push(resolve))
    const run = runtime.run(`const calls = []; for (let i = 0; i < 32; i++) calls.push(iii.trigger({ function_id: 'x::y', payload: i }))
      let message; try { await iii.trigger({ function_id: 'x::y' }) } catch (error) { message = error.message }
      const first = await calls[0]; await iii.trigger({ function_id: 'x::z', action: 'void' })
      return [message, first, (await Promise.allSettled(calls)).map((one) => one.reason?.message ?? one.value)]`)
    await until(() => held.length === 32)
    held[0]({ json: '{"n":0}' })
    await until(() => held.length === 33)
    held.forEach((resolve, i) => resolve(i === 5 ? { error: 'no such function' } : { json: `${i}` }))
    const [message, first, rest] = (await run).value
    assert.match(message, /32/)
    assert.deepEqual(first, { n: 0 })
    assert.deepEqual([rest.length, rest[5], rest[31]], [32, 'no such function', 31])
    assert.deepEqual(runtime.calls[32].fields.slice(0, 3), ['x::z', '{}', 'void'])
  })

  test('timeouts are clamped to the hot setting', async () => {
    const runtime = fresh()
    const timeouts = async () => {
      runtime.calls.length = 0
      await runtime.run(`for (const timeout of [undefined, 0, 0.2, 1500.9, 1e9]) await iii.trigger({ function_id: 'x::y', timeout })`)
      return runtime.calls.map((call) => Number(call.raw[3].readBigInt64LE()))
    }
    assert.deepEqual(await timeouts(), [0, 0, 1, 1500, 30000])
    runtime.send(type.SETTINGS, 0, 0, 100, 1000)
    assert.deepEqual(await timeouts(), [0, 0, 1, 1000, 1000])
  })

  test('trigger types are called back, with what they throw', async () => {
    const runtime = fresh()
    await runtime.run(`iii.registerTriggerType({ id: 'app::type', description: 'd' }, {
      seen: [], async registerTrigger(binding) { this.seen.push(binding.id); globalThis.seen = this.seen },
      unregisterTrigger() { throw new TypeError('not now') } })`)
    assert.deepEqual(runtime.calls[0], { ...runtime.calls[0], operation: 6, fields: ['app::type', 'd'] })
    assert.equal((await runtime.notify('app::type', 'registerTrigger', { id: 't1' })).exit, 0)
    assert.match((await runtime.notify('app::type', 'unregisterTrigger', { id: 't1' })).failure, /^TypeError: not now/)
    assert.deepEqual((await runtime.run(`iii.unregisterTriggerType('app::type'); iii.unregisterTriggerType({ id: 'app::none' }); return seen`)).value, ['t1'])
    assert.equal((await runtime.notify('app::type', 'registerTrigger', {})).flags, 8)
    assert.deepEqual(runtime.calls.map((call) => call.operation), [6, 7])
  })

  test('triggers are bound and released', async () => {
    const runtime = fresh()
    runtime.answers = (call) => (call.operation === 4 ? { json: '"id-9"' } : { json: 'null' })
    await runtime.run(`const t = await iii.registerTrigger({ type: 'cron', function_id: 'app::f', config: { every: 1 } })
      await t.unregister(); await t.unregister()`)
    assert.deepEqual(runtime.calls.map((call) => [call.operation, ...call.fields]),
      [[4, '{"type":"cron","function_id":"app::f","config":{"every":1}}'], [5, 'id-9']])
  })
})
