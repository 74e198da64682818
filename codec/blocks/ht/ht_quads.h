/* Pairs of quads of the HT cleanup pass (7.3 of T.814), for ht_rows.c: significance, known most significant bits and
 * exponent residuals from MEL and VLC. Each codeword waits for the length of the one before, so what counts is that
 * chain: tables that give all there is to know, and no branches that cannot be foreseen. */
#ifndef L2K_CODEC_BLOCKS_HT_HT_QUADS_H
#define L2K_CODEC_BLOCKS_HT_HT_QUADS_H

#include "codec/blocks/ht/ht_rows.h"

enum { CONTEXT_BITS = 7 << 7, FIRST_BITS = 1 << 10, SECOND_BITS = 1 << 11 };

/* Both streams while they are read: the next bits of VLC, as in a window, and the events of MEL. */
typedef struct streams {
    uint64_t bits, events;
    const uint8_t *next;
    unsigned count, num_events;
    uint32_t context; /* what the last quad adds to that of the next */
} streams;

/* An entry of the table; in context 0 only if MEL has an event of 1. */
static inline uint32_t get_quad(const uint32_t *table, uint32_t context, streams *s)
{
    const unsigned asked = context == 0, none = asked & ~(unsigned)s->events;
    const uint32_t entry = table[context | (s->bits & 127)] & (none - 1);
    s->events >>= asked;
    s->num_events -= asked;
    s->bits >>= entry & 63;
    return entry;
}

static inline void get_residuals(l2k_ht_pass *p, bool first_row, streams *s, uint32_t first, uint32_t second, size_t i)
{
    unsigned pair = (first & FIRST_BITS) >> 2 | (second & SECOND_BITS) >> 2;
    if (first_row && pair == L2K_HT_BOTH << 8) {
        pair = (L2K_HT_FIRST_ROW + (s->events & 1)) << 8;
        s->events >>= 1;
        s->num_events--;
    }
    uint32_t both = p->tables.residuals[pair | (s->bits & 255)];
    if (__builtin_expect(both & L2K_HT_LONG_CODE, 0))
        both = l2k_ht_residuals(pair >> 8, s->bits);
    s->bits >>= both & 63;
    s->count -= (first + second + both) & 63;
    p->quads[1 + i] = first >> 12 | (both & 0xFFu << 24);
    p->quads[2 + i] = second >> 12 | (both << 8 & 0xFFu << 24);
}

/* Out of line, because it is seldom needed. */
static __attribute__((noinline)) void fill_events(l2k_ht_pass *p, uint64_t events, unsigned num_events)
{
    p->mel.events = events;
    p->mel.num_events = num_events;
    l2k_ht_mel_fill(&p->mel);
}

/* Leaves bits and events for a pair of quads: 38 and 3 at most. */
static inline void refill(l2k_ht_pass *p, streams *s)
{
    if (__builtin_expect(s->num_events < 3, 0)) {
        fill_events(p, s->events, s->num_events);
        s->events = p->mel.events;
        s->num_events = p->mel.num_events;
    }
    s->bits |= l2k_ht_load(s->next) << s->count;
    s->next += (63 - s->count) >> 3;
    s->count |= 56;
}

/* Significance above each quad: of sample 3 of the quad before and sample 1 of the one right above, and of sample 3 of
 * that and sample 1 of the next; where they stand in a context. */
static void find_contexts(l2k_ht_pass *restrict p)
{
    const uint32_t *restrict before = p->quads;
    uint32_t *restrict contexts = p->contexts;
    const size_t count = p->num_quads;
    for (size_t i = 0; i < count; i++)
        contexts[i] =
            ((before[i] | before[i + 1] << 2) & 1 << 7) | ((before[i + 1] << 2 | before[i + 2] << 4) & 1 << 9);
}

static inline void get_pair(l2k_ht_pass *p, bool first_row, streams *s, size_t i)
{
    const uint32_t *table = p->tables.quads[!first_row];
    refill(p, s);
    if (!first_row && (s->context | p->contexts[i] | p->contexts[i + 1] | (s->events & 3)) == 0) {
        s->events >>= 2;
        s->num_events -= 2;
        p->quads[1 + i] = p->quads[2 + i] = 0;
        return;
    }
    const uint32_t first = get_quad(table, s->context | (first_row ? 0 : p->contexts[i]), s);
    const uint32_t second = get_quad(table, (first & CONTEXT_BITS) | (first_row ? 0 : p->contexts[i + 1]), s);
    s->context = second & CONTEXT_BITS;
    get_residuals(p, first_row, s, first, second, i);
}

/* An odd last quad is paired with one of zeros. */
static inline void get_odd(l2k_ht_pass *p, bool first_row, streams *s, size_t i)
{
    refill(p, s);
    const uint32_t first = get_quad(p->tables.quads[!first_row], s->context | (first_row ? 0 : p->contexts[i]), s);
    get_residuals(p, first_row, s, first, 0, i);
}

static inline streams begin_streams(const l2k_ht_pass *p)
{
    return (streams){p->vlc.bits, p->mel.events, p->vlc.next, p->vlc.count, p->mel.num_events, 0};
}

static inline void end_streams(l2k_ht_pass *p, const streams *s)
{
    p->vlc.bits = s->bits;
    p->vlc.count = s->count;
    p->vlc.next = s->next < p->vlc.end ? s->next : p->vlc.end;
    p->mel.events = s->events;
    p->mel.num_events = s->num_events;
}

#endif
