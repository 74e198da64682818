/* How the samples of a host plan cross the bus: packed, through pinned memory, or straight from and to planes that are
 * pinned and packed already. For the CUDA backend's own files. */
#ifndef L2K_TRANSFORM_CUDA_CUDA_STAGING_H
#define L2K_TRANSFORM_CUDA_CUDA_STAGING_H

#include "transform/plan.h"

/* Packed pixels: one component, or the three of a component transform interleaved. */
typedef struct l2k_cuda_pixels {
    l2k_sample_type type; /* the smallest that holds the precision of all lanes */
    unsigned lanes;       /* samples of a pixel: 1 or 3 */
    uint32_t width, height;
    size_t row_bytes; /* from one row to the next, a multiple of 32, as device memory is read */
    char *device;     /* height * row_bytes each */
    char *staging;    /* pinned */
    bool direct;      /* the download that is under way goes to the caller's planes */
} l2k_cuda_pixels;

/* Everything but the memory, for the components from `first` on that go together. */
l2k_cuda_pixels l2k_cuda_pixels_of(const l2k_plan_spec *spec, uint32_t first);

size_t l2k_cuda_pixel_bytes(const l2k_cuda_pixels *pixels);

/* `planes` are the caller's, one per lane; `stream` is a cudaStream_t. Upload and download enqueue and return; until
 * the stream has come that far, the planes must stay as they are. Downloaded samples are in the planes after unpack,
 * which is to be called once the stream has done its work. */
l2k_status l2k_cuda_upload_pixels(const l2k_context *context, const l2k_cuda_pixels *pixels, const l2k_plane *planes,
                                  void *stream);
l2k_status l2k_cuda_download_pixels(const l2k_context *context, l2k_cuda_pixels *pixels, const l2k_plane *planes,
                                    void *stream);
void l2k_cuda_unpack_pixels(const l2k_cuda_pixels *pixels, const l2k_plane *planes);

#endif
