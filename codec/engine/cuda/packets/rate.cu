/* Hulls of code-blocks on a device, and their sums by slope (J.14), a thread per block. The arithmetic of
 * codec/packets/hull.h makes slopes equal the CPU's. */
#include "codec/engine/cuda/blocks/warp.cuh"

extern "C" {
#include "codec/engine/cuda/packets/cuda_rate.h"
}

namespace
{

enum { THREADS = 128 };

__device__ __forceinline__ uint32_t own_block(void)
{
    return blockIdx.x * THREADS + threadIdx.x;
}

/* Checks a block before packets are measured. */
__device__ __forceinline__ void survey_block(const l2k_cuda_rate_run &p, const l2k_cuda_packet_part &part,
                                             unsigned magnitude_bits, uint32_t number)
{
    if (magnitude_bits > part.max_planes) /* rare */
        p.sums->excess = 1;
    if (magnitude_bits > part.max_planes + 1u)
        atomicMax(&p.sums->failed, UINT32_MAX - number);
}

__global__ void __launch_bounds__(THREADS) find_hulls(const l2k_cuda_rate_run p)
{
    const uint32_t number = own_block();
    if (number >= p.num_blocks)
        return;
    const l2k_cuda_coded_block block = p.coded.blocks[number];
    const l2k_cuda_packet_part part = p.parts[l2k_part_of_block(p.parts, p.num_parts, number)];
    survey_block(p, part, block.magnitude_bits, number);
    const uint32_t *ends = p.coded.pass_ends + block.ends;
    double *slopes = p.slopes + block.ends;
    uint8_t *passes = p.passes + block.ends;
    const unsigned count =
        l2k_find_hull(ends, p.coded.distortions + block.ends, block.num_passes, part.weight, slopes, passes);
    uint32_t before = 0;
    for (unsigned i = 0; i < count; i++) {
        const uint32_t bytes = l2k_hull_bytes(ends, passes[i]);
        atomicAdd((unsigned long long *)&p.sums->bins[l2k_slope_bin_of(slopes[i])],
                  1ull << L2K_BIN_COUNT_AT | (bytes - before));
        before = bytes;
    }
    p.counts[number] = (uint8_t)count;
}

/* A block's segments in a bin are adjacent. */
__global__ void __launch_bounds__(THREADS) load_bin(const l2k_cuda_rate_run p, uint32_t bin)
{
    const uint32_t number = own_block();
    if (number >= p.num_blocks)
        return;
    const uint32_t first = p.coded.blocks[number].ends, count = p.counts[number];
    const double *slopes = p.slopes + first;
    const uint8_t *passes = p.passes + first;
    const uint32_t *ends = p.coded.pass_ends + first;
    const l2k_slope_end start = {(double)INFINITY, bin, 0, 0};
    for (uint32_t i = l2k_segments_before(slopes, passes, count, number, &start); i < count; i++) {
        if (l2k_slope_bin_of(slopes[i]) != bin)
            return;
        l2k_hull_segment segment = {};
        segment.slope = slopes[i];
        segment.block = number;
        segment.before = i ? passes[i - 1] : 0;
        segment.passes = passes[i];
        segment.bytes = l2k_hull_bytes(ends, segment.passes) - l2k_hull_bytes(ends, segment.before);
        p.segments[atomicAdd(&p.sums->loaded, 1)] = segment;
    }
}

__global__ void __launch_bounds__(THREADS) cut_blocks(const l2k_cuda_rate_run p, const l2k_slope_end end)
{
    const uint32_t number = own_block();
    if (number >= p.num_blocks)
        return;
    const l2k_cuda_coded_block block = p.coded.blocks[number];
    const uint8_t *passes = p.passes + block.ends;
    const uint32_t count = l2k_segments_before(p.slopes + block.ends, passes, p.counts[number], number, &end);
    p.cut[number] = l2k_cut_block(block, p.coded.pass_ends, count ? passes[count - 1] : 0);
}

} // namespace

extern "C" int l2k_cuda_launch_hulls(const l2k_cuda_rate_run *run, void *stream)
{
    return l2k_launch(find_hulls, run->num_blocks, THREADS, THREADS, stream, *run);
}

extern "C" int l2k_cuda_launch_load(const l2k_cuda_rate_run *run, uint32_t bin, void *stream)
{
    return l2k_launch(load_bin, run->num_blocks, THREADS, THREADS, stream, *run, bin);
}

extern "C" int l2k_cuda_launch_cut(const l2k_cuda_rate_run *run, const l2k_slope_end *end, void *stream)
{
    return l2k_launch(cut_blocks, run->num_blocks, THREADS, THREADS, stream, *run, *end);
}
