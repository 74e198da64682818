// JPEG 2000 in the browser and in Node. lift2k.d.ts describes the interface.
import { Engine, Lift2kError, Missing, bytesOf, compile, fill } from "./engine.js";

export { Lift2kError };

// ---- A file behind HTTP ranges -------------------------------------------------------------------------------------

const BLOCK = 1024; // what is fetched and kept begins and ends at multiples of it
const FIRST = 8; // blocks of the first request, which usually have the headers
const GAP = 4; // blocks that cost less than another request
const MOST_BLOCKS = 32768; // kept
const NEAR = 1 << 14, MOST_AHEAD = 1 << 20;

class Ranges {
  constructor(url, options) {
    this.url = url;
    this.options = options;
    this.blocks = new Map(); // number: {bytes}, or the request that will bring it
    this.fetched = this.requests = 0;
  }

  async open(signal) {
    const answer = await this.ask(0, FIRST, signal);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    this.whole = answer.status === 200; // a server without ranges
    this.size = this.whole ? bytes.length : Number(/\/(\d+)$/.exec(answer.headers.get("Content-Range") ?? "")?.[1]);
    if (!this.size) { // Content-Range is hidden from other origins unless the server exposes it
      const head = await fetch(this.url, { ...this.options, method: "HEAD", signal });
      this.size = Number(head.headers.get("Content-Length"));
    }
    if (!this.size) throw new Lift2kError(`${this.url}: the server does not tell the file's size`, "io");
    this.keep(0, Math.ceil(bytes.length / BLOCK), bytes);
  }

  async ask(from, to, signal) {
    this.requests++;
    const last = Math.min(to * BLOCK, this.size ?? Infinity) - 1;
    if (this.url instanceof Blob)
      return new Response(this.url.slice(from * BLOCK, last + 1),
        { status: 206, headers: { "Content-Range": `bytes ${from * BLOCK}-${last}/${this.url.size}` } });
    const answer = await fetch(this.url, { ...this.options, signal,
      headers: { ...this.options.headers, Range: `bytes=${from * BLOCK}-${last}` } });
    if (answer.status !== 206 && (answer.status !== 200 || this.size))
      throw new Lift2kError(`${this.url}: ${answer.status} ${answer.statusText} for bytes ${from * BLOCK} to ${last}`, "io");
    return answer;
  }

  keep(from, to, bytes) {
    this.fetched += bytes.length;
    for (let b = from; b < to; b++) this.blocks.set(b, { bytes: bytes.subarray((b - from) * BLOCK, (b - from + 1) * BLOCK) });
  }

  // Starts a request for blocks [from, to). It ends when the last of those who wait for it gives up.
  start(from, to) {
    const request = { waiting: 0, control: new AbortController() };
    const drop = () => {
      for (let b = from; b < to; b++) if (this.blocks.get(b) === request) this.blocks.delete(b);
    };
    for (let b = from; b < to; b++) if (!this.blocks.get(b)?.bytes) this.blocks.set(b, request);
    request.done = this.ask(from, to, request.control.signal)
      .then(async (answer) => this.keep(from, to, new Uint8Array(await answer.arrayBuffer())))
      .catch((failure) => { drop(); throw failure; });
    request.done.catch(() => {}); // whoever waits for it handles the failure
    request.leave = () => {
      if (--request.waiting) return;
      drop();
      request.control.abort();
    };
  }

