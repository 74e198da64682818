/* lift2k: a JPEG 2000 codec (ISO/IEC 15444-1, ITU-T T.800).
 *
 * This is the library's only public header. It needs nothing but the C11 standard headers.
 *
 * Conventions
 *  - Every fallible function returns an l2k_status; L2K_OK is 0. The message hook receives one line that says what is
 *    wrong with what. The library never prints, never exits and keeps no global state.
 *  - Coordinates are the standard's: the reference grid of Annex B, 32-bit, half open: [x0, x1) x [y0, y1).
 *  - Objects are opaque and belong to the caller, who frees them with the matching l2k_..._free, which takes NULL.
 *  - One object is for one thread at a time; different objects are independent. Hooks may be called from several
 *    threads at once.
 *  - Options are an enum and an integer, so that the set can grow without changing the ABI.
 */
#ifndef LIFT2K_H
#define LIFT2K_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define L2K_API __attribute__((visibility("default")))
#else
#define L2K_API
#endif

#define L2K_VERSION_MAJOR 0
#define L2K_VERSION_MINOR 1
#define L2K_VERSION_PATCH 0

/* The version of the library that was linked, as "MAJOR.MINOR.PATCH". Static storage. */
L2K_API const char *l2k_version(void);

/* ---- Status -------------------------------------------------------------------------------------------------- */

typedef enum l2k_status {
    L2K_OK = 0,
    L2K_ERROR_ARGUMENT,    /* a value outside its range, or options that contradict each other */
    L2K_ERROR_STATE,       /* a call out of order, for example decoding before opening */
    L2K_ERROR_MEMORY,      /* the allocation hook returned NULL, or the GPU has no such room left */
    L2K_ERROR_LIMIT,       /* a limit set by the caller would be exceeded; found before memory is taken for it */
    L2K_ERROR_IO,          /* a stream callback reported a failure */
    L2K_ERROR_FORMAT,      /* the input is not JPEG 2000 at all */
    L2K_ERROR_CORRUPT,     /* the input breaks the standard's syntax */
    L2K_ERROR_TRUNCATED,   /* the input ends before the picture does */
    L2K_ERROR_UNSUPPORTED, /* legal, but not implemented: the message names the marker or box */
    L2K_ERROR_BACKEND,     /* the requested backend cannot be used on this machine or in this build */
    L2K_INCOMPLETE, /* not an error: the input ends early or is damaged, and what is there of the picture was decoded */
    L2K_ERROR_CANCELLED /* the progress hook asked to stop */
} l2k_status;

/* A short English phrase for a status, for example "out of memory". Static storage. */
L2K_API const char *l2k_strerror(l2k_status status);

/* ---- Hooks --------------------------------------------------------------------------------------------------- */

typedef enum l2k_severity { L2K_SEVERITY_ERROR, L2K_SEVERITY_WARNING, L2K_SEVERITY_NOTE } l2k_severity;

/* Any member may be NULL: malloc and free are then used, messages are dropped, and nobody asks how far it is.
 *
 * `allocate` returns memory aligned for any C object, or NULL; `release` takes it back. Encoders and decoders keep
 * memory, threads' tables and transform plans from image to image: one of a shape seen before takes nothing new, or,
 * with several threads, whose shares differ from time to time, a few blocks at most. Memory goes back when it lies idle
 * through two images, and with the object. That of a GPU, pinned memory and the threads' stacks do not come through
 * these hooks.
 *
 * `message`: `text` has no trailing newline and is valid only during the call. Where several threads fail, each tells
 * its line, in any order; the status is that of the first tile that fails.
 *
 * `progress` is called now and then while an encoder or a decoder works on an image, on the thread that called the
 * library, with the part that is done, 0 to 1, which never falls. Where it returns false, the call ends with
 * L2K_ERROR_CANCELLED after a tenth of a second's work of each thread at most, or a tile's on a GPU, or, where a row
 * has more than 2^24 samples, one operation on the row. After that, as after any error in the work on an image, all
 * that the object had taken is given back. The hook is asked at most every 20 ms, and not at the end. It must not call
 * functions of the object at work. */
typedef struct l2k_hooks {
    void *(*allocate)(void *user, size_t bytes);
    void (*release)(void *user, void *block);
    void (*message)(void *user, l2k_severity severity, const char *text);
    bool (*progress)(void *user, double done);
    void *user;
} l2k_hooks;

/* A sequential stream; it is never rewound, so pipes will do. A decoder needs `read`, an encoder `write`.
 * `read` stores up to `bytes` bytes and returns how many, 0 at the end, -1 on failure.
 * `write` takes all `bytes` bytes and returns 0, or -1 on failure.
 * `rewrite` may be NULL: only an image encoded by rows of tiles asks for it (l2k_encoder_begin). It replaces `bytes`
 * bytes from `offset` on, all written before, counted from the first byte written, and returns like `write`. */
typedef struct l2k_stream {
    ptrdiff_t (*read)(void *user, void *buffer, size_t bytes);
    int (*write)(void *user, const void *buffer, size_t bytes);
    int (*rewrite)(void *user, uint64_t offset, const void *buffer, size_t bytes);
    void *user;
} l2k_stream;

/* ---- Time ---------------------------------------------------------------------------------------------------- */

/* Where the time of an image goes. Upload, transform and download are a GPU's, one beside the other and beside the
 * threads' tier-1; on the CPU the transform stage is all transform. */
