/* The HT cleanup pass (7.3 of T.814): its segments, the tables for its codes, and the loop over rows of 2 x 2 quads. */
#include <string.h>

#include "base/integer.h"
#include "codec/blocks/ht/ht_block.h"

/* ---- Tables -------------------------------------------------------------------------------------------------- */

/* What a quad adds to the context of the one to its right (7.3.5). Samples of a quad are numbered by columns: 0 and 1
 * on the left, 2 and 3 on the right. */
static unsigned context_of_next(bool first_row, unsigned rho)
{
    return first_row ? (rho >> 1 | (rho & 1)) << 7 : ((rho >> 2 | rho >> 3) & 1) << 10;
}

static uint32_t ones(uint32_t bits)
{
    return (uint32_t)__builtin_popcount(bits);
}

static void make_quads(const l2k_ht_vlc vlc, bool first_row, uint32_t table[1024])
{
    for (unsigned i = 0; i < 1024; i++) {
        const uint32_t entry = vlc[i], rho = l2k_ht_rho(entry), e_1 = l2k_ht_e_1(entry), e_k = l2k_ht_e_k(entry);
        table[i] = l2k_ht_length(entry) | context_of_next(first_row, rho) | l2k_ht_u_off(entry) << 11 |
                   ones(e_k) << 12 | rho << 16 | e_1 << 20 | e_k << 24 | ones(rho) << 28;
    }
}

static l2k_ht_prefix get_prefix(l2k_ht_window *vlc)
{
    l2k_ht_prefix prefix = l2k_ht_prefixes[vlc->bits & 7];
    l2k_ht_take(vlc, prefix.length);
    return prefix;
}

static unsigned get_extension(l2k_ht_window *vlc, l2k_ht_prefix prefix, unsigned residual)
{
    bool extended = prefix.suffix && residual >= prefix.base + (unsigned)L2K_HT_EXTENDED_SUFFIX;
    return extended ? 4 * l2k_ht_take(vlc, L2K_HT_EXTENSION_BITS) : 0;
}

/* 7.3.6: the two codes are interleaved. In the first row, where not both of two residuals exceed 2, a long first code
 * leaves 1 or 2 for the second. */
uint32_t l2k_ht_residuals(unsigned pair, uint64_t bits)
{
    static const l2k_ht_prefix none = {0, 0, 0};
    const unsigned bias = pair == L2K_HT_FIRST_ROW_LARGE ? 2 : 0, all = 64;
    l2k_ht_window vlc = {.bits = bits, .count = all};
    l2k_ht_prefix p = pair != 0 && pair != 2 ? get_prefix(&vlc) : none, q = none;
    if (pair == L2K_HT_FIRST_ROW && p.length == 3)
        q.base = (uint8_t)(1 + l2k_ht_take(&vlc, 1));
    else if (pair >= 2)
        q = get_prefix(&vlc);
    unsigned u = p.base + l2k_ht_take(&vlc, p.suffix), v = q.base + l2k_ht_take(&vlc, q.suffix);
    u += get_extension(&vlc, p, u);
    v += get_extension(&vlc, q, v);
    return (all - vlc.count) | (u + bias) << 8 | (v + bias) << 16;
}

static void make_residuals(unsigned pair, uint32_t table[256])
{
    for (unsigned bits = 0; bits < 256; bits++) {
        const uint32_t both = l2k_ht_residuals(pair, bits);
        table[bits] = (both & 63) <= 8 ? both : (uint32_t)L2K_HT_LONG_CODE;
    }
}

void l2k_ht_make_decode_tables(l2k_ht_decode_tables *tables)
{
    l2k_ht_vlc vlc[2];
    l2k_ht_make_vlc(vlc);
    for (unsigned i = 0; i < 2; i++)
        make_quads(vlc[i], i == 0, tables->quads[i]);
    for (unsigned pair = 0; pair < 6; pair++)
        make_residuals(pair, tables->residuals + (pair << 8));
}

/* ---- The pass ------------------------------------------------------------------------------------------------ */

/* The last two bytes hold the length of MEL and VLC together in twelve bits (7.1.1). */
static bool start_streams(l2k_ht_scratch *s, const l2k_ht_set *set)
{
    const uint8_t *data = set->cleanup, *end = data + set->cleanup_bytes;
    l2k_ht_pass *p = &s->pass;
    if (set->cleanup_bytes < 2)
        return false;
    const uint32_t suffix = (uint32_t)end[-1] << 4 | (end[-2] & 15);
    if (suffix < 2 || suffix > set->cleanup_bytes || suffix > L2K_HT_MOST_SUFFIX)
        return false;
    const size_t bytes = l2k_ht_unstuff_vlc(end - suffix, end, s->vlc, L2K_HT_MOST_SUFFIX);
    p->mel = l2k_ht_mel_start(end - suffix, end - 1);
    p->vlc = l2k_ht_window_at(s->vlc, bytes);
    l2k_ht_refill(&p->vlc);
    p->bits = s->magsgn;
    p->bytes_known = l2k_ht_unstuff_forward(data, set->cleanup_bytes - suffix, p->bits, L2K_HT_MAGSGN_BYTES, 0xFF);
    return true;
}

