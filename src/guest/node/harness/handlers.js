// Functions that the bus can call: DEFINE, INVOKE, NOTIFY, FORGET (contract 7.6, 13.4, 13.6).

const handlers = new SafeMap();      // function id → function
const triggerTypes = new SafeMap();  // trigger type id → { handler, registerTrigger, unregisterTrigger }

// `handler` outside catches a plain assignment; a declaration in the source shadows it. The source parses as a script by
// itself, so it can neither close its function nor return from it.
const sourceStart = 'var handler;return(function(){';
const sourceEnd = '\n;return handler})';
const sourceOptions = {
  __proto__: null,
  filename: '<code>',
  columnOffset: -sourceStart.length,
  importModuleDynamically: vmConstants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
};

const scriptOptions = { __proto__: null, filename: '<code>' };
Object.preventExtensions(Script);  // `new Script` calls whatever its prototype is

function isBlank(code) {
  return code === 32 || (code >= 9 && code <= 13) || code === 0xa0 || code === 0xfeff || code === 0x2028 || code === 0x2029;
}

function skipBlanks(text, at) {
  while (at < text.length && isBlank(StringPrototypeCharCodeAt(text, at))) at++;
  return at;
}

// A leading `export` becomes blanks.
function withoutExport(source) {
  const at = skipBlanks(source, 0);
  const end = at + 6;
  if (!StringPrototypeStartsWith(source, 'export', at)) return source;
  const next = skipBlanks(source, end);
  if (next === end || StringPrototypeStartsWith(source, 'default', next)) return source;
  return `${StringPrototypeSlice(source, 0, at)}      ${StringPrototypeSlice(source, end)}`;
}

function compileChecked(source) {
  new Script(source, scriptOptions);
  return compileFunction(sourceStart + source + sourceEnd, undefined, sourceOptions)();
}

function compileSource(source) {
  const script = withoutExport(source);
  try {
    return compileChecked(script);
  } catch (error) {
    let text;
    try {
      text = withoutTypes('', script, '');
      return compileChecked(text);
    } catch {
      throw error;
    }
  }
}

function refuse(turn, what, flags) {
  answer(turn, 1, DONE_UNHANDLED | flags, undefined,
         `the source of ${turn.name} must define handler(payload): ${what}`, undefined);
}

function refuseDefine(turn, error) {
  if (error !== leaving) refuse(turn, `it threw ${failureLine(error)}`, limitFlags(error));
}

function settleDefine(turn, handler) {
  if (typeof handler === 'function') {
    MapPrototypeSet(handlers, turn.name, handler);
    answer(turn, 0, 0, undefined, undefined, undefined);
  } else {
    refuse(turn, handler === undefined ? 'it binds no `handler`' : `its handler is ${kindOf(handler)}`, 0);
  }
}

function kindOf(value) {
  if (value === null) return 'null';
  if (ArrayIsArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function startDefine(id, name, source) {
  const turn = beginTurn(FRAME_DEFINE, id, 0, 0, name);
  try {
    const body = compileSource(source);
    current = turn;
    return FunctionPrototypeBind(body, realm);
  } catch (error) {
    refuse(turn, `it does not parse, ${failureLine(error)} (\`export\` is only recognised as the first token)`, 0);
    return undefined;
  }
}

function startInvoke(id, name, payload) {
  const turn = beginTurn(FRAME_INVOKE, id, 0, 0, name);
  const handler = MapPrototypeGet(handlers, name);
  if (handler === undefined) {
    answer(turn, 1, DONE_UNHANDLED, undefined, `there is no handler for ${name}`, undefined);
    return undefined;
  }
  return prepareCall(turn, handler, undefined, payload);
}

function prepareCall(turn, handler, receiver, json) {
  try {
    const argument = JSONParse(json);
    current = turn;
    return FunctionPrototypeBind(handler, receiver, argument);
  } catch (error) {
    current = null;
    failTurn(turn, error);
    return undefined;
  }
}

function startNotify(id, name, method, binding) {
  const turn = beginTurn(FRAME_NOTIFY, id, 0, 0, name);
  const type = MapPrototypeGet(triggerTypes, name);
  if (type === undefined) {
    answer(turn, 1, DONE_UNHANDLED, undefined, `there is no trigger type ${name}`, undefined);
    return undefined;
  }
  const callback = method === 'registerTrigger' ? type.registerTrigger : type.unregisterTrigger;
  return prepareCall(turn, callback, type.handler, binding);
}

function forgetHandler(name) {
  MapPrototypeDelete(handlers, name);
}
