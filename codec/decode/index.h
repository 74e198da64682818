/* Where the packets of a tile are, from window to window. */
#ifndef L2K_CODEC_DECODE_INDEX_H
#define L2K_CODEC_DECODE_INDEX_H

#include "codec/decode/tile_state.h"

/* Puts the order of packets at the first one. */
l2k_status l2k_start_packets(const l2k_decoding *d, l2k_tile_state *state);

/* The index of a tile, of `bytes` bytes of packets, of which a part is wanted; a new one has what lengths of packets
 * say. NULL where it has none. */
l2k_status l2k_find_index(const l2k_decoding *d, l2k_tile_state *state, uint64_t bytes, l2k_packet_index **index);

/* Where lengths of packets prove wrong: a note, and packets are to be read one after the other. An error if read
 * strictly. */
l2k_status l2k_distrust_index(const l2k_decoding *d, l2k_tile_state *state, l2k_packet_index *index);

#endif
