/* The table of the HT block coder on an OpenCL device: its life, and a batch. */
#include "codec/engine/opencl/ht_cl_coder.h"

#include "base/memory.h"
#include "base/run.h"
#include "codec/blocks/ht/ht_encode.h"

_Static_assert(L2K_HT_CL_INT16 == L2K_COEFFICIENT_INT16 && L2K_HT_CL_INT32 == L2K_COEFFICIENT_INT32, "types");

/* ---- Lists --------------------------------------------------------------------------------------------------- */

/* Notes where the part of a buffer that a view is begins. All views of a batch, those of a plan, are in one buffer. */
static l2k_status find_part(l2k_ht_cl *c, const l2k_coefficients *view)
{
    cl_mem whole = NULL;
    size_t at = 0;
    L2K_CL_TRY(c->context, GetMemObjectInfo, (view->base, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof whole, &whole, NULL));
    L2K_CL_TRY(c->context, GetMemObjectInfo, (view->base, CL_MEM_OFFSET, sizeof at, &at, NULL));
    whole = whole ? whole : view->base;
    if (c->part && c->coefficients != whole)
        return l2k_fail(c->context, L2K_ERROR_UNSUPPORTED, "OpenCL: code-blocks in several buffers");
    c->coefficients = whole;
    c->part = view->base;
    c->part_at = at / l2k_coefficient_bytes(view->type);
    return L2K_OK;
}

l2k_status l2k_ht_cl_list(l2k_ht_cl *c, size_t number, l2k_ht_cl_view *to)
{
    const l2k_block_place *place = &c->batch.places[number];
    const l2k_coefficients *view = place->band->component->view;
    const l2k_band_view in = l2k_block_in_view(place);
    if (!view->on_device || (view->type == L2K_COEFFICIENT_FLOAT32 && !c->encodes))
        return l2k_fail(c->context, L2K_ERROR_ARGUMENT, "OpenCL: code-blocks must be coefficients on the device");
    if (view->base != c->part)
        L2K_TRY(find_part(c, view));
    const uint64_t at = c->part_at + (uint64_t)in.y * view->stride + in.x;
    if (view->stride > UINT32_MAX || at + (uint64_t)in.height * view->stride > UINT32_MAX)
        return l2k_fail(c->context, L2K_ERROR_UNSUPPORTED, "OpenCL: more than 2^32 coefficients");
    *to = (l2k_ht_cl_view){.at = (uint32_t)at,
                           .stride = (uint32_t)view->stride,
                           .width = (uint16_t)in.width,
                           .height = (uint16_t)in.height,
                           .type = view->type};
    return L2K_OK;
}

/* ---- The queue ----------------------------------------------------------------------------------------------- */

l2k_status l2k_ht_cl_launch(const l2k_ht_cl *c, cl_kernel kernel, size_t items, const l2k_cl_argument *more,
                            unsigned count)
{
    const size_t all = c->batch.num_places * items;
    l2k_cl_argument arguments[16] = {L2K_CL_ARGUMENT(c->device_list.at), L2K_CL_ARGUMENT(c->coefficients)};
    for (unsigned i = 0; i < count; i++)
        arguments[2 + i] = more[i];
    L2K_TRY(l2k_cl_set_arguments(c->context, kernel, arguments, 2 + count));
    L2K_CL_TRY(c->context, EnqueueNDRangeKernel, (c->queue, kernel, 1, NULL, &all, &items, 0, NULL, NULL));
    return L2K_OK;
}

l2k_status l2k_ht_cl_upload(const l2k_ht_cl *c, const l2k_device_memory *to, size_t at, const void *from, size_t bytes)
{
    if (bytes)
        L2K_CL_TRY(c->context, EnqueueWriteBuffer, (c->queue, to->at, CL_FALSE, at, bytes, from, 0, NULL, NULL));
    return L2K_OK;
}

l2k_status l2k_ht_cl_make_table(l2k_ht_cl *c, l2k_device_memory *table, const void *from, size_t bytes)
{
    L2K_TRY(l2k_cl_reserve(c->context, c->device, table, bytes));
    L2K_CL_TRY(c->context, EnqueueWriteBuffer, (c->queue, table->at, CL_TRUE, 0, bytes, from, 0, NULL, NULL));
    return L2K_OK;
}

/* ---- A batch ------------------------------------------------------------------------------------------------- */

