// node --experimental-wasm-relaxed-simd --no-experimental-fetch bench/web.mjs PICTURE... [-- OPENJPH]
// The decoder of scripts/web.sh's package beside OpenJPEG as Firefox's pdf.js has it, and OpenJPH (OPENJPH: the folder html of its
// subprojects/js, built). PICTURE is any that `lift2k encode` reads. Milliseconds, least of 15 by turns, one thread, from bytes to
// an array of samples, which JavaScript makes of OpenJPH's lines; then two threads.
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fresh, lift2k, PACKAGE, unpackPdfjs } from "../web/tests/native.mjs";

const { Codec } = await import(join(PACKAGE, "lift2k.js")), { Engine, compile } = await import(join(PACKAGE, "engine.js"));
const words = process.argv.slice(2), end = words.indexOf("--"), pictures = end < 0 ? words : words.slice(0, end);
const folder = fresh("bench"), html = join(unpackPdfjs(folder), "web/wasm/"), wasm = (name) => compile(readFileSync(name));
const instantiate = (module) => ({ instantiateWasm: (imports, done) => void WebAssembly.instantiate(module, imports).then(done), warn() {} });

const source = readFileSync(join(html, "../../build/pdf.worker.mjs"), "utf8"), from = source.indexOf("async function OpenJPEG(");
writeFileSync(join(folder, "theirs.mjs"), `${source.slice(from, source.indexOf("/* harmony", from))}\nexport default OpenJPEG;`);
const openjpeg = await (await import(join(folder, "theirs.mjs"))).default(instantiate(await wasm(join(html, "openjpeg.wasm"))));
const put = (m, bytes) => { const at = m._malloc(bytes.length); m.writeArrayToMemory(bytes, at); return at; };
const decoders = { OpenJPEG(bytes) {
  const at = put(openjpeg, bytes), failed = openjpeg._jp2_decode(at, bytes.length, 0, false, false, 0);
  openjpeg._free(at);
  if (failed) throw new Error(openjpeg.errorMessages);
} };
if (end >= 0) {
  globalThis.document = { currentScript: null }; // its glue is for pages
  const m = await (await import(join(words[end + 1], "libopenjph_simd.js"))).default(instantiate(await wasm(join(words[end + 1], "libopenjph_simd.wasm"))));
  decoders.OpenJPH = (bytes) => {
    const at = put(m, bytes), it = m._create_j2c_data();
    m._init_j2c_data(it, at, bytes.length);
    m._parse_j2c_data(it);
    const width = m._get_j2c_width(it, 0), height = m._get_j2c_height(it, 0), n = m._get_j2c_num_components(it);
    const data = new (m._get_j2c_bit_depth(it, 0) > 8 ? Uint16Array : Uint8Array)(width * height * n);
    for (let y = 0; y < height; y++)
      for (let c = 0; c < n; c++)
        for (let x = 0, line = m._pull_j2c_line(it) >> 2, to = y * width * n + c; x < width; x++, to += n) data[to] = m.HEAP32[line + x];
    m._release_j2c_data(it);
    m._free(at);
  };
}
const engine = new Engine(await wasm(join(PACKAGE, "lift2k-decode.wasm"))), threaded = await Codec.create({ threads: 2 });
console.log("| picture | coding | lift2k | OpenJPEG | OpenJPH | two threads |\n|---|---|---|---|---|---|");
for (const picture of pictures)
  for (const [coding, rival, ...options] of [["MQ 5/3", "OpenJPEG"], ["MQ 9/7, 12:1", "OpenJPEG", "--rate", "12"], ["HT 5/3", "OpenJPH", "--ht"], ["HT 9/7", "OpenJPH", "--ht", "-I"]]) {
    const file = join(folder, "coded.j2c"), best = {}, ways = { lift2k: (b) => engine.call("decode", b), [rival]: decoders[rival], two: (b) => threaded.decode(b) };
    if (lift2k("encode", picture, file, ...options).status) throw new Error(`${picture}: ${coding}`);
    for (let turn = 0, bytes = readFileSync(file); turn < 15; turn++)
      for (const [name, decode] of Object.entries(ways)) {
        const start = performance.now();
        if (decode) await decode(bytes), (best[name] = Math.min(best[name] ?? Infinity, performance.now() - start));
      }
    const beside = (name) => (best[name] ? `${best[name].toFixed(1)} (${(best.lift2k / best[name]).toFixed(2)})` : "-");
    console.log(`| ${basename(picture)} | ${coding} | ${best.lift2k.toFixed(1)} | ${beside("OpenJPEG")} | ${beside("OpenJPH")} | ${best.two.toFixed(1)} (${(best.two / best.lift2k).toFixed(2)}) |`);
  }
process.exit(0);
