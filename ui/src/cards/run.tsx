import type { ReactNode } from "react";
import type { Json } from "../host";
import { filled, flag, langOf, number, text, type Lang, type Members, type State } from "../message";
import type { KnownIds } from "../redact";
import { languageOf, Missing, Result, Source, Stream } from "./blocks";
import { Card, Chip, LangChip, Note, RunningNote, type Tone } from "./frame";
import { RuntimeChip } from "./runtime-chip";

interface RunProps {
  state: State;
  input: Members;
  output?: Members;
  known: KnownIds;
}

export function RunChips(props: Omit<RunProps, "known">) {
  const { input, output } = props;
  const asked = filled(input.runtime_id);
  const keep = input.keep === true;
  const id = asked || keep ? (filled(output?.runtime_id) ?? asked) : undefined;
  const timeout = number(input.timeout_ms);
  return (
    <>
      {id && <RuntimeChip id={id} />}{" "}
      <Origin state={props.state} reused={asked !== undefined} keep={keep} owned={id !== undefined} />{" "}
      <LangChip lang={langOf(input.lang)} /> {timeout !== undefined && <Chip>timeout {timeout} ms</Chip>}
    </>
  );
}

function Origin(props: { state: State; reused: boolean; keep: boolean; owned: boolean }) {
  if (props.reused) {
    return (
      <Chip why="The request named a runtime that already existed, with its globals and files.">reused runtime</Chip>
    );
  }
  if (!props.keep) return <Chip why="The runtime exists for this call only.">one-shot</Chip>;
  if (props.owned) {
    return (
      <Chip
        tone="warn"
        why="The runtime outlives this call. The caller owns it until a teardown or the idle limit ends it."
      >
        kept
      </Chip>
    );
  }
  if (props.state === "settled" || props.state === "error") {
    return <Chip why="The call asked for a lasting runtime, but none outlived it.">keep, nothing kept</Chip>;
  }
  return (
    <Chip tone="warn" why="If the call succeeds its runtime outlives it, and the caller owns it.">
      keep
    </Chip>
  );
}

export function RunCard(props: RunProps) {
  const { state, input, output, known } = props;
  return (
    <Card op="run" state={state} chips={<RunChips state={state} input={input} output={output} />}>
      {state === "running" && <RunningNote>running</RunningNote>}
      {state === "pending" && <Pending code={text(input.code)} />}
      {output && (
        <>
          <Verdict output={output} />
          <Completion output={output} lang={langOf(input.lang)} known={known} />
        </>
      )}
      <RunSource state={state} input={input} known={known} />
      {output && <Streams output={output} known={known} />}
    </Card>
  );
}

function Verdict(props: { output: Members }) {
  const exit = number(props.output.exit_code);
  const duration = number(props.output.duration_ms);
  let tone: Tone = "warn";
  let remark = "the script failed; its own message is in stderr";
  if (exit === undefined) remark = "the response carried no exit code";
  else if (exit === 0 && flag(props.output.success) === false) remark = "yet the response reports failure";
  else if (exit === 0) [tone, remark] = ["ok", "clean"];
  return (
    <p className="cr-verdict" data-cr="verdict" data-cr-tone={tone}>
      <strong>exit {exit ?? "?"}</strong> <span>{remark}</span>{" "}
      {duration !== undefined && <span className="cr-duration">{duration}ms</span>}
    </p>
  );
}

const CONVENTION: Record<Lang, ReactNode> = {
  node: (
    <>
      Node code is a function body: hand a value back with <code>return</code>.
    </>
  ),
  python: (
    <>
      Python code is a module: hand a value back by assigning <code>result</code>.
    </>
  ),
};

function Completion(props: { output: Members; lang: Lang | undefined; known: KnownIds }) {
  const { output, lang } = props;
  if (!("result" in output)) {
    return (
      <Missing tone="warn">
        <Note tone="warn">The response is malformed: it has no result member, not even an empty one.</Note>
      </Missing>
    );
  }
  if (output.result === null) {
    return (
      <Missing tone="quiet">
        <Note>
          <code className="cr-strong">null</code> The code handed nothing back. {lang && CONVENTION[lang]}
        </Note>
      </Missing>
    );
  }
  return <Result value={output.result} known={props.known} />;
}

const CLIPPED = "…";

function Pending(props: { code: string | undefined }) {
  return (
    <>
      <Note>This code will run if approved.</Note>
      {props.code?.endsWith(CLIPPED) && (
        <Note tone="warn">
          The approval gate clips text to 256 characters. What follows is an excerpt; the program may be longer.
        </Note>
      )}
    </>
  );
}

export function RunSource(props: { state: State; input: Members; known: KnownIds }) {
  const { state, input } = props;
  const code = text(input.code);
  if (code === undefined) {
    return state === "settled" ? <Note>The request carried no code.</Note> : null;
  }
  if (code.trim() === "") return <Note>The code is empty or only white space.</Note>;
  const excerpt = state === "pending" && code.endsWith(CLIPPED);
  return <Source code={code} language={languageOf(langOf(input.lang))} known={props.known} excerpt={excerpt} />;
}

function Streams(props: { output: Members; known: KnownIds }) {
  const { stdout, stderr }: Record<string, Json> = props.output;
  return (
    <>
      <Stream name="stdout" value={stdout} known={props.known} />
      <Stream name="stderr" value={stderr} known={props.known} />
      {stdout === "" && stderr === "" && <Note>Nothing was printed.</Note>}
    </>
  );
}
