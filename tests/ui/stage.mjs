/* One browser and one stand-in host for the tests of a file. */
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { fromDist } from "./assets.mjs";
import { openBrowser, openHost } from "./browser.mjs";
import { serveHost } from "./server.mjs";

export function setStage() {
  const stage = { browser: undefined, origin: undefined, onHost };
  let served;
  before(async () => {
    served = await serveHost(fromDist);
    stage.origin = served.origin;
    stage.browser = await openBrowser();
  });
  after(async () => {
    await stage.browser?.close();
    await served?.close();
  });

  /** Runs `body` on a fresh page and checks that it stayed silent, unbroken and free of ids. */
  async function onHost(body, { context = stage.browser.context, expectLeak = false } = {}) {
    const host = await openHost(context, stage.origin);
    try {
      await body(host.page, host);
      const { console: messages, errors, failed } = host.record;
      assert.deepEqual({ messages, errors, failed }, { messages: [], errors: [], failed: [] });
      if (!expectLeak) assert.deepEqual(await host.probe(), []);
    } finally {
      await host.page.close();
    }
  }
  return stage;
}

export const part = (page, hook) => page.locator(`[data-cr="${hook}"]`);
