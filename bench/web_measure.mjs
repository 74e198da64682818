// The decoders of bench/web.mjs, in Node and in a page. `load(address)` gives a file's bytes.
const instantiate = (module) => ({ instantiateWasm: (imports, done) => void WebAssembly.instantiate(module, imports).then(done), warn() {} });
const put = (m, bytes) => { const at = m._malloc(bytes.length); m.writeArrayToMemory(bytes, at); return at; };

function openjpeg(m) {
  return (bytes) => {
    const at = put(m, bytes), failed = m._jp2_decode(at, bytes.length, 0, false, false, 0);
    m._free(at);
    if (failed) throw new Error(m.errorMessages);
  };
}

// JavaScript makes an array of samples of its lines.
function openjph(m) {
  return (bytes) => {
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

async function decoders({ base, openjpegAt, openjphAt }, load) {
  const { Codec } = await import(`${base}lift2k.js`), { Engine, compile } = await import(`${base}engine.js`);
  const start = async (at, glue, wasm) => (await import(at + glue)).default(instantiate(await compile(await load(at + wasm))));
  const engine = new Engine(await compile(await load(`${base}lift2k-decode.wasm`))), threaded = await Codec.create({ threads: 2 });
  globalThis.document ??= { currentScript: null }; // OpenJPH's glue is for pages
  return {
    lift2k: (bytes) => engine.call("decode", bytes),
    OpenJPEG: openjpeg(await start(openjpegAt, "theirs.mjs", "openjpeg.wasm")),
    OpenJPH: openjphAt && openjph(await start(openjphAt, "libopenjph_simd.js", "libopenjph_simd.wasm")),
    two: (bytes) => threaded.decode(bytes),
  };
}

// Rows of a Markdown table: least milliseconds of `turns` by turns, and lift2k's time to the rival's.
export async function measure(setting, load) {
  const of = await decoders(setting, load), rows = [];
  for (const { label, rival, file } of setting.codings) {
    const best = {}, bytes = await load(file);
    for (let turn = 0; turn < setting.turns; turn++)
      for (const name of ["lift2k", rival, "two"]) {
        const start = performance.now();
        if (of[name]) await of[name](bytes), (best[name] = Math.min(best[name] ?? Infinity, performance.now() - start));
      }
    const beside = (name) => (best[name] ? `${best[name].toFixed(1)} (${(best.lift2k / best[name]).toFixed(2)})` : "-");
    rows.push(`| ${label} | ${best.lift2k.toFixed(1)} | ${beside("OpenJPEG")} | ${beside("OpenJPH")} | ${best.two.toFixed(1)} (${(best.two / best.lift2k).toFixed(2)}) |`);
  }
  return rows.join("\n");
}
