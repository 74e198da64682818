/* Decoding of an MQ code-block by one lane (Annexes C and D): each call of `step` makes a decision of any pass and kind
 * without branches, so that lanes with blocks of their own stay together. When a lane's word has no candidate left, it
 * waits until others are in the same state; then `refill` stores the word and takes the next. */
#ifndef L2K_CODEC_ENGINE_CUDA_MQ_MQ_DECODE_LANE_CUH
#define L2K_CODEC_ENGINE_CUDA_MQ_MQ_DECODE_LANE_CUH

#include "codec/engine/cuda/mq/mq_decode_windows.cuh"
#include "codec/engine/cuda/mq/mq_shared.cuh"

extern "C" {
#include "codec/engine/cuda/mq/mq_decode_batch.h"
#include "codec/blocks/mq/mq.h"
}

/* The kind of a candidate's next decision. The place in a run takes two. */
enum l2k_mq_kind { L2K_MQ_CANDIDATE, L2K_MQ_SIGN, L2K_MQ_PLACE_HIGH, L2K_MQ_PLACE_LOW };

enum l2k_mq_pass { L2K_MQ_SIGNIFICANCE, L2K_MQ_REFINEMENT, L2K_MQ_CLEANUP };

/* The next state of a candidate, by the kind of decision (times 4) and its outcome: bit 0, the candidate goes on, to a
 * sign or a place in a run; bit 1, it is a run. A nibble holds the next kind, and above it the number of candidates
 * settled: 0, 1, 2 or, as 3, 4. */
#define L2K_MQ_OUTCOME(kind, passed, how) ((uint64_t)((kind) | (passed) << 2) << 4 * (how))
#define L2K_MQ_OUTCOMES                                                                                                \
    (L2K_MQ_OUTCOME(L2K_MQ_CANDIDATE, 1, 0) | L2K_MQ_OUTCOME(L2K_MQ_SIGN, 0, 1) |                                      \
     L2K_MQ_OUTCOME(L2K_MQ_CANDIDATE, 3, 2) | L2K_MQ_OUTCOME(L2K_MQ_PLACE_HIGH, 0, 3) |                                \
     L2K_MQ_OUTCOME(L2K_MQ_CANDIDATE, 1, 4) | L2K_MQ_OUTCOME(L2K_MQ_CANDIDATE, 1, 5) |                                 \
     L2K_MQ_OUTCOME(L2K_MQ_PLACE_LOW, 0, 8) | L2K_MQ_OUTCOME(L2K_MQ_PLACE_LOW, 2, 9) |                                 \
     L2K_MQ_OUTCOME(L2K_MQ_SIGN, 0, 12) | L2K_MQ_OUTCOME(L2K_MQ_SIGN, 1, 13))

struct l2k_mq_decode_lane {
    /* Shared memory: for each word of the lane's block significance and, above it, signs, `pair_stride` bytes apart;
     * the states of its contexts, `stride` bytes apart; tables. */
    l2k_shared pairs, contexts, states, lookups;
    uint32_t stride, pair_stride;

    /* The block. */
    uint64_t *planes; /* l2k_mq_decode_plane_words */
    const l2k_mq_decode_segment *segment;
    const l2k_mq_bits *all_bits;
    uint64_t last_columns, last_rows; /* samples that exist in the last word of a stripe, and in the last stripe */
    uint32_t across, words, top;
    uint32_t style, zeros;

    /* The position. */
    uint32_t pass, plane, number, passes, segment_passes; /* `passes` that are left, this one included */
    uint32_t word, column;                                /* a word in the block and in its stripe */
    bool done;

    /* The window: significance, signs, candidates left, those that may become candidates, and `collected`: in
     * significance passes the visited samples, in refinement passes the bits. In refinement passes, one place lower,
     * `significant` marks samples with significant neighbours in their first refinement, `negative` those refined
     * before. */
    uint64_t significant, negative, candidates, open, collected;
    uint32_t kind;
    uint32_t edge;                        /* refinement: the last column of significance */
    uint32_t goes_on;                     /* 0 in refinement passes, else 1 */
    l2k_shared first_table, second_table; /* contexts of candidates; of signs or refinement */
    uint32_t later, refined;              /* bits by which a sign, or a refinement bit, changes `collected` */

