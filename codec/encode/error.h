/* The error that quantisation leaves. */
#ifndef L2K_CODEC_ENCODE_ERROR_H
#define L2K_CODEC_ENCODE_ERROR_H

#include "codec/encode/tile.h"

/* Adds the squared errors of each component's samples after quantising and decoding. The tile's views hold unquantised
 * coefficients, on the host. */
l2k_status l2k_encode_tile_error(const l2k_encode_call *call, const l2k_engine *engine, l2k_tile *tile,
                                 atomic_uint_least64_t *errors);

#endif
