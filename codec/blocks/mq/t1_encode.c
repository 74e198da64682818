/* The block encoder of Annex D: bit-planes of a code-block into MQ or raw codeword segments, with pass lengths and
 * distortions. */
#include "codec/blocks/mq/t1.h"

#include <string.h>

#include "base/integer.h"
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

/* State shared by the passes; each pass copies the MQ registers into local variables. */
typedef struct block_coder {
    l2k_t1 *t1;
    uint32_t width, height;
    const uint8_t *zero_context;
    bool causal;
    bool reversible;
    l2k_mq_encoder mq;
    l2k_mq_contexts contexts;
    double gain;       /* squared error removed by the current pass, in quarters of a squared quantiser step */
    double distortion; /* by all passes so far, in squared quantiser steps */
    pass_mark marks[L2K_MAX_PASSES];
} block_coder;

/* Reconstruction points are compared in half quantiser steps: 2 m for an integer that is restored exactly, 2 m + 1 for
 * the middle of an interval. */
static inline int64_t twice_true_value(uint32_t magnitude, bool reversible)
{
    return 2 * (int64_t)magnitude + (reversible ? 0 : 1);
}

static inline int64_t twice_reconstruction(uint32_t magnitude, unsigned plane, bool reversible)
{
    int64_t known = magnitude >> plane;
    if (plane == 0 && reversible)
        return 2 * known;
    return (2 * known + 1) << plane;
}

static inline double gain_significance(uint32_t magnitude, unsigned plane, bool reversible)
{
    int64_t point = twice_reconstruction(magnitude, plane, reversible);
    return (double)point * (double)(2 * twice_true_value(magnitude, reversible) - point);
}

static inline double gain_refinement(uint32_t magnitude, unsigned plane, bool reversible)
{
    int64_t before = twice_reconstruction(magnitude, plane + 1, reversible);
    int64_t after = twice_reconstruction(magnitude, plane, reversible);
    return (double)(after - before) * (double)(2 * twice_true_value(magnitude, reversible) - after - before);
}

#define MAGNITUDE 0x7FFFFFFFu

INLINE void code_bit(l2k_mq_encoder *mq, const l2k_mq_state **context, uint32_t bit, bool raw)
{
    if (raw)
        l2k_raw_encode(mq, bit);
    else
        l2k_mq_encode(mq, context, bit);
}

/* Codes a sign (D.3.2) and returns it. */
INLINE uint32_t code_sign(block_coder *b, l2k_mq_encoder *mq, const uint32_t *flag, uint32_t word, uint32_t sample,
                          unsigned k, bool raw)
{
    uint32_t sign = sample >> 31;
    if (raw) {
        l2k_raw_encode(mq, sign);
    } else {
        unsigned entry = b->t1->sign_context[sign_index(flag, word, k)];
        l2k_mq_encode(mq, &b->contexts[entry & 0x7F], sign ^ entry >> 7);
    }
    return sign;
}

/* Codes the sign of a sample that becomes significant and updates the neighbours; returns the column's new word. */
INLINE uint32_t become_significant(block_coder *b, l2k_mq_encoder *mq, uint32_t *flag, uint32_t word, uint32_t sample,
                                   unsigned k, unsigned plane, bool raw, bool measure)
{
    uint32_t sign = code_sign(b, mq, flag, word, sample, k, raw);
    spread_significance(flag, b->width + 2, k, sign, b->causal);
    if (measure)
        b->gain += gain_significance(sample & MAGNITUDE, plane, b->reversible);
    return word | FLAG_SIGNIFICANT << 3 * k | sign << (19 + 3 * k);
}

INLINE void significance_pass(block_coder *b, unsigned plane, bool raw, bool measure)
{
    l2k_mq_encoder mq = b->mq;
    FOR_EACH_COLUMN(b)
    {
        uint32_t word = *flag;
        uint32_t candidates = column_significance_candidates(word) & live;
        if (!candidates)
            continue;
        FOR_EACH_CANDIDATE(candidates)
        {
            uint32_t bit = sample[k] >> plane & 1;
            code_bit(&mq, &b->contexts[b->zero_context[word >> 3 * k & FLAG_NEIGHBOURS]], bit, raw);
            word |= FLAG_VISITED << 3 * k;
            if (bit) {
                word = become_significant(b, &mq, flag, word, sample[k], k, plane, raw, measure);
                candidates |= column_significance_candidates(word) & live; /* the next row may be one now */
            }
        }
        *flag = word;
    }
    b->mq = mq;
}

