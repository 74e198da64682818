/* The HT block coder (Part 15, T.814) on a device, as a table for codec/blocks/block_coder.h: which segments of a block
 * go there, where everything lies, and what becomes of what comes back. */
#include <string.h>

#include "base/failure.h"
#include "base/integer.h"
#include "codec/blocks/cuda/cuda_blocks.h"
#include "codec/blocks/cuda/ht_cuda.h"
#include "codec/blocks/ht/ht_block.h"
#include "codec/blocks/ht/ht_encode.h"
#include "codec/blocks/mq/mq_coder.h"
#include "transform/cuda/cuda_device.h"

/* A block of the batch on the host. */
typedef struct listed_block {
    l2k_ht_cuda_decode_block block; /* encoding: its view and `wide` */
    l2k_ht_received_set set;
    unsigned form;
} listed_block;

/* Blocks of one form stand together. */
typedef struct form_range {
    uint32_t first, count;
    bool refined;
} form_range;

typedef struct ht_coder {
    l2k_cuda_blocks blocks;
    l2k_cuda_memory tables; /* l2k_ht_cuda_tables */
    listed_block *list;
    size_t list_capacity;
    form_range forms[L2K_HT_FORMS];
    size_t results,
        code; /* encoding: where they are in device memory; decoding: `code` is where the scratch memory is */
    uint32_t code_capacity; /* in units of 4 bytes */
    bool encoding;
} ht_coder;

/* Pinned and device memory of a batch begin alike: the counters, the blocks by form, decoding then their bytes. Each
 * part begins at a multiple of ALIGNMENT, and kernels may read this far beyond the bytes on both sides. */
enum { ALIGNMENT = 64 };

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t blocks_at(void)
{
    return aligned(sizeof(l2k_ht_cuda_counters));
}

/* ---- Lists --------------------------------------------------------------------------------------------------- */

/* From this many blocks on, threads share the work on the host. */
enum { BLOCKS_FOR_THREADS = 256 };

static unsigned threads_for(const ht_coder *c)
{
    return c->blocks.batch.num_places >= BLOCKS_FOR_THREADS ? c->blocks.context->threads : 1;
}

static l2k_status reserve_list(ht_coder *c, size_t count)
{
    const l2k_context *context = c->blocks.context;
    if (count > UINT32_MAX / 2)
        return l2k_fail(context, L2K_ERROR_UNSUPPORTED, "CUDA: %zu code-blocks at once", count);
    if (count <= c->list_capacity)
        return L2K_OK;
    l2k_release(context, c->list);
    c->list_capacity = 0;
    c->list = l2k_allocate(context, count, sizeof *c->list);
    if (!c->list)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for %zu code-blocks", count);
    c->list_capacity = count;
    return L2K_OK;
}

typedef l2k_status list_one(const ht_coder *c, const l2k_block_place *place, listed_block *listed);

static l2k_status list_blocks(ht_coder *c, list_one *one)
{
    l2k_first_failure first = L2K_NO_FAILURE;
    const l2k_block_batch *batch = &c->blocks.batch;
    const unsigned threads = threads_for(c);
    L2K_TRY(reserve_list(c, batch->num_places));
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (size_t i = 0; i < batch->num_places; i++)
        l2k_record_status(&first, i, one(c, &batch->places[i], &c->list[i]));
    return l2k_first_status(&first);
}

/* Short rows are read by half warps, which only pays where there are many of them. */
enum { SHORT_ROW = 32, LONG_ROW = 64, LEAST_SHORT_SHARE = 8 };

static unsigned form_of(const l2k_cuda_view *view, bool wide)
{
    return (wide ? L2K_HT_WIDE : 0u) | (view->width > LONG_ROW     ? L2K_HT_LONG
                                        : view->width <= SHORT_ROW ? L2K_HT_SHORT
                                                                   : 0u);
}

static void count_forms(ht_coder *c)
{
    memset(c->forms, 0, sizeof c->forms);
    for (size_t i = 0; i < c->blocks.batch.num_places; i++) {
        form_range *form = &c->forms[c->list[i].form];
        form->count++;
        form->refined |= c->list[i].block.passes > 1 || c->list[i].block.roi_shift;
    }
}

