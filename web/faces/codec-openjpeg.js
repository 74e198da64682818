// In the place of @cornerstonejs/codec-openjpeg: J2KDecoder and J2KEncoder.
import { decoder, encoder, load } from "./cornerstone.js";

const COLOUR_SPACES = { unknown: 0, srgb: 1, icc: 0, gray: 2, sycc: 3, esycc: 4, cmyk: 5 }; // OPJ_COLOR_SPACE

export default async function openJpegFactory(options) {
  const engine = await load(options);

  class J2KDecoder extends decoder(engine) {
    getColorSpace() { return this.frame.componentCount < 3 ? COLOUR_SPACES.gray : COLOUR_SPACES[this.colour] ?? 0; }
  }

  class J2KEncoder extends encoder(engine) {
    ratios = [];

    setQuality(lossless, layers) {
      this.options.lossless = lossless;
      this.ratios.length = layers;
    }

    setCompressionRatio(layer, ratio) { // 0 and 1 stand for everything
      this.ratios[layer] = ratio;
    }

    encode() {
      const ratio = Array.from(this.ratios, (value) => value || 1);
      Object.assign(this.options, { ratio: ratio.length ? ratio : undefined, componentTransform: this.frame.componentCount > 2 ? 1 : 0 });
      super.encode();
    }
  }

  return { J2KDecoder, J2KEncoder, getVersion: () => engine.version() };
}
