/* Rate control by quantiser steps. */
#ifndef L2K_CODEC_ENCODE_STEPS_H
#define L2K_CODEC_ENCODE_STEPS_H

#include "codec/encode/layers.h"
#include "codec/encode/tile.h"

/* Transforms the call's tiles, codes their code-blocks and allocates layers, with quantiser steps that reach
 * encoding.by_step. */
l2k_status l2k_encode_by_steps(l2k_encoder *encoder, const l2k_encode_call *call, l2k_allocation *allocation);

#endif
