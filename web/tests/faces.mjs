// The faces against what they stand in for: pdf.js's own OpenJPEG, from Firefox, and Cornerstone's interface.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { bytesOf, fresh, lift2k, OMNI, PACKAGE, random, randomPixels, unpackPdfjs } from "./native.mjs";

const here = (name) => import(join(PACKAGE, name));
const { Codec } = await here("lift2k.js");
let codec;

before(async () => (codec = await Codec.create()));

test("pdf.js: the same pixels as its own module", { skip: !existsSync(OMNI) }, async () => {
  const folder = fresh("pdfjs"), pdfjs = unpackPdfjs(folder), source = readFileSync(join(pdfjs, "build/pdf.worker.mjs"), "utf8");
  const from = source.indexOf("async function OpenJPEG("), wasm = await WebAssembly.compile(readFileSync(join(pdfjs, "web/wasm/openjpeg.wasm")));
  writeFileSync(join(folder, "theirs.mjs"), `${source.slice(from, source.indexOf("/* harmony", from))}\nexport default OpenJPEG;`);
  const theirFactory = (await import(join(folder, "theirs.mjs"))).default;
  const instantiateWasm = (module) => (imports, done) => void WebAssembly.instantiate(module, imports).then(done);
  let theirs = null, compared = 0;
  const ourFactory = (await here("faces/pdfjs.js")).default;
  const ours = await ourFactory({ warn() {}, instantiateWasm: instantiateWasm(await WebAssembly.compile(readFileSync(join(PACKAGE, "lift2k-decode.wasm")))) });
  const decode = (module, bytes, ...values) => {
    const at = module._malloc(bytes.length);
    module.writeArrayToMemory(bytes, at);
    const failed = module._jp2_decode(at, bytes.length, ...values), { imageData } = module;
    module._free(at);
    module.imageData = null;
    return failed ? null : imageData;
  };
  const files = [];
  for (let seed = 0; seed < 200; seed++) {
    const r = random(seed), pixels = randomPixels(r);
    pixels.components = r.one([1, 3, 4]);
    pixels.data = pixels.data.slice(0, pixels.width * pixels.components * Math.floor(pixels.data.length / pixels.width / pixels.components));
    pixels.height = pixels.data.length / pixels.width / pixels.components;
    if (!pixels.height || pixels.signed) continue;
    const colour = r.one({ 1: ["gray"], 3: ["srgb", "sycc"], 4: ["srgb", "cmyk"] }[pixels.components]);
    const bytes = await codec.encode({ ...pixels, colour, opacity: colour === "srgb" && pixels.components === 4 }, { ht: r.chance(0.3), format: r.one(["jp2", "jp2", "codestream"]), levels: 3 });
    for (const wanted of [0, pixels.components])
      for (const smask of colour === "cmyk" ? [false] : [false, true]) files.push([`${seed} ${colour} ${pixels.bits} ${wanted} ${smask}`, bytes, wanted, false, smask, colour === "cmyk" ? 0 : r.below(2)]);
  }
  const palette = join(folder, "palette.jp2"), png = join(folder, "palette.png");
  const made = spawnSync("python3", ["-c", "import struct, sys, zlib\ndef chunk(t, d): return struct.pack('>I', len(d)) + t + d + struct.pack('>I', zlib.crc32(t + d))\nw, h = 40, 30\nrows = b''.join(b'\\0' + bytes((x * y) % 7 for x in range(w)) for y in range(h))\nopen(sys.argv[1], 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', w, h, 8, 3, 0, 0, 0)) + chunk(b'PLTE', bytes(range(21))) + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))", png]);
  assert.equal(made.status, 0, String(made.stderr));
  assert.equal(lift2k("encode", png, palette, "--palette").status, 0);
  for (const indexed of [false, true]) files.push([`palette ${indexed}`, readFileSync(palette), indexed ? 1 : 3, indexed, false, 0]);
  // OpenJPEG leaves its memory with a few of these pictures, and its instance is of no use afterwards.
  for (const [name, ...values] of files) {
    theirs ??= await theirFactory({ warn() {}, instantiateWasm: instantiateWasm(wasm) });
    const got = decode(ours, ...values);
    assert.ok(got, `${name}: ${ours.errorMessages}`);
    let expected = null;
    try {
      expected = decode(theirs, ...values);
    } catch (failure) {
      if (!(failure instanceof WebAssembly.RuntimeError)) throw failure;
    }
    if (!expected) {
      theirs = null;
      continue;
    }
    compared++;
    assert.equal(got.length, expected.length, name);
    const other = got.findIndex((value, i) => value !== expected[i]);
    assert.equal(other, -1, `${name}: sample ${other} is ${got[other]} in place of ${expected[other]}`);
  }
  assert.ok(compared > 0.98 * files.length && compared > 300, `${compared} of ${files.length}`);
  delete ours.errorMessages;
  assert.equal(decode(ours, new Uint8Array(100), 3, false, false, 0), null);
  assert.match(ours.errorMessages, /neither a JP2 file/);
});

