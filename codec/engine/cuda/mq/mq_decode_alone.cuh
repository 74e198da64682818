/* Decodes the words of a block whose lane has a warp to itself and so may branch: a word's decisions in loops that wait
 * as little as possible, with loads for the next candidate before the decision on the present one is known. */
#ifndef L2K_CODEC_ENGINE_CUDA_MQ_MQ_DECODE_ALONE_CUH
#define L2K_CODEC_ENGINE_CUDA_MQ_MQ_DECODE_ALONE_CUH

#include "codec/engine/cuda/mq/mq_decode_lane.cuh"

struct l2k_mq_alone {
    l2k_mq_decode_lane *lane;

    /* A candidate, and the state of its context. */
    struct prospect {
        uint32_t place, state;
        l2k_shared context;
        bool run;
    };

    /* Decides in `state`; returns the one after it, which is stored. */
    L2K_MEMBER uint32_t decide(l2k_shared context, uint32_t state, bool *decision)
    {
        const uint64_t then = l2k_load_pair(lane->states + (state & L2K_MQ_DECODE_ENTRY));
        bool lps;
        const bool changes = lane->decode_interval(state >> 16, &lps);
        const uint32_t after = changes ? (uint32_t)(lps ? then >> 32 : then) : state;
        *decision = (state & 1) != (uint32_t)lps;
        l2k_store(context, after);
#pragma unroll 1
        while (lane->used >= 32) /* at most once; of an `if` the compiler would always run the body, predicated */
            lane->take_bits();
        return after;
    }

    L2K_MEMBER bool decide_in(uint32_t context)
    {
        const l2k_shared place = lane->context_at(context);
        bool decision;
        decide(place, l2k_load(place), &decision);
        return decision;
    }

    /* ---- Refinement -------------------------------------------------------------------------------------------- */

    /* Of the candidate on top of words rotated to it. */
    L2K_MEMBER l2k_shared refinement_context(uint32_t near, uint32_t again, bool raw) const
    {
        const uint32_t context = L2K_CONTEXT_REFINE + (near >> 31) + (again >> 31) * 2;
        return lane->context_at(raw ? (uint32_t)L2K_MQ_DECODE_RAW : context);
    }

    L2K_MEMBER void refine()
    {
        const bool raw = lane->second_table == lane->lookups + L2K_MQ_DECODE_RAW_BITS;
        const uint32_t near = l2k_mq_compress(lane->significant << 1), again = l2k_mq_compress(lane->negative << 1);
        uint32_t left = l2k_mq_compress(lane->candidates), ones = 0;
        uint32_t first = l2k_leading_zeros(left | 1);
        l2k_shared context = refinement_context(near << first, again << first, raw);
        uint32_t state = l2k_load(context);
        while (left) {
            const uint32_t mask = 0x80000000u >> first;
            left &= ~mask;
            first = l2k_leading_zeros(left | 1);
            const l2k_shared next = refinement_context(near << first, again << first, raw);
            const uint32_t loaded = l2k_load(next);
            bool one;
            const uint32_t after = decide(context, state, &one);
            ones |= one ? mask : 0;
            state = next == context ? after : loaded;
            context = next;
        }
        lane->collected = l2k_mq_expand(ones);
        lane->candidates = 0;
    }

    /* ---- Significance, cleanup --------------------------------------------------------------------------------- */

    /* The first of `candidates`; of none, any. */
    L2K_MEMBER prospect look(uint64_t candidates) const
    {
        prospect p;
        p.place = l2k_mq_highest_bit(candidates | 0x400);
        const uint32_t down = p.place - 10, s = (uint32_t)(lane->significant >> down);
        p.run = lane->pass == L2K_MQ_CLEANUP && lane->starts_run(s, (uint32_t)(candidates >> down));
        const uint32_t entry = l2k_load_byte(lane->first_table + lane->around(s));
        p.context = lane->context_at(p.run ? (uint32_t)L2K_CONTEXT_RUN : entry);
        p.state = l2k_load(p.context);
        return p;
    }

    L2K_MEMBER uint64_t below(uint32_t place) const
    {
        return ~(~0ull << place);
    }

    L2K_MEMBER void make_significant(uint32_t place)
    {
        const uint32_t down = place - 10;
        const uint32_t s = (uint32_t)(lane->significant >> down), n = (uint32_t)(lane->negative >> down);
        const uint32_t entry = l2k_load_byte(lane->second_table + lane->sides(s, n));
        const bool negative = decide_in(entry & 31) != (bool)(entry >> 7);
        const uint64_t marks = (uint64_t)lane->later << down & lane->open;
        lane->significant |= 1ull << place;
        lane->negative |= (uint64_t)negative << place;
        lane->collected |= marks;
        lane->candidates = (lane->candidates & below(place)) | marks;
    }

    L2K_MEMBER void visit()
    {
        prospect now = look(lane->candidates);
        while (lane->candidates) {
            const uint64_t rest = lane->candidates & below(now.place - (now.run ? 3 : 0));
            prospect next = look(rest);
            bool one;
            const uint32_t after = decide(now.context, now.state, &one);
            if (one) {
                uint32_t skipped = 0;
                if (now.run) {
                    skipped = decide_in(L2K_CONTEXT_UNIFORM) ? 2 : 0;
                    skipped += decide_in(L2K_CONTEXT_UNIFORM);
                }
                make_significant(now.place - skipped);
                next = look(lane->candidates);
            } else {
                lane->candidates = rest;
                next.state = next.context == now.context ? after : next.state;
            }
            now = next;
        }
    }

    L2K_MEMBER void decode_word()
    {
        if (lane->goes_on)
            visit();
        else
            refine();
    }
};

#endif
