/* The passes of Kucis, Barina, Kula, Zemcik: 2-D Discrete Wavelet Transform Using GPU: one level of the 9/7 along rows or
 * along columns of n x n floats, forward or inverse, subbands interleaved. A work-group goes along LANES lines with a
 * window in local memory; ITEMS work-items share a line. Options of the compiler, from opencl_passes.c:
 *
 *   COLUMNS, INVERSE             0 or 1: which lines, and which direction
 *   LANES, ITEMS, PAIRS          the work-group, and the pairs of coefficients that a work-item computes
 *   CONVOLVED                    1: by convolution, of one pair
 *   WIDE_0 .. 4, NARROW_0 .. 3   the two filters with their scaling, symmetric, from the middle outwards */
#include "transform/opencl/shim.clh"
#include "dwt/lifting.h"

/* Step k changes every second sample: the odd ones first, or the even ones in the inverse. */
#define STEP(k)          ((k) == 0 ? L2K_9_7_ALPHA : (k) == 1 ? L2K_9_7_BETA : (k) == 2 ? L2K_9_7_GAMMA : L2K_9_7_DELTA)
#define LIFT(k, x, l, r) l2k_9_7_lift(x, l, r, INVERSE ? -STEP(3 - (k)) : STEP(k))

/* A pair depends on 7 more samples: 4 before it and 3 behind it, or the other way round. */
#define AHEAD (INVERSE ? 3 : 4)
#define HALO  7

/* Samples from one window to the next. */
#define MOVE (2 * PAIRS * ITEMS)

/* Sample i of a line in memory, and place i of a lane in the window. In a single line one place in 33 stays empty, so
 * that neighbours that read every second or every eighth sample use different banks. */
#define AT(line, i)    (COLUMNS ? (i) * n + (line) : (line) * n + (i))
#define PLACE(i, lane) (LANES == 1 ? (i) + (i) / 32 : (i) * LANES + (lane))
#define PLACES(count)  PLACE(count, 0)

#define GROUP __kernel __attribute__((reqd_work_group_size(LANES, ITEMS, 1)))

/* Sample p of a line, mirrored at its ends; further out than a coefficient depends on, some sample. */
static float load(__global const float *in, int line, int p, int n)
{
    int i = p < 0 ? -p : p;
    i = max(0, min(i, 2 * (n - 1) - i));
    const float x = in[AT(min(line, n - 1), i)];
    return (CONVOLVED | !INVERSE) ? x : x * (p & 1 ? L2K_9_7_INVERSE_HIGH : L2K_9_7_INVERSE_LOW);
}

static void store(__global float *out, int line, int p, int n, float x)
{
    if (line < n && p >= 0 && p < n)
        out[AT(line, p)] = (CONVOLVED | INVERSE) ? x : x * (p & 1 ? L2K_9_7_FORWARD_HIGH : L2K_9_7_FORWARD_LOW);
}

/* A barrier after each lifting step, for which a work-item loads three samples and stores one (van der Laan, Jalba,
 * Roerdink). The last four samples of a window, which are not finished, stay in the next. */
GROUP void with_barriers(__global const float *in, __global float *out, int n)
{
    enum { KEPT = 4 };
    __local float window[PLACES(MOVE + KEPT)];
    const int lane = get_local_id(0), item = get_local_id(1), line = get_global_id(0);
    int first = INVERSE ? -4 : -3; /* step 0 begins with sample first + 4 */
    for (int i = item; i < MOVE + KEPT; i += ITEMS)
        window[PLACE(i, lane)] = load(in, line, first + i, n);
    for (;;) {
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const int i = KEPT - k + 2 * item, left = first + i == 0 ? i + 1 : i - 1,
                      right = first + i == n - 1 ? i - 1 : i + 1;
            window[PLACE(i, lane)] =
                LIFT(k, window[PLACE(i, lane)], window[PLACE(left, lane)], window[PLACE(right, lane)]);
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        for (int i = item; i < MOVE; i += ITEMS)
            store(out, line, first + i, n, window[PLACE(i, lane)]);
        first += MOVE;
        if (first >= n)
            break;
        const float kept = window[PLACE(MOVE + item % KEPT, lane)], fresh[2] = {
            load(in, line, first + KEPT + item, n), load(in, line, first + KEPT + item + ITEMS, n)};
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < KEPT)
            window[PLACE(item, lane)] = kept;
        window[PLACE(KEPT + item, lane)] = fresh[0];
        window[PLACE(KEPT + item + ITEMS, lane)] = fresh[1];
    }
}

