/* The quantiser inside a kernel's stores, its inverse inside the loads: from the wavelet's registers to coefficients. */
#ifndef L2K_QUANT_QUANTISER_CUDA_CUH
#define L2K_QUANT_QUANTISER_CUDA_CUH

#include "quant/quantiser.h"

/* 5/3: the coefficient itself. */
template <class D> __device__ __forceinline__ D l2k_to_coefficient(int32_t v, float)
{
    return (D)v;
}

/* 9/7: the index, or the value where coefficients are float32. */
template <class D> __device__ __forceinline__ D l2k_to_coefficient(float v, float step)
{
    return (D)l2k_quantise(v, step);
}

template <> __device__ __forceinline__ float l2k_to_coefficient<float>(float v, float)
{
    return v;
}

template <class D> __device__ __forceinline__ void l2k_from_coefficient(D q, float, int32_t *v)
{
    *v = (int32_t)q;
}

template <class D> __device__ __forceinline__ void l2k_from_coefficient(D q, float half_step, float *v)
{
    *v = l2k_dequantise((int32_t)q, half_step);
}

template <> __device__ __forceinline__ void l2k_from_coefficient<float>(float q, float, float *v)
{
    *v = q;
}

#endif
