/* Lifting on whole rows by Part 1's wavelets (Annex F): what dwt/kernel_rows.h has for kernels, and loops that take more
 * than one step. A table of functions per wavelet and instruction set. */
#ifndef L2K_DWT_WAVELET_ROWS_H
#define L2K_DWT_WAVELET_ROWS_H

#include "base/cpu.h"
#include "dwt/wavelet.h"

/* A step on n samples: from[k] points to the n samples that belong to tap k. `undo`: the step of the inverse. */
typedef void l2k_kernel_step_rows(const l2k_kernel_step *step, bool undo, void *row, const void *const *from, size_t n);

typedef struct l2k_wavelet_rows {
    l2k_kernel_step_rows *step; /* from[0] and from[1] may be the same row */
    /* All steps forward ([0]) or inverse ([1]) in one loop: rows[0 .. steps + 1] are consecutive, rows[steps] gets step
     * 0, rows[steps - 1] step 1 and so on down to rows[1]. */
    void (*all[2])(void *const *rows, size_t n);
    /* As l2k_kernel_analyse and l2k_kernel_synthesise, for n >= 2. */
    void (*analyse)(const void *row, size_t n, unsigned parity, float scale, void *low, void *high);
    void (*synthesise)(void *low, void *high, size_t n, unsigned parity, float scale, void *row);
} l2k_wavelet_rows;

/* Indexed by l2k_wavelet. */
typedef l2k_wavelet_rows l2k_wavelets_rows[2];

L2K_CPU_DECLARE(l2k_wavelets_rows);

/* The functions of a usable instruction set, or of the best one. */
const l2k_wavelet_rows *l2k_wavelet_rows_get(l2k_cpu cpu, l2k_wavelet wavelet);

#endif
