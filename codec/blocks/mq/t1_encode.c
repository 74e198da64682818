/* The block encoder of Annex D: bit-planes of a code-block into MQ or raw codeword segments, with pass lengths and
 * distortions. */
#include "codec/blocks/mq/t1_lists.h"

#include <string.h>

#include "base/integer.h"
#include "base/memory.h"
#include "codec/blocks/mq/t1_flags.h"

/* A pass codes at most two decisions per sample and three per stripe column; a decision shifts out at most 15 bits, and
 * stuffing adds one bit in eight. */
#define PASS_BYTES_MOST 32768u

/* Bytes before the first code byte, because the coder looks at preceding bytes. */
#define BYTES_BEFORE 8u

/* Enough for the code of nearly every block. */
#define BYTES_AT_FIRST ((size_t)1 << 16)

/* The MQ coder's interval at the end of a pass that does not end its segment: [c, c + a) after byte `at`, whose value
 * was `byte` then and can still get a carry. */
typedef struct pass_mark {
    bool open;
    uint8_t byte;
    int ct;
    uint32_t c, a;
    ptrdiff_t at;
} pass_mark;

/* What one block needs beside its planes. */
typedef struct block_coder {
    l2k_t1 *t1;
    const l2k_t1_kernels *kernels;
    l2k_t1_planes *planes;
    bool reversible, measure;
    l2k_mq_encoder mq;
    l2k_mq_encoder_contexts contexts;
    double distortion; /* by all passes so far, in squared quantiser steps */
    pass_mark marks[L2K_MAX_PASSES];
} block_coder;

/* ---- Distortion ---------------------------------------------------------------------------------------------- */

/* Squared error is counted in quarters of a squared quantiser step: reconstruction points are compared in half steps,
 * 2 m for an integer that is restored exactly, 2 m + 1 for the middle of an interval. Up to so many bit-planes, sums
 * over a block are integers that a double holds exactly, whatever the order of their terms. */
enum { EXACT_PLANES = 19 };

/* Of a sample whose magnitude m is k 2^p + l, 0 <= l < 2^p, the coder knows k after bit-plane p: the point is
 * (2 k + 1) 2^p, or 2 k if it is restored exactly. Before it becomes significant, the point is 0; k is then 1. */
static double gain_of_significance(const l2k_t1_moments *became, unsigned plane, bool reversible)
{
    const int64_t point = plane == 0 && reversible ? 2 : (int64_t)3 << plane, offset = reversible ? 0 : 2;
    const int64_t count = (int64_t)became->count, magnitudes = (count << plane) + (int64_t)became->below;
    return (double)(point * (4 * magnitudes + count * (offset - point)));
}

static double gain_of_refinement(const l2k_t1_moments to[2], unsigned plane, bool reversible)
{
    const int64_t zeros = (int64_t)to[0].count, ones = (int64_t)to[1].count;
    if (plane == 0 && reversible)
        return (double)(4 * zeros);
    const int64_t below = (int64_t)to[1].below - (int64_t)to[0].below, offset = reversible ? 0 : 2;
    return (double)((4 * below + offset * (ones - zeros) + ((3 * zeros - ones) << plane)) << plane);
}

/* With more bit-planes, the terms are added in the order of coding, rounded. */
static int64_t twice_true_value(uint32_t magnitude, bool reversible)
{
    return 2 * (int64_t)magnitude + (reversible ? 0 : 1);
}

static int64_t twice_reconstruction(uint32_t magnitude, unsigned plane, bool reversible)
{
    int64_t known = magnitude >> plane;
    if (plane == 0 && reversible)
        return 2 * known;
    return (2 * known + 1) << plane;
}

static double gain_of_sample(uint32_t magnitude, unsigned plane, bool refined, bool reversible)
{
    int64_t before = refined ? twice_reconstruction(magnitude, plane + 1, reversible) : 0;
    int64_t after = twice_reconstruction(magnitude, plane, reversible);
    return (double)(after - before) * (double)(2 * twice_true_value(magnitude, reversible) - after - before);
}

static uint32_t magnitude_of(const l2k_t1_planes *planes, size_t cell, unsigned bit, unsigned num_planes)
{
    uint32_t magnitude = 0;
    for (unsigned q = 0; q < num_planes; q++)
        magnitude |= (uint32_t)(planes->planes[q * planes->spacing + cell] >> bit & 1) << q;
    return magnitude;
}

