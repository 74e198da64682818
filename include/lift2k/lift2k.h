/* lift2k: a JPEG 2000 codec (ISO/IEC 15444-1, ITU-T T.800).
 *
 * This is the library's only public header. It needs nothing but the C11 standard headers.
 *
 * Conventions
 *  - Every fallible function returns an l2k_status; L2K_OK is 0. On failure the message hook receives one line that
 *    says what is wrong and where. The library never prints, never exits and keeps no global state.
 *  - Coordinates are the standard's: the reference grid of Annex B, 32-bit, half open: [x0, x1) x [y0, y1).
 *  - Objects are opaque and belong to the caller, who frees them with the matching l2k_..._free, which takes NULL.
 *  - An object may be used by one thread at a time; different objects are independent. Hooks may be called from several
 *    threads at once.
 *  - Options are an enum and an integer, so that the set can grow without changing the ABI. */
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
#define L2K_VERSION_MINOR 2
#define L2K_VERSION_PATCH 0

/* The version of the library that was linked, as "MAJOR.MINOR.PATCH". Static storage. */
L2K_API const char *l2k_version(void);

/* ---- Status -------------------------------------------------------------------------------------------------- */

typedef enum l2k_status {
    L2K_OK = 0,
    L2K_ERROR_ARGUMENT,    /* a value outside its range, or contradictory options */
    L2K_ERROR_STATE,       /* a call out of order, for example decoding before opening */
    L2K_ERROR_MEMORY,      /* the allocation hook returned NULL, or the GPU is out of memory */
    L2K_ERROR_LIMIT,       /* a limit would be exceeded; detected before memory is allocated for it */
    L2K_ERROR_IO,          /* a stream callback reported a failure */
    L2K_ERROR_FORMAT,      /* the input is not JPEG 2000 at all */
    L2K_ERROR_CORRUPT,     /* the input breaks the standard's syntax */
    L2K_ERROR_TRUNCATED,   /* the input ends before the image is complete */
    L2K_ERROR_UNSUPPORTED, /* legal, but not implemented: the message names the marker or box */
    L2K_ERROR_BACKEND,     /* the requested backend or instruction set is not available here, or the GPU failed */
    L2K_INCOMPLETE,        /* not an error: the input is truncated or damaged, and what could be decoded was decoded */
    L2K_ERROR_CANCELLED    /* the progress hook asked to stop */
} l2k_status;

/* A short English phrase for a status, for example "out of memory". Static storage. */
L2K_API const char *l2k_strerror(l2k_status status);

/* ---- Hooks --------------------------------------------------------------------------------------------------- */

typedef enum l2k_severity { L2K_SEVERITY_ERROR, L2K_SEVERITY_WARNING, L2K_SEVERITY_NOTE } l2k_severity;

/* Any member may be NULL: malloc and free are then used, messages are dropped, and progress is not reported.
 *
 * `allocate` returns memory aligned for any C object, or NULL; `release` takes it back. Encoders and decoders keep
 * memory, tables and transform plans from image to image: once two images of a shape have been coded, another one
 * allocates only what its coded bytes need beyond theirs, or a few blocks with several threads. Memory is returned once
 * two images have not used it, and when the object is freed. GPU memory, pinned memory, thread stacks and the C
 * library's qsort do not use these hooks.
 *
 * `message`: `text` has no trailing newline and is valid only during the call. If several threads fail, each reports
 * its own line, in any order; the status is that of the first tile that failed.
 *
 * `progress` is called on the thread that called the library, at most every 20 ms and not at the end, with the fraction
 * done, from 0 to 1, which never decreases. If it returns false, the call ends with L2K_ERROR_CANCELLED: within a tenth
 * of a second for ordinary images on the CPU, within a tile on a GPU. Images of extreme shape (rows of many millions of
 * samples, millions of packets or precincts) may take longer. Cancelling, like any other error during encoding or
 * decoding, returns all memory of the object. The hook must not call functions on the object at work. */
typedef struct l2k_hooks {
    void *(*allocate)(void *user, size_t bytes);
    void (*release)(void *user, void *block);
    void (*message)(void *user, l2k_severity severity, const char *text);
    bool (*progress)(void *user, double done);
    void *user;
} l2k_hooks;

/* A sequential stream. It is never rewound, so pipes work. A decoder needs `read`, an encoder `write`. `read` stores up
 * to `bytes` bytes and returns how many, 0 at the end, -1 on failure. `write` takes all `bytes` bytes and returns 0, or
 * -1 on failure. `rewrite` may be NULL; only encoding by rows (l2k_encoder_begin) uses it. It replaces `bytes`
 * bytes at `offset`, counted from the first byte written; all of them have been written before. It returns what `write`
 * returns. */
typedef struct l2k_stream {
    ptrdiff_t (*read)(void *user, void *buffer, size_t bytes);
    int (*write)(void *user, const void *buffer, size_t bytes);
    int (*rewrite)(void *user, uint64_t offset, const void *buffer, size_t bytes);
    void *user;
} l2k_stream;

/* A file that is read in parts as they are needed: on a disk, behind HTTP range requests, inside another file.
 * `read_at` stores the `bytes` bytes at `offset`, all of which exist, and returns 0, or -1 on failure. A decoder calls
 * it from one thread at a time; decoders that share a file (l2k_decoder_open_again) may call it at the same time.
 *
 * Where it cannot wait for bytes, it returns 1. The call then asks for other bytes that it needs and fails with
 * L2K_ERROR_IO; made again, when the bytes are there, it gets further. */
typedef struct l2k_file {
    uint64_t bytes;
    int (*read_at)(void *user, uint64_t offset, void *buffer, size_t bytes);
    void *user;
} l2k_file;

/* ---- Time ---------------------------------------------------------------------------------------------------- */

/* Stages of encoding and decoding, for timings. Upload, transform and download on a GPU overlap each other and the
 * CPU's tier-1; on the CPU the whole transform stage counts as transform. */
