/* The CPU as an engine: a plan on the CPU, and the block coders of codec/blocks/mq/ and codec/blocks/ht/. */
#include "codec/engine/cpu/cpu_engine.h"

#include "base/memory.h"
#include "base/run.h"

static bool codes(unsigned style, const l2k_encode_request *request)
{
    (void)style, (void)request;
    return true;
}

static l2k_status run_coder(const l2k_engine *engine, l2k_block_coder *coder,
                            l2k_status (*begin)(l2k_block_coder *coder, const l2k_block_batch *batch),
                            const l2k_block_batch *batch)
{
    const double start = l2k_stage_start(&engine->context);
    l2k_status status = begin(coder, batch);
    if (status == L2K_OK)
        status = coder->table->finish(coder);
    l2k_stage_end(&engine->context, L2K_STAGE_TIER1, start);
    return status;
}

/* ---- By rows ------------------------------------------------------------------------------------------------- */

/* The code-blocks of the present strip. Resolutions that the plan lacks, and components that it is not for, are not
 * wanted. */
static size_t list_strip(const l2k_plan *plan, const l2k_tile *tile, bool one_component, l2k_block_place *places)
{
    size_t count = 0;
    for (uint32_t c = 0; c < tile->num_components; c++)
        for (uint32_t r = 0; r < tile->components[c].num_resolutions; r++) {
            const l2k_resolution *resolution = &tile->components[c].resolutions[r];
            for (uint32_t i = 0; i < resolution->num_bands && !l2k_rect_empty(resolution->wanted); i++) {
                const l2k_subband *band = &resolution->bands[i];
                const l2k_plan_rows rows =
                    l2k_plan_cells(plan, one_component ? 0 : c, l2k_band_number(r, band->orientation));
                if (rows.y0 < rows.y1)
                    count = l2k_tile_list_rows(resolution, band, rows.y0, rows.y1, places, count);
            }
        }
    return count;
}

/* Narrows a batch of all code-blocks to those of the strip. */
static l2k_status take_strip(l2k_engine *engine, const l2k_plan *plan, const l2k_tile *tile, bool one_component,
                             l2k_block_batch *batch)
{
    if (!l2k_plan_first_rows(plan, 0)) /* a single strip */
        return L2K_OK;
    const uint64_t all = batch->num_places ? batch->num_places : 1, count = list_strip(plan, tile, one_component, NULL);
    if (count > engine->num_places) {
        l2k_release(&engine->context, engine->places);
        engine->places = l2k_allocate(&engine->context, count, sizeof *engine->places);
        engine->num_places = engine->places ? count : 0;
    }
    L2K_TRY(l2k_check_memory(&engine->context, count <= engine->num_places, "code-blocks"));
    list_strip(plan, tile, one_component, engine->places);
    batch->units = batch->units / all * count + batch->units % all * count / all;
    batch->places = engine->places;
    batch->num_places = count;
    return L2K_OK;
}

/* ---- Encoding ------------------------------------------------------------------------------------------------ */

l2k_block_batch l2k_batch_to_encode(const l2k_encode_request *request)
{
    return (l2k_block_batch){.places = request->tile->places,
                             .num_places = request->tile->num_places,
                             .distortions = request->distortions,
                             .errors = request->errors,
                             .task = request->task,
                             .truncations = request->tile->truncations,
                             .distance = request->distance,
                             .units = request->units};
}

l2k_status l2k_code_blocks(const l2k_engine *engine, l2k_block_coder *coder, const l2k_block_batch *batch)
{
    return run_coder(engine, coder, coder->table->begin_encode, batch);
}

static l2k_status recode(l2k_engine *engine, const l2k_encode_request *request)
{
    const l2k_block_batch batch = l2k_batch_to_encode(request);
    return l2k_code_blocks(engine, engine->coder, &batch);
}

l2k_status l2k_cpu_begin_encode(l2k_engine *engine, l2k_engine_slot *slot, const l2k_encode_request *request)
{
    (void)engine;
    return l2k_plan_begin(slot->plan, request->planes);
}

