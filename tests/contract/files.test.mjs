// Section 8: iii.files, and decision 5: the private directory of both languages.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { check } from './expect.mjs'
import { table } from './table.mjs'
import { Worker } from '../lib/worker.mjs'
import { eventually } from '../lib/proc.mjs'

const n = (name, node, want = {}, more = {}) => ({ s: '8', name, node, want, ...more })
const caught = (code) => `try { ${code}; return "no error" } catch (e) { return [e.name, e.message] }`
const typeError = (name, code, fragment = '') => n(name, caught(code), { result: ([kind, text]) => kind === 'TypeError' && text.includes(fragment) })

const badNames = ['""', '"."', '".."', '"a."', '"a/b"', '"../a"', '"/etc/passwd"', '"a b"', '"a\\u0000b"', '"é"', '"a:b"', '"a\\\\b"', '"x".repeat(256)', '1', 'null', 'undefined', '{}',
  '"con"', '"CON"', '"prn.txt"', '"aux"', '"Nul.a.b"', '"com1"', '"LPT9.js"']
const goodNames = ['a', '.hidden', '..a', 'a..b', 'A-Z_0.9', 'com0', 'com10', 'console', 'lpt', 'nul-', 'x'.repeat(255)]

table('iii.files (8)', [
  n('text goes in and comes out', 'iii.files.write("a.txt", "é€😀"); return iii.files.readText("a.txt")', { result: 'é€😀' }),
  n('bytes go in and come out', 'iii.files.write("a", new Uint8Array([0, 255, 1])); const b = iii.files.read("a"); return [b instanceof Uint8Array, [...b]]', { result: [true, [0, 255, 1]] }),
  n('a read is a copy', 'iii.files.write("a", "x"); iii.files.read("a")[0] = 65; return iii.files.readText("a")', { result: 'x' }),
  n('a part of a buffer is only that part', 'iii.files.write("a", new Uint8Array([1, 2, 3, 4]).subarray(1, 3)); return [...iii.files.read("a")]', { result: [2, 3] }),
  n('write returns undefined and overwrites', 'const r = iii.files.write("a", "long text"); iii.files.write("a", "b"); return [r === undefined, iii.files.readText("a")]', { result: [true, 'b'] }),
  n('the empty file', 'iii.files.write("a", ""); return [iii.files.readText("a"), iii.files.read("a").length, iii.files.list()]', { result: ['', 0, [{ name: 'a', bytes: 0 }]] }),
  n('the list is sorted by name', 'for (const f of ["b", "a", "C", "a.1", "_"]) iii.files.write(f, f); return iii.files.list()', { result: ['C', '_', 'a', 'a.1', 'b'].map((name) => ({ name, bytes: name.length })) }),
  n('bytes are UTF-8 bytes', 'iii.files.write("a", "é"); return iii.files.list()[0].bytes', { result: 2 }),
  n('remove, and remove again', 'iii.files.write("a", "x"); iii.files.remove("a"); iii.files.remove("a"); iii.files.remove("never"); return iii.files.list()', { result: [] }),
  n('awaiting is harmless', 'await iii.files.write("a", "x"); return await iii.files.readText("a")', { result: 'x' }),
  typeError('reading what is missing', 'iii.files.read("missing")', 'missing'),
  typeError('reading what is missing as text', 'iii.files.readText("missing")', 'missing'),
  ...['1', 'null', 'undefined', '{}', '[1]', 'new ArrayBuffer(1)', 'true'].map((value) => typeError(`contents that are ${value}`, `iii.files.write("a", ${value})`)),
  ...badNames.map((name) => typeError(`the name ${name.slice(0, 20)} is refused everywhere`, ['write', 'read', 'readText', 'remove'].map((method) => `let ${method}; try { iii.files.${method}(${name}, "x") } catch (e) { ${method} = e }`).join('; ') + '; for (const e of [write, read, readText, remove]) if (!(e instanceof TypeError)) throw new Error("accepted"); throw write')),
  typeError('a name that is too long names the limit', 'iii.files.write("x".repeat(256), "")', '255'),
  n('good names', `for (const f of ${JSON.stringify(goodNames)}) iii.files.write(f, "x"); return iii.files.list().length`, { result: goodNames.length }),
  n('the quota of bytes, exactly', 'iii.files.write("a", new Uint8Array(8 << 20)); return iii.files.list()[0].bytes', { result: 8 << 20 }),
  n('one byte over changes nothing', 'iii.files.write("a", "old"); const e = (() => { try { iii.files.write("a", new Uint8Array((8 << 20) + 1)) } catch (e) { return e } })(); return [e instanceof Error, e.message, iii.files.readText("a")]', { result: ([isError, text, old]) => isError && text.includes('a') && text.includes('8') && text.includes('64') && old === 'old' }),
  n('an overwrite counts as a replacement', 'iii.files.write("a", new Uint8Array(6 << 20)); iii.files.write("a", new Uint8Array(7 << 20)); return iii.files.list()[0].bytes', { result: 7 << 20 }),
  n('bytes of all files count', 'iii.files.write("a", new Uint8Array(5 << 20)); try { iii.files.write("b", new Uint8Array((3 << 20) + 1)) } catch { iii.files.write("b", new Uint8Array(3 << 20)); return "whole" }', { result: 'whole' }),
  n('the quota of files, exactly', 'for (let i = 0; i < 64; i++) iii.files.write("f" + i, "x"); try { iii.files.write("g", "") } catch (e) { iii.files.write("f0", "y"); return [iii.files.list().length, e.message.includes("64")] }', { result: [64, true] }),
  n('64 files of 8 MiB together', 'for (let i = 0; i < 64; i++) iii.files.write("f" + i, new Uint8Array(131072)); return iii.files.list().reduce((a, f) => a + f.bytes, 0)', { result: 8 << 20 }),
  n('64 files of odd sizes up to the last byte', 'let left = 8 << 20; for (let i = 0; i < 63; i++) { iii.files.write("f" + i, new Uint8Array(130001)); left -= 130001 } iii.files.write("l", new Uint8Array(left)); return iii.files.list().reduce((a, f) => a + f.bytes, 0)', { result: 8 << 20 }),
  n('remove gives room back', 'iii.files.write("a", new Uint8Array(8 << 20)); iii.files.remove("a"); iii.files.write("b", new Uint8Array(8 << 20)); return iii.files.list().length', { result: 1 }),
  n('a refused write that nobody catches is a response', 'iii.files.write("a", new Uint8Array(9 << 20))', { exit: 1, stderr: /^\w*Error: / }),
  { s: '8', name: 'the runtime survives a refused write', langs: ['node'], steps: async (t) => {
    const id = await t.keep('iii.files.write("keep", "me")')
    await t.on(id, 'iii.files.write("a", new Uint8Array(9 << 20))', { exit: 1 })
    await t.on(id, 'return iii.files.readText("keep")', { result: 'me' })
  } },
  { s: '8', name: 'files live from run to run', langs: ['node'], steps: async (t) => {
    const id = await t.keep('iii.files.write("a", "1")')
    await t.on(id, 'iii.files.write("b", iii.files.readText("a") + "2")', {})
    await t.on(id, 'return iii.files.list()', { result: [{ name: 'a', bytes: 1 }, { name: 'b', bytes: 2 }] })
  } },
  n('symbolic links are not followed', 'require("fs").symlinkSync("/work/b", "a"); require("fs").writeFileSync("b", "x"); try { iii.files.read("a"); return "followed" } catch (e) { return e.name }', { result: 'TypeError' }),
  n('directories are no files', 'require("fs").mkdirSync("d"); const l = iii.files.list(); try { iii.files.read("d") } catch (e) { return [l, e.name] }', { result: ([list, name]) => list.every((f) => f.name !== 'd') && name === 'TypeError' }),
  n('the host path is never revealed', 'const texts = []; for (const f of [() => iii.files.read("x"), () => require("fs").readFileSync("x"), () => iii.files.write("d/e", "")]) try { f() } catch (e) { texts.push(e.message + e.stack) } return [require("fs").realpathSync("."), texts.some(t => /code-runner-[0-9a-f]|\\/tmp/.test(t))]', { result: ['/work', false] }),
  n('smaller quotas of the settings hold', 'iii.files.write("a", new Uint8Array(1 << 20)); iii.files.remove("a"); iii.files.write("b", ""); iii.files.write("c", ""); try { iii.files.write("d", "") } catch (e) { return e.message.includes("2") }', { result: true }, { config: { scratch_mb: 1, scratch_files: 2 } }),
  n('scratch_mb 0: there is no iii.files', 'return [typeof iii.files, "files" in iii, Object.keys(iii).includes("files")]', { result: ['undefined', false, false] }, { config: { scratch_mb: 0 } }),
])

