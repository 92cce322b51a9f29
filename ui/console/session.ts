/* The calls made from this page, the runtimes they left behind, and the functions that live on the bus. */
import { useCallback, useEffect, useRef, useState } from "react";
import type { FunctionTriggerMessage } from "../src/host";
import { isPlainObject } from "../src/redact";
import { Bus, busUrl, type CallError } from "./bus";

export interface LiveFunction {
  function_id: string;
  description?: string;
  worker_name?: string;
}

export interface KeptRuntime {
  id: string;
  lang: string;
}

export interface Session {
  connected: boolean;
  calls: FunctionTriggerMessage[];
  runtimes: KeptRuntime[];
  functions: LiveFunction[];
  start(functionId: string, input: Record<string, unknown>): void;
}

const REFRESH_MS = 5000;
const MOST_CALLS = 50;

export function useSession(): Session {
  const [connected, setConnected] = useState(false);
  const [calls, setCalls] = useState<FunctionTriggerMessage[]>([]);
  const [runtimes, setRuntimes] = useState<KeptRuntime[]>([]);
  const [functions, setFunctions] = useState<LiveFunction[]>([]);
  const bus = useRef<Bus>(undefined);

  useEffect(() => {
    bus.current ??= new Bus(busUrl(new URL(location.href)), setConnected);
  }, []);

  const refresh = useCallback(async () => {
    try {
      setFunctions(functionsOf(await bus.current!.call("engine::functions::list", {})));
    } catch {
      setFunctions([]);
    }
  }, []);

  useEffect(() => {
    if (!connected) return;
    void refresh();
    const timer = setInterval(() => document.visibilityState === "visible" && void refresh(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [connected, refresh]);

  async function start(functionId: string, input: Record<string, unknown>) {
    const id = crypto.randomUUID();
    const message: FunctionTriggerMessage = {
      id,
      role: "function-trigger",
      functionId,
      input,
      running: true,
      createdAt: Date.now(),
    };
    setCalls((earlier) => [message, ...earlier].slice(0, MOST_CALLS));
    const output = await bus.current!.call(functionId, input).catch(failure);
    setCalls((all) =>
      all.map((call) =>
        call.id === id ? { ...call, output, running: false, durationMs: Date.now() - call.createdAt } : call,
      ),
    );
    setRuntimes((kept) => runtimesAfter(kept, functionId, input, output));
    void refresh();
  }

  return { connected, calls, runtimes, functions, start };
}

/* The shape in which a console's chat hands a failed call to a card. */
function failure(error: CallError) {
  return { error: { kind: "function_error", message: error.message, details: { code: error.code }, content: [] } };
}

function functionsOf(answer: unknown): LiveFunction[] {
  const list = isPlainObject(answer) && Array.isArray(answer.functions) ? answer.functions : [];
  return list.filter((each): each is LiveFunction => isPlainObject(each) && typeof each.function_id === "string");
}

/** Kept runtimes come with the answer of a run and go with a teardown, or when the worker says they are gone. */
export function runtimesAfter(
  kept: KeptRuntime[],
  functionId: string,
  input: Record<string, unknown>,
  output: unknown,
): KeptRuntime[] {
  const answer = isPlainObject(output) ? output : {};
  const asked = typeof input.runtime_id === "string" ? input.runtime_id : undefined;
  const message = isPlainObject(answer.error) ? String(answer.error.message) : "";
  const gone = answer.error
    ? /code-runner::(expired|runtime_not_found):/.test(message)
    : functionId === "code-runner::teardown" && answer.torn_down === true;
  if (gone) return kept.filter(({ id }) => id !== asked);
  const id = functionId === "code-runner::run" ? answer.runtime_id : undefined;
  if (typeof id !== "string" || kept.some((each) => each.id === id)) return kept;
  return [...kept, { id, lang: String(input.lang ?? "") }];
}
