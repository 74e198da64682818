/* Precedes the HT cleanup pass when a device encodes: SigProp (7.4 of T.814) and MagRef (7.5) on the bit-plane below,
 * and the gains of coding passes. A warp has a block, a lane a column of four samples. The encoder knows all samples, so
 * SigProp finds a fixed point: a found sample only causes visits to later ones, in its column, in the next one, or in
 * the stripe below. The bytes equal those of codec/blocks/ht/ht_encode_refine.c; together with the samples from the
 * cleanup pass's bit-plane up they wait in scratch memory for ht_encode.cu. */
#include "codec/engine/cuda/ht/ht_encode_streams.cuh"
#include "codec/engine/cuda/ht/ht_launch.cuh"

extern "C" {
#include "codec/blocks/ht/ht_gains.h"
}

namespace
{

enum { WARPS = 4, RING = 64 };

/* Columns of a 1024 x 4 block inside a border. */
enum { COLUMNS = 1026 * 3 };

/* ---- Gains --------------------------------------------------------------------------------------------------- */

/* Adds up all lanes; the gains of a pass count in the next one. */
__device__ __forceinline__ void keep_gains(const l2k_ht_cuda_encode &p, uint32_t index, l2k_gains gains[3])
{
#pragma unroll
    for (uint32_t i = 0; i < 3; i++) {
        if (i == p.passes)
            break;
        for (int d = 1; d < 32; d *= 2) {
            gains[i].high += __shfl_xor_sync(L2K_ALL_LANES, gains[i].high, d);
            gains[i].low += __shfl_xor_sync(L2K_ALL_LANES, gains[i].low, d);
        }
        if (i)
            l2k_gains_join(&gains[i], gains[i - 1]);
        if (l2k_lane() == 0)
            p.gains[p.passes * index + i] = l2k_gains_value(gains[i]);
    }
}

template <class Sample> __global__ void __launch_bounds__(32 * WARPS) measure_gains(const l2k_ht_cuda_encode p)
{
    const uint32_t number = blockIdx.x * WARPS + threadIdx.x / 32;
    if (number >= p.num_blocks)
        return;
    const l2k_ht_cuda_encode_block b = p.blocks[number];
    const Sample *row = reinterpret_cast<const Sample *>(b.view.coefficients);
    l2k_gains gains[3] = {{0, 0}, {0, 0}, {0, 0}};
    for (int y = 0; y < b.view.height; y++, row += b.view.stride)
        for (int x = l2k_lane(); x < b.view.width; x += 32)
            l2k_ht_add_gains(l2k_ht_magnitude_of(l2k_ht_index_of(row[x], b.reciprocal)), false, 0, b.reversible, gains);
    keep_gains(p, b.index, gains);
}

/* ---- Refinement passes --------------------------------------------------------------------------------------- */

/* A column of four samples, a row in each bit of the four fields: significant in the cleanup pass; the bit below; signs;
 * found by SigProp. */
enum { SIGNIFICANT_AT = 0, LOW_AT = 4, NEGATIVE_AT = 8, FOUND_AT = 12 };

struct warp_memory {
    uint32_t sigprop[RING], magref[RING];
    uint16_t columns[COLUMNS];
};

/* The bits of `from` where `which` has ones, made adjacent. */
__device__ __forceinline__ uint32_t gather(uint32_t from, uint32_t which)
{
    uint32_t bits = 0, count = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        bits |= (from >> k & which >> k & 1) << count;
        count += which >> k & 1;
    }
    return bits;
}

