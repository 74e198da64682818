/* The HT refinement passes as an encoder makes them: SigProp (7.4 of T.814) and MagRef (7.5) on the bit-plane below that
 * of the cleanup pass. Both share a segment, one from its start and the other from its end. */
#include "codec/blocks/ht/ht_encode.h"

#include <math.h>
#include <string.h>

#include "base/integer.h"
#include "codec/blocks/ht/ht_gains.h"
#include "codec/blocks/ht/ht_writers.h"

typedef struct refinement {
    l2k_ht_column *columns; /* the first stripe's first column, inside a border of zeros */
    uint32_t width, height;
    unsigned plane;
    size_t pitch; /* from stripe to stripe in `columns` */
    bool causal;
    l2k_ht_forward_writer sigprop;
    l2k_ht_backward_writer magref;
} refinement;

static void load_columns(const refinement *r, const l2k_t1_block *block)
{
    memset(r->columns - r->pitch - 1, 0, r->pitch * ((r->height + 3) / 4 + 2) * sizeof *r->columns);
    for (uint32_t y = 0; y < r->height; y++)
        for (uint32_t x = 0; x < r->width; x++) {
            const int32_t v = l2k_ht_sample_at(block, x, y);
            const uint32_t magnitude = l2k_ht_magnitude(v) >> r->plane, row = y & 3;
            l2k_ht_column *column = r->columns + (y >> 2) * r->pitch + x;
            column->significant |= (uint8_t)((magnitude > 1) << row);
            column->low |= (uint8_t)((magnitude & 1) << row);
            column->negative |= (uint8_t)((v < 0) << row);
            column->inside |= (uint8_t)(1u << row);
        }
}

/* Significance of a column with the samples right above and below it: bits 0 to 5. */
static unsigned tall(const refinement *r, const l2k_ht_column *column)
{
    unsigned below = r->causal ? 0 : column[r->pitch].significant & 1u;
    return column[-(ptrdiff_t)r->pitch].significant >> 3 | (unsigned)column->significant << 1 | below << 5;
}

/* Bits to write, first bit lowest. */
typedef struct bits {
    uint32_t value;
    unsigned count;
} bits;

static void append(bits *b, unsigned bit)
{
    b->value |= (uint32_t)bit << b->count++;
}

/* Visits the insignificant samples of a column that have a significant neighbour, including one that has just become
 * significant. */
static void visit_column(const refinement *r, l2k_ht_column *column, bits *to)
{
    unsigned here = tall(r, column), others = tall(r, column - 1) | tall(r, column + 1);
    for (unsigned k = 0; k < 4; k++)
        if (column->inside >> k & 1 && !(here >> (k + 1) & 1) && (here | others) >> k & 7) {
            const unsigned bit = column->low >> k & 1;
            append(to, bit);
            here |= 2 * bit << k;
            column->found |= (uint8_t)(bit << k);
        }
    column->significant |= column->found;
}

/* In groups of four columns: first the bits of all of them, then the signs. */
static void significance_propagation(refinement *r)
{
    for (uint32_t y = 0; y < r->height; y += 4)
        for (uint32_t x = 0; x < r->width; x += 4) {
            const uint32_t width = l2k_min_u32(4, r->width - x);
            l2k_ht_column *column = r->columns + (y >> 2) * r->pitch + x;
            bits group = {0, 0};
            for (uint32_t i = 0; i < width; i++)
                visit_column(r, column + i, &group);
            for (uint32_t i = 0; i < 4 * width; i++)
                if (column[i / 4].found >> i % 4 & 1)
                    append(&group, column[i / 4].negative >> i % 4 & 1);
            l2k_ht_forward_put(&r->sigprop, group.value, group.count);
        }
}

