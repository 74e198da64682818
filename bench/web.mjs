// node --experimental-wasm-relaxed-simd --no-experimental-fetch bench/web.mjs PICTURE... [-- OPENJPH]
// The decoder of scripts/web.sh's package beside OpenJPEG as Firefox's pdf.js has it, and OpenJPH (OPENJPH: the folder html of its
// subprojects/js, built), in Node and in Chromium: one thread, from bytes to an array of samples; then two threads. At last the
// time of new Node processes from their first line to the first picture's samples. PICTURE is any that `lift2k encode` reads.
import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, fresh, lift2k, PACKAGE, ROOT, unpackPdfjs } from "../web/tests/native.mjs";
import { serve } from "../web/tests/serve.mjs";
import { measure } from "./web_measure.mjs";

const CODINGS = [["MQ 5/3", "OpenJPEG"], ["MQ 9/7, 12:1", "OpenJPEG", "-I", "--rate", "12"], ["HT 5/3", "OpenJPH", "--ht"], ["HT 9/7", "OpenJPH", "--ht", "-I"]];
const words = process.argv.slice(2), end = words.indexOf("--"), pictures = end < 0 ? words : words.slice(0, end);
const folder = fresh("bench"), wasm = join(unpackPdfjs(folder), "web/wasm/"), source = readFileSync(join(wasm, "../../build/pdf.worker.mjs"), "utf8");
const from = source.indexOf("async function OpenJPEG(");
writeFileSync(join(folder, "theirs.mjs"), `${source.slice(from, source.indexOf("/* harmony", from))}\nexport default OpenJPEG;`);
copyFileSync(join(wasm, "openjpeg.wasm"), join(folder, "openjpeg.wasm"));
const codings = pictures.flatMap((picture, i) => CODINGS.map(([coding, rival, ...options], k) => {
  const file = join(folder, `${i}_${k}.j2c`);
  if (lift2k("encode", picture, file, ...options).status) throw new Error(`${picture}: ${coding}`);
  return { label: `${basename(picture)} | ${coding}`, rival, file };
}));

const head = (where) => `\n| ${where} | coding | lift2k | OpenJPEG | OpenJPH | two threads |\n|---|---|---|---|---|---|\n`;
const setting = { base: PACKAGE, openjpegAt: folder, openjphAt: end < 0 ? null : join(words[end + 1], "/"), codings, turns: 15 };
console.log(head("Node") + await measure(setting, readFileSync));

const inPage = { ...setting, base: "/", openjpegAt: "/", openjphAt: setting.openjphAt && "/", codings: codings.map((c) => ({ ...c, file: `/${basename(c.file)}` })) };
const page = `<script type="module">import { measure } from "/web_measure.mjs";
  const load = async (name) => new Uint8Array(await (await fetch(name)).arrayBuffer());
  fetch("/done", { method: "POST", body: await measure(${JSON.stringify(inPage)}, load).catch((failure) => failure.stack) });</script>`;
let browser;
const rows = await new Promise((done) => {
  serve([PACKAGE, folder, join(ROOT, "bench"), ...(end < 0 ? [] : [words[end + 1]])], 0, (request, response) => {
    if (request.url === "/page") response.setHeader("Content-Type", "text/html").setHeader("Cross-Origin-Opener-Policy", "same-origin").setHeader("Cross-Origin-Embedder-Policy", "require-corp").end(page);
    if (request.url === "/done") request.on("data", (text) => done(String(text)));
    return ["/page", "/done"].includes(request.url);
  }).then(({ url }) => (browser = chromium(`${url}page`, folder)));
});
browser.kill();
console.log(head("Chromium") + rows);

console.log("\n| first picture, new process | ms |\n|---|---|");
const program = `const start = performance.now(), { Codec } = await import("${PACKAGE}lift2k.js"), fs = await import("node:fs");
await (await Codec.create({ encoder: false })).decode(fs.readFileSync(process.argv[1]));
console.log(performance.now() - start); process.exit(0);`;
for (const { label, file } of codings) {
  const times = Array.from({ length: 9 }, () => Number(spawnSync(process.execPath, [...process.execArgv, "--input-type=module", "-e", program, file]).stdout));
  console.log(`| ${label.replace(" |", ",")} | ${Math.min(...times).toFixed(0)} to ${Math.max(...times).toFixed(0)} |`);
}
process.exit(0);
