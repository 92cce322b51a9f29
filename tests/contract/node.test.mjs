// Section 6 with decisions 1 to 10: what JavaScript code means and sees.
import assert from 'node:assert/strict'
import { table } from './table.mjs'

const n = (s, name, node, want = {}, more = {}) => ({ s, name, node, want, ...more })
const returns = (s, name, expression, result, more) => n(s, name, `return ${expression}`, { result, stderr: '' }, more)
const noResult = (name, expression, what) => n('6.2', name, `return ${expression}`, { result: null, stderr: [/^\[code-runner\] result is null: [^\n]+\n$/, what] })
const noPower = (name, code) => n('d1', name, code, { exit: 1, stderr: ['sandbox-code-runner'] }, { ask: { timeout_ms: 3000 } })

table('Form of node code (6.1, decisions 3 and 8)', [
  n('6.1', 'the body of an async function', 'const x = await Promise.resolve(4); return x + 1', { result: 5 }),
  n('6.1', 'no return is null', '1 + 1', { result: null, stderr: '' }),
  n('6.1', 'a trailing comment is harmless', 'return 1 // done', { result: 1 }),
  n('6.1', 'a trailing HTML-like comment is harmless', 'return 1 <!-- done', { result: 1 }),
  n('6.1', 'sloppy unless it says otherwise', 'undeclared = 3; return undeclared', { result: 3 }),
  n('6.1', 'strict when it says so', '"use strict"; undeclared = 3', { exit: 1, stderr: /^ReferenceError: / }),
  n('6.1', 'this is the global object', 'return this === globalThis', { result: true }),
  n('6.1', 'it cannot close the wrapper', '}); globalThis.out = 1; (async () => {', { exit: 1, stderr: /^SyntaxError: / }),
  n('6.1', 'it cannot close the wrapper with a brace', '} {', { exit: 1, stderr: /^SyntaxError: / }),
  n('6.1', 'an unfinished comment does not swallow the wrapper', 'return 1 /*', { exit: 1, stderr: /^SyntaxError: / }),
  n('6.1', 'an unfinished template does not swallow the wrapper', 'return `', { exit: 1, stderr: /^SyntaxError: / }),
  n('6.1', 'new.target and arguments are those of a function', 'return [typeof arguments, new.target === undefined]', { result: ['object', true] }),
  n('6.1', 'a hashbang is a comment or a syntax error, never code', '#!/usr/bin/env node\nreturn 1', { oneOf: [{ result: 1 }, { exit: 1, stderr: /^SyntaxError: / }] }),
  n('6.1', 'a byte order mark does no harm', '\ufeffreturn 1', { result: 1 }),
  n('6.1', 'result has no meaning', 'result = 5', { result: null }),
  n('6.1', 'eval, Function and generators work', 'const f = new Function("a", "return a * 2"); function* g() { yield f(4) } return [...g(), eval("1+1")]', { result: [8, 2] }),
  n('d3', 'static import says what to use', "import fs from 'fs'\nreturn 1", { exit: 1, stderr: [/^SyntaxError: /, 'await import('] }),
  n('d3', 'export says what to use', 'export const a = 1', { exit: 1, stderr: [/^SyntaxError: /, 'return'] }),
  n('d3', 'dynamic import works', "const { join } = await import('node:path'); return join('a', 'b')", { result: 'a/b' }),
  n('d3', 'line and column of a throw in line 1', 'throw new Error("x")', { exit: 1, stderr: [/^Error: x\n +at .*<code>:1:7/] }),
  n('d3', 'line and column of a throw further down', '\n\n   throw new Error("x")', { exit: 1, stderr: ['<code>:3:10'] }),
  n('d3', 'positions inside functions', 'function f() {\n  null.x\n}\nf()', { exit: 1, stderr: [/^TypeError: /, '<code>:2:8', '<code>:4:1'] }),
  n('d3', 'the line of a syntax error', 'const a = 1\nconst b = ;', { exit: 1, stderr: [/^SyntaxError: /, '<code>:2'] }),
  n('d3', 'frames of the harness are not shown', 'throw new Error("x")', { exit: 1, stderr: /^(?!.*(harness|node:vm|node:internal|zygote|wrapper|node-guest))[^]*$/ }),
  n('d8', 'type annotations are stripped', 'const x: number = 1\ninterface A { b: string }\nfunction f(a: string, b?: number): string { return a }\nreturn f("ok") as string', { result: 'ok' }),
  n('d8', 'positions do not move', 'const x: number = 1\n  throw new Error("here")', { exit: 1, stderr: ['<code>:2:9'] }),
  n('d8', 'when both fail, the first error is reported', 'const x: = 1', { exit: 1, stderr: /^SyntaxError: / }),
  n('d8', 'what cannot be stripped is a syntax error', 'enum A { B }\nreturn A.B', { exit: 1, stderr: /^SyntaxError: / }),
])

