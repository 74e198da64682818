/* A tile in the decoder: its headers and packets, its stages, its end. */
#ifndef L2K_CODEC_DECODE_TILE_H
#define L2K_CODEC_DECODE_TILE_H

#include "codec/decode/tile_state.h"

/* Releases all data kept from image to image, or the tree and its dependents. */
void l2k_tile_state_forget(const l2k_context *context, l2k_tile_state *state);
void l2k_tile_state_forget_tree(const l2k_context *context, l2k_tile_state *state);

void l2k_decoder_release_tiles(l2k_decoder *decoder);

/* Ends a tile. Keeps the data that a following image with the same tile can use. */
void l2k_tile_state_leave(const l2k_decoding *d, l2k_tile_state *state);

/* Tiles requested in rising order, call by call, form one series, with one bound on what its headers may promise beyond
 * the bytes present. */
void l2k_start_series(l2k_decoder *decoder, const l2k_decoding *d);

/* Reads the headers and packets of a tile: state->coding, packed and tile. If the stream has no data for it, sets
 * state->is_absent alone. L2K_ERROR_TRUNCATED also if headers promise too much. */
l2k_status l2k_read_tile(const l2k_decoding *d, l2k_tile_state *state, uint32_t index, unsigned threads);

/* Memory that holds all bytes of a tile's packets and little else, if most of them are to be decoded; otherwise
 * NULL. */
const uint8_t *l2k_tile_span(const l2k_decoding *d, uint32_t tile, size_t *bytes);

/* The stages of a tile, for all kinds of decoding (decoder.c). l2k_decode_packets reads its packets. If there is
 * nothing to decode, it only sets state->is_absent or is_blank. If the engine had the slot's tile before, the bytes of
 * this one are sent to it meanwhile. */
l2k_status l2k_decode_packets(const l2k_decoding *d, l2k_tile_state *state, l2k_engine *engine, uint32_t index);

/* Decodes its code-blocks into the views of the slot's plan; if samples are wanted, also starts the inverse
 * transform. */
l2k_status l2k_decode_blocks(const l2k_decoding *d, l2k_tile_state *state, l2k_engine *engine, l2k_engine_slot *slot);

#endif
