/* CUDA as an engine: a plan that keeps its coefficients on the device, block coders and packets there. If the device
 * has no coder for a tile's code-blocks, it only transforms and the CPU codes them. */
#include "base/memory.h"
#include "base/run.h"
#include "codec/engine/cpu/cpu_engine.h"
#include "codec/engine/cuda/coder/cuda_coder.h"
#include "codec/engine/cuda/packets/cuda_packet_maker.h"

/* Copies of coefficients, in pieces of device memory that outlive the copies. */
typedef struct view_copies {
    l2k_cuda_memory *pieces;
    size_t count, used;
    void *stream; /* NULL until one is needed */
} view_copies;

typedef struct cuda_state {
    l2k_block_coder *coder;       /* of the kind that the last tile needed */
    l2k_cuda_packet_maker *maker; /* NULL until packets are made */
    view_copies copies;
} cuda_state;

/* Makes the engine's state when a tile first needs it. */
static l2k_status state_of(l2k_engine *engine, cuda_state **state)
{
    if (!engine->state)
        engine->state = l2k_allocate_zeroed(&engine->context, 1, sizeof(cuda_state));
    *state = engine->state;
    return *state ? L2K_OK : l2k_fail(&engine->context, L2K_ERROR_MEMORY, "out of memory for CUDA");
}

