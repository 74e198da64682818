/* Arithmetic of the third direction on a CUDA device (F.3, F.4, with a slice in place of a sample), for
 * values of one place in consecutive slices. */
#ifndef L2K_TRANSFORM_VOLUME_CUDA_CUDA_LIFTING_CUH
#define L2K_TRANSFORM_VOLUME_CUDA_CUDA_LIFTING_CUH

#include <cuda_runtime.h>

#include <type_traits>

#include "dwt/warp_cuda.cuh"

extern "C" {
#include "transform/volume/cuda/cuda_slices.h"
}

namespace
{

/* The wavelet of Part 1 for values of type S. */
template <class S>
using wavelet_of = typename std::conditional<std::is_same<S, float>::value, l2k_wavelet_97, l2k_wavelet_53>::type;

template <class S, int BYTES> struct __align__(BYTES) l2k_slice_values
{
    enum { N = BYTES / sizeof(S) };
    S v[N];
};

/* ---- Part 1's wavelets ----------------------------------------------------------------------------------------- */

__device__ __forceinline__ int32_t scaled(int32_t x, float)
{
    return x;
}

__device__ __forceinline__ float scaled(float x, float factor)
{
    return x * factor;
}

/* All steps and scaling that two more slices, the last two of x, allow. They finish the first two: forward a high one
 * and a low one, inverse two consecutive ones. */
template <class W, bool INVERSE>
__device__ __forceinline__ void lift_pair(typename W::T (&x)[W::STEPS + 2], const float (&scales)[2])
{
    enum { STEPS = W::STEPS };
    if (INVERSE) {
        x[STEPS] = scaled(x[STEPS], scales[0]);
        x[STEPS + 1] = scaled(x[STEPS + 1], scales[1]);
    }
#pragma unroll
    for (int k = 0; k < STEPS; k++)
        x[STEPS - k] = W::template lift<!INVERSE>(k, x[STEPS - k], x[STEPS - k - 1], x[STEPS - k + 1]);
    if (!INVERSE) {
        x[0] = scaled(x[0], scales[1]);
        x[1] = scaled(x[1], scales[0]);
    }
}

/* ---- w4 ---------------------------------------------------------------------------------------------------------- */

/* The same by w4, the only irreversible kernel: its steps have one, two and one tap. Forward, a pair follows two slices
 * and finishes a low one and a high one; inverse, it follows four. */
__device__ __forceinline__ void lift_w4(float (&x)[4], const l2k_cuda_z_step *steps, const float (&scales)[2])
{
    x[2] = l2k_kernel_lift_float(x[2], x[3] * steps[0].taps[0], false);
    x[3] = l2k_kernel_lift_float(x[3], l2k_kernel_add_float(x[0] * steps[1].taps[0], steps[1].taps[1], x[2]), false);
    x[0] = l2k_kernel_lift_float(x[0], x[3] * steps[2].taps[0], false);
    x[0] *= scales[0];
    x[1] *= scales[1];
}

__device__ __forceinline__ void lift_w4(float (&x)[6], const l2k_cuda_z_step *steps, const float (&scales)[2])
{
    x[4] *= scales[0];
    x[5] *= scales[1];
    x[2] = l2k_kernel_lift_float(x[2], x[5] * steps[0].taps[0], true);
    x[3] = l2k_kernel_lift_float(x[3], l2k_kernel_add_float(x[0] * steps[1].taps[0], steps[1].taps[1], x[2]), true);
    x[0] = l2k_kernel_lift_float(x[0], x[1] * steps[2].taps[0], true);
}

/* ---- Samples ----------------------------------------------------------------------------------------------------- */

/* A sample as a value, and back, without and with its level shift. */
template <bool INVERSE> __device__ __forceinline__ int16_t converted(const l2k_cuda_z_samples &p, int16_t x)
{
    if (INVERSE)
        return (int16_t)l2k_shift_up(x, p.shift);
    return (int16_t)l2k_shift_down(p.is_signed ? (int32_t)x : (int32_t)(uint16_t)x, p.shift);
}

template <bool INVERSE> __device__ __forceinline__ int32_t converted(const l2k_cuda_z_samples &p, int32_t x)
{
    return INVERSE ? l2k_shift_up(x, p.shift) : l2k_shift_down(x, p.shift);
}

template <bool INVERSE> __device__ __forceinline__ float converted(const l2k_cuda_z_samples &, float x)
{
    return x;
}

} // namespace

#endif
