/* After the HT cleanup pass: SigProp (7.4 of T.814) and MagRef (7.5), and the shift of a region of interest (H.1), in
 * place. A warp has a block, with significance per column of a stripe in shared memory. MagRef runs in parallel,
 * SigProp on one lane, since each of its bits decides the meaning of the next one. */
#include "codec/engine/cuda/ht/ht_launch.cuh"
#include "codec/engine/cuda/ht/ht_unstuff.cuh"

namespace
{

enum { WARPS = 4 };

/* Significance of a 1024 x 4 block, inside a border; SigProp takes up to two bits a sample, MagRef one. */
enum {
    SAMPLES = 4096,
    COLUMNS = 1026 * 3,
    SIGPROP_BYTES = 2 * SAMPLES / 7 + 1,
    MAGREF_BYTES = SAMPLES / 7 + 1,
    SLACK_WORDS = 8
};

struct warp_memory {
    uint32_t sigprop[SIGPROP_BYTES / 4 + SLACK_WORDS], magref[MAGREF_BYTES / 4 + SLACK_WORDS], joint[34];
    uint8_t columns[COLUMNS];
};

/* A stream without stuffing; zeros follow its last word. */
struct bit_reader {
    const uint32_t *words;
    uint32_t last, at; /* the first word of zeros; bits read */

