/* The block encoder of Annex D: bit-planes of a code-block into MQ or raw codeword segments, with pass lengths and
 * distortions. */
#include "codec/blocks/mq/t1_lists.h"

#include <string.h>

#include "base/integer.h"
#include "base/memory.h"

/* A pass codes at most two decisions per sample and three per stripe column; a decision shifts out at most 15 bits, and
 * stuffing adds one bit in eight. */
#define PASS_BYTES_MOST 32768u

/* Bytes before the first code byte, since the coder reads up to two of them. */
#define BYTES_BEFORE 8u

/* Nearly every block's code fits. */
#define BYTES_AT_FIRST ((size_t)48 << 10)

/* The block that is being encoded. */
typedef struct block_coder {
    const l2k_context *context;
    const l2k_t1_rows *rows;
    l2k_t1_encoder *encoder;
    l2k_t1_planes *planes;
    const l2k_t1_block *block;
    l2k_t1_code *code;
    bool measure;
    coding_pass at;
    unsigned num_passes; /* to code */
    l2k_mq_feed feed;    /* with the decisions of the pass */
    l2k_gains gains;     /* of all passes so far */
    l2k_pass_mark marks[L2K_MAX_PASSES];
} block_coder;

/* Squared error that the current pass removes. */
static int64_t gain_of_pass(const block_coder *b)
{
    const bool reversible = b->block->reversible;
    const l2k_t1_planes *p = b->planes;
    if (b->at.type == PASS_REFINEMENT)
        return l2k_gain_of_refinement(p->refined_to[0], p->refined_to[1], b->at.plane, reversible);
    return l2k_gain_of_significance(p->became[b->at.type], b->at.plane, reversible);
}

/* ---- Lengths ------------------------------------------------------------------------------------------------- */

static const uint8_t *code_start(const block_coder *b)
{
    return b->encoder->bytes + BYTES_BEFORE;
}

/* Ends the pass in the code, and its segment if the pass does. */
static void end_code(block_coder *b, bool raw, l2k_pass *pass, l2k_pass_mark *mark)
{
    bool predictable = b->block->style & L2K_STYLE_PTERM;
    l2k_mq_encoder *mq = &b->feed.mq;
    unsigned extra = 0;
    mark->open = !pass->terminated && !raw;
    if (mark->open)
        *mark = (l2k_pass_mark){mq->c, mq->a, (int32_t)(mq->out - code_start(b)), *mq->out, (uint8_t)mq->ct, true};
    else if (!pass->terminated)
        extra = l2k_raw_pending_bytes(mq, predictable);
    else if (raw)
        l2k_raw_flush(mq, predictable);
    else if (predictable)
        l2k_mq_flush_predictable(mq);
    else
        l2k_mq_flush(mq);
    pass->bytes = (uint32_t)(mq->out - code_start(b) + extra);
}

/* Settles the lengths of open passes once all bytes are known. They must neither decrease nor exceed the end of their
 * segment, and a final 0xFF is implied. */
static void settle_lengths(const block_coder *b)
{
    l2k_t1_code *code = b->code;
    const uint8_t *start = code_start(b);
    uint32_t bound = code->passes[code->num_passes - 1].bytes;
    for (unsigned i = code->num_passes; i-- > 0;) {
        uint32_t bytes = code->passes[i].bytes;
        if (b->marks[i].open)
            bytes = l2k_shortest_cut(&b->marks[i], start, bound);
        bound = code->passes[i].bytes = l2k_min_u32(bytes, bound);
    }
    for (unsigned i = 0; i < code->num_passes; i++) {
        uint32_t *bytes = &code->passes[i].bytes;
        if (*bytes > 0 && start[*bytes - 1] == 0xFF)
            --*bytes;
    }
}

/* ---- Passes -------------------------------------------------------------------------------------------------- */

/* Makes room for the next pass, which may move the code. */
static l2k_status reserve_pass(block_coder *b)
{
    l2k_t1_encoder *e = b->encoder;
    const size_t used = (size_t)(b->feed.mq.out - e->bytes), bytes = used + PASS_BYTES_MOST;
    if (bytes <= e->bytes_capacity)
        return L2K_OK;
    uint8_t *grown = l2k_enlarge(b->context, e->bytes, used + 1, bytes + bytes / 2, 1);
    L2K_TRY(l2k_check_memory(b->context, grown, "%zu bytes of a code-block", bytes));
    e->bytes = grown;
    e->bytes_capacity = bytes + bytes / 2;
    b->feed.mq.out = grown + used;
    return L2K_OK;
}

