/* A quad's samples as the HT encoder's kernel sees them, of 16 or 32 bits. */
#ifndef L2K_CODEC_ENGINE_CUDA_HT_HT_ENCODE_QUADS_CUH
#define L2K_CODEC_ENGINE_CUDA_HT_HT_ENCODE_QUADS_CUH

extern "C" {
#include "quant/quantiser.h"
}
#include "codec/engine/cuda/blocks/warp.cuh"

namespace
{

/* ---- Rows of two samples, as loaded ---------------------------------------------------------------------------- */

template <class S> struct pair_of {
    S left, right;
};

template <class V, class S> __device__ __forceinline__ pair_of<S> load_two(const S *from, bool second, bool aligned)
{
    if (aligned) {
        const V both = __ldg(reinterpret_cast<const V *>(from));
        return pair_of<S>{both.x, both.y};
    }
    return pair_of<S>{from[0], second ? from[1] : 0};
}

__device__ __forceinline__ uint32_t load_pair(const int16_t *from, bool second, bool aligned)
{
    if (aligned)
        return __ldg(reinterpret_cast<const uint32_t *>(from));
    return (uint16_t)from[0] | (second ? (uint32_t)(uint16_t)from[1] << 16 : 0);
}

__device__ __forceinline__ pair_of<int32_t> load_pair(const int32_t *from, bool second, bool aligned)
{
    return load_two<int2>(from, second, aligned);
}

/* Coefficients of the 9/7 as they come from the transform. */
__device__ __forceinline__ pair_of<float> load_pair(const float *from, bool second, bool aligned)
{
    return load_two<float2>(from, second, aligned);
}

/* ---- Quads ----------------------------------------------------------------------------------------------------- */

/* A quad's samples, numbered by columns: 0 and 1 on the left, 2 and 3 on the right. For each, with magnitude mu > 0:
 * doubled = 2 mu - 1, whose bits are its exponent, and value = 2 (mu - 1) + sign; both 0 for 0.
 *
 * 16 bits: two samples in a word, 0 and 2 in `top`, 1 and 3 in `low`. */
struct narrow_quad {
    typedef int16_t sample;
    typedef uint32_t pair;
    enum { RING = 128, MOST_BITS = 16, MOST_PLANES = 16 }; /* ring: 32 quads of 64 bits beside an unfinished chunk */
    uint32_t doubled_top, doubled_low, value_top, value_low, ones_top, ones_low;
    uint32_t magnitudes; /* OR of all */

    __device__ __forceinline__ void split(uint32_t samples, uint32_t &doubled, uint32_t &value, uint32_t &ones)
    {
        const uint32_t sign = (samples >> 15) & 0x10001, magnitude = (samples ^ sign * 0xFFFFu) + sign;
        ones = ((magnitude + 0x7FFF7FFFu) >> 15) & 0x10001;
        doubled = 2 * magnitude - ones;
        value = doubled - ones + sign;
        magnitudes |= magnitude;
    }
    __device__ __forceinline__ void take(pair top, pair low, float)
    {
        magnitudes = 0;
        split(top, doubled_top, value_top, ones_top);
        split(low, doubled_low, value_low, ones_low);
    }
    __device__ __forceinline__ uint32_t significance() const
    {
        uint32_t rho = ones_top | ones_low << 1;
        return (rho | rho >> 14) & 15;
    }
    /* The OR of all `doubled`. */
    __device__ __forceinline__ uint32_t all() const
    {
        uint32_t any = doubled_top | doubled_low;
        return (any | any >> 16) & 0xFFFF;
    }
    /* Samples whose `doubled` has a bit. */
    __device__ __forceinline__ uint32_t with_bit(int bit) const
    {
        uint32_t eps = ((doubled_top >> bit) & 0x10001) | ((doubled_low >> bit) & 0x10001) << 1;
        return (eps | eps >> 14) & 15;
    }
    /* The lower samples, for contexts of the row below. */
    __device__ __forceinline__ uint32_t lower() const
    {
        return doubled_low;
    }
    /* From `lower` of the quads above: exponents (0 for 0) as bits, of the two samples above and to the left, and of
     * the two above and to the right. */
    static __device__ __forceinline__ uint32_t left_bits(uint32_t left, uint32_t above)
    {
        return (left >> 16 | above) & 0xFFFF;
    }
    static __device__ __forceinline__ uint32_t right_bits(uint32_t above, uint32_t right)
    {
        return (above >> 16 | right) & 0xFFFF;
    }
    /* The greatest exponent above, or 0. */
    static __device__ __forceinline__ int greatest(uint32_t left, uint32_t right)
    {
        return l2k_highest_bit(left | right) + 1;
    }
    /* MagSgn bits of the quad: `bound` each of a significant sample, one less of those in e_k; at most 64. */
    struct code {
        uint64_t bits;
        uint32_t count;
    };
    __device__ __forceinline__ code magsgn(uint32_t bound, uint32_t e_k) const
    {
        const uint32_t spread = e_k * 0x4001u;
        const uint32_t top = ones_top * bound - (spread & 0x10001), low = ones_low * bound - (spread >> 1 & 0x10001);
        const uint32_t first = (value_top & l2k_low_bits(top)) | __funnelshift_l(0, value_low & l2k_low_bits(low), top);
        const uint32_t second = ((value_top >> 16) & l2k_low_bits(top >> 16)) |
                                __funnelshift_l(0, (value_low >> 16) & l2k_low_bits(low >> 16), top >> 16);
        const uint32_t sum = top + low;
        return code{(uint64_t)first | (uint64_t)second << (sum & 0xFFFF), (sum & 0xFFFF) + (sum >> 16)};
    }
    static __device__ __forceinline__ void put(uint32_t *ring, uint32_t at, const code &c)
    {
        const uint32_t low = (uint32_t)c.bits, high = (uint32_t)(c.bits >> 32), word = at >> 5, shift = at & 31;
        if (c.count == 0)
            return;
        atomicOr(&ring[word % RING], low << shift);
        if (shift + c.count > 32)
            atomicOr(&ring[(word + 1) % RING], __funnelshift_l(low, high, shift));
        if (shift + c.count > 64)
            atomicOr(&ring[(word + 2) % RING], __funnelshift_l(high, 0, shift));
    }
    static __device__ __forceinline__ uint32_t joined(uint32_t magnitudes)
    {
        return (magnitudes | magnitudes >> 16) & 0xFFFF;
    }
    static __device__ __forceinline__ uint32_t is_significant(uint32_t bits)
    {
        return bits & 1;
    }
};

/* 32 bits: a word for each. */
struct wide_quad {
    typedef int32_t sample;
    typedef pair_of<int32_t> pair;
    enum { RING = 256, MOST_BITS = 32, MOST_PLANES = 31 };
    uint32_t doubled[4], value[4], magnitudes;

