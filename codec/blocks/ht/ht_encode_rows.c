/* The HT cleanup pass (7.3 of T.814) as an encoder makes it: row by row of 2 x 2 quads, in sweeps over the row that
 * measure the samples, look up and write the codes of MEL and VLC, join the bits of each quad's samples, and write
 * those. Compiled once per instruction set (base/cpu.h). */
#include "codec/blocks/ht/ht_encode.h"

#include "base/integer.h"
#include "codec/blocks/ht/ht_lanes.h"
#include "codec/blocks/ht/ht_writers.h"

#define INLINE static inline __attribute__((always_inline))

typedef struct cleanup_encoder {
    l2k_ht_encoder *memory;
    const l2k_t1_block *block;
    unsigned plane;
    uint32_t num_quads; /* in a row */
    l2k_ht_forward_writer magsgn;
    l2k_ht_backward_writer vlc;
    l2k_ht_mel_writer mel;
} cleanup_encoder;

/* ---- All magnitudes together --------------------------------------------------------------------------------- */

#define DEFINE_SCAN(name, type, unsigned_type)                                                                         \
    static uint32_t name(const l2k_t1_block *block)                                                                    \
    {                                                                                                                  \
        unsigned_type all = 0;                                                                                         \
        for (uint32_t y = 0; y < block->height; y++) {                                                                 \
            const type *row = (const type *)block->coefficients + y * block->stride;                                   \
            for (uint32_t x = 0; x < block->width; x++)                                                                \
                all |= row[x] < 0 ? (unsigned_type)(0 - (unsigned_type)row[x]) : (unsigned_type)row[x];                \
        }                                                                                                              \
        return all;                                                                                                    \
    }

DEFINE_SCAN(scan_int16, int16_t, uint16_t)
DEFINE_SCAN(scan_int32, int32_t, uint32_t)

/* ---- Samples ------------------------------------------------------------------------------------------------- */

/* Two rows of samples of L2K_LANES quads. Samples of a quad are numbered by columns: 0 and 1 on the left, 2 and 3 on
 * the right. */
typedef struct square {
    l2k_lanes samples[4];
} square;

INLINE void load_row(const l2k_t1_block *block, const void *row, uint32_t x, l2k_lanes *left, l2k_lanes *right)
{
    enum { COLUMNS = 2 * L2K_LANES };
    const size_t size = block->type == L2K_COEFFICIENT_INT16 ? 2 : 4;
    int32_t part[COLUMNS] = {0};
    const void *at = (const uint8_t *)row + x * size;
    if (x + COLUMNS > block->width) {
        memcpy(part, at, (block->width - x) * size);
        at = part;
    }
    if (block->type == L2K_COEFFICIENT_INT16)
        l2k_lanes_load_int16(at, left, right);
    else
        l2k_lanes_load_int32(at, left, right);
}

/* Those below an odd last row are zeros. */
INLINE square load_square(const l2k_t1_block *block, uint32_t x, uint32_t y)
{
    const size_t size = block->type == L2K_COEFFICIENT_INT16 ? 2 : 4;
    const uint8_t *top = (const uint8_t *)block->coefficients + y * block->stride * size;
    square s = {0};
    load_row(block, top, x, &s.samples[0], &s.samples[2]);
    if (y + 1 < block->height)
        load_row(block, top + block->stride * size, x, &s.samples[1], &s.samples[3]);
    return s;
}

/* ---- Measuring ----------------------------------------------------------------------------------------------- */

/* What is known of quads without others. */
typedef struct measured {
    l2k_lanes rho, most; /* the largest exponent of 2 mu - 1 */
    l2k_lanes reaching;  /* samples that have it */
} measured;

/* Values and exponents of a quad's samples: mu in units of the cleanup pass's bit-plane. */
INLINE measured measure_square(l2k_ht_quads *quads, const square *s, unsigned plane, unsigned now, uint32_t i)
{
    l2k_lanes exponents[4];
    measured m = {0};
    for (unsigned k = 0; k < 4; k++) {
        const l2k_lanes v = s->samples[k], mu = l2k_lanes_magnitude(v) >> plane, some = ~l2k_lanes_equal(mu, mu ^ mu);
        exponents[k] = (l2k_lanes_length(mu - 1) + 1) & some;
        m.rho |= some & 1u << k;
        m.most = l2k_lanes_max(m.most, exponents[k]);
        l2k_lanes_store(quads->value[k] + i, (2 * mu - 2 + (v >> 31)) & some);
    }
    for (unsigned k = 0; k < 4; k++)
        m.reaching |= l2k_lanes_equal(exponents[k], m.most) & 1u << k;
    l2k_lanes_store(quads->rho[now] + i, m.rho);
    l2k_lanes_store(quads->left[now] + i, exponents[1]);
    l2k_lanes_store(quads->right[now] + i, exponents[3]);
    return m;
}

