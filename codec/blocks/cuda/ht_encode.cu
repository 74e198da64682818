/* The HT cleanup pass (7.3 of T.814) as an encoder on a device makes it. A warp takes a code-block, each lane a quad of
 * 32 at a time: part of a row, a row, or several rows. The encoder knows all samples beforehand, so contexts come from
 * the row above by shuffles or shared memory. One sum over the warp gives every lane the places of its MagSgn and VLC
 * bits, which it adds to rings in shared memory; from there 128 bytes leave at a time, stuffed on the way. MEL is coded
 * by all lanes alike. The bytes are those of codec/blocks/ht/ht_encode.c. */
#include <cuda_runtime.h>

extern "C" {
#include "codec/blocks/cuda/ht_cuda.h"
}
#include "codec/blocks/cuda/warp.cuh"

namespace
{

/* CTAs of 4 warps, 8 of them a multiprocessor: fewer registers a lane make one wave of 64 warps, but spill. */
const int WARPS = 4, CTAS = 8;

/* At most 1024 quads of 15 bits of VLC, and 1535 bits of MEL (the most that 1024 symbols can take), before stuffing,
 * which adds a bit for 15; whole chunks of 128 bytes. */
const int VLC_BYTES = 2304, MEL_BYTES = 256;

/* A slot's MagSgn bytes for each bit that a sample can take. */
const int MAGSGN_BYTES_OF_BIT = 552;

const int CHUNK_BITS = 1024;

/* ---- Samples ------------------------------------------------------------------------------------------------- */

/* A quad's samples, numbered by columns: 0 and 1 on the left, 2 and 3 on the right. For each, with magnitude mu > 0:
 * doubled = 2 mu - 1, whose bits are its exponent, and value = 2 (mu - 1) + sign; both 0 for 0.
 *
 * 16 bits: two samples in a word, 0 and 2 in `top`, 1 and 3 in `low`. */
struct narrow_quad {
    typedef int16_t sample;
    enum { RING = 128, MOST_BITS = 16 }; /* ring: 32 quads of 64 bits beside an unfinished chunk */
    uint32_t doubled_top, doubled_low, value_top, value_low, ones_top, ones_low;
    uint32_t magnitudes; /* bits of all of them together */

    __device__ __forceinline__ void split(uint32_t samples, uint32_t &doubled, uint32_t &value, uint32_t &ones)
    {
        const uint32_t sign = (samples >> 15) & 0x10001, magnitude = (samples ^ sign * 0xFFFFu) + sign;
        ones = ((magnitude + 0x7FFF7FFFu) >> 15) & 0x10001;
        doubled = 2 * magnitude - ones;
        value = doubled - ones + sign;
        magnitudes |= magnitude;
    }
    /* What a row of two samples is loaded as. */
    typedef uint32_t pair;
    static __device__ __forceinline__ pair load(const int16_t *from, bool second, bool aligned)
    {
        if (aligned)
            return __ldg(reinterpret_cast<const uint32_t *>(from));
        return (uint16_t)from[0] | (second ? (uint32_t)(uint16_t)from[1] << 16 : 0);
    }
    static __device__ __forceinline__ pair none()
    {
        return 0;
    }
    __device__ __forceinline__ void take(pair top, pair low)
    {
        magnitudes = 0;
        split(top, doubled_top, value_top, ones_top);
        split(low, doubled_low, value_low, ones_low);
    }
    __device__ __forceinline__ uint32_t significance() const
    {
        uint32_t rho = ones_top | ones_low << 1;
        return (rho | rho >> 14) & 15;
    }
    /* Bits of all `doubled` together. */
    __device__ __forceinline__ uint32_t all() const
    {
        uint32_t any = doubled_top | doubled_low;
        return (any | any >> 16) & 0xFFFF;
    }
    /* Samples whose `doubled` has a bit. */
    __device__ __forceinline__ uint32_t with_bit(int bit) const
    {
        uint32_t eps = ((doubled_top >> bit) & 0x10001) | ((doubled_low >> bit) & 0x10001) << 1;
        return (eps | eps >> 14) & 15;
    }
    /* What the row below has to know of the lower samples. */
    __device__ __forceinline__ uint32_t lower() const
    {
        return doubled_low;
    }
    /* From `lower` of the quads above: exponents (0 for 0) as bits, of the two samples above and to the left, and of
     * the two above and to the right. */
    static __device__ __forceinline__ uint32_t left_bits(uint32_t left, uint32_t above)
    {
        return (left >> 16 | above) & 0xFFFF;
    }
    static __device__ __forceinline__ uint32_t right_bits(uint32_t above, uint32_t right)
    {
        return (above >> 16 | right) & 0xFFFF;
    }
    /* The greatest exponent above, or 0. */
    static __device__ __forceinline__ int greatest(uint32_t left, uint32_t right)
    {
        return l2k_highest_bit(left | right) + 1;
    }
    /* MagSgn bits of the quad: `bound` each of a significant sample, one less of those in e_k; at most 64. */
    struct code {
        uint64_t bits;
        uint32_t count;
    };
    __device__ __forceinline__ code magsgn(uint32_t bound, uint32_t e_k) const
    {
        const uint32_t spread = e_k * 0x4001u;
        const uint32_t top = ones_top * bound - (spread & 0x10001), low = ones_low * bound - (spread >> 1 & 0x10001);
        const uint32_t first = (value_top & l2k_low_bits(top)) | __funnelshift_l(0, value_low & l2k_low_bits(low), top);
        const uint32_t second = ((value_top >> 16) & l2k_low_bits(top >> 16)) |
                                __funnelshift_l(0, (value_low >> 16) & l2k_low_bits(low >> 16), top >> 16);
        const uint32_t sum = top + low;
        return code{(uint64_t)first | (uint64_t)second << (sum & 0xFFFF), (sum & 0xFFFF) + (sum >> 16)};
    }
    static __device__ __forceinline__ void put(uint32_t *ring, uint32_t at, const code &c)
    {
        const uint32_t low = (uint32_t)c.bits, high = (uint32_t)(c.bits >> 32), word = at >> 5, shift = at & 31;
        if (c.count == 0)
            return;
        atomicOr(&ring[word % RING], low << shift);
        if (shift + c.count > 32)
            atomicOr(&ring[(word + 1) % RING], __funnelshift_l(low, high, shift));
        if (shift + c.count > 64)
            atomicOr(&ring[(word + 2) % RING], __funnelshift_l(high, 0, shift));
    }
    static __device__ __forceinline__ uint32_t joined(uint32_t magnitudes)
    {
        return (magnitudes | magnitudes >> 16) & 0xFFFF;
    }
    static __device__ __forceinline__ uint32_t is_significant(uint32_t bits)
    {
        return bits & 1;
    }
};

/* 32 bits: a word for each. */
struct wide_quad {
    typedef int32_t sample;
    enum { RING = 256, MOST_BITS = 32 };
    uint32_t doubled[4], value[4], magnitudes;

