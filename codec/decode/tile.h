/* A tile under way in the decoder: its headers and packets, its stages, its end. */
#ifndef L2K_CODEC_DECODE_TILE_H
#define L2K_CODEC_DECODE_TILE_H

#include "codec/decode/tile_state.h"

/* Releases what is kept from image to image: all of it, or the tree with all that belongs to it. */
void l2k_tile_state_forget(const l2k_context *context, l2k_tile_state *state);
void l2k_tile_state_forget_tree(const l2k_context *context, l2k_tile_state *state);

void l2k_decoder_release_tiles(l2k_decoder *decoder);

/* The end of a tile: what another image with the same tile can use stays, if there may be one. */
void l2k_tile_state_leave(const l2k_decoding *d, l2k_tile_state *state);

/* Tiles that are asked for in rising order, call by call, are one series, with one bound on what its
 * headers may promise beyond the bytes there are. */
void l2k_start_series(l2k_decoder *decoder, const l2k_decoding *d);

/* Headers and packets of a tile: state->coding, packed and tile. Where the stream has nothing of it, state->is_absent
 * alone is set. L2K_ERROR_TRUNCATED, too, where headers promise too much. */
l2k_status l2k_read_tile(const l2k_decoding *d, l2k_tile_state *state, uint32_t index);

/* Memory that has all bytes of a tile's packets, and little else, if most of them are to be decoded; NULL otherwise. */
const uint8_t *l2k_tile_span(const l2k_decoding *d, uint32_t tile, size_t *bytes);

/* The stages of a tile, for all kinds of decoding (decoder.c). Its packets: where there is nothing to decode,
 * state->is_absent or is_blank is set, and that is all. An engine that had the slot's tile before is sent the bytes of
 * this one meanwhile. */
l2k_status l2k_decode_packets(const l2k_decoding *d, l2k_tile_state *state, l2k_engine *engine, uint32_t index);

/* Its code-blocks, into the views of the slot's plan; with samples wanted, the inverse transform has begun then. */
l2k_status l2k_decode_blocks(const l2k_decoding *d, l2k_tile_state *state, l2k_engine *engine, l2k_engine_slot *slot);

#endif
