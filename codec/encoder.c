/* The encoder's block diagram: from an image to a codestream or a JP2 file (ISO/IEC 15444-1, Annexes A to J). Options
 * are in encoder_options.c, their checks in encode_setup.c, images by rows of tiles in encode_rows.c. */
#include "codec/encoder.h"

#include "base/sample.h"
#include "codec/codestream/markers.h"

/* ---- A tile: samples to coefficients to coded blocks ------------------------------------------------------------ */

/* What the teams share. */
typedef struct tiles_job {
    const l2k_encoding *encoding;
    uint32_t first; /* number of the first tile */
    l2k_tile *tiles;
    l2k_rect area; /* of the image, which `planes` hold */
    const l2k_plane *planes;
} tiles_job;

static l2k_status prepare_blocks(const l2k_context *context, l2k_tile *tile)
{
    for (uint32_t c = 0; c < tile->num_components; c++)
        for (uint32_t r = 0; r < tile->components[c].num_resolutions; r++)
            for (uint32_t p = 0; p < tile->components[c].resolutions[r].num_precincts; p++)
                L2K_TRY(l2k_precinct_prepare(context, tile, &tile->components[c], r, p));
    return L2K_OK;
}

/* int16 where no subband's magnitudes need more than 15 bits; RCT may need one more than Mb says (docs/numerics.md). */
static l2k_coefficient_type coefficient_type(const l2k_tile *tile)
{
    for (uint32_t c = 0; c < tile->num_components; c++) {
        const l2k_tile_component *component = &tile->components[c];
        bool rct = tile->coding->component_transform && c < 3 && l2k_coding_wavelet(component->coding)->reversible;
        for (uint32_t r = 0; r < component->num_resolutions; r++)
            for (uint32_t b = 0; b < component->resolutions[r].num_bands; b++)
                if (component->resolutions[r].bands[b].max_planes + rct > 15)
                    return L2K_COEFFICIENT_INT32;
    }
    return L2K_COEFFICIENT_INT16;
}

/* The slot's plan for the tile, and the views of its tile-components there. */
static l2k_status choose_plan(const tiles_job *job, const l2k_team *team, l2k_tile_slot *slot, l2k_tile *tile)
{
    const l2k_encoding *e = job->encoding;
    l2k_plan_component *components =
        l2k_arena_take(e->context, &tile->arena, tile->num_components * sizeof *components);
    if (!components)
        return l2k_fail(e->context, L2K_ERROR_MEMORY, "out of memory for a tile");
    l2k_plan_spec spec = {.direction = L2K_FORWARD, .type = coefficient_type(tile)};
    l2k_coding_plan_spec(&e->siz, &e->coding, tile->rect, 0, components, &spec);
    L2K_TRY(l2k_team_plan(team, slot, &spec));
    for (uint32_t c = 0; c < tile->num_components; c++)
        tile->components[c].view = l2k_plan_coefficients(slot->plan, c);
    return L2K_OK;
}

/* The planes from the tile's corner on. */
static l2k_status tile_planes(const tiles_job *job, l2k_tile *tile, l2k_plane **planes)
{
    const l2k_context *context = job->encoding->context;
    *planes = l2k_arena_take(context, &tile->arena, tile->num_components * sizeof **planes);
    if (!*planes)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for a tile");
    for (uint32_t c = 0; c < tile->num_components; c++) {
        const l2k_tile_component *tc = &tile->components[c];
        l2k_rect area = l2k_component_rect(job->area, tc->dx, tc->dy);
        (*planes)[c] = job->planes[c];
        if (!l2k_rect_empty(tc->rect)) /* else there may be no plane */
            (*planes)[c].data = l2k_sample_at(&(*planes)[c], tc->rect.x0 - area.x0, tc->rect.y0 - area.y0);
    }
    return L2K_OK;
}