static l2k_status encode_strip(l2k_engine *engine, l2k_plan *plan, const l2k_encode_request *request)
{
    l2k_block_batch batch = l2k_batch_to_encode(request);
    L2K_TRY(l2k_plan_run_strip(plan));
    L2K_TRY(take_strip(engine, plan, request->tile, false, &batch));
    return l2k_code_blocks(engine, engine->coder, &batch);
}

l2k_status l2k_cpu_finish_encode(l2k_engine *engine, l2k_engine_slot *slot, const l2k_encode_request *request,
                                 l2k_made_packets *made)
{
    (void)made;
    l2k_status status = L2K_OK;
    if (!l2k_plan_is_by_rows(slot->plan)) {
        L2K_TRY(l2k_plan_finish(slot->plan));
        return recode(engine, request);
    }
    while (status == L2K_OK && l2k_plan_next_strip(slot->plan))
        status = encode_strip(engine, slot->plan, request);
    const l2k_status finished = l2k_plan_finish(slot->plan);
    return status == L2K_OK ? finished : status;
}

/* ---- Decoding ------------------------------------------------------------------------------------------------ */

l2k_block_batch l2k_batch_to_decode(const l2k_decode_request *request)
{
    return (l2k_block_batch){.places = request->places,
                             .num_places = request->num_places,
                             .damaged = request->damaged,
                             .units = request->units};
}

l2k_status l2k_decode_off_host(const l2k_engine *engine, l2k_block_coder *coder, const l2k_block_batch *batch,
                               l2k_plan *plan, const l2k_decode_request *request)
{
    double start = l2k_stage_start(&engine->context);
    L2K_TRY(coder->table->begin_decode(coder, batch));
    l2k_stage_end(&engine->context, L2K_STAGE_TIER1, start);
    l2k_status begun = request->off_host ? l2k_plan_follow(plan, request->stream) : L2K_OK;
    if (begun == L2K_OK)
        begun = l2k_plan_begin(plan, request->planes);
    start = l2k_stage_start(&engine->context);
    const l2k_status finished = coder->table->finish(coder);
    l2k_stage_end(&engine->context, L2K_STAGE_TIER1, start);
    return begun == L2K_OK ? finished : begun;
}

static l2k_status decode_strip(l2k_engine *engine, l2k_plan *plan, const l2k_decode_request *request)
{
    l2k_block_batch batch = l2k_batch_to_decode(request);
    L2K_TRY(take_strip(engine, plan, request->tile, request->one_component, &batch));
    L2K_TRY(run_coder(engine, engine->coder, engine->coder->table->begin_decode, &batch));
    return l2k_plan_run_strip(plan);
}

static l2k_status decode_rows(l2k_engine *engine, l2k_plan *plan, const l2k_decode_request *request)
{
    l2k_status status = L2K_OK;
    L2K_TRY(l2k_plan_begin(plan, request->planes));
    while (status == L2K_OK && l2k_plan_next_strip(plan))
        status = decode_strip(engine, plan, request);
    if (status != L2K_OK)
        l2k_plan_finish(plan);
    return status;
}

l2k_status l2k_cpu_begin_decode(l2k_engine *engine, l2k_engine_slot *slot, const l2k_decode_request *request)
{
    const l2k_block_batch batch = l2k_batch_to_decode(request);
    l2k_engine_send(engine, NULL, 0);
    if (l2k_plan_is_by_rows(slot->plan))
        return decode_rows(engine, slot->plan, request);
    L2K_TRY(run_coder(engine, engine->coder, engine->coder->table->begin_decode, &batch));
    return request->coefficients ? L2K_OK : l2k_plan_begin(slot->plan, request->planes);
}

static void forget(l2k_engine *engine)
{
    if (engine->coder)
        engine->coder->table->forget(engine->coder);
}

const l2k_engine_table l2k_engine_cpu = {
    .codes = codes,
#ifndef L2K_WITHOUT_ENCODER
    .begin_encode = l2k_cpu_begin_encode,
    .finish_encode = l2k_cpu_finish_encode,
    .recode = recode,
    .encode_strip = encode_strip,
#endif
    .begin_decode = l2k_cpu_begin_decode,
    .decode_strip = decode_strip,
    .forget = forget,
};
