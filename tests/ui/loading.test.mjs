/*
 * How the injected bundle loads and looks, in a real browser on the stand-in host under a strict content policy. A name
 * that begins with `n.` is the assertion of that number in docs/console-ui.md.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fromDist } from "./assets.mjs";
import { openPage, probe, show } from "./browser.mjs";
import { fixture, fixtures, REGISTER, RUN, TEARDOWN } from "./fixtures.mjs";
import { serveHost } from "./server.mjs";
import { part, setStage } from "./stage.mjs";

const stage = setStage();
const { onHost } = stage;

describe("loading and contract", () => {
  test("1. the bundle loads under the policy, without a message, an error or a failed request", () =>
    onHost(async () => {}));

  test("2. only the page's own origin is contacted", () =>
    onHost(async (page, { record }) => {
      for (const { message } of fixtures) await show(page, message);
      assert.deepEqual(
        record.requests.filter((request) => !request.startsWith(stage.origin)),
        [],
      );
    }));

  test("3. three renderers and one form are registered, with unique ids", () =>
    onHost(async (page) => {
      assert.deepEqual(await page.evaluate(() => standin.log.events), [
        "+renderer code-runner/page.js#run",
        "+renderer code-runner/page.js#register_function",
        "+renderer code-runner/page.js#teardown",
        "+form code-runner",
      ]);
    }));

  test("4. a renderer matches its own id only", () =>
    onHost(async (page) => {
      const matches = (id) =>
        page.evaluate((each) => [...standin.log.renderers.values()].filter((r) => r.isMatch(each)).length, id);
      for (const id of [RUN, REGISTER, TEARDOWN]) assert.equal(await matches(id), 1);
      for (const id of ["code-runner::inject-guidance", "sandbox-code-runner::run", ""])
        assert.equal(await matches(id), 0);
    }));

  test("5. every renderer filters the raw view", () =>
    onHost(async (page) => {
      assert.deepEqual(
        await page.evaluate(() => [...standin.log.renderers.values()].map((each) => each.redactRaw("rt-12345678-1"))),
        Array(3).fill("rt-1234…"),
      );
    }));

  test("6. a new version replaces the old one, and removers may be called twice", () =>
    onHost(async (page) => {
      const state = await page.evaluate(async () => {
        await standin.load("two");
        const { renderers, forms, events } = standin.log;
        return {
          renderers: renderers.size,
          forms: forms.size,
          removed: events.filter((each) => each.startsWith("-")).length,
        };
      });
      assert.deepEqual(state, { renderers: 3, forms: 1, removed: 4 });
      assert.equal(await show(page, fixture("run-number")), true);
      await page.evaluate(() => standin.unload());
      assert.equal(await show(page, fixture("run-number")), false);
    }));

  test("7. nothing on the bus is touched", () =>
    onHost(async (page) => {
      for (const { message } of fixtures) await show(page, message);
      await page.evaluate(() => standin.showForm({ value: {} }));
      assert.equal(await page.evaluate(() => standin.log.busTouched), false);
    }));

  test("8. a shared module with four names is enough", () =>
    onHost(async (page) => {
      const names = await page.evaluate(async () => Object.keys(await import("@iii-dev/console-ui")).sort());
      assert.deepEqual(names, ["CodeHighlight", "Tooltip", "TooltipContent", "TooltipTrigger"]);
    }));
});

describe("style", () => {
  test("9. every rule in the loaded sheet starts with the scope", () =>
    onHost(async (page) => {
      const selectors = await page.evaluate(() => {
        const sheet = [...document.styleSheets].find((each) => each.href.includes("code-runner/styles.css"));
        const walk = (rules) =>
          [...rules].flatMap((rule) =>
            rule.selectorText ? [rule.selectorText] : rule instanceof CSSKeyframesRule ? [] : walk(rule.cssRules ?? []),
          );
        return walk(sheet.cssRules);
      });
      assert.ok(selectors.length > 50);
      const loose = selectors
        .flatMap((each) => each.split(/,\s*/))
        .filter((each) => !/^\[data-iii-ui="code-runner"\] /.test(each));
      assert.deepEqual(loose, []);
    }));

  test("10. nothing outside the scope changes when the sheet loads", async () => {
    const { page } = await openPage(stage.browser.context);
    await page.goto(`${stage.origin}/`);
    await page.waitForFunction(() => "standin" in globalThis);
    const looks = () =>
      page.evaluate(() =>
        [document.documentElement, document.body, ...document.querySelectorAll("#outside, #outside *")].map((each) =>
          Object.fromEntries(
            [...getComputedStyle(each)].map((name) => [name, getComputedStyle(each).getPropertyValue(name)]),
          ),
        ),
      );
    const earlier = await looks();
    await page.evaluate(() => standin.loadStyle("one"));
    assert.deepEqual(await looks(), earlier);
    await page.close();
  });

  test("11. a flip of the theme recolours a card without drawing it again", () =>
    onHost(async (page) => {
      await show(page, fixture("run-number"));
      const look = () =>
        part(page, "verdict").evaluate((each) => {
          each.marked ??= 0;
          return {
            times: ++each.marked,
            colour: getComputedStyle(each).color,
            panel: getComputedStyle(each.closest(".cr-card")).backgroundColor,
          };
        });
      const light = await look();
      await page.evaluate(() => (document.documentElement.dataset.theme = "dark"));
      const dark = await look();
      assert.equal(dark.times, 2);
      assert.notEqual(dark.colour, light.colour);
      assert.notEqual(dark.panel, light.panel);
    }));

  test("11b. text has enough contrast in both themes", () =>
    onHost(async (page) => {
      for (const theme of ["light", "dark"]) {
        await page.evaluate((name) => (document.documentElement.dataset.theme = name), theme);
        for (const name of [
          "run-kept",
          "run-failed",
          "run-omitted-array",
          "run-truncated",
          "run-running",
          "run-expired",
          "run-denied",
          "register-node",
          "register-refused",
          "teardown-namespace",
        ]) {
          await show(page, fixture(name));
          assert.deepEqual(await page.evaluate(lowContrast), [], `${name}, ${theme}`);
        }
        await page.evaluate(() =>
          standin.showForm({ value: { max_timeout_ms: 1 }, errors: { "/heap_mb": "no", "": "no" } }),
        );
        assert.deepEqual(await page.evaluate(lowContrast), [], `form, ${theme}`);
      }
    }));

  test("12. nothing moves under reduced motion", () =>
    onHost(async (page) => {
      await show(page, fixture("run-running"));
      const moving = () =>
        page.evaluate(() => document.getAnimations().filter((each) => each.playState === "running").length);
      assert.equal(await moving(), 1);
      await page.emulateMedia({ reducedMotion: "reduce" });
      assert.equal(await moving(), 0);
    }));

  test("13. at 320 pixels nothing widens the page, collapsed or expanded", () =>
    onHost(async (page) => {
      await page.setViewportSize({ width: 320, height: 700 });
      const overflow = () =>
        page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      const sideways = () =>
        page.evaluate(
          () =>
            [...document.querySelectorAll(".cr-scroll")].filter((each) => each.scrollWidth > each.clientWidth).length,
        );
      for (const { name, message } of fixtures) {
        await show(page, message);
        assert.equal(await overflow(), 0, name);
        for (const toggle of await part(page, "toggle").all()) await toggle.click();
        assert.equal(await overflow(), 0, `${name}, expanded`);
        assert.equal(await sideways(), 0, `${name}, blocks`);
      }
      await page.evaluate(() =>
        standin.showForm({
          value: { scratch_root: "/x".repeat(300) },
          errors: { "": "e".repeat(500), "/heap_mb": "f".repeat(500) },
        }),
      );
      assert.equal(await overflow(), 0, "form");
    }));

  test("13b. cards read in order without any style", async () => {
    const { page } = await openPage(stage.browser.context);
    await page.goto(`${stage.origin}/`);
    await page.waitForFunction(() => "standin" in globalThis);
    await page.evaluate(() => standin.load("one"));
    await show(page, fixture("run-kept"));
    const text = await part(page, "card").innerText();
    assert.match(
      text,
      /run[^]*runtime rt-0f9e…[^]*kept[^]*python[^]*exit 0 clean 31ms[^]*result[^]*mean[^]*source[^]*stdout[^]*n = 4/,
    );
    await page.close();
  });
});