typedef enum l2k_stage {
    L2K_STAGE_READ = 0,  /* the stream's `read`, headers, packet headers (tier-2 of a decoder) */
    L2K_STAGE_UPLOAD,    /* to the GPU */
    L2K_STAGE_TRANSFORM, /* level shift, component transform, wavelet, quantiser */
    L2K_STAGE_DOWNLOAD,  /* from the GPU */
    L2K_STAGE_TIER1,     /* code-blocks */
    L2K_STAGE_RATE,      /* rate control */
    L2K_STAGE_TIER2,     /* packets and markers of an encoder */
    L2K_STAGE_WRITE,     /* the stream's `write` */
    L2K_NUM_STAGES
} l2k_stage;

/* ---- Images -------------------------------------------------------------------------------------------------- */

typedef enum l2k_colour {
    L2K_COLOUR_UNKNOWN = 0, /* a bare codestream, or a colour space this list does not name */
    L2K_COLOUR_GRAY,        /* JP2 enumerated colour space 17 */
    L2K_COLOUR_SRGB,        /* 16 */
    L2K_COLOUR_SYCC,        /* 18 */
    L2K_COLOUR_CMYK,        /* 12 */
    L2K_COLOUR_ICC,         /* described by the ICC profile in l2k_image.icc */
    L2K_COLOUR_ESYCC,       /* 24, of ISO/IEC 15444-2 */
    L2K_COLOUR_CIELAB       /* 14, of ISO/IEC 15444-2, with the parameters in l2k_image.lab */
} l2k_colour;

/* How samples of CIELab (ISO/IEC 15444-2, M.11.7.4.1) stand for values: (sample - offset) * range / (2^precision - 1),
 * for L*, a*, b*; and the illuminant, as the file has it (0x00443530 is D50). All 0 where the file leaves it at the
 * defaults: ranges 100, 170, 200, offsets 0, 2^(p-1), 2^(p-2) + 2^(p-3), D50. */
typedef struct l2k_lab {
    uint32_t range[3], offset[3];
    uint32_t illuminant;
} l2k_lab;

typedef enum l2k_channel {
    L2K_CHANNEL_COLOUR = 0,
    L2K_CHANNEL_OPACITY,
    L2K_CHANNEL_PREMULTIPLIED_OPACITY,
    L2K_CHANNEL_UNSPECIFIED
} l2k_channel;

#define L2K_MAX_COMPONENTS 16384u
#define L2K_MAX_LEVELS     32u

/* One component (A.5.1). The encoder takes precision 1 to 24 (9/7: to 16), the decoder gives 1 to 31. */
typedef struct l2k_component {
    uint32_t dx, dy;    /* XRsiz, YRsiz: sub-sampling against the reference grid, 1 to 255 */
    uint32_t precision; /* bits per sample */
    bool is_signed;
    l2k_channel channel;    /* JP2 only: what the component means (I.5.3.6) */
    uint32_t association;   /* JP2 only: 0 the whole image, 1.. that colour, 65535 none */
    uint32_t width, height; /* samples; the decoder fills them in, the encoder ignores them (see l2k_component_size) */
} l2k_component;

typedef struct l2k_image {
    uint32_t x0, y0, x1, y1; /* the image area on the reference grid: XOsiz, YOsiz, Xsiz, Ysiz */
    uint32_t num_components; /* 1 to L2K_MAX_COMPONENTS */
    const l2k_component *components;
    l2k_colour colour;
    const uint8_t *icc; /* ICC profile, or NULL */
    size_t icc_bytes;
    double density_x, density_y; /* pixels per metre, 0 where unknown */
    l2k_lab lab;                 /* L2K_COLOUR_CIELAB only */
} l2k_image;

/* Size in samples of component c: ceil(x1 / dx) - ceil(x0 / dx), and the same for y (B-2). */
L2K_API void l2k_component_size(const l2k_image *image, uint32_t c, uint32_t *width, uint32_t *height);

typedef enum l2k_sample_type {
    L2K_SAMPLE_U8,
    L2K_SAMPLE_S8,
    L2K_SAMPLE_U16,
    L2K_SAMPLE_S16,
    L2K_SAMPLE_S32,
    L2K_SAMPLE_F32 /* the transform stage alone: 9/7, no level shift, no clamp */
} l2k_sample_type;

/* The samples of one component in the caller's memory, native byte order. Strides are in bytes, so interleaved pixels
 * are planes that share a buffer. An unsigned component of precision p holds 0 .. 2^p - 1, a signed one
 * -2^(p-1) .. 2^(p-1) - 1; the type must be able to hold that range. */
typedef struct l2k_plane {
    void *data; /* the first sample of the first row; never written by an encoder */
    ptrdiff_t row_stride;
    ptrdiff_t sample_stride;
    l2k_sample_type type;
} l2k_plane;

/* ---- Shared option values ------------------------------------------------------------------------------------ */

typedef enum l2k_wavelet { L2K_WAVELET_5_3 = 0, L2K_WAVELET_9_7 } l2k_wavelet; /* reversible, irreversible (Annex F) */

/* Progression orders, valued as in Table A.16. */
typedef enum l2k_progression { L2K_LRCP = 0, L2K_RLCP, L2K_RPCL, L2K_PCRL, L2K_CPRL } l2k_progression;

