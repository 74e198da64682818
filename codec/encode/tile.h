/* A tile on its way through the encoder. */
#ifndef L2K_CODEC_ENCODE_TILE_H
#define L2K_CODEC_ENCODE_TILE_H

#include "codec/encode/encoder.h"

/* What worker groups share and only read. */
typedef struct l2k_encode_call {
    const l2k_encoding *encoding;
    uint32_t first;  /* number of the first tile */
    l2k_tile *tiles; /* each one is its group's */
    l2k_rect area;   /* of the image, which `planes` hold */
    const l2k_plane *planes;
    l2k_encoder *encoder;
} l2k_encode_call;

/* Builds the tile's tree and begins its transform in the slot. */
l2k_status l2k_encode_begin_tile(const l2k_encode_call *call, l2k_engine *engine, const l2k_job *job);

/* Its code-blocks, and where the engine can make them of an only tile, its packets: encoder->output.packets. */
l2k_status l2k_encode_end_tile(const l2k_encode_call *call, l2k_engine *engine, const l2k_job *job);

/* For more than one coding of the same coefficients (steps.c): begin leaves the steps open, and a failure is for
 * l2k_engines_fall_back; recode codes all blocks of a tile from its views. */
l2k_status l2k_encode_begin_coefficients(const l2k_encode_call *call, l2k_engine *engine, const l2k_job *job);
l2k_status l2k_encode_recode(const l2k_encode_call *call, l2k_engine *engine, l2k_tile *tile);

/* The planes from the tile's first sample on, in host memory. */
l2k_status l2k_encode_host_planes(const l2k_encode_call *call, l2k_tile *tile, l2k_plane **planes);

#endif
