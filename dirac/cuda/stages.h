/* The stages of pictures on a GPU. All pointers are device memory; every function enqueues work in a stream (a
 * cudaStream_t) and returns a cudaError_t. */
#ifndef L2K_DIRAC_CUDA_STAGES_H
#define L2K_DIRAC_CUDA_STAGES_H

#include "dirac/motion/motion.h"
#include "dirac/transform.h"

/* Bytes behind data and samples that kernels may read with the last ones; and samples of which the transform's results,
 * half-samples, and their rows begin at multiples. */
enum { L2K_DIRAC_CUDA_BEYOND = 32, L2K_DIRAC_CUDA_UNIT = 8 };

/* Reads slices of high quality (VC-2, 13.5.4): all coefficients of the picture, which are zero where `count` ends. */
typedef struct l2k_dirac_cuda_slices {
    const uint8_t *data;
    size_t bytes;
    const uint32_t *offsets; /* of slices in the data */
    uint32_t count;          /* slices that may be read; the last one may be damaged */
    uint32_t across, down, prefix, unit;
    uint32_t levels, matrix[L2K_DIRAC_BANDS];
    l2k_dirac_quantiser quantisers[L2K_DIRAC_QUANTISERS];
    int32_t *coefficients[L2K_DIRAC_PLANES];
    l2k_dirac_band bands[2][L2K_DIRAC_BANDS]; /* of luma, of chroma */
} l2k_dirac_cuda_slices;

int l2k_dirac_cuda_slices_read(const l2k_dirac_cuda_slices *slices, void *stream);

/* A level of the inverse transform of three planes (15.4), from pairs of rows and columns to samples. */
typedef struct l2k_dirac_cuda_level {
    struct {
        const int32_t *from[4]; /* LL, HL, LH, HH */
        size_t stride[4];       /* in coefficients */
        int32_t width, height;  /* in pairs, */
        int32_t columns, rows;  /* and of the result that is wanted */
        void *out;
        ptrdiff_t stride_out; /* in samples */
        l2k_dirac_join join;
    } planes[L2K_DIRAC_PLANES];
    uint32_t wavelet;  /* by the index of the standards */
    int32_t out_bytes; /* 1 or 2: samples; 4: int32_t */
} l2k_dirac_cuda_level;

int l2k_dirac_cuda_inverse(const l2k_dirac_cuda_level *level, void *stream);

/* The same of a picture without levels: LL are its samples; width and height count them. */
int l2k_dirac_cuda_copy(const l2k_dirac_cuda_level *level, void *stream);

/* Planes of twice the width and height: samples, and half-samples to the right of them, below, and both. */
typedef struct l2k_dirac_cuda_upsampling {
    struct {
        const void *from;
        void *out;
        ptrdiff_t stride, stride_out; /* in samples */
        int32_t width, height, most;
    } planes[L2K_DIRAC_PLANES];
    bool wide;
} l2k_dirac_cuda_upsampling;

int l2k_dirac_cuda_upsample(const l2k_dirac_cuda_upsampling *upsampling, void *stream);

/* Overlapped-block motion compensation of three planes. */
typedef struct l2k_dirac_cuda_motion {
    struct {
        const void *reference[2]; /* up-sampled, but if vectors are of whole samples */
        ptrdiff_t reference_stride[2];
        const int32_t *residue; /* or NULL: zero */
        ptrdiff_t residue_stride, stride;
        void *out;
        int32_t width, height, most;
        l2k_dirac_grid grid;
    } planes[L2K_DIRAC_PLANES];
    const l2k_dirac_motion_block *blocks;
    int32_t across, down, precision, weight[2];
    uint32_t weight_bits;
    l2k_dirac_global globals[2];
    bool wide, upsampled, global;
} l2k_dirac_cuda_motion;

int l2k_dirac_cuda_predict(const l2k_dirac_cuda_motion *motion, void *stream);

#endif
