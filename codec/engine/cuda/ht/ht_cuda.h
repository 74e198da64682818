/* HT code-blocks on a device: the interface between host and kernels. A batch is one piece of pinned memory that goes
 * up in one copy, device memory for the rest, and the results. */
#ifndef L2K_CODEC_ENGINE_CUDA_HT_HT_CUDA_H
#define L2K_CODEC_ENGINE_CUDA_HT_HT_CUDA_H

#include <stdbool.h>

#include "base/scalar.h"
#include "codec/engine/cuda/blocks/cuda_memory.h"
#include "codec/blocks/ht/ht_estimate.h"
#include "codec/blocks/ht/ht_tables.h"

/* The most quads of a code-block and of a row. */
enum { L2K_HT_CUDA_QUADS = 1024, L2K_HT_CUDA_ROW = 512 };

/* Forms of kernels: magnitudes of up to 15 bits, or more; rows of up to 32 quads, or more. Decoding: rows of up to 16.
 * Encoding: coefficients to quantise; refinement passes. */
enum { L2K_HT_WIDE = 1, L2K_HT_LONG = 2, L2K_HT_SHORT = 4, L2K_HT_FLOAT = 4, L2K_HT_REFINED = 8, L2K_HT_FORMS = 16 };

/* Fields of a decoder's table entries, and contexts as places in them: whether a quad has a residual; in the first row
 * of quads the next context; below it, the context's parts from the quad to the left and from those above; BLANK, a
 * context, or below the first row a bit beside it, without a codeword. Residuals are by mode, of which the first row
 * has five, others four; states of MEL. */
enum {
    L2K_HT_CUDA_U_OFF = 1 << 8,
    L2K_HT_CUDA_CONTEXT = 7 << 9,
    L2K_HT_CUDA_WEST = 1 << 10,
    L2K_HT_CUDA_ABOVE = 5 << 9,
    L2K_HT_CUDA_BLANK = 8 << 9,
    L2K_HT_CUDA_FIRST_ENTRIES = 9 * 128,
    L2K_HT_CUDA_ENTRIES = 16 * 128,
    L2K_HT_CUDA_MODES = 4 * 64,
    L2K_HT_CUDA_FIRST_MODES = 5 * 64,
    L2K_HT_CUDA_STATE = 15 << 6,
    L2K_HT_CUDA_RUNS = 13 * 64
};

/* Tables in device memory, made of those of the CPU's coder. A decoder's (ht_decode_quads.cu) are by context and the
 * next seven bits, mode and the next six, state and the next six. */
typedef struct l2k_ht_cuda_tables {
    l2k_ht_codes codes[2];
    l2k_ht_pairs pairs[2];
    uint32_t first_quads[L2K_HT_CUDA_FIRST_ENTRIES], quads[L2K_HT_CUDA_ENTRIES];
    uint32_t residuals[L2K_HT_CUDA_MODES + L2K_HT_CUDA_FIRST_MODES];
    uint32_t runs[L2K_HT_CUDA_RUNS];
} l2k_ht_cuda_tables;

void l2k_ht_cuda_make_tables(l2k_ht_cuda_tables *tables);

/* ---- Encoding ------------------------------------------------------------------------------------------------ */

typedef struct l2k_ht_cuda_encode_block {
    l2k_cuda_view view;
    uint32_t index;   /* of its result */
    float reciprocal; /* of the quantiser step, for coefficients to quantise */
    uint32_t scratch; /* with refinement passes: in units of L2K_HT_CUDA_SCRATCH bytes */
    uint8_t passes;   /* 1: cleanup; 2: SigProp, too; 3: MagRef, too */
    bool causal;
    bool reversible; /* affects the distortion */
    uint8_t band;    /* of truncated blocks: its number in the batch, at most L2K_HT_CUDA_BANDS - 1 */
} l2k_ht_cuda_encode_block;

enum { L2K_HT_CUDA_BANDS = 256 };

/* What the refinement passes of a block leave for its cleanup pass: their lengths, the bits of its largest magnitude,
 * the bit-plane of the cleanup pass, and the number of passes: 0 if nothing is coded, L2K_HT_CUDA_UNCHANGED if the
 * block is coded already. */
typedef struct l2k_ht_cuda_refined {
    uint32_t sigprop, magref;
    uint8_t magnitude_bits, plane, passes;
} l2k_ht_cuda_refined;

enum { L2K_HT_CUDA_UNCHANGED = 255 };

/* As L2K_PASS_TERMINATED. */
#define L2K_HT_CUDA_TERMINATED 0x80000000u

/* Bytes that leave an encoder's ring at a time, the unit of scratch memory. */
enum { L2K_HT_CUDA_SCRATCH = 128 };

/* Scratch memory of a block with refinement passes: its samples without their lowest bit-plane, of 16 or 32 bits, then
 * SigProp, at most two bits a sample, then MagRef, one; both with at most a bit of stuffing for 15. */