template <class Sample, class Copy> struct refinement {
    const l2k_ht_cuda_encode &p;
    const l2k_ht_cuda_encode_block &b;
    uint16_t *columns; /* the first stripe's first one, inside the border */
    int width, height, pitch;
    float reciprocal;
    l2k_ht_cut cut;
    uint32_t low; /* bit-plane of the refinement passes; without these that of the cleanup pass */
    stream<L2K_HT_FORWARD, RING> sigprop;
    stream<L2K_HT_BACKWARD, RING> magref;

    __device__ __forceinline__ refinement(const l2k_ht_cuda_encode &parameters, const l2k_ht_cuda_encode_block &block,
                                          warp_memory &memory)
        : p(parameters), b(block), width(block.view.width), height(block.view.height), pitch(block.view.width + 2)
    {
        reciprocal = p.cut ? p.reciprocals[b.band] : b.reciprocal;
        const l2k_ht_cuda_encode_layout at = l2k_ht_cuda_lay_out_encoding(&b.view, sizeof(Copy) == 4);
        columns = memory.columns + pitch + 1;
        sigprop.start(memory.sigprop, reinterpret_cast<uint32_t *>(scratch(at.sigprop)), 0);
        magref.start(memory.magref, reinterpret_cast<uint32_t *>(scratch(at.magref)), 0xFF);
        for (int i = l2k_lane(); i < pitch * ((height + 3) / 4 + 2); i += 32)
            memory.columns[i] = 0;
        __syncwarp();
    }
    __device__ __forceinline__ uint8_t *scratch(uint32_t units) const
    {
        return p.scratch + ((size_t)b.scratch + units) * L2K_HT_CUDA_SCRATCH;
    }
    __device__ __forceinline__ int32_t sample(int x, int y) const
    {
        return l2k_ht_index_of(reinterpret_cast<const Sample *>(b.view.coefficients)[(size_t)y * b.view.stride + x],
                               reciprocal);
    }

    /* Loads a column, and copies its samples from the cleanup pass's plane up. Returns the OR of the magnitudes. */
    __device__ __forceinline__ uint32_t load_column(int x, int y)
    {
        const uint32_t stride = l2k_ht_cuda_copied_stride(&b.view);
        Copy *to = reinterpret_cast<Copy *>(scratch(0)) + (size_t)y * stride + x;
        uint32_t column = 0, all = 0;
        for (int k = 0; k < min(4, height - y); k++, to += stride) {
            const int32_t v = sample(x, y + k);
            const uint32_t magnitude = l2k_ht_magnitude_of(v), high = magnitude >> cut.plane;
            column |= (uint32_t)(high != 0) << k | (magnitude >> low & 1) << (LOW_AT + k) |
                      (uint32_t)(v < 0) << (NEGATIVE_AT + k);
            all |= magnitude;
            *to = (Copy)(v < 0 ? 0 - high : high);
        }
        columns[y / 4 * pitch + x] = (uint16_t)column;
        return all;
    }
    __device__ __forceinline__ uint32_t load()
    {
        uint32_t all = 0;
        for (int y = 0; y < height; y += 4)
            for (int x = l2k_lane(); x < width; x += 32)
                all |= load_column(x, y);
        __syncwarp();
        return l2k_join(all);
    }

    /* Significance of a column with the samples directly above and below it, found ones only in the stripe above: bits
     * 0 to 5. */
    __device__ __forceinline__ uint32_t tall(const uint16_t *column) const
    {
        const uint32_t above = column[-pitch], below = b.causal ? 0 : column[pitch] & 1u;
        return ((above | above >> FOUND_AT) >> 3 & 1) | (column[0] & 15u) << 1 | below << 5;
    }

    /* What SigProp visits and finds in a column, given what it found in the one before. */
    static __device__ __forceinline__ uint32_t visit(uint32_t near, uint32_t open, uint32_t low, uint32_t before,
                                                     uint32_t &found)
    {
        near |= before << 1 | before | before >> 1;
        found = 0;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            found |= near & open & low & 1u << k;
            near |= (found & 1u << k) << 1;
        }
        return near & open;
    }

    /* SigProp's bits of a lane's column, none beyond the block: in groups of four columns, first the bits of all
     * visited samples, then signs. */
    __device__ __forceinline__ void put_visited(uint32_t column, uint32_t visited, uint32_t found)
    {
        const unsigned lane = l2k_lane(), end = lane | 3;
        const uint32_t own = __popc(visited) | __popc(found) << 16;
        const uint32_t in_group = l2k_sum_up_to<4>(L2K_ALL_LANES, lane & 3, own);
        const uint32_t group = __shfl_sync(L2K_ALL_LANES, in_group, end);
        const uint32_t own_bits = (own & 0xFFFF) + (own >> 16), group_bits = (group & 0xFFFF) + (group >> 16);
        const uint32_t up_to = l2k_sum_up_to<32>(L2K_ALL_LANES, lane, own_bits);
        const uint32_t at = sigprop.filled + __shfl_sync(L2K_ALL_LANES, up_to, end) - group_bits;
        sigprop.put(at + ((in_group - own) & 0xFFFF), gather(column >> LOW_AT, visited), __popc(visited));
        sigprop.put(at + (group & 0xFFFF) + (in_group - own >> 16), gather(column >> NEGATIVE_AT, found),
                    __popc(found));
        sigprop.filled += __shfl_sync(L2K_ALL_LANES, up_to, 31);
        __syncwarp();
        sigprop.drain();
    }

    __device__ __forceinline__ void put_refined(uint32_t column)
    {
        const uint32_t significant = column & 15, own = __popc(significant);
        const uint32_t up_to = l2k_sum_up_to<32>(L2K_ALL_LANES, l2k_lane(), own);
        magref.put(magref.filled + up_to - own, gather(column >> LOW_AT, significant), own);
        magref.filled += __shfl_sync(L2K_ALL_LANES, up_to, 31);
        __syncwarp();
        magref.drain();
    }

    /* 32 columns of a stripe. */
    __device__ __forceinline__ void code_columns(int x, int y)
    {
        const bool inside = x + (int)l2k_lane() < width;
        uint16_t *at = columns + y / 4 * pitch + min(x + (int)l2k_lane(), width - 1);
        const uint32_t column = inside ? *at : 0, rows = (1u << min(4, height - y)) - 1;
        const uint32_t around = tall(at - 1) | tall(at) | tall(at + 1);
        const uint32_t near = around | around >> 1 | around >> 2, open = inside ? ~column & rows : 0;
        const uint32_t first = at[-1] >> FOUND_AT; /* for lane 0: found before these columns */
        uint32_t found = 0, visited = 0, last;
        do {
            uint32_t before = __shfl_up_sync(L2K_ALL_LANES, found, 1);
            before = l2k_lane() ? before : first;
            last = found;
            visited = visit(near, open, column >> LOW_AT, before, found);
        } while (__any_sync(L2K_ALL_LANES, found != last));
        __syncwarp();
        if (inside)
            *at = (uint16_t)(column | found << FOUND_AT);
        __syncwarp();
        put_visited(column, visited, found);
        if (cut.passes > 2)
            put_refined(column);
    }
    __device__ __forceinline__ void code()
    {
        for (int y = 0; y < height; y += 4)
            for (int x = 0; x < width; x += 32)
                code_columns(x, y);
    }

    /* SigProp must not end in 0xFF, since what follows could make that a marker code. Returns its length. */
    __device__ __forceinline__ uint32_t end_sigprop()
    {
        uint32_t word;
        const uint32_t bits = sigprop.finish(word), bytes = (bits + 7) / 8;
        if (bits == 0 || bits % 8 || sigprop.last_of(bytes, word) != 0xFF)
            return bytes;
        __syncwarp();
        if (l2k_lane() == 0)
            reinterpret_cast<uint8_t *>(sigprop.slot)[bytes] = 0;
        return bytes + 1;
    }
    __device__ __forceinline__ uint32_t end_magref()
    {
        uint32_t word;
        return (magref.finish(word) + 7) / 8;
    }

    __device__ __forceinline__ void measure() const
    {
        l2k_gains gains[3] = {{0, 0}, {0, 0}, {0, 0}};
        for (int y = 0; y < height; y++)
            for (int x = l2k_lane(); x < width; x += 32) {
                const bool found = columns[y / 4 * pitch + x] >> (FOUND_AT + (y & 3)) & 1;
                l2k_ht_add_gains(l2k_ht_magnitude_of(sample(x, y)), found, 1, b.reversible, gains);
            }
        keep_gains(p, b.index, gains);
    }

    /* `most`: the most bits that a magnitude may have in the cleanup pass, and one. */
    __device__ __forceinline__ void run(uint32_t most)
    {
        l2k_ht_cuda_refined r;
        cut = l2k_ht_cut{1, b.passes};
        const bool codes = !p.cut || l2k_ht_find_cut(p, b, &cut, &r);
        if (codes) {
            low = cut.plane - (cut.passes > 1);
            const uint32_t all = load();
            r = l2k_ht_cuda_refined{0, 0, (uint8_t)(l2k_highest_bit(all) + 1), (uint8_t)cut.plane, (uint8_t)cut.passes};
            if (all >> cut.plane && cut.passes > 1) {
                code();
                r.sigprop = end_sigprop();
                r.magref = end_magref();
            }
            if (p.gains)
                measure();
        }
        if (l2k_lane() != 0)
            return;
        p.refined[b.index] = r;
        if (codes && r.magnitude_bits > most + low)
            atomicMin(&p.counters->failed, b.index);
    }
};

