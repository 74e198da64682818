/* The kernels of a volume on a CUDA device: programs of lifting steps across slices, and a slice's values from and to
 * planes. Filled in on the host, passed by value. */
#ifndef L2K_TRANSFORM_VOLUME_CUDA_SLICES_H
#define L2K_TRANSFORM_VOLUME_CUDA_SLICES_H

#include "dwt/lifting.h"
#include "quant/cuda_bands.h"
#include "tiling/pixel/cuda_plane.h"
#include "transform/volume/z_walk.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The type of a value between the directions: int16 where all values of the volume fit. */
typedef enum l2k_cuda_value { L2K_CUDA_INT16, L2K_CUDA_INT32, L2K_CUDA_FLOAT32 } l2k_cuda_value;

/* Of a launch; kernel parameters are limited to 4 KiB. */
enum { L2K_CUDA_Z_OPS = 17, L2K_CUDA_SLICES = 16, L2K_CUDA_Z_STEPS = 4, L2K_CUDA_Z_TAPS = 8 };

/* Bytes of values that a thread takes: of each slice of a program, of a walk; of a row between values and samples. */
enum { L2K_CUDA_Z_BYTES = 8, L2K_CUDA_WALK_BYTES = 16, L2K_CUDA_ROW_BYTES = 16 };

/* How samples in the caller's planes, which lie as values do, become values: all by the same level shift. */
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

/* A lifting step of a kernel, as l2k_kernel_step has it. */
typedef struct l2k_cuda_z_step {
    float taps[L2K_CUDA_Z_TAPS];
    int16_t rounding;
    uint8_t num_taps, shift;
} l2k_cuda_z_step;

typedef struct l2k_cuda_z_program {
    int64_t threads;
    float scales[2]; /* of chains, as l2k_lifting.chain has them */
    l2k_cuda_z_samples samples;
    bool kernel, wide; /* a kernel, with its steps in the order of the direction; sums of 64 bits */
    l2k_cuda_z_step steps[L2K_CUDA_Z_STEPS];
    int32_t count;
    l2k_cuda_z_op ops[L2K_CUDA_Z_OPS];
} l2k_cuda_z_program;

/* Of a walk: slices that wait at a level, slices, lifting steps of w4. */
enum { L2K_CUDA_WALK_STATE = 4, L2K_CUDA_WALK_SLICES = 128, L2K_CUDA_WALK_STEPS = 3 };

/* The periods of an l2k_z_walk: slices of samples in their order, those of coefficients as l2k_z_walk_band has them, of
 * one period after the other. Places are multiples of L2K_CUDA_WALK_BYTES. */
typedef struct l2k_cuda_z_walk {
    int64_t threads;
    float scales[2];
    bool kernel; /* w4, with its steps in the order of the direction */
    l2k_cuda_z_step steps[L2K_CUDA_WALK_STEPS];
    l2k_cuda_z_samples samples;
    uint32_t outside[L2K_CUDA_WALK_SLICES / 32]; /* as bits, which slices of samples are in the caller's planes */
    uint32_t waiting_outside;                    /* and which of those that wait */
    int32_t levels, slices;
    char *waiting[L2K_Z_WALK_LEVELS][L2K_CUDA_WALK_STATE], *left[L2K_Z_WALK_LEVELS][L2K_CUDA_WALK_STATE];
    char *from[L2K_CUDA_WALK_SLICES], *to[L2K_CUDA_WALK_SLICES];
} l2k_cuda_z_walk;

/* The same with level 1 within the slices of coefficients, by the wavelet of the third direction, but for those that
 * have a place of values (`to`, inverse `from`). Slices of `parts` components, which are alike; columns from a multiple
 * of 16 on, and as many as a multiple of 16. Nothing that is stored in a forward prism is read there. */
typedef struct l2k_cuda_prism {
    l2k_cuda_z_walk walk;
    l2k_span y; /* coordinates minus a multiple of 8 */
    int32_t width, parts;
    int64_t part_bytes;                 /* of a component in a slice */
    l2k_cuda_bands bands;               /* level 1 of component 0 of slice 0, with LL */
    int64_t low_stride;                 /* of its LL, in bytes */
    int64_t to_next_band, to_next_low;  /* from a component to the next one, in bytes */
    int16_t slot[L2K_CUDA_WALK_SLICES]; /* by slice of coefficients: which one of those it is */
} l2k_cuda_prism;

/* The samples of one component of a slice, or of three that a component transform joins, and their values. */
typedef struct l2k_cuda_slice_part {
    l2k_cuda_plane planes[3];
    char *values[3]; /* packed */
} l2k_cuda_slice_part;

/* The same part of several slices, in one launch. */
typedef struct l2k_cuda_slice_parts {
    l2k_cuda_slice_part of[L2K_CUDA_SLICES];
    int32_t count, width, height, lanes;
} l2k_cuda_slice_parts;

/* Enqueue on a stream (a cudaStream_t); the result is a cudaError_t. */
int l2k_cuda_z_run(const l2k_cuda_z_program *program, l2k_cuda_value value, bool inverse, void *stream);
int l2k_cuda_z_walk_run(const l2k_cuda_z_walk *walk, l2k_cuda_value value, bool inverse, void *stream);
bool l2k_cuda_forward_prism_fits(bool w4, int levels);
bool l2k_cuda_inverse_prism_fits(bool w4, int levels);
int l2k_cuda_forward_prism(const l2k_cuda_prism *prism, void *stream);
int l2k_cuda_inverse_prism(const l2k_cuda_prism *prism, void *stream);
int l2k_cuda_slices_load(const l2k_cuda_slice_parts *parts, l2k_cuda_value value, void *stream);
int l2k_cuda_slices_store(const l2k_cuda_slice_parts *parts, l2k_cuda_value value, void *stream);

#ifdef __cplusplus
}
#endif

#endif
