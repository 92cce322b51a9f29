import { useState } from "react";
import { namespaceOf } from "../src/message";
import { TextField } from "./composer";
import type { LiveFunction, Session } from "./session";

/** Everything callable on the bus; what guests published comes first and can be torn down. */
export function Functions(props: { session: Session }) {
  const { functions } = props.session;
  const ours = functions.filter((each) => isPublished(each));
  const others = functions.filter((each) => !isPublished(each));
  return (
    <section className="functions" aria-label="live functions">
      <h2>Live functions</h2>
      {functions.length === 0 && <p className="empty">None yet.</p>}
      <ul>
        {[...ours, ...others].map((each) => (
          <Item key={each.function_id} entry={each} session={props.session} />
        ))}
      </ul>
    </section>
  );
}

function isPublished(entry: LiveFunction) {
  return entry.worker_name === "code-runner" && !entry.function_id.startsWith("code-runner::");
}

function Item(props: { entry: LiveFunction; session: Session }) {
  const { entry, session } = props;
  const [open, setOpen] = useState(false);
  const [payload, setPayload] = useState("{}");
  const [problem, setProblem] = useState("");
  const namespace = isPublished(entry) && namespaceOf(entry.function_id);

  function call() {
    try {
      session.start(entry.function_id, JSON.parse(payload));
      setProblem("");
    } catch {
      setProblem("The payload is not JSON.");
    }
  }

  return (
    <li>
      <div className="row">
        <code>{entry.function_id}</code>
        <button type="button" className="plain" aria-expanded={open} onClick={() => setOpen(!open)}>
          call<span className="away"> {entry.function_id}</span>
        </button>
        {namespace && (
          <button type="button" className="plain" onClick={() => session.start("code-runner::teardown", { namespace })}>
            tear down {namespace}
          </button>
        )}
      </div>
      {entry.description && <p>{entry.description}</p>}
      {open && (
        <div className="row">
          <TextField label="payload" value={payload} onChange={setPayload} />
          <button type="button" className="primary" onClick={call}>
            Call
          </button>
        </div>
      )}
      {problem && <p role="alert">{problem}</p>}
    </li>
  );
}