typedef struct l2k_ht_cuda_encode_layout {
    uint32_t sigprop, magref, end;
} l2k_ht_cuda_encode_layout;

L2K_HD uint32_t l2k_ht_cuda_copied_stride(const l2k_cuda_view *view)
{
    return (view->width + 1u) & ~1u;
}

L2K_HD l2k_ht_cuda_encode_layout l2k_ht_cuda_lay_out_encoding(const l2k_cuda_view *view, bool wide)
{
    l2k_ht_cuda_encode_layout layout;
    const uint32_t samples = view->width * view->height;
    const uint32_t copied = l2k_ht_cuda_copied_stride(view) * view->height * (wide ? 4 : 2);
    layout.sigprop = (copied + L2K_HT_CUDA_SCRATCH - 1) / L2K_HT_CUDA_SCRATCH;
    layout.magref = layout.sigprop + samples * 2 / 7 / L2K_HT_CUDA_SCRATCH + 2;
    layout.end = layout.magref + samples / 7 / L2K_HT_CUDA_SCRATCH + 2;
    return layout;
}

/* Counters that the warps of a batch share. */
typedef struct l2k_ht_cuda_counters {
    uint32_t next[L2K_HT_FORMS];            /* blocks taken so far, by form */
    uint32_t code;                          /* units of 4 bytes that the code takes, or would take */
    uint32_t failed;                        /* the least index of a block with too large a magnitude */
    uint32_t damaged;                       /* decoding */
    uint64_t planes[L2K_HT_MAX_BIT_PLANES]; /* estimated bytes of the cleanup passes on a plane */
} l2k_ht_cuda_counters;

typedef struct l2k_ht_cuda_encode {
    const l2k_ht_cuda_encode_block *blocks; /* of one form */
    uint32_t num_blocks, form;
    const l2k_ht_cuda_tables *tables;
    l2k_cuda_coded_block *coded;
    uint32_t *pass_ends;          /* three a block, of those with several passes */
    double *gains;                /* of passes, `passes` a block; NULL: not wanted */
    uint32_t passes;              /* 1, or 3 if a block has several */
    l2k_ht_cuda_refined *refined; /* by index */
    uint8_t *scratch;
    l2k_ht_cuda_counters *counters;
    uint8_t *slots;    /* a warp's own memory for a block: MagSgn, then VLC */
    uint8_t *code;     /* of all blocks, in any order */
    uint32_t capacity; /* of the code, in units of 4 bytes */
    uint32_t warps;    /* of the launch */
    /* Truncated blocks, integers all of forms with refinement passes. */
    const l2k_cuda_coded_block *cut; /* by index: passes up to the point of truncation, as estimated; NULL: the rest of
                                        the members is not used */
    uint8_t *points;                 /* by index: the last point and 1; 0: not coded yet */
    float *reciprocals;              /* by band */
} l2k_ht_cuda_encode;

/* Estimates of the points of truncation of blocks (codec/blocks/ht/ht_estimate.h), L2K_HT_CUDA_POINTS for each. */
enum { L2K_HT_CUDA_POINTS = 3 * L2K_HT_MAX_BIT_PLANES - 2 };

typedef struct l2k_ht_cuda_estimation {
    const l2k_ht_cuda_encode_block *blocks;
    uint32_t num_blocks, form;
    const float *reciprocals;
    uint32_t distance;               /* about one in `distance` samples is counted, the same as on the CPU */
    l2k_cuda_coded_block *estimated; /* points pass for coding passes */
    uint32_t *point_ends;
    double *gains;
    l2k_ht_cuda_counters *counters;
    bool sums; /* of bytes by plane are wanted */
} l2k_ht_cuda_estimation;

int l2k_ht_cuda_launch_estimate(const l2k_ht_cuda_estimation *estimation, void *stream);

/* Truncates one in `distance` of the estimated blocks to its cleanup pass on plane 1, others to nothing. Adds to the
 * counters' planes[0] and [1] the estimated bytes of all with that pass, and of the chosen. */
typedef struct l2k_ht_cuda_choice {
    const l2k_cuda_coded_block *estimated;
    const uint32_t *point_ends;
    uint32_t num_blocks, distance;
    l2k_cuda_coded_block *cut;
    l2k_ht_cuda_counters *counters;
} l2k_ht_cuda_choice;

int l2k_ht_cuda_launch_sample(const l2k_ht_cuda_choice *choice, void *stream);

size_t l2k_ht_cuda_slot_bytes(bool wide);

/* Warps for `blocks` blocks, at most as many as the device holds at once. */
uint32_t l2k_ht_cuda_encode_warps(uint32_t blocks, uint32_t processors);

/* In this order: for forms without refinement passes their gains, if wanted; for others these passes, with gains; then
 * cleanup passes. Each is a cudaError_t. */
