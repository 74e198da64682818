/* Codestreams of one code-block whose bytes are no encoder's, for the times and the limits of block decoders. */
#ifndef L2K_TESTS_GPU_MADE_BLOCKS_H
#define L2K_TESTS_GPU_MADE_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

typedef enum made_filler { FILL_ZEROS, FILL_ONES, FILL_STRIPES, FILL_RANDOM, MADE_FILLERS } made_filler;

typedef struct made_block {
    unsigned log2_width, log2_height;
    unsigned style;  /* that of SPcod */
    unsigned planes; /* 1 to 30 */
    unsigned passes; /* 0: an empty packet */
    size_t size;     /* bytes, of all segments */
    made_filler filler;
} made_block;

/* The codestream, which the caller frees. */
uint8_t *made_block_stream(const made_block *b, size_t *size);

#endif