table('Node results (6.2, decision 7)', [
  returns('6.2', 'an object', '({ a: [1, "x", null, true] })', { a: [1, 'x', null, true] }),
  returns('6.2', 'a promise is awaited', 'Promise.resolve({ n: 1 })', { n: 1 }),
  returns('6.2', 'a thenable is awaited', '({ then(r) { r(9) } })', 9),
  returns('6.2', 'undefined', 'undefined', null),
  returns('6.2', 'null', 'null', null),
  returns('6.2', 'falsy values', '[0, "", false]', [0, '', false]),
  returns('6.2', 'a date is its ISO text', 'new Date(0)', '1970-01-01T00:00:00.000Z'),
  returns('6.2', 'what is no finite number is null', '[NaN, Infinity, -Infinity, -0]', [null, null, null, 0]),
  returns('6.2', 'functions and symbols in an array are null', '[() => 1, Symbol("s"), undefined]', [null, null, null]),
  returns('6.2', 'functions and symbols in an object are dropped', '({ f() {}, s: Symbol(), u: undefined, k: 1 })', { k: 1 }),
  returns('6.2', 'maps and sets are {}', '[new Map([[1, 2]]), new Set([1])]', [{}, {}]),
  returns('6.2', 'toJSON is honoured', '({ toJSON() { return { made: 1 } } })', { made: 1 }),
  returns('6.2', 'a buffer is Node\'s form', 'Buffer.from("a")', { type: 'Buffer', data: [97] }),
  returns('6.2', 'boxed values', '[new Number(3), new String("s"), new Boolean(false)]', [3, 's', false]),
  returns('6.2', 'key order is kept', '({ b: 1, a: 2, 1: 3 })', { 1: 3, b: 1, a: 2 }),
  returns('6.2', 'a key named __proto__ survives', 'JSON.parse(\'{"__proto__": 1}\')["__proto__"]', 1),
  n('6.2', 'largest exact numbers', 'return [Number.MAX_SAFE_INTEGER, 5e-324, 1.7976931348623157e308]', { raw: '[9007199254740991,5e-324,1.7976931348623157e+308]' }),
  n('6.2', 'lone surrogates become U+FFFD', 'return ["\\ud83d", "a\\udc00b", "\\ud83d\\ude00"]', { result: ['\ufffd', 'a\ufffdb', '😀'] }),
  n('6.2', 'nested deep', 'let a = []; for (let i = 0; i < 500; i++) a = [a]; return a', { result: (r) => JSON.stringify(r).length === 1002 }),
  n('6.2', '1 MiB large', 'return "x".repeat(1 << 20)', { result: 'x'.repeat(1 << 20) }, { config: { max_result_bytes: 0 } }),
  noResult('a function', '() => 1', 'function'),
  noResult('a symbol', 'Symbol("s")', 'symbol'),
  noResult('a BigInt', '1n', /bigint/i),
  noResult('a BigInt inside says where', '({ a: [1, { b: 2n }] })', 'result["a"][1]["b"]'),
  noResult('a cycle', '(() => { const a = {}; a.b = { c: a }; return a })()', /circular|cycl/i),
  noResult('toJSON giving undefined', '({ toJSON() {} })', 'result is null'),
  noResult('a throwing toJSON', '({ toJSON() { throw new Error("no") } })', 'result is null'),
  noResult('a throwing getter', '({ get a() { throw new Error("no") } })', 'result is null'),
  noResult('a revoked proxy', '(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return { a: proxy } })()', 'result is null'),
])

