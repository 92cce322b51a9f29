import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { draftOf, textOf as valueText, withKey, withNumber, withoutKey, withText } from "../src/form/draft";
import { KEYS, SECTIONS } from "../src/form/fields";
import { ConfigForm } from "../src/form/form";
import { footprint, invertedTimeouts, kibAndTokens } from "../src/form/hints";
import type { ConfigFormProps } from "../src/host";
import { parts, textOf } from "./draw";

const form = (props: Partial<ConfigFormProps> = {}) =>
  renderToStaticMarkup(<ConfigForm id="code-runner" schema={null} value={{}} onChange={() => {}} {...props} />);
const control = (markup: string, key: string) => new RegExp(`<input[^>]*data-field="${key}"[^>]*>`).exec(markup)![0];

describe("drafts", () => {
  const draft = Object.freeze({ heap_mb: 5, other: "${KEEP}" });

  it.each([
    ["7", { heap_mb: 7, other: "${KEEP}" }],
    ["0", { heap_mb: 0, other: "${KEEP}" }],
    [" 12 ", { heap_mb: 12, other: "${KEEP}" }],
    ["", { other: "${KEEP}" }],
    ["  ", { other: "${KEEP}" }],
  ])("takes %j", (typed, expected) => {
    expect(withNumber(draft, "heap_mb", typed)).toEqual(expected);
  });

  it.each(["-1", "1.5", "abc", "1e3", "0x10", "+1", "1 2", "٣", "${X}", "9007199254740993"])(
    "proposes nothing for %j",
    (typed) => {
      expect(withNumber(draft, "heap_mb", typed)).toBeUndefined();
    },
  );

  it("never changes the draft it was given", () => {
    expect(withKey(draft, "a", 1)).toEqual({ heap_mb: 5, other: "${KEEP}", a: 1 });
    expect(withoutKey(draft, "heap_mb")).toEqual({ other: "${KEEP}" });
    expect(withText(draft, "scratch_root", "")).toEqual(draft);
    expect(withText(draft, "scratch_root", "/x")).toEqual({ ...draft, scratch_root: "/x" });
    expect(draft).toEqual({ heap_mb: 5, other: "${KEEP}" });
  });

  it("treats what is no object as empty", () => {
    for (const odd of [null, undefined, 7, "text", [1]]) expect(draftOf(odd)).toEqual({});
  });

  it("shows values that are no numbers as they are", () => {
    expect([undefined, null, 7, "${HEAP}", true, [1]].map(valueText)).toEqual(["", "", "7", "${HEAP}", "true", "[1]"]);
  });
});

describe("hints", () => {
  it("echoes bytes as KiB and tokens, from the draft or the default", () => {
    expect(kibAndTokens({}, "max_result_bytes")?.text).toBe("32 KiB, roughly 8192 tokens");
    expect(kibAndTokens({ max_stream_bytes: 1000 }, "max_stream_bytes")?.text).toBe("1 KiB, roughly 250 tokens");
    expect(kibAndTokens({ max_result_bytes: 0 }, "max_result_bytes")?.text).toMatch(/^off/);
    expect(kibAndTokens({ max_result_bytes: "${N}" }, "max_result_bytes")).toBeUndefined();
  });

  it("warns when the longest time-out is below the default one", () => {
    expect(invertedTimeouts({})).toBeUndefined();
    expect(invertedTimeouts({ max_timeout_ms: 5000 })).toBeUndefined();
    expect(invertedTimeouts({ max_timeout_ms: 100 })?.tone).toBe("warn");
    expect(invertedTimeouts({ default_timeout_ms: 40000 })?.text).toContain("40000");
  });

  it("multiplies the footprint out", () => {
    expect(footprint({})?.text).toContain("32 × 8 = 256 MiB");
    expect(footprint({ max_runtimes: 10, scratch_mb: 3 })?.text).toContain("30 MiB");
    expect(footprint({ max_runtimes: "${N}" })).toBeUndefined();
  });
});

describe("the form", () => {
  it("has the twelve keys of the configuration, each with its own label", () => {
    expect([...KEYS].sort()).toEqual([
      "default_timeout_ms",
      "external_mb",
      "heap_mb",
      "idle_ttl_secs",
      "inject_guidance",
      "max_result_bytes",
      "max_runtimes",
      "max_stream_bytes",
      "max_timeout_ms",
      "scratch_files",
      "scratch_mb",
      "scratch_root",
    ]);
    const markup = form();
    for (const key of KEYS) {
      const id = / id="([^"]+)"/.exec(control(markup, key))![1];
      expect(markup).toContain(`<label for="${id}">`);
    }
  });

  it("tells which sections apply on save and which after a restart", () => {
    const applies = parts(form(), "config-section").map(
      (section) => /applies ([^<]+)</.exec(section.replaceAll("<!-- -->", ""))![1],
    );
    expect(SECTIONS.map(({ title }, i) => [title, applies[i]])).toEqual([
      ["Output limits", "on save"],
      ["Guidance", "on save"],
      ["Time-outs", "on save"],
      ["Runtimes and memory", "at the next worker restart"],
      ["Scratch", "at the next worker restart"],
    ]);
  });

  it("shows defaults as placeholders only, and the draft as values", () => {
    expect(control(form(), "heap_mb")).toMatch(/placeholder="128".* value=""/);
    expect(control(form({ value: { heap_mb: 256 } }), "heap_mb")).toContain('value="256"');
    expect(control(form({ value: { heap_mb: "${HEAP}" } }), "heap_mb")).toContain('value="${HEAP}"');
    expect(control(form({ value: null }), "inject_guidance")).toContain("checked");
    expect(control(form({ value: { inject_guidance: false } }), "inject_guidance")).not.toContain("checked");
  });

  it.each([
    [
      "a map",
      new Map([
        ["/heap_mb", "too <small>"],
        ["", "not an object"],
        ["/unheard/of", "what"],
        ["xheap_mb", "odd"],
      ]),
    ],
    ["a record", { "/heap_mb": "too <small>", "": "not an object", "/unheard/of": "what", xheap_mb: "odd" }],
  ])("shows errors from %s at their fields, and the others at the end", (_name, errors) => {
    const markup = form({ errors });
    expect(parts(markup, "field-error").map(textOf)).toEqual([
      "too <small>",
      " not an object",
      "/unheard/of what",
      "xheap_mb odd",
    ]);
    const described = /aria-describedby="([^"]+)"/.exec(control(markup, "heap_mb"))![1]!;
    const error = / id="([^"]+)" role="alert"/.exec(markup)![1]!;
    expect(described.split(" ")).toContain(error);
    expect(control(markup, "heap_mb")).toContain('aria-invalid="true"');
  });

  it("draws for every draft and every shape of the optional props", () => {
    for (const value of [null, 7, "x", [], { inject_guidance: "${X}", scratch_root: null, max_runtimes: {} }]) {
      for (const focusField of [undefined, [], ['"]'], ["heap_mb"], [7] as never])
        expect(form({ value, focusField })).toContain("config-form");
    }
  });
});
