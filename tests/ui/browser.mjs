/* An installed Chromium with a profile of its own, and the probe that looks for runtime ids in everything a page has. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { NEEDLES } from "./fixtures.mjs";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** `secure: false` takes the asynchronous clipboard away, as on a page served in plain HTTP on a local network. */
export async function openBrowser({ secure = true, ...options } = {}) {
  const profile = await mkdtemp(join(tmpdir(), "code-runner-ui-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    args: FLAGS,
    viewport: { width: 900, height: 900 },
    permissions: ["clipboard-read", "clipboard-write"],
    ...options,
  });
  if (!secure) {
    await context.addInitScript(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  }
  const close = async () => {
    await context.close();
    await rm(profile, { recursive: true, force: true });
  };
  return { context, close };
}

/** A page whose every message, error and request is on record. */
export async function openPage(context) {
  const page = await context.newPage();
  const record = { console: [], errors: [], failed: [], requests: [] };
  page.on("console", (message) => record.console.push(message.text()));
  page.on("pageerror", (error) => record.errors.push(String(error)));
  page.on("requestfailed", (request) => record.failed.push(request.url()));
  page.on(
    "response",
    (response) => response.status() >= 400 && record.failed.push(`${response.status()} ${response.url()}`),
  );
  page.on("request", (request) => record.requests.push(`${request.url()} ${request.postData() ?? ""}`));
  page.on("websocket", (socket) => record.requests.push(socket.url()));
  return { page, record };
}

/** Opens the stand-in host with the bundle loaded and the watch for ids running. */
export async function openHost(context, origin) {
  const { page, record } = await openPage(context);
  await page.goto(`${origin}/`);
  await page.waitForFunction(() => "standin" in globalThis);
  await watchForIds(page);
  await page.evaluate(async () => {
    await standin.loadStyle("one");
    await standin.load("one");
  });
  return { page, record, probe: () => probe(page, record) };
}

/** Shows a message's card. It travels as JSON text: the driver's own encoding cannot carry deep nesting. */
export function show(page, message) {
  return page.evaluate((text) => standin.show(JSON.parse(text)), JSON.stringify(message));
}

/* Searches the document on every change, so that an id which appears for an instant is caught too. */
function watchForIds(page) {
  return page.evaluate((needles) => {
    globalThis.seenIds = [];
    const look = () => {
      const text = document.documentElement.outerHTML.toLowerCase();
      seenIds.push(...needles.filter((needle) => text.includes(needle)));
    };
    new MutationObserver(look).observe(document, {
      subtree: true,
      childList: true,
      characterData: true,
      attributes: true,
    });
  }, NEEDLES);
}

/** The places in which an id was found; empty when nothing leaked. */
export async function probe(page, record) {
  const places = await page.evaluate(() => ({
    document: document.documentElement.outerHTML,
    controls: [...document.querySelectorAll("input, textarea, select")].map((each) => each.value).join("\n"),
    title: document.title,
    address: location.href,
    storage: JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, history.state]),
    instants: (globalThis.seenIds ?? []).join("\n"),
  }));
  const session = await page.context().newCDPSession(page);
  places.accessibility = JSON.stringify(await session.send("Accessibility.getFullAXTree"));
  await session.detach();
  places.console = record.console.join("\n");
  places.requests = record.requests.join("\n");
  return Object.keys(places).filter((place) => NEEDLES.some((needle) => places[place].toLowerCase().includes(needle)));
}
