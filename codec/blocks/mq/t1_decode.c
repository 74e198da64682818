/* The block decoder of Annex D. Samples are stored as twice the reconstruction value, with the sign in bit 31, so that
 * the middle of the interval left by the passes decoded so far is always an integer.
 *
 * Which samples a pass visits is worked out for 16 stripe columns at a time, as masks in scan order; the passes then go
 * from one set bit to the next. The flag words give contexts only: significances and signs. */
#include "codec/blocks/mq/t1.h"

#include <string.h>

#include "base/integer.h"
#include "codec/blocks/mq/mq_decoder.h"
#include "codec/blocks/mq/t1_flags.h"

typedef struct block_decoder {
    l2k_t1 *t1;
    uint32_t width, height;
    uint32_t span; /* groups of a stripe, and one between stripes */
    const uint8_t *zero_context;
    bool causal;
    l2k_mq_decoder mq;
    l2k_raw_decoder raw;
    uint64_t contexts[L2K_NUM_CONTEXTS];
} block_decoder;

#define LOWEST_ROWS  0x8888888888888888ull
#define HIGHEST_ROWS 0x1111111111111111ull

/* ---- Groups -------------------------------------------------------------------------------------------------- */

/* 16 columns of a stripe during a pass. */
typedef struct group_walk {
    uint32_t x, y;
    l2k_t1_group *group;
    uint32_t *flags, *samples;
} group_walk;

INLINE group_walk first_group(const block_decoder *b)
{
    return (group_walk){0, 0, b->t1->groups + b->span + 1, b->t1->flags + b->width + 3, b->t1->samples};
}

INLINE bool in_block(const block_decoder *b, const group_walk *w)
{
    return w->y < b->height;
}

INLINE void next_group(const block_decoder *b, group_walk *w)
{
    const uint32_t columns = l2k_min_u32(b->width - w->x, 16);
    w->group++;
    w->flags += columns;
    w->samples += 4 * columns;
    w->x += columns;
    if (w->x == b->width) {
        w->x = 0;
        w->y += 4;
        w->group++;
        w->flags += 2;
    }
}

#define ROW_0 0x1111111111111111ull
#define ROW_3 0x8888888888888888ull

/* The group's samples that exist. */
INLINE uint64_t live_samples(const block_decoder *b, const group_walk *w)
{
    const uint32_t rows = b->height - w->y, columns = b->width - w->x;
    const uint64_t live = rows >= 4 ? ~0ull : ROW_0 * ((1u << rows) - 1);
    return columns >= 16 ? live : live & ((1ull << 4 * columns) - 1);
}

/* Samples with a significant neighbour above or below. */
INLINE uint64_t vertical_neighbours(const block_decoder *b, const l2k_t1_group *group)
{
    const uint64_t s = group->significant, above = (group - b->span)->significant;
    const uint64_t below = b->causal ? 0 : (group + b->span)->significant;
    return (s & ~ROW_3) << 1 | (s & ~ROW_0) >> 1 | (above & ROW_3) >> 3 | (below & ROW_0) << 3;
}

INLINE uint64_t with_vertical_neighbours(const block_decoder *b, const l2k_t1_group *group)
{
    return vertical_neighbours(b, group) | group->significant;
}

/* Samples with a significant neighbour. */
INLINE uint64_t neighbours(const block_decoder *b, const l2k_t1_group *group)
{
    const uint64_t vertical = vertical_neighbours(b, group), here = vertical | group->significant;
    return vertical | here << 4 | here >> 4 | with_vertical_neighbours(b, group - 1) >> 60 |
           with_vertical_neighbours(b, group + 1) << 60;
}

/* ---- Passes -------------------------------------------------------------------------------------------------- */

INLINE uint32_t decode(block_decoder *b, l2k_mq_decoder *mq, unsigned context)
{
    return l2k_mq_decode(mq, &b->t1->words, &b->contexts[context]);
}

INLINE uint32_t decode_zero(block_decoder *b, l2k_mq_decoder *mq, const group_walk *w, unsigned i)
{
    return decode(b, mq, b->zero_context[w->flags[i >> 2] >> 3 * (i & 3) & FLAG_NEIGHBOURS]);
}

INLINE uint32_t decode_sign(block_decoder *b, l2k_mq_decoder *mq, const group_walk *w, unsigned i)
{
    const uint32_t *flag = w->flags + (i >> 2);
    const unsigned entry = b->t1->sign_context[sign_index(flag, *flag, i & 3)];
    return decode(b, mq, entry & 0x7F) ^ entry >> 7;
}

/* Sample `i` of a group became significant in `plane`. */
INLINE void set_significant(block_decoder *b, const group_walk *w, unsigned i, unsigned plane, uint32_t sign)
{
    uint32_t *flag = w->flags + (i >> 2);
    const unsigned k = i & 3;
    w->samples[i] = 3u << plane | sign << 31;
    *flag |= FLAG_SIGNIFICANT << 3 * k | sign << (19 + 3 * k);
    spread_significance(flag, b->width + 2, k, sign, b->causal);
}

/* Neighbours that come later in the scan, by the sample's row; to be shifted to the sample's place. */
static const uint64_t later_neighbours[4] = {0x32, 0x3A, 0x3A, 0x18};

