// The value of a turn: contract 6.2 and decision 7.

// Walks as JSON.stringify does, to the place where it gave up. Returns a text, or '' when there is no such place.
function faultOf(value, key, path, above) {
  let toJSON;
  try {
    if (value === null || (typeof value !== 'object' && typeof value !== 'function' && typeof value !== 'bigint')) {
      toJSON = undefined;
    } else {
      toJSON = value.toJSON;
    }
    if (typeof toJSON === 'function') value = ReflectApply(toJSON, value, [key]);
  } catch (error) {
    return `toJSON at ${path} threw ${failureLine(error)}`;
  }
  if (typeof value === 'bigint' || isBoxedBigInt(value)) return `bigint at ${path} is not JSON`;
  if (!above && (value === undefined || typeof value === 'function' || typeof value === 'symbol')) {
    return `${typeof value} at ${path} is not JSON`;
  }
  if (typeof value !== 'object' || value === null) return '';
  for (let at = above; at; at = at.above) if (at.value === value) return `cycle at ${path} is not JSON`;
  return faultInside(value, path, { __proto__: null, value, above, depth: above ? above.depth + 1 : 1 });
}

function isBoxedBigInt(value) {
  if (typeof value !== 'object' || value === null) return false;
  try {
    BigIntPrototypeValueOf(value);
    return true;
  } catch {
    return false;
  }
}

function faultInside(value, path, above) {
  const isArray = ArrayIsArray(value);
  const keys = isArray ? undefined : ObjectKeys(value);
  const count = isArray ? value.length : keys.length;
  for (let i = 0; i < count; i++) {
    const key = isArray ? `${i}` : keys[i];
    const inner = isArray ? `${path}[${key}]` : `${path}[${JSONStringify(key)}]`;
    let item;
    try {
      item = value[key];
    } catch (error) {
      return `getter at ${inner} threw ${failureLine(error)}`;
    }
    const fault = faultOf(item, key, inner, above);
    if (fault) return fault;
  }
  return '';
}

function noteAbout(value, error) {
  let fault = '';
  try {
    fault = faultOf(value, '', 'result', null);
  } catch {
    fault = 'it is nested too deep';
  }
  if (!fault) fault = error === undefined ? 'it is not JSON' : failureLine(error);
  return `[code-runner] result is null: ${cut(fault, 500)}`;
}

function cut(text, most) {
  return text.length > most ? `${StringPrototypeSlice(text, 0, most)}…` : text;
}

// Returns { text, note }, either undefined.
function carry(value) {
  const carried = { __proto__: null, text: undefined, note: undefined };
  if (value === undefined) return carried;
  try {
    carried.text = JSONStringify(value);
    if (carried.text === undefined) carried.note = noteAbout(value, undefined);
  } catch (error) {
    carried.note = noteAbout(value, error);
  }
  return carried;
}