table('Console and streams of node (decision 2)', [
  n('d2', 'values are inspected', "console.log('n =', 42, {a: 1}, [1, null], null, true, undefined)", { stdout: 'n = 42 { a: 1 } [ 1, null ] null true undefined\n' }),
  n('d2', 'maps, sets and classes', 'console.log(new Map([[1, "a"]]), new Set([1]), class A {}, Symbol("s"), 1n)', { stdout: "Map(1) { 1 => 'a' } Set(1) { 1 } [class A] Symbol(s) 1n\n" }),
  n('d2', 'formats', 'console.log("%s is %d and %j %o %%", "x", 3, {a: 1}, [1])', { stdout: /^x is 3 and \{"a":1\} \[ 1, \[length\]: 1 \] %\n$/ }),
  n('d2', 'nothing is just a line end', 'console.log()', { stdout: '\n' }),
  n('d2', 'levels and their streams', 'console.log(1); console.info(2); console.debug(3); console.warn(4); console.error(5)', { stdout: '1\n2\n3\n', stderr: '4\n5\n' }),
  n('d13', 'trace', 'console.trace("here")', { stderr: [/^Trace: here\n +at .*<code>:1:9/], stdout: '' }),
  n('d2', 'group indents', 'console.group("g"); console.log("in"); console.groupEnd(); console.log("out")', { stdout: 'g\n  in\nout\n' }),
  n('d2', 'table', 'console.table([{ a: 1 }])', { stdout: /┌.*┐\n│ \(index\) │ a │/ }),
  n('d2', 'count, assert and dir', 'console.count(); console.count("x"); console.assert(false, "bad"); console.dir({ a: { b: { c: { d: 1 } } } }, { depth: 0 })', { stdout: 'default: 1\nx: 1\n{ a: [Object] }\n', stderr: 'Assertion failed: bad\n' }),
  n('d2', 'time', 'console.time("t"); console.timeEnd("t")', { stdout: /^t: [\d.]+ms\n$/ }),
  n('d2', 'no colour', 'console.log({ a: "x" }); console.log(process.stdout.isTTY === true, process.stdout.hasColors?.() ?? false)', { stdout: "{ a: 'x' }\nfalse false\n" }),
  n('d2', 'an error shows its stack', 'console.log(new RangeError("bad"))', { stdout: [/^RangeError: bad\n +at .*<code>:1/] }),
  n('d2', 'raw writes are captured in order', 'require("fs").writeSync(1, "a"); process.stdout.write("b"); console.log("c"); require("fs").writeSync(2, "d")', { stdout: 'abc\n', stderr: 'd' }),
  n('d2', 'process.stdout.write reports to its callback', 'return await new Promise(r => process.stdout.write("x", () => r("called")))', { result: 'called', stdout: 'x' }),
  n('d2', 'large output is whole before the answer', 'for (let i = 0; i < 1000; i++) console.log("x".repeat(99))', { stdout: ('x'.repeat(99) + '\n').repeat(1000) }, { config: { max_stream_bytes: 0 } }),
  n('d2', 'piping into stdout', "const { Readable } = require('stream'); const { pipeline } = require('stream/promises'); await pipeline(Readable.from(['a', 'b']), process.stdout, { end: false })", { stdout: 'ab' }),
  n('9.1', 'stdin is at its end', 'return require("fs").readFileSync(0, "utf8")', { result: '' }),
])

