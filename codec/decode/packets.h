/* Reading the packets of a tile. */
#ifndef L2K_CODEC_DECODE_PACKETS_H
#define L2K_CODEC_DECODE_PACKETS_H

#include "codec/decode/tile_state.h"

/* Bytes of a tile's packets, packed headers left out. */
uint64_t l2k_tile_bytes(const l2k_codestream *codestream, uint32_t tile);

/* Reads the packets of a tile and skips those that are not wanted. If the stream ends early or packets are missing,
 * keeps what was read and sets findings->incomplete. */
l2k_status l2k_read_packets(const l2k_decoding *d, l2k_tile_state *state);

/* Reports a tile without packets as a warning; sets findings->incomplete if the stream ends early. */
l2k_status l2k_missing_tile(const l2k_decoding *d, uint32_t index);

/* If damaged code-blocks were set to zeros, warns and sets findings->incomplete. */
l2k_status l2k_report_damage(const l2k_decoding *d, l2k_tile_state *state);

#endif