/* Takes a form's blocks into another. */
static void join_forms(ht_coder *c, unsigned from, unsigned to)
{
    for (size_t i = 0; i < c->blocks.batch.num_places; i++)
        if (c->list[i].form == from)
            c->list[i].form = to;
    c->forms[to].count += c->forms[from].count;
    c->forms[to].refined |= c->forms[from].refined;
    c->forms[from] = (form_range){0};
}

static void sort_forms(ht_coder *c)
{
    count_forms(c);
    for (unsigned wide = 0; wide <= L2K_HT_WIDE; wide++) {
        form_range *few = &c->forms[L2K_HT_SHORT | wide], *many = &c->forms[wide];
        if (few->count && (c->encoding || few->count < many->count / LEAST_SHORT_SHARE))
            join_forms(c, L2K_HT_SHORT | wide, wide);
    }
    for (unsigned form = 1; form < L2K_HT_FORMS; form++)
        c->forms[form].first = c->forms[form - 1].first + c->forms[form - 1].count;
}

static l2k_status check_launch(const ht_coder *c, int error)
{
    return l2k_cuda_check(c->blocks.context, error, "launching the HT block coder");
}

static void reset_counters(ht_coder *c)
{
    memcpy(c->blocks.pinned.at, &(l2k_ht_cuda_counters){.failed = UINT32_MAX}, sizeof(l2k_ht_cuda_counters));
}

/* ---- Encoding ------------------------------------------------------------------------------------------------ */

static l2k_status list_to_encode(const ht_coder *c, const l2k_block_place *place, listed_block *listed)
{
    const l2k_t1_block block = l2k_mq_block_in_view(place);
    *listed = (listed_block){.block.planes = (uint8_t)l2k_min_u32(place->band->max_planes, L2K_HT_MAX_BIT_PLANES)};
    L2K_TRY(l2k_cuda_block_of(c->blocks.context, &block, place, &listed->block.view));
    listed->form = form_of(&listed->block.view, block.type == L2K_COEFFICIENT_INT32);
    return L2K_OK;
}

/* Bytes that a block's code can take, one bit-plane beyond its subband's included: for each sample a bit more than its
 * bit-planes, for each quad some 16 of VLC and MEL, and seven bits a byte. */
static uint64_t most_code(const l2k_ht_cuda_decode_block *block)
{
    const uint64_t quads = (block->view.width + 1u) / 2 * ((block->view.height + 1u) / 2);
    return quads * (4 * (block->planes + 2u) + 16) / 7 + 64;
}

static size_t slots_bytes(const ht_coder *c)
{
    size_t most = 0;
    for (unsigned form = 0; form < L2K_HT_SHORT; form++) {
        const uint32_t warps = l2k_ht_cuda_encode_warps(c->forms[form].count, c->blocks.processors);
        const size_t bytes = warps * l2k_ht_cuda_slot_bytes(form & L2K_HT_WIDE);
        most = bytes > most ? bytes : most;
    }
    return aligned(most);
}

/* Where everything is. The slots are the last part but one, since the code's capacity may grow. */
static l2k_status lay_out_encoding(ht_coder *c)
{
    const size_t count = c->blocks.batch.num_places;
    const size_t blocks_end = aligned(blocks_at() + count * sizeof(l2k_ht_cuda_encode_block));
    c->results = blocks_end;
    c->code = aligned(c->results + count * sizeof(l2k_ht_cuda_coded)) + slots_bytes(c);
    L2K_TRY(l2k_cuda_reserve(c->blocks.context, &c->blocks.pinned,
                             blocks_end + aligned(count * sizeof(l2k_ht_cuda_coded))));
    return l2k_cuda_reserve(c->blocks.context, &c->blocks.device, c->code + (size_t)c->code_capacity * 4 + ALIGNMENT);
}

static void place_blocks_to_encode(ht_coder *c)
{
    l2k_ht_cuda_encode_block *to = (l2k_ht_cuda_encode_block *)(c->blocks.pinned.at + blocks_at());
    uint32_t next[L2K_HT_FORMS];
    for (unsigned form = 0; form < L2K_HT_FORMS; form++)
        next[form] = c->forms[form].first;
    for (size_t i = 0; i < c->blocks.batch.num_places; i++)
        to[next[c->list[i].form]++] = (l2k_ht_cuda_encode_block){c->list[i].block.view, (uint32_t)i, 0};
}

