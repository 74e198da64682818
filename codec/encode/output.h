/* Tile-parts, headers and boxes, and how they are written out. */
#ifndef L2K_CODEC_ENCODE_OUTPUT_H
#define L2K_CODEC_ENCODE_OUTPUT_H

#include "base/buffer.h"
#include "codec/encode/encoding.h"
#include "codec/engine/engine.h"
#include "codec/packets/packet_order.h"

/* ---- The tile-parts of a tile (A.4.2, B.3), packets in the order of its progression: parts.c -------------------- */

/* The output of a tile. */
typedef struct l2k_tile_output {
    l2k_buffer bytes; /* tile-parts */
    l2k_buffer parts; /* an l2k_tile_part for each */
} l2k_tile_output;

/* A tile's tile-parts under way. */
typedef struct l2k_part_writer {
    struct l2k_encoder *encoder;
    l2k_tile *tile;
    l2k_tile_output *out;
    /* NULL: bytes stay in out->bytes. Otherwise they leave as soon as the headers before them are certain: a length of
     * a tile-part that has left is rewritten, or stays 0 (A.4.2: the last tile-part then goes on to EOC). */
    const l2k_stream *stream;
    const l2k_engine_slot *slot; /* not NULL: a tile in strips, of whose blocks some are still to be coded */
    l2k_packet_order order;
    l2k_packet_id before, next;
    bool has_next;
    uint32_t number; /* of packets so far */
    uint32_t num_parts, part;
    uint64_t psot_at;   /* in the stream, or in out->bytes */
    l2k_buffer packets; /* with PLT: of the tile-part; their lengths come first */
    l2k_buffer lengths; /* with PLT: uint32_t per packet of the tile-part */
} l2k_part_writer;

/* Starts at the first packet of encoder->tiles[number]. Release also after an error. */
l2k_status l2k_parts_begin(struct l2k_encoder *encoder, uint32_t number, const l2k_stream *stream,
                           l2k_part_writer *writer);
void l2k_parts_release(l2k_part_writer *writer);

/* Writes packets up to the first one with a code-block that is still to be coded; in strips, call it before the next
 * strip begins. Without strips, writes all. */
l2k_status l2k_parts_write(l2k_part_writer *writer);

/* Ends a tile-part; `more` of its bytes follow out->bytes. Call it after the last one. */
l2k_status l2k_parts_end(l2k_part_writer *writer, size_t more);

/* In place of these: a tile-part with the packets that the engine has made, if any, which follow out->bytes. */
l2k_status l2k_parts_put_made(struct l2k_encoder *encoder, uint32_t number);

/* Restarts the order, and counts the tile-parts that it makes. */
l2k_status l2k_parts_count(const l2k_encoding *encoding, l2k_packet_order *order, uint32_t *count);

/* ---- All of them: output.c ----------------------------------------------------------------------------------- */

/* The output of an image. */
typedef struct l2k_output {
    l2k_buffer head;        /* boxes and main header */
    l2k_tile_output *tiles; /* of the tiles that are coded together; the last one holds EOC */
    uint32_t num_tiles;
    bool by_tile; /* tiles are made one by one, and their code-blocks are not kept */
    l2k_made_packets
        packets; /* of the only tile, with EOC, if the engine made them; the tile's `bytes` then end before them */
    l2k_part_writer writer; /* of a tile in strips, if its packets leave one by one */
    l2k_buffer parts;       /* l2k_tile_part of every tile-part */
    size_t fixed_bytes;     /* that do not depend on packets, if a target needs them */
    uint64_t written;       /* bytes written to the stream */
    uint64_t tlm_at;        /* offset of TLM in the output */
    uint64_t ht_at;         /* offset of Ccap15 */
    uint64_t box_at;        /* offset of the codestream's box */
} l2k_output;

/* Prepares the output of several tiles. Release also after an error. */
l2k_status l2k_output_start(l2k_output *out, const l2k_context *context, uint32_t num_tiles);
void l2k_output_release(l2k_output *out);

/* Forgets the tiles. */
void l2k_output_restart(l2k_output *out);

/* Finds output.fixed_bytes: headers of tile-parts, and the head if it is still to be written. */
l2k_status l2k_output_find_fixed_bytes(struct l2k_encoder *encoder);

/* Whether each tile can become tile-parts as soon as its code-blocks are coded, on the thread that coded them: no other
 * tile affects its packets, and worker groups take whole tiles. */
bool l2k_output_can_be_by_tile(const struct l2k_encoder *encoder);

/* Makes the tile-parts of encoder->tiles[number], with all passes of its code-blocks, unless it needs another guard
 * bit. Releases the code that the engine holds. */
l2k_status l2k_output_tile(struct l2k_encoder *encoder, l2k_engine *engine, uint32_t number);

/* Makes the tile-parts of all encoder->tiles that have none yet, and releases tiles that are not kept. */
l2k_status l2k_output_tiles(struct l2k_encoder *encoder);

/* Appends EOC after the last tile. */
l2k_status l2k_output_end(l2k_output *out);

/* The number of bytes of tile-parts and EOC. */
size_t l2k_output_body_bytes(const l2k_output *out);

/* Write out some bytes, or the head if that is still to be written and the tiles, and empty them. */
l2k_status l2k_encode_flush(struct l2k_encoder *encoder, const l2k_stream *stream, l2k_buffer *bytes);
l2k_status l2k_encode_write(struct l2k_encoder *encoder, const l2k_stream *stream);

/* Replaces bytes that have been written, of a stream that can be rewritten, and empties `bytes`. */
l2k_status l2k_encode_rewrite(const struct l2k_encoder *encoder, const l2k_stream *stream, uint64_t offset,
                              l2k_buffer *bytes);

/* The whole output in one piece, owned by the encoder. */
l2k_status l2k_output_join(struct l2k_encoder *encoder, const uint8_t **bytes, size_t *count);

/* Writes all headers into output.head, for a body of `body_bytes` bytes; 0 = unknown. */
l2k_status l2k_output_head(struct l2k_encoder *encoder, uint64_t body_bytes);

/* Add the tile-parts of a tile, and their number, or those of all to output.parts with lengths 0, since TLM needs their
 * number beforehand. */
l2k_status l2k_output_plan_parts_of(struct l2k_encoder *encoder, const l2k_tile *tile, uint32_t *parts);
l2k_status l2k_output_plan_parts(struct l2k_encoder *encoder);

#endif
