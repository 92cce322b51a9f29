import { describe, expect, it } from "vitest";
import {
  A,
  B,
  answer,
  failed,
  fixture,
  inChat,
  lines,
  masked,
  message,
  OMITTED_ARRAY,
  OMITTED_TEXT,
  REGISTER,
  RUN,
  TEARDOWN,
  TRUNCATED,
} from "../../tests/ui/fixtures.mjs";
import { pretty } from "../src/cards/blocks";
import { guessLang } from "../src/cards/register";
import { draw, part, parts, textOf, tones } from "./draw";

const run = (input: object, output: object) => draw(message(RUN, input, { output: inChat(output) }));
const register = (input: object, output: object = { function_id: "a::b", registered: true }) =>
  draw(message(REGISTER, input, { output: inChat(output) }));
const teardown = (input: unknown, output: object) => draw(message(TEARDOWN, input, { output: inChat(output) }));
const chips = (markup: string | null) => [...parts(markup, "runtime-chip"), ...parts(markup, "chip")].map(textOf);
const order = (markup: string | null) =>
  [...markup!.matchAll(/data-cr="(verdict|result|source|stdout|stderr)"/g)].map((match) => match[1]);
const highlighted = (markup: string | null) => /data-language="(\w+)"/.exec(markup ?? "")?.[1];
const toneOf = (markup: string | null, hook: string) =>
  new RegExp(`data-cr="${hook}"[^>]* data-cr-tone="(\\w+)"`).exec(markup!)?.[1];

