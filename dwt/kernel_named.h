/* The wavelets of Part 1 (Annex F) and the named kernels as data: those of VC-2 (SMPTE ST 2042-1, 15.4.4), the predict
 * step of the 5/3 alone, and the wavelet of Daubechies with four coefficients in three steps (Daubechies, Sweldens: Factoring wavelet transforms into
 * lifting steps, 1998). Read by the C compiler for the table of wavelets and by nvcc, which makes a template of each.
 *
 * A step of VC-2's synthesis that adds (sum + 2^(shift - 1)) >> shift is undone by one that adds the negated sum plus
 * 2^(shift - 1) - 1, shifted in the same way; one that subtracts, by the same sum and rounding. */
#ifndef L2K_DWT_KERNEL_NAMED_H
#define L2K_DWT_KERNEL_NAMED_H

#include "dwt/lifting.h"

#define L2K_SQRT_3 1.7320508075688772

/* clang-format off */

/* A kernel, in the order of l2k_kernel: reversible, mirrors, number of steps, scale; then its steps, in the order of
 * l2k_kernel_step: high, offset, number of taps, shift, rounding, taps. */
#define L2K_DD_PREDICT {true, -1, 4, 4, 7, {1, -9, -9, 1}}

#define L2K_KERNEL_5_3 {true, true, 2, 1, {                                                                            \
    {true, 0, 2, 1, 1, {-1, -1}},                                                                                      \
    {false, -1, 2, 2, 2, {1, 1}}}}

#define L2K_KERNEL_9_7 {false, true, 4, L2K_9_7_FORWARD_HIGH, {                                                        \
    {true, 0, 2, 0, 0, {L2K_9_7_ALPHA, L2K_9_7_ALPHA}},                                                                \
    {false, -1, 2, 0, 0, {L2K_9_7_BETA, L2K_9_7_BETA}},                                                                \
    {true, 0, 2, 0, 0, {L2K_9_7_GAMMA, L2K_9_7_GAMMA}},                                                                \
    {false, -1, 2, 0, 0, {L2K_9_7_DELTA, L2K_9_7_DELTA}}}}

#define L2K_KERNEL_HAAR {true, false, 2, 1, {                                                                          \
    {true, 0, 1, 0, 0, {-1}},                                                                                          \
    {false, 0, 1, 1, 1, {1}}}}

/* Other than in Annex F of T.800, the inverse rounds halves up in both steps. */
#define L2K_KERNEL_LE_GALL {true, false, 2, 1, {                                                                       \
    {true, 0, 2, 1, 0, {-1, -1}},                                                                                      \
    {false, -1, 2, 2, 2, {1, 1}}}}

#define L2K_KERNEL_1_3 {true, false, 1, 1, {                                                                           \
    {true, 0, 2, 1, 1, {-1, -1}}}}

#define L2K_KERNEL_DD_9_7 {true, false, 2, 1, {                                                                        \
    L2K_DD_PREDICT,                                                                                                    \
    {false, -1, 2, 2, 2, {1, 1}}}}

#define L2K_KERNEL_DD_13_7 {true, false, 2, 1, {                                                                       \
    L2K_DD_PREDICT,                                                                                                    \
    {false, -2, 4, 5, 16, {-1, 9, 9, -1}}}}

#define L2K_KERNEL_DAUBECHIES_INT {true, false, 4, 1, {                                                                \
    {true, 0, 2, 12, 2047, {-6497, -6497}},                                                                            \
    {false, -1, 2, 12, 2047, {-217, -217}},                                                                            \
    {true, 0, 2, 7, 64, {113, 113}},                                                                                   \
    {false, -1, 2, 12, 2048, {1817, 1817}}}}

#define L2K_KERNEL_FIDELITY {true, false, 2, 1, {                                                                      \
    {false, -4, 8, 8, 128, {-8, 21, -46, 161, 161, -46, 21, -8}},                                                      \
    {true, -3, 8, 8, 127, {2, -10, 25, -81, -81, 25, -10, 2}}}}

#define L2K_KERNEL_W4 {false, false, 3, (float)(1.4142135623730951 / (L2K_SQRT_3 - 1)), {                              \
    {false, 0, 1, 0, 0, {(float)L2K_SQRT_3}},                                                                          \
    {true, -1, 2, 0, 0, {(float)((2 - L2K_SQRT_3) / 4), (float)(-L2K_SQRT_3 / 4)}},                                    \
    {false, 1, 1, 0, 0, {-1}}}}

/* clang-format on */

#endif
