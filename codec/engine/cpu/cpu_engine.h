/* Code-blocks on the host, also behind a transform that runs elsewhere. */
#ifndef L2K_CODEC_ENGINE_CPU_CPU_ENGINE_H
#define L2K_CODEC_ENGINE_CPU_CPU_ENGINE_H

#include "codec/engine/engine.h"

/* As in the table. `begin` is for planes on the host, the others for views there. */
l2k_status l2k_cpu_begin_encode(l2k_engine *engine, l2k_engine_slot *slot, const l2k_encode_request *request);
l2k_status l2k_cpu_finish_encode(l2k_engine *engine, l2k_engine_slot *slot, const l2k_encode_request *request,
                                 l2k_made_packets *made);
l2k_status l2k_cpu_begin_decode(l2k_engine *engine, l2k_engine_slot *slot, const l2k_decode_request *request);

/* Encodes all blocks of a batch with any coder. */
l2k_status l2k_code_blocks(const l2k_engine *engine, l2k_block_coder *coder, const l2k_block_batch *batch);

/* Decodes a batch with a coder off the host. The transform is enqueued behind the code-blocks, before these are done:
 * their coder works in the plan's stream and so ends before it. */
l2k_status l2k_decode_off_host(const l2k_engine *engine, l2k_block_coder *coder, const l2k_block_batch *batch,
                               l2k_plan *plan, const l2k_decode_request *request);

/* The part of a request that any coder reads. */
l2k_block_batch l2k_batch_to_encode(const l2k_encode_request *request);
l2k_block_batch l2k_batch_to_decode(const l2k_decode_request *request);

#endif
