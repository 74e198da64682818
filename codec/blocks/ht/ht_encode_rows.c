/* The encoder's HT cleanup pass (7.3 of T.814). For each row of 2 x 2 quads, loops measure the samples, look up and
 * write the codes of MEL and VLC, join the bits of each quad's samples, and write those. Compiled once per instruction
 * set (base/cpu.h). */
#include "codec/blocks/ht/ht_encode.h"

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

/* ---- Samples ------------------------------------------------------------------------------------------------- */

/* The samples of a row of quads. */
typedef struct sample_rows {
    const uint8_t *top, *bottom;
    uint32_t width;
} sample_rows;

/* An odd last row is paired with zeros. */
static sample_rows rows_at(const l2k_t1_block *block, const int32_t *zeros, uint32_t y)
{
    const size_t stride = block->stride * l2k_coefficient_bytes(block->type);
    const uint8_t *top = (const uint8_t *)block->coefficients + y * stride;
    const void *bottom = y + 1 < block->height ? (const void *)(top + stride) : zeros;
    return (sample_rows){top, bottom, block->width};
}

/* Loads the left and right samples of L2K_LANES quads, from column x on; zeros beyond the row. */
INLINE void load_samples(const sample_rows *rows, l2k_coefficient_type type, const uint8_t *row, size_t x,
                         l2k_lanes *left, l2k_lanes *right)
{
    enum { COLUMNS = 2 * L2K_LANES };
    const size_t size = type == L2K_COEFFICIENT_INT16 ? 2 : 4;
    int32_t part[COLUMNS] = {0};
    const void *at = row + x * size;
    if (x + COLUMNS > rows->width) {
        memcpy(part, at, (rows->width - x) * size);
        at = part;
    }
    if (type == L2K_COEFFICIENT_INT16)
        l2k_lanes_load_int16(at, left, right);
    else
        l2k_lanes_load_int32(at, left, right);
}

/* ---- Measuring ----------------------------------------------------------------------------------------------- */

/* Properties of quads that do not depend on other quads. */
typedef struct measured {
    l2k_lanes rho, most; /* the largest exponent of 2 mu - 1 */
    l2k_lanes reaching;  /* samples with that exponent */
} measured;

/* Values and exponents of samples, which are numbered by columns: 0 and 1 on the left, 2 and 3 on the right. mu is in
 * units of the cleanup pass's bit-plane. */
INLINE measured measure_samples(l2k_ht_quads *quads, l2k_ht_line *now, const l2k_lanes samples[4], unsigned plane,
                                bool wide, size_t i)
{
    l2k_lanes exponents[4];
    measured m = {0};
    for (unsigned k = 0; k < 4; k++) {
        const l2k_lanes mu = l2k_lanes_magnitude(samples[k]) >> plane, less = mu - 1,
                        none = l2k_lanes_equal(mu, mu ^ mu);
        exponents[k] = (l2k_lanes_length(less, wide) + 1) & ~none;
        m.rho |= ~none & 1u << k;
        m.most = l2k_lanes_max(m.most, exponents[k]);
        l2k_lanes_store(quads->value[k] + i, (less + less + (samples[k] >> 31)) & ~none);
    }
    for (unsigned k = 0; k < 4; k++)
        m.reaching |= l2k_lanes_equal(exponents[k], m.most) & 1u << k;
    l2k_lanes_store(now->rho + i, m.rho);
    l2k_lanes_store(now->left + i, exponents[1]);
    l2k_lanes_store(now->right + i, exponents[3]);
    return m;
}

/* The least bound (7.3.7): depends on the four exponents above if the quad has more than one significant sample. */
INLINE l2k_lanes least_bound(const l2k_ht_line *above, l2k_lanes rho, size_t i)
{
    const l2k_lanes a = l2k_lanes_load(above->right + i - 1), b = l2k_lanes_load(above->left + i);
    const l2k_lanes c = l2k_lanes_load(above->right + i), d = l2k_lanes_load(above->left + i + 1);
    const l2k_lanes zero = rho ^ rho, most = l2k_lanes_max(l2k_lanes_max(a, b), l2k_lanes_max(c, d));
    return ((l2k_lanes_max(most, zero + 2) - 2) & ~l2k_lanes_equal(rho & (rho - 1), zero)) + 1;
}

