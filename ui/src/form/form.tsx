import { useEffect, useId, useRef, useState, type ReactNode } from "react";
import type { ConfigFormProps, Json } from "../host";
import { DEFAULTS } from "./defaults";
import { draftOf, textOf, withKey, withNumber, withText, type Draft } from "./draft";
import { KEYS, SECTIONS, type Field, type Section } from "./fields";

export function ConfigForm(props: ConfigFormProps) {
  const draft = draftOf(props.value);
  const errors = errorEntries(props.errors);
  const root = useRef<HTMLDivElement>(null);
  const wanted = Array.isArray(props.focusField) ? props.focusField[0] : undefined;

  useEffect(() => {
    if (typeof wanted !== "string") return;
    const control = root.current?.querySelector<HTMLElement>(`[data-field="${CSS.escape(wanted)}"]`);
    control?.focus();
    control?.scrollIntoView({ block: "center" });
  }, [wanted]);

  return (
    <div className="cr-form" data-cr="config-form" ref={root}>
      {SECTIONS.map((section) => (
        <SectionView key={section.title} section={section} draft={draft} errors={errors} onChange={props.onChange} />
      ))}
      <OtherErrors errors={errors} />
    </div>
  );
}

type Errors = ReadonlyMap<string, string>;

function errorEntries(errors: ConfigFormProps["errors"]): Errors {
  return errors instanceof Map ? errors : new Map(Object.entries(errors ?? {}));
}

function OtherErrors(props: { errors: Errors }) {
  const others = [...props.errors].filter(([pointer]) => !(pointer.startsWith("/") && KEYS.has(pointer.slice(1))));
  if (others.length === 0) return null;
  return (
    <ul className="cr-errors" role="alert">
      {others.map(([pointer, message]) => (
        <li className="cr-fielderror" data-cr="field-error" key={pointer}>
          {pointer && <code>{pointer}</code>} {message}
        </li>
      ))}
    </ul>
  );
}

interface SectionProps {
  draft: Draft;
  errors: Errors;
  onChange(next: Json): void;
}

function SectionView(props: SectionProps & { section: Section }) {
  const { section, ...rest } = props;
  const live = section.applies === "on save";
  return (
    <fieldset className="cr-section" data-cr="config-section">
      <legend>
        {section.title}{" "}
        <span className="cr-applies" data-cr-tone={live ? "ok" : "warn"}>
          applies {section.applies}
        </span>
      </legend>
      {section.about && <p className="cr-about">{section.about}</p>}
      <div className="cr-fields">
        {section.fields.map((field) => (
          <FieldView key={field.key} field={field} {...rest} />
        ))}
      </div>
    </fieldset>
  );
}

function FieldView(props: SectionProps & { field: Field }) {
  const { field, draft } = props;
  const id = useId();
  const hint = field.hint?.(draft);
  const error = props.errors.get(`/${field.key}`);
  const remarks = [field.help && `${id}-help`, hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ");
  const control: ControlProps = {
    id,
    field,
    draft,
    describedBy: remarks || undefined,
    invalid: error !== undefined,
    onChange: props.onChange,
  };
  const label = (
    <label htmlFor={id}>
      {field.label} <code>{field.key}</code>
    </label>
  );
  return (
    <div className="cr-field" data-kind={field.kind}>
      {field.kind === "switch" ? (
        <div className="cr-switch">
          <Switch {...control} /> {label}
        </div>
      ) : (
        <>
          {label}
          {field.kind === "number" ? (
            <NumberInput {...control} unit={field.unit} fallback={DEFAULTS[field.key]} />
          ) : null}
          {field.kind === "text" ? <TextInput {...control} placeholder={field.placeholder} /> : null}
        </>
      )}
      {field.help && <Remark id={`${id}-help`}>{field.help}</Remark>}
      {hint && (
        <Remark id={`${id}-hint`} tone={hint.tone}>
          {hint.text}
        </Remark>
      )}
      {error && (
        <p className="cr-fielderror" id={`${id}-error`} role="alert" data-cr="field-error">
          {error}
        </p>
      )}
    </div>
  );
}

function Remark(props: { id: string; tone?: string; children: ReactNode }) {
  return (
    <p className="cr-hint" id={props.id} data-cr-tone={props.tone ?? "quiet"}>
      {props.children}
    </p>
  );
}

interface ControlProps {
  id: string;
  field: Field;
  draft: Draft;
  describedBy: string | undefined;
  invalid: boolean;
  onChange(next: Json): void;
}

/*
 * What does not parse stays in the control while it has the focus, so that typing is not fought, and is forgotten
 * afterwards or when the draft changes: the draft alone says what a field holds.
 */
function NumberInput(props: ControlProps & { unit: string | undefined; fallback: number }) {
  const { id, field, draft } = props;
  const held = textOf(draft[field.key]);
  const [refused, setRefused] = useState<{ typed: string; held: string }>();
  const pending = refused?.held === held ? refused.typed : undefined;
  const noteId = `${id}-refused`;

  function enter(typed: string) {
    const next = withNumber(draft, field.key, typed);
    setRefused(next ? undefined : { typed, held });
    if (next) props.onChange(next);
  }

  return (
    <>
      <span className="cr-control">
        <input
          id={id}
          className="cr-input"
          data-field={field.key}
          type="text"
          inputMode="numeric"
          autoComplete="off"
          spellCheck={false}
          placeholder={String(props.fallback)}
          value={pending ?? held}
          aria-describedby={[props.describedBy, pending !== undefined && noteId].filter(Boolean).join(" ") || undefined}
          aria-invalid={props.invalid || pending !== undefined || undefined}
          onChange={(event) => enter(event.target.value)}
          onBlur={() => setRefused(undefined)}
        />{" "}
        {props.unit && <span className="cr-unit">{props.unit}</span>}
      </span>
      {pending !== undefined && (
        <Remark id={noteId} tone="warn">
          Not taken over: it has to be a whole number, 0 or more.
        </Remark>
      )}
    </>
  );
}

function TextInput(props: ControlProps & { placeholder: string }) {
  const { field, draft } = props;
  return (
    <input
      id={props.id}
      className="cr-input cr-wide"
      data-field={field.key}
      type="text"
      autoComplete="off"
      spellCheck={false}
      placeholder={props.placeholder}
      value={textOf(draft[field.key])}
      aria-describedby={props.describedBy}
      aria-invalid={props.invalid || undefined}
      onChange={(event) => props.onChange(withText(draft, field.key, event.target.value))}
    />
  );
}

function Switch(props: ControlProps) {
  const { field, draft } = props;
  const held = draft[field.key];
  return (
    <input
      id={props.id}
      className="cr-check"
      data-field={field.key}
      type="checkbox"
      checked={held !== false}
      aria-describedby={props.describedBy}
      aria-invalid={props.invalid || undefined}
      onChange={(event) => props.onChange(withKey(draft, field.key, event.target.checked))}
    />
  );
}
