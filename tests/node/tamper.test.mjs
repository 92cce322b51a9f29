// Contract 6.6: whatever guest code does to its realm, the harness goes on telling the truth, in the same call and in later
// ones: (a) a throw stays a failure, (b) a result is what the code returned, (c) with its own text, (d) a handler's answer
// and (e) the payload of iii.trigger are the guest's own.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { startRuntimes } from './runtime.mjs'

const bomb = `const bomb = function() { throw new EvalError('poison') }
const all = (object, value = bomb) => { for (const key of Reflect.ownKeys(object)) {
  if (key === 'constructor' || key === 'prototype') continue
  try { const d = Reflect.getOwnPropertyDescriptor(object, key)
    if (typeof d.value === 'function') Reflect.defineProperty(object, key, { value, writable: true, configurable: true }) } catch {} } };`

// Once in a runtime; what a poison does to the poisoner is no failure.
const once = (poison) => `try { if (!this.poisoned) { this.poisoned = true; ${bomb} ${poison} } } catch {}; `

const names = ['kind', 'id', 'max', 'name', 'oneShot', 'answered', 'older', 'text', 'note', 'value', 'above', 'depth', 'resolve',
  'reject', 'limited', 'handler', 'registerTrigger', 'unregisterTrigger', 'filename', 'lineOffset', 'columnOffset', 'cachedData',
  'produceCachedData', 'parsingContext', 'contextExtensions', 'importModuleDynamically', 'params', 'message', 'stack', 'code',
  'fulfilled', 'rejected', 'namespace', 'files', 'mode', 'sourceUrl', 'sourceMap', '0', '1', '2', '3', '4', '5', 'function',
  'done', 'next', 'return', 'signal', 'cause', 'errno', 'path', 'syscall', 'captureStackTrace']

const poisons = {
  JSON: `all(JSON, () => '{"forged":true}')`,
  'JSON methods that throw': 'all(JSON)',
  'a JSON of its own': `globalThis.JSON = { stringify: () => '"forged"', parse: () => 'forged' }`,
  'Promise.prototype': 'all(Promise.prototype)',
  'a then that fulfils': `Promise.prototype.then = function(ok) { ok('forged'); return this }`,
  'a then that never calls': 'Promise.prototype.then = Promise.prototype.catch = function() { return this }',
  'no then': 'Promise.prototype.then = null',
  'Promise.prototype.constructor': `const F = function(f) { f(() => {}, () => {}) }; F[Symbol.species] = F
    Object.defineProperty(Promise.prototype, 'constructor', { get: () => F })`,
  'a constructor that throws': `Object.defineProperty(Promise.prototype, 'constructor', { get: bomb })`,
  'Promise[Symbol.species]': `Object.defineProperty(Promise, Symbol.species, { get: () => function(f) { f(bomb, bomb) } })`,
  'static methods of Promise': 'all(Promise)',
  'a Promise of its own': 'globalThis.Promise = class { constructor(f) { f(() => {}, () => {}) } then() {} }',
  'AsyncFunction.prototype.constructor': `Object.defineProperty((async () => {}).constructor.prototype, 'constructor', { value: bomb })`,
  'Array.prototype': 'all(Array.prototype)',
  'the iterator of arrays': `Array.prototype[Symbol.iterator] = function*() { yield 'forged' }`,
  'setters of indexes': `for (let i = 0; i < 20; i++) Object.defineProperty(Array.prototype, i, { get: () => 'forged', set() {}, configurable: true })`,
  'Array[Symbol.species]': `Object.defineProperty(Array, Symbol.species, { get: () => bomb })`,
  'accessors on Object.prototype': `for (const name of ${JSON.stringify(names)}) Object.defineProperty(Object.prototype, name,
    { get: () => 'forged', set() {}, configurable: true })`,
  'values on Object.prototype': `for (const name of ${JSON.stringify(names)}) Object.prototype[name] = 'forged'`,
  'accessors on Object.prototype that throw': `for (const name of ${JSON.stringify(names)}) Object.defineProperty(Object.prototype, name,
    { get: bomb, set: bomb, configurable: true })`,
  'descriptors on Object.prototype': `Object.prototype.get = () => 'forged'; Object.prototype.set = () => {}; `,
  'methods of Object.prototype': 'all(Object.prototype)',
  Object: 'all(Object)',
  Reflect: 'all(Reflect)',
  'Function.prototype': `for (const key of ['call', 'apply', 'bind']) Function.prototype[key] = () => 'forged'`,
  'Function.prototype that throws': `for (const key of ['call', 'apply', 'bind', 'toString']) Function.prototype[key] = bomb`,
  'String.prototype': 'all(String.prototype)',
  'String and Number': 'globalThis.String = globalThis.Number = globalThis.Boolean = globalThis.Symbol = () => "forged"',
  'Map and Set': 'all(Map.prototype, () => "forged"); all(Set.prototype); all(WeakMap.prototype); globalThis.Map = bomb',
  'RegExp.prototype': 'all(RegExp.prototype, () => null)',
  'Math and BigInt': 'all(Math, () => NaN); all(BigInt.prototype); all(BigInt); all(Number)',
  'Error.prepareStackTrace': `Error.prepareStackTrace = () => 'forged'`,
  'Error.prepareStackTrace that throws': 'Error.prepareStackTrace = bomb',
  'Error.stackTraceLimit': 'Error.stackTraceLimit = 0',
  'methods of Error': `all(Error, () => false); Error.prototype.toString = () => 'forged'`,
  'other error constructors': `globalThis.RangeError = globalThis.AggregateError = bomb`,
  'Symbol.hasInstance': `Object.defineProperty(Error, Symbol.hasInstance, { value: () => false })`,
  process: 'all(process, () => true)',
  'process that throws': 'all(process)',
  'process gone': 'for (const key of Reflect.ownKeys(process)) delete process[key]; globalThis.process = undefined',
  'exception hooks of process': `process.setUncaughtExceptionCaptureCallback(null); process._fatalException = () => true`,
  fs: `all(require('fs')); all(require('fs/promises'))`,
  Buffer: `all(Buffer, () => 0); all(Buffer.prototype); globalThis.Buffer = bomb`,
  'typed arrays': `all(Uint8Array.prototype.__proto__); all(Uint8Array.__proto__); globalThis.Uint8Array = bomb`,
  util: `all(require('util')); all(require('util').types, () => false); require('util').inspect.custom = null`,
  EventEmitter: `all(require('events').prototype, () => true)`,
  'the streams': `process.stdout.write = process.stderr.write = bomb; all(require('stream').Writable.prototype, () => true)`,
  vm: `const vm = require('vm'); all(vm); all(vm.Script.prototype); all(Object.getPrototypeOf(vm.Script.prototype), () => () => 'forged')`,
  'the prototype of vm.Script': `try { Object.setPrototypeOf(require('vm').Script, function() { return { forged: true } }) } catch {}`,
  'the module system': `const M = require('module'); all(M, () => ({})); all(M.prototype); globalThis.require = () => ({})`,
  timers: `globalThis.setTimeout = globalThis.setImmediate = globalThis.queueMicrotask = globalThis.structuredClone = bomb`,
  v8: `all(require('v8'))`,
  'iterator prototypes': `all(Object.getPrototypeOf([][Symbol.iterator]())); all(Object.getPrototypeOf(new Map()[Symbol.iterator]()))`,
  'iii itself': `iii.trigger = () => 'forged'; delete iii.trigger; try { Object.defineProperty(iii, 'trigger', { value: 1 }) } catch {}
    try { globalThis.iii = {} } catch {}; try { delete globalThis.iii } catch {}; try { Object.setPrototypeOf(iii, {}) } catch {}`,
  'all of the globals': 'for (const key of Reflect.ownKeys(globalThis)) try { delete globalThis[key] } catch {}',
  'hooks on promises': `require('async_hooks').createHook({ init() {}, before() {}, after() {}, promiseResolve() {} }).enable()`,
  'thenable arrays': `Object.defineProperty(Array.prototype, 'then', { get: () => undefined })`,
}