/* The sum of a filter's products, from the middle outwards. The 9/7's narrow one has no fifth tap. */
#define NARROW(i)                                                                                                      \
    (NARROW_0 * v[i] + NARROW_1 * (v[(i)-1] + v[(i) + 1]) + NARROW_2 * (v[(i)-2] + v[(i) + 2]) +                       \
     NARROW_3 * (v[(i)-3] + v[(i) + 3]))
#define WIDE(i)                                                                                                        \
    (WIDE_0 * v[i] + WIDE_1 * (v[(i)-1] + v[(i) + 1]) + WIDE_2 * (v[(i)-2] + v[(i) + 2]) +                             \
     WIDE_3 * (v[(i)-3] + v[(i) + 3]) + WIDE_4 * (v[(i)-4] + v[(i) + 4]))

/* No barrier in lifting: a work-item computes its pairs from all that they depend on, by lifting (Blazewicz; along
 * columns the paper's own) or by convolution (Galiano). The last seven samples of a window stay in the next. Along a
 * row, coefficients pass through the window, so that neighbours store neighbours. */
GROUP void without_barriers(__global const float *in, __global float *out, int n)
{
    enum { OUT = 2 * PAIRS };
    __local float window[PLACES(MOVE + HALO)];
    const int lane = get_local_id(0), item = get_local_id(1), line = get_global_id(0);
    for (int i = item; i < HALO; i += ITEMS)
        window[PLACE(i, lane)] = load(in, line, i - AHEAD, n);
    for (int first = 0; first < n; first += MOVE) {
        float v[OUT + HALO];
#pragma unroll
        for (int i = 0; i < OUT; i++)
            v[i] = load(in, line, first - AHEAD + HALO + item + i * ITEMS, n);
#pragma unroll
        for (int i = 0; i < OUT; i++)
            window[PLACE(HALO + item + i * ITEMS, lane)] = v[i];
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int i = 0; i < OUT + HALO; i++)
            v[i] = window[PLACE(OUT * item + i, lane)];
        const float kept = window[PLACE(MOVE + item % HALO, lane)];
        if (CONVOLVED) {
            const float narrow = NARROW(INVERSE ? 3 : 5), wide = WIDE(4);
            v[AHEAD] = INVERSE ? narrow : wide;
            v[AHEAD + 1] = INVERSE ? wide : narrow;
        } else {
#pragma unroll
            for (int k = 0; k < 4; k++)
#pragma unroll
                for (int i = 1 + k; i < OUT + HALO - 1 - k; i += 2)
                    v[i] = LIFT(k, v[i], v[i - 1], v[i + 1]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (COLUMNS) {
#pragma unroll
            for (int i = 0; i < OUT; i++)
                store(out, line, first + OUT * item + i, n, v[AHEAD + i]);
        } else {
#pragma unroll
            for (int i = 0; i < OUT; i++)
                window[PLACE(OUT * item + i, lane)] = v[AHEAD + i];
            barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
            for (int i = 0; i < OUT; i++)
                store(out, line, first + item + i * ITEMS, n, window[PLACE(item + i * ITEMS, lane)]);
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (item < HALO)
            window[PLACE(item, lane)] = kept;
    }
}

/* Squares through local memory, so that loads and stores both go along rows; the odd row length avoids conflicts of
 * banks. */
__kernel __attribute__((reqd_work_group_size(32, 8, 1))) void transpose(__global const float *in, __global float *out,
                                                                        int n)
{
    __local float square[32][33];
    const int tx = get_local_id(0), ty = get_local_id(1), x = 32 * get_group_id(0), y = 32 * get_group_id(1);
    for (int i = ty; i < 32; i += 8)
        if (x + tx < n && y + i < n)
            square[i][tx] = in[(y + i) * n + x + tx];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = ty; i < 32; i += 8)
        if (y + tx < n && x + i < n)
            out[(x + i) * n + y + tx] = square[tx][i];
}
