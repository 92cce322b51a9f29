// The command line: run, doctor, bench, serve; and every command that README.md shows.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, program, root, temporaryDirectory } from '../lib/paths.mjs'

const directory = temporaryDirectory()
// SHLVL: a bash whose standard input is a socket would read a start-up file otherwise.
const quiet = { PATH: process.env.PATH, CODE_RUNNER_LOG: 'error', SHLVL: '1' }

function runner(args, { input = '', bin = program, env = quiet } = {}) {
  const { status, stdout, stderr } = spawnSync(bin, args, { input, encoding: 'utf8', timeout: 60000, env })
  return { status, stdout, stderr }
}

const one = (lang, code, ...more) => runner(['run', '--lang', lang, ...more, code])

describe('run', () => {
  const cases = [
    ['the result is printed last, as JSON', ['node', 'console.log("a"); return {x: [1, "b"]}'], { status: 0, stdout: 'a\n{"x":[1,"b"]}\n', stderr: '' }],
    ['a null result is not printed', ['python', 'print("a")'], { status: 0, stdout: 'a\n', stderr: '' }],
    ['an exact integer', ['python', 'result = 2 ** 100'], { status: 0, stdout: '1267650600228229401496703205376\n' }],
    ['streams are separate', ['node', 'console.log("o"); console.error("e")'], { status: 0, stdout: 'o\n', stderr: 'e\n' }],
    ['output is not cut', ['node', 'process.stdout.write("x".repeat(100000))'], { status: 0, stdout: 'x'.repeat(100000) }],
    ['a result is not cut', ['node', 'return "x".repeat(100000)'], { status: 0, stdout: `"${'x'.repeat(100000)}"\n` }],
    ['a failure exits with 1', ['node', 'console.log("a"); throw new Error("no")'], { status: 1, stdout: 'a\n', stderr: /^Error: no\n/ }],
    ['sys.exit is the exit status', ['python', 'import sys\nsys.exit(7)'], { status: 7, stdout: '', stderr: '' }],
    ['process.exit is the exit status', ['node', 'process.exit(9)'], { status: 9 }],
    ['a syntax error', ['python', 'x = ('], { status: 1, stderr: /\(line 1\)\n$/ }],
    ['a deadline is an infrastructure error', ['node', 'for(;;);', '--timeout-ms', '200'], { atLeast: 70, stderr: /^code-runner::timeout: execution exceeded its deadline\n$/ }],
    ['what was printed before a deadline was seen already', ['python', 'print("seen", flush=True)\nwhile True: pass', '--timeout-ms=300'], { atLeast: 70, stdout: 'seen\n', stderr: 'code-runner::timeout: execution exceeded its deadline\n' }],
    ['memory is an infrastructure error', ['python', 'b = bytearray(10**9)', '--memory-mb', '64'], { atLeast: 70, stderr: /^code-runner::resource_exhausted: / }],
    ['--memory-mb gives room', ['python', 'result = len(bytearray(200 << 20))', '--memory-mb=400'], { status: 0, stdout: `${200 << 20}\n` }],
    ['empty code', ['node', ''], { status: 0, stdout: '', stderr: '' }],
    ['the guest\'s stdin is at its end', ['python', 'import sys\nresult = sys.stdin.read()'], { status: 0, stdout: '""\n' }],
  ]
  const fits = (got, want, shown) => (want instanceof RegExp ? assert.match(got, want, shown) : assert.equal(got, want, shown))
  for (const [name, args, want] of cases)
    test(name, () => {
      const got = one(...args)
      if ('status' in want) assert.equal(got.status, want.status, JSON.stringify(got))
      if (want.atLeast) assert.ok(got.status >= want.atLeast, JSON.stringify(got))
      if ('stdout' in want) fits(got.stdout, want.stdout, 'stdout')
      if ('stderr' in want) fits(got.stderr, want.stderr, 'stderr')
    })

  test('output appears as it is written', async () => {
    const child = spawn(program, ['run', '--lang', 'python', 'import time\nprint("first", flush=True)\ntime.sleep(1.5)\nprint("second")'], { env: quiet })
    const times = {}
    child.stdout.setEncoding('utf8').on('data', (text) => {
      for (const word of ['first', 'second']) if (text.includes(word)) times[word] = performance.now()
    })
    await new Promise((resolve) => child.on('close', resolve))
    assert.ok(times.second - times.first > 1000, JSON.stringify(times))
  })

  test('--json prints the response object', () => {
    const { status, stdout } = one('node', 'console.log("a"); throw new Error("x")', '--json')
    const response = JSON.parse(stdout)
    assert.equal(status, 1)
    assert.deepEqual([response.stdout, response.exit_code, response.success, response.result], ['a\n', 1, false, null])
    const success = one('node', 'return 1', '--json')
    assert.equal(success.status, 0)
    assert.equal(JSON.parse(success.stdout).result, 1)
  })

  test('code from a file and from standard input', () => {
    const file = join(directory, 'script.py')
    writeFileSync(file, 'result = "from a file"')
    assert.deepEqual(runner(['run', '--lang', 'python', '--file', file]), { status: 0, stdout: '"from a file"\n', stderr: '' })
    assert.deepEqual(runner(['run', '--lang', 'python', '-'], { input: 'result = "from a pipe"' }), { status: 0, stdout: '"from a pipe"\n', stderr: '' })
    const missing = runner(['run', '--lang', 'python', '--file', join(directory, 'none')])
    assert.ok(missing.status !== 0 && missing.stderr.includes('none'))
  })

  test('mistakes in the arguments show the usage', () => {
    for (const args of [['run'], ['run', 'return 1'], ['run', '--lang', 'ruby', '1'], ['run', '--lang', 'node'], ['run', '--lang', 'node', '--nope', '1'],
      ['run', '--lang', 'node', '--timeout-ms', 'x', '1'], ['run', '--lang', 'node', '--timeout-ms', '-5', '1'], ['run', '--lang', 'node', '1', '2'], ['nope']]) {
      const { status, stderr, stdout } = runner(args)
      assert.equal(status, 2, args.join(' '))
      assert.match(stderr, /usage: code-runner/)
      assert.equal(stdout, '')
    }
  })

  test('code that is not UTF-8 is refused or repaired, not a crash', () => {
    const { status } = runner(['run', '--lang', 'node', '-'], { input: Buffer.from([0x72, 0xff, 0xfe]) })
    assert.ok(status > 0 && status < 128, `${status}`)
  })
})