/* 7.3.5 */
INLINE l2k_lanes context_of(const l2k_ht_line *now, const l2k_ht_line *above, bool first_row, size_t i)
{
    const l2k_lanes left = l2k_lanes_load(now->rho + i - 1);
    if (first_row)
        return left >> 1 | (left & 1);
    const l2k_lanes a = l2k_lanes_load(above->rho + i - 1), b = l2k_lanes_load(above->rho + i);
    const l2k_lanes c = l2k_lanes_load(above->rho + i + 1);
    return ((a >> 3 | b >> 1) & 1) | ((left >> 1 | left >> 2) & 2) | ((b >> 1 | c << 1) & 4);
}

/* Stores a bit of `masks` for each quad from number i on. */
INLINE void note_lanes(uint64_t *masks, size_t i, l2k_lanes condition)
{
    const uint64_t bits = l2k_lanes_mask(condition) << i % 64;
    masks[i / 64] = i % 64 ? masks[i / 64] | bits : bits;
}

/* Computes the properties that depend on other quads: bound, residual and the index of the code. */
INLINE void relate(l2k_ht_quads *quads, const measured *m, l2k_lanes least, l2k_lanes context, size_t i)
{
    const l2k_lanes bound = l2k_lanes_max(m->most, least), zero = bound ^ bound;
    const l2k_lanes reaching = m->reaching & ~l2k_lanes_equal(bound, least);
    note_lanes(quads->quiet, i - L2K_HT_MARGIN, l2k_lanes_equal(context, zero));
    note_lanes(quads->some, i - L2K_HT_MARGIN, ~l2k_lanes_equal(m->rho, zero));
    l2k_lanes_store(quads->bound + i, bound);
    l2k_lanes_store(quads->residual + i, bound - least);
    l2k_lanes_store(quads->index + i, context << 8 | m->rho << 4 | reaching);
}

static void measure_row(cleanup_encoder *e, uint32_t y, bool wide)
{
    const bool first_row = y == 0;
    const l2k_coefficient_type type = e->block->type;
    l2k_ht_quads *quads = &e->memory->quads;
    l2k_ht_line *now = &quads->lines[y >> 1 & 1];
    const l2k_ht_line *above = &quads->lines[!(y >> 1 & 1)];
    const sample_rows rows = rows_at(e->block, e->memory->zeros, y);
    for (size_t i = 0; i < e->num_quads; i += L2K_LANES) {
        const size_t at = L2K_HT_MARGIN + i;
        l2k_lanes samples[4];
        load_samples(&rows, type, rows.top, 2 * i, &samples[0], &samples[2]);
        load_samples(&rows, type, rows.bottom, 2 * i, &samples[1], &samples[3]);
        const measured m = measure_samples(quads, now, samples, e->plane, wide, at);
        const l2k_lanes least = first_row ? (m.rho ^ m.rho) + 1 : least_bound(above, m.rho, at);
        relate(quads, &m, least, context_of(now, above, first_row, at), at);
    }
}

/* ---- MEL ----------------------------------------------------------------------------------------------------- */

/* Each quad in context 0 has a symbol: whether it has significant samples. In the first row, pairs have one, too. */
static void put_first_symbols(cleanup_encoder *e)
{
    const l2k_ht_quads *quads = &e->memory->quads;
    for (uint32_t i = 0; i < e->num_quads; i++) {
        const uint32_t at = L2K_HT_MARGIN + i, u = quads->residual[at - (i & 1)], v = quads->residual[at];
        if (quads->quiet[i / 64] >> i % 64 & 1)
            l2k_ht_mel_put(&e->mel, quads->some[i / 64] >> i % 64 & 1);
        if (i & 1 && u && v)
            l2k_ht_mel_put(&e->mel, u > 2 && v > 2);
    }
}

/* Codes the symbols of 64 quads: ones, each after a run of zeros, then the zeros left. */
INLINE void put_symbols_of(l2k_ht_mel_writer *mel, uint64_t quiet, uint64_t some)
{
    for (uint64_t ones = quiet & some; ones; ones &= ones - 1) {
        const uint64_t below = (ones & -ones) - 1;
        l2k_ht_mel_zeros(mel, (unsigned)__builtin_popcountll(quiet & below));
        l2k_ht_mel_one(mel);
        quiet &= ~below << 1;
    }
    l2k_ht_mel_zeros(mel, (unsigned)__builtin_popcountll(quiet));
}

