/* The state of a tile in the decoder. */
#ifndef L2K_CODEC_DECODE_TILE_STATE_H
#define L2K_CODEC_DECODE_TILE_STATE_H

#include "codec/decode/decoder.h"
#include "codec/engine/engine.h"

/* A tile in the decoder, and all memory allocated for it. If the next image may have the same tile, data that only
 * depends on its shape is kept. */
typedef struct l2k_tile_state {
    l2k_tile_coding read;   /* from this image's headers */
    l2k_tile_coding coding; /* the same, as long as the tree stays */
    l2k_packed_headers packed;
    const uint8_t *bytes; /* holds all contributions, or NULL (l2k_tile_span) */
    size_t num_bytes;
    l2k_tile tile; /* its arena also holds the arrays of components */
    l2k_packet_order order;
    bool is_absent;    /* the stream has no data for this tile */
    bool is_blank;     /* no code-block has any bytes, and samples are wanted */
    bool joined_later; /* the component transform follows the plan, which needs equal numbers of levels for it */
    bool on_host;      /* planes are off the host, but samples come from there */
    bool is_begun;     /* the code-blocks are with their coder, or have been */
    bool is_kept;      /* an earlier image had this tile */
    bool is_whole;     /* all wanted packets are present */
    bool has_packets;  /* since an earlier window */
    uint64_t opened;   /* the file that they were read from */
    uint32_t layers;   /* d->layers of that time */
    l2k_block_place *places;
    size_t num_places;
    l2k_block_place *rest;            /* of those, if others were kept from an earlier window */
    const l2k_block_place *to_decode; /* either of the two */
    size_t num_to_decode;
    atomic_bool damaged;            /* what it found */
    l2k_plan_component *components; /* of the plan */
    uint32_t *plan_component;       /* the plan's number of each component */
    l2k_plane *planes;              /* per component of the plan */
    void **joined;                  /* per component: its part before it is joined with others, if joined_later */
    l2k_engine_memory *uploads;     /* if on_host, per component: samples on their way to the caller's planes */
    l2k_plane *host_planes;         /* if on_host, per component: the wanted part of the tile */
    l2k_decoding host;              /* likewise: the decoding of this tile alone, into these */
} l2k_tile_state;

/* Units of progress of a tile, and the part of them for its code-blocks. */
enum { L2K_UNITS_TILE = 1 << 16, L2K_UNITS_TILE_BLOCKS = 3 << 14 };

#endif
