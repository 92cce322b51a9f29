/* Serves the stand-in host, and the stand-in console, on loopback and under the strict content policy. */
import { createHash, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname } from "node:path";
import { DIST } from "./assets.mjs";

const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".css": "text/css",
  ".txt": "text/plain",
};
const HOST = new URL("host/", import.meta.url);
const CONSOLE = new URL("console/", DIST);

const policy = (scripts) =>
  `default-src 'none'; script-src 'self' ${scripts}; style-src 'self'; connect-src 'self'; img-src 'self'`;

async function file(root, name) {
  if (!/^[a-z0-9-]+(?:[./][a-z0-9-]+)*$/.test(name)) throw new Error("no such file");
  return { content: await readFile(new URL(name, root)), content_type: `${TYPES[extname(name)]}; charset=utf-8` };
}

async function sendAsset(source, path, request, response) {
  const { content, content_type } = await source(path);
  const tag = `"${createHash("sha256").update(content).digest("hex").slice(0, 16)}"`;
  response.setHeader("Cache-Control", "no-cache").setHeader("ETag", tag);
  if (request.headers["if-none-match"] === tag) return response.writeHead(304).end();
  return response.setHeader("Content-Type", content_type).end(content);
}

async function listen(handler) {
  const server = createServer((request, response) => {
    handler(new URL(request.url, "http://localhost").pathname, request, response).catch(() =>
      response.writeHead(404).end(),
    );
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { server, origin: `http://127.0.0.1:${server.address().port}`, close };
}

/** The page that does what a console does to injected scripts; `source` says where those come from. */
export function serveHost(source) {
  return listen(async (path, request, response) => {
    const nonce = randomBytes(16).toString("base64");
    response.setHeader("Content-Security-Policy", policy(`'nonce-${nonce}'`));
    if (path === "/favicon.ico") return response.writeHead(204).end();
    if (path.startsWith("/ui/")) return sendAsset(source, path.slice(4), request, response);
    const name = path.slice(1) || "page.html";
    const fromConsole = name.startsWith("vendor/") || name === "tokens.css";
    const { content, content_type } = await file(fromConsole ? CONSOLE : HOST, name);
    response.setHeader("Content-Type", content_type);
    return response.end(name === "page.html" ? String(content).replaceAll("NONCE", nonce) : content);
  });
}

/** The stand-in console under `/<token>/`, as the worker serves it; `onUpgrade` gets the sockets of `/<token>/bus`. */
export async function serveConsole(source, onUpgrade) {
  const token = randomBytes(16).toString("hex");
  const csp = await readFile(new URL("policy.txt", CONSOLE), "utf8");
  const served = await listen(async (path, request, response) => {
    response.setHeader("Content-Security-Policy", csp);
    if (path === "/favicon.ico") return response.writeHead(204).end();
    if (!path.startsWith(`/${token}/`)) return response.writeHead(404).end();
    const name = path.slice(token.length + 2) || "index.html";
    if (name.startsWith("ui/")) return sendAsset(source, name.slice(3), request, response);
    const { content, content_type } = await file(CONSOLE, name);
    return response.setHeader("Content-Type", content_type).end(content);
  });
  served.server.on("upgrade", (request, socket, head) => {
    if (new URL(request.url, "http://localhost").pathname === `/${token}/bus`) onUpgrade(request, socket, head);
    else socket.destroy();
  });
  return { ...served, url: `${served.origin}/${token}/` };
}
