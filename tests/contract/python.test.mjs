// Section 9 with decisions 7, 9 and 11: what Python code means and sees.
import assert from 'node:assert/strict'
import { check } from './expect.mjs'
import { table } from './table.mjs'

const p = (s, name, python, want = {}, more = {}) => ({ s, name, python, want, ...more })
const is = (s, name, expression, result, more) => p(s, name, `result = ${expression}`, { result, stderr: '' }, more)
const noResult = (name, expression, note) => p('9.2', name, `result = ${expression}`, { result: null, stderr: typeof note === 'string' ? `[code-runner] result is null: ${note}\n` : note })
const steps = (s, name, run, more = {}) => ({ s, name, langs: ['python'], steps: run, ...more })
const traceback = 'Traceback (most recent call last):\n'

table('Form of python code (9.1)', [
  p('9.1', 'a module named __main__', 'result = [__name__, __builtins__ is not None]', { result: ['__main__', true] }),
  p('9.1', 'payload is None', 'result = payload is None', { result: true }),
  p('9.1', 'a top-level return is a SyntaxError', 'x = 1\nreturn 1', { exit: 1, stderr: "'return' outside function (line 2)\n" }),
  p('9.1', 'a SyntaxError executes nothing', 'print("before")\nx = (', { exit: 1, stdout: '', stderr: /^[^\n]+ \(line 2\)\n$/ }),
  p('9.1', 'bad indentation is a SyntaxError', 'if True:\nprint(1)', { exit: 1, stderr: /^expected an indented block[^\n]* \(line 2\)\n$/ }),
  p('9.1', 'a null byte is refused, not a crash', 'x = 1\0', { exit: 1 }),
  p('9.1', 'nesting too deep is refused, not a crash', '('.repeat(5000) + ')'.repeat(5000), { exit: 1 }),
  p('9.1', 'windows line ends and a byte order mark', '\ufeffx = 1\r\nif x:\r\n    result = 2\r\n', { result: 2 }),
  p('9.1', 'a declared encoding does no harm', '# -*- coding: latin-1 -*-\nresult = "é"', { result: 'é' }),
  p('9.1', 'from __future__ works', 'from __future__ import annotations\ndef f(a: Missing): return 1\nresult = f(1)', { result: 1 }),
  is('d11', 'Python 3.13', '__import__("sys").version_info[:2]', [3, 13]),
  is('9.1', 'environment variables are empty', 'dict(__import__("os").environ)', {}),
  is('9.1', 'standard input is at its end', '__import__("sys").stdin.read()', ''),
  p('d11', 'input() raises EOFError', 'input()', { exit: 1, stderr: /^EOFError: / }),
  p('d11', 'help, exit and quit exist', 'result = [callable(help), callable(exit), callable(quit)]', { result: [true, true, true] }),
  p('d11', 'exit() ends the run', 'exit(3)', { exit: 3 }),
  p('d11', 'asyncio.run works', 'import asyncio\nasync def f(n):\n  await asyncio.sleep(0.01)\n  return n\nasync def main(): return await asyncio.gather(f(1), f(2))\nresult = asyncio.run(main())', { result: [1, 2] }),
  p('d11', 'zoneinfo has its data', 'from zoneinfo import ZoneInfo\nfrom datetime import datetime\nresult = datetime(2026, 7, 1, tzinfo=ZoneInfo("Europe/Berlin")).isoformat()', { result: '2026-07-01T00:00:00+02:00' }),
  p('d11', 'sqlite on a file', 'import sqlite3\nd = sqlite3.connect("a.db")\nd.execute("create table t(a)")\nd.execute("insert into t values(7)")\nd.commit()\nresult = d.execute("select a from t").fetchone()[0]', { result: 7 }),
  p('9.1', 'sockets fail with an ordinary exception', 'import socket\ntry:\n  socket.create_connection(("127.0.0.1", 80), 1)\nexcept Exception as e:\n  result = "no"', { result: 'no' }),
  p('9.1', 'subprocesses fail with an ordinary exception', 'import subprocess\ntry:\n  subprocess.run(["id"])\nexcept Exception as e:\n  result = "no"', { result: 'no' }),
  p('9.1', 'threads fail with an ordinary exception', 'import threading\ntry:\n  threading.Thread(target=print).start()\nexcept Exception as e:\n  result = "no"', { result: 'no' }),
  p('9.1', 'host files are not there', 'import os\nresult = [os.path.exists(x) for x in ("/etc/passwd", "/proc/self", "/usr/lib", "/root")]', { result: [false, false, false, false] }),
  p('d1', 'sleep is real', 'import time\na = time.monotonic()\ntime.sleep(0.05)\nresult = 0.045 < time.monotonic() - a < 0.5', { result: true }),
])

