/* Where a tile's packets are, kept from window to window. */
#ifndef L2K_CODEC_DECODE_INDEX_H
#define L2K_CODEC_DECODE_INDEX_H

#include "codec/decode/tile_state.h"

/* Sets the packet order to the first packet. */
l2k_status l2k_start_packets(const l2k_decoding *d, l2k_tile_state *state);

/* The index of a tile whose packets have `bytes` bytes, if only part of the tile is wanted; a new index gets the packet
 * lengths that headers state. NULL if the tile has none. */
l2k_status l2k_find_index(const l2k_decoding *d, l2k_tile_state *state, uint64_t bytes, l2k_packet_index **index);

/* Fills an empty index from stated lengths, or from SOP, if these locate all packets: it is then whole. */
l2k_status l2k_enter_lengths(const l2k_decoding *d, l2k_tile_state *state, l2k_packet_index *index);

/* Called if stated packet lengths prove wrong: makes a note and has the packets read one after the other. An error if
 * the file is read strictly. */
l2k_status l2k_distrust_index(const l2k_decoding *d, l2k_tile_state *state, l2k_packet_index *index);

#endif
