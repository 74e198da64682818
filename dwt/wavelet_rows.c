/* Lifting on rows (Annex F), vertical and horizontal. Compiled once per instruction set (base/cpu.h). */
#include "dwt/kernel_rows.h"

#include "dwt/lifting.h"

/* ---- A step -------------------------------------------------------------------------------------------------- */

/* `factor`: of the 9/7 alone. */
typedef void step_rows(void *row, const void *before, const void *after, size_t n, float factor);

#define STEP_5_3(name, scalar)                                                                                         \
    static inline void name(void *row, const void *before, const void *after, size_t n, float factor)                  \
    {                                                                                                                  \
        int32_t *restrict x = row;                                                                                     \
        const int32_t *a = before, *b = after;                                                                         \
        (void)factor;                                                                                                  \
        L2K_INDEPENDENT                                                                                                \
        for (size_t i = 0; i < n; i++)                                                                                 \
            x[i] = scalar(x[i], a[i], b[i]);                                                                           \
    }

STEP_5_3(predict, l2k_5_3_predict)
STEP_5_3(update, l2k_5_3_update)
STEP_5_3(unupdate, l2k_5_3_unupdate)
STEP_5_3(unpredict, l2k_5_3_unpredict)

static inline void lift(void *row, const void *before, const void *after, size_t n, float factor)
{
    float *restrict x = row;
    const float *a = before, *b = after;
    L2K_INDEPENDENT
    for (size_t i = 0; i < n; i++)
        x[i] = l2k_9_7_lift(x[i], a[i], b[i], factor);
}

static void step_5_3(const l2k_kernel_step *step, bool undo, void *row, const void *const *from, size_t n)
{
    step_rows *const of_high = undo ? unpredict : predict, *const of_low = undo ? unupdate : update;
    (step->high ? of_high : of_low)(row, from[0], from[1], n, 0);
}

static void step_9_7(const l2k_kernel_step *step, bool undo, void *row, const void *const *from, size_t n)
{
    lift(row, from[0], from[1], n, undo ? -step->taps[0] : step->taps[0]);
}

/* ---- Vertical: all steps ------------------------------------------------------------------------------------- */

#define ALL_5_3(name, outer, inner)                                                                                    \
    static void name(void *const *rows, size_t n)                                                                      \
    {                                                                                                                  \
        const int32_t *above = rows[0], *below = rows[3];                                                              \
        int32_t *restrict x1 = rows[1], *restrict x2 = rows[2];                                                        \
        L2K_INDEPENDENT                                                                                                \
        for (size_t i = 0; i < n; i++) {                                                                               \
            const int32_t lifted = outer(x2[i], x1[i], below[i]);                                                      \
            x1[i] = inner(x1[i], above[i], lifted);                                                                    \
            x2[i] = lifted;                                                                                            \
        }                                                                                                              \
    }

ALL_5_3(forward_5_3, l2k_5_3_predict, l2k_5_3_update)
ALL_5_3(inverse_5_3, l2k_5_3_unupdate, l2k_5_3_unpredict)

#define ALL_9_7(name, a, b, c, d)                                                                                      \
    static void name(void *const *rows, size_t n)                                                                      \
    {                                                                                                                  \
        const float *above = rows[0], *below = rows[5];                                                                \
        float *restrict x1 = rows[1], *restrict x2 = rows[2], *restrict x3 = rows[3], *restrict x4 = rows[4];          \
        L2K_INDEPENDENT                                                                                                \
        for (size_t i = 0; i < n; i++) {                                                                               \
            const float y4 = l2k_9_7_lift(x4[i], x3[i], below[i], a), y3 = l2k_9_7_lift(x3[i], x2[i], y4, b);          \
            const float y2 = l2k_9_7_lift(x2[i], x1[i], y3, c);                                                        \
            x1[i] = l2k_9_7_lift(x1[i], above[i], y2, d);                                                              \
            x2[i] = y2;                                                                                                \
            x3[i] = y3;                                                                                                \
            x4[i] = y4;                                                                                                \
        }                                                                                                              \
    }

