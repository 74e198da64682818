/* One 32-bit value for each of L2K_LANES neighbouring quads: a vector, of which compilers make instructions of the set
 * that the file is compiled for (base/cpu.h). These functions complement C's operators; where compilers find no good
 * instructions for their loops, intrinsics stand beside these. Conditions are lanes of all ones or zeros. */
#ifndef L2K_CODEC_BLOCKS_HT_HT_LANES_H
#define L2K_CODEC_BLOCKS_HT_HT_LANES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/cpu.h"

#if defined(__AVX2__) && !defined(L2K_ROWS_BASE)
#include <immintrin.h>
#define L2K_LANES 8
#else
#define L2K_LANES 4
#ifdef __aarch64__
#include <arm_neon.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#endif
#endif
typedef uint32_t l2k_lanes __attribute__((vector_size(4 * L2K_LANES)));
typedef int32_t l2k_signed_lanes __attribute__((vector_size(4 * L2K_LANES)));

static inline l2k_lanes l2k_lanes_load(const uint32_t *from)
{
    l2k_lanes v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline void l2k_lanes_store(uint32_t *to, l2k_lanes v)
{
    memcpy(to, &v, sizeof v);
}

/* All ones where the bit of v that lies `below_highest` below the highest bit is set. */
static inline l2k_lanes l2k_lanes_if_bit(l2k_lanes v, unsigned below_highest)
{
    return (l2k_lanes)((l2k_signed_lanes)(v << below_highest) >> 31);
}

static inline l2k_lanes l2k_lanes_equal(l2k_lanes a, l2k_lanes b)
{
    return (l2k_lanes)(a == b);
}

static inline l2k_lanes l2k_lanes_max(l2k_lanes a, l2k_lanes b)
{
#if defined(__wasm_simd128__)
    return (l2k_lanes)wasm_u32x4_max((v128_t)a, (v128_t)b);
#else
    for (unsigned i = 0; i < L2K_LANES; i++)
        a[i] = a[i] > b[i] ? a[i] : b[i];
    return a;
#endif
}

static inline l2k_lanes l2k_lanes_magnitude(l2k_lanes v)
{
#if L2K_LANES == 8
    return (l2k_lanes)_mm256_abs_epi32((__m256i)v);
#else
    const l2k_lanes negative = l2k_lanes_if_bit(v, 0);
    return (v ^ negative) - negative;
#endif
}

/* Bit length of v; 0 for 0. v < 2^31, and v < 2^24 unless `wide`; for -1 the result is arbitrary. Sets without an
 * instruction for this take the exponent of the number as a float, with the bits cleared that could round it up. */
static inline l2k_lanes l2k_lanes_length(l2k_lanes v, bool wide)
{
#if !defined(__aarch64__)
    typedef float floats __attribute__((vector_size(4 * L2K_LANES)));
    const l2k_lanes exact = wide ? v & ~(v >> 8) : v;
    const l2k_lanes exponent = (l2k_lanes) __builtin_convertvector((l2k_signed_lanes)exact, floats) >> 23;
    return l2k_lanes_max(exponent, (l2k_lanes){0} + 126) - 126;
#else
    (void)wide;
    for (unsigned i = 0; i < L2K_LANES; i++)
        v[i] = v[i] ? 32u - (unsigned)__builtin_clz(v[i]) : 0;
    return v;
#endif
}

/* A bit for each lane whose highest bit is set. */
static inline uint64_t l2k_lanes_mask(l2k_lanes v)
{
#if L2K_LANES == 8
    return (uint64_t)(uint32_t)_mm256_movemask_ps((__m256)v);
#elif defined(__wasm_simd128__)
    return wasm_i32x4_bitmask((v128_t)v);
#elif defined(__aarch64__)
    return vaddvq_u32((uint32x4_t)((v >> 31) << (l2k_lanes){0, 1, 2, 3}));
#else
    return v[0] >> 31 | v[1] >> 31 << 1 | v[2] >> 31 << 2 | v[3] >> 31 << 3;
#endif
}

/* Which half of a word comes first in memory. */
enum { L2K_LOW_FIRST = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ };

/* Pairs of samples, even places and odd places. */
static inline void l2k_lanes_load_int16(const int16_t *from, l2k_lanes *even, l2k_lanes *odd)
{
    const l2k_signed_lanes v = (l2k_signed_lanes)l2k_lanes_load((const void *)from);
    *(L2K_LOW_FIRST ? even : odd) = (l2k_lanes)((v << 16) >> 16);
    *(L2K_LOW_FIRST ? odd : even) = (l2k_lanes)(v >> 16);
}

static inline void l2k_lanes_load_int32(const int32_t *from, l2k_lanes *even, l2k_lanes *odd)
{
#if L2K_LANES == 8
    const __m256 a = _mm256_loadu_ps((const float *)from), b = _mm256_loadu_ps((const float *)(from + 8));
    *even = (l2k_lanes)_mm256_permute4x64_epi64((__m256i)_mm256_shuffle_ps(a, b, 0x88), 0xD8);
    *odd = (l2k_lanes)_mm256_permute4x64_epi64((__m256i)_mm256_shuffle_ps(a, b, 0xDD), 0xD8);
#elif defined(__clang__)
    const l2k_lanes a = l2k_lanes_load((const uint32_t *)from), b = l2k_lanes_load((const uint32_t *)from + 4);
    *even = __builtin_shufflevector(a, b, 0, 2, 4, 6);
    *odd = __builtin_shufflevector(a, b, 1, 3, 5, 7);
#else
    l2k_lanes a = {0}, b = {0};
    for (unsigned i = 0; i < L2K_LANES; i++) {
        a[i] = (uint32_t)from[2 * i];
        b[i] = (uint32_t)from[2 * i + 1];
    }
    *even = a;
    *odd = b;
#endif
}

/* In each lane joins `low` and, from bit `count` (0 to 32) on, `high`; quad i goes to even[i / 2] or odd[i / 2]. */
static inline void l2k_lanes_store_joined(uint64_t *even, uint64_t *odd, size_t i, l2k_lanes low, l2k_lanes high,
                                          l2k_lanes count)
{
    typedef uint64_t half_lanes __attribute__((vector_size(4 * L2K_LANES)));
    const half_lanes a = (half_lanes)low, b = (half_lanes)high, n = (half_lanes)count;
    const half_lanes first = (a & UINT32_MAX) | (b & UINT32_MAX) << (n & UINT32_MAX);
    const half_lanes second = a >> 32 | (b >> 32) << (n >> 32);
    memcpy((L2K_LOW_FIRST ? even : odd) + i / 2, &first, sizeof first);
    memcpy((L2K_LOW_FIRST ? odd : even) + i / 2, &second, sizeof second);
}

#endif
