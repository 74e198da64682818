/* Lifting on whole rows, the CPU's inner loops. Samples are int32 for the 5/3 and float for the 9/7; both take four
 * bytes, so one buffer serves either. Rows need no alignment beyond their element's. */
#ifndef L2K_DWT_ROWS_H
#define L2K_DWT_ROWS_H

#include <stddef.h>

#include "lift2k/lift2k.h"

#define L2K_MAX_STEPS 4

/* Vertical lifting: a step changes every sample of one row from the rows above and below (which may be the same row, at
 * a border). Steps act on alternating parities of rows, starting with `first`. */
typedef struct l2k_lifting {
    unsigned steps; /* 2 or 4 */
    unsigned first; /* parity of the rows that step 0 changes: 1 forward (high rows), 0 inverse (low rows) */
    void (*step[L2K_MAX_STEPS])(void *row, const void *above, const void *below, size_t n);
    /* All steps at one place at once, in a single pass: rows[0 .. steps + 1] are consecutive, rows[steps] gets step 0,
     * rows[steps - 1] step 1 and so on down to rows[1]. */
    void (*all)(void *const *rows, size_t n);
    /* For the only row of a column of height 1 at an odd coordinate. */
    void (*lone)(void *row, size_t n);
} l2k_lifting;

/* The 9/7 lifting leaves the scaling of rows to the horizontal functions below. */
const l2k_lifting *l2k_lifting_forward(l2k_wavelet wavelet);
const l2k_lifting *l2k_lifting_inverse(l2k_wavelet wavelet);

/* Horizontal analysis and synthesis of a row of n >= 1 samples whose first one has coordinate parity `parity`. `low`
 * holds (n + 1 - parity) / 2 samples, `high` (n + parity) / 2. `row` overlaps neither.
 * - Forward: row to low and high, which must not overlap.
 * - Inverse: low and high are working space and are destroyed.
 * - The 9/7 scales its row by `scale` before the analysis and after the synthesis: the vertical factor. */
void l2k_row_forward_5_3(const int32_t *row, size_t n, unsigned parity, int32_t *low, int32_t *high);
void l2k_row_inverse_5_3(int32_t *low, int32_t *high, size_t n, unsigned parity, int32_t *row);
void l2k_row_forward_9_7(const float *row, size_t n, unsigned parity, float scale, float *low, float *high);
void l2k_row_inverse_9_7(float *low, float *high, size_t n, unsigned parity, float scale, float *row);

#endif