table('Python results (9.2, decision 7)', [
  is('9.2', 'plain values', '{"a": [1, 2.5, "x", None, True]}', { a: [1, 2.5, 'x', null, true] }),
  is('9.2', 'tuples are arrays', '(1, (2, 3))', [1, [2, 3]]),
  is('9.2', 'scalar keys become text', '{1: "a", None: "b", True: "c", 2.5: "d"}', { 1: 'c', null: 'b', 2.5: 'd' }, { skip: false }),
  p('9.2', 'integers are exact', 'result = [2**53 + 1, -2**63, 10**30, 2**64]', { raw: `"result":[9007199254740993,-9223372036854775808,${10n ** 30n},18446744073709551616]` }),
  p('9.2', 'a large integer is exact', 'result = 7**999', { raw: `"result":${7n ** 999n}}` }),
  p('9.2', 'floats round-trip', 'result = [0.1, 1e300, -0.0, 5e-324, 1e16]', { raw: '[0.1,1e+300,-0.0,5e-324,1e+16]' }),
  is('9.2', 'subclasses of plain types', '__import__("collections").OrderedDict(b=1, a=2)', { b: 1, a: 2 }),
  is('9.2', 'an IntEnum is its number', '__import__("enum").IntEnum("E", "A B").B', 2),
  is('9.2', 'text of every plane', '"é€😀"', 'é€😀'),
  is('9.2', 'lone surrogates become U+FFFD', '["\\ud83d", "a\\udc00b", {"\\ud800": 1}]', ['\ufffd', 'a\ufffdb', { '\ufffd': 1 }]),
  is('9.2', 'nothing assigned', '__import__("os").nothing if False else None', null),
  p('9.2', 'a turn that assigns nothing', 'x = 5', { result: null, stderr: '' }),
  p('9.2', 'nested deep', 'a = []\nfor i in range(500): a = [a]\nresult = a', { result: (r) => JSON.stringify(r).length === 1002 }),
  p('9.2', '1 MiB large', 'result = ["x" * 1000] * 1000', { result: (r) => r.length === 1000 && r[999].length === 1000 }, { config: { max_result_bytes: 0 } }),
  noResult('a set', '{"tags": {1, 2}}', 'set at result["tags"] is not JSON'),
  noResult('a set at the top', '{1, 2}', /^\[code-runner\] result is null: set at result is not JSON\n$/),
  noResult('bytes in a list', '[1, {"a": b"x"}]', 'bytes at result[1]["a"] is not JSON'),
  noResult('an object', 'object()', /^\[code-runner\] result is null: object at result is not JSON\n$/),
  noResult('a class', '[int]', /^\[code-runner\] result is null: type at result\[0\] is not JSON\n$/),
  noResult('NaN', '{"a": float("nan")}', /^\[code-runner\] result is null: [^\n]*result\["a"\][^\n]*\n$/),
  noResult('Infinity', '[float("inf")]', /^\[code-runner\] result is null: [^\n]*result\[0\][^\n]*\n$/),
  noResult('a key that is no scalar', '{(1, 2): 3}', /^\[code-runner\] result is null: [^\n]+\n$/),
  p('9.2', 'a cycle', 'result = []\nresult.append(result)', { result: null, stderr: /^\[code-runner\] result is null: [^\n]+\n$/ }),
  p('9.2', 'too deep', 'a = []\nfor i in range(200000): a = [a]\nresult = a', { result: null, stderr: /^\[code-runner\] result is null: [^\n]+\n$/ }),
  noResult('a Decimal', '__import__("decimal").Decimal("1.5")', /^\[code-runner\] result is null: Decimal at result is not JSON\n$/),
  noResult('a date', '__import__("datetime").date(2026, 1, 1)', /date at result is not JSON/),
  noResult('a numpy-like scalar', 'type("Scalar", (), {"__float__": lambda self: 1.0})()', /Scalar at result is not JSON/),
  p('9.2', 'a subclass of dict that lies', 'class D(dict):\n  def items(self): raise Exception("no")\n  def __iter__(self): raise Exception("no")\nresult = D(a=1)', { oneOf: [{ result: { a: 1 } }, { result: null }] }),
  p('6.6', 'a poisoned json module', 'import json, builtins\njson.dumps = lambda *a, **k: "{}"\njson.JSONEncoder = None\nbuiltins.print = None\nresult = [1, 2]', { result: [1, 2] }),
  p('6.6', 'poisoned builtins', 'import builtins\nfor k in ("isinstance", "len", "str", "repr", "type", "compile", "exec", "dict", "list"): setattr(builtins, k, None)\nresult = {"a": [1]}', { result: { a: [1] } }),
  p('6.6', 'a poisoned sys', 'import sys\nsys.modules.clear()\nsys.stdout = sys.stderr = None\nsys.excepthook = None\nresult = 5', { result: 5 }),
  p('6.6', 'poison does not hide a failure', 'import sys, builtins, traceback\ntraceback.format_exception = traceback.print_exc = lambda *a, **k: "forged"\nbuiltins.str = builtins.repr = None\nsys.modules.clear()\nraise ValueError("real")', { exit: 1, stderr: ['ValueError', 'real'] }),
  steps('6.6', 'poison does not reach later runs of the runtime', async (t) => {
    const id = await t.keep('import sys, builtins, json\njson.dumps = None\nbuiltins.compile = builtins.exec = builtins.isinstance = None\nsys.stdout = None')
    await t.on(id, 'result = [1]', { result: [1] })
    await t.on(id, 'raise ValueError("real")', { exit: 1, stderr: ['real'] })
  }),
])

