/* A bit-plane of a code-block as lists of decisions (D.3), a word of 8 columns and 4 rows at a time: the work of a
 * kernel's thread between two barriers. Sample k of column x is bit 4 x + k of a word. */
#ifndef L2K_CODEC_ENGINE_CUDA_MQ_MQ_LISTS_H
#define L2K_CODEC_ENGINE_CUDA_MQ_MQ_LISTS_H

#include "codec/engine/cuda/mq/mq_cuda.h"
#include "codec/blocks/mq/mq.h"
#include "codec/blocks/mq/t1_masks.h"

/* Samples of a word that exist; `columns` and `rows` from its first one to the block's end. */
L2K_HD uint32_t l2k_mq_live(uint32_t columns, uint32_t rows)
{
    const uint32_t stripe = rows < 4 ? ROW_0 * ((1u << rows) - 1) : ~0u;
    return columns < 8 ? stripe & ((1u << 4 * columns) - 1) : stripe;
}

/* Words i and i + shift, for each of `count` words without bit `shift` in i, exchange bits: those of the first that
 * `mask` << shift has, and those of the second that `mask` has. */
L2K_HD void l2k_mq_exchange(uint32_t *m, int count, int shift, uint32_t mask)
{
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < count; i++) {
        if (i & shift)
            continue;
        const uint32_t t = (m[i] >> shift ^ m[i + shift]) & mask;
        m[i + shift] ^= t;
        m[i] ^= t << shift;
    }
}

/* A 32 x 32 matrix of bits: bit p of word i becomes bit i of word p. */
L2K_HD void l2k_mq_transpose(uint32_t m[32])
{
    l2k_mq_exchange(m, 32, 16, 0x0000FFFFu);
    l2k_mq_exchange(m, 32, 8, 0x00FF00FFu);
    l2k_mq_exchange(m, 32, 4, 0x0F0F0F0Fu);
    l2k_mq_exchange(m, 32, 2, 0x33333333u);
    l2k_mq_exchange(m, 32, 1, 0x55555555u);
}

/* The words around the one at `cell`; `row` from stripe to stripe; with vertically causal contexts `below` is 0 and
 * hides the stripe below. */
L2K_HD mask_square l2k_mq_square(const uint32_t *cell, int row, uint32_t below)
{
    mask_square s;
    s.nw = cell[-row - 1];
    s.n = cell[-row];
    s.ne = cell[-row + 1];
    s.w = cell[-1];
    s.here = cell[0];
    s.e = cell[1];
    s.sw = cell[row - 1] & below;
    s.s = cell[row] & below;
    s.se = cell[row + 1] & below;
    return s;
}

L2K_HD neighbours l2k_mq_look_around(const uint32_t *early, const uint32_t *late, int row, uint32_t below)
{
    const mask_square before = l2k_mq_square(early, row, below), after = l2k_mq_square(late, row, below);
    return neighbours_of(&before, &after);
}

/* Significances of a block's words, in cells: when a bit-plane begins, after its significance pass, after its cleanup
 * pass; signs. */
typedef struct l2k_mq_state {
    uint32_t *before, *visited, *after, *sign;
} l2k_mq_state;

L2K_HD uint32_t l2k_mq_with_west_and_east(uint32_t here, uint32_t west, uint32_t east)
{
    return here | west_of(here, west) | east_of(here, east);
}

/* Samples with a neighbour that is significant when the significance pass reaches them, including new ones of other
 * words. */
L2K_HD uint32_t l2k_mq_near(const l2k_mq_state *s, int cell, int row, uint32_t below)
{
    const uint32_t *early = s->visited + cell, *late = s->before + cell;
    const uint32_t here = l2k_mq_with_west_and_east(late[0], early[-1], late[1]);
    const uint32_t north = l2k_mq_with_west_and_east(early[-row], early[-row - 1], early[-row + 1]);
    const uint32_t south = l2k_mq_with_west_and_east(late[row], late[row - 1], late[row + 1]) & below;
    return here | north_of(here, north) | south_of(here, south);
}

/* A step towards the significance after the significance pass: ones near a significant sample become significant, and
 * then later neighbours do. Repeated steps propagate between words until nothing changes. */
