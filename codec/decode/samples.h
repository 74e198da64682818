/* Between the samples of a tile and the planes of the output. */
#ifndef L2K_CODEC_DECODE_SAMPLES_H
#define L2K_CODEC_DECODE_SAMPLES_H

#include "codec/decode/tile_state.h"

/* Chooses where the inverse transform puts the samples of each component that is wanted: the output itself, unless they
 * are joined with others first, or go off the host. */
l2k_status l2k_place_planes(const l2k_decoding *d, l2k_tile_state *state);

/* Brings samples that are not in the output yet there; off the host, in the caller's stream, like the next two. */
l2k_status l2k_collect_planes(const l2k_decoding *d, l2k_tile_state *state);

/* Without any coefficient a tile is uniform, in the middle of the range (G.1.2), and needs no transform. */
l2k_status l2k_fill_tile(const l2k_decoding *d, uint32_t tile);

/* Tiles of which there is nothing at all are black, as in OpenJPEG. All samples are cleared beforehand where there are
 * such tiles: tile by tile, 65535 of them with 16384 components each would take minutes. */
l2k_status l2k_blacken(const l2k_decoding *d);

#endif
