/* Kernels of a forward sweep by the named kernel daubechies-int (dwt/kernel_named.h). */
#include "transform/cuda/cuda_forward_kernel.cuh"

L2K_CUDA_FORWARD_KERNEL(l2k_cuda_forward_daubechies_int, l2k_named_daubechies_int, 2)
