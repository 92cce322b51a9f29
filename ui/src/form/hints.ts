/* Hints that follow the draft, or the defaults where a key is absent. */
import { DEFAULTS, type NumberKey } from "./defaults";
import type { Draft } from "./draft";

export interface Hint {
  text: string;
  tone: "quiet" | "warn";
}

const TOKEN_BYTES = 4;

/** The number in force under `key`; nothing when the draft holds something else, for example a template. */
function inForce(draft: Draft, key: NumberKey): number | undefined {
  const value = draft[key] ?? DEFAULTS[key];
  return typeof value === "number" ? value : undefined;
}

const rounded = (value: number) => String(Math.round(value * 10) / 10);

export function kibAndTokens(draft: Draft, key: NumberKey): Hint | undefined {
  const bytes = inForce(draft, key);
  if (bytes === undefined) return undefined;
  if (bytes === 0) return { text: "off: nothing is cut", tone: "quiet" };
  return { text: `${rounded(bytes / 1024)} KiB, roughly ${Math.round(bytes / TOKEN_BYTES)} tokens`, tone: "quiet" };
}

export function invertedTimeouts(draft: Draft): Hint | undefined {
  const longest = inForce(draft, "max_timeout_ms");
  const standard = inForce(draft, "default_timeout_ms");
  if (longest === undefined || standard === undefined || longest >= standard) return undefined;
  return { text: `Below the default time-out of ${standard} ms, which is therefore clamped too.`, tone: "warn" };
}

export function footprint(draft: Draft): Hint | undefined {
  const runtimes = inForce(draft, "max_runtimes");
  const scratch = inForce(draft, "scratch_mb");
  if (runtimes === undefined || scratch === undefined) return undefined;
  return { text: `At worst ${runtimes} × ${scratch} = ${runtimes * scratch} MiB in use at once.`, tone: "quiet" };
}
