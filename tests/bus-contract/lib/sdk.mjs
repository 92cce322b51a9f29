// The real client library, from the packages that tests/bus installs.
import { createRequire } from 'node:module'

const require = createRequire(new URL('../../bus/package.json', import.meta.url))

process.env.OTEL_ENABLED = 'false'
// The library reports its own connection; the tests look at answers.
for (const level of ['log', 'debug', 'info', 'warn', 'error']) {
  const print = console[level]
  console[level] = (first, ...rest) => /^\[(iii|OTel)\]/.test(String(first)) || print(first, ...rest)
}

export const { registerWorker, TriggerAction, InvocationError } = require('iii-sdk')

export const connect = (url, options = {}) =>
  registerWorker(url, {
    otel: { enabled: false },
    enableMetricsReporting: false,
    reconnectionConfig: { initialDelayMs: 50, maxDelayMs: 200 },
    ...options,
  })
