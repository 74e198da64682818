/* A picture's wavelet transform: its parameters, its coefficients, and the way back to residues. */
#ifndef L2K_DIRAC_TRANSFORM_H
#define L2K_DIRAC_TRANSFORM_H

#include "dirac/picture.h"
#include "dirac/rows.h"

enum { L2K_DIRAC_LEVELS = 8, L2K_DIRAC_BANDS = 1 + 3 * L2K_DIRAC_LEVELS, L2K_DIRAC_QUANTISERS = 117 };

/* How a picture is coded, by its parse code. */
typedef enum l2k_dirac_syntax {
    L2K_DIRAC_ARITHMETIC, /* core syntax: subbands one after the other */
    L2K_DIRAC_PLAIN,      /* the same without arithmetic coding */
    L2K_DIRAC_LOW_DELAY,  /* slices of a size that is known before */
    L2K_DIRAC_HIGH_QUALITY
} l2k_dirac_syntax;

/* A subband among the rows of its component. */
typedef struct l2k_dirac_band {
    size_t at, stride; /* in coefficients */
    uint32_t width, height;
    bool across, down; /* high-pass horizontally, vertically */
} l2k_dirac_band;

/* A component's coefficients. Each level is in place of its result: low rows are even rows, and a row has its low half
 * first. So a level's rows are those of the next level's low half, and residues end where coefficients were. */
typedef struct l2k_dirac_component {
    void *data;             /* int16_t, or int32_t if wide */
    uint32_t width, height; /* of the whole levels that contain the picture; width is the stride as well */
    l2k_dirac_band bands[L2K_DIRAC_BANDS];
} l2k_dirac_component;

typedef struct l2k_dirac_transform {
    l2k_dirac_syntax syntax;
    bool intra, wide;
    uint32_t over;           /* its upper half is not 0 if something did not fit into 16 bits */
    unsigned wavelet[2];     /* indices of the standards: vertically, horizontally */
    unsigned levels, across; /* that split both ways; and before them, from the lowest on, only horizontally */
    unsigned num_bands;
    uint32_t blocks[L2K_DIRAC_LEVELS + 1][2]; /* code-blocks of a level's subbands: horizontally, vertically */
    bool multiquant;                          /* code-blocks have quantisers of their own */
    uint32_t slices[2];                       /* horizontally, vertically */
    uint32_t slice_bytes[2];                  /* low delay: of a slice, numerator and denominator */
    uint32_t prefix, scaler;                  /* high quality: bytes before a slice, unit of its lengths */
    uint32_t matrix[L2K_DIRAC_BANDS];         /* slices: what a quantiser index of a subband is lower by */
    l2k_dirac_quantiser quantisers[2][L2K_DIRAC_QUANTISERS]; /* of predicted and intra pictures */
    l2k_dirac_code codes[1 << L2K_DIRAC_CODE_BITS];
    l2k_dirac_component components[L2K_DIRAC_PLANES];
    void *data, *scratch; /* all coefficients; rows in turn */
    size_t room, scratch_room;
} l2k_dirac_transform;

/* The level of a subband: 0 is the lowest low-pass. */
static inline unsigned l2k_dirac_level(const l2k_dirac_transform *transform, unsigned band)
{
    return band <= transform->across ? band : (band - transform->across + 2) / 3 + transform->across;
}

/* Fills in the quantisers of a zeroed structure. */
void l2k_dirac_transform_start(l2k_dirac_transform *transform);
void l2k_dirac_transform_end(const l2k_context *context, l2k_dirac_transform *transform);

/* Reads the parameters; syntax and intra are set. */
l2k_status l2k_dirac_transform_read(const l2k_context *context, const l2k_dirac_sequence *sequence,
                                    l2k_dirac_bits *bits, l2k_dirac_transform *transform);

/* Memory for coefficients of the width that `wide` tells, all zero. */
l2k_status l2k_dirac_transform_clear(const l2k_context *context, l2k_dirac_transform *transform);

/* Coefficients of the core syntax, or of `count` slices from number `first` on: quantised values times their steps. */
l2k_status l2k_dirac_core_read(const l2k_context *context, l2k_dirac_bits *bits, l2k_dirac_transform *transform);
l2k_status l2k_dirac_slices_read(const l2k_context *context, l2k_dirac_bits *bits, l2k_dirac_transform *transform,
                                 uint32_t first, uint32_t count);

/* Adds the predictions of the lowest low-pass to what was read. */
void l2k_dirac_predict_dc(l2k_dirac_transform *transform);

/* Inverse transform of component c: into samples of `plane`, or, if that is NULL, into the residues of a predicted
 * picture: int16_t or, with `wide_samples`, int32_t. */
void l2k_dirac_inverse(const l2k_context *context, l2k_dirac_transform *transform, unsigned c, unsigned depth,
                       bool wide_samples, const l2k_dirac_plane *plane, l2k_dirac_residue *residue);

#endif
