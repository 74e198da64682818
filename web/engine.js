// The WebAssembly module and the library's calls, without waiting: in a page, in a worker, in Node.

const STATUS = ["ok", "argument", "state", "memory", "limit", "io", "format", "corrupt", "truncated", "unsupported", "backend",
  "incomplete", "cancelled"];
const FORMATS = ["jp2", "codestream"];
const COLOURS = ["unknown", "gray", "srgb", "sycc", "cmyk", "icc", "esycc", "cielab"];
const CHANNELS = ["colour", "opacity", "premultiplied", "unspecified"];
const PROGRESSIONS = ["LRCP", "RLCP", "RPCL", "PCRL", "CPRL"];
const IO = 5, INCOMPLETE = 11, HT = 64;

// Structures of the public header: words, b: bool, d: double, l: 64 bits; *n: arrays; _: not read.
function structure(text) {
  let end = 0;
  const fields = text.split(/\s+/).map((word) => {
    const [, kind, name, count = 0] = /^(?:(.):)?(\w+)(?:\*(\d+))?$/.exec(word), bytes = { b: 1, d: 8, l: 8 }[kind] ?? 4;
    const at = Math.ceil(end / bytes) * bytes;
    end = at + bytes * (count || 1);
    return { kind, name, at, bytes, count: Number(count) };
  });
  return { fields, bytes: Math.ceil(end / 8) * 8 };
}

const COMPONENT = structure("dx dy bits b:signed channel association width height");
const OF_IMAGE = "x0 y0 x1 y1 count components colour icc*2 d:density*2 _*10";
const IMAGE = structure(OF_IMAGE);
const INFO = structure(`${OF_IMAGE} format profile tile*4 tiles*2 _ wavelet levels block*2 style _ b:_ precincts*66 progression layers
  b:componentTransform b:_*2 palette l:_ _*2 b:_ _ b:_*4 _ b:tlm b:plt l:_*2`);
const FILE = 8 + 1024 * 16, PART = 16; // bytes of web.c's web_file, and before a web_part's data

// Values of l2k_decoder_option and l2k_encoder_option.
const DECODER = { reduce: 0, layers: 1, threads: 3, limitSamples: 5, limitBytes: 6, strict: 8, limitMemory: 9,
  limitComponents: 11, limitTiles: 12, cpu: 13, cacheBytes: 16 };
const ENCODER = { format: 0, wavelet: 1, levels: 2, tileWidth: 3, tileHeight: 4, tileX0: 5, tileY0: 6, blockWidth: 7, blockHeight: 8,
  progression: 9, style: 10, componentTransform: 11, sop: 12, eph: 13, plt: 14, tlm: 15, tileParts: 16, threads: 17,
  limitSamples: 19, limitMemory: 21, cpu: 23, htPasses: 24, guardBits: 29, profile: 33, maxBytes: 34 };

export class Lift2kError extends Error {
  constructor(message, status) {
    super(message);
    this.name = "Lift2kError";
    this.status = status; // of STATUS, or "trap"
  }
}

// Thrown where bytes of a file have not come yet: [[offset, bytes], ...].
export class Missing {
  constructor(ranges) { this.ranges = ranges; }
}

const sampleBytes = ({ bits }) => (bits <= 8 ? 1 : bits <= 16 ? 2 : 4);
const sampleType = (bytes, signed) => (bytes === 4 ? 4 : (bytes === 2 ? 2 : 0) + Number(signed));
const long = (value) => BigInt(Math.trunc(Number(value)));

export function bytesOf(source) {
  return ArrayBuffer.isView(source) ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength) : new Uint8Array(source);
}

// Copies bytes into an array of any type.
export function fill(into, bytes) {
  if (into.byteLength < bytes.length)
    throw new Lift2kError(`the array has ${into.byteLength} bytes, and the picture needs ${bytes.length}`, "argument");
  new Uint8Array(into.buffer, into.byteOffset).set(bytes);
  return into;
}

function arrayType({ bits, signed }) {
  if (bits > 16) return Int32Array;
  if (bits > 8) return signed ? Int16Array : Uint16Array;
  return signed ? Int8Array : Uint8Array;
}

