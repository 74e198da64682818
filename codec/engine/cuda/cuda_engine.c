/* CUDA as an engine: a plan that keeps its coefficients on the device, block coders and packets there. If the device
 * has no coder for a tile's code-blocks, it only transforms and the CPU codes them. */
#include "base/memory.h"
#include "base/run.h"
#include "codec/engine/cpu/cpu_engine.h"
#include "codec/engine/cuda/coder/cuda_coder.h"
#include "codec/engine/cuda/packets/cuda_packet_maker.h"

typedef struct cuda_state {
    l2k_block_coder *coder;       /* of the kind that the last tile needed */
    l2k_cuda_packet_maker *maker; /* NULL until packets are made */
} cuda_state;

/* Makes the engine's state when a tile first needs it. */
static l2k_status state_of(l2k_engine *engine, cuda_state **state)
{
    if (!engine->state)
        engine->state = l2k_allocate_zeroed(&engine->context, 1, sizeof(cuda_state));
    *state = engine->state;
    return l2k_check_memory(&engine->context, *state, "CUDA");
}

static l2k_status coder_of(l2k_engine *engine, unsigned style, l2k_block_coder **coder)
{
    const l2k_block_coder_table *table = style & L2K_STYLE_HT ? &l2k_ht_on_cuda : &l2k_mq_on_cuda;
    cuda_state *s;
    L2K_TRY(state_of(engine, &s));
    if (s->coder && s->coder->table != table) {
        l2k_block_coder_free(s->coder);
        s->coder = NULL;
    }
    if (!s->coder)
        L2K_TRY(l2k_block_coder_create(l2k_engine_context(engine), table, &s->coder));
    *coder = s->coder;
    return L2K_OK;
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

/* A tile's code-blocks, as a source of packets. */
typedef struct tile_source {
    l2k_cuda_batch more;
    l2k_block_batch batch;
    bool blocks_are_here;
    l2k_cuda_packet_source packets;
} tile_source;

static l2k_status open_source(l2k_engine *engine, const l2k_plan *plan, const l2k_encode_request *request,
                              tile_source *s)
{
    *s = (tile_source){.more = {.stream = l2k_plan_stream(plan), .same = request->list, .stays = request->packets},
                       .batch = l2k_batch_to_encode(request),
                       .packets = {.batch = &s->batch,
                                   .more = &s->more,
                                   .tile = request->tile,
                                   .lengths = request->lengths,
                                   .ratio = request->ratio,
                                   .fixed_bytes = request->fixed_bytes,
                                   .blocks_are_here = &s->blocks_are_here}};
    s->batch.engine = &s->more;
    s->more.idle = l2k_plan_idle_memory(plan, &s->more.idle_bytes);
    s->packets.coefficients = l2k_plan_coefficient_memory(plan, &s->packets.coefficient_bytes);
    L2K_TRY(coder_of(engine, request->tile->coding->components[0].style, &s->packets.coder));
    cuda_state *state = engine->state;
    return !request->packets || state->maker ? L2K_OK : l2k_cuda_packet_maker_create(&engine->context, &state->maker);
}

static l2k_status code(l2k_engine *engine, const l2k_plan *plan, const l2k_encode_request *request,
                       l2k_made_packets *made)
{
    tile_source s;
    L2K_TRY(open_source(engine, plan, request, &s));
    const cuda_state *state = engine->state;
    if (l2k_is_timed(&engine->context)) /* the transform must not count as tier-1 */
        L2K_TRY(l2k_device_wait(&engine->context, s.more.stream));
    if (request->packets && request->recodes)
        return l2k_cuda_packets_deliver(state->maker, &s.packets, made);
    if (request->packets)
        L2K_TRY(l2k_cuda_make_packets(state->maker, &s.packets, made));
    s.more.stays = false;
    return made->bytes || s.blocks_are_here ? L2K_OK : l2k_code_blocks(engine, s.packets.coder, &s.batch);
}

static l2k_status estimate(l2k_engine *engine, l2k_engine_slot *slot, const l2k_encode_request *request,
                           uint64_t *planes, struct l2k_slope_list **list)
{
    tile_source s;
    L2K_TRY(open_source(engine, slot->plan, request, &s));
    return l2k_cuda_packets_estimate(((cuda_state *)engine->state)->maker, &s.packets, planes, list);
}

static l2k_status sample(l2k_engine *engine, l2k_engine_slot *slot, const l2k_encode_request *request,
                         l2k_block_sample *sums)
{
    tile_source s;
    L2K_TRY(open_source(engine, slot->plan, request, &s));
    return l2k_cuda_packets_sample(((cuda_state *)engine->state)->maker, &s.packets, sums);
}

static l2k_status cut(l2k_engine *engine, l2k_engine_slot *slot, const l2k_encode_request *request, size_t prefix,
                      uint64_t *bytes)
{
    tile_source s;
    L2K_TRY(open_source(engine, slot->plan, request, &s));
    return l2k_cuda_packets_cut(((cuda_state *)engine->state)->maker, &s.packets, prefix, bytes);
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
    l2k_block_coder *coder;
    if (!l2k_is_off_host(l2k_plan_coefficients(slot->plan, 0)))
        return l2k_cpu_begin_decode(engine, slot, request);
    batch.engine = &more;
    L2K_TRY(coder_of(engine, request->style, &coder));
    return l2k_decode_off_host(engine, coder, &batch, slot->plan, request);
}

static void send(l2k_engine *engine, const uint8_t *bytes, size_t num_bytes)
{
    const cuda_state *s = engine->state;
    if (s->coder)
        l2k_cuda_coder_send(s->coder, bytes, num_bytes);
}

static void forget(l2k_engine *engine)
{
    const cuda_state *s = engine->state;
    if (s->coder)
        s->coder->table->forget(s->coder);
}

/* ---- The table ----------------------------------------------------------------------------------------------- */

static void release(l2k_engine *engine)
{
    cuda_state *s = engine->state;
    l2k_block_coder_free(s->coder);
    l2k_cuda_packet_maker_free(s->maker);
    l2k_release(&engine->context, s);
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
