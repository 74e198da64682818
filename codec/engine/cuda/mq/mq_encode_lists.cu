/* Code-blocks as lists of decisions (D.3) on a device. A CTA takes a block, a thread a word of 8 columns and 4 rows.
 * The encoder knows all significances, so a thread computes the samples of a word together, as bit masks (mq_lists.h):
 * those that the significance pass codes, by steps until nothing changes; the contexts of all; then it writes the
 * decisions of its word to their places in the lists, which prefix sums over the block give. */
#include "codec/engine/cuda/blocks/warp.cuh"

extern "C" {
#include "codec/engine/cuda/mq/mq_lists.h"
}

namespace
{

const uint32_t MOST_WARPS = L2K_MQ_MOST_WORDS / 32;

/* Shared memory of fixed size. */
struct block_memory {
    uint32_t sums[2][MOST_WARPS];
    uint64_t gains[PASS_TYPES];
    uint32_t magnitudes, list, ends;
};

/* Of the batch's largest block. */
struct layout {
    uint32_t threads, planes, cells;

    __host__ __device__ explicit layout(const l2k_mq_cuda_encode &p)
        : threads((p.words + 31) / 32 * 32), planes(p.wide ? L2K_MAX_BIT_PLANES : 16), cells(p.cells)
    {
    }
    __host__ __device__ uint32_t stage_words() const
    {
        return threads * (L2K_MQ_WORD_DECISIONS / 4) + 8;
    }
    __host__ __device__ uint32_t bytes() const
    {
        return (threads * (planes + L2K_MQ_ENTRY_WORDS) + 4 * cells + stage_words()) * 4;
    }
};

/* ---- Samples --------------------------------------------------------------------------------------------------- */

__device__ __forceinline__ void take_sample(int32_t v, int i, uint32_t samples[32], uint32_t &signs)
{
    samples[i] = v < 0 ? 0u - (uint32_t)v : (uint32_t)v;
    signs |= (uint32_t)v >> 31 << i;
}

template <class Sample>
__device__ __forceinline__ void take_row(const Sample *row, uint32_t columns, int k, uint32_t samples[32],
                                         uint32_t &signs)
{
    if (columns >= 8 && ((uintptr_t)row & 15) == 0) {
        Sample values[8];
#pragma unroll
        for (int i = 0; i < (int)(8 * sizeof(Sample) / 16); i++)
            reinterpret_cast<uint4 *>(values)[i] = reinterpret_cast<const uint4 *>(row)[i];
#pragma unroll
        for (int x = 0; x < 8; x++)
            take_sample(values[x], 4 * x + k, samples, signs);
    } else {
#pragma unroll
        for (int x = 0; x < 8; x++)
            take_sample(x < (int)columns ? row[x] : 0, 4 * x + k, samples, signs);
    }
}

/* Magnitudes of a word's samples, and their signs; 0 beyond the block. */
template <class Sample>
__device__ __forceinline__ uint32_t take_samples(const l2k_cuda_view &view, uint32_t x, uint32_t y,
                                                 uint32_t samples[32])
{
    const Sample *row = reinterpret_cast<const Sample *>(view.coefficients) + (size_t)y * view.stride + x;
    uint32_t signs = 0;
#pragma unroll
    for (int k = 0; k < 4; k++, row += view.stride)
        take_row(row, y + k < view.height ? view.width - x : 0, k, samples, signs);
    return signs;
}

/* ---- A block --------------------------------------------------------------------------------------------------- */

struct lister {
    const l2k_mq_cuda_encode &p;
    const l2k_mq_cuda_encode_block &block;
    block_memory &memory;
    uint32_t *planes; /* of all words: bit-plane p from planes + p * spacing on */
    uint32_t spacing;
    uint32_t *stage;
    uint8_t *entries; /* of the thread's word */
    l2k_mq_state state;
    int cell, row; /* the thread's; from stripe to stripe */
    bool active;   /* the thread has a word */
    uint32_t live, refined, num_planes;
    uint32_t *list; /* where the next one goes */

