/* All properties of a wavelet in one place: callers read a member rather than compare with an l2k_wavelet. Every wavelet
 * is data; the lifting steps of Part 1's are also functions of their own. */
#ifndef L2K_DWT_WAVELET_H
#define L2K_DWT_WAVELET_H

#include "base/context.h"

#define L2K_NORM_LEVELS 10

/* ---- Kernels ------------------------------------------------------------------------------------------------- */

#define L2K_KERNEL_STEPS     8
#define L2K_KERNEL_TAPS      32
#define L2K_KERNEL_OFFSET    31  /* largest offset, either way */
#define L2K_KERNEL_WIDE_TAPS 256 /* sums always have 64 bits if a step's taps add up to this */
#define L2K_KERNEL_REACH     64  /* largest distance of samples that a sample depends on, over all steps */

/* A lifting step of the forward transform. A low step changes the samples 2n, a high step the samples 2n + 1; tap k
 * belongs to the sample 2(n + k + offset), plus 1 for a low step. Reversible: the sum of tap times sample, and
 * `rounding`, is shifted right by `shift` and added; taps are integers. Irreversible: the sum is added. The inverse
 * subtracts. */
typedef struct l2k_kernel_step {
    bool high;
    int8_t offset;
    uint8_t num_taps, shift;
    int16_t rounding;
    float taps[L2K_KERNEL_TAPS];
} l2k_kernel_step;

/* A wavelet as data: an arbitrary transformation kernel of Part 2 (T.801, Annex H). Steps alternate between high and
 * low samples. Beyond the ends of a line a step finds the nearest sample of the parity that it reads, or, if `mirrors`,
 * the line mirrored at its first and last sample. */
typedef struct l2k_kernel {
    bool reversible, mirrors;
    uint8_t num_steps; /* 1 to L2K_KERNEL_STEPS; 0: no kernel */
    float scale;       /* K: after the forward steps, low samples are divided by it and high samples multiplied */
    l2k_kernel_step steps[L2K_KERNEL_STEPS];
} l2k_kernel;

/* Returns the fault of a kernel, or NULL if it can be used. */
const char *l2k_kernel_wrong(const l2k_kernel *kernel);

/* Whether two kernels transform alike. */
bool l2k_kernel_equals(const l2k_kernel *a, const l2k_kernel *b);

/* Whether every step's taps are whole-sample symmetric about the sample that changes. */
bool l2k_kernel_is_symmetric(const l2k_kernel *kernel);

/* Whether a step reaches further than to the neighbours, so that clamping and mirroring differ. */
bool l2k_kernel_has_borders(const l2k_kernel *kernel);

/* Parses the text that the public header describes. Errors: L2K_ERROR_ARGUMENT, whose message names the line. */
l2k_status l2k_kernel_parse(const l2k_context *context, const char *text, l2k_kernel *kernel);

/* Writes a text that l2k_kernel_parse reads back unchanged; 0-terminated, cut off at `bytes`. Returns the length
 * needed, without the 0. */
size_t l2k_kernel_print(const l2k_kernel *kernel, char *text, size_t bytes);

/* ---- Wavelets ------------------------------------------------------------------------------------------------ */

typedef struct l2k_wavelet_descriptor {
    const char *name;   /* as messages print it: "5/3" */
    uint8_t code;       /* transformation in COD and COC (Table A.20) */
    bool reversible;    /* the inverse restores every sample; its component transform is the RCT, else the ICT */
    bool is_float;      /* values are float, else int32 */
    bool quantised;     /* coefficients are quantiser indices (Annex E), else the values themselves */
    unsigned most_bits; /* the largest precision whose samples the forward transform carries (docs/numerics.md) */
    float forward_scale[2], inverse_scale[2]; /* of low and high samples, after the forward steps, before the inverse */
    double norms[3][L2K_NORM_LEVELS];         /* of synthesis bases, by gain, then level (quant/steps.c) */
    /* The norms more exactly, as factors of one dimension each: low-pass from level 0 up, high-pass from level 1 up; if
     * quantised. */
    float factor_norms[2][L2K_NORM_LEVELS + 1];
    l2k_kernel kernel;
    /* For a kernel: the most by which a low and a high coefficient of a line exceed the samples, that is, the sum of
     * the magnitudes of its factors; columns as in factor_norms. 0: not measured. */
    float gains[2][L2K_NORM_LEVELS + 1];
} l2k_wavelet_descriptor;

/* Whether a wavelet is a kernel of Part 2, not one of Part 1's two: ATK gives a kernel any other code. */
static inline bool l2k_wavelet_is_kernel(const l2k_wavelet_descriptor *wavelet)
{
    return wavelet->code > 1;
}

/* The static descriptor of a wavelet. Norms and gains of kernels are 0. The two wavelets that stand for any kernel only
 * have the properties common to all kernels of their kind, and no steps. */
const l2k_wavelet_descriptor *l2k_wavelet_get(l2k_wavelet wavelet);

/* Fills in the descriptor of a checked kernel, without norms and gains; returns the wavelet that stands for it. */
l2k_wavelet l2k_wavelet_of_kernel(const l2k_kernel *kernel, l2k_wavelet_descriptor *out);

/* The wavelet of such a descriptor. */
l2k_wavelet l2k_wavelet_of(const l2k_wavelet_descriptor *wavelet);

/* Computes the norms and gains of a kernel. L2K_ERROR_MEMORY. */
l2k_status l2k_wavelet_measure(const l2k_context *context, l2k_wavelet_descriptor *wavelet);

/* For an object's option: measures a checked kernel and sets its descriptor and the wavelet that stands for it. Nothing
 * changes after L2K_ERROR_MEMORY. */
l2k_status l2k_wavelet_take_kernel(const l2k_context *context, const l2k_kernel *kernel, l2k_wavelet_descriptor *own,
                                   int64_t *wavelet);

/* The factor by which a coefficient may exceed the samples, for a subband whose samples were split `across` and `down`
 * times; computed from `gains` for any level. */
double l2k_wavelet_gain(const l2k_wavelet_descriptor *wavelet, unsigned across, unsigned down, unsigned orientation);

#endif
