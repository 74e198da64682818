#include "dwt/rows.h"

#include "base/vector.h"
#include "dwt/lifting.h"

/* ---- 5/3 ----------------------------------------------------------------------------------------------------- */

#define STEP_5_3(name, scalar)                                                                                         \
    L2K_VECTOR static void name(void *row, const void *above, const void *below, size_t n)                             \
    {                                                                                                                  \
        int32_t *restrict x = row;                                                                                     \
        const int32_t *a = above, *b = below;                                                                          \
        L2K_INDEPENDENT                                                                                                \
        for (size_t i = 0; i < n; i++)                                                                                 \
            x[i] = scalar(x[i], a[i], b[i]);                                                                           \
    }

STEP_5_3(predict, l2k_5_3_predict)
STEP_5_3(update, l2k_5_3_update)
STEP_5_3(unupdate, l2k_5_3_unupdate)
STEP_5_3(unpredict, l2k_5_3_unpredict)

#define ALL_5_3(name, step0, step1)                                                                                    \
    L2K_VECTOR static void name(void *const *rows, size_t n)                                                           \
    {                                                                                                                  \
        const int32_t *restrict r0 = rows[0], *restrict r3 = rows[3];                                                  \
        int32_t *restrict r1 = rows[1], *restrict r2 = rows[2];                                                        \
        L2K_INDEPENDENT                                                                                                \
        for (size_t i = 0; i < n; i++) {                                                                               \
            int32_t x1 = r1[i], x2 = step0(r2[i], x1, r3[i]);                                                          \
            r2[i] = x2;                                                                                                \
            r1[i] = step1(x1, r0[i], x2);                                                                              \
        }                                                                                                              \
    }

ALL_5_3(forward_5_3, l2k_5_3_predict, l2k_5_3_update)
ALL_5_3(inverse_5_3, l2k_5_3_unupdate, l2k_5_3_unpredict)

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

/* ---- 9/7 ----------------------------------------------------------------------------------------------------- */

#define STEP_9_7(name, c)                                                                                              \
    L2K_VECTOR static void name(void *row, const void *above, const void *below, size_t n)                             \
    {                                                                                                                  \
        float *restrict x = row;                                                                                       \
        const float *a = above, *b = below;                                                                            \
        L2K_INDEPENDENT                                                                                                \
        for (size_t i = 0; i < n; i++)                                                                                 \
            x[i] = l2k_9_7_lift(x[i], a[i], b[i], c);                                                                  \
    }

STEP_9_7(alpha, L2K_9_7_ALPHA)
STEP_9_7(beta, L2K_9_7_BETA)
STEP_9_7(gamma_, L2K_9_7_GAMMA)
STEP_9_7(delta, L2K_9_7_DELTA)
STEP_9_7(undelta, -L2K_9_7_DELTA)
STEP_9_7(ungamma, -L2K_9_7_GAMMA)
STEP_9_7(unbeta, -L2K_9_7_BETA)
STEP_9_7(unalpha, -L2K_9_7_ALPHA)

#define ALL_9_7(name, c0, c1, c2, c3)                                                                                  \
    L2K_VECTOR static void name(void *const *rows, size_t n)                                                           \
    {                                                                                                                  \
        const float *restrict r0 = rows[0], *restrict r5 = rows[5];                                                    \
        float *restrict r1 = rows[1], *restrict r2 = rows[2], *restrict r3 = rows[3], *restrict r4 = rows[4];          \
        L2K_INDEPENDENT                                                                                                \
        for (size_t i = 0; i < n; i++) {                                                                               \
            float x4 = l2k_9_7_lift(r4[i], r3[i], r5[i], c0);                                                          \
            float x3 = l2k_9_7_lift(r3[i], r2[i], x4, c1);                                                             \
            float x2 = l2k_9_7_lift(r2[i], r1[i], x3, c2);                                                             \
            r4[i] = x4;                                                                                                \
            r3[i] = x3;                                                                                                \
            r2[i] = x2;                                                                                                \
            r1[i] = l2k_9_7_lift(r1[i], r0[i], x2, c3);                                                                \
        }                                                                                                              \
    }

ALL_9_7(forward_9_7, L2K_9_7_ALPHA, L2K_9_7_BETA, L2K_9_7_GAMMA, L2K_9_7_DELTA)
ALL_9_7(inverse_9_7, -L2K_9_7_DELTA, -L2K_9_7_GAMMA, -L2K_9_7_BETA, -L2K_9_7_ALPHA)

/* ---- The table ----------------------------------------------------------------------------------------------- */

static const l2k_lifting forward[2] = {
    [L2K_WAVELET_5_3] = {2, 1, {predict, update}, forward_5_3, lone_5_3},
    [L2K_WAVELET_9_7] = {4, 1, {alpha, beta, gamma_, delta}, forward_9_7, lone_9_7},
};
static const l2k_lifting inverse[2] = {
    [L2K_WAVELET_5_3] = {2, 0, {unupdate, unpredict}, inverse_5_3, unlone_5_3},
    [L2K_WAVELET_9_7] = {4, 0, {undelta, ungamma, unbeta, unalpha}, inverse_9_7, unlone_9_7},
};

const l2k_lifting *l2k_lifting_forward(l2k_wavelet wavelet)
{
    return &forward[wavelet];
}

const l2k_lifting *l2k_lifting_inverse(l2k_wavelet wavelet)
{
    return &inverse[wavelet];
}
