/* The contexts of Annex D (Tables D.1 to D.4) for many samples at a time, as logic on bit masks. A mask holds whole
 * stripe columns: sample k of column x is bit 4 x + k, so bits are in scan order. Compiles as C and with nvcc. A file
 * may define its masks first: L2K_MASK, their type; L2K_MASK_BITS, the width on which shifts act; L2K_MASK_INLINE, how
 * functions are declared. */
#ifndef L2K_CODEC_BLOCKS_MQ_T1_MASKS_H
#define L2K_CODEC_BLOCKS_MQ_T1_MASKS_H

#include <stdbool.h>

#include "base/scalar.h"

#ifndef L2K_MASK
#define L2K_MASK        uint32_t
#define L2K_MASK_BITS   32
#define L2K_MASK_INLINE L2K_HD
#endif

/* Bits of one row of all columns. */
#if L2K_MASK_BITS == 64
#define ROW_0 0x1111111111111111u
#define ROW_3 0x8888888888888888u
#else
#define ROW_0 0x11111111u
#define ROW_3 0x88888888u
#endif

/* Bit masks of the neighbours of all samples. */
typedef struct neighbours {
    L2K_MASK w, e, n, s, nw, ne, sw, se;
} neighbours;

/* Bits of list entries: the decision, then the context from its lowest bit on. */
enum { ENTRY_BITS = 6, SIGN_BITS = 4 };

/* Input to contexts: significances when the bit-plane before the current one began, and when the current one began; the
 * current bit-plane; signs of the samples and of their neighbours; neighbours as the significance and the cleanup pass
 * see them. */
typedef struct surroundings {
    L2K_MASK live, refined, before, bits;
    L2K_MASK sign, sign_w, sign_e, sign_n, sign_s;
    neighbours first, last;
} surroundings;

/* The decisions of the three passes. */
typedef struct mask_decisions {
    L2K_MASK entry[ENTRY_BITS]; /* for samples, or for a run-length column at its first sample */
    L2K_MASK sign[SIGN_BITS];
    L2K_MASK significance, refinement, cleanup; /* where `entry` is coded, by pass */
    L2K_MASK became_first, became_last;         /* where a sign follows, in the significance and the cleanup pass */
    L2K_MASK hits;                              /* run-length columns with a significant sample, at their first one */
} mask_decisions;

L2K_MASK_INLINE L2K_MASK west_of(L2K_MASK here, L2K_MASK west)
{
    return here << 4 | west >> (L2K_MASK_BITS - 4);
}

L2K_MASK_INLINE L2K_MASK east_of(L2K_MASK here, L2K_MASK east)
{
    return here >> 4 | east << (L2K_MASK_BITS - 4);
}

L2K_MASK_INLINE L2K_MASK north_of(L2K_MASK here, L2K_MASK above)
{
    return (here << 1 & ~ROW_0) | (above >> 3 & ROW_0);
}

L2K_MASK_INLINE L2K_MASK south_of(L2K_MASK here, L2K_MASK below)
{
    return (here >> 1 & ~ROW_3) | (below << 3 & ROW_3);
}

/* A mask, `here`, and the eight around it. */
typedef struct mask_square {
    L2K_MASK nw, n, ne, w, here, e, sw, s, se;
} mask_square;

/* Neighbours before a sample in scan order are taken from `early`, those after it from `late`: w, here, nw, n, ne, and
 * here, e, sw, s, se. */
L2K_MASK_INLINE neighbours neighbours_of(const mask_square *early, const mask_square *late)
{
    const L2K_MASK west = west_of(early->here, early->w), east = east_of(late->here, late->e);
    neighbours a;
    a.w = west;
    a.e = east;
    a.n = north_of(early->here, early->n);
    a.s = south_of(late->here, late->s);
    a.nw = north_of(west, west_of(early->n, early->nw));
    a.ne = north_of(east, east_of(early->n, early->ne));
    a.sw = south_of(west, west_of(late->s, late->sw));
    a.se = south_of(east, east_of(late->s, late->se));
    return a;
}

