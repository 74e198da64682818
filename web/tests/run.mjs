// The tests in a browser: each result goes to the server, and after the last one the page has loaded.
import { Codec } from "/lift2k.js";

const post = (path, body) => fetch(path, { method: "POST", body });
const viewer = document.getElementById("viewer");

async function until(found, seconds = 60) {
  for (const end = performance.now() + 1000 * seconds; !found();) {
    if (performance.now() > end) throw new Error(`not within ${seconds} s: ${found}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

function planar({ data, planes, components: n }) {
  const arrays = planes ? planes.map((plane) => plane.data) : Array.from({ length: n }, (_, c) => data.filter((_, i) => i % n === c));
  return new Blob(arrays).arrayBuffer();
}

const tests = {
  // The names of files whose planes differ from the native ones, which have these SHA-256.
  async codings(files) {
    const codec = await Codec.create({ workers: 2 }), wrong = [];
    await Promise.all(files.map(async ({ name, sha }) => {
      const picture = await codec.decode(await (await fetch(name)).arrayBuffer(), { planes: true });
      const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await planar(picture)));
      if (Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("") !== sha) wrong.push(name);
    }));
    codec.dispose();
    return { wrong };
  },

  async threads({ name }) {
    const bytes = await (await fetch(name)).arrayBuffer(), results = [];
    for (const threads of [0, 1, 2, 4]) {
      const codec = await Codec.create(threads ? { threads } : {});
      results.push(new Uint8Array((await codec.decode(bytes)).data));
      codec.dispose();
    }
    return { same: results.every((data) => data.every((value, i) => value === results[0][i])) };
  },

  // The viewer, on a screen of that size, first on the whole picture, then on a spot at full resolution.
  async view({ address, spot, pixels, size }) {
    const complete = () => viewer.contentDocument?.getElementById("view")?.dataset.state === "complete";
    [viewer.style.width, viewer.style.height] = size.map((length) => `${length}px`);
    for (viewer.src of ["about:blank", `/viewer/index.html${address}`]) await new Promise((done) => (viewer.onload = done));
    await until(complete);
    viewer.contentWindow.location.hash = spot;
    await until(() => viewer.contentDocument.getElementById("zoom").textContent === "100 %" && complete());
    const canvas = viewer.contentDocument.getElementById("view"), { width, height } = canvas;
    await post(pixels, canvas.getContext("2d").getImageData(0, 0, width, height).data);
    viewer.contentDocument.getElementById("show").click();
    await until(() => viewer.contentDocument.getElementById("bands").width !== 300);
    viewer.contentDocument.getElementById("show").click();
    const { x, y } = canvas.getBoundingClientRect();
    return { width, height, x, y, cost: viewer.contentDocument.getElementById("cost").textContent };
  },

  // A PDF through pdf.js with its own module and with ours.
  async pdf({ name, pdfjs, workers, wasm }) {
    const api = await import(pdfjs), results = [], bytes = await (await fetch(name)).arrayBuffer();
    for (const [i, worker] of workers.entries()) {
      api.GlobalWorkerOptions.workerPort = new Worker(worker, { type: "module" });
      const task = api.getDocument({ data: bytes.slice(0), wasmUrl: wasm[i], useWorkerFetch: true, isOffscreenCanvasSupported: false });
      const file = await task.promise;
      for (let number = 1; number <= file.numPages; number++) {
        const page = await file.getPage(number), viewport = page.getViewport({ scale: 1 }), canvas = document.createElement("canvas");
        Object.assign(canvas, { width: viewport.width, height: viewport.height });
        await page.render({ canvas, canvasContext: canvas.getContext("2d"), viewport }).promise;
        (results[number - 1] ??= []).push(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data);
      }
      await task.destroy();
    }
    return { pages: results.map(([theirs, ours]) => ({ pixels: theirs.length / 4, blank: theirs.every((value) => value === 255),
      other: theirs.findIndex((value, k) => value !== ours[k]) })) };
  },
};

for (const { test, ...setting } of await (await fetch("/todo")).json()) {
  const result = await tests[test](setting.files ?? setting).catch((failure) => ({ failure: `${failure.message}\n${failure.stack}` }));
  await post("/result", JSON.stringify({ test, ...result }));
}
post("/done");
