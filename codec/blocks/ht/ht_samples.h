/* Rows of samples of the HT cleanup pass (7.3.7 and 7.3.8 of T.814): exponent bounds, then magnitudes and signs from
 * MagSgn. The exponents above are known when a row begins, and give the start of each of its quads, so these can be
 * read side by side. */
#ifndef L2K_CODEC_BLOCKS_HT_HT_SAMPLES_H
#define L2K_CODEC_BLOCKS_HT_HT_SAMPLES_H

#ifdef __AVX2__
#include <immintrin.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "codec/blocks/ht/ht_rows.h"

/* ---- Bounds and positions ------------------------------------------------------------------------------------ */

/* The bits of x, which is less than 2^31, or 1: from the exponent of a float. The bit below the highest is cleared, so
 * that rounding does not reach the next power of two. */
static inline uint32_t bit_length(uint32_t x)
{
    const float real = (float)(int32_t)(x & ~(x >> 1));
    uint32_t word;
    memcpy(&word, &real, sizeof word);
    const int32_t length = (int32_t)(word >> 23) - 126;
    return length > 1 ? (uint32_t)length : 1;
}

static inline uint32_t max(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* The bound of a quad with more than one significant sample is at least the greatest exponent above it less 1. Returns
 * the greatest bound of the row. */
static uint32_t find_bounds(l2k_ht_pass *restrict p, uint32_t count)
{
    const uint32_t *restrict columns = p->columns + 1, *restrict row = p->quads + 1;
    const uint32_t *restrict residuals = p->residuals;
    uint32_t *restrict bounded = p->bounded, *restrict bits_of = p->bits_of, most = 0;
    const unsigned below = p->waits ? 17 : 0;
    L2K_INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        const uint32_t above =
            max(max(columns[2 * i], columns[2 * i + 1]), max(columns[2 * i + 2], columns[2 * i + 3])) >> below;
        const uint32_t ones = row[i] >> 28, several = -(uint32_t)(ones > 1);
        const uint32_t quad = (row[i] >> 12 & 0xFFFF) + (residuals[i] >> 8 << 24) +
                              (((bit_length(max(above, 1) - 1) - 1) & several) << 24) + (1u << 24);
        bounded[i] = quad;
        bits_of[i] = (quad >> 24) * ones - (quad & 7);
        most = max(most, quad);
    }
    return most >> 24;
}

/* Turns numbers of bits into where they start. */
static void find_starts(l2k_ht_pass *p, uint32_t count)
{
    uint32_t position = p->position;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t bits = p->bits_of[i];
        p->bits_of[i] = position;
        position += bits;
    }
    p->position = position;
}

/* Writes the filler that will be read beyond the end of the stream. */
static void extend(l2k_ht_pass *p, uint32_t end)
{
    const size_t needed = (end >> 3) + (size_t)L2K_HT_FILLER;
    if (needed > p->bytes_known) {
        memset(p->bits + p->bytes_known, 0xFF, needed - p->bytes_known);
        p->bytes_known = needed;
    }
}

/* ---- One by one ---------------------------------------------------------------------------------------------- */

/* Twice the magnitude and the sign, or 0. */
static inline uint32_t get_sample(const l2k_ht_pass *p, uint32_t quad, unsigned k, uint32_t *position)
{
    const uint32_t significant = -(quad >> (4 + k) & 1), bits = ((quad >> 24) - (quad >> (12 + k) & 1)) & significant;
    const uint64_t value = l2k_ht_load(p->bits + (*position >> 3)) >> (*position & 7) & (((uint64_t)1 << bits) - 1);
    *position += bits;
    return ((uint32_t)(value | (uint64_t)(quad >> (8 + k) & 1) << bits) + 2) & significant;
}

/* Scales magnitudes to those of coefficients, and adds the middle of the interval below the lowest bit-plane. */
typedef struct scale {
    unsigned plane;
    uint32_t half, mask;
} scale;

static inline scale scale_of(const l2k_ht_pass *p)
{
    return (scale){p->plane, (1u << p->plane) >> 1, (1u << (p->plane + p->planes)) - 1};
}

