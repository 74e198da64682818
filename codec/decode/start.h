/* The start and end of a decoding. */
#ifndef L2K_CODEC_DECODE_START_H
#define L2K_CODEC_DECODE_START_H

#include "codec/decode/tile.h"

/* What the worker groups share; `states` has one entry per slot. */
typedef struct l2k_decode_call {
    const l2k_decoding *decoding;
    l2k_tile_state *states;
    bool is_alone; /* there is one worker group */
    void *user;
} l2k_decode_call;

/* Runs `begin` and `end`, with an l2k_decode_call that carries `user`, on all tiles that meet d->area; sets
 * d->tiles. */
l2k_status l2k_decode_tiles(l2k_decoder *decoder, l2k_decoding *d, l2k_backend backend, l2k_tile_work *begin,
                            l2k_tile_work *end, void *user);

/* Prepares a decoding under the options set so far. */
l2k_decoding l2k_decode_start(l2k_decoder *decoder, l2k_rect area, const l2k_plane *planes);

/* Finds out where the planes are, and the backend for them. */
l2k_status l2k_decoder_memory_kind(l2k_decoder *decoder, l2k_decoding *d, l2k_backend *backend);

/* Ends a decoding that returned `status`; returns what the caller gets. */
l2k_status l2k_decode_end(l2k_decoder *decoder, l2k_status status);

#endif
