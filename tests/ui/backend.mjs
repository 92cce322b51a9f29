/*
 * A worker with its bus and the stand-in console: the real one when CODE_RUNNER_BIN names the program, else a small
 * engine of our own whose worker evaluates JavaScript in this process (it runs the tests' own code and nothing else).
 */
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve as absolute } from "node:path";
import { randomUUID } from "node:crypto";
import { WebSocketServer } from "ws";
import { ASSETS, fromDist } from "./assets.mjs";
import { serveConsole } from "./server.mjs";

export const REAL = process.env.CODE_RUNNER_BIN && absolute(process.env.CODE_RUNNER_BIN);
const START_MS = 30_000;

/** `{ url, close }`; the bus is at `bus` below `url`. */
export function openBackend() {
  return REAL ? startWorker(REAL) : startStandIn();
}

async function startWorker(program) {
  const child = spawn(program, ["serve", "--embedded=127.0.0.1:0", "--console=0"], {
    stdio: ["ignore", "pipe", "pipe"],
    cwd: mkdtempSync(join(tmpdir(), "code-runner-ui-")),
  });
  const url = await new Promise((resolve, reject) => {
    let printed = "";
    const timer = setTimeout(() => reject(new Error(`no address was printed:\n${printed}`)), START_MS);
    const read = (chunk) => {
      printed += chunk;
      const found = /http:\/\/(?:127\.0\.0\.1|localhost):\d+\/\S+/.exec(printed);
      if (!found) return;
      clearTimeout(timer);
      resolve(found[0].endsWith("/") ? found[0] : `${found[0]}/`);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("exit", (code) => reject(new Error(`the worker ended with ${code}:\n${printed}`)));
  });
  const close = () =>
    new Promise((resolve) => {
      child.removeAllListeners("exit").once("exit", resolve);
      child.kill("SIGTERM");
    });
  return { url, close };
}

async function startStandIn() {
  const sockets = new WebSocketServer({ noServer: true });
  const worker = standInWorker();
  sockets.on("connection", (socket) => {
    const send = (frame) => socket.send(JSON.stringify(frame));
    send({ type: "workerregistered", worker_id: randomUUID() });
    socket.on("message", async (text) => {
      const frame = JSON.parse(text);
      if (frame.type === "registertriggertype") {
        for (const trigger of worker.triggers.filter((each) => each.trigger_type === frame.id))
          send({ type: "registertrigger", ...trigger });
      }
      if (frame.type !== "invokefunction" || !frame.invocation_id) return;
      const reply = { type: "invocationresult", invocation_id: frame.invocation_id, function_id: frame.function_id };
      try {
        send({ ...reply, result: await worker.call(frame.function_id, frame.data) });
      } catch (error) {
        send({ ...reply, error: { code: "invocation_failed", message: error.message } });
      }
    });
  });
  const served = await serveConsole(fromDist, (request, socket, head) =>
    sockets.handleUpgrade(request, socket, head, (upgraded) => sockets.emit("connection", upgraded)),
  );
  const close = () => {
    for (const socket of sockets.clients) socket.terminate();
    return served.close();
  };
  return { url: served.url, close };
}

const AsyncFunction = (async () => {}).constructor;

function standInWorker() {
  const runtimes = new Map();
  const published = new Map();

  const functions = {
    "code-runner::run": async ({ code, lang, keep, runtime_id }) => {
      if (lang !== "node") throw new Error("code-runner::engine: python engine failed to start");
      if (runtime_id && !runtimes.has(runtime_id))
        throw new Error(`code-runner::runtime_not_found: unknown runtime_id ${runtime_id}`);
      const out = { stdout: "", stderr: "" };
      const scope = runtimes.get(runtime_id) ?? {};
      const console = {
        log: (...words) => (out.stdout += `${words.join(" ")}\n`),
        error: (...words) => (out.stderr += `${words.join(" ")}\n`),
      };
      try {
        const result = await new AsyncFunction("console", "globalThis", code)(console, scope);
        const id = runtime_id ?? (keep ? `rt-${randomUUID()}` : undefined);
        if (id) runtimes.set(id, scope);
        return {
          ...(id && { runtime_id: id }),
          ...out,
          exit_code: 0,
          success: true,
          duration_ms: 1,
          result: result ?? null,
        };
      } catch (error) {
        return {
          ...out,
          stderr: `${out.stderr}${error.stack}\n`,
          exit_code: 1,
          success: false,
          duration_ms: 1,
          result: null,
        };
      }
    },
    "code-runner::register_function": async ({ function_id, source, description }) => {
      const handler = await new AsyncFunction(`${source.replace(/^export /, "")}; return handler;`)();
      published.set(function_id, { handler, description });
      return { function_id, registered: true };
    },
    "code-runner::teardown": async ({ runtime_id, namespace }) => {
      if (runtime_id) {
        if (!runtimes.delete(runtime_id))
          throw new Error(`code-runner::runtime_not_found: unknown runtime_id ${runtime_id}`);
        return { torn_down: true, unregistered: [], runtime_id };
      }
      const unregistered = [...published.keys()].filter((id) => id.startsWith(namespace)).sort();
      for (const id of unregistered) published.delete(id);
      return { torn_down: true, unregistered, namespace };
    },
    "code-runner::ui-content": ({ path }) => fromDist(path),
    "engine::functions::list": async () => ({
      functions: [
        ...["run", "register_function", "teardown"].map((op) => ({
          function_id: `code-runner::${op}`,
          worker_name: "code-runner",
        })),
        ...[...published].map(([function_id, { description }]) => ({
          function_id,
          description,
          worker_name: "code-runner",
        })),
      ],
    }),
  };

  return {
    triggers: Object.keys(ASSETS).map((path) => ({
      id: randomUUID(),
      trigger_type: path.endsWith(".js") ? "console:script" : "console:style",
      function_id: "code-runner::ui-content",
      config: { path },
    })),
    async call(id, data) {
      const builtin = functions[id];
      if (builtin) return builtin(data ?? {});
      const guest = published.get(id);
      if (!guest) throw new Error(`Function ${id} not found`);
      return guest.handler(data);
    },
  };
}
