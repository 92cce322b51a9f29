import type { ReactNode } from "react";
import { filled, flag, langOf, namespaceOf, text, typeName, type Lang, type Members, type State } from "../message";
import { isPlainObject, type KnownIds } from "../redact";
import { showable } from "../text";
import { languageOf, Source } from "./blocks";
import { Card, Chip, LangChip, Note, RunningNote } from "./frame";

interface RegisterProps {
  state: State;
  input: Members;
  output?: Members;
  known: KnownIds;
}

const TEXT_FIELDS = ["function_id", "source", "description"] as const;

export function RegisterChips(props: { input: Members }) {
  const { input } = props;
  return (
    <>
      <LangChip lang={langOf(input.lang)} /> {isPlainObject(input.request_format) && <Chip>request schema</Chip>}{" "}
      {isPlainObject(input.response_format) && <Chip>response schema</Chip>}
    </>
  );
}

export function RegisterCard(props: RegisterProps) {
  const { state, input, output, known } = props;
  const asked = filled(input.function_id);
  const id = asked ?? filled(output?.function_id);
  return (
    <Card op="register_function" state={state} chips={<RegisterChips input={input} />}>
      {state === "running" && <RunningNote>being registered</RunningNote>}
      {state === "pending" && <Pending input={input} />}
      <FunctionLine id={id} fromResponse={asked === undefined} output={output} known={known} />
      {id && <NamespaceLine id={showable(id, known)} />}
      <Description value={text(input.description)} known={known} />
      <Notes input={input} output={output} known={known} />
      <HandlerSource state={state} input={input} known={known} />
    </Card>
  );
}

const clipped = (value: unknown) => typeof value === "string" && value.endsWith("…");

function Pending(props: { input: Members }) {
  return (
    <>
      <Note>This function will be registered if approved.</Note>
      {TEXT_FIELDS.some((field) => clipped(props.input[field])) && (
        <Note tone="warn">The approval gate clips text to 256 characters. What follows holds excerpts.</Note>
      )}
    </>
  );
}

function FunctionLine(props: { id?: string; fromResponse: boolean; output?: Members; known: KnownIds }) {
  if (!props.id) {
    return (
      <div data-cr="function" data-cr-tone="warn">
        <Note tone="warn">No function id was given.</Note>
      </div>
    );
  }
  return (
    <p className="cr-line" data-cr="function">
      <span className="cr-key">function</span> <code className="cr-strong">{showable(props.id, props.known)}</code>{" "}
      {props.output && <Badge registered={flag(props.output.registered)} />}{" "}
      {props.fromResponse && <span className="cr-aside">as named by the response; the request had none</span>}
    </p>
  );
}

function Badge(props: { registered: boolean | undefined }) {
  if (props.registered === undefined) return null;
  return (
    <span className="cr-badge" data-cr="registration" data-cr-tone={props.registered ? "ok" : "warn"}>
      {props.registered ? "registered" : "not registered"}
    </span>
  );
}

function NamespaceLine(props: { id: string }) {
  const namespace = namespaceOf(props.id);
  if (!namespace) {
    return (
      <div data-cr="namespace" data-cr-tone="warn">
        <Note tone="warn">
          This id has no namespace. An id reads <code>namespace::name</code>, for example <code>my-app::greet</code>.
        </Note>
      </div>
    );
  }
  return (
    <div data-cr="namespace">
      <p className="cr-line">
        <span className="cr-key">namespace</span> <code className="cr-strong">{namespace}</code>
      </p>
      <p className="cr-remarkline">
        Claimed by the first registration in it. Ids are claimed across both languages, so this id cannot exist in the
        other one as well.
      </p>
    </div>
  );
}

function Description(props: { value: string | undefined; known: KnownIds }) {
  if (!props.value?.trim()) {
    return <Note tone="warn">No description: whoever looks this function up will see nothing about it.</Note>;
  }
  return (
    <p className="cr-line">
      <span className="cr-key">description</span> <span className="cr-text">{showable(props.value, props.known)}</span>
    </p>
  );
}

function Notes(props: { input: Members; output?: Members; known: KnownIds }) {
  const { input, output, known } = props;
  const registered = flag(output?.registered);
  const asked = filled(input.function_id);
  const answered = filled(output?.function_id);
  return (
    <>
      {registered === false && <Note tone="warn">The response says that the function was not registered.</Note>}
      {output && registered === undefined && (
        <Note tone="warn">Unconfirmed: the response does not say whether the function was registered.</Note>
      )}
      {asked && answered && asked !== answered && (
        <Note tone="warn">
          The response names another id: asked for <code>{showable(asked, known)}</code>, answered{" "}
          <code>{showable(answered, known)}</code>.
        </Note>
      )}
      {TEXT_FIELDS.filter(
        (field) => !["string", "undefined"].includes(typeof input[field]) && input[field] !== null,
      ).map((field) => (
        <Note tone="warn" key={field}>
          <code>{field}</code> is {typeName(input[field])}, not text.
        </Note>
      ))}
    </>
  );
}

/** Only for a request whose language is missing or unknown. */
export function guessLang(source: string): Lang | undefined {
  if (/^\s*(?:async\s+)?def\s+\w+/m.test(source)) return "python";
  return /^.*(?:\bfunction\s+\w+|\bexport\s+function\b|=>)/m.test(source) ? "node" : undefined;
}

const HANDLER = <code>handler</code>;

const ADVICE: Record<Lang | "unknown", ReactNode> = {
  python: (
    <>
      The worker executes the source and then requires a callable {HANDLER}; without one it is this registration that is
      refused, not the first call.
    </>
  ),
  node: <>The worker evaluates the source and then looks for {HANDLER}; without one this registration is refused.</>,
  unknown: <>The worker looks for a {HANDLER} that the source defines.</>,
};

function HandlerSource(props: { state: State; input: Members; known: KnownIds }) {
  const { state, input } = props;
  const source = text(input.source);
  if (!source?.trim()) {
    return (
      <Note tone="warn">
        {source ? "The source is only white space." : "The source is missing or empty."} The worker refuses that.
      </Note>
    );
  }
  const lang = langOf(input.lang);
  const guess = lang ? undefined : guessLang(source);
  const excerpt = state === "pending" && clipped(source);
  return (
    <>
      <Source
        code={source}
        language={languageOf(lang ?? guess)}
        guessed={guess !== undefined}
        known={props.known}
        excerpt={excerpt}
      />
      {!excerpt && !/\bhandler\b/.test(source) && (
        <Note hook="advisory">
          The word {HANDLER} does not occur. {ADVICE[lang ?? guess ?? "unknown"]}
        </Note>
      )}
    </>
  );
}
