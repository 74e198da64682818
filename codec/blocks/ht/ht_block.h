/* The HT block decoder of T.814, clause 7: cleanup, SigProp and MagRef passes of one HT set. An l2k_ht (one per thread)
 * holds the tables and all scratch memory. */
#ifndef L2K_CODEC_BLOCKS_HT_HT_BLOCK_H
#define L2K_CODEC_BLOCKS_HT_HT_BLOCK_H

#include "codec/blocks/ht/ht_rows.h"
#include "codec/blocks/mq/t1.h"
#include "codec/tile/tile.h"

/* Most samples of a block, and most columns of four samples: those of a 1024 x 4 block with a border all around. */
#define L2K_HT_SAMPLES 4096
#define L2K_HT_COLUMNS (1026 * 3)

/* Most bytes of MEL and VLC together. */
enum { L2K_HT_MOST_SUFFIX = 4079 };

/* A pass that is being decoded. */
typedef struct l2k_ht_scratch {
    l2k_ht_pass pass;
    uint32_t lines[2][L2K_HT_MOST_COLUMNS + 2 * L2K_HT_GROUP]; /* rows of samples, in any form */
    uint8_t vlc[L2K_HT_MOST_SUFFIX + L2K_HT_SLACK];            /* VLC bits, or the bits of MagRef */
    uint8_t magsgn[L2K_HT_MAGSGN_BYTES + L2K_HT_SLACK];        /* MagSgn bits, or the bits of SigProp */
} l2k_ht_scratch;

typedef struct l2k_ht {
    const l2k_ht_rows *rows;
    bool deposits; /* l2k_cpu_deposits */
    l2k_ht_decode_tables tables;
    l2k_ht_scratch scratch[2];        /* of two blocks */
    uint32_t samples[L2K_HT_SAMPLES]; /* rows of an even number of samples: magnitude, sign in bit 31 */
    uint8_t columns[L2K_HT_COLUMNS];  /* significance of four samples in bits 0 to 3; (width + 2) x (stripes + 2) */
} l2k_ht;

/* The set to decode. Magnitudes are scaled: irreversible ones are doubled, so that the middle of the interval of the
 * lowest bit-plane is an integer. */
typedef struct l2k_ht_set {
    const uint8_t *cleanup, *refinement;
    uint32_t cleanup_bytes, refinement_bytes;
    unsigned passes; /* 1: cleanup; 2: with SigProp; 3: with MagRef as well */
    unsigned plane;  /* scaled bit-plane of the cleanup pass, 0 to 30 */
    unsigned planes; /* bit-planes of a magnitude from `plane` up; plane + planes <= 31 */
} l2k_ht_set;

static inline uint32_t l2k_ht_stride(const l2k_t1_block *block)
{
    return (block->width + 1) & ~1u;
}

/* Half of a bit-plane's unit: reconstructs in the middle of what lower planes can add. */
static inline uint32_t l2k_ht_half(unsigned plane)
{
    return (1u << plane) >> 1;
}

/* The HT set to decode: the last one whose cleanup segment was received. */
typedef struct l2k_ht_received_set {
    const l2k_contribution *cleanup, *last; /* last: contribution of its refinement segment, or the cleanup segment */
    unsigned number;                        /* sets before it, including empty ones */
    unsigned passes;
    uint64_t refinement_bytes;
} l2k_ht_received_set;

/* Finds the HT set to decode; `cleanup` is NULL if none was received. */
l2k_ht_received_set l2k_ht_find_set(const l2k_received_block *received);

/* Describes the received set of a block in `band`, except for `refinement`. set->cleanup is NULL if the block is damaged:
 * it has no bit-plane for that set. Errors: L2K_ERROR_UNSUPPORTED, L2K_ERROR_CORRUPT. */
l2k_status l2k_ht_take_set(const l2k_context *context, const l2k_subband *band, const l2k_block *block,
                           const l2k_ht_received_set *received, l2k_ht_set *set);

/* Joins SigProp and MagRef, which may come in different layers. */
void l2k_ht_copy_refinement(const l2k_ht_received_set *received, uint8_t *to);

/* Decodes a cleanup pass into the block's coefficients, or in the form of magnitudes and signs into ht->samples. False
 * if its bytes cannot be those of a cleanup pass. */
bool l2k_ht_cleanup(l2k_ht *ht, const l2k_t1_block *block, const l2k_ht_set *set, l2k_ht_form form);

/* Decodes two blocks' cleanup passes side by side into their coefficients. */
void l2k_ht_cleanup_two(l2k_ht *ht, const l2k_t1_block blocks[2], const l2k_ht_set sets[2], bool are_right[2]);

/* The form of a block's coefficients. */
static inline l2k_ht_form l2k_ht_form_of(const l2k_t1_block *block)
{
    return block->type == L2K_COEFFICIENT_INT16 ? L2K_HT_INT16 : L2K_HT_INT32;
}

/* Decodes the refinement passes of a set after its cleanup pass; set->plane is at least 1. */
void l2k_ht_refine(l2k_ht *ht, const l2k_t1_block *block, const l2k_ht_set *set);

#endif
