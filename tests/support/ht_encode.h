/* A small HT block encoder (T.814) for tests, made from the standard's description, sample by sample. Where the code
 * leaves a choice, it takes one at random. */
#ifndef L2K_TESTS_SUPPORT_HT_ENCODE_H
#define L2K_TESTS_SUPPORT_HT_ENCODE_H

#include "support.h"

#include "base/integer.h"
#include "codec/blocks/ht/ht_tables.h"

static l2k_ht_vlc ht_tables[2];

/* To be called first. */
static inline void ht_prepare(void)
{
    l2k_ht_make_vlc(ht_tables);
}

/* ---- Writers ------------------------------------------------------------------------------------------------- */

enum { HT_MOST_BYTES = 1 << 16 };

/* Bits to bytes, lowest first; after a byte that calls for it the next one has seven bits. */
typedef struct ht_writer {
    uint8_t bytes[HT_MOST_BYTES];
    size_t size;
    unsigned byte, count;
    unsigned last; /* the byte before */
    bool backward; /* a byte of seven ones after one above 0x8F is cut; else any byte after 0xFF */
} ht_writer;

static inline void ht_writer_start(ht_writer *w, bool backward)
{
    memset(w, 0, sizeof *w);
    w->backward = backward;
    w->last = backward ? 0xFF : 0;
}

static inline void ht_end_byte(ht_writer *w)
{
    assert_true(w->size < HT_MOST_BYTES);
    w->bytes[w->size++] = (uint8_t)w->byte;
    w->last = w->byte;
    w->byte = w->count = 0;
}

static inline void ht_put(ht_writer *w, uint64_t value, unsigned count)
{
    for (; count-- > 0; value >>= 1) {
        w->byte |= (unsigned)(value & 1) << w->count++;
        bool is_short = w->backward ? w->last > 0x8F && w->byte == 0x7F : w->last == 0xFF;
        if (w->count == (is_short ? 7 : 8))
            ht_end_byte(w);
    }
}

static inline void ht_flush(ht_writer *w)
{
    if (w->count)
        ht_end_byte(w);
}

/* MEL (7.3.3): highest bits first. */
typedef struct ht_mel_writer {
    uint8_t bytes[HT_MOST_BYTES];
    size_t size;
    unsigned byte, room, state, run;
} ht_mel_writer;

static const unsigned ht_mel_exponents[13] = {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5};

static inline void ht_mel_start(ht_mel_writer *w)
{
    memset(w, 0, sizeof *w);
    w->room = 8;
}

static inline void ht_mel_bit(ht_mel_writer *w, unsigned bit)
{
    w->byte |= bit << --w->room;
    if (w->room == 0) {
        w->bytes[w->size++] = (uint8_t)w->byte;
        w->room = w->byte == 0xFF ? 7 : 8;
        w->byte = 0;
    }
}

static inline void ht_mel_put(ht_mel_writer *w, unsigned symbol)
{
    unsigned exponent = ht_mel_exponents[w->state];
    if (!symbol && ++w->run < 1u << exponent)
        return;
    ht_mel_bit(w, !symbol);
    while (symbol && exponent-- > 0)
        ht_mel_bit(w, w->run >> exponent & 1);
    if (symbol)
        w->state -= w->state > 0;
    else
        w->state += w->state < 12;
    w->run = 0;
}

static inline void ht_mel_flush(ht_mel_writer *w)
{
    if (w->run)
        ht_mel_bit(w, 1);
    while (w->room < 8 && !(w->room == 7 && w->size && w->bytes[w->size - 1] == 0xFF))
        ht_mel_bit(w, 1);
}

/* ---- A block encoder ----------------------------------------------------------------------------------------- */

/* What a block holds: magnitudes in units of the lowest bit-plane that is coded, and signs. */
typedef struct ht_source {
    uint32_t width, height, planes;
    uint64_t magnitude[1026 * 8];
    bool negative[1026 * 8];
    uint8_t state[1026 * 8]; /* refinement: 1 significant, 2 since the SigProp pass */
} ht_source;

