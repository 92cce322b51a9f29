/*
 * Assets over the bus, and the stand-in console as a person uses it. With CODE_RUNNER_BIN all of it goes through the
 * real worker, its embedded engine and its own server of the console page.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ASSETS, connectBus, fromBus, fromDist } from "./assets.mjs";
import { openBackend, REAL } from "./backend.mjs";
import { openBrowser, openHost, openPage, show } from "./browser.mjs";
import { fixture } from "./fixtures.mjs";
import { serveHost } from "./server.mjs";

let backend;
let browser;
let bus;
before(async () => {
  backend = await openBackend();
  browser = await openBrowser();
  bus = await connectBus(backend.url);
});
after(async () => {
  bus?.close();
  await browser?.close();
  await backend?.close();
});

describe("assets on the bus", () => {
  test("check 1: a console that appears is told of both assets", async () => {
    bus.provide("console:script");
    bus.provide("console:style");
    for (let waited = 0; bus.triggers.length < 2 && waited < 5000; waited += 50)
      await new Promise((resolve) => setTimeout(resolve, 50));
    const seen = bus.triggers.map(({ trigger_type, function_id, config }) => ({ trigger_type, function_id, config }));
    assert.deepEqual(
      seen.sort((a, b) => a.trigger_type.localeCompare(b.trigger_type)),
      [
        {
          trigger_type: "console:script",
          function_id: "code-runner::ui-content",
          config: { path: "code-runner/page.js" },
        },
        {
          trigger_type: "console:style",
          function_id: "code-runner::ui-content",
          config: { path: "code-runner/styles.css" },
        },
      ],
    );
    assert.equal(new Set(bus.triggers.map(({ id }) => id)).size, 2);
  });

  test("check 2: the content function answers with the built files and refuses any other path", async () => {
    for (const path of Object.keys(ASSETS))
      assert.deepEqual(await bus.call("code-runner::ui-content", { path }), await fromDist(path));
    const refusal = await bus
      .call("code-runner::ui-content", { path: "code-runner/other.js" })
      .then(assert.fail, (error) => error.message);
    for (const word of ["UNKNOWN_UI_ASSET", "code-runner/other.js", ...Object.keys(ASSETS)])
      assert.ok(refusal.includes(word), word);
  });

  test("check 5: the bundle loads from the bus under the strict policy", async () => {
    const served = await serveHost(fromBus(bus));
    const { page, record, probe } = await openHost(browser.context, served.origin);
    assert.equal(await show(page, fixture("run-kept")), true);
    assert.deepEqual([record.console, record.errors, record.failed], [[], [], []]);
    assert.deepEqual(await probe(), []);
    await page.close();
    await served.close();
  });
});

describe("the stand-in console", () => {
  let page;
  let record;
  before(async () => {
    ({ page, record } = await openPage(browser.context));
    await page.goto(backend.url);
    await page.getByText("connected", { exact: true }).waitFor();
  });

  const newest = () => page.locator(".call").first();
  const part = (hook) => newest().locator(`[data-cr="${hook}"]`);
  const settled = () => newest().locator('[data-cr-state]:not([data-cr-state="running"])').waitFor();
  const runtime = () => page.getByLabel("runtime", { exact: true });

  async function run(code) {
    await page.getByLabel("code", { exact: true }).fill(code);
    await page.getByLabel("code", { exact: true }).press("Control+Enter");
    await settled();
  }

  test("runs what is typed and shows its card", async () => {
    await run("console.log('printed'); return { sum: 2 + 2 };");
    assert.match(await part("verdict").innerText(), /exit 0/);
    assert.match(await part("result").innerText(), /"sum": 4/);
    assert.match(await part("stdout").innerText(), /printed/);
    assert.match(await newest().innerText(), /one-shot/);
  });

  test("shows a failing script as an answer", async () => {
    await run("throw new TypeError('not today')");
    assert.match(await part("verdict").innerText(), /exit 1/);
    assert.match(await part("stderr").innerText(), /TypeError: not today/);
    assert.equal(await newest().locator('[data-cr-tone="alert"]').count(), 0);
  });

  test("keeps a runtime, uses it again by its masked name, copies its id, tears it down", async () => {
    await runtime().selectOption("keep");
    await run("globalThis.n = 41; return 1");
    const chip = await part("runtime-chip").innerText();
    assert.match(chip, /rt-[0-9a-f]{4}…/);
    await part("runtime-chip").click();
    const id = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(id, /^rt-[0-9a-f-]{36}$/);
    await runtime().selectOption({ label: `${id.slice(0, 7)}…` });
    await run("return ++globalThis.n");
    assert.match(await part("result").innerText(), /42/);
    await page.getByRole("button", { name: "tear down", exact: true }).click();
    await settled();
    assert.match(await newest().innerText(), /Destroyed/);
    assert.equal(await runtime().locator("option").count(), 2);
    assert.ok(!(await page.content()).includes(id.slice(0, 12)));
    assert.ok(!record.requests.join("\n").includes(id.slice(0, 12)));
  });

  test("publishes a function, lists it, calls it, tears its namespace down", async () => {
    await page.getByText("Publish", { exact: true }).first().click();
    await page.getByLabel("function id").fill("ui-test::greet");
    await page.getByLabel("description").fill("Greets.");
    await page.getByRole("button", { name: "Publish", exact: true }).click();
    await settled();
    assert.match(await part("namespace").innerText(), /ui-test::/);
    const item = page
      .getByRole("region", { name: "live functions" })
      .getByRole("listitem")
      .filter({ hasText: "ui-test::greet" });
    await item.waitFor();
    assert.match(await item.innerText(), /Greets\./);
    await item.getByRole("button", { name: "call ui-test::greet" }).click();
    await item.getByLabel("payload").fill('{"name":"Ada"}');
    await item.getByRole("button", { name: "Call", exact: true }).click();
    await newest().getByText('"hello": "Ada"').waitFor();
    await item.getByRole("button", { name: "tear down ui-test::" }).click();
    await settled();
    assert.match(await part("gone").innerText(), /ui-test::greet/);
    await item.waitFor({ state: "detached" });
    await page.getByText("Run", { exact: true }).first().click();
  });

  test(REAL ? "runs Python" : "shows a failure of the infrastructure as an error", async () => {
    await page.getByText("Python", { exact: true }).click();
    await run("print('from python')\nresult = {'squares': [n * n for n in range(4)]}");
    if (REAL) {
      assert.match(await part("result").innerText(), /"squares"[^]*9/);
      assert.match(await part("stdout").innerText(), /from python/);
    } else {
      assert.match(await part("error").innerText(), /code-runner::engine[^]*python engine failed to start/);
    }
  });

  test("shows the raw payload on request, filtered", async () => {
    await newest().getByRole("button", { name: "raw json" }).click();
    assert.match(await newest().innerText(), /request[^]*"lang": "python"[^]*response/);
  });

  test("comes back when the bus connection is lost", async () => {
    const other = await openPage(browser.context);
    await other.page.routeWebSocket(/\/bus$/, async (socket) => {
      other.sockets = [...(other.sockets ?? []), socket];
      socket.connectToServer();
    });
    await other.page.goto(backend.url);
    await other.page.getByText("connected", { exact: true }).waitFor();
    await other.sockets[0].close();
    await other.page.getByText("not connected, trying again").waitFor();
    await other.page.getByText("connected", { exact: true }).waitFor();
    assert.equal(other.sockets.length, 2);
    await other.page.close();
  });

  test("fits a phone, follows the theme button, and stays silent", async () => {
    await page.setViewportSize({ width: 320, height: 700 });
    assert.equal(
      await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth),
      0,
    );
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await background();
    await page.getByRole("button", { name: "dark theme" }).click();
    assert.notEqual(await background(), light);
    assert.deepEqual([record.console, record.errors, record.failed], [[], [], []]);
    const place = new URL(backend.url).host;
    assert.deepEqual(
      record.requests.filter((each) => new URL(each.split(" ")[0]).host !== place),
      [],
    );
  });
});

test("the console page lives below its token only", async () => {
  const { origin } = new URL(backend.url);
  assert.notEqual((await fetch(`${origin}/`)).status, 200);
  assert.notEqual((await fetch(`${origin}/${"0".repeat(32)}/`)).status, 200);
  const reply = await fetch(backend.url);
  assert.equal(reply.status, 200);
  assert.match(reply.headers.get("content-security-policy"), /default-src 'none'.*script-src 'self' 'sha256-/);
});