/* Code-block styles, valued as in Table A.19; combine with |. */
typedef enum l2k_style {
    L2K_STYLE_BYPASS = 1,
    L2K_STYLE_RESET = 2,
    L2K_STYLE_TERMALL = 4,
    L2K_STYLE_VSC = 8,
    L2K_STYLE_PTERM = 16,
    L2K_STYLE_SEGSYM = 32
} l2k_style;

typedef enum l2k_tile_parts {
    L2K_TILE_PARTS_ONE = 0, /* one tile-part per tile */
    L2K_TILE_PARTS_RESOLUTION,
    L2K_TILE_PARTS_LAYER,
    L2K_TILE_PARTS_COMPONENT
} l2k_tile_parts;

typedef enum l2k_format { L2K_FORMAT_JP2 = 0, L2K_FORMAT_CODESTREAM } l2k_format;

/* Where the transform stage runs; the result is the same to the bit. AUTO is the GPU for tiles of at least so many
 * samples as the option GPU_MIN_SAMPLES says, where there is one, else the CPU; also, with a note, where the GPU's
 * memory does not suffice. By default that is 2^62, so the CPU: from host memory many threads were as fast as any GPU
 * measured. CUDA is the GPU or L2K_ERROR_BACKEND. */
typedef enum l2k_backend { L2K_BACKEND_AUTO = 0, L2K_BACKEND_CPU, L2K_BACKEND_CUDA } l2k_backend;

/* Instruction sets of the CPU's row functions; the result is the same to the bit. AUTO is the best that the processor
 * and the build have. Any other is that one, or L2K_ERROR_BACKEND when the work starts. */
typedef enum l2k_cpu { L2K_CPU_AUTO = 0, L2K_CPU_C, L2K_CPU_AVX2, L2K_CPU_AVX512, L2K_CPU_NEON } l2k_cpu;

/* Whether the transform stage can run on a backend here and now. What a backend runs on (the GPU's name), or why it
 * cannot be used, is put into `text`, cut to `bytes` with its final 0; `bytes` may be 0. */
L2K_API bool l2k_backend_usable(l2k_backend backend, char *text, size_t bytes);

/* ---- Encoder ------------------------------------------------------------------------------------------------- */

typedef struct l2k_encoder l2k_encoder;

typedef enum l2k_encoder_option {
    L2K_ENCODER_FORMAT = 0,          /* l2k_format; JP2 */
    L2K_ENCODER_WAVELET,             /* l2k_wavelet; 5/3 */
    L2K_ENCODER_LEVELS,              /* decomposition levels 0 to 32; 5 */
    L2K_ENCODER_TILE_WIDTH,          /* 0 = one tile; 0 */
    L2K_ENCODER_TILE_HEIGHT,         /* 0 = one tile; 0 */
    L2K_ENCODER_TILE_X0,             /* XTOsiz, at most x0; 0 */
    L2K_ENCODER_TILE_Y0,             /* YTOsiz, at most y0; 0 */
    L2K_ENCODER_BLOCK_WIDTH,         /* power of two 4 to 1024, area at most 4096; 64 */
    L2K_ENCODER_BLOCK_HEIGHT,        /* likewise; 64 */
    L2K_ENCODER_PROGRESSION,         /* l2k_progression; LRCP */
    L2K_ENCODER_STYLE,               /* l2k_style values combined with |; 0 */
    L2K_ENCODER_COMPONENT_TRANSFORM, /* 0 never, 1 on the first three components where the standard allows it; 1 */
    L2K_ENCODER_SOP,                 /* 0 or 1: SOP marker segments; 0 */
    L2K_ENCODER_EPH,                 /* 0 or 1: EPH markers; 0 */
    L2K_ENCODER_PLT,                 /* 0 or 1: packet lengths in tile-part headers; 0 */
    L2K_ENCODER_TLM,                 /* 0 or 1: tile-part lengths in the main header; 0 */
    L2K_ENCODER_TILE_PARTS,          /* l2k_tile_parts; one */
    L2K_ENCODER_THREADS,             /* 0 = all processors; 1 starts none; 0 */
    L2K_ENCODER_BACKEND,             /* l2k_backend; auto */
    L2K_ENCODER_LIMIT_SAMPLES,       /* most samples (all components together) accepted; 2^36 */
    L2K_ENCODER_GPU_MIN_SAMPLES,     /* AUTO: samples of a tile (all components) from which on the GPU is taken,
                                        0 = always; 2^62 */
    L2K_ENCODER_LIMIT_MEMORY,        /* most bytes that it has from the allocation hook at a time, itself aside; 2^62 */
    L2K_ENCODER_TIMINGS,             /* 0 or 1: l2k_encoder_timings is wanted; 0 */
    L2K_ENCODER_CPU,                 /* l2k_cpu; auto */
    L2K_ENCODER_NUM_OPTIONS          /* internal: grows with the library */
} l2k_encoder_option;

typedef enum l2k_target {
    L2K_TARGET_RATIO, /* raw size of the image (bits a sample as declared) over size of the output; 1 or less =
                         everything */
    L2K_TARGET_PSNR   /* estimated dB over all components, peak 2^precision - 1; 0 or less = everything */
} l2k_target;

typedef struct l2k_size {
    uint32_t width, height;
} l2k_size;