typedef enum l2k_stage {
    L2K_STAGE_READ = 0,  /* the stream's `read`, headers, packet headers (tier-2 when decoding) */
    L2K_STAGE_UPLOAD,    /* to the GPU */
    L2K_STAGE_TRANSFORM, /* level shift, component transform, wavelet, quantiser */
    L2K_STAGE_DOWNLOAD,  /* from the GPU */
    L2K_STAGE_TIER1,     /* code-blocks */
    L2K_STAGE_RATE,      /* rate control */
    L2K_STAGE_TIER2,     /* packets and markers when encoding */
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

/* How CIELab samples (ISO/IEC 15444-2, M.11.7.4.1) map to L*, a* and b*: (sample - offset) * range / (2^precision - 1);
 * and the illuminant as stored in the file (0x00443530 is D50). All members are 0 where the file uses the defaults:
 * ranges 100, 170, 200, offsets 0, 2^(p-1), 2^(p-2) + 2^(p-3), D50. */
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

/* One component (A.5.1). The encoder accepts precisions of 1 to 24 (9/7: to 16), the decoder returns 1 to 31. */
typedef struct l2k_component {
    uint32_t dx, dy;    /* XRsiz, YRsiz: sub-sampling relative to the reference grid, 1 to 255 */
    uint32_t precision; /* bits per sample */
    bool is_signed;
    l2k_channel channel;    /* JP2 only: what the component means (I.5.3.6) */
    uint32_t association;   /* JP2 only: 0 the whole image, 1.. that colour, 65535 none */
    uint32_t width, height; /* samples; the decoder fills them in, the encoder ignores them (see l2k_component_size) */
} l2k_component;

/* What kind of metadata a box holds: content that is not part of the picture itself. */
typedef enum l2k_content {
    L2K_CONTENT_OTHER = 0, /* any other box: see its type */
    L2K_CONTENT_XMP,       /* an XMP packet in UTF-8 (UUID box be7acfcb-97a9-42e8-9c71-999491e3afac) */
    L2K_CONTENT_EXIF,      /* a TIFF stream, from its "II" or "MM" on (4a706754-6966-6645-7869-662d3e4a5032) */
    L2K_CONTENT_IPTC,      /* IIM records (33c7a4d2-b81d-4723-a0ba-f1a3e097ad38) */
    L2K_CONTENT_GEOTIFF,   /* GeoJP2: a small GeoTIFF file (b14bf8bd-083d-4b43-a5ae-8cd7d5a6ce03) */
    L2K_CONTENT_UUID,      /* a UUID box (I.7.2) with any other ID */
    L2K_CONTENT_XML,       /* an XML document (I.7.1) */
    L2K_CONTENT_LABEL      /* the text of a label box, UTF-8 without a final 0 (ISO/IEC 15444-2, M.11.13) */
} l2k_content;

/* A box that was read, or one to write. `data` starts after the box header and, in a UUID box, after the ID; for Exif
 * it also omits the "Exif\0\0" that some writers put first. */
typedef struct l2k_box_data {
    l2k_content content;
    char type[5];        /* four characters and a 0; the encoder needs it for L2K_CONTENT_OTHER only */
    uint8_t uuid[16];    /* the ID of a UUID box; the encoder needs it for L2K_CONTENT_UUID only */
    uint32_t depth;      /* 0: at the top level; else in the nearest box before it whose depth is one less */
    const uint8_t *data; /* for an association box (asoc): the boxes in it, one after the other */
    size_t bytes;
} l2k_box_data;

typedef struct l2k_image {
    uint32_t x0, y0, x1, y1; /* the image area on the reference grid: XOsiz, YOsiz, Xsiz, Ysiz */
    uint32_t num_components; /* 1 to L2K_MAX_COMPONENTS */
    const l2k_component *components;
    l2k_colour colour;
    const uint8_t *icc; /* ICC profile, or NULL */
    size_t icc_bytes;
    double density_x, density_y; /* pixels per metre, 0 where unknown */
    l2k_lab lab;                 /* L2K_COLOUR_CIELAB only */
    /* Encoder, JP2 only: boxes to write between the header box and the codestream, in this order, with their content
     * unchanged. They do not count towards layer targets. A type that the library itself writes or reads is
     * L2K_ERROR_ARGUMENT. The decoder sets NULL and 0: see l2k_decoder_box_data.
     *
     * The boxes inside an association box follow it with a greater `depth`, at most 16; the association box itself has
     * no `data`. An association whose first box is the label "gml.data" is GMLJP2 (OGC 08-085): with a codestream of
     * Part 1 the file then declares itself a JPX file as well and gets a reader requirements box with GML (67; 15444-2,
     * M.11.1). */
    const l2k_box_data *boxes;
    size_t num_boxes;
} l2k_image;

/* Size in samples of component c: ceil(x1 / dx) - ceil(x0 / dx), and the same for y (B-2). */
L2K_API void l2k_component_size(const l2k_image *image, uint32_t c, uint32_t *width, uint32_t *height);

typedef enum l2k_sample_type {
    L2K_SAMPLE_U8,
    L2K_SAMPLE_S8,
    L2K_SAMPLE_U16,
    L2K_SAMPLE_S16,
    L2K_SAMPLE_S32,
    L2K_SAMPLE_F32 /* l2k_transform only: 9/7, no level shift, no clamp */
} l2k_sample_type;

/* The samples of one component in the caller's memory, in native byte order. Strides are in bytes, so interleaved
 * pixels are planes that share a buffer. An unsigned component of precision p holds 0 .. 2^p - 1, a signed one -2^(p-1)
 * .. 2^(p-1) - 1; the type must be able to hold that range. */
typedef struct l2k_plane {
    void *data; /* the first sample of the first row; never written by an encoder */
    ptrdiff_t row_stride;
    ptrdiff_t sample_stride;
    l2k_sample_type type;
} l2k_plane;

/* ---- Shared option values ------------------------------------------------------------------------------------ */

/* Part 1 has two wavelets (Annex F). The others are lifting kernels of Part 2 (T.801, Annex H). Those from haar to
 * fidelity, 1-3 apart, are the wavelets of VC-2 (SMPTE ST 2042-1), without the extra bits that VC-2 gives some of them;
 * the 5/3 is the remaining one. 1-3 is the 5/3 without its update step, so that reduced pictures hold exactly every
 * second sample. w4 is the orthonormal Daubechies wavelet with four coefficients. The last two values stand for kernels
 * that a caller or a codestream describes. */
typedef enum l2k_wavelet {
    L2K_WAVELET_5_3 = 0, /* reversible */
    L2K_WAVELET_9_7,     /* irreversible */
    L2K_WAVELET_HAAR,    /* reversible, like the next five */
    L2K_WAVELET_1_3,
    L2K_WAVELET_DD_9_7, /* Deslauriers-Dubuc */
    L2K_WAVELET_DD_13_7,
    L2K_WAVELET_DAUBECHIES_INT, /* the 9/7 in integers, without scaling */
    L2K_WAVELET_FIDELITY,
    L2K_WAVELET_W4, /* irreversible */
    L2K_WAVELET_REVERSIBLE_KERNEL,
    L2K_WAVELET_IRREVERSIBLE_KERNEL
} l2k_wavelet;

/* "5/3", "dd-9-7" and so on; "reversible kernel" or "irreversible kernel" for the last two. Static, never NULL. */
L2K_API const char *l2k_wavelet_name(l2k_wavelet wavelet);

/* Whether the inverse restores every sample. The component transform of such wavelets is the RCT, of others the ICT. */
L2K_API bool l2k_wavelet_reversible(l2k_wavelet wavelet);

/* Progression orders, valued as in Table A.16. */
typedef enum l2k_progression { L2K_LRCP = 0, L2K_RLCP, L2K_RPCL, L2K_PCRL, L2K_CPRL } l2k_progression;

/* Code-block styles, valued as in Table A.19; combine with |. */
typedef enum l2k_style {
    L2K_STYLE_BYPASS = 1,
    L2K_STYLE_RESET = 2,
    L2K_STYLE_TERMALL = 4,
    L2K_STYLE_VSC = 8,
    L2K_STYLE_PTERM = 16,
    L2K_STYLE_SEGSYM = 32,
    L2K_STYLE_HT = 64,       /* high-throughput code-blocks (Part 15); when encoding, alone or with VSC */
    L2K_STYLE_HT_MIXED = 128 /* decoder only, with HT: both HT and MQ code-blocks */
} l2k_style;

typedef enum l2k_tile_parts {
    L2K_TILE_PARTS_ONE = 0, /* one tile-part per tile */
    L2K_TILE_PARTS_RESOLUTION,
    L2K_TILE_PARTS_LAYER,
    L2K_TILE_PARTS_COMPONENT
} l2k_tile_parts;

/* With HT code-blocks, JP2 becomes JPH (Annex D of T.814), which has the same boxes. */
typedef enum l2k_format { L2K_FORMAT_JP2 = 0, L2K_FORMAT_CODESTREAM } l2k_format;

/* Where the transform stage and code-blocks are done and, when encoding one tile, layer and tile-part, packets; the
 * result is the same to the bit. Rate control, other packets and packet headers when decoding stay on the CPU. AUTO
 * uses the GPU, if there is one, for tiles of at least GPU_MIN_SAMPLES samples, and the CPU otherwise, or (with a note)
 * if the GPU runs out of memory or fails. -2 stands for the numbers from which on the GPU was measured to be faster
 * than 16 processors, from and to host memory; MQ and HT, encoding and decoding have numbers of their own
 * (transform/choice.h). The default, -1, is the same once the object's images are worth opening the device, which takes
 * a tenth of a second or more: for HT after 2^29 samples, for MQ after 2^26. CUDA is the GPU or L2K_ERROR_BACKEND.
 * OPENCL is any OpenCL device likewise, GPUs before CPUs; AUTO takes an OpenCL GPU where CUDA has none, and an OpenCL
 * CPU only if DEVICE names it.
 *
 * Memory of the GPU, and pinned memory for what crosses the bus, do not come from the allocation hook, and LIMIT_MEMORY
 * does not count them: they are in proportion to the samples and the coded bytes of the image, or mostly of two tiles
 * of a tiled one, which LIMIT_SAMPLES and the size of the file bound. */
typedef enum l2k_backend { L2K_BACKEND_AUTO = 0, L2K_BACKEND_CPU, L2K_BACKEND_CUDA, L2K_BACKEND_OPENCL } l2k_backend;

/* Where planes, and a transform's coefficients, are: in host memory, or in memory of the object's device: CUDA's, or
 * for a transform OpenCL's. Encoding reads a device in aligned units of 16 bytes, of which the last may reach beyond the
 * samples; compute-sanitizer reports that at the end of an allocation. */
typedef enum l2k_memory { L2K_MEMORY_HOST = 0, L2K_MEMORY_DEVICE } l2k_memory;

/* Instruction sets of the CPU's row functions; the result is the same to the bit. AUTO takes the fastest set that the
 * processor and the build support. Any other value forces that set; if it is not supported, the work fails with
 * L2K_ERROR_BACKEND when it starts. */
typedef enum l2k_cpu {
    L2K_CPU_AUTO = 0,
    L2K_CPU_C,
    L2K_CPU_AVX2,
    L2K_CPU_AVX512,
    L2K_CPU_NEON,
    L2K_CPU_SIMD128
} l2k_cpu;

/* Whether the transform stage can run on a backend on this machine. Writes the name of the processor that it runs on
 * (the GPU's name), or why it cannot be used, to `text`, cut to `bytes` including the final 0; `bytes` may be 0. */
L2K_API bool l2k_backend_usable(l2k_backend backend, char *text, size_t bytes);

/* CUDA devices are known by their ordinals, as CUDA_VISIBLE_DEVICES leaves them, and OpenCL's by the next numbers, GPUs
 * first; a GPU may have a number in both. Numbers are 0 to 62. With the option DEVICE
 * all memory and work of an object is on that device, whatever the calling thread's current device is, which a call
 * leaves as it was; streams and device memory that the caller gives must be that device's. A device that cannot be used
 * is L2K_ERROR_BACKEND, or, with backend auto, a note, and the CPU does the work. Where another device is set, the
 * next call releases all that the object kept on the one before.
 *
 * DEVICES replaces DEVICE by a set of devices, bit n for device n; 0 is none. Encoder and decoder divide the tiles of
 * an image, or of a row of tiles, and the images of a batch among them. An image of one tile runs on the first device,
 * and so does one whose quantiser steps have to reach a size or PSNR. If one of several devices fails, the others take
 * over its images of a batch and, with backend auto, its tiles; the CPU finishes the tiles that were under way, with a
 * note. With CUDA, an image fails with any device that has some of its tiles. Planes cannot be in device memory
 * (L2K_ERROR_ARGUMENT).
 *
 * Without these options (-1, 0) an object uses the device that is current when it is first used. That device must be
 * current in every later call with the object that may use a GPU, the last one included. */
typedef struct l2k_device_info {
    char name[128];
    uint64_t memory_bytes;
    uint32_t compute_major, compute_minor; /* CUDA: compute capability */
    uint32_t processors;                   /* multiprocessors, or compute units */
    bool usable;
    char reason[128]; /* why it cannot be used, else "" */
    l2k_backend backend;
    char vendor[64], driver[64]; /* as the device's driver names them */
} l2k_device_info;

/* Describes a device by its number, 0 for the first: CUDA's, then OpenCL's. False past the last one, also without a
 * driver or in a build without these backends, which l2k_backend_usable tells. Opens no device. */
L2K_API bool l2k_device(uint32_t device, l2k_device_info *info);

/* The cl_context of an OpenCL device, by its number, or -1 for the first; NULL where it cannot be used. The library has
 * one context for each device, which it keeps: callers make the command queues and memory objects there that they give
 * to l2k_transform_forward_on_device. */
L2K_API void *l2k_opencl_context(int32_t device);

/* ---- Encoder ------------------------------------------------------------------------------------------------- */

typedef struct l2k_encoder l2k_encoder;

typedef enum l2k_encoder_option {
    L2K_ENCODER_FORMAT = 0,          /* l2k_format; JP2 */
    L2K_ENCODER_WAVELET,             /* l2k_wavelet; the last two need l2k_encoder_set_kernel; 5/3 */
    L2K_ENCODER_LEVELS,              /* decomposition levels 0 to 32; 5 */
    L2K_ENCODER_TILE_WIDTH,          /* 0 = one tile; 0 */
    L2K_ENCODER_TILE_HEIGHT,         /* 0 = one tile; 0 */
    L2K_ENCODER_TILE_X0,             /* XTOsiz, at most x0; 0 */
    L2K_ENCODER_TILE_Y0,             /* YTOsiz, at most y0; 0 */
    L2K_ENCODER_BLOCK_WIDTH,         /* power of two 4 to 1024, area at most 4096; 64 */
    L2K_ENCODER_BLOCK_HEIGHT,        /* as the width; 64 */
    L2K_ENCODER_PROGRESSION,         /* l2k_progression; LRCP */
    L2K_ENCODER_STYLE,               /* l2k_style values combined with |; 0 */
    L2K_ENCODER_COMPONENT_TRANSFORM, /* 0 never; 1 on the first three components where the standard allows it. Until it
                                      * is set: 1 if the image's colours are just these, or it says they are RGB */
    L2K_ENCODER_SOP,                 /* 0 or 1: SOP marker segments; 0 */
    L2K_ENCODER_EPH,                 /* 0 or 1: EPH markers; 0 */
    L2K_ENCODER_PLT,                 /* 0 or 1: packet lengths in tile-part headers; 0 */
    L2K_ENCODER_TLM,                 /* 0 or 1: tile-part lengths in the main header; 0 */
    L2K_ENCODER_TILE_PARTS,          /* l2k_tile_parts; one */
    L2K_ENCODER_THREADS,             /* 0 = all processors; 1 starts none; 0 */
    L2K_ENCODER_BACKEND,             /* l2k_backend; auto */
    L2K_ENCODER_LIMIT_SAMPLES,       /* most samples (all components together) accepted; 2^36 */
    L2K_ENCODER_GPU_MIN_SAMPLES,     /* AUTO: least samples of a tile (all components) for the GPU; 0 = always,
                                        -1 and -2: see l2k_backend; -1 */
    L2K_ENCODER_LIMIT_MEMORY, /* most bytes held from the allocation hook, not counting the object itself; 2^62 */
    L2K_ENCODER_TIMINGS,      /* 0 or 1: record times for l2k_encoder_timings; 0 */
    L2K_ENCODER_CPU,          /* l2k_cpu; auto */
    L2K_ENCODER_HT_PASSES,    /* most coding passes of an HT code-block: 1 cleanup, 2 and SigProp, 3 and MagRef; 1 */
    L2K_ENCODER_MEMORY,       /* l2k_memory of the planes, of any stride: device for backend auto, which then tries the
                                 GPU for any size, or CUDA. What only the CPU does is done with copies; host */
    L2K_ENCODER_IN_FLIGHT,  /* images that l2k_encoder_encode_batch codes at once, 1 to 64; 0 = as many as are good. For
                               other calls: images in flight at the same time, on objects beside this one as well; 0 */
    L2K_ENCODER_DEVICE,     /* the device that all of the object is on; -1 = the current one; -1 */
    L2K_ENCODER_DEVICES,    /* in its place a set of devices, bit n for device n; 0 = none; 0 */
    L2K_ENCODER_GUARD_BITS, /* 1 to 7 (E-2); one more where the samples of an image need it; 2 */
    L2K_ENCODER_ROI_COMPONENT,   /* the component all of whose samples are a region of interest, -1 = none; -1 */
    L2K_ENCODER_ROI_SHIFT,       /* by how many bit-planes its coefficients are shifted up (RGN, Annex H), 0 to 37. Most
                                    decoders, this one too, take up to 30 bit-planes, shift included. Not for HT; 0 */
    L2K_ENCODER_BY_TILE,         /* 1: l2k_encoder_begin to _end work by tiles instead of rows of tiles; 0 */
    L2K_ENCODER_PROFILE,         /* Rsiz, 0 to 65535 (see l2k_encoder_set_profile); 0 */
    L2K_ENCODER_MAX_BYTES,       /* most bytes of the output, whatever layers ask for, 0 = any; 0 */
    L2K_ENCODER_COMPONENT_BYTES, /* most bytes of the packets of each component, 0 = any; 0 */
    L2K_ENCODER_QUALITY, /* quality factor, 1 to 100: in place of a base step, steps by what eyes see in the subbands of
                            luma and chroma (WG1 N101553); 0 = none; 0 */
    L2K_ENCODER_VISUAL,  /* distance, in samples of the picture, of the eyes whose contrast sensitivity weighs the
                            errors in subbands: for ratios, limits of bytes and PSNRs, and in steps, but those that the
                            9/7 has by default. 0 = all errors alike, 1 to 16000; 0 */
    L2K_ENCODER_NUM_OPTIONS /* internal: grows with the library */
} l2k_encoder_option;

typedef enum l2k_target {
    L2K_TARGET_RATIO, /* raw size of the image (at the declared bits per sample) over the size of the output without
                         image->boxes; 1 or less = everything */
    L2K_TARGET_PSNR   /* dB over all components, peak 2^precision - 1; 0 or less = everything. With MQ code-blocks it is
                         an estimate: above 45 dB up to 2 dB too high with the 5/3; with the 9/7 it omits the error of
                         the quantiser steps: with the default steps 8-bit images end near 50 dB. */
} l2k_target;

typedef struct l2k_size {
    uint32_t width, height;
} l2k_size;

/* `hooks` may be NULL. Returns NULL only when out of memory. */
L2K_API l2k_encoder *l2k_encoder_new(const l2k_hooks *hooks);
L2K_API void l2k_encoder_free(l2k_encoder *encoder);

/* Sets one option for the next image. L2K_ERROR_ARGUMENT if the value is outside the option's range; L2K_ERROR_STATE
 * between l2k_encoder_begin and _end, also from the next two functions. Contradictions between options are reported by
 * l2k_encoder_encode. */
L2K_API l2k_status l2k_encoder_set(l2k_encoder *encoder, l2k_encoder_option option, int64_t value);

/* Precinct sizes from the highest resolution down, powers of two from 1 to 32768. Further resolutions halve the last
 * size given, down to 2. Above the lowest resolution, 1 counts as 2. count 0 = maximal precincts. The array is
 * copied. */
L2K_API l2k_status l2k_encoder_set_precincts(l2k_encoder *encoder, const l2k_size *sizes, size_t count);

/* Sets the wavelet option to a lifting kernel described by a text, as l2k_transform_set_kernel does. Any wavelet other
 * than Part 1's two makes the codestream one of Part 2 (T.801): an ATK marker segment describes the kernel, and Rsiz
 * announces it. Errors: L2K_ERROR_ARGUMENT, L2K_ERROR_MEMORY, L2K_ERROR_STATE between begin and end of an image. */
L2K_API l2k_status l2k_encoder_set_kernel(l2k_encoder *encoder, const char *text);

/* The directions in which decomposition levels split, a letter for each from the highest resolution on: 'b' both ways,
 * 'h' horizontally only, 'v' vertically only. Further levels split both ways, so "" is Part 1. Anything else makes the
 * codestream one of Part 2 (T.801, A.3), with a DFS marker segment; there may not be more letters than levels.
 * Errors: L2K_ERROR_ARGUMENT, L2K_ERROR_STATE between begin and end of an image. */
L2K_API l2k_status l2k_encoder_set_splits(l2k_encoder *encoder, const char *text);

/* The palette (I.5.3.4) of the next images, which then have one unsigned component of indices into it. It has `count`
 * entries, at most 1024, each of `channels` 8-bit samples: 3 colours, or 4 with opacity. image->colour describes the
 * entries. count 0 = no palette. JP2 only. The entries are copied. Errors: L2K_ERROR_ARGUMENT, L2K_ERROR_STATE between
 * begin and end of an image. */
L2K_API l2k_status l2k_encoder_set_palette(l2k_encoder *encoder, const uint8_t *entries, size_t count,
                                           unsigned channels);

/* Quality layers, one per target, from the coarsest to the finest. After a layer with everything, further ones must
 * also ask for everything, and are empty. count 0 = one layer with everything. The array is copied.
 *
 * An HT code-block is truncated at the target of the last layer, and at most three passes of it make the layers above. A
 * ratio ends within 0.5 % below the size, from some 50 kB on. With the 9/7 and without l2k_encoder_set_step, quantiser
 * steps are chosen for the target first. This keeps the coefficients of all tiles, 2 or 4 bytes a sample. By rows of
 * tiles, each row has its own steps. */
L2K_API l2k_status l2k_encoder_set_layers(l2k_encoder *encoder, l2k_target kind, const double *targets, size_t count);

/* The base step of the 9/7's quantiser, as a fraction of the range of the samples. Subband b gets the step base *
 * 2^precision / (L2 norm of its synthesis basis), rounded to what QCD can express, so one step is worth the same error
 * in every subband. 0 = the default, about 2^-precision. L2K_ERROR_ARGUMENT for other values outside 2^-24 to 1. */
L2K_API l2k_status l2k_encoder_set_step(l2k_encoder *encoder, double base);

/* A progression order change (POC, A.6.6): selects, of the packets not yet written, those of resolutions and components
 * [start, end) and of layers below layer_end, and puts them in a progression order of its own. */
#define L2K_ALL_TILES UINT32_MAX
typedef struct l2k_poc {
    uint32_t tile; /* its number, from 0 in raster order; L2K_ALL_TILES: every tile without changes of its own */
    l2k_progression progression;
    uint32_t resolution_start,
        resolution_end;                      /* 0 is the lowest; end at most 33; those that do not exist are ignored */
    uint32_t component_start, component_end; /* end at most 16384; those that do not exist are ignored */
    uint32_t layer_end;                      /* 1 to 65535; those that do not exist are ignored */
} l2k_poc;

/* Progression order changes, which replace the option PROGRESSION; each tile takes its own in the order of the array.
 * count 0 = none. Each change starts a tile-part, in addition to those of TILE_PARTS. At most 7281. The array is
 * copied. L2K_ERROR_ARGUMENT for ranges that are empty or too large; when encoding, also if a tile's changes leave
 * packets out or the tile does not exist. */
L2K_API l2k_status l2k_encoder_set_poc(l2k_encoder *encoder, const l2k_poc *changes, size_t count);

/* The text of the COM marker segment, Latin-1, at most 65531 bytes. NULL, the default, writes the library's own text;
 * "" writes no COM. The text is copied. */
L2K_API l2k_status l2k_encoder_set_comment(l2k_encoder *encoder, const char *text);

/* Profiles, as values of Rsiz. To an IMF profile (SMPTE ST 2067-21), add the main level, 0 to 11, and 16 times the
 * sub-level, 0 to 9; to one of broadcast, the level, 1 to 5, or 6 or 7 with an R. Those with an R are reversible. */
typedef enum l2k_profile {
    L2K_PROFILE_NONE = 0,
    L2K_PROFILE_CINEMA_2K = 3,
    L2K_PROFILE_CINEMA_4K = 4,
    L2K_PROFILE_BROADCAST = 0x0100, /* one tile */
    L2K_PROFILE_BROADCAST_MULTI = 0x0200,
    L2K_PROFILE_BROADCAST_MULTI_R = 0x0300,
    L2K_PROFILE_IMF_2K = 0x0400,
    L2K_PROFILE_IMF_4K = 0x0500,
    L2K_PROFILE_IMF_8K = 0x0600,
    L2K_PROFILE_IMF_2K_R = 0x0700,
    L2K_PROFILE_IMF_4K_R = 0x0800,
    L2K_PROFILE_IMF_8K_R = 0x0900
} l2k_profile;

/* Sets PROFILE. One of these also fixes, as OpenJPEG chooses them: wavelet, code-blocks of 32 x 32 (broadcast: sides of
 * 32 to 128), precincts of 256 (lowest resolution 128), CPRL, tile-parts by component, TLM, no styles, no region of
 * interest, no tile origin, one tile (R: or the tile sizes that the profile allows; broadcast multi: or four), one
 * layer, and for 4K cinema two progressions (POC); levels within the profile's; and limits of bytes: for cinema, those
 * at the given frames per second, 24 if 0; for IMF and broadcast, those of the level, none if it or the rate is 0.
 * Lower values of MAX_BYTES and COMPONENT_BYTES apply. An option set to anything else, before or after this call, is
 * L2K_ERROR_ARGUMENT when encoding. Options keep their values; L2K_PROFILE_NONE lifts what a profile fixed. Any other
 * value sets PROFILE alone, and so does l2k_encoder_set with any value. L2K_ERROR_ARGUMENT for cinema rates other than
 * 24 and 48, for rates that are neither 0 nor 0.01 to 10000, and for IMF levels that do not exist or do not go
 * together.
 *
 * Encoding checks the image and the options against these profiles, except for bytes and rates: the message of
 * L2K_ERROR_ARGUMENT names the profile and the violation. Other values of Rsiz are written without any check.
 *
 * With HT the profile is that of the codestream's Part 1 counterpart, and checked as such: CPF has its number (A.6 of
 * T.814), 1 to 4094, and Rsiz announces Part 15 alone. */
L2K_API l2k_status l2k_encoder_set_profile(l2k_encoder *encoder, uint32_t profile, double frames_per_second);

/* Whether the options are valid, on their own and for an image: returns the status, and sends the message, that
 * encoding the image would give before it reads samples. */
L2K_API l2k_status l2k_encoder_check(const l2k_encoder *encoder, const l2k_image *image);

/* For planes in device memory: a cudaStream_t. The planes are ready once the stream has completed the work that was
 * enqueued before the call that takes them. NULL, the default, is CUDA's default stream. Encoding itself uses streams
 * of its own; when the call returns, it no longer needs the planes.
 *
 * After the first image of a shape the GPU allocates nothing, unless an image takes more bytes than its samples. Device
 * memory for a frame of 3840 x 2160 RGB, 8 bits, besides the planes: HT 159 MB with the 5/3 and 191 to 212 MB with the
 * 9/7, MQ 453 to 480 MB. */
L2K_API void l2k_encoder_set_stream(l2k_encoder *encoder, void *stream);

/* Encodes one image. `planes` has image->num_components entries. All of the output is computed before the first byte is
 * written to `stream`, so an error other than L2K_ERROR_IO leaves the stream untouched.
 *
 * Samples are not checked against their precision. Samples beyond it are coded as they are; where their coefficients do
 * not fit the type that the precision calls for, they decode to other values, or the call fails with L2K_ERROR_ARGUMENT
 * if the codestream has no room for them.
 *
 * Errors: L2K_ERROR_ARGUMENT for impossible or contradictory settings; L2K_ERROR_LIMIT, L2K_ERROR_MEMORY,
 * L2K_ERROR_BACKEND, L2K_ERROR_IO, L2K_ERROR_CANCELLED. */
L2K_API l2k_status l2k_encoder_encode(l2k_encoder *encoder, const l2k_image *image, const l2k_plane *planes,
                                      const l2k_stream *stream);

/* The same to memory: *bytes points to *count bytes that belong to the encoder and are valid until it encodes again or
 * is freed. After an error *bytes is NULL. */
L2K_API l2k_status l2k_encoder_encode_memory(l2k_encoder *encoder, const l2k_image *image, const l2k_plane *planes,
                                             const uint8_t **bytes, size_t *count);

/* An image of a batch and the outcome. */
typedef struct l2k_encode_item {
    const l2k_image *image;
    const l2k_plane *planes;
    const l2k_stream *stream;
    l2k_status status;
} l2k_encode_item;

/* Encodes several images, of any sizes, with several in flight, so that even small ones keep all processors or the GPU
 * busy. Each result is the one l2k_encoder_encode gives under the same options, whatever L2K_ENCODER_IN_FLIGHT says.
 * Images are finished in any order: threads write the streams of different items at the same time, each after all of
 * its item's output has been computed. An image that fails does not stop the others. Returns the status of the first in
 * the list that failed.
 *
 * Each image in flight has memory of its own, and the limits of samples and memory apply to each separately; THREADS
 * are divided among them. IN_FLIGHT 0 takes at most THREADS images at once, fewer if they are large (2^27 samples
 * together) or a GPU may take part (8); with several DEVICES, that many on each. The threads, and what they keep for
 * the next image, belong to the encoder: once each thread has coded two images of a shape, batches of that shape
 * allocate only for images with more coded bytes. With as many images as are in flight, each thread codes one.
 *
 * Messages name their item ("image 3: ...") and come from several threads at once. Progress is that of the batch; when
 * the progress hook returns false, images that were not done get L2K_ERROR_CANCELLED. Times are those of all images
 * together, divided by the number in flight. With planes in device memory, the same device must be current from batch
 * to batch. The call ends an image between l2k_encoder_begin and _end.
 *
 * Errors: those of l2k_encoder_encode; L2K_ERROR_MEMORY, also for each item, if there is no memory for a single thread;
 * L2K_ERROR_ARGUMENT if items is NULL and count is not 0. A batch of 0 images is L2K_OK. */
L2K_API l2k_status l2k_encoder_encode_batch(l2k_encoder *encoder, l2k_encode_item *items, size_t count);

/* For an image larger than memory: encodes one row of tiles after another, top to bottom, and writes each when it is
 * done.
 *
 *     l2k_encoder_begin           image and options as for l2k_encoder_encode; main header
 *     l2k_encoder_next_rows       which part of the image comes next; empty at the end
 *     l2k_encoder_put_rows        that part
 *     l2k_encoder_end             finishes the file
 *
 * With the option BY_TILE the unit is a tile, in tile order, and l2k_encoder_next_tile tells where the next one is. An
 * image of one tile is taken in strips if the CPU encodes it and no quantiser steps have to reach a target: its coded
 * bytes stay in memory, and the file, written with the last rows, is that of l2k_encoder_encode.
 *
 * Live: to a stream without `rewrite`, such an image in progression PCRL, or CPRL with one component, leaves packet by
 * packet, each when its code-blocks are coded, unless a target, PLT, TLM, POC or a profile with RCT prevents it. Strips
 * are then as low as code-blocks allow, Psot is 0 (A.4.2), and RCT has a third guard bit. With five levels and
 * precincts of 4 << r rows at resolution r, for example, bytes leave every 128 rows.
 *
 * Any failure ends the image, and so do l2k_encoder_begin and _encode. A call with missing arguments, or one that puts
 * rows when none are left, fails without any effect. To abandon an image, end it before all rows were put;
 * l2k_encoder_end then returns L2K_ERROR_STATE.
 *
 * The file is the same as that of l2k_encoder_encode, with these exceptions: layer targets apply to each row of tiles
 * separately, and where quantiser steps have to reach one, the tiles of a row have their own steps (QCD in tile-part
 * headers); where the RCT needs a third guard bit, only the tiles of that row have it (also QCD); without the stream's
 * `rewrite`, the codestream box has no stated length (I.4: LBox 0), CAP states a bound on HT magnitudes that holds for
 * any tile, and TLM is L2K_ERROR_ARGUMENT. `image`, what it points to, and `stream` must stay valid until the end. */
L2K_API l2k_status l2k_encoder_begin(l2k_encoder *encoder, const l2k_image *image, const l2k_stream *stream);

/* The rows of the reference grid, [y0, y1), that the next row of tiles or the next strip takes; y0 == y1 when all have
 * been put. L2K_ERROR_STATE outside of begin and end; so do the next two functions. */
L2K_API l2k_status l2k_encoder_next_rows(const l2k_encoder *encoder, uint32_t *y0, uint32_t *y1);

/* The same as an area, [x0, x1) x [y0, y1): the next tile with the option BY_TILE, else the next row of tiles from edge
 * to edge. */
L2K_API l2k_status l2k_encoder_next_tile(const l2k_encoder *encoder, uint32_t *x0, uint32_t *y0, uint32_t *x1,
                                         uint32_t *y1);

/* `planes` are as for l2k_encoder_encode, but the first row of component c is row ceil(y0 / dy) of its domain (B-12),
 * and there are ceil(y1 / dy) - ceil(y0 / dy) rows; by tiles the same holds for columns. When the call returns, it no
 * longer needs the planes. */
L2K_API l2k_status l2k_encoder_put_rows(l2k_encoder *encoder, const l2k_plane *planes);
L2K_API l2k_status l2k_encoder_end(l2k_encoder *encoder);

/* Seconds that the last image or batch spent in each stage. Threads that each work on their own tiles count with their
 * mean; with a GPU, stages overlap. All 0 without the option TIMINGS. */
L2K_API void l2k_encoder_timings(const l2k_encoder *encoder, double seconds[L2K_NUM_STAGES]);

/* ---- Decoder ------------------------------------------------------------------------------------------------- */

typedef struct l2k_decoder l2k_decoder;

typedef enum l2k_decoder_option {
    L2K_DECODER_REDUCE = 0, /* number of highest resolutions to discard, 0 to 32; 0 */
    L2K_DECODER_LAYERS,     /* quality layers to decode, 0 = all; 0 */
    L2K_DECODER_COMPONENT,  /* -1 = all; else only this codestream component, before the inverse component transform */
    L2K_DECODER_THREADS,    /* 0 = all processors; 1 starts none; 0 */
    L2K_DECODER_BACKEND,    /* l2k_backend; auto */
    /* Most samples accepted, of the whole image, before and after the palette. 0: 2^36, and at most 8 MiB plus 128 KiB
     * for each byte of the file, in the smallest sample types. Set it before opening; 0 */
    L2K_DECODER_LIMIT_SAMPLES,
    L2K_DECODER_LIMIT_BYTES,     /* most bytes read from the stream; 2^40 */
    L2K_DECODER_GPU_MIN_SAMPLES, /* as for the encoder, after reduction */
    /* 1: a truncated stream is L2K_ERROR_TRUNCATED; damaged packets, impossible tile-parts after the first, and boxes
     * that the standard forbids but that can be read are L2K_ERROR_CORRUPT. Set it before opening; 0 */
    L2K_DECODER_STRICT,
    /* Most bytes held from the allocation hook, not counting the object itself. 0: 24 MiB plus 64 KiB for each byte of
     * the file, in addition to the file. The decoder uses as many threads as the limit has room for, judging by the
     * main header, and at least one. Set it before opening; 0 */
    L2K_DECODER_LIMIT_MEMORY,
    L2K_DECODER_TIMINGS,          /* 0 or 1: record times for l2k_decoder_timings; 0 */
    L2K_DECODER_LIMIT_COMPONENTS, /* most components of the codestream accepted, 1 to 16384; 16384 */
    L2K_DECODER_LIMIT_TILES,      /* most tiles accepted, 1 to 65535; 65535 */
    L2K_DECODER_CPU,              /* l2k_cpu; auto */
    /* l2k_memory of the planes of l2k_decoder_decode; host. Device memory needs backend CUDA, or auto, which then means
     * CUDA. The CPU decodes the tiles that the device cannot, with a note, and copies them there. Palettes, and
     * components that are shown several times or not at all, are L2K_ERROR_UNSUPPORTED. */
    L2K_DECODER_MEMORY,
    L2K_DECODER_IN_FLIGHT, /* as for the encoder; 0 */
    /* Most bytes of decoded code-blocks, with their bookkeeping, kept for the next window of an opened file: after a
     * small move, only what is new is decoded. On the CPU; the memory counts towards LIMIT_MEMORY; 0 */
    L2K_DECODER_CACHE_BYTES,
    L2K_DECODER_DEVICE,  /* as for the encoder; -1 */
    L2K_DECODER_DEVICES, /* as for the encoder; 0 */
    /* 1: treats packets as OpenJPEG 2.5.0 does when it is not strict, for callers that replace it. Where the bytes of a
     * packet end early, its code-blocks from there on lose what earlier packets had for them; a header that ends early
     * continues as zeros; damaged headers, and a missing EPH that COD announces, are L2K_ERROR_CORRUPT; 0 */
    L2K_DECODER_LIKE_OPENJPEG,
    /* l2k_backend of the code-blocks. Auto: where the transform runs. CPU: leaves more of the GPU's memory free;
     * coefficients are then uploaded for the code-blocks that have any; auto */
    L2K_DECODER_BLOCK_CODER,
    L2K_DECODER_NUM_OPTIONS /* internal: grows with the library */
} l2k_decoder_option;

/* Which code-blocks are HT code-blocks (bits 15 and 14 of Ccap15): all; all in the components and tiles that say so; or
 * any in those components and tiles. */
typedef enum l2k_ht_blocks { L2K_HT_ONLY = 0, L2K_HT_DECLARED = 2, L2K_HT_MIXED = 3 } l2k_ht_blocks;

/* What the main header of a file says about it. */
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
    const char *comment;   /* the first Latin-1 COM text, or NULL */
    uint32_t capabilities; /* CAP: Pcap, whose bit 32 - n stands for Part n; 0 = no CAP */
    bool ht;               /* CAP announces Part 15 (HTJ2K), and the next five describe its use */
    l2k_ht_blocks ht_blocks;
    bool ht_multiple_sets;           /* code-blocks may have more than one HT set */
    bool ht_regions, ht_mixed_tiles; /* regions of interest are allowed; headers of tiles may differ */
    bool ht_irreversible;            /* the irreversible transform is allowed */
    uint32_t ht_magnitude_bits;      /* the bound B on magnitudes */
    bool tlm, plt;                   /* TLM is in the main header, PLT in that of the first tile-part */
    uint64_t profile_number;         /* PRF; 0 = none */
    int64_t corresponding_profile;   /* CPF; -1 = none */
} l2k_info;

