/*
 * Builds the stand-in console: a static set of files that expects the injected assets under `ui/` and the bus at `bus`,
 * both relative to its own address. See docs/console-ui.md for what a server of it has to do.
 */
import * as esbuild from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const out = "dist/console";

const MODULES = {
  react: { file: "react.js", from: "react" },
  "react-dom": { file: "react-dom.js", from: "reactDom" },
  "react-dom/client": { file: "react-dom-client.js", from: "reactDomClient" },
  "react/jsx-runtime": { file: "jsx-runtime.js", from: "jsxRuntime" },
};

const common = {
  bundle: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  minify: true,
  legalComments: "none",
  logLevel: "warning",
  define: { "process.env.NODE_ENV": '"production"' },
};

export async function buildConsole() {
  mkdirSync(`${out}/vendor`, { recursive: true });
  await esbuild.build({
    ...common,
    stdin: {
      contents: Object.entries(MODULES)
        .map(([name, { from }]) => `export { default as ${from} } from "${name}";`)
        .join("\n"),
      resolveDir: ".",
    },
    outfile: `${out}/vendor/react-all.js`,
  });
  for (const [name, module] of Object.entries(MODULES))
    writeFileSync(`${out}/vendor/${module.file}`, reexport(name, module.from));
  await esbuild.build({
    ...common,
    entryPoints: ["console/console.tsx", "console/console.css", "console/tokens.css"],
    outdir: out,
    jsx: "automatic",
    external: [...Object.keys(MODULES), "@iii-dev/console-ui"],
  });
  await esbuild.build({
    ...common,
    entryPoints: { "console-ui": "console/shared.tsx" },
    outdir: `${out}/vendor`,
    jsx: "automatic",
    external: Object.keys(MODULES),
  });
  writePage();
}

/* React ships CommonJS only, and a page's modules need its names spelled out. */
function reexport(name, from) {
  const names = Object.keys(require(name)).filter(
    (each) => /^[A-Za-z_$][\w$]*$/.test(each) && each !== "default" && !each.startsWith("__"),
  );
  return `import { ${from} as m } from "./react-all.js";\nexport default m;\nexport const { ${names.join(", ")} } = m;\n`;
}

/* The import map has to be inline, so the policy names its hash. */
function writePage() {
  const files = Object.entries(MODULES).map(([name, { file }]) => [name, `./vendor/${file}`]);
  const map = JSON.stringify({
    imports: Object.fromEntries([...files, ["@iii-dev/console-ui", "./vendor/console-ui.js"]]),
  });
  const hash = createHash("sha256").update(map).digest("base64");
  writeFileSync(
    `${out}/index.html`,
    readFileSync("console/index.html", "utf8").replace(
      "<!-- import map -->",
      () => `<script type="importmap">${map}</script>`,
    ),
  );
  writeFileSync(
    `${out}/policy.txt`,
    [
      "default-src 'none'",
      `script-src 'self' 'sha256-${hash}'`,
      "style-src 'self'",
      "connect-src 'self'",
      "img-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
  );
}