static l2k_status launch_encoding(ht_coder *c, unsigned form)
{
    uint8_t *device = c->blocks.device.at;
    const form_range *range = &c->forms[form];
    const l2k_ht_cuda_encode run = {
        .blocks = (l2k_ht_cuda_encode_block *)(device + blocks_at()) + range->first,
        .num_blocks = range->count,
        .form = form,
        .tables = (l2k_ht_cuda_tables *)c->tables.at,
        .coded = (l2k_ht_cuda_coded *)(device + c->results),
        .counters = (l2k_ht_cuda_counters *)device,
        .slots = device + aligned(c->results + c->blocks.batch.num_places * sizeof(l2k_ht_cuda_coded)),
        .code = device + c->code,
        .capacity = c->code_capacity,
        .warps = l2k_ht_cuda_encode_warps(range->count, c->blocks.processors)};
    return range->count ? check_launch(c, l2k_ht_cuda_launch_encode(&run, c->blocks.running)) : L2K_OK;
}

static l2k_status enqueue_encoding(ht_coder *c)
{
    l2k_cuda_blocks *b = &c->blocks;
    L2K_TRY(lay_out_encoding(c));
    reset_counters(c);
    place_blocks_to_encode(c);
    L2K_TRY(l2k_cuda_upload(b->context, b->running, b->device.at, b->pinned.at, c->results));
    for (unsigned form = 0; form < L2K_HT_SHORT; form++)
        L2K_TRY(launch_encoding(c, form));
    L2K_TRY(l2k_cuda_download(b->context, b->running, b->pinned.at, b->device.at, sizeof(l2k_ht_cuda_counters)));
    return l2k_cuda_download(b->context, b->running, b->pinned.at + c->results, b->device.at + c->results,
                             b->batch.num_places * sizeof(l2k_ht_cuda_coded));
}

static l2k_status start_encoding(ht_coder *c)
{
    uint64_t most = 0;
    L2K_TRY(list_blocks(c, list_to_encode));
    sort_forms(c);
    for (size_t i = 0; i < c->blocks.batch.num_places; i++)
        most += (most_code(&c->list[i].block) + 3) / 4;
    if (most > UINT32_MAX / 4)
        return l2k_fail(c->blocks.context, L2K_ERROR_UNSUPPORTED, "CUDA: too many code-blocks at once");
    c->code_capacity = (uint32_t)most;
    return enqueue_encoding(c);
}

/* The bit-planes of a block end with that of its cleanup pass. */
static void keep_block(l2k_block *block, const l2k_ht_cuda_coded *coded, const uint8_t *code, uint32_t *pass_bytes)
{
    const bool some = coded->magnitude_bits > 0;
    block->num_planes = block->num_passes = some;
    block->coded.magnitude_bits = (uint8_t)coded->magnitude_bits;
    if (!some)
        return;
    *pass_bytes = coded->bytes | L2K_PASS_TERMINATED;
    block->coded.bytes = code + (size_t)coded->at * 4;
    block->coded.pass_bytes = pass_bytes;
}

static l2k_status fetch_code(ht_coder *c, uint32_t units)
{
    l2k_cuda_blocks *b = &c->blocks;
    const l2k_ht_cuda_coded *coded = (l2k_ht_cuda_coded *)(b->pinned.at + c->results);
    const unsigned threads = threads_for(c);
    uint8_t *code = NULL;
    uint32_t *pass_bytes = l2k_arena_take(b->context, &b->arena, b->batch.num_places * sizeof *pass_bytes);
    if (!pass_bytes)
        return l2k_fail(b->context, L2K_ERROR_MEMORY, "out of memory for coded blocks");
    if (units) {
        L2K_TRY(l2k_cuda_take_code(b, (size_t)units * 4, &code));
        L2K_TRY(l2k_cuda_download(b->context, b->running, code, b->device.at + c->code, (size_t)units * 4));
    }
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (size_t i = 0; i < b->batch.num_places; i++)
        keep_block(b->batch.places[i].block, &coded[i], code, &pass_bytes[i]);
    return l2k_cuda_blocks_wait(b);
}

