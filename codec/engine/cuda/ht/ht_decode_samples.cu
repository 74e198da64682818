/* Decodes the second half of the HT cleanup pass (7.3.8 of T.814) on a device: magnitudes and signs from MagSgn. A warp
 * has a block, or half a warp one with short rows; each lane reads a quad of a row, at a place that a prefix sum over
 * the row gives. For its bounds see ht_decode_quads.cu. */
#include "base/words_cuda.cuh"
#include "codec/engine/cuda/ht/ht_launch.cuh"
#include "codec/engine/cuda/blocks/warp.cuh"

namespace
{

typedef l2k_ht_cuda_decode_block block_type;

/* ---- Samples: MagSgn ----------------------------------------------------------------------------------------- */

/* A block's MagSgn bits at absolute places; filler follows the last word. */
struct magsgn_bits {
    const uint32_t *words;
    uint32_t last; /* the first word of filler */

    __device__ __forceinline__ uint32_t word(uint32_t at) const
    {
        return min(at >> 5, last);
    }
};

/* Samples of a quad, two in a word: 0 and 2 in `top`, 1 and 3 in `low`. */
struct narrow_samples {
    typedef int16_t sample;
    typedef uint16_t word; /* of a quad */

    /* From the value 2 (mu - 1) + sign that was read to a sample. */
    struct scale {
        int plane, half, mask; /* the latter for two samples */
        int top, unsign;       /* where a magnitude ends, and bits that mark samples that become 0 beyond */

        __device__ __forceinline__ scale(const block_type &b)
        {
            plane = l2k_pinned((int)b.plane);
            half = l2k_pinned((int)((1u << b.plane >> 1) * 0x10001));
            mask = l2k_pinned((int)(((1u << (b.plane + b.planes)) - 1) * 0x10001));
            top = l2k_pinned(b.plane + b.planes);
            unsign = l2k_pinned(half ? 0 : 0x10001);
        }
    };
    uint32_t ones_top, ones_low, bits_top, bits_low, count, top, low;

    static __device__ __forceinline__ int residual(uint32_t quad)
    {
        return (int)(quad & 15);
    }
    /* How many bits each sample takes. */
    __device__ __forceinline__ void measure(uint32_t quad, uint32_t bound)
    {
        const uint32_t known = (quad >> 4 & 15) * 0x4001u;
        ones_top = (quad >> 12 | quad << 3) & 0x10001;
        ones_low = (quad >> 15 | quad << 2) & 0x10001;
        bits_top = ones_top * bound - (known & 0x10001);
        bits_low = ones_low * bound - (known >> 1 & 0x10001);
        const uint32_t sum = bits_top + bits_low;
        count = (sum & 0xFFFF) + (sum >> 16);
    }
    /* Reads the samples, and adds the bit that the quad's code implies. */
    __device__ __forceinline__ void read(const magsgn_bits &from, uint32_t at, uint32_t quad)
    {
        const uint32_t *words = from.words + from.word(at);
        const uint32_t w0 = __ldg(words), w1 = __ldg(words + 1), w2 = __ldg(words + 2);
        uint32_t bits = __funnelshift_r(w0, w1, at), rest = __funnelshift_r(w1, w2, at);
        const uint32_t b2 = bits_top >> 16, b3 = bits_low >> 16;
        const uint32_t v0 = (bits & l2k_low_bits(bits_top)) | (quad >> 8 & 1) << (bits_top & 31);
        bits = __funnelshift_r(bits, rest, bits_top);
        rest = __funnelshift_r(rest, 0, bits_top);
        const uint32_t v1 = (bits & l2k_low_bits(bits_low)) | (quad >> 9 & 1) << (bits_low & 31);
        bits = __funnelshift_r(bits, rest, bits_low);
        rest = __funnelshift_r(rest, 0, bits_low);
        const uint32_t v2 = (bits & l2k_low_bits(b2)) | (quad >> 10 & 1) << b2;
        bits = __funnelshift_r(bits, rest, b2);
        const uint32_t v3 = (bits & l2k_low_bits(b3)) | (quad >> 11 & 1) << b3;
        top = __byte_perm(v0, v2, 0x5410);
        low = __byte_perm(v1, v3, 0x5410);
    }
    /* For the row below: exponents of the lower samples, as bits. */
    __device__ __forceinline__ uint32_t lower() const
    {
        return (low | 0x10001) & ones_low * 0xFFFFu;
    }
    static __device__ __forceinline__ int greatest(uint32_t left, uint32_t above, uint32_t right)
    {
        return l2k_highest_bit(((left | above) >> 16 | right | above) & 0xFFFF) + 1;
    }
    static __device__ __forceinline__ uint32_t coefficients(uint32_t values, uint32_t ones, const scale &s)
    {
        uint32_t magnitude = ((values >> 1 & 0x7FFF7FFFu) + 0x10001) << s.plane;
        const uint32_t sign = values & 0x10001 & ~(magnitude >> s.top & s.unsign); /* -0 would be a carry */
        magnitude = (magnitude | s.half) & s.mask;
        return ((magnitude ^ sign * 0xFFFFu) + sign) & ones * 0xFFFFu;
    }
    /* A row: 0 or 1. */
    __device__ __forceinline__ void store(int16_t *to, int k, const scale &s, bool second, bool aligned) const
    {
        const uint32_t row = k ? coefficients(low, ones_low, s) : coefficients(top, ones_top, s);
        if (aligned) {
            *reinterpret_cast<uint32_t *>(to) = row;
            return;
        }
        to[0] = (int16_t)row;
        if (second)
            to[1] = (int16_t)(row >> 16);
    }
};

struct wide_samples {
    typedef int32_t sample;
    typedef uint32_t word;

