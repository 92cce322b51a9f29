import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { alias: { "@iii-dev/console-ui": fileURLToPath(new URL("./test/console-ui.tsx", import.meta.url)) } },
  test: { include: ["test/**/*.test.*"], environment: "node" },
});
