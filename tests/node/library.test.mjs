// Node's library inside a sealed fork: what computes works, what would reach out says that it cannot (decision 1).
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startRuntimes } from './runtime.mjs'

const works = {
  'files, synchronous': [`const fs = require('fs'); fs.mkdirSync('d/e', { recursive: true }); fs.writeFileSync('d/a', 'one'); fs.appendFileSync('d/a', 'two')
    fs.renameSync('d/a', 'b'); fs.symlinkSync('b', 'l'); fs.linkSync('b', 'h'); fs.copyFileSync('b', 'c'); fs.truncateSync('c', 2); fs.chmodSync('c', 0o600)
    fs.utimesSync('c', 1, 2); fs.rmSync('d', { recursive: true })
    return [fs.readFileSync('l', 'utf8'), fs.realpathSync('l'), fs.statSync('c').size, fs.statSync('c').mtimeMs, fs.readdirSync('/')]`,
    ['onetwo', '/work/b', 2, 2000, ['work']]],
  'files, by promises': [`const fsp = require('fs/promises'); await fsp.writeFile('p', 'x'.repeat(1e5)); const h = await fsp.open('p'); const { size } = await h.stat()
    await h.close(); await fsp.cp('p', 'q'); let n = 0; for await (const e of await fsp.opendir('.')) n++; return [size, n]`, [100000, 2]],
  streams: [`const fs = require('fs'), zlib = require('zlib'); fs.writeFileSync('p', 'y'.repeat(3e5))
    await require('stream/promises').pipeline(fs.createReadStream('p'), zlib.createGzip(), fs.createWriteStream('p.gz'))
    return zlib.gunzipSync(fs.readFileSync('p.gz')).length`, 300000],
  'the thread pool': [`const { promisify } = require('util'), zlib = require('zlib'), crypto = require('crypto')
    return [(await promisify(zlib.brotliDecompress)(zlib.brotliCompressSync('z'))).toString(), (await promisify(crypto.scrypt)('a', 'b', 16)).length,
      (await promisify(crypto.generateKeyPair)('ec', { namedCurve: 'P-256' })).publicKey.type,
      (await crypto.subtle.digest('SHA-256', new Uint8Array(3))).byteLength]`, ['z', 16, 'public', 32]],
  timers: [`const start = performance.now(); await new Promise((r) => setTimeout(r, 5)); await new Promise((r) => setImmediate(r))
    await require('timers/promises').setTimeout(3); let n = 0; for await (const _ of require('timers/promises').setInterval(1)) if (++n === 3) break
    return performance.now() - start > 8`, true],
  sqlite: [`const { DatabaseSync } = require('node:sqlite'); const d = new DatabaseSync('x.db'); d.exec('create table t(a); insert into t values (1), (2)')
    return d.prepare('select sum(a) s from t').get().s`, 3],
  WebAssembly: [`const bytes = new Uint8Array([0,97,115,109,1,0,0,0,1,7,1,96,2,127,127,1,127,3,2,1,0,7,7,1,3,97,100,100,0,0,10,9,1,7,0,32,0,32,1,106,11])
    return (await WebAssembly.instantiate(bytes)).instance.exports.add(2, 3)`, 5],
  modules: [`const fs = require('fs'); fs.writeFileSync('m.mjs', 'import c from "./c.js"; export default c.x + 1'); fs.writeFileSync('c.js', 'exports.x = require("./j.json").a')
    fs.writeFileSync('j.json', '{"a":9}'); fs.writeFileSync('t.ts', 'export const q: number = 4')
    return [(await import('./m.mjs')).default, (await import('./t.ts')).q, require('/work/c.js').x, (await eval('import("./m.mjs")')).default]`, [10, 4, 9, 10]],
  watching: [`const fs = require('fs'); const changed = new Promise((r) => fs.watch('.', (event, name) => r(name))); setTimeout(() => fs.writeFileSync('w', ''), 5); return changed`, 'w'],
  'messages and storage': [`const { port1, port2 } = new MessageChannel(); const came = new Promise((r) => { port2.onmessage = (e) => { port1.close(); r(e.data) } })
    port1.postMessage(new Map([[1, 2]])); const { AsyncLocalStorage } = require('async_hooks')
    return [(await came).get(1), new AsyncLocalStorage().run(5, () => 1), structuredClone([1n]).length]`, [2, 1, 1]],
  'web streams': [`let n = 0; for await (const c of new Blob(['abc']).stream().pipeThrough(new CompressionStream('gzip'))) n += c.length
    return [n > 0, await new Response('hi').text(), new URL('http://x/?z=1').searchParams.get('z')]`, [true, 'hi', '1']],
  'dates and languages': [`return [new Intl.NumberFormat('de').format(1234.5), Intl.DateTimeFormat().resolvedOptions().timeZone, new Date(0).getHours(),
    Temporal.PlainDate.from('2020-01-31').add({ months: 1 }).toString(), Math.abs(Date.now() - performance.timeOrigin - performance.now()) < 50]`,
    ['1.234,5', 'UTC', 0, '2020-02-29', true]],
  'the prompt of a process': [`let text = ''; for await (const chunk of process.stdin) text += chunk
    return [text, Object.keys(process.env), process.argv, process.execArgv, process.cwd(), process.memoryUsage().heapUsed > 0, require.main === undefined,
      Object.keys(require.cache), require('os').tmpdir(), typeof gc, this === globalThis, process.title]`,
    ['', [], ['node'], [], '/work', true, true, [], '/work', 'undefined', true, 'node']],
  'signals to itself': [`const got = new Promise((r) => process.on('SIGUSR2', r)); process.kill(process.pid, 'SIGUSR2'); return await got`, 'SIGUSR2'],
  'TypeScript': ['interface A { n: number }\nconst f = <T extends A>(a: T): number => a.n;\nreturn f({ n: 2 } as A) satisfies number', 2],
}

