// Checks one answer of `run` against what a case wants.
//   error: code without "code-runner::"        message: what its text says
//   exit (default 0), result, stdout, stderr   raw: fragments of the answer as it came
//   id: true when a runtime_id is due          ms: the most milliseconds, by the worker's own clock
// A text is wanted exactly; a pattern has to match; of an array every element has to be in it.
import assert from 'node:assert/strict'

const runtimeId = /rt-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/

export function textIs(got, wanted, what) {
  if (typeof wanted === 'string') return assert.equal(got, wanted, `${what}: ${JSON.stringify(got)}`)
  for (const one of [wanted].flat()) {
    if (one instanceof RegExp) assert.match(got, one, what)
    else assert.ok(got.includes(one), `${what} lacks ${JSON.stringify(one)}: ${JSON.stringify(got.slice(0, 2000))}`)
  }
}

function checkError(answer, want) {
  const { error } = answer
  assert.ok(error, `an error ${want.error} was due: ${answer.raw.slice(0, 2000)}`)
  assert.equal(error.code, want.error.includes('_not_found') && want.error.startsWith('function') ? want.error : `code-runner::${want.error}`, error.message)
  assert.ok(error.message.startsWith(`${error.code}: `), `the message starts with the code: ${error.message}`)
  if (want.message) textIs(error.message, typeof want.message === 'string' ? [want.message] : want.message, 'message')
  if (!want.id) assert.doesNotMatch(error.message, runtimeId, 'nobody learns an id')
  assert.deepEqual(Object.keys(answer).sort(), ['error', 'id'])
}

const keys = ['duration_ms', 'exit_code', 'result', 'stderr', 'stdout', 'success']

function checkShape(result, want) {
  assert.deepEqual(Object.keys(result).sort(), want.id ? [...keys, 'runtime_id'].sort() : keys)
  if (want.id) assert.match(result.runtime_id, new RegExp(`^${runtimeId.source}$`))
  assert.equal(typeof result.stdout, 'string')
  assert.equal(typeof result.stderr, 'string')
  assert.ok(Number.isInteger(result.exit_code))
  assert.equal(result.success, result.exit_code === 0)
  assert.ok(Number.isInteger(result.duration_ms) && result.duration_ms >= 0)
  if (result.exit_code !== 0) assert.equal(result.result, null, 'a failed run has no result')
}

export function check(answer, want) {
  if (want.oneOf) {
    const failures = []
    for (const one of want.oneOf) {
      try {
        return check(answer, one)
      } catch (failure) {
        failures.push(failure.message)
      }
    }
    return assert.fail(failures.join('\n or '))
  }
  if (want.error) return checkError(answer, want)
  const { result, error } = answer
  assert.ok(result, `a response was due: ${error?.message}`)
  checkShape(result, want)
  assert.equal(result.exit_code, want.exit ?? 0, JSON.stringify(result).slice(0, 2000))
  if ('result' in want) {
    if (typeof want.result === 'function') assert.ok(want.result(result.result), JSON.stringify(result.result).slice(0, 500))
    else assert.deepEqual(result.result, want.result)
  }
  if ('stdout' in want) textIs(result.stdout, want.stdout, 'stdout')
  if ('stderr' in want) textIs(result.stderr, want.stderr, 'stderr')
  if ('raw' in want) textIs(answer.raw, [want.raw].flat(), 'the answer')
  if ('ms' in want) assert.ok(result.duration_ms <= want.ms, `${result.duration_ms} ms`)
  if (!want.id) assert.doesNotMatch(answer.raw, runtimeId, 'nobody learns an id')
}
