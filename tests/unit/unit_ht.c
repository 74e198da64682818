/* codec/blocks/ht/: the code tables, each bit stream against a writer made from the standard's description of it, and
 * whole blocks against a small encoder that takes its choices at random. */
#include "support.h"

#include "base/integer.h"
#include "codec/blocks/ht/ht_block.h"
#include "codec/blocks/ht/ht_streams.h"

/* ---- Writers ------------------------------------------------------------------------------------------------- */

enum { MOST_BYTES = 1 << 16 };

/* Bits to bytes, lowest first; after a byte that calls for it the next one has seven bits. */
typedef struct writer {
    uint8_t bytes[MOST_BYTES];
    size_t size;
    unsigned byte, count;
    unsigned last; /* the byte before */
    bool backward; /* a byte of seven ones after one above 0x8F is cut; else any byte after 0xFF */
} writer;

static void writer_start(writer *w, bool backward)
{
    memset(w, 0, sizeof *w);
    w->backward = backward;
    w->last = backward ? 0xFF : 0;
}

static void end_byte(writer *w)
{
    assert_true(w->size < MOST_BYTES);
    w->bytes[w->size++] = (uint8_t)w->byte;
    w->last = w->byte;
    w->byte = w->count = 0;
}

static void put(writer *w, uint64_t value, unsigned count)
{
    for (; count-- > 0; value >>= 1) {
        w->byte |= (unsigned)(value & 1) << w->count++;
        bool is_short = w->backward ? w->last > 0x8F && w->byte == 0x7F : w->last == 0xFF;
        if (w->count == (is_short ? 7 : 8))
            end_byte(w);
    }
}

static void flush(writer *w)
{
    if (w->count)
        end_byte(w);
}

/* MEL (7.3.3): highest bits first. */
typedef struct mel_writer {
    uint8_t bytes[MOST_BYTES];
    size_t size;
    unsigned byte, room, state, run;
} mel_writer;

static const unsigned mel_exponents[13] = {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5};

static void mel_start(mel_writer *w)
{
    memset(w, 0, sizeof *w);
    w->room = 8;
}

static void mel_bit(mel_writer *w, unsigned bit)
{
    w->byte |= bit << --w->room;
    if (w->room == 0) {
        w->bytes[w->size++] = (uint8_t)w->byte;
        w->room = w->byte == 0xFF ? 7 : 8;
        w->byte = 0;
    }
}

static void mel_put(mel_writer *w, unsigned symbol)
{
    unsigned exponent = mel_exponents[w->state];
    if (!symbol && ++w->run < 1u << exponent)
        return;
    mel_bit(w, !symbol);
    while (symbol && exponent-- > 0)
        mel_bit(w, w->run >> exponent & 1);
    if (symbol)
        w->state -= w->state > 0;
    else
        w->state += w->state < 12;
    w->run = 0;
}

static void mel_flush(mel_writer *w)
{
    if (w->run)
        mel_bit(w, 1);
    while (w->room < 8 && !(w->room == 7 && w->size && w->bytes[w->size - 1] == 0xFF))
        mel_bit(w, 1);
}

/* ---- Streams ------------------------------------------------------------------------------------------------- */

static void test_mel(void **unused)
{
    (void)unused;
    static mel_writer w;
    static uint8_t symbols[20000];
    for (unsigned round = 0; round < 50; round++) {
        unsigned count = random_below(20000), rarity = 1 + random_below(60);
        mel_start(&w);
        for (unsigned i = 0; i < count; i++)
            mel_put(&w, symbols[i] = random_below(rarity) == 0);
        mel_flush(&w);
        uint8_t *exact = malloc(w.size + 1);
        memcpy(exact, w.bytes, w.size);
        exact[w.size] = 0x0F; /* the length field, whose low nibble reads as ones */
        l2k_ht_mel mel = l2k_ht_mel_start(exact, exact + w.size + 1);
        for (unsigned i = 0; i < count; i++)
            assert_int_equal(l2k_ht_mel_take(&mel), symbols[i]);
        free(exact);
    }
}

