export type Samples = Uint8Array | Int8Array | Uint16Array | Int16Array | Int32Array | Uint8ClampedArray;
export type Colour = "unknown" | "gray" | "srgb" | "sycc" | "cmyk" | "icc" | "esycc" | "cielab";
export type Channel = "colour" | "opacity" | "premultiplied" | "unspecified";
export type Progression = "LRCP" | "RLCP" | "RPCL" | "PCRL" | "CPRL";

/** `message` is the library's line; `status` its l2k_status, or "trap" for a failure of the instance itself. */
export class Lift2kError extends Error {
  status: "argument" | "state" | "memory" | "limit" | "io" | "format" | "corrupt" | "truncated" | "unsupported" | "backend" | "cancelled" | "trap";
}
export interface Limits { limitSamples?: number; limitBytes?: number; limitMemory?: number; limitComponents?: number; limitTiles?: number; strict?: boolean }
export interface Stop { signal?: AbortSignal }
export interface DecodeOptions extends Stop {
  reduce?: number; // highest resolutions to leave out
  region?: { x: number; y: number; width: number; height: number }; // pixels of the full resolution, from the top left corner
  layers?: number; // 0 = all
  components?: number[]; // which ones; all
  rgba?: boolean; // 8-bit sRGB with opacity
  planes?: boolean; // component by component in any case
  into?: Samples; // where the samples go, if components are alike
}
export interface Plane { width: number; height: number; bits: number; signed: boolean; dx: number; dy: number; data: Samples }

/** Samples pixel by pixel in `data`, or in `planes` where components differ or were asked for so. */
export interface Decoded {
  width: number; height: number; components: number; bits: number; signed: boolean; colour: Colour; channels?: Channel[]; icc?: Uint8Array | null;
  data?: Samples; planes?: Plane[];
  warning?: string; // the file is damaged or ends early, and this is what could be decoded
}

/** The main header. Sizes are [width, height]. */
export interface Info {
  width: number; height: number; x0: number; y0: number; x1: number; y1: number; colour: Colour; icc: Uint8Array | null;
  density: [number, number]; // pixels per metre, 0 = unknown
  components: { width: number; height: number; bits: number; signed: boolean; dx: number; dy: number; channel: Channel; association: number }[];
  format: "jp2" | "codestream"; profile: number; tile: [number, number, number, number]; tiles: [number, number]; levels: number;
  block: [number, number]; precincts: [number, number][]; style: number; ht: boolean; progression: Progression; layers: number;
  wavelet: string; reversible: boolean; componentTransform: boolean; palette: number; tlm: boolean; plt: boolean;
}
export interface Pixels {
  width: number; height: number; components?: number; bits?: number; signed?: boolean; colour?: Colour; x0?: number; y0?: number;
  opacity?: boolean; // the last component is; yes for 2, and for 4 that are no inks
  data?: Samples; planes?: (Partial<Plane> & { data: Samples })[];
}
export interface EncodeOptions extends Stop {
  ht?: boolean; // Part 15
  lossless?: boolean; // 5/3; without ratio and quality the default
  ratio?: number | number[]; // of compression, for each layer; 1 = everything
  quality?: number | number[]; // PSNR in dB, for each layer
  format?: "jp2" | "codestream"; levels?: number; tile?: number | [number, number]; block?: number | [number, number];
  precincts?: [number, number][]; // from the highest resolution down
  progression?: Progression; style?: number; step?: number; componentTransform?: 0 | 1; htPasses?: 1 | 2 | 3; guardBits?: number;
  sop?: boolean; eph?: boolean; plt?: boolean; tlm?: boolean; tileParts?: 0 | 1 | 2 | 3; tileX0?: number; tileY0?: number; threads?: number;
}

/** A picture behind HTTP ranges, or a Blob. Bytes that have come are kept and shared by all workers. */
export class Picture {
  readonly info: Info;
  readonly bytes: number; // of the file
  readonly bytesFetched: number;
  readonly requests: number;
  region(options?: DecodeOptions): Promise<Decoded>;
  /** Magnitudes of a tile's coefficients as gray, in Mallat layout. */
  subbands(options?: Stop & { tile?: number; component?: number; reduce?: number; layers?: number }): Promise<Decoded>;
  dispose(): void;
}
export interface OpenOptions extends Limits, Stop { fetch?: RequestInit; cacheBytes?: number }

/** Engines of one's own: in place, or in `workers` workers, each with `threads` threads of the library (isolated pages only). */
export class Codec {
  static create(options?: { workers?: number; threads?: number; encoder?: boolean; wasm?: string | URL | BufferSource | WebAssembly.Module }): Promise<Codec>;
  decode(bytes: BufferSource, options?: DecodeOptions & Limits): Promise<Decoded>;
  encode(pixels: Pixels, options?: EncodeOptions): Promise<Uint8Array>;
  info(bytes: BufferSource, options?: Limits & Stop): Promise<Info>;
  open(source: string | URL | Blob, options?: OpenOptions): Promise<Picture>;
  dispose(): void;
}

/** The same with engines that all callers share. */
export function decode(bytes: BufferSource, options?: DecodeOptions & Limits & { worker?: boolean }): Promise<Decoded>;
export function encode(pixels: Pixels, options?: EncodeOptions & { worker?: boolean }): Promise<Uint8Array>;
export function info(bytes: BufferSource, options?: Limits): Promise<Info>;
export function open(source: string | URL | Blob, options?: OpenOptions & { worker?: boolean }): Promise<Picture>;
export function dispose(): void;
