/* Tile-parts, headers and boxes, and how they leave. */
#ifndef L2K_CODEC_ENCODE_OUTPUT_H
#define L2K_CODEC_ENCODE_OUTPUT_H

#include "base/buffer.h"
#include "codec/encode/encoding.h"
#include "codec/engine/engine.h"

/* A tile's part of the output. */
typedef struct l2k_tile_output {
    l2k_buffer bytes; /* from `front` on: its tile-parts */
    size_t front;     /* room for the head, of an only tile */
    l2k_buffer parts; /* l2k_tile_part of each */
    bool is_made;
} l2k_tile_output;

/* The output under way. */
typedef struct l2k_output {
    l2k_buffer head;        /* boxes and main header */
    l2k_tile_output *tiles; /* of the tiles that are coded together; EOC is with the last one */
    uint32_t num_tiles;
    bool by_tile;             /* tiles are made one by one, and nothing is left of their code-blocks */
    l2k_made_packets packets; /* of the only tile, with EOC, if the engine made them; its `bytes` end before them */
    l2k_buffer parts;         /* l2k_tile_part of every tile-part */
    uint64_t written;         /* bytes, to the stream */
    uint64_t tlm_at;          /* where TLM stands in the output */
    uint64_t ht_at;           /* where Ccap15 does */
    uint64_t box_at;          /* where the codestream's box begins */
} l2k_output;

/* For several tiles together; each has `front` bytes of room before it. Release also after an error. */
l2k_status l2k_output_start(l2k_output *out, const l2k_context *context, uint32_t num_tiles, size_t front);
void l2k_output_release(l2k_output *out);

/* Forgets the tiles. */
void l2k_output_restart(l2k_output *out);

/* Bytes that do not depend on the packets of these tiles: their tile-parts' headers, and the head that is still to be
 * written. `whole`: the tiles are the image's, and the head is made here. */
l2k_status l2k_output_fixed_bytes(const l2k_encoding *encoding, const l2k_tile *tiles, uint32_t count, bool whole,
                                  l2k_output *out, size_t *bytes);

/* Whether tiles can become tile-parts one by one, as soon as their code-blocks are coded, on the thread that did that:
 * no other tile has a part in what goes into their packets, and worker groups take whole tiles. */
bool l2k_output_can_be_by_tile(const struct l2k_encoder *encoder);

/* Makes the tile-parts of encoder->tiles[number], with all passes of its code-blocks, unless it needs another guard
 * bit. The code that the engine holds goes. */
l2k_status l2k_output_tile(struct l2k_encoder *encoder, l2k_engine *engine, uint32_t number);

/* Makes the tile-parts of all encoder->tiles that have none yet; tiles that are not kept are released. Their first
 * headers say `more_guard_bits` than the main header does. */
l2k_status l2k_output_tiles(struct l2k_encoder *encoder, unsigned more_guard_bits);

/* After the last tile: EOC. */
l2k_status l2k_output_end(l2k_output *out);

/* Bytes of tile-parts and EOC. */
size_t l2k_output_body_bytes(const l2k_output *out);

/* Writes out the head, or the tiles, and empties them. */
l2k_status l2k_encode_write_head(struct l2k_encoder *encoder, const l2k_stream *stream);
l2k_status l2k_encode_write_tiles(struct l2k_encoder *encoder, const l2k_stream *stream);

/* The whole output in one piece, which belongs to the encoder. */
l2k_status l2k_output_join(struct l2k_encoder *encoder, const uint8_t **bytes, size_t *count);

/* All headers into out->head, for a body of `body_bytes` bytes; 0 = unknown. */
l2k_status l2k_output_head(const l2k_encoding *encoding, uint64_t body_bytes, l2k_output *out);

/* Adds the tile-parts of all tiles to out->parts, their lengths 0, as TLM needs them beforehand. */
l2k_status l2k_output_plan_parts(const l2k_encoding *encoding, l2k_output *out);

#endif
