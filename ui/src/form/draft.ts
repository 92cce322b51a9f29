/* Edits of the configuration draft. The host's draft is the only copy: every edit proposes a complete new one. */
import type { Json } from "../host";
import { isPlainObject } from "../redact";

export type Draft = Readonly<Record<string, Json>>;

/** What the form shows of a draft that may be anything. */
export function draftOf(value: Json): Draft {
  return isPlainObject(value) ? value : {};
}

export function withKey(draft: Draft, key: string, value: Json): Draft {
  return { ...draft, [key]: value };
}

export function withoutKey(draft: Draft, key: string): Draft {
  const { [key]: _dropped, ...rest } = draft;
  return rest;
}

/** The draft after `typed` was entered into a number field, or nothing if that is no whole number of at least zero. */
export function withNumber(draft: Draft, key: string, typed: string): Draft | undefined {
  const trimmed = typed.trim();
  if (trimmed === "") return withoutKey(draft, key);
  const value = Number(trimmed);
  return /^\d+$/.test(trimmed) && Number.isSafeInteger(value) ? withKey(draft, key, value) : undefined;
}

export function withText(draft: Draft, key: string, typed: string): Draft {
  return typed === "" ? withoutKey(draft, key) : withKey(draft, key, typed);
}

/** How a value reads in a text control; a template such as `${NAME}` is shown as it is. */
export function textOf(value: Json): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
