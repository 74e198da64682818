/* Tier-2, tier-1 and the inverse transform stage of all tiles that are wanted. */
#include "codec/decode_job.h"

#include "base/memory.h"

/* ---- One tile ------------------------------------------------------------------------------------------------ */

static void release_state(const l2k_context *context, l2k_tile_state *s)
{
    for (uint32_t c = 0; s->cropped && c < s->tile.num_components; c++)
        l2k_release(context, s->cropped[c]);
    l2k_tile_coding_release(context, &s->coding);
    if (s->packed.bytes.context)
        l2k_buffer_release(&s->packed.bytes);
    l2k_release(context, s->places);
    l2k_release(context, s->components);
    l2k_release(context, s->planes);
    l2k_release(context, s->plan_component);
    l2k_release(context, s->cropped);
    l2k_tile_release(context, &s->tile);
    *s = (l2k_tile_state){0};
}

static l2k_status allocate_state(const l2k_decode_job *job, l2k_tile_state *s)
{
    uint32_t count = s->tile.num_components;
    s->components = l2k_allocate(job->context, count, sizeof *s->components);
    s->planes = l2k_allocate_zeroed(job->context, count, sizeof *s->planes);
    s->plan_component = l2k_allocate_zeroed(job->context, count, sizeof *s->plan_component);
    s->cropped = l2k_allocate_zeroed(job->context, count, sizeof *s->cropped);
    if (!s->components || !s->planes || !s->plan_component || !s->cropped)
        return l2k_fail(job->context, L2K_ERROR_MEMORY, "out of memory for a tile");
    return L2K_OK;
}

static l2k_status check_reduction(const l2k_decode_job *job, const l2k_tile_state *s, uint32_t index)
{
    for (uint32_t c = 0; c < job->codestream->siz.num_components; c++)
        if (l2k_wants_component(job, c) && job->discard > s->coding.components[c].levels)
            return l2k_fail(job->context, L2K_ERROR_ARGUMENT,
                            "%u resolutions cannot be left out: component %u of tile %u has only %u", job->discard, c,
                            index, s->coding.components[c].levels + 1u);
    return L2K_OK;
}

/* Every code-block of the wanted resolutions must exist, so that its samples are decoded or cleared. */
static l2k_status prepare_blocks(const l2k_decode_job *job, l2k_tile_state *s)
{
    for (uint32_t c = 0; c < s->tile.num_components; c++) {
        const l2k_tile_component *component = &s->tile.components[c];
        for (uint32_t r = 0; l2k_wants_component(job, c) && r + job->discard < component->num_resolutions; r++)
            for (uint32_t p = 0; p < component->resolutions[r].num_precincts; p++)
                L2K_TRY(l2k_precinct_prepare(job->context, &s->tile, component, r, p));
    }
    return l2k_tile_list_blocks(job->context, &s->tile, job->only, job->discard, &s->places, &s->num_places);
}

/* Annex G asks for components of one size; their numbers of levels may differ (COC). The plan then gives values without
 * level shift: of the 5/3 in the widest range that there is, of the 9/7 as floats, which reach the host from the CPU's
 * plans alone. */
static void join_later(l2k_tile_state *s, l2k_plan_spec *spec)
{
    l2k_plan_component *k = s->components;
    s->joined_later = spec->component_transform && (k[1].levels != k[0].levels || k[2].levels != k[0].levels);
    if (!s->joined_later)
        return;
    spec->component_transform = false;
    spec->cpu_reason = "components with different numbers of levels are joined on the CPU";
    for (int c = 0; c < 3; c++) {
        k[c].precision = 31;
        k[c].is_signed = true;
    }
}

static unsigned most_bits(const uint8_t bits[L2K_MAX_SUBBANDS])
{
    unsigned most = 0;
    for (unsigned band = 0; band < L2K_MAX_SUBBANDS; band++)
        most = l2k_max_u32(most, bits[band]);
    return most;
}

/* The narrowest type for what has been received: int16 where every magnitude, for 9/7 doubled, has at most 15 bits. */
static l2k_status measure_components(const l2k_context *context, l2k_tile_state *s, l2k_coefficient_type *type)
{
    size_t at = 0;
    *type = L2K_COEFFICIENT_INT16;
    for (uint32_t c = 0; c < s->tile.num_components; c++) {
        uint8_t bits[L2K_MAX_SUBBANDS];
        l2k_plan_component *k = &s->components[c];
        L2K_TRY(l2k_measure_planes(context, s, c, &at, bits));
        k->narrow_low = l2k_low_fits_int16(k->levels, k->discard, bits);
        if (most_bits(bits) + (k->wavelet == L2K_WAVELET_9_7) > 15)
            *type = L2K_COEFFICIENT_INT32;
        s->plan_component[c] = c;
    }
    return L2K_OK;
}

