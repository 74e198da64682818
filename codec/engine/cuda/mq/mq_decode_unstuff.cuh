/* Removes stuffing, the bit after 0xFF, from codeword segments (C.3.4, D.6). */
#ifndef L2K_CODEC_ENGINE_CUDA_MQ_MQ_DECODE_UNSTUFF_CUH
#define L2K_CODEC_ENGINE_CUDA_MQ_MQ_DECODE_UNSTUFF_CUH

#include "codec/engine/cuda/mq/mq_shared.cuh"

extern "C" {
#include "codec/engine/cuda/mq/mq_decode_batch.h"
}

/* The byte after 0xFF has seven bits. In MQ code its top bit is a carry; raw bits ignore it. A byte above 0x8F after
 * 0xFF ends the segment; ones follow. */
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
            bits = bits << 32 | l2k_mq_swap_bytes(bytes);
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

#endif