/* Writes a bit for each sample that the cleanup pass has made significant. */
static void magnitude_refinement(refinement *r)
{
    for (uint32_t y = 0; y < r->height; y += 4)
        for (uint32_t x = 0; x < r->width; x++) {
            const l2k_ht_column *column = r->columns + (y >> 2) * r->pitch + x;
            bits refined = {0, 0};
            for (unsigned k = 0; k < 4; k++)
                if ((column->significant & ~column->found) >> k & 1)
                    append(&refined, column->low >> k & 1);
            l2k_ht_backward_put(&r->magref, refined.value, refined.count);
        }
}

void l2k_ht_measure_gains(const l2k_ht_encoder *encoder, const l2k_t1_block *block, l2k_ht_cut cut, double gains[3])
{
    const size_t pitch = block->width + (size_t)2;
    l2k_gains sums[3] = {{0, 0}};
    for (uint32_t y = 0; y < block->height; y++)
        for (uint32_t x = 0; x < block->width; x++) {
            const l2k_ht_column *column = encoder->columns + ((y >> 2) + 1) * pitch + x + 1;
            const bool found = cut.passes > 1 && column->found >> (y & 3) & 1;
            l2k_ht_add_gains(l2k_ht_magnitude(l2k_ht_sample_at(block, x, y)), found, cut.plane, block->reversible,
                             sums);
        }
    l2k_gains_join(&sums[1], sums[0]);
    l2k_gains_join(&sums[2], sums[1]);
    for (unsigned i = 0; i < 3; i++)
        gains[i] = l2k_gains_value(sums[i]);
}

double l2k_ht_measure_error(const l2k_ht_encoder *encoder, const l2k_t1_block *block, l2k_ht_cut cut,
                            const float *exact, size_t stride, float reciprocal)
{
    const size_t pitch = block->width + (size_t)2;
    double sum = 0;
    for (uint32_t y = 0; y < block->height; y++)
        for (uint32_t x = 0; x < block->width; x++) {
            const l2k_ht_column *column = encoder->columns + ((y >> 2) + 1) * pitch + x + 1;
            const uint32_t magnitude = l2k_ht_magnitude(l2k_ht_sample_at(block, x, y));
            const bool found = cut.passes > 1 && column->found >> (y & 3) & 1, known = magnitude >> cut.plane;
            const unsigned plane = cut.plane - (found || cut.passes > 2);
            const double middle = block->reversible && plane == 0 ? 0 : 0.5;
            const double point = cut.passes && (known || found) ? ldexp((magnitude >> plane) + middle, (int)plane) : 0;
            const double error = (exact ? fabsf(exact[y * stride + x]) * reciprocal : (double)magnitude) - point;
            sum += error * error;
        }
    return sum;
}

void l2k_ht_encode_refinement(l2k_ht_encoder *encoder, const l2k_t1_block *block, l2k_ht_cut cut, uint8_t *to,
                              uint32_t bytes[2])
{
    const size_t pitch = block->width + (size_t)2;
    uint8_t *end = encoder->vlc + sizeof encoder->vlc - 1;
    refinement r = {.columns = encoder->columns + pitch + 1,
                    .width = block->width,
                    .height = block->height,
                    .plane = cut.plane - 1,
                    .pitch = pitch,
                    .causal = block->style & L2K_STYLE_VSC,
                    .sigprop = {.next = to},
                    .magref = {.first = end}};
    *end = 0xFF;
    load_columns(&r, block);
    significance_propagation(&r);
    if (r.sigprop.count || r.sigprop.after_ff) { /* it must not end in 0xFF, which could become a marker code */
        r.sigprop.count = r.sigprop.after_ff ? 7 : 8;
        l2k_ht_forward_byte(&r.sigprop);
    }
    if (cut.passes > 2)
        magnitude_refinement(&r);
    if (r.magref.count)
        *--r.magref.first = (uint8_t)r.magref.bits;
    bytes[0] = (uint32_t)(r.sigprop.next - to);
    bytes[1] = (uint32_t)(end - r.magref.first);
    memcpy(r.sigprop.next, r.magref.first, bytes[1]);
}
