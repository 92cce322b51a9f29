// Check 28: state::*.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { startEngine, temporary, worker } from './lib/engine.mjs'

async function scene(t, options) {
  const engine = await startEngine(t, options)
  return { engine, peer: await worker(t, engine.url) }
}

test('28: set, get and delete', async (t) => {
  const { peer } = await scene(t)
  const at = { scope: 's', key: 'k' }
  assert.deepEqual(await peer.result('state::set', { ...at, value: { a: 1 } }), { old_value: null, new_value: { a: 1 } })
  assert.deepEqual(await peer.result('state::set', { ...at, data: 2 }), { old_value: { a: 1 }, new_value: 2 })
  assert.equal(await peer.result('state::get', at), 2)
  assert.equal(await peer.result('state::delete', at), 2)
  assert.ok(!('result' in (await peer.call('state::get', at))))
  assert.ok(!('result' in (await peer.call('state::delete', at))))
  await peer.result('state::set', { ...at, value: null })
  const stored = await peer.call('state::get', at)
  assert.deepEqual([stored.result, 'result' in stored], [null, true])
})

test('28: list keeps the order of insertion, list_groups is sorted', async (t) => {
  const { peer } = await scene(t)
  for (const [scope, key, value] of [['z', 'b', 1], ['z', 'a', 2], ['a', 'x', 3], ['z', 'b', 4]]) await peer.result('state::set', { scope, key, value })
  assert.deepEqual(await peer.result('state::list', { scope: 'z' }), [4, 2])
  assert.deepEqual(await peer.result('state::list', { scope: 'none' }), [])
  assert.deepEqual(await peer.result('state::list_groups', {}), { groups: ['a', 'z'] })
})

test('28: missing members are a deserialization_error', async (t) => {
  const { peer } = await scene(t)
  for (const [id, input] of [['set', { scope: 's', key: 'k' }], ['get', { scope: 's' }], ['get', { scope: 1, key: 'k' }], ['get', null], ['update', { scope: 's', key: 'k' }], ['update', { scope: 's', key: 'k', ops: [{ type: 'x' }] }], ['list', {}]])
    assert.equal((await peer.failure(`state::${id}`, input)).code, 'deserialization_error', id)
})

