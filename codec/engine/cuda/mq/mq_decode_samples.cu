/* Turns the bit-planes of decoded MQ code-blocks into coefficients: a warp per block, a lane per word of 32 samples.
 * Magnitudes, reconstruction and regions of interest as in codec/blocks/mq/t1_decode.c. */
#include <cuda_runtime.h>

#include "codec/engine/cuda/blocks/warp.cuh"
#include "codec/engine/cuda/mq/mq_decode_windows.cuh"
#include "codec/engine/cuda/mq/mq_shared.cuh"

extern "C" {
#include "codec/engine/cuda/mq/mq_decode_batch.h"
}

/* 32 samples. */
struct l2k_mq_word {
    uint32_t magnitude[32]; /* by column and row, the first sample last: bit i of the words */
    uint32_t negative;

    enum { AHEAD = 4 }; /* planes loaded at once */

    /* Significance at the end of a plane and bits of its refinement pass. If the last plane has only its significance
     * pass, samples without refinement are in the middle of an interval twice as large. */
    L2K_MEMBER void add_plane(uint32_t significant, uint32_t refined, bool partly, uint32_t *above, uint32_t *known)
    {
        const uint32_t bits = (significant & ~*above) | (partly ? *above : refined);
        *known = partly ? ~*above : *known;
        *above = significant;
#pragma unroll
        for (int i = 0; i < 32; i++)
            magnitude[i] = 2 * magnitude[i] + (bits >> i & 1);
    }

    /* Passes are numbered from 0, a cleanup pass; pass 1 is the significance pass of the second plane. */
    L2K_MEMBER void make(const l2k_mq_decode_block &block, const uint64_t *planes, uint32_t words, uint32_t w)
    {
#pragma unroll
        for (int i = 0; i < 32; i++)
            magnitude[i] = 0;
        negative = 0;
        if (block.passes == 0)
            return;
        const uint32_t top = block.planes - 1u, lowest = top - (block.passes + 1u) / 3;
        const bool partly = block.passes % 3 == 2; /* the last plane has only its significance pass */
        uint32_t above = 0, known = 0xFFFFFFFFu;
        for (uint32_t p = top + 1; p > lowest; p -= p - lowest < AHEAD ? p - lowest : AHEAD) {
            uint64_t s[AHEAD], refined[AHEAD];
#pragma unroll
            for (uint32_t k = 0; k < AHEAD; k++) {
                const bool exists = p >= lowest + 1 + k;
                const uint32_t plane = exists ? p - 1 - k : lowest;
                s[k] = exists ? planes[2 * plane * words + w] : 0;
                const bool is_refined = exists && plane < top && !(partly && plane == lowest);
                refined[k] = is_refined ? planes[(2 * plane + 1) * words + w] : 0;
            }
#pragma unroll
            for (uint32_t k = 0; k < AHEAD; k++) {
                if (p < lowest + 1 + k)
                    break;
                add_plane(l2k_mq_compress(s[k]), l2k_mq_compress(refined[k]), partly && p - 1 - k == lowest, &above,
                          &known);
            }
        }
        negative = l2k_mq_compress(planes[2 * (top + 1) * words + w]);
        finish(block, known & above, lowest);
    }

    /* Doubled magnitudes, in the middle of their intervals; then regions (H.1), and a reversible transform drops the
     * half step. */
    L2K_MEMBER void finish(const l2k_mq_decode_block &block, uint32_t middle, uint32_t lowest)
    {
        const uint32_t shift = block.planes > block.roi_shift ? block.roi_shift : 0;
#pragma unroll
        for (int i = 0; i < 32; i++) {
            uint32_t doubled = magnitude[i] << (lowest + 1) | (middle >> i & 1) << lowest;
            if (doubled >> (shift + 1))
                doubled >>= shift;
            magnitude[i] = doubled >> block.reversible;
        }
    }

    L2K_MEMBER int32_t value(int i) const
    {
        return negative >> i & 1 ? -(int32_t)magnitude[i] : (int32_t)magnitude[i];
    }

    L2K_MEMBER void store_row(int16_t *row, int y) const
    {
        l2k_mq_sixteen whole;
#pragma unroll
        for (int k = 0; k < 4; k++)
            whole.words[k] = ((uint32_t)value(31 - 8 * k - y) & 0xFFFF) | (uint32_t)value(27 - 8 * k - y) << 16;
        *(l2k_mq_sixteen *)row = whole;
    }

    L2K_MEMBER void store_row(int32_t *row, int y) const
    {
        l2k_mq_sixteen half[2];
#pragma unroll
        for (int k = 0; k < 8; k++)
            half[k / 4].words[k % 4] = (uint32_t)value(31 - 4 * k - y);
        ((l2k_mq_sixteen *)row)[0] = half[0];
        ((l2k_mq_sixteen *)row)[1] = half[1];
    }

    template <class Sample> L2K_MEMBER void store(Sample *to, uint32_t stride, uint32_t columns, uint32_t rows) const
    {
#pragma unroll
        for (uint32_t y = 0; y < 4; y++) {
            Sample *row = to + (size_t)y * stride;
            if (y >= rows)
                break;
            if (columns >= 8 && (uintptr_t)row % sizeof(l2k_mq_sixteen) == 0) {
                store_row(row, (int)y);
                continue;
            }
#pragma unroll
            for (uint32_t x = 0; x < 8; x++)
                if (x < columns)
                    row[x] = (Sample)value(31 - 4 * (int)x - (int)y);
        }
    }
};

namespace
{

enum { WARPS = 4 };

template <class Sample>
__device__ __forceinline__ void store_words(const l2k_mq_decode_batch &p, const l2k_mq_decode_block &block)
{
    const uint32_t across = (block.view.width + 7u) / 8, words = l2k_mq_decode_words(&block.view);
    for (uint32_t w = l2k_lane(); w < words; w += 32) {
        l2k_mq_word word;
        word.make(block, p.planes + block.planes_at, words, w);
        const uint32_t x = w % across * 8, y = w / across * 4;
        word.store((Sample *)block.view.coefficients + (size_t)y * block.view.stride + x, block.view.stride,
                   block.view.width - x, block.view.height - y);
    }
}

__global__ void __launch_bounds__(32 * WARPS) samples(const l2k_mq_decode_batch p)
{
    const uint32_t number = blockIdx.x * WARPS + threadIdx.x / 32;
    if (number >= p.num_blocks)
        return;
    const l2k_mq_decode_block block = p.blocks[number];
    if (block.wide)
        store_words<int32_t>(p, block);
    else
        store_words<int16_t>(p, block);
}

} // namespace

extern "C" int l2k_mq_launch_samples(const l2k_mq_decode_batch *p, void *stream)
{
    return l2k_launch(samples, p->num_blocks, WARPS, 32 * WARPS, stream, *p);
}