/* Lists the decisions of a bit-plane at its first pass. Codes a raw list, or gives an MQ one to the feed. */
static l2k_status begin_pass(block_coder *b)
{
    const bool raw = l2k_pass_is_raw(b->block->style, b->at.number);
    l2k_t1_list *list = &b->planes->lists[b->at.type];
    l2k_mq_feed *feed = &b->feed;
    if (b->at.type == PASS_SIGNIFICANCE || b->at.number == 0) {
        b->planes->raw = raw;
        b->rows->list(b->planes, b->at.plane);
        if (b->measure)
            b->rows->measure(b->planes, b->at.plane);
    }
    for (unsigned i = 0; i < 4 && b->at.type == PASS_CLEANUP && (b->block->style & L2K_STYLE_SEGSYM); i++)
        list->entries[list->count++] = (uint8_t)(L2K_CONTEXT_UNIFORM << 1 | (~i & 1)); /* 1010 (D.5) */
    L2K_TRY(reserve_pass(b));
    const bool fresh = b->at.number > 0 && b->code->passes[b->at.number - 1].terminated; /* start_block began one */
    if (fresh && raw)
        l2k_raw_encode_start(&feed->mq);
    else if (fresh)
        l2k_mq_encode_start(&feed->mq, feed->mq.out - 1);
    feed->end = list->entries + list->count;
    feed->next = raw ? feed->end : list->entries;
    for (size_t i = 0; i < list->count && raw; i++)
        l2k_raw_encode(&feed->mq, list->entries[i] & 1);
    return L2K_OK;
}

static void end_pass(block_coder *b)
{
    const unsigned style = b->block->style, number = b->at.number;
    l2k_pass *pass = &b->code->passes[b->code->num_passes++];
    if (b->measure)
        l2k_gains_add_of_plane(&b->gains, gain_of_pass(b), b->at.plane);
    pass->distortion = l2k_gains_value(b->gains);
    pass->terminated = number + 1 == b->num_passes || l2k_pass_terminates(style, number);
    end_code(b, l2k_pass_is_raw(style, number), pass, &b->marks[number]);
    if (style & L2K_STYLE_RESET)
        l2k_mq_encoder_reset(b->feed.contexts);
}

/* ---- Blocks -------------------------------------------------------------------------------------------------- */

/* Called for a thread's first block. */
static l2k_status take_encoder(l2k_t1 *t1)
{
    if (!t1->encoder)
        t1->encoder = l2k_allocate_zeroed(t1->context, 1, sizeof *t1->encoder);
    l2k_t1_encoder *e = t1->encoder;
    if (e && !e->bytes) {
        l2k_t1_list_orders(&e->planes);
        e->bytes = l2k_allocate(t1->context, BYTES_AT_FIRST, 1);
        e->bytes_capacity = BYTES_AT_FIRST;
    }
    return l2k_check_memory(t1->context, e && e->bytes, "the block coder");
}

static l2k_status reserve_planes(const block_coder *b, unsigned num_planes)
{
    l2k_t1_planes *p = b->planes;
    const size_t cells = num_planes * p->spacing;
    if (cells <= p->planes_capacity)
        return L2K_OK;
    l2k_release(b->context, p->planes);
    p->planes_capacity = 0;
    p->planes = l2k_allocate(b->context, cells, sizeof *p->planes);
    L2K_TRY(l2k_check_memory(b->context, p->planes, "the block coder"));
    p->planes_capacity = cells;
    return L2K_OK;
}

unsigned l2k_t1_magnitude_bits(const l2k_context *context, const l2k_t1_block *block)
{
    return l2k_bit_length(l2k_t1_rows_get(context->cpu)->magnitudes(block));
}

static l2k_status start_block(block_coder *b)
{
    if (b->code->num_planes > L2K_MAX_BIT_PLANES)
        return l2k_fail(b->context, L2K_ERROR_ARGUMENT, "a sample lies outside its component's precision");
    l2k_t1_lay_out(b->block, b->planes);
    L2K_TRY(reserve_planes(b, b->code->num_planes));
    b->rows->load(b->block, b->code->num_planes, b->planes);
    memset(b->encoder->bytes, 0, BYTES_BEFORE);
    l2k_mq_encoder_reset(b->feed.contexts);
    l2k_mq_encode_start(&b->feed.mq, b->encoder->bytes + BYTES_BEFORE - 1);
    return L2K_OK;
}

l2k_status l2k_t1_encode(l2k_t1 *t1, const l2k_t1_block *block, bool want_distortion, l2k_t1_code *code)
{
    code->num_planes = l2k_t1_magnitude_bits(t1->context, block);
    code->num_passes = 0;
    if (3 * code->num_planes < 3 + block->dropped) {
        code->num_planes = 0;
        return L2K_OK;
    }
    L2K_TRY(take_encoder(t1));
    block_coder b = {.context = t1->context,
                     .rows = l2k_t1_rows_get(t1->context->cpu),
                     .encoder = t1->encoder,
                     .planes = &t1->encoder->planes,
                     .block = block,
                     .code = code,
                     .measure = want_distortion,
                     .at = first_pass(code->num_planes),
                     .num_passes = 3 * code->num_planes - 2 - block->dropped};
    L2K_TRY(start_block(&b));
    for (;; b.at = next_pass(b.at)) {
        L2K_TRY(begin_pass(&b));
        b.rows->code(&b.feed);
        end_pass(&b);
        if (code->num_passes == b.num_passes)
            break;
    }
    code->bytes = code_start(&b);
    settle_lengths(&b);
    return L2K_OK;
}