const both = (s, name, node, python, want) => ({ s, name, node, python, want })

const onDisk = (name, steps) => ({ s: '8', name, langs: ['node'], timeout: 60000, steps: async () => {
  const parent = mkdtempSync(join(tmpdir(), 'code-runner-scratch-'))
  const scratch = join(parent, 'made', 'when-missing')
  const worker = await Worker.start({ config: { scratch_root: scratch }, args: ['--spares', '0'] })
  try {
    await steps(worker, scratch)
  } finally {
    await worker.kill()
    rmSync(parent, { recursive: true, force: true })
  }
} })

table('The private directory (decision 5, 9.8)', [
  both('d5', 'it is /work and current', 'return process.cwd()', 'import os\nresult = os.getcwd()', { result: '/work' }),
  both('d5', 'it starts empty', 'return require("fs").readdirSync("/work")', 'import os\nresult = os.listdir("/work")', { result: [] }),
  both('d5', 'subdirectories', 'const fs = require("fs"); fs.mkdirSync("a/b/c", { recursive: true }); fs.writeFileSync("a/b/c/f", "x"); return fs.readFileSync("/work/a/b/c/f", "utf8")', 'import os\nos.makedirs("a/b/c")\nopen("a/b/c/f", "w").write("x")\nresult = open("/work/a/b/c/f").read()', { result: 'x' }),
  both('d5', 'rename, append, truncate, delete', 'const fs = require("fs"); fs.writeFileSync("a", "123"); fs.appendFileSync("a", "45"); fs.renameSync("a", "b"); fs.truncateSync("b", 4); const t = fs.readFileSync("b", "utf8"); fs.unlinkSync("b"); return [t, fs.existsSync("b")]', 'import os\nopen("a", "w").write("123")\nopen("a", "a").write("45")\nos.rename("a", "b")\nos.truncate("b", 4)\nt = open("b").read()\nos.remove("b")\nresult = [t, os.path.exists("b")]', { result: ['1234', false] }),
  { s: 'd5', name: 'runtimes never see each other\'s files', steps: async (t) => {
    const a = await t.keep({ node: 'require("fs").writeFileSync("secret", "a")', python: 'open("secret", "w").write("a")' })
    const b = await t.keep({ node: '', python: '' })
    await t.on(b, { node: 'return require("fs").readdirSync(".")', python: 'import os\nresult = os.listdir(".")' }, { result: [] })
    await t.on(a, { node: 'return require("fs").readdirSync(".")', python: 'import os\nresult = os.listdir(".")' }, { result: ['secret'] })
  } },
  { s: '9.8', name: 'python: files and open objects survive between calls', langs: ['python'], steps: async (t) => {
    const id = await t.keep('f = open("log", "w")\nf.write("1")')
    await t.on(id, 'f.write("2")\nf.close()\nresult = open("log").read()', { result: '12' })
  } },
  { s: '9.8', name: 'python: own modules', python: 'import sys\nopen("/work/mymod.py", "w").write("x = 41")\nsys.path.insert(0, "/work")\nimport mymod\nresult = mymod.x + 1', want: { result: 42 } },
  { s: '9.8', name: 'python: the quota of bytes fails with the system\'s error', python: 'try:\n  f = open("big", "wb", buffering=0)\n  for i in range(300): f.write(b"x" * (1 << 20))\nexcept OSError as e:\n  result = [i >= 250 and i <= 256, e.errno]', want: { result: ([fits, errno]) => fits && errno > 0 }, ask: { timeout_ms: 20000 } },
  { s: '9.8', name: 'python: a run that dies of it is resource_exhausted, and names the limits', python: 'f = open("big", "wb", buffering=0)\nfor i in range(300): f.write(b"x" * (1 << 20))', want: { error: 'resource_exhausted', message: ['/work', '20000'] }, ask: { timeout_ms: 20000 } },
  { s: '9.8', name: 'python: the quota of entries', python: 'import os\nn = 0\ntry:\n  while True:\n    open("f%d" % n, "w").close()\n    n += 1\nexcept OSError as e:\n  result = [19990 <= n <= 20000, e.errno > 0]', want: { result: [true, true] }, ask: { timeout_ms: 30000 } },
  { s: 'd5', name: 'python: a kept runtime over its quota keeps its files', langs: ['python'], steps: async (t) => {
    const id = await t.keep('open("keep", "w").write("me")')
    check(await t.on(id, 'f = open("big", "wb", buffering=0)\nfor i in range(300): f.write(b"x" * (1 << 20))', null, { timeout_ms: 20000 }), { id: true, error: 'resource_exhausted' })
    await t.on(id, 'import os\nos.remove("big")\nresult = open("keep").read()', { result: 'me' })
  } },
  onDisk('scratch_root: made when missing, mode 0700, unpredictable names, gone at every end', async (w, scratch) => {
    const entries = () => (existsSync(scratch) ? readdirSync(scratch) : [])
    const settled = (count) => eventually(() => entries().length === count)
    const id = await w.keep('node', 'iii.files.write("a", "x")')
    assert.ok(await settled(1), entries().join())
    const [name] = entries()
    assert.equal(statSync(join(scratch, name)).mode & 0o777, 0o700)
    assert.ok(!name.includes(id.slice(3)) && name.length > 20, 'no relation to the runtime id')
    await w.run({ lang: 'node', code: 'iii.files.write("a", "x")' })
    assert.ok(await settled(1), 'the one-shot\'s directory is gone')
    await w.run({ lang: 'node', code: 'iii.files.write("a", "x"); for(;;);', timeout_ms: 100 })
    await w.run({ lang: 'node', code: 'iii.files.write("a", "x"); process.abort()' })
    assert.ok(await settled(1), 'directories of killed and crashed runs are gone')
    check(await w.run({ runtime_id: id, code: 'return iii.files.readText("a")' }), { id: true, result: 'x' })
    await w.teardown({ runtime_id: id })
    assert.ok(await settled(0), 'teardown removes it')
    await w.keep('node', 'iii.files.write("a", "x"); require("fs").mkdirSync("d/e/f", { recursive: true })')
    await w.close()
    assert.ok(await settled(0), 'the end of the worker removes it')
  }),
  onDisk('scratch_root: quotas hold on disk as well', async (w) => {
    check(await w.run({ lang: 'node', code: 'try { iii.files.write("a", new Uint8Array((8 << 20) + 1)) } catch (e) { return "refused" }' }), { result: 'refused' })
    check(await w.run({ lang: 'node', code: 'const b = Buffer.alloc(1 << 20); const f = require("fs").openSync("big", "w"); for (let i = 0; i < 4000; i++) { require("fs").writeSync(f, b); await new Promise(r => setTimeout(r, 1)) }', timeout_ms: 20000 }), { oneOf: [{ error: 'resource_exhausted', message: '/work' }, { exit: 1 }] })
  }),
  { s: '8', name: 'a directory that cannot be made is an engine error, not a run without files', langs: ['node'], steps: async () => {
    const worker = await Worker.start({ config: { scratch_root: '/proc/nowhere' }, args: ['--spares', '0'] })
    try {
      check(await worker.run({ lang: 'node', code: 'return 1' }), { error: 'engine' })
    } finally {
      await worker.kill()
    }
  } },
])