test("Cornerstone: encoders and decoders, all of their methods", async () => {
  const data = new Int16Array(512 * 400).map((_, i) => ((i % 512) * (i >> 9)) % 4000 - 2000), raw = bytesOf(data);
  const frame = { width: 512, height: 400, bitsPerSample: 16, componentCount: 1, isSigned: true };
  for (const [name, kind] of [["codec-openjpeg", "J2K"], ["codec-openjph", "HTJ2K"]]) {
    const codec = await (await here(`faces/${name}.js`)).default();
    assert.match(codec.getVersion(), /^\d+\.\d+/);
    const encoder = new codec[`${kind}Encoder`]();
    encoder.getDecodedBuffer(frame).set(raw);
    encoder.setDecompositions(3);
    encoder.setProgressionOrder(0);
    encoder.setBlockDimensions({ width: 32, height: 16 });
    encoder.setTileSize({ width: 300, height: 200 });
    encoder.setTileOffset({ x: 0, y: 0 });
    encoder.setImageOffset({ x: 8, y: 4 });
    encoder.setNumPrecincts(2);
    encoder.setPrecinct(0, { width: 64, height: 64 });
    encoder.setPrecinct(1, { width: 128, height: 256 });
    encoder.setDownSample(0, { x: 1, y: 1 });
    encoder.encode();
    const encoded = encoder.getEncodedBuffer(), decoder = new codec[`${kind}Decoder`]();
    decoder.getEncodedBuffer(encoded.length).set(encoded);
    decoder.readHeader();
    assert.deepEqual(decoder.getFrameInfo(), { ...frame, isUsingColorTransform: false });
    decoder.decode();
    assert.ok(bytesOf(decoder.getDecodedBuffer()).equals(raw));
    assert.deepEqual([decoder.getNumDecompositions(), decoder.getIsReversible(), decoder.getProgressionOrder(), decoder.getNumLayers()], [3, true, 0, 1]);
    assert.deepEqual([decoder.getImageOffset(), decoder.getTileOffset()], [{ x: 8, y: 4 }, { x: 0, y: 0 }]);
    assert.deepEqual([decoder.getTileSize(), decoder.getBlockDimensions()], [{ width: 300, height: 200 }, { width: 32, height: 16 }]);
    assert.deepEqual([decoder.getPrecinct(0), decoder.getPrecinct(3), decoder.getDownSample(0)], [{ width: 64, height: 64 }, { width: 128, height: 256 }, { x: 1, y: 1 }]);
    assert.deepEqual(decoder.calculateSizeAtDecompositionLevel(2), { width: 128, height: 100 });
    decoder.decodeSubResolution(1, 0);
    assert.equal(decoder.getDecodedBuffer().length, 256 * 200 * 2);
    decoder.getEncodedBuffer(8).set([1, 2, 3, 4, 5, 6, 7, 8]);
    if (kind === "J2K") {
      assert.equal(decoder.getColorSpace(), 2);
      assert.throws(() => decoder.decode());
      encoder.setQuality(false, 2);
      encoder.setCompressionRatio(0, 20);
      encoder.setCompressionRatio(1, 8);
      encoder.encode();
      assert.ok(Math.abs(encoder.getEncodedBuffer().length - raw.length / 8) < raw.length / 100);
      encoder.setDecompositions(40);
      assert.throws(() => encoder.encode());
      assert.equal(encoder.getEncodedBuffer().length, 0);
    } else {
      decoder.decode();
      assert.equal(decoder.getIsHeaderValid(), false);
      assert.notEqual(decoder.getLastErrorMessage(), "");
      assert.equal(decoder.getFrameInfo().width, 0);
      encoder.setQuality(false, 0.01);
      encoder.setTLMMarker(true);
      encoder.setTilePartDivisionsAtResolutions(true);
      encoder.setTilePartDivisionsAtComponents(false);
      encoder.encode();
      const smaller = encoder.getEncodedBuffer(), { tlm, ht } = await infoOf(smaller);
      assert.ok(smaller.length < encoded.length / 2 && tlm && ht);
    }
    encoder.delete();
    decoder.delete();
  }
});

const infoOf = (bytes) => codec.info(bytes);