static l2k_status prepare_tile(const tiles_job *job, const l2k_team *team, const l2k_turn *turn, l2k_plane **planes)
{
    const l2k_encoding *e = job->encoding;
    l2k_tile *tile = &job->tiles[turn->tile];
    L2K_TRY(l2k_tile_create(e->context, &e->siz, &e->coding, job->first + turn->tile, UINT64_MAX, tile));
    L2K_TRY(prepare_blocks(e->context, tile));
    L2K_TRY(choose_plan(job, team, turn->slot, tile));
    l2k_run_advance(e->context, L2K_UNITS_TRANSFORM * l2k_tile_samples(tile));
    return tile_planes(job, tile, planes);
}

/* The chroma of RCT has a bit more than its component's precision, which two guard bits do not always cover: strong
 * enough colours need a third (docs/numerics.md). Beyond that, samples exceed their precision. */
static l2k_status check_planes_coded(const l2k_context *context, const l2k_block_batch *batch, l2k_tile *tile)
{
    for (size_t i = 0; i < batch->num_places; i++) {
        const l2k_subband *band = batch->places[i].band;
        unsigned planes = batch->places[i].block->num_planes;
        if (planes > band->max_planes + 1u)
            return l2k_fail(context, L2K_ERROR_ARGUMENT, "a sample of component %u lies outside its precision",
                            band->component->index);
        tile->needs_guard_bit |= planes > band->max_planes;
    }
    return L2K_OK;
}

static l2k_status code_blocks(const tiles_job *job, l2k_block_coder *coder, l2k_tile *tile)
{
    const l2k_encoding *e = job->encoding;
    l2k_block_place *places;
    l2k_block_batch batch = {.distortions = l2k_layers_need_distortions(&e->targets),
                             .units = L2K_UNITS_BLOCKS * l2k_tile_samples(tile)};
    L2K_TRY(l2k_tile_list_blocks(e->context, tile, UINT32_MAX, 0, &places, &batch.num_places));
    batch.places = places;
    double start = l2k_stage_start(e->context);
    l2k_status status = coder->table->begin_encode(coder, &batch);
    if (status == L2K_OK)
        status = coder->table->finish(coder);
    l2k_stage_end(e->context, L2K_STAGE_TIER1, start);
    if (status == L2K_OK)
        status = check_planes_coded(e->context, &batch, tile);
    l2k_release(e->context, places);
    return status;
}

/* A team's share of the tiles. Where the transform runs on a device, the next tile's runs while blocks are coded. */
static void encode_share(void *opaque, l2k_teams *teams, l2k_team *team)
{
    const tiles_job *job = opaque;
    l2k_turn turn;
    while (l2k_next_turn(teams, team, &turn)) {
        l2k_status status;
        l2k_plane *planes;
        if (turn.begins) {
            status = prepare_tile(job, team, &turn, &planes);
            if (status == L2K_OK) /* level shift, component transform, wavelet, quantiser: transform/ */
                status = l2k_plan_begin(turn.slot->plan, planes);
        } else {
            status = l2k_plan_finish(turn.slot->plan);
            if (status == L2K_OK) /* bit-planes and arithmetic coder: codec/blocks/ */
                status = code_blocks(job, team->coder, &job->tiles[turn.tile]);
        }
        l2k_end_turn(teams, team, &turn, status);
    }
}

/* ---- The block diagram ------------------------------------------------------------------------------------------ */

/* A third guard bit only where it is needed, so that all other files stay what OpenJPEG writes. By rows, the main
 * header has been written by then, and the tile-parts' own headers say it. Returns the bits that these are to add. */
static unsigned add_guard_bit(l2k_encoder *encoder, bool whole)
{
    bool needed = false;
    l2k_encoding *e = &encoder->encoding;
    for (uint32_t t = 0; t < encoder->num_tiles; t++)
        needed |= encoder->tiles[t].needs_guard_bit;
    for (uint32_t t = 0; needed && t < encoder->num_tiles; t++)
        l2k_tile_add_guard_bit(&encoder->tiles[t]);
    for (uint32_t c = 0; needed && whole && c < e->siz.num_components; c++)
        e->coding.components[c].guard_bits++;
    return needed && !whole;
}

