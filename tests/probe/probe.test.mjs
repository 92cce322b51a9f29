// The seal, tried from inside: each attempt is made by C in a sealed runtime, under both engines' policies. It must fail
// with the stated error, or cost nothing but the runtime that made it.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../lib/paths.mjs'
import { probeProgram } from '../lib/probe.mjs'
import { holdings, memory, returnsTo } from '../lib/proc.mjs'
import { Worker } from '../lib/worker.mjs'

const namesIn = (file) =>
  [...readFileSync(join(root, 'src/guest/probe', file), 'utf8').matchAll(/(?<!define )ENTRY\((\w+)\)/g)].map((match) => match[1])

const refused = (errno) => ({ errno })
const abnormal = { abnormal: true }
const calls = Object.fromEntries(namesIn('attempts.c').map((name) => [name, refused('EPERM')]))
// Its flags are in memory, where a filter cannot look: "not there" makes the C library use clone.
calls.clone_three = refused(['EPERM', 'ENOSYS'])

const missing = refused(['ENOENT', 'EACCES', 'EPERM'])
const files = {
  ...Object.fromEntries(['host_file', 'host_file_above', 'host_program', 'proc_status', 'proc_memory', 'proc_root', 'proc_parent',
    'system_files', 'null_device', 'temporary', 'outside_work', 'through_symlink', 'through_hardlink',
    'change_directory_out'].map((name) => [name, missing])),
  every_descriptor: { returned: [3, 8] },
  fill: { errno: 'ENOSPC', returned: { node: [7, 9], python: [250, 256] } },
  fill_with_holes: { any: true },
  many_files: { errno: 'ENOSPC', returned: { node: [60, 66], python: [19990, 20002] } },
  unlinked_files: { returned: { node: [6, 9], python: [240, 256] } },
  deep_directories: { any: true },
  // Harmless: nosuid, and no_new_privs.
  set_user_bit: { any: true },
}

const memoryCases = {
  one_large_mapping: refused('ENOMEM'),
  all_memory: { errno: 'ENOMEM', returned: { node: [200, 300], python: [130, 170] } },
  late_permission: { errno: 'ENOMEM', returned: { node: [200, 300], python: [130, 170] } },
  heap_break: refused('ENOMEM'),
  stack: abnormal,
  threads: { errno: { node: 'EAGAIN', python: 'EPERM' }, returned: { node: [4, 32], python: [0, 0] } },
  descriptors: { errno: 'EMFILE', returned: [32, 1024] },
  bad_pointer: abnormal,
  abort_itself: abnormal,
  trap: abnormal,
  kill_itself: { either: [refused('EPERM'), abnormal] },
  leave_quietly: { exited: 0 },
  leave_loudly: { exited: 9 },
  leave_as_seal_failure: { exited: 125 },
  spin: { error: 'code-runner::timeout' },
  sleep_forever: { error: 'code-runner::timeout' },
  ignore_signals: { error: 'code-runner::timeout' },
  old_convention: abnormal,
  x32_convention: { either: [abnormal, refused('EPERM')] },
}

const nothing = { result: null, exit: 0 }
const frames = {
  garbage: abnormal,
  too_long: abnormal,
  half_a_frame: { error: 'code-runner::timeout' },
  done_of_nobody: abnormal,
  done_cut_short: abnormal,
  unknown_type: abnormal,
  unknown_operation: abnormal,
  value_not_json: nothing,
  value_with_lines: nothing,
  value_not_text: nothing,
  value_forges_answer: nothing,
  value_empty: nothing,
  value_half_surrogate: nothing,
  kind_unknown: abnormal,
  omitted_cut_short: nothing,
  exit_code_huge: { result: null, exit: 1 },
  exit_code_negative: { result: null, exit: 255 },
  all_flags: { error: 'code-runner::resource_exhausted' },
  value_deep: { exit: 0 },
  done_twice: { result: 7, exit: 0 },
  call_flood: { error: 'code-runner::timeout', bounded: true },
  mark_flood: { error: 'code-runner::timeout', bounded: true },
  output_flood: { error: 'code-runner::timeout', bounded: true },
  output_then_spin: { error: 'code-runner::timeout', message: '[last of stdout]\nlast words' },
  close_all: abnormal,
  close_stream: abnormal,
}

const groups = { 'system calls': calls, files, memory: memoryCases, 'frames on the stream': frames }
const memoryAllowed = 32 << 20
const table = []
let worker, kept, baseline, counts

