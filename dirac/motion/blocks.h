/* The motion of a picture as its stages see it. */
#ifndef L2K_DIRAC_MOTION_BLOCKS_H
#define L2K_DIRAC_MOTION_BLOCKS_H

#include "dirac/motion/motion.h"

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
    unsigned exponent[3];                      /* in the order of the stream: none, of matrix, of perspective */
    int32_t pan[2], matrix[4], perspective[2]; /* likewise */
} l2k_dirac_global;

struct l2k_dirac_motion {
    unsigned references;
    uint32_t length[2], separation[2]; /* of luma blocks, across and down */
    unsigned precision;                /* of vectors: log2 of parts of a sample, 0 to 3 */
    bool global;
    l2k_dirac_global globals[2];
    uint32_t weight_bits;
    int32_t weight[2];
    uint32_t across, down; /* blocks; multiples of 4, as superblocks are 4 x 4 */
    l2k_dirac_motion_block *blocks;
    uint8_t *splits; /* of superblocks: log2 of their prediction units across and down */
    size_t capacity; /* blocks there is room for */
    void *space;     /* for the compensation of a plane */
    size_t space_bytes;
};

#endif
