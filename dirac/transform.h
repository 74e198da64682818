/* A picture's wavelet transform: its parameters, its coefficients, and the way back to samples or residues. */
#ifndef L2K_DIRAC_TRANSFORM_H
#define L2K_DIRAC_TRANSFORM_H

#include "base/scalar.h"
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

/* A subband among the rows of its component: LL, then HL, LH and HH of each level from the lowest on. */
typedef struct l2k_dirac_band {
    size_t at, stride; /* in coefficients */
    uint32_t width, height;
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
    bool needs_32[2];         /* predicted, intra pictures of this sequence had sums of more than 16 bits */
    uint32_t over;            /* its upper half is not 0 if something did not fit into 16 bits */
    uint32_t wavelet, levels; /* index of the standards */
    uint32_t blocks[L2K_DIRAC_LEVELS + 1][2]; /* code-blocks of a level's subbands: horizontally, vertically */
    bool multiquant;                          /* code-blocks have quantisers of their own */
    uint32_t slices[2];                       /* horizontally, vertically */
    uint32_t slice_bytes[2];                  /* low delay: of a slice, numerator and denominator; high quality: before
                                                 a slice, and unit of its lengths */
    uint32_t matrix[L2K_DIRAC_BANDS];         /* slices: what a quantiser index of a subband is lower by */
    l2k_dirac_quantiser quantisers[2][L2K_DIRAC_QUANTISERS]; /* of predicted and intra pictures */
    l2k_dirac_codes codes[1 << L2K_DIRAC_CODE_BITS];
    l2k_dirac_component components[L2K_DIRAC_PLANES];
    void *data, *scratch; /* all coefficients; values of a slice, or a row */
    const l2k_dirac_rows *rows;
} l2k_dirac_transform;

static inline unsigned l2k_dirac_bands(const l2k_dirac_transform *transform)
{
    return 1 + 3 * transform->levels;
}

/* A coefficient of a component, by its offset. */
static inline void *l2k_dirac_at(const void *data, size_t at, bool wide)
{
    return (char *)data + at * (wide ? sizeof(int32_t) : sizeof(int16_t));
}

L2K_HD int32_t l2k_dirac_get(const void *row, size_t x, bool wide)
{
    return wide ? ((const int32_t *)row)[x] : ((const int16_t *)row)[x];
}

/* Returns bits as in l2k_dirac_transform.over. */
L2K_HD uint32_t l2k_dirac_put(void *row, size_t x, int32_t value, bool wide)
{
    if (wide)
        ((int32_t *)row)[x] = value;
    else
        ((int16_t *)row)[x] = (int16_t)value;
    return (uint32_t)value + 0x8000;
}

/* Where part x of a subband begins that slices divide. */
L2K_HD uint32_t l2k_dirac_share(uint32_t size, uint32_t x, uint32_t parts)
{
    return size % parts ? (uint32_t)((uint64_t)size * x / parts) : size / parts * x;
}

/* The bits of accuracy that leave after each level. */
static inline unsigned l2k_dirac_shift(const l2k_dirac_transform *transform)
{
    return transform->levels && transform->wavelet != 3 && transform->wavelet != 5;
}

/* The mean of the neighbours to the left and above (13.4), the latter if there are any. */
L2K_HD int64_t l2k_dirac_predicted(const void *row, const void *above, size_t x, bool has_above, bool wide)
{
    const int64_t left = x ? l2k_dirac_get(row, x - 1, wide) : 0, up = has_above ? l2k_dirac_get(above, x, wide) : 0;
    const int64_t sum = x && has_above ? left + up + l2k_dirac_get(above, x - 1, wide) + 1 : 3 * (left + up);
    return sum >= 0 ? sum / 3 : (sum - 2) / 3;
}

/* Fills in the quantisers and codes of a zeroed structure. */
void l2k_dirac_transform_start(l2k_dirac_transform *transform);

/* Subbands and default matrix, by wavelet and levels. */
void l2k_dirac_transform_place(const l2k_dirac_sequence *sequence, l2k_dirac_transform *transform);

/* Reads the parameters; syntax and intra are set. */
l2k_status l2k_dirac_transform_read(const l2k_context *context, const l2k_dirac_sequence *sequence,
                                    l2k_dirac_bits *bits, l2k_dirac_transform *transform);

/* Makes memory for coefficients, of the width that `wide` tells, in place of the last ones, and reads them: quantised
 * values times their steps, and zero what a damaged stream lacks. Only memory without `bits`. */
l2k_status l2k_dirac_coefficients(const l2k_context *context, l2k_dirac_bits *bits, l2k_dirac_transform *transform);

/* The same of the core syntax, and of slices. */
l2k_status l2k_dirac_core_read(const l2k_context *context, l2k_dirac_bits *bits, l2k_dirac_transform *transform);
l2k_status l2k_dirac_slices_read(const l2k_context *context, l2k_dirac_bits *bits, l2k_dirac_transform *transform);

/* Where slice x, y has a component's subbands; returns the number of coefficients. */
size_t l2k_dirac_slice_parts(const l2k_dirac_transform *transform, unsigned component, uint32_t x, uint32_t y,
                             l2k_dirac_band parts[L2K_DIRAC_BANDS]);

/* Writes all slices, with `room` for them: bytes of low delay, units of high quality beside lengths and indices; 0: for
 * all codes. Only measures without a writer. Returns the most bytes of a component in a slice. */
uint64_t l2k_dirac_slices_write(const l2k_dirac_transform *transform, uint64_t room, l2k_dirac_writer *writer);

/* Forward transform of a plane of a picture. */
void l2k_dirac_forward(const l2k_context *context, l2k_dirac_transform *transform, const l2k_dirac_sequence *sequence,
                       unsigned number, const l2k_plane *plane);

/* Inverse transform of a plane: into its samples, or, if it is NULL, into the residues of a predicted picture. */
void l2k_dirac_inverse(const l2k_context *context, l2k_dirac_transform *transform, const l2k_dirac_sequence *sequence,
                       unsigned number, const l2k_dirac_plane *plane, l2k_dirac_residue *residue);

#endif
