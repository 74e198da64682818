// A static server that answers ranges. node serve.mjs FOLDER... [PORT]: a path is looked for in each folder.
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".wasm": "application/wasm",
  ".json": "application/json", ".pdf": "application/pdf" };

function find(folders, path) {
  for (const folder of folders) {
    const name = join(folder, normalize(path)), found = statSync(name, { throwIfNoEntry: false });
    if (found?.isFile()) return { name, size: found.size };
    if (found?.isDirectory()) return find([folder], join(path, "index.html"));
  }
  return null;
}

// `answer(request, response)` may take a request instead. `sent` counts bytes of files, `paths` those of each path.
export async function serve(folders, port = 0, answer = () => false) {
  const state = { sent: 0, paths: {} };
  const server = createServer((request, response) => {
    if (answer(request, response)) return;
    const path = decodeURIComponent(new URL(request.url, "http://x").pathname), file = find(folders, path);
    if (!file) return response.writeHead(404).end();
    const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "") ?? [];
    const start = Number(from ?? 0), end = Math.min(to ? Number(to) : Infinity, file.size - 1), bytes = end - start + 1;
    if (from && start >= file.size) return response.writeHead(416).end();
    response.writeHead(from ? 206 : 200, { "Content-Type": TYPES[extname(file.name)] ?? "application/octet-stream", "Content-Length": bytes,
      "Accept-Ranges": "bytes", "Cache-Control": "no-store", "Cross-Origin-Opener-Policy": "same-origin",
      "Cross-Origin-Embedder-Policy": "require-corp", ...(from && { "Content-Range": `bytes ${start}-${end}/${file.size}` }) });
    if (request.method === "HEAD" || bytes <= 0) return response.end();
    state.sent += bytes;
    state.paths[path] = (state.paths[path] ?? 0) + bytes;
    createReadStream(file.name, { start, end }).pipe(response);
  });
  await new Promise((done) => server.listen(port, "127.0.0.1", done));
  return Object.assign(state, { url: `http://127.0.0.1:${server.address().port}/`, close: () => (server.close(), server.closeAllConnections()) });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folders = process.argv.slice(2), port = /^\d+$/.test(folders.at(-1)) ? Number(folders.pop()) : 8000;
  console.log((await serve(folders, port)).url);
}
