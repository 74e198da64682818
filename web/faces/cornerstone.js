// What Cornerstone's codec-openjpeg and codec-openjph have in common.
import { Engine, compile } from "../engine.js";

const ORDERS = ["LRCP", "RLCP", "RPCL", "PCRL", "CPRL"];
const NOTHING = { width: 0, height: 0, x0: 0, y0: 0, tile: [0, 0, 0, 0], block: [0, 0], levels: 0, layers: 0, progression: "LRCP", reversible: false,
  precincts: [], components: [] };

export async function load(options = {}) {
  const source = options.wasm ?? options.locateFile?.("lift2k.wasm", "") ?? new URL("../lift2k.wasm", import.meta.url);
  return new Engine(await compile(source instanceof URL || typeof source !== "string" ? source : new URL(source, import.meta.url)));
}

export function decoder(engine) {
  return class {
    encoded = new Uint8Array(0);
    decoded = new Uint8Array(0);
    info = NOTHING;
    frame = { width: 0, height: 0, bitsPerSample: 0, componentCount: 0, isSigned: false, isUsingColorTransform: false };

    getEncodedBuffer(bytes) { return (this.encoded = new Uint8Array(bytes)); }
    getDecodedBuffer() { return this.decoded; }

    readHeader() {
      this.info = NOTHING;
      this.info = engine.call("info", this.encoded);
      const { width, height, components, componentTransform } = this.info, [{ bits, signed }] = components;
      this.frame = { width, height, bitsPerSample: bits, componentCount: components.length, isSigned: signed, isUsingColorTransform: componentTransform };
    }

    decode() { this.decodeSubResolution(0, 0); }

    // Samples pixel by pixel; YCbCr, inks and sub-sampled components become RGB.
    decodeSubResolution(reduce, layers = 0) {
      this.decoded = new Uint8Array(0);
      this.readHeader();
      let picture = engine.call("decode", this.encoded, { reduce, layers });
      if (picture.planes || ["sycc", "esycc", "cmyk"].includes(picture.colour)) {
        picture = engine.call("decode", this.encoded, { reduce, layers, rgba: true });
        picture = { ...picture, components: 3, data: picture.data.filter((_, i) => i % 4 < 3) };
      }
      const { data, components, bits, signed, colour } = picture;
      Object.assign(this.frame, { componentCount: components, bitsPerSample: bits, isSigned: signed });
      this.colour = colour;
      this.decoded = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    }

    calculateSizeAtDecompositionLevel(level) {
      return { width: Math.ceil(this.frame.width / 2 ** level), height: Math.ceil(this.frame.height / 2 ** level) };
    }

    getFrameInfo() { return { ...this.frame }; }
    getNumDecompositions() { return this.info.levels; }
    getIsReversible() { return this.info.reversible; }
    getProgressionOrder() { return ORDERS.indexOf(this.info.progression); }
    getImageOffset() { return { x: this.info.x0, y: this.info.y0 }; }
    getTileOffset() { return { x: this.info.tile[0], y: this.info.tile[1] }; }
    getTileSize() { return { width: this.info.tile[2], height: this.info.tile[3] }; }
    getBlockDimensions() { return { width: this.info.block[0], height: this.info.block[1] }; }
    getNumLayers() { return this.info.layers; }

    getDownSample(component = 0) {
      const { dx = 0, dy = 0 } = this.info.components[component] ?? {};
      return { x: dx, y: dy };
    }

    getPrecinct(resolution) { // from the lowest one
      const [width, height] = this.info.precincts[resolution] ?? [0, 0];
      return { width, height };
    }

    delete() { this.encoded = this.decoded = new Uint8Array(0); }
  };
}

export function encoder(engine) {
  return class {
    decoded = new Uint8Array(0);
    encoded = new Uint8Array(0);
    options = { format: "codestream", progression: "RPCL", lossless: true };
    offset = { x: 0, y: 0 };
    downSamples = [];
    precincts = []; // from the lowest resolution; the last one goes for the others

    getDecodedBuffer(frame) {
      this.frame = { ...frame };
      this.downSamples = [];
      return (this.decoded = new Uint8Array(frame.width * frame.height * frame.componentCount * (frame.bitsPerSample > 8 ? 2 : 1)));
    }

    getEncodedBuffer() { return this.encoded; }

    setDecompositions(levels) {
      this.options.levels = levels;
      this.precincts = [];
    }

    setProgressionOrder(order) { this.options.progression = ORDERS[order]; }
    setDownSample(component, { x, y }) { this.downSamples[component] = { x, y }; }
    setImageOffset({ x, y }) { this.offset = { x, y }; }
    setTileSize({ width, height }) { this.options.tile = [width, height]; }
    setTileOffset({ x, y }) { Object.assign(this.options, { tileX0: x, tileY0: y }); }
    setBlockDimensions({ width, height }) { this.options.block = [width, height]; }
    setNumPrecincts(count) { this.precincts = Array.from({ length: count }, (_, i) => this.precincts[i] ?? [32768, 32768]); }
    setPrecinct(resolution, { width, height }) { this.precincts[resolution] = [width, height]; }

    // Every dx-th sample of every dy-th row of each component.
    planes() {
      const { width, height, componentCount: n, bitsPerSample, isSigned } = this.frame, Wide = isSigned ? Int16Array : Uint16Array;
      const samples = bitsPerSample > 8 ? new Wide(this.decoded.buffer) : isSigned ? new Int8Array(this.decoded.buffer) : this.decoded;
      return Array.from({ length: n }, (_, c) => {
        const { x: dx = 1, y: dy = 1 } = this.downSamples[c] ?? {}, across = Math.ceil(width / dx), down = Math.ceil(height / dy);
        const data = new samples.constructor(across * down);
        for (let y = 0, i = 0; y < down; y++) for (let x = 0; x < across; x++) data[i++] = samples[(y * dy * width + x * dx) * n + c];
        return { data, dx, dy };
      });
    }

    encode() {
      const { width, height, bitsPerSample: bits, isSigned: signed, componentCount: n } = this.frame, { levels = 5 } = this.options;
      const precincts = Array.from({ length: this.precincts.length ? levels + 1 : 0 }, (_, r) => this.precincts[Math.min(levels - r, this.precincts.length - 1)]);
      this.encoded = new Uint8Array(0);
      this.encoded = engine.call("encode", { width, height, x0: this.offset.x, y0: this.offset.y, bits, signed, opacity: false,
        colour: n > 2 ? "srgb" : "gray", planes: this.planes() }, { ...this.options, precincts: precincts.length ? precincts : undefined });
    }

    delete() { this.decoded = this.encoded = new Uint8Array(0); }
  };
}
