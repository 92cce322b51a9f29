import { describe, expect, it } from "vitest";
import {
  A,
  B,
  answer,
  denied,
  failed,
  fixtures,
  inChat,
  message,
  NEEDLES,
  randomJson,
  REGISTER,
  RUN,
  TEARDOWN,
} from "../../tests/ui/fixtures.mjs";
import setup from "../page";
import type { FunctionTriggerRenderer, Host } from "../src/host";
import { renderers } from "../src/renderers";
import { draw, nodeFor, textOf, tones } from "./draw";

const OPS = [RUN, REGISTER, TEARDOWN];
const of = (id: string) => renderers.find((each) => each.isMatch(id))!;
const input: Record<string, object> = {
  [RUN]: { code: "return 1", lang: "node" },
  [REGISTER]: { function_id: "a::b", source: "handler", lang: "node" },
  [TEARDOWN]: { runtime_id: A },
};
const good: Record<string, object> = {
  [RUN]: answer({}),
  [REGISTER]: { function_id: "a::b", registered: true },
  [TEARDOWN]: { torn_down: true, unregistered: [] },
};
const state = (markup: string | null) => /data-cr-state="(\w+)"/.exec(markup ?? "")?.[1] ?? null;

describe("registration", () => {
  it("registers three renderers and one form, and its teardown removes all four, also twice", () => {
    const live = new Set<string>();
    const add = (id: string) => (live.add(id), () => void live.delete(id));
    const host: Host = {
      path: "code-runner/page.js",
      functionTriggers: { register: (renderer: FunctionTriggerRenderer) => add(renderer.id) },
      configForms: { register: (id) => add(`form ${id}`) },
    };
    const teardown = setup(host);
    expect([...live].sort()).toEqual([
      "code-runner/page.js#register_function",
      "code-runner/page.js#run",
      "code-runner/page.js#teardown",
      "form code-runner",
    ]);
    teardown();
    teardown();
    expect(live.size).toBe(0);
  });

  it("gets along without a slot for forms", () => {
    let count = 0;
    setup({ path: "", functionTriggers: { register: () => (count++, () => {}) } })();
    expect(count).toBe(3);
  });

  it("matches its own id only", () => {
    for (const id of [
      ...OPS,
      "code-runner::inject-guidance",
      "sandbox-code-runner::run",
      "code-runner::run ",
      "CODE-RUNNER::RUN",
      "",
    ]) {
      expect(renderers.filter((each) => each.isMatch(id)).map((each) => each.id)).toEqual(
        OPS.includes(id) ? [`code-runner/page.js#${id.slice(13)}`] : [],
      );
    }
    for (const renderer of renderers) expect(renderer.redactRaw(A)).toBe("rt-7c1d…");
  });
});

