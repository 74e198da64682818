/* Estimates where HT code-blocks can be truncated (codec/blocks/ht/ht_estimate.h), a warp a block. Counts by bit-plane
 * are sums of what samples have by length: each lane has histograms of its own, which are added up from the longest
 * samples down. One lane does the arithmetic, in the order of the CPU. */
#include "codec/engine/cuda/blocks/warp.cuh"
#include "codec/engine/cuda/ht/ht_launch.cuh"

namespace
{

enum { WARPS = 4, BINS = L2K_HT_MAX_BIT_PLANES + 1, QUADS_OF_GROUP = L2K_HT_COUNTED_GROUP / 2, HIGH = 16 };

/* Two sums of 16 bits in a word, of a lane's at most 128 samples. */
struct warp_memory {
    uint32_t samples[BINS][32]; /* by bits of the sample: samples; HIGH: the bits of the largest in their quads */
    uint32_t others[BINS][32];  /* samples up to whose plane a quad has another bit; HIGH: quads, by bits */
    l2k_ht_counts counts;
};

__device__ __forceinline__ uint32_t length_of(uint32_t magnitude)
{
    return min((uint32_t)(l2k_highest_bit(magnitude) + 1), (uint32_t)L2K_HT_MAX_BIT_PLANES);
}

/* The sum from the lane's value up to that of the last lane. */
__device__ __forceinline__ uint32_t sum_from(uint32_t v)
{
    for (int d = 1; d < 32; d *= 2) {
        const uint32_t more = __shfl_down_sync(L2K_ALL_LANES, v, d);
        v += l2k_lane() + d < 32 ? more : 0;
    }
    return v;
}

template <class Sample> struct counter {
    const l2k_ht_cuda_encode_block &b;
    warp_memory &memory;
    float reciprocal;
    uint32_t all, quads; /* OR of the lane's magnitudes; its quads */

    __device__ __forceinline__ uint32_t magnitude(int x, int y) const
    {
        if (x >= b.view.width || y >= b.view.height)
            return 0;
        const Sample *from = reinterpret_cast<const Sample *>(b.view.coefficients);
        return l2k_ht_magnitude_of(l2k_ht_index_of(from[(size_t)y * b.view.stride + x], reciprocal));
    }

    __device__ __forceinline__ void count_quad(int x, int y)
    {
        const uint32_t mu[4] = {magnitude(x, y), magnitude(x, y + 1), magnitude(x + 1, y), magnitude(x + 1, y + 1)};
        const uint32_t most = max(max(mu[0], mu[1]), max(mu[2], mu[3])), length = length_of(most);
        const int second = l2k_highest_bit(most & ~(1u << (length + 31) % 32));
        const unsigned lane = l2k_lane();
        quads++;
        if (most == 0)
            return;
        all |= mu[0] | mu[1] | mu[2] | mu[3];
        memory.others[length][lane] += 1u << HIGH;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const int own = (int)length_of(mu[k]), last = min(own - 1, second);
            if (own)
                memory.samples[own][lane] += 1 | length << HIGH;
            if (last >= 0)
                memory.others[last][lane]++;
        }
    }

    __device__ __forceinline__ void count(uint32_t distance)
    {
        const l2k_ht_sampling every = l2k_ht_sampling_of(b.view.width, distance);
        const uint32_t groups = (b.view.width + L2K_HT_COUNTED_GROUP - 1) / L2K_HT_COUNTED_GROUP;
        const uint32_t row_quads = (groups + every.across - 1) / every.across * QUADS_OF_GROUP;
        const uint32_t rows = (b.view.height + 2 * every.down - 1) / (2 * every.down);
        for (uint32_t i = l2k_lane(); i < rows * row_quads; i += 32) {
            const uint32_t row = i / row_quads, group = i % row_quads / QUADS_OF_GROUP;
            const uint32_t x =
                (row % every.across + group * every.across) * L2K_HT_COUNTED_GROUP + 2 * (i % QUADS_OF_GROUP);
            if (x < b.view.width)
                count_quad((int)x, (int)(2 * every.down * row));
        }
    }

    /* Each lane adds up a bit-plane. */
    __device__ __forceinline__ void add_up()
    {
        const unsigned plane = l2k_lane();
        uint32_t samples = 0, bits = 0, several = 0, some = 0;
        __syncwarp();
        for (unsigned i = 0; i < 32; i++) {
            const uint32_t one = memory.samples[plane][(i + plane) & 31],
                           other = memory.others[plane][(i + plane) & 31];
            samples += one & 0xFFFF;
            bits += one >> HIGH;
            several += other & 0xFFFF;
            some += other >> HIGH;
        }
        samples = sum_from(samples) - samples;
        bits = sum_from(bits) - bits - plane * samples + sum_from(several);
        some = sum_from(some) - some;
        if (plane < L2K_HT_MAX_BIT_PLANES) {
            memory.counts.samples[plane] = samples;
            memory.counts.quads[plane] = some;
            memory.counts.bits[plane] = bits;
        }
        __syncwarp();
    }
};