export class Engine {
  // `glue`: a module with threads, made by emscripten; `module`: a WebAssembly.Module; neither: `attach` follows.
  constructor(module, glue) {
    this.module = module;
    this.decoders = new Map();
    if (glue) {
      this.wasm = Object.fromEntries(Object.entries(glue).filter(([name]) => name[0] === "_").map(([name, f]) => [name.slice(1), f]));
      this.memory = () => glue.HEAPU8.buffer;
    } else if (module) {
      this.attach(new WebAssembly.Instance(module, this.imports()).exports);
    }
  }

  imports() {
    const now = (clock, precision, at) => {
      new DataView(this.memory()).setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    };
    return { env: { emscripten_notify_memory_growth() {} }, wasi_snapshot_preview1: { clock_time_get: now } };
  }

  attach(exports) {
    this.wasm = exports;
    this.memory = () => exports.memory.buffer;
    exports._initialize();
  }

  // A call by name. A trap, which no input should cause, ends the instance and all it had open.
  call(name, ...values) {
    for (const severity of [0, 1]) this.heap(this.wasm.web_line(severity), 1)[0] = 0;
    try {
      return this[name](...values);
    } catch (failure) {
      if (!(failure instanceof WebAssembly.RuntimeError)) throw failure;
      this.decoders.clear();
      if (this.module) this.attach(new WebAssembly.Instance(this.module, this.imports()).exports);
      throw new Lift2kError(`the WebAssembly instance failed: ${failure.message}`, "trap");
    }
  }

  version() { return this.text(this.wasm.l2k_version()); }

  // ---- Memory

  heap(at, bytes) { return new Uint8Array(this.memory(), at, bytes); }

  allocate(bytes) {
    const at = bytes < 2 ** 31 ? this.wasm.malloc(bytes || 1) >>> 0 : 0;
    if (!at) throw new Lift2kError(`out of memory for ${bytes} bytes`, "memory");
    return at;
  }

  // Runs `use` with addresses of as many bytes, or of copies of arrays, in the module's memory.
  holding(sources, use) {
    const held = [];
    try {
      for (const source of sources) {
        const view = typeof source === "number" ? null : bytesOf(source);
        held.push(this.allocate(view?.length ?? source));
        if (view) this.heap(held.at(-1), view.length).set(view);
      }
      return use(...held);
    } finally {
      for (const at of held) this.wasm.free(at);
    }
  }

  words(at, count) { return new Uint32Array(this.memory(), at, count); }

  text(at) {
    const bytes = new Uint8Array(this.memory(), at >>> 0);
    return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
  }

  read(from, { fields }) {
    const view = new DataView(this.memory(), from), result = {};
    const take = (kind, at) => {
      if (kind === "b") return view.getUint8(at) !== 0;
      return kind === "d" ? view.getFloat64(at, true) : view.getUint32(at, true);
    };
    for (const { kind, name, at, bytes, count } of fields)
      if (name !== "_") result[name] = count ? Array.from({ length: count }, (_, i) => take(kind, at + i * bytes)) : take(kind, at);
    return result;
  }

  // Throws for an l2k_status that is an error; returns the warning where the image is incomplete.
  check(status, file) {
    if (status === 0) return undefined;
    if (status === INCOMPLETE) return this.text(this.wasm.web_line(1)) || "the image is incomplete";
    const missing = status === IO && file ? this.words(file, 2)[1] : 0, list = new Float64Array(this.memory(), missing && file + 8, 2 * missing);
    if (missing) throw new Missing(Array.from({ length: missing }, (_, i) => [...list.slice(2 * i, 2 * i + 2)]));
    throw new Lift2kError(this.text(this.wasm.web_line(0)) || STATUS[status], STATUS[status]);
  }

  // ---- Decoding

  newDecoder() {
    const d = this.wasm.l2k_decoder_new(this.wasm.web_hooks());
    if (!d) throw new Lift2kError("out of memory", "memory");
    return d;
  }

  withOpen(at, length, options, use) {
    const d = this.newDecoder();
    try {
      this.set(d, options);
      this.check(this.wasm.l2k_decoder_open_memory(d, at, length));
      return use(d);
    } finally {
      this.wasm.l2k_decoder_free(d);
    }
  }