describe.each(OPS)("%s: which card", (op) => {
  const renderer = of(op);
  const settle = (extra: object) => draw(message(op, input[op], extra));

  it("is nothing for a foreign id", () => {
    const foreign = message("code-runner::inject-guidance", input[op], {
      output: inChat(good[op]),
      pendingApproval: true,
    });
    expect([
      renderer.tryRender(foreign),
      renderer.tryRenderRunning(foreign),
      renderer.tryRenderPreview(foreign),
    ]).toEqual([null, null, null]);
  });

  it("is nothing from tryRender and tryRenderRunning while the call waits for approval", () => {
    const waiting = message(op, input[op], { pendingApproval: true, output: inChat(good[op]) });
    expect([renderer.tryRender(waiting), renderer.tryRenderRunning(waiting)]).toEqual([null, null]);
  });

  it("is nothing for a request that is no object, except for a teardown", () => {
    for (const odd of ['{"code":"x"}', null, [1], 7, undefined]) {
      for (const extra of [{ output: inChat(good[op]) }, { running: true }]) {
        expect(draw(message(op, odd, extra)) !== null, JSON.stringify(odd)).toBe(op === TEARDOWN);
      }
      expect(draw(message(op, odd, { pendingApproval: true }))).toBeNull();
    }
  });

  it("is the running card, whatever the output, from either function", () => {
    const running = message(op, input[op], { running: true, output: failed.chat("x") });
    expect(state(draw(running))).toBe("running");
    expect(renderer.tryRender(running)).not.toBeNull();
  });

  it("is denial before error before settled, inside an envelope too", () => {
    expect(state(settle({ output: denied("{}") }))).toBe("denied");
    expect(state(settle({ output: inChat(denied("{}")) }))).toBe("denied");
    expect(state(settle({ output: failed.chat("x") }))).toBe("error");
    expect(state(settle({ output: failed.trace("x") }))).toBe("error");
    expect(state(settle({ output: inChat({ error: "x" }) }))).toBe("error");
    expect(state(settle({ output: { error: 7 } }))).toBe("error");
    expect(state(settle({ output: good[op] }))).toBe("settled");
    expect(state(settle({ output: inChat(good[op]) }))).toBe("settled");
  });

  it("takes only an array of content for an envelope", () => {
    expect(state(settle({ output: { content: "text", details: null } }))).toBe("settled");
    expect(settle({ output: { content: [], details: null } })).toBeNull();
  });

  it("is nothing for an answer that is no object: an aborted call has no verdict", () => {
    for (const output of [undefined, null, "text", 7, true, [good[op]], inChat(null), inChat("text")]) {
      expect(settle({ output })).toBeNull();
    }
  });

  it("is the preview only for a call that waits", () => {
    expect(state(settle({ pendingApproval: true }))).toBe("pending");
    expect(renderer.tryRenderPreview(message(op, input[op]))).toBeNull();
  });
});

it("leaves a run without a program at the gate to the raw view", () => {
  for (const code of [undefined, 7, null])
    expect(draw(message(RUN, { code, lang: "node" }, { pendingApproval: true }))).toBeNull();
});

describe("every fixture", () => {
  it.each(fixtures.map((each) => [`${each.name} ${each.form ? "(trace)" : ""}`, each] as const))(
    "%s",
    (_name, each) => {
      const markup = draw(each.message);
      expect(state(markup)).toBe(each.state);
      const lower = markup!.toLowerCase();
      for (const needle of NEEDLES) expect(lower.indexOf(needle)).toBe(-1);
      expect(tones(markup).includes("alert")).toBe(each.state === "error");
      expect(markup).not.toMatch(/<(?:script|img|h[1-6]|svg)\b/);
    },
  );

  it("shows the same text in the chat and in the trace view", () => {
    for (const trace of fixtures.filter((each) => each.form)) {
      const chat = fixtures.find((each) => each.name === trace.name && !each.form)!;
      expect(textOf(draw(trace.message)), trace.name).toBe(textOf(draw(chat.message)));
    }
  });
});

it("draws or declines thousands of generated payloads without throwing or leaking", () => {
  let drawn = 0;
  for (let seed = 1; seed <= 3000; seed++) {
    const op = OPS[seed % 3]!;
    const generated = message(op, randomJson(seed), {
      output: randomJson(seed + 10_000),
      running: seed % 7 === 0,
      pendingApproval: seed % 11 === 0,
    });
    const markup = draw(generated);
    if (markup === null) continue;
    drawn++;
    expect(markup.includes(A.slice(0, 12)), `seed ${seed}`).toBe(false);
  }
  expect(drawn).toBeGreaterThan(300);
});

it("is cheap to ask: a renderer does no work on the text of a payload", () => {
  const big = message(
    RUN,
    { code: `${A} `.repeat(200_000), lang: "node" },
    { output: inChat(answer({ stdout: `${B} `.repeat(130_000) })) },
  );
  const start = performance.now();
  for (let i = 0; i < 1000; i++) nodeFor(big);
  expect(performance.now() - start).toBeLessThan(200);
});