/* After an error no work of the batch is left running. */
static l2k_status leave(l2k_ht_cl *c, l2k_status status)
{
    if (status == L2K_OK)
        l2k_run_advance(c->context, c->batch.units);
    else
        l2k_cl.Finish(c->queue);
    if (c->done)
        l2k_cl.ReleaseEvent(c->done);
    c->done = NULL;
    c->batch.num_places = 0;
    return status;
}

static l2k_status begin(l2k_block_coder *coder, const l2k_block_batch *batch, bool encodes)
{
    l2k_ht_cl *c = coder->state;
    L2K_TRY(l2k_poll(c->context, L2K_POLL_NOW));
    c->batch = *batch;
    c->encodes = encodes;
    c->queue = batch->engine ? (cl_command_queue)batch->engine : c->own;
    c->part = NULL;
    if (batch->num_places == 0)
        return L2K_OK;
    if (batch->num_places > UINT32_MAX / L2K_HT_CL_ENCODE_ITEMS)
        return l2k_fail(c->context, L2K_ERROR_UNSUPPORTED, "OpenCL: too many code-blocks at once");
    l2k_status status = encodes ? l2k_ht_cl_begin_encoding(c) : l2k_ht_cl_begin_decoding(c);
    if (status == L2K_OK)
        status = l2k_cl_check(c->context, l2k_cl.Flush(c->queue), "clFlush");
    return status == L2K_OK ? L2K_OK : leave(c, status);
}

static l2k_status begin_encode(l2k_block_coder *coder, const l2k_block_batch *batch)
{
    return begin(coder, batch, true);
}

static l2k_status begin_decode(l2k_block_coder *coder, const l2k_block_batch *batch)
{
    return begin(coder, batch, false);
}

static l2k_status finish(l2k_block_coder *coder)
{
    l2k_ht_cl *c = coder->state;
    if (c->batch.num_places == 0)
        return leave(c, L2K_OK);
    return leave(c, c->encodes ? l2k_ht_cl_finish_encoding(c) : l2k_ht_cl_finish_decoding(c));
}

/* ---- Life ---------------------------------------------------------------------------------------------------- */

static l2k_status create(l2k_block_coder *coder)
{
    l2k_ht_cl *c = coder->state = l2k_allocate_zeroed(coder->context, 1, sizeof *c);
    L2K_TRY(l2k_check_memory(coder->context, c, "the block coder"));
    c->context = coder->context;
    L2K_TRY(l2k_cl_open(c->context, &c->device));
    return l2k_cl_queue(c->context, c->device, false, &c->own);
}

static void free_coder(l2k_block_coder *coder)
{
    l2k_ht_cl *c = coder->state;
    if (!c)
        return;
    if (c->batch.num_places)
        leave(c, L2K_ERROR_CANCELLED);
    const cl_kernel kernels[] = {c->encode, c->quads, c->samples, c->refine};
    for (unsigned i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (kernels[i])
            l2k_cl.ReleaseKernel(kernels[i]);
    l2k_device_memory *const memory[] = {&c->device_list, &c->device_results, &c->codes,  &c->pairs, &c->code,
                                         &c->vlc,         &c->bytes,          &c->scratch};
    for (unsigned i = 0; i < sizeof memory / sizeof *memory; i++)
        l2k_cl_release(memory[i]);
    l2k_cl_unpin(c->own, &c->list);
    l2k_cl_unpin(c->own, &c->results);
    l2k_cl_unpin(c->own, &c->gathered);
    for (unsigned i = 0; i < L2K_CL_CHUNKS; i++)
        l2k_cl_unpin(c->own, &c->kept.chunks[i]);
    if (c->own) {
        l2k_cl.Finish(c->own);
        l2k_cl.ReleaseCommandQueue(c->own);
    }
    l2k_release(coder->context, c);
}

/* The chunks stay for the next image. */
static void forget(l2k_block_coder *coder)
{
    l2k_ht_cl *c = coder->state;
    c->kept.chunk = 0;
    c->kept.used = 0;
}

const l2k_block_coder_table l2k_ht_on_opencl = {
    .name = "HT on OpenCL",
    .max_planes = L2K_HT_MAX_BIT_PLANES,
    .bytes_per_thread = sizeof(l2k_ht_cl),
    .create = create,
    .free = free_coder,
    .begin_encode = begin_encode,
    .begin_decode = begin_decode,
    .finish = finish,
    .forget = forget,
    .ends_segment = l2k_pass_terminates,
};
