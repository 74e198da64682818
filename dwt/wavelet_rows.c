/* Lifting on rows (Annex F), vertical and horizontal. Compiled once per instruction set (base/cpu.h). */
#include "dwt/wavelet_rows.h"

#include "dwt/lifting.h"

/* ---- Vertical: 5/3 ------------------------------------------------------------------------------------------ */

#define ROW_STEP_5_3(name, scalar)                                                                                     \
    static void name(void *row, const void *above, const void *below, size_t n)                                        \
    {                                                                                                                  \
        int32_t *restrict x = row;                                                                                     \
        const int32_t *a = above, *b = below;                                                                          \
        L2K_INDEPENDENT                                                                                                \
        for (size_t i = 0; i < n; i++)                                                                                 \
            x[i] = scalar(x[i], a[i], b[i]);                                                                           \
    }

ROW_STEP_5_3(row_predict, l2k_5_3_predict)
ROW_STEP_5_3(row_update, l2k_5_3_update)
ROW_STEP_5_3(row_unupdate, l2k_5_3_unupdate)
ROW_STEP_5_3(row_unpredict, l2k_5_3_unpredict)

#define LONE(name, type, scalar)                                                                                       \
    static void name(void *row, size_t n)                                                                              \
    {                                                                                                                  \
        type *x = row;                                                                                                 \
        L2K_INDEPENDENT                                                                                                \
        for (size_t i = 0; i < n; i++)                                                                                 \
            x[i] = scalar(x[i]);                                                                                       \
    }

LONE(lone_5_3, int32_t, l2k_5_3_lone)
LONE(unlone_5_3, int32_t, l2k_5_3_unlone)
LONE(lone_9_7, float, l2k_9_7_lone)
LONE(unlone_9_7, float, l2k_9_7_unlone)

/* ---- Vertical: 9/7 ------------------------------------------------------------------------------------------ */

#define ROW_STEP_9_7(name, c)                                                                                          \
    static void name(void *row, const void *above, const void *below, size_t n)                                        \
    {                                                                                                                  \
        float *restrict x = row;                                                                                       \
        const float *a = above, *b = below;                                                                            \
        L2K_INDEPENDENT                                                                                                \
        for (size_t i = 0; i < n; i++)                                                                                 \
            x[i] = l2k_9_7_lift(x[i], a[i], b[i], c);                                                                  \
    }

ROW_STEP_9_7(row_alpha, L2K_9_7_ALPHA)
ROW_STEP_9_7(row_beta, L2K_9_7_BETA)
ROW_STEP_9_7(row_gamma, L2K_9_7_GAMMA)
ROW_STEP_9_7(row_delta, L2K_9_7_DELTA)
ROW_STEP_9_7(row_undelta, -L2K_9_7_DELTA)
ROW_STEP_9_7(row_ungamma, -L2K_9_7_GAMMA)
ROW_STEP_9_7(row_unbeta, -L2K_9_7_BETA)
ROW_STEP_9_7(row_unalpha, -L2K_9_7_ALPHA)

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
#define STEP(name, type, ...)                                                                                          \
    static inline __attribute__((always_inline)) void name(type *restrict x, size_t nx, const type *restrict o,        \
                                                           size_t no, size_t lead)                                     \
    {                                                                                                                  \
        size_t first = 1 - lead, last = nx < no - lead ? nx : no - lead;                                               \
        if (nx == 0)                                                                                                   \
            return;                                                                                                    \
        if (!lead)                                                                                                     \
            x[0] = SCALAR(x[0], o[0], o[0], __VA_ARGS__);                                                              \
        L2K_INDEPENDENT                                                                                                \
        for (size_t i = first; i < last; i++)                                                                          \
            x[i] = SCALAR(x[i], o[i - first], o[i - first + 1], __VA_ARGS__);                                          \
        if (last < nx)                                                                                                 \
            x[last] = SCALAR(x[last], o[no - 1], o[no - 1], __VA_ARGS__);                                              \
    }

