/* Kernels that decode MQ code-blocks (Annexes C and D): a lane per segment removes stuffing; then a lane per block
 * decodes decisions. */
#include <cuda_runtime.h>

#include "codec/engine/cuda/blocks/warp.cuh"
#include "codec/engine/cuda/mq/mq_decode_alone.cuh"

/* Removes stuffing, the bit after 0xFF, from codeword segments (C.3.4, D.6): the byte after 0xFF has seven bits. In MQ
 * code its top bit is a carry; raw bits ignore it. A byte above 0x8F after 0xFF ends the segment; ones follow. */
struct l2k_mq_unstuffer {
    l2k_mq_bits *out;
    uint32_t room, count;
    uint64_t bits, carries; /* the lowest `count` are not yet stored */
    uint32_t previous;
    bool raw, ended;

    L2K_MEMBER void store()
    {
        if (count < 32)
            return;
        count -= 32;
        *out++ = {(uint32_t)(bits >> count), (uint32_t)(carries >> count)};
        room--;
    }

    /* Without branches, so that lanes stay together; after the end nothing changes. */
    L2K_MEMBER void take(uint32_t byte)
    {
        const bool stuffed = previous == 0xFF;
        ended = ended || (stuffed && byte > 0x8F);
        const uint32_t width = ended ? 0 : stuffed ? 7 : 8;
        bits = bits << width | (ended ? 0 : stuffed ? byte & 0x7F : byte);
        carries = carries << width | (stuffed && !ended && !raw ? byte >> 7 << 6 : 0);
        count += width;
        previous = ended ? previous : byte;
        store();
    }

    /* Four bytes, the first one lowest; without 0xFF they go in one step. */
    L2K_MEMBER void take_four(uint32_t bytes)
    {
        const bool any_ff = ((bytes & 0x7F7F7F7Fu) + 0x01010101u) & bytes & 0x80808080u;
        if (!any_ff && previous != 0xFF) {
            bits = bits << 32 | l2k_reverse_bytes(bytes);
            carries <<= 32;
            count += 32;
            previous = bytes >> 24;
            store();
        } else {
#pragma unroll 1
            for (int i = 0; i < 4; i++, bytes >>= 8)
                take(bytes & 0xFF);
        }
    }

    L2K_MEMBER void take_piece(const uint8_t *from, uint32_t bytes)
    {
#pragma unroll 1
        for (; bytes && (uintptr_t)from % sizeof(l2k_mq_sixteen); from++, bytes--)
            take(*from);
        l2k_mq_sixteen now = {}, next = bytes >= sizeof now ? *(const l2k_mq_sixteen *)from : now;
#pragma unroll 1
        for (; bytes >= sizeof now && !ended; bytes -= sizeof now) {
            now = next;
            from += sizeof now;
            if (bytes >= 2 * sizeof now) /* in flight until the next iteration */
                next = *(const l2k_mq_sixteen *)from;
#pragma unroll
            for (int i = 0; i < 4; i++)
                take_four(now.words[i]);
        }
#pragma unroll 1
        for (; bytes && !ended; from++, bytes--)
            take(*from);
    }

    L2K_MEMBER void fill()
    {
        const uint32_t missing = 32 - count;
        bits = bits << missing | ((1ull << missing) - 1);
        carries <<= missing;
        count = 32;
        store();
        while (room > 0) {
            *out++ = {0xFFFFFFFFu, 0};
            room--;
        }
    }

    L2K_MEMBER void run(const l2k_mq_decode_batch *p, const l2k_mq_decode_segment *segment)
    {
        const l2k_mq_decode_piece *piece = p->pieces + segment->pieces;
        out = p->bits + segment->bits_at;
        room = segment->num_bits;
        bits = carries = 0;
        count = previous = 0;
        raw = segment->raw;
        ended = false;
        for (uint32_t i = 0; !ended && i < segment->num_pieces; i++)
            take_piece(p->bytes + piece[i].at, piece[i].bytes);
        fill();
    }
};

namespace
{

/* Lanes of a warp that have finished a word wait until one in CROWD does. */
enum { UNSTUFF_THREADS = 64, CROWD = 4 };

__global__ void __launch_bounds__(UNSTUFF_THREADS) unstuff(const l2k_mq_decode_batch p)
{
    const uint32_t i = blockIdx.x * UNSTUFF_THREADS + threadIdx.x;
    l2k_mq_unstuffer unstuffer;
    if (i < p.num_segments)
        unstuffer.run(&p, &p.segments[i]);
}

/* A warp takes a group of blocks. */
__global__ void __launch_bounds__(32) decode(const l2k_mq_decode_batch p)
{
    __shared__ __align__(16) l2k_mq_decode_tables tables;
    extern __shared__ __align__(16) uint32_t memory[];
    const uint32_t lane = threadIdx.x, first = p.starts[blockIdx.x], used = p.starts[blockIdx.x + 1] - first;
    for (uint32_t i = lane; i < sizeof tables / 4; i += 32)
        ((uint32_t *)&tables)[i] = ((const uint32_t *)p.tables)[i];
    for (uint32_t i = lane; i < 2 * p.most_words * used; i += 32)
        memory[i] = 0;
    __syncwarp();
    l2k_mq_decode_lane decoder;
    bool on = lane < used;
    if (on) {
        decoder.stride = 4 * used;
        decoder.pair_stride = 8 * used;
        decoder.pairs = l2k_shared_address(memory + 2 * lane);
        decoder.contexts = l2k_shared_address(memory + 2 * p.most_words * used + lane);
        decoder.states = l2k_shared_address(tables.states);
        decoder.lookups = l2k_shared_address(tables.lookups);
        decoder.start(&p, &p.blocks[p.order[first + lane]]);
    }
    l2k_mq_alone alone = {&decoder};
    uint32_t active = __ballot_sync(L2K_ALL_LANES, on);
    while (active) {
        const bool waits = on && decoder.is_idle();
        const uint32_t crowd = __ballot_sync(L2K_ALL_LANES, waits);
        if (CROWD * __popc(crowd) >= __popc(active)) {
            if (waits) {
                decoder.refill(tables.first);
                on = !decoder.done;
            }
            active = __ballot_sync(L2K_ALL_LANES, on);
        }
        if (used == 1) {
            if (on && !decoder.is_idle())
                alone.decode_word();
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
    return l2k_launch(unstuff, p->num_segments, UNSTUFF_THREADS, UNSTUFF_THREADS, stream, *p);
}

extern "C" int l2k_mq_launch_decode(const l2k_mq_decode_batch *p, void *stream)
{
    if (p->num_groups == 0)
        return cudaSuccess;
    decode<<<p->num_groups, 32, p->most_lanes * l2k_mq_decode_lane_bytes(p->most_words), (cudaStream_t)stream>>>(*p);
    return cudaGetLastError();
}
