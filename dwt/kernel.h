/* Lifting by a kernel that is data (T.801, Annex H): the reach of its steps, and the lifting of a line. Rows of many
 * columns are in dwt/kernel_rows.h, rows that stream through a ring in dwt/ring.h. */
#ifndef L2K_DWT_KERNEL_H
#define L2K_DWT_KERNEL_H

#include "dwt/wavelet.h"

/* The distances of the first and the last tap of a step from the sample it changes: odd numbers. */
static inline int l2k_kernel_first_tap(const l2k_kernel_step *step)
{
    return 2 * step->offset + (step->high ? -1 : 1);
}

static inline int l2k_kernel_last_tap(const l2k_kernel_step *step)
{
    return l2k_kernel_first_tap(step) + 2 * (step->num_taps - 1);
}

/* The larger of both distances. */
unsigned l2k_kernel_step_reach(const l2k_kernel_step *step);

/* The sum of the reaches of all steps: how far a sample may depend on others, and by how many samples the window read
 * exceeds the wanted one. */
unsigned l2k_kernel_reach(const l2k_kernel *kernel);

/* The sample that a step reads at place i, among samples first .. end - 1, at least two of them. */
int64_t l2k_kernel_place(const l2k_kernel *kernel, int64_t i, int64_t first, int64_t end);

/* Whether sums need 64 bits: because sums over samples of `precision` bits may exceed 32 bits, forward or inverse, at
 * one of `levels` levels, or because its taps are large. The same on every backend, so that damaged coefficients give
 * the same samples. Reversible kernels only. */
bool l2k_kernel_is_wide(const l2k_kernel *kernel, unsigned precision, unsigned levels);

/* One level of synthesis of a line in the worst case: replaces the `bounds` of its low and high coefficients by those
 * of its even and odd samples. Raises *sums to the largest magnitude of a step's sum. */
void l2k_kernel_undo_bounds(const l2k_kernel *kernel, double bounds[2], double *sums);

#endif