static void put_symbols(cleanup_encoder *e)
{
    const l2k_ht_quads *quads = &e->memory->quads;
    const unsigned last = (e->num_quads - 1) / 64;
    for (unsigned i = 0; i < last; i++)
        put_symbols_of(&e->mel, quads->quiet[i], quads->some[i]);
    put_symbols_of(&e->mel, quads->quiet[last] & UINT64_MAX >> (64 * last + 64 - e->num_quads), quads->some[last]);
}

/* ---- VLC ----------------------------------------------------------------------------------------------------- */

typedef struct vlc_code {
    uint64_t bits;
    unsigned count;
} vlc_code;

INLINE void look_up(l2k_ht_quads *quads, const uint16_t *codes, uint32_t i, vlc_code *to)
{
    const unsigned entry = quads->entry[i] = codes[quads->index[i]];
    to->bits |= (uint64_t)l2k_ht_codeword(entry) << to->count;
    to->count += l2k_ht_code_length(entry);
}

INLINE vlc_code code_of_pair(l2k_ht_quads *quads, const uint16_t *codes, const uint32_t *pairs, uint32_t i)
{
    const uint32_t pair = pairs[quads->residual[i + 1] * L2K_HT_RESIDUALS + quads->residual[i]];
    vlc_code c = {0, 0};
    look_up(quads, codes, i, &c);
    look_up(quads, codes, i + 1, &c);
    return (vlc_code){c.bits | (uint64_t)(pair >> 5) << c.count, c.count + (pair & 31)};
}

static void put_codes(cleanup_encoder *e, bool first_row)
{
    l2k_ht_quads *quads = &e->memory->quads;
    const uint16_t *codes = e->memory->codes[!first_row];
    const uint32_t *pairs = e->memory->pairs[!first_row];
    l2k_ht_backward_writer vlc = e->vlc;
    for (uint32_t i = L2K_HT_MARGIN + e->num_quads; i & 3; i++) { /* up to whole fours, without codes */
        quads->index[i] = L2K_HT_NO_INDEX;
        quads->residual[i] = 0;
    }
    for (uint32_t i = L2K_HT_MARGIN; i < L2K_HT_MARGIN + e->num_quads; i += 4) {
        vlc_code a = code_of_pair(quads, codes, pairs, i), b = code_of_pair(quads, codes, pairs, i + 2);
        if (a.count + b.count > L2K_HT_PUT_MOST) {
            l2k_ht_backward_put(&vlc, a.bits, a.count);
            a = (vlc_code){0, 0};
        }
        l2k_ht_backward_put(&vlc, a.bits | b.bits << a.count, a.count + b.count);
    }
    e->vlc = vlc;
}

/* ---- MagSgn -------------------------------------------------------------------------------------------------- */

/* Joins the bits of a quad's samples if bounds are at most 16, else those of each column. */
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

static void put_samples(cleanup_encoder *e, bool wide)
{
    l2k_ht_quads *quads = &e->memory->quads;
    l2k_ht_forward_writer w = e->magsgn;
    for (uint32_t i = 0; i < e->num_quads; i += L2K_LANES)
        join_samples(quads, wide, L2K_HT_MARGIN + i);
    if (e->num_quads & 1)
        quads->code[0][1][e->num_quads / 2] = quads->count[0][e->num_quads] = 0;
    for (uint32_t i = 0; wide && i < e->num_quads; i++) {
        put_code(&w, quads->code[0][i & 1][i / 2], quads->count[0][i]);
        put_code(&w, quads->code[1][i & 1][i / 2], quads->count[1][i]);
    }
    for (uint32_t i = 0; !wide && i < e->num_quads; i += 2)
        put_pair(&w, quads->code[0][0][i / 2], quads->count[0][i], quads->code[0][1][i / 2], quads->count[0][i + 1]);
    e->magsgn = w;
}

/* ---- The pass ------------------------------------------------------------------------------------------------ */

/* The last byte and the low half of the one before it are the length field (7.1.1), which stuffing treats as ones. */
static void start(cleanup_encoder *e)
{
    l2k_ht_encoder *memory = e->memory;
    uint8_t *last = memory->vlc + sizeof memory->vlc - 1;
    *last = 0xFF;
    e->magsgn = (l2k_ht_forward_writer){.next = memory->bytes};
    e->mel = (l2k_ht_mel_writer){.next = memory->mel, .room = 8};
    e->vlc = (l2k_ht_backward_writer){.first = last, .bits = 15, .count = 4};
}

