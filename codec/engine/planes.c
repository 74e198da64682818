/* Moves planes off the host to it and back. */
#include "base/memory.h"
#include "codec/engine/engine.h"

/* The copies have the strides of the planes. */
l2k_status l2k_engine_fetch_planes(const l2k_context *context, l2k_encode_request *request)
{
    const l2k_tile *tile = request->tile;
    l2k_plane *copies = l2k_arena_take(context, &request->tile->contributions, tile->num_components * sizeof *copies);
    L2K_TRY(l2k_check_memory(context, copies, "a tile"));
    for (uint32_t c = 0; c < tile->num_components; c++) {
        const l2k_rect rect = tile->components[c].rect;
        const uint32_t width = l2k_rect_width(rect), height = l2k_rect_height(rect);
        const size_t bytes = l2k_plane_extent(&request->planes[c], width, height);
        void *host = bytes ? l2k_arena_take(context, &request->tile->contributions, bytes) : NULL;
        copies[c] = request->planes[c];
        L2K_TRY(l2k_check_memory(context, host || !bytes, "the samples of a tile"));
        if (bytes)
            L2K_TRY(l2k_plane_fetch(context, &copies[c], width, height, request->stream, host));
    }
    request->planes = copies;
    return L2K_OK;
}

l2k_status l2k_engine_deliver(const l2k_context *context, const l2k_plane *from, const l2k_plane *to, uint32_t width,
                              uint32_t height, void *stream, l2k_engine_memory *memory)
{
    const size_t bytes = (size_t)from->row_stride * height;
    l2k_plane there = *from;
    L2K_TRY(l2k_device_reserve(context, memory, bytes));
    L2K_TRY(l2k_device_upload(context, memory->at, from->data, bytes, stream));
    there.data = memory->at;
    return l2k_device_copy(context, to, &there, width, height, stream);
}
