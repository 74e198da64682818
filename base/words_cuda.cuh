/* Runs of small values in registers, as words: how kernels load and store rows. */
#ifndef L2K_BASE_WORDS_CUDA_CUH
#define L2K_BASE_WORDS_CUDA_CUH

#include <cuda_pipeline.h>
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
    /* Access number `a` of ACCESS bytes. */
    template <int ACCESS> __device__ __forceinline__ void get(int a, const void *from)
    {
        if (ACCESS == 16) {
            uint4 q = *reinterpret_cast<const uint4 *>(from);
            w[4 * a] = q.x, w[4 * a + (N > 1)] = q.y, w[4 * a + 2 * (N > 2)] = q.z, w[4 * a + 3 * (N > 3)] = q.w;
        } else if (ACCESS == 8) {
            uint2 q = *reinterpret_cast<const uint2 *>(from);
            w[2 * a] = q.x, w[2 * a + (N > 1)] = q.y;
        } else {
            w[a] = *reinterpret_cast<const uint32_t *>(from);
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

/* ---- Rows between memory and a warp's lanes ------------------------------------------------------------------ */

/* A lane's N columns of rows in memory: the place of the first one in a row, how many columns a row has, and whether the
 * warp's lanes lie on addresses fit for whole accesses. Halo lanes of a store have `count` 0. */
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
    /* The lane's place in a row whose address is the same for all lanes; told so, the compiler keeps that one out of the
     * lanes' registers. Without BORDER `first` is not negative. */
    template <bool BORDER, class S> __device__ __forceinline__ S *in(S *row) const
    {
        return BORDER ? row + first
                      : reinterpret_cast<S *>((uintptr_t)row + (uint32_t)first * (uint32_t)sizeof(S));
    }
};

/* Rows on their way land in shared memory, where they cost no registers; each lane reads what it has asked for itself, or
 * what its neighbour has where a lane's part is less than four bytes. */
template <class S, int N> struct l2k_landing {
    typedef l2k_packed<S, N> packed;
    enum {
        BYTES = packed::BYTES,
        SIZE = 32 * BYTES,                       /* of a row */
        ACCESS = packed::SMALL ? 4 : packed::ALIGNMENT, /* bytes that are copied at once, and their alignment */
        ACCESSES = packed::SMALL ? 1 : BYTES / ACCESS
    };

    static __device__ __forceinline__ char *place(char *slot, int access)
    {
        return slot + (packed::SMALL ? (int)threadIdx.x * BYTES : (access * 32 + (int)threadIdx.x) * ACCESS);
    }

    /* Asks for the lane's columns; `present` bytes of them exist, the others become 0. */
    static __device__ __forceinline__ void copy(char *slot, const S *from, int present)
    {
        if (packed::SMALL && (threadIdx.x * BYTES) % 4 != 0)
            return;
#pragma unroll
        for (int a = 0; a < ACCESSES; a++) {
            int missing = packed::SMALL ? 0 : min(max((a + 1) * ACCESS - present, 0), (int)ACCESS);
            __pipeline_memcpy_async(place(slot, a), reinterpret_cast<const char *>(from) + a * ACCESS, ACCESS, missing);
        }
    }
    static __device__ __forceinline__ void put(char *slot, const packed &raw)
    {
        if (packed::SMALL)
            raw.store(reinterpret_cast<S *>(place(slot, 0)));
#pragma unroll
        for (int i = 0; i < packed::WORDS && !packed::SMALL; i++)
            reinterpret_cast<uint32_t *>(place(slot, i * 4 / ACCESS))[i % (ACCESS / 4)] = raw.words.w[i];
    }
    static __device__ __forceinline__ packed get(char *slot)
    {
        packed raw;
        if (packed::SMALL) {
            raw.words.w[0] = BYTES == 2 ? *reinterpret_cast<uint16_t *>(place(slot, 0))
                                        : *reinterpret_cast<uint8_t *>(place(slot, 0));
            return raw;
        }
#pragma unroll
        for (int a = 0; a < ACCESSES; a++)
            raw.words.template get<ACCESS>(a, place(slot, a));
        return raw;
    }

    /* A row of which each lane wants its run. Without BORDER all lanes are whole and aligned. */
    template <bool BORDER>
    static __device__ __forceinline__ void load(char *slot, const S *row, const l2k_lane_run<N> &run)
    {
        const S *from = run.template in<BORDER>(row);
        if (!BORDER) {
            copy(slot, from, BYTES);
        } else if (run.aligned && !packed::SMALL && run.first >= 0) {
            if (!run.is_empty())
                copy(slot, from, (run.count - run.first) * (int)sizeof(S));
        } else if (!run.is_empty()) {
            packed raw;
#pragma unroll
            for (int k = 0; k < N; k++)
                raw.set(k, run.has(k) ? from[k] : (S)0);
            put(slot, raw);
        }
    }
};

/* Columns from registers to a row. Without BORDER every lane is aligned and has all of its columns or none. */
template <bool BORDER, class S, int N>
__device__ __forceinline__ void l2k_store_run(S *row, const l2k_lane_run<N> &run, const l2k_packed<S, N> &raw)
{
    S *to = run.template in<BORDER>(row);
    if (BORDER ? run.is_empty() : run.count == 0)
        return;
    if (!BORDER || (run.aligned && run.is_whole())) {
        raw.store(to);
        return;
    }
#pragma unroll
    for (int k = 0; k < N; k++)
        if (run.has(k))
            to[k] = raw.get(k);
}

/* (float)u + 2^23 for u below 2^23: the low bits of that float are u. The difference of two of these is exact. */
__device__ __forceinline__ float l2k_biased_float(uint32_t u)
{
    return __uint_as_float(0x4B000000u | u);
}

#endif