static inline void put_sample(scale to, l2k_ht_form form, uint32_t sample, void *row, size_t x)
{
    const uint32_t mask = to.mask & -(uint32_t)(sample != 0), magnitude = ((sample >> 1 << to.plane) | to.half) & mask;
    const uint32_t sign = -(sample & 1), value = (magnitude ^ sign) - sign;
    if (form == L2K_HT_INT16)
        ((int16_t *)row)[x] = (int16_t)value;
    else if (form == L2K_HT_INT32)
        ((int32_t *)row)[x] = (int32_t)value;
    else
        ((uint32_t *)row)[x] = magnitude | sample << 31;
}

static inline __attribute__((always_inline)) void get_singly(l2k_ht_pass *p, l2k_ht_form form, void *top, void *bottom)
{
    const scale to = scale_of(p);
    for (uint32_t i = 0; i < p->num_quads; i++) {
        uint32_t position = p->bits_of[i], sample[4] = {0};
        for (unsigned k = 0; k < 4 && p->bounded[i] & 0xF0; k++)
            sample[k] = get_sample(p, p->bounded[i], k, &position);
        put_sample(to, form, sample[0], top, 2 * (size_t)i);
        put_sample(to, form, sample[2], top, 2 * (size_t)i + 1);
        put_sample(to, form, sample[1], bottom, 2 * (size_t)i);
        put_sample(to, form, sample[3], bottom, 2 * (size_t)i + 1);
        p->columns[2 * i + 2] = sample[1] >> 1;
        p->columns[2 * i + 3] = sample[3] >> 1;
    }
}

/* ---- By columns ---------------------------------------------------------------------------------------------- */

/* Four samples of more bits may not fit in eight bytes, nor eight in 16. */
enum { MOST_IN_COLUMNS = 14 };

#if defined(__AVX2__) && defined(__BMI2__)
#define L2K_HT_BY_COLUMNS

static inline bool by_columns(const l2k_ht_pass *p)
{
    return p->deposits;
}

/* A quad in each 64 bits. */
enum { QUADS = 4 };
typedef uint64_t wide __attribute__((vector_size(8 * QUADS)));
typedef uint16_t halves __attribute__((vector_size(8 * QUADS)));

/* Four flags of a quad from bit `from` on, as 0 or 1 in 16 bits each. `flags` repeats the same bits in all four. */
static inline wide lanes_of(wide flags, unsigned from)
{
    const halves bit = (halves)(((wide){0} + 0x0008000400020001u) << from);
    return (wide)((halves)(((halves)flags & bit) == bit) & 1);
}

/* Finds the masks that deposit bits from MagSgn in four samples of 16 bits, and the addends that then give twice the
 * magnitude and the sign, or 0. */
static void find_columns(l2k_ht_pass *p, size_t count)
{
    for (size_t i = 0; i < count; i += QUADS) {
        wide quad;
        for (size_t k = 0; k < QUADS; k++)
            quad[k] = p->bounded[i + k];
        const wide top = (quad >> 24) - 1, low = quad & 0xFFFF;
        const wide two = low | low << 16, flags = two | two << 32;
        const wide rho = lanes_of(flags, 4), e_1 = lanes_of(flags, 8), e_k = lanes_of(flags, 12);
        const wide fields = (2 * rho << top) - rho - (e_k << top), added = (e_1 << top) + 2 * rho;
        memcpy(p->fields + i, &fields, sizeof fields);
        memcpy(p->added + i, &added, sizeof added);
    }
}

static inline uint32_t get_column(l2k_ht_pass *p, const uint8_t *bits, uint32_t position, size_t i)
{
    const uint64_t next = l2k_ht_load(bits + (position >> 3)) >> (position & 7);
    l2k_ht_store((uint8_t *)(p->columns + 2 + 2 * i), _pdep_u64(next, p->fields[i]) + p->added[i]);
    return position + p->bits_of[i];
}

static inline uint32_t get_two_columns(l2k_ht_pass *p, const uint8_t *bits, uint32_t position, size_t i)
{
    return get_column(p, bits, get_column(p, bits, position, i), i + 1);
}

#elif (defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) || defined(__wasm_simd128__)
#define L2K_HT_BY_COLUMNS