typedef struct ht_coded {
    ht_writer magsgn, vlc;
    ht_mel_writer mel;
    uint8_t cleanup[3 * HT_MOST_BYTES];
    size_t cleanup_bytes;
    uint8_t refinement[2 * HT_MOST_BYTES];
    size_t refinement_bytes, sigprop_bytes; /* SigProp's come first */
} ht_coded;

static inline unsigned ht_bit_length(uint64_t value)
{
    unsigned length = 0;
    for (; value; value >>= 1)
        length++;
    return length;
}

static inline uint64_t ht_magnitude_at(const ht_source *s, int64_t x, int64_t y)
{
    bool inside = x >= 0 && y >= 0 && x < s->width && y < s->height;
    return inside ? s->magnitude[(size_t)y * s->width + (size_t)x] : 0;
}

/* 2 (mu - 1) plus the sign, and the exponent of mu: the bits of 2 mu - 1. */
static inline uint64_t ht_value_at(const ht_source *s, int64_t x, int64_t y)
{
    return 2 * (ht_magnitude_at(s, x, y) - 1) + s->negative[(size_t)y * s->width + (size_t)x];
}

static inline unsigned ht_exponent_at(const ht_source *s, int64_t x, int64_t y)
{
    uint64_t mu = ht_magnitude_at(s, x, y);
    return mu ? ht_bit_length(2 * mu - 1) : 0;
}

typedef struct ht_quad {
    unsigned rho, entry, codeword, residual, bound, context;
} ht_quad;

static inline unsigned ht_significant(const ht_source *s, int64_t x, int64_t y)
{
    return ht_magnitude_at(s, x, y) != 0;
}

/* 7.3.5, from the samples around the quad. */
static inline unsigned ht_context_of(const ht_source *s, int64_t x, int64_t y)
{
    unsigned west = ht_significant(s, x - 1, y) | ht_significant(s, x - 1, y + 1);
    if (y == 0)
        return ht_significant(s, x - 2, y) | ht_significant(s, x - 2, y + 1) | ht_significant(s, x - 1, y) << 1 |
               ht_significant(s, x - 1, y + 1) << 2;
    return ht_significant(s, x - 1, y - 1) | ht_significant(s, x, y - 1) | west << 1 |
           (ht_significant(s, x + 1, y - 1) | ht_significant(s, x + 2, y - 1)) << 2;
}

static inline void ht_measure_quad(const ht_source *s, int64_t x, int64_t y, ht_quad *q)
{
    unsigned most = 0, above = 0, least = 1;
    memset(q, 0, sizeof *q);
    for (unsigned k = 0; k < 4; k++) {
        q->rho |= ht_significant(s, x + k / 2, y + k % 2) << k;
        most = l2k_max_u32(most, ht_exponent_at(s, x + k / 2, y + k % 2));
        above = l2k_max_u32(above, ht_exponent_at(s, x - 1 + (int64_t)k, y - 1));
    }
    if (y > 0 && (q->rho & (q->rho - 1)) && above > 2)
        least = above - 1;
    q->bound = l2k_max_u32(most, least);
    q->residual = q->bound - least;
    q->context = ht_context_of(s, x, y);
}

/* Whether an entry describes a quad truly: of the samples in e_k the bit at bound - 1 is that in e_1. */
static inline bool ht_describes(const ht_source *s, int64_t x, int64_t y, const ht_quad *q, unsigned entry)
{
    if (l2k_ht_rho(entry) != q->rho || l2k_ht_u_off(entry) != (q->residual > 0))
        return false;
    for (unsigned k = 0; k < 4; k++)
        if (l2k_ht_e_k(entry) >> k & 1 &&
            (ht_value_at(s, x + k / 2, y + k % 2) >> (q->bound - 1) & 1) != (l2k_ht_e_1(entry) >> k & 1))
            return false;
    return true;
}

/* Any entry that fits will do: the search starts at random. */
static inline void ht_choose_entry(const ht_source *s, int64_t x, int64_t y, ht_quad *q)
{
    const uint16_t *table = ht_tables[y > 0] + (q->context << 7);
    for (unsigned i = 0, start = random_below(128); i < 128; i++)
        if (ht_describes(s, x, y, q, table[(start + i) & 127])) {
            q->codeword = (start + i) & 127;
            q->entry = table[q->codeword];
            return;
        }
    assert_true(false);
}