table('Kept python runtimes (9.3)', [
  steps('9.3', 'globals, imports and objects survive', async (t) => {
    const id = await t.keep('import math\nn = 1\ndef f(): return n + 1\nclass C: pass\nc = C()\nc.x = []')
    await t.on(id, 'n = 10\nc.x.append(1)\nresult = [math.floor(2.5), f()]', { result: [2, 11] })
    await t.on(id, 'result = c.x', { result: [1] })
  }),
  steps('9.3', 'result is reset, payload is None again', async (t) => {
    const id = await t.keep('result = 5\npayload = 7')
    await t.on(id, 'x = 1', { result: null })
    await t.on(id, 'result = payload', { result: null })
    await t.on(id, 'raise Exception()', { exit: 1 })
    await t.on(id, '"result" in globals()', { result: null })
    await t.on(id, 'result = "result" in globals()', { result: false })
  }),
  steps('9.3', 'an exception ends the turn, not the interpreter', async (t) => {
    const id = await t.keep('n = 1')
    await t.on(id, 'n = 2\nraise Exception("x")', { exit: 1 })
    await t.on(id, 'import sys\nn += 1\nsys.exit(4)', { exit: 4 })
    await t.on(id, 'def f(): f()\nn += 1\nf()', { exit: 1, stderr: /^RecursionError: / })
    await t.on(id, 'result = n', { result: 4 })
  }),
  steps('9.5', 'os._exit ends the interpreter, not the runtime', async (t) => {
    const id = await t.keep('n = 1\nopen("f", "w").write("kept")')
    await t.on(id, 'import os\nprint("a", flush=True)\nos._exit(4)', { exit: 1, stdout: 'a\n', stderr: /^[^\n]*exited with status 4[^\n]*\n$/ })
    await t.on(id, 'result = ["n" in globals(), open("f").read()]', { result: [false, 'kept'] })
  }),
  steps('9.5', 'so does a crash', async (t) => {
    const id = await t.keep('open("f", "w").write("kept")')
    await t.on(id, 'import os\nos.abort()', { exit: 1, stderr: /^[^\n]*ended abnormally[^\n]*\n$/ })
    await t.on(id, 'result = open("f").read()', { result: 'kept' })
  }),
  steps('9.7', 'a recovered MemoryError taints nothing', async (t) => {
    const id = await t.keep('n = 1')
    await t.on(id, 'try:\n  b = bytearray(10**9)\nexcept MemoryError:\n  result = "caught"', { result: 'caught', stderr: '' })
    await t.on(id, 'b = bytearray(10**7)\nresult = [n, len(b)]', { result: [1, 10 ** 7] })
  }),
  steps('9.6', 'a runtime survives a memory failure', async (t) => {
    const id = await t.keep('open("f", "w").write("kept")')
    check(await t.on(id, 'a = []\nwhile True: a.append("x" * 1000000 + str(len(a)))', null, { timeout_ms: 20000 }), { id: true, error: 'resource_exhausted', message: /memory/i })
    await t.on(id, 'result = open("f").read()', { result: 'kept' })
  }),
])

