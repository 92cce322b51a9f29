import { describe, expect, it } from "vitest";
import { A, lines, masked } from "../../tests/ui/fixtures.mjs";
import { clamp, countLines, showable } from "../src/text";

describe("showable", () => {
  it("removes terminal sequences and never lets one hide an id", () => {
    expect(showable("\u001b[31mred\u001b[0m \u001b]8;;x\u0007link\u001b]8;;\u001b\\ \u009b1mbold", [])).toBe(
      "red link bold",
    );
    expect(showable(`${A.slice(0, 6)}\u001b[1m${A.slice(6)}`, [])).toBe(masked(A));
  });

  it("does not let a sequence without an end hide the rest", () => {
    expect(showable("before \u001b]0;title\nafter \u0090 end", [])).toBe("before 0;title\nafter \ufffd end");
  });

  it("stays linear on sequences that never end", () => {
    const start = performance.now();
    showable("\u0090".repeat(1_000_000) + "\u001b]x".repeat(300_000), []);
    expect(performance.now() - start).toBeLessThan(3000);
  });

  it("shows control characters and spells direction overrides out", () => {
    expect(showable("a\u0000b\tc\r\nd\re", [])).toBe("a\ufffdb\tc\nd\ne");
    expect(showable("x\u202ey\u2066z", [])).toBe("x⟨U+202E⟩y⟨U+2066⟩z");
  });
});

describe("clamp", () => {
  const limit = { lines: 12, chars: 2000 };

  it("keeps what is within the limit", () => {
    for (const text of ["", "x", lines(12), lines(12).trimEnd(), "x".repeat(2000)])
      expect(clamp(text, limit)).toBe(text);
  });

  it("keeps the first lines, then the first characters", () => {
    expect(clamp(lines(13), limit)).toBe(lines(12).trimEnd());
    expect(clamp("x".repeat(2001), limit)).toHaveLength(2000);
    expect(clamp(`${"y".repeat(3000)}\n${lines(40)}`, limit)).toBe("y".repeat(2000));
  });

  it("does not cut a surrogate pair", () => {
    expect(clamp(`${"x".repeat(1999)}😀tail`, limit)).toBe("x".repeat(1999));
    expect(clamp(`${"x".repeat(1998)}😀tail`, limit)).toBe(`${"x".repeat(1998)}😀`);
  });
});

it("counts lines as a person does", () => {
  expect([countLines(""), countLines("a"), countLines("a\n"), countLines("a\nb"), countLines(lines(500))]).toEqual([
    0, 1, 1, 2, 500,
  ]);
});