  set(d, options) {
    for (const [name, option] of Object.entries(DECODER))
      if (options[name] !== undefined) this.check(this.wasm.l2k_decoder_set(d, option, long(options[name])));
  }

  image(at) {
    const { count, components, colour, icc, ...place } = this.read(at, IMAGE);
    const component = (_, i) => {
      const c = this.read(components + i * COMPONENT.bytes, COMPONENT);
      return { ...c, channel: CHANNELS[c.channel] };
    };
    return { ...place, colour: COLOURS[colour], icc: icc[1] ? this.heap(...icc).slice() : null, components: Array.from({ length: count }, component) };
  }

  describe(d, file) {
    return this.holding([INFO.bytes], (at) => {
      this.check(this.wasm.l2k_decoder_info(d, at), file);
      const info = { ...this.read(at, INFO), ...this.image(at) }, { wavelet, levels, precincts, style, format, progression, x0, y0, x1, y1 } = info;
      return { ...info, width: x1 - x0, height: y1 - y0, ht: (style & HT) !== 0, format: FORMATS[format], progression: PROGRESSIONS[progression],
        wavelet: this.text(this.wasm.l2k_wavelet_name(wavelet)), reversible: this.wasm.l2k_wavelet_reversible(wavelet) !== 0,
        precincts: Array.from({ length: levels + 1 }, (_, r) => precincts.slice(2 * r, 2 * r + 2)) };
    });
  }

  info(bytes, options = {}) {
    return this.holding([bytesOf(bytes)], (at) => this.withOpen(at, bytes.byteLength, options, (d) => this.describe(d)));
  }

  decode(bytes, options = {}) { return this.holding([bytesOf(bytes)], (at) => this.decodeAt(at, bytes.byteLength, options)); }

  decodeAt(at, length, options = {}) { return this.withOpen(at, length, options, (d) => this.pixels(d, options, this.describe(d))); }

  // The region is in pixels of the full resolution, from the picture's top left corner.
  pixels(d, options, info, file) {
    this.set(d, { reduce: 0, layers: 0, ...options });
    const { x = 0, y = 0, width = info.width, height = info.height } = options.region ?? {};
    const corners = [info.x0 + x, info.y0 + y, info.x0 + x + width, info.y0 + y + height];
    if (!corners.every((value) => value >= 0 && value < 2 ** 32)) throw new Lift2kError("the region is outside the reference grid", "argument");
    this.check(this.wasm.l2k_decoder_set_region(d, ...corners));
    const only = options.components?.length === 1 && info.format === "codestream" && !info.componentTransform;
    this.check(this.wasm.l2k_decoder_set(d, 2, long(only ? options.components[0] : -1)));
    return this.holding([IMAGE.bytes], (at) => {
      this.check(this.wasm.l2k_decoder_image(d, at), file);
      return this.samples(d, options, at, only, file);
    });
  }

  samples(d, options, imageAt, only, file) {
    const { components, colour, icc } = this.image(imageAt), first = components[0], n = components.length;
    const chosen = only ? [0] : options.components ?? components.map((_, i) => i);
    const same = (c) => c.width === first.width && c.height === first.height && arrayType(c) === arrayType(first);
    const together = components.every(same) && (options.rgba || (!options.planes && chosen.length === n && chosen.every((c, i) => c === i)));
    let bytes = 0;
    const offsets = components.map((c, i) => {
      const from = together ? i * sampleBytes(c) : Math.ceil(bytes / 8) * 8;
      bytes = (together ? bytes : from) + c.width * c.height * sampleBytes(c);
      return from;
    });
    const plane = (to) => (c, i) => {
      const step = sampleBytes(c) * (together ? n : 1);
      return [to + offsets[i], c.width * step, step, sampleType(sampleBytes(c), c.signed)];
    };
    return this.holding([bytes], (at) => this.holding([new Uint32Array(components.flatMap(plane(at)))], (planes) => {
      const warning = this.check(this.wasm.l2k_decoder_decode(d, planes), file);
      if (options.rgba) return { ...this.rgba(components, imageAt, planes, options), warning };
      const result = { width: first.width, height: first.height, components: chosen.length, bits: first.bits, signed: first.signed, colour,
        icc, channels: chosen.map((c) => components[c].channel), warning };
      const take = (c, from, samples, into) => {
        const type = arrayType(c);
        return fill(into ?? new type(samples), this.heap(from, samples * type.BYTES_PER_ELEMENT));
      };
      if (together) return { ...result, data: take(first, at, bytes / sampleBytes(first), options.into) };
      const taken = chosen.map((i) => {
        const { width, height, bits, signed, dx, dy } = components[i];
        return { width, height, bits, signed, dx, dy, data: take(components[i], at + offsets[i], width * height) };
      });
      if (chosen.length > 1 || options.planes) return { ...result, planes: taken };
      const [{ dx, dy, ...single }] = taken;
      return { ...result, ...single };
    }));
  }