static double gain_in_order(const block_coder *b, coding_pass at, unsigned num_planes)
{
    const l2k_t1_planes *p = b->planes;
    double gain = 0;
    for (size_t i = p->first; i < p->end; i++) {
        uint64_t coded = l2k_t1_pass_samples(p, at.type, i);
        for (; coded; coded &= coded - 1) {
            uint32_t magnitude = magnitude_of(p, i, (unsigned)__builtin_ctzll(coded), num_planes);
            gain += gain_of_sample(magnitude, at.plane, at.type == PASS_REFINEMENT, b->reversible);
        }
    }
    return gain;
}

/* Squared error that the current pass removes. */
static double gain_of_pass(const block_coder *b, coding_pass at, unsigned num_planes)
{
    if (num_planes > EXACT_PLANES)
        return gain_in_order(b, at, num_planes);
    if (at.type == PASS_REFINEMENT)
        return gain_of_refinement(b->planes->refined_to, at.plane, b->reversible);
    return gain_of_significance(&b->planes->became[at.type], at.plane, b->reversible);
}

/* ---- Passes -------------------------------------------------------------------------------------------------- */

static void end_pass(block_coder *b, const l2k_t1_block *block, bool raw, l2k_pass *pass, pass_mark *mark)
{
    bool predictable = block->style & L2K_STYLE_PTERM;
    const uint8_t *start = b->t1->bytes + BYTES_BEFORE;
    unsigned extra = 0;
    mark->open = !pass->terminated && !raw;
    if (mark->open)
        *mark = (pass_mark){true, *b->mq.out, b->mq.ct, b->mq.c, b->mq.a, b->mq.out - start};
    else if (!pass->terminated)
        extra = l2k_raw_pending_bytes(&b->mq, predictable);
    else if (raw)
        l2k_raw_flush(&b->mq, predictable);
    else if (predictable)
        l2k_mq_flush_predictable(&b->mq);
    else
        l2k_mq_flush(&b->mq);
    pass->bytes = (uint32_t)(b->mq.out - start + extra);
}

static void start_segment(block_coder *b, bool raw)
{
    if (raw)
        l2k_raw_encode_start(&b->mq);
    else
        l2k_mq_encode_start(&b->mq, b->mq.out - 1);
}

/* The fewest bytes from which the decoder, which reads ones past their end, decodes an open pass correctly: the
 * truncated code, extended by ones, must be in the interval. (It can fall short of it if the last byte kept is 0xFF,
 * because the stuffing bit after that may be a carry.) Numbers are in units of the registers, times 2^32. */
static uint32_t shortest_cut(const pass_mark *mark, const uint8_t *start, uint32_t most)
{
    uint8_t before = start[mark->at];
    int64_t low = (int64_t)mark->c << 32, high = (int64_t)(mark->c + mark->a) << 32;
    int64_t value = (int64_t)(before - mark->byte) << (32 + 27 - mark->ct);
    int place = 27 - mark->ct; /* of the last bit kept */
    uint32_t bytes = (uint32_t)(mark->at + 1);
    for (; bytes < most; bytes++) {
        int64_t filled = value + ((int64_t)1 << (32 + place));
        if (filled > low && filled <= high)
            break;
        place -= before == 0xFF ? 7 : 8;
        before = start[bytes];
        value += (int64_t)before << (32 + place);
    }
    return bytes;
}

/* Lengths of open passes, now that all bytes are known. They must not decrease nor exceed the end of their segment, and
 * a final 0xFF is implied. */
static void settle_lengths(const block_coder *b, l2k_t1_code *code)
{
    const uint8_t *start = code->bytes;
    uint32_t bound = code->passes[code->num_passes - 1].bytes;
    for (unsigned i = code->num_passes; i-- > 0;) {
        uint32_t bytes = code->passes[i].bytes;
        if (b->marks[i].open)
            bytes = shortest_cut(&b->marks[i], start, bound);
        bound = code->passes[i].bytes = l2k_min_u32(bytes, bound);
    }
    for (unsigned i = 0; i < code->num_passes; i++) {
        uint32_t *bytes = &code->passes[i].bytes;
        if (*bytes > 0 && start[*bytes - 1] == 0xFF)
            --*bytes;
    }
}

/* Makes room for the next pass, which may move the code. */
static l2k_status reserve_pass(block_coder *b)
{
    ptrdiff_t used = b->mq.out - b->t1->bytes;
    L2K_TRY(l2k_t1_reserve(b->t1, (size_t)used + PASS_BYTES_MOST));
    b->mq.out = b->t1->bytes + used;
    return L2K_OK;
}

