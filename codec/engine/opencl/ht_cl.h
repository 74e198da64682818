/* HT code-blocks on an OpenCL device: the interface between host and kernels. Both compilers read this; all offsets
 * count elements of a buffer. */
#ifndef L2K_CODEC_ENGINE_OPENCL_HT_CL_H
#define L2K_CODEC_ENGINE_OPENCL_HT_CL_H

#include <stdint.h>

/* A code-block's coefficients. */
typedef struct l2k_ht_cl_view {
    uint32_t at, stride; /* the top left one, and from row to row, in the buffer of all views */
    uint16_t width, height;
    uint32_t type; /* l2k_coefficient_type */
} l2k_ht_cl_view;

#define L2K_HT_CL_INT16 0
#define L2K_HT_CL_INT32 1

/* ---- Encoding ------------------------------------------------------------------------------------------------ */

/* Work-items for a block: a work-group. */
#define L2K_HT_CL_ENCODE_ITEMS 128

/* Local memory for MagSgn of samples of up to `bits` bits. */
#define L2K_HT_CL_MAGSGN_WORDS(bits) (4096 / 32 * (bits) + 4)

typedef struct l2k_ht_cl_encode_block {
    l2k_ht_cl_view view;
    float reciprocal; /* of the quantiser step, for floats */
} l2k_ht_cl_encode_block;

/* Before the coded blocks. */
typedef struct l2k_ht_cl_encode_counters {
    uint32_t code;   /* units of 4 bytes that the code takes, or would take */
    uint32_t failed; /* the least number of a block with too large a magnitude */
} l2k_ht_cl_encode_counters;

typedef struct l2k_ht_cl_coded_block {
    uint32_t at, bytes;      /* in units of 4 bytes; of the cleanup pass, 0: only zeros */
    uint32_t magnitude_bits; /* of the largest magnitude */
} l2k_ht_cl_coded_block;

/* ---- Decoding ------------------------------------------------------------------------------------------------ */

/* Blocks whose quads a work-group decodes, two work-items a block; work-items for the samples of a block. */
#define L2K_HT_CL_GROUP_BLOCKS 32
#define L2K_HT_CL_SAMPLE_ITEMS 32

typedef struct l2k_ht_cl_decode_block {
    l2k_ht_cl_view view;
    uint32_t bytes, length; /* the cleanup segment; length 0: nothing to decode, all samples are 0 */
    uint32_t refinement, refinement_bytes;
    uint32_t quads;                   /* scratch words: a word a quad, row by row */
    uint32_t magsgn, sigprop, magref; /* likewise: streams without stuffing, and L2K_HT_CL_FILLER of filler */
    uint8_t passes;                   /* 1: cleanup; 2: SigProp, too; 3: MagRef, too */
    uint8_t plane, planes;            /* of l2k_ht_set (codec/blocks/ht/ht_block.h) */
    uint8_t roi_shift, scale, causal;
    uint16_t unused;
} l2k_ht_cl_decode_block;

/* Results of un-stuffing and quads for later kernels; scratch memory begins with one for each block. */
typedef struct l2k_ht_cl_head {
    uint32_t bad;                     /* its bytes are invalid */
    uint32_t magsgn, sigprop, magref; /* words of each stream */
} l2k_ht_cl_head;

#define L2K_HT_CL_FILLER 3

/* The greatest Scup (7.1.1 of T.814). */
#define L2K_HT_CL_MOST_SUFFIX 4079

/* Bytes that a pass can use at seven bits a byte: MagSgn with `bits` bits a sample; SigProp takes up to two, MagRef
 * one. */
static inline uint32_t l2k_ht_cl_most_bytes(const l2k_ht_cl_view *view, uint32_t bits)
{
    const uint32_t quads = (view->width + 1u) / 2 * ((view->height + 1u) / 2);
    return 4 * quads * bits / 7 + 1;
}

#endif
