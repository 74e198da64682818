/* Functions of the MQ coder that other block coders use, whose code-blocks may stand among MQ code-blocks. */
#ifndef L2K_CODEC_BLOCKS_MQ_MQ_CODER_H
#define L2K_CODEC_BLOCKS_MQ_MQ_CODER_H

#include "codec/blocks/block_coder.h"
#include "codec/blocks/mq/t1.h"

/* The block in the view of its tile-component. */
l2k_t1_block l2k_mq_block_in_view(const l2k_block_place *place);
void l2k_mq_clear_block(const l2k_t1_block *block);

/* Copies the code, pass lengths and distortions of a block from a worker to the thread's arena. num_passes is not 0. */
l2k_status l2k_mq_keep_code(const l2k_context *context, const uint8_t *bytes, const l2k_pass *passes, size_t num_passes,
                            bool distortions, l2k_arena *arena, l2k_coded_block *coded);

/* Decodes one block into its view, or clears it where nothing was received. */
l2k_status l2k_mq_decode_block(const l2k_context *context, l2k_t1 *t1, const l2k_block_place *place);

#endif
