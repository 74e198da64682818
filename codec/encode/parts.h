/* Makes the tile-parts of a tile (A.4.2, B.3): headers, and packets in the order of its progression. */
#ifndef L2K_CODEC_ENCODE_PARTS_H
#define L2K_CODEC_ENCODE_PARTS_H

#include "base/buffer.h"
#include "codec/encode/encoding.h"
#include "codec/engine/engine.h"
#include "codec/packets/packet_order.h"

/* The output of a tile. */
typedef struct l2k_tile_output {
    l2k_buffer bytes; /* tile-parts, from offset `front` on */
    size_t front;     /* room for the head, if this is the only tile */
    l2k_buffer parts; /* an l2k_tile_part for each */
    bool is_made;
} l2k_tile_output;

/* A tile's tile-parts under way. */
typedef struct l2k_part_writer {
    struct l2k_encoder *encoder;
    l2k_tile *tile;
    l2k_tile_output *out;
    unsigned more_guard_bits; /* that the first header states, beyond those of the main header */
    /* NULL: bytes stay in out->bytes. Otherwise they leave as soon as the headers before them are certain: a length of
     * a tile-part that has left is rewritten, or stays 0 (A.4.2: the last tile-part then goes on to EOC). */
    const l2k_stream *stream;
    const l2k_engine_slot *slot; /* not NULL: a tile in strips, of whose blocks some are still to be coded */
    l2k_packet_order order;
    l2k_packet_id before, next;
    bool has_next;
    size_t change;   /* order.change of `before` */
    uint32_t number; /* of packets so far */
    uint32_t num_parts, part;
    uint64_t psot_at;   /* in the stream, or in out->bytes */
    l2k_buffer packets; /* with PLT: of the tile-part; their lengths come first */
    l2k_buffer lengths; /* with PLT: uint32_t per packet of the tile-part */
} l2k_part_writer;

/* Starts at the first packet. Release also after an error. */
l2k_status l2k_parts_begin(struct l2k_encoder *encoder, l2k_tile *tile, l2k_tile_output *out, unsigned more_guard_bits,
                           const l2k_stream *stream, l2k_part_writer *writer);
void l2k_parts_release(l2k_part_writer *writer);

/* Writes packets up to the first one with a code-block that is still to be coded; in strips, call it before the next
 * strip begins. Without strips, writes all. */
l2k_status l2k_parts_write(l2k_part_writer *writer);

/* Ends the last tile-part. */
l2k_status l2k_parts_end(l2k_part_writer *writer);

/* In place of these: a tile-part with packets that the engine has made, which follow out->bytes. */
l2k_status l2k_parts_put_made(struct l2k_encoder *encoder, l2k_tile *tile, l2k_tile_output *out,
                              unsigned more_guard_bits, const l2k_made_packets *made);

/* Restarts the order, and counts the tile-parts that it makes. */
l2k_status l2k_parts_count(const l2k_encoding *encoding, l2k_packet_order *order, uint32_t *count);

#endif
