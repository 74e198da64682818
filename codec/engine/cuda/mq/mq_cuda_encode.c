/* The host's side of encoding MQ code-blocks on a device: the list of blocks, the layout of memory, and results. The
 * bit-planes of the subbands set the memory for lists of decisions and codes, so that images of one shape take the
 * same; if blocks have more, all is done again with more room. */
#include "codec/engine/cuda/mq/mq_cuda_coding.h"

#include "base/integer.h"
#include "transform/cuda/cuda_device.h"

/* ---- The list of blocks ---------------------------------------------------------------------------------------- */

enum { STYLES_OF_SEGMENTS = L2K_STYLE_BYPASS | L2K_STYLE_RESET | L2K_STYLE_TERMALL };

/* The code of a block rarely exceeds ten bits for eight samples of a bit-plane, and the ends of segments. In units of 4
 * bytes. */
static inline uint32_t usual_code(const l2k_cuda_view *view, uint32_t planes)
{
    return (view->width * view->height * (planes + 1) * 5 / 32 + l2k_mq_cuda_lead(planes)) / 4 + 1;
}

/* What all blocks of a subband share. */
static l2k_mq_cuda_encode_block describe_block(const l2k_cuda_band *in)
{
    return (l2k_mq_cuda_encode_block){.orientation = in->band->orientation,
                                      .style = in->band->component->coding->style,
                                      .reversible = in->reversible,
                                      .wide = in->bytes > sizeof(int16_t)};
}

static l2k_status list_blocks(l2k_mq_cuda *e)
{
    const l2k_context *context = e->blocks.context;
    const l2k_block_batch *batch = &e->blocks.batch;
    l2k_mq_cuda_encode *run = &e->run;
    l2k_mq_cuda_encode_block block = {0};
    l2k_cuda_band in = {0};
    uint64_t lists = 0, passes = 0, code = 0;
    for (size_t i = 0; i < batch->num_places; i++) {
        const l2k_block_place *place = &batch->places[i];
        const uint32_t planes = l2k_min_u32(place->band->max_planes, L2K_MAX_BIT_PLANES);
        l2k_cuda_fetch_ahead(batch, i);
        if (place->band != in.band) {
            L2K_TRY(l2k_cuda_look_at_band(context, place->band, false, &in));
            block = describe_block(&in);
            run->wide |= block.wide;
            run->styled |= (block.style & STYLES_OF_SEGMENTS) != 0;
        }
        block.view = l2k_cuda_view_of(&in, place->block->rect);
        e->host.blocks[i] = block;
        const uint32_t width = block.view.width, height = block.view.height;
        run->words = l2k_max_u32(run->words, l2k_mq_cuda_words(width, height));
        run->cells = l2k_max_u32(run->cells, l2k_mq_cuda_cells(width, height));
        run->area = l2k_max_u32(run->area, width * height);
        lists += l2k_mq_cuda_list_units(width, height, planes);
        passes += l2k_mq_cuda_passes(planes);
        code += usual_code(&block.view, planes);
    }
    if (lists > UINT32_MAX / 8 || passes > UINT32_MAX / 8 || code > UINT32_MAX / 8)
        return l2k_fail(context, L2K_ERROR_UNSUPPORTED, "CUDA: too many code-blocks at once");
    run->list_capacity = (uint32_t)lists;
    run->pass_capacity = (uint32_t)passes;
    run->code_capacity = (uint32_t)code;
    return L2K_OK;
}

/* ---- Memory ---------------------------------------------------------------------------------------------------- */

/* What crosses the bus: blocks go up with the counters behind them, which come back with the results. */
static size_t place_results(const l2k_cuda_memory *memory, size_t count, l2k_mq_cuda_encode *run)
{
    size_t used = 0;
    run->blocks = l2k_cuda_part(memory, &used, count * sizeof *run->blocks);
    run->counters = l2k_cuda_part(memory, &used, sizeof *run->counters);
    run->coded = l2k_cuda_part(memory, &used, count * sizeof *run->coded);
    return used;
}

/* With what only the device has. */
static size_t place_all(l2k_mq_cuda *e)
{
    const l2k_cuda_memory *device = &e->blocks.device;
    l2k_mq_cuda_encode *run = &e->run;
    const size_t count = run->num_blocks, passes = run->pass_capacity;
    const bool distortions = e->blocks.batch.distortions;
    size_t used = place_results(device, count, run);
    run->work = l2k_cuda_part(device, &used, count * sizeof *run->work);
    run->order = l2k_cuda_part(device, &used, count * sizeof *run->order);
    run->pass_ends = l2k_cuda_part(device, &used, passes * sizeof *run->pass_ends);
    run->marks = l2k_cuda_part(device, &used, passes * sizeof *run->marks);
    run->gains = distortions ? l2k_cuda_part(device, &used, passes * sizeof *run->gains) : NULL;
    run->distortions = distortions ? l2k_cuda_part(device, &used, passes * sizeof *run->distortions) : NULL;
    run->lists = l2k_cuda_part(device, &used, (size_t)run->list_capacity * 16);
    run->code = l2k_cuda_part(device, &used, (size_t)run->code_capacity * 4);
    return used;
}

