/* What is shown when a call failed outside the guest's code, or never reached the worker. */
import type { ReactNode } from "react";
import { filled, type Denial, type ErrorCode, type Failure, type Members, type Op } from "../message";
import type { KnownIds } from "../redact";
import { showable } from "../text";
import { Card } from "./frame";
import { RegisterChips } from "./register";
import { RunChips, RunSource } from "./run";
import { RuntimeChip } from "./runtime-chip";

const ADVICE: Record<ErrorCode, string> = {
  invalid_request: "The request is malformed or not allowed as it stands; the text says how.",
  runtime_not_found: "No such runtime, or a namespace with nothing behind it.",
  expired: "The runtime was idle for too long or was killed. Run again without its id; it starts empty.",
  capacity: "Every runtime slot is in use. Try again later, or tear one down.",
  timeout: "The deadline passed. Raise timeout_ms, or do less in one call.",
  resource_exhausted: "A limit was hit. The same call will hit it again: make the work smaller.",
  handler_error: "The registered handler threw; its message is above.",
  engine: "A failure of the infrastructure, not of the code.",
};

export function ErrorCard(props: { op: Op; failure: Failure; input: Members; known: KnownIds }) {
  const { op, failure, input, known } = props;
  return (
    <Card op={op} state="error" chips={errorChips(op, input)}>
      <div className="cr-error" data-cr="error" data-cr-tone="alert" data-cr-code={failure.code}>
        {failure.code && (
          <p className="cr-errorcode">
            <code>code-runner::{failure.code}</code>
          </p>
        )}
        <pre className="cr-pre cr-scroll" role="group" aria-label="error" tabIndex={0}>
          {failure.text || "The error has no text."}
        </pre>
        {failure.code && <p className="cr-advice">{ADVICE[failure.code]}</p>}
      </div>
      {op === "run" && <RunSource state="error" input={input} known={known} />}
    </Card>
  );
}

function errorChips(op: Op, input: Members): ReactNode {
  if (op === "run") return <RunChips state="error" input={input} />;
  if (op === "register_function") return <RegisterChips input={input} />;
  const id = filled(input.runtime_id);
  return id && <RuntimeChip id={id} />;
}

/** Nothing about the arguments: the gate's excerpt of them may hold an id, and no runtime was touched. */
export function DeniedCard(props: { op: Op; denial: Denial; known: KnownIds }) {
  return (
    <Card op={props.op} state="denied">
      <div className="cr-denied" data-cr="denied" data-cr-tone="warn">
        <p>
          <strong>This call never ran.</strong> Denied by <code>{showable(props.denial.by, props.known)}</code>.
        </p>
        <p className="cr-text">{showable(props.denial.reason, props.known)}</p>
      </div>
    </Card>
  );
}
