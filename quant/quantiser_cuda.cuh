/* The quantiser inside a kernel's stores, its inverse inside the loads: a lane's N values of a row of a subband, between
 * the wavelet's registers (int32 for the 5/3, float for the 9/7) and coefficients of 16 or 32 bits. */
#ifndef L2K_QUANT_QUANTISER_CUDA_CUH
#define L2K_QUANT_QUANTISER_CUDA_CUH

#include "base/words_cuda.cuh"
#include "quant/cuda_bands.h"

/* ---- Values to coefficients ---------------------------------------------------------------------------------- */

template <class D, int N>
__device__ __forceinline__ void l2k_to_coefficients(const int32_t (&v)[N], const l2k_quantiser_step &, bool,
                                                    l2k_packed<D, N> *out)
{
#pragma unroll
    for (int k = 0; k < N; k++)
        out->set(k, (D)v[k]);
}

/* Seldom called, often expanded. */
static __device__ __noinline__ int32_t l2k_divide_and_quantise(float v, float step)
{
    return l2k_quantise(v, step);
}

/* Indices of which the reciprocals are not sure, put right; all lanes come here together. */
template <class D, int N>
__device__ __forceinline__ void l2k_divide_unsure(const float (&v)[N], const bool (&sure)[N], float step, l2k_packed<D, N> *out)
{
#pragma unroll
    for (int k = 0; k < N; k++) {
        D index = out->get(k);
        if (!sure[k])
            index = (D)l2k_divide_and_quantise(v[k], step);
        out->replace(k, index);
    }
    __syncwarp();
}

template <int N>
__device__ __forceinline__ void l2k_to_coefficients(const float (&v)[N], const l2k_quantiser_step &s, bool,
                                                    l2k_packed<int16_t, N> *out)
{
    bool sure[N], all = true;
#pragma unroll
    for (int k = 0; k < N; k++) {
        uint32_t index = __float_as_uint(l2k_index_in_mantissa(v[k], s.below));
        sure[k] = index == __float_as_uint(l2k_index_in_mantissa(v[k], s.above));
        all = all && sure[k];
        out->set(k, (int16_t)index);
    }
    if (!__all_sync(0xFFFFFFFFu, all))
        l2k_divide_unsure(v, sure, s.step, out);
}

/* `floats`: the values as they are, in the bits of an integer. */
template <int N>
__device__ __forceinline__ void l2k_to_coefficients(const float (&v)[N], const l2k_quantiser_step &s, bool floats,
                                                    l2k_packed<int32_t, N> *out)
{
    if (floats) {
#pragma unroll
        for (int k = 0; k < N; k++)
            out->set(k, __float_as_int(v[k]));
        return;
    }
    bool sure[N], all = true;
#pragma unroll
    for (int k = 0; k < N; k++) {
        uint32_t index = __float_as_uint(l2k_index_in_mantissa(v[k], s.below));
        sure[k] = index == __float_as_uint(l2k_index_in_mantissa(v[k], s.above)) &&
                  fabsf(v[k]) * s.above < L2K_INDEX_LIMIT;
        all = all && sure[k];
        out->set(k, (int32_t)(index - L2K_MANTISSA_ZERO));
    }
    if (!__all_sync(0xFFFFFFFFu, all))
        l2k_divide_unsure(v, sure, s.step, out);
}

/* ---- Coefficients to values; step[].step is half the step ---------------------------------------------------- */

template <class D, int N>
__device__ __forceinline__ void l2k_from_coefficients(const l2k_packed<D, N> &in, float, bool, int32_t (&v)[N])
{
#pragma unroll
    for (int k = 0; k < N; k++)
        v[k] = in.get(k);
}

template <int N>
__device__ __forceinline__ void l2k_from_coefficients(const l2k_packed<int16_t, N> &in, float half_step, bool,
                                                      float (&v)[N])
{
#pragma unroll
    for (int k = 0; k < N; k++)
        v[k] = l2k_dequantise(in.get(k), half_step);
}

template <int N>
__device__ __forceinline__ void l2k_from_coefficients(const l2k_packed<int32_t, N> &in, float half_step, bool floats,
                                                      float (&v)[N])
{
#pragma unroll
    for (int k = 0; k < N; k++)
        v[k] = floats ? __int_as_float(in.get(k)) : l2k_dequantise(in.get(k), half_step);
}

#endif
