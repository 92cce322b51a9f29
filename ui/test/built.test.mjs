/* The built files, as the worker ships them. `npm test` builds first. */
import { generate, parse, walk } from "css-tree";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const read = (name) => readFileSync(new URL(`../dist/${name}`, import.meta.url), "utf8");
const script = read("page.js");
const sheet = read("styles.css");

const SHARED = ["react", "react-dom", "react-dom/client", "react/jsx-runtime", "@iii-dev/console-ui"];
const NAMED = ["CodeHighlight", "Tooltip", "TooltipContent", "TooltipTrigger"];

describe("page.js", () => {
  it("has a default export and stays within its budget", () => {
    expect(script).toMatch(/export\s*\{[^}]*\bas default\b/);
    expect(Buffer.byteLength(script)).toBeLessThanOrEqual(60 * 1024);
  });

  it("imports nothing but the shared modules, react among them", () => {
    const imports = [...script.matchAll(/\bimport\s*(?:[^"'()]*?\bfrom\s*)?["']([^"']+)["']/g)].map(
      (match) => match[1],
    );
    expect(imports.length).toBeGreaterThan(2);
    expect([...new Set(imports)].filter((name) => !SHARED.includes(name))).toEqual([]);
    expect(imports).toContain("react");
    expect(script).not.toMatch(/\bimport\s*\(|\brequire\s*\(/);
  });

  it("asks the console's module for the four names that every console has", () => {
    const clauses = [...script.matchAll(/import\s*\{([^}]*)\}\s*from\s*["']@iii-dev\/console-ui["']/g)];
    const names = clauses.flatMap((match) => match[1].split(",").map((name) => name.trim().split(/\s+as\s+/)[0]));
    expect([...new Set(names)].sort()).toEqual(NAMED);
  });

  it("has no React inside", () => {
    expect(script).not.toMatch(
      /__SECRET_INTERNALS|__CLIENT_INTERNALS|react\.production|ReactCurrentDispatcher|Symbol\.for\("react\./,
    );
  });

  it("claims the three functions and not the guidance hook", () => {
    for (const op of ["run", "register_function", "teardown"]) expect(script).toContain(`code-runner::${op}`);
    expect(script).not.toContain("inject-guidance");
  });

  it("marks the completion value and claims no setting that does not exist", () => {
    expect(script).toMatch(/"data-cr":\s*"result"/);
    expect(script).not.toMatch(/network/i);
  });

  it("runs under a strict content policy", () => {
    expect(script).not.toMatch(
      /\beval\(|new Function|dangerouslySetInnerHTML|innerHTML|https?:|fetch\(|localStorage|sessionStorage|console\./,
    );
  });
});

describe("styles.css", () => {
  const tree = parse(sheet);
  const selectors = [];
  const atrules = [];
  const frames = [];
  walk(tree, {
    visit: "Rule",
    enter(node) {
      if (/keyframes$/.test(this.atrule?.name ?? "")) return;
      for (const selector of node.prelude.children) selectors.push(generate(selector));
    },
  });
  walk(tree, {
    visit: "Atrule",
    enter(node) {
      atrules.push(node.name);
      if (/keyframes$/.test(node.name)) frames.push(generate(node.prelude));
    },
  });

  it("stays within its budget", () => {
    expect(Buffer.byteLength(sheet)).toBeLessThanOrEqual(20 * 1024);
  });

  it("keeps every selector inside the scope", () => {
    expect(selectors.length).toBeGreaterThan(50);
    expect(selectors.filter((selector) => !/^\[data-iii-ui="?code-runner"?\][ .:[]/.test(selector))).toEqual([]);
  });

  it("uses no font, no import, and only animations of its own", () => {
    expect([...new Set(atrules)].sort()).toEqual(["container", "keyframes", "media"]);
    expect(frames.filter((name) => !name.startsWith("code-runner-"))).toEqual([]);
    expect(sheet).not.toMatch(/url\(/);
  });

  it("has no colour of its own, and no width in viewport media queries", () => {
    const literal = [];
    walk(tree, (node) => {
      if (node.type === "Hash") literal.push(generate(node));
      if (node.type === "Function" && /^(rgba?|hsla?|hwb|lab|lch|oklab|oklch|color)$/.test(node.name))
        literal.push(generate(node));
      if (
        node.type === "Identifier" &&
        /^(red|green|blue|white|black|gr[ae]y|orange|yellow|transparent)$/.test(node.name)
      )
        literal.push(node.name);
    });
    expect(literal).toEqual([]);
    expect(sheet).not.toMatch(/@media[^{]*(width|height)/);
  });

  it("sets no text below 11 pixels and changes no letter case", () => {
    const sizes = [...sheet.matchAll(/(?:font-size:|font:[^;}]*?)\s*([\d.]+)px/g)].map((match) => Number(match[1]));
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(11);
    expect(sheet).not.toMatch(/text-transform|font-variant/);
  });
});
