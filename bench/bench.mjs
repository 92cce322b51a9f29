// Measures, compares with what was promised (floor and aim) and with plain processes in the same run, prints one table.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { program, root } from '../tests/lib/paths.mjs'
import { descendants, privateDirty, sleep } from '../tests/lib/proc.mjs'
import { Worker } from '../tests/lib/worker.mjs'
import { available, busFigures } from './bus.mjs'
import { scripts, timed } from './scripts.mjs'

const quick = process.argv.includes('--quick')
const scale = quick ? 0.2 : 1
const rows = []
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]
const ms = (value) => `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`
const trivial = { node: 'return 2+2', python: 'result = 2+2' }

// `better`: -1 when less is better, 1 when more is. `show` makes text of a value.
function row(what, floor, aim, value, better, show, more = '') {
  const meets = (limit) => (better < 0 ? value <= limit : value >= limit)
  rows.push([what, show(floor), show(aim), show(value), meets(aim) ? 'aim met' : meets(floor) ? 'floor met' : 'MISSED', more])
}

function inside(lang, ...args) {
  const text = execFileSync(program, ['bench', '--lang', lang, ...args, trivial[lang]], { encoding: 'utf8', env: { CODE_RUNNER_LOG: 'error' }, timeout: 300000 })
  return JSON.parse(text)
}

function baseline(command, args, runs) {
  const times = []
  for (let i = 0; i < runs; i++) {
    const started = performance.now()
    const { status } = spawnSync(command, args, { stdio: 'ignore' })
    if (status !== 0) throw new Error(`${command} ended with ${status}`)
    times.push(performance.now() - started)
  }
  return median(times)
}

const node = join(root, 'build/deps/node/bin/node')
// The executable itself: a wrapper script around it would flatter us.
const python = execFileSync('python3', ['-c', 'import sys; print(sys._base_executable)'], { encoding: 'utf8' }).trim()
const plain = { node: (code) => [node, ['-e', code]], python: (code) => [python, ['-I', '-S', '-c', code]] }

function oneShots() {
  const floors = { node: [1, 0.3, 20, 100], python: [2, 0.5, 5, 20] }
  for (const lang of ['node', 'python']) {
    const [floor, aim, ratioFloor, ratioAim] = floors[lang]
    const figures = inside(lang, '--runs', `${1000 * scale}`, '--pause-ms', '5')
    const p50 = figures.p50_us / 1000
    row(`${lang} one-shot, request to answer, p50`, floor, aim, p50, -1, ms, `p95 ${ms(figures.p95_us / 1000)}, p99 ${ms(figures.p99_us / 1000)}`)
    const process = baseline(...plain[lang](lang === 'node' ? 'console.log(2+2)' : 'print(2+2)'), 40 * scale)
    row(`${lang}: times faster than a process`, ratioFloor, ratioAim, process / p50, 1, (value) => `${value.toFixed(0)}x`, `${lang === 'node' ? 'node -e' : 'python3 -I -S -c'}: ${ms(process)}`)
  }
}

function throughput() {
  for (const [lang, floor, aim] of [['node', 700, 1500], ['python', 500, 1500]]) {
    const figures = inside(lang, '--runs', `${3000 * scale}`, '--at-once', '8')
    row(`${lang} one-shots per second, 8 callers`, floor, aim, figures.per_second, 1, (value) => `${value}`, `p50 ${ms(figures.p50_us / 1000)}, p99 ${ms(figures.p99_us / 1000)}`)
  }
}

async function idleMemory() {
  const mb = (value) => `${(value / 1048576).toFixed(2)} MB`
  for (const [lang, aim] of [['node', 1.5], ['python', 1]]) {
    const worker = await Worker.start({ args: ['--spares', '0'] })
    const before = new Set(descendants(worker.pid).map((one) => one.pid))
    const ids = []
    for (let i = 0; i < 5; i++) ids.push(await worker.keep(lang, trivial[lang]))
    await sleep(500)
    const values = descendants(worker.pid).filter((one) => !before.has(one.pid)).map((one) => privateDirty(one.pid))
    row(`${lang}: private memory of an idle kept runtime`, 4 << 20, aim * 1048576, median(values), -1, mb, `Private_Dirty of ${values.length}`)
    await worker.close()
  }
}

async function readiness() {
  const times = []
  for (let i = 0; i < 5; i++) {
    const started = performance.now()
    const worker = await Worker.start()
    times.push(performance.now() - started)
    await worker.close()
  }
  row('worker ready after start', 1000, 250, median(times), -1, ms, 'start of the process to the first answer')
}

function timePlain(lang, code) {
  const tail = lang === 'node' ? 'console.log(ns, check)' : 'print(ns, check)'
  const [command, args] = plain[lang](timed[lang](code) + tail)
  const [ns, check] = execFileSync(command, args, { encoding: 'utf8' }).trim().split(' ')
  return { ns: Number(ns), check }
}

async function timeGuest(worker, lang, code) {
  const tail = lang === 'node' ? 'return [ns, check]' : 'result = [ns, check]'
  const { result, error } = await worker.run({ lang, code: timed[lang](code) + tail, timeout_ms: 30000 })
  if (!result?.result) throw new Error(JSON.stringify(error ?? result))
  return { ns: result.result[0], check: `${result.result[1]}` }
}

async function cpuBound() {
  const worker = await Worker.start()
  for (const [lang, floor, aim] of [['node', 1.15, 1], ['python', 3, 2]]) {
    const ratios = {}
    for (const [name, code] of Object.entries(scripts[lang])) {
      const pairs = []
      for (let i = 0; i < (quick ? 2 : 5); i++) {
        const own = await timeGuest(worker, lang, code)
        const theirs = timePlain(lang, code)
        if (own.check !== theirs.check) throw new Error(`${lang} ${name}: ${own.check} is not ${theirs.check}`)
        pairs.push([own.ns, theirs.ns])
      }
      ratios[name] = Math.min(...pairs.map((pair) => pair[0])) / Math.min(...pairs.map((pair) => pair[1]))
    }
    const values = Object.values(ratios)
    const mean = Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length)
    row(`${lang}: CPU-bound script, time against plain ${lang === 'node' ? 'node' : 'python3'}`, floor, aim, mean, -1, (value) => value.toFixed(2),
      Object.entries(ratios).map(([name, ratio]) => `${name} ${ratio.toFixed(2)}`).join(', '))
  }
  await worker.close()
}

function print() {
  const head = ['what', 'at least', 'aim', 'measured', 'verdict', '']
  const width = head.map((_, column) => Math.max(...[head, ...rows].map((cells) => cells[column].length)))
  for (const cells of [head, ...rows]) console.log(cells.map((cell, column) => cell.padEnd(width[column])).join('  ').trimEnd())
}

const model = readFileSync('/proc/cpuinfo', 'utf8').match(/^model name\s*: (.*)$/m)?.[1] ?? os.arch()
const version = (command) => execFileSync(command, ['--version'], { encoding: 'utf8' }).trim()
console.log(`${os.cpus().length} x ${model}, ${(os.totalmem() / 2 ** 30).toFixed(0)} GiB, Linux ${os.release()}, load ${os.loadavg()[0].toFixed(2)}`)
console.log(`baselines: node ${version(node)}, ${version(python)}\n`)
oneShots()
throughput()
await idleMemory()
await readiness()
await cpuBound()
if (available) await busFigures(row, ms, scale)
else console.log('no figures over the bus: tests/bus has no node_modules (npm ci there)\n')
print()
process.exit(rows.some((cells) => cells[4] === 'MISSED') ? 1 : 0)
