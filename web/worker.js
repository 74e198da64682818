// An engine in a worker: takes {number, name, values}, answers {number, value}, {number, missing} or {number, failure}.
import { Engine, Missing, withThreads } from "./engine.js";

const port = globalThis.postMessage ? globalThis : (await import("node:worker_threads")).parentPort;
if (port !== globalThis) { // emscripten's glue for Node takes these as given, which modules do not have
  const { createRequire } = await import("node:module");
  Object.assign(globalThis, { require: createRequire(import.meta.url), __dirname: new URL("threads", import.meta.url).pathname });
}
let engine, threads;

function buffers(value) {
  const arrays = value instanceof Uint8Array ? [value] : [value?.data, ...(value?.planes ?? []).map((plane) => plane.data)];
  return arrays.map((array) => array?.buffer).filter((buffer) => buffer instanceof ArrayBuffer);
}

async function start(setting) {
  threads = setting.threads;
  engine = threads ? await withThreads(threads) : new Engine(setting.module);
}

async function answer({ number, setting, name, values }) {
  try {
    if (setting) return port.postMessage({ number, value: await start(setting) });
    if (threads && typeof values[1] === "object") values[1] = { threads, ...values[1] };
    const value = engine.call(name, ...values);
    port.postMessage({ number, value }, buffers(value));
  } catch (failure) {
    if (failure instanceof Missing) port.postMessage({ number, missing: failure.ranges });
    else port.postMessage({ number, failure: { message: failure.message, status: failure.status ?? "trap" } });
  }
}

if (port.on) port.on("message", answer);
else port.addEventListener("message", (event) => answer(event.data));
