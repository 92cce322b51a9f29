/*
 * Does to injected scripts what a console does, and nothing more. Everything a test drives hangs off `standin`.
 */
import { Component, createElement as h, StrictMode } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";

const SCOPE = "code-runner";
const PATH = "code-runner/page.js";

/** Live registrations, everything ever registered and removed, and whether the bus was touched. */
const log = { renderers: new Map(), forms: new Map(), events: [], busTouched: false };
let current;

function register(kind, map, id, thing) {
  map.set(id, thing);
  log.events.push(`+${kind} ${id}`);
  return () => {
    if (map.get(id) !== thing) return;
    map.delete(id);
    log.events.push(`-${kind} ${id}`);
  };
}

const untouchable = new Proxy(
  {},
  {
    get() {
      log.busTouched = true;
      throw new Error("the bus is not for cards");
    },
  },
);

function freshHost(removers) {
  const keep = (remove) => (removers.push(remove), remove);
  return {
    path: PATH,
    functionTriggers: { register: (renderer) => keep(register("renderer", log.renderers, renderer.id, renderer)) },
    configForms: { register: (id, form) => keep(register("form", log.forms, id, form)) },
    components: {},
    useTheme: () => document.documentElement.dataset.theme,
    iii: untouchable,
  };
}

async function unload() {
  const script = current;
  current = undefined;
  for (const undo of [script?.teardown, ...(script?.removers ?? [])].reverse()) undo?.();
}

async function load(version) {
  await unload();
  const removers = [];
  const { default: setup } = await import(`./ui/${PATH}?v=${version}`);
  if (typeof setup !== "function") throw new Error("no default export");
  const teardown = await setup(freshHost(removers));
  current = { removers, teardown: typeof teardown === "function" ? teardown : undefined };
}

function loadStyle(version) {
  return new Promise((resolve, reject) => {
    const link = document.createElement("link");
    Object.assign(link, {
      rel: "stylesheet",
      href: `ui/code-runner/styles.css?v=${version}`,
      onload: resolve,
      onerror: reject,
    });
    document.head.append(link);
  });
}

class Boundary extends Component {
  state = {};
  static getDerivedStateFromError(error) {
    return { error };
  }
  render() {
    return this.state.error ? h("p", { className: "boundary" }, String(this.state.error)) : this.props.children;
  }
}

const root = createRoot(document.getElementById("stage"));

function mount(node) {
  const scoped = h(
    "div",
    { "data-iii-ui": SCOPE, style: { display: "contents" } },
    h(Boundary, { key: serial++ }, node),
  );
  flushSync(() => root.render(h(StrictMode, null, scoped)));
}
let serial = 0;

function nodeFor(message) {
  for (const renderer of log.renderers.values()) {
    if (!renderer.isMatch(message.functionId)) continue;
    const name = message.pendingApproval ? "tryRenderPreview" : message.running ? "tryRenderRunning" : "tryRender";
    renderer[name](message);
    const node = renderer[name](message);
    if (node !== null) return node;
  }
  return null;
}

/** Shows the card of `message`; false when it is left to the host. */
function show(message) {
  const node = nodeFor(message);
  mount(node);
  return node !== null;
}

/** Shows many cards at once, under their names, for people to look at. */
function gallery(entries) {
  const figure = ({ name, message }) =>
    h("figure", { key: message.id }, h("figcaption", null, name), h(Boundary, null, nodeFor(message)));
  mount(h("div", { className: "gallery" }, entries.map(figure)));
}

function redacted(message, value) {
  const renderer = [...log.renderers.values()].find((each) => each.isMatch(message.functionId) && each.redactRaw);
  try {
    return JSON.stringify(renderer ? renderer.redactRaw(value) : value, null, 2) ?? "";
  } catch {
    return "This value cannot be shown.";
  }
}

function raw(message) {
  const pane = (label, value) => {
    const text = redacted(message, value);
    const copy = () => navigator.clipboard.writeText(text);
    return h(
      "section",
      { key: label },
      h("button", { type: "button", onClick: copy }, `copy ${label}`),
      h("pre", { className: "pane" }, text),
    );
  };
  mount([pane("request", message.input), pane("response", message.output)]);
}

/** A deliberately careless card: proves that the leak probe sees what it should see. */
function naive(message) {
  mount(h("p", { title: JSON.stringify(message.input) }, JSON.stringify(message.output)));
}

const form = { draft: undefined, changes: [] };

/** Mounts the configuration form around a draft that this page holds. */
function showForm({ value, ...props }) {
  Object.assign(form, { draft: value, changes: [] });
  renderForm(props);
}

function renderForm(props) {
  const onChange = (next) => {
    form.changes.push(next);
    form.draft = next;
    renderForm(props);
  };
  const node = h(log.forms.get("code-runner"), {
    id: "code-runner",
    schema: null,
    ...props,
    value: form.draft,
    onChange,
  });
  const scoped = h("div", { "data-iii-ui": SCOPE, style: { display: "contents" } }, h(Boundary, { key: "form" }, node));
  flushSync(() => root.render(h(StrictMode, null, scoped)));
}

globalThis.standin = {
  log,
  form,
  load,
  unload,
  loadStyle,
  show,
  gallery,
  raw,
  naive,
  showForm,
  clear: () => mount(null),
};