table('Failures of node (6.4)', [
  n('6.4', 'an Error', 'throw new TypeError("bad thing")', { exit: 1, result: null, stderr: /^TypeError: bad thing\n/ }),
  n('6.4', 'its name counts, whenever it was set', 'const e = new Error("m"); e.name = "Custom"; throw e', { exit: 1, stderr: /^Custom: m\n/ }),
  n('6.4', 'a class of its own', 'class MyError extends Error { constructor(m) { super(m); this.name = "MyError" } } throw new MyError("x")', { exit: 1, stderr: /^MyError: x\n/ }),
  n('6.4', 'an empty stack', 'const e = new Error("m"); e.stack = ""; throw e', { exit: 1, stderr: 'Error: m\n' }),
  n('6.4', 'a string', 'throw "just text"', { exit: 1, stderr: 'just text\n' }),
  n('6.4', 'null', 'throw null', { exit: 1, stderr: 'null\n' }),
  n('6.4', 'undefined', 'throw undefined', { exit: 1, stderr: 'undefined\n' }),
  n('6.4', 'a number', 'throw 42', { exit: 1, stderr: '42\n' }),
  n('6.4', 'a symbol', 'throw Symbol("s")', { exit: 1, stderr: 'Symbol(s)\n' }),
  n('6.4', 'an object', 'throw { a: 1 }', { exit: 1, stderr: '[object Object]\n' }),
  n('6.4', 'what cannot be made text', 'throw { toString() { throw 1 } }', { exit: 1, stderr: /^[^\n]+\n$/ }),
  n('6.4', 'an object without a prototype', 'throw Object.create(null)', { exit: 1, stderr: /^[^\n]+\n$/ }),
  n('6.4', 'a getter that throws', 'const e = new Error("m"); Object.defineProperty(e, "stack", { get() { throw 1 } }); throw e', { exit: 1, stderr: /^(Error: m|[^\n]+)\n/ }),
  n('6.4', 'a message of many lines', 'throw new Error("a\\nb")', { exit: 1, stderr: /^Error: a\nb\n +at / }),
  n('6.4', 'a rejection', 'await Promise.reject(new RangeError("r"))', { exit: 1, stderr: /^RangeError: r\n/ }),
  n('6.4', 'what was printed is kept, on a line of its own', 'console.log("out"); process.stderr.write("half"); throw new Error("x")', { exit: 1, stdout: 'out\n', stderr: /^half\nError: x\n/ }),
  n('6.4', 'stderr that ends with a line end gets no second', 'console.error("whole"); throw new Error("x")', { exit: 1, stderr: /^whole\nError: x\n/ }),
  n('6.4', 'a rejection nobody awaits does not fail the run', 'Promise.reject(new Error("lost")); await new Promise(r => setTimeout(r, 20)); return 1', { result: 1 }),
  n('6.4', 'an exception in a callback fails the run', 'setTimeout(() => { throw new Error("late") }, 5); await new Promise(r => setTimeout(r, 500)); return 1', { exit: 1, stderr: ['late'] }),
  n('6.4', 'deep recursion is catchable', 'const f = () => f(); try { f() } catch (e) { return e instanceof RangeError }', { result: true }),
  n('6.4', 'deep recursion uncaught', 'const f = () => f(); f()', { exit: 1, stderr: /^RangeError: / }),
  n('d1', 'process.exit ends the run with its code and what was printed', 'console.log("a"); process.exit(3); console.log("b")', { exit: 3, result: null, stdout: 'a\n' }),
  n('d1', 'process.exit(0) is a success', 'console.log("a"); process.exit(0)', { result: null, stdout: 'a\n' }),
  n('d1', 'process.exit cannot be caught', 'try { process.exit(4) } catch {} finally { console.log("f") } return 1', { exit: 4 }),
  n('d1', 'process.exit from a callback', 'setTimeout(() => process.exit(5), 5); await new Promise(() => {})', { exit: 5 }),
  n('d1', 'process.abort is a response', 'console.log("a"); process.abort()', { exit: 134, stdout: 'a\n' }),
])

