/* Motion compensation on rows and patches: the CPU's inner loops. A patch is a rectangle predicted in one go. */
#ifndef L2K_DIRAC_MOTION_MOTION_ROWS_H
#define L2K_DIRAC_MOTION_MOTION_ROWS_H

#include "base/cpu.h"

enum {
    L2K_DIRAC_PATCH_STEP = 16,   /* widths of patches are multiples */
    L2K_DIRAC_PATCH_STRIDE = 160 /* in samples; patches that lie for themselves are no wider */
};

/* The types of samples, sums and residues. */
typedef enum l2k_dirac_kind {
    L2K_DIRAC_NARROW,   /* uint8_t, uint16_t, int16_t; weights of references 1:1 with one bit */
    L2K_DIRAC_WEIGHTED, /* uint8_t, int32_t, int16_t */
    L2K_DIRAC_WIDE,     /* uint16_t, int32_t, int32_t */
    L2K_DIRAC_KINDS
} l2k_dirac_kind;

typedef struct l2k_dirac_view {
    const void *data;
    ptrdiff_t stride; /* in samples */
} l2k_dirac_view;

typedef struct l2k_dirac_weights {
    int32_t weight[2], half;
    uint32_t bits;
} l2k_dirac_weights;

typedef struct l2k_dirac_motion_rows {
    /* The row halfway between rows[3] and rows[4], which may be one row shifted. */
    void (*half)(const void *const rows[8], size_t n, int32_t most, void *out);
    /* Between the half-samples at corners[0], to the right, below, and there to the right; x and y 0 to 3, not both 0.
     * Writes rows of L2K_DIRAC_PATCH_STRIDE samples. */
    void (*between)(const l2k_dirac_view corners[4], unsigned x, unsigned y, size_t width, size_t height, void *out);
    /* Adds one prediction (from[1].data NULL) or two, times the weights of overlap. */
    void (*accumulate)(const l2k_dirac_view from[2], const l2k_dirac_weights *weights, const uint16_t *across,
                       const uint16_t *down, size_t width, size_t height, void *sums, size_t stride);
    /* Sums and residues, NULL for none, to samples. */
    void (*finish)(const void *sums, const void *residue, size_t n, int32_t most, void *out);
} l2k_dirac_motion_rows;

/* Indexed by l2k_dirac_kind. */
typedef l2k_dirac_motion_rows l2k_dirac_motions_rows[L2K_DIRAC_KINDS];

L2K_CPU_DECLARE(l2k_dirac_motions_rows);

/* The functions of a usable instruction set, or of the best one. */
const l2k_dirac_motion_rows *l2k_dirac_motion_rows_get(l2k_cpu cpu, l2k_dirac_kind kind);

#endif
