/* Kernels of an inverse sweep by the named kernel w4 (dwt/kernel_named.h). */
#include "transform/cuda/cuda_inverse_kernel.cuh"

L2K_CUDA_INVERSE_KERNEL(l2k_cuda_inverse_w4, l2k_named_w4, 1)