INLINE void refinement_pass(block_coder *b, unsigned plane, bool raw, bool measure)
{
    l2k_mq_encoder mq = b->mq;
    FOR_EACH_COLUMN(b)
    {
        uint32_t word = *flag;
        uint32_t candidates = column_refinement_candidates(word) & live;
        if (!candidates)
            continue;
        FOR_EACH_CANDIDATE(candidates)
        {
            uint32_t bit = sample[k] >> plane & 1;
            code_bit(&mq, &b->contexts[refinement_context(word, k)], bit, raw);
            if (measure)
                b->gain += gain_refinement(sample[k] & MAGNITUDE, plane, b->reversible);
        }
        *flag = word | candidates << 20;
    }
    b->mq = mq;
}

INLINE void cleanup_pass(block_coder *b, unsigned plane, bool measure)
{
    l2k_mq_encoder mq = b->mq;
    FOR_EACH_COLUMN(b)
    {
        uint32_t word = *flag;
        unsigned first = 0;
        bool known = false; /* the sample `first` is known to become significant */
        if (word == 0 && live == COLUMN_ALL) {
            /* Run-length mode (D.3.4): the position of the first significant sample, if any. */
            while (first < 4 && !(sample[first] >> plane & 1))
                first++;
            l2k_mq_encode(&mq, &b->contexts[L2K_CONTEXT_RUN], first < 4);
            if (first == 4)
                continue;
            l2k_mq_encode(&mq, &b->contexts[L2K_CONTEXT_UNIFORM], first >> 1);
            l2k_mq_encode(&mq, &b->contexts[L2K_CONTEXT_UNIFORM], first & 1);
            known = true;
        }
        uint32_t candidates = column_cleanup_candidates(word) & live;
        FOR_EACH_CANDIDATE(candidates)
        {
            if (k < first)
                continue;
            uint32_t bit = 1;
            if (!known) {
                bit = sample[k] >> plane & 1;
                l2k_mq_encode(&mq, &b->contexts[b->zero_context[word >> 3 * k & FLAG_NEIGHBOURS]], bit);
            }
            known = false;
            if (bit)
                word = become_significant(b, &mq, flag, word, sample[k], k, plane, false, measure);
        }
        *flag = word & ~FLAG_VISITED_ALL;
    }
    b->mq = mq;
}

/* One function for each combination of what a pass knows in advance, so that the inner loops need not test it. */
#define DEFINE_PASS(name, ...)                                                                                         \
    static void name(block_coder *b, unsigned plane)                                                                   \
    {                                                                                                                  \
        __VA_ARGS__;                                                                                                   \
    }

DEFINE_PASS(significance_mq, significance_pass(b, plane, false, false))
DEFINE_PASS(significance_mq_measured, significance_pass(b, plane, false, true))
DEFINE_PASS(significance_raw, significance_pass(b, plane, true, false))
DEFINE_PASS(significance_raw_measured, significance_pass(b, plane, true, true))
DEFINE_PASS(refinement_mq, refinement_pass(b, plane, false, false))
DEFINE_PASS(refinement_mq_measured, refinement_pass(b, plane, false, true))
DEFINE_PASS(refinement_raw, refinement_pass(b, plane, true, false))
DEFINE_PASS(refinement_raw_measured, refinement_pass(b, plane, true, true))
DEFINE_PASS(cleanup, cleanup_pass(b, plane, false))
DEFINE_PASS(cleanup_measured, cleanup_pass(b, plane, true))

/* By type, raw, measured. Cleanup passes are never raw. */
static void (*const passes[PASS_TYPES][2][2])(block_coder *b, unsigned plane) = {
    [PASS_SIGNIFICANCE] = {{significance_mq, significance_mq_measured}, {significance_raw, significance_raw_measured}},
    [PASS_REFINEMENT] = {{refinement_mq, refinement_mq_measured}, {refinement_raw, refinement_raw_measured}},
    [PASS_CLEANUP] = {{cleanup, cleanup_measured}, {cleanup, cleanup_measured}},
};