describe("run", () => {
  it("shows verdict, value, source and streams in this order", () => {
    const markup = run({ code: "return 4", lang: "node" }, answer({ result: 4, stdout: "out", stderr: "err" }));
    expect(order(markup)).toEqual(["verdict", "result", "source", "stdout", "stderr"]);
    expect(part(markup, "verdict")).toBe("exit 0 clean 12ms");
    expect(part(markup, "result")).toBe("result 4");
    expect(highlighted(markup)).toBe("javascript");
    expect(toneOf(markup, "verdict")).toBe("ok");
  });

  it.each([
    [{ exit_code: 0 }, "ok", "exit 0"],
    [{ exit_code: 0, success: false }, "warn", "reports failure"],
    [{ exit_code: 3, success: true }, "warn", "exit 3"],
    [{ exit_code: -1, success: false }, "warn", "stderr"],
    [{ success: true }, "warn", "exit ?"],
    [{ exit_code: "0" }, "warn", "no exit code"],
  ])("judges %j as %s", (output, tone, words) => {
    const markup = run({ code: "x", lang: "node" }, { result: 1, ...output });
    expect(toneOf(markup, "verdict")).toBe(tone);
    expect(part(markup, "verdict")).toContain(words);
    expect(part(markup, "verdict")).not.toContain("ms");
  });

  it("warns about a failing script, and never more than that", () => {
    const markup = draw(fixture("run-failed"));
    expect(part(markup, "verdict")).toContain("exit 1");
    expect(part(markup, "stderr")).toContain("KeyError: 'amount'");
    expect(tones(markup)).not.toContain("alert");
  });

  it("shows null with the convention of the language, and none without a language", () => {
    expect(part(draw(fixture("run-null")), "result")).toMatch(/null.*return/);
    expect(part(draw(fixture("run-null-python")), "result")).toMatch(/null.*assigning result/);
    const bare = part(draw(fixture("run-null-reused")), "result");
    expect(bare).toContain("null");
    expect(bare).not.toMatch(/return|assign|module|function/);
    expect(toneOf(draw(fixture("run-null")), "result")).toBe("quiet");
    expect(part(run({ code: "x", lang: "node" }, answer({ exit_code: 1 })), "result")).toContain("null");
  });

  it("calls an answer without a result malformed", () => {
    const markup = draw(fixture("run-no-result"));
    expect(part(markup, "result")).toContain("malformed");
    expect(toneOf(markup, "result")).toBe("warn");
  });

  it("prints values as JSON", () => {
    const shown = (result: unknown) => part(run({ code: "x" }, answer({ result })), "result");
    expect(shown("text")).toBe('result "text"');
    expect(shown(false)).toBe("result false");
    expect(shown({ a: [1, { b: null }] })).toContain('"b": null');
    expect(shown({ a: 1 })).not.toContain("[object");
  });

  it("prints neither depth nor cycles without end", () => {
    let deep: unknown = 1;
    for (let i = 0; i < 2000; i++) deep = [deep];
    const cyclic: unknown[] = [];
    cyclic.push(cyclic);
    expect(pretty(deep, [])).toContain("[nested too deeply]");
    expect(pretty(deep, []).length).toBeLessThan(150_000);
    expect(pretty(cyclic, [])).toContain("[cycle]");
  });

  it.each([OMITTED_ARRAY, OMITTED_TEXT])("shows the whole omission marker and stays a success", (marker) => {
    const markup = run({ code: "x", lang: "node" }, answer({ result: marker }));
    expect(part(markup, "result")).toContain(marker);
    expect(toneOf(markup, "result")).toBe("warn");
    expect(toneOf(markup, "verdict")).toBe("ok");
  });

  it("does not take a text that only begins like a marker for one", () => {
    expect(part(run({ code: "x" }, answer({ result: "<omitted: result was ~1 KB" })), "result")).toContain('"<omitted');
  });

  it("collapses long blocks, with totals on the toggle and the rest not in the document", () => {
    const markup = draw(fixture("run-long"));
    const stdout = part(markup, "stdout");
    expect(stdout).toContain("line 12");
    expect(stdout).not.toContain("line 13");
    expect(stdout).toContain(`show all 500 lines, ${lines(500).length} characters`);
    expect(part(markup, "source")).toContain("show all 60 lines");
    expect(part(markup, "result")).not.toContain("item 299");
    expect(parts(markup, "toggle").every((toggle) => toggle.includes('aria-expanded="false"'))).toBe(true);
  });

  it("tells of a truncated stream even while the marker is folded away", () => {
    expect(part(draw(fixture("run-truncated")), "stdout")).toContain("truncated: was ~512 KB");
    const visible = part(run({ code: "x" }, answer({ stdout: `a\n${TRUNCATED}\nb` })), "stdout");
    expect(visible).toContain(TRUNCATED);
    expect(visible).not.toContain("truncated: was ~512 KB, middle");
    const early = part(run({ code: "x" }, answer({ stdout: `a\n${TRUNCATED}\n${lines(40)}` })), "stdout");
    expect(early).toContain("show all 42 lines");
    expect(early).not.toContain("truncated: was ~512 KB, middle");
  });

  it("names a stream that is no text, and its type", () => {
    const markup = draw(fixture("run-no-exit"));
    expect(parts(markup, "note").map(textOf).join("\n")).toMatch(/stdout is a number[^]*stderr is an array/);
    expect(textOf(run({ code: "x" }, answer({ stdout: null, stderr: undefined })))).not.toMatch(/stdout|stderr/);
  });

  it("says that nothing was printed when both streams are empty", () => {
    expect(textOf(draw(fixture("run-null")))).toContain("Nothing was printed");
    expect(textOf(run({ code: "x" }, answer({ stdout: "x" })))).not.toContain("Nothing was printed");
  });

  it.each([
    ["one-shot", {}, answer({}), ["one-shot"]],
    ["one-shot, whatever the response says", {}, answer({ runtime_id: A }), ["one-shot"]],
    ["kept", { keep: true }, answer({ runtime_id: B }), [`runtime ${masked(B)}`, "kept"]],
    ["kept only with true", { keep: 1 }, answer({}), ["one-shot"]],
    ["keep that came to nothing", { keep: true }, answer({ exit_code: 1 }), ["keep, nothing kept"]],
    ["reused", { runtime_id: A, keep: true }, answer({ runtime_id: A }), [`runtime ${masked(A)}`, "reused runtime"]],
    ["reused, id from the request", { runtime_id: A }, answer({}), [`runtime ${masked(A)}`, "reused runtime"]],
    [
      "language and time-out",
      { lang: "python", timeout_ms: 800 },
      answer({}),
      ["one-shot", "python", "timeout 800 ms"],
    ],
    ["nonsense", { lang: "ruby", timeout_ms: "soon" }, answer({}), ["one-shot"]],
  ])("has the chips of a run that is %s", (_name, input, output, expected) => {
    expect(chips(run({ code: "x", ...input }, output))).toEqual(expected);
  });

  it("tints only a kept runtime", () => {
    expect(toneOf(draw(fixture("run-kept")), "chip")).toBe("warn");
    expect(toneOf(draw(fixture("run-reused")), "chip")).toBe("quiet");
    expect(toneOf(draw(fixture("run-null")), "chip")).toBe("quiet");
  });

  it.each([
    ["node", "javascript"],
    ["python", "python"],
    [undefined, "text"],
    ["ruby", "text"],
  ])("highlights lang %s as %s", (lang, language) => {
    expect(highlighted(run({ code: "def x(): pass", lang }, answer({})))).toBe(language);
  });

  it("remarks on a missing and on a blank program", () => {
    expect(textOf(draw(fixture("run-no-code")))).toContain("carried no code");
    expect(textOf(draw(fixture("run-blank-code")))).toContain("only white space");
    expect(parts(draw(fixture("run-blank-code")), "source")).toEqual([]);
  });

  it("claims nothing about a run in flight", () => {
    const markup = draw(fixture("run-running"));
    expect(textOf(markup)).toContain("running");
    expect(order(markup)).toEqual(["source"]);
    expect(order(draw(fixture("run-streaming")))).toEqual([]);
  });

  it("says what will run, and calls a clipped program an excerpt without totals", () => {
    expect(textOf(draw(fixture("run-pending")))).toContain("will run if approved");
    expect(textOf(draw(fixture("run-pending")))).not.toContain("excerpt");
    const text = textOf(draw(fixture("run-excerpt")));
    expect(text).toMatch(/256[^]*excerpt/);
    expect(text).toContain("show the whole excerpt");
    expect(text).not.toMatch(/\d+ (lines|characters)\b(?!\.)/);
  });

  it("shows odd text harmlessly", () => {
    const text = textOf(draw(fixture("run-odd-text")));
    expect(text).toContain("<script>alert(1)</script>");
    expect(text).toContain("⟨U+202E⟩esrever⟨U+202C⟩");
    expect(text).toContain("red link \ufffd\ufffdend\nnext\nlast");
  });

  it("masks what it cannot recognise by shape but was told", () => {
    const markup = run(
      { code: "// my-runtime-1", runtime_id: "my-runtime-1" },
      answer({ stdout: "my-runtime-1", result: { "my-runtime-1": 1 } }),
    );
    expect(markup).not.toContain("my-runtime");
    expect(part(markup, "stdout")).toContain("my-runt…");
  });
});