table('Timers and what is left behind (decision 4, 6.5)', [
  n('d4', 'a pending timer does not delay the answer', 'setTimeout(() => {}, 60000); setInterval(() => {}, 5); return 1', { result: 1, ms: 1000 }),
  n('d4', 'a pending promise does not delay the answer', 'new Promise(() => {}); return 1', { result: 1, ms: 1000 }),
  n('d4', 'timers, immediates and microtasks run in their order', 'const o = []; await new Promise(r => { setTimeout(() => { o.push("t"); r() }, 5); setImmediate(() => o.push("i")); process.nextTick(() => o.push("n")); Promise.resolve().then(() => o.push("p")) }); return [o.slice(0, 2).sort(), o.slice(2)]', { result: [['n', 'p'], ['i', 't']] }),
  { s: 'd4', name: 'timers go on between the runs of a kept runtime', langs: ['node'], steps: async (t) => {
    const id = await t.keep('globalThis.n = 0; setInterval(() => n++, 5)')
    await new Promise((resolve) => setTimeout(resolve, 150))
    await t.on(id, 'return n > 3', { result: true })
  } },
  { s: '6.5', name: 'what background code prints belongs to no answer', langs: ['node'], steps: async (t) => {
    const id = await t.keep('setTimeout(() => { console.log("background"); console.error("background") }, 30); setTimeout(() => process.stdout.write("half a line"), 40)')
    await new Promise((resolve) => setTimeout(resolve, 200))
    await t.on(id, 'console.log("own"); return 1', { result: 1, stdout: 'own\n', stderr: '' })
    await t.on(id, 'return 2', { result: 2, stdout: '', stderr: '' })
  } },
  { s: '6.5', name: 'background code that spins kills the runtime', langs: ['node'], config: { default_timeout_ms: 300 }, steps: async (t) => {
    const id = await t.keep('setTimeout(() => { for(;;); }, 20)')
    await new Promise((resolve) => setTimeout(resolve, 1500))
    const { error } = await t.w.run({ runtime_id: id, code: 'return 1' })
    assert.ok(['code-runner::expired', 'code-runner::timeout'].includes(error?.code), JSON.stringify(error))
    assert.equal((await t.w.run({ runtime_id: id, code: 'return 1' })).error.code, 'code-runner::expired')
  } },
  { s: '6.1', name: 'only globals persist', langs: ['node'], steps: async (t) => {
    const id = await t.keep('const a = 1; let b = 2; var c = 3; function d() {} e = 4; globalThis.f = 5; this.g = 6')
    await t.on(id, 'return [typeof a, typeof b, typeof c, typeof d, e, f, g]', { result: ['undefined', 'undefined', 'undefined', 'undefined', 4, 5, 6] })
    await t.on(id, 'const a = 1; return a', { result: 1 })
  } },
  { s: 'd1', name: 'a kept runtime survives process.exit', langs: ['node'], steps: async (t) => {
    const id = await t.keep('globalThis.n = 5')
    await t.on(id, 'process.exit(3)', { exit: 3 })
    await t.on(id, 'return n', { result: 5 })
  } },
])

const poisons = [
  ['JSON', 'JSON.stringify = () => "forged"; JSON.parse = () => "forged"'],
  ['promises', 'Promise.prototype.then = function () { return "forged" }; Promise.resolve = () => "forged"; Promise.prototype.catch = null; globalThis.Promise = function () {}'],
  ['arrays', 'for (const k of ["push", "map", "join", "forEach", "slice", "concat", Symbol.iterator]) Array.prototype[k] = () => "forged"'],
  ['setters on Object.prototype', 'for (const k of ["result", "value", "exit_code", "kind", "then", "id", "type", "0", "failure", "get", "set"]) Object.defineProperty(Object.prototype, k, Object.assign(Object.create(null), { set() { throw 1 }, get() { return undefined }, configurable: true }))'],
  ['functions', 'Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => "forged"; Reflect.apply = () => "forged"'],
  ['species and iterators', 'Object.defineProperty(Array, Symbol.species, { get() { throw 1 } }); Object.defineProperty(Promise, Symbol.species, { get() { throw 1 } }); Array.prototype[Symbol.iterator] = null'],
  ['errors', 'Error.prepareStackTrace = () => "forged"; Error.stackTraceLimit = 0; Error.captureStackTrace = null; Error.prototype.toString = () => "forged"; globalThis.Error = null'],
  ['buffers', 'Buffer.from = Buffer.alloc = Buffer.concat = () => null; Uint8Array.prototype.set = null; globalThis.TextEncoder = null; String.prototype.slice = () => "forged"'],
  ['the file system module', 'const fs = require("fs"); for (const k of Object.keys(fs)) if (typeof fs[k] === "function") fs[k] = () => "forged"'],
  ['process', 'for (const k of Object.keys(process)) try { process[k] = () => "forged" } catch {}'],
]

