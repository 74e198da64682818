/* The launchers of the sweep kernels, one per direction, wavelet and coefficient type. Each has a file of its own,
 * which instantiates the kernels of cuda_forward.cuh or cuda_inverse.cuh, so that make can compile them side by side.
 */
#ifndef L2K_TRANSFORM_CUDA_FORMS_CUDA_FORMS_H
#define L2K_TRANSFORM_CUDA_FORMS_CUDA_FORMS_H

#include "transform/cuda/cuda_sweep.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Enqueues a sweep that is not empty on a stream (a cudaStream_t); the result is a cudaError_t. */
typedef int l2k_cuda_form(const l2k_cuda_sweep *sweep, void *stream);

l2k_cuda_form l2k_cuda_forward_5_3_int16, l2k_cuda_forward_5_3_int32;
l2k_cuda_form l2k_cuda_forward_9_7_int16, l2k_cuda_forward_9_7_int32, l2k_cuda_forward_9_7_float;
l2k_cuda_form l2k_cuda_inverse_5_3_int16, l2k_cuda_inverse_5_3_int32;
l2k_cuda_form l2k_cuda_inverse_9_7_int16, l2k_cuda_inverse_9_7_int32, l2k_cuda_inverse_9_7_float;

/* Of small levels with int16 coefficients (in_tiles). */
l2k_cuda_form l2k_cuda_forward_5_3_tiles, l2k_cuda_inverse_5_3_tiles;

/* Of named kernels, one level, with coefficients of any type that the kernel has. */
l2k_cuda_form l2k_cuda_forward_haar, l2k_cuda_forward_1_3, l2k_cuda_forward_dd_9_7, l2k_cuda_forward_dd_13_7;
l2k_cuda_form l2k_cuda_forward_daubechies_int, l2k_cuda_forward_fidelity, l2k_cuda_forward_w4;
l2k_cuda_form l2k_cuda_inverse_haar, l2k_cuda_inverse_1_3, l2k_cuda_inverse_dd_9_7, l2k_cuda_inverse_dd_13_7;
l2k_cuda_form l2k_cuda_inverse_daubechies_int, l2k_cuda_inverse_fidelity, l2k_cuda_inverse_w4;

#ifdef __cplusplus
}
#endif

#endif