/* The plan for all components, or for the only one that is wanted, then without component transform. Where it will not
 * be run, its views are all that matters. */
static l2k_status make_plan(const l2k_decode_job *job, l2k_tile_state *s, l2k_team *team, l2k_tile_slot *slot)
{
    l2k_plan_spec spec = {.direction = L2K_INVERSE};
    l2k_coding_plan_spec(&job->codestream->siz, &s->coding, s->tile.rect, job->discard, s->components, &spec);
    L2K_TRY(measure_components(job->context, s, &spec.type));
    if (!job->planes)
        spec.type = L2K_COEFFICIENT_INT32;
    spec.component_transform = spec.component_transform && job->planes;
    if (job->only != UINT32_MAX) {
        spec.component_transform = false;
        spec.num_components = 1;
        spec.components = &s->components[job->only];
        s->plan_component[job->only] = 0;
    }
    join_later(s, &spec);
    return l2k_team_plan(team, slot, &spec);
}

l2k_status l2k_decode_to_views(l2k_decode_job *job, l2k_tile_state *s, l2k_team *team, l2k_tile_slot *slot,
                               uint32_t index)
{
    double start = l2k_stage_start(job->context);
    L2K_TRY(l2k_check_run(job->context));
    L2K_TRY(l2k_read_tile(job, s, index));
    l2k_stage_end(job->context, L2K_STAGE_READ, start);
    if (s->is_absent)
        return L2K_OK;
    L2K_TRY(check_reduction(job, s, index));
    s->is_blank = job->planes && l2k_is_blank(job->context, &s->tile);
    if (s->is_blank)
        return L2K_OK;
    L2K_TRY(allocate_state(job, s));
    L2K_TRY(prepare_blocks(job, s));
    L2K_TRY(make_plan(job, s, team, slot));
    l2k_tile_blocks blocks = {job, slot->plan, &s->tile, s->plan_component, s->places, s->num_places};
    start = l2k_stage_start(job->context);
    L2K_TRY(l2k_team_run(team, s->num_places, l2k_decode_block, &blocks));
    l2k_stage_end(job->context, L2K_STAGE_TIER1, start);
    return L2K_OK;
}

static l2k_status begin_tile(void *opaque, l2k_team *team, l2k_tile_slot *slot, uint32_t i)
{
    l2k_decode_job *job = opaque;
    l2k_tile_state *s = &job->states[slot->number];
    L2K_TRY(l2k_decode_to_views(job, s, team, slot, job->tiles[i]));
    if (s->is_absent || s->is_blank)
        return L2K_OK;
    L2K_TRY(l2k_place_planes(job, s));
    return l2k_plan_begin(slot->plan, s->planes);
}

static l2k_status end_tile(void *opaque, l2k_team *team, l2k_tile_slot *slot, uint32_t i)
{
    (void)team;
    const l2k_decode_job *job = opaque;
    l2k_tile_state *s = &job->states[slot->number];
    if (s->is_blank) {
        L2K_TRY(l2k_fill_tile(job, job->tiles[i]));
    } else if (!s->is_absent) {
        L2K_TRY(l2k_plan_finish(slot->plan));
        L2K_TRY(l2k_collect_planes(job, s));
    }
    l2k_run_advance(job->context, L2K_UNITS_TILE - (s->num_places ? L2K_UNITS_BLOCKS : 0));
    release_state(job->context, s);
    return L2K_OK;
}

/* Looks at no other tiles than those: there may be 65535, and a call for each of them. */
static l2k_status select_tiles(l2k_decode_job *job)
{
    const l2k_codestream *cs = job->codestream;
    const l2k_tile_grid *grid = &cs->siz.grid;
    uint32_t across = l2k_tiles_across(grid);
    job->tiles = l2k_allocate(job->context, cs->num_tiles, sizeof *job->tiles);
    if (!job->tiles)
        return l2k_fail(job->context, L2K_ERROR_MEMORY, "out of memory for %u tiles", cs->num_tiles);
    uint32_t x0 = (job->area.x0 - grid->tile_x0) / grid->tile_width;
    uint32_t x1 = (job->area.x1 - 1 - grid->tile_x0) / grid->tile_width;
    uint32_t y0 = (job->area.y0 - grid->tile_y0) / grid->tile_height;
    uint32_t y1 = (job->area.y1 - 1 - grid->tile_y0) / grid->tile_height;
    for (uint32_t y = y0; y <= y1; y++)
        for (uint32_t x = x0; x <= x1; x++)
            job->tiles[job->num_tiles++] = y * across + x;
    return L2K_OK;
}