/* Any bits, mostly ones, so that stuffing is frequent; and what is read past the end. */
static void check_stream(bool backward)
{
    static writer w;
    static uint8_t widths[4000];
    static uint32_t values[4000];
    for (unsigned round = 0; round < 100; round++) {
        unsigned count = random_below(4000), most = backward ? 12 : 32;
        writer_start(&w, backward);
        for (unsigned i = 0; i < count; i++) {
            widths[i] = (uint8_t)random_below(most + 1);
            uint32_t mask = (uint32_t)(((uint64_t)1 << widths[i]) - 1);
            values[i] = (uint32_t)(random_below(round + 1) ? UINT32_MAX : random_u64()) & mask;
            put(&w, values[i], widths[i]);
        }
        flush(&w);
        uint8_t *exact = malloc(w.size + 1);
        for (size_t i = 0; i < w.size; i++)
            exact[backward ? w.size - 1 - i : i] = w.bytes[i];
        l2k_ht_forward forward = l2k_ht_forward_start(exact, w.size, 0xFF);
        l2k_ht_backward back = l2k_ht_magref_start(exact, w.size);
        for (unsigned i = 0; i < count; i++) {
            l2k_ht_backward_fill(&back);
            uint32_t got = backward ? l2k_ht_backward_take(&back, widths[i]) : l2k_ht_forward_take(&forward, widths[i]);
            assert_int_equal(got, values[i]);
        }
        if (!backward) {
            l2k_ht_forward_take(&forward, 8);
            for (unsigned i = 0; i < 20; i++)
                assert_int_equal(l2k_ht_forward_take(&forward, 32), UINT32_MAX);
        }
        free(exact);
    }
}

static void test_forward(void **unused)
{
    (void)unused;
    check_stream(false);
}

static void test_backward(void **unused)
{
    (void)unused;
    check_stream(true);
}

/* ---- Tables -------------------------------------------------------------------------------------------------- */

static l2k_ht_vlc tables[2];

/* Each codeword stands wherever its bits lead, so no two can share a place, and no place is left. What an entry claims
 * must be possible: e_1 within e_k within rho, and only with an exponent bound that is sent. */
static void test_vlc(void **unused)
{
    (void)unused;
    static const unsigned codewords[2] = {444, 358};
    for (unsigned t = 0; t < 2; t++) {
        unsigned count = 0;
        for (unsigned i = 0; i < 1024; i++) {
            unsigned entry = tables[t][i], length = l2k_ht_length(entry);
            assert_in_range(length, 1, 7);
            unsigned first = i & ~127u & 1023, low = i & ((1u << length) - 1);
            for (unsigned rest = 0; rest < 1u << (7 - length); rest++)
                assert_int_equal(tables[t][first | rest << length | low], entry);
            count += (i & 127) == low;
            assert_int_equal(l2k_ht_e_k(entry) & ~l2k_ht_rho(entry), 0);
            assert_int_equal(l2k_ht_e_1(entry) & ~l2k_ht_e_k(entry), 0);
            assert_true(l2k_ht_u_off(entry) || l2k_ht_e_k(entry) == 0);
            assert_true(l2k_ht_rho(entry) || (i >> 7 && !l2k_ht_u_off(entry)));
        }
        assert_int_equal(count, codewords[t]);
    }
}

/* Rows of the tables of Annex C: context, rho, u_off, e_k, e_1, codeword, length. */
static void test_vlc_rows(void **unused)
{
    (void)unused;
    static const uint8_t rows[][8] = {
        {0, 0, 0x1, 0, 0x0, 0x0, 0x06, 4}, {0, 0, 0xF, 1, 0xF, 0x1, 0x33, 7}, {0, 0, 0xF, 1, 0xE, 0x2, 0x19, 6},
        {0, 1, 0x0, 0, 0x0, 0x0, 0x00, 2}, {0, 1, 0x5, 1, 0x4, 0x4, 0x33, 6}, {0, 0, 0xC, 1, 0xC, 0x4, 0x15, 6},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint8_t *r = rows[i];
        assert_int_equal(tables[r[0]][r[1] << 7 | r[6]], r[4 + 0] << 12 | r[5] << 8 | r[2] << 4 | r[3] << 3 | r[7]);
    }
}

/* Each three bits start exactly one prefix, and the values of the prefixes follow on each other. */
static void test_prefixes(void **unused)
{
    (void)unused;
    static const unsigned lengths[8] = {3, 1, 2, 1, 3, 1, 2, 1};
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(l2k_ht_prefixes[i].length, lengths[i]);
    const l2k_ht_prefix *order[4] = {&l2k_ht_prefixes[1], &l2k_ht_prefixes[2], &l2k_ht_prefixes[4],
                                     &l2k_ht_prefixes[0]};
    for (unsigned i = 0, next = 1; i < 4; i++) {
        assert_int_equal(order[i]->base, next);
        next += 1u << order[i]->suffix;
    }
}

