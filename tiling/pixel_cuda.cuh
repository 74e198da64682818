/* The pixel pass inside a kernel's loads and stores: C columns of a row at a time, in registers. What is in the kernel's
 * sight is a plane in device memory, of pixels or of LL samples. */
#ifndef L2K_TILING_PIXEL_CUDA_CUH
#define L2K_TILING_PIXEL_CUDA_CUH

#include "tiling/pixel.h"

/* N values of type S that are loaded and stored at once where the address allows it. */
template <class S, int N> struct alignas(sizeof(S) * N > 16 ? 16 : sizeof(S) * N) l2k_vector {
    S v[N];
};

template <class S, int N> __device__ __forceinline__ bool l2k_is_aligned(const void *address)
{
    return (reinterpret_cast<uintptr_t>(address) & (alignof(l2k_vector<S, N>) - 1)) == 0;
}

/* Stores x[k] at to[first + k] where 0 <= first + k < count. */
template <class S, int N> __device__ __forceinline__ void l2k_store_run(S *to, const S (&x)[N], int first, int count)
{
    if (first >= 0 && first + N <= count && l2k_is_aligned<S, N>(to + first)) {
        l2k_vector<S, N> packed;
#pragma unroll
        for (int k = 0; k < N; k++)
            packed.v[k] = x[k];
        *reinterpret_cast<l2k_vector<S, N> *>(to + first) = packed;
        return;
    }
#pragma unroll
    for (int k = 0; k < N; k++)
        if (first + k >= 0 && first + k < count)
            to[first + k] = x[k];
}

/* A sample of any type at any address. */
__device__ __forceinline__ int32_t l2k_load_any(const char *at, l2k_sample_type type)
{
    switch (type) {
    case L2K_SAMPLE_U8:
        return *reinterpret_cast<const uint8_t *>(at);
    case L2K_SAMPLE_S8:
        return *reinterpret_cast<const int8_t *>(at);
    case L2K_SAMPLE_U16:
        return (int32_t)((uint32_t)(uint8_t)at[0] | (uint32_t)(uint8_t)at[1] << 8);
    case L2K_SAMPLE_S16:
        return (int16_t)((uint32_t)(uint8_t)at[0] | (uint32_t)(uint8_t)at[1] << 8);
    default:
        return (int32_t)((uint32_t)(uint8_t)at[0] | (uint32_t)(uint8_t)at[1] << 8 | (uint32_t)(uint8_t)at[2] << 16 |
                         (uint32_t)(uint8_t)at[3] << 24);
    }
}

__device__ __forceinline__ void l2k_store_any(char *at, l2k_sample_type type, int32_t value)
{
    int bytes = type <= L2K_SAMPLE_S8 ? 1 : type <= L2K_SAMPLE_S16 ? 2 : 4;
    for (int i = 0; i < bytes; i++)
        at[i] = (char)((uint32_t)value >> 8 * i);
}

/* One component of the forward transforms, from the three shifted samples. */
__device__ __forceinline__ void l2k_join_forward(int32_t r, int32_t g, int32_t b, int component, int32_t *out)
{
    l2k_rct_forward(&r, &g, &b);
    *out = component == 0 ? r : component == 1 ? g : b;
}

__device__ __forceinline__ void l2k_join_forward(int32_t r, int32_t g, int32_t b, int component, float *out)
{
    float x = (float)r, y = (float)g, z = (float)b;
    l2k_ict_forward(&x, &y, &z);
    *out = component == 0 ? x : component == 1 ? y : z;
}

/* A finished value back to a sample. */
__device__ __forceinline__ int32_t l2k_finish(int32_t value, l2k_level_shift shift)
{
    return l2k_shift_up(value, shift);
}

__device__ __forceinline__ int32_t l2k_finish(float value, l2k_level_shift shift)
{
    return l2k_shift_up_f32(value, shift);
}

__device__ __forceinline__ void l2k_join_inverse(int32_t *a, int32_t *b, int32_t *c)
{
    l2k_rct_inverse(a, b, c);
}

__device__ __forceinline__ void l2k_join_inverse(float *a, float *b, float *c)
{
    l2k_ict_inverse(a, b, c);
}

#endif