/* A failure can leave tiles in the slots: they are freed when no plan works on their memory any more. */
static l2k_status decode_all(l2k_decode_job *job, l2k_backend backend, const l2k_tile_work *work, bool frugal)
{
    l2k_workers *workers = &job->decoder->workers;
    L2K_TRY(l2k_workers_prepare(job->context, backend, &job->codestream->siz, job->num_tiles, workers));
    workers->frugal = frugal;
    l2k_status status = L2K_OK;
    unsigned num_slots = workers->num_slots;
    job->states = l2k_allocate_zeroed(job->context, num_slots, sizeof *job->states);
    if (!job->states)
        status = l2k_fail(job->context, L2K_ERROR_MEMORY, "out of memory for %u tiles", num_slots);
    else
        status = l2k_workers_run(workers, job->num_tiles, work, job);
    if (status != L2K_OK)
        l2k_workers_release(workers);
    for (unsigned k = 0; job->states && k < num_slots; k++)
        release_state(job->context, &job->states[k]);
    l2k_release(job->context, job->states);
    return status;
}

/* Threads have plans and block coders of their own, and some may be kept of the file or the tile before. Where there is
 * no room for theirs under the limit, one thread that begins anew, and keeps nothing between tiles, may find it: what a
 * file needs shall depend neither on the number of processors nor on other files. So only what that one comes to is
 * told. */
static l2k_status decode_within_limit(l2k_decode_job *job, l2k_backend backend, const l2k_tile_work *work)
{
    l2k_decoder *decoder = job->decoder;
    int_least64_t spare_packets = atomic_load(job->spare_packets);
    decoder->pool.silent = job->context->threads > 1 || decoder->workers.teams || job->num_tiles > 1;
    l2k_status status = decode_all(job, backend, work, false);
    bool again = status == L2K_ERROR_LIMIT && decoder->pool.silent && atomic_load(&decoder->pool.refused);
    decoder->pool.silent = false;
    if (!again)
        return status;
    l2k_pool_try_again(&decoder->pool);
    l2k_run_again(&decoder->run);
    atomic_store(job->spare_packets, spare_packets);
    decoder->context.threads = 1;
    return decode_all(job, backend, work, true);
}

static bool lacks_tiles(const l2k_decode_job *job)
{
    for (uint32_t i = 0; i < job->num_tiles; i++)
        if (l2k_tile_bytes(job->codestream, job->tiles[i]) == 0)
            return true;
    return false;
}

l2k_status l2k_decode_with(l2k_decoder *decoder, l2k_rect area, const l2k_plane *planes, l2k_backend backend,
                           const l2k_tile_work *work, void *user)
{
    l2k_decode_job job = {.decoder = decoder,
                          .context = &decoder->context,
                          .codestream = &decoder->codestream,
                          .area = area,
                          .planes = planes,
                          .user = user,
                          .spare_packets = &decoder->spare_packets,
                          .only = l2k_decoder_only_component(decoder),
                          .discard = (uint32_t)decoder->options[L2K_DECODER_REDUCE],
                          .layers = (uint32_t)decoder->options[L2K_DECODER_LAYERS]};
    L2K_TRY(select_tiles(&job));
    l2k_start_pass(&job);
    l2k_run_restart(&decoder->run, (uint64_t)L2K_UNITS_TILE * job.num_tiles);
    l2k_status status = planes && lacks_tiles(&job) ? l2k_blacken(&job) : L2K_OK;
    if (status == L2K_OK)
        status = decode_within_limit(&job, backend, work);
    l2k_release(job.context, job.tiles);
    return status;
}

l2k_status l2k_decode_tiles(l2k_decoder *decoder, l2k_rect area, const l2k_plane *planes)
{
    return l2k_decode_with(decoder, area, planes, (l2k_backend)decoder->options[L2K_DECODER_BACKEND],
                           &(l2k_tile_work){begin_tile, end_tile}, NULL);
}