/* A subband may have coefficients beyond its bit-planes; then the code is made again with more room. */
static l2k_status finish_encoding(ht_coder *c)
{
    l2k_ht_cuda_counters counters;
    for (;;) {
        L2K_TRY(l2k_cuda_blocks_wait(&c->blocks));
        memcpy(&counters, c->blocks.pinned.at, sizeof counters);
        if (counters.failed != UINT32_MAX)
            return l2k_fail(c->blocks.context, L2K_ERROR_ARGUMENT, "a sample lies outside its component's precision");
        if (counters.code <= c->code_capacity)
            return fetch_code(c, counters.code);
        c->code_capacity = counters.code;
        L2K_TRY(enqueue_encoding(c));
    }
}

/* ---- Decoding ------------------------------------------------------------------------------------------------ */

/* Magnitudes of reversible blocks have 31 bits, others, doubled, 30; those in int16 have 15. */
enum { SAMPLE_BITS = 31, NARROW_BITS = 15 };

/* The last two bytes of a cleanup segment have the length of MEL and VLC together (7.1.1). False if the segment cannot
 * be one. */
static bool measure_segments(const l2k_ht_received_set *set, l2k_ht_cuda_decode_block *block)
{
    const uint8_t *end = set->cleanup->data + set->cleanup->bytes;
    if (set->cleanup->bytes < 2)
        return false;
    block->length = set->cleanup->bytes;
    block->suffix = (uint32_t)end[-1] << 4 | (end[-2] & 15);
    return block->suffix >= 2 && block->suffix <= block->length && block->suffix <= 4079;
}

/* As in codec/blocks/ht/ht_coder.c: the cleanup pass is on bit-plane num_planes - 1 less the sets before. */
static l2k_status list_set(const ht_coder *c, const l2k_block_place *place, const l2k_t1_block *from,
                           listed_block *listed)
{
    const l2k_context *context = c->blocks.context;
    const l2k_ht_received_set *set = &listed->set;
    l2k_ht_cuda_decode_block *block = &listed->block;
    const unsigned lowest = place->block->num_planes - 1u - set->number, scale = from->reversible ? 0 : 1;
    bool valid = set->number < place->block->num_planes;
    if (valid && lowest + scale >= SAMPLE_BITS)
        return l2k_fail(context, L2K_ERROR_UNSUPPORTED, "an HT code-block in bit-plane %u", lowest);
    if (set->refinement_bytes > UINT32_MAX)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "a code-block of more than 2^32 bytes");
    valid = valid && measure_segments(set, block);
    if (!valid) {
        block->length = 0;
        if (c->blocks.batch.damaged)
            atomic_store(c->blocks.batch.damaged, true);
        return L2K_OK;
    }
    block->plane = (uint8_t)(lowest + scale);
    block->planes = (uint8_t)l2k_min_u32(place->band->max_planes - lowest, SAMPLE_BITS - lowest - scale);
    if (from->type == L2K_COEFFICIENT_INT16 && block->plane + block->planes > NARROW_BITS)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "CUDA: int16 coefficients of %d bits",
                        block->plane + block->planes);
    block->passes = (uint8_t)(lowest > 0 ? set->passes : 1);
    block->refinement_bytes = block->passes > 1 ? (uint32_t)set->refinement_bytes : 0;
    block->scale = (uint8_t)scale;
    block->roi_shift = (uint8_t)from->roi_shift;
    block->causal = (from->style & L2K_STYLE_VSC) != 0;
    return L2K_OK;
}

static l2k_status list_to_decode(const ht_coder *c, const l2k_block_place *place, listed_block *listed)
{
    const l2k_t1_block block = l2k_mq_block_in_view(place);
    if (place->block->kind == L2K_BLOCK_MQ)
        return l2k_fail(c->blocks.context, L2K_ERROR_UNSUPPORTED, "CUDA: an MQ code-block among those of HT");
    *listed = (listed_block){.set = l2k_ht_find_set(&place->block->received)};
    L2K_TRY(l2k_cuda_block_of(c->blocks.context, &block, place, &listed->block.view));
    listed->block.wide = block.type == L2K_COEFFICIENT_INT32;
    listed->form = form_of(&listed->block.view, listed->block.wide);
    return listed->set.cleanup ? list_set(c, place, &block, listed) : L2K_OK;
}