int l2k_ht_cuda_launch_gains(const l2k_ht_cuda_encode *encode, void *stream);
int l2k_ht_cuda_launch_encode_refinement(const l2k_ht_cuda_encode *encode, void *stream);
int l2k_ht_cuda_launch_encode(const l2k_ht_cuda_encode *encode, void *stream);

/* ---- Decoding ------------------------------------------------------------------------------------------------ */

typedef struct l2k_ht_cuda_decode_block {
    l2k_cuda_view view;
    uint32_t bytes;  /* where the cleanup segment begins */
    uint32_t length; /* Lcup; 0: nothing to decode, all samples are 0 */
    uint32_t refinement, refinement_bytes;
    uint32_t scratch; /* in units of 16 bytes */
    uint8_t passes;   /* 1: cleanup; 2: SigProp, too; 3: MagRef, too */
    uint8_t plane;    /* scaled bit-plane of the cleanup pass (codec/blocks/ht/ht_block.h) */
    uint8_t planes;   /* of a magnitude, counted from there */
    uint8_t roi_shift, scale;
    uint8_t causal;
    uint8_t wide;   /* coefficients of 32 bits */
    uint8_t direct; /* its segments are in the batch's bytes; for the host */
} l2k_ht_cuda_decode_block;

typedef struct l2k_ht_cuda_decode {
    const l2k_ht_cuda_decode_block *blocks; /* of one form, or of all for un-stuffing */
    uint32_t num_blocks, form;
    const l2k_ht_cuda_tables *tables;
    l2k_ht_cuda_counters *counters;
    const uint8_t *bytes;
    uint8_t *scratch;
} l2k_ht_cuda_decode;

/* Scratch memory of a block: four words, then its streams of bits without stuffing, then its quads. Offsets in units of
 * 16 bytes. */
typedef struct l2k_ht_cuda_layout {
    uint32_t vlc, mel, magsgn, quads, end;
} l2k_ht_cuda_layout;

/* The four words. The lengths of the streams are in words; three words of filler follow each stream. */
enum { L2K_HT_VLC_WORDS, L2K_HT_MEL_WORDS, L2K_HT_MAGSGN_WORDS, L2K_HT_BAD };

/* A word for each four bytes, one for the rest, and filler up to a multiple of 16 bytes. */
L2K_HD uint32_t l2k_ht_cuda_stream_units(uint32_t bytes)
{
    return bytes / 16 + 3;
}

/* Quads from row to row: whole groups of eight. */
L2K_HD uint32_t l2k_ht_cuda_pitch(const l2k_cuda_view *view)
{
    return ((view->width + 1u) / 2 + 7) & ~7u;
}

/* The greatest Scup (7.1.1). */
enum { L2K_HT_CUDA_MOST_SUFFIX = 4079 };

/* MEL and VLC, each. */
L2K_HD uint32_t l2k_ht_cuda_most_suffix(const l2k_ht_cuda_decode_block *block)
{
    return block->length < L2K_HT_CUDA_MOST_SUFFIX ? block->length : L2K_HT_CUDA_MOST_SUFFIX;
}

/* MagSgn: at most the bytes that the samples can take at seven bits a byte. */
L2K_HD uint32_t l2k_ht_cuda_most_magsgn(const l2k_ht_cuda_decode_block *block)
{
    uint32_t quads = (block->view.width + 1u) / 2 * ((block->view.height + 1u) / 2);
    uint32_t most = 4 * quads * (block->planes + 1u) / 7 + 1;
    return block->length < most ? block->length : most;
}

L2K_HD l2k_ht_cuda_layout l2k_ht_cuda_lay_out(const l2k_ht_cuda_decode_block *block)
{
    l2k_ht_cuda_layout layout;
    uint32_t rows = (block->view.height + 1u) / 2;
    layout.vlc = 1;
    layout.mel = layout.vlc + l2k_ht_cuda_stream_units(l2k_ht_cuda_most_suffix(block));
    layout.magsgn = layout.mel + l2k_ht_cuda_stream_units(l2k_ht_cuda_most_suffix(block));
    layout.quads = layout.magsgn + l2k_ht_cuda_stream_units(l2k_ht_cuda_most_magsgn(block));
    layout.end = layout.quads + rows * l2k_ht_cuda_pitch(&block->view) / 8 * (block->wide ? 2 : 1);
    return layout;
}

/* In this order: un-stuffing of all blocks; for each form significance and residuals (MEL, VLC), then samples (MagSgn);
 * for each form with refinement passes these. Each is a cudaError_t. */
int l2k_ht_cuda_launch_unstuff(const l2k_ht_cuda_decode *decode, void *stream);
int l2k_ht_cuda_launch_quads(const l2k_ht_cuda_decode *decode, void *stream);
int l2k_ht_cuda_launch_samples(const l2k_ht_cuda_decode *decode, void *stream);
int l2k_ht_cuda_launch_refine(const l2k_ht_cuda_decode *decode, void *stream);

#endif
