/* A tile in the encoder: builds its tree (Annex B), and has an engine code its samples. */
#include "codec/encode/encoder.h"

#include "base/integer.h"
#include "base/sample.h"

/* Builds the tree, unless the last image left it. */
static l2k_status build_tree(const l2k_encode_call *call, uint32_t number)
{
    const l2k_encoding *e = &call->encoder->encoding;
    l2k_tile *tile = &call->encoder->tiles[number];
    if (tile->places)
        return L2K_OK;
    const l2k_tile_coding *coding = l2k_coding_of_tile(e, call->first + number);
    L2K_TRY(l2k_tile_create(e->context, &e->siz, coding, call->first + number, UINT64_MAX, tile));
    L2K_TRY(l2k_tile_prepare(e->context, tile));
    return l2k_tile_list_blocks(e->context, tile, &tile->places, &tile->num_places);
}

/* Guard bits beyond the present ones that samples within their precision may need: two suffice, or a kernel's number,
 * and one more with RCT. */
static unsigned bits_beyond(const l2k_tile_component *component, bool rct)
{
    const unsigned guard_bits = component->coding->guard_bits;
    return (guard_bits < L2K_GUARD_BITS ? L2K_GUARD_BITS - guard_bits : 0) + (rct && guard_bits < 7);
}

/* int16 if no subband's magnitudes need more than 15 bits; RCT may need one more than Mb (docs/numerics.md). */
static l2k_coefficient_type coefficient_type(const l2k_tile *tile)
{
    for (uint32_t c = 0; c < tile->num_components; c++) {
        const l2k_tile_component *component = &tile->components[c];
        bool rct = tile->coding->component_transform && c < 3 && l2k_coding_wavelet(component->coding)->reversible;
        for (uint32_t r = 0; r < component->num_resolutions; r++)
            for (uint32_t b = 0; b < component->resolutions[r].num_bands; b++)
                if (component->resolutions[r].bands[b].max_planes + bits_beyond(component, rct) > 15)
                    return L2K_COEFFICIENT_INT32;
    }
    return L2K_COEFFICIENT_INT16;
}

/* Whether the first three planes hold interleaved pixels. */
static bool are_interleaved(const l2k_encode_call *call)
{
    const l2k_plane *planes = call->planes;
    const size_t bytes = l2k_sample_bytes(planes[0].type);
    for (unsigned c = 0; call->encoder->encoding.siz.num_components >= 3 && c < 3; c++)
        if (planes[c].type != planes[0].type || planes[c].row_stride != planes[0].row_stride ||
            planes[c].sample_stride != (ptrdiff_t)(3 * bytes) ||
            (const char *)planes[c].data != (const char *)planes[0].data + c * bytes)
            return false;
    return true;
}

/* Makes planes that start at the tile's corner and belong to the tile. */
static l2k_status place_planes(const l2k_encode_call *call, l2k_tile *tile, l2k_plane **planes)
{
    const l2k_context *context = call->encoder->encoding.context;
    *planes = l2k_arena_take(context, &tile->contributions, tile->num_components * sizeof **planes);
    L2K_TRY(l2k_check_memory(context, *planes, "a tile"));
    for (uint32_t c = 0; c < tile->num_components; c++) {
        const l2k_tile_component *tc = &tile->components[c];
        l2k_rect area = l2k_component_rect(call->area, tc->dx, tc->dy);
        (*planes)[c] = call->planes[c];
        if (!l2k_rect_empty(tc->rect)) /* a plane may be missing otherwise */
            (*planes)[c].data = l2k_sample_at(&(*planes)[c], tc->rect.x0 - area.x0, tc->rect.y0 - area.y0);
    }
    return L2K_OK;
}

/* HT code-blocks of the 9/7 get indices truncated as in E.2, where OpenJPEG rounds first. */
static bool truncates(const l2k_tile *tile)
{
    const l2k_component_coding *first = tile->components[0].coding;
    return (first->style & L2K_STYLE_HT) && l2k_coding_wavelet(first)->quantised;
}