  rgba(components, imageAt, planes, { reduce = 0, into }) {
    const width = Math.max(...components.map((c) => c.width)), height = Math.max(...components.map((c) => c.height)), bytes = width * height * 4;
    return this.holding([bytes], (at) => {
      this.check(this.wasm.web_rgba(imageAt, planes, reduce, at));
      return { width, height, components: 4, bits: 8, signed: false, colour: "srgb", data: fill(into ?? new Uint8ClampedArray(bytes), this.heap(at, bytes)) };
    });
  }

  // ---- Files that come in parts

  open(bytes, options, parts) {
    let opened = this.decoders.get(options.id);
    if (!opened) {
      opened = { d: this.newDecoder(), file: this.allocate(FILE) };
      this.words(opened.file, 2).fill(0);
      this.decoders.set(options.id, opened);
      this.set(opened.d, options);
    }
    for (const [offset, array] of parts) {
      const at = this.allocate(PART + array.length), file = this.words(opened.file, 2);
      this.heap(at + PART, array.length).set(array);
      this.words(at, 2).set([file[0], array.length]);
      new Float64Array(this.memory(), at + 8, 1)[0] = offset;
      file[0] = at;
    }
    return opened.info ?? this.reading(options.id, ({ d, file }) => {
      if (!opened.ready) this.check(this.wasm.web_open(d, bytes, file), file);
      opened.ready = true;
      return (opened.info = this.describe(d, file));
    });
  }

  // Parts are kept until the call that asked for them succeeds.
  reading(id, use) {
    const opened = this.decoders.get(id);
    if (!opened) throw new Lift2kError("the picture is closed", "state");
    this.words(opened.file, 2)[1] = 0;
    const result = use(opened);
    this.drop(opened);
    return result;
  }

  drop({ file }) {
    for (let at; (at = this.words(file, 1)[0]); this.wasm.free(at)) this.words(file, 1)[0] = this.words(at, 1)[0];
  }

  region(id, options) { return this.reading(id, ({ d, info, file }) => this.pixels(d, options, info, file)); }

  subbands(id, { tile = 0, component = 0, ...options }) {
    return this.reading(id, ({ d, file }) => this.holding([new Uint32Array([component, 0, 0, 0])], (at) => {
      this.set(d, { reduce: 0, layers: 0, ...options });
      this.check(this.wasm.l2k_decoder_set(d, 2, -1n));
      try {
        const warning = this.check(this.wasm.web_subbands_of(d, tile, at), file), [, width, height, gray] = this.words(at, 4);
        return { width, height, components: 1, bits: 8, signed: false, colour: "gray", data: this.heap(gray, width * height).slice(), warning };
      } finally {
        this.wasm.free(this.words(at, 4)[3]);
      }
    }));
  }

  close(id) {
    const opened = this.decoders.get(id);
    if (!opened) return;
    this.decoders.delete(id);
    this.wasm.l2k_decoder_free(opened.d);
    this.drop(opened);
    this.wasm.free(opened.file);
  }

  // ---- Encoding

  encode(pixels, options = {}) {
    const e = this.wasm.l2k_encoder_new?.(this.wasm.web_hooks());
    if (e === undefined) throw new Lift2kError("this module has no encoder", "unsupported");
    if (!e) throw new Lift2kError("out of memory", "memory");
    try {
      this.setEncoder(e, options);
      return this.encodeWith(e, pixels);
    } finally {
      this.wasm.l2k_encoder_free(e);
    }
  }

