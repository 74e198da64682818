/* Chooses the processor for a tile: the one that the caller asked for, or with AUTO a device if that is faster. Work
 * that fails on a processor that AUTO has chosen is repeated on the CPU; this file alone decides that. */
#include "base/memory.h"
#include "base/pool.h"
#include "codec/engine/engine.h"

#ifdef L2K_WITH_CUDA
extern const l2k_engine_table l2k_engine_cuda;
#endif
#ifdef L2K_WITH_OPENCL
extern const l2k_engine_table l2k_engine_opencl;
#endif

static const l2k_engine_table *table_for(l2k_backend backend)
{
#ifdef L2K_WITH_CUDA
    if (backend == L2K_BACKEND_CUDA)
        return &l2k_engine_cuda;
#endif
#ifdef L2K_WITH_OPENCL
    if (backend == L2K_BACKEND_OPENCL)
        return &l2k_engine_opencl;
#endif
    return backend == L2K_BACKEND_CPU ? &l2k_engine_cpu : NULL;
}

/* The table of the processor off the host that would take a tile of `samples` samples; NULL: the CPU takes it. */
static const l2k_engine_table *off_host(const l2k_engine *engine, uint64_t samples)
{
    const l2k_engine_table *table = table_for(l2k_backend_for(&engine->context, engine->backend, samples));
    return table == &l2k_engine_cpu ? NULL : table;
}

static void release_state(l2k_engine *engine)
{
    if (engine->state)
        engine->table->release(engine);
}

const l2k_engine_table *l2k_engine_table_of(l2k_engine *engine, const l2k_engine_slot *slot)
{
    const l2k_engine_table *table = table_for(l2k_plan_backend(slot->plan));
    if (table == &l2k_engine_cpu || table == engine->table)
        return table;
    release_state(engine);
    return engine->table = table;
}

/* ---- Engines ------------------------------------------------------------------------------------------------- */

l2k_engine_kind l2k_engine_kind_of(const l2k_context *context, l2k_backend backend, const l2k_block_coder_table *coders,
                                   bool spread)
{
    return (l2k_engine_kind){.context = context,
                             .backend = backend,
                             .coders = coders,
                             .spread = spread,
                             .threads = context->threads,
                             .set = context->devices,
                             .cpu = context->cpu,
                             .min_samples = context->choice ? context->choice->gpu_min_samples : L2K_GPU_MIN_SAMPLES};
}

bool l2k_engine_same_kind(const l2k_engine_kind *a, const l2k_engine_kind *b)
{
    return a->backend == b->backend && a->coders == b->coders && a->spread == b->spread && a->threads == b->threads &&
           a->set == b->set && a->cpu == b->cpu && a->min_samples == b->min_samples;
}

static bool has_own_processor(const l2k_engine_kind *kind, unsigned count)
{
    return count > 1 && kind->spread && (kind->set & (kind->set - 1));
}

l2k_status l2k_engine_create(const l2k_engine_kind *kind, unsigned number, unsigned count, l2k_plan_cache *cache,
                             l2k_engine *engine)
{
    *engine = (l2k_engine){.context = *kind->context, .backend = kind->backend, .cache = cache};
    engine->context.threads = count > 1 ? 1 : kind->context->threads;
    if (has_own_processor(kind, count)) {
        engine->context.devices = (uint64_t)1 << l2k_device_of_share(kind->context, number);
        engine->context.choice = &engine->choice;
        l2k_choice_start(&engine->choice, kind->min_samples);
    }
    engine->quiet = engine->context;
    engine->quiet.hooks.message = NULL;
    return l2k_block_coder_create(&engine->context, kind->coders, &engine->coder);
}

void l2k_engine_release(l2k_engine *engine)
{
    const int before = l2k_device_enter(&engine->context);
    l2k_block_coder_free(engine->coder);
    release_state(engine);
    l2k_release(&engine->context, engine->places);
    engine->coder = NULL;
    engine->places = NULL;
    engine->num_places = 0;
    l2k_device_leave(before);
}

const l2k_context *l2k_engine_context(const l2k_engine *engine)
{
    return engine->backend == L2K_BACKEND_AUTO ? &engine->quiet : &engine->context;
}

/* ---- Plans --------------------------------------------------------------------------------------------------- */

/* Makes a plan off the host if it fits beside those of the cache. Otherwise drops these, since out of memory AUTO would
 * use the CPU for all tiles to come. */
static bool has_room(const l2k_engine *engine, const l2k_plan_spec *spec, l2k_engine_slot *slot)
{
    const l2k_backend backend = l2k_backend_for(&engine->context, engine->backend, l2k_plan_samples(spec));
    if (spec->cpu_reason || backend == L2K_BACKEND_CPU || !l2k_plan_cache_has_any(&engine->context, engine->cache))
        return false;
    if (l2k_plan_create(&engine->quiet, backend, spec, &slot->plan) != L2K_OK) {
        l2k_plan_cache_drop(&engine->context, engine->cache);
        return false;
    }
    return true;
}

