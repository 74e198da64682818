/* Sequences and pictures of Dirac 2.2.3 and VC-2 (SMPTE ST 2042-1), in whose terms a picture is a frame, or a field if
 * the sequence codes fields. */
#ifndef L2K_DIRAC_PICTURE_H
#define L2K_DIRAC_PICTURE_H

#include "base/context.h"
#include "base/integer.h"
#include "dirac/bits.h"

enum { L2K_DIRAC_PLANES = 3 };

/* Bytes of a parse info, and parse codes (VC-2, 10.5). */
enum { L2K_DIRAC_PARSE_INFO = 13, L2K_DIRAC_SEQUENCE_HEADER = 0x00, L2K_DIRAC_END_OF_SEQUENCE = 0x10 };

typedef l2k_video_sequence l2k_dirac_sequence;

/* Reads or writes a sequence header from behind its parse info. */
void l2k_dirac_sequence_write(l2k_dirac_writer *writer, const l2k_dirac_sequence *sequence);
l2k_status l2k_dirac_sequence_read(const l2k_context *context, l2k_dirac_bits *bits, l2k_dirac_sequence *sequence);

/* Samples as they leave the decoder: from 0 to 2^depth - 1, which is the standards' signed value plus 2^(depth - 1). */
typedef struct l2k_dirac_plane {
    void *data;
    ptrdiff_t stride; /* in samples; twice the frame's for a field */
    uint32_t width, height;
    void *half; /* half-samples, as an engine keeps them, from when the picture is first referred to; or NULL */
} l2k_dirac_plane;

typedef struct l2k_dirac_picture {
    uint32_t number;
    l2k_dirac_plane planes[L2K_DIRAC_PLANES];
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