    struct scale {
        uint32_t plane, half, mask;

        __device__ __forceinline__ scale(const block_type &b)
            : plane(b.plane), half(1u << b.plane >> 1), mask((1u << (b.plane + b.planes)) - 1)
        {
        }
    };
    uint32_t bits[4], count, values[4], rho;

    static __device__ __forceinline__ int residual(uint32_t quad)
    {
        return (int)(quad >> 16);
    }
    __device__ __forceinline__ void measure(uint32_t quad, uint32_t bound)
    {
        rho = (quad >> 12 & 1) | (quad >> 14 & 2) | (quad >> 11 & 4) | (quad >> 11 & 8);
        count = 0;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            bits[k] = rho >> k & 1 ? bound - (quad >> (4 + k) & 1) : 0;
            count += bits[k];
        }
    }
    __device__ __forceinline__ void read(const magsgn_bits &from, uint32_t at, uint32_t quad)
    {
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const uint32_t *words = from.words + from.word(at);
            const uint32_t read = __funnelshift_r(__ldg(words), __ldg(words + 1), at);
            values[k] = bits[k] < 32 ? (read & l2k_low_bits(bits[k])) | (quad >> (8 + k) & 1) << bits[k] : read;
            at += bits[k];
        }
    }
    __device__ __forceinline__ uint32_t exponent(int k) const
    {
        return rho >> k & 1 ? l2k_highest_bit(values[k] | 1) + 1 : 0;
    }
    /* Two exponents. */
    __device__ __forceinline__ uint32_t lower() const
    {
        return exponent(1) | exponent(3) << 16;
    }
    static __device__ __forceinline__ int greatest(uint32_t left, uint32_t above, uint32_t right)
    {
        return (int)max(max(left >> 16, above >> 16), max(right & 0xFFFF, above & 0xFFFF));
    }
    __device__ __forceinline__ int32_t coefficient(int k, const scale &s) const
    {
        const uint32_t magnitude = (((values[k] >> 1) + 1) << s.plane | s.half) & s.mask;
        return rho >> k & 1 ? (int32_t)(values[k] & 1 ? 0 - magnitude : magnitude) : 0;
    }
    __device__ __forceinline__ void store(int32_t *to, int k, const scale &s, bool second, bool aligned) const
    {
        if (aligned) {
            *reinterpret_cast<int2 *>(to) = make_int2(coefficient(k, s), coefficient(k + 2, s));
            return;
        }
        to[0] = coefficient(k, s);
        if (second)
            to[1] = coefficient(k + 2, s);
    }
};

enum { SAMPLE_WARPS = 4, ROW_WORDS = L2K_HT_CUDA_ROW + 2 };

/* CTAs per multiprocessor, as many as registers allow without spilling. With 12, a 4K frame's blocks of 64 x 64 are one
 * wave on 132 multiprocessors. */