/* The slot's plan for `spec`: the present one, one of the cache, or a new one. */
static l2k_status plan_slot(const l2k_engine *engine, l2k_engine_slot *slot, const l2k_plan_spec *spec)
{
    if (slot->plan && l2k_plan_fits(slot->plan, spec))
        return L2K_OK;
    l2k_plan *cached = l2k_plan_cache_take(&engine->context, engine->cache, spec);
    l2k_plan_cache_put(&engine->context, engine->cache, slot->plan);
    slot->plan = cached;
    if (!cached && !has_room(engine, spec, slot))
        L2K_TRY(l2k_plan_create(&engine->context, engine->backend, spec, &slot->plan));
    if (l2k_plan_stream(slot->plan))
        l2k_plan_use(slot->plan, l2k_engine_context(engine));
    return L2K_OK;
}

/* ---- What fails is done again -------------------------------------------------------------------------------- */

bool l2k_engine_may_try_again(const l2k_engine *engine, l2k_status status)
{
    return status != L2K_OK && status != L2K_ERROR_CANCELLED && engine->backend == L2K_BACKEND_AUTO;
}

/* The slot's next plan will be on the CPU. Code of other tiles stays. */
bool l2k_engine_falls_back(const l2k_engine *engine, l2k_engine_slot *slot, l2k_status status)
{
    if (!l2k_engine_may_try_again(engine, status) || !slot->plan || !l2k_plan_stream(slot->plan))
        return false;
    l2k_choice_fall_back(&engine->context, status);
    l2k_plan_free(slot->plan);
    slot->plan = NULL;
    l2k_plan_cache_drop(&engine->context, engine->cache);
    return true;
}

/* Threads share a strip and wait for each other between levels, so with many of them it is larger, if that takes a
 * small part of the memory left. */
static void choose_strips(const l2k_engine *engine, l2k_plan_spec *spec)
{
    enum { BYTES_OF_SAMPLE = 64 };
    const l2k_context *context = &engine->context;
    const uint32_t samples = l2k_strip_samples(context->threads);
    if (samples == L2K_STRIP_SAMPLES) /* perhaps one of several worker groups, which share the pool */
        return;
    const uint64_t left = context->pool ? context->pool->limit - context->pool->in_use : UINT64_MAX;
    if (spec->by_rows && !spec->strip_samples && samples <= left / BYTES_OF_SAMPLE)
        spec->strip_samples = samples;
}

/* ---- Encoding ------------------------------------------------------------------------------------------------ */

/* HT code-blocks of the 9/7 get indices truncated as in E.2, where OpenJPEG rounds first: by the plan or, if they are
 * coded more than once or the plan may be off the host, by their coder. */
static void choose_quantiser(const l2k_engine *engine, const l2k_encode_request *request, l2k_plan_spec *spec)
{
    if (!request->truncates)
        return;
    spec->truncates =
        !request->recodes && !l2k_backend_overlaps(&engine->context, engine->backend, l2k_tile_samples(request->tile));
    if (!spec->truncates)
        spec->type = L2K_COEFFICIENT_FLOAT32;
}

/* Of a plan whose code-blocks are coded where it runs. */
static l2k_plan_memory memory_to_encode(const l2k_encode_request *request, const l2k_choice *choice)
{
    if (!request->off_host || l2k_choice_has_failed(choice))
        return L2K_PLAN_COEFFICIENTS_STAY;
    return request->interleaved ? L2K_PLAN_DEVICE : L2K_PLAN_DEVICE_PACKED;
}

/* The slot's plan for the tile, and the views of its tile-components there. */
static l2k_status prepare_encode(const l2k_engine *engine, l2k_engine_slot *slot, const l2k_encode_request *request)
{
    const l2k_choice *choice = engine->context.choice;
    l2k_tile *tile = request->tile;
    l2k_plan_spec spec = *request->spec;
    const l2k_engine_table *table = off_host(engine, l2k_plan_samples(&spec));
    if (request->follows && table && table->codes(tile->coding->components[0].style, request))
        spec.memory = memory_to_encode(request, choice);
    choose_quantiser(engine, request, &spec);
    choose_strips(engine, &spec);
    l2k_status status = plan_slot(engine, slot, &spec);
    if (l2k_plan_on_device(&spec) && l2k_choice_has_failed(choice)) {
        spec.memory = L2K_PLAN_COEFFICIENTS_STAY;
        status = plan_slot(engine, slot, &spec);
    }
    L2K_TRY(status);
    for (uint32_t c = 0; c < tile->num_components; c++)
        l2k_engine_set_view(slot, c, &tile->components[c]);
    return L2K_OK;
}