/* Two quads. */
typedef uint16_t halves __attribute__((vector_size(16)));
typedef int16_t signed_halves __attribute__((vector_size(16)));

static inline bool by_columns(const l2k_ht_pass *p)
{
    (void)p;
    return true;
}

static inline void find_columns(l2k_ht_pass *p, size_t count)
{
    (void)p, (void)count;
}

static inline halves load_halves(const void *from)
{
    halves v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* Permutes bytes; zeros for places of 0xFF. */
static inline halves choose(halves from, halves places)
{
#ifdef __wasm_simd128__
    return (halves)wasm_i8x16_swizzle((v128_t)from, (v128_t)places);
#else
    return (halves)vqtbl1q_u8((uint8x16_t)from, (uint8x16_t)places);
#endif
}

/* Bytes to choose, or to choose from, and factors. V8 would make constants anew for each pair of quads. */
typedef struct column_constants {
    halves flags, bounds, up_one, up_two, up_four; /* bytes of two quads, in all their lanes; lanes moved up */
    halves to_top, powers, shifts; /* factors that move e_k to the highest bit; 2^n; 2^(8 - n) for n up to 7 */
} column_constants;

/* Shifts by different counts are products here, because SIMD128 lacks them. */
static inline uint32_t get_two_columns(l2k_ht_pass *p, const uint8_t *bits, uint32_t position, size_t i)
{
    static const column_constants constants = {{0x0100, 0x0100, 0x0100, 0x0100, 0x0504, 0x0504, 0x0504, 0x0504},
                                               {0xFF03, 0xFF03, 0xFF03, 0xFF03, 0xFF07, 0xFF07, 0xFF07, 0xFF07},
                                               {0xFFFF, 0x0100, 0x0302, 0x0504, 0x0706, 0x0908, 0x0B0A, 0x0D0C},
                                               {0xFFFF, 0xFFFF, 0x0100, 0x0302, 0x0504, 0x0706, 0x0908, 0x0B0A},
                                               {0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF, 0x0100, 0x0302, 0x0504, 0x0706},
                                               {8, 4, 2, 1, 8, 4, 2, 1},
                                               {0x0201, 0x0804, 0x2010, 0x8040},
                                               {0x8000, 0x2040, 0x0810, 0x0204, 0x0001}};
    const column_constants *k = &constants;
    __asm__("" : "+r"(k));
    const halves quads = load_halves(p->bounded + i);
    const halves window = load_halves(bits + (position >> 3));
    const signed_halves flags = (signed_halves)(choose(quads, k->flags) * k->to_top);
    const halves e_k = (halves)(flags >> 15), e_1 = (halves)(flags << 4 >> 15);
    const halves significant = (halves)(flags << 8 >> 15);
    const halves count = (choose(quads, k->bounds) + e_k) & significant;
    const halves two = count + choose(count, k->up_one), four = two + choose(two, k->up_two);
    const halves first = four + choose(four, k->up_four) - count + (uint16_t)(position & 7);
    const halves byte = first >> 3, both = byte | byte << 8, shift = first & 7;
    const halves factor = choose(k->shifts, shift | shift << 8 | 0x0800);
    const halves low = choose(window, both + 0x0100) * factor, high = choose(window, both + 0x0201) * factor;
    const halves power = choose(k->powers, count | ((count << 8) - 0x0800));
    const halves sample = ((low >> 8 | high >> 8 << 8) & (power - 1)) | (power & e_1);
    const halves columns = sample - significant - significant;
    memcpy(p->columns + 2 + 2 * i, &columns, sizeof columns);
    return position + p->bits_of[i] + p->bits_of[i + 1];
}

#endif

#ifdef L2K_HT_BY_COLUMNS

static inline __attribute__((always_inline)) void put_columns(const l2k_ht_pass *restrict p, l2k_ht_form form,
                                                              size_t count, void *restrict top, void *restrict bottom)
{
    const uint32_t *restrict columns = p->columns + 2;
    const scale to = scale_of(p);
    L2K_INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        put_sample(to, form, columns[i] & 0xFFFF, top, i);
        put_sample(to, form, columns[i] >> 16, bottom, i);
    }
}

#endif

#endif
