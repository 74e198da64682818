/* Lifting by a kernel on whole rows: the CPU's inner loops, as a table of functions per instruction set, and a row in
 * both directions. Samples are int32 or float32, as the kernel is reversible or not. */
#ifndef L2K_DWT_KERNEL_ROWS_H
#define L2K_DWT_KERNEL_ROWS_H

#include "base/cpu.h"
#include "dwt/wavelet.h"

/* How a step adds up: int32 samples with 32 or 64 bits, or float32. */
typedef enum l2k_kernel_sums { L2K_SUMS_32, L2K_SUMS_64, L2K_SUMS_FLOAT } l2k_kernel_sums;

/* A step on n samples: from[k] points to the n samples that belong to tap k. `undo`: the step of the inverse. */
typedef void l2k_kernel_step_rows(const l2k_kernel_step *step, bool undo, void *row, const void *const *from, size_t n);

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

/* A kernel and how to run it. */
typedef struct l2k_kernel_lifting {
    const l2k_wavelet_descriptor *wavelet;
    const l2k_kernel_rows *rows;
    l2k_kernel_sums sums;
} l2k_kernel_lifting;

/* As analyse and synthesise of l2k_wavelet_rows. */
void l2k_kernel_analyse(const l2k_kernel_lifting *lifting, const void *row, size_t n, unsigned parity, float scale,
                        void *low, void *high);
void l2k_kernel_synthesise(const l2k_kernel_lifting *lifting, void *low, void *high, size_t n, unsigned parity,
                           float scale, void *row);

/* A row whose samples are lines of one sample each, at an odd coordinate. */
void l2k_kernel_lone(const l2k_kernel_lifting *lifting, bool inverse, void *row, size_t n);

#endif
