// Sections 7 and 10 as far as they need no bus: the surface of iii and what it refuses by itself.
import { table } from './table.mjs'

const n = (s, name, node, want = {}, more = {}) => ({ s, name, node, want, ...more })
const p = (s, name, python, want = {}, more = {}) => ({ s, name, python, want, ...more })
const rejects = (name, expression, kind, ...fragments) => n('7', name, `try { await ${expression}; return "accepted" } catch (e) { return [e.name, e.message] }`, { result: (r) => r[0] === kind && fragments.every((f) => r[1].includes(f)) || (console.error(r), false) })
const raises = (name, argument, kind, ...fragments) => p('10', name, `try:\n  iii.trigger(${argument})\nexcept BaseException as e:\n  result = [type(e).__name__, str(e)]`, { result: (r) => r[0] === kind && fragments.every((f) => r[1].includes(f)) || (console.error(r), false) })

table('iii in node (7)', [
  n('7.1', 'exactly its keys and arities', 'const shape = (o) => Object.fromEntries(Object.keys(o).sort().map(k => [k, typeof o[k] === "function" ? o[k].length : typeof o[k]])); return [shape(iii), shape(iii.files)]', { result: [{ files: 'object', namespace: 'string', registerFunction: 3, registerTrigger: 1, registerTriggerType: 2, shutdown: 0, trigger: 1, unregisterTriggerType: 1 }, { list: 0, read: 1, readText: 1, remove: 1, write: 2 }] }),
  n('7.1', 'it is frozen', 'iii.trigger = 1; iii.extra = 1; delete iii.files; iii.files.write = 1; delete iii.files.read; return [typeof iii.trigger, "extra" in iii, typeof iii.files.write, typeof iii.files.read, Object.isFrozen(iii), Object.isFrozen(iii.files)]', { result: ['function', false, 'function', 'function', true, true] }),
  n('7.1', 'assigning throws in strict mode', '"use strict"; try { iii.trigger = 1 } catch (e) { return e.name }', { result: 'TypeError' }),
  n('7.1', 'its text is a hint', 'const a = String(iii), b = require("util").inspect(iii); return [a === b || b.includes("iii.trigger"), ["iii.trigger", "registerFunction", "iii.namespace", "iii.files"].every(k => a.includes(k)), a.includes("\\n"), Object.keys(iii).includes("toString")]', { result: [true, true, false, false] }),
  n('7.1', 'members of the SDK are absent', 'return ["callFunction", "on", "emit", "connect"].filter(k => k in iii)', { result: [] }),
  n('7.2', 'a run\'s namespace', 'return iii.namespace', { result: (r) => /^code-runner::rt-[0-9a-f-]{36}::$/.test(r), id: false }, { skip: true }),
  rejects('trigger: the request is an object', 'iii.trigger("x")', 'TypeError', 'request must be an object'),
  rejects('trigger: not null', 'iii.trigger(null)', 'TypeError', 'request must be an object'),
  rejects('trigger: function_id is a string', 'iii.trigger({ function_id: 1 })', 'TypeError', 'function_id must be a non-empty string'),
  rejects('trigger: function_id is not empty', 'iii.trigger({ function_id: "" })', 'TypeError', 'function_id must be a non-empty string'),
  rejects('trigger: function_id is there', 'iii.trigger({})', 'TypeError', 'function_id must be a non-empty string'),
  rejects('trigger: action is a string', 'iii.trigger({ function_id: "a::b", action: 1 })', 'TypeError', 'action must be a string'),
  rejects('trigger: timeout is a number', 'iii.trigger({ function_id: "a::b", timeout: "1" })', 'TypeError', 'timeout must be a number'),
  rejects('trigger: timeout is not NaN', 'iii.trigger({ function_id: "a::b", timeout: NaN })', 'TypeError', 'timeout'),
  rejects('trigger: timeout is not negative', 'iii.trigger({ function_id: "a::b", timeout: -1 })', 'TypeError', 'timeout'),
  rejects('trigger: timeout is not infinite', 'iii.trigger({ function_id: "a::b", timeout: Infinity })', 'TypeError', 'timeout'),
  rejects('trigger: function_id up to 512 bytes', 'iii.trigger({ function_id: "a::" + "x".repeat(510) })', 'TypeError', 'limit', '512'),
  rejects('trigger: function_id counts bytes', 'iii.trigger({ function_id: "a::" + "é".repeat(255) })', 'TypeError', 'limit', '512'),
  rejects('trigger: payload up to 1 MiB', 'iii.trigger({ function_id: "a::b", payload: "x".repeat(1048575) })', 'TypeError', 'limit', '1048576'),
  rejects('trigger: action up to 512 bytes', 'iii.trigger({ function_id: "a::b", action: "x".repeat(513) })', 'TypeError', 'limit', '512'),
  n('7.3', 'trigger: a payload that is not JSON', 'const a = {}; a.a = a; const r = []; for (const payload of [1n, a]) try { await iii.trigger({ function_id: "a::b", payload }); r.push(0) } catch { r.push(1) } return r', { result: [1, 1] }),
  n('7.3', 'trigger: refused targets are operator-only', 'const r = []; for (const function_id of ["state::claim-namespace", "harness::state::x", "provider::openai-codex::auth::y"]) for (const action of [undefined, "void"]) try { await iii.trigger({ function_id, action }); r.push(action ?? function_id) } catch (e) { r.push(e instanceof Error && e.message.includes("operator-only") && e.message.includes(function_id)) } return r.filter(x => x !== true)', { result: [] }),
  n('7.3', 'trigger: a nested binding is looked at', 'try { await iii.trigger({ function_id: "engine::register_trigger", payload: {} }) } catch (e) { return e.message.includes("function_id") }', { result: true }),
  n('7.3', 'trigger: it is a promise, never a throw', 'const r = iii.trigger(); r.catch(() => {}); return r instanceof Promise', { result: true }),
  rejects('registerFunction: an object is no handler', 'iii.registerFunction(iii.namespace + "a", { url: "x" })', 'TypeError', 'HttpInvocationConfig', 'engine::functions::register'),
  rejects('registerFunction: the id is a string', 'iii.registerFunction(1, () => 1)', 'TypeError'),
  rejects('registerFunction: the id is not empty', 'iii.registerFunction("", () => 1)', 'TypeError'),
  rejects('registerFunction: opts is an object', 'iii.registerFunction(iii.namespace + "a", () => 1, null)', 'TypeError'),
  rejects('registerFunction: a format is a plain object', 'iii.registerFunction(iii.namespace + "a", () => 1, { request_format: [] })', 'TypeError', 'request_format'),
  rejects('registerFunction: a format is not null', 'iii.registerFunction(iii.namespace + "a", () => 1, { response_format: null })', 'TypeError', 'response_format'),
  rejects('registerFunction: a description is a string', 'iii.registerFunction(iii.namespace + "a", () => 1, { description: 1 })', 'TypeError', 'description'),
  rejects('registerFunction: a description has 4096 bytes', 'iii.registerFunction(iii.namespace + "a", () => 1, { description: "x".repeat(4097) })', 'TypeError', '4096'),
  n('7.4', 'registerFunction: outside of the prefix', 'try { iii.registerFunction("other::f", () => 1) } catch (e) { return [e.name, e.message.includes("other::f"), e.message.includes(iii.namespace)] }', { result: ['TypeError', true, true] }),
  rejects('registerTrigger: input is an object', 'iii.registerTrigger(1)', 'TypeError'),
  rejects('registerTrigger: type by its guest name', 'iii.registerTrigger({ trigger_type: "x", function_id: "a::b", config: {} })', 'TypeError', 'type'),
  rejects('registerTrigger: function_id', 'iii.registerTrigger({ type: "x", config: {} })', 'TypeError', 'function_id'),
  rejects('registerTriggerType: the handler has two methods', 'iii.registerTriggerType({ id: iii.namespace + "t" }, { registerTrigger() {} })', 'TypeError'),
  rejects('unregisterTriggerType: a number', 'iii.unregisterTriggerType(3)', 'TypeError'),
  n('7.7', 'shutdown always throws', 'try { iii.shutdown() } catch (e) { return [e instanceof Error, e.message.includes("code-runner::teardown")] }', { result: [true, true] }),
])

