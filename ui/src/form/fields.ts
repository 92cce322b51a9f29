/* The worker's configuration keys: what they mean, when a change applies, and what the form says about them. */
import type { NumberKey } from "./defaults";
import type { Draft } from "./draft";
import { footprint, invertedTimeouts, kibAndTokens, type Hint } from "./hints";

interface FieldBase {
  label: string;
  help?: string;
  hint?(draft: Draft): Hint | undefined;
}

/** Every number is a whole number of at least zero; the worker refuses anything else. */
export interface NumberField extends FieldBase {
  kind: "number";
  key: NumberKey;
  unit?: string;
}

export type Field =
  | NumberField
  | (FieldBase & { kind: "switch"; key: string })
  | (FieldBase & { kind: "text"; key: string; placeholder: string });

export interface Section {
  title: string;
  applies: "on save" | "at the next worker restart";
  about?: string;
  fields: Field[];
}

export const SECTIONS: Section[] = [
  {
    title: "Output limits",
    applies: "on save",
    about:
      "What a run may put into an answer. A larger result is replaced by a marker that tells its size; a longer stream keeps its head and its tail around a marker.",
    fields: [
      {
        key: "max_result_bytes",
        label: "Largest result",
        kind: "number",
        unit: "bytes",
        hint: (draft) => kibAndTokens(draft, "max_result_bytes"),
      },
      {
        key: "max_stream_bytes",
        label: "Longest stream",
        kind: "number",
        unit: "bytes",
        help: "For stdout and stderr each.",
        hint: (draft) => kibAndTokens(draft, "max_stream_bytes"),
      },
    ],
  },
  {
    title: "Guidance",
    applies: "on save",
    fields: [
      {
        key: "inject_guidance",
        label: "Tell models how to use code-runner",
        kind: "switch",
        help: "Adds a paragraph to the system prompt. When off, the hook answers that it has nothing to add.",
      },
    ],
  },
  {
    title: "Time-outs",
    applies: "on save",
    fields: [
      {
        key: "default_timeout_ms",
        label: "Default time-out",
        kind: "number",
        unit: "ms",
        help: "Used when a run names none, and for calls of registered functions.",
      },
      {
        key: "max_timeout_ms",
        label: "Longest time-out",
        kind: "number",
        unit: "ms",
        help: "Requests for more are clamped to this.",
        hint: invertedTimeouts,
      },
    ],
  },
  {
    title: "Runtimes and memory",
    applies: "at the next worker restart",
    fields: [
      {
        key: "max_runtimes",
        label: "Runtimes at once",
        kind: "number",
        help: "Shared by both engines. 0 refuses every new runtime.",
      },
      {
        key: "idle_ttl_secs",
        label: "Idle limit",
        kind: "number",
        unit: "seconds",
        help: "A runtime that is idle for this long is destroyed.",
      },
      { key: "heap_mb", label: "JavaScript heap", kind: "number", unit: "MiB", help: "Node only." },
      {
        key: "external_mb",
        label: "Buffers outside the heap",
        kind: "number",
        unit: "MiB",
        help: "Node only. Typed arrays and buffers, which the heap limit does not cover.",
      },
    ],
  },
  {
    title: "Scratch",
    applies: "at the next worker restart",
    about: "Files of Node runtimes. The working directory of Python has a fixed budget of its own.",
    fields: [
      {
        key: "scratch_mb",
        label: "Scratch space",
        kind: "number",
        unit: "MiB",
        help: "Per runtime. 0 removes iii.files.",
        hint: footprint,
      },
      { key: "scratch_files", label: "Scratch files", kind: "number", help: "Per runtime." },
      {
        key: "scratch_root",
        label: "Scratch directory",
        kind: "text",
        placeholder: "the system temp directory",
        help: "Parent of all scratch directories. Empty means the system temp directory, which is often held in memory.",
      },
    ],
  },
];

export const KEYS: ReadonlySet<string> = new Set(SECTIONS.flatMap((section) => section.fields.map(({ key }) => key)));