/* The row above the first one is zeros, and so are the quads on both sides of each row. */
static void clear_border(cleanup_encoder *e)
{
    l2k_ht_line *lines = e->memory->quads.lines;
    const size_t whole = (e->num_quads + L2K_LANES - 1) / L2K_LANES * L2K_LANES, end = L2K_HT_MARGIN + whole;
    const size_t row = (end + 1) * sizeof(uint32_t);
    memset(lines[1].rho, 0, row);
    memset(lines[1].left, 0, row);
    memset(lines[1].right, 0, row);
    lines[0].rho[L2K_HT_MARGIN - 1] = lines[0].left[L2K_HT_MARGIN - 1] = lines[0].right[L2K_HT_MARGIN - 1] = 0;
    lines[0].rho[end] = lines[0].left[end] = lines[0].right[end] = 0;
}

/* The last bytes of MEL and VLC share one byte if their bits agree, unless it would be 0xFF, after which MEL would be
 * stuffed, or VLC consists of its length field alone. */
static void end_mel_and_vlc(cleanup_encoder *e)
{
    if (e->mel.run)
        l2k_ht_mel_bits(&e->mel, 1, 1);
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

/* Joins MagSgn, MEL and VLC, and sets the length field of the last two. */
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

/* Prefetches two rows of the block to encode next. */
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
        measure_row(&e, y, wide);
        if (y == 0)
            put_first_symbols(&e);
        else
            put_symbols(&e);
        put_codes(&e, y == 0);
        put_samples(&e, wide);
    }
    l2k_ht_forward_flush(&e.magsgn);
    end_mel_and_vlc(&e);
    return join(&e);
}

/* ---- Counting ------------------------------------------------------------------------------------------------ */

typedef struct lane_counts {
    l2k_lanes samples, quads, bits;
} lane_counts;

INLINE void count_quads(const l2k_lanes samples[4], unsigned planes, lane_counts *counts)
{
    l2k_lanes mu[4], most = samples[0] ^ samples[0];
    const l2k_lanes zero = most;
    for (unsigned k = 0; k < 4; k++) {
        mu[k] = l2k_lanes_magnitude(samples[k]);
        most = l2k_lanes_max(most, mu[k]);
    }
    const l2k_lanes length = l2k_lanes_length(most, true);
    for (unsigned p = 0; p < planes; p++) {
        const l2k_lanes top = most >> p, several = ~l2k_lanes_equal(top & (top - 1), zero) & 1;
        l2k_lanes n = zero + 4;
        for (unsigned k = 0; k < 4; k++)
            n += l2k_lanes_equal(mu[k] >> p, zero);
        counts[p].samples += n;
        counts[p].quads += ~l2k_lanes_equal(top, zero) & 1;
        counts[p].bits += n * (length - p + several);
    }
}

static uint32_t sum_lanes(l2k_lanes v)
{
    uint32_t each[L2K_LANES], sum = 0;
    memcpy(each, &v, sizeof each);
    for (unsigned i = 0; i < L2K_LANES; i++)
        sum += each[i];
    return sum;
}

static void count(const l2k_ht_encoder *memory, const l2k_t1_block *block, unsigned planes, l2k_ht_counts *counts)
{
    lane_counts sums[L2K_HT_MAX_BIT_PLANES];
    memset(sums, 0, planes * sizeof *sums);
    for (uint32_t y = 0; y < block->height; y += 2) {
        const sample_rows rows = rows_at(block, memory->zeros, y);
        for (size_t x = 0; x < block->width; x += 2 * L2K_LANES) {
            l2k_lanes samples[4];
            load_samples(&rows, block->type, rows.top, x, &samples[0], &samples[2]);
            load_samples(&rows, block->type, rows.bottom, x, &samples[1], &samples[3]);
            count_quads(samples, planes, sums);
        }
    }
    for (unsigned p = 0; p < planes; p++) {
        counts->samples[p] = sum_lanes(sums[p].samples);
        counts->quads[p] = sum_lanes(sums[p].quads);
        counts->bits[p] = sum_lanes(sums[p].bits);
    }
}

const l2k_ht_encode_rows L2K_ROWS_TABLE(l2k_ht_encode_rows) = {.cleanup = encode_cleanup, .count = count};

#ifdef L2K_ROWS_BASE
const l2k_ht_encode_rows *l2k_ht_encode_rows_get(l2k_cpu cpu)
{
    static const l2k_ht_encode_rows *const tables[] = L2K_CPU_TABLES(l2k_ht_encode_rows);
    return tables[l2k_cpu_resolve(cpu)];
}
#endif
