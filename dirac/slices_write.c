/* Coefficients into slices, each with the least quantiser index with which they fit (VC-2, 13.5). */
#include "dirac/transform.h"

/* Nothing is left of any coefficient. */
enum { MOST_INDEX = 115 };

/* What has a length of its own in a slice: a component, or both of chroma interleaved. */
typedef struct block {
    unsigned first, planes; /* components */
    l2k_dirac_band parts[L2K_DIRAC_BANDS];
    const int32_t *values; /* coefficients in the order of their codes */
    uint64_t bits;         /* of the codes */
} block;

typedef struct slice {
    unsigned num_blocks; /* 2 of low delay, 3 of high quality */
    bool whole;          /* the last codes are not left out where values are 0 */
    block blocks[L2K_DIRAC_PLANES];
} slice;

/* Returns the number of coefficients. */
static uint64_t load_slice(const l2k_dirac_transform *t, uint32_t number, slice *s)
{
    int32_t *next = t->scratch;
    s->num_blocks = t->syntax == L2K_DIRAC_LOW_DELAY ? 2 : 3;
    for (unsigned i = 0; i < s->num_blocks; i++) {
        block *k = &s->blocks[i];
        k->first = i, k->planes = s->num_blocks == 2 ? 1 + i : 1, k->values = next;
        l2k_dirac_slice_parts(t, i, number % t->slices[0], number / t->slices[0], k->parts);
        for (const l2k_dirac_band *p = k->parts; p < k->parts + l2k_dirac_bands(t); p++)
            for (size_t y = 0; y < p->height; y++)
                for (size_t x = 0; x < p->width; x++)
                    for (unsigned c = i; c < i + k->planes; c++)
                        *next++ = ((int32_t *)t->components[c].data)[p->at + y * p->stride + x];
    }
    return (uint64_t)(next - (int32_t *)t->scratch);
}

/* The place of value n of the lowest low-pass, and the mean of its neighbours (13.4). */
static int32_t *predict(const l2k_dirac_transform *t, const block *k, size_t n, int32_t *mean)
{
    const l2k_dirac_band *p = k->parts;
    const size_t x = p->at % p->stride + n / k->planes % p->width, y = p->at / p->stride + n / k->planes / p->width;
    int32_t *row = (int32_t *)t->components[k->first + n % k->planes].data + y * p->stride;
    *mean = (int32_t)l2k_dirac_predicted(row, row - (y ? p->stride : 0), x, y, true);
    return row + x;
}

/* Counts the bits of a block, or, with a writer, writes them. Low delay has values as the decoder will have them take the
 * place of coefficients, and codes what these have beyond their means. */
static inline __attribute__((always_inline)) void code(const l2k_dirac_transform *t, block *k, unsigned index,
                                                       bool whole, l2k_dirac_writer *writer)
{
    const int32_t *next = k->values;
    uint64_t bits = 0, needed = 0; /* all, and up to the last value that is not 0 */
    for (unsigned b = 0; b < l2k_dirac_bands(t); b++) {
        const size_t count = (size_t)k->parts[b].width * k->parts[b].height * k->planes;
        const l2k_dirac_quantiser q = t->quantisers[1][index > t->matrix[b] ? index - t->matrix[b] : 0];
        const uint64_t inverse = (((uint64_t)1 << 34) + q.factor - 1) / q.factor;
        const bool predicts = b == 0 && t->syntax == L2K_DIRAC_LOW_DELAY;
        for (size_t n = 0; n < count; n++) {
            int32_t mean = 0, *at = predicts ? predict(t, k, n, &mean) : NULL;
            const int32_t rest = *next++ - mean, size = (int32_t)((uint64_t)abs(rest) * inverse >> 32);
            if (predicts)
                *at = mean + l2k_dirac_dequantise(rest < 0 ? -size : size, q);
            if (writer && bits < k->bits) {
                l2k_dirac_put_uint(writer, (uint32_t)size);
                l2k_dirac_put_bits(writer, rest < 0, size != 0);
            }
            bits += 2 * l2k_dirac_pairs((uint32_t)size) + 1 + (size != 0);
            needed = size ? bits : needed;
        }
    }
    if (!writer)
        k->bits = whole ? bits : needed;
}

/* Of high quality; bits of low delay. */
static uint64_t units_of(const l2k_dirac_transform *t, const block *k)
{
    const uint64_t unit = t->syntax == L2K_DIRAC_LOW_DELAY ? 1 : 8 * (uint64_t)t->slice_bytes[1];
    return (k->bits + unit - 1) / unit;
}

static bool fits(const l2k_dirac_transform *t, slice *s, unsigned index, uint64_t units)
{
    uint64_t taken = 0;
    for (unsigned i = 0; i < s->num_blocks; i++) {
        code(t, &s->blocks[i], index, s->whole, NULL);
        taken += units_of(t, &s->blocks[i]);
    }
    return taken <= units;
}

/* By bisection; leaves the blocks as they are with it. */
static unsigned find_index(const l2k_dirac_transform *t, slice *s, uint64_t units)
{
    unsigned least = 1, most = fits(t, s, 0, units) ? 0 : MOST_INDEX;
    while (least < most) {
        const unsigned middle = (least + most) / 2;
        if (fits(t, s, middle, units))
            most = middle;
        else
            least = middle + 1;
    }
    fits(t, s, most, units);
    return most;
}

/* The last component of high quality gets what is left of the room. */
static void write_slice(const l2k_dirac_transform *t, slice *s, uint64_t room, l2k_dirac_writer *writer)
{
    const bool low_delay = s->num_blocks == 2, lossless = room == 0;
    const unsigned length_bits = low_delay ? l2k_bit_length((uint32_t)(8 * room - 8)) : 0;
    size_t end = writer->out.size + (size_t)room;
    const uint64_t units = lossless ? UINT64_MAX : low_delay ? 8 * room - 7 - length_bits : room;
    const unsigned index = find_index(t, s, units);
    l2k_dirac_put_bits(writer, index, low_delay ? 7 : 8);
    l2k_dirac_put_bits(writer, (uint32_t)s->blocks[0].bits, length_bits);
    for (unsigned i = 0; i < s->num_blocks; i++) {
        if (!low_delay) {
            const uint64_t length = i == 2 && !lossless ? room : units_of(t, &s->blocks[i]);
            l2k_dirac_put_bits(writer, (uint32_t)length, 8);
            room -= length;
            end = writer->out.size + (size_t)length * t->slice_bytes[1];
        }
        code(t, &s->blocks[i], index, s->whole, writer);
        if (!low_delay || i == 1)
            l2k_dirac_put_ones(writer, end);
    }
}

/* FFmpeg 5.1 errs where a component of high quality lacks codes, so it does only at less than two bits a coefficient. */
uint64_t l2k_dirac_slices_write(const l2k_dirac_transform *t, uint64_t room, l2k_dirac_writer *writer)
{
    const uint64_t slices = (uint64_t)t->slices[0] * t->slices[1];
    uint64_t most = 0;
    for (uint32_t n = 0; n < slices; n++) {
        slice s;
        const uint64_t values = load_slice(t, n, &s), share = room * (n + (uint64_t)1) / slices - room * n / slices;
        s.whole = s.num_blocks == 3 && (!room || 4 * share * t->slice_bytes[1] >= values + 12 * t->slice_bytes[1]);
        if (writer)
            write_slice(t, &s, share, writer);
        else
            fits(t, &s, 0, 0);
        for (unsigned i = 0; i < s.num_blocks; i++)
            most = s.blocks[i].bits > most ? s.blocks[i].bits : most;
    }
    return (most + 7) / 8;
}
