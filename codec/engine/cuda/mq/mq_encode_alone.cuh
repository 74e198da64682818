/* MQ coding (Annex C) of a block that has two warps, 128 decisions at a time: a lane of the first follows only interval
 * and states from decision to decision, and notes what each adds to C and how far it shifts C; meanwhile all lanes of
 * the second add up earlier notes, byte by byte. So C is not part of the chain from a decision to the next. */
#ifndef L2K_CODEC_ENGINE_CUDA_MQ_MQ_ENCODE_ALONE_CUH
#define L2K_CODEC_ENGINE_CUDA_MQ_MQ_ENCODE_ALONE_CUH

#include "codec/engine/cuda/mq/mq_shared.cuh"
#include "codec/engine/cuda/blocks/warp.cuh"

extern "C" {
#include "codec/engine/cuda/mq/mq_lane.h"
}

/* Words of decisions at a time. */
enum { L2K_MQ_ALONE_WORDS = 32 };

/* Distance of contexts, as a power of two: blocks of a CTA interleave theirs. */
enum { L2K_MQ_ALONE_APART = 5, L2K_MQ_ALONE_MASK = 31 << L2K_MQ_ALONE_APART };

/* Passed from warp to warp in shared memory, double-buffered. */
struct l2k_mq_alone_memory {
    uint32_t words[L2K_MQ_ALONE_WORDS + 2];
    uint32_t results[4 * L2K_MQ_ALONE_WORDS]; /* l2k_mq_chain */
    uint32_t intervals[L2K_MQ_ALONE_WORDS];   /* A after each word */
};

/* From a decision to the next. A result has the addend to C in the upper 16 bits, from bit 4 on the sum of all shifts
 * since the first word, its own included, and below that its own. */
struct l2k_mq_chain {
    uint32_t a, state, sum;
    l2k_shared contexts, after; /* a multiple of 1024 and 4 times the block's number; l2k_mq_cuda_tables */
    l2k_shared context;         /* of the next decision */

    L2K_MEMBER l2k_shared context_of(uint32_t scaled) const
    {
        return (scaled & L2K_MQ_ALONE_MASK) | contexts;
    }

    L2K_MEMBER void start(uint32_t first)
    {
        a = 0x80000000u;
        context = context_of(first << L2K_MQ_ALONE_APART);
        state = l2k_load(context);
    }

    /* `next` is the decision after this one; both are scaled. */
    L2K_MEMBER uint32_t decide(uint32_t decision, uint32_t next)
    {
        const uint32_t qe = state & 0xFFFF0000u, rest = a - qe;
        const uint64_t then = l2k_load_pair(after + (state & L2K_MQ_ALONE_ENTRY));
        const l2k_shared next_context = context_of(next);
        const uint32_t loaded = l2k_load(next_context);
        uint32_t part, add, moved;
        asm("{\n\t.reg .pred less, is_qe;\n\t.reg .b32 differs;\n\t"
            "xor.b32 differs, %3, %4;\n\tand.b32 differs, differs, %9;\n\tsetp.ne.u32 less, differs, 0;\n\t"
            "setp.lt.xor.u32 is_qe, %6, %5, less;\n\t"
            "selp.b32 %0, %5, %6, is_qe;\n\tselp.b32 %1, 0, %5, is_qe;\n\tselp.b32 %2, %8, %7, less;\n\t}"
            : "=r"(part), "=r"(add), "=r"(moved)
            : "r"(state), "r"(decision), "r"(qe), "r"(rest), "r"((uint32_t)then), "r"((uint32_t)(then >> 32)),
              "n"(1 << 10));
        const uint32_t same = (uint32_t)((int32_t)part >> 31), now = (state & same) | (moved & ~same);
        const uint32_t shift = l2k_leading_zeros(part);
        a = part << shift;
        sum += shift << 4;
        l2k_store(context, now);
        state = next_context == context ? now : loaded;
        context = next_context;
        return add | sum | shift;
    }

    /* The decisions of a word; `next`: of the word after it. */
    L2K_MEMBER void decide_word(uint32_t word, uint32_t next, l2k_shared results, l2k_shared interval)
    {
        const uint32_t b = word >> (8 - L2K_MQ_ALONE_APART), c = word >> (16 - L2K_MQ_ALONE_APART),
                       d = word >> (24 - L2K_MQ_ALONE_APART);
        l2k_store(results, decide(word << L2K_MQ_ALONE_APART, b));
        l2k_store(results + 4, decide(b, c));
        l2k_store(results + 8, decide(c, d));
        l2k_store(results + 12, decide(d, next << L2K_MQ_ALONE_APART));
        l2k_store(interval, a);
    }

