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

#ifdef __cplusplus
}
#endif

#endif