static l2k_status coder_of(l2k_engine *engine, unsigned style, l2k_block_coder **coder)
{
    const l2k_block_coder_table *table = l2k_cuda_coder_for(style);
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

static bool codes(unsigned style, const l2k_encode_request *request)
{
    (void)style, (void)request;
    return true;
}

/* ---- Encoding ------------------------------------------------------------------------------------------------ */

static bool is_here(const l2k_encode_request *request)
{
    return l2k_is_off_host(request->tile->components[0].view);
}

static l2k_status begin_encode(l2k_engine *engine, l2k_engine_slot *slot, const l2k_encode_request *request)
{
    (void)engine;
    if (request->off_host && is_here(request))
        L2K_TRY(l2k_plan_follow(slot->plan, request->stream));
    return l2k_plan_begin(slot->plan, request->planes);
}

/* Codes the coefficients and brings the packets' bytes to host memory; or *done is false. */
static l2k_status make_packets(l2k_engine *engine, l2k_block_coder *coder, const l2k_plan *plan,
                               const l2k_encode_request *request, const l2k_cuda_batch *batch, l2k_made_packets *made,
                               bool *done)
{
    cuda_state *s = engine->state;
    l2k_cuda_batch more = *batch;
    more.stays = true;
    l2k_block_batch staying = l2k_batch_to_encode(request);
    staying.engine = &more;
    bool blocks_are_here = false;
    l2k_cuda_packet_source from = {.coder = coder,
                                   .batch = &staying,
                                   .more = &more,
                                   .tile = request->tile,
                                   .lengths = request->lengths,
                                   .ratio = request->ratio,
                                   .fixed_bytes = request->fixed_bytes,
                                   .blocks_are_here = &blocks_are_here};
    from.coefficients = l2k_plan_coefficient_memory(plan, &from.coefficient_bytes);
    if (!s->maker)
        L2K_TRY(l2k_cuda_packet_maker_create(&engine->context, &s->maker));
    L2K_TRY(l2k_cuda_make_packets(s->maker, &from, made));
    *done = made->bytes || blocks_are_here;
    return L2K_OK;
}

static l2k_status code(l2k_engine *engine, const l2k_plan *plan, const l2k_encode_request *request,
                       l2k_made_packets *made)
{
    l2k_cuda_batch more = {.stream = plan ? l2k_plan_stream(plan) : NULL, .same = request->list};
    l2k_block_batch batch = l2k_batch_to_encode(request);
    l2k_block_coder *coder;
    bool done = false;
    batch.engine = &more;
    if (plan)
        more.idle = l2k_plan_idle_memory(plan, &more.idle_bytes);
    L2K_TRY(coder_of(engine, request->tile->coding->components[0].style, &coder));
    if (plan && l2k_is_timed(&engine->context)) /* the transform must not count as tier-1 */
        L2K_TRY(l2k_device_wait(&engine->context, more.stream));
    if (request->packets)
        L2K_TRY(make_packets(engine, coder, plan, request, &more, made, &done));
    return done ? L2K_OK : l2k_code_blocks(engine, coder, &batch);
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

static l2k_status recode(l2k_engine *engine, const l2k_encode_request *request)
{
    return code(engine, NULL, request, NULL);
}

/* ---- Decoding ------------------------------------------------------------------------------------------------ */

static l2k_status begin_plan(l2k_plan *plan, const l2k_decode_request *request)
{
    if (request->off_host)
        L2K_TRY(l2k_plan_follow(plan, request->stream));
    return l2k_plan_begin(plan, request->planes);
}

/* The transform is enqueued behind the code-blocks, before these are done: their coder works in the plan's stream and
 * so ends before it. */
static l2k_status begin_decode(l2k_engine *engine, l2k_engine_slot *slot, const l2k_decode_request *request)
{
    const l2k_cuda_batch more = {
        .stream = l2k_plan_stream(slot->plan), .bytes = request->bytes, .num_bytes = request->num_bytes};
    l2k_block_batch batch = l2k_batch_to_decode(request);
    l2k_block_coder *coder;
    if (!l2k_is_off_host(l2k_plan_coefficients(slot->plan, 0)))
        return l2k_cpu_begin_decode(engine, slot, request);
    double start = l2k_stage_start(&engine->context);
    batch.engine = &more;
    L2K_TRY(coder_of(engine, request->style, &coder));
    L2K_TRY(coder->table->begin_decode(coder, &batch));
    l2k_stage_end(&engine->context, L2K_STAGE_TIER1, start);
    const l2k_status begun = begin_plan(slot->plan, request);
    start = l2k_stage_start(&engine->context);
    const l2k_status finished = coder->table->finish(coder);
    l2k_stage_end(&engine->context, L2K_STAGE_TIER1, start);
    return begun == L2K_OK ? finished : begun;
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

/* ---- Coefficients that are coded more than once -------------------------------------------------------------- */

static l2k_status copies_of(l2k_engine *engine, view_copies **copies)
{
    cuda_state *s;
    uint32_t processors;
    L2K_TRY(state_of(engine, &s));
    *copies = &s->copies;
    return s->copies.stream ? L2K_OK : l2k_cuda_open(l2k_engine_context(engine), &s->copies.stream, &processors);
}

static l2k_status fetch(l2k_engine *engine, const l2k_coefficients *view, const l2k_band_view *part, uint32_t distance,
                        void *to)
{
    const size_t size = l2k_coefficient_bytes(view->type), row = part->width * size, pitch = view->stride * size;
    const size_t rows = ((size_t)part->height + distance - 1) / distance;
    view_copies *copies;
    if (part->width == 0 || rows == 0)
        return L2K_OK;
    L2K_TRY(copies_of(engine, &copies));
    return l2k_cuda_copy_rows(l2k_engine_context(engine), copies->stream, to, row,
                              (const uint8_t *)view->base + part->y * pitch + part->x * size, distance * pitch, row,
                              rows, true);
}

static l2k_status take_piece(const l2k_context *context, view_copies *copies, size_t bytes, l2k_cuda_memory **piece)
{
    if (copies->used == copies->count) {
        const size_t count = 2 * copies->count + 4;
        l2k_cuda_memory *pieces = l2k_enlarge(context, copies->pieces, copies->count, count, sizeof *copies->pieces);
        if (!pieces)
            return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for the coefficients of a tile");
        for (size_t i = copies->count; i < count; i++)
            pieces[i] = (l2k_cuda_memory){0};
        copies->pieces = pieces;
        copies->count = count;
    }
    *piece = &copies->pieces[copies->used];
    L2K_TRY(l2k_cuda_reserve(context, *piece, bytes));
    copies->used++;
    return L2K_OK;
}

/* Rows are a multiple of 64 bytes. */
static l2k_status keep(l2k_engine *engine, const l2k_coefficients *view, l2k_coefficients *copy)
{
    const size_t size = l2k_coefficient_bytes(view->type), row = view->width * size, pitch = (row + 63) / 64 * 64;
    const l2k_context *context = l2k_engine_context(engine);
    l2k_cuda_memory *piece = NULL;
    view_copies *copies;
    *copy = *view;
    if (row == 0 || view->height == 0)
        return L2K_OK;
    L2K_TRY(copies_of(engine, &copies));
    L2K_TRY(take_piece(context, copies, pitch * view->height, &piece));
    copy->base = piece->at;
    copy->stride = pitch / size;
    L2K_TRY(l2k_cuda_copy_rows(context, copies->stream, piece->at, pitch, view->base, view->stride * size, row,
                               view->height, false));
    return l2k_cuda_wait(context, copies->stream);
}

static void drop(l2k_engine *engine)
{
    ((cuda_state *)engine->state)->copies.used = 0;
}

/* ---- The table ----------------------------------------------------------------------------------------------- */

static void release(l2k_engine *engine)
{
    cuda_state *s = engine->state;
    l2k_block_coder_free(s->coder);
    l2k_cuda_packet_maker_free(s->maker);
    l2k_cuda_close(s->copies.stream);
    for (size_t i = 0; i < s->copies.count; i++)
        l2k_cuda_release(&s->copies.pieces[i]);
    l2k_release(&engine->context, s->copies.pieces);
    l2k_release(&engine->context, s);
    engine->state = NULL;
}

extern const l2k_engine_table l2k_engine_cuda; /* for choose.c */
const l2k_engine_table l2k_engine_cuda = {
    .codes = codes,
    .begin_encode = begin_encode,
    .finish_encode = finish_encode,
    .recode = recode,
    .begin_decode = begin_decode,
    .forget = forget,
    .send = send,
    .fetch = fetch,
    .keep = keep,
    .drop = drop,
    .release = release,
};