/* The least bound (7.3.7): from the four exponents above, where the quad has more than one significant sample. */
INLINE l2k_lanes least_bound(const l2k_ht_quads *quads, unsigned above, l2k_lanes rho, uint32_t i)
{
    const l2k_lanes a = l2k_lanes_load(quads->right[above] + i - 1), b = l2k_lanes_load(quads->left[above] + i);
    const l2k_lanes c = l2k_lanes_load(quads->right[above] + i), d = l2k_lanes_load(quads->left[above] + i + 1);
    const l2k_lanes most = l2k_lanes_max(l2k_lanes_max(a, b), l2k_lanes_max(c, d));
    const l2k_lanes several = ~l2k_lanes_equal(rho & (rho - 1), rho ^ rho), one = (rho ^ rho) + 1;
    return l2k_lanes_max((most - 1) & ~l2k_lanes_equal(most, rho ^ rho) & several, one);
}

/* 7.3.5 */
INLINE l2k_lanes context_of(const l2k_ht_quads *quads, bool first_row, unsigned now, uint32_t i)
{
    const l2k_lanes left = l2k_lanes_load(quads->rho[now] + i - 1);
    if (first_row)
        return left >> 1 | (left & 1);
    const uint32_t *above = quads->rho[!now] + i;
    const l2k_lanes a = l2k_lanes_load(above - 1), b = l2k_lanes_load(above), c = l2k_lanes_load(above + 1);
    return ((a >> 3 | b >> 1) & 1) | (left >> 1 & 2) | (left >> 2 & 2) | ((b >> 1 | c << 1) & 4);
}

/* What depends on other quads: bound, residual and the index of the code. */
INLINE void relate(l2k_ht_quads *quads, const measured *m, bool first_row, unsigned now, uint32_t i)
{
    const l2k_lanes least = first_row ? (m->rho ^ m->rho) + 1 : least_bound(quads, !now, m->rho, i);
    const l2k_lanes bound = l2k_lanes_max(m->most, least), context = context_of(quads, first_row, now, i);
    const l2k_lanes reaching = m->reaching & ~l2k_lanes_equal(bound, least);
    l2k_lanes_store(quads->bound + i, bound);
    l2k_lanes_store(quads->residual + i, bound - least);
    l2k_lanes_store(quads->index + i, context << 8 | m->rho << 4 | reaching);
}

INLINE void measure_row(cleanup_encoder *e, uint32_t y, bool first_row)
{
    l2k_ht_quads *quads = &e->memory->quads;
    const unsigned now = y >> 1 & 1;
    for (uint32_t i = 0; i < e->num_quads; i += L2K_LANES) {
        const square s = load_square(e->block, 2 * i, y);
        const measured m = measure_square(quads, &s, e->plane, now, L2K_HT_MARGIN + i);
        relate(quads, &m, first_row, now, L2K_HT_MARGIN + i);
    }
}

/* ---- MEL and VLC --------------------------------------------------------------------------------------------- */

/* A quad's code, to the pair's. */
INLINE unsigned look_up(l2k_ht_quads *quads, const uint16_t *codes, uint32_t i, uint64_t *bits, unsigned count)
{
    const unsigned entry = quads->entry[i] = codes[quads->index[i]];
    *bits |= (uint64_t)l2k_ht_codeword(entry) << count;
    return count + l2k_ht_code_length(entry);
}

INLINE void put_symbols(l2k_ht_mel_writer *mel, const uint32_t *index, const uint32_t *residuals, bool first_row)
{
    for (unsigned k = 0; k < 2; k++)
        if (index[k] < 256)
            l2k_ht_mel_put(mel, index[k] >> 4);
    if (first_row && residuals[0] && residuals[1])
        l2k_ht_mel_put(mel, residuals[0] > 2 && residuals[1] > 2);
}

/* An odd last quad is paired with one of zeros, which has no code. */
INLINE void put_codes(cleanup_encoder *e, bool first_row)
{
    l2k_ht_quads *quads = &e->memory->quads;
    const uint16_t *codes = e->memory->codes[!first_row];
    const uint32_t *pairs = e->memory->pairs[!first_row];
    l2k_ht_backward_writer vlc = e->vlc;
    if (e->num_quads & 1) {
        quads->index[L2K_HT_MARGIN + e->num_quads] = L2K_HT_NO_INDEX;
        quads->residual[L2K_HT_MARGIN + e->num_quads] = 0;
    }
    for (uint32_t i = L2K_HT_MARGIN; i < L2K_HT_MARGIN + e->num_quads; i += 2) {
        uint64_t bits = 0;
        unsigned count = look_up(quads, codes, i, &bits, 0);
        count = look_up(quads, codes, i + 1, &bits, count);
        const uint32_t pair = pairs[quads->residual[i + 1] * L2K_HT_RESIDUALS + quads->residual[i]];
        l2k_ht_backward_put(&vlc, bits | (uint64_t)(pair >> 5) << count, count + (pair & 31));
        put_symbols(&e->mel, quads->index + i, quads->residual + i, first_row);
    }
    e->vlc = vlc;
}

