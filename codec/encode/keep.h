/* Tiles kept from image to image. */
#ifndef L2K_CODEC_ENCODE_KEEP_H
#define L2K_CODEC_ENCODE_KEEP_H

#include "codec/encode/encoder.h"

/* Moves `encoding` to the encoder; the caller releases what is left of it. Kept tiles with the same trees are made
 * ready; otherwise releases what is kept and makes `num_tiles` tiles without trees. */
l2k_status l2k_encode_take_tiles(l2k_encoder *encoder, l2k_encoding *encoding, uint32_t num_tiles);

/* Releases the tiles and the encoding, or one tile. */
void l2k_encode_release_tiles(l2k_encoder *encoder);
void l2k_encode_release_tile(const l2k_context *context, l2k_tile *tile);

#endif
