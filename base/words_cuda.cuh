/* Runs of small values in registers, packed into words: how kernels load and store rows. */
#ifndef L2K_BASE_WORDS_CUDA_CUH
#define L2K_BASE_WORDS_CUDA_CUH

#include <stdint.h>

/* BYTES bytes in words, loaded and stored with the widest access that their size allows. */
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
    /* Access number `a` of ACCESS bytes, from shared memory. */
    template <int ACCESS> __device__ __forceinline__ void get(int a, uint32_t from)
    {
        if (ACCESS == 16)
            asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(w[4 * a]), "=r"(w[4 * a + (N > 1)]), "=r"(w[4 * a + 2 * (N > 2)]),
                           "=r"(w[4 * a + 3 * (N > 3)])
                         : "r"(from)
                         : "memory");
        else if (ACCESS == 8)
            asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
                         : "=r"(w[2 * a]), "=r"(w[2 * a + (N > 1)])
                         : "r"(from)
                         : "memory");
        else
            asm volatile("ld.shared.u32 %0, [%1];" : "=r"(w[a]) : "r"(from) : "memory");
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

/* N values of type S in such words. If they take less than four bytes, they are loaded and stored in one short
 * access. */
template <class S, int N> struct l2k_packed {
    enum { BYTES = (int)sizeof(S) * N, SMALL = BYTES < 4 };
    typedef l2k_words<(SMALL ? 4 : BYTES)> words_type;
    enum { ALIGNMENT = SMALL ? BYTES : (int)words_type::ALIGNMENT, WORDS = words_type::N };
    words_type words;

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
    /* Value k, a compile-time constant. */
    __device__ __forceinline__ S get(int k) const
    {
        uint32_t bits = words.w[k * (int)sizeof(S) / 4] >> 8 * (k * (int)sizeof(S) % 4);
        return from_bits(bits, (S *)0);
    }
    /* To be called with ascending k. */
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

/* A lane's N columns of rows in memory: the position of the first in a row, the number of columns of a row, and whether
 * the warp's lanes are aligned for vector accesses. Lanes that store nothing have `count` 0. */
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

/* These make the compiler keep a value in registers instead of recomputing or reloading it at each use. */
__device__ __forceinline__ int l2k_pinned(int x)
{
    int y;
    asm volatile("mov.b32 %0, %1;" : "=r"(y) : "r"(x));
    return y;
}

__device__ __forceinline__ int64_t l2k_pinned(int64_t x)
{
    int64_t y;
    asm volatile("mov.b64 %0, %1;" : "=l"(y) : "l"(x));
    return y;
}

/* Shared memory by its own 32-bit addresses. */
typedef uint32_t l2k_shared;

__device__ __forceinline__ l2k_shared l2k_shared_address(void *memory)
{
    return (l2k_shared)l2k_pinned((int)__cvta_generic_to_shared(memory));
}

/* Asynchronous copies from device to shared memory (from compute capability 8.0 on; before, plain ones). ACCESS is 4, 8
 * or 16 bytes and the alignment of both addresses; bytes past the first `present` become 0. CACHED: through the
 * first-level cache, where other lanes or accesses use the same sectors. */
template <int ACCESS, bool CACHED>
__device__ __forceinline__ void l2k_copy_async(l2k_shared to, const char *from, int present)
{
#if __CUDA_ARCH__ >= 800
    if (ACCESS == 16 && !CACHED)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(present) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(ACCESS), "r"(present)
                     : "memory");
#else
    for (int i = 0; i < ACCESS; i++) {
        int byte = i < present ? from[i] : 0;
        asm volatile("st.shared.u8 [%0], %1;" ::"r"(to + i), "r"(byte) : "memory");
    }
#endif
}

/* Ends a group of copies. */
__device__ __forceinline__ void l2k_end_copies()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits for all groups but the last N. */
template <int N> __device__ __forceinline__ void l2k_await_copies()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
    __syncwarp();
}

/* Rows in flight land in shared memory, where they cost no registers. A lane reads what it copied itself, or its
 * neighbour did if a lane's part is less than four bytes. `slot` is the address of the warp's row. */
