/* Reads what the bus delivered: the envelope, errors, denials, and members whose type is not to be trusted. */
import type { Json } from "./host";
import { isPlainObject } from "./redact";

export type Members = Record<string, Json>;

export const OPS = ["run", "register_function", "teardown"] as const;
export type Op = (typeof OPS)[number];
export type State = "pending" | "running" | "settled" | "error" | "denied";

export const functionIdOf: Record<Op, string> = {
  run: "code-runner::run",
  register_function: "code-runner::register_function",
  teardown: "code-runner::teardown",
};

export const text = (value: Json) => (typeof value === "string" ? value : undefined);
export const filled = (value: Json) => (typeof value === "string" && value !== "" ? value : undefined);
export const number = (value: Json) => (typeof value === "number" ? value : undefined);
export const flag = (value: Json) => (typeof value === "boolean" ? value : undefined);

export function typeName(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

export type Lang = "node" | "python";
export const langOf = (value: Json): Lang | undefined => (value === "node" || value === "python" ? value : undefined);

/** Chats wrap the answer in an envelope, traces show it bare. */
export function unwrap(output: Json): Json {
  return isPlainObject(output) && Array.isArray(output.content) && "details" in output ? output.details : output;
}

function errorsOf(output: Json): Json[] {
  return [output, unwrap(output)]
    .filter(isPlainObject)
    .map((holder) => holder.error)
    .filter((error) => error !== undefined && error !== null);
}

export interface Denial {
  by: string;
  reason: string;
}

/** A call stopped at the approval gate. It also has the shape of an error: ask for the denial first. */
export function denialOf(output: Json): Denial | undefined {
  for (const error of errorsOf(output)) {
    const details = isPlainObject(error) ? error.details : undefined;
    if (!isPlainObject(details) || details.status !== "denied" || !("denied_by" in details)) continue;
    return {
      by: filled(details.denied_by) ?? "an unnamed gate",
      reason: filled(details.reason) ?? filled((error as Members).message) ?? "No reason was given.",
    };
  }
  return undefined;
}

export interface Failure {
  code?: ErrorCode;
  text: string;
}

const CODES = [
  "invalid_request",
  "runtime_not_found",
  "expired",
  "capacity",
  "timeout",
  "resource_exhausted",
  "handler_error",
  "engine",
] as const;
export type ErrorCode = (typeof CODES)[number];

const CODED = new RegExp(`code-runner::(${CODES.join("|")}):\\s*`);
/* What clients put in front: `handler error: `, an exception type, the transport's own code. */
const PREFIXES = /^(?:[\w.:]+(?: error)?:\s+)*$/;
const HANDLER_PREFIX = /^(?:[\w.]+:\s+)?handler error:\s*/;

/** The error of a call, without the prefixes that clients add. `show` filters before anything is cut apart. */
export function failureOf(output: Json, show: (value: Json) => string): Failure | undefined {
  const error = errorsOf(output)[0];
  if (error === undefined) return undefined;
  const message = isPlainObject(error) ? text(error.message) : undefined;
  const shown = show(message ?? error);
  const coded = CODED.exec(shown);
  if (!coded) return { text: shown.replace(HANDLER_PREFIX, "") };
  const before = shown.slice(0, coded.index);
  const after = shown.slice(coded.index + coded[0].length);
  return { code: coded[1] as ErrorCode, text: before.length < 200 && PREFIXES.test(before) ? after : before + after };
}

export interface Target {
  runtimeId?: string;
  namespace?: string;
}

/** What a teardown is aimed at; the response knows best. A record that carries both counts as a runtime. */
export function targetOf(...records: Json[]): Target {
  for (const record of records) {
    if (!isPlainObject(record)) continue;
    const runtimeId = filled(record.runtime_id);
    if (runtimeId) return { runtimeId };
    const namespace = filled(record.namespace);
    if (namespace) return { namespace };
  }
  return {};
}

/** The part of a function id up to and including its first `::`, if there is text on both sides. */
export function namespaceOf(functionId: string): string | undefined {
  const at = functionId.indexOf("::");
  return at > 0 && at + 2 < functionId.length ? functionId.slice(0, at + 2) : undefined;
}
