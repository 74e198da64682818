/* Kernels of a forward sweep: 9/7 from samples to int16 coefficients (Annexes E to G). */
#include "transform/cuda/cuda_forward.cuh"

L2K_CUDA_FORWARD_FORM(l2k_cuda_forward_9_7_int16, l2k_wavelet_97, int16_t)