/* `hooks` may be NULL. Returns NULL only when out of memory. */
L2K_API l2k_encoder *l2k_encoder_new(const l2k_hooks *hooks);
L2K_API void l2k_encoder_free(l2k_encoder *encoder);

/* Sets one option for the next image; L2K_ERROR_ARGUMENT where the value is outside the option's own range,
 * L2K_ERROR_STATE between l2k_encoder_begin and _end, like the next two. Contradictions between options are reported by
 * l2k_encoder_encode. */
L2K_API l2k_status l2k_encoder_set(l2k_encoder *encoder, l2k_encoder_option option, int64_t value);

/* Precinct sizes from the highest resolution down, powers of two 1 to 32768; further resolutions halve the last one
 * given, down to 2. Above the lowest resolution 1 counts as 2. count 0 = maximal precincts. The array is copied. */
L2K_API l2k_status l2k_encoder_set_precincts(l2k_encoder *encoder, const l2k_size *sizes, size_t count);

/* Quality layers, one per target, from the coarsest to the finest; count 0 = one layer with everything. Copied. */
L2K_API l2k_status l2k_encoder_set_layers(l2k_encoder *encoder, l2k_target kind, const double *targets, size_t count);

/* Encodes one image: `planes` has image->num_components entries. All of the output is computed before the first byte is
 * written to `stream`, so an error other than L2K_ERROR_IO leaves the stream untouched.
 *
 * Samples beyond their precision are not looked for: they are coded as others, or L2K_ERROR_ARGUMENT where the
 * codestream has no room for them.
 *
 * Errors: L2K_ERROR_ARGUMENT for what cannot be or contradicts itself; L2K_ERROR_LIMIT, L2K_ERROR_MEMORY,
 * L2K_ERROR_BACKEND, L2K_ERROR_IO, L2K_ERROR_CANCELLED. */
L2K_API l2k_status l2k_encoder_encode(l2k_encoder *encoder, const l2k_image *image, const l2k_plane *planes,
                                      const l2k_stream *stream);

/* The same into memory: *bytes, *count of them, belong to the encoder and stay until its next call, or until it is
 * freed. */
L2K_API l2k_status l2k_encoder_encode_memory(l2k_encoder *encoder, const l2k_image *image, const l2k_plane *planes,
                                             const uint8_t **bytes, size_t *count);

/* An image that is larger than memory: encoded by rows of tiles, top to bottom, each written when it is done.
 *
 *     l2k_encoder_begin           image and options as for l2k_encoder_encode; main header
 *     l2k_encoder_next_rows       which part of the image is wanted next, until there is none
 *     l2k_encoder_put_rows        that part
 *     l2k_encoder_end             what comes last
 *
 * A failure anywhere, l2k_encoder_begin and _encode end it, too; not so a call without its arguments, or one that puts
 * rows when there are none left, which change nothing. An image is given up by ending it before all rows were put,
 * which is L2K_ERROR_STATE.
 *
 * The file is the one that l2k_encoder_encode writes, but for this: layer targets hold for each row of tiles by itself;
 * where RCT needs a third guard bit, only tiles of that row say so (QCD in a tile-part header); and without the
 * stream's `rewrite`, the codestream box is of unstated length (I.4: LBox 0), and TLM is L2K_ERROR_ARGUMENT. `image`,
 * what it points to and `stream` must stay until the end. */
L2K_API l2k_status l2k_encoder_begin(l2k_encoder *encoder, const l2k_image *image, const l2k_stream *stream);

/* The rows of the reference grid, [y0, y1), that one row of tiles covers within the image area; y0 == y1 when all were
 * put. L2K_ERROR_STATE outside of begin and end, like the next two. */
L2K_API l2k_status l2k_encoder_next_rows(const l2k_encoder *encoder, uint32_t *y0, uint32_t *y1);

/* `planes` as for l2k_encoder_encode, but the first row of component c is row ceil(y0 / dy) of its domain (B-12), and
 * there are ceil(y1 / dy) - ceil(y0 / dy) of them. They are no longer needed when it returns. */
L2K_API l2k_status l2k_encoder_put_rows(l2k_encoder *encoder, const l2k_plane *planes);
L2K_API l2k_status l2k_encoder_end(l2k_encoder *encoder);

/* Seconds of the last image in each stage, as far as it got. Where threads have tiles of their own, of which the mean
 * counts, and with a GPU at work beside the threads, stages overlap. All 0 without the option TIMINGS. */
L2K_API void l2k_encoder_timings(const l2k_encoder *encoder, double seconds[L2K_NUM_STAGES]);

/* ---- Decoder ------------------------------------------------------------------------------------------------- */

typedef struct l2k_decoder l2k_decoder;

