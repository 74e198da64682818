/* Pinned memory, and chunks of it. */
#include "codec/engine/opencl/cl_pinned.h"

enum { SMALLEST_CHUNK = 1 << 20, ALIGNMENT = 64 };

void l2k_cl_unpin(cl_command_queue queue, l2k_cl_pinned *memory)
{
    if (memory->at)
        l2k_cl.EnqueueUnmapMemObject(queue, memory->buffer, memory->at, 0, NULL, NULL);
    if (memory->buffer)
        l2k_cl.ReleaseMemObject(memory->buffer);
    *memory = (l2k_cl_pinned){0};
}

/* Takes a quarter more than needed, for a later image of the same size that needs a little more. */
l2k_status l2k_cl_pin(const l2k_context *context, const l2k_cl_device *device, cl_command_queue queue,
                      l2k_cl_pinned *memory, size_t bytes)
{
    const size_t all = bytes + bytes / 4 + 1;
    cl_int error;
    if (memory->at && bytes <= memory->bytes)
        return L2K_OK;
    l2k_cl_unpin(queue, memory);
    L2K_TRY(l2k_cl_buffer(context, device, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, all, &memory->buffer));
    memory->at = l2k_cl.EnqueueMapBuffer(queue, memory->buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, all, 0, NULL,
                                         NULL, &error);
    L2K_TRY(l2k_cl_check(context, error, "clEnqueueMapBuffer"));
    memory->bytes = all;
    return L2K_OK;
}

/* Chunks double. */
static size_t chunk_bytes(const l2k_cl_chunks *c, size_t needed)
{
    size_t all = SMALLEST_CHUNK;
    for (unsigned i = 0; i < c->chunk; i++)
        all += c->chunks[i].bytes;
    return needed > all ? needed : all;
}

l2k_status l2k_cl_reserve_pinned(const l2k_context *context, const l2k_cl_device *device, cl_command_queue queue,
                                 l2k_cl_chunks *c, size_t bytes, uint8_t **at)
{
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    while (c->chunk < L2K_CL_CHUNKS && c->used && c->chunks[c->chunk].bytes - c->used < bytes) {
        c->chunk++;
        c->used = 0;
    }
    if (c->chunk == L2K_CL_CHUNKS)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for coded blocks");
    l2k_cl_pinned *chunk = &c->chunks[c->chunk];
    if (chunk->bytes < bytes)
        L2K_TRY(l2k_cl_pin(context, device, queue, chunk, chunk_bytes(c, bytes)));
    *at = chunk->at + c->used;
    c->used += bytes;
    return L2K_OK;
}