  // [[offset, bytes], ...] to [[offset, array], ...].
  async read(ranges, signal) {
    const wanted = new Set();
    for (const [offset, bytes] of ranges)
      for (let b = Math.floor(offset / BLOCK); b * BLOCK < offset + bytes; b++) wanted.add(b);
    const runs = [];
    for (const b of [...wanted].sort((one, other) => one - other)) {
      if (this.blocks.has(b)) continue;
      if (runs.length && b - runs.at(-1).to <= GAP) runs.at(-1).to = b + 1;
      else runs.push({ from: b, to: b + 1 });
    }
    for (const { from, to } of runs) this.start(from, to);
    const found = new Map(), requests = new Set();
    for (const b of wanted) {
      const block = this.blocks.get(b);
      if (block.done) requests.add(block);
      found.set(b, block);
    }
    await Promise.all([...requests].map((request) => abortable(request.done, signal, request)));
    const arrays = ranges.map(([offset, bytes]) => {
      const array = new Uint8Array(bytes);
      for (let b = Math.floor(offset / BLOCK); b * BLOCK < offset + bytes; b++) {
        const block = found.get(b).bytes ?? this.blocks.get(b).bytes, at = b * BLOCK - offset;
        array.set(block.subarray(Math.max(-at, 0), Math.max(bytes - at, 0)), Math.max(at, 0));
      }
      return [offset, array];
    });
    for (const b of wanted) { // the last used at the end
      const block = this.blocks.get(b);
      this.blocks.delete(b);
      this.blocks.set(b, block);
    }
    for (const [b, block] of this.blocks) {
      if (this.whole || this.blocks.size <= MOST_BLOCKS) break;
      if (block.bytes) this.blocks.delete(b);
    }
    return arrays;
  }
}

