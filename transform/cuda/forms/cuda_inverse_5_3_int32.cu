/* Kernels of an inverse sweep: 5/3 from int32 coefficients to samples (Annexes E to G). */
#include "transform/cuda/cuda_inverse.cuh"

L2K_CUDA_INVERSE_FORM(l2k_cuda_inverse_5_3_int32, l2k_wavelet_53, int32_t)
