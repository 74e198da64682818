/* Vectors of quads for ht_samples.h, in the instruction set that it is compiled for: operations that GCC's vector
 * extensions lack. A vector has L2K_QUADS quads of four lanes; two of them hold the even and the odd ones of 2
 * L2K_QUADS quads. Without L2K_QUADS there are no vectors. */
#ifndef L2K_CODEC_BLOCKS_HT_HT_VECTORS_H
#define L2K_CODEC_BLOCKS_HT_HT_VECTORS_H

#include <stdint.h>

#if defined(__AVX2__)
#include <immintrin.h>
#define L2K_QUADS 2
#define L2K_EACH_QUAD(a, b, c, d)                                                                                      \
    {                                                                                                                  \
        a, b, c, d, a, b, c, d                                                                                         \
    }
#elif (defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) || defined(__wasm_simd128__)
#ifdef __wasm_simd128__
#include <wasm_simd128.h>
#else
#include <arm_neon.h>
#endif
#define L2K_QUADS 1
#define L2K_EACH_QUAD(a, b, c, d)                                                                                      \
    {                                                                                                                  \
        a, b, c, d                                                                                                     \
    }
#endif

#ifdef L2K_QUADS

typedef uint32_t l2k_vector __attribute__((vector_size(16 * L2K_QUADS)));
typedef int32_t l2k_signed_vector __attribute__((vector_size(16 * L2K_QUADS)));

typedef uint16_t l2k_halves __attribute__((vector_size(16 * L2K_QUADS)));
typedef int16_t l2k_signed_halves __attribute__((vector_size(16 * L2K_QUADS)));

static inline l2k_vector l2k_load_vector(const void *from)
{
    l2k_vector v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
}

static inline void l2k_store_vector(void *to, l2k_vector v)
{
    __builtin_memcpy(to, &v, sizeof v);
}

#endif

#if defined(L2K_QUADS) && L2K_QUADS == 2

/* Spreads every other value over the lanes of a quad. */
static inline l2k_vector l2k_spread(const uint32_t *values)
{
    const __m256i a = _mm256_set1_epi32((int)values[0]), b = _mm256_set1_epi32((int)values[2]);
    return (l2k_vector)_mm256_blend_epi32(a, b, 0xF0);
}

/* 16 bytes for each quad, from the byte with its first bit on. */
static inline l2k_vector l2k_windows(const uint8_t *bits, const uint32_t *starts)
{
    const __m128i a = _mm_loadu_si128((const void *)(bits + (starts[0] >> 3)));
    const __m128i b = _mm_loadu_si128((const void *)(bits + (starts[2] >> 3)));
    return (l2k_vector)_mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
}

/* Permutes the bytes of each quad; zeros for places of 0xFF. */
static inline l2k_vector l2k_choose_bytes(l2k_vector from, l2k_vector places)
{
    return (l2k_vector)_mm256_shuffle_epi8((__m256i)from, (__m256i)places);
}

/* Splits even and odd quads into their upper and lower samples, column by column. */
static inline void l2k_split(l2k_vector even, l2k_vector odd, l2k_vector *top, l2k_vector *bottom)
{
    *top = (l2k_vector)_mm256_shuffle_ps((__m256)even, (__m256)odd, 0x88);
    *bottom = (l2k_vector)_mm256_shuffle_ps((__m256)even, (__m256)odd, 0xDD);
}

static inline void l2k_store_int16(int16_t *top, int16_t *bottom, l2k_vector upper, l2k_vector lower)
{
    const __m256i mixed = _mm256_packs_epi32((__m256i)upper, (__m256i)lower);
    const __m256i both = _mm256_permute4x64_epi64(mixed, 0xD8);
    _mm_storeu_si128((void *)top, _mm256_castsi256_si128(both));
    _mm_storeu_si128((void *)bottom, _mm256_extracti128_si256(both, 1));
}

#elif defined(L2K_QUADS) && defined(__wasm_simd128__) /* what columns need */

static inline l2k_vector l2k_choose_bytes(l2k_vector from, l2k_vector places)
{
    return (l2k_vector)wasm_i8x16_swizzle((v128_t)from, (v128_t)places);
}

static inline void l2k_store_int16(int16_t *top, int16_t *bottom, l2k_vector upper, l2k_vector lower)
{
    const v128_t both = wasm_i16x8_narrow_i32x4((v128_t)upper, (v128_t)lower);
    wasm_v128_store64_lane(top, both, 0);
    wasm_v128_store64_lane(bottom, both, 1);
}

#elif defined(L2K_QUADS)

static inline l2k_vector l2k_spread(const uint32_t *values)
{
    return (l2k_vector)vdupq_n_u32(values[0]);
}

static inline l2k_vector l2k_windows(const uint8_t *bits, const uint32_t *starts)
{
    return (l2k_vector)vld1q_u8(bits + (starts[0] >> 3));
}

static inline l2k_vector l2k_choose_bytes(l2k_vector from, l2k_vector places)
{
    return (l2k_vector)vqtbl1q_u8((uint8x16_t)from, (uint8x16_t)places);
}

static inline void l2k_split(l2k_vector even, l2k_vector odd, l2k_vector *top, l2k_vector *bottom)
{
    *top = (l2k_vector)vuzp1q_u32((uint32x4_t)even, (uint32x4_t)odd);
    *bottom = (l2k_vector)vuzp2q_u32((uint32x4_t)even, (uint32x4_t)odd);
}

static inline void l2k_store_int16(int16_t *top, int16_t *bottom, l2k_vector upper, l2k_vector lower)
{
    vst1_s16(top, vmovn_s32((int32x4_t)upper));
    vst1_s16(bottom, vmovn_s32((int32x4_t)lower));
}

#endif

#endif
