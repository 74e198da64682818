/* Quantiser step sizes (Annex E) and the L2 norms of the subbands' synthesis bases. */
#ifndef L2K_QUANT_STEPS_H
#define L2K_QUANT_STEPS_H

#include "dwt/wavelet.h"

/* Guard bits G (E.1) that the encoder writes unless it needs more. */
#define L2K_GUARD_BITS 2u

/* Guard bits that a kernel needs with these steps: more than usual if the low-pass grows from level to level, as with
 * w4. 8 and more are impossible. */
unsigned l2k_guard_bits_of(const l2k_wavelet_descriptor *wavelet, unsigned levels);

/* Mb (E-2): the number of bit-planes of a subband's magnitudes. */
static inline unsigned l2k_magnitude_bits(l2k_step step, unsigned guard_bits)
{
    unsigned sum = guard_bits + step.exponent;
    return sum ? sum - 1 : 0;
}

/* log2 of the nominal gain of a subband (Table E.1): 0 for LL, 1 for HL and LH, 2 for HH. */
unsigned l2k_log2_gain(unsigned orientation);

/* How often the samples of a subband were split in either direction: its level, unless levels before it split in one
 * direction only (T.801, A.3). */
typedef struct l2k_depth {
    unsigned across, down;
} l2k_depth;

/* L2 norm of the synthesis basis of a subband: for equal depths from the tables, else from those of one direction each.
 * The 9/7's are times 2^gain, OpenJPEG's convention. Levels deeper than the tables get the last entry, as in
 * OpenJPEG. */
double l2k_norm_at(const l2k_wavelet_descriptor *wavelet, l2k_depth depth, unsigned orientation);

/* The step that lift2k, like OpenJPEG, writes for a subband: for a reversible wavelet an exponent alone, else 1 / norm
 * in units of 2^gain samples. Kernels must have been measured. The exponent of a reversible one follows from its gain,
 * so that Mb with two guard bits is two more than a sample of that precision needs: for the RCT, and for roundings. */
l2k_step l2k_step_choose(const l2k_wavelet_descriptor *wavelet, unsigned precision, l2k_depth depth,
                         unsigned orientation);

/* The step base / norm, as a fraction of the subband's nominal range: for a base step of 2^-precision about that of
 * l2k_step_choose. Steps are rounded, and those out of QCD's range (2^-31 to almost 2) become its ends. */
l2k_step l2k_step_of_base(const l2k_wavelet_descriptor *wavelet, float base, l2k_depth depth, unsigned orientation);

/* How eyes see a component's errors: as those of luma or chroma, of half as many samples in a direction as the picture
 * has, from a distance in samples of the picture; 0, in l2k_error_weight: errors of all subbands alike. */
typedef struct l2k_viewing {
    enum { L2K_LUMA, L2K_CB, L2K_CR } role;
    bool halved_across, halved_down;
    uint32_t distance;
} l2k_viewing;

/* The contrast sensitivity for errors of a subband, relative to the greatest; of sub-sampled components times the root
 * of the samples that an error spreads over. */
float l2k_visual_weight(l2k_viewing viewing, l2k_depth depth, unsigned orientation);

/* What an error of a subband counts in rate control, as an amplitude: that weight, less for Cr and by level, since errors
 * that spread farther are seen better than the weight says. At most 1, or 2 of sub-sampled components. */
float l2k_error_weight(l2k_viewing viewing, l2k_depth depth, unsigned orientation);

/* What a quality factor's steps depend on besides the subband: 1 to 100; the bits of samples. */
typedef struct l2k_quality_of {
    unsigned quality, precision;
    l2k_viewing viewing;
} l2k_quality_of;

/* The distance for which its weights are written down. */
#define L2K_QUALITY_DISTANCE 4000

/* The step of "Controlling JPEG 2000 image quality using a single parameter (Qfactor) v2" (WG1 N101553). */
l2k_step l2k_step_of_quality(const l2k_wavelet_descriptor *wavelet, l2k_quality_of of, l2k_depth depth,
                             unsigned orientation);

/* Delta_b of E-3 in units of samples: 2^(precision + gain - exponent) * (1 + mantissa / 2^11). */
float l2k_step_size(l2k_step step, unsigned precision, unsigned orientation);

#endif
