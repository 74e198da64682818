/* Code-blocks of OpenJPEG's through lift2k's tier-1. */
#ifndef CONFORMANCE_COEFFICIENTS_BLOCKS_H
#define CONFORMANCE_COEFFICIENTS_BLOCKS_H

#include "codec/blocks/mq/t1.h"
#include "conformance/coefficients.h"

/* The program ends with a message where memory runs out. */
l2k_t1 *make_coder(void);

/* The block in coefficients of Mallat layout, of which `band` is its subband. */
l2k_t1_block place_block(const trial *t, const watch_block *b, int32_t *base, size_t stride, l2k_band_view band);

/* Decodes segments that stand one after the other in `code`; false where they do not fit into its `size` bytes. */
bool decode_segments(l2k_t1 *t1, const l2k_t1_block *block, unsigned num_planes, const uint8_t *code, size_t size,
                     const watch_segment *segments, uint32_t count);

/* Whether the bytes up to `end` are enough to decode a coded block through a pass: whether that gives the same as all
 * of its bytes give. */
bool cut_suffices(const trial *t, l2k_t1 *t1, const watch_block *coded, unsigned pass, uint32_t end);

#endif
