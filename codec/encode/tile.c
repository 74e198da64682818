/* A tile on its way through the encoder: its tree (Annex B), the plan of its transform, and its code-blocks. */
#include "base/integer.h"
#include "base/sample.h"
#include "codec/encode/encoder.h"
#include "transform/device_planes.h"
#include "transform/plane_fetch.h"

static l2k_status prepare_blocks(const l2k_context *context, l2k_tile *tile)
{
    for (uint32_t c = 0; c < tile->num_components; c++)
        for (uint32_t r = 0; r < tile->components[c].num_resolutions; r++)
            for (uint32_t p = 0; p < tile->components[c].resolutions[r].num_precincts; p++)
                L2K_TRY(l2k_precinct_prepare(context, tile, &tile->components[c], r, p));
    return l2k_tile_list_blocks(context, tile, UINT32_MAX, 0, &tile->places, &tile->num_places);
}

/* Unless it is there from the last image. */
static l2k_status build_tree(const l2k_encode_job *job, uint32_t number)
{
    const l2k_encoding *e = job->encoding;
    l2k_tile *tile = &job->tiles[number];
    if (tile->places)
        return L2K_OK;
    const l2k_tile_coding *coding = l2k_coding_of_tile(e, job->first + number);
    L2K_TRY(l2k_tile_create(e->context, &e->siz, coding, job->first + number, UINT64_MAX, tile));
    return prepare_blocks(e->context, tile);
}

/* Guard bits that samples within their precision may need above those that are there: two suffice, or what a kernel
 * asks for, and one more with RCT. */
static unsigned bits_beyond(const l2k_tile_component *component, bool rct)
{
    const unsigned guard_bits = component->coding->guard_bits;
    return (guard_bits < L2K_GUARD_BITS ? L2K_GUARD_BITS - guard_bits : 0) + (rct && guard_bits < 7);
}

/* int16 where no subband's magnitudes need more than 15 bits; RCT may need one more than Mb says (docs/numerics.md). */
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

/* HT code-blocks of the 9/7 get indices truncated as in E.2, where OpenJPEG rounds first: by the plan, or, where steps
 * are still to be chosen or the GPU may run the plan, by their coder. */
static void choose_quantiser(const l2k_encoding *e, const l2k_team *team, const l2k_tile *tile, l2k_plan_spec *spec)
{
    const l2k_component_coding *first = tile->components[0].coding;
    if (!(first->style & L2K_STYLE_HT) || !l2k_coding_wavelet(first)->quantised)
        return;
    spec->truncates = !e->by_step.given && !l2k_backend_overlaps(&team->context, team->backend, l2k_tile_samples(tile));
    if (!spec->truncates)
        spec->type = L2K_COEFFICIENT_FLOAT32;
}

/* Whether the first three planes are those of interleaved pixels. */
static bool are_interleaved(const l2k_encode_job *job)
{
    const l2k_plane *planes = job->planes;
    const size_t bytes = l2k_sample_bytes(planes[0].type);
    for (unsigned c = 0; job->encoding->siz.num_components >= 3 && c < 3; c++)
        if (planes[c].type != planes[0].type || planes[c].row_stride != planes[0].row_stride ||
            planes[c].sample_stride != (ptrdiff_t)(3 * bytes) ||
            (const char *)planes[c].data != (const char *)planes[0].data + c * bytes)
            return false;
    return true;
}

/* The slot's plan for the tile, and the views of its tile-components there. */
static l2k_status choose_plan(const l2k_encode_job *job, const l2k_team *team, l2k_tile_slot *slot, l2k_tile *tile)
{
    const l2k_encoding *e = job->encoding;
    l2k_plan_component *components = l2k_allocate(e->context, tile->num_components, sizeof *components);
    if (!components)
        return l2k_fail(e->context, L2K_ERROR_MEMORY, "out of memory for a tile");
    const bool stays = e->device_coders != NULL;
    l2k_plan_spec spec = {.direction = L2K_FORWARD,
                          .type = coefficient_type(tile),
                          .on_device = stays && e->device_planes && !l2k_choice_has_failed(e->context->choice),
                          .packs_planes = stays && e->device_planes && !are_interleaved(job),
                          .keeps_coefficients = stays};
    choose_quantiser(e, team, tile, &spec);
    l2k_coding_plan_spec(&e->siz, &e->coding, tile->rect, 0, components, &spec);
    l2k_status status = l2k_team_plan(team, slot, &spec);
    if (spec.on_device && l2k_choice_has_failed(e->context->choice)) {
        spec.on_device = false;
        status = l2k_team_plan(team, slot, &spec);
    }
    l2k_release(e->context, components);
    L2K_TRY(status);
    for (uint32_t c = 0; c < tile->num_components; c++)
        tile->components[c].view = l2k_plan_coefficients(slot->plan, c);
    return L2K_OK;
}