l2k_status l2k_encode_tiles(l2k_encoder *encoder, uint32_t first, l2k_rect area, const l2k_plane *planes)
{
    const l2k_encoding *e = &encoder->encoding;
    const l2k_context *context = e->context;
    l2k_tile *tiles = encoder->tiles;
    bool whole = !encoder->stream;
    tiles_job job = {e, first, tiles, area, planes};
    size_t fixed_bytes;
    L2K_TRY(l2k_encode_check_planes(e, area, planes));

    /* Annexes G, F, E, then D and C, tile by tile: transform/, codec/blocks/. */
    L2K_TRY(l2k_teams_run(&encoder->teams, encoder->num_tiles, encode_share, &job));
    unsigned more_guard_bits = add_guard_bit(encoder, whole);

    /* J.14, rate control: coding passes into layers: codec/packets/rate.c. */
    double start = l2k_stage_start(context);
    L2K_TRY(l2k_output_fixed_bytes(e, tiles, encoder->num_tiles, whole, &encoder->output, &fixed_bytes));
    L2K_TRY(l2k_layers_allocate(context, tiles, encoder->num_tiles, &e->targets, e->plt, fixed_bytes));
    l2k_stage_end(context, L2K_STAGE_RATE, start);

    /* Annex B: packets into tile-parts: codec/packets/, encode_output.c. */
    start = l2k_stage_start(context);
    L2K_TRY(l2k_output_tile_parts(e, tiles, encoder->num_tiles, more_guard_bits, &encoder->output));
    l2k_stage_end(context, L2K_STAGE_TIER2, start);
    return L2K_OK;
}

static l2k_status encode_image(l2k_encoder *encoder, const l2k_image *image, const l2k_plane *planes,
                               const l2k_stream *stream)
{
    l2k_output *out = &encoder->output;
    L2K_TRY(l2k_encode_start(encoder, image, false));
    L2K_TRY(l2k_encode_tiles(encoder, 0, encoder->encoding.siz.grid.image, planes));

    /* Annexes A and I: main header and boxes: codec/codestream/, codec/jp2/. */
    l2k_buffer_put(&out->body, L2K_EOC, 2);
    L2K_TRY(l2k_buffer_status(&out->body));
    L2K_TRY(l2k_output_head(&encoder->encoding, out->body.size, out));

    L2K_TRY(l2k_poll(&encoder->context, L2K_POLL_NOW)); /* nothing is written after a "no" */
    L2K_TRY(l2k_encode_write(encoder, stream, &out->head));
    return l2k_encode_write(encoder, stream, &out->body);
}

l2k_status l2k_encoder_encode(l2k_encoder *encoder, const l2k_image *image, const l2k_plane *planes,
                              const l2k_stream *stream)
{
    if (!image || !planes || !stream || !stream->write)
        return l2k_fail(&encoder->context, L2K_ERROR_ARGUMENT, "no image, no planes or no stream to write to");
    return l2k_encode_end(encoder, encode_image(encoder, image, planes, stream));
}

/* ---- Start and end of an image ---------------------------------------------------------------------------------- */

/* Gives back what is kept for the next image. */
static void drop(l2k_encoder *encoder)
{
    l2k_teams_release(&encoder->teams);
    l2k_pool_drain(&encoder->pool, &encoder->context.hooks);
}

static uint64_t count_units(const l2k_image *image)
{
    uint64_t samples = 0;
    for (uint32_t c = 0; c < image->num_components; c++) {
        uint32_t width, height;
        l2k_component_size(image, c, &width, &height);
        samples += (uint64_t)width * height;
    }
    return samples * (L2K_UNITS_TRANSFORM + L2K_UNITS_BLOCKS + L2K_UNITS_PACKETS);
}