/* Coefficients to sign and magnitude in stripe columns; returns the OR of all magnitudes. */
#define DEFINE_LOAD(name, type)                                                                                        \
    static uint32_t name(const l2k_t1_block *block, uint32_t *samples)                                                 \
    {                                                                                                                  \
        uint32_t all = 0;                                                                                              \
        for (uint32_t y = 0; y < block->height; y++) {                                                                 \
            const type *row = (const type *)block->coefficients + y * block->stride;                                   \
            uint32_t *to = samples + (size_t)(y & ~3u) * block->width + (y & 3);                                       \
            for (uint32_t x = 0; x < block->width; x++) {                                                              \
                int32_t v = row[x];                                                                                    \
                uint32_t magnitude = v < 0 ? 0u - (uint32_t)v : (uint32_t)v;                                           \
                all |= magnitude;                                                                                      \
                to[4 * (size_t)x] = magnitude | ((uint32_t)v & 0x80000000u);                                           \
            }                                                                                                          \
        }                                                                                                              \
        return all;                                                                                                    \
    }

DEFINE_LOAD(load_int16, int16_t)
DEFINE_LOAD(load_int32, int32_t)

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

/* Codes one pass into the current segment or, if `fresh`, into a new one. */
static l2k_status code_pass(block_coder *b, const l2k_t1_block *block, coding_pass at, bool fresh, bool measure,
                            l2k_pass *pass)
{
    bool raw = l2k_pass_is_raw(block->style, at.number);
    L2K_TRY(reserve_pass(b));
    if (fresh)
        start_segment(b, raw);
    b->gain = 0;
    passes[at.type][raw][measure](b, at.plane);
    if (at.type == PASS_CLEANUP && (block->style & L2K_STYLE_SEGSYM))
        for (unsigned i = 0; i < 4; i++) /* 1010 (D.5) */
            l2k_mq_encode(&b->mq, &b->contexts[L2K_CONTEXT_UNIFORM], ~i & 1);
    b->distortion += b->gain / 4;
    pass->distortion = b->distortion;
    pass->terminated = is_last_pass(at) || l2k_pass_terminates(block->style, at.number);
    end_pass(b, block, raw, pass, &b->marks[at.number]);
    if (block->style & L2K_STYLE_RESET)
        l2k_mq_reset_contexts(b->contexts);
    return L2K_OK;
}

static l2k_status code_passes(block_coder *b, const l2k_t1_block *block, bool measure, l2k_t1_code *code)
{
    bool fresh = false; /* the caller starts the first segment */
    for (coding_pass at = first_pass(code->num_planes);; at = next_pass(at)) {
        l2k_pass *pass = &code->passes[code->num_passes++];
        L2K_TRY(code_pass(b, block, at, fresh, measure, pass));
        fresh = pass->terminated;
        if (is_last_pass(at))
            return L2K_OK;
    }
}

l2k_status l2k_t1_encode(l2k_t1 *t1, const l2k_t1_block *block, bool want_distortion, l2k_t1_code *code)
{
    size_t stripes = (block->height + 3) / 4;
    L2K_TRY(l2k_t1_reserve(t1, BYTES_AT_FIRST));
    if (block->height & 3)
        memset(t1->samples + (stripes - 1) * 4 * block->width, 0, 4 * block->width * sizeof *t1->samples);
    uint32_t all = (block->type == L2K_COEFFICIENT_INT16 ? load_int16 : load_int32)(block, t1->samples);
    code->num_planes = all ? l2k_log2(all) + 1 : 0;
    code->num_passes = 0;
    if (code->num_planes == 0)
        return L2K_OK;
    if (code->num_planes > L2K_MAX_BIT_PLANES)
        return l2k_fail(t1->context, L2K_ERROR_ARGUMENT, "a sample lies outside its component's precision");
    clear_flags(t1, block);
    memset(t1->bytes, 0, BYTES_BEFORE);

    block_coder b = {.t1 = t1,
                     .width = block->width,
                     .height = block->height,
                     .zero_context = t1->zero_context[block->orientation],
                     .causal = block->style & L2K_STYLE_VSC,
                     .reversible = block->reversible};
    l2k_mq_reset_contexts(b.contexts);
    l2k_mq_encode_start(&b.mq, t1->bytes + BYTES_BEFORE - 1);
    L2K_TRY(code_passes(&b, block, want_distortion, code));
    code->bytes = t1->bytes + BYTES_BEFORE;
    settle_lengths(&b, code);
    return L2K_OK;
}
