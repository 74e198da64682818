/* Motion-compensated prediction (Dirac 2.2.3, picture prediction): its parameters and block data, and the prediction
 * by overlapped blocks from up-sampled references. */
#ifndef L2K_DIRAC_MOTION_MOTION_H
#define L2K_DIRAC_MOTION_MOTION_H

#include "base/scalar.h"
#include "dirac/bits.h"
#include "dirac/picture.h"

enum {
    L2K_DIRAC_MOST_LENGTH = 64,     /* of a block; the standard's own sizes end at 24 */
    L2K_DIRAC_MOST_WEIGHT_BITS = 7, /* products with 16-bit samples and weights of overlap stay within 32 bits */
    L2K_DIRAC_GLOBAL = 4,           /* of a mode: global motion, and vectors are 0 */
};

typedef struct l2k_dirac_motion_block {
    int32_t mode;     /* bits 0 and 1: predicted from that reference; 0: by DC values */
    int32_t value[4]; /* x and y for each reference, in 2^precision-ths of a luma sample; or each plane's DC, signed */
} l2k_dirac_motion_block;

typedef struct l2k_dirac_global {
    uint32_t exponent[3]; /* in the order of the stream: none, of matrix, of perspective */
    int32_t pan[2], matrix[4], perspective[2];
} l2k_dirac_global;

/* The vector of a sample of a plane, in the units of block vectors. Products of damaged values may wrap. */
L2K_HD void l2k_dirac_global_vector(const l2k_dirac_global *g, int64_t x, int64_t y, int32_t vector[2])
{
    const int64_t scale = ((int64_t)1 << g->exponent[2]) - g->perspective[0] * x - g->perspective[1] * y;
    for (unsigned k = 0; k < 2; k++) {
        const int64_t moved =
            g->matrix[2 * k] * x + g->matrix[2 * k + 1] * y + ((int64_t)g->pan[k] * (1ll << g->exponent[1]));
        const int64_t v = (int64_t)((uint64_t)scale * (uint64_t)moved) >> (g->exponent[1] + g->exponent[2]);
        vector[k] = (int32_t)(v < -(1 << 25) ? -(1 << 25) : v > 1 << 25 ? 1 << 25 : v);
    }
}

/* The motion of a picture. All 0 before the first one; blocks and space remain to be released. */
typedef struct l2k_dirac_motion {
    unsigned references;
    uint32_t length[2], separation[2]; /* of luma blocks, across and down */
    uint32_t precision;                /* of vectors: log2 of parts of a sample, 0 to 3 */
    bool global;
    l2k_dirac_global globals[2];
    uint32_t weight_bits;
    int32_t weight[2];
    uint32_t across, down; /* blocks; multiples of 4, as superblocks are 4 x 4 */
    l2k_dirac_motion_block *blocks;
    void *space; /* for the compensation of a plane */
} l2k_dirac_motion;

/* The blocks of a plane, across and down: number i reaches from i * separation - offset to (i + 1) * separation + offset. */
typedef struct l2k_dirac_grid {
    int32_t shift[2]; /* sub-sampling */
    int32_t separation[2], offset[2];
} l2k_dirac_grid;

static inline l2k_dirac_grid l2k_dirac_grid_of(const l2k_dirac_motion *motion, const l2k_dirac_sequence *sequence,
                                               unsigned plane)
{
    l2k_dirac_grid grid = {{0, 0}, {0, 0}, {0, 0}};
    for (unsigned i = 0; i < 2; i++) {
        grid.shift[i] = plane == 0 ? 0 : (int32_t)(i == 0 ? sequence->chroma_x : sequence->chroma_y);
        grid.separation[i] = (int32_t)(motion->separation[i] >> grid.shift[i]);
        grid.offset[i] = ((int32_t)(motion->length[i] >> grid.shift[i]) - grid.separation[i]) / 2;
    }
    return grid;
}

/* How far a vector moves a sample of a plane, in eighths. No vector needs to reach farther than 2^20 samples. */
L2K_HD int32_t l2k_dirac_moved(int32_t vector, int32_t shift, int32_t precision)
{
    const int32_t most = 1 << 20 << precision;
    return l2k_clamp_i32(vector >> shift, -most, most) * (8 >> precision);
}

/* Reads picture_prediction(), which begins at a byte and ends before another, for 1 or 2 references. `arithmetic`:
 * block data are coded so, not in plain bits. */
l2k_status l2k_dirac_motion_read(const l2k_context *context, l2k_dirac_motion *motion,
                                 const l2k_dirac_sequence *sequence, unsigned references, bool arithmetic,
                                 l2k_dirac_bits *bits);

/* Writes a plane of the picture: the prediction plus the residue, clamped to the range of samples. */
l2k_status l2k_dirac_motion_apply(const l2k_context *context, l2k_dirac_motion *motion,
                                  const l2k_dirac_sequence *sequence, unsigned plane,
                                  l2k_dirac_picture *const references[2], const l2k_dirac_residue *residue,
                                  l2k_dirac_picture *picture);

#endif
