/* Kernels of a forward sweep by the named kernel w4 (dwt/kernel_named.h). */
#include "transform/cuda/cuda_forward_kernel.cuh"

L2K_CUDA_FORWARD_KERNEL(l2k_cuda_forward_w4, l2k_named_w4, 1)