before(async () => {
  worker = await Worker.start({ bin: probeProgram(), config: { default_timeout_ms: 3000 } })
  kept = { node: await worker.keep('node', 'count'), python: await worker.keep('python', 'count') }
  counts = { node: 1, python: 1 }
  baseline = await holdings(worker.pid)
})

after(async () => {
  const wide = Math.max(...table.map((row) => row[1].length))
  for (const [lang, name, got] of table) console.log(`# ${lang.padEnd(6)} ${name.padEnd(wide)} ${got}`)
  await worker.close()
})

const pick = (value, lang) => (value !== null && typeof value === 'object' && !Array.isArray(value) && lang in value ? value[lang] : value)

function check(expected, lang, answer) {
  const { result, error } = answer
  if (expected.either) {
    const failures = []
    for (const one of expected.either) {
      try {
        return check(one, lang, answer)
      } catch (failure) {
        failures.push(failure.message)
      }
    }
    assert.fail(failures.join('\n'))
  }
  if (expected.error) {
    assert.equal(error?.code, expected.error, JSON.stringify(answer))
    if (expected.message) assert.ok(error.message.includes(expected.message), error.message)
    return
  }
  assert.ok(result, JSON.stringify(answer))
  if (expected.abnormal) {
    assert.notEqual(result.exit_code, 0, JSON.stringify(result))
    assert.match(result.stderr, /ended abnormally/)
    assert.equal(result.result, null)
    return
  }
  if (expected.exited !== undefined) {
    assert.notEqual(result.exit_code, 0)
    assert.ok(result.stderr.includes(`exited with status ${expected.exited}`), JSON.stringify(result))
    return
  }
  if (expected.exit !== undefined) {
    assert.equal(result.exit_code, expected.exit)
    if ('result' in expected) assert.deepEqual(result.result, expected.result)
    return
  }
  assert.equal(result.exit_code, 0, JSON.stringify(result))
  assert.equal(result.result.text, '')
  if (expected.errno) assert.ok([pick(expected.errno, lang)].flat().includes(result.result.errno), JSON.stringify(result.result))
  const range = pick(expected.returned, lang)
  if (range) assert.ok(result.result.returned >= range[0] && result.result.returned <= range[1], JSON.stringify(result.result))
  if (expected.errno && !range) assert.equal(result.result.returned, -1)
}

async function unharmed() {
  for (const lang of ['node', 'python']) {
    const { result, error } = await worker.run({ runtime_id: kept[lang], code: 'count' })
    assert.equal(error, undefined, JSON.stringify(error))
    assert.equal(result.result.returned, ++counts[lang], 'the kept runtime is not the one it was')
  }
  assert.equal(await returnsTo(worker.pid, baseline), null, JSON.stringify(baseline))
}

for (const [group, cases] of Object.entries(groups))
  for (const lang of ['node', 'python'])
    describe(`${group}, ${lang}`, () => {
      for (const [name, expected] of Object.entries(cases))
        test(name, async () => {
          const timed = expected.error === 'code-runner::timeout'
          let peak = 0
          const sampling = setInterval(() => (peak = Math.max(peak, memory(worker.pid))), 10)
          const answer = await worker.run({ lang, code: name, ...(timed && { timeout_ms: expected.bounded ? 2000 : 300 }) })
          clearInterval(sampling)
          const { result, error } = answer
          const got = error ? error.code : (result.result?.errno || (result.result?.returned ?? `exit ${result.exit_code}`))
          table.push([lang, name, `${got}`])
          check(expected, lang, answer)
          await unharmed()
          if (expected.bounded) assert.ok(peak < memoryAllowed, `the worker grew to ${peak} bytes`)
        })
    })

test('every attempt of the probe is in the table above', () => {
  const known = Object.values(groups).flatMap((cases) => Object.keys(cases))
  const there = ['attempts.c', 'files.c', 'memory.c', 'frames.c'].flatMap(namesIn)
  assert.deepEqual(there.filter((name) => !known.includes(name)), [])
  assert.ok(known.length > 150)
})

test('a flood on one runtime does not delay another', async () => {
  for (const flood of ['spin', 'call_flood', 'mark_flood', 'output_flood']) {
    const floods = [worker.run({ lang: 'node', code: flood, timeout_ms: 1500 })]
    const times = []
    for (let i = 0; i < 40; i++) {
      const started = performance.now()
      await worker.run({ lang: 'python', code: 'count' })
      times.push(performance.now() - started)
    }
    times.sort((a, b) => a - b)
    await Promise.all(floods)
    assert.ok(times[20] < 25, `${flood}: another runtime's run takes ${times[20].toFixed(1)} ms (median)`)
  }
})
