/* Kernels of an inverse sweep by the named kernel haar (dwt/kernel_named.h). */
#include "transform/cuda/cuda_inverse_kernel.cuh"

L2K_CUDA_INVERSE_KERNEL(l2k_cuda_inverse_haar, l2k_named_haar, 2)
