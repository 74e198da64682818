/* Histograms of magnitudes, and the error and size that they predict for quantiser steps (Annex E). */
#include "quant/magnitudes.h"

#include <math.h>
#include <string.h>

enum { BINS_OF_OCTAVE = 8, LOWEST_OCTAVE = -28 };

/* A bin is a float's exponent and the three bits below it. */
#define BIN_SHIFT  20
#define LOWEST_BIN ((int32_t)(127 + LOWEST_OCTAVE) * BINS_OF_OCTAVE)

void l2k_magnitudes_add(l2k_magnitudes *magnitudes, const float *coefficients, size_t n, float unit, uint32_t weight)
{
    const float reciprocal = 1 / unit;
    for (size_t i = 0; i < n; i++) {
        const float scaled = fabsf(coefficients[i]) * reciprocal;
        uint32_t bits;
        memcpy(&bits, &scaled, sizeof bits);
        int32_t bin = (int32_t)(bits >> BIN_SHIFT) - LOWEST_BIN;
        bin = bin < 0 ? 0 : bin < L2K_MAGNITUDE_BINS ? bin : L2K_MAGNITUDE_BINS - 1;
        magnitudes->count[bin] += weight;
    }
}

/* The lower end of a bin. */
static double bin_start(unsigned bin)
{
    return ldexp(1 + (bin % BINS_OF_OCTAVE) / (double)BINS_OF_OCTAVE, (int)(bin / BINS_OF_OCTAVE) + LOWEST_OCTAVE);
}

/* The integral from 0 to t of the squared error of a magnitude, in steps: all of it below 1, then the distance to the
 * middle of its interval. */
static double error_integral(double t)
{
    if (t < 1)
        return t * t * t / 3;
    const double whole = floor(t), part = t - whole - 0.5;
    return 1.0 / 3 + (whole - 1) / 12 + (part * part * part + 0.125) / 3;
}

static const double LN2 = 0.69314718055994531;

/* The same for bits: 3.86 + log2(u) for a magnitude of u steps, and u^2 below 1, for the part of its neighbours' code
 * that tells it is 0. */
static double bits_integral(double t)
{
    if (t < 1)
        return t * t * t / 3;
    return 1.0 / 3 + (3.86 - 1 / LN2) * (t - 1) + t * log2(t);
}

/* The mean over a bin, with magnitudes assumed evenly distributed. */
static double mean_of_bin(double integral(double), unsigned bin, double base)
{
    const double from = bin_start(bin) / base, to = bin_start(bin + 1) / base;
    return (integral(to) - integral(from)) / (to - from);
}

static double sum_over_bins(const l2k_magnitudes *magnitudes, double integral(double), double base)
{
    double sum = 0;
    for (unsigned bin = 1; bin < L2K_MAGNITUDE_BINS; bin++)
        if (magnitudes->count[bin])
            sum += (double)magnitudes->count[bin] * mean_of_bin(integral, bin, base);
    return sum;
}

double l2k_magnitudes_error(const l2k_magnitudes *magnitudes, double base)
{
    return sum_over_bins(magnitudes, error_integral, base) * base * base;
}

double l2k_magnitudes_bits(const l2k_magnitudes *magnitudes, double base)
{
    return sum_over_bins(magnitudes, bits_integral, base);
}

double l2k_rounded_error(double mean_square)
{
    double sum = 0;
    if (mean_square > 4)
        return mean_square + 1.0 / 12;
    for (int k = 1; k < 40 && mean_square > 0; k++) /* P(|error| >= k) from the square of k - 1 to that of k */
        sum += (2 * k - 1) * erfc((k - 0.5) / sqrt(2 * mean_square));
    return sum;
}
