/* A histogram of the magnitudes of a quantised wavelet's coefficients, from which error and size for any base step
 * (l2k_steps_of_base) follow without quantising or coding anything. */
#ifndef L2K_QUANT_MAGNITUDES_H
#define L2K_QUANT_MAGNITUDES_H

#include <stddef.h>
#include <stdint.h>

/* Eight bins an octave from 2^-28 to 2^12, in units of the step that belongs to a base step of 1. */
#define L2K_MAGNITUDE_BINS (8 * 40)

typedef struct l2k_magnitudes {
    uint64_t count[L2K_MAGNITUDE_BINS];
} l2k_magnitudes;

/* Counts n coefficients `weight` times each. `unit`: the step of their subband for a base step of 1. */
void l2k_magnitudes_add(l2k_magnitudes *magnitudes, const float *coefficients, size_t n, float unit, uint32_t weight);

/* The squared error of the samples, in squares of their range, summed over all counted, if the coefficients are
 * quantised with a base step, and reconstructed in the middle of intervals (E-6). */
double l2k_magnitudes_error(const l2k_magnitudes *magnitudes, double base);

/* About the number of bits that HT code-blocks take (fitted to photographs): good for the ratio of sizes for two base
 * steps that are not far apart. */
double l2k_magnitudes_bits(const l2k_magnitudes *magnitudes, double base);

/* The mean squared error of integers that are rounded from values whose errors are Gaussian and have this mean square:
 * 1/12 more for large errors, 0 for small ones. */
double l2k_rounded_error(double mean_square);

#endif