// Code that gives the error's message, and the power it names.
const event = (code) => `return await new Promise((r) => { (${code}).on('error', (e) => r(e.message)) })`
const thrown = (code) => `try { ${code} } catch (e) { return e.message }`
const absent = {
  'net.connect': [event(`require('net').connect(80, '127.0.0.1')`), 'network'],
  'net.connect, path': [event(`require('net').connect('/work/socket')`), 'network'],
  'net, imported': [event(`(await import('node:net')).createConnection(80)`).replace('return await new Promise((r)', 'return await new Promise(async (r)'), 'network'],
  'net.listen': [event(`require('net').createServer().listen(0)`), 'network'],
  'http.get': [event(`require('http').get('http://1.1.1.1')`), 'network'],
  'http.listen': [event(`require('http').createServer().listen(0)`), 'network'],
  'https.get': [event(`require('https').get('https://1.1.1.1')`), 'network'],
  http2: [event(`require('http2').connect('http://1.1.1.1')`), 'network'],
  tls: [event(`require('tls').connect(443, '1.1.1.1')`), 'network'],
  dgram: [thrown(`require('dgram').createSocket('udp4')`), 'network'],
  'dns, callback': [`return await new Promise((r) => require('dns').lookup('x', (e) => r(e.message)))`, 'network'],
  'dns, promise': [thrown(`await require('dns/promises').resolve4('x')`), 'network'],
  'dns, resolver': [thrown(`await new (require('dns').promises.Resolver)().resolveMx('x')`), 'network'],
  fetch: [thrown(`await fetch('http://1.1.1.1')`), 'network'],
  WebSocket: [thrown(`new WebSocket('ws://1.1.1.1')`), 'network'],
  EventSource: [thrown(`new EventSource('http://1.1.1.1')`), 'network'],
  ...Object.fromEntries(['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync'].map((name) =>
    [`child_process.${name}`, [thrown(`require('child_process').${name}('ls')`), 'child processes']])),
  'child_process, imported': [thrown(`(await import('child_process')).spawn('ls')`), 'child processes'],
  'child_process, built in': [thrown(`process.getBuiltinModule('child_process').execSync('ls')`), 'child processes'],
  cluster: [thrown(`require('cluster').fork()`), 'child processes'],
  execve: [thrown(`process.execve('/bin/sh')`), 'child processes'],
  Worker: [thrown(`new (require('worker_threads').Worker)('', { eval: true })`), 'worker threads'],
  inspector: [thrown(`new (require('inspector').Session)().connect()`), 'inspector'],
  'inspector.open': [thrown(`require('inspector').open()`), 'inspector'],
  addon: [thrown(`require('fs').writeFileSync('x.node', ''); require('./x.node')`), 'native addons'],
  dlopen: [thrown(`process.dlopen({ exports: {} }, '/work/x.node')`), 'native addons'],
  binding: [thrown(`process.binding('tcp_wrap')`), 'native addons'],
  ffi: [thrown(`require('node:ffi').dlopen('libc.so.6', {})`), 'native addons'],
  report: [thrown('process.report.getReport()'), 'diagnostic reports'],
  tracing: [thrown(`require('trace_events').createTracing({ categories: ['v8'] })`), 'trace events'],
}

describe('library', () => {
  let batch
  const take = async () => {
    if (!batch?.runtimes.length) {
      await batch?.close()
      batch = await startRuntimes(20)
    }
    return batch.next()
  }
  before(take)
  after(() => batch.close())

  for (const [name, [code, expected]] of Object.entries(works))
    test(`${name} works`, { timeout: 20000 }, async () => {
      const answer = await (await take()).oneShot(code)
      assert.deepEqual(answer.value, expected, answer.failure + answer.note)
    })

  test('absent powers say so, at once', async (t) => {
    const runtime = await take()
    for (const [name, [code, power]] of Object.entries(absent))
      await t.test(name, { timeout: 5000 }, async () => {
        const { value, failure } = await runtime.run(code)
        assert.match(String(value), new RegExp(`this sandbox has no ${power}; sandbox-code-runner does$`), failure)
      })
  })

  test('host files are not there', async () => {
    const { failure } = await (await take()).oneShot(`require('fs').readFileSync('/etc/passwd')`)
    assert.match(failure, /^Error: ENOENT: no such file or directory, open '\/etc\/passwd'/)
    assert.doesNotMatch(failure, /node:/)
  })

  const deaths = {
    'process.abort()': [134, 'Aborted'],
    "process.kill(process.pid, 'SIGKILL')": [137, 'Killed'],
    'process.kill(process.pid, 9)': [137, 'Killed'],
  }
  for (const [code, [exit, failure]] of Object.entries(deaths))
    test(`${code} ends the runtime with a status`, async () => {
      const runtime = await take()
      const answer = await runtime.run(code)
      assert.deepEqual([answer.exit, answer.failure, answer.flags], [exit, failure, 1])
      await runtime.closed
    })
})
