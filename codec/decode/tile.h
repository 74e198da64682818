/* A tile under way in the decoder: what is allocated for it, its headers and packets. */
#ifndef L2K_CODEC_DECODE_TILE_H
#define L2K_CODEC_DECODE_TILE_H

#include "codec/decode/decoder.h"
#include "codec/engine/engine.h"

/* A tile under way, and all that is allocated for it. Where the next image may have the same tile, what only depends on
 * its shape is kept. */
typedef struct l2k_tile_state {
    l2k_tile_coding read;   /* out of this image's headers */
    l2k_tile_coding coding; /* the same, as long as the tree stays */
    l2k_packed_headers packed;
    const uint8_t *bytes; /* that have all contributions, or NULL (l2k_tile_span) */
    size_t num_bytes;
    l2k_tile tile; /* its arena also holds the arrays of components */
    l2k_packet_order order;
    bool is_absent;    /* the stream has nothing of this tile */
    bool is_blank;     /* it has no byte of any code-block, and samples are wanted of it */
    bool joined_later; /* the component transform follows the plan, which needs equal numbers of levels for it */
    bool on_host;      /* planes are off the host, but samples come from there */
    bool is_begun;     /* the code-blocks are with their coder, or have been */
    bool is_kept;      /* there was an image with this tile before */
    bool is_whole;     /* the packets that were wanted are all there */
    bool has_packets;  /* since an earlier window */
    uint64_t opened;   /* the file that they were read from */
    uint32_t layers;   /* as many of them as d->layers said */
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
    l2k_engine_memory *uploads;     /* if on_host, per component: what is on its way there */
    l2k_plane *host_planes;         /* if on_host: per component, of what the area has of the tile */
    l2k_decoding host;              /* likewise: the decoding of this tile alone, into these */
} l2k_tile_state;

/* What a tile counts in progress, and its code-blocks together out of that. */
enum { L2K_UNITS_TILE = 1 << 16, L2K_UNITS_TILE_BLOCKS = 3 << 14 };

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
