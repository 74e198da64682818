/* The batch of a block coder on a device: views of its places, and memory for results. */
#include "codec/engine/cuda/blocks/cuda_blocks.h"

#include "base/run.h"

enum { SMALLEST_CHUNK = 1 << 20 };

l2k_status l2k_cuda_blocks_create(const l2k_context *context, l2k_cuda_blocks *blocks, size_t table_bytes)
{
    blocks->context = context;
    blocks->bytes.gathered.pinned = true;
    L2K_TRY(l2k_cuda_open(context, &blocks->stream, &blocks->processors));
    L2K_TRY(l2k_cuda_reserve(context, &blocks->tables, table_bytes));
    return l2k_cuda_pin(context, &blocks->pinned, table_bytes);
}

l2k_status l2k_cuda_blocks_send_tables(l2k_cuda_blocks *blocks)
{
    L2K_TRY(
        l2k_cuda_upload(blocks->context, blocks->stream, blocks->tables.at, blocks->pinned.at, blocks->tables.bytes));
    return l2k_cuda_wait(blocks->context, blocks->stream);
}

void l2k_cuda_blocks_free(l2k_cuda_blocks *blocks)
{
    if (blocks->batch.num_places)
        l2k_cuda_blocks_end(blocks, L2K_ERROR_CANCELLED);
    l2k_cuda_close(blocks->stream);
    l2k_cuda_unmark(blocks->done);
    l2k_cuda_unmark(blocks->bytes.arrived);
    l2k_cuda_release(&blocks->bytes.gathered);
    l2k_cuda_release(&blocks->bytes.device);
    l2k_cuda_release(&blocks->tables);
    l2k_cuda_release(&blocks->device);
    l2k_cuda_release(&blocks->pinned);
    for (unsigned i = 0; i < L2K_CUDA_CHUNKS; i++)
        l2k_cuda_release(&blocks->code[i]);
}

/* The chunks stay for the next image. */
void l2k_cuda_blocks_forget(l2k_cuda_blocks *blocks)
{
    blocks->chunk = 0;
    blocks->used = 0;
}

l2k_status l2k_cuda_blocks_enter(l2k_cuda_blocks *blocks, const l2k_block_batch *batch)
{
    L2K_TRY(l2k_poll(blocks->context, L2K_POLL_NOW));
    blocks->batch = *batch;
    blocks->more = batch->engine ? *(const l2k_cuda_batch *)batch->engine : (l2k_cuda_batch){0};
    blocks->running = blocks->more.stream ? blocks->more.stream : blocks->stream;
    return L2K_OK;
}

l2k_status l2k_cuda_blocks_end(l2k_cuda_blocks *blocks, l2k_status status)
{
    if (status == L2K_OK)
        l2k_run_advance(blocks->context, blocks->batch.units);
    else
        l2k_cuda_settle(blocks->running);
    l2k_cuda_bytes_send(blocks, NULL, 0);
    blocks->batch.num_places = 0;
    return status;
}

l2k_status l2k_cuda_reserve_to_encode(l2k_cuda_blocks *blocks, size_t bytes)
{
    if (bytes > blocks->device.bytes)
        blocks->listed.same = 0;
    return l2k_cuda_reserve(blocks->context, &blocks->device, bytes);
}

/* ---- Code ---------------------------------------------------------------------------------------------------- */

/* Leaves room for another image that takes a little more, and doubles chunks. */
static size_t chunk_bytes(const l2k_cuda_blocks *blocks, size_t needed)
{
    size_t bytes = needed + needed / 4 + SMALLEST_CHUNK, all = 0;
    for (unsigned i = 0; i < blocks->chunk; i++)
        all += blocks->code[i].bytes;
    return bytes > all ? bytes : all;
}