/* ---- A block encoder ----------------------------------------------------------------------------------------- */

/* What a block holds: magnitudes in units of the lowest bit-plane that is coded, and signs. */
typedef struct source {
    uint32_t width, height, planes;
    uint64_t magnitude[1026 * 8];
    bool negative[1026 * 8];
    uint8_t state[1026 * 8]; /* refinement: 1 significant, 2 since the SigProp pass */
} source;

typedef struct coded {
    writer magsgn, vlc;
    mel_writer mel;
    uint8_t cleanup[3 * MOST_BYTES];
    size_t cleanup_bytes;
    uint8_t refinement[2 * MOST_BYTES];
    size_t refinement_bytes;
} coded;

static unsigned bit_length(uint64_t value)
{
    unsigned length = 0;
    for (; value; value >>= 1)
        length++;
    return length;
}

static uint64_t magnitude_at(const source *s, int64_t x, int64_t y)
{
    bool inside = x >= 0 && y >= 0 && x < s->width && y < s->height;
    return inside ? s->magnitude[(size_t)y * s->width + (size_t)x] : 0;
}

/* 2 (mu - 1) plus the sign, and the exponent of mu: the bits of 2 mu - 1. */
static uint64_t value_at(const source *s, int64_t x, int64_t y)
{
    return 2 * (magnitude_at(s, x, y) - 1) + s->negative[(size_t)y * s->width + (size_t)x];
}

static unsigned exponent_at(const source *s, int64_t x, int64_t y)
{
    uint64_t mu = magnitude_at(s, x, y);
    return mu ? bit_length(2 * mu - 1) : 0;
}

typedef struct quad {
    unsigned rho, entry, codeword, residual, bound, context;
} quad;

static unsigned significant(const source *s, int64_t x, int64_t y)
{
    return magnitude_at(s, x, y) != 0;
}

/* 7.3.5, from the samples around the quad. */
static unsigned context_of(const source *s, int64_t x, int64_t y)
{
    unsigned west = significant(s, x - 1, y) | significant(s, x - 1, y + 1);
    if (y == 0)
        return significant(s, x - 2, y) | significant(s, x - 2, y + 1) | significant(s, x - 1, y) << 1 |
               significant(s, x - 1, y + 1) << 2;
    return significant(s, x - 1, y - 1) | significant(s, x, y - 1) | west << 1 |
           (significant(s, x + 1, y - 1) | significant(s, x + 2, y - 1)) << 2;
}

static void measure_quad(const source *s, int64_t x, int64_t y, quad *q)
{
    unsigned most = 0, above = 0, least = 1;
    memset(q, 0, sizeof *q);
    for (unsigned k = 0; k < 4; k++) {
        q->rho |= significant(s, x + k / 2, y + k % 2) << k;
        most = l2k_max_u32(most, exponent_at(s, x + k / 2, y + k % 2));
        above = l2k_max_u32(above, exponent_at(s, x - 1 + (int64_t)k, y - 1));
    }
    if (y > 0 && (q->rho & (q->rho - 1)) && above > 2)
        least = above - 1;
    q->bound = l2k_max_u32(most, least);
    q->residual = q->bound - least;
    q->context = context_of(s, x, y);
}

/* Whether an entry describes a quad truly: of the samples in e_k the bit at bound - 1 is that in e_1. */
static bool describes(const source *s, int64_t x, int64_t y, const quad *q, unsigned entry)
{
    if (l2k_ht_rho(entry) != q->rho || l2k_ht_u_off(entry) != (q->residual > 0))
        return false;
    for (unsigned k = 0; k < 4; k++)
        if (l2k_ht_e_k(entry) >> k & 1 &&
            (value_at(s, x + k / 2, y + k % 2) >> (q->bound - 1) & 1) != (l2k_ht_e_1(entry) >> k & 1))
            return false;
    return true;
}

/* Any entry that fits will do: the search starts at random. */
static void choose_entry(const source *s, int64_t x, int64_t y, quad *q)
{
    const uint16_t *table = tables[y > 0] + (q->context << 7);
    for (unsigned i = 0, start = random_below(128); i < 128; i++)
        if (describes(s, x, y, q, table[(start + i) & 127])) {
            q->codeword = (start + i) & 127;
            q->entry = table[q->codeword];
            return;
        }
    assert_true(false);
}

