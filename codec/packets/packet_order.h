/* The five progression orders and progression order changes (B.12) over the packets of a tile. */
#ifndef L2K_CODEC_PACKETS_PACKET_ORDER_H
#define L2K_CODEC_PACKETS_PACKET_ORDER_H

#include "codec/tile/tile.h"

/* One precinct of one resolution of one component, and its position on the reference grid. */
typedef struct l2k_precinct_key {
    uint32_t precinct, x, y;
    uint16_t component;
    uint8_t resolution;
} l2k_precinct_key;

typedef struct l2k_packet_id {
    uint32_t component, resolution, precinct, layer;
} l2k_packet_id;

/* An iterator over the keys of a progression in order, and over runs of keys that the layer loop repeats. Progression
 * changes follow one another, each with its own keys. It takes 18 bytes a precinct and refers to the tile. */
typedef struct l2k_packet_order {
    const l2k_context *context;
    const l2k_tile *tile;
    size_t change;      /* the current one of the tile's num_changes progressions */
    bool begins_change; /* the last packet is the first of a change that follows others */
    l2k_progression progression;
    uint32_t num_layers;
    l2k_precinct_key *keys;
    size_t num_keys;       /* of the current progression */
    uint16_t *layers_done; /* of each precinct of the tile: layers covered by this progression and earlier ones
                              (B.12.2) */
    size_t run_start, run_end, at;
    uint32_t layer;
    uint64_t skipped; /* packets that earlier progressions already covered */
    l2k_status status;
} l2k_packet_order;

l2k_status l2k_packet_order_create(const l2k_context *context, const l2k_tile *tile, l2k_packet_order *order);
void l2k_packet_order_release(const l2k_context *context, l2k_packet_order *order);

/* Restarts at the first packet, unless the iterator has failed. */
void l2k_packet_order_restart(l2k_packet_order *order);

/* The next packet; false after the last one and when cancelled; order->status tells which. */
bool l2k_packet_order_next(l2k_packet_order *order, l2k_packet_id *id);

/* Whether a new tile-part starts between the last two packets: one of the loops from the outermost down to the one that
 * `parts` names has advanced, or the progression order changes, as in OpenJPEG. */
bool l2k_packet_starts_part(const l2k_packet_order *order, l2k_tile_parts parts, const l2k_packet_id *before,
                            const l2k_packet_id *after);

#endif
