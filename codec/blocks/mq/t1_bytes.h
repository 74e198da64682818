/* Conversions between bit masks of 64 samples and a byte for each sample, and the picking of bytes by a mask: the parts
 * of t1_lists.c that compilers do not vectorise. */
#ifndef L2K_CODEC_BLOCKS_MQ_T1_BYTES_H
#define L2K_CODEC_BLOCKS_MQ_T1_BYTES_H

#include <stdint.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#endif

/* Transposes an 8 x 8 matrix of bits: bit 8 i + k becomes bit 8 k + i. */
static inline uint64_t transpose_bits(uint64_t x)
{
    uint64_t t = (x ^ x >> 7) & 0x00AA00AA00AA00AAu;
    x ^= t ^ t << 7;
    t = (x ^ x >> 14) & 0x0000CCCC0000CCCCu;
    x ^= t ^ t << 14;
    t = (x ^ x >> 28) & 0x00000000F0F0F0F0u;
    return x ^ t ^ t << 28;
}

/* bytes[i]: bit k is bit i of mask k, of masks[k * spacing]. count: 8 at most. */
static inline __attribute__((always_inline)) void masks_to_bytes(const uint64_t *masks, size_t spacing, unsigned count,
                                                                 uint8_t bytes[64])
{
#if defined(__AVX2__)
    const __m256i places =
        _mm256_setr_epi64x(0x0000000000000000, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i bits = _mm256_set1_epi64x((long long)0x8040201008040201u);
    __m256i low = _mm256_setzero_si256(), high = low;
    for (unsigned k = 0; k < count; k++) {
        const __m256i mask = _mm256_set1_epi64x((long long)masks[k * spacing]), bit = _mm256_set1_epi8((char)(1u << k));
        const __m256i first = _mm256_and_si256(_mm256_shuffle_epi8(mask, places), bits);
        const __m256i second =
            _mm256_and_si256(_mm256_shuffle_epi8(mask, _mm256_or_si256(places, _mm256_set1_epi8(4))), bits);
        low = _mm256_or_si256(low, _mm256_and_si256(_mm256_cmpeq_epi8(first, bits), bit));
        high = _mm256_or_si256(high, _mm256_and_si256(_mm256_cmpeq_epi8(second, bits), bit));
    }
    _mm256_storeu_si256((__m256i *)bytes, low);
    _mm256_storeu_si256((__m256i *)(bytes + 32), high);
#else
    for (unsigned i = 0; i < 8; i++) {
        uint64_t x = 0;
        for (unsigned k = 0; k < count; k++)
            x |= (masks[k * spacing] >> 8 * i & 0xFF) << 8 * k;
        x = transpose_bits(x);
        for (unsigned k = 0; k < 8; k++)
            bytes[8 * i + k] = (uint8_t)(x >> 8 * k);
    }
#endif
}

/* The reverse: bit i of masks[k * spacing] is bit k of byte i, where bytes 4 x to 4 x + 3 are those of columns[x], the
 * lowest first. */
static inline __attribute__((always_inline)) void bytes_to_masks(const uint32_t columns[16], uint64_t *masks,
                                                                 size_t spacing, unsigned count)
{
    uint64_t x[8];
    for (unsigned i = 0; i < 8; i++)
        x[i] = transpose_bits(columns[2 * i] | (uint64_t)columns[2 * i + 1] << 32);
    for (unsigned k = 0; k < count; k++) {
        uint64_t mask = 0;
        for (unsigned i = 0; i < 8; i++)
            mask |= (x[i] >> 8 * k & 0xFF) << 8 * i;
        masks[k * spacing] = mask;
    }
}

/* to[i] = from[order[i]] for eight bytes, of which the caller keeps the first ones. */
static inline void pick_bytes(const uint8_t from[8], const uint8_t order[8], uint8_t to[8])
{
#if defined(__AVX2__)
    _mm_storel_epi64((__m128i *)to,
                     _mm_shuffle_epi8(_mm_loadl_epi64((const __m128i *)from), _mm_loadl_epi64((const __m128i *)order)));
#elif defined(__aarch64__)
    vst1_u8(to, vtbl1_u8(vld1_u8(from), vld1_u8(order)));
#elif defined(__wasm_simd128__)
    wasm_v128_store64_lane(to, wasm_i8x16_swizzle(wasm_v128_load64_zero(from), wasm_v128_load64_zero(order)), 0);
#else
    for (unsigned i = 0; i < 8; i++)
        to[i] = from[order[i]];
#endif
}

#endif