static void put_quad(const source *s, coded *c, int64_t x, int64_t y, quad *q)
{
    measure_quad(s, x, y, q);
    if (q->context == 0)
        mel_put(&c->mel, q->rho != 0);
    if (q->context == 0 && q->rho == 0)
        return;
    choose_entry(s, x, y, q);
    put(&c->vlc, q->codeword, l2k_ht_length(q->entry));
}

typedef struct uvlc {
    unsigned prefix, prefix_length, suffix, suffix_length, extension, extension_length;
} uvlc;

/* Table 3 of T.814. */
static uvlc uvlc_of(unsigned u)
{
    if (u == 0)
        return (uvlc){0};
    if (u <= 2)
        return (uvlc){u == 1 ? 1 : 2, u, 0, 0, 0, 0};
    if (u <= 4)
        return (uvlc){4, 3, u - 3, 1, 0, 0};
    if (u < 33)
        return (uvlc){0, 3, u - 5, 5, 0, 0};
    return (uvlc){0, 3, 28 + (u - 33) % 4, 5, (u - 33) / 4, 4};
}

static void put_residuals(coded *c, bool first_row, unsigned u, unsigned v)
{
    bool both = first_row && u && v, large = u > 2 && v > 2;
    if (both)
        mel_put(&c->mel, large);
    uvlc a = uvlc_of(both && large ? u - 2 : u), b = uvlc_of(both && large ? v - 2 : v);
    if (both && !large && u > 2)
        b = (uvlc){v - 1, 1, 0, 0, 0, 0};
    put(&c->vlc, a.prefix, a.prefix_length);
    put(&c->vlc, b.prefix, b.prefix_length);
    put(&c->vlc, a.suffix, a.suffix_length);
    put(&c->vlc, b.suffix, b.suffix_length);
    put(&c->vlc, a.extension, a.extension_length);
    put(&c->vlc, b.extension, b.extension_length);
}

static void put_samples(const source *s, coded *c, int64_t x, int64_t y, const quad *q)
{
    for (unsigned k = 0; k < 4; k++)
        if (q->rho >> k & 1) {
            unsigned bits = q->bound - (l2k_ht_e_k(q->entry) >> k & 1);
            put(&c->magsgn, value_at(s, x + k / 2, y + k % 2), bits);
        }
}