typedef enum l2k_decoder_option {
    L2K_DECODER_REDUCE = 0, /* highest resolutions to leave out, 0 to 32; 0 */
    L2K_DECODER_LAYERS,     /* quality layers to decode, 0 = all; 0 */
    L2K_DECODER_COMPONENT,  /* -1 = all; else only this codestream component, before the inverse component transform */
    L2K_DECODER_THREADS,    /* 0 = all processors; 1 starts none; 0 */
    L2K_DECODER_BACKEND,    /* l2k_backend; auto */
    /* Most samples of the whole image accepted, with and without palette. 0: 2^36, and no more than take 8 MiB, in the
     * smallest types that hold them, and another 128 KiB for each byte of the file; to be set before opening; 0 */
    L2K_DECODER_LIMIT_SAMPLES,
    L2K_DECODER_LIMIT_BYTES,     /* most bytes read from the stream; 2^40 */
    L2K_DECODER_GPU_MIN_SAMPLES, /* as for the encoder, after reduction */
    /* 1: a stream that ends early is L2K_ERROR_TRUNCATED; damaged packets, tile-parts behind the first that cannot be,
     * and boxes that the standard forbids but that can be read, are L2K_ERROR_CORRUPT; to be set before opening; 0 */
    L2K_DECODER_STRICT,
    /* Most bytes that the object has from the allocation hook at a time, itself aside. 0: 24 MiB and 64 KiB for each
     * byte of the file, beside the file; to be set before opening; 0 */
    L2K_DECODER_LIMIT_MEMORY,
    L2K_DECODER_TIMINGS,          /* 0 or 1: l2k_decoder_timings is wanted; 0 */
    L2K_DECODER_LIMIT_COMPONENTS, /* most components of the codestream accepted, 1 to 16384; 16384 */
    L2K_DECODER_LIMIT_TILES,      /* most tiles accepted, 1 to 65535; 65535 */
    L2K_DECODER_CPU,              /* l2k_cpu; auto */
    L2K_DECODER_NUM_OPTIONS       /* internal: grows with the library */
} l2k_decoder_option;

/* What a file holds, in the words of its main header. */
typedef struct l2k_info {
    l2k_image image; /* as coded: before palette, region and reduction; valid until the decoder is freed or reopened */
    l2k_format format;
    uint32_t profile;                 /* Rsiz */
    uint32_t tile_x0, tile_y0;        /* XTOsiz, YTOsiz */
    uint32_t tile_width, tile_height; /* XTsiz, YTsiz */
    uint32_t tiles_across, tiles_down;
    uint32_t num_tile_parts; /* found in the codestream */
    l2k_wavelet wavelet;     /* of component 0, like the next ones */
    uint32_t levels;
    uint32_t block_width, block_height;
    uint32_t style; /* l2k_style values */
    uint32_t guard_bits;
    bool default_precincts;
    l2k_size precincts[L2K_MAX_LEVELS + 1]; /* lowest resolution first */
    l2k_progression progression;
    uint32_t num_layers;
    bool component_transform;
    bool sop, eph;
    uint32_t palette_entries; /* 0 = no palette */
    uint64_t codestream_bytes;
    const char *comment; /* the first Latin-1 COM text, or NULL */
} l2k_info;

/* A box at the top level or inside the JP2 header box (Annex I). */
typedef struct l2k_box {
    char type[5];    /* four characters and a 0 */
    uint32_t depth;  /* 0 top level, 1 inside jp2h, 2 inside its resolution box */
    uint64_t offset; /* of the box header in the file */
    uint64_t bytes;  /* header included */
} l2k_box;

/* `hooks` may be NULL. Returns NULL only when out of memory. */
L2K_API l2k_decoder *l2k_decoder_new(const l2k_hooks *hooks);
L2K_API void l2k_decoder_free(l2k_decoder *decoder);

/* Sets one option, from the next call on, and for all files; L2K_ERROR_ARGUMENT where the value is outside its range.
 */
L2K_API l2k_status l2k_decoder_set(l2k_decoder *decoder, l2k_decoder_option option, int64_t value);

/* Restricts decoding to a part of the reference grid, from the next call on and for all files; it is clipped to the
 * image area, so that 0, 0, UINT32_MAX, UINT32_MAX is all of it. L2K_ERROR_ARGUMENT where it is empty, here or, once
 * clipped, in l2k_decoder_image and _decode. */
L2K_API l2k_status l2k_decoder_set_region(l2k_decoder *decoder, uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1);

/* Reads the whole stream and the headers. JP2 or bare codestream is told by content.
 *
 * Errors, after which nothing is open: L2K_ERROR_FORMAT, L2K_ERROR_CORRUPT, L2K_ERROR_TRUNCATED, L2K_ERROR_UNSUPPORTED,
 * L2K_ERROR_LIMIT, L2K_ERROR_MEMORY, L2K_ERROR_IO, L2K_ERROR_CANCELLED, L2K_ERROR_ARGUMENT without a stream. */
L2K_API l2k_status l2k_decoder_open(l2k_decoder *decoder, const l2k_stream *stream);

/* The same for a file in memory, such as a mapped one: nothing is copied, so the bytes must stay as they are until the
 * decoder is freed or opens another file. Decoding a region, fewer resolutions or one component then reads, besides
 * headers, only what it needs. */
L2K_API l2k_status l2k_decoder_open_memory(l2k_decoder *decoder, const void *data, size_t bytes);

/* Facts of the opened file (A.5, A.6; Annex I). L2K_ERROR_STATE where none is open, as in the next ones. */
L2K_API l2k_status l2k_decoder_info(l2k_decoder *decoder, l2k_info *info);

/* The box number `index` in file order; L2K_ERROR_ARGUMENT past the last one, without a message. */
L2K_API l2k_status l2k_decoder_box(const l2k_decoder *decoder, size_t index, l2k_box *box);

/* What l2k_decoder_decode will give under the options set so far: palette applied, channels put into colour order by
 * the channel definition. Pointers are valid until the decoder is freed, reopened or asked again.
 * L2K_ERROR_ARGUMENT for a component that is not there or a region outside the image. */