l2k_status l2k_encode_start(l2k_encoder *encoder, const l2k_image *image, bool by_rows)
{
    const l2k_context *context = &encoder->context;
    const int64_t *options = encoder->options;
    l2k_encode_end(encoder, L2K_OK);
    encoder->context.threads = l2k_thread_count((unsigned)options[L2K_ENCODER_THREADS]);
    encoder->context.cpu = (l2k_cpu)options[L2K_ENCODER_CPU];
    l2k_choice_start(&encoder->choice, options[L2K_ENCODER_GPU_MIN_SAMPLES]);
    l2k_pool_start_job(&encoder->pool, &context->hooks, (uint64_t)options[L2K_ENCODER_LIMIT_MEMORY]);
    if (l2k_pool_exceeds(&encoder->pool))
        drop(encoder);
    l2k_run_start(&encoder->run, 0, options[L2K_ENCODER_TIMINGS]);
    encoder->has_image = true;
    l2k_output_start(&encoder->output, context);
    L2K_TRY(l2k_encode_setup(encoder, image, &encoder->encoding));
    encoder->run.total = count_units(image);
    const l2k_siz *siz = &encoder->encoding.siz;
    encoder->num_tiles = by_rows ? l2k_tiles_across(&siz->grid) : encoder->encoding.num_tiles;
    encoder->tiles = l2k_allocate_zeroed(context, encoder->num_tiles, sizeof *encoder->tiles);
    if (!encoder->tiles)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for %u tiles", encoder->num_tiles);
    return l2k_teams_prepare(context, (l2k_backend)options[L2K_ENCODER_BACKEND],
                             l2k_block_coder_for((unsigned)options[L2K_ENCODER_STYLE]), siz, encoder->num_tiles,
                             &encoder->teams);
}

l2k_status l2k_encode_end(l2k_encoder *encoder, l2k_status status)
{
    const l2k_context *context = &encoder->context;
    for (uint32_t t = 0; encoder->tiles && t < encoder->num_tiles; t++)
        l2k_tile_release(context, &encoder->tiles[t]);
    if (encoder->has_image) {
        l2k_teams_forget(&encoder->teams);
        l2k_release(context, encoder->tiles);
        l2k_encoding_release(&encoder->encoding);
        l2k_output_release(&encoder->output);
    }
    encoder->has_image = false;
    encoder->tiles = NULL;
    encoder->stream = NULL;
    if (status != L2K_OK || !l2k_choice_is_settled(&encoder->choice))
        drop(encoder);
    return status;
}

l2k_status l2k_encode_write(l2k_encoder *encoder, const l2k_stream *stream, l2k_buffer *bytes)
{
    const l2k_context *context = &encoder->context;
    double start = l2k_stage_start(context);
    int failed = bytes->size ? stream->write(stream->user, bytes->data, bytes->size) : 0;
    l2k_stage_end(context, L2K_STAGE_WRITE, start);
    if (failed)
        return l2k_fail(context, L2K_ERROR_IO, "writing failed");
    encoder->output.written += bytes->size;
    bytes->size = 0;
    return L2K_OK;
}

/* ---- To memory ------------------------------------------------------------------------------------------------- */

/* The buffer remembers a failure. */
static int append(void *user, const void *bytes, size_t count)
{
    l2k_buffer_append(user, bytes, count);
    return 0;
}

l2k_status l2k_encoder_encode_memory(l2k_encoder *encoder, const l2k_image *image, const l2k_plane *planes,
                                     const uint8_t **bytes, size_t *count)
{
    if (bytes)
        *bytes = NULL;
    if (count)
        *count = 0;
    if (!bytes || !count)
        return l2k_fail(&encoder->context, L2K_ERROR_ARGUMENT, "nowhere to return the file to");
    l2k_buffer *memory = &encoder->memory;
    l2k_release(&encoder->context, memory->data);
    *memory = (l2k_buffer){.context = &encoder->context};
    L2K_TRY(l2k_encoder_encode(encoder, image, planes, &(l2k_stream){.write = append, .user = memory}));
    l2k_status status = l2k_buffer_status(memory);
    if (status != L2K_OK) {
        l2k_buffer_release(memory);
        return l2k_encode_end(encoder, status);
    }
    *bytes = memory->data;
    *count = memory->size;
    return L2K_OK;
}