/* Whether the engine may make the packets: one tile, one layer, one tile-part. It adds at most one guard bit to two. */
static bool takes_packets(const l2k_encoder *encoder)
{
    const l2k_encoding *e = &encoder->encoding;
    const bool cuts = l2k_encoding_truncates(e);
    const l2k_layer_targets *targets = cuts ? &e->truncation : &e->targets;
    const bool psnr = targets->count && targets->kind != L2K_TARGET_RATIO && l2k_layers_need_distortions(targets);
    return encoder->options[L2K_ENCODER_GUARD_BITS] == L2K_GUARD_BITS && !encoder->stream && e->num_tiles == 1 &&
           e->coding.num_layers == 1 && !psnr && e->tile_parts == L2K_TILE_PARTS_ONE && !e->changes &&
           !targets->component_bytes && (cuts || !targets->most_bytes);
}

l2k_encode_request l2k_encode_request_of(const l2k_encode_call *call, l2k_tile *tile)
{
    const l2k_encoding *e = &call->encoder->encoding;
    /* Includes the tile's number, since tiles of one encoder may share a block coder. */
    const uint64_t number = (call->encoder->num_trees << 16) + (tile->index & 0xFFFF);
    return (l2k_encode_request){.tile = tile,
                                .off_host = e->off_host,
                                .stream = e->planes_stream,
                                .follows = e->blocks_follow,
                                .truncates = truncates(tile),
                                .recodes = l2k_encoding_truncates(e),
                                .packets =
                                    l2k_encoding_truncates(e) && !call->blocks_on_host && takes_packets(call->encoder),
                                .lengths = e->plt,
                                .distortions = l2k_layers_need_distortions(&e->targets),
                                .errors = e->truncation.count && e->truncation.kind == L2K_TARGET_PSNR,
                                .task = call->task,
                                .distance = call->distance,
                                .list = e->keeps_tiles ? number : 0,
                                .units = call->advances ? L2K_UNITS_BLOCKS * l2k_tile_samples(tile) : 0,
                                .in_strips = call->in_strips};
}

static l2k_status begin(const l2k_encode_call *call, l2k_engine *engine, const l2k_job *job)
{
    const l2k_encoding *e = &call->encoder->encoding;
    l2k_tile *tile = &call->encoder->tiles[job->tile];
    l2k_encode_request request = l2k_encode_request_of(call, tile);
    l2k_plan_spec spec = {.direction = L2K_FORWARD,
                          .type = coefficient_type(tile),
                          .by_rows = !l2k_encoding_truncates(e),
                          .strip_samples = e->context->strip_samples};
    if (!spec.strip_samples && call->encoder->leaves_early)
        spec.strip_samples = 1; /* the least: packets are waited for */
    if (!call->in_strips)
        L2K_TRY(place_planes(call, tile, &request.planes));
    l2k_plan_component *components = l2k_allocate(e->context, tile->num_components, sizeof *components);
    L2K_TRY(l2k_check_memory(e->context, components, "a tile"));
    l2k_coding_plan_spec(&e->siz, &e->coding, tile->rect, 0, components, &spec);
    request.spec = &spec;
    request.interleaved = !call->in_strips && are_interleaved(call);
    const l2k_status status = l2k_engine_begin_encode(engine, job->slot, &request);
    l2k_release(e->context, components);
    return status;
}

l2k_status l2k_encode_begin_tile(void *opaque, l2k_worker_group *group, const l2k_job *job)
{
    const l2k_encode_call *call = opaque;
    L2K_TRY(build_tree(call, job->tile));
    l2k_run_advance(call->encoder->encoding.context,
                    L2K_UNITS_TRANSFORM * l2k_tile_samples(&call->encoder->tiles[job->tile]));
    const l2k_status status = begin(call, &group->engine, job);
    return l2k_engine_falls_back(&group->engine, job->slot, status) ? begin(call, &group->engine, job) : status;
}

static void bound_magnitudes(const l2k_block_place *place, l2k_tile *tile)
{
    const l2k_component_coding *coding = place->band->component->coding;
    const l2k_block *block = place->block;
    if (!(coding->style & L2K_STYLE_HT) || !block->num_passes)
        return;
    unsigned bits = block->coded.magnitude_bits - (block->num_planes - 1u);
    unsigned bound = l2k_encode_magnitude_bound(coding, place->band->resolution, bits);
    tile->magnitude_bound = (uint8_t)l2k_max_u32(tile->magnitude_bound, bound);
}

