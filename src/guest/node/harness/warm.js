// The zygote's last act: everything a runtime may want is loaded, and the way of a run is taken a few hundred times.

const builtins = [
  'assert', 'async_hooks', 'buffer', 'console', 'crypto', 'diagnostics_channel', 'events', 'fs', 'fs/promises', 'module',
  'os', 'path', 'perf_hooks', 'process', 'querystring', 'readline', 'sqlite', 'stream', 'stream/promises', 'stream/web',
  'string_decoder', 'timers', 'timers/promises', 'url', 'util', 'v8', 'vm', 'zlib',
];

const samples = [
  'return 2 + 2',
  'console.log("n =", 42, { a: [1, "two", null] }); return { a: 1, b: [true, "text"] }',
  'await null; const m = new Map([[1, { x: 2 }]]); console.error("%s %o", "x", m); return [...m.keys()]',
  'throw new TypeError("sample")',
  'const fs = require("fs"); return [typeof fs.readFileSync, JSON.stringify({ a: [1, 2] }), typeof iii]',
  'let s = 0; for (let i = 0; i < 100; i++) s += i; return `${s} ${new Date(0).toISOString()}`',
  'const f = function*() { yield* [3, 1, 2] }; return [...f()].sort().map(String).filter(Boolean).join(",")',
  'syntax error',
  'process.stdout.write("x"); return Buffer.from("abc").toString("base64")',
  'class A { #x = 1; get x() { return this.#x } } return [new A().x, /(\\d+)/.exec("a12")[1], new Set([1]).size]',
];

function rehearse(number) {
  setup('code-runner::rehearsal::', 5000, 30000, 1, 1, true);
  return startRun(REHEARSAL, 0, samples[number % samples.length], 0);
}

// What a fork must not share with the zygote. V8 seeds Math.random at its first use, which the zygote leaves to its forks;
// Node remembers the current directory it had. (OpenSSL notices forks by itself.)
function wake(seed, directory = '/work') {
  setFlags(`--random-seed=${seed % 0x7fffffff + 1}`);
  chdir(directory);
}

// V8 sweeps late, which would leave the work to every fork; to count code it has to finish.
function settle() {
  for (let i = 0; i < 3; i++) wake(i, '/');
  collect();
  heapCodeStatistics();
}

// The collector, without a global that guests would see.
function takeCollector() {
  setFlags('--expose-gc');
  const gc = require('node:vm').runInNewContext('gc');
  setFlags('--no-expose-gc');
  return gc;
}

function warmModules() {
  for (const name of builtins) require(`node:${name}`);
  for (const name of ['URL', 'AbortController', 'TextEncoder', 'TextDecoder', 'structuredClone', 'performance', 'crypto',
                      'Blob', 'queueMicrotask', 'setImmediate', 'WebAssembly', 'Intl', 'navigator']) {
    void globalThis[name];
  }
  new TextDecoder().decode(new TextEncoder().encode('x'));
  new Date().getTimezoneOffset();
  structuredClone({ a: [1] });
}

const collect = takeCollector();
const heapCodeStatistics = require('node:v8').getHeapCodeStatistics;
installStreams();
warmModules();
installAbsences();
installProcess();
installModules();
addon.serve(process.version, dispatch, ended);
