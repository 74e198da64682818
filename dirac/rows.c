/* The inner loops between bits and samples. Compiled once per instruction set (base/cpu.h). */
#include "dirac/rows.h"

#include <string.h>

static void values(const l2k_dirac_codes *codes, l2k_dirac_bits bits, int32_t *out, size_t n)
{
    for (size_t i = 0; i < n;) {
        if (bits.count < L2K_DIRAC_CODE_BITS)
            l2k_dirac_fill(&bits);
        const l2k_dirac_codes *next = &codes[bits.window >> (64 - L2K_DIRAC_CODE_BITS)];
        memcpy(&out[i], next->values, sizeof next->values);
        l2k_dirac_skip(&bits, next->bits);
        i += next->count;
        if (next->count == 0)
            out[i++] = l2k_dirac_sint(&bits);
    }
}

#define DEQUANTISE(name, type)                                                                                         \
    static uint32_t name(const int32_t *restrict in, size_t width, size_t height, l2k_dirac_quantiser q, void *to,     \
                         size_t stride)                                                                                \
    {                                                                                                                  \
        type *restrict out = to;                                                                                       \
        uint32_t over = 0;                                                                                             \
        for (; height-- > 0; in += width, out += stride) {                                                             \
            L2K_INDEPENDENT                                                                                            \
            for (size_t i = 0; i < width; i++) {                                                                       \
                const int32_t v = l2k_dirac_dequantise(in[i], q);                                                      \
                out[i] = (type)v;                                                                                      \
                over |= (uint32_t)v + 0x8000;                                                                          \
            }                                                                                                          \
        }                                                                                                              \
        return over;                                                                                                   \
    }

DEQUANTISE(dequantise_16, int16_t)
DEQUANTISE(dequantise_32, int32_t)

#define STEP(name, sum)                                                                                                \
    static uint32_t name(const l2k_kernel_step *step, int16_t *restrict x, const void *const *from, size_t n)          \
    {                                                                                                                  \
        const int16_t *const *f = (const int16_t *const *)from;                                                        \
        int32_t t[4] = {0};                                                                                            \
        uint32_t over = 0;                                                                                             \
        for (unsigned k = 0; k < (step->num_taps + 1u) / 2; k++)                                                       \
            t[k] = (int32_t)step->taps[k];                                                                             \
        L2K_INDEPENDENT                                                                                                \
        for (size_t i = 0; i < n; i++) {                                                                               \
            const int32_t v = x[i] - (((sum) + step->rounding) >> step->shift);                                        \
            x[i] = (int16_t)v;                                                                                         \
            over |= (uint32_t)v + 0x8000;                                                                              \
        }                                                                                                              \
        return over;                                                                                                   \
    }

STEP(step_1, t[0] * f[0][i])
STEP(step_2, t[0] * (f[0][i] + f[1][i]))
STEP(step_4, t[0] * (f[0][i] + f[3][i] - 9 * (f[1][i] + f[2][i]))) /* Deslauriers-Dubuc */
STEP(step_8,
     t[0] * (f[0][i] + f[7][i]) + t[1] * (f[1][i] + f[6][i]) + t[2] * (f[2][i] + f[5][i]) + t[3] * (f[3][i] + f[4][i]))

static uint32_t step_16(const l2k_kernel_step *step, int16_t *row, const void *const *from, size_t n)
{
    const unsigned taps = step->num_taps;
    return (taps == 1 ? step_1 : taps == 2 ? step_2 : taps == 4 ? step_4 : step_8)(step, row, from, n);
}

#define JOIN(name, in, out)                                                                                            \
    static void name(const l2k_dirac_join *join, const void *even, const void *odd, size_t n, void *row)               \
    {                                                                                                                  \
        const l2k_dirac_join j = *join;                                                                                \
        const in *low = even, *high = odd;                                                                             \
        out *restrict x = row;                                                                                         \
        for (size_t i = 0; i < n / 2 + n % 2; i++) {                                                                   \
            x[2 * i] = (out)l2k_dirac_finish(low[i], j);                                                               \
            x[2 * i + 1] = (out)l2k_dirac_finish(high[i], j);                                                          \
        }                                                                                                              \
    }

JOIN(join_16_8, int16_t, uint8_t)
JOIN(join_16_16, int16_t, uint16_t)
JOIN(join_32_8, int32_t, uint8_t)
JOIN(join_32_16, int32_t, uint16_t)
JOIN(join_32_32, int32_t, int32_t)

const l2k_dirac_rows L2K_ROWS_TABLE(l2k_dirac_rows) = {
    values,
    {dequantise_16, dequantise_32},
    step_16,
    {{join_16_8, join_16_16, NULL}, {join_32_8, join_32_16, join_32_32}},
};

#ifdef L2K_ROWS_BASE
const l2k_dirac_rows *l2k_dirac_rows_get(l2k_cpu cpu)
{
    static const l2k_dirac_rows *const tables[] = L2K_CPU_TABLES(l2k_dirac_rows);
    return tables[l2k_cpu_resolve(cpu)];
}

void l2k_dirac_codes_start(l2k_dirac_codes codes[1 << L2K_DIRAC_CODE_BITS])
{
    for (uint64_t i = 0; i < 1 << L2K_DIRAC_CODE_BITS; i++) {
        l2k_dirac_bits bits = {.window = i << (64 - L2K_DIRAC_CODE_BITS), .count = 64};
        while (codes[i].count < L2K_DIRAC_CODE_VALUES) {
            codes[i].values[codes[i].count] = l2k_dirac_sint(&bits);
            if (64 - bits.count > L2K_DIRAC_CODE_BITS)
                break;
            codes[i].bits = (uint16_t)(64 - bits.count);
            codes[i].count++;
        }
    }
}
#endif