/* Copies in the tile's memory, with the strides of the planes. */
static l2k_status fetch_plane(const l2k_encoding *e, l2k_tile *tile, const l2k_tile_component *component,
                              l2k_plane *plane)
{
    const uint32_t width = l2k_rect_width(component->rect), height = l2k_rect_height(component->rect);
    const size_t bytes = l2k_plane_extent(plane, width, height);
    if (bytes == 0)
        return L2K_OK;
    void *host = l2k_arena_take(e->context, &tile->contributions, bytes);
    if (!host)
        return l2k_fail(e->context, L2K_ERROR_MEMORY, "out of memory for the samples of a tile");
    return l2k_plane_fetch(e->context, plane, width, height, e->planes_stream, host);
}

l2k_status l2k_encode_tile_planes(const l2k_encode_job *job, l2k_tile *tile, l2k_plane **planes)
{
    const l2k_context *context = job->encoding->context;
    const bool fetches = job->encoding->device_planes && !tile->components[0].view->on_device;
    *planes = l2k_arena_take(context, &tile->contributions, tile->num_components * sizeof **planes);
    if (!*planes)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for a tile");
    for (uint32_t c = 0; c < tile->num_components; c++) {
        const l2k_tile_component *tc = &tile->components[c];
        l2k_rect area = l2k_component_rect(job->area, tc->dx, tc->dy);
        (*planes)[c] = job->planes[c];
        if (!l2k_rect_empty(tc->rect)) /* else there may be no plane */
            (*planes)[c].data = l2k_sample_at(&(*planes)[c], tc->rect.x0 - area.x0, tc->rect.y0 - area.y0);
        if (fetches)
            L2K_TRY(fetch_plane(job->encoding, tile, tc, &(*planes)[c]));
    }
    return L2K_OK;
}

l2k_status l2k_encode_prepare_tile(const l2k_encode_job *job, const l2k_team *team, const l2k_turn *turn,
                                   l2k_plane **planes)
{
    const l2k_encoding *e = job->encoding;
    l2k_tile *tile = &job->tiles[turn->tile];
    L2K_TRY(build_tree(job, turn->tile));
    L2K_TRY(choose_plan(job, team, turn->slot, tile));
    l2k_run_advance(e->context, L2K_UNITS_TRANSFORM * l2k_tile_samples(tile));
    return l2k_encode_tile_planes(job, tile, planes);
}

l2k_status l2k_encode_begin_plan(const l2k_encode_job *job, const l2k_turn *turn, const l2k_plane *planes)
{
    const l2k_encoding *e = job->encoding;
    if (e->device_planes && job->tiles[turn->tile].components[0].view->on_device)
        L2K_TRY(l2k_plan_follow(turn->slot->plan, e->planes_stream));
    return l2k_plan_begin(turn->slot->plan, planes);
}

/* On the CPU, where the device has failed. */
static l2k_status transform_again(const l2k_encode_job *job, const l2k_team *team, const l2k_turn *turn)
{
    l2k_tile *tile = &job->tiles[turn->tile];
    l2k_plane *planes;
    if (job->makers)                                          /* then no other team is at work */
        job->encoder->output.packets = (l2k_made_packets){0}; /* of a device that failed after it had made them */
    L2K_TRY(choose_plan(job, team, turn->slot, tile));
    L2K_TRY(l2k_encode_tile_planes(job, tile, &planes));
    return l2k_plan_begin(turn->slot->plan, planes);
}

l2k_status l2k_encode_transform(const l2k_encode_job *job, l2k_team *team, const l2k_turn *turn,
                                const l2k_plane *planes)
{
    const l2k_status status = l2k_encode_begin_plan(job, turn, planes);
    return l2k_team_falls_back(team, turn->slot, status) ? transform_again(job, team, turn) : status;
}

