/* Kernels of an inverse sweep by the named kernel fidelity (dwt/kernel_named.h). */
#include "transform/cuda/cuda_inverse_kernel.cuh"

L2K_CUDA_INVERSE_KERNEL(l2k_cuda_inverse_fidelity, l2k_named_fidelity, 1)
