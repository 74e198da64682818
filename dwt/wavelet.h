/* What the library knows about a wavelet, in one place: callers ask a member rather than compare with an l2k_wavelet.
 */
#ifndef L2K_DWT_WAVELET_H
#define L2K_DWT_WAVELET_H

#include "lift2k/lift2k.h"

#define L2K_MAX_LIFTING_STEPS 4
#define L2K_NORM_LEVELS       10

typedef struct l2k_wavelet_descriptor {
    const char *name;   /* as messages have it: "5/3" */
    uint8_t code;       /* transformation in COD and COC (Table A.20) */
    bool reversible;    /* the inverse restores every sample; its component transform is the RCT, else the ICT */
    bool is_float;      /* values are float, else int32 */
    bool quantised;     /* coefficients are quantiser indices (Annex E), else the values themselves */
    unsigned most_bits; /* the largest precision whose samples the forward transform carries (docs/numerics.md) */
    unsigned support; /* a sample depends on coefficients at most this far from its place in a subband, at any level */
    unsigned num_steps; /* lifting steps, alternating between high and low samples, the first one on high samples */
    float factors[L2K_MAX_LIFTING_STEPS];     /* of the forward steps; roundings aside */
    float forward_scale[2], inverse_scale[2]; /* of low and high samples, after the forward steps, before the inverse */
    double norms[3][L2K_NORM_LEVELS];         /* of synthesis bases: l2k_subband_norm (quant/steps.h) has the order */
    /* The same more exactly, as factors of one dimension each: low-pass of level 0 and up, high-pass of level 1 and up;
     * if quantised. */
    float factor_norms[2][L2K_NORM_LEVELS + 1];
} l2k_wavelet_descriptor;

const l2k_wavelet_descriptor *l2k_wavelet_get(l2k_wavelet wavelet);

#endif
