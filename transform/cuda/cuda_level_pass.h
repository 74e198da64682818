/* One launch of the CUDA backend: a pass over a decomposition level, forward or inverse, of components of the same
 * shape. Filled in on the host, passed to kernels by value. */
#ifndef L2K_TRANSFORM_CUDA_CUDA_LEVEL_PASS_H
#define L2K_TRANSFORM_CUDA_CUDA_LEVEL_PASS_H

#ifdef __cplusplus
extern "C" {
#endif

#include "dwt/lifting.h"
#include "quant/quantiser.h"
#include "tiling/pixel/cuda_plane.h"

/* Components of a launch: a few, or many small ones. Kernel parameters are limited to 4 KiB, from CUDA 12.1 on to 32 KiB
 * less 4 bytes. */
#ifdef L2K_CUDA_LARGE_PARAMETERS
enum { L2K_CUDA_TOGETHER = 3, L2K_CUDA_MANY = 64 };
#else
enum { L2K_CUDA_TOGETHER = 3, L2K_CUDA_MANY = 16 };
#endif

/* The subbands of a decomposition level of a component in device memory, as kernels take them. */
typedef struct l2k_cuda_bands {
    void *at[4];    /* first coefficient by orientation */
    int32_t stride; /* in coefficients, the same for all */
} l2k_cuda_bands;

/* Their quantiser steps (inverse: half of them); not used by the 5/3. */
typedef struct l2k_cuda_steps {
    l2k_quantiser_step of[4];
} l2k_cuda_steps;

/* Coordinates are those of the samples minus a multiple of 8: this keeps their parity, and lanes are aligned where
 * planes are. */
typedef struct l2k_cuda_level_pass {
    l2k_span x, y;           /* of the samples */
    l2k_span kept_x, kept_y; /* inverse: the samples that are stored, a part only for the pixels of a window */
    int32_t components;
    bool copies;       /* no decomposition: samples to subband 0 or back */
    bool joined;       /* component transform at the pixel side */
    bool follows;      /* another launch of the same run precedes */
    bool low_in_bands; /* LL is subband 0 of the coefficients, else `low` */
    bool wide_sums;    /* of a named reversible kernel: sums take 64 bits */
    l2k_coefficient_type type;
    l2k_wavelet wavelet;
    l2k_cuda_plane samples[L2K_CUDA_MANY];
    l2k_cuda_plane low[L2K_CUDA_MANY];
    l2k_cuda_bands bands[L2K_CUDA_MANY];     /* all of one layout */
    l2k_cuda_steps steps[L2K_CUDA_TOGETHER]; /* unless joined, the first one's apply to all */
    /* How warps share the work, filled in by the launcher. A warp takes a strip of columns and in it a number of
     * rounds of four rows of samples each, after some warm-up rounds. */
    int32_t strips, first_round, end_round, rounds_each, warm_up;
} l2k_cuda_level_pass;

/* Enqueues the level pass on a stream (a cudaStream_t); the result is a cudaError_t. */
int l2k_cuda_run_pass(const l2k_cuda_level_pass *pass, bool forward, void *stream);

#ifdef __cplusplus
}
#endif

#endif