    __device__ __forceinline__ void split(int k, int32_t v)
    {
        const uint32_t sign = (uint32_t)v >> 31, magnitude = ((uint32_t)v ^ (0 - sign)) + sign;
        doubled[k] = magnitude ? 2 * magnitude - 1 : 0;
        value[k] = magnitude ? doubled[k] - 1 + sign : 0;
        magnitudes |= magnitude;
    }
    __device__ __forceinline__ void take(pair top, pair low, float)
    {
        magnitudes = 0;
        split(0, top.left);
        split(1, low.left);
        split(2, top.right);
        split(3, low.right);
    }
    __device__ __forceinline__ uint32_t significance() const
    {
        return (doubled[0] & 1) | (doubled[1] & 1) << 1 | (doubled[2] & 1) << 2 | (doubled[3] & 1) << 3;
    }
    __device__ __forceinline__ uint32_t all() const
    {
        return doubled[0] | doubled[1] | doubled[2] | doubled[3];
    }
    __device__ __forceinline__ uint32_t with_bit(int bit) const
    {
        return (doubled[0] >> bit & 1) | (doubled[1] >> bit & 1) << 1 | (doubled[2] >> bit & 1) << 2 |
               (doubled[3] >> bit & 1) << 3;
    }
    /* Two exponents. */
    __device__ __forceinline__ uint32_t lower() const
    {
        return (uint32_t)(l2k_highest_bit(doubled[1]) + 1) | (uint32_t)(l2k_highest_bit(doubled[3]) + 1) << 16;
    }
    static __device__ __forceinline__ uint32_t left_bits(uint32_t left, uint32_t above)
    {
        return max(left >> 16, above & 0xFFFF);
    }
    static __device__ __forceinline__ uint32_t right_bits(uint32_t above, uint32_t right)
    {
        return max(above >> 16, right & 0xFFFF);
    }
    static __device__ __forceinline__ int greatest(uint32_t left, uint32_t right)
    {
        return (int)max(left, right);
    }
    struct code {
        uint32_t bits[4];
        uint32_t counts; /* bytes */
        uint32_t count;
    };
    __device__ __forceinline__ code magsgn(uint32_t bound, uint32_t e_k) const
    {
        code c;
        c.count = c.counts = 0;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const uint32_t count = doubled[k] ? bound - (e_k >> k & 1) : 0;
            c.bits[k] = count < 32 ? value[k] & l2k_low_bits(count) : value[k];
            c.counts |= count << 8 * k;
            c.count += count;
        }
        return c;
    }
    static __device__ __forceinline__ void put(uint32_t *ring, uint32_t at, const code &c)
    {
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const uint32_t count = c.counts >> 8 * k & 63, word = at >> 5, shift = at & 31;
            if (count)
                atomicOr(&ring[word % RING], c.bits[k] << shift);
            if (shift + count > 32)
                atomicOr(&ring[(word + 1) % RING], __funnelshift_l(c.bits[k], 0, shift));
            at += count;
        }
    }
    static __device__ __forceinline__ uint32_t joined(uint32_t magnitudes)
    {
        return magnitudes;
    }
    static __device__ __forceinline__ uint32_t is_significant(uint32_t exponent)
    {
        return exponent != 0;
    }
};

struct wide_float_quad : wide_quad {
    typedef float sample;
    typedef pair_of<float> pair;

    static __device__ __forceinline__ wide_quad::pair quantised(pair v, float reciprocal)
    {
        return wide_quad::pair{l2k_index(v.left, reciprocal), l2k_index(v.right, reciprocal)};
    }
    __device__ __forceinline__ void take(pair top, pair low, float reciprocal)
    {
        wide_quad::take(quantised(top, reciprocal), quantised(low, reciprocal), 0);
    }
};

/* For subbands of at most 14 bit-planes. Larger values become -2^15, which 16 bits reveal. */
struct narrow_float_quad : narrow_quad {
    enum { MOST_PLANES = 15 };
    typedef float sample;
    typedef pair_of<float> pair;

    static __device__ __forceinline__ uint32_t quantised(float v, float reciprocal)
    {
        const int32_t index = l2k_index(v, reciprocal);
        return (uint32_t)(index + 0x7FFF) <= 0xFFFE ? (uint32_t)index & 0xFFFF : 0x8000;
    }
    static __device__ __forceinline__ uint32_t quantised(pair v, float reciprocal)
    {
        return quantised(v.left, reciprocal) | quantised(v.right, reciprocal) << 16;
    }
    __device__ __forceinline__ void take(pair top, pair low, float reciprocal)
    {
        narrow_quad::take(quantised(top, reciprocal), quantised(low, reciprocal), 0);
    }
};

} // namespace

#endif
