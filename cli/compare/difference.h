/* How much two components of the same shape differ. */
#ifndef L2K_CLI_COMPARE_DIFFERENCE_H
#define L2K_CLI_COMPARE_DIFFERENCE_H

#include "pictures/picture.h"

/* To be zeroed first; then any number of parts can be added. */
typedef struct cli_difference {
    uint64_t samples, differing;
    uint64_t peak_error; /* the largest absolute difference */
    double squares;      /* the sum of the squared differences */
    double mse;          /* 0 if there are no samples */
} cli_difference;

/* Adds `rows` rows of a component. */
void cli_difference_add(cli_difference *difference, const l2k_component *component, uint32_t rows, const l2k_plane *a,
                        const l2k_plane *b);

/* 10 log10(peak^2 / MSE) in dB with the peak 2^precision - 1; infinite if the MSE is 0. */
double cli_psnr(double mse, uint32_t precision);

/* Mean structural similarity, or NaN for a component that is smaller than its window of 11 x 11 samples. False with a
 * report if out of memory. */
bool cli_ssim(double *ssim, const l2k_component *component, const l2k_plane *a, const l2k_plane *b);

#endif