    struct pair {
        int32_t left, right;
    };
    static __device__ __forceinline__ pair load(const int32_t *from, bool second, bool aligned)
    {
        if (aligned) {
            const int2 both = __ldg(reinterpret_cast<const int2 *>(from));
            return pair{both.x, both.y};
        }
        return pair{from[0], second ? from[1] : 0};
    }
    static __device__ __forceinline__ pair none()
    {
        return pair{0, 0};
    }
    __device__ __forceinline__ void split(int k, int32_t v)
    {
        const uint32_t sign = (uint32_t)v >> 31, magnitude = ((uint32_t)v ^ (0 - sign)) + sign;
        doubled[k] = magnitude ? 2 * magnitude - 1 : 0;
        value[k] = magnitude ? doubled[k] - 1 + sign : 0;
        magnitudes |= magnitude;
    }
    __device__ __forceinline__ void take(pair top, pair low)
    {
        magnitudes = 0;
        split(0, top.left);
        split(1, low.left);
        split(2, top.right);
        split(3, low.right);
    }
    __device__ __forceinline__ uint32_t significance() const
    {
        return (doubled[0] & 1) | (doubled[1] & 1) << 1 | (doubled[2] & 1) << 2 | (doubled[3] & 1) << 3;
    }
    __device__ __forceinline__ uint32_t all() const
    {
        return doubled[0] | doubled[1] | doubled[2] | doubled[3];
    }
    __device__ __forceinline__ uint32_t with_bit(int bit) const
    {
        return (doubled[0] >> bit & 1) | (doubled[1] >> bit & 1) << 1 | (doubled[2] >> bit & 1) << 2 |
               (doubled[3] >> bit & 1) << 3;
    }
    /* Two exponents. */
    __device__ __forceinline__ uint32_t lower() const
    {
        return (uint32_t)(l2k_highest_bit(doubled[1]) + 1) | (uint32_t)(l2k_highest_bit(doubled[3]) + 1) << 16;
    }
    static __device__ __forceinline__ uint32_t left_bits(uint32_t left, uint32_t above)
    {
        return max(left >> 16, above & 0xFFFF);
    }
    static __device__ __forceinline__ uint32_t right_bits(uint32_t above, uint32_t right)
    {
        return max(above >> 16, right & 0xFFFF);
    }
    static __device__ __forceinline__ int greatest(uint32_t left, uint32_t right)
    {
        return (int)max(left, right);
    }
    struct code {
        uint32_t bits[4];
        uint32_t counts; /* bytes */
        uint32_t count;
    };
    __device__ __forceinline__ code magsgn(uint32_t bound, uint32_t e_k) const
    {
        code c;
        c.count = c.counts = 0;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const uint32_t count = doubled[k] ? bound - (e_k >> k & 1) : 0;
            c.bits[k] = count < 32 ? value[k] & l2k_low_bits(count) : value[k];
            c.counts |= count << 8 * k;
            c.count += count;
        }
        return c;
    }
    static __device__ __forceinline__ void put(uint32_t *ring, uint32_t at, const code &c)
    {
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const uint32_t count = c.counts >> 8 * k & 63, word = at >> 5, shift = at & 31;
            if (count)
                atomicOr(&ring[word % RING], c.bits[k] << shift);
            if (shift + count > 32)
                atomicOr(&ring[(word + 1) % RING], __funnelshift_l(c.bits[k], 0, shift));
            at += count;
        }
    }
    static __device__ __forceinline__ uint32_t joined(uint32_t magnitudes)
    {
        return magnitudes;
    }
    static __device__ __forceinline__ uint32_t is_significant(uint32_t exponent)
    {
        return exponent != 0;
    }
};