/* Runs in the page: texts whose contrast with what is behind them is below 4.5. */
function lowContrast() {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data;
  };
  const luminance = (colour) => {
    const [r, g, b] = [...rgba(colour)]
      .slice(0, 3)
      .map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (each) => {
    for (let at = each; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (rgba(colour)[3] === 255) return colour;
    }
    return "white";
  };
  const found = [];
  for (const each of document.querySelectorAll("#stage *")) {
    const text = [...each.childNodes]
      .filter((node) => node.nodeType === 3 && node.data.trim())
      .map((node) => node.data.trim())
      .join(" ");
    if (!text) continue;
    const [light, dark] = [luminance(getComputedStyle(each).color), luminance(behind(each))].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < 4.5) found.push(`${text.slice(0, 40)}: ${ratio.toFixed(2)}`);
  }
  return found;
}

test("the stand-in host keeps a script's faults to itself, as a console does", async () => {
  const source = async (path) => ({
    ...(await fromDist(path)),
    content: path.endsWith(".js") ? "export const nothing = 1;" : "",
  });
  const other = await serveHost(source);
  const { page } = await openPage(stage.browser.context);
  await page.goto(`${other.origin}/`);
  await page.waitForFunction(() => "standin" in globalThis);
  assert.match(await page.evaluate(() => standin.load("x").then(() => "loaded", String)), /no default export/);
  const reply = await fetch(`${other.origin}/ui/code-runner/page.js`);
  assert.equal(
    (await fetch(`${other.origin}/ui/code-runner/page.js`, { headers: { "If-None-Match": reply.headers.get("etag") } }))
      .status,
    304,
  );
  assert.equal((await fetch(`${other.origin}/ui/other.js`)).status, 404);
  assert.equal((await fetch(`${other.origin}/..%2fserver.mjs`)).status, 404);
  assert.deepEqual(await probe(page, { console: [], requests: [] }), []);
  await page.close();
  await other.close();
});
