/* The block decoder of Annex D. Samples are stored as twice the reconstruction value, with the sign in bit 31, so that
 * the middle of the interval left by the passes decoded so far is always an integer. */
#include "codec/blocks/mq/t1.h"

#include <string.h>

#include "codec/blocks/mq/t1_flags.h"

typedef struct block_decoder {
    l2k_t1 *t1;
    uint32_t width, height;
    const uint8_t *zero_context;
    bool causal;
    l2k_mq_decoder mq;
    l2k_mq_contexts contexts;
} block_decoder;

/* Decodes the sign of a sample that became significant in `plane` and sets it; returns the column's new word. */
INLINE uint32_t become_significant(block_decoder *b, l2k_mq_decoder *mq, uint32_t *flag, uint32_t word,
                                   uint32_t *sample, unsigned k, unsigned plane, bool raw)
{
    uint32_t sign;
    if (raw) {
        sign = l2k_raw_decode(mq);
    } else {
        unsigned entry = b->t1->sign_context[sign_index(flag, word, k)];
        sign = l2k_mq_decode(mq, &b->contexts[entry & 0x7F]) ^ entry >> 7;
    }
    sample[k] = 3u << plane | sign << 31;
    spread_significance(flag, b->width + 2, k, sign, b->causal);
    return word | FLAG_SIGNIFICANT << 3 * k | sign << (19 + 3 * k);
}

INLINE void significance_pass(block_decoder *b, unsigned plane, bool raw)
{
    l2k_mq_decoder mq = b->mq;
    FOR_EACH_COLUMN(b)
    {
        uint32_t word = *flag;
        uint32_t candidates = column_significance_candidates(word) & live;
        if (!candidates)
            continue;
        FOR_EACH_CANDIDATE(candidates)
        {
            uint32_t bit = raw ? l2k_raw_decode(&mq)
                               : l2k_mq_decode(&mq, &b->contexts[b->zero_context[word >> 3 * k & FLAG_NEIGHBOURS]]);
            word |= FLAG_VISITED << 3 * k;
            if (bit) {
                word = become_significant(b, &mq, flag, word, sample, k, plane, raw);
                candidates |= column_significance_candidates(word) & live; /* the next row may be one now */
            }
        }
        *flag = word;
    }
    b->mq = mq;
}

INLINE void refinement_pass(block_decoder *b, unsigned plane, bool raw)
{
    l2k_mq_decoder mq = b->mq;
    uint32_t half = 1u << plane;
    FOR_EACH_COLUMN(b)
    {
        uint32_t word = *flag;
        uint32_t candidates = column_refinement_candidates(word) & live;
        if (!candidates)
            continue;
        FOR_EACH_CANDIDATE(candidates)
        {
            uint32_t bit = raw ? l2k_raw_decode(&mq) : l2k_mq_decode(&mq, &b->contexts[refinement_context(word, k)]);
            sample[k] += bit ? half : 0u - half;
        }
        *flag = word | candidates << 20;
    }
    b->mq = mq;
}

static void cleanup_pass(block_decoder *b, unsigned plane)
{
    l2k_mq_decoder mq = b->mq;
    FOR_EACH_COLUMN(b)
    {
        uint32_t word = *flag;
        unsigned first = 0;
        bool known = false;
        if (word == 0 && live == COLUMN_ALL) {
            if (!l2k_mq_decode(&mq, &b->contexts[L2K_CONTEXT_RUN]))
                continue;
            first = l2k_mq_decode(&mq, &b->contexts[L2K_CONTEXT_UNIFORM]) << 1;
            first |= l2k_mq_decode(&mq, &b->contexts[L2K_CONTEXT_UNIFORM]);
            known = true;
        }
        uint32_t candidates = column_cleanup_candidates(word) & live;
        FOR_EACH_CANDIDATE(candidates)
        {
            if (k < first)
                continue;
            uint32_t bit = known || l2k_mq_decode(&mq, &b->contexts[b->zero_context[word >> 3 * k & FLAG_NEIGHBOURS]]);
            known = false;
            if (bit)
                word = become_significant(b, &mq, flag, word, sample, k, plane, false);
        }
        *flag = word & ~FLAG_VISITED_ALL;
    }
    b->mq = mq;
}

static void significance_mq(block_decoder *b, unsigned plane)
{
    significance_pass(b, plane, false);
}

static void significance_raw(block_decoder *b, unsigned plane)
{
    significance_pass(b, plane, true);
}

static void refinement_mq(block_decoder *b, unsigned plane)
{
    refinement_pass(b, plane, false);
}