/* ---- Streams of bits ----------------------------------------------------------------------------------------- */

/* MagSgn or VLC: a ring of RING words in shared memory, zeros where no bits are, on its way to bytes in the warp's
 * slot. Members are the same in all lanes. */
template <l2k_ht_direction DIRECTION, int RING> struct stream {
    uint32_t *ring, *slot;
    uint32_t filled, read; /* bits, in all */
    uint32_t chunks, last; /* written so far, and the last byte of them */

    __device__ __forceinline__ void start(uint32_t *shared, uint32_t *memory, uint32_t before)
    {
        ring = shared;
        slot = memory;
        filled = read = chunks = 0;
        last = before;
        for (int i = l2k_lane(); i < RING; i += 32)
            ring[i] = 0;
    }

    /* The 32 bits at a place; MagSgn's last byte is filled up with ones at the end. */
    template <bool END> __device__ __forceinline__ uint32_t bits_at(uint32_t at) const
    {
        const uint32_t word = at >> 5;
        uint32_t bits = __funnelshift_r(ring[word % RING], ring[(word + 1) % RING], at & 31);
        if (END && DIRECTION == L2K_HT_FORWARD) {
            const int left = (int)(filled - at);
            if (left < 32)
                bits |= left >= 0 ? 0xFFu << left : left > -8 ? 0xFFu >> -left : 0;
        }
        return bits;
    }

    /* 32 words of bytes from 1024 bits or fewer: stuffing inserts a 0 bit on top of each short byte, which moves what
     * follows, so the search begins anew after each. Returns how many were inserted; *total, the number of bits at the
     * END, grows by those before it. */
    template <bool END> __device__ __forceinline__ uint32_t stuff(uint32_t &word, uint32_t &total)
    {
        const unsigned lane = l2k_lane();
        uint32_t inserted = 0, open = L2K_ALL_LANES; /* bytes that have not been settled */
        word = bits_at<END>(read + 32 * lane);
        for (;;) {
            const uint32_t found = l2k_short_bytes<DIRECTION>(word, l2k_bytes_before(word, last)) & open;
            const uint32_t lanes = __ballot_sync(L2K_ALL_LANES, found != 0);
            if (lanes == 0)
                break;
            const unsigned first = __ffs(lanes) - 1;
            const unsigned bit = __ffs(__shfl_sync(L2K_ALL_LANES, found, first)) - 1;
            inserted++;
            const uint32_t moved = bits_at<END>(read + 32 * lane - inserted);
            const uint32_t below = (1u << bit) - 1, above = ~((2u << bit) - 1);
            if (lane == first) {
                word = (word & below) | (moved & above);
                open = above;
            }
            word = lane > first ? moved : word;
            open = lane < first ? 0 : open;
            const uint32_t at = 32 * first + bit;
            if (END && (DIRECTION == L2K_HT_BACKWARD ? at <= total : at < total))
                total++;
        }
        last = __shfl_sync(L2K_ALL_LANES, word, 31) >> 24;
        return inserted;
    }

    /* Writes out whole chunks and clears what they had in the ring. */
    __device__ __forceinline__ void drain()
    {
        while (filled - read >= CHUNK_BITS) {
            uint32_t word, unused = 0;
            const uint32_t next = read + CHUNK_BITS - stuff<false>(word, unused);
            slot[chunks++ * 32 + l2k_lane()] = word;
            __syncwarp();
            if ((read >> 5) + l2k_lane() < next >> 5)
                ring[((read >> 5) + l2k_lane()) % RING] = 0;
            read = next;
            __syncwarp();
        }
    }

    /* Writes out the rest. Returns the number of bits with those of stuffing; `word` is the last chunk's. */
    __device__ __forceinline__ uint32_t finish(uint32_t &word)
    {
        word = 0;
        while ((int)(filled - read) > 0) {
            uint32_t total = filled - read;
            const uint32_t inserted = stuff<true>(word, total);
            slot[chunks * 32 + l2k_lane()] = word;
            if (total <= CHUNK_BITS)
                return chunks * CHUNK_BITS + total;
            read += CHUNK_BITS - inserted;
            chunks++;
        }
        return chunks * CHUNK_BITS;
    }
};

