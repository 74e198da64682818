// The native command, to compare with, and random codings.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));
export const PACKAGE = join(ROOT, "build-web/package/");
export const WORK = join(ROOT, "build-web/work/");
const COMMAND = process.env.LIFT2K ?? join(ROOT, "build/lift2k");

export function fresh(name) {
  const folder = join(WORK, name, "/");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

export function lift2k(...values) {
  const { status, stdout, stderr, error } = spawnSync(COMMAND, values, { maxBuffer: 1 << 30 });
  if (error) throw error;
  return { status, stdout, lines: stderr.toString() };
}

// Decodes files to planes without a header; what fails has {lines} alone.
export function decodeAll(files, folder, ...options) {
  const { lines } = lift2k("decode", ...files, "--out-dir", folder, "--ext", "raw", "-j", "1", ...options);
  return files.map((file) => {
    const name = join(folder, basename(file).replace(/\.[^.]*$/, ".raw"));
    return { lines: lines.split("\n").filter((line) => line.includes(file)).join("\n"), planes: existsSync(name) ? readFileSync(name) : null };
  });
}

// The files of the folder that CONFORMANCE names.
export function conformanceFiles() {
  const folder = process.env.CONFORMANCE;
  return folder ? readdirSync(folder, { recursive: true }).map((name) => join(folder, name))
    .filter((name) => /\.(j2k|jp2|jph|j2c|jpc|jhc|jpx)$/.test(name) && statSync(name).size < 2 ** 24) : [];
}

// What `lift2k decode` writes to a .raw file.
export function planar(picture) {
  if (picture.planes) return Buffer.concat(picture.planes.map(({ data }) => bytesOf(data)));
  const { data, components: n } = picture, plane = data.length / n;
  if (n === 1) return bytesOf(data);
  const result = new data.constructor(data.length);
  for (let c = 0; c < n; c++) for (let i = 0; i < plane; i++) result[c * plane + i] = data[i * n + c];
  return bytesOf(result);
}

export function bytesOf(array) {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength);
}

export const OMNI = process.env.OMNI ?? "/usr/lib/firefox-esr/omni.ja";

// pdf.js as Firefox has it, unpacked into a folder.
export function unpackPdfjs(folder) {
  const program = "import sys, zipfile\nz = zipfile.ZipFile(sys.argv[1])\nz.extractall(sys.argv[2], [n for n in z.namelist() if n.startswith('chrome/pdfjs/')])";
  const { status, stderr } = spawnSync("python3", ["-c", program, OMNI, folder]);
  if (status !== 0) throw new Error(String(stderr));
  return join(folder, "chrome/pdfjs/content/");
}

// A headless Chromium on that page; its profile is in the folder.
export function chromium(page, folder, ...options) {
  return spawn("chromium", ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
    `--user-data-dir=${join(folder, "chromium")}`, ...options, page], { stdio: "ignore", env: { ...process.env, HOME: folder } });
}

// ---- Random codings ------------------------------------------------------------------------------------------------

export function random(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return { real: next, below: (n) => Math.floor(next() * n), one: (list) => list[Math.floor(next() * list.length)], chance: (p) => next() < p };
}

const STYLES = ["bypass", "reset", "termall", "vsc", "pterm", "segsym"];

export function randomPixels(r) {
  const width = 1 + r.below(150), height = 1 + r.below(150), components = r.one([1, 1, 2, 3, 3, 4, 5]), bits = 1 + r.below(16), signed = r.chance(0.3);
  const data = new (bits > 8 ? (signed ? Int16Array : Uint16Array) : signed ? Int8Array : Uint8Array)(width * height * components);
  const fx = r.real() / 9, fy = r.real() / 9, noise = r.one([0, 0.02, 0.3]), low = signed ? -(2 ** (bits - 1)) : 0, top = 2 ** bits - 1;
  for (let i = 0; i < data.length; i++) {
    const p = Math.floor(i / components), value = (Math.sin((p % width) * fx + i % components) + Math.cos(Math.floor(p / width) * fy)) / 4 + 0.5;
    data[i] = low + Math.min(Math.max(Math.round((value + (r.real() - 0.5) * noise) * top), 0), top);
  }
  return { width, height, components, bits, signed, data, colour: { 1: "gray", 3: "srgb" }[components] ?? "unknown", opacity: false };
}

// Options of encode() and the same for the command.
export function randomOptions(r, { components }) {
  const o = { format: r.one(["jp2", "codestream"]) }, options = [];
  const add = (values, ...words) => (Object.assign(o, values), options.push(...words.map(String)));
  const power = (from, to) => 2 ** (from + r.below(to - from + 1));
  if (r.chance(0.4)) add({ ht: true }, "--ht");
  if (r.chance(0.4)) add({ lossless: false }, "-I");
  const levels = r.below(7);
  add({ levels }, "--levels", levels);
  if (r.chance(0.4)) {
    const tile = [16 + r.below(120), 16 + r.below(120)];
    add({ tile }, "--tile", tile);
  }
  if (r.chance(0.5)) {
    const width = power(2, 7), block = [width, Math.min(power(2, 7), 4096 / width)];
    add({ block }, "--block", block);
  }
  if (r.chance(0.4)) {
    const precincts = Array.from({ length: 1 + r.below(3) }, () => [power(4, 8), power(4, 8)]);
    add({ precincts }, "--precincts", precincts.flat());
  }
  const progression = r.one(["LRCP", "RLCP", "RPCL", "PCRL", "CPRL"]);
  add({ progression }, "--progression", progression);
  for (const name of ["sop", "eph", "plt", "tlm"]) if (r.chance(0.3)) add({ [name]: 1 }, `--${name}`);
  if (r.chance(0.2)) add({ tileParts: 1 }, "--tile-parts", "R");
  if (o.ht && r.chance(0.3)) add({ htPasses: 3 }, "--ht-passes", 3);
  if (!o.ht && r.chance(0.4)) {
    const style = r.below(64);
    if (style) add({ style }, "--style", STYLES.filter((_, i) => style >> i & 1));
  }
  if (!o.ht && r.chance(0.4)) {
    const ratio = r.one([[4], [20, 5], [30, 10, 1]]);
    add({ lossless: o.lossless ?? true, ratio }, "--rate", ratio);
  } else if (o.ht && o.lossless === false && r.chance(0.5)) {
    const quality = [30 + r.below(15)];
    add({ quality }, "--psnr", quality);
  }
  if (components > 2) {
    const componentTransform = r.below(2);
    add({ componentTransform }, componentTransform ? "--mct" : "--no-mct");
  }
  add({ guardBits: r.one([2, 2, 3]) });
  options.push("--guard-bits", o.guardBits);
  return { o, options: options.map(String), end: o.format === "jp2" ? (o.ht ? "jph" : "jp2") : "j2c" };
}

export function nativeEncode(folder, name, pixels, { options, end }) {
  const raw = join(folder, `${name}.in`), out = join(folder, `${name}.${end}`);
  writeFileSync(raw, bytesOf(pixels.data));
  const { width, height, components, bits, signed } = pixels;
  const shape = `${width},${height},${components},${bits},${signed ? "s" : "u"},le,interleaved`;
  const { status, lines } = lift2k("encode", raw, out, "--raw", shape, "-j", "1", "--quiet", ...options);
  return { out, status, lines };
}
