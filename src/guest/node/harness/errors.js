// The text of a failure: contract 6.4.

function textOf(error, name) {
  try {
    const value = error[name];
    return typeof value === 'string' ? value : '';
  } catch {
    return '';
  }
}

function isErrorLike(value) {
  return ErrorIsError(value) ||
    (typeof value === 'object' && value !== null && ObjectPrototypeIsPrototypeOf(ErrorPrototype, value));
}

function headerOf(error) {
  const name = textOf(error, 'name') || 'Error';
  const message = textOf(error, 'message');
  return message ? `${name}: ${message}` : name;
}

// Node's own frames say nothing to a caller who cannot see its source.
function isForeignFrame(line) {
  return StringPrototypeIndexOf(line, '(node:') >= 0 || StringPrototypeStartsWith(line, '    at node:') ||
    StringPrototypeStartsWith(line, '    at async node:');
}

// V8 counts the wrapper in where it says where an eval was: `(eval at f (<code>:1:COLUMN), …`.
function evalPutRight(line) {
  const mark = '(<code>:1:';
  if (StringPrototypeIndexOf(line, '(eval at ') < 0) return line;
  const at = StringPrototypeIndexOf(line, mark);
  if (at < 0) return line;
  const start = at + mark.length;
  const end = StringPrototypeIndexOf(line, ')', start);
  const column = SafeNumber(StringPrototypeSlice(line, start, end)) - wrapperStart.length;
  return column > 0 ? `${StringPrototypeSlice(line, 0, start)}${column}${StringPrototypeSlice(line, end)}` : line;
}

// Lines of `text`, each with the newline before it, without foreign frames.
function guestFrames(text) {
  let kept = '';
  for (let at = 0; at < text.length;) {
    const next = StringPrototypeIndexOf(text, '\n', at + 1);
    const end = next < 0 ? text.length : next;
    const line = StringPrototypeSlice(text, at, end);
    if (!isForeignFrame(StringPrototypeSlice(line, 1))) kept += evalPutRight(line);
    at = end;
  }
  return kept;
}

// For a syntax error Node writes above the message where it is:
//   file:line ⏎ text of the line ⏎ blanks and ^ ⏎ ⏎
function positionOf(decoration) {
  const first = StringPrototypeIndexOf(decoration, '\n');
  const second = StringPrototypeIndexOf(decoration, '\n', first + 1);
  if (first < 0 || second < 0) return '';
  const place = StringPrototypeSlice(decoration, 0, first);
  let column = StringPrototypeIndexOf(decoration, '^', second) - second;
  if (column < 1) return `\n    at ${place}`;
  const line = StringPrototypeSlice(decoration, first + 1, second);
  if (place === '<code>:1' && StringPrototypeStartsWith(line, wrapperStart)) column -= wrapperStart.length;
  return `\n    at ${place}:${column}`;
}

function withFrames(header, stack) {
  if (StringPrototypeStartsWith(stack, header)) {
    return header + guestFrames(StringPrototypeSlice(stack, header.length));
  }
  const start = StringPrototypeIndexOf(stack, `\n\n${header}`);
  if (start >= 0) {
    const frames = StringPrototypeSlice(stack, start + 2 + header.length);
    return header + positionOf(StringPrototypeSlice(stack, 0, start)) + guestFrames(frames);
  }
  const frames = StringPrototypeIndexOf(stack, '\n    at ');
  return frames < 0 ? header : header + guestFrames(StringPrototypeSlice(stack, frames));
}

function failureText(error) {
  try {
    if (!isErrorLike(error)) return SafeString(error);
  } catch {
    return 'a value was thrown that has no text';
  }
  const header = headerOf(error);
  const stack = textOf(error, 'stack');
  return stack ? withFrames(header, stack) : header;
}

function failureLine(error) {
  let line = '';
  const text = isErrorLike(error) ? headerOf(error) : failureText(error);
  for (let i = 0; i < text.length; i++) {
    const code = StringPrototypeCharCodeAt(text, i);
    line += code === 10 || code === 13 ? ' ' : text[i];
  }
  return line;
}

// Decisions 5 and 6: which failures are limits.
function limitFlags(error) {
  if (typeof error !== 'object' || error === null) return 0;
  const code = textOf(error, 'code');
  if (code === 'ENOSPC' || code === 'EDQUOT') return DONE_DISK;
  if (code === 'ENOMEM' || code === 'ERR_MEMORY_ALLOCATION_FAILED') return DONE_MEMORY;
  const message = textOf(error, 'message');
  if (code === 'ERR_SQLITE_ERROR' && message === 'database or disk is full') return DONE_DISK;
  if (!ErrorIsError(error)) return 0;
  return StringPrototypeIndexOf(message, 'llocation failed') >= 0 ||
    StringPrototypeIndexOf(message, 'could not allocate memory') >= 0 ||
    StringPrototypeIndexOf(message, 'ut of memory') >= 0 ? DONE_MEMORY : 0;
}