l2k_status l2k_engine_begin_encode(l2k_engine *engine, l2k_engine_slot *slot, l2k_encode_request *request)
{
    L2K_TRY(prepare_encode(engine, slot, request));
    if (request->in_strips)
        return l2k_engine_runs_in_strips(slot) ? l2k_engine_begin_strips(slot) : L2K_OK;
    if (request->off_host && !l2k_is_off_host(request->tile->components[0].view))
        L2K_TRY(l2k_engine_fetch_planes(&engine->context, request));
    return l2k_engine_table_of(engine, slot)->begin_encode(engine, slot, request);
}

l2k_status l2k_engine_encode_strip(l2k_engine *engine, l2k_engine_slot *slot, const l2k_encode_request *request,
                                   const l2k_plane *planes)
{
    L2K_TRY(l2k_plan_take_planes(slot->plan, planes));
    return l2k_engine_table_of(engine, slot)->encode_strip(engine, slot->plan, request);
}

l2k_status l2k_engine_finish_encode(l2k_engine *engine, l2k_engine_slot *slot, const l2k_encode_request *request,
                                    l2k_made_packets *made)
{
    *made = (l2k_made_packets){0};
    return l2k_engine_table_of(engine, slot)->finish_encode(engine, slot, request, made);
}

l2k_status l2k_engine_recode(l2k_engine *engine, const l2k_encode_request *request)
{
    return l2k_engine_cpu.recode(engine, request);
}

void l2k_engine_forget(l2k_engine *engine)
{
    l2k_engine_cpu.forget(engine);
    if (engine->state)
        engine->table->forget(engine);
}

/* ---- Decoding ------------------------------------------------------------------------------------------------ */

/* Planes off the host stay there with the coefficients, unless the CPU has to decode the tile. */
l2k_status l2k_engine_prepare_decode(l2k_engine *engine, l2k_engine_slot *slot, const l2k_decode_request *request,
                                     bool *on_host)
{
    l2k_plan_spec spec = *request->spec;
    const l2k_engine_table *table = off_host(engine, l2k_plan_samples(&spec));
    const bool decodes =
        !request->coefficients && !request->blocks_on_host && table && table->codes(request->style, NULL);
    if (request->off_host && !decodes && !spec.cpu_reason)
        spec.cpu_reason = "code-blocks that the GPU does not decode are decoded on the CPU";
    if (request->off_host)
        spec.memory = spec.cpu_reason ? L2K_PLAN_HOST : L2K_PLAN_DEVICE;
    else if (decodes)
        spec.memory = L2K_PLAN_COEFFICIENTS_STAY;
    *on_host = request->off_host && spec.cpu_reason;
    choose_strips(engine, &spec);
    return plan_slot(engine, slot, &spec);
}

l2k_status l2k_engine_begin_decode(l2k_engine *engine, l2k_engine_slot *slot, const l2k_decode_request *request)
{
    return l2k_engine_table_of(engine, slot)->begin_decode(engine, slot, request);
}

bool l2k_engine_next_strip(l2k_engine_slot *slot, uint64_t *end)
{
    const bool goes_on = l2k_plan_next_strip(slot->plan);
    *end = l2k_plan_strip_end(slot->plan);
    return goes_on;
}

l2k_plan_rows l2k_engine_strip_rows(const l2k_engine_slot *slot, uint32_t c, const l2k_subband *band)
{
    return l2k_plan_cells(slot->plan, c, l2k_band_number(band->resolution, band->orientation));
}

l2k_status l2k_engine_decode_strip(l2k_engine *engine, l2k_engine_slot *slot, const l2k_decode_request *request,
                                   const l2k_plane *planes)
{
    if (planes)
        L2K_TRY(l2k_plan_take_planes(slot->plan, planes));
    return l2k_engine_table_of(engine, slot)->decode_strip(engine, slot->plan, request);
}

void l2k_engine_send(l2k_engine *engine, const uint8_t *bytes, size_t num_bytes)
{
    if (engine->state && engine->table->send)
        engine->table->send(engine, bytes, num_bytes);
}

/* ---- Several processors -------------------------------------------------------------------------------------- */

l2k_status l2k_engine_of_planes(const l2k_context *context, l2k_backend *backend)
{
    if (*backend == L2K_BACKEND_CPU)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "planes in device memory, but the CPU as backend");
    *backend = L2K_BACKEND_CUDA;
    return L2K_OK;
}

bool l2k_engine_has_failed(const l2k_engine *engine)
{
    return engine->context.choice == &engine->choice && l2k_choice_has_failed(&engine->choice);
}

void l2k_engine_start(const l2k_engine_kind *kind, unsigned count, l2k_engine *engine)
{
    if (has_own_processor(kind, count) && !l2k_choice_has_failed(kind->context->choice))
        l2k_choice_start_part(&engine->choice, kind->context->choice);
}

void l2k_engine_end(const l2k_engine_kind *kind, unsigned count, const l2k_engine *engine)
{
    if (has_own_processor(kind, count))
        l2k_choice_join(kind->context->choice, &engine->choice);
}