/* MagSgn, MEL, VLC from its end, and their length in the last twelve bits. */
static void join_cleanup(coded *c)
{
    uint8_t *at = c->cleanup;
    flush(&c->magsgn);
    mel_flush(&c->mel);
    flush(&c->vlc);
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

static void encode_cleanup(const source *s, coded *c)
{
    writer_start(&c->magsgn, false);
    writer_start(&c->vlc, true);
    mel_start(&c->mel);
    put(&c->vlc, 15, 4); /* the length's nibble; its ones decide on stuffing as those of the standard do */
    for (int64_t y = 0; y < s->height; y += 2)
        for (int64_t x = 0; x < s->width; x += 4) {
            quad a, b = {0};
            put_quad(s, c, x, y, &a);
            if (x + 2 < s->width)
                put_quad(s, c, x + 2, y, &b);
            put_residuals(c, y == 0, a.residual, b.residual);
            put_samples(s, c, x, y, &a);
            put_samples(s, c, x + 2, y, &b);
        }
    join_cleanup(c);
}

/* ---- Refinement, sample by sample ---------------------------------------------------------------------------- */

static bool has_neighbour(const source *s, uint32_t x, uint32_t y, bool causal)
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
static void propagate_group(source *s, const source *low, writer *w, uint32_t x0, uint32_t y0, bool causal)
{
    bool found[16] = {false};
    for (unsigned k = 0; k < 16; k++) {
        uint32_t x = x0 + k / 4, y = y0 + k % 4;
        size_t i = (size_t)y * s->width + x;
        if (x >= s->width || y >= s->height || s->state[i] || !has_neighbour(s, x, y, causal))
            continue;
        found[k] = low->magnitude[i] & 1;
        put(w, found[k], 1);
        s->state[i] = found[k] ? 2 : 0;
    }
    for (unsigned k = 0; k < 16; k++)
        if (found[k])
            put(w, low->negative[(size_t)(y0 + k % 4) * s->width + x0 + k / 4], 1);
}

/* `low` is the next bit-plane. */
static void encode_refinement(source *s, const source *low, coded *c, bool causal)
{
    writer *forward = &c->magsgn, *back = &c->vlc;
    writer_start(forward, false);
    writer_start(back, true);
    for (size_t i = 0; i < (size_t)s->width * s->height; i++)
        s->state[i] = s->magnitude[i] != 0;
    for (uint32_t y = 0; y < s->height; y += 4)
        for (uint32_t x = 0; x < s->width; x++)
            for (uint32_t k = y; k < y + 4 && k < s->height; k++)
                if (s->magnitude[(size_t)k * s->width + x])
                    put(back, low->magnitude[(size_t)k * s->width + x] & 1, 1);
    for (uint32_t y = 0; y < s->height; y += 4)
        for (uint32_t x = 0; x < s->width; x += 4)
            propagate_group(s, low, forward, x, y, causal);
    flush(forward);
    flush(back);
    memcpy(c->refinement, forward->bytes, forward->size);
    for (size_t i = 0; i < back->size; i++)
        c->refinement[forward->size + i] = back->bytes[back->size - 1 - i];
    c->refinement_bytes = forward->size + back->size;
}

/* ---- Blocks -------------------------------------------------------------------------------------------------- */

static const l2k_context context;

/* Magnitudes of up to `planes` bits, some blocks sparse, some with large values next to small ones. */
static void fill(source *s, uint32_t width, uint32_t height, unsigned planes)
{
    *s = (source){.width = width, .height = height, .planes = planes};
    const unsigned rarity = 1 + random_below(20), spread = 1 + random_below(planes);
    for (size_t i = 0; i < (size_t)width * height; i++) {
        unsigned bits = random_below(rarity) ? random_below(2) : planes - random_below(spread);
        s->magnitude[i] = random_u64() & (((uint64_t)1 << bits) - 1);
        s->negative[i] = s->magnitude[i] && random_below(2);
    }
}

static uint32_t sample_of(const source *s, size_t i, unsigned plane)
{
    uint32_t magnitude = (uint32_t)(s->magnitude[i] << plane);
    return magnitude ? (uint32_t)s->negative[i] << 31 | magnitude | l2k_ht_half(plane) : 0;
}

static l2k_ht *new_decoder(void)
{
    l2k_ht *ht = calloc(1, sizeof *ht);
    *ht = (l2k_ht){.context = &context,
                   .vlc = tables,
                   .samples = malloc(L2K_HT_SAMPLES * sizeof *ht->samples),
                   .columns = malloc(L2K_HT_COLUMNS)};
    return ht;
}

static void free_decoder(l2k_ht *ht)
{
    free(ht->samples);
    free(ht->columns);
    free(ht);
}

/* Widths and heights of all kinds, also odd ones, in blocks of at most 4096 samples. */
static void shape(uint32_t *width, uint32_t *height)
{
    static const uint8_t most[][2] = {{6, 6}, {10, 2}, {2, 10}, {5, 5}, {3, 8}, {2, 2}, {0, 4}, {4, 0}};
    const uint8_t *m = most[random_below(8)];
    *width = random_below(2) ? 1u << m[0] : 1 + random_below(1u << m[0]);
    *height = random_below(2) ? 1u << m[1] : 1 + random_below(1u << m[1]);
}

/* Copies, so that a sanitizer sees every read past the end. */
static uint8_t *exact_copy(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size + !size);
    memcpy(copy, bytes, size);
    return copy;
}

static void test_cleanup(void **unused)
{
    (void)unused;
    static source s;
    static coded c;
    l2k_ht *ht = new_decoder();
    for (unsigned round = 0; round < 2000; round++) {
        uint32_t width, height;
        const unsigned planes = 1 + random_below(round % 3 ? 12 : 31), plane = random_below(31 - planes + 1);
        shape(&width, &height);
        fill(&s, width, height, planes);
        encode_cleanup(&s, &c);
        uint8_t *bytes = exact_copy(c.cleanup, c.cleanup_bytes);
        l2k_ht_set set = {.cleanup = bytes,
                          .cleanup_bytes = (uint32_t)c.cleanup_bytes,
                          .passes = 1,
                          .plane = plane,
                          .planes = planes};
        l2k_t1_block block = {.width = width, .height = height};
        assert_true(l2k_ht_cleanup(ht, &block, &set));
        for (size_t i = 0; i < (size_t)width * height; i++)
            assert_int_equal(ht->samples[i / width * l2k_ht_stride(&block) + i % width], sample_of(&s, i, plane));
        free(bytes);
    }
    free_decoder(ht);
}

/* The samples after SigProp, or after both passes. */
static uint32_t refined(const source *s, const source *low, size_t i, unsigned passes, unsigned plane)
{
    if (s->state[i] == 2 || (s->state[i] == 1 && passes > 2))
        return sample_of(low, i, plane - 1);
    return sample_of(s, i, plane);
}

