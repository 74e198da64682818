/* Lifting on whole rows: the CPU's inner loops, as a table of functions per instruction set, and a row in both
 * directions. Samples are int32 or float32, as the wavelet's descriptor says; both take four bytes, so one buffer serves
 * either. Rows need no alignment beyond their element's. */
#ifndef L2K_DWT_KERNEL_ROWS_H
#define L2K_DWT_KERNEL_ROWS_H

#include "base/cpu.h"
#include "dwt/wavelet.h"

/* A step on n samples: from[k] points to the n samples that belong to tap k. `undo`: the step of the inverse. */
typedef void l2k_kernel_step_rows(const l2k_kernel_step *step, bool undo, void *row, const void *const *from, size_t n);

/* How a kernel's step adds up: int32 samples with 32 or 64 bits, or float32. */
typedef enum l2k_kernel_sums { L2K_SUMS_32, L2K_SUMS_64, L2K_SUMS_FLOAT } l2k_kernel_sums;

typedef struct l2k_kernel_rows {
    l2k_kernel_step_rows *step[3]; /* by l2k_kernel_sums */
    void (*scale)(float *row, size_t n, float factor);
    /* Convert between a row and its even and odd samples, (n + 1) / 2 and n / 2 of them; four bytes each. */
    void (*split)(const uint32_t *row, size_t n, uint32_t *even, uint32_t *odd);
    void (*join)(const uint32_t *even, const uint32_t *odd, size_t n, uint32_t *row);
} l2k_kernel_rows;

L2K_CPU_DECLARE(l2k_kernel_rows);

/* The functions of a usable instruction set, or of the best one. */
const l2k_kernel_rows *l2k_kernel_rows_get(l2k_cpu cpu);

/* The steps of a wavelet of Part 1. */
typedef struct l2k_wavelet_rows {
    l2k_kernel_step_rows *step; /* from[0] and from[1] may be the same row */
    /* All steps forward ([0]) or inverse ([1]) in one loop: rows[0 .. steps + 1] are consecutive,
     * rows[steps] gets step 0, rows[steps - 1] step 1 and so on down to rows[1]. */
    void (*all[2])(void *const *rows, size_t n);
} l2k_wavelet_rows;

/* Indexed by l2k_wavelet. */
typedef l2k_wavelet_rows l2k_wavelets_rows[2];

L2K_CPU_DECLARE(l2k_wavelets_rows);

/* The functions of a usable instruction set, or of the best one. */
const l2k_wavelet_rows *l2k_wavelet_rows_get(l2k_cpu cpu, l2k_wavelet wavelet);

/* A wavelet and how to run it. */
typedef struct l2k_kernel_lifting {
    const l2k_wavelet_descriptor *wavelet;
    const l2k_kernel_rows *rows;
    const l2k_wavelet_rows *fused; /* of a wavelet of Part 1; NULL: a kernel */
    l2k_kernel_sums sums;
    l2k_kernel_step_rows *step;
} l2k_kernel_lifting;

/* `precision` and `levels` as in l2k_kernel_is_wide. */
l2k_kernel_lifting l2k_kernel_lifting_of(l2k_cpu cpu, const l2k_wavelet_descriptor *wavelet, unsigned precision,
                                         unsigned levels);

/* Horizontal analysis and synthesis of a row of n >= 1 samples whose first one has coordinate parity `parity`. `low`
 * holds (n + 1 - parity) / 2 samples, `high` (n + parity) / 2. `row` overlaps neither.
 * - analyse: row to low and high, which must not overlap.
 * - synthesise: low and high are working space and are destroyed.
 * - `scale` is the vertical scaling of the whole row, before the analysis or after the synthesis; 1 for int32. */
void l2k_kernel_analyse(const l2k_kernel_lifting *lifting, const void *row, size_t n, unsigned parity, float scale,
                        void *low, void *high);
void l2k_kernel_synthesise(const l2k_kernel_lifting *lifting, void *low, void *high, size_t n, unsigned parity,
                           float scale, void *row);

/* A row whose samples are lines of one sample each, at an odd coordinate. */
void l2k_kernel_lone(const l2k_wavelet_descriptor *wavelet, bool inverse, void *row, size_t n);

#endif
