/* Bundles the two assets the console injects, and the stand-in console. `--watch` rebuilds the assets on change. */
import * as esbuild from "esbuild";
import { statSync } from "node:fs";
import { relative } from "node:path";
import { buildConsole } from "./console/build.mjs";

const here = import.meta.dirname ?? new URL(".", import.meta.url).pathname;
process.chdir(here);

/* Exactly the names the console's import map serves; an entry of esbuild's own list would let subpaths through too. */
const SHARED = ["react", "react-dom", "react-dom/client", "react/jsx-runtime", "@iii-dev/console-ui"];
const shared = {
  name: "shared modules",
  setup(build) {
    build.onResolve({ filter: /^(react|@iii-dev)/ }, ({ path }) =>
      SHARED.includes(path)
        ? { path, external: true }
        : { errors: [{ text: `${path} is not in the console's import map` }] },
    );
  },
};

const BUDGET = { "dist/page.js": 60 * 1024, "dist/styles.css": 20 * 1024 };

const watch = process.argv.includes("--watch");
const options = {
  entryPoints: ["page.tsx", "styles.css"],
  outdir: "dist",
  bundle: true,
  format: "esm",
  jsx: "automatic",
  /* Old enough that nesting in the style sheet is flattened: a plain scope on every rule is easy to check. */
  target: ["chrome111", "firefox113", "safari16.4"],
  charset: "utf8",
  legalComments: "none",
  minify: !watch,
  plugins: [shared],
  logLevel: "info",
};

if (watch) {
  const context = await esbuild.context(options);
  await context.watch();
} else {
  await esbuild.build({ ...options, logLevel: "warning" });
  await buildConsole();
  report();
}

function report() {
  let over = false;
  for (const [file, budget] of Object.entries(BUDGET)) {
    const { size } = statSync(file);
    over ||= size > budget;
    console.log(
      `${relative("dist", file).padEnd(12)} ${String(size).padStart(6)} bytes of ${budget}${size > budget ? "  OVER BUDGET" : ""}`,
    );
  }
  if (over) process.exit(1);
}
