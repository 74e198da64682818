// The modules and the viewer in headless Chromium and Firefox, which make their screenshot once run.mjs is done.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { chromium, conformanceFiles, decodeAll, fresh, lift2k, nativeEncode, OMNI, PACKAGE, random, randomOptions, randomPixels, ROOT, unpackPdfjs, WORK } from "./native.mjs";
import { serve } from "./serve.mjs";

const WIDTH = 18084, HEIGHT = 10173, SPOT = { x: 12345, y: 6789 }, MOST = 4e6;
const CODINGS = Number(process.env.CODINGS ?? 500);
const folder = fresh("browser"), BIG = join(WORK, "big/");
const todo = [{ test: "codings" }, { test: "threads", name: "/coffee.jp2" }];

// The pixel's values follow from its place.
async function makeBig(name, channels, ...options) {
  if (existsSync(BIG + name)) return;
  const command = spawn(process.env.LIFT2K ?? join(ROOT, "build/lift2k"), ["encode", "-", BIG + name, "--quiet", "--ht", "--plt", "-p", "RPCL", ...options],
    { stdio: ["pipe", "inherit", "inherit"] });
  const waves = Array.from({ length: channels }, (_, c) => Int16Array.from({ length: WIDTH }, (_, i) => 11 * Math.sin(i / (40 + 9 * c)) + 9 * Math.cos(i / 777)));
  const write = (data) => new Promise((done) => command.stdin.write(data, done));
  await write(`P${channels === 1 ? 5 : 6}\n${WIDTH} ${HEIGHT}\n255\n`);
  for (let y = 0; y < HEIGHT; y++) {
    const row = Buffer.alloc(WIDTH * channels);
    for (let c = 0; c < channels; c++) for (let x = 0, i = c; x < WIDTH; x++, i += channels) row[i] = 128 + ((waves[c][x] * waves[c][y]) >> 2) + (((x ^ y) & 256) >> 4);
    await write(row);
  }
  command.stdin.end();
  assert.equal(await new Promise((done) => command.on("close", done)), 0);
}