/* ---- MagSgn -------------------------------------------------------------------------------------------------- */

/* Joins the bits of samples: of whole quads where bounds are at most 16, else of each column. */
INLINE void join_samples(l2k_ht_quads *quads, bool wide, uint32_t i)
{
    const l2k_lanes bound = l2k_lanes_load(quads->bound + i), index = l2k_lanes_load(quads->index + i);
    const l2k_lanes entry = l2k_lanes_load(quads->entry + i), highest = ((bound ^ bound) + 1) << (bound - 1);
    l2k_lanes values[4], counts[4];
    for (unsigned k = 0; k < 4; k++) {
        const l2k_lanes known = l2k_lanes_if_bit(entry, 31 - (L2K_HT_E_K_AT + k));
        counts[k] = (bound + known) & l2k_lanes_if_bit(index, 31 - (4 + k));
        values[k] = l2k_lanes_load(quads->value[k] + i) & ~(known & highest);
    }
    const uint32_t at = i - L2K_HT_MARGIN;
    const l2k_lanes left = counts[0] + counts[1], right = counts[2] + counts[3];
    if (wide) {
        l2k_lanes_store_joined(quads->code[0][0], quads->code[0][1], at, values[0], values[1], counts[0]);
        l2k_lanes_store_joined(quads->code[1][0], quads->code[1][1], at, values[2], values[3], counts[2]);
        l2k_lanes_store(quads->count[0] + at, left);
        l2k_lanes_store(quads->count[1] + at, right);
    } else {
        l2k_lanes_store_joined(quads->code[0][0], quads->code[0][1], at, values[0] | values[1] << counts[0],
                               values[2] | values[3] << counts[2], left);
        l2k_lanes_store(quads->count[0] + at, left + right);
    }
}

INLINE void put_code(l2k_ht_forward_writer *w, uint64_t code, unsigned count)
{
    if (count > L2K_HT_PUT_MOST) {
        l2k_ht_forward_put(w, code & UINT32_MAX, 32);
        code >>= 32;
        count -= 32;
    }
    l2k_ht_forward_put(w, code, count);
}

INLINE void put_pair(l2k_ht_forward_writer *w, uint64_t first, unsigned first_count, uint64_t second,
                     unsigned second_count)
{
    if (first_count + second_count <= L2K_HT_PUT_MOST) {
        l2k_ht_forward_put(w, first | second << first_count, first_count + second_count);
    } else {
        put_code(w, first, first_count);
        put_code(w, second, second_count);
    }
}

INLINE void put_samples(cleanup_encoder *e, bool wide)
{
    l2k_ht_quads *quads = &e->memory->quads;
    l2k_ht_forward_writer w = e->magsgn;
    for (uint32_t i = 0; i < e->num_quads; i += L2K_LANES)
        join_samples(quads, wide, L2K_HT_MARGIN + i);
    if (e->num_quads & 1)
        quads->code[0][1][e->num_quads / 2] = quads->count[0][e->num_quads] = 0;
    if (wide)
        for (uint32_t i = 0; i < e->num_quads; i++)
            put_pair(&w, quads->code[0][i & 1][i / 2], quads->count[0][i], quads->code[1][i & 1][i / 2],
                     quads->count[1][i]);
    else
        for (uint32_t i = 0; i < e->num_quads; i += 2)
            put_pair(&w, quads->code[0][0][i / 2], quads->count[0][i], quads->code[0][1][i / 2],
                     quads->count[0][i + 1]);
    e->magsgn = w;
}

/* ---- The pass ------------------------------------------------------------------------------------------------ */

/* The last byte and the low half of the one before it are the length field (7.1.1); stuffing takes both as ones. */
static void start(cleanup_encoder *e)
{
    l2k_ht_encoder *memory = e->memory;
    uint8_t *last = memory->vlc + sizeof memory->vlc - 1;
    *last = 0xFF;
    e->magsgn = (l2k_ht_forward_writer){.next = memory->bytes};
    e->mel = (l2k_ht_mel_writer){.next = memory->mel, .room = 8};
    e->vlc = (l2k_ht_backward_writer){.first = last, .bits = 15, .count = 4};
}

