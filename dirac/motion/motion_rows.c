/* Motion compensation on rows and patches. Compiled once per instruction set (base/cpu.h). */
#include "dirac/motion/motion_rows.h"

#include "dirac/motion/scalars.h"

/* `kind` is a constant in all calls, so each function below becomes a loop over one type. */
#define INLINE static inline __attribute__((always_inline))

INLINE int32_t load(const void *samples, size_t i, const l2k_dirac_kind kind)
{
    return kind == L2K_DIRAC_WIDE ? ((const uint16_t *)samples)[i] : ((const uint8_t *)samples)[i];
}

INLINE void store(void *samples, size_t i, int32_t value, const l2k_dirac_kind kind)
{
    if (kind == L2K_DIRAC_WIDE)
        ((uint16_t *)samples)[i] = (uint16_t)value;
    else
        ((uint8_t *)samples)[i] = (uint8_t)value;
}

INLINE const void *row_of(l2k_dirac_view view, size_t y, const l2k_dirac_kind kind)
{
    const ptrdiff_t bytes = kind == L2K_DIRAC_WIDE ? 2 : 1;
    return (const char *)view.data + (ptrdiff_t)y * view.stride * bytes;
}

INLINE void half_of(const void *const rows[8], size_t n, int32_t most, void *restrict out, const l2k_dirac_kind kind)
{
    const void *r[8];
    for (unsigned k = 0; k < 8; k++)
        r[k] = rows[k];
    L2K_INDEPENDENT
    for (size_t i = 0; i < n; i++) {
        int32_t pair[4];
        L2K_UNROLL
        for (unsigned k = 0; k < 4; k++)
            pair[k] = load(r[3 - k], i, kind) + load(r[4 + k], i, kind);
        const int32_t sum = l2k_dirac_half(pair[0], pair[1], pair[2], pair[3]);
        const int32_t value = kind == L2K_DIRAC_WIDE ? sum >> 5 : (int16_t)((int16_t)sum >> 5);
        store(out, i, l2k_clamp_i32(value, 0, most), kind);
    }
}

INLINE void between_of(const l2k_dirac_view corners[4], unsigned x, unsigned y, size_t width, size_t height,
                       void *restrict out, const l2k_dirac_kind kind)
{
    const bool means = x % 2 == 0 && y % 2 == 0;
    const size_t other = x ? 1 : 2;
    for (size_t row = 0; row < height; row++) {
        const void *a = row_of(corners[0], row, kind), *b = row_of(corners[1], row, kind);
        const void *c = row_of(corners[2], row, kind), *d = row_of(corners[3], row, kind);
        const void *e = other == 1 ? b : c;
        const size_t at = row * L2K_DIRAC_PATCH_STRIDE;
        if (means && x != y)
            for (size_t i = 0; i < width; i += L2K_DIRAC_PATCH_STEP)
                L2K_INDEPENDENT
        for (size_t k = i; k < i + L2K_DIRAC_PATCH_STEP; k++)
            store(out, at + k, (load(a, k, kind) + load(e, k, kind) + 1) >> 1, kind);
        else if (means) for (size_t i = 0; i < width; i += L2K_DIRAC_PATCH_STEP)
            L2K_INDEPENDENT for (size_t k = i; k < i + L2K_DIRAC_PATCH_STEP; k++)
                store(out, at + k, (load(a, k, kind) + load(b, k, kind) + load(c, k, kind) + load(d, k, kind) + 2) >> 2,
                      kind);
        else for (size_t i = 0; i < width; i += L2K_DIRAC_PATCH_STEP)
            L2K_INDEPENDENT for (size_t k = i; k < i + L2K_DIRAC_PATCH_STEP; k++)
                store(out, at + k,
                      l2k_dirac_between(load(a, k, kind), load(b, k, kind), load(c, k, kind), load(d, k, kind),
                                        (int32_t)x, (int32_t)y),
                      kind);
    }
}

