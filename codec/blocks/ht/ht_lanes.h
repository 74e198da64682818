/* One 32-bit value for each of L2K_LANES neighbouring quads, in the instruction set that the file is compiled for
 * (base/cpu.h): a vector, or in plain C a number. These functions complement C's operators. Conditions are lanes of all
 * ones or zeros. */
#ifndef L2K_CODEC_BLOCKS_HT_HT_LANES_H
#define L2K_CODEC_BLOCKS_HT_HT_LANES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/cpu.h"

#if defined(L2K_ROWS_BASE)
#define L2K_LANES 1
typedef uint32_t l2k_lanes;
typedef int32_t l2k_signed_lanes;
#else
#if defined(__AVX512F__)
#include <immintrin.h>
#define L2K_LANES 16
#elif defined(__AVX2__)
#include <immintrin.h>
#define L2K_LANES 8
#else
#ifdef __wasm_simd128__
#include <wasm_simd128.h>
#else
#include <arm_neon.h>
#endif
#define L2K_LANES 4
#endif
typedef uint32_t l2k_lanes __attribute__((vector_size(4 * L2K_LANES)));
typedef int32_t l2k_signed_lanes __attribute__((vector_size(4 * L2K_LANES)));
typedef uint64_t l2k_half_lanes __attribute__((vector_size(4 * L2K_LANES)));
#endif

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

/* ---- Plain C --------------------------------------------------------------------------------------------------- */

#if L2K_LANES == 1

static inline l2k_lanes l2k_lanes_equal(l2k_lanes a, l2k_lanes b)
{
    return a == b ? UINT32_MAX : 0;
}

static inline l2k_lanes l2k_lanes_max(l2k_lanes a, l2k_lanes b)
{
    return a > b ? a : b;
}

static inline l2k_lanes l2k_lanes_magnitude(l2k_lanes v)
{
    return v >> 31 ? 0u - v : v;
}

/* Bit length of v; 0 for 0. v < 2^31, and v < 2^24 unless `wide`; for -1 the result is arbitrary. */
static inline l2k_lanes l2k_lanes_length(l2k_lanes v, bool wide)
{
    (void)wide;
    return v ? 32u - (unsigned)__builtin_clz(v) : 0;
}

/* A bit for each lane whose highest bit is set. */
static inline uint64_t l2k_lanes_mask(l2k_lanes v)
{
    return v >> 31;
}

/* Pairs of samples, even places and odd places. */
static inline void l2k_lanes_load_int16(const int16_t *from, l2k_lanes *even, l2k_lanes *odd)
{
    *even = (uint32_t)from[0];
    *odd = (uint32_t)from[1];
}

static inline void l2k_lanes_load_int32(const int32_t *from, l2k_lanes *even, l2k_lanes *odd)
{
    *even = (uint32_t)from[0];
    *odd = (uint32_t)from[1];
}

/* In each lane joins `low` and, from bit `count` (0 to 32) on, `high`; quad i goes to even[i / 2] or odd[i / 2]. */
static inline void l2k_lanes_store_joined(uint64_t *even, uint64_t *odd, size_t i, l2k_lanes low, l2k_lanes high,
                                          l2k_lanes count)
{
    (i & 1 ? odd : even)[i / 2] = low | (uint64_t)high << count;
}

#else

/* ---- Vectors --------------------------------------------------------------------------------------------------- */

static inline l2k_lanes l2k_lanes_equal(l2k_lanes a, l2k_lanes b)
{
    return (l2k_lanes)(a == b);
}

static inline void l2k_lanes_load_int16(const int16_t *from, l2k_lanes *even, l2k_lanes *odd)
{
    l2k_signed_lanes v;
    memcpy(&v, from, sizeof v);
    *even = (l2k_lanes)((v << 16) >> 16);
    *odd = (l2k_lanes)(v >> 16);
}

static inline void l2k_lanes_store_joined(uint64_t *even, uint64_t *odd, size_t i, l2k_lanes low, l2k_lanes high,
                                          l2k_lanes count)
{
    const l2k_half_lanes a = (l2k_half_lanes)low, b = (l2k_half_lanes)high, n = (l2k_half_lanes)count;
    const l2k_half_lanes first = (a & UINT32_MAX) | (b & UINT32_MAX) << (n & UINT32_MAX);
    const l2k_half_lanes second = a >> 32 | (b >> 32) << (n >> 32);
    memcpy(even + i / 2, &first, sizeof first);
    memcpy(odd + i / 2, &second, sizeof second);
}

#endif

#if L2K_LANES == 16

static inline l2k_lanes l2k_lanes_max(l2k_lanes a, l2k_lanes b)
{
    return (l2k_lanes)_mm512_max_epu32((__m512i)a, (__m512i)b);
}

static inline l2k_lanes l2k_lanes_magnitude(l2k_lanes v)
{
    return (l2k_lanes)_mm512_abs_epi32((__m512i)v);
}

static inline l2k_lanes l2k_lanes_length(l2k_lanes v, bool wide)
{
    (void)wide;
    return 32 - (l2k_lanes)_mm512_lzcnt_epi32((__m512i)v);
}

