/* Motion compensation on rows and patches. Compiled once per instruction set (base/cpu.h). */
#include "dirac/motion/motion_rows.h"

/* In functions marked so `kind` is a constant: each becomes a loop over one type for FUNCTION to choose from. */
#define INLINE static inline __attribute__((always_inline))

#define FUNCTION(name, parameters, ...)                                                                                \
    static void name parameters                                                                                        \
    {                                                                                                                  \
        if (kind == L2K_DIRAC_NARROW)                                                                                  \
            name##_of(L2K_DIRAC_NARROW, __VA_ARGS__);                                                                  \
        else if (kind == L2K_DIRAC_WEIGHTED)                                                                           \
            name##_of(L2K_DIRAC_WEIGHTED, __VA_ARGS__);                                                                \
        else                                                                                                           \
            name##_of(L2K_DIRAC_WIDE, __VA_ARGS__);                                                                    \
    }

INLINE int32_t load(const l2k_dirac_kind kind, const void *samples, size_t i)
{
    return kind == L2K_DIRAC_WIDE ? ((const uint16_t *)samples)[i] : ((const uint8_t *)samples)[i];
}

INLINE void store(const l2k_dirac_kind kind, void *samples, size_t i, int32_t value)
{
    if (kind == L2K_DIRAC_WIDE)
        ((uint16_t *)samples)[i] = (uint16_t)value;
    else
        ((uint8_t *)samples)[i] = (uint8_t)value;
}

/* In 16 bits, which the value has, if they suffice for sums. */
INLINE int32_t clamp(const l2k_dirac_kind kind, int32_t value, int32_t most)
{
    const int16_t v = (int16_t)value, limit = (int16_t)most, low = v < limit ? v : limit;
    return kind != L2K_DIRAC_NARROW ? l2k_clamp_i32(value, 0, most) : low > 0 ? low : 0;
}

INLINE const void *row_of(const l2k_dirac_kind kind, l2k_dirac_view view, size_t y)
{
    return (const char *)view.data + (ptrdiff_t)y * view.stride * (kind == L2K_DIRAC_WIDE ? 2 : 1);
}

INLINE void half_of(const l2k_dirac_kind kind, const void *const rows[8], size_t n, int32_t most, void *restrict out)
{
    L2K_INDEPENDENT
    for (size_t i = 0; i < n; i++) {
        const int32_t sum = l2k_dirac_half(
            load(kind, rows[3], i) + load(kind, rows[4], i), load(kind, rows[2], i) + load(kind, rows[5], i),
            load(kind, rows[1], i) + load(kind, rows[6], i), load(kind, rows[0], i) + load(kind, rows[7], i));
        store(kind, out, i, clamp(kind, (kind == L2K_DIRAC_NARROW ? (int16_t)sum : sum) >> 5, most));
    }
}

/* Widths are rounded for the compiler, which else provides for others than whole steps. */
INLINE void between_of(const l2k_dirac_kind kind, const l2k_dirac_view from[4], int x, int y, size_t width,
                       size_t height, void *out)
{
    const size_t n = width & ~(size_t)(L2K_DIRAC_PATCH_STEP - 1);
    for (size_t row = 0; row < height; row++) {
        const void *a = row_of(kind, from[0], row), *b = row_of(kind, from[1], row);
        const void *c = row_of(kind, from[2], row), *d = row_of(kind, from[3], row);
        void *restrict to = (void *)row_of(kind, (l2k_dirac_view){out, L2K_DIRAC_PATCH_STRIDE}, row);
        if ((x | y) % 2 == 0) {
            L2K_INDEPENDENT
            for (size_t i = 0; i < n; i++)
                store(kind, to, i,
                      l2k_dirac_mean(load(kind, a, i), load(kind, b, i), load(kind, c, i), load(kind, d, i)));
        } else {
            L2K_INDEPENDENT
            for (size_t i = 0; i < n; i++)
                store(kind, to, i,
                      l2k_dirac_between(load(kind, a, i), load(kind, b, i), load(kind, c, i), load(kind, d, i), x, y));
        }
    }
}

INLINE void accumulate_of(const l2k_dirac_kind kind, const l2k_dirac_view from[2], const l2k_dirac_weights weights,
                          const uint16_t *across, const uint16_t *down, size_t width, size_t height, void *sums,
                          size_t stride)
{
    const size_t n = width & ~(size_t)(L2K_DIRAC_PATCH_STEP - 1);
    for (size_t row = 0; row < height; row++) {
        const void *a = row_of(kind, from[0], row), *b = row_of(kind, from[1], row);
        uint16_t *restrict narrow = (uint16_t *)sums + row * stride;
        int32_t *restrict wide = (int32_t *)sums + row * stride;
        const uint16_t scale = down[row];
        if (kind == L2K_DIRAC_NARROW) {
            L2K_INDEPENDENT
            for (size_t i = 0; i < n; i++)
                narrow[i] += (uint16_t)((load(kind, a, i) + load(kind, b, i) + 1) >> 1) * (across[i] * scale);
        } else {
            L2K_INDEPENDENT
            for (size_t i = 0; i < n; i++)
                wide[i] += l2k_dirac_weigh(load(kind, a, i), load(kind, b, i), weights) * (across[i] * scale);
        }
    }
}

/* Residues of damaged streams can have any value: limited, their sums fit the type they are computed in. */
INLINE void finish_of(const l2k_dirac_kind kind, const void *sums, const void *residue, size_t n, int32_t most,
                      void *restrict out)
{
    L2K_INDEPENDENT
    for (size_t i = 0; i < n; i++) {
        const int32_t sum = kind == L2K_DIRAC_NARROW ? (uint16_t)(((const uint16_t *)sums)[i] + 32) >> 6
                                                     : (((const int32_t *)sums)[i] + 32) >> 6;
        const int32_t added = !residue                 ? 0
                              : kind == L2K_DIRAC_WIDE ? ((const int32_t *)residue)[i]
                                                       : ((const int16_t *)residue)[i];
        const int32_t limited = kind == L2K_DIRAC_NARROW ? (int16_t)added < 1 << 14 ? (int16_t)added : 1 << 14
                                                         : l2k_clamp_i32(added, -(1 << 26), 1 << 26);
        store(kind, out, i, clamp(kind, sum + limited, most));
    }
}

FUNCTION(half, (l2k_dirac_kind kind, const void *const rows[8], size_t n, int32_t most, void *out), rows, n, most, out)
FUNCTION(between,
         (l2k_dirac_kind kind, const l2k_dirac_view from[4], int x, int y, size_t width, size_t height, void *out),
         from, x, y, width, height, out)
FUNCTION(accumulate,
         (l2k_dirac_kind kind, const l2k_dirac_view from[2], l2k_dirac_weights weights, const uint16_t *across,
          const uint16_t *down, size_t width, size_t height, void *sums, size_t stride),
         from, weights, across, down, width, height, sums, stride)
FUNCTION(finish, (l2k_dirac_kind kind, const void *sums, const void *residue, size_t n, int32_t most, void *out), sums,
         residue, n, most, out)

const l2k_dirac_motion_rows L2K_ROWS_TABLE(l2k_dirac_motion_rows) = {half, between, accumulate, finish};

#ifdef L2K_ROWS_BASE
const l2k_dirac_motion_rows *l2k_dirac_motion_rows_get(l2k_cpu cpu)
{
    static const l2k_dirac_motion_rows *const tables[] = L2K_CPU_TABLES(l2k_dirac_motion_rows);
    return tables[l2k_cpu_resolve(cpu)];
}
#endif
