/* What a console does for injected scripts, as far as cards need it. */
import type { FunctionTriggerMessage, FunctionTriggerRenderer, Host } from "../src/host";

export const SCOPE = "code-runner";

export async function loadCards(): Promise<FunctionTriggerRenderer[]> {
  const renderers: FunctionTriggerRenderer[] = [];
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = "ui/code-runner/styles.css";
  document.head.append(link);
  const address = new URL("ui/code-runner/page.js", document.baseURI).href;
  const script = (await import(address)) as { default(host: Host): unknown };
  await script.default({
    path: "code-runner/page.js",
    functionTriggers: { register: (renderer) => (renderers.push(renderer), () => {}) },
    configForms: { register: () => () => {} },
  });
  return renderers;
}

export function cardFor(renderers: FunctionTriggerRenderer[], message: FunctionTriggerMessage) {
  const renderer = renderers.find((each) => each.isMatch(message.functionId));
  const draw = message.running ? renderer?.tryRenderRunning : renderer?.tryRender;
  return draw?.call(renderer, message) ?? null;
}

export function rawOf(renderers: FunctionTriggerRenderer[], message: FunctionTriggerMessage, value: unknown): string {
  const renderer = renderers.find((each) => each.isMatch(message.functionId));
  try {
    return JSON.stringify(renderer ? renderer.redactRaw(value) : value, null, 2) ?? "no answer yet";
  } catch {
    return "This value cannot be shown.";
  }
}