table('Python streams and failures (9.4, 9.5)', [
  p('9.4', 'verbatim: no line end is added', 'print("x", end="")', { stdout: 'x' }),
  p('9.4', 'verbatim: nothing is changed', 'import sys\nsys.stdout.write("a\\r\\n\\tb\\0c")\nsys.stderr.write("e")', { stdout: 'a\r\n\tb\0c', stderr: 'e' }),
  p('9.4', 'raw writes', 'import os\nos.write(1, b"raw")\nos.write(2, b"err")', { stdout: 'raw', stderr: 'err' }),
  p('9.4', 'raw and buffered writes keep their order', 'import os, sys\nprint("a")\nos.write(1, b"b\\n")\nsys.stdout.buffer.write(b"c\\n")\nsys.stdout.flush()\nprint("d")', { stdout: 'a\nb\nc\nd\n' }),
  p('9.4', 'invalid bytes become U+FFFD', 'import sys\nsys.stdout.buffer.write(b"\\xff\\xfe")', { stdout: '\ufffd\ufffd' }),
  p('9.4', 'lone surrogates can be printed', 'print("\\ud83d!")', { oneOf: [{ stdout: /!\n$/ }, { exit: 1, stderr: /^UnicodeEncodeError/ }] }),
  p('9.4', 'what was printed before a failure is kept', 'import sys\nprint("out")\nprint("err", file=sys.stderr)\n1/0', { exit: 1, stdout: 'out\n', stderr: /^err\nZeroDivisionError: / }),
  p('9.4', 'a closed stdout is no crash', 'import sys\nsys.stdout.close()\nresult = 1', { result: 1 }),
  p('9.5', 'an exception: type, message, traceback', 'raise ValueError("bad")', { exit: 1, result: null, stderr: `ValueError: bad\n${traceback}  File "<code>", line 1, in <module>\n    raise ValueError("bad")\nValueError: bad\n` }),
  p('9.5', 'line numbers are the caller\'s', '\n\ndef f():\n    1/0\n\nf()', { exit: 1, stderr: ['File "<code>", line 6, in <module>', 'File "<code>", line 4, in f'] }),
  p('9.5', 'an exception without text', 'raise ValueError', { exit: 1, stderr: /^ValueError: \nTraceback/ }),
  p('9.5', 'frames of the library are shown, the wrapper\'s are not', 'import json\njson.loads("{")', { exit: 1, stderr: [/^json.decoder.JSONDecodeError: |^JSONDecodeError: /, 'File "<code>", line 2', 'decoder.py', /^(?!.*(wrapper|<cr|cr_))[^]*$/] }),
  p('9.5', 'a class of the guest', 'class MyError(Exception): pass\nraise MyError("x")', { exit: 1, stderr: /^MyError: x\n/ }),
  p('9.5', 'an exception whose text fails', 'class E(Exception):\n  def __str__(self): raise Exception("no")\nraise E()', { exit: 1, stderr: /^E: / }),
  p('9.5', 'a chain of causes', 'try:\n  1/0\nexcept Exception as e:\n  raise KeyError("k") from e', { exit: 1, stderr: [/^KeyError: 'k'\n/, 'ZeroDivisionError', 'direct cause'] }),
  p('9.5', 'an exception group', 'raise ExceptionGroup("g", [ValueError(1), TypeError(2)])', { exit: 1, stderr: [/^ExceptionGroup: g \(2 sub-exceptions\)\n/] }),
  p('9.5', 'the message is cut at 4096 characters', 'raise ValueError("é" * 5000)', { exit: 1, stderr: /^ValueError: é{4000,4096}\.\.\. message truncated\nTraceback/ }, { config: { max_stream_bytes: 0 } }),
  p('9.5', 'the traceback is cut at 16384 characters', 'import sys\nsys.setrecursionlimit(3000)\nexec("\\n".join(f"def f{i}(): f{i+1}()" for i in range(900)) + "\\ndef f900(): raise ValueError(1)")\nf0()', { exit: 1, stderr: /\n\.\.\. traceback truncated\n$/ }, { config: { max_stream_bytes: 0 } }),
  p('9.5', 'sys.exit in a nested call', 'import sys\ndef f():\n  try: sys.exit(6)\n  finally: print("f")\nf()', { exit: 6, stdout: 'f\n', stderr: '' }),
  p('9.5', 'SystemExit can be caught', 'import sys\ntry: sys.exit(6)\nexcept SystemExit as e: result = e.code', { result: 6 }),
  p('9.5', 'os._exit', 'import os\nos._exit(7)', { exit: 1, result: null, stderr: /^[^\n]*exited with status 7[^\n]*\n$/ }),
  p('9.5', 'os._exit(0) is no success', 'import os\nresult = 1\nos._exit(0)', { exit: 1, result: null, stderr: ['exited with status 0'] }),
  p('9.5', 'a crash', 'import os\nprint("a", flush=True)\nos.abort()', { exit: 1, stdout: 'a\n', stderr: /^[^\n]*ended abnormally[^\n]*\n$/ }),
  p('9.5', 'endless recursion without a limit', 'import sys\nsys.setrecursionlimit(10**9)\nf = lambda: f()\nf()', { oneOf: [{ exit: 1 }, { error: 'resource_exhausted' }] }),
  p('9.5', 'an atexit handler does no harm', 'import atexit\natexit.register(lambda: 1/0)\nresult = 1', { result: 1 }),
])

