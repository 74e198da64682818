/* Turns the bit-planes of decoded MQ code-blocks into coefficients: a warp per block, a lane per word of 32 samples.
 * Magnitudes, reconstruction and regions of interest as in codec/blocks/mq/t1_decode.c. */
#include <cuda_runtime.h>

#include "codec/engine/cuda/mq/mq_decode_samples.cuh"
#include "codec/engine/cuda/blocks/warp.cuh"

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
    samples<<<(p->num_blocks + WARPS - 1) / WARPS, 32 * WARPS, 0, (cudaStream_t)stream>>>(*p);
    return cudaGetLastError();
}
