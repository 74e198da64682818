/* Planes in device memory, for what only the CPU does: copied to host memory. */
#ifndef L2K_TRANSFORM_PLANE_FETCH_H
#define L2K_TRANSFORM_PLANE_FETCH_H

#include "base/context.h"

/* Bytes from the lowest address of a plane's samples to the end of the highest; 0 without samples. */
size_t l2k_plane_extent(const l2k_plane *plane, uint32_t width, uint32_t height);

/* Copies all of these to `host` and makes the plane that of the copy, with the same strides. Waits for what is in
 * `stream` (a cudaStream_t), and for the copy. In builds without CUDA there are no such planes. */
l2k_status l2k_plane_fetch(const l2k_context *context, l2k_plane *plane, uint32_t width, uint32_t height, void *stream,
                           void *host);

#endif
