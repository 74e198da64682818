/* The quantiser inside a kernel's stores, its inverse inside the loads: a lane's N values of a row of a subband,
 * between the wavelet's registers (int32 for the 5/3, float for the 9/7) and coefficients: int16, int32, or float,
 * which are not quantised. */
#ifndef L2K_QUANT_QUANTISER_CUDA_CUH
#define L2K_QUANT_QUANTISER_CUDA_CUH

#include "base/words_cuda.cuh"
#include "quant/cuda_bands.h"

/* ---- Values to coefficients ---------------------------------------------------------------------------------- */

/* `counts`: whether anybody will look at what the lane makes of its values; if not, they may be anything. */

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
__device__ __forceinline__ void l2k_divide_unsure(const float (&v)[N], const bool (&sure)[N], float step,
                                                  l2k_packed<D, N> *out)
{
#pragma unroll
    for (int k = 0; k < N; k++)
        if (!sure[k])
            out->replace(k, (D)l2k_divide_and_quantise(v[k], step));
    __syncwarp();
}

template <int N>
__device__ __forceinline__ void l2k_to_coefficients(const float (&v)[N], const l2k_quantiser_step &s, bool counts,
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
    if (!__all_sync(0xFFFFFFFFu, all || !counts))
        l2k_divide_unsure(v, sure, s.step, out);
}

template <int N>
__device__ __forceinline__ void l2k_to_coefficients(const float (&v)[N], const l2k_quantiser_step &s, bool counts,
                                                    l2k_packed<int32_t, N> *out)
{
    bool sure[N], all = true;
#pragma unroll
    for (int k = 0; k < N; k++) {
        uint32_t index = __float_as_uint(l2k_index_in_mantissa(v[k], s.below));
        sure[k] =
            index == __float_as_uint(l2k_index_in_mantissa(v[k], s.above)) && fabsf(v[k]) * s.above < L2K_INDEX_LIMIT;
        all = all && sure[k];
        out->set(k, (int32_t)(index - L2K_MANTISSA_ZERO));
    }
    if (!__all_sync(0xFFFFFFFFu, all || !counts))
        l2k_divide_unsure(v, sure, s.step, out);
}

/* Not quantised. */
template <int N>
__device__ __forceinline__ void l2k_to_coefficients(const float (&v)[N], const l2k_quantiser_step &, bool,
                                                    l2k_packed<float, N> *out)
{
#pragma unroll
    for (int k = 0; k < N; k++)
        out->set(k, v[k]);
}

/* ---- Coefficients to values; half steps ---------------------------------------------------------------------- */

template <class D, int N>
__device__ __forceinline__ void l2k_from_coefficients(const l2k_packed<D, N> &in, float, int32_t (&v)[N])
{
#pragma unroll
    for (int k = 0; k < N; k++)
        v[k] = in.get(k);
}

template <class D, int N>
__device__ __forceinline__ void l2k_from_coefficients(const l2k_packed<D, N> &in, float half_step, float (&v)[N])
{
#pragma unroll
    for (int k = 0; k < N; k++)
        v[k] = l2k_dequantise(in.get(k), half_step);
}

template <int N>
__device__ __forceinline__ void l2k_from_coefficients(const l2k_packed<float, N> &in, float, float (&v)[N])
{
#pragma unroll
    for (int k = 0; k < N; k++)
        v[k] = in.get(k);
}

#endif