L2K_API l2k_status l2k_decoder_image(l2k_decoder *decoder, l2k_image *image);

/* Decodes into the caller's planes, one per component of l2k_decoder_image. After an error their content is
 * unspecified. L2K_INCOMPLETE: the stream ends early or is damaged, and the planes hold what there is of the picture:
 * fewer bit-planes or resolutions in places, 0 in tiles of which there is nothing at all.
 *
 * Errors: those of l2k_decoder_image; L2K_ERROR_ARGUMENT also for planes that are missing or cannot hold the samples,
 * and more resolutions to leave out than a tile has; L2K_ERROR_CORRUPT, L2K_ERROR_TRUNCATED, L2K_ERROR_UNSUPPORTED,
 * L2K_ERROR_LIMIT, L2K_ERROR_MEMORY, L2K_ERROR_BACKEND, L2K_ERROR_CANCELLED. */
L2K_API l2k_status l2k_decoder_decode(l2k_decoder *decoder, const l2k_plane *planes);

/* l2k_decoder_open_memory, _image and _decode in one call: *planes are image->num_components planes of the decoder's own,
 * each packed, in the smallest sample type that holds its component. Image and planes are valid until the decoder's next
 * call, or until it is freed. `data` must stay as long. Returns and errors as those three. */
L2K_API l2k_status l2k_decoder_decode_memory(l2k_decoder *decoder, const void *data, size_t bytes, l2k_image *image,
                                             const l2k_plane **planes);

/* As l2k_encoder_timings, since the file was opened. */
L2K_API void l2k_decoder_timings(const l2k_decoder *decoder, double seconds[L2K_NUM_STAGES]);

/* ---- Transform ------------------------------------------------------------------------------------------------------
 *
 * The transform stage alone, for a block coder of one's own: DC level shift and component transform (Annex G), wavelet
 * (Annex F) and quantiser (Annex E) of one tile, forward or inverse, on the host's memory or on a GPU's:
 *
 *     l2k_transform_new, _set, _set_steps      what is wanted
 *     l2k_transform_prepare                    checks it, and takes all memory for a tile
 *     l2k_transform_forward or _inverse        as often as one likes, without taking any more
 *     l2k_transform_coefficients, _subband     where the coefficients lie, and what they mean
 *     l2k_transform_free
 *
 * Every backend gives the same coefficients and samples to the bit, and they are the encoder's and the decoder's. */

typedef struct l2k_transform l2k_transform;

typedef enum l2k_direction { L2K_FORWARD = 0, L2K_INVERSE } l2k_direction;

/* Where planes and coefficients of a transform lie: in the host's memory, or in that of the CUDA device which is
 * current when the transform is prepared, and which must then be current in all calls with the transform. */
typedef enum l2k_memory { L2K_MEMORY_HOST = 0, L2K_MEMORY_DEVICE } l2k_memory;

typedef enum l2k_transform_option {
    L2K_TRANSFORM_DIRECTION = 0,       /* l2k_direction; forward */
    L2K_TRANSFORM_WAVELET,             /* l2k_wavelet; 5/3 */
    L2K_TRANSFORM_LEVELS,              /* decomposition levels of every component, 0 to 32; 5 */
    L2K_TRANSFORM_REDUCE,              /* inverse: highest resolutions to leave out, at most the levels; 0 */
    L2K_TRANSFORM_COMPONENT_TRANSFORM, /* 1: RCT or ICT on the first three components, which must be alike; 0 */
    L2K_TRANSFORM_COEFFICIENTS,        /* l2k_coefficient_type; int32 */
    L2K_TRANSFORM_MEMORY,              /* l2k_memory; host */
    L2K_TRANSFORM_BACKEND,             /* l2k_backend, for device memory auto or CUDA; auto */
    L2K_TRANSFORM_THREADS,             /* of the CPU, 0 = all processors; 0 */
    L2K_TRANSFORM_LIMIT_SAMPLES,       /* most samples (all components together) accepted; 2^36 */
    L2K_TRANSFORM_GPU_MIN_SAMPLES,     /* as for the encoder */
    L2K_TRANSFORM_CPU,                 /* l2k_cpu; auto */
    L2K_TRANSFORM_NUM_OPTIONS          /* internal: grows with the library */
} l2k_transform_option;

/* The type of a coefficient in memory. */
typedef enum l2k_coefficient_type {
    L2K_COEFFICIENT_INT16 = 0, /* keeps the low 16 bits; forward only where no coefficient can need more */
    L2K_COEFFICIENT_INT32,
    L2K_COEFFICIENT_FLOAT32 /* 9/7 only: not quantised, and not rounded either way */
} l2k_coefficient_type;

static inline size_t l2k_coefficient_bytes(l2k_coefficient_type type)
{
    return type == L2K_COEFFICIENT_INT16 ? sizeof(int16_t) : sizeof(int32_t);
}

/* Subband orientations; bit 0 = horizontally high-pass, bit 1 = vertically high-pass. */
typedef enum l2k_orientation { L2K_LL = 0, L2K_HL = 1, L2K_LH = 2, L2K_HH = 3 } l2k_orientation;

/* Subbands are numbered as in the QCD marker segment (A.6.4): 0 = LL, then HL, LH, HH from the lowest resolution to the
 * highest. Resolution 0 has only LL. */
