/* Kernels that decode MQ code-blocks (Annexes C and D): a lane per segment removes stuffing; then a lane per block
 * decodes decisions. */
#include <cuda_runtime.h>

#include "codec/engine/cuda/mq/mq_decode_alone.cuh"
#include "codec/engine/cuda/mq/mq_decode_unstuff.cuh"
#include "codec/engine/cuda/blocks/warp.cuh"

namespace
{

/* Lanes of a warp that have finished a word wait until one in CROWD does. */
enum { UNSTUFF_THREADS = 64, CROWD = 4 };

__global__ void __launch_bounds__(UNSTUFF_THREADS) unstuff(const l2k_mq_decode_batch p)
{
    const uint32_t i = blockIdx.x * UNSTUFF_THREADS + threadIdx.x;
    l2k_mq_unstuffer unstuffer;
    if (i < p.num_segments)
        unstuffer.run(&p, &p.segments[i]);
}

/* A warp takes a group of blocks. */
__global__ void __launch_bounds__(32) decode(const l2k_mq_decode_batch p)
{
    __shared__ __align__(16) l2k_mq_decode_tables tables;
    extern __shared__ __align__(16) uint32_t memory[];
    const uint32_t lane = threadIdx.x, first = p.starts[blockIdx.x], used = p.starts[blockIdx.x + 1] - first;
    for (uint32_t i = lane; i < sizeof tables / 4; i += 32)
        ((uint32_t *)&tables)[i] = ((const uint32_t *)p.tables)[i];
    for (uint32_t i = lane; i < 2 * p.most_words * used; i += 32)
        memory[i] = 0;
    __syncwarp();
    l2k_mq_decode_lane decoder;
    bool on = lane < used;
    if (on) {
        decoder.stride = 4 * used;
        decoder.pair_stride = 8 * used;
        decoder.pairs = l2k_shared_address(memory + 2 * lane);
        decoder.contexts = l2k_shared_address(memory + 2 * p.most_words * used + lane);
        decoder.states = l2k_shared_address(tables.states);
        decoder.lookups = l2k_shared_address(tables.lookups);
        decoder.start(&p, &p.blocks[p.order[first + lane]]);
    }
    l2k_mq_alone alone = {&decoder};
    uint32_t active = __ballot_sync(L2K_ALL_LANES, on);
    while (active) {
        const bool waits = on && decoder.is_idle();
        const uint32_t crowd = __ballot_sync(L2K_ALL_LANES, waits);
        if (CROWD * __popc(crowd) >= __popc(active)) {
            if (waits) {
                decoder.refill(tables.first);
                on = !decoder.done;
            }
            active = __ballot_sync(L2K_ALL_LANES, on);
        }
        if (used == 1) {
            if (on && !decoder.is_idle())
                alone.decode_word();
        } else if (on && !decoder.is_idle()) {
            decoder.step();
            if (!decoder.is_idle())
                decoder.step();
            decoder.refill();
        }
    }
}

} // namespace

extern "C" int l2k_mq_launch_unstuff(const l2k_mq_decode_batch *p, void *stream)
{
    if (p->num_segments == 0)
        return cudaSuccess;
    unstuff<<<(p->num_segments + UNSTUFF_THREADS - 1) / UNSTUFF_THREADS, UNSTUFF_THREADS, 0, (cudaStream_t)stream>>>(
        *p);
    return cudaGetLastError();
}

extern "C" int l2k_mq_launch_decode(const l2k_mq_decode_batch *p, void *stream)
{
    if (p->num_groups == 0)
        return cudaSuccess;
    decode<<<p->num_groups, 32, p->most_lanes * l2k_mq_decode_lane_bytes(p->most_words), (cudaStream_t)stream>>>(*p);
    return cudaGetLastError();
}
