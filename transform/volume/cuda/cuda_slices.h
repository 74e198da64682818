/* The kernels of a volume on a CUDA device: lists of operations across slices, and moves of a slice's values from and
 * to planes. The host fills in the parameters, which go by value. */
#ifndef L2K_TRANSFORM_VOLUME_CUDA_CUDA_SLICES_H
#define L2K_TRANSFORM_VOLUME_CUDA_CUDA_SLICES_H

#include "dwt/lifting.h"
#include "tiling/pixel/cuda_plane.h"
#include "transform/volume/z_levels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of a launch; kernel parameters are limited to 4 KiB. */
enum { L2K_CUDA_Z_OPS = 17, L2K_CUDA_SLICES = 16, L2K_CUDA_Z_STEPS = 4, L2K_CUDA_Z_TAPS = 8 };

/* Bytes of values that a thread takes: of each slice; of a row between values and samples. */
enum { L2K_CUDA_Z_BYTES = 8, L2K_CUDA_ROW_BYTES = 16 };

/* How samples in the caller's planes, laid out like values, become values: all by the same level shift. */
typedef struct l2k_cuda_z_samples {
    bool converts; /* they differ from values */
    bool is_signed;
    l2k_level_shift shift;
} l2k_cuda_z_samples;

/* An operation of l2k_z_kind on slices from one place to another; L2K_Z_SCALE and L2K_Z_LONE on `rows` of them. Places
 * are multiples of 8 bytes. */
typedef struct l2k_cuda_z_op {
    int32_t kind, step, pairs, rows;
    float factor;
    uint32_t samples;                        /* by row, as bits: in the caller's planes, forward `from`, inverse `to` */
    char *from[L2K_Z_ROWS], *to[L2K_Z_ROWS]; /* `to` NULL: the row is not stored */
} l2k_cuda_z_op;

/* A lifting step of a kernel, as in l2k_kernel_step. */
typedef struct l2k_cuda_z_step {
    float taps[L2K_CUDA_Z_TAPS];
    int16_t rounding;
    uint8_t num_taps, shift;
} l2k_cuda_z_step;

typedef struct l2k_cuda_z_ops {
    int64_t threads;
    float scales[2]; /* of chains, of low and of high slices */
    l2k_cuda_z_samples samples;
    bool kernel, wide; /* a kernel, with its steps in the order of the direction; sums of 64 bits */
    l2k_cuda_z_step steps[L2K_CUDA_Z_STEPS];
    int32_t count;
    l2k_cuda_z_op of[L2K_CUDA_Z_OPS];
} l2k_cuda_z_ops;

/* The samples of one component of a slice, or of three that a component transform joins, and their values. */
typedef struct l2k_cuda_slice_part {
    l2k_cuda_plane planes[3];
    char *values[3]; /* packed */
} l2k_cuda_slice_part;

/* The same part of several slices, in one launch. */
typedef struct l2k_cuda_slice_parts {
    l2k_cuda_slice_part of[L2K_CUDA_SLICES];
    int32_t count, width, height, components;
} l2k_cuda_slice_parts;

/* Enqueue on a stream (a cudaStream_t); the result is a cudaError_t. Values are of 16 or 32 bits with a sign, or floats. */
int l2k_cuda_z_run(const l2k_cuda_z_ops *ops, l2k_sample_type value, bool inverse, void *stream);
/* Samples to values, inverse back. */
int l2k_cuda_slices_move(const l2k_cuda_slice_parts *parts, l2k_sample_type value, bool inverse, void *stream);

#ifdef __cplusplus
}
#endif

#endif
