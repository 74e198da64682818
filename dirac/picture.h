/* What Dirac 2.2.3 and VC-2 (SMPTE ST 2042-1) say of a sequence and of its pictures. Names are those of the standards,
 * in whose terms a picture is a frame, or a field of one if the sequence codes fields. */
#ifndef L2K_DIRAC_PICTURE_H
#define L2K_DIRAC_PICTURE_H

#include "base/context.h"
#include "base/integer.h"
#include "dirac/bits.h"

enum { L2K_DIRAC_PLANES = 3 };

/* A sequence header, with the values of its base video format filled in. */
typedef struct l2k_dirac_sequence {
    uint32_t major_version, profile, level;
    uint32_t width, height;           /* luma samples of a frame */
    unsigned chroma_x, chroma_y;      /* log2 of the sub-sampling of chroma: 0 or 1 */
    bool interlaced, top_field_first; /* of the source */
    bool fields;                      /* pictures are fields */
    uint32_t rate[2], aspect[2];      /* frames per second, and of a sample: numerator, denominator */
    uint32_t clean[4];                /* clean area: width, height, left, top */
    uint32_t offset[2], excursion[2]; /* of luma and chroma */
    uint32_t colour[3];               /* primaries, matrix, transfer function, as indices of the standard */
    unsigned depth[2];                /* bits of a sample of luma and chroma, 1 to 16 */
    bool wide; /* some depth is above 8: samples are uint16_t, residues of predicted pictures int32_t; else uint8_t and
                  int16_t */
} l2k_dirac_sequence;

/* Reads a sequence header from behind its parse info. */
l2k_status l2k_dirac_sequence_read(const l2k_context *context, l2k_dirac_bits *bits, l2k_dirac_sequence *sequence);

/* Samples as they leave the decoder: from 0 to 2^depth - 1, which is the standards' signed value plus 2^(depth - 1). */
typedef struct l2k_dirac_plane {
    void *data;
    ptrdiff_t stride; /* in samples; twice the frame's for a field */
    uint32_t width, height;
} l2k_dirac_plane;

/* A decoded picture. */
typedef struct l2k_dirac_picture {
    uint32_t number;
    l2k_dirac_plane planes[L2K_DIRAC_PLANES];
    struct l2k_dirac_upsampled *upsampled; /* what the motion room makes of it when it is first referred to; or NULL */
} l2k_dirac_picture;

/* Residues of a component: int16_t, or int32_t if the sequence is wide. */
typedef struct l2k_dirac_residue {
    const void *data; /* NULL: all zero */
    ptrdiff_t stride; /* in samples */
} l2k_dirac_residue;

/* The size of a plane of a picture. */
static inline void l2k_dirac_size(const l2k_dirac_sequence *sequence, unsigned plane, uint32_t *width, uint32_t *height)
{
    *width = l2k_ceil_shift(sequence->width, plane ? sequence->chroma_x : 0);
    *height = l2k_ceil_shift(sequence->height, (plane ? sequence->chroma_y : 0) + sequence->fields);
}

static inline unsigned l2k_dirac_depth(const l2k_dirac_sequence *sequence, unsigned plane)
{
    return sequence->depth[plane > 0];
}

#endif
