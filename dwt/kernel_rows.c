/* Lifting by a kernel on rows (T.801, Annex H). Compiled once per instruction set (base/cpu.h). */
#include "dwt/kernel_rows.h"

#include "dwt/lifting.h"

/* Samples whose sums are in memory at a time: taps come one after the other, and each is a loop over these. */
#define BLOCK 256

static inline size_t block_of(size_t n, size_t at)
{
    return n - at < BLOCK ? n - at : BLOCK;
}

#define INTEGER_STEP(name, sum_type, add, lift)                                                                        \
    static void name(const l2k_kernel_step *step, bool undo, void *row, const void *const *from, size_t n)             \
    {                                                                                                                  \
        int32_t *restrict x = row;                                                                                     \
        sum_type sums[BLOCK];                                                                                          \
        for (size_t at = 0; at < n; at += BLOCK, x += BLOCK) {                                                         \
            const size_t count = block_of(n, at);                                                                      \
            for (size_t i = 0; i < count; i++)                                                                         \
                sums[i] = step->rounding;                                                                              \
            for (unsigned k = 0; k < step->num_taps; k++) {                                                            \
                const int32_t *samples = (const int32_t *)from[k] + at, tap = (int32_t)step->taps[k];                  \
                L2K_INDEPENDENT                                                                                        \
                for (size_t i = 0; i < count; i++)                                                                     \
                    sums[i] = add(sums[i], tap, samples[i]);                                                           \
            }                                                                                                          \
            L2K_INDEPENDENT                                                                                            \
            for (size_t i = 0; i < count; i++)                                                                         \
                x[i] = lift(x[i], sums[i], step->shift, undo);                                                         \
        }                                                                                                              \
    }

INTEGER_STEP(step_32, int32_t, l2k_kernel_add_32, l2k_kernel_lift_32)
INTEGER_STEP(step_64, int64_t, l2k_kernel_add_64, l2k_kernel_lift_64)

static bool is_symmetric(const l2k_kernel_step *step)
{
    for (unsigned k = 0; k < step->num_taps / 2u; k++)
        if (step->taps[k] != step->taps[step->num_taps - 1 - k])
            return false;
    return step->num_taps % 2 == 0;
}

/* Equal taps multiply the sum of their samples, the innermost first, as Part 1's wavelets are computed. */
static void sum_pairs(const l2k_kernel_step *step, const void *const *from, size_t at, size_t n, float *restrict sums)
{
    for (unsigned k = step->num_taps / 2u; k-- > 0;) {
        const float *a = (const float *)from[k] + at, *b = (const float *)from[step->num_taps - 1 - k] + at;
        const float tap = step->taps[k];
        if (k + 1 == step->num_taps / 2u) {
            L2K_INDEPENDENT
            for (size_t i = 0; i < n; i++)
                sums[i] = (a[i] + b[i]) * tap;
        } else {
            L2K_INDEPENDENT
            for (size_t i = 0; i < n; i++)
                sums[i] += (a[i] + b[i]) * tap;
        }
    }
}

static void sum_taps(const l2k_kernel_step *step, const void *const *from, size_t at, size_t n, float *restrict sums)
{
    const float *first = (const float *)from[0] + at;
    L2K_INDEPENDENT
    for (size_t i = 0; i < n; i++)
        sums[i] = first[i] * step->taps[0];
    for (unsigned k = 1; k < step->num_taps; k++) {
        const float *samples = (const float *)from[k] + at, tap = step->taps[k];
        L2K_INDEPENDENT
        for (size_t i = 0; i < n; i++)
            sums[i] = l2k_kernel_add_float(sums[i], tap, samples[i]);
    }
}

static void step_float(const l2k_kernel_step *step, bool undo, void *row, const void *const *from, size_t n)
{
    float *restrict x = row, sums[BLOCK];
    const bool pairs = is_symmetric(step);
    for (size_t at = 0; at < n; at += BLOCK, x += BLOCK) {
        const size_t count = block_of(n, at);
        if (pairs)
            sum_pairs(step, from, at, count, sums);
        else
            sum_taps(step, from, at, count, sums);
        L2K_INDEPENDENT
        for (size_t i = 0; i < count; i++)
            x[i] = l2k_kernel_lift_float(x[i], sums[i], undo);
    }
}

static void scale(float *row, size_t n, float factor)
{
    L2K_INDEPENDENT
    for (size_t i = 0; i < n; i++)
        row[i] *= factor;
}

static void split(const uint32_t *restrict row, size_t n, uint32_t *restrict even, uint32_t *restrict odd)
{
    L2K_INDEPENDENT
    for (size_t i = 0; i < n / 2; i++) {
        even[i] = row[2 * i];
        odd[i] = row[2 * i + 1];
    }
    if (n & 1)
        even[n / 2] = row[n - 1];
}

static void join(const uint32_t *restrict even, const uint32_t *restrict odd, size_t n, uint32_t *restrict row)
{
    L2K_INDEPENDENT
    for (size_t i = 0; i < n / 2; i++) {
        row[2 * i] = even[i];
        row[2 * i + 1] = odd[i];
    }
    if (n & 1)
        row[n - 1] = even[n / 2];
}

const l2k_kernel_rows L2K_ROWS_TABLE(l2k_kernel_rows) = {
    {[L2K_SUMS_32] = step_32, [L2K_SUMS_64] = step_64, [L2K_SUMS_FLOAT] = step_float}, scale, split, join};

#ifdef L2K_ROWS_BASE
const l2k_kernel_rows *l2k_kernel_rows_get(l2k_cpu cpu)
{
    static const l2k_kernel_rows *const tables[] = L2K_CPU_TABLES(l2k_kernel_rows);
    return tables[l2k_cpu_resolve(cpu)];
}
#endif
