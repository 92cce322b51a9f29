/*
 * Check 30, the worker's half: with III_CODE_RUNNER_UI_WATCH a changed file is announced anew before the old announcement is
 * withdrawn, and its new bytes are served.
 */
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { connectBus } from "./assets.mjs";
import { openBackend, REAL } from "./backend.mjs";

const dist = fileURLToPath(new URL("../../ui/dist", import.meta.url));

async function eventually(check) {
  for (let waited = 0; waited < 10_000; waited += 50) {
    const found = check();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("it never came");
}

test("check 30: a changed page.js is announced before the old one is withdrawn", { skip: !REAL && "needs the real worker" }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "code-runner-watch-"));
  for (const file of ["page.js", "styles.css"]) cpSync(join(dist, file), join(folder, file));
  process.env.III_CODE_RUNNER_UI_WATCH = folder;
  const backend = await openBackend();
  delete process.env.III_CODE_RUNNER_UI_WATCH;
  const bus = await connectBus(backend.url);
  try {
    bus.provide("console:script");
    const first = await eventually(() => bus.order.find((frame) => frame.type === "registertrigger"));
    assert.deepEqual(first.config, { path: "code-runner/page.js" });
    writeFileSync(join(folder, "page.js"), "export const edited = true;\n");
    await eventually(() => bus.order.length >= 3);
    const [, second, withdrawn] = bus.order;
    assert.equal(second.type, "registertrigger");
    assert.deepEqual(second.config, { path: "code-runner/page.js" });
    assert.notEqual(second.id, first.id);
    assert.deepEqual([withdrawn.type, withdrawn.id], ["unregistertrigger", first.id]);
    const served = await bus.call("code-runner::ui-content", { path: "code-runner/page.js" });
    assert.equal(served.content, "export const edited = true;\n");
  } finally {
    bus.close();
    await backend.close();
    rmSync(folder, { recursive: true });
  }
});
