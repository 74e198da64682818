/* Quantisation and dequantisation (Annex E) of rows. Compiled once per instruction set (base/cpu.h). */
#include "quant/quantiser_rows.h"

#include <string.h>

#include "quant/quantiser.h"

#define DEFINE_ROW(name, in, out, expression)                                                                          \
    static void name(const void *restrict from, size_t n, float step, void *restrict to)                               \
    {                                                                                                                  \
        const in *restrict x = from;                                                                                   \
        out *restrict y = to;                                                                                          \
        (void)step;                                                                                                    \
        L2K_INDEPENDENT                                                                                                \
        for (size_t i = 0; i < n; i++)                                                                                 \
            y[i] = (out)(expression);                                                                                  \
    }

DEFINE_ROW(quantise_i16, float, int16_t, l2k_quantise(x[i], step))
DEFINE_ROW(quantise_i32, float, int32_t, l2k_quantise(x[i], step))
DEFINE_ROW(dequantise_i16, int16_t, float, l2k_dequantise(x[i], step))
DEFINE_ROW(dequantise_i32, int32_t, float, l2k_dequantise(x[i], step))
DEFINE_ROW(index_i16, float, int16_t, l2k_index(x[i], step))
DEFINE_ROW(index_i32, float, int32_t, l2k_index(x[i], step))
DEFINE_ROW(narrow, int32_t, int16_t, x[i])
DEFINE_ROW(widen, int16_t, int32_t, x[i])

/* Values that are the coefficients: four bytes either way. */
static void copy(const void *restrict from, size_t n, float step, void *restrict to)
{
    (void)step;
    memcpy(to, from, n * sizeof(int32_t));
}

const l2k_quantiser_rows L2K_ROWS_TABLE(l2k_quantiser_rows) = {
    .load = {{widen, copy, NULL}, {dequantise_i16, dequantise_i32, copy}},
#ifndef L2K_WITHOUT_ENCODER
    .store = {{narrow, copy, NULL}, {quantise_i16, quantise_i32, copy}},
    .truncate = {index_i16, index_i32, copy},
#endif
};

#ifdef L2K_ROWS_BASE
const l2k_quantiser_rows *l2k_quantiser_rows_get(l2k_cpu cpu)
{
    static const l2k_quantiser_rows *const tables[] = L2K_CPU_TABLES(l2k_quantiser_rows);
    return tables[l2k_cpu_resolve(cpu)];
}
#endif