template <class Samples, int GROUP, bool LONG> struct sample_ctas {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800 /* 1024 threads */
    enum { COUNT = 8 };
#else
    enum { COUNT = LONG ? 8 : GROUP == 32 && sizeof(typename Samples::sample) == 2 ? 12 : 10 };
#endif
};

/* GROUP lanes have a block; this holds what all its rows share. Rows of more than 32 quads (LONG) are read in parts,
 * with `lower` for the row below in shared memory, between zeros. What each row needs is kept in registers, else the
 * compiler computes it anew. */
template <class Samples, int GROUP, bool LONG> struct sample_reader {
    typedef typename Samples::sample sample;
    typedef typename Samples::word word;
    const block_type &b;
    typename Samples::scale to_sample;
    uint32_t group;   /* its lanes */
    int lane;         /* in the group */
    int quads, pitch; /* in a row; from row to row */
    const word *from; /* the lane's first quad of the row */
    sample *to;       /* and its top left sample */
    int32_t stride;   /* bytes */
    int left;         /* rows of samples from there on */
    magsgn_bits bits;
    int limit;       /* of the exponent bound */
    uint32_t at;     /* bits read so far */
    uint32_t lower;  /* of the row above; LONG: of the quad to the left of the part */
    uint32_t *above; /* LONG */
    bool aligned;    /* whether two samples are one access */

    __device__ __forceinline__ sample_reader(const block_type &block, const l2k_ht_cuda_decode &p, uint32_t *shared)
        : b(block), to_sample(block), above(shared)
    {
        const l2k_ht_cuda_layout layout = l2k_ht_cuda_lay_out(&b);
        const uint4 *scratch = reinterpret_cast<const uint4 *>(p.scratch) + b.scratch;
        const uintptr_t corner = (uintptr_t)b.view.coefficients;
        lane = l2k_pinned((int)(l2k_lane() % GROUP));
        group = GROUP == 32 ? L2K_ALL_LANES : 0xFFFFu << (l2k_lane() & 16);
        quads = l2k_pinned((b.view.width + 1) / 2);
        pitch = l2k_pinned((int)l2k_ht_cuda_pitch(&b.view));
        stride = l2k_pinned((int)(b.view.stride * sizeof(sample)));
        from = reinterpret_cast<const word *>(
            l2k_pinned((int64_t)(reinterpret_cast<const word *>(scratch + layout.quads) + lane)));
        to = reinterpret_cast<sample *>(l2k_pinned((int64_t)(reinterpret_cast<sample *>(corner) + 2 * lane)));
        left = b.view.height;
        bits.words = reinterpret_cast<const uint32_t *>(l2k_pinned((int64_t)(scratch + layout.magsgn)));
        limit = l2k_pinned(b.planes + 1);
        at = lower = 0;
        aligned = ((corner | (uintptr_t)stride) & (2 * sizeof(sample) - 1)) == 0;
        for (int i = lane; LONG && i < ROW_WORDS; i += 32)
            above[i] = 0;
        __syncwarp(group);
    }

    /* The greatest exponent above a quad. */
    __device__ __forceinline__ int exponent_above(int quad)
    {
        uint32_t here = lower, west, east;
        if (LONG) {
            here = above[quad + 1];
            east = above[quad + 2];
            west = __shfl_up_sync(group, here, 1);
            if (lane == 0)
                west = quad ? lower : 0;
            lower = __shfl_sync(group, here, 31);
            return Samples::greatest(west, here, east);
        }
        west = __shfl_up_sync(group, here, 1, GROUP);
        east = __shfl_down_sync(group, here, 1, GROUP);
        return Samples::greatest(lane ? west : 0, here, lane < GROUP - 1 ? east : 0);
    }

    __device__ __forceinline__ void keep_lower(int quad, uint32_t own)
    {
        if (LONG) {
            __syncwarp(group);
            above[quad + 1] = own;
            __syncwarp(group);
        } else {
            lower = own;
        }
    }

    __device__ __forceinline__ void store(const Samples &s, int first) const
    {
        const int x = 2 * (first + lane);
        const bool second = x + 1 < b.view.width;
        sample *top = to + 2 * first;
        if (x >= b.view.width)
            return;
        s.store(top, 0, to_sample, second, aligned && second);
        if (left > 1)
            s.store(reinterpret_cast<sample *>(reinterpret_cast<char *>(top) + stride), 1, to_sample, second,
                    aligned && second);
    }

    /* The lane's quad of those from `first` on. False if a quad's exponent bound is beyond its subband's bit-planes. */
    __device__ __forceinline__ bool read_quad(uint32_t quad, int first)
    {
        Samples s;
        const uint32_t rho = quad & 0xF000;
        const int most = exponent_above(first + lane);
        const int bound = Samples::residual(quad) + (rho & (rho - 1) ? max(most - 1, 1) : 1);
        if (__any_sync(group, rho && bound > limit))
            return false;
        s.measure(quad, bound);
        const uint32_t up_to = l2k_sum_up_to<GROUP>(group, lane, s.count);
        s.read(bits, at + up_to - s.count, quad);
        at += __shfl_sync(group, up_to, GROUP - 1, GROUP);
        keep_lower(first + lane, s.lower());
        store(s, first);
        return true;
    }

    __device__ __forceinline__ uint32_t load(const word *row, int first) const
    {
        return first + lane < quads ? row[first] : 0;
    }

    __device__ __forceinline__ bool run(uint32_t first_filler)
    {
        uint32_t next = load(from, 0);
        bits.last = first_filler;
        for (; left > 0; left -= 2) {
            const word *below = from + pitch;
            for (int first = 0; first < quads; first += GROUP) {
                const uint32_t quad = next;
                const bool ends = !LONG || first + GROUP >= quads;
                if (!ends)
                    next = load(from, first + GROUP);
                else if (left > 2)
                    next = load(below, 0); /* ahead of its use */
                if (!read_quad(quad, first))
                    return false;
                if (!LONG)
                    break;
            }
            from = below;
            to = reinterpret_cast<sample *>(reinterpret_cast<char *>(to) + 2 * (int64_t)stride);
        }
        return true;
    }

    __device__ __forceinline__ void clear()
    {
        sample *row = reinterpret_cast<sample *>(b.view.coefficients);
        for (int y = 0; y < b.view.height; y++, row += b.view.stride)
            for (int x = lane; x < b.view.width; x += GROUP)
                row[x] = 0;
    }
};