L2K_HD uint32_t l2k_mq_spread(const l2k_mq_state *s, int cell, int row, uint32_t below)
{
    const uint32_t before = s->before[cell], visited = s->visited[cell], ones = s->after[cell] & ~before;
    uint32_t became = (l2k_mq_near(s, cell, row, below) | reached_by(visited & ~before)) & ones;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < 3; i++)
        became |= reached_by(became) & ones;
    return visited | became;
}

/* The decisions of a word, after the significance pass is known. */
L2K_HD void l2k_mq_decide(const l2k_mq_state *s, int cell, int row, uint32_t below, uint32_t live, uint32_t refined,
                          uint32_t bits, unsigned orientation, bool raw, mask_decisions *d)
{
    const uint32_t *sign = s->sign + cell;
    surroundings at;
    at.live = live;
    at.refined = refined;
    at.before = s->before[cell];
    at.bits = bits;
    at.first = l2k_mq_look_around(s->visited + cell, s->before + cell, row, below);
    at.last = l2k_mq_look_around(s->after + cell, s->visited + cell, row, below);
    at.sign = sign[0];
    at.sign_w = west_of(sign[0], sign[-1]);
    at.sign_e = east_of(sign[0], sign[1]);
    at.sign_n = north_of(sign[0], sign[-row]);
    at.sign_s = south_of(sign[0], sign[row]);
    decide_masks(&at, orientation == L2K_HH, orientation == L2K_HL, raw, d);
}

L2K_HD uint32_t l2k_mq_count(uint32_t mask)
{
#ifdef __CUDA_ARCH__
    return (uint32_t)__popc(mask);
#else
    return (uint32_t)__builtin_popcount(mask);
#endif
}

L2K_HD unsigned l2k_mq_first(uint32_t mask)
{
#ifdef __CUDA_ARCH__
    return (unsigned)__ffs((int)mask) - 1;
#else
    return (unsigned)__builtin_ctz(mask);
#endif
}

typedef struct l2k_mq_counts {
    uint32_t significance, refinement, cleanup;
} l2k_mq_counts;

L2K_HD l2k_mq_counts l2k_mq_count_decisions(const mask_decisions *d)
{
    l2k_mq_counts n;
    n.significance = l2k_mq_count(d->significance) + l2k_mq_count(d->became_first);
    n.refinement = l2k_mq_count(d->refinement);
    n.cleanup = l2k_mq_count(d->cleanup) + l2k_mq_count(d->became_last) + 2 * l2k_mq_count(d->hits);
    return n;
}

/* Bits of eight words, 8 x 8 at a time: bit 8 g + j of word k becomes bit 8 g + k of word j. */
L2K_HD void l2k_mq_transpose_bytes(uint32_t m[8])
{
    l2k_mq_exchange(m, 8, 4, 0x0F0F0F0Fu);
    l2k_mq_exchange(m, 8, 2, 0x33333333u);
    l2k_mq_exchange(m, 8, 1, 0x55555555u);
}

/* The entries of all samples of a word, a byte each, then those of their signs: sample 8 g + j in byte g of word j
 * of 8. Words are `apart` bytes apart, for each thread in a bank of its own. */
enum { L2K_MQ_ENTRY_WORDS = 16 };

L2K_HD uint8_t *l2k_mq_entry_at(uint8_t *entries, uint32_t apart, unsigned sample)
{
    return entries + (sample & 7) * apart + (sample >> 3);
}

L2K_HD void l2k_mq_make_entries(const uint32_t *entry, const uint32_t *sign, uint8_t *entries, uint32_t apart)
{
    uint32_t m[8] = {entry[1], entry[2], entry[3], entry[4], entry[5], entry[0], 0, 0};
    l2k_mq_transpose_bytes(m);
    for (int i = 0; i < 8; i++)
        *(uint32_t *)(entries + i * apart) = m[i];
    uint32_t n[8] = {sign[1], sign[2], sign[3], ~0u, 0, sign[0], 0, 0}; /* contexts 9 to 13 */
    l2k_mq_transpose_bytes(n);
    for (int i = 0; i < 8; i++)
        *(uint32_t *)(entries + (8 + i) * apart) = n[i];
}