  setEncoder(e, o) {
    const [tileWidth, tileHeight = tileWidth] = [o.tile ?? 0].flat(), [blockWidth, blockHeight = blockWidth] = [o.block ?? 64].flat();
    const targets = [o.ratio ?? o.quality ?? []].flat();
    const values = { wavelet: (o.lossless ?? !targets.length) ? 0 : 1, tileWidth, tileHeight, blockWidth, blockHeight, style: o.ht ? HT : 0,
      ...o, format: o.format && FORMATS.indexOf(o.format), progression: o.progression && PROGRESSIONS.indexOf(o.progression) };
    for (const [name, option] of Object.entries(ENCODER))
      if (values[name] !== undefined) this.check(this.wasm.l2k_encoder_set(e, option, long(values[name])));
    if (targets.length)
      this.holding([new Float64Array(targets)], (at) => this.check(this.wasm.l2k_encoder_set_layers(e, o.ratio ? 0 : 1, at, targets.length)));
    if (o.step) this.check(this.wasm.l2k_encoder_set_step(e, o.step));
    if (o.precincts)
      this.holding([new Uint32Array(o.precincts.flat())], (at) => this.check(this.wasm.l2k_encoder_set_precincts(e, at, o.precincts.length)));
  }

  encodeWith(e, pixels) {
    const { width, height, x0 = 0, y0 = 0, components: n = pixels.planes?.length ?? 1, data } = pixels;
    const colour = pixels.colour ?? (n < 3 ? "gray" : n < 5 ? "srgb" : "unknown"), opacity = pixels.opacity ?? (n === 2 || (n === 4 && colour === "srgb"));
    const image = new Uint32Array(IMAGE.bytes / 4), components = [], planes = [], step = pixels.planes ? 1 : n;
    return this.holding(pixels.planes?.map((plane) => plane.data) ?? [data], (...places) => {
      for (const [c, plane] of (pixels.planes ?? Array(n).fill({ data })).entries()) {
        const array = plane.data, bytes = array.BYTES_PER_ELEMENT, last = opacity && c === n - 1;
        const signed = plane.signed ?? pixels.signed ?? false, bits = plane.bits ?? pixels.bits ?? 8 * bytes, dx = plane.dx ?? 1, dy = plane.dy ?? 1;
        const across = Math.ceil((x0 + width) / dx) - Math.ceil(x0 / dx), down = Math.ceil((y0 + height) / dy) - Math.ceil(y0 / dy);
        if (array.length < across * down * step)
          throw new Lift2kError(`${array.length} samples are too few for ${across} x ${down} x ${step}`, "argument");
        components.push(dx, dy, bits, signed, last ? 1 : 0, last ? 0 : c + 1, 0, 0);
        planes.push(places[c] ?? places[0] + c * bytes, across * step * bytes, step * bytes, sampleType(bytes, signed));
      }
      return this.holding([new Uint32Array(components), new Uint32Array(planes), 8], (at, planesAt, out) => {
        image.set([x0, y0, x0 + width, y0 + height, n, at, COLOURS.indexOf(colour)]);
        return this.holding([image], (imageAt) => {
          this.check(this.wasm.l2k_encoder_encode_memory(e, imageAt, planesAt, out, out + 4));
          return this.heap(...this.words(out, 2)).slice();
        });
      });
    });
  }
}

async function read(url) {
  if (new URL(url).protocol === "file:")
    return (await import(/* webpackIgnore: true */ "node:fs/promises")).readFile(new URL(url));
  const answer = await fetch(url);
  if (!answer.ok) throw new Lift2kError(`${url}: ${answer.status} ${answer.statusText}`, "io");
  return answer.arrayBuffer();
}

// From a URL, bytes, or a WebAssembly.Module.
export async function compile(source) {
  if (source instanceof WebAssembly.Module) return source;
  return WebAssembly.compile(source instanceof ArrayBuffer || ArrayBuffer.isView(source) ? source : await read(source));
}

export async function withThreads(threads) {
  const { default: create } = await import("./threads/lift2k-threads.mjs");
  return new Engine(null, await create({ threads, wasmBinary: await read(new URL("./threads/lift2k-threads.wasm", import.meta.url)) }));
}
