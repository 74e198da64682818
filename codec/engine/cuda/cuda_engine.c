/* CUDA as an engine: a plan that keeps its coefficients on the device, block coders and packets there. If the device
 * has no coder for a tile's code-blocks, it only transforms and the CPU codes them. */
#include "base/memory.h"
#include "base/run.h"
#include "codec/engine/cpu/cpu_engine.h"
#include "codec/engine/cuda/coder/cuda_coder.h"
#include "codec/engine/cuda/packets/cuda_packet_maker.h"

/* The engine's state, made when a tile first needs it, with a coder of the kind that the tile needs. */
static l2k_status state_for(l2k_engine *engine, unsigned style, l2k_cuda_packet_maker **state)
{
    const l2k_block_coder_table *table = style & L2K_STYLE_HT ? &l2k_ht_on_cuda : &l2k_mq_on_cuda;
    if (!engine->state)
        engine->state = l2k_allocate_zeroed(&engine->context, 1, sizeof **state);
    l2k_cuda_packet_maker *m = *state = engine->state;
    L2K_TRY(l2k_check_memory(&engine->context, m, "CUDA"));
    if (m->coder && m->coder->table == table)
        return L2K_OK;
    l2k_block_coder_free(m->coder);
    m->coder = NULL;
    return l2k_block_coder_create(l2k_engine_context(engine), table, &m->coder);
}

/* Tiles with HT and MQ code-blocks are rare, and left to the CPU. */
static bool codes(unsigned style, const l2k_encode_request *request)
{
    if (style & L2K_STYLE_HT_MIXED)
        return false;
    return !request || !request->recodes || request->packets;
}

/* ---- Encoding ------------------------------------------------------------------------------------------------ */

static bool is_here(const l2k_encode_request *request)
{
    return l2k_is_off_host(request->tile->components[0].view);
}

static l2k_status begin_encode(l2k_engine *engine, l2k_engine_slot *slot, const l2k_encode_request *request)
{
    if (request->off_host && is_here(request))
        L2K_TRY(l2k_plan_follow(slot->plan, request->stream));
    return l2k_cpu_begin_encode(engine, slot, request);
}

/* Makes a tile's code-blocks the source of packets. */
static l2k_status open_source(l2k_engine *engine, const l2k_plan *plan, const l2k_encode_request *request,
                              l2k_cuda_packet_maker **maker)
{
    L2K_TRY(state_for(engine, request->tile->coding->components[0].style, maker));
    l2k_cuda_packet_maker *m = *maker;
    m->request = request;
    m->more = (l2k_cuda_batch){.stream = l2k_plan_stream(plan), .same = request->list, .stays = request->packets};
    m->more.idle = l2k_plan_idle_memory(plan, &m->more.idle_bytes);
    m->batch = l2k_batch_to_encode(request);
    m->batch.engine = &m->more;
    m->coefficients = l2k_plan_coefficient_memory(plan, &m->coefficient_bytes);
    m->blocks_are_here = false;
    return L2K_OK;
}

static l2k_status code(l2k_engine *engine, const l2k_plan *plan, const l2k_encode_request *request,
                       l2k_made_packets *made)
{
    l2k_cuda_packet_maker *m;
    L2K_TRY(open_source(engine, plan, request, &m));
    if (l2k_is_timed(&engine->context)) /* the transform must not count as tier-1 */
        L2K_TRY(l2k_device_wait(&engine->context, m->more.stream));
    if (request->packets && request->recodes)
        return l2k_cuda_packets_deliver(m, made);
    if (request->packets)
        L2K_TRY(l2k_cuda_make_packets(m, made));
    m->more.stays = false;
    return made->bytes || m->blocks_are_here ? L2K_OK : l2k_code_blocks(engine, m->coder, &m->batch);
}

static l2k_status estimate(l2k_engine *engine, l2k_engine_slot *slot, const l2k_encode_request *request,
                           uint64_t *planes, struct l2k_slope_list **list)
{
    l2k_cuda_packet_maker *m;
    L2K_TRY(open_source(engine, slot->plan, request, &m));
    return l2k_cuda_packets_estimate(m, planes, list);
}

static l2k_status sample(l2k_engine *engine, l2k_engine_slot *slot, const l2k_encode_request *request,
                         l2k_block_sample *sums)
{
    l2k_cuda_packet_maker *m;
    L2K_TRY(open_source(engine, slot->plan, request, &m));
    return l2k_cuda_packets_sample(m, sums);
}

static l2k_status cut(l2k_engine *engine, l2k_engine_slot *slot, const l2k_encode_request *request, size_t prefix,
                      uint64_t *bytes)
{
    l2k_cuda_packet_maker *m;
    L2K_TRY(open_source(engine, slot->plan, request, &m));
    return l2k_cuda_packets_cut(m, prefix, bytes);
}

/* The coder works behind the plan, in its stream. */
static l2k_status finish_encode(l2k_engine *engine, l2k_engine_slot *slot, const l2k_encode_request *request,
                                l2k_made_packets *made)
{
    if (!is_here(request))
        return l2k_cpu_finish_encode(engine, slot, request, made);
    const l2k_status coded = code(engine, slot->plan, request, made), finished = l2k_plan_finish(slot->plan);
    return coded == L2K_OK ? finished : coded;
}

/* ---- Decoding ------------------------------------------------------------------------------------------------ */

static l2k_status begin_decode(l2k_engine *engine, l2k_engine_slot *slot, const l2k_decode_request *request)
{
    const l2k_cuda_batch more = {
        .stream = l2k_plan_stream(slot->plan), .bytes = request->bytes, .num_bytes = request->num_bytes};
    l2k_block_batch batch = l2k_batch_to_decode(request);
    l2k_cuda_packet_maker *state;
    if (!l2k_is_off_host(l2k_plan_coefficients(slot->plan, 0)))
        return l2k_cpu_begin_decode(engine, slot, request);
    batch.engine = &more;
    L2K_TRY(state_for(engine, request->style, &state));
    return l2k_decode_off_host(engine, state->coder, &batch, slot->plan, request);
}

static void send(l2k_engine *engine, const uint8_t *bytes, size_t num_bytes)
{
    const l2k_cuda_packet_maker *state = engine->state;
    if (state->coder)
        l2k_cuda_coder_send(state->coder, bytes, num_bytes);
}

static void forget(l2k_engine *engine)
{
    const l2k_cuda_packet_maker *state = engine->state;
    if (state->coder)
        state->coder->table->forget(state->coder);
}

/* ---- The table ----------------------------------------------------------------------------------------------- */

static void release(l2k_engine *engine)
{
    l2k_cuda_packet_maker_release(engine->state);
    l2k_release(&engine->context, engine->state);
    engine->state = NULL;
}

extern const l2k_engine_table l2k_engine_cuda; /* for choose.c */
const l2k_engine_table l2k_engine_cuda = {
    .codes = codes,
    .begin_encode = begin_encode,
    .finish_encode = finish_encode,
    .estimate = estimate,
    .sample = sample,
    .cut = cut,
    .begin_decode = begin_decode,
    .forget = forget,
    .send = send,
    .release = release,
};