ALL_9_7(forward_9_7, L2K_9_7_ALPHA, L2K_9_7_BETA, L2K_9_7_GAMMA, L2K_9_7_DELTA)
ALL_9_7(inverse_9_7, -L2K_9_7_DELTA, -L2K_9_7_GAMMA, -L2K_9_7_BETA, -L2K_9_7_ALPHA)

/* ---- Horizontal ---------------------------------------------------------------------------------------------- */

/* A row is split into its low and high samples; then a step on sample i of one half reads samples i - 1 and i of the
 * other half if its own half holds the first sample of the row, else i and i + 1. `lead` is 1 in the second case.
 * Samples missing at an end are mirrored. x holds nx samples, o (the other half) no >= 1. */
static inline __attribute__((always_inline)) void half_step(step_rows *step, float factor, void *half, size_t nx,
                                                            const void *other, size_t no, size_t lead)
{
    uint32_t *x = half;
    const uint32_t *o = other;
    const size_t first = 1 - lead, last = nx < no - lead ? nx : no - lead;
    if (nx == 0)
        return;
    if (!lead)
        step(x, o, o, 1, factor);
    if (last > first)
        step(x + first, o, o + 1, last - first, factor);
    if (last < nx)
        step(x + last, o + no - 1, o + no - 1, 1, factor);
}

/* Splits a row of n >= 2 samples after `scaled`, and takes the first step, of the high samples. */
#define SPLIT(name, type, step, scaled)                                                                                \
    static inline __attribute__((always_inline)) void name(const type *restrict row, size_t n, unsigned parity,        \
                                                           float scale, type *restrict low, type *restrict high)       \
    {                                                                                                                  \
        const size_t pairs = (n + 1 - parity) / 2 - 1;                                                                 \
        const type *restrict first = row + parity;                                                                     \
        type *restrict behind = high + parity;                                                                         \
        (void)scale;                                                                                                   \
        if (parity)                                                                                                    \
            high[0] = step(scaled(row[0]), scaled(row[1]), scaled(row[1]));                                            \
        L2K_INDEPENDENT                                                                                                \
        for (size_t i = 0; i < pairs; i++) {                                                                           \
            low[i] = scaled(first[2 * i]);                                                                             \
            behind[i] = step(scaled(first[2 * i + 1]), scaled(first[2 * i]), scaled(first[2 * i + 2]));                \
        }                                                                                                              \
        low[pairs] = scaled(first[2 * pairs]);                                                                         \
        if (2 * pairs + parity + 1 < n) /* the row ends in a high sample */                                            \
            behind[pairs] = step(scaled(row[n - 1]), scaled(row[n - 2]), scaled(row[n - 2]));                          \
    }

/* Takes the last step, and joins the halves before `scaled`. */
#define JOIN(name, type, step, scaled)                                                                                 \
    static inline __attribute__((always_inline)) void name(const type *restrict low, const type *restrict high,        \
                                                           size_t n, unsigned parity, float scale, type *restrict row) \
    {                                                                                                                  \
        const size_t pairs = (n + 1 - parity) / 2 - 1;                                                                 \
        type *restrict first = row + parity;                                                                           \
        const type *restrict behind = high + parity;                                                                   \
        (void)scale;                                                                                                   \
        if (parity)                                                                                                    \
            row[0] = scaled(step(high[0], low[0], low[0]));                                                            \
        L2K_INDEPENDENT                                                                                                \
        for (size_t i = 0; i < pairs; i++) {                                                                           \
            first[2 * i] = scaled(low[i]);                                                                             \
            first[2 * i + 1] = scaled(step(behind[i], low[i], low[i + 1]));                                            \
        }                                                                                                              \
        first[2 * pairs] = scaled(low[pairs]);                                                                         \
        if (2 * pairs + parity + 1 < n)                                                                                \
            row[n - 1] = scaled(step(behind[pairs], low[pairs], low[pairs]));                                          \
    }

#define UNSCALED(x)                  (x)
#define SCALED(x)                    ((x)*scale)
#define LIFT_ALPHA(x, left, right)   l2k_9_7_lift(x, left, right, L2K_9_7_ALPHA)
#define UNLIFT_ALPHA(x, left, right) l2k_9_7_lift(x, left, right, -L2K_9_7_ALPHA)
SPLIT(split_5_3, int32_t, l2k_5_3_predict, UNSCALED)
JOIN(join_5_3, int32_t, l2k_5_3_unpredict, UNSCALED)
SPLIT(split_9_7, float, LIFT_ALPHA, SCALED)
JOIN(join_9_7, float, UNLIFT_ALPHA, SCALED)