/* Bit-planes that the subband must provide for. An HT block's num_planes only reach to its cleanup pass. */
static unsigned magnitude_planes(const l2k_block_place *place)
{
    const l2k_block *block = place->block;
    return place->band->component->coding->style & L2K_STYLE_HT ? block->coded.magnitude_bits : block->num_planes;
}

unsigned l2k_encode_magnitude_bound(const l2k_component_coding *coding, unsigned resolution, unsigned bits)
{
    if (!l2k_coding_wavelet(coding)->reversible)
        bits = bits + 1 - l2k_min_u32(bits, l2k_band_level(coding->levels, resolution));
    return bits;
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
 * enough colours need a third (docs/numerics.md). Beyond that, samples exceed their precision. */
static l2k_status check_planes_coded(const l2k_context *context, const l2k_block_batch *batch, l2k_tile *tile)
{
    for (size_t i = 0; i < batch->num_places; i++) {
        const l2k_subband *band = batch->places[i].band;
        unsigned planes = magnitude_planes(&batch->places[i]);
        if (planes > band->max_planes + bits_beyond(band->component, true))
            return l2k_fail(context, L2K_ERROR_ARGUMENT, "a sample of component %u lies outside its precision",
                            band->component->index);
        if (planes > band->max_planes + tile->missing_guard_bits)
            tile->missing_guard_bits = (uint8_t)(planes - band->max_planes);
        bound_magnitudes(&batch->places[i], tile);
    }
    return L2K_OK;
}

const l2k_packet_maker_table *l2k_encode_packet_makers(const l2k_encoder *encoder)
{
    const l2k_encoding *e = &encoder->encoding;
    const bool psnr = e->targets.kind != L2K_TARGET_RATIO && l2k_layers_need_distortions(&e->targets);
    if (encoder->options[L2K_ENCODER_GUARD_BITS] != L2K_GUARD_BITS) /* a device adds one bit at most, to two */
        return NULL;
    if (encoder->stream || e->num_tiles > 1 || e->coding.num_layers > 1 || e->by_step.given || psnr ||
        e->tile_parts != L2K_TILE_PARTS_ONE || e->changes || l2k_targets_have_limits(&e->targets))
        return NULL;
    return l2k_packet_maker_for(e->device_coders);
}

/* Code-blocks and packets, from the coefficients to the packets' bytes in host memory. */
static l2k_status make_packets(const l2k_encode_job *job, l2k_block_coder *coder, const l2k_block_batch *batch,
                               const l2k_plan *plan, l2k_tile *tile)
{
    l2k_encoder *encoder = job->encoder;
    l2k_block_batch staying = *batch;
    l2k_packet_source from = {.coder = coder, .batch = &staying, .tile = tile, .lengths = job->encoding->plt};
    from.coefficients = l2k_plan_coefficient_memory(plan, &from.coefficient_bytes);
    staying.stays = true;
    if (batch->distortions) {
        from.ratio = job->encoding->targets.targets[0];
        L2K_TRY(l2k_output_fixed_bytes(job->encoding, tile, 1, true, &encoder->output, &from.fixed_bytes));
    }
    encoder->packet_makers = job->makers;
    if (!encoder->packet_maker)
        L2K_TRY(job->makers->create(&encoder->context, &encoder->packet_maker));
    return job->makers->make(encoder->packet_maker, &from, &encoder->output.packets);
}

static l2k_status code_blocks(const l2k_encode_job *job, l2k_block_coder *coder, const l2k_block_batch *batch)
{
    const l2k_context *context = job->encoding->context;
    double start = l2k_stage_start(context);
    l2k_status status = coder->table->begin_encode(coder, batch);
    if (status == L2K_OK)
        status = coder->table->finish(coder);
    l2k_stage_end(context, L2K_STAGE_TIER1, start);
    return status;
}

/* The number of the list of blocks: tiles of one encoder may share a coder. */
static uint64_t list_number(const l2k_encode_job *job, const l2k_tile *tile)
{
    return job->encoding->keeps_tiles ? (job->encoder->num_trees << 16) + (tile->index & 0xFFFF) : 0;
}

static l2k_status finish_plan(l2k_plan *plan, l2k_status status)
{
    const l2k_status finished = plan ? l2k_plan_finish(plan) : L2K_OK;
    return status == L2K_OK ? finished : status;
}

l2k_status l2k_encode_blocks(const l2k_encode_job *job, l2k_team *team, l2k_plan *plan, l2k_tile *tile)
{
    const l2k_encoding *e = job->encoding;
    const bool on_device = plan && l2k_plan_coefficients(plan, 0)->on_device;
    l2k_block_batch batch = {.places = tile->places,
                             .num_places = tile->num_places,
                             .distortions = l2k_layers_need_distortions(&e->targets),
                             .units = L2K_UNITS_BLOCKS * l2k_tile_samples(tile),
                             .stream = plan ? l2k_plan_stream(plan) : NULL,
                             .same = list_number(job, tile)};
    if (plan)
        batch.spare = l2k_plan_spare_memory(plan, &batch.spare_bytes);
    l2k_block_coder *coder;
    l2k_status status = !plan && tile->components[0].view->on_device
                            ? l2k_team_device_coder(team, e->device_coders, &coder)
                            : l2k_team_coder(team, plan, e->device_coders, &coder);
    if (!on_device) /* there, the coder works behind the plan, in its stream */
        status = finish_plan(plan, status);
    else if (status == L2K_OK && l2k_is_timed(e->context)) /* but the transform is not to count as tier-1 */
        status = l2k_device_wait(e->context, l2k_plan_stream(plan));
    if (status == L2K_OK && on_device && job->makers)
        status = make_packets(job, coder, &batch, plan, tile);
    const l2k_made_packets *made = &job->encoder->output.packets;
    if (status == L2K_OK && !made->bytes && !made->blocks_are_here)
        status = code_blocks(job, coder, &batch);
    if (status == L2K_OK && !made->bytes)
        status = check_planes_coded(e->context, &batch, tile);
    return on_device ? finish_plan(plan, status) : status;
}

l2k_status l2k_encode_tile_blocks(const l2k_encode_job *job, l2k_team *team, const l2k_turn *turn)
{
    l2k_tile *tile = &job->tiles[turn->tile];
    const l2k_status status = l2k_encode_blocks(job, team, turn->slot->plan, tile);
    if (!l2k_team_falls_back(team, turn->slot, status))
        return status;
    L2K_TRY(transform_again(job, team, turn));
    return l2k_encode_blocks(job, team, turn->slot->plan, tile);
}

static unsigned most_missing_guard_bits(const l2k_encoder *encoder)
{
    unsigned most = 0;
    for (uint32_t t = 0; t < encoder->num_tiles; t++)
        most = l2k_max_u32(most, encoder->tiles[t].missing_guard_bits);
    return most;
}

bool l2k_encode_needs_guard_bits(const l2k_encoder *encoder)
{
    return most_missing_guard_bits(encoder) > 0;
}

/* More guard bits only where they are needed, so that all other files stay what OpenJPEG writes. By rows, the main
 * header has been written by then, and the tile-parts' own headers say it. Returns the bits that these are to add. */
unsigned l2k_encode_add_guard_bits(l2k_encoder *encoder, bool whole)
{
    const unsigned needed = most_missing_guard_bits(encoder);
    l2k_encoding *e = &encoder->encoding;
    for (uint32_t t = 0; needed && t < encoder->num_tiles; t++)
        l2k_tile_add_guard_bits(&encoder->tiles[t], needed);
    for (uint32_t c = 0; whole && c < e->siz.num_components; c++)
        e->coding.components[c].guard_bits += (uint8_t)needed;
    return whole ? 0 : needed;
}

void l2k_encode_state_magnitudes(l2k_encoder *encoder, unsigned more_guard_bits)
{
    l2k_encoding *e = &encoder->encoding;
    uint16_t *ht = &e->coding.capabilities.ht;
    for (uint32_t t = 0; t < encoder->num_tiles; t++)
        e->magnitude_bound = (uint8_t)l2k_max_u32(e->magnitude_bound, encoder->tiles[t].magnitude_bound);
    *ht = (uint16_t)((*ht & ~L2K_HT_MAGNITUDE_BITS) | l2k_magnitude_code(e->magnitude_bound));
    if (more_guard_bits || e->tile_steps)
        *ht |= L2K_HT_HETEROGENEOUS;
}