/* Indices to store in 16 bits have at most 15, so that none wraps. */
template <class Sample, class Copy>
__global__ void __launch_bounds__(32 * WARPS) encode_refinement(const l2k_ht_cuda_encode p)
{
    __shared__ warp_memory memory[WARPS];
    const uint32_t number = blockIdx.x * WARPS + threadIdx.x / 32;
    if (number >= p.num_blocks)
        return;
    const l2k_ht_cuda_encode_block b = p.blocks[number];
    refinement<Sample, Copy> r(p, b, memory[threadIdx.x / 32]);
    r.run(sizeof(Copy) == 4 ? 31 : sizeof(Sample) == 2 ? 16 : 15);
}

} // namespace

extern "C" int l2k_ht_cuda_launch_gains(const l2k_ht_cuda_encode *p, void *stream)
{
    const auto kernel = p->form & L2K_HT_FLOAT  ? measure_gains<float>
                        : p->form & L2K_HT_WIDE ? measure_gains<int32_t>
                                                : measure_gains<int16_t>;
    return l2k_launch(kernel, p->num_blocks, WARPS, 32 * WARPS, stream, *p);
}

extern "C" int l2k_ht_cuda_launch_encode_refinement(const l2k_ht_cuda_encode *p, void *stream)
{
    typedef void kernel(l2k_ht_cuda_encode);
    static kernel *const kernels[2][2] = {{encode_refinement<int16_t, int16_t>, encode_refinement<int32_t, int32_t>},
                                          {encode_refinement<float, int16_t>, encode_refinement<float, int32_t>}};
    return l2k_launch(kernels[(p->form & L2K_HT_FLOAT) != 0][p->form & L2K_HT_WIDE], p->num_blocks, WARPS, 32 * WARPS,
                      stream, *p);
}