describe('the program', () => {
  test('--version and --help', () => {
    assert.match(runner(['--version']).stdout, /^code-runner \d+\.\d+\.\d+\n$/)
    for (const args of [['--help'], ['run', '--help'], ['serve', '--help']]) {
      const { status, stdout } = runner(args)
      assert.equal(status, 0)
      assert.match(stdout, /usage: code-runner/)
    }
  })

  test('doctor names engines, layers, limits and boot times', () => {
    const { status, stdout } = runner(['doctor'])
    assert.equal(status, 0, stdout)
    for (const fragment of [/^node +.*26\.\d+\.\d+.* \d+ ms$/m, /^python +.*3\.13\.\d+.* \d+ ms$/m, /^sandbox +.*seccomp/m, /32 runtimes/, /5000 ms/, /30000 ms/]) assert.match(stdout, fragment)
  })

  test('doctor obeys --config and reports an engine that is missing', () => {
    const config = join(directory, 'config.yaml')
    writeFileSync(config, 'max_runtimes: 7\ndefault_timeout_ms: 1234\n')
    assert.match(runner(['doctor', '--config', config]).stdout, /7 runtimes; run 1234 ms/)
    const broken = join(directory, 'broken')
    mkdirSync(join(broken, 'libexec/code-runner'), { recursive: true })
    cpSync(program, join(broken, 'bin/code-runner'))
    const { status, stdout } = runner(['doctor'], { bin: join(broken, 'bin/code-runner') })
    assert.notEqual(status, 0)
    assert.match(stdout, /BROKEN/)
  })

  test('the folder can be moved', () => {
    const elsewhere = join(directory, 'moved')
    cpSync(join(build, 'bin'), join(elsewhere, 'bin'), { recursive: true })
    cpSync(join(build, 'libexec'), join(elsewhere, 'libexec'), { recursive: true })
    for (const [lang, code] of [['node', 'return 42'], ['python', 'result = 42']])
      assert.deepEqual(runner(['run', '--lang', lang, code], { bin: join(elsewhere, 'bin/code-runner') }), { status: 0, stdout: '42\n', stderr: '' })
  })

  test('bench prints one JSON object', () => {
    const { status, stdout } = runner(['bench', '--lang', 'python', '--runs', '50', 'result = 1'])
    assert.equal(status, 0)
    const figures = JSON.parse(stdout)
    assert.ok(figures.runs === 50 && figures.p50_us > 0 && figures.p99_us >= figures.p50_us)
  })
})