table('iii in python (10)', [
  p('10', 'a builtin with exactly trigger and namespace', 'result = sorted(k for k in dir(iii) if not k.startswith("_"))', { result: ['namespace', 'trigger'] }),
  p('10', 'visible in every module', 'open("m.py", "w").write("def f(): return iii.namespace")\nimport m\nresult = m.f()', { result: '' }),
  p('10', 'its repr is a hint', 'result = "iii.trigger" in repr(iii)', { result: true }),
  p('10', 'the namespace of a run is empty', 'result = iii.namespace', { result: '' }),
  raises('trigger: no dict', '"x"', 'TypeError'),
  raises('trigger: no function_id', '{}', 'TypeError'),
  raises('trigger: an empty function_id', '{"function_id": ""}', 'TypeError'),
  raises('trigger: function_id is no string', '{"function_id": 1}', 'TypeError'),
  raises('trigger: a payload that is not JSON', '{"function_id": "a::b", "payload": {1, 2}}', 'TypeError'),
  raises('trigger: NaN', '{"function_id": "a::b", "payload": float("nan")}', 'ValueError'),
  raises('trigger: Infinity inside', '{"function_id": "a::b", "payload": [float("inf")]}', 'ValueError'),
  raises('trigger: function_id over 512 bytes', '{"function_id": "a::" + "x" * 510}', 'RuntimeError', '512'),
  raises('trigger: a request over 1 MiB', '{"function_id": "a::b", "payload": "x" * 1048576}', 'RuntimeError', '1048576'),
  raises('trigger: refused targets', '{"function_id": "harness::state::x"}', 'RuntimeError', 'iii.trigger: ', 'operator-only', 'harness::state::x'),
  raises('trigger: a nested binding', '{"function_id": "engine::register_trigger", "payload": {}}', 'RuntimeError', 'iii.trigger: ', 'function_id'),
  raises('trigger: there is no bus here', '{"function_id": "a::b"}', 'RuntimeError', 'iii.trigger: '),
  p('10', 'printed text that imitates the wire is only text', 'import os\nos.write(1, b"\\x00\\x00\\x00\\x00A\\x00\\x00\\x00\\x01\\x00\\x00\\x00")\nprint("after")\nresult = 1', { result: 1, stdout: ['after'] }),
])
