/* Kernels of a forward sweep by the named kernel haar (dwt/kernel_named.h). */
#include "transform/cuda/cuda_forward_kernel.cuh"

L2K_CUDA_FORWARD_KERNEL(l2k_cuda_forward_haar, l2k_named_haar, 2)