static inline void ht_put_quad(const ht_source *s, ht_coded *c, int64_t x, int64_t y, ht_quad *q)
{
    ht_measure_quad(s, x, y, q);
    if (q->context == 0)
        ht_mel_put(&c->mel, q->rho != 0);
    if (q->context == 0 && q->rho == 0)
        return;
    ht_choose_entry(s, x, y, q);
    ht_put(&c->vlc, q->codeword, l2k_ht_length(q->entry));
}

typedef struct ht_uvlc {
    unsigned prefix, prefix_length, suffix, suffix_length, extension, extension_length;
} ht_uvlc;

/* Table 3 of T.814. */
static inline ht_uvlc ht_uvlc_of(unsigned u)
{
    if (u == 0)
        return (ht_uvlc){0};
    if (u <= 2)
        return (ht_uvlc){u == 1 ? 1 : 2, u, 0, 0, 0, 0};
    if (u <= 4)
        return (ht_uvlc){4, 3, u - 3, 1, 0, 0};
    if (u < 33)
        return (ht_uvlc){0, 3, u - 5, 5, 0, 0};
    return (ht_uvlc){0, 3, 28 + (u - 33) % 4, 5, (u - 33) / 4, 4};
}

static inline void ht_put_residuals(ht_coded *c, bool first_row, unsigned u, unsigned v)
{
    bool both = first_row && u && v, large = u > 2 && v > 2;
    if (both)
        ht_mel_put(&c->mel, large);
    ht_uvlc a = ht_uvlc_of(both && large ? u - 2 : u), b = ht_uvlc_of(both && large ? v - 2 : v);
    if (both && !large && u > 2)
        b = (ht_uvlc){v - 1, 1, 0, 0, 0, 0};
    ht_put(&c->vlc, a.prefix, a.prefix_length);
    ht_put(&c->vlc, b.prefix, b.prefix_length);
    ht_put(&c->vlc, a.suffix, a.suffix_length);
    ht_put(&c->vlc, b.suffix, b.suffix_length);
    ht_put(&c->vlc, a.extension, a.extension_length);
    ht_put(&c->vlc, b.extension, b.extension_length);
}

static inline void ht_put_samples(const ht_source *s, ht_coded *c, int64_t x, int64_t y, const ht_quad *q)
{
    for (unsigned k = 0; k < 4; k++)
        if (q->rho >> k & 1) {
            unsigned bits = q->bound - (l2k_ht_e_k(q->entry) >> k & 1);
            ht_put(&c->magsgn, ht_value_at(s, x + k / 2, y + k % 2), bits);
        }
}

/* MagSgn, MEL, VLC from its end, and their length in the last twelve bits. */
static inline void ht_join_cleanup(ht_coded *c)
{
    uint8_t *at = c->cleanup;
    ht_flush(&c->magsgn);
    ht_mel_flush(&c->mel);
    ht_flush(&c->vlc);
    memcpy(at, c->magsgn.bytes, c->magsgn.size);
    memcpy(at += c->magsgn.size, c->mel.bytes, c->mel.size);
    at += c->mel.size;
    for (size_t i = c->vlc.size; i-- > 0;)
        *at++ = c->vlc.bytes[i];
    size_t suffix = c->mel.size + c->vlc.size + 1;
    assert_true(suffix < 4080);
    at[-1] = (uint8_t)((at[-1] & 0xF0) | (suffix & 15));
    *at++ = (uint8_t)(suffix >> 4);
    c->cleanup_bytes = (size_t)(at - c->cleanup);
}