static void test_refinement(void **unused)
{
    (void)unused;
    static source s, low;
    static coded c;
    l2k_ht *ht = new_decoder();
    for (unsigned round = 0; round < 2000; round++) {
        uint32_t width, height;
        const unsigned planes = 2 + random_below(10), plane = 1 + random_below(31 - planes), passes = 2 + round % 2;
        const bool causal = round % 5 == 0;
        shape(&width, &height);
        fill(&low, width, height, planes);
        s = low;
        for (size_t i = 0; i < (size_t)width * height; i++)
            s.magnitude[i] >>= 1;
        encode_cleanup(&s, &c);
        encode_refinement(&s, &low, &c, causal);
        uint8_t *cleanup = exact_copy(c.cleanup, c.cleanup_bytes);
        uint8_t *refinement = exact_copy(c.refinement, c.refinement_bytes);
        l2k_ht_set set = {cleanup, refinement, (uint32_t)c.cleanup_bytes, (uint32_t)c.refinement_bytes, passes,
                          plane,   planes - 1};
        l2k_t1_block block = {.width = width, .height = height, .style = causal ? L2K_STYLE_VSC : 0};
        assert_true(l2k_ht_cleanup(ht, &block, &set));
        l2k_ht_refine(ht, &block, &set);
        for (size_t i = 0; i < (size_t)width * height; i++)
            assert_int_equal(ht->samples[i / width * l2k_ht_stride(&block) + i % width],
                             refined(&s, &low, i, passes, plane));
        free(cleanup);
        free(refinement);
    }
    free_decoder(ht);
}

/* Damaged, cut and random bytes: no read outside them, and no magnitude beyond what the block can have. */
static void test_damage(void **unused)
{
    (void)unused;
    static source s;
    static coded c;
    l2k_ht *ht = new_decoder();
    unsigned accepted = 0;
    for (unsigned round = 0; round < 4000; round++) {
        uint32_t width, height;
        const unsigned planes = 1 + random_below(16), plane = 1 + random_below(31 - planes);
        shape(&width, &height);
        fill(&s, width, height, planes);
        encode_cleanup(&s, &c);
        size_t size = round % 4 == 0 ? random_below(c.cleanup_bytes + 1) : c.cleanup_bytes;
        for (unsigned i = 0; i < 1 + round % 8; i++)
            c.cleanup[random_below(c.cleanup_bytes)] ^= (uint8_t)(1 + random_below(255));
        uint8_t *bytes = exact_copy(c.cleanup + c.cleanup_bytes - size, size);
        l2k_ht_set set = {bytes, bytes, (uint32_t)size, (uint32_t)size, 3, plane, planes};
        l2k_t1_block block = {.width = width, .height = height};
        if (l2k_ht_cleanup(ht, &block, &set)) {
            accepted++;
            for (size_t i = 0; i < (size_t)width * height; i++)
                assert_int_equal(
                    (ht->samples[i / width * l2k_ht_stride(&block) + i % width] & 0x7FFFFFFF) >> plane >> planes, 0);
            l2k_ht_refine(ht, &block, &set);
        }
        free(bytes);
    }
    assert_true(accepted > 100);
    free_decoder(ht);
}

static void test_lengths(void **unused)
{
    (void)unused;
    static const uint8_t none[] = {0}, short_suffix[] = {1, 0}, long_suffix[] = {15, 0xFF};
    l2k_ht *ht = new_decoder();
    l2k_t1_block block = {.width = 4, .height = 4};
    l2k_ht_set set = {.cleanup = none, .passes = 1, .planes = 8};
    for (set.cleanup_bytes = 0; set.cleanup_bytes < 2; set.cleanup_bytes++)
        assert_false(l2k_ht_cleanup(ht, &block, &set));
    set.cleanup_bytes = 2;
    set.cleanup = short_suffix;
    assert_false(l2k_ht_cleanup(ht, &block, &set));
    set.cleanup = long_suffix;
    assert_false(l2k_ht_cleanup(ht, &block, &set));
    free_decoder(ht);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mel),     cmocka_unit_test(test_forward),    cmocka_unit_test(test_backward),
        cmocka_unit_test(test_vlc),     cmocka_unit_test(test_vlc_rows),   cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_cleanup), cmocka_unit_test(test_refinement), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_lengths),
    };
    l2k_ht_make_vlc(tables);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
