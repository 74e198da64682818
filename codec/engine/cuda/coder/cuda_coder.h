/* Block coders on a CUDA device, as tables of codec/blocks/block_coder.h. Coefficients are int16 (of at most 15
 * bit-planes when decoding) or int32, in device memory; for HT float as well, which it quantises. Work enqueued in the
 * batch's stream after begin_decode finds the coefficients there. Errors besides those of the table: L2K_ERROR_BACKEND;
 * L2K_ERROR_ARGUMENT for other coefficients; L2K_ERROR_UNSUPPORTED for a block of the other kind. */
#ifndef L2K_CODEC_ENGINE_CUDA_CODER_CUDA_CODER_H
#define L2K_CODEC_ENGINE_CUDA_CODER_CUDA_CODER_H

#include "codec/engine/cuda/blocks/cuda_blocks.h"

extern const l2k_block_coder_table l2k_ht_on_cuda; /* Part 15 */
extern const l2k_block_coder_table l2k_mq_on_cuda; /* Annexes C and D, all styles of Part 1 */

/* The coded blocks of a batch that stays on the device: after `begin_encode`, for work enqueued in the batch's stream;
 * after `finish`, `complete` says whether all code had room. The code remains until the next batch. */
void l2k_cuda_coder_coded(const l2k_block_coder *coder, l2k_cuda_coded *coded);

/* After `finish` with complete code: brings a batch of MQ blocks that stayed on the device to the host, with the same
 * result as of a batch that did not stay. Errors: L2K_ERROR_MEMORY, L2K_ERROR_BACKEND. */
l2k_status l2k_cuda_coder_bring(l2k_block_coder *coder, const l2k_block_batch *batch);

/* An HT coder, which truncates blocks (ht_cuda_coding.h). */
struct l2k_ht_cuda *l2k_cuda_coder_truncation(const l2k_block_coder *coder);

/* Implements `send` of an engine's table. */
void l2k_cuda_coder_send(l2k_block_coder *coder, const uint8_t *bytes, size_t num_bytes);

#endif
