/* Kernels of a forward sweep by the named kernel 1-3 (dwt/kernel_named.h). */
#include "transform/cuda/cuda_forward_kernel.cuh"

L2K_CUDA_FORWARD_KERNEL(l2k_cuda_forward_1_3, l2k_named_1_3, 2)
