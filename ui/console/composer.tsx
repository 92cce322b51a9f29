import { useId, useState, type FormEvent, type KeyboardEvent, type ReactNode } from "react";
import { maskId } from "../src/redact";
import type { Session } from "./session";

type Lang = "node" | "python";
type Mode = "run" | "publish";

const LANGS: Record<Lang, string> = { node: "Node.js", python: "Python" };

const SAMPLE: Record<Mode, Record<Lang, string>> = {
  run: {
    node: 'const { version } = process;\nconsole.log("hello from", version);\nreturn [1, 2, 3].map((n) => n ** 2);',
    python: 'import sys\n\nprint("hello from", sys.version.split()[0])\nresult = [n ** 2 for n in (1, 2, 3)]',
  },
  publish: {
    node: "export async function handler(payload) {\n  return { hello: payload.name };\n}",
    python: 'def handler(payload):\n    return {"hello": payload["name"]}',
  },
};

const ONE_SHOT = "one-shot";
const KEEP = "keep";

export function Composer(props: { session: Session }) {
  const { session } = props;
  const [mode, setMode] = useState<Mode>("run");
  const [lang, setLang] = useState<Lang>("node");
  const [typed, setTyped] = useState<Partial<Record<string, string>>>({});
  const [runtime, setRuntime] = useState(ONE_SHOT);
  const [functionId, setFunctionId] = useState("my-app::greet");
  const [description, setDescription] = useState("");
  const draft = `${mode} ${lang}`;
  const code = typed[draft] ?? SAMPLE[mode][lang];
  const usable = session.runtimes.filter((each) => each.lang === lang);
  const chosen = usable[Number(runtime)];

  function submit(event: FormEvent) {
    event.preventDefault();
    if (mode === "publish") {
      session.start("code-runner::register_function", {
        function_id: functionId,
        lang,
        source: code,
        description: description || null,
      });
    } else if (chosen) {
      session.start("code-runner::run", { code, lang, runtime_id: chosen.id });
    } else {
      session.start("code-runner::run", { code, lang, keep: runtime === KEEP });
    }
  }

  return (
    <form className="composer" aria-label="composer" onSubmit={submit}>
      <div className="row">
        <Choice<Mode> label="mode" value={mode} options={{ run: "Run", publish: "Publish" }} onChange={setMode} />
        <Choice<Lang>
          label="language"
          value={lang}
          options={LANGS}
          onChange={(next) => {
            setLang(next);
            setRuntime(ONE_SHOT);
          }}
        />
      </div>
      {mode === "publish" && (
        <>
          <TextField label="function id" value={functionId} onChange={setFunctionId} />
          <TextField label="description" value={description} onChange={setDescription} />
        </>
      )}
      <Editor
        label={mode === "run" ? "code" : "source, which defines handler(payload)"}
        value={code}
        onChange={(next) => setTyped({ ...typed, [draft]: next })}
      />
      <div className="row">
        {mode === "run" && (
          <Field label="runtime" inline>
            {(id) => (
              <select
                id={id}
                value={chosen || runtime === KEEP ? runtime : ONE_SHOT}
                onChange={(event) => setRuntime(event.target.value)}
              >
                <option value={ONE_SHOT}>one-shot</option>
                <option value={KEEP}>new, kept</option>
                {usable.map((each, index) => (
                  <option key={index} value={index}>
                    {maskId(each.id)}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        {mode === "run" && chosen && (
          <button
            type="button"
            className="plain"
            onClick={() => session.start("code-runner::teardown", { runtime_id: chosen.id })}
          >
            tear down
          </button>
        )}
        <button type="submit" className="primary" disabled={!session.connected}>
          {mode === "run" ? "Run" : "Publish"}
        </button>
      </div>
    </form>
  );
}

function Choice<Name extends string>(props: {
  label: string;
  value: Name;
  options: Record<Name, string>;
  onChange(next: Name): void;
}) {
  return (
    <fieldset className="choice">
      <legend className="away">{props.label}</legend>
      {(Object.entries(props.options) as [Name, string][]).map(([name, title]) => (
        <label key={name}>
          <input type="radio" className="away" checked={props.value === name} onChange={() => props.onChange(name)} />
          <span>{title}</span>
        </label>
      ))}
    </fieldset>
  );
}

function Field(props: { label: string; inline?: boolean; children(id: string): ReactNode }) {
  const id = useId();
  return (
    <div className={props.inline ? "field inline" : "field"}>
      <label htmlFor={id}>{props.label}</label>
      {props.children(id)}
    </div>
  );
}

interface TextProps {
  label: string;
  value: string;
  onChange(next: string): void;
}

export function TextField(props: TextProps) {
  return (
    <Field label={props.label}>
      {(id) => (
        <input
          id={id}
          type="text"
          spellCheck={false}
          autoComplete="off"
          value={props.value}
          onChange={(event) => props.onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

/* Control+Enter submits. Tab keeps its meaning, so that the keyboard is never trapped. */
function Editor(props: TextProps) {
  function onKeyDown(event: KeyboardEvent<HTMLTextAreaElement>) {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    event.currentTarget.form?.requestSubmit();
  }
  return (
    <Field label={props.label}>
      {(id) => (
        <textarea
          id={id}
          rows={14}
          spellCheck={false}
          autoComplete="off"
          autoCapitalize="off"
          value={props.value}
          onKeyDown={onKeyDown}
          onChange={(event) => props.onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