static inline uint64_t l2k_lanes_mask(l2k_lanes v)
{
    return _mm512_movepi32_mask((__m512i)v);
}

static inline void l2k_lanes_load_int32(const int32_t *from, l2k_lanes *even, l2k_lanes *odd)
{
    const __m512i a = _mm512_loadu_si512(from), b = _mm512_loadu_si512(from + 16);
    const __m512i places = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    *even = (l2k_lanes)_mm512_permutex2var_epi32(a, places, b);
    *odd = (l2k_lanes)_mm512_permutex2var_epi32(a, _mm512_add_epi32(places, _mm512_set1_epi32(1)), b);
}

#elif L2K_LANES == 8

static inline l2k_lanes l2k_lanes_max(l2k_lanes a, l2k_lanes b)
{
    return (l2k_lanes)_mm256_max_epu32((__m256i)a, (__m256i)b);
}

static inline l2k_lanes l2k_lanes_magnitude(l2k_lanes v)
{
    return (l2k_lanes)_mm256_abs_epi32((__m256i)v);
}

/* From the exponent of the number as a float, with the bits cleared that could round it up. */
static inline l2k_lanes l2k_lanes_length(l2k_lanes v, bool wide)
{
    const l2k_lanes exact = wide ? v & ~(v >> 8) : v;
    const __m256i f = _mm256_castps_si256(_mm256_cvtepi32_ps((__m256i)exact));
    return (l2k_lanes)_mm256_subs_epu16(_mm256_srli_epi32(f, 23), _mm256_set1_epi32(126));
}

static inline uint64_t l2k_lanes_mask(l2k_lanes v)
{
    return (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps((__m256i)v));
}

static inline void l2k_lanes_load_int32(const int32_t *from, l2k_lanes *even, l2k_lanes *odd)
{
    const __m256 a = _mm256_loadu_ps((const float *)from), b = _mm256_loadu_ps((const float *)(from + 8));
    const __m256 e = _mm256_shuffle_ps(a, b, 0x88), o = _mm256_shuffle_ps(a, b, 0xDD);
    *even = (l2k_lanes)_mm256_permute4x64_epi64(_mm256_castps_si256(e), 0xD8);
    *odd = (l2k_lanes)_mm256_permute4x64_epi64(_mm256_castps_si256(o), 0xD8);
}

#elif L2K_LANES == 4 && defined(__wasm_simd128__)

static inline l2k_lanes l2k_lanes_max(l2k_lanes a, l2k_lanes b)
{
    return (l2k_lanes)wasm_u32x4_max((v128_t)a, (v128_t)b);
}

static inline l2k_lanes l2k_lanes_magnitude(l2k_lanes v)
{
    return (l2k_lanes)wasm_i32x4_abs((v128_t)v);
}

/* As for AVX2. */
static inline l2k_lanes l2k_lanes_length(l2k_lanes v, bool wide)
{
    const l2k_lanes exact = wide ? v & ~(v >> 8) : v;
    const v128_t exponent = wasm_u32x4_shr(wasm_f32x4_convert_i32x4((v128_t)exact), 23);
    return (l2k_lanes)wasm_u16x8_sub_sat(exponent, wasm_i32x4_splat(126));
}

static inline uint64_t l2k_lanes_mask(l2k_lanes v)
{
    return wasm_i32x4_bitmask((v128_t)v);
}

static inline void l2k_lanes_load_int32(const int32_t *from, l2k_lanes *even, l2k_lanes *odd)
{
    const l2k_lanes a = l2k_lanes_load((const uint32_t *)from), b = l2k_lanes_load((const uint32_t *)from + 4);
    *even = __builtin_shufflevector(a, b, 0, 2, 4, 6);
    *odd = __builtin_shufflevector(a, b, 1, 3, 5, 7);
}

#elif L2K_LANES == 4

static inline l2k_lanes l2k_lanes_max(l2k_lanes a, l2k_lanes b)
{
    return (l2k_lanes)vmaxq_u32((uint32x4_t)a, (uint32x4_t)b);
}

static inline l2k_lanes l2k_lanes_magnitude(l2k_lanes v)
{
    return (l2k_lanes)vreinterpretq_u32_s32(vabsq_s32((int32x4_t)v));
}

static inline l2k_lanes l2k_lanes_length(l2k_lanes v, bool wide)
{
    (void)wide;
    return 32 - (l2k_lanes)vclzq_u32((uint32x4_t)v);
}

static inline uint64_t l2k_lanes_mask(l2k_lanes v)
{
    const int32x4_t places = {0, 1, 2, 3};
    return vaddvq_u32(vshlq_u32(vshrq_n_u32((uint32x4_t)v, 31), places));
}

static inline void l2k_lanes_load_int32(const int32_t *from, l2k_lanes *even, l2k_lanes *odd)
{
    const int32x4x2_t v = vld2q_s32(from);
    *even = (l2k_lanes)vreinterpretq_u32_s32(v.val[0]);
    *odd = (l2k_lanes)vreinterpretq_u32_s32(v.val[1]);
}

#endif

#endif
