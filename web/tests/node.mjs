// The modules in Node against the native command: samples, bytes, errors, ranges.
import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { bytesOf, conformanceFiles, decodeAll, fresh, lift2k, nativeEncode, PACKAGE, planar, random, randomOptions, randomPixels, ROOT } from "./native.mjs";
import { serve } from "./serve.mjs";

const { Codec, Lift2kError } = await import(join(PACKAGE, "lift2k.js"));
const CODINGS = Number(process.env.CODINGS ?? 500);
let codec;

before(async () => (codec = await Codec.create()));
after(() => codec.dispose());

// Native and here: the same samples, or the same line.
async function same(codec, file, native, options = {}) {
  try {
    const picture = await codec.decode(readFileSync(file), options);
    assert.ok(native.planes, `${file}: ${native.lines}`);
    assert.ok(planar(picture).equals(native.planes), `${file}: other samples`);
    return picture;
  } catch (failure) {
    if (!(failure instanceof Lift2kError)) throw failure;
    assert.ok(!native.planes && native.lines.includes(failure.message), `${file}: ${failure.message}\n${native.lines}`);
    return null;
  }
}

test("random codings: bytes and samples as native, with workers too", async () => {
  const folder = fresh("codings"), files = [], workers = await Codec.create({ workers: 2 });
  for (let seed = 0; seed < CODINGS; seed++) {
    const r = random(seed), pixels = randomPixels(r), coding = randomOptions(r, pixels), { o, options } = coding;
    const native = nativeEncode(folder, String(seed), pixels, coding);
    try {
      const bytes = await codec.encode(pixels, o);
      assert.equal(native.status, 0, `${seed}: ${options.join(" ")}: ${native.lines}`);
      assert.ok(bytesOf(bytes).equals(readFileSync(native.out)), `${seed}: other bytes: ${options.join(" ")}`);
      files.push(native.out);
    } catch (failure) {
      if (!(failure instanceof Lift2kError)) throw failure;
      assert.ok(native.status && native.lines.includes(failure.message), `${seed}: ${failure.message}\n${native.lines}`);
    }
  }
  assert.ok(files.length > CODINGS * 0.8, `only ${files.length} codings are possible`);
  const natives = decodeAll(files, folder);
  for (const [i, file] of files.entries()) await same(i % 8 ? codec : workers, file, natives[i]);
  workers.dispose();
});

test("damaged files: as native, and the instance stays usable", async () => {
  const folder = fresh("damaged"), good = readFileSync(join(ROOT, "tests/data/coffee.png")), files = [];
  assert.ok(good.length);
  for (const [kind, ...options] of [["mq"], ["ht", "--ht"], ["jp2"]]) {
    const whole = join(folder, `${kind}${kind === "jp2" ? ".jp2" : ".j2c"}`);
    assert.equal(lift2k("encode", join(ROOT, "tests/data/coffee.png"), whole, "--tile", "200,200", "--levels", "3", ...options).status, 0);
    const bytes = readFileSync(whole);
    for (let seed = 0; seed < 40; seed++) {
      const r = random(seed), copy = Buffer.from(bytes), name = join(folder, `${kind}-${seed}${kind === "jp2" ? ".jp2" : ".j2c"}`);
      for (let i = 0; i < 1 + r.below(6); i++) copy[r.below(r.chance(0.5) ? 300 : copy.length)] = r.below(256);
      writeFileSync(name, r.chance(0.2) ? copy.subarray(0, r.below(copy.length)) : copy);
      files.push(name);
    }
  }
  const natives = decodeAll(files, folder);
  for (const [i, file] of files.entries()) await same(codec, file, natives[i]);
  const [native] = decodeAll([join(folder, "mq.j2c")], folder);
  assert.ok(await same(codec, join(folder, "mq.j2c"), native));
});

test("conformance files, where CONFORMANCE names their folder: as native", { skip: !process.env.CONFORMANCE }, async () => {
  for (const file of conformanceFiles()) await same(codec, file, decodeAll([file], fresh("conformance"))[0], { planes: true });
});

test("threads: the same with 1, 2 and 4", async () => {
  const folder = fresh("threads"), file = join(folder, "coffee.j2c");
  lift2k("encode", join(ROOT, "tests/data/coffee.png"), file, "--tile", "128,128");
  const [native] = decodeAll([file], folder);
  for (const threads of [1, 2, 4]) {
    const own = await Codec.create({ threads });
    await same(own, file, native);
    const pixels = await own.decode(readFileSync(file));
    assert.ok(bytesOf(await own.encode({ ...pixels, colour: "srgb" }, { tile: 128, format: "codestream" })).equals(readFileSync(file)), `${threads} threads: other bytes`);
    own.dispose();
  }
});

