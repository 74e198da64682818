/* Kernels of an inverse sweep by the named kernel daubechies-int (dwt/kernel_named.h). */
#include "transform/cuda/cuda_inverse_kernel.cuh"

L2K_CUDA_INVERSE_KERNEL(l2k_cuda_inverse_daubechies_int, l2k_named_daubechies_int, 2)