INLINE void significance_pass(block_decoder *b, unsigned plane, bool raw)
{
    l2k_mq_decoder mq = b->mq;
    for (group_walk w = first_group(b); in_block(b, &w); next_group(b, &w)) {
        const uint64_t open = live_samples(b, &w) & ~w.group->significant;
        uint64_t todo = neighbours(b, w.group) & open, visited = 0;
        while (todo) {
            const unsigned i = (unsigned)__builtin_ctzll(todo);
            const uint64_t self = todo & (0 - todo);
            visited |= self;
            todo ^= self;
            if (raw ? l2k_raw_decode(&b->raw) : decode_zero(b, &mq, &w, i)) {
                uint32_t sign = raw ? l2k_raw_decode(&b->raw) : decode_sign(b, &mq, &w, i);
                set_significant(b, &w, i, plane, sign);
                w.group->significant |= self;
                todo |= later_neighbours[i & 3] << i & open;
            }
        }
        w.group->visited = visited;
    }
    b->mq = mq;
}

INLINE void refinement_pass(block_decoder *b, unsigned plane, bool raw)
{
    l2k_mq_decoder mq = b->mq;
    const uint32_t half = 1u << plane;
    for (group_walk w = first_group(b); in_block(b, &w); next_group(b, &w)) {
        const uint64_t again = w.group->refined, near = neighbours(b, w.group) & ~again;
        uint64_t todo = w.group->significant & ~w.group->visited;
        w.group->refined |= todo;
        for (; todo; todo &= todo - 1) {
            const unsigned i = (unsigned)__builtin_ctzll(todo);
            const unsigned context = L2K_CONTEXT_REFINE + (near >> i & 1) + 2 * (again >> i & 1);
            const uint32_t bit = raw ? l2k_raw_decode(&b->raw) : decode(b, &mq, context);
            w.samples[i] += 2 * bit * half - half;
        }
    }
    b->mq = mq;
}

/* Whether run-length coding applies to the column of sample `i`, its first one that is left. */
INLINE bool is_run(const group_walk *w, uint64_t live, unsigned i)
{
    return w->flags[i >> 2] == 0 && live >> (i | 3) & 1;
}

static void cleanup_pass(block_decoder *b, unsigned plane)
{
    l2k_mq_decoder mq = b->mq;
    for (group_walk w = first_group(b); in_block(b, &w); next_group(b, &w)) {
        const uint64_t live = live_samples(b, &w);
        uint64_t todo = live & ~w.group->significant & ~w.group->visited, found = 0;
        while (todo) {
            unsigned i = (unsigned)__builtin_ctzll(todo);
            if (is_run(&w, live, i)) {
                if (!decode(b, &mq, L2K_CONTEXT_RUN)) {
                    todo &= ~(15ull << i);
                    continue;
                }
                i += decode(b, &mq, L2K_CONTEXT_UNIFORM) << 1;
                i += decode(b, &mq, L2K_CONTEXT_UNIFORM);
            } else if (!decode_zero(b, &mq, &w, i)) {
                todo &= todo - 1;
                continue;
            }
            set_significant(b, &w, i, plane, decode_sign(b, &mq, &w, i));
            found |= 1ull << i;
            todo &= ~0ull << i << 1;
        }
        w.group->significant |= found;
        w.group->visited = 0;
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

static void start_segment(block_decoder *b, uint8_t *bytes, uint32_t length)
{
    bytes[length] = bytes[length + 1] = 0xFF; /* reads as ones from here on */
    l2k_raw_decode_start(&b->raw, bytes);
    l2k_mq_decode_start(&b->mq, bytes);
}

static void decode_pass(block_decoder *b, const l2k_t1_block *block, coding_pass at)
{
    passes[at.type][l2k_pass_is_raw(block->style, at.number)](b, at.plane);
    if (at.type == PASS_CLEANUP && (block->style & L2K_STYLE_SEGSYM))
        for (int symbol = 0; symbol < 4; symbol++)
            decode(b, &b->mq, L2K_CONTEXT_UNIFORM);
    if (block->style & L2K_STYLE_RESET)
        l2k_mq_first_words(&b->t1->words, b->contexts);
}

static void decode_passes(block_decoder *b, const l2k_t1_block *block, unsigned num_planes,
                          const l2k_t1_segment *segments, size_t num_segments)
{
    coding_pass at = first_pass(num_planes);
    uint8_t *bytes = b->t1->bytes;
    for (size_t s = 0; s < num_segments; s++) {
        start_segment(b, bytes, segments[s].bytes);
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
                       .span = (block->width + 15) / 16 + 1,
                       .zero_context = t1->zero_context[block->orientation],
                       .causal = block->style & L2K_STYLE_VSC};
    memset(t1->groups, 0, ((size_t)((block->height + 3) / 4 + 2) * b.span + 1) * sizeof *t1->groups);
    l2k_mq_first_words(&t1->words, b.contexts);
    decode_passes(&b, block, num_planes, segments, num_segments);
    if (block->roi_shift && num_planes > block->roi_shift)
        unshift_region(t1->samples, count, block->roi_shift);
    (block->type == L2K_COEFFICIENT_INT16 ? store_int16 : store_int32)(block, t1->samples);
}