#define L2K_MAX_SUBBANDS (3 * L2K_MAX_LEVELS + 1)

static inline unsigned l2k_band_number(unsigned resolution, unsigned orientation)
{
    return resolution == 0 ? 0 : 3 * (resolution - 1) + orientation;
}

static inline unsigned l2k_band_resolution(unsigned band)
{
    return (band + 2) / 3;
}

static inline unsigned l2k_band_orientation(unsigned band)
{
    return band == 0 ? 0 : (band - 1) % 3 + 1;
}

/* The decomposition level nb of the subbands of a resolution (F.1): `levels` for the lowest two, 1 for the highest. */
static inline unsigned l2k_band_level(unsigned levels, unsigned resolution)
{
    return resolution == 0 ? levels : levels - resolution + 1;
}

/* A subband inside a coefficient view: offset and size in coefficients. Both sizes may be 0. */
typedef struct l2k_band_view {
    uint32_t x, y, width, height;
} l2k_band_view;

/* The coefficients of one tile-component in Mallat layout: the subbands of the lowest resolution top left. Coefficient
 * (x, y) of band b is element (bands[b].y + y) * stride + bands[b].x + x from `base` on.
 *
 * Values, int16 or int32. Forward 5/3: the coefficient. Forward 9/7: the quantiser index with its sign (E.2).
 * Inverse 5/3: the coefficient. Inverse 9/7: twice the index at which to reconstruct, so that the middle of an interval
 * is an integer: +-(2q + 1) for an index of magnitude q > 0 that is known to its last bit, 0 for 0.
 * Values, float32 (9/7). Both ways: the coefficient in units of samples, before quantisation. */
typedef struct l2k_coefficients {
    void *base;                /* in host or device memory */
    l2k_coefficient_type type; /* of an element */
    bool on_device;
    size_t stride; /* coefficients from one row to the next */
    uint32_t width, height;
    uint32_t num_bands;
    l2k_band_view bands[L2K_MAX_SUBBANDS];
} l2k_coefficients;

/* epsilon_b and mu_b of a quantiser step (E-3), as QCD has them. */
typedef struct l2k_step {
    uint8_t exponent;  /* 0 to 31 */
    uint16_t mantissa; /* 0 to 2047 */
} l2k_step;

/* What a block coder has to know about a subband. */
typedef struct l2k_subband_info {
    uint32_t resolution; /* 0 = the lowest */
    l2k_orientation orientation;
    uint32_t level;          /* nb (F.1) */
    uint32_t x0, y0, x1, y1; /* in the subband's own domain (B-15), where precincts and code-blocks have their grids */
    l2k_step step;           /* what QCD or QCC says; 5/3: the exponent alone */
    float step_size;         /* Delta_b (E-3) in units of samples; 5/3: 1 */
    uint32_t magnitude_bits; /* Mb (E-2) with the codestream's guard bits; of a transform, with two, and after RCT a
                                coefficient may need one bit more */
} l2k_subband_info;

/* `hooks` may be NULL. Returns NULL only when out of memory. */
L2K_API l2k_transform *l2k_transform_new(const l2k_hooks *hooks);

/* NULL is allowed. Runs on device memory must have come to their end; the coefficients go with the transform. */
L2K_API void l2k_transform_free(l2k_transform *transform);

/* Sets one option for the next l2k_transform_prepare; L2K_ERROR_ARGUMENT where the value is outside the option's own
 * range. */
L2K_API l2k_status l2k_transform_set(l2k_transform *transform, l2k_transform_option option, int64_t value);

#define L2K_ALL_COMPONENTS UINT32_MAX

/* Quantiser steps of the 9/7 in place of the encoder's choice, for the next l2k_transform_prepare: 3 * levels + 1 of
 * them, for all components, as QCD has them, or for one of them, as QCC does, which takes precedence. count 0 = the
 * encoder's choice again. The array is copied. L2K_ERROR_ARGUMENT, L2K_ERROR_MEMORY. */
L2K_API l2k_status l2k_transform_set_steps(l2k_transform *transform, uint32_t component, const l2k_step *steps,
                                           size_t count);

/* Device memory that l2k_transform_prepare would take for `tile` under the options set so far, were it to run on the
 * CUDA backend; nothing is taken on a device, and none need be there. L2K_ERROR_BACKEND in a build without CUDA; else
 * the errors of l2k_transform_prepare that concern tile and options. */
L2K_API l2k_status l2k_transform_device_bytes(const l2k_transform *transform, const l2k_image *tile, uint64_t *bytes);

/* Makes ready for a tile and takes all memory. `tile` gives its area on the reference grid (x0, y0, x1, y1) and the
 * components' dx, dy, precision (forward: 1 to 24, 9/7 to 16; inverse: 1 to 31) and is_signed; the rest of it does not
 * matter. An image that is not cut into tiles is its own tile. A tile-component without samples is possible.
 *
 * May be called again, for another tile or other options: views and subbands told before are void then, also where it
 * fails, which leaves the transform unprepared. Runs on device memory must have come to their end, and
 * graphs with them are not to be launched again. It is cheap where sizes, parities and all else stay as they were.
 *
 * Errors: L2K_ERROR_ARGUMENT for what cannot be or contradicts itself, L2K_ERROR_LIMIT, L2K_ERROR_MEMORY (of the host
 * or the device), L2K_ERROR_BACKEND where CUDA or device memory is wanted and cannot be had. */
