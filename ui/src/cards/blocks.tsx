/* Blocks of text that can be long: clamped, scrolled, and opened on demand. */
import { CodeHighlight } from "@iii-dev/console-ui";
import { useId, useMemo, useState, type ReactNode } from "react";
import type { Json } from "../host";
import { typeName, type Lang } from "../message";
import { redactValue, type KnownIds } from "../redact";
import { clamp, countLines, plural, showable, type Limit } from "../text";
import { Note, type Tone } from "./frame";

const STREAM: Limit = { lines: 12, chars: 2000 };
const SOURCE: Limit = { lines: 14, chars: 2000 };
const RESULT: Limit = { lines: Infinity, chars: 1200 };

export function Toggle(props: { open: boolean; more: string; of: string; controls: string; onToggle(): void }) {
  return (
    <button
      type="button"
      className="cr-toggle"
      data-cr="toggle"
      aria-expanded={props.open}
      aria-controls={props.controls}
      onClick={props.onToggle}
    >
      {props.open ? "collapse" : props.more}
      <span className="cr-hidden"> ({props.of})</span>
    </button>
  );
}

interface BlockProps {
  label: string;
  aside?: ReactNode;
  /** Already filtered: what is cut here must not be what the filter would have recognised. */
  text: string;
  limit: Limit;
  /** The text is itself cut short, so its totals mean nothing. */
  excerpt?: boolean;
  /** Said beside the toggle about what the visible part does not show. */
  missing?(visible: string): ReactNode;
  children(visible: string): ReactNode;
}

function Block(props: BlockProps) {
  const { label, text, limit } = props;
  const id = useId();
  const [open, setOpen] = useState(false);
  const short = useMemo(() => clamp(text, limit), [text, limit]);
  const long = short.length < text.length;
  const visible = open ? text : short;
  const more = props.excerpt
    ? "show the whole excerpt"
    : `show all ${plural(countLines(text), "line")}, ${plural(text.length, "character")}`;
  return (
    <>
      <div className="cr-label">
        {label} {props.aside}
      </div>
      <div className="cr-scroll" id={id} role="group" aria-label={label} tabIndex={0}>
        {props.children(visible)}
      </div>
      {long && (
        <div className="cr-more">
          <Toggle open={open} more={more} of={label} controls={id} onToggle={() => setOpen(!open)} />{" "}
          {props.missing?.(visible)}
        </div>
      )}
    </>
  );
}

const preformatted = (visible: string) => <pre className="cr-pre">{visible}</pre>;

/* The worker keeps the beginning and the end of a long stream, with this line between them. */
const CUT: Record<StreamName, RegExp> = {
  stdout: /^\[…stdout truncated: was ~(\d+) KB; middle omitted\]$/m,
  stderr: /^\[…stderr truncated: was ~(\d+) KB; middle omitted\]$/m,
};
type StreamName = "stdout" | "stderr";

export function Stream(props: { name: StreamName; value: Json; known: KnownIds }) {
  const { name, value, known } = props;
  const text = useMemo(() => (typeof value === "string" ? showable(value, known) : ""), [value, known]);
  if (value === undefined || value === null || value === "") return null;
  if (typeof value !== "string") {
    return (
      <Note tone="warn">
        <code>{name}</code> is {typeName(value)}, not text; see the raw view.
      </Note>
    );
  }
  const cut = CUT[name].exec(text);
  return (
    <div className="cr-part" data-cr={name} data-cr-tone={name === "stderr" ? "warn" : "quiet"}>
      <Block
        label={name}
        text={text}
        limit={STREAM}
        missing={(visible) =>
          cut &&
          !visible.includes(cut[0]) && <span data-cr-tone="warn">truncated: was ~{cut[1]} KB, middle omitted</span>
        }
      >
        {preformatted}
      </Block>
    </div>
  );
}

export type SourceLanguage = "javascript" | "python" | "text";

export function languageOf(lang: Lang | undefined): SourceLanguage {
  return lang === "node" ? "javascript" : (lang ?? "text");
}

export function Source(props: {
  code: string;
  language: SourceLanguage;
  known: KnownIds;
  excerpt?: boolean;
  guessed?: boolean;
}) {
  const { code, known, language } = props;
  const text = useMemo(() => showable(code, known), [code, known]);
  return (
    <div className="cr-part" data-cr="source">
      <Block
        label={props.excerpt ? "source (excerpt)" : "source"}
        aside={
          language !== "text" && <span className="cr-aside">{props.guessed ? `${language}, a guess` : language}</span>
        }
        text={text}
        limit={SOURCE}
        excerpt={props.excerpt}
      >
        {(visible) => <CodeHighlight code={visible} language={language} wrap />}
      </Block>
    </div>
  );
}

/** A value as indented JSON, filtered before it is printed and again after. */
export function pretty(value: Json, known: KnownIds): string {
  return showable(JSON.stringify(redactValue(value, known), null, 2) ?? "undefined", known);
}

const OMITTED = /^<omitted: result was ~[^]*>$/;

export function Result(props: { value: Json; known: KnownIds; children?: ReactNode }) {
  const { value, known } = props;
  const marker = typeof value === "string" && OMITTED.test(value);
  const text = useMemo(
    () => (marker ? showable(value as string, known) : pretty(value, known)),
    [value, known, marker],
  );
  return (
    <div className="cr-part" data-cr="result" data-cr-tone={marker ? "warn" : "quiet"}>
      {marker ? (
        <>
          <div className="cr-label">result</div>
          <Note tone="warn">The value is not here: the answer says that the worker's limit dropped it.</Note>
          <pre className="cr-pre cr-scroll">{text}</pre>
        </>
      ) : (
        <Block label="result" text={text} limit={RESULT}>
          {preformatted}
        </Block>
      )}
    </div>
  );
}

export function Missing(props: { tone: Tone; children: ReactNode }) {
  return (
    <div className="cr-part" data-cr="result" data-cr-tone={props.tone}>
      <div className="cr-label">result</div>
      {props.children}
    </div>
  );
}
