// Turns: from a frame to a function that the addon calls for the guest, and from its outcome to the answer.

let activeRun = null;
let newestTurn = null;  // of the other turns that are not answered, a list through `older`
let current = null;     // the turn whose function the addon is about to call
let turnsSeen = 0;

// Thrown to unwind the guest after process.exit, when its turn has been answered.
const leaving = ObjectFreeze({ __proto__: null });

function beginTurn(kind, id, flags, max, name) {
  const turn = {
    __proto__: null, kind, id, max, name, oneShot: (flags & ONE_SHOT) !== 0, answered: false, older: newestTurn,
  };
  if (id !== REHEARSAL && turnsSeen++ && kind === FRAME_RUN) addon.mark();
  if (kind === FRAME_RUN) {
    activeRun = turn;
  } else {
    newestTurn = turn;
  }
  return turn;
}

function forgetTurn(turn) {
  if (turn === activeRun) {
    activeRun = null;
    return;
  }
  if (turn === newestTurn) {
    newestTurn = turn.older;
    return;
  }
  for (let at = newestTurn; at; at = at.older) if (at.older === turn) at.older = turn.older;
}

function answer(turn, exitCode, flags, text, failure, note) {
  if (turn.answered) return;
  turn.answered = true;
  forgetTurn(turn);
  try {
    addon.done(turn.id, flags, exitCode, text, turn.max, failure, note);
  } catch {
    addon.done(turn.id, DONE_MEMORY, 1, undefined, 0, 'the answer does not fit in memory', undefined);
  }
  if (turn.id === REHEARSAL) return;
  if (turn.oneShot || (flags & DONE_LOST)) addon.leave(0);
  if (turn.kind === FRAME_RUN) addon.mark();
}

function failTurn(turn, error) {
  if (error !== leaving) answer(turn, 1, limitFlags(error), undefined, failureText(error), undefined);
}

function settleTurn(turn, value) {
  if (turn.answered) return;
  if (turn.kind === FRAME_DEFINE) {
    settleDefine(turn, value);
  } else if (turn.kind === FRAME_NOTIFY) {
    answer(turn, 0, 0, undefined, undefined, undefined);
  } else {
    const carried = carry(value);
    answer(turn, 0, 0, carried.text, undefined, carried.note);
  }
}

// Calls back with what a promise comes to, whatever has been done to Promise and its prototype: with an own
// `constructor` of undefined, `then` makes its result with the intrinsic Promise (ECMA-262, SpeciesConstructor).
function observe(promise, fulfilled, rejected) {
  define(promise, 'constructor', undefined);
  ReflectApply(PromiseThen, promise, [fulfilled, rejected]);
}

function watch(turn, value) {
  observe(value, (result) => settleTurn(turn, result), (error) => failTurn(turn, error));
}

function thenOf(value) {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return isObject ? value.then : undefined;
}

// The addon reports how the function it got from dispatch() came out.
function ended(ok, value) {
  const turn = current;
  current = null;
  if (!ok) {
    turn.kind === FRAME_DEFINE ? refuseDefine(turn, value) : failTurn(turn, value);
  } else if (turn.kind === FRAME_DEFINE) {
    settleTurn(turn, value);
  } else if (isPromise(value)) {
    watch(turn, value);
  } else {
    settlePlain(turn, value);
  }
}

function settlePlain(turn, value) {
  let then;
  try {
    then = thenOf(value);
  } catch (error) {
    failTurn(turn, error);
    return;
  }
  if (typeof then === 'function') watch(turn, new SafePromise((resolve) => resolve(value)));
  else settleTurn(turn, value);
}

// The turn that an exception out of nowhere, or process.exit, belongs to.
function guiltyTurn() {
  return current || activeRun || newestTurn;
}

// In parentheses, because V8 then compiles at once what it parses; as long as the one of sources, so that what V8 says of evals on the first line is put right in one way (errors.js).
const wrapperStart = 'return(async       function(){';
const wrapperEnd = '\n})';
const compileOptions = {
  __proto__: null,
  filename: '<code>',
  columnOffset: -wrapperStart.length,
  importModuleDynamically: vmConstants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
};

