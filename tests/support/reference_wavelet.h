/* The wavelet transforms of Annex F, written from the standard's equations to be readable only: a line is extended
 * symmetrically by F-4, and each equation is a loop over absolute coordinates. Shares no code with dwt/. The 9/7 works
 * in float with one rounding per operation, in the order of the equations. */
#ifndef L2K_TESTS_SUPPORT_REFERENCE_WAVELET_H
#define L2K_TESTS_SUPPORT_REFERENCE_WAVELET_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define REF_MARGIN 8

typedef union ref_sample {
    int32_t i;
    float f;
} ref_sample;

/* PSEO of F-4: the coordinate in i0 .. i1 - 1 whose sample is at coordinate i of the extended line. */
static inline long ref_mirror(long i, long i0, long i1)
{
    long period = 2 * (i1 - i0 - 1), k = (i - i0) % period;
    if (k < 0)
        k += period;
    return i0 + (k < period - k ? k : period - k);
}

static inline int64_t ref_floor_div(int64_t a, int64_t b)
{
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/* A sum reduced to 32 bits. */
static inline int32_t ref_wrap(int64_t a)
{
    return (int32_t)(uint32_t)(uint64_t)a;
}

#define REF_FOR(parity, from, to)                                                                                      \
    for (long n = (from); n < (to); n++)                                                                               \
        if ((n & 1) == (parity))

/* x[REF_MARGIN + i - i0] is the sample at coordinate i; interleaved in and out. */
static inline void ref_lift_5_3(ref_sample *x, long i0, long i1, int inverse)
{
    ref_sample *y = x + REF_MARGIN - i0;
    if (!inverse) {
        REF_FOR(1, i0 - 1, i1 + 1) /* F-9 */
        y[n].i = ref_wrap((int64_t)y[n].i - ref_floor_div(ref_wrap((int64_t)y[n - 1].i + y[n + 1].i), 2));
        REF_FOR(0, i0, i1) /* F-10 */
        y[n].i = ref_wrap((int64_t)y[n].i + ref_floor_div(ref_wrap((int64_t)y[n - 1].i + y[n + 1].i + 2), 4));
    } else {
        REF_FOR(0, i0 - 1, i1 + 1) /* F-5 */
        y[n].i = ref_wrap((int64_t)y[n].i - ref_floor_div(ref_wrap((int64_t)y[n - 1].i + y[n + 1].i + 2), 4));
        REF_FOR(1, i0, i1) /* F-6 */
        y[n].i = ref_wrap((int64_t)y[n].i + ref_floor_div(ref_wrap((int64_t)y[n - 1].i + y[n + 1].i), 2));
    }
}

static inline void ref_lift_9_7(ref_sample *x, long i0, long i1, int inverse)
{
    const float alpha = -1.586134342f, beta = -0.052980118f, gamma = 0.882911075f, delta = 0.443506852f;
    const float k = 1.230174105f, over_k = (float)(1.0 / 1.230174105), opj_over_k = 1.625732422f / 2;
    ref_sample *y = x + REF_MARGIN - i0;
    if (!inverse) { /* F-11 */
        REF_FOR(1, i0 - 3, i1 + 3) y[n].f = y[n].f + alpha * (y[n - 1].f + y[n + 1].f);
        REF_FOR(0, i0 - 2, i1 + 2) y[n].f = y[n].f + beta * (y[n - 1].f + y[n + 1].f);
        REF_FOR(1, i0 - 1, i1 + 1) y[n].f = y[n].f + gamma * (y[n - 1].f + y[n + 1].f);
        REF_FOR(0, i0, i1) y[n].f = y[n].f + delta * (y[n - 1].f + y[n + 1].f);
        REF_FOR(1, i0, i1) y[n].f *= k;
        REF_FOR(0, i0, i1) y[n].f *= over_k;
    } else { /* F-7 */
        REF_FOR(0, i0 - 4, i1 + 4) y[n].f *= k;
        REF_FOR(1, i0 - 4, i1 + 4) y[n].f *= opj_over_k;
        REF_FOR(0, i0 - 3, i1 + 3) y[n].f = y[n].f - delta * (y[n - 1].f + y[n + 1].f);
        REF_FOR(1, i0 - 2, i1 + 2) y[n].f = y[n].f - gamma * (y[n - 1].f + y[n + 1].f);
        REF_FOR(0, i0 - 1, i1 + 1) y[n].f = y[n].f - beta * (y[n - 1].f + y[n + 1].f);
        REF_FOR(1, i0, i1) y[n].f = y[n].f - alpha * (y[n - 1].f + y[n + 1].f);
    }
}

/* 1D_SD and 1D_SR: count samples at line[k * distance], the first one at coordinate parity i0 & 1; interleaved. */
static inline void ref_line(ref_sample *line, long count, long distance, unsigned parity, int real, int inverse)
{
    long i0 = (long)parity + 64, i1 = i0 + count;
    if (count == 1) {
        if (parity && real)
            line[0].f = inverse ? line[0].f / 2 : line[0].f * 2;
        else if (parity)
            line[0].i = inverse ? line[0].i / 2 : ref_wrap((int64_t)line[0].i * 2);
        return;
    }
    ref_sample *x = malloc(((size_t)count + 2 * REF_MARGIN) * sizeof *x);
    for (long i = i0 - REF_MARGIN; i < i1 + REF_MARGIN; i++)
        x[REF_MARGIN + i - i0] = line[(ref_mirror(i, i0, i1) - i0) * distance];
    if (real)
        ref_lift_9_7(x, i0, i1, inverse);
    else
        ref_lift_5_3(x, i0, i1, inverse);
    for (long i = 0; i < count; i++)
        line[i * distance] = x[REF_MARGIN + i];
    free(x);
}

/* Deinterleaves a line into low | high, or the reverse. */
static inline void ref_sort(ref_sample *line, long count, long distance, unsigned parity, int inverse)
{
    ref_sample *copy = malloc((size_t)(count ? count : 1) * sizeof *copy);
    long lows = (count + 1 - (long)parity) / 2;
    for (long k = 0; k < count; k++)
        copy[k] = line[k * distance];
    for (long k = 0; k < count; k++) {
        int high = (int)((k + (long)parity) & 1);
        long sorted = (high ? lows : 0) + k / 2;
        line[(inverse ? k : sorted) * distance] = copy[inverse ? sorted : k];
    }
    free(copy);
}

/* One level on the width x height corner of a picture with `stride`: 2D_SD with the bands sorted as in Mallat layout,
 * or 2D_SR; or the part of these for one direction. px, py: parities of the origin. */
static inline void ref_split(ref_sample *data, long stride, long width, long height, unsigned px, unsigned py, int real,
                             int inverse, int across, int down)
{
    for (int direction = 0; direction < 2; direction++) {
        int vertical = direction == inverse;
        if (!(vertical ? down : across))
            continue;
        long lines = vertical ? width : height, count = vertical ? height : width;
        for (long k = 0; k < lines && count > 0; k++) {
            ref_sample *line = data + (vertical ? k : k * stride);
            long distance = vertical ? stride : 1;
            unsigned parity = vertical ? py : px;
            if (inverse)
                ref_sort(line, count, distance, parity, 1);
            ref_line(line, count, distance, parity, real, inverse);
            if (!inverse)
                ref_sort(line, count, distance, parity, 0);
        }
    }
}

static inline void ref_level(ref_sample *data, long stride, long width, long height, unsigned px, unsigned py, int real,
                             int inverse)
{
    ref_split(data, stride, width, height, px, py, real, inverse, 1, 1);
}

#endif
