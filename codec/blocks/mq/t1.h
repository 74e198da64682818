/* Tier-1: the embedded block coder of Annex D, for one thread. An l2k_t1 has the tables and all scratch memory. */
#ifndef L2K_CODEC_BLOCKS_MQ_T1_H
#define L2K_CODEC_BLOCKS_MQ_T1_H

#include "base/context.h"
#include "codec/blocks/mq/mq_decode.h"
#include "codec/blocks/mq/t1_ends.h"

/* Decoding: eight stripe columns, as bits of words (t1_decode.c). */
typedef struct l2k_t1_window {
    uint64_t significant, negative;
    uint64_t visited; /* coded in this bit-plane's significance pass */
    uint64_t refined; /* before */
    uint64_t live;    /* samples that exist */
} l2k_t1_window;

/* Blocks of up to eight columns have the most windows for their samples, 256 at most. */
enum { L2K_T1_SAMPLES = 4096, L2K_T1_WINDOWS = 2 * (256 + 2) + 1 };

/* Tables and memory for decoding. Indices of tables are bits of a window's words (t1_decode.c). */
typedef struct l2k_t1_decoder {
    l2k_mq_model model;
    uint8_t sign_context[512];             /* bit 7 = flip (Table D.3) */
    uint8_t zero_context[512];             /* for the current block's orientation */
    uint8_t zero_contexts[4][512];         /* by orientation */
    l2k_t1_window windows[L2K_T1_WINDOWS]; /* (windows of a stripe + 1) x (stripes + 2) + 1 */
    uint32_t samples[L2K_T1_SAMPLES];      /* row by row: magnitude, sign in bit 31 */
} l2k_t1_decoder;

typedef struct l2k_t1 {
    const l2k_context *context;
    l2k_t1_decoder *decoder; /* allocated by the first l2k_t1_reserve */
    uint8_t *bytes;          /* code of one block */
    size_t bytes_capacity;
    struct l2k_t1_encoder *encoder; /* allocated when the first block is encoded */
} l2k_t1;

/* Memory of an l2k_t1 that decodes, with the code of a block that takes no more bytes than its samples. */
#define L2K_T1_BYTES (sizeof(l2k_t1) + sizeof(l2k_t1_decoder) + 3 * L2K_T1_SAMPLES * sizeof(uint32_t))

l2k_status l2k_t1_create(const l2k_context *context, l2k_t1 **t1);
void l2k_t1_free(l2k_t1 *t1);

/* Makes room for `bytes` bytes in t1->bytes and keeps the content. Also makes the decoder, so call it before decoding a
 * block. */
l2k_status l2k_t1_reserve(l2k_t1 *t1, size_t bytes);

/* A code-block's coefficients inside a view. */
typedef struct l2k_t1_block {
    void *coefficients; /* the block's top left coefficient */
    l2k_coefficient_type type;
    size_t stride;
    uint32_t width, height; /* 1 to 1024, area at most 4096 */
    unsigned orientation;
    unsigned style; /* l2k_style values */
    bool reversible;
    unsigned roi_shift; /* decoding: max-shift of a region of interest, 0 = none */
    unsigned dropped;   /* encoding: last passes that are left out */
} l2k_t1_block;

/* The end of a coding pass, at which a packet's contribution can end. */
typedef struct l2k_pass {
    uint32_t bytes; /* bytes from the start of the block that decoding up to this pass needs */
    bool terminated;
    double distortion; /* squared error removed by all passes up to this one, in squared quantiser steps */
} l2k_pass;

typedef struct l2k_t1_code {
    unsigned num_planes; /* magnitude bit-planes; 0 = no passes */
    unsigned num_passes;
    const uint8_t *bytes; /* in the worker, valid until its next call; passes[num_passes - 1].bytes of them */
    l2k_pass passes[L2K_MAX_PASSES];
} l2k_t1_code;

/* Encodes a block. Distortions cost time and are computed only if wanted. */
l2k_status l2k_t1_encode(l2k_t1 *t1, const l2k_t1_block *block, bool want_distortion, l2k_t1_code *code);

/* Bits of the largest magnitude of a block to encode; also for HT blocks. */
unsigned l2k_t1_magnitude_bits(const l2k_context *context, const l2k_t1_block *block);

/* A codeword segment of a block to decode. */
typedef struct l2k_t1_segment {
    uint32_t passes;
    uint32_t bytes;
} l2k_t1_segment;

/* Decodes segments whose bytes are consecutive in t1->bytes (l2k_t1_reserve), each followed by two more bytes that
 * this function overwrites. num_planes 1 to L2K_MAX_BIT_PLANES. Damaged bytes are not detected and only give wrong
 * samples. */
void l2k_t1_decode(l2k_t1 *t1, const l2k_t1_block *block, unsigned num_planes, const l2k_t1_segment *segments,
                   size_t num_segments);

/* Stores a decoded block in its view, from magnitudes with the sign in bit 31, in rows `stride` apart, which a region of
 * interest changes. `doubled`: magnitudes are twice the index at which to reconstruct. Also for HT blocks. */
void l2k_t1_store(const l2k_t1_block *block, uint32_t *samples, size_t stride, bool doubled);

/* ---- The coding passes in their order (D.3) -------------------------------------------------------------------- */

typedef struct coding_pass {
    unsigned type, plane;
    unsigned number; /* from 0, the first cleanup pass */
} coding_pass;

static inline coding_pass first_pass(unsigned num_planes)
{
    return (coding_pass){PASS_CLEANUP, num_planes - 1, 0};
}

static inline bool is_last_pass(coding_pass pass)
{
    return pass.type == PASS_CLEANUP && pass.plane == 0;
}

static inline coding_pass next_pass(coding_pass pass)
{
    return (coding_pass){(pass.type + 1) % PASS_TYPES, pass.plane - (pass.type == PASS_CLEANUP), pass.number + 1};
}

/* The loops of passes are compiled once for each combination of parameters known in advance. */
#define INLINE static inline __attribute__((always_inline))

#endif