    __device__ __forceinline__ uint32_t bit_at(uint32_t place) const
    {
        return words[min(place >> 5, last)] >> (place & 31) & 1;
    }
    __device__ __forceinline__ uint32_t take()
    {
        return bit_at(at++);
    }
};

template <l2k_ht_stream STREAM>
__device__ __forceinline__ bit_reader read(const uint8_t *segment, uint32_t bytes, uint32_t *words, uint32_t *joint)
{
    const bit_reader reader = {words, l2k_ht_unstuffer<STREAM>().run(segment, bytes, words, joint), 0};
    __syncwarp();
    return reader;
}

/* An empty segment has no last byte to begin with. */
__device__ __forceinline__ bit_reader read_sigprop(const uint8_t *segment, uint32_t bytes, warp_memory *memory)
{
    return read<L2K_HT_SIGPROP>(segment, min(bytes, (uint32_t)SIGPROP_BYTES), memory->sigprop, memory->joint);
}

__device__ __forceinline__ bit_reader read_magref(const uint8_t *segment, uint32_t bytes, warp_memory *memory)
{
    return read<L2K_HT_MAGREF>(segment + bytes - 1, min(bytes, (uint32_t)MAGREF_BYTES), memory->magref, memory->joint);
}

template <class Sample> struct refinement {
    Sample *samples;
    uint32_t stride;
    int width, height, pitch; /* from stripe to stripe of `columns` */
    uint8_t *columns;         /* the first stripe's first one */
    uint32_t bit, half;       /* of the bit-plane of both passes */
    bool causal;

    __device__ __forceinline__ refinement(const l2k_ht_cuda_decode_block &b, uint8_t *memory)
    {
        samples = reinterpret_cast<Sample *>(b.view.coefficients);
        stride = b.view.stride;
        width = b.view.width;
        height = b.view.height;
        pitch = width + 2;
        columns = memory + pitch + 1;
        bit = 1u << b.plane >> 1;
        half = bit >> 1;
        causal = b.causal;
    }
    __device__ __forceinline__ Sample *sample(int x, int y) const
    {
        return samples + (size_t)y * stride + x;
    }
    __device__ __forceinline__ void set(Sample *at, uint32_t magnitude, bool negative) const
    {
        *at = (Sample)(negative ? 0 - magnitude : magnitude);
    }

    __device__ __forceinline__ void find_significance()
    {
        const int stripes = (height + 3) / 4;
        for (int i = l2k_lane(); i < pitch * (stripes + 2); i += 32)
            columns[i - pitch - 1] = 0;
        __syncwarp();
        for (int y = 0; y < height; y += 4)
            for (int x = l2k_lane(); x < width; x += 32) {
                uint32_t significant = 0;
                for (int k = 0; k < min(height - y, 4); k++)
                    significant |= (uint32_t)(*sample(x, y + k) != 0) << k;
                columns[y / 4 * pitch + x] = (uint8_t)significant;
            }
        __syncwarp();
    }

    /* In a refined sample, the bit replaces the middle of its interval. */
    __device__ __forceinline__ void refine_column(const bit_reader &bits, uint32_t at, int x, int y,
                                                  uint32_t significant)
    {
        for (; significant; significant >>= 1, y++)
            if (significant & 1) {
                const int32_t v = *sample(x, y);
                const uint32_t magnitude = v < 0 ? 0u - (uint32_t)v : (uint32_t)v;
                set(sample(x, y), (magnitude & ~bit) | (bits.bit_at(at++) ? bit : 0) | half, v < 0);
            }
    }
    __device__ __forceinline__ void refine_magnitudes(bit_reader bits)
    {
        for (int y = 0; y < height; y += 4)
            for (int x = 0; x < width; x += 32) {
                const int column = x + l2k_lane();
                const uint32_t significant = column < width ? columns[y / 4 * pitch + column] : 0;
                const uint32_t own = __popc(significant), up_to = l2k_sum_up_to<32>(L2K_ALL_LANES, l2k_lane(), own);
                refine_column(bits, bits.at + up_to - own, column, y, significant);
                bits.at += __shfl_sync(L2K_ALL_LANES, up_to, 31);
            }
        __syncwarp();
    }

    /* Significance of a column with the samples directly above and below it: bits 0 to 5. */
    __device__ __forceinline__ uint32_t tall(const uint8_t *column) const
    {
        const uint32_t below = causal ? 0 : column[pitch] & 1u;
        return column[-pitch] >> 3 | (uint32_t)*column << 1 | below << 5;
    }
    /* Visits insignificant samples of a column with a significant neighbour, including neighbours that have just become
     * significant. Returns the new ones. */
    __device__ __forceinline__ uint32_t visit_column(bit_reader &bits, const uint8_t *column, int rows) const
    {
        uint32_t here = tall(column), found = 0;
        const uint32_t others = tall(column - 1) | tall(column + 1);
        for (int k = 0; k < rows && (here | others); k++)
            if (!(here >> (k + 1) & 1) && (here | others) >> k & 7 && bits.take()) {
                found |= 1u << k;
                here |= 2u << k;
            }
        return found;
    }
    /* Four columns: first the bits of all of them, then the signs. */
    __device__ __forceinline__ void propagate_group(bit_reader &bits, int x, int y)
    {
        uint8_t *column = columns + y / 4 * pitch + x;
        const int count = min(width - x, 4);
        uint32_t found = 0; /* four bits a column */
        for (int i = 0; i < count; i++) {
            const uint32_t one = visit_column(bits, column + i, min(height - y, 4));
            column[i] |= (uint8_t)one;
            found |= one << 4 * i;
        }
        for (; found; found &= found - 1) {
            const int k = __ffs(found) - 1;
            set(sample(x + k / 4, y + k % 4), bit | half, bits.take());
        }
    }
    __device__ __forceinline__ void propagate_significance(bit_reader bits)
    {
        for (int y = 0; y < height && l2k_lane() == 0; y += 4)
            for (int x = 0; x < width; x += 4)
                propagate_group(bits, x, y);
        __syncwarp();
    }

    __device__ __forceinline__ void unshift_region(uint32_t shift, uint32_t scale)
    {
        for (int y = 0; y < height; y++)
            for (int x = l2k_lane(); x < width; x += 32) {
                const int32_t v = *sample(x, y);
                const uint32_t magnitude = v < 0 ? 0u - (uint32_t)v : (uint32_t)v;
                if (magnitude >> (shift + scale))
                    set(sample(x, y), magnitude >> shift, v < 0);
            }
    }
};

/* Magnitudes of reversible blocks have 31 bits, others, doubled, 30. */
const uint32_t SAMPLE_BITS = 31;

template <class Sample> __global__ void __launch_bounds__(32 * WARPS) refine_blocks(const l2k_ht_cuda_decode p)
{
    __shared__ warp_memory memory[WARPS];
    const unsigned warp = threadIdx.x / 32, number = blockIdx.x * WARPS + warp;
    if (number >= p.num_blocks)
        return;
    const l2k_ht_cuda_decode_block b = p.blocks[number];
    const uint32_t *head = reinterpret_cast<const uint32_t *>(reinterpret_cast<const uint4 *>(p.scratch) + b.scratch);
    if (b.length == 0 || head[L2K_HT_BAD])
        return;
    const uint8_t *segment = p.bytes + b.refinement;
    refinement<Sample> r(b, memory[warp].columns);
    if (b.passes > 1) {
        r.find_significance();
        if (b.passes > 2) /* first, since it only refines samples of the cleanup pass */
            r.refine_magnitudes(read_magref(segment, b.refinement_bytes, &memory[warp]));
        r.propagate_significance(read_sigprop(segment, b.refinement_bytes, &memory[warp]));
    }
    if (b.roi_shift && b.roi_shift + b.scale < SAMPLE_BITS)
        r.unshift_region(b.roi_shift, b.scale);
}

} // namespace

extern "C" int l2k_ht_cuda_launch_refine(const l2k_ht_cuda_decode *p, void *stream)
{
    const auto kernel = p->form & L2K_HT_WIDE ? refine_blocks<int32_t> : refine_blocks<int16_t>;
    return l2k_launch(kernel, p->num_blocks, WARPS, 32 * WARPS, stream, *p);
}
