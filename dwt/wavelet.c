/* The wavelets of Part 1 (Annex F), and named kernels (dwt/kernel_named.h). */
#include "dwt/wavelet.h"

#include "dwt/kernel_named.h"

#define KERNEL(its_name, is_reversible)                                                                                \
    .name = (its_name), .code = 2, .reversible = (is_reversible), .is_float = !(is_reversible),                        \
    .quantised = !(is_reversible), .most_bits = (is_reversible) ? 24 : 16, .forward_scale = {1, 1},                    \
    .inverse_scale = {1, 1}

/* Norms have four significant digits, as in OpenJPEG: with more digits, quantiser steps would differ from its. The
 * 9/7's contain 2^gain, OpenJPEG's convention. */
static const l2k_wavelet_descriptor wavelets[] = {
    [L2K_WAVELET_5_3] = {.name = "5/3",
                         .code = 1,
                         .reversible = true,
                         .most_bits = 24,
                         .forward_scale = {1, 1},
                         .inverse_scale = {1, 1},
                         .norms = {{1.000, 1.500, 2.750, 5.375, 10.68, 21.34, 42.67, 85.33, 170.7, 341.3},
                                   {1.038, 1.592, 2.919, 5.703, 11.33, 22.64, 45.25, 90.48, 180.9, 180.9},
                                   {.7186, .9218, 1.586, 3.043, 6.019, 12.01, 24.00, 47.97, 95.93, 95.93}},
                         .kernel = L2K_KERNEL_5_3},
    [L2K_WAVELET_9_7] = {.name = "9/7",
                         .code = 0,
                         .is_float = true,
                         .quantised = true,
                         .most_bits = 16,
                         .forward_scale = {L2K_9_7_FORWARD_LOW, L2K_9_7_FORWARD_HIGH},
                         .inverse_scale = {L2K_9_7_INVERSE_LOW, L2K_9_7_INVERSE_HIGH},
                         .norms = {{1.000, 1.965, 4.177, 8.403, 16.90, 33.84, 67.69, 135.3, 270.6, 540.9},
                                   {2.022, 3.989, 8.355, 17.04, 34.27, 68.63, 137.3, 274.6, 549.0, 549.0},
                                   {2.080, 3.865, 8.307, 17.18, 34.71, 69.59, 139.3, 278.6, 557.2, 557.2}},
                         .factor_norms = {{1.0000f, 1.4021f, 2.0304f, 2.9012f, 4.1153f, 5.8245f, 8.2388f, 11.652f,
                                           16.479f, 23.304f, 32.957f},
                                          {1.4425f, 1.9669f, 2.8839f, 4.1475f, 5.8946f, 8.3472f, 11.809f, 16.701f,
                                           23.620f, 33.403f, 33.403f}},
                         .kernel = L2K_KERNEL_9_7},
    [L2K_WAVELET_HAAR] = {KERNEL("haar", true), .kernel = L2K_KERNEL_HAAR},
    [L2K_WAVELET_1_3] = {KERNEL("1-3", true), .kernel = L2K_KERNEL_1_3},
    [L2K_WAVELET_DD_9_7] = {KERNEL("dd-9-7", true), .kernel = L2K_KERNEL_DD_9_7},
    [L2K_WAVELET_DD_13_7] = {KERNEL("dd-13-7", true), .kernel = L2K_KERNEL_DD_13_7},
    [L2K_WAVELET_DAUBECHIES_INT] = {KERNEL("daubechies-int", true), .kernel = L2K_KERNEL_DAUBECHIES_INT},
    [L2K_WAVELET_FIDELITY] = {KERNEL("fidelity", true), .kernel = L2K_KERNEL_FIDELITY},
    [L2K_WAVELET_W4] = {KERNEL("w4", false), .kernel = L2K_KERNEL_W4},
    [L2K_WAVELET_REVERSIBLE_KERNEL] = {KERNEL("reversible kernel", true)},
    [L2K_WAVELET_IRREVERSIBLE_KERNEL] = {KERNEL("irreversible kernel", false)},
};

const l2k_wavelet_descriptor *l2k_wavelet_get(l2k_wavelet wavelet)
{
    return &wavelets[wavelet];
}

/* The named wavelet that equals a kernel, or the one that stands for any. */
static l2k_wavelet find_kernel(const l2k_kernel *kernel)
{
    for (int w = L2K_WAVELET_HAAR; w <= L2K_WAVELET_W4; w++)
        if (l2k_kernel_equals(kernel, &wavelets[w].kernel))
            return (l2k_wavelet)w;
    return kernel->reversible ? L2K_WAVELET_REVERSIBLE_KERNEL : L2K_WAVELET_IRREVERSIBLE_KERNEL;
}

l2k_wavelet l2k_wavelet_of(const l2k_wavelet_descriptor *wavelet)
{
    return find_kernel(&wavelet->kernel);
}

l2k_wavelet l2k_wavelet_of_kernel(const l2k_kernel *kernel, l2k_wavelet_descriptor *out)
{
    const l2k_wavelet wavelet = find_kernel(kernel);
    const float k = kernel->reversible ? 1 : kernel->scale, reciprocal = (float)(1.0 / k);
    *out = wavelets[wavelet];
    out->kernel = *kernel;
    out->forward_scale[0] = out->inverse_scale[1] = reciprocal;
    out->forward_scale[1] = out->inverse_scale[0] = k;
    return wavelet;
}

static bool exists(l2k_wavelet wavelet)
{
    return (unsigned)wavelet < sizeof wavelets / sizeof *wavelets;
}

const char *l2k_wavelet_name(l2k_wavelet wavelet)
{
    return exists(wavelet) ? wavelets[wavelet].name : "unknown";
}

bool l2k_wavelet_reversible(l2k_wavelet wavelet)
{
    return exists(wavelet) && wavelets[wavelet].reversible;
}
