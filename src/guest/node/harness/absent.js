// Powers that this sandbox does not have: the kernel refuses them anyway; here each says so in words (decision 1).

function absence(what, power) {
  const error = new SafeError(`${what}: this sandbox has no ${power}; sandbox-code-runner does`);
  define(error, 'code', 'ERR_ACCESS_DENIED', true);
  return error;
}

function replace(object, name, value) {
  const old = Reflect.getOwnPropertyDescriptor(object, name);
  if (!old) return;
  if (typeof value === 'function') {
    define(value, 'name', name);
    ReflectDefineProperty(value, 'length', { __proto__: null, value: typeof old.value === 'function' ? old.value.length : 0 });
  }
  ReflectDefineProperty(object, name, {
    __proto__: null, value, enumerable: old.enumerable, configurable: true, writable: true,
  });
}

// Functions that throw.
function refuseAll(object, where, power, names) {
  for (const name of names) {
    replace(object, name, { [name]() { throw absence(`${where}.${name}`, power); } }[name]);
  }
}

// Classes that cannot be constructed.
function refuseClass(object, name, power) {
  const Old = object[name];
  const New = class { constructor() { throw absence(name, power); } };
  if (Old?.prototype) Object.setPrototypeOf(New.prototype, Old.prototype);
  replace(object, name, New);
}

function functionsOf(object) {
  return Object.keys(object).filter((name) => typeof object[name] === 'function');
}

function refuseSockets() {
  const net = require('node:net');
  replace(net.Socket.prototype, 'connect', function connect() {
    this.destroy(absence('connect', 'network'));
    return this;
  });
  replace(net.Server.prototype, 'listen', function listen() {
    process.nextTick(() => this.emit('error', absence('listen', 'network')));
    return this;
  });
  const dgram = require('node:dgram');
  refuseAll(dgram, 'dgram', 'network', ['createSocket']);
  refuseClass(dgram, 'Socket', 'network');
}

function refuseLookups() {
  const dns = require('node:dns');
  const kinds = (object) => functionsOf(object).filter((name) => /^(resolve|lookup|reverse)/.test(name));
  const byCallback = (name) => function() {
    const callback = arguments[arguments.length - 1];
    if (typeof callback !== 'function') throw absence(`dns.${name}`, 'network');
    process.nextTick(callback, absence(`dns.${name}`, 'network'));
  };
  const byPromise = (name) => async () => { throw absence(`dns.${name}`, 'network'); };
  const prototypes = [[dns, byCallback], [dns.promises, byPromise]];
  for (const [object, refusal] of prototypes) {
    for (const name of kinds(object)) replace(object, name, refusal(name));
    let prototype = object.Resolver.prototype;
    for (; prototype !== Object.prototype; prototype = Object.getPrototypeOf(prototype)) {
      const names = Object.getOwnPropertyNames(prototype).filter((name) => /^(resolve|reverse)/.test(name));
      for (const name of names) replace(prototype, name, refusal(name));
    }
  }
}

function refuseGlobals() {
  const fetch = async function fetch() { throw absence('fetch', 'network'); };
  define(globalThis, 'fetch', fetch, true);
  for (const name of ['WebSocket', 'EventSource']) {
    const Refused = class { constructor() { throw absence(name, 'network'); } };
    define(Refused, 'name', name);
    // Assigned: defining it would first load the original, for 40 ms. Being hidden survives where it is so already.
    globalThis[name] = Refused;
    ReflectDefineProperty(globalThis, name, { __proto__: null, enumerable: false });
  }
}

function refuseProcesses() {
  const children = require('node:child_process');
  refuseAll(children, 'child_process', 'child processes',
            ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync']);
  refuseAll(children.ChildProcess.prototype, 'ChildProcess', 'child processes', ['spawn']);
  refuseAll(process, 'process', 'child processes', ['execve']);
  const cluster = require('node:cluster');
  refuseAll(cluster, 'cluster', 'child processes', ['fork', 'setupPrimary', 'setupMaster']);
  refuseClass(require('node:worker_threads'), 'Worker', 'worker threads');
}

function refuseNativeCode() {
  refuseAll(process, 'process', 'native addons', ['dlopen', 'binding', '_linkedBinding']);
  const power = 'inspector';
  const inspector = require('node:inspector');
  refuseAll(inspector, 'inspector', power, ['open', 'url', 'waitForDebugger']);
  for (const { Session } of [inspector, require('node:inspector/promises')]) {
    let prototype = Session.prototype;
    for (; prototype && Object.hasOwn(prototype, 'post') === false; prototype = Object.getPrototypeOf(prototype));
    for (const object of [Session.prototype, prototype]) {
      if (object) refuseAll(object, 'Session', power, ['connect', 'connectToMainThread']);
    }
  }
  refuseAll(process, 'process', power, ['_debugProcess', '_debugEnd']);
  refuseAll(require('node:trace_events'), 'trace_events', 'trace events', ['createTracing']);
  refuseAll(process.report, 'process.report', 'diagnostic reports', ['getReport', 'writeReport']);
}

// Modules that Node may or may not have; each is nothing but one of those powers.
function refuseOptional() {
  const powers = { 'node:ffi': 'native addons', 'node:quic': 'network', 'node:dtls': 'network' };
  for (const name of Object.keys(powers)) {
    if (!require('node:module').isBuiltin(name)) continue;
    let exported;
    try {
      exported = require(name);
    } catch {
      continue;
    }
    for (const key of functionsOf(exported)) {
      if (/^[A-Z]/.test(key)) refuseClass(exported, key, powers[name]);
      else refuseAll(exported, name, powers[name], [key]);
    }
  }
}

function installAbsences() {
  refuseSockets();
  refuseLookups();
  refuseGlobals();
  refuseProcesses();
  refuseNativeCode();
  refuseOptional();
  require('node:module').syncBuiltinESMExports();
}