/* A box at the top level, or inside a JP2 header box (Annex I), a UUID info box (I.7.3) or an association box (ISO/IEC
 * 15444-2, M.11.12). Boxes inside boxes are listed down to depth 16. */
typedef struct l2k_box {
    char type[5];    /* four characters and a 0 */
    uint32_t depth;  /* 0 top level, 1 inside a box there, such as jp2h, and so on */
    uint64_t offset; /* of the box header in the file */
    uint64_t bytes;  /* header included */
} l2k_box;

/* `hooks` may be NULL. Returns NULL only when out of memory. */
L2K_API l2k_decoder *l2k_decoder_new(const l2k_hooks *hooks);
L2K_API void l2k_decoder_free(l2k_decoder *decoder);

/* Sets one option, from the next call on, for this file and all others. L2K_ERROR_ARGUMENT if the value is outside its
 * range. */
L2K_API l2k_status l2k_decoder_set(l2k_decoder *decoder, l2k_decoder_option option, int64_t value);

/* Restricts decoding to a part of the reference grid, from the next call on, for this file and all others. The region
 * is clipped to the image area, so 0, 0, UINT32_MAX, UINT32_MAX is all of it. L2K_ERROR_ARGUMENT if it is empty, here
 * or, once clipped, in l2k_decoder_image and _decode. */