/* The rows' borders, and the row above the first, are zeros. */
static void start_rows(l2k_ht_pass *p, const l2k_t1_block *block, const l2k_ht_set *set, l2k_ht_form form)
{
    p->num_quads = (block->width + 1) / 2;
    memset(p->quads, 0, (1 + p->num_quads + L2K_HT_GROUP) * sizeof *p->quads);
    memset(p->residuals, 0, (p->num_quads + L2K_HT_GROUP) * sizeof *p->residuals);
    memset(p->columns, 0, (3 + 2 * (p->num_quads + L2K_HT_GROUP)) * sizeof *p->columns);
    p->waits = false;
    p->position = 0;
    p->plane = set->plane;
    p->planes = set->planes;
    p->form = form;
}

/* A pass under way. Vector code writes whole groups of quads, and always two rows; where these do not fit, it writes to
 * the scratch lines, which are then copied. */
typedef struct run {
    l2k_ht_scratch *scratch;
    uint8_t *at;         /* the next row of samples */
    size_t pitch, bytes; /* from row to row, and of a row */
    unsigned rows;       /* that the pass has read */
    bool direct;         /* to their place */
    uint32_t y, height;
    bool is_right;
} run;

static run start(l2k_ht *ht, l2k_ht_scratch *s, const l2k_t1_block *block, const l2k_ht_set *set, l2k_ht_form form)
{
    const size_t size = form == L2K_HT_INT16 ? sizeof(int16_t) : sizeof(int32_t);
    const bool apart = form == L2K_HT_SIGNED_MAGNITUDE;
    run r = {.scratch = s,
             .at = apart ? (uint8_t *)ht->samples : block->coefficients,
             .pitch = size * (apart ? l2k_ht_stride(block) : block->stride),
             .bytes = size * block->width,
             .height = block->height,
             .is_right = start_streams(s, set)};
    if (!r.is_right)
        return r;
    s->pass.tables = &ht->tables;
    s->pass.deposits = ht->deposits;
    start_rows(&s->pass, block, set, form);
    ht->rows->first(&s->pass);
    return r;
}

/* Stores the row that was read before, and reads the next. Vectors of samples that were just stored one by one would
 * wait for all work so far, so between two steps of a pass there should be one of another. False: there is none left.
 */
static bool step(const l2k_ht_rows *rows, run *r)
{
    l2k_ht_scratch *s = r->scratch;
    if (r->is_right && r->y > 0) {
        rows->put(&s->pass);
        for (unsigned i = 0; i < r->rows && !r->direct; i++)
            memcpy(r->at + i * r->pitch, s->lines[i], r->bytes);
        r->at += 2 * r->pitch;
    }
    if (!r->is_right || r->y >= r->height)
        return false;
    r->rows = l2k_min_u32(2, r->height - r->y);
    r->direct = r->rows == 2 && r->bytes % (2 * L2K_HT_GROUP * sizeof(uint32_t)) == 0;
    s->pass.top = r->direct ? r->at : (uint8_t *)s->lines[0];
    s->pass.bottom = r->direct ? r->at + r->pitch : (uint8_t *)s->lines[1];
    r->is_right = rows->get(&s->pass, r->y + 2 >= r->height);
    r->y += 2;
    return true;
}

bool l2k_ht_cleanup(l2k_ht *ht, const l2k_t1_block *block, const l2k_ht_set *set, l2k_ht_form form)
{
    run r = start(ht, &ht->scratch[0], block, set, form);
    while (step(ht->rows, &r))
        ;
    return r.is_right;
}

void l2k_ht_cleanup_two(l2k_ht *ht, const l2k_t1_block blocks[2], const l2k_ht_set sets[2], bool are_right[2])
{
    run runs[2];
    bool goes_on[2] = {true, true};
    for (unsigned i = 0; i < 2; i++)
        runs[i] = start(ht, &ht->scratch[i], &blocks[i], &sets[i], l2k_ht_form_of(&blocks[i]));
    while (goes_on[0] || goes_on[1])
        for (unsigned i = 0; i < 2; i++)
            goes_on[i] = goes_on[i] && step(ht->rows, &runs[i]);
    for (unsigned i = 0; i < 2; i++)
        are_right[i] = runs[i].is_right;
}
