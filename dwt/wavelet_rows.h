/* Lifting on whole rows: the CPU's inner loops, as a table of functions per wavelet and instruction set. Samples are
 * int32 or float as the wavelet's descriptor says; both take four bytes, so one buffer serves either. Rows need no
 * alignment beyond their element's. */
#ifndef L2K_DWT_WAVELET_ROWS_H
#define L2K_DWT_WAVELET_ROWS_H

#include "base/cpu.h"
#include "dwt/wavelet.h"

/* Vertical lifting in one direction. A step changes every sample of a row from the rows above and below, which may be
 * the same row at a border. Steps alternate between high and low rows; their scaling is left to the horizontal
 * functions below. */
typedef struct l2k_lifting {
    unsigned steps; /* 2 or 4 */
    unsigned first; /* parity of the rows that step 0 changes: 1 forward (high rows), 0 inverse (low rows) */
    void (*step[L2K_MAX_LIFTING_STEPS])(void *row, const void *above, const void *below, size_t n);
    /* All steps in one loop: rows[0 .. steps + 1] are consecutive, rows[steps] gets step 0, rows[steps - 1] step 1 and
     * so on down to rows[1]. */
    void (*all)(void *const *rows, size_t n);
    /* For the only row of a column of height 1 at an odd coordinate. */
    void (*lone)(void *row, size_t n);
} l2k_lifting;

/* Horizontal analysis and synthesis take a row of n >= 1 samples whose first one has coordinate parity `parity`. `low`
 * holds (n + 1 - parity) / 2 samples, `high` (n + parity) / 2. `row` overlaps neither.
 * - analyse: row to low and high, which must not overlap.
 * - synthesise: low and high are working space and are destroyed.
 * - `scale` is the vertical scaling of the whole row, before the analysis or after the synthesis; the 5/3 has none. */
typedef struct l2k_wavelet_rows {
    l2k_lifting forward, inverse;
    void (*analyse)(const void *row, size_t n, unsigned parity, float scale, void *low, void *high);
    void (*synthesise)(void *low, void *high, size_t n, unsigned parity, float scale, void *row);
} l2k_wavelet_rows;

/* Indexed by l2k_wavelet. */
typedef l2k_wavelet_rows l2k_wavelets_rows[2];

L2K_CPU_DECLARE(l2k_wavelets_rows);

/* The functions of a usable instruction set, or of the best one. */
const l2k_wavelet_rows *l2k_wavelet_rows_get(l2k_cpu cpu, l2k_wavelet wavelet);

#endif
