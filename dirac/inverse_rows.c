/* Row functions of the inverse wavelet transform. Compiled once per instruction set (base/cpu.h). */
#include "dirac/inverse_rows.h"

/* A step of 4 taps -1 9 9 -1: with s the sum of the inner and t of the outer samples, 9 s - t is 8 s + (s - t), so
 * its shift by 3 needs no more than 16 bits; the rest of the shift follows. */
#define STEP(name, sum, down)                                                                                          \
    static void name(int16_t *restrict x, const int16_t *a, const int16_t *b, const int16_t *c, const int16_t *d,      \
                     size_t n, unsigned shift, bool add)                                                               \
    {                                                                                                                  \
        const int16_t round = (int16_t)((1 << (shift - (down))) >> 1);                                                 \
        const unsigned rest = shift - (down);                                                                          \
        (void)b, (void)c, (void)d;                                                                                     \
        if (add) {                                                                                                     \
            L2K_INDEPENDENT                                                                                            \
            for (size_t i = 0; i < n; i++)                                                                             \
                x[i] = (int16_t)(x[i] + (int16_t)((int16_t)((sum) + round) >> rest));                                  \
        } else {                                                                                                       \
            L2K_INDEPENDENT                                                                                            \
            for (size_t i = 0; i < n; i++)                                                                             \
                x[i] = (int16_t)(x[i] - (int16_t)((int16_t)((sum) + round) >> rest));                                  \
        }                                                                                                              \
    }

STEP(step_1, a[i], 0)
STEP(step_2, (int16_t)(a[i] + b[i]), 0)
STEP(step_4,
     (int16_t)((int16_t)(b[i] + c[i]) + (int16_t)((int16_t)((int16_t)(b[i] + c[i]) - (int16_t)(a[i] + d[i])) >> 3)), 3)

/* The inverse subtracts the forward step, whose taps are negative at high samples: then adds with the mirrored
 * rounding, which is half a step either way. */
static void step_16(const l2k_kernel_step *step, bool undo, void *row, const void *const *from, size_t n)
{
    const unsigned taps = step->num_taps;
    const bool add = (step->taps[taps / 2] < 0) == undo;
    if (taps == 1)
        step_1(row, from[0], NULL, NULL, NULL, n, step->shift, add);
    else if (taps == 2)
        step_2(row, from[0], from[1], NULL, NULL, n, step->shift, add);
    else
        step_4(row, from[0], from[1], from[2], from[3], n, step->shift, add);
}

#define JOIN(name, in, out)                                                                                            \
    static inline __attribute__((always_inline)) out name##_one(in x, const l2k_dirac_join *j, int32_t round)          \
    {                                                                                                                  \
        const int32_t v = (int32_t)((uint32_t)x + (uint32_t)round) >> j->shift;                                        \
        return (out)((v < j->low ? j->low : v > j->high ? j->high : v) + j->offset);                                   \
    }                                                                                                                  \
    static void name(const l2k_dirac_join *join, const void *even_half, const void *odd_half, size_t n, void *row)     \
    {                                                                                                                  \
        const in *restrict even = even_half, *restrict odd = odd_half;                                                 \
        const l2k_dirac_join j = *join;                                                                                \
        const int32_t round = (1 << j.shift) >> 1;                                                                     \
        out *restrict x = row;                                                                                         \
        L2K_INDEPENDENT                                                                                                \
        for (size_t i = 0; i < n / 2; i++) {                                                                           \
            x[2 * i] = name##_one(even[i], &j, round);                                                                 \
            x[2 * i + 1] = name##_one(odd[i], &j, round);                                                              \
        }                                                                                                              \
        if (n % 2)                                                                                                     \
            x[n - 1] = name##_one(even[n / 2], &j, round);                                                             \
    }

JOIN(join_16_8, int16_t, uint8_t)
JOIN(join_16_16, int16_t, uint16_t)
JOIN(join_32_8, int32_t, uint8_t)
JOIN(join_32_16, int32_t, uint16_t)
JOIN(join_32_32, int32_t, int32_t)

const l2k_dirac_inverse_rows L2K_ROWS_TABLE(l2k_dirac_inverse_rows) = {
    step_16, {{join_16_8, join_16_16, NULL}, {join_32_8, join_32_16, join_32_32}}};

#ifdef L2K_ROWS_BASE
const l2k_dirac_inverse_rows *l2k_dirac_inverse_rows_get(l2k_cpu cpu)
{
    static const l2k_dirac_inverse_rows *const tables[] = L2K_CPU_TABLES(l2k_dirac_inverse_rows);
    return tables[l2k_cpu_resolve(cpu)];
}
#endif
