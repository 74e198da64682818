/* The host's side of encoding MQ code-blocks on a device: the list of blocks, the layout of memory, and results. The
 * bit-planes of the subbands set the memory for lists of decisions and codes, so that images of one shape take the
 * same; if blocks have more, all is done again with more room. */
#include "codec/engine/cuda/mq/mq_cuda_coding.h"

#include <string.h>

#include "base/integer.h"
#include "codec/engine/cuda/mq/mq_tables.h"
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

static l2k_status list_blocks(const l2k_cuda_blocks *b, l2k_mq_cuda_encode *run)
{
    l2k_mq_cuda_encode_block *to = (l2k_mq_cuda_encode_block *)b->pinned.at;
    const l2k_block_batch *batch = &b->batch;
    encoded_band in = {0};
    needs all = {0, 0, 0};
    for (size_t i = 0; i < batch->num_places; i++) {
        const l2k_block_place *place = &batch->places[i];
        l2k_cuda_fetch_ahead(batch, i);
        if (place->band != in.band.band)
            L2K_TRY(look_at_band(b->context, place->band, &in));
        add_block(run, &all, &in, &to[i], place->block->rect);
    }
    if (all.list > UINT32_MAX / 8 || all.passes > UINT32_MAX / 8 || all.code > UINT32_MAX / 8)
        return l2k_fail(b->context, L2K_ERROR_UNSUPPORTED, "CUDA: too many code-blocks at once");
    run->list_capacity = (uint32_t)all.list;
    run->pass_capacity = (uint32_t)all.passes;
    run->code_capacity = (uint32_t)all.code;
    return L2K_OK;
}

/* ---- Memory ---------------------------------------------------------------------------------------------------- */

/* Blocks go up with the counters behind them, which come back with the results. */
static l2k_status prepare(l2k_cuda_blocks *b, l2k_mq_cuda_encoding *e)
{
    if (l2k_cuda_is_listed(b, &e->listed))
        return L2K_OK;
    const size_t count = b->batch.num_places;
    e->listed.same = 0;
    if (count > UINT32_MAX / 2)
        return l2k_fail(b->context, L2K_ERROR_UNSUPPORTED, "CUDA: %zu code-blocks at once", count);
    e->counters = l2k_cuda_aligned(count * sizeof(l2k_mq_cuda_encode_block));
    e->coded = e->counters + sizeof(l2k_mq_cuda_counters);
    e->results_end = e->coded + count * sizeof(l2k_cuda_coded_block);
    L2K_TRY(l2k_cuda_reserve(b->context, &b->pinned, e->results_end));
    e->run = (l2k_mq_cuda_encode){.num_blocks = (uint32_t)count};
    return list_blocks(b, &e->run);
}

/* Reallocated memory holds no list, even at the same address. */
static l2k_status reserve_device(l2k_cuda_blocks *b, l2k_mq_cuda_encoding *e, size_t bytes)
{
    if (bytes > b->device.bytes)
        e->listed.same = 0;
    return l2k_cuda_reserve(b->context, &b->device, bytes);
}

