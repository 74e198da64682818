/* The CPU as an engine: a plan on the CPU, and the block coders of codec/blocks/mq/ and codec/blocks/ht/. */
#include "codec/engine/cpu/cpu_engine.h"

#include <string.h>

#include "base/memory.h"
#include "base/run.h"

static bool codes(unsigned style, const l2k_encode_request *request)
{
    (void)style, (void)request;
    return true;
}

/* ---- Encoding ------------------------------------------------------------------------------------------------ */

l2k_block_batch l2k_batch_to_encode(const l2k_encode_request *request)
{
    return (l2k_block_batch){.places = request->tile->places,
                             .num_places = request->tile->num_places,
                             .distortions = request->distortions,
                             .units = request->units};
}

l2k_status l2k_code_blocks(const l2k_engine *engine, l2k_block_coder *coder, const l2k_block_batch *batch)
{
    const double start = l2k_stage_start(&engine->context);
    l2k_status status = coder->table->begin_encode(coder, batch);
    if (status == L2K_OK)
        status = coder->table->finish(coder);
    l2k_stage_end(&engine->context, L2K_STAGE_TIER1, start);
    return status;
}

static l2k_status recode(l2k_engine *engine, const l2k_encode_request *request)
{
    const l2k_block_batch batch = l2k_batch_to_encode(request);
    return l2k_code_blocks(engine, engine->coder, &batch);
}

static l2k_status begin_encode(l2k_engine *engine, l2k_engine_slot *slot, const l2k_encode_request *request)
{
    (void)engine;
    return l2k_plan_begin(slot->plan, request->planes);
}

l2k_status l2k_cpu_finish_encode(l2k_engine *engine, l2k_engine_slot *slot, const l2k_encode_request *request,
                                 l2k_made_packets *made)
{
    (void)made;
    L2K_TRY(l2k_plan_finish(slot->plan));
    return recode(engine, request);
}

/* ---- Decoding ------------------------------------------------------------------------------------------------ */

l2k_block_batch l2k_batch_to_decode(const l2k_decode_request *request)
{
    return (l2k_block_batch){.places = request->places,
                             .num_places = request->num_places,
                             .damaged = request->damaged,
                             .units = request->units};
}

/* Tells the plan which code-blocks have coefficients, as these may have to cross a bus. */
static void hold_blocks(const l2k_decode_request *request, l2k_plan *plan)
{
    l2k_plan_hold_nothing(plan);
    for (size_t i = 0; i < request->num_held; i++) {
        const l2k_block_place *place = &request->held[i];
        if (!place->block->received.first)
            continue;
        const l2k_band_view part = l2k_block_in_view(place);
        l2k_plan_hold(plan, request->plan_component[place->band->component->index], &part);
    }
}

l2k_status l2k_cpu_begin_decode(l2k_engine *engine, l2k_engine_slot *slot, const l2k_decode_request *request)
{
    const l2k_block_batch batch = l2k_batch_to_decode(request);
    const double start = l2k_stage_start(&engine->context);
    if (!request->coefficients)
        hold_blocks(request, slot->plan);
    l2k_engine_send(engine, NULL, 0);
    L2K_TRY(engine->coder->table->begin_decode(engine->coder, &batch));
    L2K_TRY(engine->coder->table->finish(engine->coder));
    l2k_stage_end(&engine->context, L2K_STAGE_TIER1, start);
    return request->coefficients ? L2K_OK : l2k_plan_begin(slot->plan, request->planes);
}

/* ---- The table ----------------------------------------------------------------------------------------------- */

static void forget(l2k_engine *engine)
{
    if (engine->coder)
        engine->coder->table->forget(engine->coder);
}

static l2k_status fetch(l2k_engine *engine, const l2k_coefficients *view, const l2k_band_view *part, uint32_t distance,
                        void *to)
{
    const size_t size = l2k_coefficient_bytes(view->type), row = part->width * size;
    (void)engine;
    for (size_t y = 0; y < part->height; y += distance, to = (char *)to + row)
        memcpy(to, (const char *)view->base + ((part->y + y) * view->stride + part->x) * size, row);
    return L2K_OK;
}

const l2k_engine_table l2k_engine_cpu = {
    .codes = codes,
    .begin_encode = begin_encode,
    .finish_encode = l2k_cpu_finish_encode,
    .recode = recode,
    .begin_decode = l2k_cpu_begin_decode,
    .forget = forget,
    .fetch = fetch,
};