    __device__ __forceinline__ lister(const l2k_mq_cuda_encode &encode, uint32_t *shared, block_memory &fixed)
        : p(encode), block(encode.blocks[blockIdx.x]), memory(fixed)
    {
        const layout at(p);
        planes = shared;
        spacing = at.threads;
        entries = reinterpret_cast<uint8_t *>(planes + at.threads * at.planes + threadIdx.x);
        state.before = planes + at.threads * (at.planes + L2K_MQ_ENTRY_WORDS);
        state.visited = state.before + at.cells;
        state.after = state.visited + at.cells;
        state.sign = state.after + at.cells;
        stage = state.sign + at.cells;
    }

    /* Stores bit-planes to shared memory. Returns the OR of the block's magnitudes. */
    __device__ __forceinline__ uint32_t load()
    {
        const uint32_t across = l2k_mq_cuda_words_across(block.view.width), word = threadIdx.x;
        const uint32_t x = word % across * 8, y = word / across * 4;
        uint32_t samples[32], signs = 0, all = 0;
        row = (int)across + 1;
        cell = (int)(word / across + 1) * row + (int)(word % across) + 1;
        active = y < block.view.height;
        refined = live = 0;
        if (threadIdx.x == 0)
            memory.magnitudes = 0;
        for (uint32_t i = threadIdx.x; i < 4 * p.cells; i += blockDim.x)
            state.before[i] = 0;
        __syncthreads();
        if (active) {
            live = l2k_mq_live(block.view.width - x, block.view.height - y);
            signs = block.wide ? take_samples<int32_t>(block.view, x, y, samples)
                               : take_samples<int16_t>(block.view, x, y, samples);
            state.sign[cell] = signs;
#pragma unroll
            for (int i = 0; i < 32; i++)
                all |= samples[i];
        }
        all = l2k_join(all);
        if (l2k_lane() == 0)
            atomicOr(&memory.magnitudes, all);
        __syncthreads();
        all = memory.magnitudes;
        num_planes = (uint32_t)(l2k_highest_bit(all) + 1);
        if (active && all && num_planes <= L2K_MAX_BIT_PLANES) {
            l2k_mq_transpose(samples);
#pragma unroll
            for (int i = 0; i < L2K_MAX_BIT_PLANES; i++)
                if (i < (int)num_planes)
                    planes[i * spacing + threadIdx.x] = samples[i];
        }
        return all;
    }

    /* Places for lists and passes; false without room, of which the counters tell the host. */
    __device__ __forceinline__ bool reserve()
    {
        const uint32_t passes = l2k_mq_cuda_passes(num_planes);
        const uint32_t units = l2k_mq_cuda_list_units(block.view.width, block.view.height, num_planes);
        if (threadIdx.x == 0) {
            memory.list = atomicAdd(&p.counters->list, units);
            memory.ends = atomicAdd(&p.counters->passes, passes);
        }
        __syncthreads();
        list = p.lists + (size_t)memory.list * 4 + l2k_mq_cuda_lead(num_planes) / 4;
        return memory.list <= p.list_capacity && units <= p.list_capacity - memory.list &&
               memory.ends <= p.pass_capacity && passes <= p.pass_capacity - memory.ends;
    }

    __device__ __forceinline__ void begin_plane(uint32_t plane, bool first)
    {
        uint32_t *const before = state.before;
        state.before = state.after;
        state.after = state.visited;
        state.visited = before;
        if (active) {
            const uint32_t significant = state.before[cell];
            state.after[cell] = significant | planes[plane * spacing + threadIdx.x];
            state.visited[cell] = significant;
        }
        __syncthreads();
        const uint32_t below = block.style & L2K_STYLE_VSC ? 0 : ~0u;
        for (bool again = !first; again;) {
            const uint32_t now = active ? l2k_mq_spread(&state, cell, row, below) : 0;
            const bool changed = active && now != state.visited[cell];
            __syncthreads();
            if (changed)
                state.visited[cell] = now;
            again = __syncthreads_or(changed);
            __syncthreads();
        }
    }