static l2k_status lay_out(l2k_cuda_blocks *b, l2k_mq_cuda_encoding *e)
{
    l2k_mq_cuda_encode *run = &e->run;
    const size_t count = run->num_blocks, passes = run->pass_capacity;
    const bool distortions = b->batch.distortions;
    size_t used = l2k_cuda_aligned(e->results_end);
    const size_t work = l2k_cuda_take(&used, count * sizeof *run->work),
                 order = l2k_cuda_take(&used, count * sizeof *run->order);
    const size_t ends = l2k_cuda_take(&used, passes * sizeof *run->pass_ends),
                 marks = l2k_cuda_take(&used, passes * sizeof *run->marks);
    const size_t gains = l2k_cuda_take(&used, distortions ? passes * sizeof *run->gains : 0);
    const size_t values = l2k_cuda_take(&used, distortions ? passes * sizeof *run->distortions : 0);
    const size_t lists = l2k_cuda_take(&used, (size_t)run->list_capacity * 16);
    const size_t code = l2k_cuda_take(&used, (size_t)run->code_capacity * 4);
    L2K_TRY(reserve_device(b, e, used));
    uint8_t *device = b->device.at;
    run->tables = (l2k_mq_cuda_tables *)e->tables.at;
    run->blocks = (l2k_mq_cuda_encode_block *)device;
    run->counters = (l2k_mq_cuda_counters *)(device + e->counters);
    run->coded = (l2k_cuda_coded_block *)(device + e->coded);
    run->work = (l2k_mq_cuda_work *)(device + work);
    run->order = (uint32_t *)(device + order);
    run->pass_ends = (uint32_t *)(device + ends);
    run->marks = (l2k_pass_mark *)(device + marks);
    run->gains = distortions ? (int64_t *)(device + gains) : NULL;
    run->distortions = distortions ? (double *)(device + values) : NULL;
    run->lists = (uint32_t *)(device + lists);
    run->code = device + code;
    return L2K_OK;
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

static l2k_status enqueue(l2k_cuda_blocks *b, l2k_mq_cuda_encoding *e)
{
    L2K_TRY(lay_out(b, e));
    const size_t from = l2k_cuda_is_listed(b, &e->listed) ? e->counters : 0;
    l2k_mq_cuda_counters *counters = (l2k_mq_cuda_counters *)(b->pinned.at + e->counters);
    memset(counters, 0, sizeof *counters);
    counters->failed = UINT32_MAX;
    L2K_TRY(l2k_cuda_upload(b->context, b->running, b->device.at + from, b->pinned.at + from, e->coded - from));
    L2K_TRY(launch(b, &e->run));
    e->listed = l2k_cuda_key_of(b);
    return l2k_cuda_download(b->context, b->running, b->pinned.at + e->counters, b->device.at + e->counters,
                             (b->more.stays ? e->coded : e->results_end) - e->counters);
}

l2k_status l2k_mq_cuda_start_encoding(l2k_cuda_blocks *b, l2k_mq_cuda_encoding *e)
{
    L2K_TRY(prepare(b, e));
    return enqueue(b, e);
}

/* A batch's results in one piece of pinned memory: distortions and lengths of passes, code. */
typedef struct kept_code {
    double *distortions; /* NULL: not wanted */
    uint32_t *pass_ends;
    uint8_t *code;
} kept_code;

static void keep_block(l2k_block *block, const l2k_cuda_coded_block *coded, const kept_code *kept)
{
    block->num_planes = coded->num_planes;
    block->num_passes = coded->num_passes;
    if (!coded->num_passes)
        return;
    block->coded.bytes = kept->code + (size_t)coded->at * 4;
    block->coded.pass_bytes = kept->pass_ends + coded->ends;
    if (kept->distortions)
        block->coded.pass_distortion = kept->distortions + coded->ends;
}

static l2k_status fetch(l2k_cuda_blocks *b, const l2k_mq_cuda_encoding *e, const l2k_mq_cuda_counters *counters)
{
    const l2k_cuda_coded_block *coded = (l2k_cuda_coded_block *)(b->pinned.at + e->coded);
    const size_t distortions = b->batch.distortions ? counters->passes * sizeof(double) : 0;
    const size_t ends = counters->passes * sizeof(uint32_t), code = (size_t)counters->code * 4;
    uint8_t *memory;
    L2K_TRY(l2k_cuda_take_code(b, l2k_cuda_aligned(distortions + ends + code), &memory));
    const kept_code kept = {b->batch.distortions ? (double *)memory : NULL, (uint32_t *)(memory + distortions),
                            memory + distortions + ends};
    if (code) {
        L2K_TRY(l2k_cuda_download(b->context, b->running, kept.code, e->run.code, code));
        L2K_TRY(l2k_cuda_download(b->context, b->running, kept.pass_ends, e->run.pass_ends, ends));
        if (distortions)
            L2K_TRY(l2k_cuda_download(b->context, b->running, kept.distortions, e->run.distortions, distortions));
    }
    for (size_t i = 0; i < b->batch.num_places; i++)
        keep_block(b->batch.places[i].block, &coded[i], &kept);
    return l2k_cuda_wait(b->context, b->running);
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

l2k_status l2k_mq_cuda_finish_encoding(l2k_cuda_blocks *b, l2k_mq_cuda_encoding *e)
{
    for (;;) {
        L2K_TRY(l2k_cuda_wait(b->context, b->running));
        const l2k_mq_cuda_counters *counters = (l2k_mq_cuda_counters *)(b->pinned.at + e->counters);
        if (counters->failed != UINT32_MAX)
            return l2k_fail(b->context, L2K_ERROR_ARGUMENT, "a sample lies outside its component's precision");
        e->complete = has_room(&e->run, counters);
        if (b->more.stays)
            return L2K_OK;
        if (e->complete)
            return fetch(b, e, counters);
        make_room(&e->run, counters);
        L2K_TRY(enqueue(b, e));
    }
}

l2k_status l2k_mq_cuda_bring(l2k_cuda_blocks *b, const l2k_mq_cuda_encoding *e)
{
    L2K_TRY(l2k_cuda_download(b->context, b->running, b->pinned.at + e->coded, b->device.at + e->coded,
                              e->results_end - e->coded));
    L2K_TRY(l2k_cuda_wait(b->context, b->running));
    return fetch(b, e, (const l2k_mq_cuda_counters *)(b->pinned.at + e->counters));
}

void l2k_mq_cuda_coded(const l2k_mq_cuda_encoding *e, l2k_cuda_coded *coded)
{
    *coded = (l2k_cuda_coded){.blocks = e->run.coded,
                              .pass_ends = e->run.pass_ends,
                              .distortions = e->run.distortions,
                              .num_passes = e->run.pass_capacity,
                              .code = e->run.code,
                              .capacity = e->run.code_capacity,
                              .complete = e->complete};
}

/* ---- Birth ------------------------------------------------------------------------------------------------------- */

l2k_status l2k_mq_cuda_create_encoding(l2k_cuda_blocks *b, l2k_mq_cuda_encoding *e)
{
    const size_t bytes = sizeof(l2k_mq_cuda_tables);
    L2K_TRY(l2k_cuda_reserve(b->context, &e->tables, bytes));
    L2K_TRY(l2k_cuda_reserve(b->context, &b->pinned, bytes));
    l2k_mq_cuda_make_tables((l2k_mq_cuda_tables *)b->pinned.at);
    L2K_TRY(l2k_cuda_upload(b->context, b->stream, e->tables.at, b->pinned.at, bytes));
    return l2k_cuda_wait(b->context, b->stream);
}