    /* The next window's strips, and results of earlier passes: samples visited, or significant in the plane above; in
     * that above it. */
    uint64_t next_significant, next_negative, ahead, before;
    uint32_t store_at, ahead_at, before_at; /* in `planes`: where the pass writes, and reads */
    bool looks_ahead, looks_before;

    /* The decoder: A and C as in Annex C, without bits read ahead; then 64 bits to come, of which `used` are in C, and
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

    L2K_MEMBER void take_bits()
    {
        now = next;
        next = later_bits;
        at += at < last;
        later_bits = bits[at];
        used -= 32;
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

    /* DECODE, Figure C.20, with both outcomes side by side and all shifts in one; `lps` tells the outcome. True if the
     * state changes. If damaged code makes C reach A, it stays there, as in codec/blocks/mq/mq_decode.h. */
    L2K_MEMBER bool decode_interval(uint32_t qe, bool *lps)
    {
        a -= qe;
        const bool lower = c < qe, exchange = a < qe;
        const uint32_t above = c - qe;
        *lps = lower != exchange;
        a = lower ? qe : a;
        c = c < above ? c : above; /* the lesser is the one wanted */
        const uint32_t shift = l2k_leading_zeros(a) - 16;
        const uint32_t more = l2k_mq_from(now.bits, next.bits, used);
        const uint32_t carries = l2k_mq_from(now.carries, next.carries, used);
        a <<= shift;
        c = l2k_mq_shift_in(c, more, shift) + 2 * l2k_mq_shift_in(0, carries, shift);
        c = c < a ? c : a;
        used += shift;
        return shift > 0;
    }

    L2K_MEMBER l2k_shared context_at(uint32_t context) const
    {
        return contexts + context * stride;
    }

    L2K_MEMBER uint32_t decode(uint32_t context)
    {
        const l2k_shared place = context_at(context);
        const uint32_t state = l2k_load(place);
        const uint64_t after = l2k_load_pair(states + (state & L2K_MQ_DECODE_ENTRY));
        bool lps;
        if (decode_interval(state >> 16, &lps))
            l2k_store(place, (uint32_t)(lps ? after >> 32 : after));
        return (state & 1) ^ (uint32_t)lps;
    }

    /* ---- Decisions --------------------------------------------------------------------------------------------- */

    /* Indices of the tables. Shifting down by the candidate's place less 10 leaves it at bit 10. */
    L2K_MEMBER uint32_t around(uint32_t s) const
    {
        return (s >> 3 & 0x1C7) | (s >> 12 & 0x38);
    }

    L2K_MEMBER uint32_t sides(uint32_t s, uint32_t n) const
    {
        const uint32_t both = (s >> 1 & 0x8508) | (n & 0x10A10);
        return (both | both >> 10) >> 3 & 0x1EF;
    }

    /* Whether the first candidate is one of four, and no sample is significant in three columns of six rows. */
    L2K_MEMBER bool starts_run(uint32_t s, uint32_t here) const
    {
        return ((s | (~here & 0x780)) & 0x3FFFF) == 0;
    }