L2K_MASK_INLINE L2K_MASK any_of(const neighbours *a)
{
    return a->w | a->e | a->n | a->s | a->nw | a->ne | a->sw | a->se;
}

L2K_MASK_INLINE L2K_MASK choose(L2K_MASK which, L2K_MASK yes, L2K_MASK no)
{
    return (which & yes) | (~which & no);
}

L2K_MASK_INLINE neighbours choose_neighbours(L2K_MASK which, const neighbours *yes, const neighbours *no)
{
    neighbours a;
    a.w = choose(which, yes->w, no->w);
    a.e = choose(which, yes->e, no->e);
    a.n = choose(which, yes->n, no->n);
    a.s = choose(which, yes->s, no->s);
    a.nw = choose(which, yes->nw, no->nw);
    a.ne = choose(which, yes->ne, no->ne);
    a.sw = choose(which, yes->sw, no->sw);
    a.se = choose(which, yes->se, no->se);
    return a;
}

/* Samples that `became` reaches within a mask: later neighbours in scan order. */
L2K_MASK_INLINE L2K_MASK reached_by(L2K_MASK became)
{
    return became << 4 | ((became << 1 | became << 5) & ~ROW_0) | (became << 3 & ~ROW_3);
}

/* Table D.1 for LL and LH, with rows and columns exchanged for HL; entry[0] is left alone. */
L2K_MASK_INLINE void zero_contexts(const neighbours *a, bool diagonal, bool turned, L2K_MASK entry[ENTRY_BITS])
{
    const L2K_MASK one_up = a->nw ^ a->ne, two_up = a->nw & a->ne, one_down = a->sw ^ a->se, two_down = a->sw & a->se;
    const L2K_MASK d1 = one_up | two_up | one_down | two_down, d2 = two_up | two_down | (one_up & one_down);
    if (diagonal) {
        const L2K_MASK d3 = (two_up & (one_down | two_down)) | (two_down & one_up);
        const L2K_MASK one_h = a->w ^ a->e, two_h = a->w & a->e, one_v = a->n ^ a->s, two_v = a->n & a->s;
        const L2K_MASK hv1 = one_h | two_h | one_v | two_v, hv2 = two_h | two_v | (one_h & one_v);
        const L2K_MASK two = d2 & ~d3, one = d1 & ~d2;
        entry[4] = d3;
        entry[3] = two | (one & hv1);
        entry[2] = two | (one & ~hv1) | (~d1 & hv2);
        entry[1] = (two & hv1) | (one & (~hv1 | hv2)) | (~d1 & hv1 & ~hv2);
    } else {
        const L2K_MASK west = turned ? a->n : a->w, east = turned ? a->s : a->e;
        const L2K_MASK north = turned ? a->w : a->n, south = turned ? a->e : a->s;
        const L2K_MASK h1 = west ^ east, h0 = ~(west | east), v1 = north ^ south, any_v = north | south;
        entry[4] = west & east;
        entry[3] = h1 | (h0 & north & south);
        entry[2] = (h1 & (any_v | d1)) | (h0 & (v1 | (~any_v & d2)));
        entry[1] = (h1 & (any_v | ~d1)) | (h0 & (v1 | (~any_v & d1 & ~d2)));
    }
    entry[5] = d1 & ~d1;
}

/* Table D.4: contexts 14, 15 and 16. */
L2K_MASK_INLINE void refinement_contexts(L2K_MASK members, L2K_MASK refined, L2K_MASK near, L2K_MASK entry[ENTRY_BITS])
{
    const L2K_MASK first = members & ~refined;
    entry[1] = (entry[1] & ~members) | (first & near);
    for (unsigned k = 2; k <= 4; k++)
        entry[k] = (entry[k] & ~members) | first;
    entry[5] |= members & refined;
}

