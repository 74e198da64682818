/* Packets of a tile that is decoded. */
#ifndef L2K_CODEC_DECODE_PACKETS_H
#define L2K_CODEC_DECODE_PACKETS_H

#include "codec/decode/tile_state.h"

/* Bytes of a tile's packets, packed headers left out. */
uint64_t l2k_tile_bytes(const l2k_codestream *codestream, uint32_t tile);

/* Reads the packets of a tile; what is not wanted is skipped. Where the stream ends early, or packets are missing, what
 * there is is kept, and findings->incomplete is set. */
l2k_status l2k_read_packets(const l2k_decoding *d, l2k_tile_state *state);

/* A tile without any packet: a warning, and findings->incomplete where the stream ends early. */
l2k_status l2k_missing_tile(const l2k_decoding *d, uint32_t index);

/* Where there were code-blocks whose bytes cannot be right, which are zeros then: a warning, and
 * findings->incomplete. */
l2k_status l2k_report_damage(const l2k_decoding *d, l2k_tile_state *state);

#endif
