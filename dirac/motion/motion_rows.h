/* Motion compensation: its arithmetic on single samples, and the CPU's inner loops on rows and patches, which are
 * rectangles predicted in one go. */
#ifndef L2K_DIRAC_MOTION_MOTION_ROWS_H
#define L2K_DIRAC_MOTION_MOTION_ROWS_H

#include "base/cpu.h"
#include "base/scalar.h"

enum {
    L2K_DIRAC_PATCH_STEP = 32,   /* widths of patches are multiples, so that vectors need no rest */
    L2K_DIRAC_PATCH_STRIDE = 160 /* in samples; patches that lie for themselves are no wider */
};

/* The types of samples, sums and residues. */
typedef enum l2k_dirac_kind {
    L2K_DIRAC_NARROW,   /* uint8_t, uint16_t, int16_t; weights of references 1:1 with one bit */
    L2K_DIRAC_WEIGHTED, /* uint8_t, int32_t, int16_t */
    L2K_DIRAC_WIDE,     /* uint16_t, int32_t, int32_t */
} l2k_dirac_kind;

typedef struct l2k_dirac_view {
    const void *data;
    ptrdiff_t stride; /* in samples */
} l2k_dirac_view;

typedef struct l2k_dirac_weights {
    int32_t weight[2], half; /* half: what stands for the signed value 0 */
    uint32_t bits;
} l2k_dirac_weights;

/* 32 times what is halfway between two samples: the sums of the pairs around it, the nearest first. */
L2K_HD int32_t l2k_dirac_half(int32_t first, int32_t second, int32_t third, int32_t fourth)
{
    return 21 * first - 7 * second + 3 * third - fourth + 16;
}

/* Between four neighbouring half-samples, a b above c d, at x and y quarters of their distance. */
L2K_HD int32_t l2k_dirac_between(int32_t a, int32_t b, int32_t c, int32_t d, int32_t x, int32_t y)
{
    return ((4 - x) * (4 - y) * a + x * (4 - y) * b + (4 - x) * y * c + x * y * d + 8) >> 4;
}

/* The same at x = y = 2, without exceeding the type of samples: a mean of means is at times too large by 1. */
L2K_HD int32_t l2k_dirac_mean(int32_t a, int32_t b, int32_t c, int32_t d)
{
    const int32_t above = (a + b + 1) >> 1, below = (c + d + 1) >> 1;
    return ((above + below + 1) >> 1) - (((a ^ b) | (c ^ d)) & (above ^ below) & 1);
}

/* The weight, in eighths, of sample i from a block's end where blocks overlap by 2 * offset samples. */
L2K_HD int32_t l2k_dirac_rise(int32_t i, int32_t offset)
{
    return offset == 1 ? 3 + 2 * i : 1 + (6 * i + offset - 1) / (2 * offset - 1);
}

L2K_HD int32_t l2k_dirac_weigh(int32_t a, int32_t b, const l2k_dirac_weights w)
{
    return w.half + (((a - w.half) * w.weight[0] + (b - w.half) * w.weight[1] + (1 << w.bits >> 1)) >> w.bits);
}

typedef struct l2k_dirac_motion_rows {
    /* The row halfway between rows[3] and rows[4], which may be one row shifted. */
    void (*half)(l2k_dirac_kind kind, const void *const rows[8], size_t n, int32_t most, void *out);
    /* Between the half-samples of four views: of a place, to the right, below, and there to the right; x or y is 0 only
     * if the views are equal in that direction. Writes rows of L2K_DIRAC_PATCH_STRIDE samples. */
    void (*between)(l2k_dirac_kind kind, const l2k_dirac_view from[4], int x, int y, size_t width, size_t height,
                    void *out);
    /* Adds the mean of two predictions, or what their weights make of them, times the weights of overlap. */
    void (*accumulate)(l2k_dirac_kind kind, const l2k_dirac_view from[2], l2k_dirac_weights weights,
                       const uint16_t *across, const uint16_t *down, size_t width, size_t height, void *sums,
                       size_t stride);
    /* Sums and residues, NULL for none, to samples. */
    void (*finish)(l2k_dirac_kind kind, const void *sums, const void *residue, size_t n, int32_t most, void *out);
} l2k_dirac_motion_rows;

L2K_CPU_DECLARE(l2k_dirac_motion_rows);

/* The functions of a usable instruction set, or of the best one. */
const l2k_dirac_motion_rows *l2k_dirac_motion_rows_get(l2k_cpu cpu);

#endif