/* Tables D.2 and D.3: contexts 9 to 13 and the decisions that code the signs. */
L2K_MASK_INLINE void sign_contexts(const neighbours *a, const surroundings *at, L2K_MASK entry[SIGN_BITS])
{
    const L2K_MASK plus_h = (a->w & ~at->sign_w) | (a->e & ~at->sign_e);
    const L2K_MASK minus_h = (a->w & at->sign_w) | (a->e & at->sign_e);
    const L2K_MASK plus_v = (a->n & ~at->sign_n) | (a->s & ~at->sign_s);
    const L2K_MASK minus_v = (a->n & at->sign_n) | (a->s & at->sign_s);
    const L2K_MASK h = plus_h ^ minus_h, v = plus_v ^ minus_v; /* contributions other than 0 */
    const L2K_MASK below_h = minus_h & ~plus_h, below_v = minus_v & ~plus_v;
    const L2K_MASK opposite = v & (below_h ^ below_v);
    entry[0] = at->sign ^ (below_h | (~h & below_v));
    entry[1] = ~(h ^ v);
    entry[2] = (~h & v) | (h & opposite);
    entry[3] = h & ~opposite;
}

/* Run-length columns (D.3.4), at their first sample: whole ones without any significant neighbour, all of whose samples
 * are left for the cleanup pass. */
L2K_MASK_INLINE L2K_MASK run_columns(const neighbours *a, L2K_MASK cleanup)
{
    L2K_MASK other = a->w | a->e | a->nw | a->ne | a->sw | a->se | (a->n & ROW_0) | (a->s & ROW_3) | ~cleanup;
    other |= other >> 1;
    other |= other >> 2;
    return ~other & ROW_0;
}

/* Finds the samples that the cleanup pass codes, and the entries of run-length columns. */
L2K_MASK_INLINE void list_runs(const neighbours *a, L2K_MASK cleanup, mask_decisions *d)
{
    const L2K_MASK runs = run_columns(a, cleanup), hit = d->became_last & runs * 15;
    const L2K_MASK later = (hit << 1 & ~ROW_0) | (hit << 2 & ROW_0 * 12) | (hit << 3 & ROW_3);
    L2K_MASK hits = hit | hit >> 1;
    hits = (hits | hits >> 2) & runs;
    d->entry[0] = choose(runs, hits, d->entry[0]);
    d->entry[1] |= runs; /* L2K_CONTEXT_RUN is 17 */
    d->entry[2] &= ~runs;
    d->entry[3] &= ~runs;
    d->entry[4] &= ~runs;
    d->entry[5] |= runs;
    d->cleanup = (cleanup & ~(runs * 15)) | (cleanup & later) | runs;
    d->hits = hits;
}

/* `raw`: signs in the significance pass are bits of their own (D.6). */
L2K_MASK_INLINE void decide_masks(const surroundings *at, bool diagonal, bool turned, bool raw, mask_decisions *d)
{
    const neighbours *first = &at->first, *last = &at->last;
    const L2K_MASK became = at->bits & ~at->before;
    const L2K_MASK significance = any_of(first) & ~at->before & at->live;
    const L2K_MASK cleanup = at->live & ~at->before & ~significance;
    const neighbours near = choose_neighbours(significance, first, last);
    /* All neighbours as the refinement pass sees them. */
    const L2K_MASK between = first->w | first->nw | first->n | last->e | last->s | last->se | (first->sw & ~ROW_3) |
                             (last->sw & ROW_3) | (first->ne & ROW_0) | (last->ne & ~ROW_0);
    d->significance = significance;
    d->refinement = at->before;
    d->became_first = became & significance;
    d->became_last = became & cleanup;
    d->entry[0] = at->bits;
    zero_contexts(&near, diagonal, turned, d->entry);
    refinement_contexts(at->before, at->refined, between, d->entry);
    sign_contexts(&near, at, d->sign);
    if (raw)
        d->sign[0] = choose(significance, at->sign, d->sign[0]);
    list_runs(last, cleanup, d);
}

#endif
