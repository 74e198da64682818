/* The HT cleanup pass (7.3 of T.814): row by row of 2 x 2 quads, first significance and residuals from MEL and VLC,
 * then magnitudes and signs from MagSgn. */
#include <string.h>

#include "base/integer.h"
#include "codec/blocks/ht/ht_block.h"
#include "codec/blocks/ht/ht_streams.h"

enum { MOST_QUADS = 512 };

typedef struct quad {
    uint16_t entry;    /* of the CxtVLC table */
    uint16_t residual; /* u */
} quad;

/* From a magnitude to a sample. */
typedef struct scale {
    unsigned plane;
    uint32_t half, mask;
} scale;

typedef struct cleanup_decoder {
    l2k_ht_vlc *tables;
    l2k_ht_mel mel;
    l2k_ht_backward vlc;
    l2k_ht_forward magsgn;
    uint32_t num_quads; /* in a row */
    unsigned planes;
    scale scale;
    /* The current row of quads and the one above, with a quad of zeros on each side. */
    quad quads[2][MOST_QUADS + 3];
    /* Magnitude exponents of the lower samples of the same rows, with zeros on each side. */
    uint8_t exponents[2][2 * MOST_QUADS + 4];
} cleanup_decoder;

/* ---- Significance and residuals ------------------------------------------------------------------------------ */

static unsigned rho(const quad *q)
{
    return l2k_ht_rho(q->entry);
}

/* 7.3.5. Samples of a quad are numbered by columns: 0 and 1 on the left, 2 and 3 on the right. */
static unsigned context_in_first_row(const quad *left)
{
    return rho(left) >> 1 | (rho(left) & 1);
}

static unsigned context_below(const quad *left, const quad *above)
{
    unsigned north_west = (rho(above - 1) >> 3 | rho(above) >> 1) & 1;
    unsigned west = (rho(left) >> 2 | rho(left) >> 3) & 1;
    unsigned north_east = (rho(above) >> 3 | rho(above + 1) >> 1) & 1;
    return north_west | west << 1 | north_east << 2;
}

static unsigned get_entry(cleanup_decoder *d, const l2k_ht_vlc table, unsigned context)
{
    if (context == 0 && !l2k_ht_mel_take(&d->mel))
        return 0;
    unsigned entry = table[context << 7 | (d->vlc.bits & 0x7F)];
    l2k_ht_backward_take(&d->vlc, l2k_ht_length(entry));
    return entry;
}

static l2k_ht_prefix get_prefix(l2k_ht_backward *vlc)
{
    l2k_ht_prefix prefix = l2k_ht_prefixes[vlc->bits & 7];
    l2k_ht_backward_take(vlc, prefix.length);
    return prefix;
}

static unsigned extension(l2k_ht_backward *vlc, l2k_ht_prefix prefix, unsigned residual)
{
    bool extended = prefix.suffix && residual >= prefix.base + (unsigned)L2K_HT_EXTENDED_SUFFIX;
    return extended ? 4 * l2k_ht_backward_take(vlc, L2K_HT_EXTENSION_BITS) : 0;
}

/* The U-VLC codes of a pair of quads (7.3.6), which are interleaved. Where both have one in the first row, MEL says
 * whether both exceed 2; if not, a long first one leaves 1 or 2 for the second. */
static void get_residuals(cleanup_decoder *d, bool first_row, quad *first, quad *second)
{
    static const l2k_ht_prefix none = {0, 0, 0};
    l2k_ht_backward *vlc = &d->vlc;
    const bool a = l2k_ht_u_off(first->entry), b = l2k_ht_u_off(second->entry), both = first_row && a && b;
    const unsigned bias = both && l2k_ht_mel_take(&d->mel) ? 2 : 0;
    l2k_ht_prefix p = a ? get_prefix(vlc) : none, q = none;
    if (both && !bias && p.length == 3)
        q.base = (uint8_t)(1 + l2k_ht_backward_take(vlc, 1));
    else if (b)
        q = get_prefix(vlc);
    unsigned u = p.base + l2k_ht_backward_take(vlc, p.suffix), v = q.base + l2k_ht_backward_take(vlc, q.suffix);
    u += extension(vlc, p, u);
    v += extension(vlc, q, v);
    first->residual = (uint16_t)(u + bias);
    second->residual = (uint16_t)(v + bias);
}

/* An odd last quad is paired with one of zeros, which also is the border on that side. */
static void get_first_row(cleanup_decoder *d, quad *row)
{
    for (uint32_t i = 0; i < d->num_quads; i += 2, row += 2) {
        l2k_ht_backward_fill(&d->vlc);
        row[0].entry = (uint16_t)get_entry(d, d->tables[0], context_in_first_row(row - 1));
        row[1].entry = 0;
        if (i + 1 < d->num_quads)
            row[1].entry = (uint16_t)get_entry(d, d->tables[0], context_in_first_row(row));
        get_residuals(d, true, row, row + 1);
    }
}

