/* How samples get from a tile to the planes of the output. */
#ifndef L2K_CODEC_DECODE_SAMPLES_H
#define L2K_CODEC_DECODE_SAMPLES_H

#include "codec/decode/tile_state.h"

/* Chooses where the inverse transform puts the samples of each wanted component: in the output itself, unless they are
 * joined with others first or go off the host. */
l2k_status l2k_place_planes(const l2k_decoding *d, l2k_tile_state *state);

/* Copies samples to the output that are not there yet. Off the host, works in the caller's stream, as the next two
 * functions do. */
l2k_status l2k_collect_planes(const l2k_decoding *d, l2k_tile_state *state);

/* Fills a tile that has no coefficients: it is uniform, in the middle of the range (G.1.2), and needs no transform. */
l2k_status l2k_fill_tile(const l2k_decoding *d, uint32_t tile);

/* Blackens tiles that the stream lacks altogether, as OpenJPEG does. If there are such tiles, all samples are cleared
 * beforehand: tile by tile, 65535 of them with 16384 components each would take minutes. */
l2k_status l2k_blacken(const l2k_decoding *d);

#endif