// A promise that the signal ends.
function abortable(promise, signal, request) {
  if (request) request.waiting++;
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const stop = () => {
      request?.leave();
      reject(signal.reason);
    };
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

// ---- Engines -------------------------------------------------------------------------------------------------------

class InPlace {
  constructor(module) { this.engine = new Engine(module); }
  async call(...values) { return this.engine.call(...values); }

  end() {}
}

class InWorker {
  static async start(setting) {
    const seat = Object.assign(new InWorker(), { waiting: new Map(), last: 0 }), url = new URL("./worker.js", import.meta.url);
    const Kind = globalThis.Worker ?? (await import(/* webpackIgnore: true */ "node:worker_threads")).Worker;
    seat.worker = new Kind(url, { type: "module" });
    const listen = (name, act) => (seat.worker.on ? seat.worker.on(name, act) : seat.worker.addEventListener(name, act));
    listen("message", (event) => seat.answer(event.data ?? event));
    listen("error", (event) => seat.fail(event.message ?? "the worker failed"));
    await seat.post({ setting });
    return seat;
  }

  post(message) {
    return new Promise((resolve, reject) => {
      this.waiting.set(++this.last, { resolve, reject });
      this.worker.postMessage({ number: this.last, ...message });
    });
  }

  answer({ number, value, failure, missing }) {
    const { resolve, reject } = this.waiting.get(number);
    this.waiting.delete(number);
    if (missing) reject(new Missing(missing));
    else if (failure) reject(new Lift2kError(failure.message, failure.status));
    else resolve(value);
  }

  fail(reason) {
    for (const number of this.waiting.keys()) this.answer({ number, failure: { message: reason, status: "trap" } });
  }

  call(name, ...values) { return this.post({ name, values }); }

  end() {
    this.worker.terminate();
    this.fail("the codec was disposed of");
  }
}

// ---- Codec ---------------------------------------------------------------------------------------------------------

let lastId = 0;
const forgotten = new FinalizationRegistry((close) => close());

export class Codec {
  // workers: 0 = in place; threads: of the library, in each worker.
  static async create({ workers = 0, threads = 0, encoder = true, wasm } = {}) {
    const codec = new Codec();
    const source = wasm ?? (encoder ? new URL("./lift2k.wasm", import.meta.url) : new URL("./lift2k-decode.wasm", import.meta.url));
    const module = threads ? null : await compile(source);
    const seats = workers || threads ? Array.from({ length: workers || 1 }, () => InWorker.start({ module, threads })) : [new InPlace(module)];
    codec.seats = await Promise.all(seats);
    codec.free = [...codec.seats];
    codec.queue = [];
    return codec;
  }

  // Runs a call on a free engine, with the bytes that it turns out to need.
  async run(job, signal, source) {
    signal?.throwIfAborted();
    return abortable(this.work(job, signal, source), signal);
  }

  async work(job, signal, source) {
    const seat = this.free.pop() ?? await new Promise((resolve) => this.queue.push(resolve)), search = new Search();
    let parts = [], before = "";
    try {
      for (;;) {
        signal?.throwIfAborted();
        try {
          return await job(seat, parts);
        } catch (failure) {
          if (!(failure instanceof Missing) || String(failure.ranges) === before) throw failure;
          before = String(failure.ranges);
          parts = await source.read(search.widen(failure.ranges, source.size), signal);
        }
      }
    } finally {
      this.release(seat);
    }
  }

  release(seat) {
    const next = this.queue.shift();
    if (next) next(seat);
    else this.free.push(seat);
  }

  async decode(bytes, { signal, into, ...options } = {}) {
    return place(await this.run((seat) => seat.call("decode", bytes, { ...options, into: direct(seat, into) }), signal), into);
  }

  encode(pixels, { signal, ...options } = {}) { return this.run((seat) => seat.call("encode", pixels, options), signal); }
  info(bytes, { signal, ...options } = {}) { return this.run((seat) => seat.call("info", bytes, options), signal); }

  async open(url, { signal, fetch: request = {}, ...options } = {}) {
    const picture = new Picture(this, new Ranges(url, request), options);
    await picture.ranges.open(signal);
    picture.info = await this.run((seat, parts) => picture.on(seat, parts), signal, picture.ranges);
    return picture;
  }

  // Ends the workers, and with them all open pictures.
  dispose() {
    for (const seat of this.seats) seat.end();
    this.free = [];
  }
}

// Makes single parts that follow each other closely longer and longer: a search from one header to the next.
class Search {
  widen(ranges, size) {
    const [[offset, bytes]] = ranges, near = ranges.length === 1 && offset >= this.end && offset < this.end + NEAR;
    this.more = near ? Math.min(this.more * 2, MOST_AHEAD) : 512;
    this.end = offset + (near ? Math.max(bytes, this.more) : bytes);
    return near ? [[offset, Math.min(this.end, size) - offset]] : ranges;
  }
}

// The caller's array, where the engine can write to it.
function direct(seat, into) {
  return seat.engine || (globalThis.SharedArrayBuffer && into?.buffer instanceof SharedArrayBuffer) ? into : undefined;
}

function place(picture, into) {
  if (!into || picture.data?.buffer === into.buffer) return picture;
  if (!picture.data) throw new Lift2kError("into takes components that are alike; these are planes", "argument");
  return { ...picture, data: fill(into, bytesOf(picture.data)) };
}

export class Picture {
  constructor(codec, ranges, options) {
    Object.assign(this, { codec, ranges, options, id: ++lastId });
    const { id } = this, { seats } = codec;
    this.close = () => seats.forEach((seat) => seat.call("close", id).catch(() => {}));
    forgotten.register(this, this.close, this);
  }

  get bytesFetched() { return this.ranges.fetched; }
  get requests() { return this.ranges.requests; }
  get bytes() { return this.ranges.size; }

  // Opens the file on an engine where it is not open yet.
  async on(seat, parts) {
    if (this.closed) throw new Lift2kError("the picture is closed", "state");
    return seat.call("open", this.ranges.size, { ...this.options, id: this.id }, parts);
  }

  async ask(name, { signal, into, ...options } = {}) {
    const { codec, ranges, id } = this;
    return place(await codec.run(async (seat, parts) => {
      await this.on(seat, parts);
      return seat.call(name, id, { ...options, into: direct(seat, into) });
    }, signal, ranges), into);
  }

  region(options) { return this.ask("region", options); }
  subbands(options) { return this.ask("subbands", options); }

  dispose() {
    this.closed = true;
    forgotten.unregister(this);
    this.close();
  }
}

// ---- Shared codecs ----------------------------------------------------------------------------------

const shared = new Map();

function common({ worker = false, encoder = false }) {
  const key = `${worker} ${encoder}`;
  if (!shared.has(key)) {
    shared.set(key, Codec.create({ workers: worker ? 1 : 0, encoder }));
    shared.get(key).catch(() => shared.delete(key));
  }
  return shared.get(key);
}

export const decode = async (bytes, { worker, ...options } = {}) => (await common({ worker })).decode(bytes, options);
export const encode = async (pixels, { worker, ...options } = {}) => (await common({ worker, encoder: true })).encode(pixels, options);
export const info = async (bytes, options) => (await common({})).info(bytes, options);
export const open = async (url, { worker, ...options } = {}) => (await common({ worker })).open(url, options);

export function dispose() {
  for (const codec of shared.values()) codec.then((ready) => ready.dispose(), () => {});
  shared.clear();
}
