/* The streams of the HT encoder's kernel (7.1, 7.3.3 of T.814): bits to bytes, by a warp. */
#ifndef L2K_CODEC_ENGINE_CUDA_HT_HT_ENCODE_STREAMS_CUH
#define L2K_CODEC_ENGINE_CUDA_HT_HT_ENCODE_STREAMS_CUH

#include "codec/engine/cuda/blocks/warp.cuh"

namespace
{

/* Leaves a ring at a time. */
const int CHUNK_BITS = 1024;

/* A stream: a ring of RING words in shared memory, zeros where no bits are, on its way to bytes in memory of the
 * warp's. ONES: these fill its last byte. Members are the same in all lanes. */
template <l2k_ht_direction DIRECTION, int RING, bool ONES = false> struct stream {
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

    /* The 32 bits at a place. */
    template <bool END> __device__ __forceinline__ uint32_t bits_at(uint32_t at) const
    {
        const uint32_t word = at >> 5;
        uint32_t bits = __funnelshift_r(ring[word % RING], ring[(word + 1) % RING], at & 31);
        if (END && ONES) {
            const int left = (int)(filled - at);
            if (left < 32)
                bits |= left >= 0 ? 0xFFu << left : left > -8 ? 0xFFu >> -left : 0;
        }
        return bits;
    }

    /* 32 words of bytes from 1024 bits or fewer: stuffing inserts a 0 bit on top of each short byte, which shifts the
     * following ones, so the search restarts after each. Returns the number of inserted bits; *total, the number of
     * bits at the END, grows by those before it. */
    template <bool END> __device__ __forceinline__ uint32_t stuff(uint32_t &word, uint32_t &total)
    {
        const unsigned lane = l2k_lane();
        uint32_t inserted = 0, open = L2K_ALL_LANES; /* open: lanes with unsettled bytes */
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

    /* The last of `bytes` bytes, after `finish`. */
    __device__ __forceinline__ uint32_t last_of(uint32_t bytes, uint32_t word) const
    {
        const uint32_t in_chunk = bytes - chunks * (CHUNK_BITS / 8);
        if (in_chunk == 0)
            return last;
        return __shfl_sync(L2K_ALL_LANES, word, (in_chunk - 1) >> 2) >> 8 * ((in_chunk - 1) & 3) & 0xFF;
    }

    /* Bits of the lane's own, up to 32, at a place that other lanes do not use; then all lanes meet. */
    __device__ __forceinline__ void put(uint32_t at, uint32_t value, uint32_t count)
    {
        const uint32_t word = at >> 5, shift = at & 31;
        if (count)
            atomicOr(&ring[word % RING], value << shift);
        if (shift + count > 32)
            atomicOr(&ring[(word + 1) % RING], __funnelshift_l(value, 0, shift));
    }
};

/* MEL (7.3.3), coded by all lanes alike into shared memory; each byte from its highest bit. */
struct mel_coder {
    uint8_t *bytes;
    uint32_t bits;
    int count, room, size; /* bits of the unfinished byte, its capacity; bytes so far */
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

} // namespace

#endif
