// The global `iii`: contract 7 and 8.

const CALLS_MAX = 32;
const PAYLOAD_MAX = 1048576;
const ID_MAX = 512;
const ACTION_MAX = 512;
const DESCRIPTION_MAX = 4096;

const settings = { __proto__: null, namespace: '', defaultTimeout: 0, maxTimeout: 0, scratchBytes: 0, scratchFiles: 0 };
const calls = new SafeMap();  // call id → { resolve, reject }
let lastCall = 0;
let callsInFlight = 0;

const hint = 'iii: await iii.trigger({function_id, payload}) calls a function of the bus; iii.registerFunction(id, handler) ' +
  'publishes one under the prefix iii.namespace; iii.files keeps files (write, read, readText, list, remove)';

function typeError(message) {
  return new SafeTypeError(message);
}

function isObject(value) {
  return typeof value === 'object' && value !== null;
}

function checkText(value, what) {
  if (typeof value !== 'string' || value === '') throw typeError(`${what} must be a non-empty string`);
}

function checkLength(text, most, what) {
  const bytes = byteLength(text);
  if (bytes > most) throw typeError(`${what} is ${bytes} bytes, the limit is ${most}`);
}

function checkId(id, what) {
  checkText(id, what);
  checkLength(id, ID_MAX, what);
}

function checkOwn(id, what) {
  checkId(id, what);
  if (!StringPrototypeStartsWith(id, settings.namespace)) {
    throw typeError(`${what} ${id} is outside of this runtime's namespace ${settings.namespace}`);
  }
}

function toJSON(value, what) {
  const text = JSONStringify(value);
  if (text === undefined) throw typeError(`${what} is not JSON`);
  checkLength(text, PAYLOAD_MAX, what);
  return text;
}

function clampedTimeout(timeout) {
  if (timeout === undefined) return 0;
  if (typeof timeout !== 'number') throw typeError('timeout must be a number');
  if (!(timeout >= 0) || timeout === Infinity) throw typeError('timeout must be a number of milliseconds, zero or more');
  if (timeout === 0) return 0;
  const whole = MathFloor(timeout) || 1;
  return settings.maxTimeout ? MathMin(whole, settings.maxTimeout) : whole;
}

function checkAction(action) {
  if (action === undefined) return '';
  if (typeof action !== 'string') throw typeError('action must be a string');
  checkLength(action, ACTION_MAX, 'action');
  if (action === 'void') return action;
  try {
    if (isObject(JSONParse(action))) return action;
  } catch {
    // Said below.
  }
  throw typeError(`invalid action: neither "void" nor a JSON object`);
}

// Sends a call and promises its answer.
function callLater(operation, a, b, c, d) {
  const id = ++lastCall;
  if (d !== undefined) addon.call(operation, id, a, b, c, d);
  else addon.call(operation, id, a);
  return new SafePromise((resolve, reject) => {
    MapPrototypeSet(calls, id, { __proto__: null, resolve, reject, limited: operation === CALL_TRIGGER });
  });
}

function callNow(operation, a, b) {
  if (b === undefined) addon.ask(operation, ++lastCall, a);
  else addon.ask(operation, ++lastCall, a, b);
}

function settleCall(flags, id, text) {
  const call = MapPrototypeGet(calls, id);
  if (call === undefined) return;
  MapPrototypeDelete(calls, id);
  if (call.limited) callsInFlight--;
  if (flags & ANSWER_ERROR) {
    call.reject(new SafeError(text));
    return;
  }
  let value;
  try {
    value = text === '' ? null : JSONParse(text);
  } catch (error) {
    call.reject(error);
    return;
  }
  call.resolve(value);
}

function trigger(request) {
  if (!isObject(request)) throw typeError('request must be an object');
  const { function_id: id, payload, action, timeout } = request;
  checkId(id, 'function_id');
  const checkedAction = checkAction(action);
  const milliseconds = clampedTimeout(timeout);
  const text = payload === undefined ? '{}' : toJSON(payload, 'payload');
  if (callsInFlight >= CALLS_MAX) {
    throw new SafeError(`${CALLS_MAX} calls of this runtime are in flight: await earlier ones first`);
  }
  const promise = callLater(CALL_TRIGGER, id, text, checkedAction, milliseconds);
  callsInFlight++;
  return promise;
}

function checkFormat(format, what) {
  if (format !== undefined && (!isObject(format) || ArrayIsArray(format))) throw typeError(`${what} must be an object`);
}

function metadataOf(options) {
  if (options === undefined) return '{}';
  if (!isObject(options)) throw typeError('opts must be an object');
  const { description, request_format, response_format } = options;
  if (description !== undefined) {
    if (typeof description !== 'string') throw typeError('opts.description must be a string');
    checkLength(description, DESCRIPTION_MAX, 'opts.description');
  }
  checkFormat(request_format, 'opts.request_format');
  checkFormat(response_format, 'opts.response_format');
  return toJSON({ __proto__: null, description, request_format, response_format }, 'opts');
}

// The `{ unregister() }` of a registration; a second call does nothing.
function registration(unregister) {
  let done = false;
  return {
    unregister() {
      if (done) return undefined;
      done = true;
      return unregister();
    },
  };
}

