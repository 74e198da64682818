/* The MQ encoder (Annex C) as a lane of a warp runs it: all lanes do the same, a block each, with as few branches as
 * possible, and bytes leave every other decision.
 *
 * The interval: A in the upper half of a word. C is a number of 64 bits in which what it has to give next lies fixed at
 * the top, a carry in bit 63 and a byte below it, while decisions add to it ever further down: bit 0 of the register of
 * Annex C is bit `place` (36 + CT). So C is never shifted but when a byte leaves. */
#ifndef L2K_CODEC_BLOCKS_CUDA_MQ_LANE_H
#define L2K_CODEC_BLOCKS_CUDA_MQ_LANE_H

#include "codec/blocks/cuda/mq_cuda.h"
#include "codec/blocks/mq/mq.h"

/* Contexts and states are `spacing` words apart, since lanes have theirs in different banks of shared memory. */
typedef struct l2k_mq_lane {
    uint64_t c;
    uint32_t a;
    int place;
    uint32_t last; /* a byte that can still get a carry, and is then written to `out` */
    uint8_t *out;
    uint32_t *contexts;
    const uint32_t *states;
    const uint32_t *first; /* states at the beginning */
    uint32_t context;      /* of the next decision, as an index of `contexts` */
    uint32_t state;        /* of that context */
} l2k_mq_lane;

#ifdef __CUDA_ARCH__
enum { L2K_MQ_SPACING = 32 };
#else
enum { L2K_MQ_SPACING = 1 };
#endif

enum { L2K_MQ_BYTE_AT = 36 };

L2K_HD uint32_t l2k_mq_context_of(uint32_t decision)
{
    return (decision >> 1 & 31) * L2K_MQ_SPACING;
}

L2K_HD int l2k_mq_leading_zeros(uint32_t v)
{
#ifdef __CUDA_ARCH__
    return __clz((int)v);
#else
    return __builtin_clz(v);
#endif
}

L2K_HD void l2k_mq_lane_reset_contexts(l2k_mq_lane *lane)
{
    for (uint32_t i = 0; i < L2K_MQ_CUDA_CONTEXTS; i++)
        lane->contexts[i * L2K_MQ_SPACING] = lane->first[i];
}

/* BYTEOUT (Figure C.8). */
L2K_HD void l2k_mq_lane_byte_out(l2k_mq_lane *lane)
{
    uint32_t top = (uint32_t)(lane->c >> 32);
    if (lane->last != 0xFF) {
        lane->last += top >> 31;
        top &= 0x7FFFFFFF;
    }
    *lane->out++ = (uint8_t)lane->last;
    const bool stuffed = lane->last == 0xFF;
    lane->last = (stuffed ? top : top << 1) >> 24;
    lane->c = lane->c << (stuffed ? 7 : 8) & 0x7FFFFFFFFFFFFFFFu;
    lane->place += stuffed ? 7 : 8;
}

/* ENCODE (Figure C.3) but for BYTEOUT. `next` is the decision after this one, whose context is loaded ahead. */
L2K_HD void l2k_mq_lane_decision(l2k_mq_lane *lane, uint32_t decision, uint32_t next)
{
    const uint32_t state = lane->state, qe = state & 0xFFFF0000u, rest = lane->a - qe;
    const uint32_t next_context = l2k_mq_context_of(next), loaded = lane->contexts[next_context];
    const bool less = (state ^ decision) & 1; /* probable */
    const bool is_qe = (rest < qe) != less;   /* the less probable symbol gets the smaller part, A - Qe or Qe */
    const uint32_t part = is_qe ? qe : rest, entry = less ? state >> 1 & 127 : state >> 8 & 127;
    const uint32_t moved = lane->states[entry * L2K_MQ_SPACING];
    const int shift = l2k_mq_leading_zeros(part);
    const uint32_t now = shift ? moved : state;
    lane->c += (uint64_t)(is_qe ? 0 : qe >> 16) << lane->place;
    lane->a = part << shift;
    lane->place -= shift;
    lane->contexts[lane->context] = now;
    lane->state = next_context == lane->context ? now : loaded;
    lane->context = next_context;
}

