// In the place of @cornerstonejs/codec-openjph: HTJ2KDecoder and HTJ2KEncoder.
import { decoder, encoder, load } from "./cornerstone.js";

export default async function openJphFactory(options) {
  const engine = await load(options);

  // Failures do not throw: getIsHeaderValid and getLastErrorMessage tell of them.
  class HTJ2KDecoder extends decoder(engine) {
    valid = false;
    message = "";

    attempt(work) {
      this.message = "";
      try {
        work();
      } catch (failure) {
        this.message = failure.message;
      }
      this.valid = this.info.width > 0;
      if (!this.valid) Object.assign(this.frame, { width: 0, height: 0, bitsPerSample: 0, componentCount: 0 });
    }

    readHeader() { this.attempt(() => super.readHeader()); }
    decodeSubResolution(reduce, layers) { this.attempt(() => super.decodeSubResolution(reduce, layers)); }
    getIsHeaderValid() { return this.valid; }
    getLastErrorMessage() { return this.message; }
  }

  class HTJ2KEncoder extends encoder(engine) {
    setTLMMarker(on) { this.options.tlm = Number(on); }
    setTilePartDivisionsAtResolutions(on) { this.options.tileParts = on ? 1 : 0; }
    setTilePartDivisionsAtComponents(on) { this.options.tileParts = on ? 3 : 0; }

    setQuality(lossless, step) { // of the quantiser, a fraction of the range
      Object.assign(this.options, { lossless, step: !lossless && step > 0 ? step : undefined });
    }

    encode() {
      Object.assign(this.options, { ht: true, componentTransform: this.frame.isUsingColorTransform ? 1 : 0 });
      super.encode();
    }
  }

  return { HTJ2KDecoder, HTJ2KEncoder, getVersion: () => engine.version(), getSIMDLevel: () => 1 };
}
