/* Decoding of an MQ code-block by one lane (Annexes C and D): a decision a call of `step`, whatever its pass and kind,
 * without branches, so that lanes with blocks of their own stay together. When a lane's word has no candidate left, it
 * waits until others are in the same state; then `turn` stores the word and takes the next. */
#ifndef L2K_CODEC_BLOCKS_CUDA_MQ_DECODE_LANE_CUH
#define L2K_CODEC_BLOCKS_CUDA_MQ_DECODE_LANE_CUH

#include "codec/blocks/cuda/mq_decode_windows.cuh"
#include "codec/blocks/cuda/mq_shared.cuh"

extern "C" {
#include "codec/blocks/cuda/mq_decode.h"
#include "codec/blocks/mq/mq.h"
}

/* What a candidate's next decision is about. The place in a run takes two. */
enum l2k_mq_kind { L2K_MQ_CANDIDATE, L2K_MQ_SIGN, L2K_MQ_PLACE_HIGH, L2K_MQ_PLACE_LOW };

enum l2k_mq_pass { L2K_MQ_SIGNIFICANCE, L2K_MQ_REFINEMENT, L2K_MQ_CLEANUP };

struct l2k_mq_lane {
    /* Shared memory: words of significance and signs of the lane's block, and the states of its contexts, each `stride`
     * bytes from the one before; tables. */
    l2k_shared significance, signs, contexts, states, lookups;
    uint32_t stride;

    /* The block. */
    uint64_t *planes; /* l2k_mq_cuda_plane_words */
    const l2k_mq_cuda_segment *segment;
    const l2k_mq_bits *all_bits;
    uint32_t width, height, across, words;
    uint32_t style, zeros, top;

    /* Where it stands. */
    uint32_t pass, plane, number, passes, segment_passes; /* `passes` that are left, this one included */
    uint32_t x, y, word;
    bool done;

    /* The window: significance, signs, candidates left, those that may become candidates, and what is collected: in
     * significance passes who was visited, in refinement passes the bits. In refinement passes `significant` has, a
     * place lower, who has significant neighbours in his first refinement, `negative` who was refined before. */
    uint64_t significant, negative, candidates, open, collected;
    uint64_t ahead, before; /* for the next window: visited, or significant in the plane above; in that above it */
    uint32_t kind;
    bool refining;
    uint32_t zero_table, second_table; /* in the lookups; the latter is for signs or refinement */
    uint32_t later, refined;           /* bits by which a sign, or a refinement bit, changes `collected` */

    /* The decoder: A and C as in Annex C, without what is read ahead; then 64 bits to come, of which `used` are in C, and
     * 32 more. */
    uint32_t a, c, used;
    l2k_mq_bits now, next, later_bits;
    const l2k_mq_bits *bits;
    uint32_t at, last;

    /* ---- Bits -------------------------------------------------------------------------------------------------- */

    L2K_MEMBER void start_segment()
    {
        bits = all_bits + segment->bits_at;
        last = segment->num_bits - 1;
        segment_passes = segment->passes;
        now = bits[0];
        next = bits[1];
        later_bits = bits[2];
        at = 2;
        a = 0x8000;
        c = (now.bits >> 17) + 2 * (now.carries >> 17);
        c = c < a ? c : a;
        used = 15;
    }

    /* After at most two decisions. */
    L2K_MEMBER void refill()
    {
        const bool more = used >= 32;
        now = more ? next : now;
        next = more ? later_bits : next;
        at += more && at < last;
        if (more)
            later_bits = bits[at];
        used &= 31;
    }

    /* DECODE, Figure C.20, with both outcomes side by side and all shifts in one. Where damaged code makes C reach A, it
     * stays there, as in codec/blocks/mq/mq_decode.h. */
    L2K_MEMBER uint32_t decode(uint32_t context)
    {
        const l2k_shared place = contexts + context * stride;
        const uint32_t state = l2k_load(place), qe = state >> 16;
        a -= qe;
        const bool lower = c < qe, exchange = a < qe, lps = lower != exchange;
        const uint32_t after = l2k_load(states + ((lps ? state : state >> 7) & 0x1FC)), above = c - qe;
        a = lower ? qe : a;
        c = c < above ? c : above; /* the lesser is the one wanted */
        const uint32_t shift = l2k_mq_leading_zeros(a) - 16;
        const uint32_t more = l2k_mq_from(now.bits, next.bits, used);
        const uint32_t carries = l2k_mq_from(now.carries, next.carries, used);
        a <<= shift;
        c = l2k_mq_shift_in(c, more, shift) + 2 * l2k_mq_shift_in(0, carries, shift);
        c = c < a ? c : a;
        used += shift;
        if (shift)
            l2k_store(place, after);
        return (state & 1) ^ (uint32_t)lps;
    }