    /* All words, two at a time, and one more of which only the first decision's context is looked up. */
    L2K_MEMBER void decide_words(l2k_shared words, l2k_shared results, l2k_shared intervals)
    {
        uint64_t pair = l2k_load_pair(words);
        sum = 0;
#pragma unroll 1
        for (uint32_t i = 0; i < L2K_MQ_ALONE_WORDS; i += 2) {
            const uint64_t next = l2k_load_pair(words + 4 * i + 8);
            decide_word((uint32_t)pair, (uint32_t)(pair >> 32), results + 16 * i, intervals + 4 * i);
            decide_word((uint32_t)(pair >> 32), (uint32_t)next, results + 16 * i + 16, intervals + 4 * i + 4);
            pair = next;
        }
    }
};

/* The two warps of a block meet after each run of words. */
struct l2k_mq_alone_pair {
    l2k_mq_alone_memory *memory; /* two */
    uint32_t barrier;
    const uint32_t *list;
    uint32_t count; /* words of the list */

    __device__ __forceinline__ void meet() const
    {
        __barrier_sync_count(barrier, 64);
    }
    __device__ __forceinline__ l2k_mq_alone_memory &memory_of(uint32_t done) const
    {
        return memory[done / L2K_MQ_ALONE_WORDS & 1];
    }

    /* The first warp. */
    __device__ __forceinline__ void decide(l2k_mq_chain &chain) const
    {
        const uint32_t number = l2k_lane();
        uint32_t now = number < count ? list[number] : L2K_MQ_FILLER, ahead = L2K_MQ_FILLER;
        if (number + L2K_MQ_ALONE_WORDS < count)
            ahead = list[number + L2K_MQ_ALONE_WORDS];
        if (number == 0)
            chain.start(now);
        for (uint32_t done = 0; done < count; done += L2K_MQ_ALONE_WORDS) {
            l2k_mq_alone_memory &to = memory_of(done);
            const uint32_t later = done + 2 * L2K_MQ_ALONE_WORDS + number;
            to.words[number] = now;
            if (number == 0)
                to.words[L2K_MQ_ALONE_WORDS] = ahead;
            now = ahead;
            ahead = later < count ? list[later] : L2K_MQ_FILLER; /* in flight while these are coded */
            __syncwarp();
            if (number == 0)
                chain.decide_words(l2k_shared_address(to.words), l2k_shared_address(to.results),
                                   l2k_shared_address(to.intervals));
            meet();
        }
    }
};

/* The second warp of a block. All lanes have C, and write the same bytes; the first lane ends passes. */
struct l2k_mq_alone_coder {
    l2k_mq_lane lane;
    l2k_mq_lane_block block;
    uint32_t number; /* of the lane in its warp */
    int start;       /* `lane.place` before the first of the words, as if all bytes written so far had left */

    /* Decisions 32 k to 32 k + 31 of the words; bit i of `ends`: a pass ends with word i of these. */
    __device__ __forceinline__ void add_up(const l2k_mq_alone_memory &from, uint32_t k, uint32_t ends)
    {
        const uint32_t result = from.results[32 * k + number];
        const int up_to = (int)(result >> 4 & 0xFFF), before = up_to - (int)(result & 15);
        const uint32_t ends_here = __ballot_sync(L2K_ALL_LANES, (number & 3) == 3 && (ends >> (number / 4) & 1) != 0);
        uint32_t left = L2K_ALL_LANES;
        while (left) {
            const uint32_t full = __ballot_sync(L2K_ALL_LANES, start - up_to <= L2K_MQ_BYTE_AT);
            const uint32_t stops = (full | ends_here) & left;
            const int stop = stops ? __ffs((int)stops) - 1 : 31;
            const uint32_t run = left & ((2u << stop) - 1);
            /* Bits run from 37 on, as `place` is above 20, and C's sum has no more than 64. */
            const uint32_t part = run >> number & 1 ? (result >> 16) << (start - before - (L2K_MQ_BYTE_AT + 1)) : 0;
            lane.c += (uint64_t)l2k_add_up(part) << (L2K_MQ_BYTE_AT + 17);
            const int gone = __shfl_sync(L2K_ALL_LANES, up_to, stop);
            lane.place = start - gone;
            while (lane.place <= L2K_MQ_BYTE_AT)
                l2k_mq_lane_byte_out(&lane);
            start = lane.place + gone;
            if (ends_here >> stop & 1 && number == 0) {
                lane.a = from.intervals[8 * k + (uint32_t)stop / 4];
                l2k_mq_lane_end_pass(&lane, &block, false);
            }
            left &= ~run;
        }
    }

    __device__ __forceinline__ void run(const l2k_mq_alone_pair &pair)
    {
        for (uint32_t done = 0; done < pair.count; done += L2K_MQ_ALONE_WORDS) {
            const l2k_mq_alone_memory &from = pair.memory_of(done);
            pair.meet();
            const uint32_t ends = __ballot_sync(L2K_ALL_LANES, from.words[number] >> L2K_MQ_LAST_WORD_AT);
            start = lane.place;
            for (uint32_t k = 0; k < 4 && done + 8 * k < pair.count; k++)
                add_up(from, k, ends >> 8 * k & 0xFF);
        }
    }
};

#endif
