/* Which code-blocks of a tile are decoded, and the plan for them. */
#ifndef L2K_CODEC_DECODE_BLOCKS_H
#define L2K_CODEC_DECODE_BLOCKS_H

#include "codec/decode/tile_state.h"

/* Lists the code-blocks of what is wanted. */
l2k_status l2k_list_blocks(const l2k_decoding *d, l2k_tile_state *state);

/* Makes the slot's plan, and the views, for the blocks that were listed. */
l2k_status l2k_prepare_blocks(const l2k_decoding *d, l2k_tile_state *state, l2k_engine *engine, l2k_engine_slot *slot);

/* What the engine is to know of the tile and of the code-blocks to decode. */
l2k_decode_request l2k_decode_request_of(const l2k_decoding *d, l2k_tile_state *state);

/* Chooses those that are to be decoded: not those that an earlier window left, whose coefficients go into the views. */
l2k_status l2k_fetch_blocks(const l2k_decoding *d, l2k_tile_state *state);

/* Reads their bytes, of a file that is read in parts. */
l2k_status l2k_need_blocks(const l2k_decoding *d, const l2k_tile_state *state);

/* Leaves those that have been decoded to later windows, where the caller allows for it. */
void l2k_keep_blocks(const l2k_decoding *d, l2k_tile_state *state);

#endif
