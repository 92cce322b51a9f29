// Section 5: output caps.
import assert from 'node:assert/strict'
import { check } from './expect.mjs'
import { table } from './table.mjs'

const bytes = (text) => Buffer.byteLength(text)
const marker = (size, shape) =>
  `<omitted: result was ~${Math.floor(size / 1024)} KB (${shape}); returning it whole would flood the model context — print a slice, aggregate in code, or write it to iii.files and return a summary>`

// Section 5.2, on text.
function capped(name, text, cap) {
  const total = bytes(text)
  if (cap === 0 || total <= cap) return text
  const mark = `\n[…${name} truncated: was ~${Math.floor(total / 1024)} KB; middle omitted]\n`
  const budget = Math.max(0, cap - bytes(mark))
  const headBytes = Math.floor((budget * 60) / 100)
  const characters = [...text]
  const take = (list, most) => {
    let size = 0
    const taken = []
    for (const character of list) {
      if ((size += bytes(character)) > most) break
      taken.push(character)
    }
    return taken
  }
  const head = take(characters, headBytes).join('')
  const tail = take(characters.toReversed?.() ?? [...characters].reverse(), budget - headBytes).reverse().join('')
  return head + mark + tail
}

const string = (text, n, extra = '') => ({ node: `return ${JSON.stringify(text)}.repeat(${n}) + ${JSON.stringify(extra)}`, python: `result = ${JSON.stringify(text)} * ${n} + ${JSON.stringify(extra)}` })

table('Results (5.1)', [
  { s: '5.1', name: 'a result of exactly the cap is whole', ...string('x', 32766), want: { result: 'x'.repeat(32766) } },
  { s: '5.1', name: 'one byte more is described', ...string('x', 32767), want: { result: marker(32769, 'a 32767-char string') } },
  { s: '5.1', name: 'the cap counts bytes, the description code points', ...string('é', 16384), want: { result: marker(32770, 'a 16384-char string') } },
  { s: '5.1', name: 'code points, not UTF-16 units', ...string('😀', 9000), want: { result: marker(36002, 'a 9000-char string') } },
  { s: '5.1', name: 'non-ASCII text counts unescaped', ...string('é', 16383), want: { result: 'é'.repeat(16383) } },
  { s: '5.1', name: 'escapes count as they are written', ...string('\n', 16384), want: { result: marker(32770, 'a 16384-char string') } },
  { s: '5.1', name: 'the example of the contract: an array', node: 'return [...Array(100000).keys()]', python: 'result = list(range(100000))', want: { result: marker(588891, '100000 array elements') } },
  { s: '5.1', name: 'the example of the contract: a string', ...string('x', 40000), want: { result: marker(40002, 'a 40000-char string') } },
  { s: '5.1', name: 'an object: its top-level keys', node: 'return Object.fromEntries([...Array(5000).keys()].map(i => ["k" + i, {a: i}]))', python: 'result = {"k" + str(i): {"a": i} for i in range(5000)}', want: { result: /5000 object keys/ }, wantNode: { result: (r) => / KB \(5000 object keys\);/.test(r) }, wantPython: { result: (r) => / KB \(5000 object keys\);/.test(r) } },
  { s: '5.1', name: 'one element is still elements', node: 'return ["x".repeat(40000)]', python: 'result = ["x" * 40000]', want: { result: marker(40004, '1 array elements') } },
  { s: '5.1', name: 'a tuple is an array', python: 'result = ("x" * 40000, 2)', want: { result: marker(40006, '2 array elements') } },
  { s: '5.1', name: 'a number is a value', python: 'import sys\nsys.set_int_max_str_digits(0)\nresult = 10 ** 40000', want: { result: marker(40001, 'a value') } },
  { s: '5.1', name: 'a large result costs no failure', node: 'return "x".repeat(8 << 20)', python: 'result = "x" * (8 << 20)', want: { result: marker((8 << 20) + 2, `a ${8 << 20}-char string`) } },
  { s: '5.1', name: 'the marker is not capped again', config: { max_result_bytes: 7 }, ...string('x', 6), want: { result: marker(8, 'a 6-char string') } },
  { s: '5.1', name: 'cap 7 at its boundary', config: { max_result_bytes: 7 }, ...string('x', 5), want: { result: 'xxxxx' } },
  { s: '5.1', name: 'cap 1', config: { max_result_bytes: 1 }, node: 'return 12', python: 'result = 12', want: { result: marker(2, 'a value') } },
  { s: '5.1', name: 'cap 1 at its boundary', config: { max_result_bytes: 1 }, node: 'return 1', python: 'result = 1', want: { result: 1 } },
  { s: '5.1', name: 'null is never described', config: { max_result_bytes: 1 }, node: '', python: '', want: { oneOf: [{ result: null }] } },
  { s: '5.1', name: 'a kept runtime shows its id beside the marker', steps: async (t) => {
    const id = await t.keep()
    await t.on(id, string('x', 40000), { result: marker(40002, 'a 40000-char string') })
  } },
  { s: '5.1', name: 'cap 0 is no cap', config: { max_result_bytes: 0 }, ...string('x', 1 << 19), want: { result: 'x'.repeat(1 << 19) } },
  { s: '5.4', name: 'without a cap node has no ceiling', config: { max_result_bytes: 0 }, node: 'return "x".repeat(3 << 20)', want: { result: 'x'.repeat(3 << 20) } },
  { s: '5.4', name: 'without a cap a python result may have 1 MiB', config: { max_result_bytes: 0 }, python: 'result = "x" * (1048576 - 2)', want: { result: 'x'.repeat(1048574) } },
  { s: '5.4', name: 'and not a byte more', config: { max_result_bytes: 0 }, python: 'result = "x" * (1048576 - 1)', want: { exit: 1, result: null, stderr: ['serialized result is 1048577 bytes; max 1048576'] } },
  { s: '5.4', name: 'a cap over the ceiling is as none', config: { max_result_bytes: 4194304 }, python: 'result = "x" * 2000000', want: { exit: 1, stderr: ['serialized result is 2000002 bytes; max 1048576'] } },
])

