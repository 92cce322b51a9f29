/* Draws every card, the form and the console in both themes into build/ui-shots/, to be looked at; compares nothing. */
import { mkdir, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { fromDist } from "./assets.mjs";
import { openBackend } from "./backend.mjs";
import { openBrowser, openHost, openPage, show } from "./browser.mjs";
import { fixtures } from "./fixtures.mjs";
import { serveHost } from "./server.mjs";

const OUT = fileURLToPath(new URL("../../build/ui-shots/", import.meta.url));
await rm(OUT, { recursive: true, force: true });
await mkdir(OUT, { recursive: true });

const cards = fixtures.filter(({ form }) => !form);
const served = await serveHost(fromDist);
const browser = await openBrowser();
try {
  const { page } = await openHost(browser.context, served.origin);
  await page.evaluate(() => document.getElementById("outside").remove());
  const shoot = (name, theme) => page.screenshot({ path: `${OUT}${name}-${theme}.png`, fullPage: true });
  for (const theme of ["light", "dark"]) {
    await page.evaluate((name) => (document.documentElement.dataset.theme = name), theme);
    await page.setViewportSize({ width: 800, height: 300 });
    for (const { name, message } of cards) {
      await show(page, message);
      await shoot(name, theme);
    }
    await page.evaluate(() =>
      standin.showForm({
        value: { max_timeout_ms: 100, heap_mb: "${HEAP}" },
        errors: { "/heap_mb": "must be a number", "": "the entry was changed elsewhere" },
      }),
    );
    await shoot("form", theme);
    await page.setViewportSize({ width: 1600, height: 900 });
    for (const op of new Set(cards.map((each) => each.op))) {
      await page.evaluate(
        (text) => standin.gallery(JSON.parse(text)),
        JSON.stringify(cards.filter((each) => each.op === op)),
      );
      await shoot(`all-${op.split("::")[1]}`, theme);
    }
  }
  await shootConsole();
} finally {
  await browser.close();
  await served.close();
}

async function shootConsole() {
  const backend = await openBackend();
  const { page } = await openPage(browser.context);
  const settled = () => page.locator('.call [data-cr-state="settled"]').first().waitFor();
  try {
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(backend.url);
    await page.getByRole("region", { name: "live functions" }).getByText("code-runner::run").first().waitFor();
    await page.getByText("Publish", { exact: true }).first().click();
    await page.getByLabel("description").fill("Says hello to whoever is named.");
    await page.getByRole("button", { name: "Publish", exact: true }).click();
    await settled();
    await page.getByText("Run", { exact: true }).first().click();
    await page.getByLabel("runtime", { exact: true }).selectOption("keep");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.locator(".call").nth(1).waitFor();
    await settled();
    for (const theme of ["light", "dark"]) {
      await page.evaluate((name) => (document.documentElement.dataset.theme = name), theme);
      await page.screenshot({ path: `${OUT}console-${theme}.png` });
    }
    await page.setViewportSize({ width: 360, height: 900 });
    await page.screenshot({ path: `${OUT}console-phone-dark.png` });
  } finally {
    await page.close();
    await backend.close();
  }
}
console.log(`screenshots in build/ui-shots (${cards.length} cards, 2 themes)`);
