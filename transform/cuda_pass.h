/* One launch of the CUDA backend: a decomposition level, forward or inverse, of one component or of the three that a
 * component transform joins. Filled by the host, passed to kernels by value. */
#ifndef L2K_TRANSFORM_CUDA_PASS_H
#define L2K_TRANSFORM_CUDA_PASS_H

#include "tiling/pixel.h"
#include "transform/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the samples of a plane are: the caller's pixels, or a backend's own LL samples. */
typedef enum l2k_cuda_type {
    L2K_CUDA_U8 = L2K_SAMPLE_U8,
    L2K_CUDA_S8 = L2K_SAMPLE_S8,
    L2K_CUDA_U16 = L2K_SAMPLE_U16,
    L2K_CUDA_S16 = L2K_SAMPLE_S16,
    L2K_CUDA_S32 = L2K_SAMPLE_S32,
    L2K_CUDA_F32 = L2K_SAMPLE_F32
} l2k_cuda_type;

/* A plane in device memory; strides in bytes. `shift` is the identity for LL samples. */
typedef struct l2k_cuda_plane {
    char *data;
    int64_t row_stride, sample_stride;
    l2k_cuda_type type;
    bool is_low; /* LL samples: neither level shift nor clamp */
    l2k_level_shift shift;
} l2k_cuda_plane;

/* The coefficients of a component, and where this level's bands lie: index = orientation. */
typedef struct l2k_cuda_bands {
    void *data;
    int64_t stride; /* coefficients */
    uint32_t x[4], y[4];
    float step[4]; /* forward: quantiser step; inverse: half of it */
} l2k_cuda_bands;

typedef struct l2k_cuda_pass {
    int32_t width, height;       /* of the samples */
    int32_t low_width, low_height;
    int32_t parity_x, parity_y;  /* of the origin: 1 = the first sample is high */
    int32_t components;          /* 1, or 3 that go together */
    bool joined;                 /* component transform at the pixel side */
    bool decompose;              /* false: no wavelet at all, samples straight to band 0 or back */
    bool low_in_bands;           /* the LL of this level is band 0 of the coefficients, else `low` */
    l2k_coefficient_type type;
    l2k_wavelet wavelet;
    l2k_cuda_plane samples[3];
    l2k_cuda_plane low[3];
    l2k_cuda_bands bands[3];
} l2k_cuda_pass;

/* Enqueue the pass on a stream (a cudaStream_t); the result is a cudaError_t. */
int l2k_cuda_forward_pass(const l2k_cuda_pass *pass, void *stream);
int l2k_cuda_inverse_pass(const l2k_cuda_pass *pass, void *stream);

#ifdef __cplusplus
}
#endif

#endif