static void code_list(block_coder *b, l2k_t1_list *list, bool raw)
{
    if (raw)
        for (size_t i = 0; i < list->count; i++)
            l2k_raw_encode(&b->mq, list->entries[i] & 1);
    else
        b->kernels->code(&b->mq, b->contexts, list);
}

/* 1010 (D.5) */
static void list_segmentation_symbol(l2k_t1_list *list)
{
    for (unsigned i = 0; i < 4; i++)
        list->entries[list->count++] = (uint8_t)(L2K_CONTEXT_UNIFORM << 1 | (~i & 1));
}

/* Codes one pass into the current segment or, if `fresh`, into a new one. */
static l2k_status code_pass(block_coder *b, const l2k_t1_block *block, coding_pass at, bool fresh, l2k_t1_code *code)
{
    bool raw = l2k_pass_is_raw(block->style, at.number);
    l2k_t1_list *list = &b->planes->lists[at.type];
    l2k_pass *pass = &code->passes[code->num_passes++];
    L2K_TRY(reserve_pass(b));
    if (fresh)
        start_segment(b, raw);
    if (at.type == PASS_CLEANUP && (block->style & L2K_STYLE_SEGSYM))
        list_segmentation_symbol(list);
    code_list(b, list, raw);
    if (b->measure)
        b->distortion += gain_of_pass(b, at, code->num_planes) / 4;
    pass->distortion = b->distortion;
    pass->terminated = is_last_pass(at) || l2k_pass_terminates(block->style, at.number);
    end_pass(b, block, raw, pass, &b->marks[at.number]);
    if (block->style & L2K_STYLE_RESET)
        l2k_mq_encoder_reset(b->contexts);
    return L2K_OK;
}

static l2k_status code_passes(block_coder *b, const l2k_t1_block *block, l2k_t1_code *code)
{
    bool fresh = false; /* the caller starts the first segment */
    for (coding_pass at = first_pass(code->num_planes);; at = next_pass(at)) {
        if (at.type == PASS_SIGNIFICANCE || at.number == 0) {
            b->planes->raw = at.number && l2k_pass_is_raw(block->style, at.number);
            b->kernels->list(b->planes, at.plane);
            if (b->measure && code->num_planes <= EXACT_PLANES)
                b->kernels->measure(b->planes, at.plane);
        }
        L2K_TRY(code_pass(b, block, at, fresh, code));
        fresh = code->passes[code->num_passes - 1].terminated;
        if (is_last_pass(at))
            return L2K_OK;
    }
}

/* Allocated with a thread's first block. */
static l2k_status take_planes(l2k_t1 *t1)
{
    if (t1->planes)
        return L2K_OK;
    t1->planes = l2k_allocate(t1->context, 1, sizeof *t1->planes);
    if (!t1->planes)
        return l2k_fail(t1->context, L2K_ERROR_MEMORY, "out of memory for the block coder");
    l2k_t1_list_orders(t1->planes);
    return L2K_OK;
}

l2k_status l2k_t1_encode(l2k_t1 *t1, const l2k_t1_block *block, bool want_distortion, l2k_t1_code *code)
{
    const l2k_t1_kernels *kernels = l2k_t1_kernels_get(t1->context->cpu);
    L2K_TRY(l2k_t1_reserve(t1, BYTES_AT_FIRST));
    L2K_TRY(take_planes(t1));
    uint32_t all = kernels->magnitudes(block);
    code->num_planes = all ? l2k_log2(all) + 1 : 0;
    code->num_passes = 0;
    if (code->num_planes == 0)
        return L2K_OK;
    if (code->num_planes > L2K_MAX_BIT_PLANES)
        return l2k_fail(t1->context, L2K_ERROR_ARGUMENT, "a sample lies outside its component's precision");
    kernels->load(block, code->num_planes, t1->planes);
    memset(t1->bytes, 0, BYTES_BEFORE);

    block_coder b = {.t1 = t1,
                     .kernels = kernels,
                     .planes = t1->planes,
                     .reversible = block->reversible,
                     .measure = want_distortion};
    l2k_mq_encoder_reset(b.contexts);
    l2k_mq_encode_start(&b.mq, t1->bytes + BYTES_BEFORE - 1);
    L2K_TRY(code_passes(&b, block, code));
    code->bytes = t1->bytes + BYTES_BEFORE;
    settle_lengths(&b, code);
    return L2K_OK;
}
