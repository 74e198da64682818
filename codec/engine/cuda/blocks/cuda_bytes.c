/* Sends the bytes of code-blocks to the device: as a whole, if possible while the host still reads packet headers, or
 * gathered by the host. */
#include <string.h>

#include "base/integer.h"
#include "codec/engine/cuda/blocks/cuda_blocks.h"
#include "transform/cuda/cuda_device.h"

/* From pageable memory, one piece crosses the bus while the host copies the next one to pinned memory. */
enum { PIECE_BYTES = 1 << 20 };

l2k_status l2k_cuda_reserve_for_code(const l2k_context *context, l2k_cuda_memory *memory, size_t needed)
{
    return needed <= memory->bytes ? L2K_OK : l2k_cuda_reserve(context, memory, needed + needed / 4);
}

/* Zeros surround the bytes. */
static l2k_status upload(const l2k_context *context, l2k_cuda_blocks *b, const uint8_t *from, size_t count,
                         void *stream)
{
    l2k_cuda_memory *staged = &b->bytes.gathered;
    L2K_TRY(l2k_cuda_reserve_for_code(context, &b->bytes.device, count + 2 * L2K_CUDA_ALIGNMENT));
    uint8_t *to = l2k_cuda_bytes_at(b);
    L2K_TRY(l2k_cuda_clear(context, stream, b->bytes.device.at, L2K_CUDA_ALIGNMENT));
    L2K_TRY(l2k_cuda_clear(context, stream, to + count, L2K_CUDA_ALIGNMENT));
    if (count == 0)
        return L2K_OK;
    if (from == staged->at || l2k_cuda_is_pinned(from, count))
        return l2k_cuda_upload(context, stream, to, from, count);
    L2K_TRY(l2k_cuda_reserve_for_code(context, staged, count));
    for (size_t at = 0, piece; at < count; at += piece) {
        piece = count - at < PIECE_BYTES ? count - at : PIECE_BYTES;
        memcpy(staged->at + at, from + at, piece);
        L2K_TRY(l2k_cuda_upload(context, stream, to + at, staged->at + at, piece));
    }
    return L2K_OK;
}

l2k_status l2k_cuda_bytes_upload(l2k_cuda_blocks *b, const uint8_t *from, size_t count)
{
    return upload(b->context, b, from, count, b->running);
}

/* The batch repeats what fails here, and then reports it. */
void l2k_cuda_bytes_send(l2k_cuda_blocks *b, const uint8_t *from, size_t count)
{
    l2k_cuda_bytes *bytes = &b->bytes;
    l2k_context quiet = *b->context;
    quiet.hooks.message = NULL;
    if (bytes->sent)
        l2k_cuda_settle(b->stream);
    bytes->sent = NULL;
    if (!from || count == 0 || count > UINT32_MAX)
        return;
    l2k_status status = upload(&quiet, b, from, count, b->stream);
    if (status == L2K_OK)
        status = l2k_cuda_mark(&quiet, &bytes->arrived, b->stream);
    bytes->sent = from;
    bytes->num_sent = status == L2K_OK ? count : 0;
}

l2k_status l2k_cuda_bytes_start(l2k_cuda_blocks *b)
{
    l2k_cuda_bytes *bytes = &b->bytes;
    const l2k_cuda_batch *batch = &b->more;
    bytes->direct = batch->bytes && batch->num_bytes <= UINT32_MAX;
    if (bytes->direct && bytes->sent == batch->bytes && bytes->num_sent == batch->num_bytes)
        return l2k_cuda_follow(b->context, b->running, bytes->arrived);
    l2k_cuda_bytes_send(b, NULL, 0);
    return bytes->direct ? l2k_cuda_bytes_upload(b, batch->bytes, batch->num_bytes) : L2K_OK;
}

l2k_status l2k_cuda_bytes_gather(l2k_cuda_blocks *b, size_t count)
{
    l2k_cuda_settle(b->running);
    l2k_cuda_bytes_send(b, NULL, 0);
    return l2k_cuda_reserve_for_code(b->context, &b->bytes.gathered, count);
}
