// Section 18: rows of the number sheet that the other tables do not reach.
import assert from 'node:assert/strict'
import { table } from './lib/table.mjs'

const open = { max_stream_bytes: 0, max_result_bytes: 0 }
const node = (s, name, code, want, more = {}) => ({ s, name, node: code, want, ...more })
const python = (s, name, code, want, more = {}) => ({ s, name, python: code, want, ...more })
// The messages of what each expression throws, or null.
const said = (...expressions) => `const said = []; for (const f of [${expressions.map((one) => `() => ${one}`).join(', ')}]) try { await f(); said.push(null) } catch (e) { said.push(e.message) } return said`
const limits = (...fragments) => (messages) => messages.length === fragments.length && messages.every((one, i) => fragments[i] === null ? one === null : [fragments[i]].flat().every((each) => one?.includes(each)))

table('the number sheet (18)', [
  { s: '12.2', name: '32 runtimes, not 33', langs: ['node'], config: {}, timeout: 60000, steps: async (t) => {
    await Promise.all(Array.from({ length: 32 }, () => t.keep()))
    await t.run('', { error: 'capacity', message: 'all 32 runtime slots are in use' })
    await t.run('', { error: 'capacity' }, { lang: 'python' })
  } },
  { s: '12.5', name: 'the default budget is 5000 ms', node: 'for (;;) {}', python: 'while True: pass', want: { error: 'timeout' } },
  { s: '12.5', name: 'and not less', node: 'await new Promise((r) => setTimeout(r, 4500)); return 1', python: 'import time\ntime.sleep(4.5)\nresult = 1', want: { result: 1 } },
  { s: '5.3', name: 'caps off: 1 MiB of a stream is whole', node: 'process.stdout.write("x".repeat(1 << 20))', python: 'print("x" * (1 << 20), end="")', config: open, want: { stdout: 'x'.repeat(1 << 20) } },
  { s: '5.3', name: 'caps off: the ceiling is stated', node: 'for (let i = 0; i < 20; i++) process.stdout.write("x".repeat(1 << 20))', python: 'for i in range(20): print("x" * (1 << 20), end="")', config: open, more: { timeout_ms: 20000 }, want: { stderr: /\[code-runner\] captured output was truncated at \d+ bytes\n$/ } },
  python('9.5', 'a message of 4096 characters', 'raise Exception("m" * 5000)', { exit: 1, stderr: /^Exception: m{4000,4096}\.\.\. message truncated\n/ }, { config: open }),
  python('9.5', 'a traceback of 16384 characters', 'import sys\nsys.setrecursionlimit(3000)\ndef f(n):\n  if n == 0: raise Exception("deep")\n  if n % 2: f(n - 1)\n  else: g(n - 1)\ndef g(n):\n  f(n - 1) if n > 0 else f(0)\nf(900)', { exit: 1, stderr: /^Exception: deep\n[^]{10000,17000}\.\.\. traceback truncated\n$/ }, { config: open }),
  python('9.8', '256 MiB in /work', 'with open("f", "wb") as f:\n  for i in range(300): f.write(bytes(1 << 20))', { error: 'resource_exhausted', message: ['/work'] }, { more: { timeout_ms: 30000 }, timeout: 60000 }),
  python('9.8', '20000 entries in /work', 'for i in range(20100): open(str(i), "w").close()', { error: 'resource_exhausted', message: ['/work', '20000'] }, { more: { timeout_ms: 30000 }, timeout: 60000 }),
  python('9.8', '19000 entries are fine', 'for i in range(19000): open(str(i), "w").close()\nresult = 1', { result: 1 }, { more: { timeout_ms: 30000 }, timeout: 60000 }),
  python('9.7', '128 MiB by default', 'a = bytes(60 << 20)\ntry:\n  b = bytes(100 << 20)\n  result = "more"\nexcept MemoryError: result = "caught"', { result: 'caught' }),
  python('9.7', '512 MiB at most', 'try:\n  b = bytes(600 << 20)\n  result = "more"\nexcept MemoryError: result = "caught"', { result: 'caught' }, { more: { memory_mb: 4096 } }),
  node('8', '8 MiB of files', said('iii.files.write("a", "x".repeat(8 << 20))', 'iii.files.write("b", "x")', 'iii.files.write("a", "x")', 'iii.files.write("b", "x")'), { result: limits(null, ['b', '8388608'], null, null) }),
  node('8', '64 files', `for (let i = 0; i < 64; i++) iii.files.write("f" + i, ""); ${said('iii.files.write("one-more", "")', 'iii.files.write("f0", "again")', 'iii.files.remove("f1")', 'iii.files.write("one-more", "")')}`, { result: limits(['one-more', '64'], null, null, null) }),
  node('8', 'names of 255 bytes', said('iii.files.write("n".repeat(255), "")', 'iii.files.write("n".repeat(256), "")'), { result: limits(null, '255') }),
  node('7.3', 'an action of 512 bytes', said('iii.trigger({ function_id: "a::b", action: "x".repeat(513) })'), { result: limits(['limit', '512']) }),
  node('7.3', 'a function_id of 512 bytes', said('iii.trigger({ function_id: "a::" + "x".repeat(510) })'), { result: limits(['limit', '512']) }),
  node('7.3', 'a payload of 1048576 bytes', said('iii.trigger({ function_id: "a::b", payload: "x".repeat(1048575) })'), { result: limits(['limit', '1048576']) }),
  node('7.4', 'a description of 4096 bytes', said('iii.registerFunction(iii.namespace + "f", () => 1, { description: "x".repeat(4096) })', 'iii.registerFunction(iii.namespace + "f", () => 1, { description: "x".repeat(4097) })'), { result: limits(null, '4096') }),
  node('13.2', 'a guest\'s format of 16384 bytes', said('iii.registerFunction(iii.namespace + "f", () => 1, { request_format: { type: "x".repeat(16384 - 11) } })', 'iii.registerFunction(iii.namespace + "f", () => 1, { request_format: { type: "x".repeat(16384 - 10) } })', 'iii.registerFunction(iii.namespace + "f", () => 1, { request_format: {} })'), { result: limits(null, ['request_format', '16384'], 'constrains nothing') }),
  { s: '10', name: 'a guest call ends 200 ms before the turn', langs: ['python'], steps: async (t) => {
    const client = t.worker()
    const id = await t.serve(client, `${t.ns}-peer::slow`, () => new Promise((resolve) => setTimeout(resolve, 2500)))
    const took = await t.run(`import time\nstarted = time.monotonic()\ntry: iii.trigger({"function_id": "${id}", "timeout_ms": 60000})\nexcept RuntimeError: result = (time.monotonic() - started) * 1000`, {}, { timeout_ms: 1200 })
    assert.ok(took > 800 && took < 1150, `${took} ms`)
  } },
])
