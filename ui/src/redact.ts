/*
 * Keeps runtime ids out of sight. A full id is a capability: whoever holds one can run code in that runtime and
 * destroy it, so everything that is drawn, labelled or copied passes through here first.
 */
import type { Json } from "./host";

/** Deeper nesting is replaced: it protects the stack here and the indentation of the pretty-printer. */
export const MAX_DEPTH = 256;
const MAX_NODES = 2_000_000;
const SHOWN = 7;

const CYCLE = "[cycle]";
const TOO_DEEP = "[nested too deeply]";
const TOO_LARGE = "[too large]";
const UNREADABLE = "[unreadable]";

/*
 * Every beginning of an id that goes past the first group, complete ids included. No word boundaries: hexadecimal
 * digits are word characters, so an id glued to other text would slip past them.
 */
const ID = /(rt-[0-9a-f]{4})[0-9a-f]{4}-[0-9a-f-]{0,27}/gi;
const SHORTEST = 12;

/** Texts that are ids although they do not look like one. */
export type KnownIds = readonly string[];

export function isPlainObject(value: Json): value is Record<string, Json> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function maskId(id: string): string {
  return id.length > SHOWN + 1 ? `${id.slice(0, SHOWN)}…` : id;
}

export function redactText(text: string, known: KnownIds = []): string {
  for (const id of known) text = text.split(id).join(maskId(id));
  return text.length < SHORTEST ? text : text.replace(ID, "$1…");
}

/** The `runtime_id` members of payloads (bare, or inside an envelope's `details`), longest first. */
export function knownIds(...payloads: Json[]): KnownIds {
  const found = new Set<string>();
  for (const payload of payloads) {
    if (!isPlainObject(payload)) continue;
    for (const holder of [payload, payload.details]) {
      const id = isPlainObject(holder) ? holder.runtime_id : undefined;
      if (typeof id === "string" && id.length > SHOWN + 1) found.add(id);
    }
  }
  return [...found].sort((a, b) => b.length - a.length);
}

/** A masked copy of the same shape; keys are masked too. Never throws, never mutates. */
export function redactValue(value: Json, known: KnownIds = []): Json {
  const ancestors = new Set<object>();
  let nodes = 0;

  function walk(node: Json): Json {
    if (typeof node === "string") return redactText(node, known);
    if (typeof node === "function" || typeof node === "symbol") return UNREADABLE;
    if (typeof node !== "object" || node === null) return node;
    if (ancestors.has(node)) return CYCLE;
    if (ancestors.size >= MAX_DEPTH) return TOO_DEEP;
    if (++nodes > MAX_NODES) return TOO_LARGE;
    ancestors.add(node);
    try {
      return Array.isArray(node) ? Array.from(node, walk) : walkObject(node as Record<string, Json>);
    } catch {
      return UNREADABLE;
    } finally {
      ancestors.delete(node);
    }
  }

  function walkObject(node: Record<string, Json>): Json {
    const copy: Record<string, Json> = {};
    for (const key of Object.keys(node)) put(copy, redactText(key, known), walk(node[key]));
    return copy;
  }

  return walk(value);
}

/* Two keys may mask to the same text and neither member may be lost; `__proto__` is a member like any other. */
function put(object: Record<string, Json>, key: string, value: Json): void {
  let free = key;
  for (let n = 2; Object.hasOwn(object, free); n++) free = `${key} (${n})`;
  if (free !== "__proto__") object[free] = value;
  else Object.defineProperty(object, free, { value, enumerable: true, configurable: true, writable: true });
}

/** The host passes requests and responses through this before it shows or copies them. */
export function redactRaw(value: Json): Json {
  return redactValue(value, knownIds(value));
}
