/* Kernels of a forward sweep: 9/7 from samples to float32 coefficients (Annexes E to G). */
#include "transform/cuda/cuda_forward.cuh"

L2K_CUDA_FORWARD_FORM(l2k_cuda_forward_9_7_float, l2k_wavelet_97, float)