table('Tamper resistance (6.6)', [
  ...poisons.map(([name, code]) => ({ s: '6.6', name: `${name}: a throw stays a throw with its text`, node: `${code}; throw new (Object.getPrototypeOf(async function(){}).constructor, RangeError)("real")`, want: { exit: 1, result: null, stderr: ['real'] } })),
  ...poisons.map(([name, code]) => ({ s: '6.6', name: `${name}: a result stays itself`, node: `${code}; return { a: [1, "x"] }`, want: { result: { a: [1, 'x'] } } })),
  ...poisons.map(([name, code]) => ({ s: '6.6', name: `${name}: in later runs too`, langs: ['node'], steps: async (t) => {
    const id = await t.keep(`${code}; return`)
    await t.on(id, 'return { a: [1, "x"] }', { result: { a: [1, 'x'] } })
    await t.on(id, 'throw new TypeError("real")', { exit: 1, stderr: ['real'] })
    await t.on(id, 'return (', { exit: 1, stderr: ['SyntaxError'] })
  } })),
  n('6.6', 'toJSON on Object.prototype is the code\'s own result', 'Object.prototype.toJSON = () => "own"; return { a: 1 }', { result: 'own' }),
  n('6.6', 'no hook of the host can be found on the global object', 'return Object.getOwnPropertyNames(globalThis).filter(k => /runner|harness|guest|host|cr_|frame/i.test(k))', { result: [] }),
  n('6.6', 'iii cannot be replaced', '"use strict"; try { iii = 1 } catch {} try { delete globalThis.iii } catch {} return typeof iii', { result: 'object' }),
])