L2K_API l2k_status l2k_decoder_set_region(l2k_decoder *decoder, uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1);

/* For planes in device memory: a cudaStream_t. From the next l2k_decoder_decode on, each call waits for the work
 * enqueued there before it writes planes. NULL, the default, is CUDA's default stream. Decoding itself uses streams of
 * its own, and returns when all samples are written. */
L2K_API void l2k_decoder_set_stream(l2k_decoder *decoder, void *stream);

/* Reads the whole stream and parses the headers. JP2 files and bare codestreams are recognised by their content.
 *
 * Errors, after which no file is open: L2K_ERROR_FORMAT, L2K_ERROR_CORRUPT, L2K_ERROR_TRUNCATED, L2K_ERROR_UNSUPPORTED,
 * L2K_ERROR_LIMIT, L2K_ERROR_MEMORY, L2K_ERROR_IO, L2K_ERROR_CANCELLED, L2K_ERROR_ARGUMENT without a stream. */
L2K_API l2k_status l2k_decoder_open(l2k_decoder *decoder, const l2k_stream *stream);

/* The same for a file in memory, such as a mapped one. Nothing is copied: the bytes must stay unchanged until the
 * decoder is freed or opens another file. Decoding a region, fewer resolutions or one component reads only the headers
 * and the bytes it needs. */
