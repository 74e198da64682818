/* Kernels of an inverse sweep by the named kernel dd-9-7 (dwt/kernel_named.h). */
#include "transform/cuda/cuda_inverse_kernel.cuh"

L2K_CUDA_INVERSE_KERNEL(l2k_cuda_inverse_dd_9_7, l2k_named_dd_9_7, 2)
