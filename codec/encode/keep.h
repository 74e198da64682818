/* Tiles from image to image. */
#ifndef L2K_CODEC_ENCODE_KEEP_H
#define L2K_CODEC_ENCODE_KEEP_H

#include "codec/encode/encoder.h"

/* Makes encoder->encoding of encoder->set_up. Where tiles with the same trees are kept, they are made ready; otherwise
 * what is kept is released, and there are `num_tiles` tiles without trees. */
l2k_status l2k_encode_take_tiles(l2k_encoder *encoder, uint32_t num_tiles);

/* Releases the tiles and the encoding, or one tile. */
void l2k_encode_release_tiles(l2k_encoder *encoder);
void l2k_encode_release_tile(const l2k_context *context, l2k_tile *tile);

#endif