/* Gives each block its place in the bytes and in the scratch memory; returns the sizes of both. */
static l2k_status place_segments(ht_coder *c, size_t *bytes, size_t *scratch)
{
    uint64_t at = 0, units = 0;
    for (size_t i = 0; i < c->blocks.batch.num_places; i++) {
        l2k_ht_cuda_decode_block *block = &c->list[i].block;
        block->bytes = (uint32_t)at;
        block->scratch = (uint32_t)units;
        at += (uint64_t)block->length + block->refinement_bytes;
        units += l2k_ht_cuda_lay_out(block).end;
        if (at > UINT32_MAX || units > UINT32_MAX)
            return l2k_fail(c->blocks.context, L2K_ERROR_UNSUPPORTED, "CUDA: too many code-blocks at once");
    }
    *bytes = (size_t)at;
    *scratch = (size_t)units * 16;
    return L2K_OK;
}

static void copy_segments(const listed_block *listed, uint8_t *bytes)
{
    uint8_t *to = bytes + listed->block.bytes;
    if (listed->block.length == 0)
        return;
    memcpy(to, listed->set.cleanup->data, listed->block.length);
    to += listed->block.length;
    for (const l2k_contribution *k = listed->set.cleanup; listed->block.refinement_bytes && k != listed->set.last;) {
        k = k->next;
        if (k->bytes)
            memcpy(to, k->data, k->bytes);
        to += k->bytes;
    }
}

/* Into pinned memory. A block's place in the list of its form comes first, so that threads can share the rest. */
static void copy_blocks(ht_coder *c, size_t bytes_at)
{
    l2k_ht_cuda_decode_block *to = (l2k_ht_cuda_decode_block *)(c->blocks.pinned.at + blocks_at());
    const unsigned threads = threads_for(c);
    uint32_t next[L2K_HT_FORMS];
    for (unsigned form = 0; form < L2K_HT_FORMS; form++)
        next[form] = c->forms[form].first;
    for (size_t i = 0; i < c->blocks.batch.num_places; i++)
        to[next[c->list[i].form]++] = c->list[i].block;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (size_t i = 0; i < c->blocks.batch.num_places; i++)
        copy_segments(&c->list[i], c->blocks.pinned.at + bytes_at);
}

static l2k_ht_cuda_decode decoding_of(const ht_coder *c, unsigned form, size_t bytes_at)
{
    uint8_t *device = c->blocks.device.at;
    return (l2k_ht_cuda_decode){.blocks = (l2k_ht_cuda_decode_block *)(device + blocks_at()) + c->forms[form].first,
                                .num_blocks = c->forms[form].count,
                                .form = form,
                                .tables = (l2k_ht_cuda_tables *)c->tables.at,
                                .counters = (l2k_ht_cuda_counters *)device,
                                .bytes = device + bytes_at,
                                .scratch = device + c->code};
}

static l2k_status launch_decoding(const ht_coder *c, size_t bytes_at)
{
    void *stream = c->blocks.running;
    l2k_ht_cuda_decode all = decoding_of(c, 0, bytes_at);
    all.num_blocks = (uint32_t)c->blocks.batch.num_places;
    L2K_TRY(check_launch(c, l2k_ht_cuda_launch_unstuff(&all, stream)));
    for (unsigned form = 0; form < L2K_HT_FORMS; form++) {
        const l2k_ht_cuda_decode run = decoding_of(c, form, bytes_at);
        if (run.num_blocks == 0)
            continue;
        L2K_TRY(check_launch(c, l2k_ht_cuda_launch_quads(&run, stream)));
        L2K_TRY(check_launch(c, l2k_ht_cuda_launch_samples(&run, stream)));
        if (c->forms[form].refined)
            L2K_TRY(check_launch(c, l2k_ht_cuda_launch_refine(&run, stream)));
    }
    return L2K_OK;
}

static l2k_status start_decoding(ht_coder *c)
{
    l2k_cuda_blocks *b = &c->blocks;
    size_t bytes = 0, scratch = 0;
    L2K_TRY(list_blocks(c, list_to_decode));
    sort_forms(c);
    L2K_TRY(place_segments(c, &bytes, &scratch));
    const size_t bytes_at = aligned(blocks_at() + b->batch.num_places * sizeof(l2k_ht_cuda_decode_block)) + ALIGNMENT;
    c->code = aligned(bytes_at + bytes + ALIGNMENT);
    /* a quarter more, for another image of that size whose code is longer */
    if (c->code > b->pinned.bytes)
        L2K_TRY(l2k_cuda_reserve(b->context, &b->pinned, c->code + bytes / 4));
    if (c->code + scratch > b->device.bytes)
        L2K_TRY(l2k_cuda_reserve(b->context, &b->device, c->code + bytes / 4 + scratch + scratch / 4));
    reset_counters(c);
    copy_blocks(c, bytes_at);
    L2K_TRY(l2k_cuda_upload(b->context, b->running, b->device.at, b->pinned.at, bytes_at + bytes));
    L2K_TRY(launch_decoding(c, bytes_at));
    return l2k_cuda_download(b->context, b->running, b->pinned.at, b->device.at, sizeof(l2k_ht_cuda_counters));
}

