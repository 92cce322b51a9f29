// Where the product is; every suite can be pointed at another build by environment variables.
import { fileURLToPath } from 'node:url'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, dirname } from 'node:path'

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
export const build = process.env.CODE_RUNNER_BUILD ?? join(root, 'build')
export const program = join(build, 'bin/code-runner')
export const libexec = join(build, 'libexec/code-runner')

// A private directory, removed when the process ends. In memory where that matters: a journal makes thousands of small
// operations slow, which says nothing about us.
export function temporaryDirectory({ inMemory = false } = {}) {
  const parent = inMemory && existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
  const path = mkdtempSync(join(parent, 'code-runner-test-'))
  process.on('exit', () => rmSync(path, { recursive: true, force: true }))
  return path
}

if (!existsSync(program)) throw new Error(`${program} is missing: run make first`)