static inline void ht_encode_cleanup(const ht_source *s, ht_coded *c)
{
    ht_writer_start(&c->magsgn, false);
    ht_writer_start(&c->vlc, true);
    ht_mel_start(&c->mel);
    ht_put(&c->vlc, 15, 4); /* the length's nibble; its ones decide on stuffing as those of the standard do */
    for (int64_t y = 0; y < s->height; y += 2)
        for (int64_t x = 0; x < s->width; x += 4) {
            ht_quad a, b = {0};
            ht_put_quad(s, c, x, y, &a);
            if (x + 2 < s->width)
                ht_put_quad(s, c, x + 2, y, &b);
            ht_put_residuals(c, y == 0, a.residual, b.residual);
            ht_put_samples(s, c, x, y, &a);
            ht_put_samples(s, c, x + 2, y, &b);
        }
    ht_join_cleanup(c);
}

/* ---- Refinement, sample by sample ---------------------------------------------------------------------------- */

static inline bool ht_has_neighbour(const ht_source *s, uint32_t x, uint32_t y, bool causal)
{
    for (int dy = -1; dy <= (causal && y % 4 == 3 ? 0 : 1); dy++)
        for (int dx = -1; dx <= 1; dx++) {
            int64_t i = (int64_t)x + dx, j = (int64_t)y + dy;
            if (i >= 0 && j >= 0 && i < s->width && j < s->height && s->state[(size_t)j * s->width + (size_t)i])
                return true;
        }
    return false;
}

/* A group of 4 x 4: bits of `low`, then the signs of those that are one. */
static inline void ht_propagate_group(ht_source *s, const ht_source *low, ht_writer *w, uint32_t x0, uint32_t y0,
                                      bool causal)
{
    bool found[16] = {false};
    for (unsigned k = 0; k < 16; k++) {
        uint32_t x = x0 + k / 4, y = y0 + k % 4;
        size_t i = (size_t)y * s->width + x;
        if (x >= s->width || y >= s->height || s->state[i] || !ht_has_neighbour(s, x, y, causal))
            continue;
        found[k] = low->magnitude[i] & 1;
        ht_put(w, found[k], 1);
        s->state[i] = found[k] ? 2 : 0;
    }
    for (unsigned k = 0; k < 16; k++)
        if (found[k])
            ht_put(w, low->negative[(size_t)(y0 + k % 4) * s->width + x0 + k / 4], 1);
}

/* `low` is the next bit-plane. */
static inline void ht_encode_refinement(ht_source *s, const ht_source *low, ht_coded *c, bool causal)
{
    ht_writer *forward = &c->magsgn, *back = &c->vlc;
    ht_writer_start(forward, false);
    ht_writer_start(back, true);
    for (size_t i = 0; i < (size_t)s->width * s->height; i++)
        s->state[i] = s->magnitude[i] != 0;
    for (uint32_t y = 0; y < s->height; y += 4)
        for (uint32_t x = 0; x < s->width; x++)
            for (uint32_t k = y; k < y + 4 && k < s->height; k++)
                if (s->magnitude[(size_t)k * s->width + x])
                    ht_put(back, low->magnitude[(size_t)k * s->width + x] & 1, 1);
    for (uint32_t y = 0; y < s->height; y += 4)
        for (uint32_t x = 0; x < s->width; x += 4)
            ht_propagate_group(s, low, forward, x, y, causal);
    ht_flush(forward);
    ht_flush(back);
    memcpy(c->refinement, forward->bytes, forward->size);
    for (size_t i = 0; i < back->size; i++)
        c->refinement[forward->size + i] = back->bytes[back->size - 1 - i];
    c->sigprop_bytes = forward->size;
    c->refinement_bytes = forward->size + back->size;
}

/* Magnitudes of up to `planes` bits, some blocks sparse, some with large values next to small ones. */
static inline void ht_fill(ht_source *s, uint32_t width, uint32_t height, unsigned planes)
{
    *s = (ht_source){.width = width, .height = height, .planes = planes};
    const unsigned rarity = 1 + random_below(20), spread = 1 + random_below(planes);
    for (size_t i = 0; i < (size_t)width * height; i++) {
        unsigned bits = random_below(rarity) ? random_below(2) : planes - random_below(spread);
        s->magnitude[i] = random_u64() & (((uint64_t)1 << bits) - 1);
        s->negative[i] = s->magnitude[i] && random_below(2);
    }
}

#endif