    /* ---- Decisions --------------------------------------------------------------------------------------------- */

    /* The candidate is 10 bits up in what is shifted down by its place less 10. */
    L2K_MEMBER uint32_t context_entry(uint32_t s, uint32_t n, bool sign) const
    {
        const uint32_t around = (s >> 3 & 0x1C7) | (s >> 12 & 0x38);
        const uint32_t sides = (s >> 1 & 0x8508) | (n & 0x10A10), folded = (sides | sides >> 10) >> 3 & 0x1EF;
        return l2k_load_byte(lookups + (sign || refining ? second_table + folded : zero_table + around));
    }

    L2K_MEMBER void step()
    {
        const uint32_t place = l2k_mq_highest_bit(candidates), down = place - 10;
        const uint32_t s = (uint32_t)(significant >> down), n = (uint32_t)(negative >> down);
        const uint32_t column = (uint32_t)(candidates >> down);
        const bool fresh = kind == L2K_MQ_CANDIDATE, sign = kind == L2K_MQ_SIGN;
        const uint32_t entry = context_entry(s, n, sign);
        /* four candidates, and nothing significant in three columns of six rows */
        const bool run = fresh && !refining && ((s | (~column & 0x780)) & 0x3FFFF) == 0;
        uint32_t context = entry & 31;
        context = kind > L2K_MQ_SIGN ? (uint32_t)L2K_CONTEXT_UNIFORM : context;
        context = run ? (uint32_t)L2K_CONTEXT_RUN : context;
        const uint32_t bit = decode(context);
        const bool goes_on = bit && !refining; /* to a sign, or into a run */
        uint32_t passed = fresh ? (goes_on ? 0 : run ? 4 : 1) : sign ? 1 : bit ? 4 - kind : 0;
        const uint32_t changes = sign ? later : bit ? refined : 0;
        const uint64_t marks = (uint64_t)changes << down & open;
        const uint64_t one = (uint64_t)(sign ? 0x400u : 0) << down;
        collected |= marks;
        candidates = (candidates | marks) & ~(~0ull << (place + 1 - passed));
        significant |= one;
        negative |= bit ^ entry >> 7 ? one : 0;
        kind = fresh ? (uint32_t)goes_on << (uint32_t)run : 0x70u >> 2 * kind & 3;
    }

    L2K_MEMBER bool is_idle() const
    {
        return candidates == 0;
    }

    /* ---- Words ------------------------------------------------------------------------------------------------- */

    L2K_MEMBER uint64_t *significance_of(uint32_t p) const
    {
        return planes + 2 * p * words;
    }
    L2K_MEMBER uint64_t *refinement_of(uint32_t p) const
    {
        return planes + (2 * p + 1) * words;
    }
    L2K_MEMBER uint64_t *final_signs() const
    {
        return planes + 2 * (top + 1) * words;
    }
    L2K_MEMBER uint64_t *visited() const
    {
        return planes + (2 * (top + 1) + 1) * words;
    }

    /* Reads what the word numbered `w` needs of earlier passes. */
    L2K_MEMBER void look_ahead(uint32_t w)
    {
        if (pass == L2K_MQ_REFINEMENT) {
            ahead = significance_of(plane + 1)[w];
            before = plane + 1 < top ? significance_of(plane + 2)[w] : 0;
        } else if (pass == L2K_MQ_CLEANUP) {
            ahead = plane < top ? visited()[w] : 0;
        }
    }

    L2K_MEMBER uint64_t window_of(l2k_shared first) const
    {
        const bool west = x > 0, east = x + 8 < width, north = y > 0;
        const bool south = y + 4 < height && !(style & L2K_STYLE_VSC);
        const l2k_shared own = first + word * stride, above = own - across * stride, below = own + across * stride;
        l2k_mq_around w;
        w.own = l2k_load(own);
        w.west = west ? l2k_load(own - stride) : 0;
        w.east = east ? l2k_load(own + stride) : 0;
        w.above = north ? l2k_load(above) : 0;
        w.above_west = north && west ? l2k_load(above - stride) : 0;
        w.above_east = north && east ? l2k_load(above + stride) : 0;
        w.below = south ? l2k_load(below) : 0;
        w.below_west = south && west ? l2k_load(below - stride) : 0;
        w.below_east = south && east ? l2k_load(below + stride) : 0;
        return l2k_mq_window(&w);
    }