/* MEL (7.3.3), coded by all lanes alike into shared memory; each byte from its highest bit. */
struct mel_coder {
    uint8_t *bytes;
    uint32_t bits;
    int count, room, size; /* bits that are not yet a byte, of how many; bytes so far */
    int state, run;

    __device__ __forceinline__ void start(uint8_t *memory)
    {
        bytes = memory;
        bits = 0;
        count = size = state = run = 0;
        room = 8;
    }
    __device__ __forceinline__ int exponent() const
    {
        return (int)(0x5433222111000ull >> 4 * state) & 7;
    }
    __device__ __forceinline__ void put(uint32_t value, int width) /* up to 6 bits */
    {
        bits = bits << width | value;
        count += width;
        if (count >= room) {
            count -= room;
            const uint32_t byte = bits >> count;
            bits &= (1u << count) - 1;
            bytes[size++] = (uint8_t)byte;
            room = byte == 0xFF ? 7 : 8;
        }
    }
    __device__ __forceinline__ void zeros(int number)
    {
        run += number;
        for (int e = exponent(); run >= 1 << e; e = exponent()) {
            put(1, 1);
            run -= 1 << e;
            state = min(12, state + 1);
        }
    }
    /* The symbols of the quads in `events`, in the order of lanes; those in `ones` are 1. */
    __device__ __forceinline__ void symbols(uint32_t events, uint32_t ones)
    {
        for (; ones; ones &= ones - 1) {
            const uint32_t below = (ones & -ones) - 1;
            zeros(__popc(events & below));
            put((uint32_t)run, exponent() + 1);
            run = 0;
            state = max(0, state - 1);
            events &= ~(2 * below + 1);
        }
        zeros(__popc(events));
    }
};

/* Bit i to bit 2 i. */
__device__ __forceinline__ uint64_t spread(uint32_t bits)
{
    uint64_t v = bits;
    v = (v | v << 16) & 0x0000FFFF0000FFFFull;
    v = (v | v << 8) & 0x00FF00FF00FF00FFull;
    v = (v | v << 4) & 0x0F0F0F0F0F0F0F0Full;
    v = (v | v << 2) & 0x3333333333333333ull;
    return (v | v << 1) & 0x5555555555555555ull;
}

/* ---- A block ------------------------------------------------------------------------------------------------- */

enum { VLC_RING = 64, ROW_WORDS = L2K_HT_CUDA_ROW + 2 };

/* Shared memory. */
template <class Quad, bool LONG> struct cta_memory {
    uint16_t codes[4096];
    uint32_t pairs[1024];
    uint32_t magsgn[WARPS][Quad::RING], vlc[WARPS][VLC_RING];
    uint8_t mel[WARPS][MEL_BYTES];
    uint32_t above[WARPS][LONG ? (int)ROW_WORDS : 1]; /* `lower` of a row, between zeros */
};

/* Where the lanes of a warp are. A row of up to 32 quads takes 2, 4, ... or 32 lanes, and a step as many rows as there
 * are lanes for; longer rows (LONG) take several steps of 32. */
