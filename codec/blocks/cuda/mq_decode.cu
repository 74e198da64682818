/* Kernels that decode MQ code-blocks (Annexes C and D): segments without stuffing, a lane a segment; then decisions, a
 * lane a block. */
#include <cuda_runtime.h>

#include "codec/blocks/cuda/mq_decode_lane.cuh"
#include "codec/blocks/cuda/mq_decode_unstuff.cuh"
#include "codec/blocks/cuda/warp.cuh"

namespace
{

/* Lanes of a warp wait with a word that is done until so many of them do. */
enum { UNSTUFF_THREADS = 64, CROWD = 6 };

/* Shared memory of a warp's lanes in words: significance, signs, states of contexts. */
__host__ __device__ constexpr uint32_t lane_words(uint32_t block_words)
{
    return 2 * block_words + L2K_MQ_DECODE_CONTEXTS;
}

__global__ void __launch_bounds__(UNSTUFF_THREADS) unstuff(const l2k_mq_decode_batch p)
{
    const uint32_t i = blockIdx.x * UNSTUFF_THREADS + threadIdx.x;
    l2k_mq_unstuffer unstuffer;
    if (i < p.num_segments)
        unstuffer.run(&p, &p.segments[i]);
}

/* The first `alone` warps have a block each, the others one a lane. */
__global__ void __launch_bounds__(32) decode(const l2k_mq_decode_batch p, uint32_t lanes)
{
    __shared__ __align__(16) l2k_mq_decode_tables tables;
    extern __shared__ __align__(16) uint32_t memory[];
    const uint32_t lane = threadIdx.x, group = blockIdx.x;
    const uint32_t used = group < p.alone ? 1 : lanes;
    const uint32_t number = group < p.alone ? group : p.alone + (group - p.alone) * lanes + lane;
    for (uint32_t i = lane; i < sizeof tables / 4; i += 32)
        ((uint32_t *)&tables)[i] = ((const uint32_t *)p.tables)[i];
    for (uint32_t i = lane; i < 2 * p.most_words * used; i += 32)
        memory[i] = 0;
    __syncwarp();
    l2k_mq_lane decoder;
    bool on = lane < used && number < p.num_ordered;
    if (on) {
        decoder.stride = 4 * used;
        decoder.pair_stride = 8 * used;
        decoder.pairs = l2k_shared_address(memory + 2 * lane);
        decoder.contexts = l2k_shared_address(memory + 2 * p.most_words * used + lane);
        decoder.states = l2k_shared_address(tables.states);
        decoder.lookups = l2k_shared_address(tables.lookups);
        decoder.start(&p, &p.blocks[p.order[number]]);
    }
    uint32_t active = __ballot_sync(L2K_ALL_LANES, on);
    while (active) {
        const bool waits = on && decoder.is_idle();
        const uint32_t crowd = __ballot_sync(L2K_ALL_LANES, waits);
        if (crowd == active || __popc(crowd) >= CROWD) {
            if (waits) {
                decoder.turn(tables.first);
                on = !decoder.done;
            }
            active = __ballot_sync(L2K_ALL_LANES, on);
        }
        if (used == 1 && on && !decoder.goes_on) {
            decoder.refine_word();
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

/* What a device has for a block of threads without asking for more, less the tables. */
enum { LEAST_SHARED = 48 * 1024 - sizeof(l2k_mq_decode_tables) };

extern "C" int l2k_mq_launch_decode(const l2k_mq_decode_batch *p, void *stream)
{
    if (p->num_ordered == 0)
        return cudaSuccess;
    uint32_t lanes = 32;
    while (4 * lanes * lane_words(p->most_words) > LEAST_SHARED)
        lanes /= 2;
    const uint32_t shared = p->num_ordered > p->alone ? lanes : 1;
    const uint32_t groups = p->alone + (p->num_ordered - p->alone + lanes - 1) / lanes;
    decode<<<groups, 32, 4 * shared * lane_words(p->most_words), (cudaStream_t)stream>>>(*p, lanes);
    return cudaGetLastError();
}
