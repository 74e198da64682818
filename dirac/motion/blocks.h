/* The motion of a picture as its stages see it. */
#ifndef L2K_DIRAC_MOTION_BLOCKS_H
#define L2K_DIRAC_MOTION_BLOCKS_H

#include "dirac/motion/motion.h"

enum {
    L2K_DIRAC_MOST_LENGTH = 64,     /* of a block; the standard's own sizes end at 24 */
    L2K_DIRAC_MOST_WEIGHT_BITS = 7, /* products with 16-bit samples and overlap weights stay within 32 bits */
};

/* Equal blocks have equal bytes. */
typedef struct l2k_dirac_motion_block {
    uint8_t references; /* bit n: predicted from reference n; none: by its DC values */
    bool global;        /* by global motion; its vectors are 0 */
    union {
        struct {
            int32_t x, y; /* 2^precision-ths of a luma sample */
        } vector[2];
        int32_t dc[L2K_DIRAC_PLANES]; /* signed */
    };
} l2k_dirac_motion_block;

typedef struct l2k_dirac_global {
    int32_t pan[2], matrix[2][2], perspective[2];
    unsigned matrix_exponent, perspective_exponent;
} l2k_dirac_global;

struct l2k_dirac_motion {
    unsigned references;
    uint32_t length[2], separation[2]; /* of luma blocks, across and down */
    unsigned precision;                /* of vectors: log2 of parts of a sample, 0 to 3 */
    bool global;
    l2k_dirac_global globals[2];
    bool weighted; /* other than 1:1 with one bit */
    unsigned weight_bits;
    int32_t weight[2];
    uint32_t across, down; /* blocks; multiples of 4, as superblocks are 4 x 4 */
    l2k_dirac_motion_block *blocks;
    uint8_t *splits; /* of superblocks: log2 of their prediction units across and down */
    size_t capacity; /* blocks there is room for */
    void *space;     /* for the compensation of a plane */
    size_t space_bytes;
};

/* Replaces *block by one of at least count * size bytes, whose contents are undefined, if *bytes are fewer. */
l2k_status l2k_dirac_reserve(const l2k_context *context, void **block, size_t *bytes, size_t count, size_t size);

/* Reads block_mv_data(). */
l2k_status l2k_dirac_blocks_read(const l2k_context *context, l2k_dirac_motion *motion, bool arithmetic,
                                 l2k_dirac_bits *bits);

#endif
