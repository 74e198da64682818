/* The HT block encoder of T.814, clause 7. An encoder (one per thread) holds the tables and all scratch memory. */
#ifndef L2K_CODEC_BLOCKS_HT_HT_ENCODE_H
#define L2K_CODEC_BLOCKS_HT_HT_ENCODE_H

#include "base/cpu.h"
#include "codec/blocks/ht/ht_estimate.h"
#include "codec/blocks/ht/ht_tables.h"
#include "codec/blocks/mq/t1.h"

/* Quads across the widest code-block, with a margin on both sides for whole vectors. */
enum { L2K_HT_QUADS_ACROSS = 512, L2K_HT_MARGIN = 16, L2K_HT_QUADS = L2K_HT_QUADS_ACROSS + 2 * L2K_HT_MARGIN };

/* 32 bits for each of 4096 samples and a stuffing bit for each 15; 6 bits at most for each of 1280 MEL symbols; 15 for
 * VLC of each of 1024 quads. Writers write eight bytes at once. */
enum { L2K_HT_MAGSGN_ROOM = 17536, L2K_HT_MEL_ROOM = 1024, L2K_HT_VLC_ROOM = 3072 };

/* At most three bits for each sample of the refinement passes, and stuffing. A 1024 x 4 block has the most columns of
 * four samples, with a border all around. */
enum { L2K_HT_REFINEMENT_ROOM = 2048, L2K_HT_STRIPE_COLUMNS = 1026 * 3 };

/* Input to the next row of quads: significance, and exponents of the lower samples on the left and right. */
typedef struct l2k_ht_line {
    uint32_t rho[L2K_HT_QUADS], left[L2K_HT_QUADS], right[L2K_HT_QUADS];
} l2k_ht_line;

/* Two rows of samples as quads. The arrays but the last two begin with a margin. */
typedef struct l2k_ht_quads {
    uint32_t value[4][L2K_HT_QUADS]; /* by sample: 2 (magnitude - 1) + sign; 0 where insignificant */
    uint32_t bound[L2K_HT_QUADS];    /* U */
    uint32_t residual[L2K_HT_QUADS]; /* u */
    uint32_t index[L2K_HT_QUADS];    /* index into l2k_ht_codes */
    uint32_t entry[L2K_HT_QUADS];    /* entry found there */
    l2k_ht_line lines[2];            /* this row and the one above, in turn */
    uint64_t quiet[L2K_HT_QUADS_ACROSS / 64], some[L2K_HT_QUADS_ACROSS / 64]; /* bits by quad: context 0; any sample
                                                                                 significant */
    /* Bits of MagSgn: of whole quads alone, or of the columns on the left and right; of even and odd quads apart. */
    uint64_t code[2][2][L2K_HT_QUADS_ACROSS / 2];
    uint32_t count[2][L2K_HT_QUADS_ACROSS];
} l2k_ht_quads;

/* A column of four samples in the refinement passes; each bit is a row. */
typedef struct l2k_ht_column {
    uint8_t inside, low, negative; /* samples inside the block; bit-plane 0; signs */
    uint8_t significant, found;    /* significant so far; found by the SigProp pass */
} l2k_ht_column;

typedef struct l2k_ht_encoder {
    const l2k_context *context;
    const struct l2k_ht_encode_rows *rows;
    l2k_t1_block next;     /* a guess at the next block; no rows if there is none */
    l2k_ht_codes codes[2]; /* by first row of quads, or another */
    l2k_ht_pairs pairs[2];
    l2k_ht_quads quads;
    uint8_t bytes[L2K_HT_MAGSGN_ROOM + L2K_HT_MEL_ROOM + L2K_HT_VLC_ROOM + L2K_HT_REFINEMENT_ROOM];
    uint8_t mel[L2K_HT_MEL_ROOM], vlc[L2K_HT_VLC_ROOM];
    int32_t zeros[2 * L2K_HT_QUADS_ACROSS];       /* a row of samples */
    l2k_ht_column columns[L2K_HT_STRIPE_COLUMNS]; /* (width + 2) x (stripes + 2) */
} l2k_ht_encoder;

typedef struct l2k_ht_code {
    unsigned magnitude_bits; /* bits of the largest magnitude */
    unsigned plane;          /* bit-plane of the cleanup pass */
    unsigned num_passes;     /* 0: zeros alone */
    const uint8_t *bytes;    /* in the encoder, valid until its next call */
    l2k_pass passes[3];
} l2k_ht_code;

/* Prepares an encoder, with the functions of context->cpu. */
void l2k_ht_encoder_prepare(const l2k_context *context, l2k_ht_encoder *encoder);

/* Encodes a block. Refinement passes, for which cut.plane is at least 1, leave out samples that become significant
 * without a significant neighbour. Distortions cost time and are computed only if wanted. */
l2k_status l2k_ht_encode(l2k_ht_encoder *encoder, const l2k_t1_block *block, l2k_ht_cut cut, bool want_distortion,
                         l2k_ht_code *code);

/* ---- Functions for each instruction set (ht_encode_rows.c) ------------------------------------------------------ */

typedef struct l2k_ht_encode_rows {
    /* Encodes the cleanup pass on a bit-plane into encoder->bytes and returns its length. `wide`: magnitudes, in units
     * of that plane, can have more than 15 bits. */
    uint32_t (*cleanup)(struct l2k_ht_encoder *encoder, const l2k_t1_block *block, unsigned plane, bool wide);
    /* Counts on bit-planes 0 to planes - 1. */
    void (*count)(const l2k_ht_encoder *encoder, const l2k_t1_block *block, unsigned planes, l2k_ht_counts *counts);
} l2k_ht_encode_rows;

L2K_CPU_DECLARE(l2k_ht_encode_rows);

/* The functions of a usable instruction set, or of the best one. */
const l2k_ht_encode_rows *l2k_ht_encode_rows_get(l2k_cpu cpu);

/* ---- Parts of the encoder (ht_encode_refine.c) ------------------------------------------------------------------- */

static inline int32_t l2k_ht_sample_at(const l2k_t1_block *block, uint32_t x, uint32_t y)
{
    const size_t at = y * block->stride + x;
    return block->type == L2K_COEFFICIENT_INT16 ? ((const int16_t *)block->coefficients)[at]
                                                : ((const int32_t *)block->coefficients)[at];
}

static inline uint32_t l2k_ht_magnitude(int32_t v)
{
    return v < 0 ? 0u - (uint32_t)v : (uint32_t)v;
}

/* Encodes SigProp and, with three passes, MagRef; writes their bytes one after the other. */
void l2k_ht_encode_refinement(l2k_ht_encoder *encoder, const l2k_t1_block *block, l2k_ht_cut cut, uint8_t *to,
                              uint32_t bytes[2]);

/* The squared error that a block coded up to `cut` leaves, in squared quantiser steps. `exact`: its coefficients before
 * quantisation, with their stride and one over the step; NULL: the block's own. */
double l2k_ht_measure_error(const l2k_ht_encoder *encoder, const l2k_t1_block *block, l2k_ht_cut cut,
                            const float *exact, size_t stride, float reciprocal);

/* Squared error, in squared quantiser steps, that each pass and those before remove from a block coded up to `cut`. */
void l2k_ht_measure_gains(const l2k_ht_encoder *encoder, const l2k_t1_block *block, l2k_ht_cut cut, double gains[3]);

#endif