static void analyse_5_3(const void *restrict samples, size_t n, unsigned parity, float scale, void *restrict lows_out,
                        void *restrict highs_out)
{
    const int32_t *restrict row = samples;
    int32_t *restrict low = lows_out, *restrict high = highs_out;
    const size_t lows = (n + 1 - parity) / 2;
    split_5_3(row, n, parity, scale, low, high);
    half_step(update, 0, low, lows, high, n - lows, parity);
}

static void synthesise_5_3(void *restrict lows_in, void *restrict highs_in, size_t n, unsigned parity, float scale,
                           void *restrict samples)
{
    int32_t *restrict low = lows_in, *restrict high = highs_in, *restrict row = samples;
    const size_t lows = (n + 1 - parity) / 2;
    half_step(unupdate, 0, low, lows, high, n - lows, parity);
    join_5_3(low, high, n, parity, scale, row);
}

static inline __attribute__((always_inline)) void scale_row(float *restrict x, size_t n, float factor)
{
    L2K_INDEPENDENT
    for (size_t i = 0; i < n; i++)
        x[i] *= factor;
}

static void analyse_9_7(const void *restrict samples, size_t n, unsigned parity, float scale, void *restrict lows_out,
                        void *restrict highs_out)
{
    const float *restrict row = samples;
    float *restrict low = lows_out, *restrict high = highs_out;
    const size_t lows = (n + 1 - parity) / 2, highs = n - lows;
    split_9_7(row, n, parity, scale, low, high);
    half_step(lift, L2K_9_7_BETA, low, lows, high, highs, parity);
    half_step(lift, L2K_9_7_GAMMA, high, highs, low, lows, 1 - parity);
    half_step(lift, L2K_9_7_DELTA, low, lows, high, highs, parity);
    scale_row(low, lows, L2K_9_7_FORWARD_LOW);
    scale_row(high, highs, L2K_9_7_FORWARD_HIGH);
}

static void synthesise_9_7(void *restrict lows_in, void *restrict highs_in, size_t n, unsigned parity, float scale,
                           void *restrict samples)
{
    float *restrict low = lows_in, *restrict high = highs_in, *restrict row = samples;
    const size_t lows = (n + 1 - parity) / 2, highs = n - lows;
    scale_row(low, lows, L2K_9_7_INVERSE_LOW);
    scale_row(high, highs, L2K_9_7_INVERSE_HIGH);
    half_step(lift, -L2K_9_7_DELTA, low, lows, high, highs, parity);
    half_step(lift, -L2K_9_7_GAMMA, high, highs, low, lows, 1 - parity);
    half_step(lift, -L2K_9_7_BETA, low, lows, high, highs, parity);
    join_9_7(low, high, n, parity, scale, row);
}

/* ---- The table ----------------------------------------------------------------------------------------------- */

const l2k_wavelets_rows L2K_ROWS_TABLE(l2k_wavelets_rows) = {
    [L2K_WAVELET_5_3] =
        {
            .step = step_5_3,
#ifndef L2K_WITHOUT_ENCODER
            .all[0] = forward_5_3,
            .analyse = analyse_5_3,
#endif
            .all[1] = inverse_5_3,
            .synthesise = synthesise_5_3,
        },
    [L2K_WAVELET_9_7] =
        {
            .step = step_9_7,
#ifndef L2K_WITHOUT_ENCODER
            .all[0] = forward_9_7,
            .analyse = analyse_9_7,
#endif
            .all[1] = inverse_9_7,
            .synthesise = synthesise_9_7,
        },
};

#ifdef L2K_ROWS_BASE
const l2k_wavelet_rows *l2k_wavelet_rows_get(l2k_cpu cpu, l2k_wavelet wavelet)
{
    static const l2k_wavelets_rows *const tables[] = L2K_CPU_TABLES(l2k_wavelets_rows);
    return &(*tables[l2k_cpu_resolve(cpu)])[wavelet];
}
#endif
