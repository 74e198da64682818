/* How the samples of a host plan cross the bus: packed, through pinned memory, or directly from and to planes that are
 * pinned and packed already. Internal to the CUDA backend. */
#ifndef L2K_TRANSFORM_CUDA_CUDA_STAGING_H
#define L2K_TRANSFORM_CUDA_CUDA_STAGING_H

#include "transform/plan.h"

/* Packed pixels: one component, or the three of a component transform interleaved. */
typedef struct l2k_cuda_pixels {
    l2k_sample_type type; /* the smallest that holds the precision of all components */
    unsigned components;  /* 1 or 3 */
    uint32_t width, height;
    size_t row_bytes;     /* row stride, a multiple of 32: the sectors of device memory */
    char *device;         /* height * row_bytes each */
    char *staging;        /* pinned */
    size_t staging_bytes; /* all pixels; for uploads at most a few chunks of rows, which are reused */
    char *planar[3];      /* device memory for the three as planes: that of their coefficients, before or after these */
    size_t planar_bytes;  /* of each plane; 0: no such memory */
    /* The current download: */
    bool direct;    /* it goes straight to the caller's planes */
    bool separated; /* it is of three planes; those with direct_planes go straight to the caller's */
    bool direct_planes[3];
} l2k_cuda_pixels;

/* Fills in everything but the memory, for the interleaved components from `first` on. */
l2k_cuda_pixels l2k_cuda_pixels_of(const l2k_plan_spec *spec, uint32_t first);

size_t l2k_cuda_pixel_bytes(const l2k_cuda_pixels *pixels);

/* Interleaves three planes in device memory into pixels->device; the result is a cudaError_t (cuda_pack.cu). */
int l2k_cuda_pack(const l2k_cuda_pixels *pixels, const l2k_plane *planes, void *stream);

/* Separates pixels->device into the planes pixels->planar, in rows of `row_bytes`, a multiple of 4. */
int l2k_cuda_separate(const l2k_cuda_pixels *pixels, size_t row_bytes, void *stream);

/* Upload and download enqueue and return; `planes` are the caller's, one per component, and must not change until
 * `stream` (a cudaStream_t) has completed the copies. Then unpack completes a download into the planes. */
l2k_status l2k_cuda_upload_pixels(const l2k_context *context, const l2k_cuda_pixels *pixels, const l2k_plane *planes,
                                  void *stream);
l2k_status l2k_cuda_download_pixels(const l2k_context *context, l2k_cuda_pixels *pixels, const l2k_plane *planes,
                                    void *stream);
void l2k_cuda_unpack_pixels(const l2k_cuda_pixels *pixels, const l2k_plane *planes);

#endif
