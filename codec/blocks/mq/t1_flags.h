/* How the coding passes of encoder and decoder read and write the flag words of codec/blocks/mq/t1.h. */
#ifndef L2K_CODEC_BLOCKS_MQ_T1_FLAGS_H
#define L2K_CODEC_BLOCKS_MQ_T1_FLAGS_H

#include <string.h>

#include "codec/blocks/mq/t1.h"

/* ---- Passes (D.3) -------------------------------------------------------------------------------------------- */

enum { PASS_SIGNIFICANCE, PASS_REFINEMENT, PASS_CLEANUP, PASS_TYPES };

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

/* ---- Flags --------------------------------------------------------------------------------------------------- */

static inline void clear_flags(l2k_t1 *t1, const l2k_t1_block *block)
{
    memset(t1->flags, 0, ((block->height + 3) / 4 + 2) * (size_t)(block->width + 2) * sizeof *t1->flags);
}

/* Bits of sample 0 of a column; shift by 3 k for sample k. */
#define FLAG_NEIGHBOURS  0x1EFu
#define FLAG_SIGNIFICANT (1u << 4)
#define FLAG_SIGN        (1u << 19)
#define FLAG_REFINED     (1u << 20)
#define FLAG_VISITED     (1u << 21)
#define FLAG_VISITED_ALL (0x249u << 21)

/* One bit per sample of a column, sample k at bit 3 k. */
#define COLUMN_ALL 0x249u

/* The existing samples of a stripe with `rows` rows, 1 or more. */
static inline uint32_t column_mask(uint32_t rows)
{
    return rows >= 4 ? COLUMN_ALL : COLUMN_ALL & ((1u << (3 * rows)) - 1);
}

/* Insignificant samples with a significant neighbour. */
static inline uint32_t column_significance_candidates(uint32_t word)
{
    uint32_t rows = word | word >> 1 | word >> 2; /* any of west, self, east; row r at bit 3 r */
    return (rows | rows >> 3 | rows >> 6) & ~(word >> 4) & COLUMN_ALL;
}

/* Significant samples that became so before this bit-plane. */
static inline uint32_t column_refinement_candidates(uint32_t word)
{
    return word >> 4 & ~(word >> 21) & COLUMN_ALL;
}

/* Samples left for the clean-up pass. */
static inline uint32_t column_cleanup_candidates(uint32_t word)
{
    return ~(word >> 4) & ~(word >> 21) & COLUMN_ALL;
}

/* Index into sign_context for sample k: bits 1, 3, 5, 7 significance of north, west, east, south; below each its sign.
 */
static inline uint32_t sign_index(const uint32_t *flag, uint32_t word, unsigned k)
{
    uint32_t north = k == 0 ? word >> 18 : word >> (16 + 3 * k);
    uint32_t south = word >> (22 + 3 * k);
    uint32_t west = flag[-1] >> (19 + 3 * k), east = flag[1] >> (19 + 3 * k);
    return (word >> 3 * k & 0xAA) | (north & 1) | (west & 1) << 2 | (east & 1) << 4 | (south & 1) << 6;
}

static inline unsigned refinement_context(uint32_t word, unsigned k)
{
    if (word & FLAG_REFINED << 3 * k)
        return L2K_CONTEXT_REFINE + 2;
    return L2K_CONTEXT_REFINE + ((word & FLAG_NEIGHBOURS << 3 * k) != 0);
}

/* Updates the neighbouring words: sample k of this column became significant; the caller updates the column's own word.
 * `causal`: the stripe above does not see it (D.7). */
static inline void spread_significance(uint32_t *flag, size_t stride, unsigned k, uint32_t sign, bool causal)
{
    flag[-1] |= 1u << (5 + 3 * k);
    flag[1] |= 1u << (3 + 3 * k);
    if (k == 0 && !causal) {
        uint32_t *above = flag - stride;
        above[-1] |= 1u << 17;
        above[0] |= 1u << 16 | sign << 31;
        above[1] |= 1u << 15;
    }
    if (k == 3) {
        uint32_t *below = flag + stride;
        below[-1] |= 1u << 2;
        below[0] |= 1u << 1 | sign << 18;
        below[1] |= 1u;
    }
}

/* Loops over the stripe columns of a block (any structure with t1, width and height): `flag` points at the column's
 * word, `sample` at its four samples, `live` has the rows that exist. */
#define FOR_EACH_COLUMN(b)                                                                                             \
    uint32_t *flag = (b)->t1->flags + (b)->width + 3, *sample = (b)->t1->samples;                                      \
    for (uint32_t y = 0; y < (b)->height; y += 4, flag += 2)                                                           \
        for (uint32_t x = 0, live = column_mask((b)->height - y); x < (b)->width; x++, flag++, sample += 4)

/* Loops over the samples k of a column that are candidates, also over those that become some on the way. */
#define FOR_EACH_CANDIDATE(candidates)                                                                                 \
    _Pragma("GCC unroll 4") for (unsigned k = 0; k < 4; k++) if ((candidates)&1u << 3 * k)

/* The passes are compiled once for each combination of parameters known in advance. */
#define INLINE static inline __attribute__((always_inline))

#endif
