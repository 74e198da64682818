/* One launch of the CUDA backend for several small decomposition levels, one after the other, of up to three components
 * of the same shape. Filled in on the host, passed to kernels by value. */
#ifndef L2K_TRANSFORM_CUDA_CUDA_DEEP_H
#define L2K_TRANSFORM_CUDA_CUDA_DEEP_H

#include "transform/cuda/cuda_level_pass.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { L2K_CUDA_DEEP_LEVELS = 8 }; /* of a launch; kernel parameters are limited to 4 KiB */

/* A component's part of a level. */
typedef struct l2k_cuda_deep_component {
    char *samples, *low; /* first ones */
    void *bands[4];      /* first coefficients by orientation; LL at the last level only */
} l2k_cuda_deep_component;

/* One level. Samples, and LL unless it is subband 0 of the coefficients, are adjacent and have the type of LL samples
 * between launches. Coordinates as in l2k_cuda_level_pass. */
typedef struct l2k_cuda_deep_level {
    l2k_span x, y; /* of the samples */
    l2k_cuda_deep_component component[L2K_CUDA_TOGETHER];
    int32_t samples_stride, low_stride; /* bytes */
    l2k_level_shift shift;              /* of pixels; the identity for LL samples */
    l2k_quantiser_step steps[4];
} l2k_cuda_deep_level;

typedef struct l2k_cuda_deep {
    int32_t levels, components;
    int32_t bands_stride; /* coefficients */
    bool follows;         /* another launch of the same run precedes */
    bool low_in_bands;    /* the LL of the last level is subband 0 of the coefficients */
    bool narrow;          /* 5/3: samples and LL have 16 bits, not 32 */
    l2k_coefficient_type type;
    l2k_wavelet wavelet;
    uint32_t *arrived; /* L2K_CUDA_DEEP_LEVELS counters in device memory, 0 before the first launch; see l2k_meeting */
    l2k_cuda_deep_level level[L2K_CUDA_DEEP_LEVELS]; /* the first has most samples */
} l2k_cuda_deep;

/* Enqueue the levels on a stream (a cudaStream_t); the result is a cudaError_t. */
int l2k_cuda_forward_deep(const l2k_cuda_deep *deep, void *stream);
int l2k_cuda_inverse_deep(const l2k_cuda_deep *deep, void *stream);

#ifdef __cplusplus
}
#endif

#endif
