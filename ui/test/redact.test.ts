import { describe, expect, it } from "vitest";
import { A, B, masked } from "../../tests/ui/fixtures.mjs";
import { knownIds, maskId, MAX_DEPTH, redactRaw, redactText } from "../src/redact";

/* The machine may be busy: the quickest of five is what the code can do. */
function quickest(work: () => void): number {
  const times = Array.from({ length: 5 }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
  return Math.min(...times);
}

describe("redactText", () => {
  it.each([
    ["alone", A, masked(A)],
    ["upper case", A.toUpperCase(), masked(A.toUpperCase())],
    ["glued to letters on both sides", `x${A}_log`, `x${masked(A)}_log`],
    ["inside a path", `out/${A}_log.json`, `out/${masked(A)}_log.json`],
    ["twice in a row", A + B, masked(A) + masked(B)],
    ["cut after 30 characters", `${A.slice(0, 30)}…`, `${masked(A)}…`],
    ["cut right after the first group", A.slice(0, 12), masked(A)],
    ["followed by more hexadecimal digits", `${A}ab`, `${masked(A)}ab`],
    ["followed by another line", `${A.slice(0, 20)}\n${A.slice(20)}`, `${masked(A)}\n${A.slice(20)}`],
  ])("masks an id %s", (_name, text, expected) => {
    expect(redactText(text)).toBe(expected);
  });

  it.each(["rt-decade", "start-up", "rt-7c1d04be", "rt-7c1d04bx-52aa", "art-deco"])("leaves %s alone", (text) => {
    expect(redactText(text)).toBe(text);
  });

  it("masks an id of another shape that the payload declared", () => {
    const known = knownIds({ runtime_id: "custom$&-runtime" }, { details: { runtime_id: "another-one" } });
    expect(redactText("a custom$&-runtime, another-one", known)).toBe("a custom$…, another…");
  });

  it("does not take a short runtime_id for a secret", () => {
    expect(knownIds({ runtime_id: "12345678" }, null, "text", [])).toEqual([]);
    expect(maskId("12345678")).toBe("12345678");
    expect(maskId("123456789")).toBe("1234567…");
  });

  it("masks five megabytes of ids quickly", () => {
    const text = `${A} `.repeat(130_000);
    expect(redactText(text)).not.toContain(A.slice(0, 12));
    expect(quickest(() => redactText(text))).toBeLessThan(200);
  });
});

describe("redactRaw", () => {
  it("keeps the shape and masks values and keys at every depth", () => {
    const value = { a: [1, true, null, undefined, { [A]: `x${B}` }], text: A };
    expect(redactRaw(value)).toEqual({
      a: [1, true, null, undefined, { [masked(A)]: `x${masked(B)}` }],
      text: masked(A),
    });
  });

  it("does not touch its argument", () => {
    const value = { a: [{ [A]: A }] };
    const before = structuredClone(value);
    redactRaw(value);
    expect(value).toEqual(before);
  });

  it.each([[undefined], [null], [7], [false], ["plain"]])("passes %j through", (value) => {
    expect(redactRaw(value)).toBe(value);
  });

  it("filters a bare string", () => {
    expect(redactRaw(`{"runtime_id":"${A}`)).toBe(`{"runtime_id":"${masked(A)}`);
  });

  it("ends a cycle, but redacts a shared value twice", () => {
    const shared = { id: A };
    const value: Record<string, unknown> = { one: shared, two: [shared] };
    value.self = value;
    const copy = redactRaw(value) as Record<string, unknown>;
    expect(copy.one).toEqual({ id: masked(A) });
    expect(copy.two).toEqual([{ id: masked(A) }]);
    expect(copy.self).toBe("[cycle]");
  });

  it("loses no member when two keys mask to the same text", () => {
    const other = `${A.slice(0, -1)}0`;
    expect(redactRaw({ [A]: 1, [other]: 2 })).toEqual({ [masked(A)]: 1, [`${masked(A)} (2)`]: 2 });
  });

  it("survives __proto__ and constructor as keys", () => {
    const value = JSON.parse(`{"__proto__":{"polluted":"${A}"},"constructor":{"prototype":{}}}`);
    const copy = redactRaw(value) as object;
    expect(Object.keys(copy)).toEqual(["__proto__", "constructor"]);
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(JSON.stringify(copy)).toContain(masked(A));
  });

  it("replaces what is nested too deeply", () => {
    let value: unknown = A;
    for (let i = 0; i < 100_000; i++) value = [value];
    let depth = 0;
    for (let node = redactRaw(value); Array.isArray(node); node = node[0]) depth++;
    expect(depth).toBe(MAX_DEPTH);
  });

  it("survives a member that throws", () => {
    const value = Object.defineProperty({}, "bad", {
      enumerable: true,
      get: () => {
        throw new Error(A);
      },
    });
    expect(redactRaw({ value })).toEqual({ value: "[unreadable]" });
  });

  it("finishes a payload of a few megabytes well under 200 ms", () => {
    const value = {
      rows: Array.from({ length: 40_000 }, (_, i) => ({
        i,
        text: `${A} and some more text around it ${i}`,
        flag: true,
      })),
    };
    expect(quickest(() => redactRaw(value))).toBeLessThan(200);
  });
});
