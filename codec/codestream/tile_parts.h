/* Where the tile-parts of a codestream lie (A.4.2). */
#ifndef L2K_CODEC_CODESTREAM_TILE_PARTS_H
#define L2K_CODEC_CODESTREAM_TILE_PARTS_H

#include "codec/codestream/codestream_read.h"

/* Finds all tile-parts from the first SOT marker, at `at`, to EOC. */
l2k_status l2k_tile_parts_walk(l2k_codestream *codestream, const uint8_t *at);

/* Threads the tile-parts of each tile, which may lie far apart. */
l2k_status l2k_tile_parts_link(l2k_codestream *codestream);

#endif
