import { useId, useState } from "react";
import type { Json } from "../host";
import { flag, targetOf, typeName, type Members, type State, type Target } from "../message";
import type { KnownIds } from "../redact";
import { plural, showable } from "../text";
import { Toggle } from "./blocks";
import { Card, Note, RunningNote } from "./frame";
import { RuntimeChip } from "./runtime-chip";

const MOST_LISTED = 12;

export function TeardownCard(props: { state: State; input: Json; output?: Members; known: KnownIds }) {
  const { state, output, known } = props;
  const target = targetOf(output, props.input);
  return (
    <Card op="teardown" state={state} chips={target.runtimeId && <RuntimeChip id={target.runtimeId} />}>
      {state === "running" && <RunningNote>tearing down</RunningNote>}
      {output && <Outcome tornDown={flag(output.torn_down)} target={target} />}
      {state === "pending" && <Preview target={target} />}
      {target.namespace && (
        <p className="cr-line" data-cr="namespace">
          <span className="cr-key">namespace</span>{" "}
          <code className="cr-strong">{showable(target.namespace, known)}</code>
        </p>
      )}
      {output && <Gone ids={output.unregistered} known={known} />}
    </Card>
  );
}

function Outcome(props: { tornDown: boolean | undefined; target: Target }) {
  const { tornDown, target } = props;
  if (tornDown === false) return <Note tone="warn">The response says that it was not torn down.</Note>;
  if (tornDown === undefined) {
    return <Note tone="warn">Unconfirmed: the response does not say whether it was torn down.</Note>;
  }
  return <Note tone="ok">{target.namespace ? NAMESPACE_GONE : RUNTIME_GONE}</Note>;
}

const RUNTIME_GONE = "Destroyed: the runtime, its isolate or interpreter together with its working directory.";
const NAMESPACE_GONE = "Destroyed: every runtime behind the namespace, with its working directory.";

function Preview(props: { target: Target }) {
  if (props.target.namespace) {
    return (
      <Note>
        If approved, every runtime behind this namespace is destroyed and every function it registered stops resolving.
        A pinned Python interpreter is reclaimed as well.
      </Note>
    );
  }
  return (
    <Note>
      If approved, this runtime is destroyed with its working directory, and every function it registered stops
      resolving.
    </Note>
  );
}

function Gone(props: { ids: Json; known: KnownIds }) {
  const { ids, known } = props;
  const listId = useId();
  const [open, setOpen] = useState(false);
  if (!Array.isArray(ids)) {
    return (
      <div data-cr="gone" data-cr-tone="quiet">
        <Note>Which functions stopped resolving was not listed in the response.</Note>
      </div>
    );
  }
  if (ids.length === 0) {
    return (
      <div data-cr="gone" data-cr-tone="quiet">
        <Note>Nothing registered here, so no function stopped resolving.</Note>
      </div>
    );
  }
  const shown = open ? ids : ids.slice(0, MOST_LISTED);
  return (
    <div className="cr-part" data-cr="gone" data-cr-tone="quiet">
      <div className="cr-label">{plural(ids.length, "function")} stopped resolving</div>
      <ul className="cr-list cr-scroll" id={listId} aria-label="functions that stopped resolving" tabIndex={0}>
        {shown.map((id, index) => (
          <li key={index}>
            {typeof id === "string" ? (
              <del>{showable(id, known)}</del>
            ) : (
              `entry ${index + 1}: ${typeName(id)}, not an id`
            )}
          </li>
        ))}
      </ul>
      {ids.length > MOST_LISTED && (
        <div className="cr-more">
          <Toggle
            open={open}
            more={`show all ${plural(ids.length, "id")}`}
            of="functions"
            controls={listId}
            onToggle={() => setOpen(!open)}
          />
        </div>
      )}
    </div>
  );
}
