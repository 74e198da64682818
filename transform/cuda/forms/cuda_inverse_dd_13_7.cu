/* Kernels of an inverse sweep by the named kernel dd-13-7 (dwt/kernel_named.h). */
#include "transform/cuda/cuda_inverse_kernel.cuh"

L2K_CUDA_INVERSE_KERNEL(l2k_cuda_inverse_dd_13_7, l2k_named_dd_13_7, 2)
