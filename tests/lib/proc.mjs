// What /proc says about a worker and everything below it (proc(5)).
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

const read = (path) => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function stat(pid) {
  const text = read(`/proc/${pid}/stat`)
  const close = text.lastIndexOf(')')
  if (close < 0) return null
  const rest = text.slice(close + 2).split(' ')
  return { pid, name: text.slice(text.indexOf('(') + 1, close), state: rest[0], parent: Number(rest[1]), started: rest[19] }
}

export function processes() {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map((name) => stat(Number(name))).filter(Boolean)
}

export const exists = (pid) => {
  const found = stat(pid)
  return found !== null && found.state !== 'Z'
}

// Everything below `pid`, nearest first; zombies are not counted.
export function descendants(pid) {
  const all = processes()
  const found = []
  for (let parents = [pid]; parents.length; ) {
    const children = all.filter((one) => parents.includes(one.parent))
    found.push(...children)
    parents = children.map((one) => one.pid)
  }
  return found.filter((one) => one.state !== 'Z')
}

// The worker's processes by their part. A zygote is the first child of its init; runtimes are its children, and
// init's other children once their zygote is dead.
export function family(pid) {
  const below = descendants(pid)
  const inits = below.filter((one) => one.parent === pid)
  const zygotes = inits.flatMap((init) => below.filter((one) => one.parent === init.pid).slice(0, 1))
  const known = new Set([...inits, ...zygotes].map((one) => one.pid))
  return { inits, zygotes, runtimes: below.filter((one) => !known.has(one.pid)) }
}

export function descriptors(pid) {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return 0
  }
}

export function descriptorNames(pid) {
  return readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return `${fd} ${readlinkSync(`/proc/${pid}/fd/${fd}`)}`
    } catch {
      return fd
    }
  })
}

// Of /proc/PID/status, in bytes: VmRSS, VmData, ….
export function memory(pid, key = 'VmRSS') {
  const line = read(`/proc/${pid}/status`).match(new RegExp(`^${key}:\\s*(\\d+) kB`, 'm'))
  return line ? Number(line[1]) * 1024 : 0
}

// Private_Dirty of /proc/PID/smaps_rollup, in bytes.
export function privateDirty(pid) {
  const line = read(`/proc/${pid}/smaps_rollup`).match(/^Private_Dirty:\s*(\d+) kB/m)
  return line ? Number(line[1]) * 1024 : 0
}

export const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds))

// Polls until `condition()` is true; the last answer otherwise.
export async function eventually(condition, milliseconds = 3000) {
  for (const limit = performance.now() + milliseconds; performance.now() < limit; await sleep(15)) {
    const answer = await condition()
    if (answer) return answer
  }
  return condition()
}

// How many processes and descriptors a worker and its family have, once that has not changed for `quiet` milliseconds
// (spares are refilled a little after they were used).
export async function holdings(pid, quiet = 200) {
  const count = () => {
    const below = descendants(pid)
    const held = [pid, ...family(pid).inits.map((one) => one.pid), ...family(pid).zygotes.map((one) => one.pid)]
    return { processes: below.length, descriptors: held.reduce((sum, one) => sum + descriptors(one), 0) }
  }
  let last = count()
  let since = performance.now()
  for (const limit = since + 10 * quiet; performance.now() - since < quiet && performance.now() < limit; await sleep(15)) {
    const now = count()
    if (now.processes === last.processes && now.descriptors === last.descriptors) continue
    last = now
    since = performance.now()
  }
  return last
}

// Whether a worker is back at what it held before: null, or what it holds instead.
export async function returnsTo(pid, baseline, milliseconds = 3000) {
  let now
  const fits = await eventually(async () => {
    now = await holdings(pid, 0)
    return now.processes <= baseline.processes && now.descriptors <= baseline.descriptors
  }, milliseconds)
  return fits ? null : now
}