/* Run-length columns that end in a significant sample code its place in two decisions, then its sign: in `place` their
 * bits, and in `sign` that sample's entry, at the column's first sample. */
typedef struct l2k_mq_run_ends {
    uint32_t place[2], sign[SIGN_BITS];
} l2k_mq_run_ends;

L2K_HD l2k_mq_run_ends l2k_mq_end_runs(const mask_decisions *d)
{
    const uint32_t in_runs = d->hits * 15, ones = d->became_last & in_runs;
    const uint32_t before = (ones << 1 & ~ROW_0) | (ones << 2 & ROW_0 * 12) | (ones << 3 & ROW_3), at = ones & ~before;
    l2k_mq_run_ends ends;
    ends.place[0] = at >> 2 | at >> 3;
    ends.place[1] = at >> 1 | at >> 3;
    for (int k = 0; k < SIGN_BITS; k++) {
        uint32_t sign = d->sign[k] & at;
        sign |= sign >> 1;
        sign |= sign >> 2;
        ends.sign[k] = choose(d->hits, sign, d->sign[k]);
    }
    return ends;
}

/* Writes the decisions of a word to its places in the lists of the passes. `entries` is memory of its own. */
L2K_HD void l2k_mq_write_word(const mask_decisions *d, uint8_t *entries, uint32_t apart, uint8_t *significance,
                              uint8_t *refinement, uint8_t *cleanup)
{
    const l2k_mq_run_ends ends = l2k_mq_end_runs(d);
    const uint32_t signs = d->became_first | d->became_last | d->hits;
    uint32_t left = d->significance | d->refinement | d->cleanup;
    l2k_mq_make_entries(d->entry, ends.sign, entries, apart);
    while (left) {
        const unsigned i = l2k_mq_first(left);
        const uint32_t bit = 1u << i;
        const uint8_t *entry = l2k_mq_entry_at(entries, apart, i);
        const bool refined = (d->refinement & bit) != 0, first = (d->significance & bit) != 0;
        uint8_t *to = refined ? refinement : first ? significance : cleanup;
        left ^= bit;
        *to++ = entry[0];
        if (d->hits & bit) {
            *to++ = (uint8_t)(L2K_CONTEXT_UNIFORM | (ends.place[0] & bit ? 1 << L2K_MQ_DECISION_AT : 0));
            *to++ = (uint8_t)(L2K_CONTEXT_UNIFORM | (ends.place[1] & bit ? 1 << L2K_MQ_DECISION_AT : 0));
        }
        if (signs & bit)
            *to++ = entry[8 * apart];
        refinement = refined ? to : refinement;
        significance = first ? to : significance;
        cleanup = refined || first ? cleanup : to;
    }
}

/* Gains of a word's samples in the three passes (t1_ends.h). `planes` has the word's bit-planes, `spacing` apart. */
L2K_HD l2k_t1_moments l2k_mq_moments(const uint32_t *planes, uint32_t spacing, unsigned plane, uint32_t samples)
{
    l2k_t1_moments m;
    m.count = l2k_mq_count(samples);
    m.below = 0;
    for (unsigned q = 0; q < plane; q++)
        m.below += (uint64_t)l2k_mq_count(samples & planes[q * spacing]) << q;
    return m;
}

L2K_HD void l2k_mq_measure(const uint32_t *planes, uint32_t spacing, unsigned plane, const mask_decisions *d,
                           bool reversible, int64_t gains[PASS_TYPES])
{
    const uint32_t bits = planes[plane * spacing];
    const l2k_t1_moments to_0 = l2k_mq_moments(planes, spacing, plane, d->refinement & ~bits);
    const l2k_t1_moments to_1 = l2k_mq_moments(planes, spacing, plane, d->refinement & bits);
    gains[PASS_SIGNIFICANCE] =
        l2k_gain_of_significance(l2k_mq_moments(planes, spacing, plane, d->became_first), plane, reversible);
    gains[PASS_REFINEMENT] = l2k_gain_of_refinement(to_0, to_1, plane, reversible);
    gains[PASS_CLEANUP] =
        l2k_gain_of_significance(l2k_mq_moments(planes, spacing, plane, d->became_last), plane, reversible);
}

#endif
