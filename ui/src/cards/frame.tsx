/* The frame that all cards share, and the small parts they are made of. */
import { Tooltip, TooltipContent, TooltipTrigger } from "@iii-dev/console-ui";
import type { ReactNode } from "react";
import type { Op, State } from "../message";

/** `alert` is for infrastructure errors only: a failing script is an answer, not an alert. */
export type Tone = "ok" | "warn" | "alert" | "quiet";

const STATE_WORD: Record<State, string | undefined> = {
  pending: "waiting for approval",
  running: "in flight",
  settled: undefined,
  error: "error",
  denied: "denied",
};

export function Card(props: { op: Op; state: State; chips?: ReactNode; children: ReactNode }) {
  const { op, state } = props;
  const word = STATE_WORD[state];
  return (
    <div
      className="cr-card"
      data-cr="card"
      data-cr-op={op}
      data-cr-state={state}
      role="group"
      aria-label={`code-runner ${op}`}
    >
      <div className="cr-head">
        <span className="cr-op" data-cr="op">
          {op}
        </span>{" "}
        {word && <span className="cr-state">{word}</span>} {props.chips} <span className="cr-by">code-runner</span>
      </div>
      <div className="cr-body">{props.children}</div>
    </div>
  );
}

export function Note(props: { tone?: Tone; hook?: "note" | "advisory"; children: ReactNode }) {
  return (
    <p className="cr-note" data-cr={props.hook ?? "note"} data-cr-tone={props.tone ?? "quiet"}>
      {props.children}
    </p>
  );
}

export function RunningNote(props: { children: ReactNode }) {
  return (
    <p className="cr-note cr-running" data-cr="note" data-cr-tone="quiet">
      <span className="cr-pulse" aria-hidden="true" /> {props.children}
    </p>
  );
}

/** A short fact in the heading row. With `why`, the explanation is a tooltip that the keyboard reaches too. */
export function Chip(props: { tone?: Tone; why?: string; children: ReactNode }) {
  const tone = props.tone ?? "quiet";
  if (!props.why) {
    return (
      <span className="cr-chip" data-cr="chip" data-cr-tone={tone}>
        {props.children}
      </span>
    );
  }
  return (
    <Tooltip>
      <TooltipTrigger asChild>
        <span className="cr-chip" data-cr="chip" data-cr-tone={tone} role="note" tabIndex={0}>
          {props.children}
        </span>
      </TooltipTrigger>
      <TooltipContent>{props.why}</TooltipContent>
    </Tooltip>
  );
}

export function LangChip(props: { lang: string | undefined }) {
  return props.lang ? <Chip>{props.lang}</Chip> : null;
}
