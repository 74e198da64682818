/* The HT block encoder of T.814, clause 7. An encoder (one per thread) holds the tables and all scratch memory. */
#ifndef L2K_CODEC_BLOCKS_HT_HT_ENCODE_H
#define L2K_CODEC_BLOCKS_HT_HT_ENCODE_H

#include "codec/blocks/ht/ht_tables.h"
#include "codec/blocks/mq/t1.h"

/* Of a magnitude. */
#define L2K_HT_MAX_BIT_PLANES 31

/* Quads of the widest code-block, and room to read and write whole vectors. */
enum { L2K_HT_MOST_QUADS = 512, L2K_HT_MARGIN = 16, L2K_HT_QUADS = L2K_HT_MOST_QUADS + 2 * L2K_HT_MARGIN };

/* 32 bits for each of 4096 samples, a stuffing bit for each 15, and what MEL and VLC take (at most 6 bits for each of
 * 1280 symbols, and 15 for each of 1024 quads). */
enum { L2K_HT_MAGSGN_BYTES = 17536, L2K_HT_MEL_BYTES = 1024, L2K_HT_VLC_BYTES = 3072 };

/* Two rows of samples as quads; arrays begin with a margin. */
typedef struct l2k_ht_quads {
    uint32_t value[4][L2K_HT_QUADS]; /* by sample: 2 (magnitude - 1) + sign; 0 where insignificant */
    uint32_t bound[L2K_HT_QUADS];    /* U */
    uint32_t residual[L2K_HT_QUADS]; /* u */
    uint32_t index[L2K_HT_QUADS]; /* of the code: context << 8 | rho << 4 | samples that have the bound's highest bit */
    uint32_t entry[L2K_HT_QUADS]; /* of l2k_ht_codes */
    /* Of this row and the one above, in turn: significance, exponents of the lower samples on the left and right. */
    uint32_t rho[2][L2K_HT_QUADS], left[2][L2K_HT_QUADS], right[2][L2K_HT_QUADS];
} l2k_ht_quads;

typedef struct l2k_ht_encoder {
    const l2k_context *context;
    l2k_ht_codes codes[2]; /* by first row of quads, or another */
    l2k_ht_pairs pairs[2];
    l2k_ht_quads quads;
    uint8_t bytes[L2K_HT_MAGSGN_BYTES + L2K_HT_MEL_BYTES + L2K_HT_VLC_BYTES];
    uint8_t mel[L2K_HT_MEL_BYTES], vlc[L2K_HT_VLC_BYTES];
} l2k_ht_encoder;

typedef struct l2k_ht_code {
    unsigned magnitude_bits; /* of the largest magnitude */
    unsigned num_passes;     /* 0: zeros alone */
    const uint8_t *bytes;    /* in the encoder, valid until its next call */
    uint32_t cleanup_bytes;
} l2k_ht_code;

void l2k_ht_encoder_prepare(l2k_ht_encoder *encoder);

/* Encodes a block: its cleanup pass on bit-plane 0. */
l2k_status l2k_ht_encode(l2k_ht_encoder *encoder, const l2k_t1_block *block, l2k_ht_code *code);

#endif