INLINE void accumulate_of(const l2k_dirac_view from[2], const l2k_dirac_weights *weights, const uint16_t *across,
                          const uint16_t *down, size_t width, size_t height, void *sums, size_t stride,
                          const l2k_dirac_kind kind)
{
    const bool two = from[1].data;
    const l2k_dirac_view second = from[two];
    const l2k_dirac_weights w = {{weights->weight[0], two ? weights->weight[1] : 0}, weights->half, weights->bits};
    for (size_t row = 0; row < height; row++) {
        const void *a = row_of(from[0], row, kind), *b = row_of(second, row, kind);
        uint16_t *restrict narrow = (uint16_t *)sums + row * stride;
        int32_t *restrict wide = (int32_t *)sums + row * stride;
        const uint16_t scale = down[row];
        for (size_t i = 0; i < width; i += L2K_DIRAC_PATCH_STEP)
            if (kind != L2K_DIRAC_NARROW)
                L2K_INDEPENDENT
        for (size_t k = i; k < i + L2K_DIRAC_PATCH_STEP; k++)
            wide[k] += l2k_dirac_weigh(load(a, k, kind), load(b, k, kind), w.weight[0], w.weight[1], w.bits, w.half) *
                       (across[k] * scale);
        else if (two) L2K_INDEPENDENT for (size_t k = i; k < i + L2K_DIRAC_PATCH_STEP; k++) narrow[k] +=
            (uint16_t)(((load(a, k, kind) + load(b, k, kind) + 1) >> 1) * (uint16_t)(across[k] * scale));
        else L2K_INDEPENDENT for (size_t k = i; k < i + L2K_DIRAC_PATCH_STEP; k++) narrow[k] +=
            (uint16_t)(load(a, k, kind) * (uint16_t)(across[k] * scale));
    }
}

/* Residues of damaged streams can have any value: limited, their sums fit the type they are computed in. */
INLINE void finish_of(const void *sums, const void *residue, size_t n, int32_t most, void *restrict out,
                      const l2k_dirac_kind kind)
{
    const int32_t limit = kind == L2K_DIRAC_NARROW ? 1 << 14 : 1 << 26;
    L2K_INDEPENDENT
    for (size_t i = 0; i < n; i++) {
        const int32_t sum = kind == L2K_DIRAC_NARROW ? ((const uint16_t *)sums)[i] : ((const int32_t *)sums)[i];
        const int32_t added = !residue                 ? 0
                              : kind == L2K_DIRAC_WIDE ? ((const int32_t *)residue)[i]
                                                       : ((const int16_t *)residue)[i];
        int32_t value = ((sum + 32) >> 6) + l2k_clamp_i32(added, -limit, limit);
        value = kind == L2K_DIRAC_NARROW ? (int16_t)value : value;
        store(out, i, l2k_clamp_i32(value, 0, most), kind);
    }
}

#define FUNCTIONS(name, kind)                                                                                          \
    static void half_##name(const void *const rows[8], size_t n, int32_t most, void *out)                              \
    {                                                                                                                  \
        half_of(rows, n, most, out, kind);                                                                             \
    }                                                                                                                  \
    static void between_##name(const l2k_dirac_view corners[4], unsigned x, unsigned y, size_t width, size_t height,   \
                               void *out)                                                                              \
    {                                                                                                                  \
        between_of(corners, x, y, width, height, out, kind);                                                           \
    }                                                                                                                  \
    static void accumulate_##name(const l2k_dirac_view from[2], const l2k_dirac_weights *weights,                      \
                                  const uint16_t *across, const uint16_t *down, size_t width, size_t height,           \
                                  void *sums, size_t stride)                                                           \
    {                                                                                                                  \
        accumulate_of(from, weights, across, down, width, height, sums, stride, kind);                                 \
    }                                                                                                                  \
    static void finish_##name(const void *sums, const void *residue, size_t n, int32_t most, void *out)                \
    {                                                                                                                  \
        finish_of(sums, residue, n, most, out, kind);                                                                  \
    }

FUNCTIONS(narrow, L2K_DIRAC_NARROW)
FUNCTIONS(weighted, L2K_DIRAC_WEIGHTED)
FUNCTIONS(wide, L2K_DIRAC_WIDE)

#define ROW(name)                                                                                                      \
    {                                                                                                                  \
        half_##name, between_##name, accumulate_##name, finish_##name                                                  \
    }

const l2k_dirac_motions_rows L2K_ROWS_TABLE(l2k_dirac_motions_rows) = {ROW(narrow), ROW(weighted), ROW(wide)};

#ifdef L2K_ROWS_BASE
const l2k_dirac_motion_rows *l2k_dirac_motion_rows_get(l2k_cpu cpu, l2k_dirac_kind kind)
{
    static const l2k_dirac_motions_rows *const tables[] = L2K_CPU_TABLES(l2k_dirac_motions_rows);
    return &(*tables[l2k_cpu_resolve(cpu)])[kind];
}
#endif