const print = (text, n) => ({ node: `process.stdout.write(${JSON.stringify(text)}.repeat(${n}))`, python: `print(${JSON.stringify(text)} * ${n}, end="")` })
const printed = (name, text, n, cap, config = { max_stream_bytes: cap }) => ({ s: '5.2', name, config, ...print(text, n), want: { stdout: capped('stdout', text.repeat(n), cap), stderr: '' } })

table('Streams (5.2, 5.3)', [
  printed('exactly the cap is whole', 'x', 16384, 16384, {}),
  printed('one byte more loses the middle', 'x', 16385, 16384, {}),
  printed('two-byte characters across both cuts', 'é', 10000, 16384, {}),
  printed('three-byte characters across both cuts', '€', 10000, 16384, {}),
  printed('four-byte characters across both cuts', '😀', 10000, 16384, {}),
  printed('mixed characters across both cuts', 'a😀é€', 5000, 16384, {}),
  printed('cap 200', 'abcdefg😀', 100, 200),
  printed('cap 199', 'é€', 100, 199),
  printed('cap 100', '😀', 100, 100),
  printed('cap 7: the marker alone', 'x', 1000, 7),
  printed('cap 7 at its boundary', 'x', 7, 7),
  printed('cap 1: the marker alone', 'x', 2, 1),
  printed('cap 1 at its boundary', 'x', 1, 1),
  printed('cap 0 is no cap', 'x', 1 << 20, 0),
  { s: '5.2', name: 'first and last line survive', node: 'for (let i = 0; i < 20000; i++) console.log("line " + i)', python: 'for i in range(20000): print("line", i)', want: { stdout: capped('stdout', Array.from({ length: 20000 }, (_, i) => `line ${i}\n`).join(''), 16384) } },
  { s: '5.2', name: 'stderr is cut by itself', node: 'process.stderr.write("e".repeat(20000)); process.stdout.write("o".repeat(20000))', python: 'import sys\nsys.stderr.write("e" * 20000)\nprint("o" * 20000, end="")', want: { stderr: capped('stderr', 'e'.repeat(20000), 16384), stdout: capped('stdout', 'o'.repeat(20000), 16384) } },
  { s: '5.3', name: 'failure text is part of stderr before the cut', node: 'process.stderr.write("e".repeat(20000) + "\\n"); throw new Error("the end")', python: 'import sys\nsys.stderr.write("e" * 20000 + "\\n")\nraise Exception("the end")', want: { exit: 1, stderr: [/^e{9000}/, '[…stderr truncated: was ~', 'the end'] } },
  { s: '5.2', name: 'bytes that are no text count as they are shown', node: 'require("fs").writeSync(1, Buffer.alloc(6000, 0xff))', python: 'import os\nos.write(1, b"\\xff" * 6000)', want: { stdout: capped('stdout', '\ufffd'.repeat(6000), 16384) } },
  { s: '5.3', name: 'hundreds of megabytes are counted, not kept', node: 'const b = Buffer.alloc(1 << 20, 120); for (let i = 0; i < 200; i++) require("fs").writeSync(1, b); console.log("ANSWER")', python: 'import os\nb = b"x" * (1 << 20)\nfor i in range(200): os.write(1, b)\nprint("ANSWER")', ask: { timeout_ms: 20000 }, want: { stdout: [/^x{9000}/, 'was ~204800 KB', /ANSWER\n$/] } },
  { s: '5.3', name: 'without a cap the ceiling is 4 MiB, and said', config: { max_stream_bytes: 0 }, node: 'process.stdout.write("x".repeat(5 << 20))', python: 'print("x" * (5 << 20), end="")', want: { stdout: [/^x+\n\[…stdout truncated: was ~5120 KB; middle omitted\]\nx+$/], stderr: '[code-runner] captured output was truncated at 4194304 bytes\n' } },
  { s: '5.3', name: 'a cap over the ceiling is the ceiling', config: { max_stream_bytes: 1 << 30 }, node: 'process.stdout.write("x".repeat(5 << 20)); console.error("own")', python: 'import sys\nprint("x" * (5 << 20), end="")\nprint("own", file=sys.stderr)', want: { stderr: 'own\n[code-runner] captured output was truncated at 4194304 bytes\n' } },
  { s: '5.3', name: 'exactly the ceiling is whole', config: { max_stream_bytes: 0 }, node: 'process.stdout.write("x".repeat(4 << 20))', python: 'print("x" * (4 << 20), end="")', want: { stdout: 'x'.repeat(4 << 20), stderr: '' } },
  { s: '5', name: 'caps never touch errors beyond their last kibibyte', node: 'process.stdout.write("o".repeat(5000)); process.stderr.write("e".repeat(5000)); for(;;);', python: 'import sys\nsys.stdout.write("o" * 5000)\nsys.stderr.write("e" * 5000)\nsys.stdout.flush()\nwhile True: pass', ask: { timeout_ms: 400 }, want: { error: 'timeout', message: [/[^o]o{1024}\n/, /[^e]e{1024}$/] } },
])
