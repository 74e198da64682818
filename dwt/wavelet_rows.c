/* Lifting by Part 1's wavelets on rows (Annex F). Compiled once per instruction set (base/cpu.h). */
#include "dwt/kernel_rows.h"

#include "dwt/lifting.h"

/* ---- A step -------------------------------------------------------------------------------------------------- */

#define STEP_5_3(name, scalar)                                                                                         \
    static void name(int32_t *restrict x, const int32_t *before, const int32_t *after, size_t n)                       \
    {                                                                                                                  \
        L2K_INDEPENDENT                                                                                                \
        for (size_t i = 0; i < n; i++)                                                                                 \
            x[i] = scalar(x[i], before[i], after[i]);                                                                  \
    }

STEP_5_3(predict, l2k_5_3_predict)
STEP_5_3(update, l2k_5_3_update)
STEP_5_3(unupdate, l2k_5_3_unupdate)
STEP_5_3(unpredict, l2k_5_3_unpredict)

static void step_5_3(const l2k_kernel_step *step, bool undo, void *row, const void *const *from, size_t n)
{
    if (step->high)
        (undo ? unpredict : predict)(row, from[0], from[1], n);
    else
        (undo ? unupdate : update)(row, from[0], from[1], n);
}

static void step_9_7(const l2k_kernel_step *step, bool undo, void *row, const void *const *from, size_t n)
{
    float *restrict x = row;
    const float *before = from[0], *after = from[1], factor = undo ? -step->taps[0] : step->taps[0];
    L2K_INDEPENDENT
    for (size_t i = 0; i < n; i++)
        x[i] = l2k_9_7_lift(x[i], before[i], after[i], factor);
}

/* ---- All steps ----------------------------------------------------------------------------------------------- */

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

/* ---- The table ----------------------------------------------------------------------------------------------- */

const l2k_wavelets_rows L2K_ROWS_TABLE(l2k_wavelets_rows) = {
    [L2K_WAVELET_5_3] =
        {
            .step = step_5_3,
#ifndef L2K_WITHOUT_ENCODER
            .all[0] = forward_5_3,
#endif
            .all[1] = inverse_5_3,
        },
    [L2K_WAVELET_9_7] =
        {
            .step = step_9_7,
#ifndef L2K_WITHOUT_ENCODER
            .all[0] = forward_9_7,
#endif
            .all[1] = inverse_9_7,
        },
};

#ifdef L2K_ROWS_BASE
const l2k_wavelet_rows *l2k_wavelet_rows_get(l2k_cpu cpu, l2k_wavelet wavelet)
{
    static const l2k_wavelets_rows *const tables[] = L2K_CPU_TABLES(l2k_wavelets_rows);
    return &(*tables[l2k_cpu_resolve(cpu)])[wavelet];
}
#endif
