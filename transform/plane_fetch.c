/* Planes of any strides, forwards or backwards, as a piece of memory. */
#include "transform/plane_fetch.h"

#include "base/sample.h"
#include "transform/backend.h"

/* From the first to the last of `count` samples or rows; ahead of the first, if they go backwards. */
static size_t reach(ptrdiff_t stride, uint32_t count)
{
    return (size_t)(stride < 0 ? -stride : stride) * (count - 1);
}

size_t l2k_plane_extent(const l2k_plane *plane, uint32_t width, uint32_t height)
{
    if (width == 0 || height == 0)
        return 0;
    return reach(plane->sample_stride, width) + reach(plane->row_stride, height) + l2k_sample_bytes(plane->type);
}

l2k_status l2k_plane_fetch(const l2k_context *context, l2k_plane *plane, uint32_t width, uint32_t height, void *stream,
                           void *host)
{
    const size_t before = (plane->sample_stride < 0 ? reach(plane->sample_stride, width) : 0) +
                          (plane->row_stride < 0 ? reach(plane->row_stride, height) : 0);
#ifdef L2K_WITH_CUDA
    L2K_TRY(l2k_cuda_fetch(context, host, (const char *)plane->data - before, l2k_plane_extent(plane, width, height),
                           stream));
    plane->data = (char *)host + before;
    return L2K_OK;
#else
    (void)stream, (void)host, (void)before;
    return l2k_fail(context, L2K_ERROR_BACKEND, "this build has no CUDA backend");
#endif
}
