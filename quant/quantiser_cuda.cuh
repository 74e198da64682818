/* The quantiser (Annex E) inside a kernel's stores and its inverse inside the loads: a lane's N values of a row of a
 * subband, between registers (int32 for the 5/3, float for the 9/7) and coefficients (int16, int32, or float, which are
 * not quantised). */
#ifndef L2K_QUANT_QUANTISER_CUDA_CUH
#define L2K_QUANT_QUANTISER_CUDA_CUH

#include <type_traits>

#include "base/words_cuda.cuh"
#include "quant/quantiser.h"

/* ---- Values to coefficients ---------------------------------------------------------------------------------- */

/* Not quantised. */
template <class T, class D, int N>
__device__ __forceinline__ void l2k_to_coefficients(const T (&v)[N], const l2k_quantiser_step &, l2k_packed<D, N> *out)
{
#pragma unroll
    for (int k = 0; k < N; k++)
        out->set(k, (D)v[k]);
}

/* The index that l2k_quantise returns for the quotient: it rounds to six binary places before truncating, so a quotient
 * that is at most 1/128 short of the next integer is raised to it; the sum itself must not be rounded up. */
__device__ __forceinline__ int32_t l2k_index_of(float quotient)
{
    return (int32_t)__fadd_rz(quotient, copysignf(1.0f / 128, quotient));
}

template <int N>
__device__ __forceinline__ void l2k_to_coefficients(const float (&v)[N], const l2k_quantiser_step &s,
                                                    l2k_packed<int16_t, N> *out)
{
#pragma unroll
    for (int k = 0; k < N; k++)
        out->set(k, (int16_t)l2k_index_of(l2k_quotient(v[k], s)));
}

/* Quotients may have any magnitude here, and saturate as in l2k_quantise. */
template <int N>
__device__ __forceinline__ void l2k_to_coefficients(const float (&v)[N], const l2k_quantiser_step &s,
                                                    l2k_packed<int32_t, N> *out)
{
#pragma unroll
    for (int k = 0; k < N; k++) {
        float near = v[k] * s.reciprocal, quotient = l2k_quotient(v[k], s);
        quotient = fabsf(near) < 67108864.0f ? quotient : near; /* 2^26: far beyond, where products overflow */
        out->set(k, l2k_index_of(fminf(fmaxf(quotient, -33554432.0f), 33554430.0f)));
    }
}

/* ---- Coefficients to values, by half steps ------------------------------------------------------------------- */

template <class D, class T, int N>
__device__ __forceinline__ void l2k_from_coefficients(const l2k_packed<D, N> &in, float half_step, T (&v)[N])
{
#pragma unroll
    for (int k = 0; k < N; k++)
        if constexpr (std::is_same<T, float>::value && !std::is_same<D, float>::value)
            v[k] = l2k_dequantise(in.get(k), half_step);
        else
            v[k] = in.get(k);
}

#endif