// [value before (undefined: none), operations, value after, codes of the errors]
const long = 'x'.repeat(257)
const updates = {
  'set makes an object': [undefined, [{ type: 'set', path: 'a.b', value: 1 }], { 'a.b': 1 }],
  'set replaces the root': [{ a: 1 }, [{ type: 'set', path: '', value: [1] }], [1]],
  'set without a value is null': [{}, [{ type: 'set', path: 'a' }], { a: null }],
  'set on a text fails': ['t', [{ type: 'set', path: 'a', value: 1 }], 't', ['set.target_not_object']],
  'merge at the root': [{ a: 1, b: { c: 1 } }, [{ type: 'merge', value: { b: { d: 2 } } }], { a: 1, b: { d: 2 } }],
  'merge along a path makes objects': [{ a: 5 }, [{ type: 'merge', path: ['a', 'b'], value: { c: 1 } }], { a: { b: { c: 1 } } }],
  'merge at a key': [{ a: { x: 1 } }, [{ type: 'merge', path: 'a', value: { y: 2 } }], { a: { x: 1, y: 2 } }],
  'merge at the root of a text is skipped': ['t', [{ type: 'merge', value: { a: 1 } }], 't'],
  'merge of no object fails': [{}, [{ type: 'merge', value: 1 }], {}, ['merge.value.not_an_object']],
  'merge too deep': [{}, [{ type: 'merge', value: JSON.parse('{"a":'.repeat(17) + '1' + '}'.repeat(17)) }], {}, ['merge.value.too_deep']],
  'merge too wide': [{}, [{ type: 'merge', value: Object.fromEntries(Array.from({ length: 1025 }, (_, n) => [`k${n}`, n])) }], {}, ['merge.value.too_many_keys']],
  'merge of __proto__': [{}, [{ type: 'merge', value: JSON.parse('{"__proto__":1}') }], {}, ['merge.value.proto_polluted']],
  'increment and decrement': [{ n: 5 }, [{ type: 'increment', path: 'n', by: 3 }, { type: 'decrement', path: 'm', by: 2 }], { n: 8, m: -2 }],
  'increment of the root': [undefined, [{ type: 'increment', path: '', by: 2 }, { type: 'increment', path: '', by: 2 }], 4],
  'increment of a fraction': [{ n: 1.5 }, [{ type: 'increment', path: 'n', by: 1 }], { n: 2.5 }],
  'increment of a text fails': [{ n: 'x' }, [{ type: 'increment', path: 'n', by: 1 }], { n: 'x' }, ['increment.not_number']],
  'decrement in an array fails': [[1], [{ type: 'decrement', path: 'n', by: 1 }], [1], ['decrement.target_not_object']],
  'append to arrays and texts': [{ a: [1], t: 'x' }, [{ type: 'append', path: 'a', value: 2 }, { type: 'append', path: 't', value: 'y' }], { a: [1, 2], t: 'xy' }],
  'append to nothing': [{}, [{ type: 'append', path: 't', value: 'x' }, { type: 'append', path: 'n', value: 1 }], { t: 'x', n: [1] }],
  'append along a path': [{}, [{ type: 'append', path: ['a', 'b'], value: 'x' }], { a: { b: ['x'] } }],
  'append at the root': [undefined, [{ type: 'append', value: 1 }, { type: 'append', value: 2 }], [1, 2]],
  'append of a number to a text fails': [{ t: 'x' }, [{ type: 'append', path: 't', value: 1 }], { t: 'x' }, ['append.type_mismatch']],
  'append in a text fails': ['t', [{ type: 'append', path: 'a', value: 1 }], 't', ['append.target_not_object']],
  'remove': [{ a: 1, b: 2 }, [{ type: 'remove', path: 'a' }, { type: 'remove', path: 'zz' }], { b: 2 }],
  'remove the root': [{ a: 1 }, [{ type: 'remove', path: '' }], null],
  'a failing operation is skipped, the rest applies': [{}, [{ type: 'set', path: 'a', value: 1 }, { type: 'increment', path: 'a', by: 'x' }, { type: 'set', path: 'b', value: 2 }], { a: 1, b: 2 }, ['increment.not_number']],
  'path too deep': [{}, [{ type: 'merge', path: Array(33).fill('a'), value: {} }], {}, ['merge.path.too_deep']],
  'empty segment': [{}, [{ type: 'append', path: ['a', ''], value: 1 }], {}, ['append.path.empty_segment']],
  'segment too long': [{}, [{ type: 'set', path: long, value: 1 }], {}, ['set.path.segment_too_long']],
  'polluting path': [{}, [{ type: 'merge', path: ['constructor'], value: {} }], {}, ['merge.path.proto_polluted']]
}
for (const [what, [before, ops, after, codes]] of Object.entries(updates))
  test(`28: update: ${what}`, async (t) => {
    const { peer } = await scene(t)
    const at = { scope: 's', key: 'k' }
    if (before !== undefined) await peer.result('state::set', { ...at, value: before })
    const result = await peer.result('state::update', { ...at, ops })
    assert.deepEqual(result.old_value, before ?? null)
    assert.deepEqual(result.new_value, after)
    assert.deepEqual(result.errors?.map(({ code }) => code), codes)
    assert.deepEqual(await peer.result('state::get', at), after)
  })

test('28: with a state file everything survives a restart, exactly', async (t) => {
  const directory = temporary(t)
  const args = ['--state', join(directory, 'state.json')]
  const text = '{"n":1.10,"big":123456789012345678901234567890}'
  {
    const { engine, peer } = await scene(t, { directory, args })
    peer.send(`{"type":"invokefunction","function_id":"state::set","data":{"scope":"ö\\"","key":"k","value":${text}}}`)
    await peer.result('state::set', { scope: 's', key: 'k2', value: 'v' })
    assert.deepEqual(await engine.stop(), { code: 0, signal: null })
  }
  const { peer } = await scene(t, { directory, args })
  let raw
  peer.socket.on('message', (message) => (raw = String(message)))
  await peer.result('state::get', { scope: 'ö"', key: 'k' })
  assert.ok(raw.includes(text), raw)
  assert.deepEqual(await peer.result('state::list_groups', {}), { groups: ['s', 'ö"'] })
})

test('28: a state file that is no state file is refused', async (t) => {
  const directory = temporary(t)
  const { writeFileSync } = await import('node:fs')
  const { run } = await import('./lib/engine.mjs')
  writeFileSync(join(directory, 'state.json'), '[1')
  const child = run(['engine', '--port', '0', '--state', join(directory, 'state.json')], { cwd: directory })
  assert.equal((await child.done).code, 70)
  assert.match(child.log, /is not a JSON object/)
})