table('Python memory (9.7)', [
  p('9.7', 'hitting the cap uncaught', 'b = bytearray(10**10)', { error: 'resource_exhausted', message: /memory/i }),
  p('9.7', 'many small objects', 'a = []\nwhile True: a.append([1] * 100)', { error: 'resource_exhausted' }, { ask: { timeout_ms: 20000 } }),
  p('9.7', 'caught and completed is a success', 'try:\n  a = []\n  while True: a.append(bytearray(1 << 20))\nexcept MemoryError:\n  a = None\n  result = "caught"', { result: 'caught' }, { ask: { timeout_ms: 20000 } }),
  p('9.7', 'about 128 MiB by default', 'n = 0\na = []\ntry:\n  while True:\n    a.append(bytearray(1 << 20))\n    n += 1\nexcept MemoryError:\n  a = None\nresult = n', { result: (n) => n >= 70 && n < 128 }, { ask: { timeout_ms: 20000 } }),
  p('9.7', 'memory_mb 256 has more room', 'b = bytearray(150 << 20)\nresult = len(b) >> 20', { result: 150 }, { ask: { memory_mb: 256 } }),
  p('9.7', 'memory_mb 512 has more room still', 'b = bytearray(400 << 20)\nresult = len(b) >> 20', { result: 400 }, { ask: { memory_mb: 512 } }),
  p('9.7', 'memory_mb is clamped to 512', 'try:\n  b = bytearray(600 << 20)\nexcept MemoryError:\n  result = "capped"', { result: 'capped' }, { ask: { memory_mb: 100000 } }),
  p('9.7', 'memory_mb 64 has less', 'try:\n  b = bytearray(64 << 20)\nexcept MemoryError:\n  result = "capped"', { result: 'capped' }, { ask: { memory_mb: 64 } }),
  p('9.7', 'below its floor it cannot start', 'result = 1', { error: 'resource_exhausted' }, { ask: { memory_mb: 1 } }),
  p('9.7', 'memory_mb 0 is clamped to 1', 'result = 1', { error: 'resource_exhausted' }, { ask: { memory_mb: 0 } }),
  { s: '9.7', name: 'for node memory_mb is accepted and ignored', node: 'return new Array(1e6).fill(1.5).length', ask: { memory_mb: 1 }, want: { result: 1e6 } },
  steps('9.7', 'it binds for the life of a kept runtime', async (t) => {
    const id = await t.keep('', { memory_mb: 256 })
    await t.on(id, 'b = bytearray(150 << 20)\nresult = 1', { result: 1 })
    await t.on(id, 'import os\nos._exit(1)', { exit: 1 })
    await t.on(id, 'b = bytearray(150 << 20)\nresult = 1', { result: 1 })
    assert.ok(id)
  }),
])