/* The chroma of RCT has a bit more than its component's precision, which two guard bits do not always cover: strong
 * colours need a third (docs/numerics.md). Beyond that, samples exceed their precision. */
l2k_status l2k_encode_check_block(const l2k_context *context, l2k_tile *tile, const l2k_block_place *place,
                                  bool is_final)
{
    const l2k_subband *band = place->band;
    const bool is_ht = band->component->coding->style & L2K_STYLE_HT; /* num_planes then reach to the cleanup pass */
    const unsigned planes = is_ht ? place->block->coded.magnitude_bits : place->block->num_planes;
    if (planes > band->max_planes + (is_final ? 0 : bits_beyond(band->component, true)))
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "a sample of component %u lies outside its precision",
                        band->component->index);
    if (planes > band->max_planes + tile->missing_guard_bits)
        tile->missing_guard_bits = (uint8_t)(planes - band->max_planes);
    bound_magnitudes(place, tile);
    return L2K_OK;
}

l2k_status l2k_encode_check_blocks(const l2k_context *context, l2k_tile *tile)
{
    for (size_t i = 0; i < tile->num_places; i++)
        L2K_TRY(l2k_encode_check_block(context, tile, &tile->places[i], false));
    return L2K_OK;
}

void l2k_encode_provide_guard_bits(l2k_encoder *encoder)
{
    l2k_tile *tile = &encoder->tiles[0];
    const l2k_tile_component *first = &tile->components[0];
    const bool rct = tile->coding->component_transform && l2k_coding_wavelet(first->coding)->reversible;
    for (uint32_t c = 0; c < tile->num_components; c++)
        tile->missing_guard_bits =
            (uint8_t)l2k_max_u32(tile->missing_guard_bits, bits_beyond(&tile->components[c], rct && c < 3));
    l2k_encode_add_guard_bits(encoder);
}

static l2k_status finish(const l2k_encode_call *call, l2k_engine *engine, const l2k_job *job, l2k_made_packets *made)
{
    l2k_encoder *encoder = call->encoder;
    l2k_tile *tile = &encoder->tiles[job->tile];
    l2k_encode_request request = l2k_encode_request_of(call, tile);
    if (takes_packets(encoder) && l2k_is_off_host(tile->components[0].view))
        request.packets = true;
    if (request.packets && request.distortions) {
        L2K_TRY(l2k_output_find_fixed_bytes(encoder));
        request.ratio = encoder->encoding.targets.targets[0];
        request.fixed_bytes = encoder->output.fixed_bytes;
    }
    return l2k_engine_finish_encode(engine, job->slot, &request, made);
}

l2k_status l2k_encode_end_tile(const l2k_encode_call *call, l2k_engine *engine, const l2k_job *job)
{
    l2k_made_packets made = {0};
    l2k_status status = finish(call, engine, job, &made);
    if (l2k_engine_falls_back(engine, job->slot, status)) {
        L2K_TRY(begin(call, engine, job));
        status = finish(call, engine, job, &made);
    }
    L2K_TRY(status);
    if (!made.bytes)
        return l2k_encode_check_blocks(call->encoder->encoding.context, &call->encoder->tiles[job->tile]);
    call->encoder->output.packets = made; /* no other group is at work in this case */
    return L2K_OK;
}

l2k_status l2k_encode_end_transform(const l2k_encode_call *call, l2k_engine *engine, const l2k_job *job)
{
    const l2k_status status = l2k_engine_finish(job->slot);
    if (!l2k_engine_falls_back(engine, job->slot, status))
        return status;
    L2K_TRY(begin(call, engine, job));
    return l2k_engine_finish(job->slot);
}

l2k_status l2k_encode_recode(void *opaque, l2k_worker_group *group, const l2k_job *job)
{
    const l2k_encode_call *call = opaque;
    l2k_tile *tile = &call->encoder->tiles[job->tile];
    const l2k_encode_request request = l2k_encode_request_of(call, tile);
    L2K_TRY(l2k_engine_recode(&group->engine, &request));
    return call->task == L2K_ESTIMATE ? L2K_OK : l2k_encode_check_blocks(&call->encoder->context, tile);
}
