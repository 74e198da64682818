/* The MQ encoder (Annex C) for a lane of a warp: all lanes run the same code on a block each, with as few branches as
 * possible, and bytes leave after every other decision.
 *
 * A is in the upper half of a word. C has 64 bits, whose next output is fixed at the top, a carry in bit 63 and a byte
 * below it, while decisions add to it ever further down: bit 0 of the register of Annex C is bit 16 + `place`, where
 * place is 20 + CT. So C only shifts when a byte leaves. */
#ifndef L2K_CODEC_ENGINE_CUDA_MQ_MQ_LANE_H
#define L2K_CODEC_ENGINE_CUDA_MQ_MQ_LANE_H

#include "codec/engine/cuda/mq/mq_cuda.h"
#include "codec/blocks/mq/mq.h"

/* Lanes of a CTA interleave their contexts, and lanes of a warp their tables of states, each in a bank of shared memory
 * of its own. Distances in bytes, as powers of two. */
enum { L2K_MQ_STATES_APART = 7, L2K_MQ_CONTEXTS_APART = 9 };

typedef struct l2k_mq_lane {
    uint64_t c;
    uint32_t a;
    int place;
    uint32_t last; /* a byte that can still get a carry before it goes to start[bytes] */
    uint32_t bytes;
    uint8_t *start; /* of the code */
    uint8_t *contexts;
    const uint8_t *states;
    const uint32_t *first;   /* states at the beginning */
    uint32_t own, own_state; /* the lane's distance in contexts, and in states */
    uint32_t context;        /* of the next decision, as a distance */
    uint32_t state;          /* of that context */
} l2k_mq_lane;

enum { L2K_MQ_BYTE_AT = 20 };

/* A decision at the bottom of `list`: its context as a distance, and the decision above that. */
L2K_HD uint32_t l2k_mq_scaled(uint32_t list)
{
    return list << L2K_MQ_CONTEXTS_APART;
}

L2K_HD uint32_t l2k_mq_context_of(const l2k_mq_lane *lane, uint32_t scaled)
{
    return (scaled & 31u << L2K_MQ_CONTEXTS_APART) | lane->own;
}

L2K_HD uint32_t *l2k_mq_context(const l2k_mq_lane *lane, uint32_t distance)
{
    return (uint32_t *)(lane->contexts + distance);
}

L2K_HD void l2k_mq_lane_reset_contexts(l2k_mq_lane *lane)
{
    for (uint32_t i = 0; i < L2K_MQ_CUDA_CONTEXTS; i++)
        *l2k_mq_context(lane, l2k_mq_context_of(lane, l2k_mq_scaled(i))) = lane->first[i];
}

L2K_HD void l2k_mq_lane_go_to(l2k_mq_lane *lane, uint32_t decision)
{
    lane->context = l2k_mq_context_of(lane, l2k_mq_scaled(decision));
    lane->state = *l2k_mq_context(lane, lane->context);
}

/* BYTEOUT (Figure C.8). */
L2K_HD void l2k_mq_lane_byte_out(l2k_mq_lane *lane)
{
    uint32_t top = (uint32_t)(lane->c >> 32);
    if (lane->last != 0xFF) {
        lane->last += top >> 31;
        top &= 0x7FFFFFFF;
    }
    lane->start[lane->bytes++] = (uint8_t)lane->last;
    const int bits = lane->last == 0xFF ? 7 : 8;
    lane->last = top >> (31 - bits);
    lane->c = lane->c << bits & 0x7FFFFFFFFFFFFFFFu;
    lane->place += bits;
}

typedef struct l2k_mq_selection {
    uint32_t part, add; /* the new A before renormalisation, what C gets */
    uint32_t entry;     /* of the next state, as a distance, in bits 7 to 13 */
} l2k_mq_selection;

/* The less probable symbol gets the smaller part of the interval, A - Qe or Qe. In assembly language because the
 * compiler takes three operations more. */
L2K_HD l2k_mq_selection l2k_mq_select(uint32_t state, uint32_t decision, uint32_t qe, uint32_t rest)
{
    l2k_mq_selection s;
#ifdef __CUDA_ARCH__
    asm("{\n\t.reg .pred less, is_qe;\n\t.reg .b32 differs, shifted;\n\t"
        "xor.b32 differs, %3, %4;\n\tand.b32 differs, differs, %7;\n\tsetp.ne.u32 less, differs, 0;\n\t"
        "shl.b32 shifted, %3, %8;\n\tselp.b32 %2, %3, shifted, less;\n\t"
        "setp.lt.xor.u32 is_qe, %6, %5, less;\n\t"
        "selp.b32 %0, %5, %6, is_qe;\n\tselp.b32 %1, 0, %5, is_qe;\n\t}"
        : "=r"(s.part), "=r"(s.add), "=r"(s.entry)
        : "r"(state), "r"(decision), "r"(qe), "r"(rest), "n"(1 << 14), "n"(7));
#else
    const bool less = ((state ^ decision) & L2K_MQ_STATE_MPS) != 0; /* probable */
    const bool is_qe = (rest < qe) != less;
    s.part = is_qe ? qe : rest;
    s.add = is_qe ? 0 : qe;
    s.entry = less ? state : state << L2K_MQ_STATES_APART;
#endif
    return s;
}

