/* MQ decoding on a device as a table for codec/blocks/block_coder.h. */
#include "codec/blocks/cuda/mq_cuda_decode.h"
#include "codec/blocks/mq/t1.h"

typedef struct mq_decoder {
    l2k_cuda_blocks blocks;
    l2k_mq_cuda_decoding decoding;
} mq_decoder;

static l2k_status create(l2k_block_coder *coder)
{
    mq_decoder *m = coder->state = l2k_allocate_zeroed(coder->context, 1, sizeof *m);
    if (!m)
        return l2k_fail(coder->context, L2K_ERROR_MEMORY, "out of memory for the block coder");
    L2K_TRY(l2k_cuda_blocks_create(coder->context, &m->blocks));
    return l2k_mq_cuda_create_decoding(&m->blocks, &m->decoding);
}

static void free_coder(l2k_block_coder *coder)
{
    mq_decoder *m = coder->state;
    if (!m)
        return;
    l2k_cuda_blocks_free(&m->blocks);
    l2k_mq_cuda_free_decoding(&m->decoding);
    l2k_release(coder->context, m);
}

static l2k_status begin_encode(l2k_block_coder *coder, const l2k_block_batch *batch)
{
    (void)batch;
    return l2k_fail(coder->context, L2K_ERROR_UNSUPPORTED, "CUDA: MQ encoding");
}

static l2k_status begin_decode(l2k_block_coder *coder, const l2k_block_batch *batch)
{
    mq_decoder *m = coder->state;
    L2K_TRY(l2k_cuda_blocks_enter(&m->blocks, batch));
    if (batch->num_places == 0)
        return L2K_OK;
    const l2k_status status = l2k_mq_cuda_start_decoding(&m->blocks, &m->decoding);
    if (status != L2K_OK)
        l2k_cuda_blocks_abandon(&m->blocks);
    return status;
}

static l2k_status finish(l2k_block_coder *coder)
{
    mq_decoder *m = coder->state;
    l2k_status status = L2K_OK;
    if (m->blocks.batch.num_places)
        status = l2k_mq_cuda_finish_decoding(&m->blocks, &m->decoding);
    if (status == L2K_OK)
        l2k_cuda_blocks_leave(&m->blocks);
    else
        l2k_cuda_blocks_abandon(&m->blocks);
    return status;
}

static void forget(l2k_block_coder *coder)
{
    l2k_cuda_blocks_forget(&((mq_decoder *)coder->state)->blocks);
}

const l2k_block_coder_table l2k_mq_decoder_on_cuda = {
    .name = "MQ on CUDA, decoding",
    .max_planes = L2K_MAX_BIT_PLANES,
    .bytes_per_thread = sizeof(mq_decoder),
    .create = create,
    .free = free_coder,
    .begin_encode = begin_encode,
    .begin_decode = begin_decode,
    .finish = finish,
    .forget = forget,
    .ends_segment = l2k_pass_terminates,
};
