/* OpenJPEG's code-blocks through lift2k's tier-1. */
#ifndef CONFORMANCE_COEFFICIENTS_BLOCKS_H
#define CONFORMANCE_COEFFICIENTS_BLOCKS_H

#include "codec/blocks/mq/t1.h"
#include "conformance/coefficients/coefficients.h"

/* Ends the program with a message when out of memory. */
l2k_t1 *make_coder(void);

/* The block's place in coefficients of Mallat layout, of which `band` is its subband. */
l2k_t1_block place_block(const trial *t, const watch_block *b, int32_t *base, size_t stride, l2k_band_view band);

/* Decodes consecutive segments of `code`; false where they exceed its `size` bytes. */
bool decode_segments(l2k_t1 *t1, const l2k_t1_block *block, unsigned num_planes, const uint8_t *code, size_t size,
                     const watch_segment *segments, uint32_t count);

/* Are the bytes up to `end` enough to decode a coded block through a pass, with the same result as all of its bytes? */
bool cut_suffices(const trial *t, l2k_t1 *t1, const watch_block *coded, unsigned pass, uint32_t end);

#endif