/* ENCODE (Figure C.3) without BYTEOUT. `next` is the decision after this one, whose context is loaded ahead; both are
 * scaled. The next state is loaded before the decision shows whether it is needed, at no cost; selection by masks keeps
 * the compiler from branching. */
L2K_HD void l2k_mq_lane_decision(l2k_mq_lane *lane, uint32_t decision, uint32_t next)
{
    const uint32_t state = lane->state, qe = state & 0xFFFF0000u, rest = lane->a - qe;
    const uint32_t next_context = l2k_mq_context_of(lane, next), loaded = *l2k_mq_context(lane, next_context);
    const l2k_mq_selection s = l2k_mq_select(state, decision, qe, rest);
    const uint32_t entry = s.entry & 127u << L2K_MQ_STATES_APART;
    const uint32_t moved = *(const uint32_t *)(lane->states + (entry | lane->own_state));
    const uint32_t same = (uint32_t)((int32_t)s.part >> 31), now = (state & same) | (moved & ~same);
    const int shift = (int)l2k_leading_zeros(s.part);
    lane->c += (uint64_t)s.add << lane->place;
    lane->a = s.part << shift;
    lane->place -= shift;
    *l2k_mq_context(lane, lane->context) = now;
    lane->state = next_context == lane->context ? now : loaded;
    lane->context = next_context;
}

/* Two decisions, then the complete bytes. Such a byte must leave before the second decision only if a carry could run
 * through it: if it is 0xFF, or another one is behind it. */
L2K_HD void l2k_mq_lane_two(l2k_mq_lane *lane, uint32_t one, uint32_t two, uint32_t next)
{
    const uint32_t ones = 0x7F800000u;
    l2k_mq_lane_decision(lane, one, two);
    if (lane->place <= L2K_MQ_BYTE_AT &&
        (((uint32_t)(lane->c >> 32) & ones) == ones || lane->place <= L2K_MQ_BYTE_AT - 7))
        do
            l2k_mq_lane_byte_out(lane);
        while (lane->place <= L2K_MQ_BYTE_AT);
    l2k_mq_lane_decision(lane, two, next);
    if (lane->place <= L2K_MQ_BYTE_AT) {
        l2k_mq_lane_byte_out(lane);
        while (lane->place <= L2K_MQ_BYTE_AT)
            l2k_mq_lane_byte_out(lane);
    }
}

/* ---- Passes ----------------------------------------------------------------------------------------------------- */

/* The registers as the CPU's coder, which ends segments, has them. */
L2K_HD l2k_mq_encoder l2k_mq_lane_registers(const l2k_mq_lane *lane)
{
    l2k_mq_encoder mq;
    lane->start[lane->bytes] = (uint8_t)lane->last;
    mq.a = lane->a >> 16;
    mq.c = (uint32_t)(lane->c >> (lane->place + 16));
    mq.ct = lane->place - L2K_MQ_BYTE_AT;
    mq.out = lane->start + lane->bytes;
    return mq;
}

L2K_HD void l2k_mq_lane_take(l2k_mq_lane *lane, const l2k_mq_encoder *mq)
{
    lane->a = mq->a << 16;
    lane->place = mq->ct + L2K_MQ_BYTE_AT;
    lane->c = (uint64_t)mq->c << (lane->place + 16);
    lane->bytes = (uint32_t)(mq->out - lane->start);
    lane->last = *mq->out;
}

/* A block that is being coded. */
typedef struct l2k_mq_lane_block {
    unsigned style, pass, num_passes;
    l2k_pass_mark *mark; /* of the pass */
    l2k_mq_encoder raw;  /* in a raw pass */
    bool is_raw;
} l2k_mq_lane_block;