table('What node has, and has not (decision 1)', [
  returns('d1', 'Node\'s globals', '["require", "process", "global", "Buffer", "setTimeout", "setInterval", "setImmediate", "URL", "TextEncoder", "structuredClone", "crypto", "performance", "AbortController", "WebAssembly", "queueMicrotask", "Blob", "atob", "console"].filter(k => typeof eval(k) === "undefined")', []),
  returns('d1', 'Node\'s modules', '["assert", "buffer", "crypto", "events", "fs", "fs/promises", "path", "querystring", "readline", "stream", "string_decoder", "timers/promises", "url", "util", "zlib", "perf_hooks", "async_hooks", "os", "v8", "vm", "node:sqlite", "node:test"].filter(m => { try { require(m); return false } catch (e) { return true } })', []),
  returns('d1', 'process shows nothing of the host', '[Object.keys(process.env), process.argv, process.cwd(), process.execArgv]', [[], ['node'], '/work', []]),
  n('d1', 'its version is Node 26', 'return process.version', { result: (version) => /^v26\./.test(version) }),
  n('d1', 'the environment can be written and is the run\'s own', 'process.env.A = "1"; return process.env.A', { result: '1' }),
  noPower('net.connect', "require('net').connect(80, '127.0.0.1')"),
  noPower('net.createServer', "await new Promise((r, j) => require('net').createServer().listen(0).on('error', j).on('listening', r))"),
  noPower('http.get', "await new Promise((r, j) => require('http').get('http://127.0.0.1/', r).on('error', j))"),
  noPower('https.get', "await new Promise((r, j) => require('https').get('https://127.0.0.1/', r).on('error', j))"),
  noPower('dgram', "require('dgram').createSocket('udp4').bind(0)"),
  noPower('dns.lookup', "await require('dns/promises').lookup('localhost')"),
  noPower('dns.resolve', "await require('dns/promises').resolve4('example.com')"),
  noPower('tls.connect', "require('tls').connect(443, '127.0.0.1')"),
  noPower('fetch', "await fetch('http://127.0.0.1/')"),
  noPower('WebSocket', "await new Promise((r, j) => { const w = new WebSocket('ws://127.0.0.1/'); w.onerror = e => j(e.error ?? e); w.onopen = r })"),
  noPower('child_process.execSync', "require('child_process').execSync('id')"),
  noPower('child_process.spawn', "await new Promise((r, j) => require('child_process').spawn('id').on('error', j).on('close', r))"),
  noPower('child_process.fork', "await new Promise((r, j) => require('child_process').fork('x.js').on('error', j).on('close', r))"),
  noPower('worker threads', "await new Promise((r, j) => new (require('worker_threads').Worker)('1', { eval: true }).on('error', j).on('exit', r))"),
  noPower('cluster', "require('cluster').fork()"),
  noPower('inspector', "require('inspector').open(0)"),
  noPower('native addons', "process.dlopen({ exports: {} }, '/work/x.node')"),
  n('d1', 'host files are not there', "require('fs').readFileSync('/etc/passwd')", { exit: 1, stderr: ['ENOENT'] }),
  returns('d1', 'the root holds nothing of the host', "require('fs').readdirSync('/')", ['work']),
  returns('d1', 'zlib, crypto and streams work', "require('zlib').gunzipSync(require('zlib').gzipSync('x'.repeat(99))).toString() === 'x'.repeat(99) && require('crypto').createHash('sha256').update('a').digest('hex').slice(0, 8)", 'ca978112'),
  n('d1', 'asynchronous crypto and zlib work', "const { promisify } = require('util'); const a = await promisify(require('crypto').scrypt)('p', 's', 16); const b = await promisify(require('zlib').deflate)('x'); return [a.length, b.length > 0, (await crypto.subtle.digest('SHA-256', new Uint8Array(1))).byteLength]", { result: [16, true, 32] }),
  n('d1', 'WebAssembly works', 'const m = new WebAssembly.Module(new Uint8Array([0,97,115,109,1,0,0,0,1,5,1,96,0,1,127,3,2,1,0,7,5,1,1,102,0,0,10,6,1,4,0,65,42,11])); return new WebAssembly.Instance(m).exports.f()', { result: 42 }),
  n('d1', 'Intl and time zones work', 'return [new Date(0).toLocaleDateString("de-DE", { timeZone: "Europe/Berlin" }), new Intl.NumberFormat("en-US").format(1234567)]', { result: ['1.1.1970', '1,234,567'] }),
  n('d1', 'sleep is real', 'const a = Date.now(); await new Promise(r => setTimeout(r, 50)); return Date.now() - a >= 49', { result: true }),
  n('d5', 'fs works in /work, asynchronously too', "const fs = require('fs/promises'); await fs.mkdir('d'); await fs.writeFile('d/a', 'x'); return [await fs.readdir('d'), (await fs.stat('/work/d/a')).size]", { result: [['a'], 1] }),
  n('d5', 'own modules can be required and imported', "const fs = require('fs'); fs.writeFileSync('m.js', 'module.exports = 41'); fs.writeFileSync('m.mjs', 'export default 1'); return require('./m.js') + (await import('./m.mjs')).default", { result: 42 }),
  n('d5', 'sqlite works on a file', "const { DatabaseSync } = require('node:sqlite'); const d = new DatabaseSync('a.db'); d.exec('create table t(a)'); d.exec('insert into t values(7)'); return d.prepare('select a from t').get().a", { result: 7 }),
  n('d5', 'a write over the quota fails with the system\'s error', "try { require('fs').writeFileSync('big', Buffer.alloc(9 << 20)) } catch (e) { return e.code }", { result: (code) => ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(code) }),
  n('d5', 'a run that dies of the quota is resource_exhausted', "require('fs').writeFileSync('big', Buffer.alloc(9 << 20))", { error: 'resource_exhausted', message: '/work' }),
  n('d5', 'files over their number fail as well', "const fs = require('fs'); let n = 0; try { for (;; n++) fs.writeFileSync('f' + n, '') } catch (e) { return [n >= 60 && n <= 66, e.code] }", { result: [true, 'ENOSPC'] }),
])