describe("errors", () => {
  it.each(["chat", "trace"] as const)("shows code, text and advice in the %s form", (form) => {
    const markup = draw(fixture("run-expired", form === "trace" ? "trace" : undefined));
    expect(toneOf(markup, "error")).toBe("alert");
    expect(markup).toContain('data-cr-code="expired"');
    const text = part(markup, "error");
    expect(text).toMatch(/^code-runner::expired/);
    expect(text).toContain(`runtime ID expired: ${masked(A)};`);
    expect(text).not.toMatch(/handler error|code-runner::expired:/);
    expect(text).toContain("Run again without its id");
    expect(order(markup)).toEqual(["source"]);
  });

  it.each([
    ["invalid_request", "malformed"],
    ["runtime_not_found", "No such runtime"],
    ["expired", "without its id"],
    ["capacity", "slot"],
    ["timeout", "timeout_ms"],
    ["resource_exhausted", "smaller"],
    ["handler_error", "threw"],
    ["engine", "infrastructure"],
  ])("advises on %s", (code, words) => {
    const markup = draw(message(TEARDOWN, { runtime_id: A }, { output: failed.trace(`code-runner::${code}: why`) }));
    expect(part(markup, "error")).toContain(words);
    expect(part(markup, "error")).toContain("why");
  });

  it.each([
    [{ error: "InvocationError: handler error: code-runner::engine: gone" }, "gone", "engine"],
    [{ error: "invocation_failed: code-runner::timeout: late" }, "late", "timeout"],
    [{ error: "while calling x, code-runner::timeout: late" }, "while calling x, late", "timeout"],
    [{ error: "handler error: plain" }, "plain", undefined],
    [{ error: "code-runner::unheard_of: x" }, "code-runner::unheard_of: x", undefined],
    [{ error: { message: "m", kind: "k" } }, "m", undefined],
    [{ error: { kind: A } }, `{\n  "kind": "${masked(A)}"\n}`, undefined],
    [{ error: "" }, "The error has no text.", undefined],
    [{ error: 7 }, "7", undefined],
  ])("reads %j", (output, text, code) => {
    const markup = draw(message(RUN, { code: "x" }, { output }));
    expect(textOf(parts(markup, "error")[0]!)).toContain(text);
    expect(/data-cr-code="(\w+)"/.exec(markup!)?.[1]).toBe(code);
  });

  it("shows the runtime chip for a runtime the request named, and none on register_function", () => {
    expect(chips(draw(fixture("run-expired")))).toEqual([`runtime ${masked(A)}`, "reused runtime"]);
    expect(chips(draw(fixture("teardown-unknown")))).toEqual([`runtime ${masked(A)}`]);
    expect(parts(draw(fixture("register-taken")), "runtime-chip")).toEqual([]);
    expect(chips(draw(fixture("run-capacity")))).toEqual(["keep, nothing kept", "node"]);
  });
});

