/*
 * Where the injected assets come from: the built files, or the content function of a worker on a bus. A source is
 * `(path) => Promise<{ content, content_type }>` and rejects for a path that is no asset.
 */
import { readFile } from "node:fs/promises";
import { WebSocket } from "ws";

export const DIST = new URL("../../ui/dist/", import.meta.url);

export const ASSETS = {
  "code-runner/page.js": { file: "page.js", type: "text/javascript; charset=utf-8" },
  "code-runner/styles.css": { file: "styles.css", type: "text/css; charset=utf-8" },
};

export async function fromDist(path) {
  const asset = ASSETS[path];
  if (!asset) throw new Error(`UNKNOWN_UI_ASSET ${path}; known: ${Object.keys(ASSETS).join(", ")}`);
  return { content: await readFile(new URL(asset.file, DIST), "utf8"), content_type: asset.type };
}

/** Calls functions over the bus the way any worker does, and can stand in for the console's trigger types. */
export async function connectBus(url) {
  const socket = new WebSocket(new URL("bus", url.replace("http", "ws")), { origin: new URL(url).origin });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const send = (frame) => socket.send(JSON.stringify(frame));
  const pending = new Map();
  const triggers = [];
  const order = [];
  socket.on("message", (text) => {
    const frame = JSON.parse(text);
    if (frame.type === "registertrigger") triggers.push(frame);
    if (frame.type === "registertrigger" || frame.type === "unregistertrigger") order.push(frame);
    if (frame.type !== "invocationresult") return;
    const { resolve, reject } = pending.get(frame.invocation_id) ?? {};
    pending.delete(frame.invocation_id);
    if (frame.error) reject?.(new Error(frame.error.message));
    else resolve?.(frame.result);
  });
  send({
    type: "invokefunction",
    function_id: "engine::workers::register",
    data: { runtime: "node", name: `ui-test-${process.pid}` },
    action: { type: "void" },
  });
  return {
    /** What was registered with the trigger types that this connection provides. */
    triggers,
    /** Registrations and withdrawals as they came. */
    order,
    provide: (id) => send({ type: "registertriggertype", id, description: "stand-in" }),
    call: (function_id, data) =>
      new Promise((resolve, reject) => {
        const invocation_id = crypto.randomUUID();
        pending.set(invocation_id, { resolve, reject });
        send({ type: "invokefunction", invocation_id, function_id, data });
      }),
    close: () => socket.close(),
  };
}

export function fromBus(bus) {
  return (path) => bus.call("code-runner::ui-content", { path });
}
