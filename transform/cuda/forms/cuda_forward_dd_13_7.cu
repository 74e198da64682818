/* Kernels of a forward sweep by the named kernel dd-13-7 (dwt/kernel_named.h). */
#include "transform/cuda/cuda_forward_kernel.cuh"

L2K_CUDA_FORWARD_KERNEL(l2k_cuda_forward_dd_13_7, l2k_named_dd_13_7, 1)
