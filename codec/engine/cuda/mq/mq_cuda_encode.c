/* The host's side of encoding MQ code-blocks on a device: the list of blocks, the layout of memory, and results. The
 * bit-planes of the subbands set the memory for lists of decisions and codes, so that images of one shape take the
 * same; if blocks have more, all is done again with more room. */
#include "codec/engine/cuda/mq/mq_cuda_coding.h"

#include "base/integer.h"
#include "transform/cuda/cuda_device.h"

/* ---- The list of blocks ---------------------------------------------------------------------------------------- */

/* Sums over all blocks. */
typedef struct needs {
    uint64_t list, passes, code;
} needs;

/* Shared by all blocks of a subband. */
typedef struct encoded_band {
    l2k_cuda_band band;
    uint32_t planes;
    l2k_mq_cuda_encode_block block; /* without its view */
} encoded_band;

enum { STYLES_OF_SEGMENTS = L2K_STYLE_BYPASS | L2K_STYLE_RESET | L2K_STYLE_TERMALL };

static l2k_status look_at_band(const l2k_context *context, const l2k_subband *from, encoded_band *to)
{
    L2K_TRY(l2k_cuda_look_at_band(context, from, false, &to->band));
    to->planes = l2k_min_u32(from->max_planes, L2K_MAX_BIT_PLANES);
    to->block = (l2k_mq_cuda_encode_block){.orientation = from->orientation,
                                           .style = from->component->coding->style,
                                           .reversible = to->band.reversible,
                                           .wide = to->band.bytes > sizeof(int16_t)};
    return L2K_OK;
}

/* The code of a block rarely exceeds ten bits for eight samples of a bit-plane, and the ends of segments. In units of 4
 * bytes. */
static inline uint32_t usual_code(const l2k_cuda_view *view, uint32_t planes)
{
    return (view->width * view->height * (planes + 1) * 5 / 32 + l2k_mq_cuda_lead(planes)) / 4 + 1;
}

static inline void add_block(l2k_mq_cuda_encode *run, needs *all, const encoded_band *in,
                             l2k_mq_cuda_encode_block *block, l2k_rect rect)
{
    *block = in->block;
    block->view = l2k_cuda_view_of(&in->band, rect);
    const uint32_t width = block->view.width, height = block->view.height;
    run->words = l2k_max_u32(run->words, l2k_mq_cuda_words(width, height));
    run->cells = l2k_max_u32(run->cells, l2k_mq_cuda_cells(width, height));
    run->area = l2k_max_u32(run->area, width * height);
    run->wide |= block->wide;
    run->styled |= (block->style & STYLES_OF_SEGMENTS) != 0;
    all->list += l2k_mq_cuda_list_units(width, height, in->planes);
    all->passes += l2k_mq_cuda_passes(in->planes);
    all->code += usual_code(&block->view, in->planes);
}

static l2k_status list_blocks(l2k_mq_cuda *e)
{
    const l2k_context *context = e->blocks.context;
    const l2k_block_batch *batch = &e->blocks.batch;
    encoded_band in = {0};
    needs all = {0, 0, 0};
    for (size_t i = 0; i < batch->num_places; i++) {
        const l2k_block_place *place = &batch->places[i];
        l2k_cuda_fetch_ahead(batch, i);
        if (place->band != in.band.band)
            L2K_TRY(look_at_band(context, place->band, &in));
        add_block(&e->run, &all, &in, &e->host.blocks[i], place->block->rect);
    }
    if (all.list > UINT32_MAX / 8 || all.passes > UINT32_MAX / 8 || all.code > UINT32_MAX / 8)
        return l2k_fail(context, L2K_ERROR_UNSUPPORTED, "CUDA: too many code-blocks at once");
    e->run.list_capacity = (uint32_t)all.list;
    e->run.pass_capacity = (uint32_t)all.passes;
    e->run.code_capacity = (uint32_t)all.code;
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