L2K_API l2k_status l2k_transform_prepare(l2k_transform *transform, const l2k_image *tile);

/* The backend of the prepared transform, CPU or CUDA; AUTO where it is not prepared. */
L2K_API l2k_backend l2k_transform_backend(const l2k_transform *transform);

/* The coefficients of a component. Forward runs fill them; inverse runs read what the caller put there and leave it as
 * it is. The view is valid until the transform is prepared again or freed. base is aligned to 64 bytes and the stride a
 * multiple of 32; what lies right of the width has no meaning. NULL, with a message, where the transform is not
 * prepared or has no such component. */
L2K_API const l2k_coefficients *l2k_transform_coefficients(const l2k_transform *transform, uint32_t component);

/* What is to be known about a subband, `band` being below num_bands of the component's view. L2K_ERROR_STATE where the
 * transform is not prepared, L2K_ERROR_ARGUMENT where there is no such component or subband. */
L2K_API l2k_status l2k_transform_subband(const l2k_transform *transform, uint32_t component, uint32_t band,
                                         l2k_subband_info *subband);

/* Runs on host memory: forward from planes to coefficients, inverse from coefficients to planes, and back when all is
 * done. There is a plane for every component, its first sample the top left one of the tile-component (B-12), of the
 * resolution that is left of it where some are left out; sizes follow from l2k_component_size and B-14. Data and
 * strides must be multiples of the sample's size. Planes of L2K_SAMPLE_F32 take no part in a component transform,
 * and in host memory they are for the CPU alone: ask for L2K_BACKEND_CPU then, not for AUTO.
 *
 * L2K_ERROR_STATE where the transform is not prepared, or for the other direction or memory; L2K_ERROR_ARGUMENT for
 * planes that are missing or whose type cannot hold the component's samples; L2K_ERROR_BACKEND where the GPU fails.
 * After an error coefficients and samples are unspecified. */
L2K_API l2k_status l2k_transform_forward(l2k_transform *transform, const l2k_plane *planes);
L2K_API l2k_status l2k_transform_inverse(l2k_transform *transform, const l2k_plane *planes);

/* The same on device memory: plane.data are device pointers, and `stream` is a cudaStream_t (NULL is CUDA's default
 * stream). They put the work onto the stream and return; planes are read or written, and coefficients there or needed,
 * when the stream comes to it. All they do is launch kernels, so a stream that is captured into a graph will do. Runs
 * of one transform share its memory: on several streams, it is the caller who keeps them apart. Failures of a run in
 * progress are CUDA's to report, when the stream is waited for. */
L2K_API l2k_status l2k_transform_forward_on_device(l2k_transform *transform, const l2k_plane *planes, void *stream);
L2K_API l2k_status l2k_transform_inverse_on_device(l2k_transform *transform, const l2k_plane *planes, void *stream);

/* ---- Coefficients of a codestream -----------------------------------------------------------------------------------
 *
 * What a codestream holds before the inverse transform, to look at it or to do something else with it. */

/* One tile-component. Everything it points to is valid only during the call that hands it out. */
typedef struct l2k_tile_coefficients {
    uint32_t tile, component; /* component of the codestream: no palette, no channel definition */
    uint32_t x0, y0, x1, y1;  /* of the tile-component, unreduced, in the component's domain (B-12) */
    uint32_t levels;          /* NL, of this tile-component */
    l2k_wavelet wavelet;
    bool component_transform; /* it is one of three that RCT or ICT made */
    /* Always int32, on the host, without the resolutions that the option REDUCE leaves out. Values are those of a
     * forward transform: 5/3 the coefficient, 9/7 the quantiser index with its sign, about 1 / step_size of the
     * coefficient. Where the codestream or the option LAYERS leaves the p > 0 last bits of a magnitude open, it is the
     * middle of what it can be, with the last p bits 10..0, or 0 where no 1 comes before them. */
    const l2k_coefficients *view;
    const l2k_subband_info *bands; /* view->num_bands of them */
} l2k_tile_coefficients;

/* Takes a tile-component. Any status but L2K_OK ends the call of l2k_decoder_coefficients, which then returns it. */
typedef l2k_status (*l2k_coefficient_sink)(void *user, const l2k_tile_coefficients *coefficients);

/* Decodes tier-1 of a tile (Annex D), counted from 0 in raster order, and hands its components to `sink`, one after the
 * other in their order and on the calling thread. The options REDUCE, LAYERS, COMPONENT, THREADS and the limits apply;
 * a region does not, and the CPU does it all. It takes 4 bytes a coefficient of the tile; `sink` must not call
 * functions of the decoder.
 *
 * L2K_INCOMPLETE: the stream ends early; coefficients are given as far as it goes. Of a tile of which it has nothing at
 * all none are given. L2K_ERROR_ARGUMENT where there is no such tile or component, or where a component of the tile has
 * fewer resolutions than are to be left out; L2K_ERROR_STATE where no file is open; else the errors of
 * l2k_decoder_decode. */
L2K_API l2k_status l2k_decoder_coefficients(l2k_decoder *decoder, uint32_t tile, l2k_coefficient_sink sink, void *user);

#ifdef __cplusplus
}
#endif

#endif