// A PDF with a page for each picture.
function makePdf(name, pictures) {
  const parts = ["%PDF-1.7\n"], offsets = [];
  const object = (text, stream) => {
    offsets.push(parts.reduce((sum, part) => sum + part.length, 0));
    parts.push(`${offsets.length} 0 obj\n${text}\n`, ...(stream ? ["stream\n", stream.toString("latin1"), "\nendstream\n"] : []), "endobj\n");
  };
  object("<< /Type /Catalog /Pages 2 0 R >>");
  object(`<< /Type /Pages /Count ${pictures.length} /Kids [${pictures.map((_, i) => `${3 + 3 * i} 0 R`).join(" ")}] >>`);
  for (const [i, { bytes, width, height, space }] of pictures.entries()) {
    const draw = Buffer.from(`${width} 0 0 ${height} 0 0 cm /I Do`);
    object(`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Contents ${5 + 3 * i} 0 R /Resources << /XObject << /I ${4 + 3 * i} 0 R >> >> >>`);
    object(`<< /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /Filter /JPXDecode ${space} /Length ${bytes.length} >>`, bytes);
    object(`<< /Length ${draw.length} >>`, draw);
  }
  const start = parts.reduce((sum, part) => sum + part.length, 0);
  parts.push(`xref\n0 ${offsets.length + 1}\n0000000000 65535 f \n`, ...offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`),
    `trailer << /Size ${offsets.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`);
  writeFileSync(name, Buffer.from(parts.join(""), "latin1"));
}

async function makePdfs() {
  const { Codec } = await import(join(PACKAGE, "lift2k.js")), codec = await Codec.create(), pictures = [];
  for (const [seed, components, colour, space, options] of [[1, 3, "srgb", "", {}], [2, 3, "srgb", "/ColorSpace /DeviceRGB", { ht: true }],
    [3, 1, "gray", "/ColorSpace /DeviceGray", { lossless: true }], [4, 4, "cmyk", "/ColorSpace /DeviceCMYK", {}], [5, 3, "sycc", "", { format: "jp2" }]]) {
    const width = 200, height = 150, r = random(seed);
    const data = new Uint8Array(width * height * components).map((_, i) => (i / (5 + seed)) % 200 + r.below(9));
    pictures.push({ width, height, space, bytes: Buffer.from(await codec.encode({ width, height, components, data, colour, opacity: false }, options)) });
  }
  codec.dispose();
  makePdf(join(folder, "pictures.pdf"), pictures);
  const pdfjs = unpackPdfjs(join(folder, "pdfjs")), worker = readFileSync(join(pdfjs, "build/pdf.worker.mjs"), "utf8");
  const ours = worker.replace("const openjpeg = (OpenJPEG);", 'import openjpeg from "/faces/pdfjs.js";');
  assert.notEqual(ours, worker);
  writeFileSync(join(pdfjs, "build/ours.worker.mjs"), ours);
  const at = "/pdfjs/chrome/pdfjs/content/";
  todo.push({ test: "pdf", name: "/pictures.pdf", pdfjs: `${at}build/pdf.mjs`, workers: [`${at}build/pdf.worker.mjs`, `${at}build/ours.worker.mjs`],
    wasm: [`${at}web/wasm/`, "/openjpeg/"] });
}

before(async () => {
  const files = [];
  for (let seed = 0; seed < CODINGS; seed++) {
    const r = random(seed), pixels = randomPixels(r), { status, out } = nativeEncode(folder, String(seed), pixels, randomOptions(r, pixels));
    if (status === 0) files.push(out);
  }
  const natives = [...decodeAll(files, folder), ...conformanceFiles().map((file) => decodeAll([file], fresh("conformance"))[0])];
  files.push(...conformanceFiles());
  todo[0].files = natives.map(({ planes }, i) => ({ name: files[i].replace(folder, "/").replace(process.env.CONFORMANCE ?? "-", ""), planes }))
    .filter(({ planes }) => planes).map(({ name, planes }) => ({ name, sha: createHash("sha256").update(planes).digest("hex") }));
  lift2k("encode", join(ROOT, "tests/data/coffee.png"), join(folder, "coffee.jp2"), "--tile", "128,128");
  if (existsSync(OMNI)) await makePdfs();
  if (!existsSync(BIG)) fresh("big");
  await makeBig("untiled.jph", 1, "--levels", "6", "-c", "256,256");
  await makeBig("tiled.jph", 3, "-t", "1024,1024", "--tlm");
  for (const [name, size] of [["untiled.jph", [360, 640]], ["tiled.jph", [800, 600]]]) // a phone's screen, and a window
    todo.push({ test: "view", size, pixels: `/pixels/${name}`, address: `#url=/${name}`, spot: `#url=/${name}&x=${SPOT.x}&y=${SPOT.y}&zoom=1` });
});

// The window of the native decoder that the viewer shows, as RGB.
function expected(name, width, height) {
  const x = Math.round(SPOT.x - width / 2), y = Math.round(SPOT.y - height / 2), out = join(folder, "window.raw");
  const { status, lines } = lift2k("decode", BIG + name, out, "--region", [x, y, x + width, y + height], "--raw", "le,interleaved");
  assert.equal(status, 0, lines);
  const samples = readFileSync(out), n = samples.length / width / height;
  return Buffer.from({ length: width * height * 3 }, () => 0).map((_, i) => samples[n === 1 ? Math.floor(i / 3) : i]);
}

function screenshot(png) {
  const coded = join(folder, "screen.jp2"), out = join(folder, "screen.raw");
  assert.equal(lift2k("encode", png, coded).status, 0);
  lift2k("decode", coded, out, "--raw", "le,interleaved");
  const [, width, height] = /image .*width (\d+), height (\d+)/.exec(String(lift2k("info", coded).stdout)), samples = readFileSync(out);
  return { width: Number(width), channels: samples.length / width / height, samples };
}

async function run(start, png) {
  const results = [], pixels = {};
  const hold = [], server = await serve([PACKAGE, join(ROOT, "web/tests"), folder, BIG, process.env.CONFORMANCE ?? BIG], 0, (request, response) => {
    const path = new URL(request.url, "http://x").pathname;
    if (path === "/hold") hold.push(response);
    else if (path === "/todo") response.end(JSON.stringify(todo));
    else if (path === "/openjpeg/openjpeg.wasm") response.end(readFileSync(join(PACKAGE, "lift2k-decode.wasm")));
    else if (request.method !== "POST") return false;
    else {
      const parts = [];
      request.on("data", (part) => parts.push(part)).on("end", () => {
        response.end();
        const body = Buffer.concat(parts);
        if (path === "/result") results.push({ ...JSON.parse(body), sent: { ...server.paths } });
        else if (path === "/done") hold.forEach((held) => held.writeHead(204).end());
        else pixels[path.slice(8)] = body;
      });
    }
    return true;
  });
  const browser = start(`${server.url}run.html`), limit = setTimeout(() => browser.kill("SIGKILL"), 240000);
  await new Promise((done) => browser.on("close", done).on("error", done));
  clearTimeout(limit);
  server.close();
  check(results, pixels, png);
}

function check(results, pixels, png) {
  assert.deepEqual(results.map(({ test }) => test), todo.map(({ test }) => test));
  for (const result of results) assert.ok(!result.failure, `${result.test}: ${result.failure}`);
  const [codings, threads] = results, views = results.filter(({ test }) => test === "view");
  assert.deepEqual(codings.wrong, []);
  assert.ok(threads.same);
  for (const page of results.find(({ test }) => test === "pdf")?.pages ?? []) assert.deepEqual({ ...page, pixels: 0 }, { pixels: 0, blank: false, other: -1 });
  for (const [i, name] of ["untiled.jph", "tiled.jph"].entries()) {
    const { width, height, sent, cost } = views[i], window = expected(name, width, height), got = pixels[name];
    console.log(`${name}: ${sent[`/${name}`]} bytes sent; the viewer says ${cost}`);
    assert.ok(sent[`/${name}`] <= MOST, `${sent[`/${name}`]} bytes`);
    assert.ok(statSync(BIG + name).size > 5 * MOST);
    assert.equal(got.findIndex((value, k) => k % 4 < 3 && value !== window[3 * (k >> 2) + k % 4]), -1, name);
  }
  const { x, y, width, height } = views[1], window = expected("tiled.jph", width, height), { width: across, channels, samples } = screenshot(png);
  let difference = 0;
  for (let row = 0; row < height - 40; row++) // below it may be the subbands' panel
    for (let k = 0; k < 3 * width; k++) {
      const at = (Math.round(y) + row) * across + Math.round(x) + Math.floor(k / 3);
      difference += Math.abs(samples[channels * at + k % 3] - window[3 * row * width + k]);
    }
  assert.ok(difference / (3 * width * (height - 40)) < 1, `the screenshot differs by ${difference / (3 * width * (height - 40))} on average`);
}

test("Chromium", { timeout: 300000 }, () => run((page) => chromium(page, folder, "--hide-scrollbars", "--force-color-profile=srgb",
  "--force-device-scale-factor=1", "--window-size=900,800", `--screenshot=${join(folder, "chromium.png")}`), join(folder, "chromium.png")));

test("Firefox", { timeout: 300000 }, () => {
  const profile = fresh("browser/firefox"), png = join(folder, "firefox.png");
  return run((page) => spawn("firefox-esr", ["--headless", "--no-remote", "--profile", profile, "--window-size=900,800", "--screenshot", png, page],
    { stdio: "ignore", env: { ...process.env, HOME: folder } }), png);
});