test("what decode takes: a region at a lower resolution, components, colour, arrays of the caller", async () => {
  const folder = fresh("options"), file = join(folder, "coffee.jp2"), out = join(folder, "out.raw");
  lift2k("encode", join(ROOT, "tests/data/coffee.png"), file);
  const bytes = readFileSync(file), region = { x: 101, y: 33, width: 300, height: 201 };
  lift2k("decode", file, out, "--reduce", "1", "--region", "101,33,401,234");
  assert.ok(planar(await codec.decode(bytes, { reduce: 1, region })).equals(readFileSync(out)));
  const into = new Uint8Array(600 * 400 * 3), whole = await codec.decode(bytes, { into });
  assert.equal(whole.data, into);
  const blue = await codec.decode(bytes, { components: [2] });
  assert.ok(blue.data.every((value, i) => value === into[3 * i + 2]));
  const shown = await codec.decode(bytes, { rgba: true });
  assert.ok(shown.data.every((value, i) => value === (i % 4 < 3 ? into[3 * (i >> 2) + i % 4] : 255)));
  await assert.rejects(codec.decode(bytes, { into: new Uint8Array(5) }), /the array has 5 bytes/);
  await assert.rejects(codec.decode(bytes, { region: { x: 700, y: 0, width: 1, height: 1 } }), Lift2kError);
  const { width, height, levels, colour, components } = await codec.info(bytes);
  assert.deepEqual({ width, height, levels, colour, n: components.length }, { width: 600, height: 400, levels: 5, colour: "srgb", n: 3 });
});

test("colour to RGBA: as lift2k decode --rgb8", async () => {
  const folder = fresh("colour");
  for (let seed = 0; seed < 60; seed++) {
    const r = random(1000 + seed), components = r.one([1, 2, 3, 4]), pixels = { ...randomPixels(r), components };
    pixels.data = pixels.data.slice(0, Math.floor(pixels.data.length / pixels.width / components) * pixels.width * components);
    pixels.height = pixels.data.length / pixels.width / components;
    if (!pixels.height) continue;
    const colour = r.one(components < 3 ? ["gray"] : components === 4 ? ["srgb", "cmyk"] : ["srgb", "sycc", "esycc"]);
    const file = join(folder, `${seed}.jp2`), out = join(folder, `${seed}.pam`);
    const bytes = await codec.encode({ ...pixels, colour, opacity: components === 2 || (components === 4 && colour === "srgb") }, { levels: 2 });
    writeFileSync(file, bytes);
    await sameColours(file, out, bytes, {}, `${seed}: ${colour}, ${pixels.bits} bits`);
  }
  for (const [x0, y0, dx, dy] of [[0, 0, 2, 2], [1, 3, 2, 1], [5, 0, 3, 2]]) {
    const width = 101, height = 77, r = random(x0), data = (w, h) => new Uint8Array(w * h).map((_, i) => (i * 5 + r.below(40)) & 255);
    const across = Math.ceil((x0 + width) / dx) - Math.ceil(x0 / dx), down = Math.ceil((y0 + height) / dy) - Math.ceil(y0 / dy);
    const planes = [{ data: data(width, height) }, { data: data(across, down), dx, dy }, { data: data(across, down), dx, dy }];
    const bytes = await codec.encode({ width, height, x0, y0, planes, colour: "sycc" }, { levels: 3 }), file = join(folder, "sub.jp2");
    writeFileSync(file, bytes);
    for (const reduce of [0, 1])
      for (const region of [undefined, { x: 7, y: 5, width: 61, height: 43 }])
        await sameColours(file, join(folder, "sub.pam"), bytes, { reduce, region }, `sub-sampled ${[x0, y0, dx, dy, reduce, !!region]}`);
  }
});

async function sameColours(file, out, bytes, { reduce = 0, region }, name) {
  const { x0, y0 } = await codec.info(bytes), { x, y, width, height } = region ?? {};
  const corners = region ? ["--region", [x0 + x, y0 + y, x0 + x + width, y0 + y + height]] : [];
  const { status, lines } = lift2k("decode", file, out, "--rgb8", "--reduce", reduce, ...corners);
  assert.equal(status, 0, lines);
  const shown = await codec.decode(bytes, { rgba: true, reduce, region }), pam = readFileSync(out), n = Number(/DEPTH (\d)/.exec(pam.subarray(0, 200))[1]);
  const native = pam.subarray(pam.indexOf("ENDHDR\n") + 7);
  assert.equal(native.length / n, shown.data.length / 4, name);
  shown.data.forEach((value, i) => {
    const k = i % 4, p = n * (i >> 2), expected = k === 3 ? (n % 2 ? 255 : native[p + n - 1]) : native[p + (n < 3 ? 0 : k)];
    assert.equal(value, expected, `${name}, sample ${i}`);
  });
}

