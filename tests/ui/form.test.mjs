/* The configuration form in a real browser, around a draft that the stand-in host holds. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fromDist } from "./assets.mjs";
import { openBrowser, openHost } from "./browser.mjs";
import { serveHost } from "./server.mjs";

let served;
let browser;
let host;
let page;
before(async () => {
  served = await serveHost(fromDist);
  browser = await openBrowser();
  host = await openHost(browser.context, served.origin);
  page = host.page;
});
after(async () => {
  await browser?.close();
  await served?.close();
});

const open = (value, props = {}) => page.evaluate((given) => standin.showForm(given), { value, ...props });
const field = (key) => page.locator(`[data-field="${key}"]`);
const changes = () => page.evaluate(() => standin.form.changes);
const draft = () => page.evaluate(() => standin.form.draft);
const section = (title) => page.getByRole("group", { name: new RegExp(`^${title}`) });

const NUMBERS = [
  "max_result_bytes",
  "max_stream_bytes",
  "default_timeout_ms",
  "max_timeout_ms",
  "max_runtimes",
  "idle_ttl_secs",
  "heap_mb",
  "external_mb",
  "scratch_mb",
  "scratch_files",
];

for (const key of NUMBERS) {
  test(`26. ${key}: set, zero, clear, nonsense`, async () => {
    await open({ other: "kept" });
    await field(key).fill("77");
    assert.deepEqual(await draft(), { other: "kept", [key]: 77 });
    await field(key).fill("0");
    assert.deepEqual(await draft(), { other: "kept", [key]: 0 });
    await field(key).fill("");
    assert.deepEqual(await draft(), { other: "kept" });
    assert.equal((await changes()).length, 3);
    for (const nonsense of ["-1", "1.5", "abc", "9".repeat(20)]) await field(key).fill(nonsense);
    assert.equal((await changes()).length, 3);
    assert.deepEqual(await draft(), { other: "kept" });
  });
}

test("26. what was refused stays visible while typing, says so, and goes with the focus", async () => {
  await open({ heap_mb: 64 });
  await field("heap_mb").fill("-5");
  assert.equal(await field("heap_mb").inputValue(), "-5");
  assert.equal(await field("heap_mb").getAttribute("aria-invalid"), "true");
  assert.match(await section("Runtimes and memory").innerText(), /Not taken over/);
  await field("heap_mb").blur();
  assert.equal(await field("heap_mb").inputValue(), "64");
  assert.doesNotMatch(await section("Runtimes and memory").innerText(), /Not taken over/);
});

test("26. a number typed key by key proposes once per key, and a fraction never becomes another number", async () => {
  await open({});
  await field("max_runtimes").pressSequentially("12");
  assert.deepEqual(await changes(), [{ max_runtimes: 1 }, { max_runtimes: 12 }]);
  await field("max_runtimes").pressSequentially(".5");
  assert.deepEqual(await draft(), { max_runtimes: 12 });
});

test("26. the switch writes an explicit boolean, and absent counts as on", async () => {
  await open({});
  assert.equal(await field("inject_guidance").isChecked(), true);
  await field("inject_guidance").uncheck();
  assert.deepEqual(await draft(), { inject_guidance: false });
  await field("inject_guidance").check();
  assert.deepEqual(await draft(), { inject_guidance: true });
});

test("26. the scratch directory: set and cleared", async () => {
  await open({ scratch_root: null });
  await field("scratch_root").fill("/var/scratch");
  assert.deepEqual(await draft(), { scratch_root: "/var/scratch" });
  await field("scratch_root").fill("");
  assert.deepEqual(await draft(), {});
});

test("27. unknown members, templates and the draft that was passed in survive", async () => {
  const intact = await page.evaluate(() => {
    const value = Object.freeze({ heap_mb: "${HEAP}", unknown: Object.freeze({ a: 1 }) });
    standin.showForm({ value });
    globalThis.given = value;
    return JSON.stringify(value);
  });
  assert.equal(await field("heap_mb").inputValue(), "${HEAP}");
  await field("scratch_mb").fill("4");
  assert.deepEqual(await draft(), { heap_mb: "${HEAP}", unknown: { a: 1 }, scratch_mb: 4 });
  assert.equal(await page.evaluate(() => JSON.stringify(given)), intact);
  assert.equal(
    await page.evaluate(() => standin.form.draft.unknown === given.unknown && standin.form.draft !== given),
    true,
  );
  await field("heap_mb").fill("abc");
  assert.equal((await draft()).heap_mb, "${HEAP}");
  await field("heap_mb").fill("9");
  assert.equal((await draft()).heap_mb, 9);
});

test("27. a draft that is no object is shown as empty, and the first edit proposes an object", async () => {
  for (const odd of [null, "text", [1, 2], 7]) {
    await open(odd);
    assert.equal(await field("heap_mb").inputValue(), "");
    assert.deepEqual(await changes(), []);
    await field("heap_mb").fill("5");
    assert.deepEqual(await draft(), { heap_mb: 5 });
  }
});

test("28. hints follow the draft", async () => {
  await open({});
  assert.match(
    await section("Output limits").innerText(),
    /32 KiB, roughly 8192 tokens[^]*16 KiB, roughly 4096 tokens/,
  );
  await field("max_result_bytes").fill("0");
  assert.match(await section("Output limits").innerText(), /off/);
  assert.match(await section("Scratch").innerText(), /32 × 8 = 256 MiB/);
  await field("max_runtimes").fill("10");
  await field("scratch_mb").fill("3");
  assert.match(await section("Scratch").innerText(), /10 × 3 = 30 MiB/);
  await field("max_timeout_ms").fill("100");
  assert.match(await section("Time-outs").innerText(), /Below the default time-out of 5000 ms/);
  await field("default_timeout_ms").fill("50");
  assert.doesNotMatch(await section("Time-outs").innerText(), /Below/);
});

test("28. sections say when a change applies", async () => {
  await open({});
  const applies = {
    "Output limits": /on save/,
    Guidance: /on save/,
    "Time-outs": /on save/,
    "Runtimes and memory": /worker restart/,
    Scratch: /worker restart/,
  };
  for (const [title, words] of Object.entries(applies))
    assert.match(await section(title).locator("legend").innerText(), words);
});

test("29. errors stand at their field and at the end, and are announced", async () => {
  await open({}, { errors: { "/heap_mb": "<b>too small</b>", "": "changed elsewhere" } });
  const described = await field("heap_mb").getAttribute("aria-describedby");
  const texts = await page.evaluate(
    (ids) => ids.split(" ").map((id) => document.getElementById(id).textContent),
    described,
  );
  assert.ok(texts.includes("<b>too small</b>"));
  assert.equal(await page.getByRole("alert").count(), 2);
  assert.match(await page.locator(".cr-errors").innerText(), /changed elsewhere/);
});

test("29. a deep link focuses its field; unknown and hostile ones do nothing", async () => {
  const focused = () => page.evaluate(() => document.activeElement?.dataset?.field ?? null);
  for (const [wanted, expected] of [
    ["scratch_root", "scratch_root"],
    ["heap_mb", "heap_mb"],
    ["unheard_of", null],
    ['"]', null],
    ["\\", null],
    ["", null],
    ["a], *[b", null],
  ]) {
    await page.evaluate(() => (standin.clear(), document.activeElement?.blur()));
    await open({}, { focusField: [wanted] });
    await page.waitForTimeout(30);
    assert.equal(await focused(), expected, wanted);
  }
  await open({}, { focusField: ["heap_mb"] });
  await page.waitForFunction(() => document.activeElement?.dataset?.field === "heap_mb");
  await open({}, { focusField: ['"]'] });
  assert.equal(await focused(), "heap_mb");
});

test("29. a deep link does not take the focus back while somebody types elsewhere", async () => {
  await page.evaluate(() => standin.clear());
  await open({}, { focusField: ["heap_mb"] });
  await field("scratch_mb").focus();
  await field("scratch_mb").pressSequentially("12");
  assert.deepEqual(await draft(), { scratch_mb: 12 });
});

test("30. every control has a name, and the tab order is the visual order", async () => {
  await open({});
  await page.evaluate(() => document.activeElement?.blur());
  const controls = page.locator('[data-cr="config-form"] input');
  assert.equal(await controls.count(), 12);
  for (const control of await controls.all()) {
    const { name, visible } = await control.evaluate((each) => ({
      name: each.labels[0]?.innerText ?? "",
      visible: each.labels[0]?.offsetHeight > 0,
    }));
    assert.ok(name && visible);
  }
  const order = await controls.evaluateAll((all) =>
    all.map((each) => {
      const { top, left } = each.getBoundingClientRect();
      return [Math.round(top / 10), left];
    }),
  );
  assert.deepEqual(
    order,
    [...order].sort((a, b) => a[0] - b[0] || a[1] - b[1]),
  );
  await page.locator("#stage").evaluate((each) => ((each.tabIndex = -1), each.focus()));
  for (const control of await controls.all()) {
    await page.keyboard.press("Tab");
    assert.equal(await control.evaluate((each) => each === document.activeElement), true);
    assert.equal(await control.evaluate((each) => getComputedStyle(each).outlineStyle), "solid");
  }
});

test("the form stays silent: no message, no error, no bus", async () => {
  const { console: messages, errors, failed } = host.record;
  assert.deepEqual({ messages, errors, failed }, { messages: [], errors: [], failed: [] });
  assert.equal(await page.evaluate(() => standin.log.busTouched), false);
  assert.equal(await page.locator(".boundary").count(), 0);
});
