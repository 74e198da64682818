/* OpenCL as an engine: a plan that keeps its coefficients on the device, and the HT block coder there. Code-blocks
 * without kernels go to the CPU's coders behind the device's transform. */
#include "codec/engine/cpu/cpu_engine.h"
#include "codec/engine/opencl/ht_cl_coder.h"

/* Only HT: encoded without distortions and refinement passes, and with known steps. */
static bool codes(unsigned style, const l2k_encode_request *request)
{
    if (!(style & L2K_STYLE_HT) || style & L2K_STYLE_HT_MIXED)
        return false;
    if (!request)
        return true;
    for (uint32_t c = 0; c < request->tile->num_components; c++)
        if (request->tile->components[c].coding->ht_passes > 1)
            return false;
    return !request->distortions && !request->recodes;
}

/* The engine's state is the coder, made when a tile first needs it. */
static l2k_status make_coder(l2k_engine *engine)
{
    l2k_block_coder *coder;
    if (engine->state)
        return L2K_OK;
    L2K_TRY(l2k_block_coder_create(l2k_engine_context(engine), &l2k_ht_on_opencl, &coder));
    engine->state = coder;
    return L2K_OK;
}

/* ---- Encoding ------------------------------------------------------------------------------------------------ */

static l2k_status code(l2k_engine *engine, void *queue, const l2k_encode_request *request)
{
    l2k_block_batch batch = l2k_batch_to_encode(request);
    batch.engine = queue;
    L2K_TRY(make_coder(engine));
    return l2k_code_blocks(engine, engine->state, &batch);
}

/* The coder works behind the plan, in its queue. */
static l2k_status finish_encode(l2k_engine *engine, l2k_engine_slot *slot, const l2k_encode_request *request,
                                l2k_made_packets *made)
{
    if (!l2k_is_off_host(request->tile->components[0].view))
        return l2k_cpu_finish_encode(engine, slot, request, made);
    const l2k_status coded = code(engine, l2k_plan_stream(slot->plan), request);
    const l2k_status finished = l2k_plan_finish(slot->plan);
    return coded == L2K_OK ? finished : coded;
}

/* ---- Decoding ------------------------------------------------------------------------------------------------ */

static l2k_status begin_decode(l2k_engine *engine, l2k_engine_slot *slot, const l2k_decode_request *request)
{
    l2k_block_batch batch = l2k_batch_to_decode(request);
    if (!l2k_is_off_host(l2k_plan_coefficients(slot->plan, 0)))
        return l2k_cpu_begin_decode(engine, slot, request);
    batch.engine = l2k_plan_stream(slot->plan);
    L2K_TRY(make_coder(engine));
    return l2k_decode_off_host(engine, engine->state, &batch, slot->plan, request);
}

/* ---- The table ----------------------------------------------------------------------------------------------- */

static void forget(l2k_engine *engine)
{
    l2k_ht_on_opencl.forget(engine->state);
}

static void release(l2k_engine *engine)
{
    l2k_block_coder_free(engine->state);
    engine->state = NULL;
}

extern const l2k_engine_table l2k_engine_opencl; /* for choose.c */
const l2k_engine_table l2k_engine_opencl = {
    .codes = codes,
    .begin_encode = l2k_cpu_begin_encode,
    .finish_encode = finish_encode,
    .begin_decode = begin_decode,
    .forget = forget,
    .release = release,
};