test("a file behind ranges: the bytes that a region needs, counted; abort; no leak", async () => {
  const folder = fresh("ranges"), file = join(folder, "big.jp2"), r = random(5);
  const pixels = { width: 3000, height: 2000, components: 1, data: new Uint8Array(6e6).map(() => r.below(256)) };
  writeFileSync(file, await codec.encode(pixels, { precincts: [[256, 256]], progression: "RPCL", plt: 1 }));
  writeFileSync(join(folder, "tiled.jp2"), await codec.encode(pixels, { tile: 200, levels: 3, plt: 1, tlm: 1 }));
  const server = await serve([folder]), size = statSync(file).size;
  for (const workers of [0, 2]) {
    const own = await Codec.create({ workers, encoder: false });
    const picture = await own.open(`${server.url}big.jp2`), region = { x: 1500, y: 900, width: 256, height: 256 };
    const before = server.sent;
    const { data } = await picture.region({ region });
    assert.ok(data.every((value, i) => value === pixels.data[(900 + (i >> 8)) * 3000 + 1500 + (i & 255)]));
    assert.ok(picture.bytesFetched < size / 10, `${picture.bytesFetched} of ${size} bytes`);
    assert.ok(server.sent - before <= picture.bytesFetched);
    const after = picture.bytesFetched;
    await picture.region({ region });
    assert.equal(picture.bytesFetched, after);
    const stop = new AbortController(), slow = picture.region({ region: { x: 0, y: 0, width: 900, height: 900 }, signal: stop.signal });
    stop.abort();
    await assert.rejects(slow, { name: "AbortError" });
    const again = await picture.region({ region: { x: 0, y: 0, width: 900, height: 900 } });
    assert.equal(again.data[899], pixels.data[899]);
    const bands = await picture.subbands({ reduce: 3 });
    assert.deepEqual([bands.width, bands.height], [375, 250]);
    picture.dispose();
    const tiled = await own.open(`${server.url}tiled.jp2`), read = tiled.ranges.read.bind(tiled.ranges);
    let waits = 0;
    tiled.ranges.read = (...values) => (waits++, read(...values));
    assert.equal((await tiled.region({ reduce: 3 })).width, 375);
    assert.ok(waits < 5, `${waits} waits for 150 tiles`);
    await assert.rejects(own.open(`${server.url}missing.jp2`), /404/);
    own.dispose();
  }
  server.close();
});

test("the guide's examples", async () => {
  const folder = fresh("guide"), file = join(folder, "map.jp2"), guide = readFileSync(join(ROOT, "docs/guides/web.md"), "utf8");
  const data = new Uint8Array(11000 * 6000).map((_, i) => (i % 11000) >> 4), codec = await Codec.create();
  writeFileSync(file, await codec.encode({ width: 11000, height: 6000, data }, { ht: true, plt: true }));
  const server = await serve([folder]), all = await import(join(PACKAGE, "lift2k.js")), blocks = [...guide.matchAll(/^```js\n([^]*?)^```$/gm)];
  assert.equal(blocks.length, 2);
  for (const [, code] of blocks) {
    const body = code.replace(/^import .*$/m, "").replace("https://images.example.org/", server.url);
    const run = new Function("all", "bytes", "signal", "console", `return (async ({ decode, encode, info, open }) => { ${body} })(all)`);
    await run(all, readFileSync(file), undefined, { log() {} });
  }
  all.dispose();
  codec.dispose();
  server.close();
});

test("memory is given back", async () => {
  const own = await Codec.create(), bytes = await own.encode({ width: 500, height: 500, data: new Uint8Array(250000) });
  for (let i = 0; i < 3; i++) await own.decode(bytes);
  const { engine } = own.seats[0], before = engine.memory().byteLength;
  for (let i = 0; i < 200; i++) await own.decode(bytes);
  for (let i = 0; i < 50; i++) await own.decode(bytes.subarray(0, 40)).catch(() => {});
  assert.equal(engine.memory().byteLength, before);
  const open = async () => (await own.open(new Blob([bytes]))).region({ reduce: 2 });
  await open();
  assert.equal(engine.decoders.size, 1);
  setFlagsFromString("--expose-gc");
  for (let i = 0; i < 50 && engine.decoders.size; i++) {
    runInNewContext("gc")();
    await new Promise((done) => setTimeout(done, 20));
  }
  assert.equal(engine.decoders.size, 0); // the finaliser's work
});
