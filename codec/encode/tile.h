/* A tile in the encoder. */
#ifndef L2K_CODEC_ENCODE_TILE_H
#define L2K_CODEC_ENCODE_TILE_H

#include "codec/encode/encoder.h"

/* Data that the worker groups share and only read. */
typedef struct l2k_encode_call {
    const l2k_encoding *encoding;
    uint32_t first;  /* number of the first tile */
    l2k_tile *tiles; /* each belongs to the worker group that codes it */
    l2k_rect area;   /* the part of the image that `planes` hold */
    const l2k_plane *planes;
    l2k_encoder *encoder;
    bool in_strips;      /* `planes` come later (l2k_encode_strip) */
    l2k_block_task task; /* of l2k_encode_recode, and its distance */
    uint32_t distance;
    bool advances;       /* recoding is progress */
    bool blocks_on_host; /* recoding is done on the host */
} l2k_encode_call;

/* The request without the transform, which only begin_tile needs. */
l2k_encode_request l2k_encode_request_of(const l2k_encode_call *call, l2k_tile *tile);

/* Builds the tile's tree and begins its transform in the slot: an l2k_tile_work whose call is an l2k_encode_call. */
l2k_status l2k_encode_begin_tile(void *call, l2k_worker_group *group, const l2k_job *job);

/* Codes the tile's code-blocks. If the engine can make the packets of an only tile, these become
 * encoder->output.packets. */
l2k_status l2k_encode_end_tile(const l2k_encode_call *call, l2k_engine *engine, const l2k_job *job);

/* In place of l2k_encode_end_tile, for a tile that has begun in strips: takes the planes of a strip; ends after the
 * last. */
l2k_status l2k_encode_strip(const l2k_encode_call *call, l2k_engine *engine, l2k_engine_slot *slot, l2k_tile *tile);
l2k_status l2k_encode_end_strips(const l2k_encode_call *call, l2k_engine_slot *slot, l2k_tile *tile);

/* Notes the bit-planes that a coded block needs. `is_final`: guard bits cannot be added any more. L2K_ERROR_ARGUMENT:
 * no sample within its precision needs as many. */
l2k_status l2k_encode_check_block(const l2k_context *context, l2k_tile *tile, const l2k_block_place *place,
                                  bool is_final);

/* Gives the only tile, before its first packet, all guard bits that samples within their precision may need. */
void l2k_encode_provide_guard_bits(l2k_encoder *encoder);

/* For coding the same coefficients more than once (truncation.c), in place of l2k_encode_end_tile: the transform ends,
 * with views on the host; the call's task is done there with all blocks of a tile. */
l2k_status l2k_encode_end_transform(const l2k_encode_call *call, l2k_engine *engine, const l2k_job *job);
l2k_status l2k_encode_recode(const l2k_encode_call *call, l2k_engine *engine, l2k_tile *tile);

#endif
