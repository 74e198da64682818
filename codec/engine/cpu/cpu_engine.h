/* Code-blocks on the host, also behind a transform that runs elsewhere. */
#ifndef L2K_CODEC_ENGINE_CPU_CPU_ENGINE_H
#define L2K_CODEC_ENGINE_CPU_CPU_ENGINE_H

#include "codec/engine/engine.h"

/* As in the table: the plan's views are on the host. */
l2k_status l2k_cpu_finish_encode(l2k_engine *engine, l2k_engine_slot *slot, const l2k_encode_request *request,
                                 l2k_made_packets *made);
l2k_status l2k_cpu_begin_decode(l2k_engine *engine, l2k_engine_slot *slot, const l2k_decode_request *request);

/* Encodes all blocks of a batch with any coder. */
l2k_status l2k_code_blocks(const l2k_engine *engine, l2k_block_coder *coder, const l2k_block_batch *batch);

/* The part of a request that any coder reads. */
l2k_block_batch l2k_batch_to_encode(const l2k_encode_request *request);
l2k_block_batch l2k_batch_to_decode(const l2k_decode_request *request);

#endif