const sources = {
  plain: 'function handler(p) { return { echo: p } }',
  async: 'async function handler(p) { await null; return { echo: p } }',
  throws: 'function handler() { null.real }',
  rejects: 'async function handler() { await null; null.real }',
}
const value = { a: [1, 'two', null], b: { c: true } }
const literal = `({ a: [1, 'two', null], b: { c: true } })`

function failed(answer, text) {
  assert.equal(answer.exit, 1, JSON.stringify(answer))
  assert.ok(answer.failure.startsWith(text), `${JSON.stringify(answer)} does not start with ${text}`)
  assert.equal(answer.value, null)
}

function returned(answer, expected) {
  assert.equal(answer.exit, 0, JSON.stringify(answer))
  assert.deepEqual(answer.value, expected)
}

async function truthful(runtime, prefix, options) {
  const run = (code) => runtime.run(prefix + code, options)
  failed(await run('null.real'), "TypeError: Cannot read properties of null (reading 'real')")
  failed(await run('await null; null.late'), "TypeError: Cannot read properties of null (reading 'late')")
  failed(await run(`throw 'a text'`), 'a text')
  returned(await run(`return ${literal}`), value)
  returned(await run(`await null; return ${literal}`), value)
  returned(await run(`return 'text'`), 'text')
  returned(await run('return [1n]'), null)
}

async function handlersTruthful(runtime) {
  for (const id of ['plain', 'async']) returned(await runtime.invoke(`app::${id}`, value), { echo: value })
  for (const id of ['throws', 'rejects']) failed(await runtime.invoke(`app::${id}`, value), "TypeError: Cannot read properties of null (reading 'real')")
}

async function triggerTruthful(runtime) {
  runtime.calls.length = 0
  runtime.answers = () => ({ json: '{"from":["the","bus"]}' })
  const answer = await runtime.run(`iii.trigger({ function_id: 'x::y', payload: ${literal} })`)
  assert.equal(runtime.calls.length, 1, JSON.stringify(answer))
  assert.deepEqual(runtime.calls[0].fields.slice(0, 2), ['x::y', JSON.stringify(value)])
}

describe('tampering', () => {
  let batch
  const take = async () => {
    if (!batch?.runtimes.length) {
      await batch?.close()
      batch = await startRuntimes(20)
    }
    return batch.next()
  }
  after(() => batch?.close())

  for (const [name, poison] of Object.entries(poisons)) {
    test(`${name}, in an earlier call`, { timeout: 20000 }, async () => {
      const runtime = await take()
      for (const [id, source] of Object.entries(sources)) assert.equal((await runtime.define(`app::${id}`, source)).exit, 0)
      await runtime.run(once(poison))
      await truthful(runtime, '')
      await handlersTruthful(runtime)
      await triggerTruthful(runtime)
      failed(await runtime.run('let a = ;'), 'SyntaxError: Unexpected token')
      failed(await runtime.run('}); (function() {'), 'SyntaxError: ')
    })

    test(`${name}, in the same call`, { timeout: 20000 }, async () => {
      const runtime = await take()
      await truthful(runtime, once(poison))
    })
  }
})
