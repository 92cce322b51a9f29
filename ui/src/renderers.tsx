/* Decides which card, if any, a message gets. Hosts may ask any renderer about any message. */
import { memo, useMemo, type ReactNode } from "react";
import { pretty } from "./cards/blocks";
import { DeniedCard, ErrorCard } from "./cards/problem";
import { RegisterCard } from "./cards/register";
import { RunCard } from "./cards/run";
import { TeardownCard } from "./cards/teardown";
import type { FunctionTriggerMessage, FunctionTriggerRenderer, Json } from "./host";
import { denialOf, failureOf, functionIdOf, OPS, unwrap, type Members, type Op, type State } from "./message";
import { isPlainObject, knownIds, redactRaw } from "./redact";
import { showable } from "./text";

const ASSET = "code-runner/page.js";

export const renderers: FunctionTriggerRenderer[] = OPS.map(rendererOf);

function rendererOf(op: Op): FunctionTriggerRenderer {
  const functionId = functionIdOf[op];
  const mine = (message: FunctionTriggerMessage) =>
    message.functionId === functionId && (op === "teardown" || isPlainObject(message.input));

  return {
    id: `${ASSET}#${op}`,
    isMatch: (id) => id === functionId,

    tryRender(message) {
      if (!mine(message) || message.pendingApproval) return null;
      if (message.running) return card(op, "running", message);
      const state = settledState(message.output);
      return state && card(op, state, message);
    },

    tryRenderRunning(message) {
      return mine(message) && !message.pendingApproval ? card(op, "running", message) : null;
    },

    tryRenderPreview(message) {
      if (!mine(message) || !message.pendingApproval || !isPlainObject(message.input)) return null;
      /* The host's raw view says more about a program than a card without one could. */
      if (op === "run" && typeof message.input.code !== "string") return null;
      return card(op, "pending", message);
    },

    redactRaw,
  };
}

/** A denial has the shape of an error, and neither may reach the host's own error view, which shows ids. */
function settledState(output: Json): State | null {
  if (denialOf(output)) return "denied";
  if (failureOf(output, () => "")) return "error";
  return isPlainObject(unwrap(output)) ? "settled" : null;
}

function card(op: Op, state: State, message: FunctionTriggerMessage): ReactNode {
  return <OperationCard op={op} state={state} input={message.input} output={message.output} />;
}

const NO_MEMBERS: Members = {};

/* The filtering happens in here, once per payload, and not in the functions above, which hosts call all the time. */
const OperationCard = memo(function OperationCard(props: { op: Op; state: State; input: Json; output: Json }) {
  const { op, state, input, output } = props;
  const known = useMemo(() => knownIds(input, output, unwrap(output)), [input, output]);
  const request = isPlainObject(input) ? input : NO_MEMBERS;
  const response = state === "settled" ? (unwrap(output) as Members) : undefined;

  if (state === "denied") return <DeniedCard op={op} denial={denialOf(output)!} known={known} />;
  if (state === "error") {
    const show = (value: Json) => (typeof value === "string" ? showable(value, known) : pretty(value, known));
    return <ErrorCard op={op} failure={failureOf(output, show)!} input={request} known={known} />;
  }
  switch (op) {
    case "run":
      return <RunCard state={state} input={request} output={response} known={known} />;
    case "register_function":
      return <RegisterCard state={state} input={request} output={response} known={known} />;
    case "teardown":
      return <TeardownCard state={state} input={input} output={response} known={known} />;
  }
});