    L2K_MEMBER void step()
    {
        const uint32_t place = l2k_mq_highest_bit(candidates), down = place - 10;
        const uint32_t s = (uint32_t)(significant >> down), n = (uint32_t)(negative >> down);
        const uint32_t here = (uint32_t)(candidates >> down);
        const bool sign = kind == L2K_MQ_SIGN, second = sign || !goes_on;
        const uint32_t entry = l2k_load_byte(second ? second_table + sides(s, n) : first_table + around(s));
        const bool run = starts_run(s, here) && !second && kind == L2K_MQ_CANDIDATE;
        uint32_t context = entry & 31;
        context = kind > L2K_MQ_SIGN ? (uint32_t)L2K_CONTEXT_UNIFORM : context;
        context = run ? (uint32_t)L2K_CONTEXT_RUN : context;
        const uint32_t bit = decode(context);
        const uint32_t how = (bit & goes_on) | (run ? 2 : 0) | kind << 2;
        const uint32_t outcome = (uint32_t)(L2K_MQ_OUTCOMES >> 4 * how);
        const uint32_t passed = (1u << (outcome >> 2 & 3)) >> 1;
        const uint32_t changes = sign ? later : bit ? refined : 0;
        const uint64_t marks = (uint64_t)changes << down & open;
        const uint64_t one = (uint64_t)(sign ? 0x400u : 0) << down;
        collected |= marks;
        candidates = (candidates | marks) & ~(~0ull << (place + 1 - passed));
        significant |= one;
        negative |= bit ^ entry >> 7 ? one : 0;
        kind = outcome & 3;
    }

    L2K_MEMBER bool is_idle() const
    {
        return candidates == 0;
    }

    /* ---- Words ------------------------------------------------------------------------------------------------- */

    /* Where they are in `planes`. */
    L2K_MEMBER uint32_t significance_of(uint32_t p) const
    {
        return 2 * p * words;
    }
    L2K_MEMBER uint32_t refinement_of(uint32_t p) const
    {
        return (2 * p + 1) * words;
    }
    L2K_MEMBER uint32_t signs() const
    {
        return 2 * (top + 1) * words;
    }
    L2K_MEMBER uint32_t visited() const
    {
        return signs() + words;
    }

    /* Reads the neighbourhood of word `w`, to which the present one may belong. */
    L2K_MEMBER void look_ahead(uint32_t w)
    {
        const l2k_shared own = pairs + w * pair_stride;
        const bool north = w >= across, south = w + across < words && !(style & L2K_STYLE_VSC);
        const uint64_t above = north ? l2k_load_pair(own - across * pair_stride) : 0;
        const uint64_t below = south ? l2k_load_pair(own + across * pair_stride) : 0;
        const uint64_t pair = l2k_load_pair(own);
        next_significant = l2k_mq_strip((uint32_t)pair, (uint32_t)above, (uint32_t)below);
        if (goes_on) /* refinement needs no signs */
            next_negative = l2k_mq_strip((uint32_t)(pair >> 32), (uint32_t)(above >> 32), (uint32_t)(below >> 32));
        ahead = looks_ahead ? planes[ahead_at + w] : 0;
        before = looks_before ? planes[before_at + w] : 0;
    }

    /* `west` and `west_negative`: the window west of it. */
    L2K_MEMBER void enter_word(uint64_t west, uint64_t west_negative)
    {
        const bool ends_stripe = column + 1 == across;
        const uint64_t strip = next_significant, strip_negative = next_negative, seen = ahead, refined_before = before;
        const uint64_t columns = ends_stripe ? last_columns : L2K_MQ_INTERIOR;
        const uint64_t rows = word + across < words ? L2K_MQ_INTERIOR : last_rows;
        if (word + 1 < words)
            look_ahead(word + 1);
        significant = l2k_mq_window(strip, west, ends_stripe ? 0 : next_significant);
        const uint64_t near = l2k_mq_neighbours(significant);
        if (pass == L2K_MQ_REFINEMENT) {
            candidates = open = seen;
            edge = (uint32_t)significant;
            significant = (near & ~refined_before) >> 1;
            negative = refined_before >> 1;
        } else {
            negative = l2k_mq_window(strip_negative, west_negative, ends_stripe ? 0 : next_negative);
            open = columns & rows & ~significant;
            candidates = open & (pass == L2K_MQ_SIGNIFICANCE ? near : ~seen);
        }
        collected = pass == L2K_MQ_SIGNIFICANCE ? candidates : 0;
    }

