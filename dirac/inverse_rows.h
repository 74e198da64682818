/* Row functions of the inverse wavelet transform, as a table per instruction set (base/cpu.h). Lifting of 32-bit
 * samples is that of dwt/kernel_rows.h. */
#ifndef L2K_DIRAC_INVERSE_ROWS_H
#define L2K_DIRAC_INVERSE_ROWS_H

#include "dwt/kernel_rows.h"

/* Merges the halves of a row, shifts out accuracy bits, and clamps and moves the result: from low to high, plus
 * `offset`. Writes n samples. */
typedef struct l2k_dirac_join {
    unsigned shift;
    int32_t low, high, offset;
} l2k_dirac_join;
typedef void l2k_dirac_join_rows(const l2k_dirac_join *join, const void *even, const void *odd, size_t n, void *row);

typedef struct l2k_dirac_inverse_rows {
    l2k_kernel_step_rows *step;      /* on int16_t, for steps of 1, 2 or 4 taps as in Haar, 5/3 and Deslauriers-Dubuc */
    l2k_dirac_join_rows *join[2][3]; /* from int16_t or int32_t; to uint8_t, 16 bits of either kind, int32_t */
} l2k_dirac_inverse_rows;

L2K_CPU_DECLARE(l2k_dirac_inverse_rows);

const l2k_dirac_inverse_rows *l2k_dirac_inverse_rows_get(l2k_cpu cpu);

#endif