    /* Exclusive prefix sums of counts over threads, and totals. */
    __device__ __forceinline__ l2k_mq_counts sum(const l2k_mq_counts &own, l2k_mq_counts &all)
    {
        const uint32_t pair = own.significance | own.refinement << 16;
        uint32_t a = l2k_sum_up_to<32>(L2K_ALL_LANES, l2k_lane(), pair);
        uint32_t b = l2k_sum_up_to<32>(L2K_ALL_LANES, l2k_lane(), own.cleanup);
        const uint32_t warp = threadIdx.x / 32;
        if (l2k_lane() == 31) {
            memory.sums[0][warp] = a;
            memory.sums[1][warp] = b;
        }
        __syncthreads();
        uint32_t all_a = 0, all_b = 0;
        for (uint32_t i = 0; i < blockDim.x / 32; i++) {
            if (i == warp) {
                a += all_a;
                b += all_b;
            }
            all_a += memory.sums[0][i];
            all_b += memory.sums[1][i];
        }
        all.significance = all_a & 0xFFFF;
        all.refinement = all_a >> 16;
        all.cleanup = all_b;
        l2k_mq_counts before;
        before.significance = (a & 0xFFFF) - own.significance;
        before.refinement = (a >> 16) - own.refinement;
        before.cleanup = b - own.cleanup;
        return before;
    }

    static __device__ __forceinline__ uint32_t words_of(uint32_t decisions)
    {
        return max((decisions + 3) / 4, 1u);
    }

    /* Writes the three lists, pads the last word of each, and copies them to the block's memory. */
    __device__ __forceinline__ void write(const mask_decisions &d, const l2k_mq_counts &own, bool first)
    {
        l2k_mq_counts all;
        const l2k_mq_counts before = sum(own, all);
        const bool symbol = block.style & L2K_STYLE_SEGSYM;
        const uint32_t significance = first ? 0 : words_of(all.significance);
        const uint32_t refinement = first ? 0 : words_of(all.refinement);
        const uint32_t cleanup = words_of(all.cleanup + (symbol ? 4 : 0));
        const uint32_t second = significance, third = second + refinement, words = third + cleanup;
        uint8_t *bytes = reinterpret_cast<uint8_t *>(stage);
        if (threadIdx.x == 0) {
            if (!first)
                stage[second - 1] = stage[third - 1] = L2K_MQ_FILLER;
            stage[words - 1] = L2K_MQ_FILLER;
        }
        __syncthreads();
        if (active)
            l2k_mq_write_word(&d, entries, 4 * spacing, bytes + before.significance,
                              bytes + 4 * second + before.refinement, bytes + 4 * third + before.cleanup);
        if (symbol && threadIdx.x < 4) /* 1010 (D.5) */
            bytes[4 * third + all.cleanup + threadIdx.x] = L2K_CONTEXT_UNIFORM | (~threadIdx.x & 1)
                                                                                     << L2K_MQ_DECISION_AT;
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < words; i += blockDim.x) {
            const bool last = i + 1 == second || i + 1 == third || i + 1 == words;
            list[i] = stage[i] | (uint32_t)last << L2K_MQ_LAST_WORD_AT;
        }
        list += words;
    }