// A block of README.md that is marked sh; make targets are long and have their own place.
const blocks = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/```sh\n([^]*?)```/g)].map((match) => match[1])
const commands = blocks.flatMap((block) => block.trim().split('\n')).map((line) => line.replace(/ {2,}#.*$/, '').trim()).filter((line) => line && !line.startsWith('#'))
const ours = commands.filter((line) => line.includes('build/bin/code-runner'))
const expected = {
  // By a piece of the command: what its output has, and its exit status where that is not 0.
  'n => n * n': { has: 'hi\n[1,4,9]' },
  '2 ** 100': { has: '1267650600228229401496703205376' },
  'from a pipe': { has: 'from a pipe' },
  'for (;;);': { atLeast: 70, has: 'code-runner::timeout' },
  'return 6 * 7': { has: '"result":42' },
  doctor: { has: 'sandbox' },
  bench: { has: 'p50_us' },
}

describe('README.md', () => {
  test('shows commands', () => assert.ok(ours.length >= 5, commands.join('\n')))

  test('every make target it names is there', () => {
    for (const line of commands.filter((command) => command.startsWith('make '))) {
      const { status, stderr } = spawnSync('make', ['-n', line.split(' ')[1]], { cwd: root, encoding: 'utf8' })
      assert.equal(status, 0, `${line}: ${stderr}`)
    }
  })

  // The first command serves, on a port of its own here; the others call it.
  test('the bus, as shown', { timeout: 60000 }, async () => {
    const [, block] = /```sh bus\n([^]*?)```/.exec(readFileSync(join(root, 'README.md'), 'utf8'))
    const [serve, ...calls] = block.trim().split('\n')
    assert.equal(serve, 'build/bin/code-runner serve --embedded --console')
    const env = { ...quiet, CODE_RUNNER_LOG: 'info' }
    const worker = spawn(program, ['serve', '--embedded=127.0.0.1:0', '--console=0'], { cwd: temporaryDirectory(), env })
    try {
      let printed = '', logged = ''
      worker.stdout.on('data', (bytes) => (printed += bytes))
      worker.stderr.on('data', (bytes) => (logged += bytes))
      while (!/ready\n/.test(logged) || !/console: /.test(printed)) await new Promise((resolve) => setTimeout(resolve, 20))
      const url = /ws:\S+/.exec(printed)[0]
      assert.match(printed, /console: http:\/\/127\.0\.0\.1:\d+\/[0-9a-f-]{36}\//)
      await new Promise((resolve) => setTimeout(resolve, 200))
      const outputs = calls.map((line) => {
        const { status, stdout, stderr } = spawnSync('bash', ['-c', `${line.replaceAll('build/bin/code-runner', program)} --url ${url}`], { encoding: 'utf8', env: quiet })
        assert.equal(status, 0, `${line}: ${stderr}`)
        return stdout
      })
      assert.match(outputs[0], /"result": 42/)
      assert.match(outputs[1], /"registered": true/)
      assert.equal(outputs[2], '"hello Ada"\n')
      assert.match(outputs[3], /"my-app::greet"/)
    } finally {
      worker.kill('SIGTERM')
    }
    const [status] = await new Promise((resolve) => worker.on('exit', (...how) => resolve(how)))
    assert.equal(status, 0)
  })

  for (const line of ours)
    test(line, { timeout: 60000 }, () => {
      const { status, stdout, stderr } = spawnSync('bash', ['-o', 'pipefail', '-c', line.replaceAll('build/bin/code-runner', program)], { cwd: root, encoding: 'utf8', env: quiet, timeout: 60000 })
      const want = Object.entries(expected).find(([piece]) => line.includes(piece))?.[1] ?? {}
      if (want.atLeast) assert.ok(status >= want.atLeast, `${status}`)
      else assert.equal(status, 0, stderr)
      if (want.has) assert.ok((stdout + stderr).includes(want.has), stdout + stderr)
    })
})
