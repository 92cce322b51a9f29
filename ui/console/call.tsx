import { Component, useState, type ReactNode } from "react";
import type { FunctionTriggerMessage, FunctionTriggerRenderer } from "../src/host";
import { cardFor, rawOf, SCOPE } from "./host";

/* A card that throws costs itself, not the page. */
class Boundary extends Component<{ children: ReactNode }, { broken: boolean }> {
  state = { broken: false };
  static getDerivedStateFromError = () => ({ broken: true });
  render() {
    return this.state.broken ? <p className="empty">This card could not be drawn.</p> : this.props.children;
  }
}

export function CallView(props: { message: FunctionTriggerMessage; renderers: FunctionTriggerRenderer[] }) {
  const { message, renderers } = props;
  const [raw, setRaw] = useState(false);
  const card = cardFor(renderers, message);
  return (
    <article className="call" data-call={message.functionId}>
      <div className="callhead">
        <code>{message.functionId}</code>
        <time dateTime={new Date(message.createdAt).toISOString()}>
          {new Date(message.createdAt).toLocaleTimeString()}
        </time>
        {message.durationMs !== undefined && <span>{message.durationMs} ms in all</span>}
        {card && (
          <button type="button" className="plain" aria-pressed={raw} onClick={() => setRaw(!raw)}>
            raw json
          </button>
        )}
      </div>
      {card && !raw ? (
        <div data-iii-ui={SCOPE} style={{ display: "contents" }}>
          <Boundary>{card}</Boundary>
        </div>
      ) : (
        <>
          <RawPane label="request" text={rawOf(renderers, message, message.input)} />
          <RawPane label="response" text={rawOf(renderers, message, message.output)} />
        </>
      )}
    </article>
  );
}

function RawPane(props: { label: string; text: string }) {
  return (
    <div className="raw">
      <span className="label">{props.label}</span>
      <pre tabIndex={0} role="group" aria-label={props.label}>
        {props.text}
      </pre>
    </div>
  );
}