describe("denials", () => {
  it.each(["run-denied", "register-denied", "teardown-denied"])(
    "%s never ran, names the gate, and shows no argument",
    (name) => {
      const markup = draw(fixture(name));
      const text = part(markup, "denied");
      expect(text).toContain("never ran");
      expect(text).toContain("operator");
      expect(text).toContain(`Not on a Friday, and not with ${masked(A)}.`);
      expect(toneOf(markup, "denied")).toBe("warn");
      expect(chips(markup)).toEqual([]);
      expect(order(markup)).toEqual([]);
    },
  );

  it("falls back to the message, then to a stock phrase", () => {
    const denial = (message: unknown) => ({ error: { message, details: { status: "denied", denied_by: 7 } } });
    const shown = (output: object) => part(draw(message(RUN, {}, { output })), "denied");
    expect(shown(denial("the message"))).toContain("the message");
    expect(shown(denial(undefined))).toContain("No reason");
  });
});

describe("register_function", () => {
  it("gives the namespace a line of its own, with the badge on the function", () => {
    const markup = draw(fixture("register-node"));
    expect(part(markup, "function")).toContain("shop::price");
    expect(part(markup, "registration")).toBe("registered");
    expect(toneOf(markup, "registration")).toBe("ok");
    expect(part(markup, "namespace")).toMatch(/^namespace shop::.*both languages/);
    expect(highlighted(markup)).toBe("javascript");
    expect(chips(markup)).toEqual(["node", "request schema"]);
    expect(parts(markup, "advisory")).toEqual([]);
  });

  it("advises on a source without a handler, in the wording of its language", () => {
    expect(part(draw(fixture("register-advice-python")), "advisory")).toMatch(/requires a callable handler.*refused/);
    expect(part(draw(fixture("register-advice-node")), "advisory")).toMatch(
      /evaluates the source and then looks for handler/,
    );
    expect(toneOf(draw(fixture("register-advice-python")), "advisory")).toBe("quiet");
    expect(parts(draw(fixture("register-excerpt")), "advisory")).toEqual([]);
    expect(parts(register({ source: "handlers = 1", lang: "python" }), "advisory")).toHaveLength(1);
  });

  it("warns three times about a refused function without namespace and description", () => {
    const markup = draw(fixture("register-refused"));
    const warnings = parts(markup, "note")
      .filter((note) => note.includes('tone="warn"'))
      .map(textOf);
    expect(warnings).toHaveLength(3);
    expect(warnings.join("\n")).toMatch(/no namespace[^]*No description[^]*not registered/);
    expect(part(markup, "registration")).toBe("not registered");
    expect(tones(markup)).not.toContain("alert");
  });

  it.each(["::x", "x::", "x", "::"])("finds no namespace in %s", (function_id) => {
    expect(part(register({ function_id, source: "handler" }), "namespace")).toContain("no namespace");
  });

  it("remarks on everything that is odd", () => {
    const text = textOf(draw(fixture("register-odd")));
    for (const words of [
      "the request had none",
      "Unconfirmed",
      "function_id is a number",
      "source is an array",
      "description is an object",
      "source is missing",
    ]) {
      expect(text).toContain(words);
    }
    expect(textOf(draw(fixture("register-guess")))).toMatch(/asked for a::b, answered a::c/);
    expect(textOf(draw(fixture("register-empty")))).toContain("No function id");
  });

  it("guesses a language only when the request has none, and says so", () => {
    expect(part(draw(fixture("register-guess")), "source")).toContain("python, a guess");
    expect(highlighted(register({ source: "def handler(p): pass", lang: "node" }))).toBe("javascript");
    expect(
      [
        "def f(x):",
        "  async def f(x):",
        "function f() {}",
        "export function f",
        "export  function",
        "x => x",
        "f(x)",
      ].map(guessLang),
    ).toEqual(["python", "python", "node", "node", "node", "node", undefined]);
  });

  it("has no badge before the answer", () => {
    for (const name of ["register-running", "register-pending", "register-excerpt"]) {
      expect(parts(draw(fixture(name)), "registration")).toEqual([]);
      expect(part(draw(fixture(name)), "namespace")).toContain("shop::");
    }
    expect(textOf(draw(fixture("register-running")))).toContain("being registered");
    expect(textOf(draw(fixture("register-pending")))).toContain("will be registered");
    expect(textOf(draw(fixture("register-excerpt")))).toContain("clips");
  });
});

