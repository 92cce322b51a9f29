// The product with the probe zygote in the place of both engines: the same worker, the same seal, guests in C.
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, libexec, program, temporaryDirectory } from './paths.mjs'

const probe = join(build, 'tests/probe-zygote')

// Returns the path of a code-runner whose `node` and `python` are the probe.
export function probeProgram() {
  if (!existsSync(probe)) throw new Error(`${probe} is missing: run make first`)
  const directory = temporaryDirectory()
  const parts = join(directory, 'libexec/code-runner')
  mkdirSync(join(directory, 'bin'))
  mkdirSync(parts, { recursive: true })
  copyFileSync(program, join(directory, 'bin/code-runner'))
  copyFileSync(join(libexec, 'cr-init'), join(parts, 'cr-init'))
  for (const name of ['node', 'python-zygote']) copyFileSync(probe, join(parts, name))
  for (const name of ['zygote.cjs', 'python.cwasm']) writeFileSync(join(parts, name), '')
  return join(directory, 'bin/code-runner')
}