static l2k_status prepare(l2k_mq_cuda *e)
{
    l2k_cuda_blocks *b = &e->blocks;
    const size_t count = b->batch.num_places;
    if (l2k_cuda_is_listed(b))
        return L2K_OK;
    b->listed.same = 0;
    if (count > UINT32_MAX / 2)
        return l2k_fail(b->context, L2K_ERROR_UNSUPPORTED, "CUDA: %zu code-blocks at once", count);
    L2K_TRY(l2k_cuda_pin(b->context, &b->pinned, place_results(&b->pinned, count, &e->host)));
    place_results(&b->pinned, count, &e->host);
    e->run =
        (l2k_mq_cuda_encode){.num_blocks = (uint32_t)count, .tables = &((l2k_mq_tables_on_cuda *)b->tables.at)->encode};
    return list_blocks(e);
}

/* ---- The work -------------------------------------------------------------------------------------------------- */

static l2k_status launch(const l2k_cuda_blocks *b, const l2k_mq_cuda_encode *run)
{
    int error = l2k_mq_cuda_launch_lists(run, b->running);
    if (!error)
        error = l2k_mq_cuda_launch_order(run, b->running);
    if (!error)
        error = l2k_mq_cuda_launch_code(run, b->running);
    if (!error)
        error = l2k_mq_cuda_launch_ends(run, b->running);
    return l2k_cuda_check(b->context, error, "launching the MQ block coder");
}

static l2k_status enqueue(l2k_mq_cuda *e)
{
    l2k_cuda_blocks *b = &e->blocks;
    L2K_TRY(l2k_cuda_reserve_to_encode(b, place_all(e)));
    place_all(e);
    const void *from = l2k_cuda_is_listed(b) ? (void *)e->host.counters : e->host.blocks;
    const size_t at = l2k_cuda_span(e->host.blocks, from),
                 results = l2k_cuda_span(e->host.counters, e->host.coded + e->run.num_blocks);
    *e->host.counters = (l2k_mq_cuda_counters){.failed = UINT32_MAX};
    L2K_TRY(
        l2k_cuda_upload(b->context, b->running, b->device.at + at, from, l2k_cuda_span(from, e->host.counters + 1)));
    L2K_TRY(launch(b, &e->run));
    b->listed = l2k_cuda_key_of(b);
    return l2k_cuda_download(b->context, b->running, e->host.counters, e->run.counters,
                             b->more.stays ? sizeof *e->host.counters : results);
}

l2k_status l2k_mq_cuda_start_encoding(l2k_mq_cuda *e)
{
    L2K_TRY(prepare(e));
    return enqueue(e);
}

void l2k_mq_cuda_coded(const l2k_mq_cuda *e, l2k_cuda_coded *coded)
{
    *coded = (l2k_cuda_coded){.blocks = e->run.coded,
                              .pass_ends = e->run.pass_ends,
                              .distortions = e->run.distortions,
                              .num_passes = e->run.pass_capacity,
                              .code = e->run.code,
                              .capacity = e->run.code_capacity,
                              .complete = e->complete};
}

static l2k_status fetch(l2k_mq_cuda *e)
{
    l2k_cuda_coded coded;
    l2k_mq_cuda_coded(e, &coded);
    return l2k_cuda_fetch_code(&e->blocks, &coded, e->host.coded, e->host.counters->passes, e->host.counters->code);
}

static bool has_room(const l2k_mq_cuda_encode *run, const l2k_mq_cuda_counters *counters)
{
    return counters->list <= run->list_capacity && counters->passes <= run->pass_capacity &&
           counters->code <= run->code_capacity;
}

/* Sizes what did not fit by the counters. */
static void make_room(l2k_mq_cuda_encode *run, const l2k_mq_cuda_counters *counters)
{
    run->list_capacity = l2k_max_u32(run->list_capacity, counters->list);
    run->pass_capacity = l2k_max_u32(run->pass_capacity, counters->passes);
    run->code_capacity = l2k_max_u32(run->code_capacity, counters->code);
}

l2k_status l2k_mq_cuda_finish_encoding(l2k_mq_cuda *e)
{
    const l2k_cuda_blocks *b = &e->blocks;
    const l2k_mq_cuda_counters *counters = e->host.counters;
    for (;;) {
        L2K_TRY(l2k_cuda_wait(b->context, b->running));
        if (counters->failed != UINT32_MAX)
            return l2k_fail(b->context, L2K_ERROR_ARGUMENT, "a sample lies outside its component's precision");
        e->complete = has_room(&e->run, counters);
        if (b->more.stays)
            return L2K_OK;
        if (e->complete)
            return fetch(e);
        make_room(&e->run, counters);
        L2K_TRY(enqueue(e));
    }
}

l2k_status l2k_mq_cuda_bring(l2k_mq_cuda *e)
{
    const l2k_cuda_blocks *b = &e->blocks;
    L2K_TRY(l2k_cuda_download(b->context, b->running, e->host.coded, e->run.coded,
                              e->run.num_blocks * sizeof *e->host.coded));
    L2K_TRY(l2k_cuda_wait(b->context, b->running));
    return fetch(e);
}
