/* Runs of small values in registers, as words: how kernels load and store rows. */
#ifndef L2K_BASE_WORDS_CUDA_CUH
#define L2K_BASE_WORDS_CUDA_CUH

#include <stdint.h>

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
    enum { WORDS = l2k_words<SMALL ? 4 : BYTES>::N };
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

    __device__ __forceinline__ void flip(uint32_t mask)
    {
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            words.w[i] ^= mask;
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

/* A lane's N columns of a row in memory: the place of the first one in the row, how many columns the row has, and whether
 * the warp's lanes lie on addresses fit for whole accesses. Halo lanes of a store have `count` 0. */
template <int N> struct l2k_lane_run {
    int first, count;
    bool aligned;

    __device__ __forceinline__ bool is_whole() const
    {
        return first >= 0 && first + N <= count;
    }
    __device__ __forceinline__ bool has(int k) const
    {
        return (unsigned)(first + k) < (unsigned)count;
    }
    __device__ __forceinline__ bool is_empty() const
    {
        return first >= count || first + N <= 0;
    }
};

/* Columns of a row to and from registers. Without BORDER every lane has all of its columns, or, in a store, none. */
template <bool BORDER, class S, int N>
__device__ __forceinline__ void l2k_load_run(const S *from, const l2k_lane_run<N> &run, l2k_packed<S, N> *raw)
{
    if (run.aligned && (!BORDER || run.is_whole())) {
        raw->load(from);
    } else if (!BORDER || !run.is_empty()) {
#pragma unroll
        for (int k = 0; k < N; k++)
            raw->set(k, !BORDER || run.has(k) ? from[k] : (S)0);
    }
}

template <bool BORDER, class S, int N>
__device__ __forceinline__ void l2k_store_run(S *to, const l2k_lane_run<N> &run, const l2k_packed<S, N> &raw)
{
    if (BORDER ? run.is_empty() : run.count == 0)
        return;
    if (run.aligned && (!BORDER || run.is_whole())) {
        raw.store(to);
        return;
    }
#pragma unroll
    for (int k = 0; k < N; k++)
        if (!BORDER || run.has(k))
            to[k] = raw.get(k);
}

/* (float)u + 2^23 for u below 2^23: the low bits of that float are u. The difference of two of these is exact. */
__device__ __forceinline__ float l2k_biased_float(uint32_t u)
{
    return __uint_as_float(0x4B000000u | u);
}

#endif
