/*
 * What the cards show and what they keep to themselves, in a real browser on the stand-in host. A name that begins with
 * `n.` is the assertion of that number in docs/console-ui.md.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openBrowser, show } from "./browser.mjs";
import {
  A,
  B,
  answer,
  fixture,
  fixtures,
  inChat,
  masked,
  message,
  NEEDLES,
  randomJson,
  REGISTER,
  RUN,
  TEARDOWN,
} from "./fixtures.mjs";
import { part, setStage } from "./stage.mjs";

const stage = setStage();
const { onHost } = stage;

const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText());
const boundary = (page) => page.locator(".boundary").count();

describe("cards", () => {
  test("14. every fixture gets the card of its state, and what is not ours gets none", () =>
    onHost(async (page) => {
      for (const { name, state, message } of fixtures) {
        assert.equal(await show(page, message), true, name);
        assert.equal(await part(page, "card").getAttribute("data-cr-state"), state, name);
      }
      const input = { code: "return 1", lang: "node" };
      const none = [
        message(RUN, input),
        message(RUN, input, { output: null }),
        message(RUN, JSON.stringify(input), { output: inChat(answer({})) }),
        message(RUN, { lang: "node" }, { pendingApproval: true }),
        message("code-runner::inject-guidance", {}, { output: {} }),
        message("shop::price", { runtime_id: A }, { output: {} }),
        message(TEARDOWN, "x", { pendingApproval: true }),
      ];
      for (const each of none) assert.equal(await show(page, each), false, JSON.stringify(each));
    }));

  test("15. verdict, result, source, stdout and stderr come in this order", () =>
    onHost(async (page) => {
      await show(
        page,
        message(
          RUN,
          { code: "return 4", lang: "node" },
          { output: inChat(answer({ result: 4, stdout: "out", stderr: "err" })) },
        ),
      );
      const tops = await Promise.all(
        ["verdict", "result", "source", "stdout", "stderr"].map(
          async (hook) => (await part(page, hook).boundingBox()).y,
        ),
      );
      assert.deepEqual(
        tops,
        [...tops].sort((a, b) => a - b),
      );
      assert.match(await part(page, "verdict").innerText(), /exit 0\s*clean\s*12ms/);
    }));

  test("16. alert is for error cards, and nobody else", () =>
    onHost(async (page) => {
      for (const { name, state, message } of fixtures) {
        await show(page, message);
        assert.equal((await page.locator('[data-cr-tone="alert"]').count()) > 0, state === "error", name);
      }
    }));

  test("17. chat and trace form of one call read the same", () =>
    onHost(async (page) => {
      for (const trace of fixtures.filter(({ form }) => form)) {
        await show(page, trace.message);
        const text = await part(page, "card").innerText();
        await show(page, fixture(trace.name));
        assert.equal(await part(page, "card").innerText(), text, trace.name);
      }
    }));

  test("18. toggles open and close, and folded text is not in the document", () =>
    onHost(async (page) => {
      await show(page, fixture("run-long"));
      const stdout = part(page, "stdout");
      const toggle = stdout.locator('[data-cr="toggle"]');
      const text = () => stdout.locator("pre").evaluate((each) => each.textContent);
      assert.match(await toggle.innerText(), /500 lines/);
      assert.equal(await toggle.getAttribute("aria-expanded"), "false");
      assert.ok((await text()).startsWith("line 1\n") && !(await page.content()).includes("line 500"));
      await toggle.press("Enter");
      assert.equal(await toggle.getAttribute("aria-expanded"), "true");
      assert.ok((await text()).includes("line 500"));
      assert.match(await toggle.innerText(), /collapse/);
      assert.ok((await stdout.boundingBox()).height < 450);
      await toggle.press("Space");
      assert.ok(!(await page.content()).includes("line 500"));
    }));

  test("19. the highlighter is told the language that runs, and never a guess about a run", () =>
    onHost(async (page) => {
      for (const [lang, language] of [
        ["node", "javascript"],
        ["python", "python"],
        [undefined, "text"],
        ["ruby", "text"],
        [7, "text"],
      ]) {
        await show(page, message(RUN, { code: "def f(): pass", lang }, { output: answer({}) }));
        assert.equal(await part(page, "source").locator("pre").getAttribute("data-language"), language);
      }
    }));

  test("20. no card throws, for thousands of generated payloads", () =>
    onHost(async (page) => {
      const messages = [];
      for (let seed = 1; seed <= 2500; seed++) {
        const extra = { output: randomJson(seed + 50_000), running: seed % 7 === 0, pendingApproval: seed % 11 === 0 };
        messages.push(message([RUN, REGISTER, TEARDOWN][seed % 3], randomJson(seed), extra));
      }
      const result = await page.evaluate((text) => {
        let drawn = 0;
        let broken = 0;
        for (const each of JSON.parse(text)) {
          if (standin.show(each)) drawn++;
          broken += document.querySelectorAll(".boundary").length;
        }
        return { drawn, broken };
      }, JSON.stringify(messages));
      assert.equal(result.broken, 0);
      assert.ok(result.drawn > 250, String(result.drawn));
    }));

  test("20b. no fixture reaches the error boundary, collapsed or expanded", () =>
    onHost(async (page) => {
      for (const { name, message } of fixtures) {
        await show(page, message);
        for (const toggle of await part(page, "toggle").all()) await toggle.click();
        assert.equal(await boundary(page), 0, name);
      }
    }));
});

describe("capability", () => {
  test("21. the probe finds no id in any fixture, expanded, hovered and focused", () =>
    onHost(async (page, host) => {
      for (const { name, message } of fixtures) {
        await show(page, message);
        for (const toggle of await part(page, "toggle").all()) await toggle.click();
        for (const chip of await page.locator('[data-cr="runtime-chip"]').all()) {
          await chip.hover();
          await chip.focus();
          await page.getByRole("tooltip").waitFor({ timeout: 2000 });
        }
        assert.deepEqual(await host.probe(), [], name);
      }
    }));

  test("21b. the probe itself works: a careless card sets it off", () =>
    onHost(
      async (page, host) => {
        await page.evaluate((text) => standin.naive(JSON.parse(text)), JSON.stringify(fixture("run-ids")));
        const places = await host.probe();
        for (const place of ["document", "accessibility", "instants"])
          assert.ok(places.includes(place), `${place} in ${places}`);
      },
      { expectLeak: true },
    ));

  test("21c. the ids that a person must not see are seen cut short", () =>
    onHost(async (page) => {
      await show(page, fixture("run-ids"));
      for (const hook of ["source", "stdout", "stderr", "result"]) {
        const text = await part(page, hook).innerText();
        assert.ok(text.includes(masked(A)), hook);
        if (hook !== "stdout") assert.ok(text.includes(`x${masked(A)}_log`), hook);
      }
    }));

  for (const secure of [true, false]) {
    test(`22. the chip copies the whole id by click, Enter and Space, ${secure ? "with" : "without"} the asynchronous clipboard`, async () => {
      const other = secure ? stage.browser : await openBrowser({ secure: false });
      try {
        await onHost(
          async (page) => {
            const read = secure ? () => clipboard(page) : () => pasted(other.context);
            await show(page, fixture("run-kept"));
            const chip = part(page, "runtime-chip");
            for (const activate of [() => chip.click(), () => chip.press("Enter"), () => chip.press("Space")]) {
              await show(page, fixture("run-kept"));
              const elements = await page.locator("#stage *").count();
              await activate();
              const remark = page.getByRole("status");
              await page.waitForFunction(() => document.querySelector('[role="status"]').textContent === "copied");
              assert.equal(await remark.getAttribute("data-cr-tone"), "ok");
              assert.equal(await chip.evaluate((each) => each === document.activeElement), true);
              assert.equal(await read(), B);
              await page.waitForFunction(() => document.querySelector('[role="status"]').textContent === "", null, {
                timeout: 2500,
              });
              assert.equal(await page.locator("#stage *").count(), elements);
              assert.equal(await page.locator("textarea").count(), 0);
            }
          },
          { context: other.context },
        );
      } finally {
        if (!secure) await other.close();
      }
    });
  }

  test("22b. a second activation restarts the remark, and unmounting ends it", () =>
    onHost(async (page) => {
      await show(page, fixture("run-kept"));
      const chip = part(page, "runtime-chip");
      const remark = () => page.getByRole("status").textContent();
      await chip.click();
      await page.waitForTimeout(1000);
      await chip.click();
      await page.waitForTimeout(900);
      assert.equal(await remark(), "copied");
      await chip.click();
      await page.evaluate(() => standin.clear());
      await page.waitForTimeout(1600);
    }));

  test("22c. the clipboard changes only by an activation", () =>
    onHost(async (page) => {
      await page.evaluate(() => navigator.clipboard.writeText("before"));
      for (const { message } of fixtures) await show(page, message);
      await show(page, fixture("run-kept"));
      await part(page, "runtime-chip").hover();
      await part(page, "runtime-chip").focus();
      assert.equal(await clipboard(page), "before");
    }));

  test("23. when no way of copying works, the card says so and leaks nothing", () =>
    onHost(async (page) => {
      for (const fault of ["refuses", "throws"]) {
        await page.evaluate((kind) => {
          navigator.clipboard.writeText = () => Promise.reject(new Error("denied"));
          document.execCommand = () => {
            if (kind === "throws") throw new Error("no such command");
            return false;
          };
        }, fault);
        await show(page, fixture("run-kept"));
        await part(page, "runtime-chip").click();
        await page.waitForFunction(() => document.querySelector('[role="status"]').textContent === "copy failed");
        assert.equal(await page.getByRole("status").getAttribute("data-cr-tone"), "warn");
        assert.equal(await page.locator("textarea").count(), 0);
        assert.equal(await part(page, "runtime-chip").evaluate((each) => each === document.activeElement), true);
      }
    }));

  test("24. raw panes show and copy masked text, and a filter that throws shows a placeholder", () =>
    onHost(async (page) => {
      const raw = (shown) => page.evaluate((text) => standin.raw(JSON.parse(text)), JSON.stringify(shown));
      for (const { name, message } of fixtures) {
        await raw(message);
        const deeper = name === "run-nested";
        if (JSON.stringify(message).includes(A) && !deeper)
          assert.ok((await page.locator("#stage").innerText()).includes(masked(A)), name);
      }
      await raw(fixture("run-ids"));
      await page.getByRole("button", { name: "copy response" }).click();
      const copied = await clipboard(page);
      assert.ok(copied.includes(masked(A)));
      for (const needle of NEEDLES) assert.ok(!copied.toLowerCase().includes(needle));
      await page.evaluate(() => {
        for (const each of standin.log.renderers.values())
          each.redactRaw = () => {
            throw new Error("fault");
          };
      });
      await raw(fixture("run-ids"));
      assert.match(await page.locator("#stage").innerText(), /cannot be shown/);
    }));

  test("25. five megabytes of ids are masked and drawn in under a second", () =>
    onHost(async (page) => {
      const elapsed = await page.evaluate((id) => {
        const stdout = `${id} `.repeat((5 * 1024 * 1024) / 40);
        const message = {
          id: "x",
          role: "function-trigger",
          functionId: "code-runner::run",
          createdAt: 0,
          input: { code: "x" },
          output: { stdout, stderr: "", result: 1, exit_code: 0 },
        };
        const start = performance.now();
        standin.show(message);
        void document.body.offsetHeight;
        return performance.now() - start;
      }, A);
      assert.ok(elapsed < 1000, `${elapsed} ms`);
    }));
});

describe("accessibility", () => {
  test("everything interactive is a named button or control, reached by Tab with a visible focus", () =>
    onHost(async (page) => {
      await show(page, fixture("run-long"));
      const expected = await page.locator('#stage :is(button, [tabindex="0"])').count();
      assert.ok(expected >= 7);
      await page.locator("#stage").evaluate((each) => ((each.tabIndex = -1), each.focus()));
      for (let i = 0; i < expected; i++) {
        await page.keyboard.press("Tab");
        const focus = await page.evaluate(() => {
          const at = document.activeElement;
          return {
            inside: !!at.closest("#stage"),
            outline: getComputedStyle(at).outlineStyle,
            name: at.ariaLabel || at.textContent,
          };
        });
        assert.equal(focus.inside, true);
        assert.equal(focus.outline, "solid");
        assert.notEqual(focus.name, "");
      }
    }));

  test("the runtime chip's name is fixed wording, and its tooltip shows on focus", () =>
    onHost(async (page) => {
      await show(page, fixture("run-reused"));
      const chip = page.getByRole("button", { name: "Copy the runtime id", exact: true });
      await chip.focus();
      assert.match(await page.getByRole("tooltip").innerText(), /Whoever holds the whole id/);
      assert.equal(await chip.getAttribute("title"), null);
    }));

  test("only the copy remark is live", () =>
    onHost(async (page) => {
      for (const { name, message } of fixtures) {
        await show(page, message);
        const live = await page
          .locator('#stage :is([aria-live], [role="alert"], [role="log"], [role="status"]):not(.cr-remark)')
          .count();
        assert.equal(live, 0, name);
      }
    }));

  test("cards hold no headings, images or pictures", () =>
    onHost(async (page) => {
      for (const { name, message } of fixtures) {
        await show(page, message);
        assert.equal(
          await page.locator("#stage :is(h1, h2, h3, h4, h5, h6, img, svg, script, iframe, a)").count(),
          0,
          name,
        );
      }
    }));
});

/* What a person would paste, read in a page whose clipboard interface is gone. */
async function pasted(context) {
  const page = await context.newPage();
  try {
    await page.setContent("<textarea id=t></textarea>");
    await page.locator("#t").press("Control+V");
    return await page.locator("#t").inputValue();
  } finally {
    await page.close();
  }
}