    __device__ __forceinline__ void measure(const mask_decisions &d, uint32_t plane, uint32_t cleanup_pass)
    {
        int64_t gains[PASS_TYPES] = {0, 0, 0};
        if (threadIdx.x < PASS_TYPES)
            memory.gains[threadIdx.x] = 0;
        __syncthreads();
        if (active)
            l2k_mq_measure(planes + threadIdx.x, spacing, plane, &d, block.reversible, gains);
        for (int k = 0; k < PASS_TYPES; k++) {
            uint64_t sum = (uint64_t)gains[k];
            for (int i = 1; i < 32; i *= 2)
                sum += __shfl_xor_sync(L2K_ALL_LANES, sum, i);
            if (l2k_lane() == 0)
                atomicAdd(reinterpret_cast<unsigned long long *>(&memory.gains[k]), (unsigned long long)sum);
        }
        __syncthreads();
        if (threadIdx.x < PASS_TYPES && cleanup_pass + threadIdx.x >= 2)
            p.gains[memory.ends + cleanup_pass - 2 + threadIdx.x] = (int64_t)memory.gains[threadIdx.x];
    }

    __device__ __forceinline__ void list_plane(uint32_t plane)
    {
        const bool first = plane + 1 == num_planes;
        const uint32_t cleanup_pass = 3 * (num_planes - 1 - plane);
        const bool raw = !first && l2k_pass_is_raw(block.style, cleanup_pass - 2);
        l2k_mq_counts own = {0, 0, 0};
        mask_decisions d;
        begin_plane(plane, first);
        if (active) {
            l2k_mq_decide(&state, cell, row, block.style & L2K_STYLE_VSC ? 0 : ~0u, live, refined,
                          planes[plane * spacing + threadIdx.x], block.orientation, raw, &d);
            own = l2k_mq_count_decisions(&d);
            refined = state.before[cell];
        }
        write(d, own, first);
        if (p.gains)
            measure(d, plane, cleanup_pass);
        __syncthreads();
    }
};

__global__ void __launch_bounds__(L2K_MQ_MOST_WORDS, 4) list_decisions(const l2k_mq_cuda_encode p)
{
    extern __shared__ uint32_t shared[];
    __shared__ block_memory fixed;
    lister l(p, shared, fixed);
    const uint32_t all = l.load();
    const bool too_large = l.num_planes > L2K_MAX_BIT_PLANES;
    if (threadIdx.x == 0 && too_large)
        atomicMin(&p.counters->failed, blockIdx.x);
    const bool some = all && !too_large && l.reserve();
    if (threadIdx.x == 0)
        p.work[blockIdx.x] = l2k_mq_cuda_work{0, 0, 0, 0};
    if (!some)
        return;
    const uint32_t *const begin = l.list;
    for (uint32_t plane = l.num_planes; plane-- > 0;)
        l.list_plane(plane);
    if (threadIdx.x < L2K_MQ_WORDS_AHEAD)
        l.list[threadIdx.x] = L2K_MQ_FILLER;
    if (threadIdx.x > 0)
        return;
    const uint32_t words = (uint32_t)(l.list - begin);
    p.work[blockIdx.x] = l2k_mq_cuda_work{fixed.list, words, fixed.ends, l.num_planes};
    atomicAdd(&p.counters->bins[l2k_mq_cuda_bin(words, p.area)], 1);
}

/* Allows all that the device has, whatever this launch takes: threads that launch at once share the limit. */
int allow_shared_memory()
{
    int device = 0, most = 0;
    cudaFuncAttributes attributes;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error == cudaSuccess)
        error = cudaFuncGetAttributes(&attributes, list_decisions);
    if (error != cudaSuccess)
        return error;
    return cudaFuncSetAttribute(list_decisions, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                most - (int)attributes.sharedSizeBytes);
}

} // namespace

extern "C" int l2k_mq_cuda_launch_lists(const l2k_mq_cuda_encode *p, void *stream)
{
    const layout at(*p);
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(p->num_blocks);
    config.blockDim = dim3(at.threads);
    config.dynamicSmemBytes = at.bytes();
    config.stream = (cudaStream_t)stream;
    const int error = allow_shared_memory();
    return error == cudaSuccess ? cudaLaunchKernelEx(&config, list_decisions, *p) : error;
}