static void refinement_raw(block_decoder *b, unsigned plane)
{
    refinement_pass(b, plane, true);
}

/* By type and raw. Cleanup passes are never raw. */
static void (*const passes[PASS_TYPES][2])(block_decoder *b, unsigned plane) = {
    [PASS_SIGNIFICANCE] = {significance_mq, significance_raw},
    [PASS_REFINEMENT] = {refinement_mq, refinement_raw},
    [PASS_CLEANUP] = {cleanup_pass, cleanup_pass},
};

/* H.1: magnitudes that reach above the shift belong to the region and are shifted down; smaller ones are background.
 * Samples are doubled, so the border is one bit higher. Bits below the shift are dropped, including half steps. */
static void unshift_region(uint32_t *samples, size_t count, unsigned shift)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t magnitude = samples[i] & 0x7FFFFFFFu;
        if (magnitude >> (shift + 1))
            samples[i] = (samples[i] & 0x80000000u) | magnitude >> shift;
    }
}

/* Stores sign and magnitude in the view: the reversible transform halves towards 0, which drops the half step, the
 * irreversible one keeps it. */
#define DEFINE_STORE(name, type)                                                                                       \
    static void name(const l2k_t1_block *block, const uint32_t *samples)                                               \
    {                                                                                                                  \
        unsigned shift = block->reversible ? 1 : 0;                                                                    \
        for (uint32_t y = 0; y < block->height; y++) {                                                                 \
            type *row = (type *)block->coefficients + y * block->stride;                                               \
            const uint32_t *from = samples + (size_t)(y & ~3u) * block->width + (y & 3);                               \
            for (uint32_t x = 0; x < block->width; x++) {                                                              \
                uint32_t v = from[4 * (size_t)x];                                                                      \
                int32_t magnitude = (int32_t)((v & 0x7FFFFFFFu) >> shift);                                             \
                row[x] = (type)(v >> 31 ? -magnitude : magnitude);                                                     \
            }                                                                                                          \
        }                                                                                                              \
    }

DEFINE_STORE(store_int16, int16_t)
DEFINE_STORE(store_int32, int32_t)

static void start_segment(block_decoder *b, uint8_t *bytes, uint32_t length, bool raw)
{
    bytes[length] = bytes[length + 1] = 0xFF; /* reads as ones from here on */
    if (raw)
        l2k_raw_decode_start(&b->mq, bytes);
    else
        l2k_mq_decode_start(&b->mq, bytes);
}

static void decode_pass(block_decoder *b, const l2k_t1_block *block, coding_pass at)
{
    passes[at.type][l2k_pass_is_raw(block->style, at.number)](b, at.plane);
    if (at.type == PASS_CLEANUP && (block->style & L2K_STYLE_SEGSYM))
        for (int symbol = 0; symbol < 4; symbol++)
            l2k_mq_decode(&b->mq, &b->contexts[L2K_CONTEXT_UNIFORM]);
    if (block->style & L2K_STYLE_RESET)
        l2k_mq_reset_contexts(b->contexts);
}

static void decode_passes(block_decoder *b, const l2k_t1_block *block, unsigned num_planes,
                          const l2k_t1_segment *segments, size_t num_segments)
{
    coding_pass at = first_pass(num_planes);
    uint8_t *bytes = b->t1->bytes;
    for (size_t s = 0; s < num_segments; s++) {
        start_segment(b, bytes, segments[s].bytes, l2k_pass_is_raw(block->style, at.number));
        for (uint32_t i = 0; i < segments[s].passes; i++) {
            decode_pass(b, block, at);
            if (is_last_pass(at))
                return;
            at = next_pass(at);
        }
        bytes += segments[s].bytes + 2;
    }
}

void l2k_t1_decode(l2k_t1 *t1, const l2k_t1_block *block, unsigned num_planes, const l2k_t1_segment *segments,
                   size_t num_segments)
{
    const size_t count = (size_t)((block->height + 3) & ~3u) * block->width;
    memset(t1->samples, 0, count * sizeof *t1->samples);
    clear_flags(t1, block);
    block_decoder b = {.t1 = t1,
                       .width = block->width,
                       .height = block->height,
                       .zero_context = t1->zero_context[block->orientation],
                       .causal = block->style & L2K_STYLE_VSC};
    l2k_mq_reset_contexts(b.contexts);
    decode_passes(&b, block, num_planes, segments, num_segments);
    if (block->roi_shift && num_planes > block->roi_shift)
        unshift_region(t1->samples, count, block->roi_shift);
    (block->type == L2K_COEFFICIENT_INT16 ? store_int16 : store_int32)(block, t1->samples);
}
