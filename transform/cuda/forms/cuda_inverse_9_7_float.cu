/* Kernels of an inverse sweep: 9/7 from float32 coefficients to samples (Annexes E to G). */
#include "transform/cuda/cuda_inverse.cuh"

L2K_CUDA_INVERSE_FORM(l2k_cuda_inverse_9_7_float, l2k_wavelet_97, float)
