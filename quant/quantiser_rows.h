/* Rows between a wavelet's values and stored coefficients: the CPU's inner loops, as a table of functions per
 * instruction set. */
#ifndef L2K_QUANT_QUANTISER_ROWS_H
#define L2K_QUANT_QUANTISER_ROWS_H

#include <stddef.h>

#include "base/cpu.h"

/* Rows of n values, int32 or float ([is_float]), to and from coefficients of a type; only float values have
 * coefficients of type float32. Float values are quantised with `step`, and dequantised with half of it, unless their
 * coefficients are float32; steps are ignored elsewhere. 16-bit stores keep the low 16 bits: the plan's creator must
 * ensure that values fit. */
typedef struct l2k_quantiser_rows {
    void (*store[2][3])(const void *values, size_t n, float step, void *coefficients);
    void (*load[2][3])(const void *coefficients, size_t n, float half_step, void *values);
    /* From float values to coefficients of a type, for plans that truncate: l2k_index with 1 / step. */
    void (*truncate[3])(const void *values, size_t n, float reciprocal, void *coefficients);
} l2k_quantiser_rows;

L2K_CPU_DECLARE(l2k_quantiser_rows);

/* The functions of a usable instruction set, or of the best one. */
const l2k_quantiser_rows *l2k_quantiser_rows_get(l2k_cpu cpu);

#endif