static l2k_status finish_decoding(ht_coder *c)
{
    l2k_ht_cuda_counters counters;
    L2K_TRY(l2k_cuda_blocks_wait(&c->blocks));
    memcpy(&counters, c->blocks.pinned.at, sizeof counters);
    if (counters.damaged && c->blocks.batch.damaged)
        atomic_store(c->blocks.batch.damaged, true);
    return L2K_OK;
}

/* ---- The table ----------------------------------------------------------------------------------------------- */

static l2k_status begin(l2k_block_coder *coder, const l2k_block_batch *batch, bool encoding)
{
    ht_coder *c = coder->state;
    L2K_TRY(l2k_cuda_blocks_enter(&c->blocks, batch));
    c->encoding = encoding;
    if (batch->num_places == 0)
        return L2K_OK;
    const l2k_status status = encoding ? start_encoding(c) : start_decoding(c);
    if (status != L2K_OK)
        l2k_cuda_blocks_abandon(&c->blocks);
    return status;
}

static l2k_status begin_encode(l2k_block_coder *coder, const l2k_block_batch *batch)
{
    return begin(coder, batch, true);
}

static l2k_status begin_decode(l2k_block_coder *coder, const l2k_block_batch *batch)
{
    return begin(coder, batch, false);
}

static l2k_status finish(l2k_block_coder *coder)
{
    ht_coder *c = coder->state;
    l2k_status status = L2K_OK;
    if (c->blocks.batch.num_places)
        status = c->encoding ? finish_encoding(c) : finish_decoding(c);
    if (status == L2K_OK)
        l2k_cuda_blocks_leave(&c->blocks);
    else
        l2k_cuda_blocks_abandon(&c->blocks);
    return status;
}

static l2k_status upload_tables(ht_coder *c)
{
    l2k_cuda_blocks *b = &c->blocks;
    const size_t bytes = sizeof(l2k_ht_cuda_tables);
    L2K_TRY(l2k_cuda_reserve(b->context, &c->tables, bytes));
    L2K_TRY(l2k_cuda_reserve(b->context, &b->pinned, bytes));
    l2k_ht_cuda_make_tables((l2k_ht_cuda_tables *)b->pinned.at);
    L2K_TRY(l2k_cuda_upload(b->context, b->stream, c->tables.at, b->pinned.at, bytes));
    return l2k_cuda_wait(b->context, b->stream);
}

static l2k_status create(l2k_block_coder *coder)
{
    ht_coder *c = coder->state = l2k_allocate_zeroed(coder->context, 1, sizeof *c);
    if (!c)
        return l2k_fail(coder->context, L2K_ERROR_MEMORY, "out of memory for the block coder");
    L2K_TRY(l2k_cuda_blocks_create(coder->context, &c->blocks));
    return upload_tables(c);
}

static void free_coder(l2k_block_coder *coder)
{
    ht_coder *c = coder->state;
    if (!c)
        return;
    l2k_cuda_blocks_free(&c->blocks);
    l2k_cuda_release(&c->tables);
    l2k_release(coder->context, c->list);
    l2k_release(coder->context, c);
}

static void forget(l2k_block_coder *coder)
{
    l2k_cuda_blocks_forget(&((ht_coder *)coder->state)->blocks);
}

const l2k_block_coder_table l2k_ht_on_cuda = {
    .name = "HT on CUDA",
    .max_planes = L2K_HT_MAX_BIT_PLANES,
    .bytes_per_thread = sizeof(ht_coder),
    .create = create,
    .free = free_coder,
    .begin_encode = begin_encode,
    .begin_decode = begin_decode,
    .finish = finish,
    .forget = forget,
    .ends_segment = l2k_pass_terminates,
};