function compileBody(code) {
  const body = compileFunction(wrapperStart + code + wrapperEnd, undefined, compileOptions);
  // What has no brace cannot close the wrapper; the constructor takes exactly one function body.
  if (StringPrototypeIndexOf(code, '}') >= 0) checkClosed(code);
  return body();
}

function checkClosed(code) {
  try {
    new AsyncFunction(code);
  } catch (error) {
    if (textOf(error, 'message') !== 'Single function literal required') throw error;
    throw unopened();
  }
}

// Decision 8. Only blanks may differ, so that nothing the guest has done to this realm can put other code in its place.
function withoutTypes(start, code, end) {
  const stripped = stripTypeScriptTypes(start + code + end);
  const text = StringPrototypeSlice(stripped, start.length, stripped.length - end.length);
  if (text.length !== code.length) throw new SafeError('types moved the code');
  for (let i = 0; i < text.length; i++) if (text[i] !== code[i] && !isFiller(text[i])) throw new SafeError('not a blank');
  return text;
}

function isFiller(character) {
  return character === ' ' || character === ';' || character === '(' || character === ')' || character === '\u00a0' ||
    character === '\u2002' || character === '\u3000' || character === '\ufeff';
}

function compileRun(code) {
  try {
    return compileBody(code);
  } catch (error) {
    let text;
    try {
      text = withoutTypes('async function f(){', code, '\n}');
      return compileBody(text);
    } catch {
      throw explained(beforeEnd(code, error));
    }
  }
}

function linesOf(code) {
  let lines = 1;
  for (let at = -1; (at = StringPrototypeIndexOf(code, '\n', at + 1)) >= 0;) lines++;
  return lines;
}

// An error in the wrapper's end: the code was not complete, or closed the wrapper itself.
function beforeEnd(code, error) {
  const stack = textOf(error, 'stack');
  const lineEnd = StringPrototypeIndexOf(stack, '\n');
  if (!StringPrototypeStartsWith(stack, '<code>:')) return error;
  if (!(SafeNumber(StringPrototypeSlice(stack, 7, lineEnd)) > linesOf(code))) return error;
  try {
    compileFunction(wrapperStart + code, undefined, compileOptions);
  } catch (incomplete) {
    return incomplete;
  }
  return unopened();
}

function unopened() {
  return new SafeSyntaxError("Unexpected token '}': it closes nothing that the code has opened");
}

// Decision 3: what to write instead.
function explained(error) {
  const message = textOf(error, 'message');
  if (message === 'Cannot use import statement outside a module') {
    define(error, 'message', `${message}: use \`await import('y')\``);
  } else if (message === "Unexpected token 'export'") {
    define(error, 'message', `${message}: use \`return\` to hand a value out`);
  } else {
    return error;
  }
  const stack = textOf(error, 'stack');
  const at = StringPrototypeIndexOf(stack, message);
  if (at < 0) return error;
  define(error, 'stack', StringPrototypeSlice(stack, 0, at) + error.message +
    StringPrototypeSlice(stack, at + message.length));
  return error;
}

function startRun(id, flags, code, max) {
  const turn = beginTurn(FRAME_RUN, id, flags, max, '');
  try {
    const body = compileRun(code);
    current = turn;
    return FunctionPrototypeBind(body, realm);
  } catch (error) {
    failTurn(turn, error);
    return undefined;
  }
}

function dispatch(type, flags, id, a, b, c, d, e) {
  switch (type) {
    case FRAME_SETUP: return setup(a, b, c, d, e);
    case FRAME_RUN: return startRun(id, flags, a, b);
    case FRAME_DEFINE: return startDefine(id, a, b);
    case FRAME_INVOKE: return startInvoke(id, a, b);
    case FRAME_NOTIFY: return startNotify(id, a, b, c);
    case FRAME_FORGET: return forgetHandler(a);
    case FRAME_ANSWER: return settleCall(flags, id, a);
    case FRAME_SETTINGS: return changeSettings(a, b);
    case PROMPT_REHEARSE: return rehearse(flags);
    case PROMPT_SETTLE: return settle();
    case PROMPT_WAKE: return wake(flags);
    default: throw new SafeError(`frame ${type}`);
  }
}