L2K_API l2k_status l2k_decoder_open_memory(l2k_decoder *decoder, const void *data, size_t bytes);

/* The same for a file that is read in parts: the headers on opening, then, for each decoding, the bytes that it needs
 * and that were not read before. With PLT or PLM, a window reads little more than the packets of the precincts that it
 * meets. Without them it also reads the headers of all packets before those, unless an earlier window has shown where
 * packets are. With TLM, tile-part headers are read when their tile is wanted. `file` is copied; what its `user` points
 * to must stay valid until the decoder is freed or opens another file.
 *
 * Address space for the whole file is reserved from the system, not from the hooks. The parts read take memory, which
 * counts towards LIMIT_MEMORY; where those of the codestream exceed 16 MiB after a decoding, they are released. Errors
 * as above. */
L2K_API l2k_status l2k_decoder_open_file(l2k_decoder *decoder, const l2k_file *file);

/* How many bytes and calls of `read_at` the opened file has taken so far; 0 for others. */
L2K_API void l2k_decoder_read_count(const l2k_decoder *decoder, uint64_t *bytes, uint64_t *calls);

/* Opens the file that another decoder has opened in memory or in parts, and takes over the places of packets found so
 * far, so that several threads can look at one file, each with its own decoder. `opened` must not be at work during the
 * call. Afterwards neither decoder depends on the other, but both on the same memory or `read_at`. L2K_ERROR_STATE if
 * `opened` has no file open or read it from a stream; otherwise errors as above. */
L2K_API l2k_status l2k_decoder_open_again(l2k_decoder *decoder, const l2k_decoder *opened);

/* Describes the opened file (A.5, A.6; Annex I). L2K_ERROR_STATE if none is open; this also holds for the next
 * functions. */
L2K_API l2k_status l2k_decoder_info(l2k_decoder *decoder, l2k_info *info);

/* Writes the lifting kernel of a component, from the main header, in the text form that l2k_encoder_set_kernel
 * takes: at most `bytes`, including the final 0. *length is the length of the whole text without that 0; Part 1's
 * wavelets give 0 and "". Also L2K_ERROR_ARGUMENT if there is no such component. */
L2K_API l2k_status l2k_decoder_kernel(const l2k_decoder *decoder, uint32_t component, char *text, size_t bytes,
                                      size_t *length);

/* Writes the directions in which the levels of a component split, from the main header, in the letters that
 * l2k_encoder_set_splits takes, one for each level; "" if all split both ways. Otherwise as l2k_decoder_kernel. Such
 * splits change the sizes of reduced images, which B-14 then does not give; l2k_decoder_image does. */
L2K_API l2k_status l2k_decoder_splits(const l2k_decoder *decoder, uint32_t component, char *text, size_t bytes,
                                      size_t *length);

/* The box with number `index` in file order; L2K_ERROR_ARGUMENT past the last one, without a message. */
L2K_API l2k_status l2k_decoder_box(const l2k_decoder *decoder, size_t index, l2k_box *box);

/* The content of that box. data->data points to bytes of the file. With a file in memory they stay valid as long as the
 * file does, otherwise until the decoder's next call. If the file is read in parts, the bytes are read now.
 *
 * L2K_ERROR_ARGUMENT past the last box, without a message. A file read in parts also gives L2K_ERROR_IO,
 * L2K_ERROR_MEMORY, and L2K_ERROR_LIMIT for more bytes than L2K_DECODER_LIMIT_MEMORY. */
L2K_API l2k_status l2k_decoder_box_data(l2k_decoder *decoder, size_t index, l2k_box_data *data);

/* The image that l2k_decoder_decode will return under the present options: palette applied, channels in colour order
 * according to the channel definition. Pointers are valid until the decoder is freed, reopened or called again.
 * L2K_ERROR_ARGUMENT for a component that does not exist or a region outside the image. */
L2K_API l2k_status l2k_decoder_image(l2k_decoder *decoder, l2k_image *image);

/* Decodes into the caller's planes, one per component of l2k_decoder_image; with L2K_DECODER_MEMORY, plane.data are
 * device pointers. A file opened in pinned memory (cudaMallocHost) uploads fastest.
 *
 * L2K_INCOMPLETE: the stream is truncated or damaged, and the planes hold what could be decoded: fewer bit-planes or
 * resolutions in places, 0 in tiles that are missing entirely. After an error the content of the planes is unspecified.
 *
 * Errors: those of l2k_decoder_image; L2K_ERROR_ARGUMENT also for planes that are missing or cannot hold the samples,
 * and for more discarded resolutions than a tile has; L2K_ERROR_CORRUPT, L2K_ERROR_TRUNCATED, L2K_ERROR_UNSUPPORTED,
 * L2K_ERROR_LIMIT, L2K_ERROR_MEMORY, L2K_ERROR_BACKEND, L2K_ERROR_CANCELLED. */
L2K_API l2k_status l2k_decoder_decode(l2k_decoder *decoder, const l2k_plane *planes);

/* Decodes the image of l2k_decoder_image by rows, so that it is never in memory as a whole. After begin, get_rows
 * yields rows y0 to y1 - 1 of the reference grid, as told by next_rows; each plane begins with its component's first
 * sample of these rows, and needs as many rows as l2k_decoder_image gives with a region of them. An image of one tile
 * comes in strips if the CPU decodes it, any other by rows of tiles. After the last row y0 equals y1. `end` returns
 * what l2k_decoder_decode would: L2K_OK, or L2K_INCOMPLETE. Options and region must not change between begin and end.
 * An error of begin or get_rows ends the image, as does any other decoding or opening.
 *
 * Errors: those of l2k_decoder_decode; L2K_ERROR_STATE without begin, and for get_rows after the last row. */
L2K_API l2k_status l2k_decoder_begin(l2k_decoder *decoder);
L2K_API l2k_status l2k_decoder_next_rows(const l2k_decoder *decoder, uint32_t *y0, uint32_t *y1);
L2K_API l2k_status l2k_decoder_get_rows(l2k_decoder *decoder, const l2k_plane *planes);
L2K_API l2k_status l2k_decoder_end(l2k_decoder *decoder);

/* In place of opening a file: takes its next bytes as they arrive, and copies them; 0 bytes end it, and later ones
 * begin another file. L2K_INCOMPLETE until the headers have arrived; then the file is open. Between l2k_decoder_begin
 * and _end, next_rows tells the rows that the bytes so far allow, y0 == y1 < the image's y1 if there are none. An image
 * of one tile that the CPU decodes comes in strips as low as code-blocks allow, each when its packets have arrived. All
 * others, files with packed packet headers, and L2K_DECODER_STRICT wait for the end of the file. A pointer to an ICC
 * profile is valid until the next push. Before the end, limits that depend on the size of the file take at least 4096
 * bytes.
 *
 * Errors close the file: those of l2k_decoder_open, and, with rows under way, of l2k_decoder_get_rows; and
 * L2K_ERROR_UNSUPPORTED for a tile-part header that changes the coding of rows under way. */
L2K_API l2k_status l2k_decoder_push(l2k_decoder *decoder, const void *data, size_t bytes);

/* l2k_decoder_open_memory, _image and _decode in one call. *planes are image->num_components planes that belong to the
 * decoder, each packed, in the smallest sample type that holds its component. Image and planes are valid until the
 * decoder's next call, or until it is freed; `data` must stay valid as long. Returns and errors as for those three;
 * after an error *planes is NULL and no file is open. */
L2K_API l2k_status l2k_decoder_decode_memory(l2k_decoder *decoder, const void *data, size_t bytes, l2k_image *image,
                                             const l2k_plane **planes);

/* A file of a batch, in memory, the planes to decode it into, and the outcome. */
typedef struct l2k_decode_item {
    const void *data;
    size_t bytes;
    const l2k_plane *planes;
    l2k_status status;
} l2k_decode_item;

/* Decodes several files, with several in flight, each as l2k_decoder_open_memory and _decode would under the same
 * options, region included. `planes` has one plane for each component that l2k_decoder_image would give. Everything
 * else is as in l2k_encoder_encode_batch. A file that is open stays open.
 *
 * Returns the status of the first in the list that failed; if none did, L2K_INCOMPLETE if any image has that status.
 * Errors: those of the two functions; for items as in l2k_encoder_encode_batch. */