/* The row above the first one is zeros, and so are the quads beyond those of each row. */
static void clear_border(cleanup_encoder *e)
{
    l2k_ht_quads *quads = &e->memory->quads;
    const size_t whole = (e->num_quads + L2K_LANES - 1) / L2K_LANES * L2K_LANES, end = L2K_HT_MARGIN + whole;
    const size_t row = (end + 1) * sizeof(uint32_t);
    memset(quads->rho[1], 0, row);
    memset(quads->left[1], 0, row);
    memset(quads->right[1], 0, row);
    quads->rho[0][L2K_HT_MARGIN - 1] = quads->left[0][L2K_HT_MARGIN - 1] = quads->right[0][L2K_HT_MARGIN - 1] = 0;
    quads->rho[0][end] = quads->left[0][end] = quads->right[0][end] = 0;
}

/* The last bytes of MEL and VLC become one where their bits agree, unless that would be 0xFF, after which MEL would be
 * stuffed, or VLC is nothing but its length field. */
static void end_mel_and_vlc(cleanup_encoder *e)
{
    if (e->mel.run)
        l2k_ht_mel_bit_put(&e->mel, 1);
    const unsigned mel = e->mel.byte, vlc = (unsigned)e->vlc.bits, both = mel | vlc;
    const unsigned mel_mask = 0xFFu << e->mel.room & 0xFF, vlc_mask = (1u << e->vlc.count) - 1;
    if ((mel_mask | vlc_mask) == 0)
        return;
    const bool agree = !((both ^ mel) & mel_mask) && !((both ^ vlc) & vlc_mask);
    const bool has_vlc = e->vlc.first < e->memory->vlc + sizeof e->memory->vlc - 1;
    if (agree && both != 0xFF && has_vlc) {
        *e->mel.next++ = (uint8_t)both;
        return;
    }
    *e->mel.next++ = (uint8_t)mel;
    *--e->vlc.first = (uint8_t)vlc;
}

/* MagSgn, MEL and VLC in a row, with the length of the last two. */
static uint32_t join(cleanup_encoder *e)
{
    l2k_ht_encoder *memory = e->memory;
    uint8_t *at = e->magsgn.next;
    const size_t mel = (size_t)(e->mel.next - memory->mel);
    const size_t vlc = (size_t)(memory->vlc + sizeof memory->vlc - e->vlc.first), length = mel + vlc;
    memcpy(at, memory->mel, mel);
    memcpy(at + mel, e->vlc.first, vlc);
    at += length;
    at[-1] = (uint8_t)(length >> 4);
    at[-2] = (uint8_t)((at[-2] & 0xF0) | (length & 15));
    return (uint32_t)(at - memory->bytes);
}

/* Two rows of the block that is encoded next, on their way into the cache. */
INLINE void fetch_next(const l2k_ht_encoder *memory, uint32_t y)
{
    const size_t bytes = l2k_coefficient_bytes(memory->next.type);
    for (uint32_t k = y; k < y + 2 && k < memory->next.height; k++) {
        const uint8_t *row = (const uint8_t *)memory->next.coefficients + k * memory->next.stride * bytes;
        for (size_t x = 0; x < memory->next.width * bytes; x += 64)
            __builtin_prefetch(row + x);
    }
}

static uint32_t encode_cleanup(l2k_ht_encoder *memory, const l2k_t1_block *block, unsigned plane, bool wide)
{
    cleanup_encoder e = {.memory = memory, .block = block, .plane = plane, .num_quads = (block->width + 1) / 2};
    clear_border(&e);
    start(&e);
    for (uint32_t y = 0; y < block->height; y += 2) {
        fetch_next(memory, y);
        if (y == 0) {
            measure_row(&e, y, true);
            put_codes(&e, true);
        } else {
            measure_row(&e, y, false);
            put_codes(&e, false);
        }
        if (wide)
            put_samples(&e, true);
        else
            put_samples(&e, false);
    }
    l2k_ht_forward_flush(&e.magsgn);
    end_mel_and_vlc(&e);
    return join(&e);
}

/* ---- The table ----------------------------------------------------------------------------------------------- */

const l2k_ht_encode_rows L2K_ROWS_TABLE(l2k_ht_encode_rows) = {
    .scan = {[L2K_COEFFICIENT_INT16] = scan_int16, [L2K_COEFFICIENT_INT32] = scan_int32},
    .cleanup = encode_cleanup,
};

#ifdef L2K_ROWS_BASE
const l2k_ht_encode_rows *l2k_ht_encode_rows_get(l2k_cpu cpu)
{
    static const l2k_ht_encode_rows *const tables[] = L2K_CPU_TABLES(l2k_ht_encode_rows);
    return tables[l2k_cpu_resolve(cpu)];
}
#endif
