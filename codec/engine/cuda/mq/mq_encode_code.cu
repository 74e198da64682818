/* MQ coding of the lists of decisions (Annex C) on a device: a lane takes a block, the longest blocks first, so that
 * the lanes of a warp end together. Then a warp per block settles lengths of passes and compacts the code. */
#include "codec/engine/cuda/blocks/warp.cuh"

extern "C" {
#include "codec/engine/cuda/mq/mq_lane.h"
#include "codec/tile/tile.h"
}

namespace
{

/* ---- Order ----------------------------------------------------------------------------------------------------- */

enum { ORDER_THREADS = L2K_MQ_BINS };

/* Every CTA adds up the bins; then each thread finds the place of a block. */
__global__ void __launch_bounds__(ORDER_THREADS) order_blocks(const l2k_mq_cuda_encode p)
{
    __shared__ uint32_t before[L2K_MQ_BINS], sums[32];
    const uint32_t index = blockIdx.x * ORDER_THREADS + threadIdx.x;
    uint32_t all;
    before[threadIdx.x] = l2k_cta_sum_before(sums, p.counters->bins[threadIdx.x], &all);
    if (index == 0)
        p.counters->coded = all;
    __syncthreads();
    if (index >= p.num_blocks || !p.work[index].planes)
        return;
    const uint32_t bin = l2k_mq_cuda_bin(p.work[index].words, p.area);
    p.order[before[bin] + atomicAdd(&p.counters->taken[bin], 1)] = index;
}

/* ---- Coding ---------------------------------------------------------------------------------------------------- */

/* LANES of a warp have a block each. */
enum { CODE_WARPS = 1 << (L2K_MQ_CONTEXTS_APART - 7), LANES = 16 };

/* The warps of a CTA share a table of states, which has a copy for each lane in a bank of its own. */
struct code_memory {
    uint8_t states[L2K_MQ_STATES << L2K_MQ_STATES_APART];
    uint8_t contexts[L2K_MQ_CUDA_CONTEXTS << L2K_MQ_CONTEXTS_APART];
    uint32_t first[L2K_MQ_CUDA_CONTEXTS];
};

/* Keeps the compiler from computing `v` again at each use. */
__device__ __forceinline__ uint32_t kept(uint32_t v)
{
    uint32_t same;
    asm volatile("mov.u32 %0, %1;" : "=r"(same) : "r"(v));
    return same;
}

template <bool STYLED> __global__ void __launch_bounds__(32 * CODE_WARPS) code_lists(const l2k_mq_cuda_encode p)
{
    __shared__ code_memory memory;
    for (uint32_t i = threadIdx.x; i < L2K_MQ_STATES * 32; i += 32 * CODE_WARPS)
        reinterpret_cast<uint32_t *>(memory.states)[i] = p.tables->states[i / 32];
    for (uint32_t i = threadIdx.x; i < L2K_MQ_CUDA_CONTEXTS; i += 32 * CODE_WARPS)
        memory.first[i] = p.tables->first[i];
    __syncthreads();
    const uint32_t warp = blockIdx.x * CODE_WARPS + threadIdx.x / 32, number = warp * LANES + l2k_lane();
    if (l2k_lane() >= LANES || number >= p.counters->coded)
        return;
    const uint32_t index = p.order[number];
    const l2k_mq_cuda_work work = p.work[index];
    l2k_mq_lane lane;
    lane.contexts = memory.contexts;
    lane.states = memory.states;
    lane.first = memory.first;
    lane.own = kept(4 * threadIdx.x);
    lane.own_state = kept(4 * l2k_lane());
    l2k_mq_lane_code(&lane, reinterpret_cast<uint8_t *>(p.lists) + (size_t)work.list * 16, work.planes,
                     p.blocks[index].style, STYLED, p.marks + work.ends);
}

/* ---- Ends ------------------------------------------------------------------------------------------------------ */

enum { END_WARPS = 4 };

/* Lengths of passes: open ones are cut, none exceeds a later one, and a final 0xFF is implied. */
__device__ __forceinline__ uint32_t settle_lengths(const l2k_mq_cuda_encode &p, const l2k_mq_cuda_work &work,
                                                   unsigned style, const uint8_t *start)
{
    const uint32_t passes = l2k_mq_cuda_passes(work.planes);
    const l2k_pass_mark *marks = p.marks + work.ends;
    const uint32_t most = (uint32_t)marks[passes - 1].at;
    uint32_t bound = most;
    for (uint32_t base = (passes - 1) / 32 * 32;; base -= 32) {
        const uint32_t i = base + l2k_lane();
        uint32_t bytes = bound;
        if (i < passes)
            bytes = min(bound, marks[i].open ? l2k_shortest_cut(&marks[i], start, most) : (uint32_t)marks[i].at);
        for (int d = 1; d < 32; d *= 2) {
            const uint32_t later = __shfl_down_sync(L2K_ALL_LANES, bytes, d);
            bytes = min(bytes, l2k_lane() + d < 32 ? later : bytes);
        }
        bound = __shfl_sync(L2K_ALL_LANES, bytes, 0);
        const uint32_t kept = bytes && start[bytes - 1] == 0xFF ? bytes - 1 : bytes;
        if (i < passes)
            p.pass_ends[work.ends + i] =
                kept | (i + 1 == passes || l2k_pass_terminates(style, i) ? L2K_PASS_TERMINATED : 0);
        if (base == 0)
            break;
    }
    const uint32_t last = most && start[most - 1] == 0xFF ? most - 1 : most;
    return last;
}

__device__ __forceinline__ void add_gains(const l2k_mq_cuda_encode &p, const l2k_mq_cuda_work &work)
{
    const uint32_t passes = l2k_mq_cuda_passes(work.planes);
    l2k_gains before = {0, 0};
    for (uint32_t base = 0; base < passes; base += 32) {
        const uint32_t i = base + l2k_lane();
        l2k_gains sum = {0, 0};
        if (i < passes)
            l2k_gains_add_of_plane(&sum, p.gains[work.ends + i], work.planes - 1 - (i + 2) / 3);
        for (int d = 1; d < 32; d *= 2) {
            l2k_gains other;
            other.high = __shfl_up_sync(L2K_ALL_LANES, sum.high, d);
            other.low = __shfl_up_sync(L2K_ALL_LANES, sum.low, d);
            if (l2k_lane() >= (unsigned)d)
                l2k_gains_join(&sum, other);
        }
        l2k_gains_join(&sum, before);
        before.high = __shfl_sync(L2K_ALL_LANES, sum.high, 31);
        before.low = __shfl_sync(L2K_ALL_LANES, sum.low, 31);
        if (i < passes)
            p.distortions[work.ends + i] = l2k_gains_value(sum);
    }
}

/* Copies to a place of its own in the code of all blocks; the counter tells the host if room ran out. */
__device__ __forceinline__ uint32_t copy_code(const l2k_mq_cuda_encode &p, const uint8_t *start, uint32_t bytes)
{
    const uint32_t units = (bytes + 3) / 4;
    uint32_t at = 0;
    if (l2k_lane() == 0)
        at = atomicAdd(&p.counters->code, units);
    at = __shfl_sync(L2K_ALL_LANES, at, 0);
    if (at > p.code_capacity || units > p.code_capacity - at)
        return at;
    const uint32_t *from = reinterpret_cast<const uint32_t *>(start);
    uint32_t *to = reinterpret_cast<uint32_t *>(p.code) + at;
    for (uint32_t i = l2k_lane(); i < bytes / 4; i += 32)
        to[i] = from[i];
    if (l2k_lane() == 0 && units > bytes / 4) { /* the host copies whole units */
        uint32_t last = 0;
        for (uint32_t i = 0; i < (bytes & 3); i++)
            last |= (uint32_t)start[(bytes & ~3u) + i] << 8 * i;
        to[bytes / 4] = last;
    }
    return at;
}

__global__ void __launch_bounds__(32 * END_WARPS) end_blocks(const l2k_mq_cuda_encode p)
{
    const uint32_t index = blockIdx.x * END_WARPS + threadIdx.x / 32;
    if (index >= p.num_blocks)
        return;
    const l2k_mq_cuda_work work = p.work[index];
    l2k_cuda_coded_block coded = {};
    if (work.planes) {
        const uint8_t *start = reinterpret_cast<uint8_t *>(p.lists) + (size_t)work.list * 16 + L2K_MQ_CODE_AT;
        coded.bytes = settle_lengths(p, work, p.blocks[index].style, start);
        coded.at = copy_code(p, start, coded.bytes);
        coded.ends = work.ends;
        coded.num_planes = coded.magnitude_bits = (uint8_t)work.planes;
        coded.num_passes = (uint8_t)l2k_mq_cuda_passes(work.planes);
        if (p.gains)
            add_gains(p, work);
    } else if (p.counters->list > p.list_capacity || p.counters->passes > p.pass_capacity) {
        coded.at = UINT32_MAX; /* its lists may have had no room: an impossible place keeps it out of packets */
    }
    if (l2k_lane() == 0)
        p.coded[index] = coded;
}

} // namespace

extern "C" int l2k_mq_cuda_launch_order(const l2k_mq_cuda_encode *p, void *stream)
{
    return l2k_launch(order_blocks, p->num_blocks, ORDER_THREADS, ORDER_THREADS, stream, *p);
}

extern "C" int l2k_mq_cuda_launch_code(const l2k_mq_cuda_encode *p, void *stream)
{
    const auto kernel = p->styled ? code_lists<true> : code_lists<false>;
    return l2k_launch(kernel, p->num_blocks, CODE_WARPS * LANES, 32 * CODE_WARPS, stream, *p);
}

extern "C" int l2k_mq_cuda_launch_ends(const l2k_mq_cuda_encode *p, void *stream)
{
    return l2k_launch(end_blocks, p->num_blocks, END_WARPS, 32 * END_WARPS, stream, *p);
}