/* Two decisions, then the bytes that are complete. Such a byte has to leave before the second decision only if a carry
 * could then run through it: if it is 0xFF, or there is another one behind it. */
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
    while (lane->place <= L2K_MQ_BYTE_AT)
        l2k_mq_lane_byte_out(lane);
}

/* ---- Passes ----------------------------------------------------------------------------------------------------- */

/* The coder as the CPU has it, which ends segments. */
L2K_HD l2k_mq_encoder l2k_mq_lane_registers(const l2k_mq_lane *lane)
{
    l2k_mq_encoder mq;
    *lane->out = (uint8_t)lane->last;
    mq.a = lane->a >> 16;
    mq.c = (uint32_t)(lane->c >> lane->place);
    mq.ct = lane->place - L2K_MQ_BYTE_AT;
    mq.out = lane->out;
    return mq;
}

L2K_HD void l2k_mq_lane_take(l2k_mq_lane *lane, const l2k_mq_encoder *mq)
{
    lane->a = mq->a << 16;
    lane->place = mq->ct + L2K_MQ_BYTE_AT;
    lane->c = (uint64_t)mq->c << lane->place;
    lane->out = mq->out;
    lane->last = *mq->out;
}

/* A block that is being coded. */
typedef struct l2k_mq_lane_block {
    unsigned style, pass, num_passes;
    uint8_t *start;      /* of its code */
    l2k_pass_mark *mark; /* of the pass */
    l2k_mq_encoder raw;  /* in a raw pass */
    bool is_raw;
} l2k_mq_lane_block;

/* Ends the pass, and its segment if the pass does; marks that are not open have the length in `at`. */
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
    mark.at = (int32_t)(mq.out - b->start) + (int32_t)extra;
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

/* Four raw bits, without what fills up the list. */
L2K_HD void l2k_mq_lane_raw_word(l2k_mq_lane_block *b, uint32_t word)
{
    for (int i = 0; i < 4; i++, word >>= 8)
        if ((word & 62) != L2K_MQ_FILLER_CONTEXT << 1)
            l2k_raw_encode(&b->raw, word & 1);
}

/* Codes a block of `planes` bit-planes, whose lists are in `memory`; its code begins at L2K_MQ_CODE_AT there. */
L2K_HD void l2k_mq_lane_code(l2k_mq_lane *lane, uint8_t *memory, uint32_t planes, unsigned style, bool styled,
                             l2k_pass_mark *marks)
{
    const uint32_t *list = (const uint32_t *)(memory + l2k_mq_cuda_lead(planes));
    l2k_mq_lane_block b;
    l2k_mq_encoder mq;
    b.style = style;
    b.pass = 0;
    b.num_passes = l2k_mq_cuda_passes(planes);
    b.start = memory + L2K_MQ_CODE_AT;
    b.mark = marks;
    b.is_raw = false;
    b.raw.c = b.raw.a = 0;
    b.raw.ct = 0;
    b.raw.out = b.start;
    for (int i = 1; i <= 4; i++) /* bytes before the first, which are looked at */
        b.start[-i] = 0;
    l2k_mq_encode_start(&mq, b.start - 1);
    l2k_mq_lane_take(lane, &mq);
    l2k_mq_lane_reset_contexts(lane);
    uint32_t word = list[0], ahead_1 = list[1], ahead_2 = list[2], ahead_3 = list[3];
    list += 4;
    lane->context = l2k_mq_context_of(word);
    lane->state = lane->contexts[lane->context];
    for (;;) {
        const uint32_t ahead_4 = *list++;
        if (styled && b.is_raw) {
            l2k_mq_lane_raw_word(&b, word);
        } else {
            l2k_mq_lane_two(lane, word, word >> 8, word >> 16);
            l2k_mq_lane_two(lane, word >> 16, word >> 24, ahead_1);
        }
        if (word >> L2K_MQ_LAST_WORD_AT) {
            l2k_mq_lane_end_pass(lane, &b, styled);
            if (b.pass == b.num_passes)
                return;
            if (styled) {
                lane->context = l2k_mq_context_of(ahead_1);
                lane->state = lane->contexts[lane->context];
            }
        }
        word = ahead_1;
        ahead_1 = ahead_2;
        ahead_2 = ahead_3;
        ahead_3 = ahead_4;
    }
}

#endif
