/* Rate control of HT code-blocks: where each of them is truncated. */
#ifndef L2K_CODEC_ENCODE_TRUNCATION_H
#define L2K_CODEC_ENCODE_TRUNCATION_H

#include "codec/encode/layers.h"
#include "codec/encode/tile.h"

/* Transforms the call's tiles, codes their code-blocks and allocates layers, so that encoding.truncation is met. */
l2k_status l2k_encode_truncated(l2k_encoder *encoder, const l2k_encode_call *call, l2k_allocation *allocation);

#endif
