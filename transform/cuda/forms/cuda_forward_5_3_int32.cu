/* Kernels of a forward sweep: 5/3 from samples to int32 coefficients (Annexes E to G). */
#include "transform/cuda/cuda_forward.cuh"

L2K_CUDA_FORWARD_FORM(l2k_cuda_forward_5_3_int32, l2k_wavelet_53, int32_t)
