// In the place of pdf.js's external/openjpeg/openjpeg.js: the same factory, over lift2k-decode.wasm.
import { Engine, compile } from "../engine.js";

const MAIN_HEADER = [0xff, 0x4f, 0xff, 0x51]; // SOC, SIZ

// To 8 bits as OpenJPEG does it: too few are spread over the range, of too many the lowest are dropped.
function eight({ data, bits, signed }) {
  if (bits === 8) return data;
  if (bits > 8) return data.map((value) => value >> (bits - 8));
  const from = signed ? 2 ** (bits - 1) : 2 ** bits - 1, to = signed ? 128 : 255;
  return Int32Array.from(data, (value) => Math.trunc((value * to) / from));
}

// Planes of the first one's size.
function enlarged(planes) {
  const { width, height } = planes[0];
  return planes.map((plane) => {
    if (plane.width === width && plane.height === height) return plane;
    const data = new plane.data.constructor(width * height), across = Math.ceil(width / plane.width), down = Math.ceil(height / plane.height);
    for (let y = 0, i = 0; y < height; y++)
      for (let x = 0; x < width; x++) data[i++] = plane.data[Math.floor(y / down) * plane.width + Math.floor(x / across)];
    return { ...plane, data };
  });
}

function clamp(value, top) { return value < 0 ? 0 : value > top ? top : value; }

// The components become RGB, at their precision.
function fromYcc(planes) {
  const [y, cb, cr] = planes.map(({ data }) => data), { bits } = planes[0], half = 2 ** (bits - 1), top = 2 ** bits - 1;
  const result = planes.slice(0, 3).map((plane) => ({ ...plane, data: new Int32Array(y.length) }));
  for (let i = 0; i < y.length; i++) {
    const b = cb[i] - (planes[1].signed ? 0 : half), r = cr[i] - (planes[2].signed ? 0 : half);
    result[0].data[i] = clamp(y[i] + Math.trunc(1.402 * r), top);
    result[1].data[i] = clamp(y[i] - Math.trunc(0.344 * b + 0.714 * r), top);
    result[2].data[i] = clamp(y[i] + Math.trunc(1.772 * b), top);
  }
  return result;
}

// In single precision, as there.
function fromInks(planes) {
  const f = Math.fround, whole = planes.map(({ data, bits }) => Float32Array.from(data, (value) => 1 - f(value * f(1 / (2 ** bits - 1)))));
  const rgb = (ink) => ink.map((value, i) => Math.trunc(f(f(255 * value) * whole[3][i])));
  return whole.slice(0, 3).map((ink) => ({ ...planes[0], bits: 8, signed: false, data: rgb(ink) }));
}

// Components c[0], c[1], ... of a pixel; null is 255.
function interleave(planes, pixels) {
  const n = planes.length, result = new Uint8ClampedArray(pixels * n).fill(255);
  for (const [k, plane] of planes.entries()) for (let i = 0, at = k; plane && i < pixels; i++, at += n) result[at] = plane[i];
  return result;
}

// What pdf.js expects: as many components as the PDF's colour space has, or RGBA where the PDF leaves it to the picture.
function shape({ planes, colour }, wanted, indexed, opacityInData) {
  planes = enlarged(planes);
  const pixels = planes[0].width * planes[0].height;
  if (wanted > 0 || (opacityInData && planes.length === 4))
    return interleave(planes.slice(0, wanted > 0 ? wanted : 4).map((plane) => (indexed ? plane.data : eight(plane))), pixels);
  if (planes.length < 3) {
    const gray = eight(planes[0]);
    return interleave([gray, gray, gray, planes[1] && opacityInData ? eight(planes[1]) : null], pixels);
  }
  const subsampled = planes.length === 3 && planes[0].dx === planes[0].dy && planes[1].dx !== 1;
  const rgb = colour === "sycc" || colour === "esycc" || subsampled ? fromYcc(planes) : colour === "cmyk" ? fromInks(planes) : planes;
  return interleave([...rgb.slice(0, 3).map(eight), null], pixels);
}

export default async function OpenJPEG(options = {}) {
  const engine = new Engine(options.instantiateWasm ? null : await compile(options.wasm ?? new URL("../lift2k-decode.wasm", import.meta.url)));
  if (options.instantiateWasm)
    await new Promise((done) => options.instantiateWasm(engine.imports(), (instance) => done(engine.attach(instance.exports))));
  const module = {
    ...options,
    _malloc: (bytes) => engine.wasm.malloc(bytes),
    _free: (at) => engine.wasm.free(at),
    writeArrayToMemory: (array, at) => engine.heap(at, array.length).set(array),
    _jp2_decode(at, bytes, wanted, indexed, opacityInData, reduce = 0) {
      try {
        // Without the boxes the indices of a palette remain.
        const found = indexed ? Math.max(engine.heap(at, bytes).findIndex((_, i, all) => MAIN_HEADER.every((byte, k) => all[i + k] === byte)), 0) : 0;
        const picture = engine.call("decodeAt", at + found, bytes - found, { planes: true, reduce });
        if (picture.warning) (options.warn ?? console.warn)(picture.warning);
        module.imageData = shape(picture, wanted, indexed, opacityInData);
        return 0;
      } catch (failure) {
        module.errorMessages = module.errorMessages ? `${module.errorMessages}\n${failure.message}` : failure.message;
        return 1;
      }
    },
  };
  return module;
}
