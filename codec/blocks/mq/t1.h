/* Tier-1: the embedded block coder of Annex D, for one thread. An l2k_t1 has the tables and all scratch memory.
 *
 * Flags. The significance pattern of a code-block is kept in one 32-bit word per stripe column of four samples:
 * - bits 0 to 17: significance of the 3 x 6 samples around the column: bit 3 r + c for row r = 0 (above the stripe)
 *   to 5 (below it) and c = 0 west, 1 the column itself, 2 east;
 * - bit 18: sign of the sample above; bits 19, 22, 25, 28: signs of the four samples; bit 31: sign of the one below;
 * - bits 20, 23, 26, 29: sample k has been refined before;
 * - bits 21, 24, 27, 30: sample k was coded in this bit-plane's significance pass.
 * So the bits of sample k are those of sample 0, shifted by 3 k. */
#ifndef L2K_CODEC_BLOCKS_MQ_T1_H
#define L2K_CODEC_BLOCKS_MQ_T1_H

#include "base/context.h"
#include "codec/blocks/mq/mq.h"
#include "transform/plan.h"

#define L2K_MAX_BIT_PLANES 30
#define L2K_MAX_PASSES     (3 * L2K_MAX_BIT_PLANES - 2)

typedef struct l2k_t1 {
    const l2k_context *context;
    uint8_t zero_context[4][512]; /* orientation, neighbourhood bits 0-8 of a flag word -> zero-coding context */
    uint8_t sign_context[256];    /* neighbours' significances and signs -> context, bit 7 = flip (Table D.3) */
    /* From the first l2k_t1_reserve on: */
    uint32_t *flags;   /* (width + 2) x (stripes + 2) */
    uint32_t *samples; /* stripes x width x 4: magnitude, sign in bit 31 */
    uint8_t *bytes;    /* code of one block */
    size_t bytes_capacity;
    struct l2k_t1_encoder *encoders[2]; /* from the first block, or the first two blocks, encoded on */
} l2k_t1;

/* Scratch memory. The largest flag array is that of a 1024 x 4 block; a partial last stripe has a whole stripe's flags.
 */
enum { L2K_T1_FLAG_WORDS = 1026 * 3, L2K_T1_SAMPLE_WORDS = 4096 };

/* Memory of an l2k_t1, with the code of a block that takes no more bytes than its samples. */
#define L2K_T1_BYTES (sizeof(l2k_t1) + (L2K_T1_FLAG_WORDS + 4 * L2K_T1_SAMPLE_WORDS) * sizeof(uint32_t))

l2k_status l2k_t1_create(const l2k_context *context, l2k_t1 **t1);
void l2k_t1_free(l2k_t1 *t1);

/* Makes room for `bytes` bytes in t1->bytes and keeps the content. Allocates the other scratch memory, too, so it must
 * be called before decoding a block. */
l2k_status l2k_t1_reserve(l2k_t1 *t1, size_t bytes);

/* A code-block's coefficients inside a view. */
typedef struct l2k_t1_block {
    void *coefficients; /* of the block's top left sample */
    l2k_coefficient_type type;
    size_t stride;
    uint32_t width, height; /* 1 to 1024, area at most 4096 */
    unsigned orientation;
    unsigned style; /* l2k_style values */
    bool reversible;
    unsigned roi_shift; /* decoding: max-shift of a region of interest, 0 = none */
} l2k_t1_block;

/* The end of a coding pass, at which a packet's contribution can end. */
typedef struct l2k_pass {
    uint32_t bytes; /* from the start of the block, needed to decode up to this pass */
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

/* Two at once, which takes less time than one after the other. */
l2k_status l2k_t1_encode_two(l2k_t1 *t1, const l2k_t1_block blocks[2], bool want_distortion, l2k_t1_code codes[2]);

/* For l2k_t1_free. */
void l2k_t1_free_encoders(l2k_t1 *t1);

/* A codeword segment of a block to decode. */
typedef struct l2k_t1_segment {
    uint32_t passes;
    uint32_t bytes;
} l2k_t1_segment;

/* Decodes segments whose bytes are consecutive in t1->bytes (l2k_t1_reserve), each followed by two spare bytes that
 * this function overwrites. num_planes 1 to L2K_MAX_BIT_PLANES. Damaged bytes are not detected and only give wrong
 * samples. */
void l2k_t1_decode(l2k_t1 *t1, const l2k_t1_block *block, unsigned num_planes, const l2k_t1_segment *segments,
                   size_t num_segments);

/* Whether coding pass `pass` of a block (0 = the first clean-up pass) always ends its codeword segment in this style
 * (Tables D.8 and D.9). The last pass of a block ends one, too, which is not considered here. */
bool l2k_pass_terminates(unsigned style, unsigned pass);

/* Whether a pass is coded with raw bits. */
bool l2k_pass_is_raw(unsigned style, unsigned pass);

#endif