/* Integers state their bit-planes for certain; floats those of the samples counted. */
__device__ __forceinline__ void look_at_all(counter<float> &c, uint32_t distance)
{
    if (distance > 1 && l2k_join(c.all) == 0)
        c.quads = 0, c.count(1);
}

template <class Integer> __device__ __forceinline__ void look_at_all(counter<Integer> &c, uint32_t)
{
    for (int y = 0; y < c.b.view.height; y++)
        for (int x = l2k_lane(); x < c.b.view.width; x += 32)
            c.all |= c.magnitude(x, y);
}

template <class Sample> __global__ void __launch_bounds__(32 * WARPS) estimate_points(const l2k_ht_cuda_estimation p)
{
    __shared__ warp_memory memories[WARPS];
    warp_memory &memory = memories[threadIdx.x / 32];
    const uint32_t number = blockIdx.x * WARPS + threadIdx.x / 32;
    if (number >= p.num_blocks)
        return;
    const l2k_ht_cuda_encode_block b = p.blocks[number];
    for (int i = 0; i < BINS; i++)
        memory.samples[i][l2k_lane()] = memory.others[i][l2k_lane()] = 0;
    counter<Sample> c = {b, memory, p.reciprocals[b.band], 0, 0};
    c.count(p.distance);
    look_at_all(c, p.distance);
    c.add_up();
    const uint32_t bits = (uint32_t)(l2k_highest_bit(l2k_join(c.all)) + 1), quads = l2k_add_up(c.quads);
    const uint32_t points = l2k_ht_num_points(min(bits, (uint32_t)L2K_HT_MAX_BIT_PLANES));
    uint32_t *ends = p.point_ends + (size_t)L2K_HT_CUDA_POINTS * b.index;
    if (l2k_lane() == 0) {
        l2k_ht_counted counted = {&memory.counts, min(bits, (uint32_t)L2K_HT_MAX_BIT_PLANES), b.passes, b.reversible};
        counted.quads = ((b.view.width + 1) / 2) * (double)((b.view.height + 1) / 2);
        counted.scale = 2 * counted.quads / (2 * quads);
        l2k_ht_estimate(&counted, ends, p.gains + (size_t)L2K_HT_CUDA_POINTS * b.index);
        p.estimated[b.index] = l2k_cuda_coded_block{
            0, points ? ends[points - 1] : 0, L2K_HT_CUDA_POINTS * b.index, 0, (uint8_t)points, (uint8_t)bits, 0};
        if (bits > L2K_HT_MAX_BIT_PLANES)
            atomicMin(&p.counters->failed, b.index);
    }
    __syncwarp();
    if (p.sums && 3 * l2k_lane() < points)
        atomicAdd((unsigned long long *)&p.counters->planes[l2k_lane()], ends[points - 1 - 3 * l2k_lane()]);
}

__global__ void __launch_bounds__(32 * WARPS) choose_blocks(const l2k_ht_cuda_choice p)
{
    unsigned long long *sums = (unsigned long long *)p.counters->planes;
    const uint32_t number = blockIdx.x * 32 * WARPS + threadIdx.x;
    uint32_t bytes = 0, chosen = 0;
    if (number < p.num_blocks) {
        l2k_cuda_coded_block block = p.estimated[number];
        const uint8_t point = block.num_passes > 3 ? block.num_passes - 3 : 0;
        chosen = number % p.distance == p.distance / 2;
        bytes = point ? p.point_ends[block.ends + point - 1] : 0;
        block.num_passes = chosen ? point : 0;
        p.cut[number] = block;
    }
    const uint32_t all = l2k_add_up(bytes), some = l2k_add_up(chosen ? bytes : 0);
    if (l2k_lane() == 0) {
        atomicAdd(&sums[0], all);
        atomicAdd(&sums[1], some);
    }
}

} // namespace

extern "C" int l2k_ht_cuda_launch_estimate(const l2k_ht_cuda_estimation *p, void *stream)
{
    const auto kernel = p->form & L2K_HT_FLOAT  ? estimate_points<float>
                        : p->form & L2K_HT_WIDE ? estimate_points<int32_t>
                                                : estimate_points<int16_t>;
    return l2k_launch(kernel, p->num_blocks, WARPS, 32 * WARPS, stream, *p);
}

extern "C" int l2k_ht_cuda_launch_sample(const l2k_ht_cuda_choice *p, void *stream)
{
    return l2k_launch(choose_blocks, p->num_blocks, 32 * WARPS, 32 * WARPS, stream, *p);
}
