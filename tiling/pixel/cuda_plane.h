/* A plane in device memory as kernels take it: pixels of the caller, or LL samples between two launches. */
#ifndef L2K_TILING_PIXEL_CUDA_PLANE_H
#define L2K_TILING_PIXEL_CUDA_PLANE_H

#include "tiling/pixel/pixel.h"

typedef struct l2k_cuda_plane {
    char *data;                        /* the sample at the tile-component's (or resolution's) origin */
    int32_t row_stride, sample_stride; /* bytes */
    l2k_sample_type type;
    l2k_level_shift shift; /* of pixels; the identity for LL samples */
    uint32_t flip;         /* the sign bits of packed signed samples of less than 32 bits, else 0 */
} l2k_cuda_plane;

/* A plane of pixels, whose strides fit. */
static inline l2k_cuda_plane l2k_cuda_plane_of(const l2k_plane *plane, unsigned precision, bool is_signed)
{
    const l2k_level_shift shift = l2k_level_shift_make(precision, is_signed);
    const l2k_cuda_plane own = {
        (char *)plane->data, (int32_t)plane->row_stride, (int32_t)plane->sample_stride, plane->type, shift, 0};
    return own;
}

#endif