static void get_other_row(cleanup_decoder *d, quad *row, const quad *above)
{
    for (uint32_t i = 0; i < d->num_quads; i += 2, row += 2, above += 2) {
        l2k_ht_backward_fill(&d->vlc);
        row[0].entry = (uint16_t)get_entry(d, d->tables[1], context_below(row - 1, above));
        row[1].entry = 0;
        if (i + 1 < d->num_quads)
            row[1].entry = (uint16_t)get_entry(d, d->tables[1], context_below(row, above + 1));
        get_residuals(d, false, row, row + 1);
    }
}

/* ---- Magnitudes and signs ------------------------------------------------------------------------------------ */

/* One sample of a quad, whose exponent bound is `bound` (7.3.8). *exponent becomes that of its magnitude. */
static inline uint32_t get_sample(l2k_ht_forward *magsgn, const scale *to, unsigned entry, unsigned k, unsigned bound,
                                  uint8_t *exponent)
{
    *exponent = 0;
    if (!(l2k_ht_rho(entry) >> k & 1))
        return 0;
    unsigned bits = bound - (l2k_ht_e_k(entry) >> k & 1);
    uint64_t value = l2k_ht_forward_take(magsgn, bits) | (uint64_t)(l2k_ht_e_1(entry) >> k & 1) << bits;
    uint64_t magnitude = ((value >> 1) + 1) << to->plane | to->half;
    *exponent = (uint8_t)(64 - __builtin_clzll(value | 1));
    return (uint32_t)(value & 1) << 31 | ((uint32_t)magnitude & to->mask);
}

/* The least exponent bound of a quad: from the four exponents above it, if it has more than one significant sample. */
static unsigned least_bound(unsigned entry, const uint8_t *above)
{
    unsigned significant = l2k_ht_rho(entry), most = 0;
    if (!(significant & (significant - 1)))
        return 1;
    for (unsigned i = 0; i < 4; i++)
        most = l2k_max_u32(most, above[i]);
    return most > 2 ? most - 1 : 1;
}

/* A row of quads to two rows of samples, `top` and the one `stride` after it. `above` is zeros for the first row, which
 * makes every least bound 1. The stream is copied, since it could share memory with what is written. */
static bool get_samples(cleanup_decoder *d, const quad *row, const uint8_t *above, uint8_t *exponents, uint32_t *top,
                        uint32_t stride)
{
    l2k_ht_forward magsgn = d->magsgn;
    const scale to = d->scale;
    uint8_t unused;
    for (uint32_t i = 0; i < d->num_quads; i++, row++, top += 2, above += 2, exponents += 2) {
        const unsigned entry = row->entry;
        if (!l2k_ht_rho(entry)) {
            top[0] = top[1] = top[stride] = top[stride + 1] = 0;
            exponents[0] = exponents[1] = 0;
            continue;
        }
        const unsigned bound = row->residual + least_bound(entry, above - 1);
        if (bound > d->planes + 1)
            return false;
        top[0] = get_sample(&magsgn, &to, entry, 0, bound, &unused);
        top[stride] = get_sample(&magsgn, &to, entry, 1, bound, &exponents[0]);
        top[1] = get_sample(&magsgn, &to, entry, 2, bound, &unused);
        top[stride + 1] = get_sample(&magsgn, &to, entry, 3, bound, &exponents[1]);
    }
    d->magsgn = magsgn;
    return true;
}

/* ---- The pass ------------------------------------------------------------------------------------------------ */

/* The last two bytes have the length of MEL and VLC together in twelve bits (7.1.1). */
static bool start(cleanup_decoder *d, const l2k_ht_set *set)
{
    const uint8_t *data = set->cleanup, *end = data + set->cleanup_bytes;
    if (set->cleanup_bytes < 2)
        return false;
    uint32_t suffix = (uint32_t)end[-1] << 4 | (end[-2] & 15);
    if (suffix < 2 || suffix > set->cleanup_bytes || suffix > 4079)
        return false;
    d->magsgn = l2k_ht_forward_start(data, set->cleanup_bytes - suffix, 0xFF);
    d->mel = l2k_ht_mel_start(end - suffix, end - 1);
    d->vlc = l2k_ht_vlc_start(end - suffix, end);
    return true;
}

bool l2k_ht_cleanup(l2k_ht *ht, const l2k_t1_block *block, const l2k_ht_set *set)
{
    const uint32_t stride = l2k_ht_stride(block);
    cleanup_decoder d = {.tables = ht->vlc,
                         .num_quads = stride / 2,
                         .planes = set->planes,
                         .scale = {.plane = set->plane,
                                   .half = l2k_ht_half(set->plane),
                                   .mask = (1u << (set->plane + set->planes)) - 1}};
    if (!start(&d, set))
        return false;
    for (uint32_t y = 0; y < block->height; y += 2) {
        const unsigned now = y >> 1 & 1;
        if (y == 0)
            get_first_row(&d, d.quads[now] + 1);
        else
            get_other_row(&d, d.quads[now] + 1, d.quads[!now] + 1);
        if (!get_samples(&d, d.quads[now] + 1, d.exponents[!now] + 1, d.exponents[now] + 1,
                         ht->samples + (size_t)y * stride, stride))
            return false;
    }
    return true;
}