L2K_API l2k_status l2k_decoder_decode_batch(l2k_decoder *decoder, l2k_decode_item *items, size_t count);

/* Like l2k_encoder_timings, counted since the file was opened, or for the last batch. */
L2K_API void l2k_decoder_timings(const l2k_decoder *decoder, double seconds[L2K_NUM_STAGES]);

/* ---- Transform ------------------------------------------------------------------------------------------------------
 *
 * The transform stage alone, for use with another block coder: DC level shift and component transform (Annex G),
 * wavelet (Annex F) and quantiser (Annex E) of one tile, forward or inverse, in host memory or on a GPU:
 *
 *     l2k_transform_new, _set, _set_steps      settings
 *     l2k_transform_prepare                    checks them and allocates all memory for a tile
 *     l2k_transform_forward or _inverse        any number of times, without further allocation
 *     l2k_transform_coefficients, _subband     where the coefficients are, and what they mean
 *     l2k_transform_free
 *
 * All backends give the same coefficients and samples to the bit, which are also the encoder's and the decoder's. */

typedef struct l2k_transform l2k_transform;

typedef enum l2k_direction { L2K_FORWARD = 0, L2K_INVERSE } l2k_direction;

typedef enum l2k_transform_option {
    L2K_TRANSFORM_DIRECTION = 0,       /* l2k_direction; forward */
    L2K_TRANSFORM_WAVELET,             /* l2k_wavelet; the last two need l2k_transform_set_kernel; 5/3 */
    L2K_TRANSFORM_LEVELS,              /* decomposition levels of every component, 0 to 32; 5 */
    L2K_TRANSFORM_REDUCE,              /* inverse: highest resolutions to discard, at most the levels; 0 */
    L2K_TRANSFORM_COMPONENT_TRANSFORM, /* 1: RCT or ICT on the first three components, which must be alike; 0 */
    L2K_TRANSFORM_COEFFICIENTS,        /* l2k_coefficient_type; int32 */
    L2K_TRANSFORM_MEMORY,              /* l2k_memory; host */
    L2K_TRANSFORM_BACKEND,             /* l2k_backend, for device memory auto (CUDA), CUDA or OpenCL; auto */
    L2K_TRANSFORM_THREADS,             /* of the CPU, 0 = all processors; 0 */
    L2K_TRANSFORM_LIMIT_SAMPLES,       /* most samples (all components together) accepted; 2^36 */
    L2K_TRANSFORM_GPU_MIN_SAMPLES,     /* AUTO: least samples for the GPU, 0 = always; 2^62 */
    L2K_TRANSFORM_CPU,                 /* l2k_cpu; auto */
    L2K_TRANSFORM_DEVICE,              /* as for the encoder; -1 */
    L2K_TRANSFORM_NUM_OPTIONS          /* internal: grows with the library */
} l2k_transform_option;