template <class Samples, int GROUP, bool LONG>
__global__ void __launch_bounds__(32 * SAMPLE_WARPS, (sample_ctas<Samples, GROUP, LONG>::COUNT))
    decode_samples(const l2k_ht_cuda_decode p)
{
    __shared__ uint32_t above[SAMPLE_WARPS][LONG ? (int)ROW_WORDS : 1];
    const uint32_t number = (blockIdx.x * SAMPLE_WARPS * 32 + threadIdx.x) / GROUP;
    if (number >= p.num_blocks)
        return;
    const block_type b = p.blocks[number];
    uint32_t *head = reinterpret_cast<uint32_t *>(reinterpret_cast<uint4 *>(p.scratch) + b.scratch);
    sample_reader<Samples, GROUP, LONG> reader(b, p, above[threadIdx.x / 32]);
    if (b.length && !head[L2K_HT_BAD] && reader.run(head[L2K_HT_MAGSGN_WORDS]))
        return;
    reader.clear();
    if (b.length && reader.lane == 0) {
        head[L2K_HT_BAD] = 1; /* for the refinement passes */
        p.counters->damaged = 1;
    }
}

} // namespace

extern "C" int l2k_ht_cuda_launch_samples(const l2k_ht_cuda_decode *p, void *stream)
{
    typedef void kernel(l2k_ht_cuda_decode);
    static kernel *const kernels[] = {
        decode_samples<narrow_samples, 32, false>, decode_samples<wide_samples, 32, false>,
        decode_samples<narrow_samples, 32, true>,  decode_samples<wide_samples, 32, true>,
        decode_samples<narrow_samples, 16, false>, decode_samples<wide_samples, 16, false>};
    const uint32_t group = p->form & L2K_HT_SHORT ? 16 : 32;
    return l2k_launch(kernels[p->form], p->num_blocks, SAMPLE_WARPS * 32 / group, 32 * SAMPLE_WARPS, stream, *p);
}