function registerFunction(id, handler, options) {
  checkText(id, 'the function id');
  if (typeof handler !== 'function') {
    throw typeError(isObject(handler) ?
      'handler must be a function: an HttpInvocationConfig is for engine::functions::register' :
      'handler must be a function');
  }
  const metadata = metadataOf(options);
  checkOwn(id, 'the function id');
  callNow(CALL_REGISTER_FUNCTION, id, metadata);
  MapPrototypeSet(handlers, id, handler);
  return registration(() => {
    if (!MapPrototypeDelete(handlers, id)) return;
    callNow(CALL_UNREGISTER_FUNCTION, id);
  });
}

function registerTrigger(input) {
  if (!isObject(input)) throw typeError('input must be an object');
  const { type, function_id, config, metadata } = input;
  checkText(type, 'type');
  checkText(function_id, 'function_id');
  if (config === undefined) throw typeError('config is required');
  const text = toJSON({ __proto__: null, type, function_id, config, metadata }, 'input');
  const answered = callLater(CALL_REGISTER_TRIGGER, text);
  return new SafePromise((resolve, reject) => {
    observe(answered, (id) => {
      // Later, because the bus may ask this very runtime before it answers.
      resolve(registration(() => callLater(CALL_UNREGISTER_TRIGGER, id)));
    }, reject);
  });
}

function registerTriggerType(type, handler) {
  if (!isObject(type)) throw typeError('type must be an object');
  const { id, description } = type;
  checkText(id, 'type.id');
  if (!isObject(handler)) throw typeError('handler must be an object');
  const { registerTrigger: register, unregisterTrigger: unregister } = handler;
  if (typeof register !== 'function') throw typeError('handler.registerTrigger must be a function');
  if (typeof unregister !== 'function') throw typeError('handler.unregisterTrigger must be a function');
  const text = typeof description === 'string' ? description : '';
  checkLength(text, DESCRIPTION_MAX, 'type.description');
  checkOwn(id, 'the trigger type');
  callNow(CALL_REGISTER_TRIGGER_TYPE, id, text);
  MapPrototypeSet(triggerTypes, id, {
    __proto__: null, handler, registerTrigger: register, unregisterTrigger: unregister,
  });
  return registration(() => dropTriggerType(id));
}

function dropTriggerType(id) {
  if (MapPrototypeDelete(triggerTypes, id)) callNow(CALL_UNREGISTER_TRIGGER_TYPE, id);
}

function unregisterTriggerType(type) {
  const id = isObject(type) ? type.id : type;
  if (typeof id !== 'string') throw typeError('a trigger type is its id, or an object with an id');
  checkOwn(id, 'the trigger type');
  dropTriggerType(id);
}

function shutdown() {
  throw new SafeError('iii.shutdown: the connection belongs to the worker and is shared by every runtime; ' +
    'code-runner::teardown ends a runtime');
}

// Like an async function, without its use of whatever Promise.prototype has become.
function promised(body, argument) {
  try {
    return body(argument);
  } catch (error) {
    return new SafePromise((resolve, reject) => reject(error));
  }
}

function hide(object, text) {
  define(object, 'toString', { toString() { return text; } }.toString, false, false);
  define(object, Symbol.for('nodejs.util.inspect.custom'), { inspect() { return text; } }.inspect, false, false);
}

function makeFiles() {
  return ObjectFreeze({
    list() { return addon.filesList(); },
    read(name) { return addon.filesRead(name); },
    readText(name) { return addon.filesReadText(name); },
    remove(name) { return addon.filesRemove(name); },
    write(name, contents) {
      return addon.filesWrite(name, contents, settings.scratchBytes, settings.scratchFiles);
    },
  });
}

function makeIii(namespace, files) {
  const iii = {};
  if (files !== undefined) define(iii, 'files', files, true);
  define(iii, 'namespace', namespace, true);
  define(iii, 'registerFunction', surface.registerFunction, true);
  define(iii, 'registerTrigger', surface.registerTrigger, true);
  define(iii, 'registerTriggerType', surface.registerTriggerType, true);
  define(iii, 'shutdown', surface.shutdown, true);
  define(iii, 'trigger', surface.trigger, true);
  define(iii, 'unregisterTriggerType', surface.unregisterTriggerType, true);
  hide(iii, hint);
  return ObjectFreeze(iii);
}

// Methods, so that none of them is a constructor.
const surface = {
  __proto__: null,
  registerFunction(id, handler, opts) { return registerFunction(id, handler, opts); },
  registerTrigger(input) { return promised(registerTrigger, input); },
  registerTriggerType(type, handler) { return registerTriggerType(type, handler); },
  shutdown() { return shutdown(); },
  trigger(request) { return promised(trigger, request); },
  unregisterTriggerType(typeOrId) { return unregisterTriggerType(typeOrId); },
};
const files = makeFiles();

function changeSettings(defaultTimeout, maxTimeout) {
  settings.defaultTimeout = defaultTimeout;
  settings.maxTimeout = maxTimeout;
}

function setup(namespace, defaultTimeout, maxTimeout, scratchBytes, scratchFiles, isRehearsal = false) {
  settings.namespace = namespace;
  settings.scratchBytes = scratchBytes;
  settings.scratchFiles = scratchFiles;
  changeSettings(defaultTimeout, maxTimeout);
  define(realm, 'iii', makeIii(namespace, scratchBytes > 0 ? files : undefined), false, isRehearsal);
  connectStreams(!isRehearsal);
}