/* Pinned memory until `forget`, aligned like the sizes taken before. */
static l2k_status take_code(l2k_cuda_blocks *blocks, size_t bytes, uint8_t **code)
{
    while (blocks->chunk < L2K_CUDA_CHUNKS && blocks->used &&
           blocks->code[blocks->chunk].bytes - blocks->used < bytes) {
        blocks->chunk++;
        blocks->used = 0;
    }
    if (blocks->chunk == L2K_CUDA_CHUNKS)
        return l2k_fail(blocks->context, L2K_ERROR_MEMORY, "out of memory for coded blocks");
    l2k_cuda_memory *chunk = &blocks->code[blocks->chunk];
    if (chunk->bytes < bytes)
        L2K_TRY(l2k_cuda_pin(blocks->context, chunk, chunk_bytes(blocks, bytes)));
    *code = chunk->at + blocks->used;
    blocks->used += bytes;
    return L2K_OK;
}

/* Distortions and lengths of passes, lengths of blocks of one pass, and code stay together. */
l2k_status l2k_cuda_fetch_code(l2k_cuda_blocks *b, const l2k_cuda_coded *on_device, const l2k_cuda_coded_block *coded,
                               size_t passes, uint32_t units)
{
    const size_t count = b->batch.num_places, code = (size_t)units * 4;
    const size_t distortions = on_device->distortions ? passes * sizeof(double) : 0;
    const size_t ends = on_device->pass_ends ? passes * sizeof(uint32_t) : 0;
    const bool is_ht = (b->batch.places[0].band->component->coding->style & L2K_STYLE_HT) != 0;
    uint8_t *kept = NULL;
    L2K_TRY(take_code(b, l2k_cuda_aligned(distortions + ends + count * sizeof(uint32_t) + code), &kept));
    double *pass_distortions = (double *)kept;
    uint32_t *pass_ends = (uint32_t *)(kept + distortions), *lengths = pass_ends + ends / sizeof *pass_ends;
    uint8_t *bytes = (uint8_t *)(lengths + count);
    if (code)
        L2K_TRY(l2k_cuda_download(b->context, b->running, bytes, on_device->code, code));
    if (code && ends)
        L2K_TRY(l2k_cuda_download(b->context, b->running, pass_ends, on_device->pass_ends, ends));
    if (code && distortions)
        L2K_TRY(l2k_cuda_download(b->context, b->running, pass_distortions, on_device->distortions, distortions));
    for (size_t i = 0; i < count; i++) {
        l2k_block *block = b->batch.places[i].block;
        block->num_planes = coded[i].num_planes;
        block->num_passes = coded[i].num_passes;
        if (is_ht)
            block->coded.magnitude_bits = coded[i].magnitude_bits;
        if (coded[i].num_passes == 0)
            continue;
        lengths[i] = coded[i].bytes | L2K_PASS_TERMINATED;
        block->coded.bytes = bytes + (size_t)coded[i].at * 4;
        block->coded.pass_bytes = coded[i].num_passes > 1 ? pass_ends + coded[i].ends : &lengths[i];
        if (distortions)
            block->coded.pass_distortion = pass_distortions + (ends ? coded[i].ends : i);
    }
    return l2k_cuda_wait(b->context, b->running);
}

/* ---- Views --------------------------------------------------------------------------------------------------- */

l2k_status l2k_cuda_look_at_band(const l2k_context *context, const l2k_subband *band, bool floats, l2k_cuda_band *to)
{
    const l2k_coefficients *view = band->component->view;
    const l2k_band_view *at = &view->bands[l2k_band_number(band->resolution, band->orientation)];
    const bool is_float = view->type == L2K_COEFFICIENT_FLOAT32;
    if (!view->on_device || (is_float && !floats))
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "CUDA: code-blocks must be %s in device memory",
                        floats ? "coefficients" : "integers");
    if (view->stride > INT32_MAX / sizeof(int32_t)) /* kernels count bytes of a row in 32 bits */
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "CUDA: rows of %zu coefficients", view->stride);
    *to = (l2k_cuda_band){.band = band,
                          .stride = (uint32_t)view->stride,
                          .bytes = (unsigned)l2k_coefficient_bytes(view->type),
                          .reversible = !l2k_coding_wavelet(band->component->coding)->quantised,
                          .is_float = is_float};
    /* unsigned, so that places left of the view come out right */
    const uintptr_t y = (uintptr_t)at->y - band->rect.y0 - band->view_y,
                    x = (uintptr_t)at->x - band->rect.x0 - band->view_x;
    to->origin = (uintptr_t)view->base + (y * view->stride + x) * to->bytes;
    return L2K_OK;
}