describe("teardown", () => {
  it("strikes the ids through that stopped resolving", () => {
    const markup = draw(fixture("teardown-runtime"));
    expect(parts(markup, "gone")[0]).toContain("<del>shop::two</del>");
    expect(part(markup, "gone")).toContain("2 functions stopped resolving");
    expect(part(markup, "gone")).toContain(`code-runner::${masked(A)}::one`);
    expect(textOf(markup)).toContain("working directory");
    expect(chips(markup)).toEqual([`runtime ${masked(A)}`]);
  });

  it("tells nothing registered from not listed", () => {
    expect(part(draw(fixture("teardown-none")), "gone")).toContain("Nothing registered");
    expect(toneOf(draw(fixture("teardown-none")), "gone")).toBe("quiet");
    expect(part(draw(fixture("teardown-unlisted")), "gone")).toContain("not listed");
  });

  it("lists twelve of forty and names the total", () => {
    const gone = parts(draw(fixture("teardown-namespace")), "gone")[0]!;
    expect(gone.match(/<li>/g)).toHaveLength(12);
    expect(gone).toContain("show all 40 ids");
  });

  it("counts what is no id", () => {
    const gone = part(draw(fixture("teardown-odd")), "gone");
    expect(gone).toContain("4 functions");
    expect(gone).toContain("entry 2: a number");
    expect(gone).toContain("entry 4: null");
    expect(textOf(draw(fixture("teardown-odd")))).toContain("not torn down");
    expect(textOf(draw(fixture("teardown-unconfirmed")))).toContain("Unconfirmed");
  });

  it("shows a namespace as text and never as a capability", () => {
    const markup = draw(fixture("teardown-namespace"));
    expect(part(markup, "namespace")).toContain("shop::");
    expect(parts(markup, "runtime-chip")).toEqual([]);
    expect(textOf(markup)).toContain("every runtime behind");
    const preview = textOf(draw(fixture("teardown-pending-namespace")));
    expect(preview).toMatch(/every runtime behind this namespace.*pinned Python interpreter/);
    expect(textOf(draw(fixture("teardown-pending")))).toContain("every function it registered stops resolving");
  });

  it("prefers the response, and the runtime when a record carries both", () => {
    expect(chips(teardown({ namespace: "a" }, { torn_down: true, runtime_id: A, namespace: "b::" }))).toHaveLength(1);
    expect(part(teardown({ runtime_id: A }, { torn_down: true, namespace: "b::" }), "namespace")).toContain("b::");
  });

  it("runs without a target it can read", () => {
    expect(textOf(draw(fixture("teardown-running-blind")))).toContain("tearing down");
  });
});

describe("the frame", () => {
  it("names operation and origin, and labels every block", () => {
    const markup = draw(fixture("run-ids"))!;
    expect(part(markup, "op")).toBe("run");
    expect(textOf(markup)).toContain("code-runner");
    for (const scroll of markup.match(/<\w+[^>]*cr-scroll[^>]*>/g)!) {
      expect(scroll).toMatch(/role="group"/);
      expect(scroll).toMatch(/aria-label="(result|source|stdout|stderr)"/);
      expect(scroll).toContain('tabindex="0"');
    }
    for (const button of markup.match(/<button[^>]*>/g)!) expect(button).toContain('type="button"');
    expect(markup.match(/role="status"/g)).toHaveLength(1);
    expect(markup).not.toMatch(/aria-live|title=/);
  });

  it("keeps payload text out of test hooks and labels", () => {
    for (const tag of draw(fixture("run-ids"))!.match(/<[^>]*>/g)!) expect(tag).not.toContain("rt-");
  });
});