template <class S, int N> struct l2k_landing {
    typedef l2k_packed<S, N> packed;
    enum {
        BYTES = packed::BYTES,
        SIZE = 32 * BYTES,                              /* of a row */
        ACCESS = packed::SMALL ? 4 : packed::ALIGNMENT, /* bytes per copy, and their alignment */
        ACCESSES = packed::SMALL ? 1 : BYTES / ACCESS
    };

    static __device__ __forceinline__ l2k_shared place(l2k_shared slot, int lane, int access)
    {
        return slot + (packed::SMALL ? lane * BYTES : lane * ACCESS) + access * 32 * ACCESS;
    }

    /* Starts the copy of the lane's columns; `present` bytes of them exist, the others become 0. */
    static __device__ __forceinline__ void copy(l2k_shared slot, int lane, const S *from, int present)
    {
        if (packed::SMALL && (lane * BYTES) % 4 != 0)
            return;
#pragma unroll
        for (int a = 0; a < ACCESSES; a++) {
            int here = packed::SMALL ? 4 : min(max(present - a * ACCESS, 0), (int)ACCESS);
            l2k_copy_async<ACCESS, (ACCESSES > 1)>(place(slot, lane, a),
                                                   reinterpret_cast<const char *>(from) + a * ACCESS, here);
        }
    }
    static __device__ __forceinline__ void put(l2k_shared slot, int lane, const packed &raw)
    {
        if (BYTES == 1)
            asm volatile("st.shared.u8 [%0], %1;" ::"r"(place(slot, lane, 0)), "r"(raw.words.w[0]) : "memory");
        if (BYTES == 2)
            asm volatile("st.shared.u16 [%0], %1;" ::"r"(place(slot, lane, 0)), "h"((uint16_t)raw.words.w[0])
                         : "memory");
#pragma unroll
        for (int i = 0; i < packed::WORDS && !packed::SMALL; i++)
            asm volatile("st.shared.u32 [%0], %1;" ::"r"(place(slot, lane, i * 4 / ACCESS) + i % (ACCESS / 4) * 4),
                         "r"(raw.words.w[i])
                         : "memory");
    }
    static __device__ __forceinline__ packed get(l2k_shared slot, int lane)
    {
        packed raw;
        if constexpr (packed::SMALL) {
            uint16_t half = 0;
            if (BYTES == 1)
                asm volatile("ld.shared.u8 %0, [%1];" : "=h"(half) : "r"(place(slot, lane, 0)) : "memory");
            else
                asm volatile("ld.shared.u16 %0, [%1];" : "=h"(half) : "r"(place(slot, lane, 0)) : "memory");
            raw.words.w[0] = half;
        } else {
#pragma unroll
            for (int a = 0; a < ACCESSES; a++)
                raw.words.template get<ACCESS>(a, place(slot, lane, a));
        }
        return raw;
    }

    /* Loads each lane's run of a row, as far as the row goes. */
    static __device__ __forceinline__ void load(l2k_shared slot, int lane, const S *row, const l2k_lane_run<N> &run)
    {
        const S *from = row + run.first;
        if (run.is_empty())
            return;
        if (run.aligned && !packed::SMALL && run.first >= 0) {
            copy(slot, lane, from, (run.count - run.first) * (int)sizeof(S));
        } else {
            packed raw;
#pragma unroll
            for (int k = 0; k < N; k++)
                raw.set(k, run.has(k) ? from[k] : (S)0);
            put(slot, lane, raw);
        }
    }
};

/* Stores columns from registers to a row, as far as the row has them. */
template <class S, int N>
__device__ __forceinline__ void l2k_store_run(S *row, const l2k_lane_run<N> &run, const l2k_packed<S, N> &raw)
{
    S *to = row + run.first;
    if (run.aligned && run.is_whole()) {
        raw.store(to);
    } else {
#pragma unroll
        for (int k = 0; k < N; k++)
            if (run.has(k))
                to[k] = raw.get(k);
    }
}

/* Stores a warp's part of a row at any address. A lane has the bytes at `to`, which follow those of the lane before. The
 * part goes from `low` to `high`, counted from `to`; it does not begin in the first lane nor end in the last one. The lane
 * that has a word's last byte stores it, byte by byte if only some are in the part. Call it in all lanes of a warp. */
template <class S, int N>
__device__ __forceinline__ void l2k_store_part(char *to, int low, int high, const l2k_packed<S, N> &raw)
{
    const int off = (int)((uintptr_t)to & 3);
    uint32_t before = __shfl_up_sync(0xFFFFFFFFu, raw.words.w[l2k_packed<S, N>::WORDS - 1], 1);
#pragma unroll
    for (int i = 0; i < l2k_packed<S, N>::WORDS; i++) {
        const int first = 4 * i - off;
        const uint32_t word = __funnelshift_l(before, raw.words.w[i], 8 * off);
        if (first >= low && first + 4 <= high)
            *reinterpret_cast<uint32_t *>(to + first) = word;
        else
#pragma unroll 1
            for (int b = max(low - first, 0); b < min(high - first, 4); b++)
                to[first + b] = (char)(word >> 8 * b);
        before = raw.words.w[i];
    }
}

/* A pointer to a lane's columns that advances from row to row, where each lane has all of its columns or none and
 * accesses are aligned. `some` is pinned. */
template <class S> struct l2k_cursor {
    S *at;
    int32_t stride; /* bytes */
    bool some;      /* whether the lane takes part */

    __device__ __forceinline__ l2k_cursor()
    {
    }
    __device__ __forceinline__ l2k_cursor(S *first, int32_t row_stride, bool takes_part)
        : at(first), stride(row_stride), some(l2k_pinned((int)takes_part) != 0)
    {
    }
    __device__ __forceinline__ void next(int rows)
    {
        at = (S *)((const char *)at + (int64_t)stride * rows);
    }
    /* The lane's columns `rows` rows and `offset` bytes further on. */
    __device__ __forceinline__ S *place(int rows, int64_t offset) const
    {
        return (S *)((const char *)at + (int64_t)stride * rows + offset);
    }
    template <int N>
    __device__ __forceinline__ void store(int rows, int64_t offset, const l2k_packed<S, N> &raw, bool keep) const
    {
        if (some && keep)
            raw.store(place(rows, offset));
    }
};

/* (float)u + 2^23 for u below 2^23: the low bits of that float are u. The difference of two of these is exact. */
__device__ __forceinline__ float l2k_biased_float(uint32_t u)
{
    return __uint_as_float(0x4B000000u | u);
}

#endif
