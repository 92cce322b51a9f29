/* What becomes of a payload's text on its way to a text node. */
import { redactText, type KnownIds } from "./redact";

/*
 * ECMA-48: control sequences, terminated strings (OSC, DCS, …) and two-character escapes, 7-bit and 8-bit. A string
 * that never ends hides nothing: only its introducer goes. Its body excludes introducers, which keeps this linear.
 */
const ESCAPES =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\n\x1b\x90\x98\x9c-\x9f]*(?:\x07|\x1b\\|\x9c)|\x1b[ -/]*[0-~]/g;
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;
/* Embeddings, overrides and isolates can make a program read differently from how it runs. */
const BIDI = /[\u202a-\u202e\u2066-\u2069]/g;

const codePoint = (ch: string) => `⟨U+${ch.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;

/**
 * Text that is safe to show: terminal sequences gone, runtime ids masked, other control characters and direction
 * overrides spelled out. Sequences go first, since removing one could join the halves of an id.
 */
export function showable(text: string, known: KnownIds): string {
  const plain = text.replace(ESCAPES, "").replace(/\r\n?/g, "\n");
  return redactText(plain, known).replace(CONTROLS, "\ufffd").replace(BIDI, codePoint);
}

export function countLines(text: string): number {
  if (text === "") return 0;
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++;
  return text.endsWith("\n") ? lines - 1 : lines;
}

export interface Limit {
  lines: number;
  chars: number;
}

/** The beginning of `text` within `limit`, or all of it; never half of a surrogate pair. */
export function clamp(text: string, limit: Limit): string {
  let end = text.length;
  for (let line = 0, at = -1; line < limit.lines; line++) {
    at = text.indexOf("\n", at + 1);
    if (at < 0) break;
    if (line === limit.lines - 1 && at < text.length - 1) end = at;
  }
  if (end > limit.chars) end = limit.chars;
  if (end === text.length) return text;
  const last = text.charCodeAt(end - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? end - 1 : end);
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