/* The type of a coefficient in memory. */
typedef enum l2k_coefficient_type {
    L2K_COEFFICIENT_INT16 = 0, /* keeps the low 16 bits; forward only if no coefficient can need more */
    L2K_COEFFICIENT_INT32,
    L2K_COEFFICIENT_FLOAT32 /* irreversible wavelets only: not quantised, and not rounded either way */
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

/* The coefficients of one tile-component in Mallat layout, with the lowest resolution at the top left. Coefficient (x,
 * y) of band b is the element at base + (bands[b].y + y) * stride + bands[b].x + x. If the transform has a region,
 * there may be gaps between the subbands.
 *
 * Values as int16 or int32. Reversible wavelets, both ways: the coefficient. Irreversible ones, forward: the quantiser
 * index with its sign (E.2); inverse: twice the index at which to reconstruct, so that the middle of an interval is an
 * integer: +-(2q + 1) for an index of magnitude q > 0 that is known to its last bit, 0 for 0. Values as float32, both
 * ways: the coefficient in units of samples, before quantisation. */
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

/* What a block coder needs to know about a subband. */
typedef struct l2k_subband_info {
    uint32_t resolution; /* 0 = the lowest */
    l2k_orientation orientation;
    uint32_t level;          /* nb (F.1) */
    uint32_t x0, y0, x1, y1; /* in the subband's own domain (B-15), which holds the grids of precincts and code-blocks;
                                with a region, the part of the subband that the view holds */
    l2k_step step;           /* as in QCD or QCC; reversible: only the exponent */
    float step_size;         /* Delta_b (E-3) in units of samples; 5/3: 1 */
    uint32_t magnitude_bits; /* Mb (E-2) with the codestream's guard bits, or with two from l2k_transform_subband; after
                                RCT a coefficient may need one bit more */
} l2k_subband_info;

/* `hooks` may be NULL. Returns NULL only when out of memory. */
L2K_API l2k_transform *l2k_transform_new(const l2k_hooks *hooks);

/* Takes NULL. Runs on device memory must have finished. Also frees the coefficients. */
L2K_API void l2k_transform_free(l2k_transform *transform);

/* Sets one option for the next l2k_transform_prepare. L2K_ERROR_ARGUMENT if the value is outside the option's range;
 * L2K_ERROR_MEMORY, for the wavelet only. */
L2K_API l2k_status l2k_transform_set(l2k_transform *transform, l2k_transform_option option, int64_t value);

/* Sets the wavelet option to a lifting kernel (T.801, Annex H), described by a text in lines of words; '#' starts a
 * comment:
 *
 *     reversible                            or: irreversible K
 *     border clamp                          or: border mirror
 *     high -1 round 7 shift 4 : 1 -9 -9 1   and so on, a line for each step
 *
 * A step changes all samples of odd coordinates (high) or of even coordinates (low); steps alternate. The first number
 * of a step is its offset; the numbers after the colon are its taps. A high step changes sample 2n + 1, and its tap k
 * applies to sample 2(n + k + offset); a low step changes sample 2n, and its tap k applies to sample 2(n + k + offset)
 * + 1; k counts from 0. The step adds the sum of tap times sample. In a reversible kernel the taps are integers, and
 * the step first adds the rounding to the sum and shifts it right. The inverse subtracts. After the steps of an
 * irreversible kernel, low samples are divided by K and high ones multiplied by it. Where a tap's sample lies outside
 * the line, clamp takes the nearest sample of its parity; mirror reflects the line at its first and last sample.
 *
 * Limits: 8 steps of 32 taps, offsets -31 to 31, shifts to 15, integers of 16 bits, and 64 samples to a side for all
 * steps together. A text that describes a named wavelet selects that wavelet. Errors: L2K_ERROR_ARGUMENT,
 * L2K_ERROR_MEMORY. */
L2K_API l2k_status l2k_transform_set_kernel(l2k_transform *transform, const char *text);

/* The directions in which levels split, in the letters that l2k_encoder_set_splits takes, for the next
 * l2k_transform_prepare. Subbands keep their numbers: those that such a level does not have are empty. With REDUCE, the
 * discarded levels determine the sizes of planes. On the CPU only. L2K_ERROR_ARGUMENT. */
L2K_API l2k_status l2k_transform_set_splits(l2k_transform *transform, const char *text);

#define L2K_ALL_COMPONENTS UINT32_MAX

/* Sets the quantiser steps of the 9/7 for the next l2k_transform_prepare, in place of the encoder's choice: 3 * levels
 * + 1 steps for all components (like QCD) or for one (like QCC, which takes precedence). count 0 = the encoder's choice
 * again. The array is copied. Errors: L2K_ERROR_ARGUMENT, L2K_ERROR_MEMORY. */
L2K_API l2k_status l2k_transform_set_steps(l2k_transform *transform, uint32_t component, const l2k_step *steps,
                                           size_t count);

/* Restricts an inverse transform to a part of the reference grid, from the next l2k_transform_prepare on, which clips
 * it to the tile; so 0, 0, UINT32_MAX, UINT32_MAX is all of it. Planes then have the samples of that part (B-12, then
 * B-14 with REDUCE), and may be empty where components are sub-sampled. Views hold only the coefficients that these
 * samples depend on, which l2k_transform_subband describes; memory and time follow from the region, not from the tile.
 * Samples are equal to those of the whole tile. L2K_ERROR_ARGUMENT if the region is empty; in l2k_transform_prepare,
 * also if it is empty once clipped, or if the transform is forward. */
L2K_API l2k_status l2k_transform_set_region(l2k_transform *transform, uint32_t x0, uint32_t y0, uint32_t x1,
                                            uint32_t y1);

/* Device memory in bytes that l2k_transform_prepare would allocate for `tile` under the present options on CUDA, or
 * on OpenCL if that is the backend. Allocates nothing and needs no device. L2K_ERROR_BACKEND in a build without it;
 * otherwise the errors of l2k_transform_prepare that concern tile and options. */
L2K_API l2k_status l2k_transform_device_bytes(const l2k_transform *transform, const l2k_image *tile, uint64_t *bytes);

/* Prepares for a tile and allocates all memory. `tile` gives its area on the reference grid (x0, y0, x1, y1) and the
 * components' dx, dy, precision (forward: 1 to 24, irreversible to 16; inverse: 1 to 31) and is_signed; other members
 * are ignored. An untiled image is its own tile. Tile-components may be empty.
 *
 * May be called again, for another tile or other options. Views and subbands obtained before are then invalid, also if
 * it fails, which leaves the transform unprepared. Runs on device memory must have finished, and graphs that contain
 * them must not be launched again. The call is cheap if sizes, parities and everything else are unchanged.
 *
 * Errors: L2K_ERROR_ARGUMENT for impossible or contradictory settings, L2K_ERROR_LIMIT, L2K_ERROR_MEMORY (of host or
 * device), L2K_ERROR_BACKEND if CUDA, device memory or an instruction set was requested and is not available. */
L2K_API l2k_status l2k_transform_prepare(l2k_transform *transform, const l2k_image *tile);

/* The backend of the prepared transform; AUTO if it is not prepared. */
L2K_API l2k_backend l2k_transform_backend(const l2k_transform *transform);

/* The coefficients of a component. Forward runs fill them; inverse runs read what the caller stored there and do not
 * change it. The view is valid until the transform is prepared again or freed. base is aligned to 64 bytes and the
 * stride is a multiple of 32; elements beyond the width are undefined. NULL, with a message, if the transform is not
 * prepared or has no such component. */
L2K_API const l2k_coefficients *l2k_transform_coefficients(const l2k_transform *transform, uint32_t component);

/* Describes a subband; `band` is below num_bands of the component's view. L2K_ERROR_STATE if the transform is not
 * prepared, L2K_ERROR_ARGUMENT if there is no such component or subband. */
L2K_API l2k_status l2k_transform_subband(const l2k_transform *transform, uint32_t component, uint32_t band,
                                         l2k_subband_info *subband);

/* Run on host memory, forward from planes to coefficients, inverse from coefficients to planes, and return when
 * finished. There is one plane per component; its first sample is the top left one of the tile-component (B-12), or of
 * the reduced resolution, or of the region there. Sizes follow from l2k_component_size and B-14. Data and strides must
 * be multiples of the sample size. Planes of L2K_SAMPLE_F32 cannot be combined with a component transform, and in host
 * memory they need L2K_BACKEND_CPU, not AUTO.
 *
 * L2K_ERROR_STATE if the transform is not prepared, or for the other direction or memory; L2K_ERROR_ARGUMENT for planes
 * that are missing or whose type cannot hold the component's samples; L2K_ERROR_BACKEND if the GPU fails. After an
 * error coefficients and samples are unspecified. */
L2K_API l2k_status l2k_transform_forward(l2k_transform *transform, const l2k_plane *planes);
L2K_API l2k_status l2k_transform_inverse(l2k_transform *transform, const l2k_plane *planes);

/* The same on device memory: plane.data are device pointers, and `stream` is a cudaStream_t (NULL is CUDA's default
 * stream). They enqueue the work on the stream and return. They only launch kernels, so the stream may be captured into
 * a graph. Runs of one transform share its memory: if they are on several streams, the caller must keep them apart.
 * CUDA reports failures during a run when the stream is synchronised.
 *
 * With OpenCL `stream` is an in-order cl_command_queue, and plane.data are cl_mem, both of l2k_opencl_context; samples
 * begin at the start of a memory object, and strides are not negative. Planes with the same memory object are
 * interleaved there, in the order of the components. The three components of a component transform have samples of one
 * type. NULL is a queue of the transform, for which the call waits. The base of coefficients is a cl_mem as well. */
L2K_API l2k_status l2k_transform_forward_on_device(l2k_transform *transform, const l2k_plane *planes, void *stream);
L2K_API l2k_status l2k_transform_inverse_on_device(l2k_transform *transform, const l2k_plane *planes, void *stream);

/* ---- Volumes --------------------------------------------------------------------------------------------------------
 *
 * The transform in three directions, for slices of computed tomography, bands of a spectrum or frames of video. It
 * takes one slice at a time and holds ten to thirty slices in memory, however many there are; with six levels in Z up
 * to about seventy.
 *
 *     l2k_volume_new, _set              settings
 *     l2k_volume_prepare                checks them, for slices of one shape
 *     l2k_volume_put_slice              forward: a slice of samples, and then
 *     l2k_volume_get_coefficients       slices of coefficients until none is left; then the next slice of samples
 *     l2k_volume_next_coefficients      inverse: which slice of coefficients to store where, until none is wanted
 *     l2k_volume_put_coefficients       it is stored; and then
 *     l2k_volume_get_slice              slices of samples until none is left
 *     l2k_volume_free
 *
 * A slice is what l2k_transform calls a tile, with the same level shift and component transform. Z is a third direction
 * of the same kind as the other two: its coordinates are z0 .. z1 - 1, its low-pass and high-pass are sub-sampled as in
 * B-15, and lines are extended at both ends (Annex F). The levels have one of two orders.
 *
 * Z first: all levels of Z, then all levels of each resulting slice, by l2k_transform's rules. This is good where
 * slices resemble each other more, or less, than neighbours within a slice do, because the numbers of levels are
 * independent. It is the transform of Franco, Bernabe, Fernandez, Ujaldon: Parallel 3D fast wavelet transform on
 * manycore GPUs and multicore CPUs (2010).
 *
 * Isotropic: one level of Z, of columns and of rows; then the same for what is low-pass in all three, and so on, as in
 * van der Laan, Jalba, Roerdink: Accelerating Wavelet Lifting on Graphics Hardware using CUDA (2011). It gives smaller
 * and smaller cubes, which suit pictures that are looked at in three directions.
 *
 * With the 5/3 both orders are lossless. There is no quantiser: coefficients of the 9/7 are float32. The codestream of
 * Part 1 has no place for a third direction. */

typedef struct l2k_volume l2k_volume;

typedef enum l2k_volume_order { L2K_VOLUME_Z_FIRST = 0, L2K_VOLUME_ISOTROPIC } l2k_volume_order;

typedef enum l2k_volume_option {
    L2K_VOLUME_DIRECTION = 0, /* l2k_direction; forward */
    L2K_VOLUME_WAVELET,       /* l2k_wavelet, up to w4; 5/3 */
    L2K_VOLUME_LEVELS,        /* decomposition levels of a slice, 0 to 32; 5 */
    L2K_VOLUME_Z_WAVELET,     /* l2k_wavelet of Z, -1 = that of the slices. Z first, a reversible one goes with any, an
                                 irreversible one with irreversible ones; -1 */
    L2K_VOLUME_Z_LEVELS,      /* 0 to 32; isotropic: as many as L2K_VOLUME_LEVELS; 3 */
    L2K_VOLUME_ORDER,         /* l2k_volume_order; Z first */
    L2K_VOLUME_COMPONENT_TRANSFORM, /* 1: RCT (a reversible Z) or ICT on the first three components; 0 */
    L2K_VOLUME_COEFFICIENTS, /* l2k_coefficient_type: int16 or int32 with the 5/3, int32 with other reversible wavelets,
                                float32 with irreversible ones; -1 = int32 or float32. int16: forward only if no
                                coefficient can need more; inverse, coefficients that need more give unspecified
                                samples; -1 */
    L2K_VOLUME_MEMORY,       /* l2k_memory of planes and coefficients; device needs backend auto or CUDA; host */
    L2K_VOLUME_BACKEND,      /* l2k_backend; auto is the CPU, and CUDA for device memory; auto */
    L2K_VOLUME_THREADS,      /* 0 = all processors; 0 */
    L2K_VOLUME_LIMIT_SAMPLES, /* most samples of a slice (all components) accepted; 2^36 */
    L2K_VOLUME_CPU,           /* l2k_cpu; auto */
    L2K_VOLUME_DEVICE,        /* with CUDA, as for the encoder; -1 */
    L2K_VOLUME_NUM_OPTIONS    /* internal: grows with the library */
} l2k_volume_option;

/* A slice of coefficients: number `index`, from 0, of the low-pass or the high-pass that level `level` of Z produces (1
 * is the finest; 0 where Z has no levels). Z first, of the low-passes only the last level's comes out. Isotropic, the
 * low-pass of each level comes out, without the LL that the next level is made from: there bands[0] is empty. */
typedef struct l2k_volume_slice {
    uint32_t level;
    bool high;
    uint32_t index;
    uint32_t num_components;
    const l2k_coefficients *views; /* one per component, as l2k_transform_coefficients gives them; NULL: no slice */
} l2k_volume_slice;

/* `hooks` may be NULL; progress is not reported. Returns NULL only when out of memory. */
L2K_API l2k_volume *l2k_volume_new(const l2k_hooks *hooks);
L2K_API void l2k_volume_free(l2k_volume *volume);

/* Sets one option for the next l2k_volume_prepare. L2K_ERROR_ARGUMENT if the value is outside the option's range. */
L2K_API l2k_status l2k_volume_set(l2k_volume *volume, l2k_volume_option option, int64_t value);

/* Prepares for a volume of slices z0 .. z1 - 1, at least one. `slice` describes each of them, as for
 * l2k_transform_prepare. May be called again for the next volume, with the same or other options; work under way for
 * another volume is dropped. Memory for slices is allocated as the first ones come.
 *
 * With CUDA and host memory, slices are uploaded and downloaded in groups while others are transformed. Planes in
 * pinned memory are read and written during that time. The planes of a slice that was put must not change until four
 * more slices have been put, or the last slice of the volume. The planes of a slice that was got hold it once four more
 * have been got, or the last slice.
 *
 * Errors: those of l2k_transform_prepare. */
L2K_API l2k_status l2k_volume_prepare(l2k_volume *volume, const l2k_image *slice, uint32_t z0, uint32_t z1);

/* For slices in device memory: a cudaStream_t, set before l2k_volume_prepare. All work is enqueued there, without
 * waiting, for several slices at a time, which are read in place. Planes that were put must keep their samples until
 * l2k_volume_get_coefficients returns a slice; planes that were got are complete when there is nothing more to get for
 * now; both in the stream's order. NULL, the default, is CUDA's default stream. */
L2K_API void l2k_volume_set_stream(l2k_volume *volume, void *stream);

/* The number of slices of coefficients in the low-pass or the high-pass of a level of Z; for level 0, the slices of the
 * volume. 0 without preparation. */
L2K_API uint32_t l2k_volume_depth(const l2k_volume *volume, uint32_t level, bool high);

/* Forward: put_slice takes the next slice of samples, in planes as for l2k_transform_forward. get_coefficients then
 * returns slices of coefficients in an order that suits the transform, ascending within each subband. One slice of
 * samples may give several of them or, for some time, none: slice->views is then NULL. The coefficients belong to the
 * volume and are valid until the next call.
 *
 * L2K_ERROR_STATE without preparation or for the other direction, while slices wait to be got, and once all have been
 * put; L2K_ERROR_ARGUMENT for planes that do not fit; L2K_ERROR_MEMORY, after which the volume must be prepared
 * again. */
L2K_API l2k_status l2k_volume_put_slice(l2k_volume *volume, const l2k_plane *planes);
L2K_API l2k_status l2k_volume_get_coefficients(l2k_volume *volume, l2k_volume_slice *slice);

/* Inverse: next_coefficients tells which slice of coefficients is wanted next, and where the caller is to store it.
 * slice->views is NULL while slices of samples wait to be got, or when nothing more is wanted. Leave an empty bands[0]
 * alone. The order follows from the shape and the backend: slices of samples come out as early as possible, with CUDA
 * and the isotropic order in groups. put_coefficients hands the slice over, and get_slice returns slices of samples in
 * ascending order; *got is false where there are none yet.
 *
 * Errors as above; L2K_ERROR_STATE also for a slice that was not asked for. */
L2K_API l2k_status l2k_volume_next_coefficients(l2k_volume *volume, l2k_volume_slice *slice);
L2K_API l2k_status l2k_volume_put_coefficients(l2k_volume *volume);
L2K_API l2k_status l2k_volume_get_slice(l2k_volume *volume, const l2k_plane *planes, bool *got);

/* ---- Video: Dirac and VC-2 -------------------------------------------------------------------------------------------
 *
 * Decodes Dirac 2.2 and VC-2 (SMPTE ST 2042-1: simple, main, low delay and high quality profiles, without fragments and
 * asymmetric transforms). Bytes of a stream are pushed as they arrive, and frames are pulled in display order. Video does
 * not call the progress hook. Backend, memory and device are set before the first sequence header is
 * decoded; memory of a GPU, and pinned memory, do not come from the allocation hook. */

typedef enum l2k_video_option {
    L2K_VIDEO_LIMIT_SAMPLES = 0, /* most samples of a frame, all components together, on CUDA at most 2^27; 2^27 */
    L2K_VIDEO_LIMIT_MEMORY,      /* most bytes held from the allocation hook, not counting the object itself; 2^62 */
    L2K_VIDEO_CPU,               /* l2k_cpu; auto */
    L2K_VIDEO_BACKEND,    /* l2k_backend: CPU, CUDA (up to eight frames under way), auto (CUDA with a GPU); CPU */
    L2K_VIDEO_MEMORY,     /* l2k_memory of the frames' planes; host */
    L2K_VIDEO_DEVICE,     /* as for the encoder of JPEG 2000; -1 */
    L2K_VIDEO_NUM_OPTIONS /* internal: grows with the library */
} l2k_video_option;

/* The sequence header. Arrays of two are numerator and denominator, or luma and chroma. */
typedef struct l2k_video_sequence {
    uint32_t version, profile, level; /* VC-2 has profiles 0 to 3, Dirac 8 */
    uint32_t width, height;           /* of a frame */
    uint32_t chroma_x, chroma_y;      /* log2 of the sub-sampling of chroma: 0 or 1 */
    uint32_t depth[2];                /* bits of a sample, 1 to 16 */
    uint32_t offset[2], excursion[2]; /* the nominal black or middle, and the range from there */
    uint32_t rate[2], aspect[2];      /* frames per second, width of a sample by its height */
    uint32_t clean[4];                /* as the stream says, may exceed the frame: width, height, left, top */
    uint32_t colour[3];               /* primaries, matrix, transfer function, numbered as in VC-2 */
    bool interlaced, top_field_first; /* the source */
    bool fields;                      /* pictures are fields; frames have both all the same */
    bool wide;                        /* samples are uint16_t: some depth is above 8 */
} l2k_video_sequence;

typedef struct l2k_video_frame {
    l2k_image image; /* three components: YCbCr, RGB, or of unknown colour, by the sequence's matrix */
    const l2k_plane *planes;
    uint32_t number; /* as the stream counts */
    l2k_video_sequence sequence;
} l2k_video_frame;

typedef struct l2k_video_decoder l2k_video_decoder;

/* NULL if memory runs out; `hooks` may be NULL. */
L2K_API l2k_video_decoder *l2k_video_decoder_new(const l2k_hooks *hooks);
L2K_API void l2k_video_decoder_free(l2k_video_decoder *decoder);
L2K_API l2k_status l2k_video_decoder_set(l2k_video_decoder *decoder, l2k_video_option option, int64_t value);

/* Takes the next bytes, which are copied; 0 bytes end the stream. L2K_ERROR_STATE once it has ended. */
L2K_API l2k_status l2k_video_decoder_push(l2k_video_decoder *decoder, const uint8_t *data, size_t bytes);

/* The next frame, valid until the next call; NULL where more bytes are needed, or an ended stream has no more. Bytes
 * between data units are skipped with a warning. L2K_INCOMPLETE: the frame is damaged, or lacks a reference or a field;
 * an earlier frame, or grey, is in place of what is missing. L2K_ERROR_UNSUPPORTED, and L2K_ERROR_LIMIT for frames that
 * are too large: a sequence header, behind which the next call goes on, and whose pictures are left out. L2K_ERROR_MEMORY,
 * and L2K_ERROR_LIMIT for memory: a picture is lost. L2K_ERROR_FORMAT: an ended stream had no frame. L2K_ERROR_BACKEND:
 * CUDA cannot be used, or failed; L2K_ERROR_ARGUMENT: planes in device memory by the CPU. Work that reads planes in device
 * memory must have ended before the next call. */
L2K_API l2k_status l2k_video_decoder_pull(l2k_video_decoder *decoder, const l2k_video_frame **frame);

/* The encoder writes VC-2: high quality or low delay, level 0. */
typedef enum l2k_video_encoder_option {
    L2K_VIDEO_ENCODER_PICTURE_BYTES = 0, /* of each picture, a frame or field, parse info and padding included; 0: as many
                                            as are lossless, high quality only; 0 */
    L2K_VIDEO_ENCODER_WAVELET,           /* VC-2's number: 0 Deslauriers-Dubuc (9,7), 1 LeGall (5,3), 2 Deslauriers-Dubuc
                                            (13,7), 3 Haar, 4 Haar with a shift, 5 Fidelity, 6 Daubechies (9,7); 0 */
    L2K_VIDEO_ENCODER_LEVELS,            /* 1 to 4; 3 */
    L2K_VIDEO_ENCODER_SLICE_WIDTH,       /* about, in luma samples, best a multiple of 2^levels; 32 */
    L2K_VIDEO_ENCODER_SLICE_HEIGHT,      /* likewise; 8 */
    L2K_VIDEO_ENCODER_CPU,               /* l2k_cpu; auto */
    L2K_VIDEO_ENCODER_NUM_OPTIONS        /* internal: grows with the library */
} l2k_video_encoder_option;

typedef struct l2k_video_encoder l2k_video_encoder;

/* As for the decoder; no option is set between begin and end of a stream (L2K_ERROR_STATE). */
L2K_API l2k_video_encoder *l2k_video_encoder_new(const l2k_hooks *hooks);
L2K_API void l2k_video_encoder_free(l2k_video_encoder *encoder);
L2K_API l2k_status l2k_video_encoder_set(l2k_video_encoder *encoder, l2k_video_encoder_option option, int64_t value);

/* Begins a stream, for which `write` alone is called, until its end. Of the sequence, profile is 0 (low delay) or 3 (high
 * quality); version, level and wide are not read. Depths are 8 to 16. Zeros stand for nominal video of the depth
 * (excursion, offset), 25/1 (rate), 1:1 (aspect), the frame (clean). L2K_ERROR_ARGUMENT: what VC-2 does not have, such as
 * odd sizes of what is sub-sampled, or too few bytes; L2K_ERROR_STATE within a stream; L2K_ERROR_MEMORY, L2K_ERROR_IO. */
L2K_API l2k_status l2k_video_encoder_begin(l2k_video_encoder *encoder, const l2k_video_sequence *sequence,
                                           const l2k_stream *stream);

/* Encodes a frame: three planes of L2K_SAMPLE_U8 or L2K_SAMPLE_U16 in host memory, whose samples are cut to the depth.
 * L2K_ERROR_ARGUMENT for other types, L2K_ERROR_STATE without begin; L2K_ERROR_MEMORY, L2K_ERROR_IO, L2K_ERROR_LIMIT (a
 * picture of 4 GB): the frame, or a field of it, is not in the stream. */
L2K_API l2k_status l2k_video_encoder_encode(l2k_video_encoder *encoder, const l2k_plane *planes);

/* Ends the stream, after errors too. L2K_ERROR_STATE without begin, L2K_ERROR_MEMORY, L2K_ERROR_IO. */
L2K_API l2k_status l2k_video_encoder_end(l2k_video_encoder *encoder);

/* ---- Transcoding ---------------------------------------------------------------------------------------------------
 *
 * Writes a file again without the transform: with other code-blocks, packets or tile-parts, with fewer layers or
 * resolutions. Coefficients stay what they are. */

/* Transcodes the file that `decoder` has opened, and writes it to `stream`. The decoder's options REDUCE, LAYERS, THREADS,
 * STRICT and its limits apply; of the encoder's settings those that have been set and do not concern the transform:
 *
 *  - FORMAT: a codestream, or a JP2 or JPH file. By default, what the input is. Boxes are copied as they are and in
 *    their order; the brand changes with the coder (Annex D of T.814), with REDUCE the size in the image header box.
 *  - STYLE: with HT, MQ code-blocks become HT code-blocks; without, HT ones become MQ ones of this style; both keep the
 *    input's VSC. Code-blocks of the right kind, or without this option all, are copied to the byte.
 *  - PROGRESSION or l2k_encoder_set_poc, one of which replaces both of the input; l2k_encoder_set_precincts, of sizes
 *    that cut code-blocks as those of the input do.
 *  - SOP, EPH, PLT, TLM, TILE_PARTS, each by default as in the input; tile-parts, as tile 0 has them, where one of the
 *    divisions makes as many. All tile-parts of a tile follow one another, and packet headers are in the packets.
 *  - l2k_encoder_set_comment, in place of all comments; others are kept, but for those of tile-parts.
 *  - PROFILE, checked as for l2k_encoder_encode. By default, the input's is kept if packets and tile-parts are; with
 *    the other coder, its counterpart.
 *  - THREADS, CPU, LIMIT_MEMORY, TIMINGS.
 *
 * Copied code-blocks keep layers and regions of interest (RGN). Where code-blocks are coded again:
 *
 *  - l2k_decoder_coefficients gives the same values before and after, also where code-blocks lack their last passes: HT
 *    sets and MQ passes end at the same places. Regions of interest are shifted down and RGN dropped; if the background
 *    is not whole but the region is, all code-blocks of its component are coded down to bit-plane 0. Samples are the
 *    same, too, but in that case, or with a region: irreversible ones then differ by half a quantiser step.
 *  - MQ code-blocks become HT code-blocks of one layer, that of all layers that are decoded. HT code-blocks become MQ
 *    ones with the layers that they had: with LAYERS both decode to the same coefficients.
 *
 * REDUCE divides the reference grid: the picture is the one that the decoder gives with it. Tiles must have a regular
 * size then.
 *
 * A stream with `rewrite` gets each tile when it is done, and memory is that of a tile; another one gets the file at the
 * end. The encoder's progress hook is told the whole, the decoder's each tile. The call ends an image between
 * l2k_encoder_begin and _end.
 *
 * L2K_INCOMPLETE: the input is truncated or damaged, and what the decoder could decode is written; a tile that is missing
 * has a tile-part without packets. Damage inside code-blocks that are copied is not seen. L2K_ERROR_ARGUMENT for settings
 * that do not fit the file; L2K_ERROR_UNSUPPORTED for subbands with both HT and MQ code-blocks without STYLE;
 * L2K_ERROR_STATE if no file is open; otherwise the errors of l2k_decoder_decode and l2k_encoder_encode. */
L2K_API l2k_status l2k_encoder_transcode(l2k_encoder *encoder, l2k_decoder *decoder, const l2k_stream *stream);

/* ---- Coefficients of a codestream -----------------------------------------------------------------------------------
 *
 * Subband coefficients of a codestream, before the inverse transform. */

/* One tile-component. Everything it points to is valid only during the call of the sink. */
typedef struct l2k_tile_coefficients {
    uint32_t tile, component; /* component of the codestream: no palette, no channel definition */
    uint32_t x0, y0, x1, y1;  /* of the tile-component, unreduced, in the component's domain (B-12) */
    uint32_t levels;          /* NL, of this tile-component */
    l2k_wavelet wavelet;
    bool component_transform; /* it is one of the three outputs of RCT or ICT */
    /* Always int32, on the host, without the resolutions that the option REDUCE discards. Values are those of a forward
     * transform: with the 5/3 the coefficient, with the 9/7 the quantiser index with its sign, about coefficient /
     * step_size. If the codestream or the option LAYERS leaves the last p > 0 bits of a magnitude unknown, the value is
     * the middle of the possible range, with the last p bits 10..0, or 0 if no 1 precedes them. */
    const l2k_coefficients *view;
    const l2k_subband_info *bands; /* view->num_bands of them */
} l2k_tile_coefficients;

/* Receives a tile-component. Any status but L2K_OK ends the call of l2k_decoder_coefficients, which returns it. */
typedef l2k_status (*l2k_coefficient_sink)(void *user, const l2k_tile_coefficients *coefficients);

/* Decodes the code-blocks of a tile (Annex D), numbered from 0 in raster order, and passes its components to `sink`, in
 * order and on the calling thread. The options REDUCE, LAYERS, COMPONENT, THREADS and the limits apply; a region does
 * not, and all work is done on the CPU. Takes 4 bytes per coefficient of the tile. `sink` must not call functions of
 * the decoder.
 *
 * L2K_INCOMPLETE: the stream is truncated, and coefficients are given as far as it goes; none for a tile that is
 * missing entirely. L2K_ERROR_ARGUMENT if there is no such tile or component, or if a component of the tile has fewer
 * resolutions than are to be discarded; L2K_ERROR_STATE if no file is open; otherwise the errors of
 * l2k_decoder_decode. */
L2K_API l2k_status l2k_decoder_coefficients(l2k_decoder *decoder, uint32_t tile, l2k_coefficient_sink sink, void *user);

#ifdef __cplusplus
}
#endif

#endif
