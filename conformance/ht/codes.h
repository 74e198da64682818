/* The bytes of all code-blocks of a codestream, as lift2k's packet reader finds them. Programs that use this link with
 * --wrap=l2k_cpu_coder_run. */
#ifndef CONFORMANCE_HT_CODES_H
#define CONFORMANCE_HT_CODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct block_code {
    uint32_t component, resolution, orientation;
    uint32_t x0, y0, x1, y1; /* in the subband's domain */
    unsigned num_planes, num_passes;
    size_t offset, size; /* in `all` */
} block_code;

typedef struct block_codes {
    block_code *blocks;
    size_t count, most_blocks;
    uint8_t *all;
    size_t size, most_bytes;
} block_codes;

/* Decodes a codestream; false where that fails. */
bool block_codes_read(const uint8_t *data, size_t size, block_codes *codes);
void block_codes_free(block_codes *codes);

/* Compares the blocks of `a` with those of `b`, which may have others in addition. The first that differs or is missing in
 * `b`, or a->count. */
size_t block_codes_compare(const block_codes *a, const block_codes *b);

#endif
