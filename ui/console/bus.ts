/* A browser's connection to the bus: calls only, and a new connection whenever the old one ends. */
export type Json = unknown;

export class CallError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

interface PendingCall {
  resolve(result: Json): void;
  reject(error: CallError): void;
  timer: ReturnType<typeof setTimeout>;
}

const WAIT_MS = 60_000;
const RETRY_MS = [250, 500, 1000, 2000, 4000];

export class Bus {
  private socket: WebSocket | undefined;
  private readonly pending = new Map<string, PendingCall>();
  private failures = 0;

  constructor(
    private readonly url: URL,
    private readonly onState: (connected: boolean) => void,
  ) {
    this.connect();
  }

  call(functionId: string, data: object, waitMs = WAIT_MS): Promise<Json> {
    if (this.socket?.readyState !== WebSocket.OPEN) {
      return Promise.reject(new CallError("disconnected", "The page is not connected to the bus."));
    }
    const id = crypto.randomUUID();
    const { promise, resolve, reject } = withResolvers();
    const timer = setTimeout(
      () => this.settle(id)?.reject(new CallError("TIMEOUT", `No answer within ${waitMs} ms.`)),
      waitMs,
    );
    this.pending.set(id, { resolve, reject, timer });
    this.send({ type: "invokefunction", invocation_id: id, function_id: functionId, data });
    return promise;
  }

  private connect() {
    const socket = new WebSocket(this.url);
    this.socket = socket;
    socket.onopen = () => {
      this.failures = 0;
      const data = { runtime: "browser", name: `code-runner-console:${crypto.randomUUID().slice(0, 8)}` };
      this.send({ type: "invokefunction", function_id: "engine::workers::register", data, action: { type: "void" } });
      this.onState(true);
    };
    socket.onmessage = (event) => this.receive(event.data);
    socket.onclose = () => {
      for (const id of [...this.pending.keys()])
        this.settle(id)?.reject(new CallError("disconnected", "The connection to the bus was lost."));
      this.onState(false);
      setTimeout(() => this.connect(), RETRY_MS[Math.min(this.failures++, RETRY_MS.length - 1)]);
    };
  }

  private send(frame: object) {
    this.socket?.send(JSON.stringify(frame));
  }

  private settle(id: string): PendingCall | undefined {
    const call = this.pending.get(id);
    this.pending.delete(id);
    clearTimeout(call?.timer);
    return call;
  }

  private receive(text: string) {
    const frame = JSON.parse(text);
    if (frame.type !== "invocationresult") return;
    const call = this.settle(frame.invocation_id);
    if (frame.error) call?.reject(new CallError(frame.error.code, frame.error.message));
    else call?.resolve(frame.result ?? null);
  }
}

function withResolvers() {
  let resolve!: (result: Json) => void;
  let reject!: (error: CallError) => void;
  const promise = new Promise<Json>((yes, no) => ((resolve = yes), (reject = no)));
  return { promise, resolve, reject };
}

/** `bus` beside the page, unless its address names another place. */
export function busUrl(page: URL): URL {
  const url = new URL(page.searchParams.get("bus") ?? "bus", page);
  url.protocol = url.protocol.replace("http", "ws");
  return url;
}
