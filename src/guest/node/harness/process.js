// What `process` shows, and how it ends: decision 1.

const EventEmitter = require('node:events');
const emit = EventEmitter.prototype.emit;
const listenerCount = EventEmitter.prototype.listenerCount;
const rawKill = process._kill;
const { SIGKILL } = require('node:os').constants.signals;
const heapStatistics = require('node:v8').getHeapStatistics;

function exitCodeOf(code) {
  if (code === undefined || code === null) return 0;
  const number = SafeNumber(code);
  if (!NumberIsInteger(number)) throw typeError('the exit code must be an integer');
  return number;
}

function exit(code) {
  const value = exitCodeOf(code);
  const turn = guiltyTurn();
  if (turn) {
    const isRun = turn.kind === FRAME_RUN;
    const failure = value === 0 && turn.kind !== FRAME_DEFINE || isRun ? undefined : `process.exit(${value}) was called`;
    answer(turn, failure && value === 0 ? 1 : value, 0, undefined, failure, undefined);
  }
  throw leaving;
}

// The process is over, as with a real one; whoever called gets the status a shell would show.
function die(status, text) {
  const turn = guiltyTurn();
  if (turn) answer(turn, status, DONE_LOST, undefined, text, undefined);
  addon.leave(status);
}

// Others are out of reach; SIGKILL of itself must not look as if the host had done it.
function kill(pid, signal) {
  if (pid === addon.pid() && signal === SIGKILL) die(128 + SIGKILL, 'Killed');
  return rawKill(pid, signal);
}

function memoryUsage() {
  const heap = heapStatistics();
  return {
    rss: addon.resident(),
    heapTotal: heap.total_heap_size,
    heapUsed: heap.used_heap_size,
    external: heap.external_memory,
    arrayBuffers: 0,
  };
}

// Exceptions that no code of the guest catches; Node looks `_fatalException` up each time.
function installLastResort() {
  const original = process._fatalException;
  process.setUncaughtExceptionCaptureCallback(() => {});
  let captured = null;
  define(process, 'setUncaughtExceptionCaptureCallback', function setUncaughtExceptionCaptureCallback(callback) {
    captured = typeof callback === 'function' ? callback : null;
  });
  define(process, 'hasUncaughtExceptionCaptureCallback', () => captured !== null);
  const lastResort = (error, fromPromise) => {
    try {
      uncaught(error, fromPromise, captured);
    } catch (another) {
      uncaught(another, false, null);
    }
    try {
      original(error, fromPromise);  // puts Node's own state in order
    } catch {
      // The guest has replaced process.emit; its exception has been reported.
    }
    return true;
  };
  define(process, '_fatalException', lastResort, false, false);
}

function uncaught(error, fromPromise, capture) {
  if (error === leaving) return;
  if (capture) {
    capture(error);
    return;
  }
  const origin = fromPromise ? 'unhandledRejection' : 'uncaughtException';
  if (!fromPromise && ReflectApply(listenerCount, process, ['uncaughtException']) > 0) {
    ReflectApply(emit, process, ['uncaughtException', error, origin]);
    return;
  }
  const turn = current || activeRun;
  if (turn) failTurn(turn, error);
  else addon.write(2, `${failureText(error)}\n`);
}

function show(name, value) {
  ReflectDefineProperty(process, name, { __proto__: null, value, enumerable: true, configurable: true, writable: true });
}

function installProcess() {
  process.title = 'node';
  process.env.TZ = 'UTC';
  show('env', {});
  show('argv', ['node']);
  show('argv0', 'node');
  show('execPath', '/bin/node');
  show('execArgv', []);
  show('exit', { exit(code) { return exit(code); } }.exit);
  show('reallyExit', { reallyExit(code) { return exit(code); } }.reallyExit);
  show('abort', { abort() { die(134, 'Aborted'); } }.abort);
  show('_kill', kill);
  const usage = () => memoryUsage();
  usage.rss = () => addon.resident();
  show('memoryUsage', usage);
  ReflectDefineProperty(process, 'pid', {
    __proto__: null, get: () => addon.pid(), set: undefined, enumerable: true, configurable: true,
  });
  process.mainModule = undefined;
  const os = require('node:os');
  replace(os, 'tmpdir', () => '/work');
  replace(os, 'homedir', () => '/work');
  replace(os, 'networkInterfaces', () => ({}));
  replace(os, 'userInfo', () => ({
    uid: process.getuid(), gid: process.getgid(), username: 'node', homedir: '/work', shell: null,
  }));
  installLastResort();
}

// `require`, `module` and `exports` are globals here, as at Node's prompt: `code` may declare them for itself.
function installModules() {
  const Module = require('node:module');
  const guestModule = new Module('/work/<code>', null);
  guestModule.filename = '/work/<code>';
  guestModule.paths = Module._nodeModulePaths('/work');
  define(globalThis, 'require', Module.createRequire('/work/<code>'));
  define(globalThis, 'module', guestModule);
  define(globalThis, 'exports', guestModule.exports);
  Module._initPaths();  // from the execPath that is shown
  for (const file of Object.keys(Module._cache)) delete Module._cache[file];
  main.children.length = 0;
}