    L2K_MEMBER void enter_word()
    {
        significant = window_of(significance);
        const uint64_t near = l2k_mq_neighbours(significant);
        collected = 0;
        if (pass == L2K_MQ_REFINEMENT) {
            candidates = open = ahead;
            significant = (near & ~before) >> 1;
            negative = before >> 1;
        } else {
            negative = window_of(signs);
            open = l2k_mq_live(width - x, height - y) & ~significant;
            candidates = open & (pass == L2K_MQ_SIGNIFICANCE ? near : ~ahead);
            if (pass == L2K_MQ_SIGNIFICANCE)
                collected = candidates;
        }
        if (word + 1 < words)
            look_ahead(word + 1);
    }

    L2K_MEMBER void leave_word()
    {
        uint64_t s = significant & L2K_MQ_INTERIOR, n = negative & L2K_MQ_INTERIOR;
        if (pass == L2K_MQ_REFINEMENT) {
            refinement_of(plane)[word] = collected;
            s = l2k_mq_expand(l2k_load(significance + word * stride));
            n = l2k_mq_expand(l2k_load(signs + word * stride));
        } else {
            l2k_store(significance + word * stride, l2k_mq_compress(s));
            l2k_store(signs + word * stride, l2k_mq_compress(n));
        }
        if (pass == L2K_MQ_SIGNIFICANCE)
            visited()[word] = collected;
        if (pass == L2K_MQ_CLEANUP || passes == 1)
            significance_of(plane)[word] = s;
        if (passes == 1)
            final_signs()[word] = n;
    }

    /* ---- Passes ------------------------------------------------------------------------------------------------ */

    L2K_MEMBER void reset_contexts(const uint32_t *first)
    {
        for (uint32_t i = 0; i < L2K_MQ_CUDA_CONTEXTS; i++)
            l2k_store(contexts + i * stride, first[i]);
    }

    L2K_MEMBER void start_pass()
    {
        const bool raw = (style & L2K_STYLE_BYPASS) && number >= 10 && pass != L2K_MQ_CLEANUP;
        x = y = word = 0;
        refining = pass == L2K_MQ_REFINEMENT;
        zero_table = raw ? (uint32_t)L2K_MQ_CUDA_RAW_BITS : L2K_MQ_CUDA_ZEROS + 512 * zeros;
        second_table = raw ? L2K_MQ_CUDA_RAW_BITS : refining ? L2K_MQ_CUDA_REFINEMENT : L2K_MQ_CUDA_SIGNS;
        later = pass == L2K_MQ_SIGNIFICANCE ? 0x238 : 0;
        refined = refining ? 0x400 : 0;
        look_ahead(0);
    }

    L2K_MEMBER void end_pass(const uint32_t *first)
    {
        if (pass == L2K_MQ_CLEANUP && (style & L2K_STYLE_SEGSYM))
            for (int symbol = 0; symbol < 4; symbol++) {
                decode(L2K_CONTEXT_UNIFORM);
                refill();
            }
        if (style & L2K_STYLE_RESET)
            reset_contexts(first);
        done = --passes == 0;
        if (done)
            return;
        if (--segment_passes == 0) {
            segment++;
            start_segment();
        }
        plane -= pass == L2K_MQ_CLEANUP;
        pass = pass == L2K_MQ_CLEANUP ? L2K_MQ_SIGNIFICANCE : pass + 1;
        number++;
        start_pass();
    }

    /* On to the next word. */
    L2K_MEMBER void turn(const uint32_t *first)
    {
        leave_word();
        word++;
        x += 8;
        if (x >= width) {
            x = 0;
            y += 4;
        }
        if (y >= height)
            end_pass(first);
        if (!done)
            enter_word();
    }

    /* The block has passes, and shared memory is clear. */
    L2K_MEMBER void start(const l2k_mq_cuda_decode *run, const l2k_mq_cuda_block *block)
    {
        planes = run->planes + block->planes_at;
        segment = run->segments + block->segments;
        all_bits = run->bits;
        width = block->view.width;
        height = block->view.height;
        across = (width + 7) / 8;
        words = l2k_mq_cuda_words(&block->view);
        style = block->style;
        zeros = block->zeros;
        plane = top = block->planes - 1u;
        passes = block->passes;
        pass = L2K_MQ_CLEANUP;
        number = kind = 0;
        done = false;
        ahead = before = 0;
        reset_contexts(run->tables->first);
        start_segment();
        start_pass();
        enter_word();
    }
};

#endif
