/* Pairs of quads of the HT cleanup pass (7.3 of T.814), for ht_rows.c: significance, known most significant bits and
 * exponent residuals from MEL and VLC. Each codeword waits for the length of the one before, and this chain sets the
 * speed. So tables give everything in one look-up, the bits are the last part of an index to be added, and no branch is
 * unpredictable. */
#ifndef L2K_CODEC_BLOCKS_HT_HT_QUADS_H
#define L2K_CODEC_BLOCKS_HT_HT_QUADS_H

#include "codec/blocks/ht/ht_rows.h"

/* Both streams while they are read: the next bits of VLC, as in a window, and the events of MEL, with a one
 * above them. */
typedef struct streams {
    uint64_t bits, events;
    const uint8_t *next;
    unsigned count;
    uint32_t context; /* the last quad's part of the next one's context */
} streams;

/* The part of a table at `offset` bytes, the part of an index that is known before the bits are. Keeps the compiler
 * from adding the bits, which come last, to the offset first. */
static inline const uint32_t *part_of(const uint32_t *table, uint32_t offset)
{
    const uint32_t *part = (const uint32_t *)(const void *)((const uint8_t *)table + offset);
    __asm__("" : "+r"(part));
    return part;
}

/* What a quad adds to the context of the next one, in bytes. */
static inline uint32_t context_after(bool first_row, uint32_t quad)
{
    return first_row ? (quad & 7 << 7) << 2 : quad & 1 << 10;
}

/* The table's entry for the next `bits`; in context 0, 0 unless MEL has an event of 1. */
static inline uint32_t get_quad(const uint32_t *table, uint32_t left, uint32_t above, uint64_t bits, streams *s)
{
    const unsigned asked = (left | above) == 0, none = asked & ~(unsigned)s->events;
    const uint32_t entry = part_of(part_of(table, above), left)[bits & 127] & (none - 1);
    s->events >>= asked;
    s->bits >>= entry & 63;
    return entry;
}

/* `residuals` as in the table. */
static inline void put_pair(l2k_ht_pass *p, size_t i, uint32_t first, uint32_t second, uint32_t residuals)
{
    p->quads[1 + i] = first;
    p->quads[2 + i] = second;
    p->residuals[i] = residuals;
    p->residuals[i + 1] = residuals >> 8;
}

static inline void get_residuals(l2k_ht_pass *p, bool first_row, streams *s, uint32_t first, uint32_t second, size_t i)
{
    const uint32_t of_first = first >> 1 & 1 << 10, of_second = second & 1 << 11;
    const uint32_t *table = part_of(part_of(p->tables->residuals, of_first), of_second);
    unsigned pair = (of_first | of_second) >> 10;
    if (first_row && pair == L2K_HT_BOTH) {
        pair = L2K_HT_FIRST_ROW + (s->events & 1);
        table = p->tables->residuals + (pair << 8);
        s->events >>= 1;
    }
    uint32_t both = table[s->bits & 255];
    if (__builtin_expect(both & L2K_HT_LONG_CODE, 0))
        both = l2k_ht_residuals(pair, s->bits);
    s->bits >>= both & 63;
    s->count -= (first + second + both) & 63;
    put_pair(p, i, first, second, both);
}

/* Out of line, because it seldom runs. */
static __attribute__((noinline)) uint64_t fill_events(l2k_ht_mel *mel, uint64_t events)
{
    mel->num_events = 63 - (unsigned)__builtin_clzll(events);
    mel->events = events ^ (uint64_t)1 << mel->num_events;
    l2k_ht_mel_fill(mel);
    return mel->events | (uint64_t)1 << mel->num_events;
}

/* Ensures bits and events for a pair of quads: 38 and 3 at most. */
static inline void refill(l2k_ht_pass *p, streams *s)
{
    if (__builtin_expect(s->events < 1 << 3, 0))
        s->events = fill_events(&p->mel, s->events);
    s->bits |= l2k_ht_load(s->next) << s->count;
    s->next += (s->count ^ 63) >> 3;
    s->count |= 56;
}

/* Significance above each quad, in its place in a context, in bytes: of sample 3 of the quad above on the left and
 * sample 1 of the one right above; and of sample 3 of that and sample 1 of the one on the right. */
static void find_contexts(l2k_ht_pass *restrict p)
{
    const uint32_t *restrict before = p->quads;
    uint32_t *restrict contexts = p->contexts;
    const size_t count = p->num_quads;
    for (size_t i = 0; i < count; i++)
        contexts[i] =
            ((before[i] >> 10 | before[i + 1] >> 8) & 1 << 9) | ((before[i + 1] >> 8 | before[i + 2] >> 6) & 1 << 11);
}

/* The pair before leaves at least 18 bits, so the first codeword need not wait for the refill. */
static inline __attribute__((always_inline)) void get_pair(l2k_ht_pass *p, bool first_row, streams *s, size_t i)
{
    const uint32_t *table = p->tables->quads[!first_row];
    const uint64_t bits = s->bits;
    refill(p, s);
    if (!first_row && (s->context | p->contexts[i] | p->contexts[i + 1] | (s->events & 3)) == 0) {
        s->events >>= 2;
        put_pair(p, i, 0, 0, 0);
        return;
    }
    const uint32_t first = get_quad(table, s->context, first_row ? 0 : p->contexts[i], bits, s);
    const uint32_t second =
        get_quad(table, context_after(first_row, first), first_row ? 0 : p->contexts[i + 1], s->bits, s);
    s->context = context_after(first_row, second);
    get_residuals(p, first_row, s, first, second, i);
}

/* An odd last quad is paired with one of zeros. */
static inline void get_odd(l2k_ht_pass *p, bool first_row, streams *s, size_t i)
{
    refill(p, s);
    const uint32_t first =
        get_quad(p->tables->quads[!first_row], s->context, first_row ? 0 : p->contexts[i], s->bits, s);
    get_residuals(p, first_row, s, first, 0, i);
}

static inline streams begin_streams(const l2k_ht_pass *p)
{
    return (streams){p->vlc.bits, p->mel.events | (uint64_t)1 << p->mel.num_events, p->vlc.next, p->vlc.count, 0};
}

static inline void end_streams(l2k_ht_pass *p, const streams *s)
{
    p->vlc.bits = s->bits;
    p->vlc.count = s->count;
    p->vlc.next = s->next < p->vlc.end ? s->next : p->vlc.end;
    p->mel.num_events = 63 - (unsigned)__builtin_clzll(s->events);
    p->mel.events = s->events ^ (uint64_t)1 << p->mel.num_events;
}

#endif