template <class Quad, bool LONG> struct walk {
    typedef typename Quad::sample sample;
    typedef typename Quad::pair pair;
    const sample *at; /* of the lane's quad */
    uint32_t stride;
    int step_rows;
    int pitch;       /* lanes of a row */
    int quad, quads; /* the lane's in its row, and how many there are */
    int row, rows;   /* of quads: the step's first, and how many there are */
    int row_in_step; /* the lane's */
    int left;        /* rows of samples from the lane's quad down; 0 or less: none */
    int width, height;
    bool second, aligned; /* whether the quad has a right column; whether both are one access */

    __device__ __forceinline__ void start(const l2k_cuda_view &view)
    {
        width = view.width;
        height = view.height;
        quads = (width + 1) / 2;
        rows = (height + 1) / 2;
        pitch = 32;
        if (!LONG)
            pitch = max(2, 1 << (l2k_highest_bit((uint32_t)quads - 1) + 1));
        stride = view.stride;
        step_rows = LONG ? 1 : 32 / pitch;
        row = 0;
        row_in_step = LONG ? 0 : l2k_lane() / pitch;
        at = reinterpret_cast<const sample *>(view.coefficients) + (size_t)(2 * row_in_step) * stride;
        aligned = (((uintptr_t)view.coefficients | (uintptr_t)stride * sizeof(sample)) & (2 * sizeof(sample) - 1)) == 0;
        go_to(LONG ? l2k_lane() : l2k_lane() % pitch);
    }
    /* To a quad of the row; `at` is at the row's beginning. */
    __device__ __forceinline__ void go_to(int number)
    {
        quad = number;
        second = 2 * quad + 1 < width;
        left = quad < quads ? height - 2 * (row + row_in_step) : 0;
    }
    __device__ __forceinline__ void load(pair &top, pair &low) const
    {
        const sample *from = at + 2 * quad;
        top = left > 0 ? Quad::load(from, second, aligned && second) : Quad::none();
        low = left > 1 ? Quad::load(from + stride, second, aligned && second) : Quad::none();
    }
    /* To the next step. */
    __device__ __forceinline__ void advance()
    {
        if (LONG && quad - (int)l2k_lane() + 32 < quads) {
            go_to(quad + 32);
            return;
        }
        row += step_rows;
        at += (size_t)(2 * step_rows) * stride;
        if (LONG)
            go_to(l2k_lane());
        else
            left -= 2 * step_rows;
    }
    __device__ __forceinline__ bool is_active() const
    {
        return left > 0;
    }
};

/* What a quad has to know of others. */
struct neighbours {
    uint32_t left, above, right; /* `lower` of the three quads above */
    uint32_t rho;                /* of the quad to the left */
};