    /* The kernel for samples needs the state after the last pass. */
    L2K_MEMBER void store_last()
    {
        const uint64_t pair = l2k_load_pair(pairs + word * pair_stride);
        planes[significance_of(plane) + word] = l2k_mq_expand((uint32_t)pair);
        planes[signs() + word] = l2k_mq_expand((uint32_t)(pair >> 32));
    }

    L2K_MEMBER void leave_word()
    {
        const uint64_t s = significant & L2K_MQ_INTERIOR;
        if (pass != L2K_MQ_REFINEMENT)
            l2k_store_pair(pairs + word * pair_stride,
                           l2k_mq_compress(significant) | (uint64_t)l2k_mq_compress(negative) << 32);
        planes[store_at + word] = pass == L2K_MQ_CLEANUP ? s : collected;
        if (passes == 1)
            store_last();
    }

    /* ---- Passes ------------------------------------------------------------------------------------------------ */

    L2K_MEMBER void reset_contexts(const uint32_t *first)
    {
        for (uint32_t i = 0; i < L2K_MQ_DECODE_CONTEXTS; i++)
            l2k_store(contexts + i * stride, first[i]);
    }

    L2K_MEMBER void start_pass()
    {
        const bool refining = pass == L2K_MQ_REFINEMENT;
        const bool raw = (style & L2K_STYLE_BYPASS) && number >= 10 && pass != L2K_MQ_CLEANUP;
        word = column = 0;
        goes_on = refining ? 0 : 1;
        first_table = lookups + (raw ? (uint32_t)L2K_MQ_DECODE_RAW_BITS : L2K_MQ_DECODE_ZEROS + 512 * zeros);
        second_table = lookups + (raw        ? L2K_MQ_DECODE_RAW_BITS
                                  : refining ? L2K_MQ_DECODE_REFINEMENT
                                             : L2K_MQ_DECODE_SIGNS);
        later = pass == L2K_MQ_SIGNIFICANCE ? 0x238 : 0;
        refined = refining ? 0x400 : 0;
        store_at = refining ? refinement_of(plane) : pass == L2K_MQ_CLEANUP ? significance_of(plane) : visited();
        ahead_at = refining ? significance_of(plane + 1) : visited();
        before_at = significance_of(plane + 2);
        looks_ahead = refining || (pass == L2K_MQ_CLEANUP && plane < top);
        looks_before = refining && plane + 1 < top;
        look_ahead(0);
        enter_word(0, 0);
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
    L2K_MEMBER void refill(const uint32_t *first)
    {
        leave_word();
        word++;
        column = column + 1 == across ? 0 : column + 1;
        if (word == words) {
            end_pass(first);
            return;
        }
        if (across == 1 && goes_on) { /* the word just left is above */
            next_significant |= (significant & L2K_MQ_LAST_ROW) << 4;
            next_negative |= (negative & L2K_MQ_LAST_ROW) << 4;
        }
        const uint64_t west = goes_on ? significant : edge;
        enter_word(column ? west : 0, column ? negative : 0);
    }

    /* The block has passes, and shared memory is clear. */
    L2K_MEMBER void start(const l2k_mq_decode_batch *run, const l2k_mq_decode_block *block)
    {
        planes = run->planes + block->planes_at;
        segment = run->segments + block->segments;
        all_bits = run->bits;
        across = (block->view.width + 7u) / 8;
        words = l2k_mq_decode_words(&block->view);
        last_columns = l2k_mq_live_columns((block->view.width - 1u) % 8 + 1);
        last_rows = l2k_mq_live_rows((block->view.height - 1u) % 4 + 1);
        style = block->style;
        zeros = block->zeros;
        plane = top = block->planes - 1u;
        passes = block->passes;
        pass = L2K_MQ_CLEANUP;
        number = kind = 0;
        done = false;
        reset_contexts(run->tables->first);
        start_segment();
        start_pass();
    }
};

#endif