/* Ends the pass, and its segment if it is the segment's last; marks that are not open have the length in `at`. */
L2K_HD void l2k_mq_lane_end_pass(l2k_mq_lane *lane, l2k_mq_lane_block *b, bool styled)
{
    const bool predictable = b->style & L2K_STYLE_PTERM, last = b->pass + 1 == b->num_passes;
    const bool terminated = last || (styled && l2k_pass_terminates(b->style, b->pass));
    l2k_mq_encoder mq = styled && b->is_raw ? b->raw : l2k_mq_lane_registers(lane);
    l2k_pass_mark mark;
    unsigned extra = 0;
    mark.byte = 0;
    mark.c = mq.c;
    mark.a = mq.a;
    mark.ct = (uint8_t)mq.ct;
    mark.open = !terminated && !(styled && b->is_raw);
    if (mark.open)
        mark.byte = (uint8_t)lane->last;
    else if (!terminated)
        extra = l2k_raw_pending_bytes(&mq, predictable);
    else if (styled && b->is_raw)
        l2k_raw_flush(&mq, predictable);
    else if (predictable)
        l2k_mq_flush_predictable(&mq);
    else
        l2k_mq_flush(&mq);
    mark.at = (int32_t)(mq.out - (lane->start + L2K_MQ_BEFORE)) + (int32_t)extra;
    *b->mark++ = mark;
    b->pass++;
    if (!styled || last)
        return;
    const bool raw = l2k_pass_is_raw(b->style, b->pass);
    if (terminated && raw)
        l2k_raw_encode_start(&mq);
    else if (terminated)
        l2k_mq_encode_start(&mq, mq.out - 1);
    if (raw)
        b->raw = mq;
    else if (terminated)
        l2k_mq_lane_take(lane, &mq);
    b->is_raw = raw;
    if (b->style & L2K_STYLE_RESET)
        l2k_mq_lane_reset_contexts(lane);
}

/* Four raw bits, without padding. */
L2K_HD void l2k_mq_lane_raw_word(l2k_mq_lane_block *b, uint32_t word)
{
    for (int i = 0; i < 4; i++, word >>= 8)
        if ((word & 31) != L2K_MQ_FILLER_CONTEXT)
            l2k_raw_encode(&b->raw, word >> L2K_MQ_DECISION_AT & 1);
}

/* 16 decisions. */
typedef struct l2k_mq_words {
    uint32_t a, b, c, d;
} __attribute__((aligned(16))) l2k_mq_words;

/* The decisions of a word; `next`: of the word after it. */
L2K_HD void l2k_mq_lane_word(l2k_mq_lane *lane, uint32_t word, uint32_t next)
{
    const uint32_t a = l2k_mq_scaled(word), b = l2k_mq_scaled(word >> 8), c = l2k_mq_scaled(word >> 16);
    const uint32_t d = l2k_mq_scaled(word >> 24), e = l2k_mq_scaled(next);
    l2k_mq_lane_two(lane, a, b, c);
    l2k_mq_lane_two(lane, c, d, e);
}

/* Codes a block of `planes` bit-planes, whose lists are in `memory`, into L2K_MQ_CODE_AT there. The lane has its shared
 * memory. */
L2K_HD void l2k_mq_lane_code(l2k_mq_lane *lane, uint8_t *memory, uint32_t planes, unsigned style, bool styled,
                             l2k_pass_mark *marks)
{
    const l2k_mq_words *list = (const l2k_mq_words *)(memory + l2k_mq_cuda_lead(planes));
    l2k_mq_lane_block b;
    l2k_mq_encoder mq;
    b.style = style;
    b.pass = 0;
    b.num_passes = l2k_mq_cuda_passes(planes);
    b.mark = marks;
    b.is_raw = false;
    b.raw.c = b.raw.a = 0;
    b.raw.ct = 0;
    b.raw.out = memory;
    lane->start = memory + L2K_MQ_CODE_AT - L2K_MQ_BEFORE;
    for (int i = 0; i < L2K_MQ_BEFORE; i++)
        lane->start[i] = 0;
    l2k_mq_encode_start(&mq, lane->start + L2K_MQ_BEFORE - 1);
    l2k_mq_lane_take(lane, &mq);
    l2k_mq_lane_reset_contexts(lane);
    l2k_mq_words now = list[0], ahead = list[1];
    list += 2;
    l2k_mq_lane_go_to(lane, now.a);
    for (;;) {
        const l2k_mq_words later = *list++; /* in flight while 16 decisions are coded */
        for (int i = 0; i < 4; i++) {
            const uint32_t word = now.a, next = i < 3 ? now.b : ahead.a;
            if (styled && b.is_raw)
                l2k_mq_lane_raw_word(&b, word);
            else
                l2k_mq_lane_word(lane, word, next);
            if (word >> L2K_MQ_LAST_WORD_AT) {
                l2k_mq_lane_end_pass(lane, &b, styled);
                if (b.pass == b.num_passes)
                    return;
                if (styled)
                    l2k_mq_lane_go_to(lane, next);
            }
            now.a = now.b;
            now.b = now.c;
            now.c = now.d;
        }
        now = ahead;
        ahead = later;
    }
}

#endif