template <class Quad, bool LONG> struct block_coder {
    cta_memory<Quad, LONG> &memory;
    const l2k_ht_cuda_encode &p;
    walk<Quad, LONG> place;
    stream<L2K_HT_FORWARD, Quad::RING> magsgn;
    stream<L2K_HT_BACKWARD, VLC_RING> vlc;
    mel_coder mel;
    uint32_t lower;      /* of the step before; LONG: of the quad above and to the left of the next step's first */
    uint32_t rho;        /* LONG: of the quad to the left of the next step's first */
    uint32_t magnitudes; /* of all samples of the lane so far, together */

    __device__ __forceinline__ block_coder(cta_memory<Quad, LONG> &shared, const l2k_ht_cuda_encode &parameters)
        : memory(shared), p(parameters)
    {
    }

    __device__ __forceinline__ unsigned warp() const
    {
        return threadIdx.x / 32;
    }
    __device__ __forceinline__ uint8_t *slot() const
    {
        return p.slots + (size_t)(blockIdx.x * WARPS + warp()) * (Quad::MOST_BITS * MAGSGN_BYTES_OF_BIT + VLC_BYTES);
    }

    /* VLC begins with ones where the length field will be. */
    __device__ __forceinline__ void start(const l2k_cuda_view &view)
    {
        place.start(view);
        magsgn.start(memory.magsgn[warp()], reinterpret_cast<uint32_t *>(slot()), 0);
        vlc.start(memory.vlc[warp()], reinterpret_cast<uint32_t *>(slot() + Quad::MOST_BITS * MAGSGN_BYTES_OF_BIT), 0);
        mel.start(memory.mel[warp()]);
        lower = rho = magnitudes = 0;
        for (int i = l2k_lane(); LONG && i < ROW_WORDS; i += 32)
            memory.above[warp()][i] = 0;
        __syncwarp();
        if (l2k_lane() == 0)
            vlc.ring[0] = 0xFFF;
        vlc.filled = 12;
        __syncwarp();
    }

    __device__ __forceinline__ neighbours look_around(uint32_t own_lower, uint32_t own_rho)
    {
        const unsigned lane = l2k_lane();
        neighbours n;
        if (LONG) {
            uint32_t *above = memory.above[warp()] + place.quad + 1;
            n.above = above[0];
            n.right = above[1];
            n.left = __shfl_up_sync(L2K_ALL_LANES, n.above, 1);
            n.rho = __shfl_up_sync(L2K_ALL_LANES, own_rho, 1);
            if (lane == 0) {
                n.left = place.quad ? lower : 0;
                n.rho = place.quad ? rho : 0;
            }
            lower = __shfl_sync(L2K_ALL_LANES, n.above, 31);
            rho = __shfl_sync(L2K_ALL_LANES, own_rho, 31);
            __syncwarp();
            above[0] = own_lower;
            __syncwarp();
            return n;
        }
        const uint32_t for_below = lane >= 32u - place.pitch ? lower : own_lower;
        n.above = __shfl_sync(L2K_ALL_LANES, for_below, (lane - place.pitch) & 31);
        lower = own_lower;
        n.left = __shfl_up_sync(L2K_ALL_LANES, n.above, 1);
        n.right = __shfl_down_sync(L2K_ALL_LANES, n.above, 1);
        n.rho = __shfl_up_sync(L2K_ALL_LANES, own_rho, 1);
        if (place.quad == 0)
            n.left = n.rho = 0;
        if (place.quad == place.pitch - 1)
            n.right = 0;
        return n;
    }

    /* MEL's symbols of a step: those of quads, and in the first row after each pair one that says whether both
     * residuals exceed 2, if both are there. */
    __device__ __forceinline__ void put_symbols(bool event, bool one, bool both, bool large)
    {
        uint32_t events = __ballot_sync(L2K_ALL_LANES, event), ones = __ballot_sync(L2K_ALL_LANES, one);
        const uint32_t pairs = __ballot_sync(L2K_ALL_LANES, both);
        if (pairs) {
            const uint64_t all = spread(events) | spread(pairs) << 1;
            const uint64_t set = spread(ones) | spread(__ballot_sync(L2K_ALL_LANES, large)) << 1;
            mel.symbols((uint32_t)all, (uint32_t)set);
            events = (uint32_t)(all >> 32);
            ones = (uint32_t)(set >> 32);
        }
        if (events)
            mel.symbols(events, ones);
    }

    __device__ __forceinline__ void put_bits(const typename Quad::code &code, uint32_t word, uint32_t width)
    {
        const uint32_t own = code.count | width << 16;
        uint32_t before = l2k_sum_up_to<32>(L2K_ALL_LANES, l2k_lane(), own);
        const uint32_t all = __shfl_sync(L2K_ALL_LANES, before, 31);
        before -= own;
        Quad::put(magsgn.ring, magsgn.filled + (before & 0xFFFF), code);
        const uint32_t at = vlc.filled + (before >> 16), shift = at & 31;
        if (width)
            atomicOr(&vlc.ring[(at >> 5) % VLC_RING], word << shift);
        if (shift + width > 32)
            atomicOr(&vlc.ring[((at >> 5) + 1) % VLC_RING], __funnelshift_l(word, 0, shift));
        magsgn.filled += all & 0xFFFF;
        vlc.filled += all >> 16;
    }

    /* A step where nothing is significant, and nothing above: each quad is a 0 of MEL. */
    __device__ __forceinline__ bool is_blank(const Quad &q)
    {
        if (LONG || __any_sync(L2K_ALL_LANES, (q.magnitudes | lower) != 0))
            return false;
        mel.zeros(__popc(__ballot_sync(L2K_ALL_LANES, place.is_active())));
        return true;
    }

    __device__ __forceinline__ void step(const Quad &q)
    {
        const bool first = place.row + place.row_in_step == 0, active = place.is_active(), odd = place.quad & 1;
        const uint32_t own = q.significance();
        const neighbours n = look_around(q.lower(), own);
        const uint32_t left = Quad::left_bits(n.left, n.above), right = Quad::right_bits(n.above, n.right);
        const uint32_t context =
            first ? n.rho >> 1 | (n.rho & 1)
                  : Quad::is_significant(left) | (n.rho & 12 ? 2 : 0) | Quad::is_significant(right) << 2;
        const int least = own & (own - 1) ? max(Quad::greatest(left, right) - 1, 1) : 1;
        const int bound = max(l2k_highest_bit(q.all()) + 1, least), residual = bound - least;
        const uint32_t reaching = residual ? q.with_bit(bound - 1) : 0;
        const uint32_t code = memory.codes[(first ? 0 : 2048) + (context << 8 | own << 4 | reaching)];
        uint32_t word = active ? code >> 7 : 0, width = active ? code >> 4 & 7 : 0;
        const int other = __shfl_xor_sync(L2K_ALL_LANES, residual, 1);
        if (odd) {
            const uint32_t number = residual << 5 | other;
            const uint32_t both_codes = first ? __ldg(&p.tables->pairs[0][0][0] + number) : memory.pairs[number];
            word |= (both_codes >> 5) << width;
            width += both_codes & 31;
        }
        put_bits(q.magsgn(bound, code & 15), word, width);
        const bool both = odd && first && residual && other;
        put_symbols(active && context == 0, active && context == 0 && own, both, both && min(residual, other) > 2);
        __syncwarp();
        magsgn.drain();
        vlc.drain();
    }

    __device__ __forceinline__ void run()
    {
        typename Quad::pair top, low;
        place.load(top, low);
        while (place.row < place.rows) {
            Quad q;
            walk<Quad, LONG> next = place;
            q.take(top, low);
            next.advance();
            next.load(top, low); /* in flight while the step runs */
            magnitudes |= q.magnitudes;
            if (!is_blank(q))
                step(q);
            place = next;
        }
    }

    /* MagSgn ends with the last byte that is not 0xFF. Returns its length. */
    __device__ __forceinline__ uint32_t end_magsgn()
    {
        uint32_t word;
        const uint32_t bytes = (magsgn.finish(word) + 7) / 8, in_chunk = bytes - magsgn.chunks * (CHUNK_BITS / 8);
        uint32_t last = magsgn.last;
        if (in_chunk)
            last = __shfl_sync(L2K_ALL_LANES, word, (in_chunk - 1) >> 2) >> 8 * ((in_chunk - 1) & 3) & 0xFF;
        return bytes && last == 0xFF ? bytes - 1 : bytes;
    }

    /* The last bytes of MEL and VLC become one where their bits agree, unless that would be 0xFF, after which MEL would
     * be stuffed, or VLC is nothing but its length field. Returns VLC's length. */
    __device__ __forceinline__ uint32_t end_mel_and_vlc()
    {
        uint32_t word;
        const uint32_t bits = vlc.finish(word), bytes = bits / 8;
        const uint32_t at = (bytes - vlc.chunks * (CHUNK_BITS / 8)) & 127, mask = (1u << (bits & 7)) - 1;
        const uint32_t vlc_byte = __shfl_sync(L2K_ALL_LANES, word, at >> 2) >> 8 * (at & 3) & mask;
        if (mel.run)
            mel.put(1, 1);
        const int rest = mel.room - mel.count;
        const uint32_t mel_mask = 0xFFu << rest & 0xFF, mel_byte = mel.bits << rest & 0xFF, both = mel_byte | vlc_byte;
        if ((mel_mask | mask) == 0)
            return bytes;
        const bool agree = ((both ^ mel_byte) & mel_mask) == 0 && ((both ^ vlc_byte) & mask) == 0;
        if (agree && both != 0xFF && bytes > 1) {
            mel.bytes[mel.size++] = (uint8_t)both;
            return bytes;
        }
        mel.bytes[mel.size++] = (uint8_t)mel_byte;
        __syncwarp();
        if (l2k_lane() == 0)
            reinterpret_cast<uint8_t *>(vlc.slot)[bytes] = (uint8_t)vlc_byte;
        return bytes + 1;
    }

    /* The length of MEL and VLC in VLC's first bytes, which come last (7.1.1). */
    __device__ __forceinline__ void put_length(uint32_t suffix)
    {
        uint8_t *end = reinterpret_cast<uint8_t *>(vlc.slot);
        __syncwarp();
        if (l2k_lane() == 0) {
            end[0] = (uint8_t)(suffix >> 4);
            end[1] = (uint8_t)((end[1] & 0xF0) | (suffix & 15));
        }
        __syncwarp();
    }

    /* VLC backwards. Whole words but for both ends of what is written, from words that do not begin where these do. */
    __device__ __forceinline__ void copy_vlc(uint8_t *to, uint32_t bytes) const
    {
        const uint8_t *from = reinterpret_cast<const uint8_t *>(vlc.slot);
        const uint32_t head = min((uint32_t)(-(intptr_t)to & 3), bytes), words = (bytes - head) / 4;
        const uint32_t tail = head + 4 * words;
        for (uint32_t i = l2k_lane(); i < words; i += 32) {
            const uint32_t lowest = bytes - 4 - head - 4 * i, at = lowest >> 2, shift = 8 * (lowest & 3);
            const uint32_t word = __funnelshift_r(vlc.slot[at], shift ? vlc.slot[at + 1] : 0, shift);
            reinterpret_cast<uint32_t *>(to + head)[i] = l2k_reverse_bytes(word);
        }
        if (l2k_lane() < head)
            to[l2k_lane()] = from[bytes - 1 - l2k_lane()];
        if (tail + l2k_lane() < bytes)
            to[tail + l2k_lane()] = from[bytes - 1 - tail - l2k_lane()];
    }

    __device__ __forceinline__ void copy_magsgn(uint8_t *to, uint32_t bytes) const
    {
        for (uint32_t i = l2k_lane(); i < bytes / 4; i += 32)
            reinterpret_cast<uint32_t *>(to)[i] = magsgn.slot[i];
        const uint32_t tail = (bytes & ~3u) + l2k_lane();
        if (tail < bytes)
            to[tail] = reinterpret_cast<const uint8_t *>(magsgn.slot)[tail];
    }

    /* MagSgn, MEL and VLC in a row, in a place of their own in the code of all blocks. Where there is no room, the host
     * sees that from the counter. */
    __device__ __forceinline__ void end(l2k_ht_cuda_coded *coded)
    {
        const uint32_t magsgn_bytes = end_magsgn(), vlc_bytes = end_mel_and_vlc();
        const uint32_t suffix = (uint32_t)mel.size + vlc_bytes, bytes = magsgn_bytes + suffix, units = (bytes + 3) / 4;
        uint32_t at = 0;
        put_length(suffix);
        if (l2k_lane() == 0) {
            at = atomicAdd(&p.counters->code, units);
            coded->at = at;
            coded->bytes = bytes;
        }
        at = __shfl_sync(L2K_ALL_LANES, at, 0);
        if (at > p.capacity || units > p.capacity - at)
            return;
        uint8_t *to = p.code + (size_t)at * 4;
        copy_magsgn(to, magsgn_bytes);
        for (int i = l2k_lane(); i < mel.size; i += 32)
            to[magsgn_bytes + i] = mel.bytes[i];
        copy_vlc(to + magsgn_bytes + mel.size, vlc_bytes);
    }

    /* Nothing but zeros has no code. */
    __device__ __forceinline__ void encode(const l2k_ht_cuda_encode_block &block)
    {
        l2k_ht_cuda_coded *coded = p.coded + block.index;
        start(block.view);
        run();
        const uint32_t all = Quad::joined(l2k_join(magnitudes));
        if (l2k_lane() == 0) {
            coded->magnitude_bits = l2k_highest_bit(all) + 1;
            if (all >> 31)
                atomicMin(&p.counters->failed, block.index);
        }
        if (all)
            end(coded);
        __syncwarp();
    }
};