#define SCALAR(x, left, right, scalar) scalar(x, left, right)
STEP(half_update, int32_t, l2k_5_3_update)
STEP(half_unupdate, int32_t, l2k_5_3_unupdate)
#undef SCALAR
#define SCALAR(x, left, right, c) l2k_9_7_lift(x, left, right, c)
STEP(half_beta, float, L2K_9_7_BETA)
STEP(half_gamma, float, L2K_9_7_GAMMA)
STEP(half_unbeta, float, -L2K_9_7_BETA)
#undef SCALAR
/* With the scaling of the low, of both, and of the high samples. */
#define SCALAR(x, left, right, c) l2k_9_7_lift(x, left, right, c) * L2K_9_7_FORWARD_LOW
STEP(half_delta, float, L2K_9_7_DELTA)
#undef SCALAR
#define SCALAR(x, left, right, c)                                                                                      \
    l2k_9_7_lift((x)*L2K_9_7_INVERSE_LOW, (left)*L2K_9_7_INVERSE_HIGH, (right)*L2K_9_7_INVERSE_HIGH, c)
STEP(half_undelta, float, -L2K_9_7_DELTA)
#undef SCALAR
#define SCALAR(x, left, right, c) l2k_9_7_lift((x)*L2K_9_7_INVERSE_HIGH, left, right, c)
STEP(half_ungamma, float, -L2K_9_7_GAMMA)
#undef SCALAR

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
    if (n == 1) {
        *(parity ? high : low) = parity ? l2k_5_3_lone(row[0]) : row[0];
        return;
    }
    const size_t lows = (n + 1 - parity) / 2;
    split_5_3(row, n, parity, scale, low, high);
    half_update(low, lows, high, n - lows, parity);
}

static void synthesise_5_3(void *restrict lows_in, void *restrict highs_in, size_t n, unsigned parity, float scale,
                           void *restrict samples)
{
    int32_t *restrict low = lows_in, *restrict high = highs_in, *restrict row = samples;
    if (n == 1) {
        row[0] = parity ? l2k_5_3_unlone(high[0]) : low[0];
        return;
    }
    const size_t lows = (n + 1 - parity) / 2;
    half_unupdate(low, lows, high, n - lows, parity);
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
    if (n == 1) {
        const float x = row[0] * scale;
        *(parity ? high : low) = parity ? l2k_9_7_lone(x) : x;
        return;
    }
    const size_t lows = (n + 1 - parity) / 2, highs = n - lows;
    split_9_7(row, n, parity, scale, low, high);
    half_beta(low, lows, high, highs, parity);
    half_gamma(high, highs, low, lows, 1 - parity);
    half_delta(low, lows, high, highs, parity);
    scale_row(high, highs, L2K_9_7_FORWARD_HIGH);
}

static void synthesise_9_7(void *restrict lows_in, void *restrict highs_in, size_t n, unsigned parity, float scale,
                           void *restrict samples)
{
    float *restrict low = lows_in, *restrict high = highs_in, *restrict row = samples;
    if (n == 1) {
        row[0] = (parity ? l2k_9_7_unlone(high[0]) : low[0]) * scale;
        return;
    }
    const size_t lows = (n + 1 - parity) / 2, highs = n - lows;
    half_undelta(low, lows, high, highs, parity);
    half_ungamma(high, highs, low, lows, 1 - parity);
    half_unbeta(low, lows, high, highs, parity);
    join_9_7(low, high, n, parity, scale, row);
}

/* ---- The table ----------------------------------------------------------------------------------------------- */

const l2k_wavelets_rows L2K_ROWS_TABLE(l2k_wavelets_rows) = {
    [L2K_WAVELET_5_3] =
        {
#ifndef L2K_WITHOUT_ENCODER
            .forward = {2, 1, {row_predict, row_update}, forward_5_3, lone_5_3},
            .analyse = analyse_5_3,
#endif
            .inverse = {2, 0, {row_unupdate, row_unpredict}, inverse_5_3, unlone_5_3},
            .synthesise = synthesise_5_3,
        },
    [L2K_WAVELET_9_7] =
        {
#ifndef L2K_WITHOUT_ENCODER
            .forward = {4, 1, {row_alpha, row_beta, row_gamma, row_delta}, forward_9_7, lone_9_7},
            .analyse = analyse_9_7,
#endif
            .inverse = {4, 0, {row_undelta, row_ungamma, row_unbeta, row_unalpha}, inverse_9_7, unlone_9_7},
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
