/* Chooses the code-blocks of a tile to decode, and makes the plan for them. */
#ifndef L2K_CODEC_DECODE_BLOCKS_H
#define L2K_CODEC_DECODE_BLOCKS_H

#include "codec/decode/tile_state.h"

/* Lists the code-blocks that the decoding needs. */
l2k_status l2k_list_blocks(const l2k_decoding *d, l2k_tile_state *state);

/* Makes the slot's plan and views for the listed blocks. */
l2k_status l2k_prepare_blocks(const l2k_decoding *d, l2k_tile_state *state, l2k_engine *engine, l2k_engine_slot *slot);

/* The engine's view of the tile and of the code-blocks to decode. */
l2k_decode_request l2k_decode_request_of(const l2k_decoding *d, l2k_tile_state *state);

/* Chooses the blocks to decode. Blocks kept from an earlier window are not decoded; their coefficients are copied into
 * the views. */
l2k_status l2k_fetch_blocks(const l2k_decoding *d, l2k_tile_state *state);

/* Reads the bytes of the chosen blocks, if the file is read in parts. */
l2k_status l2k_need_blocks(const l2k_decoding *d, const l2k_tile_state *state);

/* Keeps decoded blocks for later windows, if the caller allows it. */
void l2k_keep_blocks(const l2k_decoding *d, l2k_tile_state *state);

#endif