/* ---- Kernel -------------------------------------------------------------------------------------------------- */

/* Warps take blocks until there are none left. */
template <class Quad, bool LONG>
__global__ void __launch_bounds__(32 * WARPS, CTAS) encode_blocks(const l2k_ht_cuda_encode p)
{
    __shared__ cta_memory<Quad, LONG> memory;
    for (int i = threadIdx.x; i < 2048; i += 32 * WARPS)
        reinterpret_cast<uint32_t *>(memory.codes)[i] = reinterpret_cast<const uint32_t *>(p.tables->codes)[i];
    for (int i = threadIdx.x; i < 1024; i += 32 * WARPS)
        memory.pairs[i] = (&p.tables->pairs[1][0][0])[i];
    __syncthreads();
    block_coder<Quad, LONG> coder(memory, p);
    for (;;) {
        uint32_t number = 0;
        if (l2k_lane() == 0)
            number = atomicAdd(&p.counters->next[p.form], 1);
        number = __shfl_sync(L2K_ALL_LANES, number, 0);
        if (number >= p.num_blocks)
            return;
        coder.encode(p.blocks[number]);
    }
}

template <class Quad, bool LONG> int launch(const l2k_ht_cuda_encode &p, cudaStream_t stream)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(p.warps / WARPS);
    config.blockDim = dim3(32 * WARPS);
    config.stream = stream;
    return cudaLaunchKernelEx(&config, encode_blocks<Quad, LONG>, p);
}

} // namespace

extern "C" size_t l2k_ht_cuda_slot_bytes(bool wide)
{
    return (size_t)(wide ? 32 : 16) * MAGSGN_BYTES_OF_BIT + VLC_BYTES;
}

extern "C" uint32_t l2k_ht_cuda_encode_warps(uint32_t blocks, uint32_t processors)
{
    const uint32_t most = processors * CTAS * WARPS, all = (blocks + WARPS - 1) / WARPS * WARPS;
    return all < most ? all : most;
}

extern "C" int l2k_ht_cuda_launch_encode(const l2k_ht_cuda_encode *encode, void *stream)
{
    switch (encode->form) {
    case 0:
        return launch<narrow_quad, false>(*encode, (cudaStream_t)stream);
    case L2K_HT_WIDE:
        return launch<wide_quad, false>(*encode, (cudaStream_t)stream);
    case L2K_HT_LONG:
        return launch<narrow_quad, true>(*encode, (cudaStream_t)stream);
    default:
        return launch<wide_quad, true>(*encode, (cudaStream_t)stream);
    }
}
