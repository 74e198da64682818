/* The pixel pass inside a kernel's loads and stores: C columns of a row at a time, in registers. What is in the kernel's
 * sight is a plane in device memory, of pixels or of LL samples. */
#ifndef L2K_TILING_PIXEL_CUDA_CUH
#define L2K_TILING_PIXEL_CUDA_CUH

#include "tiling/pixel.h"

/* BYTES bytes in words: loaded and stored with the widest access that their size allows. */
template <int BYTES> struct l2k_words {
    static_assert(BYTES % 4 == 0, "whole words");
    enum { N = BYTES / 4, ALIGNMENT = BYTES % 16 == 0 ? 16 : BYTES % 8 == 0 ? 8 : 4 };
    uint32_t w[N];

    __device__ __forceinline__ void load(const void *from)
    {
        if (ALIGNMENT == 16) {
#pragma unroll
            for (int i = 0; i < N; i += 4) {
                uint4 q = __ldg(reinterpret_cast<const uint4 *>(from) + i / 4);
                w[i] = q.x, w[i + (N > 1)] = q.y, w[i + 2 * (N > 2)] = q.z, w[i + 3 * (N > 3)] = q.w;
            }
        } else if (ALIGNMENT == 8) {
#pragma unroll
            for (int i = 0; i < N; i += 2) {
                uint2 q = __ldg(reinterpret_cast<const uint2 *>(from) + i / 2);
                w[i] = q.x, w[i + (N > 1)] = q.y;
            }
        } else {
#pragma unroll
            for (int i = 0; i < N; i++)
                w[i] = __ldg(reinterpret_cast<const uint32_t *>(from) + i);
        }
    }
    __device__ __forceinline__ void store(void *to) const
    {
        if (ALIGNMENT == 16) {
#pragma unroll
            for (int i = 0; i < N; i += 4)
                reinterpret_cast<uint4 *>(to)[i / 4] =
                    make_uint4(w[i], w[i + (N > 1)], w[i + 2 * (N > 2)], w[i + 3 * (N > 3)]);
        } else if (ALIGNMENT == 8) {
#pragma unroll
            for (int i = 0; i < N; i += 2)
                reinterpret_cast<uint2 *>(to)[i / 2] = make_uint2(w[i], w[i + (N > 1)]);
        } else {
#pragma unroll
            for (int i = 0; i < N; i++)
                reinterpret_cast<uint32_t *>(to)[i] = w[i];
        }
    }
};

/* N values of type S in such words. Fewer than four bytes are an access of their own. */
template <class S, int N> struct l2k_packed {
    enum { BYTES = (int)sizeof(S) * N, SMALL = BYTES < 4, ALIGNMENT = SMALL ? BYTES : (int)l2k_words<SMALL ? 4 : BYTES>::ALIGNMENT };
    l2k_words<SMALL ? 4 : BYTES> words;

    __device__ __forceinline__ static bool is_aligned(const void *address)
    {
        return (reinterpret_cast<uintptr_t>(address) & (ALIGNMENT - 1)) == 0;
    }
    __device__ __forceinline__ void load(const S *from)
    {
        if (SMALL)
            words.w[0] = BYTES == 2 ? __ldg(reinterpret_cast<const uint16_t *>(from))
                                    : __ldg(reinterpret_cast<const uint8_t *>(from));
        else
            words.load(from);
    }
    __device__ __forceinline__ void store(S *to) const
    {
        if (SMALL && BYTES == 2)
            *reinterpret_cast<uint16_t *>(to) = (uint16_t)words.w[0];
        else if (SMALL)
            *reinterpret_cast<uint8_t *>(to) = (uint8_t)words.w[0];
        else
            words.store(to);
    }
    /* Value k, k known when compiling. */
    __device__ __forceinline__ S get(int k) const
    {
        uint32_t bits = words.w[k * (int)sizeof(S) / 4] >> 8 * (k * (int)sizeof(S) % 4);
        return from_bits(bits, (S *)0);
    }
    __device__ __forceinline__ void set(int k, S x)
    {
        int word = k * (int)sizeof(S) / 4, shift = 8 * (k * (int)sizeof(S) % 4);
        uint32_t bits = to_bits(x);
        words.w[word] = shift == 0 ? bits : words.w[word] | bits << shift;
    }

  private:
    template <class I> __device__ __forceinline__ static I from_bits(uint32_t bits, I *)
    {
        return (I)bits;
    }
    __device__ __forceinline__ static float from_bits(uint32_t bits, float *)
    {
        return __uint_as_float(bits);
    }
    template <class I> __device__ __forceinline__ static uint32_t to_bits(I x)
    {
        return (uint32_t)x & (sizeof(I) == 4 ? 0xFFFFFFFFu : sizeof(I) == 2 ? 0xFFFFu : 0xFFu);
    }
    __device__ __forceinline__ static uint32_t to_bits(float x)
    {
        return __float_as_uint(x);
    }
};

/* Stores x[k] at to[first + k] where 0 <= first + k < count. */
template <class S, int N> __device__ __forceinline__ void l2k_store_run(S *to, const S (&x)[N], int first, int count)
{
    if (first >= 0 && first + N <= count && l2k_packed<S, N>::is_aligned(to + first)) {
        l2k_packed<S, N> packed;
#pragma unroll
        for (int k = 0; k < N; k++)
            packed.set(k, x[k]);
        packed.store(to + first);
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
