/* Bytes of HT code-blocks to bits without stuffing (7.1 of T.814), by a warp. */
#ifndef L2K_CODEC_ENGINE_CUDA_HT_HT_UNSTUFF_CUH
#define L2K_CODEC_ENGINE_CUDA_HT_HT_UNSTUFF_CUH

#include "codec/engine/cuda/blocks/warp.cuh"

/* A stream determines its direction; whether bits come from the top of a byte (MEL, whose words have their first bit on
 * top, too); whether ones or zeros follow the end; whether the last nibble of MEL, or the first one of VLC, belongs to
 * the length field. */
enum l2k_ht_stream { L2K_HT_MAGSGN, L2K_HT_MEL, L2K_HT_VLC, L2K_HT_SIGPROP, L2K_HT_MAGREF };

template <l2k_ht_stream STREAM> struct l2k_ht_unstuffer {
    enum {
        BACKWARD = STREAM == L2K_HT_VLC || STREAM == L2K_HT_MAGREF,
        FROM_TOP = STREAM == L2K_HT_MEL,
        FILLER_WORDS = 3
    };
    static const uint32_t FILLER = STREAM == L2K_HT_MAGSGN || STREAM == L2K_HT_MEL ? 0xFFFFFFFFu : 0;

    const uint8_t *segment; /* its first byte; backward: its last */
    uint32_t bytes;
    uint32_t *out, words; /* written so far */
    uint32_t *joint;      /* 34 words of shared memory */
    uint32_t rest, count; /* bits of the unfinished word, and their number */
    uint32_t before;      /* the byte before the next 128 */

    /* The lane's four bytes in the order of reading; `valid` of them exist. */
    __device__ __forceinline__ uint32_t load(uint32_t offset, uint32_t valid) const
    {
        if (valid == 0)
            return 0;
        const uintptr_t at = (uintptr_t)(BACKWARD ? segment - offset - 3 : segment + offset);
        const uint32_t *aligned = reinterpret_cast<const uint32_t *>(at & ~(uintptr_t)3);
        uint32_t word = __funnelshift_r(__ldg(aligned), __ldg(aligned + 1), (uint32_t)(at & 3) * 8);
        word = BACKWARD ? l2k_reverse_bytes(word) : word;
        if (STREAM == L2K_HT_VLC && offset == 0)
            word |= 15;
        if (STREAM == L2K_HT_MEL && bytes - 1 - offset < 4)
            word |= 15u << 8 * (bytes - 1 - offset);
        return word & 0xFFFFFFFFu >> (32 - 8 * valid);
    }

    /* 128 bytes without stuffing. */
    __device__ __forceinline__ void take_whole(uint32_t word)
    {
        const uint32_t previous = __shfl_up_sync(L2K_ALL_LANES, word, 1);
        const uint32_t joined = l2k_lane() ? __funnelshift_l(previous, word, count) : word << count | rest;
        const uint32_t last = __shfl_sync(L2K_ALL_LANES, word, 31);
        out[words + l2k_lane()] = FROM_TOP ? __brev(joined) : joined;
        rest = count ? last >> (32 - count) : 0;
        words += 32;
    }

    /* Bytes of which `shorts` have an ignored bit, or fewer than 128. */
    __device__ __forceinline__ void take_parts(uint32_t word, uint32_t shorts, uint32_t valid)
    {
        const unsigned lane = l2k_lane();
        uint32_t width = 8 * valid;
        for (; shorts; shorts = (shorts & (shorts - 1)) >> 1, width--) {
            const uint32_t below = (shorts & -shorts) - 1;
            word = (word & below) | (word >> 1 & ~below);
        }
        joint[lane] = lane ? 0 : rest;
        if (lane < 2)
            joint[32 + lane] = 0;
        __syncwarp();
        const uint32_t up_to = l2k_sum_up_to<32>(L2K_ALL_LANES, lane, width), at = count + up_to - width;
        if (width)
            atomicOr(&joint[at >> 5], word << (at & 31));
        if ((at & 31) + width > 32)
            atomicOr(&joint[(at >> 5) + 1], word >> (32 - (at & 31)));
        const uint32_t all = count + __shfl_sync(L2K_ALL_LANES, up_to, 31);
        __syncwarp();
        if (lane < all >> 5)
            out[words + lane] = FROM_TOP ? __brev(joint[lane]) : joint[lane];
        rest = joint[all >> 5];
        words += all >> 5;
        count = all & 31;
        __syncwarp();
    }

    __device__ __forceinline__ void take(uint32_t offset)
    {
        const uint32_t valid = offset < bytes ? min(bytes - offset, 4) : 0;
        uint32_t word = load(offset, valid);
        const uint32_t previous = l2k_bytes_before(word, before);
        before = __shfl_sync(L2K_ALL_LANES, word, 31) >> 24;
        uint32_t shorts = l2k_short_bytes<(BACKWARD ? L2K_HT_BACKWARD : L2K_HT_FORWARD)>(word, previous);
        if (valid < 4)
            shorts &= valid ? 0xFFFFFFFFu >> (32 - 8 * valid) : 0;
        if (FROM_TOP) { /* with bytes reversed, the ignored bit is the lowest of a byte */
            word = __brev(l2k_reverse_bytes(word));
            shorts >>= 7;
        }
        if (__any_sync(L2K_ALL_LANES, shorts || valid < 4))
            take_parts(word, shorts, valid);
        else
            take_whole(word);
    }

    /* Sets the first members, and does it all. Returns the number of words with bits of the stream; FILLER_WORDS and more
     * of filler follow. */
    __device__ __forceinline__ uint32_t run(const uint8_t *from, uint32_t size, void *to, uint32_t *shared)
    {
        segment = from;
        bytes = size;
        out = reinterpret_cast<uint32_t *>(to);
        joint = shared;
        words = rest = count = 0;
        before = BACKWARD ? 0xFF : 0;
        for (uint32_t offset = 0; offset < bytes; offset += 128)
            take(offset + 4 * l2k_lane());
        const uint32_t end = l2k_lane() ? FILLER : count ? rest | FILLER << count : FILLER;
        if (l2k_lane() < 4 + FILLER_WORDS)
            out[words + l2k_lane()] = FROM_TOP ? __brev(end) : end;
        return words + 1;
    }
};

#endif
