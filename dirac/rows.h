/* The inner loops between bits and samples, as a table per instruction set (base/cpu.h). Lifting of 32-bit samples is
 * that of dwt/kernel_rows.h. */
#ifndef L2K_DIRAC_ROWS_H
#define L2K_DIRAC_ROWS_H

#include "base/scalar.h"
#include "dirac/bits.h"
#include "dwt/kernel_rows.h"

/* Magnitudes are (quantised * factor + offset) >> 2; offset has the rounding. */
typedef struct l2k_dirac_quantiser {
    uint32_t factor, offset;
} l2k_dirac_quantiser;

/* For the next bits of a stream the signed values whose codes end within them. */
enum { L2K_DIRAC_CODE_BITS = 9, L2K_DIRAC_CODE_VALUES = 7 };
typedef struct l2k_dirac_codes {
    int32_t values[L2K_DIRAC_CODE_VALUES];
    uint16_t count, bits;
} l2k_dirac_codes;

/* Fills in the zeroed table. */
void l2k_dirac_codes_start(l2k_dirac_codes codes[1 << L2K_DIRAC_CODE_BITS]);

/* What becomes of a sample after the last level: accuracy bits leave, then it is clamped and moved. */
typedef struct l2k_dirac_join {
    unsigned shift;
    int32_t low, high, offset;
} l2k_dirac_join;

typedef void l2k_dirac_join_rows(const l2k_dirac_join *join, const void *even, const void *odd, size_t n, void *row);

/* Functions on 16 bits return bits, of which the upper 16 are not all 0 if a result did not fit. */
typedef struct l2k_dirac_rows {
    /* The last n values of a block; L2K_DIRAC_CODE_VALUES more may be written. */
    void (*values)(const l2k_dirac_codes *codes, l2k_dirac_bits bits, int32_t *values, size_t n);
    /* Values of a rectangle to int16_t or int32_t. */
    uint32_t (*dequantise[2])(const int32_t *values, size_t width, size_t height, l2k_dirac_quantiser quantiser,
                              void *out, size_t stride);
    /* Undoes a step on n samples; from[k]: what tap k belongs to. */
    uint32_t (*step)(const l2k_kernel_step *step, int16_t *row, const void *const *from, size_t n);
    /* Merges the halves of a row of n samples: from int16_t or int32_t; to uint8_t, 16 bits of either kind, int32_t. */
    l2k_dirac_join_rows *join[2][3];
} l2k_dirac_rows;

L2K_CPU_DECLARE(l2k_dirac_rows);

const l2k_dirac_rows *l2k_dirac_rows_get(l2k_cpu cpu);

L2K_DIRAC_INLINE int32_t l2k_dirac_dequantise(int32_t value, l2k_dirac_quantiser quantiser)
{
    const uint32_t sign = (uint32_t)(value >> 31), magnitude = ((uint32_t)value ^ sign) - sign;
    const uint32_t size = (magnitude * quantiser.factor + quantiser.offset) >> 2;
    return (int32_t)(((size ^ sign) - sign) & (0 - (uint32_t)(value != 0)));
}

L2K_DIRAC_INLINE int32_t l2k_dirac_finish(int32_t value, l2k_dirac_join j)
{
    const int32_t v = (int32_t)((uint32_t)value + ((1u << j.shift) >> 1)) >> j.shift;
    return l2k_clamp_i32(v, j.low, j.high) + j.offset;
}

#endif
