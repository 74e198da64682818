/* The decoder's block diagram: from a codestream or a JP2 file to an image (ISO/IEC 15444-1), the encoder's stages in
 * reverse. Options are in decoder_options.c, limits in codestream/limits.c and decode_memory.c, palettes and channels
 * in decode_outputs.c. */
#include "codec/decoder.h"

#include "base/sample.h"

/* ---- Headers ---------------------------------------------------------------------------------------------------- */

/* The signature box, or SOC. */
enum { ENOUGH_TO_DETECT = 12 };

static l2k_status check_kind(const l2k_context *context, const uint8_t *data, size_t bytes)
{
    if (l2k_jp2_detect(data, bytes) || (bytes >= 2 && data[0] == 0xFF && data[1] == 0x4F))
        return L2K_OK;
    return l2k_fail(context, L2K_ERROR_FORMAT, "neither a JP2 file nor a JPEG 2000 codestream");
}

/* Reads the stream to its end, unless it turns out to be no picture. */
static l2k_status read_all(l2k_decoder *decoder, const l2k_stream *stream)
{
    const l2k_context *context = &decoder->context;
    l2k_buffer *file = &decoder->file;
    uint64_t limit = (uint64_t)decoder->options[L2K_DECODER_LIMIT_BYTES];
    for (;;) {
        L2K_TRY(l2k_poll(context, L2K_POLL_NOW));
        if (!l2k_buffer_grow(file, 1 << 16))
            return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for the file");
        ptrdiff_t got = stream->read(stream->user, file->data + file->size, file->capacity - file->size);
        if (got < 0)
            return l2k_fail(context, L2K_ERROR_IO, "reading failed");
        if (got == 0)
            return L2K_OK;
        bool was_checked = file->size >= ENOUGH_TO_DETECT;
        file->size += (size_t)got;
        if (!was_checked && file->size >= ENOUGH_TO_DETECT)
            L2K_TRY(check_kind(context, file->data, file->size));
        if (file->size > limit)
            return l2k_fail(context, L2K_ERROR_LIMIT, "the file has more than %llu bytes", (unsigned long long)limit);
    }
}

/* Of the limit, the part that may stay with what is kept of other files while this one is opened. */
enum { PART_KEPT = 8 };

/* What is kept of a larger file must not stand in the way of this one. */
static void set_limit(l2k_decoder *decoder, uint64_t limit)
{
    decoder->pool.limit = limit;
    if (decoder->pool.in_use + decoder->pool.idle > limit / PART_KEPT)
        l2k_decoder_drop(decoder);
}

static l2k_status open_bytes(l2k_decoder *decoder, const uint8_t *data, size_t bytes)
{
    const l2k_context *context = &decoder->context;
    const int64_t *options = decoder->options;
    if (bytes == 0)
        return l2k_fail(context, L2K_ERROR_TRUNCATED, "the file is empty");
    l2k_codestream_limits limits = {l2k_limit_samples(options[L2K_DECODER_LIMIT_SAMPLES], bytes),
                                    (uint32_t)options[L2K_DECODER_LIMIT_COMPONENTS],
                                    (uint32_t)options[L2K_DECODER_LIMIT_TILES], options[L2K_DECODER_STRICT] != 0};
    decoder->file_bytes = bytes;
    set_limit(decoder, l2k_decoder_memory_limit(decoder));
    L2K_TRY(check_kind(context, data, bytes));

    /* Annex I, boxes: codec/jp2/. */
    decoder->is_jp2 = l2k_jp2_detect(data, bytes);
    if (decoder->is_jp2) {
        L2K_TRY(l2k_jp2_open(context, data, bytes, limits.strict, &decoder->jp2));
        data += decoder->jp2.codestream_at;
        bytes = decoder->jp2.codestream_bytes;
    }

    /* Annex A, main header and tile-parts: codec/codestream/. */
    L2K_TRY(l2k_codestream_open(context, data, bytes, &limits, &decoder->codestream));
    if (decoder->is_jp2)
        L2K_TRY(l2k_jp2_settle_palette(&decoder->jp2, decoder->codestream.siz.num_components));
    L2K_TRY(l2k_decoder_plan_outputs(decoder));
    return l2k_decoder_check_outputs(decoder, &limits.size);
}

static void start_opening(l2k_decoder *decoder)
{
    l2k_decoder_close(decoder);
    l2k_run_start(&decoder->run, 0, decoder->options[L2K_DECODER_TIMINGS]);
    int64_t limit = decoder->options[L2K_DECODER_LIMIT_MEMORY];
    l2k_pool_start_job(&decoder->pool, &decoder->context.hooks, limit ? (uint64_t)limit : UINT64_MAX);
    set_limit(decoder, decoder->pool.limit);
}

static l2k_status finish_opening(l2k_decoder *decoder, l2k_status status)
{
    decoder->is_open = status == L2K_OK;
    if (status != L2K_OK) {
        l2k_decoder_close(decoder);
        l2k_decoder_drop(decoder);
    }
    return status;
}

l2k_status l2k_decoder_open(l2k_decoder *decoder, const l2k_stream *stream)
{
    start_opening(decoder);
    if (!stream || !stream->read)
        return finish_opening(decoder, l2k_fail(&decoder->context, L2K_ERROR_ARGUMENT, "no stream to read from"));
    double start = l2k_stage_start(&decoder->context);
    l2k_status status = read_all(decoder, stream);
    if (status == L2K_OK)
        status = open_bytes(decoder, decoder->file.data, decoder->file.size);
    l2k_stage_end(&decoder->context, L2K_STAGE_READ, start);
    return finish_opening(decoder, status);
}

l2k_status l2k_decoder_open_memory(l2k_decoder *decoder, const void *data, size_t bytes)
{
    const l2k_context *context = &decoder->context;
    start_opening(decoder);
    if (!data)
        return finish_opening(decoder, l2k_fail(context, L2K_ERROR_ARGUMENT, "no file to read from"));
    if (bytes > (uint64_t)decoder->options[L2K_DECODER_LIMIT_BYTES])
        return finish_opening(
            decoder, l2k_fail(context, L2K_ERROR_LIMIT, "a file of %zu bytes is more than the limit allows", bytes));
    double start = l2k_stage_start(context);
    l2k_status status = open_bytes(decoder, data, bytes);
    l2k_stage_end(context, L2K_STAGE_READ, start);
    return finish_opening(decoder, status);
}

/* ---- Tiles: packets to coefficients to samples ------------------------------------------------------------------ */

l2k_status l2k_decode_blocks(const l2k_decoding *d, l2k_tile_state *s, l2k_team *team, l2k_tile_slot *slot,
                             uint32_t index)
{
    const l2k_context *context = d->context;

    /* Annex B, packets out of tile-parts: decode_tile.c, codec/packets/. */
    double start = l2k_stage_start(context);
    L2K_TRY(l2k_read_tile(d, s, index));
    l2k_stage_end(context, L2K_STAGE_READ, start);
    s->is_blank = !s->is_absent && d->planes && l2k_is_blank(&s->tile);
    if (s->is_absent || s->is_blank)
        return L2K_OK;

    /* Annexes C and D, code-blocks: codec/blocks/. */
    L2K_TRY(l2k_choose_decode_plan(d, s, team, slot));
    l2k_block_batch batch = {.places = s->places, .num_places = s->num_places, .units = L2K_UNITS_TILE_BLOCKS};
    start = l2k_stage_start(context);
    L2K_TRY(team->coder->table->begin_decode(team->coder, &batch));
    L2K_TRY(team->coder->table->finish(team->coder));
    l2k_stage_end(context, L2K_STAGE_TIER1, start);
    return L2K_OK;
}

static l2k_status begin_tile(const l2k_decoding *d, l2k_tile_state *s, l2k_team *team, const l2k_turn *turn)
{
    L2K_TRY(l2k_decode_blocks(d, s, team, turn->slot, d->tiles[turn->tile]));
    if (s->is_absent || s->is_blank)
        return L2K_OK;

    /* Annexes E, F, G, inverse quantiser, wavelet, component transform, level shift: transform/. */
    L2K_TRY(l2k_place_planes(d, s));
    return l2k_plan_begin(turn->slot->plan, s->planes);
}

static l2k_status end_tile(const l2k_decoding *d, l2k_tile_state *s, const l2k_turn *turn)
{
    if (s->is_blank) {
        L2K_TRY(l2k_fill_tile(d, d->tiles[turn->tile]));
    } else if (!s->is_absent) {
        L2K_TRY(l2k_plan_finish(turn->slot->plan));
        L2K_TRY(l2k_collect_planes(d, s));
    }
    l2k_run_advance(d->context, L2K_UNITS_TILE - (s->num_places ? L2K_UNITS_TILE_BLOCKS : 0));
    l2k_tile_state_release(d->context, s);
    return L2K_OK;
}

/* A team's share of the tiles. Where the transform runs on a device, the next tile's blocks are decoded meanwhile. */
static void decode_share(void *opaque, l2k_teams *teams, l2k_team *team)
{
    const l2k_decode_job *job = opaque;
    l2k_turn turn;
    while (l2k_next_turn(teams, team, &turn)) {
        l2k_tile_state *s = &job->states[turn.slot->number];
        l2k_end_turn(teams, team, &turn,
                     turn.begins ? begin_tile(job->decoding, s, team, &turn) : end_tile(job->decoding, s, &turn));
    }
}

void l2k_tile_state_release(const l2k_context *context, l2k_tile_state *s)
{
    for (uint32_t c = 0; s->cropped && c < s->tile.num_components; c++)
        l2k_release(context, s->cropped[c]);
    l2k_tile_coding_release(context, &s->coding);
    if (s->packed.bytes.context)
        l2k_buffer_release(&s->packed.bytes);
    l2k_release(context, s->places);
    l2k_tile_release(context, &s->tile);
    *s = (l2k_tile_state){0};
}

/* ---- The decoding ----------------------------------------------------------------------------------------------- */

/* Looks at no other tiles than those: there may be 65535, and a call for each of them. */
static l2k_status select_tiles(l2k_decoding *d)
{
    const l2k_codestream *cs = d->codestream;
    const l2k_tile_grid *grid = &cs->siz.grid;
    uint32_t across = l2k_tiles_across(grid);
    uint32_t x0 = (d->area.x0 - grid->tile_x0) / grid->tile_width;
    uint32_t x1 = (d->area.x1 - 1 - grid->tile_x0) / grid->tile_width;
    uint32_t y0 = (d->area.y0 - grid->tile_y0) / grid->tile_height;
    uint32_t y1 = (d->area.y1 - 1 - grid->tile_y0) / grid->tile_height;
    d->tiles = l2k_allocate(d->context, (size_t)(x1 - x0 + 1) * (y1 - y0 + 1), sizeof *d->tiles);
    if (!d->tiles)
        return l2k_fail(d->context, L2K_ERROR_MEMORY, "out of memory for %u tiles", cs->num_tiles);
    for (uint32_t y = y0; y <= y1; y++)
        for (uint32_t x = x0; x <= x1; x++)
            d->tiles[d->num_tiles++] = y * across + x;
    return L2K_OK;
}

static bool lacks_tiles(const l2k_decoding *d)
{
    for (uint32_t i = 0; i < d->num_tiles; i++)
        if (l2k_tile_bytes(d->codestream, d->tiles[i]) == 0)
            return true;
    return false;
}

/* A failure can leave tiles in the slots: they are freed when no plan works on their memory any more. */
static l2k_status run_teams(l2k_decoder *decoder, const l2k_decoding *d, l2k_team_share *share, void *user)
{
    const l2k_context *context = d->context;
    l2k_teams *teams = &decoder->teams;
    const unsigned num_slots = teams->num_slots;
    l2k_decode_job job = {d, l2k_allocate_zeroed(context, num_slots, sizeof *job.states), user};
    if (!job.states)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for %u tiles", num_slots);
    l2k_status status = l2k_teams_run(teams, d->num_tiles, share, &job);
    if (status != L2K_OK)
        l2k_teams_release(teams);
    for (unsigned k = 0; k < num_slots; k++)
        l2k_tile_state_release(context, &job.states[k]);
    l2k_release(context, job.states);
    return status;
}

static l2k_status decode_selected(l2k_decoder *decoder, const l2k_decoding *d, l2k_backend backend,
                                  l2k_team_share *share, void *user)
{
    bool keep_plans;
    const l2k_component_coding *first = &d->codestream->coding.components[0];
    l2k_start_sweep(decoder, d);
    l2k_run_restart(&decoder->run, (uint64_t)L2K_UNITS_TILE * d->num_tiles);
    if (d->planes && lacks_tiles(d))
        L2K_TRY(l2k_blacken(d));
    decoder->context.threads = l2k_decode_threads(decoder, d, &keep_plans);
    L2K_TRY(l2k_teams_prepare(d->context, backend, l2k_block_coder_for(first->style), &d->codestream->siz, d->num_tiles,
                              &decoder->teams));
    decoder->teams.keep_plans = keep_plans;
    return run_teams(decoder, d, share, user);
}

l2k_status l2k_decode_tiles(l2k_decoder *decoder, l2k_decoding *d, l2k_backend backend, l2k_team_share *share,
                            void *user)
{
    L2K_TRY(select_tiles(d));
    l2k_status status = decode_selected(decoder, d, backend, share, user);
    l2k_release(d->context, d->tiles);
    return status == L2K_OK ? l2k_poll(d->context, L2K_POLL_NOW) : status;
}

l2k_decoding l2k_decode_start(l2k_decoder *decoder, l2k_rect area, const l2k_plane *planes)
{
    const int64_t *options = decoder->options;
    decoder->context.threads = l2k_thread_count((unsigned)options[L2K_DECODER_THREADS]);
    decoder->context.cpu = (l2k_cpu)options[L2K_DECODER_CPU];
    l2k_choice_start(&decoder->choice, options[L2K_DECODER_GPU_MIN_SAMPLES]);
    l2k_pool_start_job(&decoder->pool, &decoder->context.hooks, l2k_decoder_memory_limit(decoder));
    if (l2k_pool_exceeds(&decoder->pool))
        l2k_decoder_drop(decoder);
    atomic_store(&decoder->findings.incomplete, false);
    atomic_store(&decoder->findings.warned_fewer, false);
    atomic_store(&decoder->findings.warned_beyond, false);
    return (l2k_decoding){.context = &decoder->context,
                          .codestream = &decoder->codestream,
                          .findings = &decoder->findings,
                          .area = area,
                          .planes = planes,
                          .only = l2k_decoder_only_component(decoder),
                          .discard = (uint32_t)options[L2K_DECODER_REDUCE],
                          .layers = (uint32_t)options[L2K_DECODER_LAYERS]};
}

l2k_status l2k_decode_end(l2k_decoder *decoder, l2k_status status)
{
    if (status != L2K_OK || !l2k_choice_is_settled(&decoder->choice))
        l2k_decoder_drop(decoder);
    return status == L2K_OK && atomic_load(&decoder->findings.incomplete) ? L2K_INCOMPLETE : status;
}

static l2k_status decode_image(l2k_decoder *decoder, l2k_rect area, const l2k_plane *planes, l2k_sources *sources)
{
    l2k_backend backend = (l2k_backend)decoder->options[L2K_DECODER_BACKEND];
    l2k_decoding d = l2k_decode_start(decoder, area, NULL);
    L2K_TRY(l2k_sources_prepare(decoder, area, planes, sources));
    d.planes = sources->planes;
    L2K_TRY(l2k_decode_tiles(decoder, &d, backend, decode_share, NULL));
    return l2k_sources_deliver(decoder, sources, planes);
}

l2k_status l2k_decoder_decode(l2k_decoder *decoder, const l2k_plane *planes)
{
    l2k_image image;
    l2k_sources sources = {0};
    L2K_TRY(l2k_decoder_image(decoder, &image));
    if (!planes)
        return l2k_fail(&decoder->context, L2K_ERROR_ARGUMENT, "no planes to decode into");
    l2k_rect area = {image.x0, image.y0, image.x1, image.y1};
    l2k_status status = decode_image(decoder, area, planes, &sources);
    l2k_sources_release(decoder, &sources);
    return l2k_decode_end(decoder, status);
}

/* ---- From memory ------------------------------------------------------------------------------------------------ */

static l2k_sample_type smallest_type(const l2k_component *component)
{
    if (component->precision > 16)
        return L2K_SAMPLE_S32;
    if (component->precision > 8)
        return component->is_signed ? L2K_SAMPLE_S16 : L2K_SAMPLE_U16;
    return component->is_signed ? L2K_SAMPLE_S8 : L2K_SAMPLE_U8;
}

/* Bytes of a component in its smallest type, rounded up so that the next one is aligned. */
static size_t plane_bytes(const l2k_component *component)
{
    return ((size_t)component->width * component->height * l2k_sample_bytes(smallest_type(component)) + 3) & ~(size_t)3;
}

/* False if it is more than a size_t holds. */
static bool count_plane_bytes(const l2k_image *image, size_t *bytes)
{
    *bytes = 0;
    for (uint32_t c = 0; c < image->num_components; c++) {
        const l2k_component *k = &image->components[c];
        size_t sample = l2k_sample_bytes(smallest_type(k));
        if (k->width && k->height > (SIZE_MAX / 2 - *bytes) / sample / k->width)
            return false;
        *bytes += plane_bytes(k);
    }
    return true;
}

/* Planes of the decoder's own, one after the other in one block. */
static l2k_status take_planes(l2k_decoder *decoder, const l2k_image *image)
{
    size_t bytes;
    if (!count_plane_bytes(image, &bytes))
        return l2k_fail(&decoder->context, L2K_ERROR_MEMORY, "out of memory for the samples");
    decoder->memory_planes = l2k_allocate(&decoder->context, image->num_components, sizeof *decoder->memory_planes);
    decoder->memory = l2k_allocate(&decoder->context, bytes, 1);
    if (!decoder->memory || !decoder->memory_planes)
        return l2k_fail(&decoder->context, L2K_ERROR_MEMORY, "out of memory for %zu bytes of samples", bytes);
    uint8_t *at = decoder->memory;
    for (uint32_t c = 0; c < image->num_components; c++) {
        const l2k_component *k = &image->components[c];
        ptrdiff_t size = (ptrdiff_t)l2k_sample_bytes(smallest_type(k));
        decoder->memory_planes[c] = (l2k_plane){at, size * k->width, size, smallest_type(k)};
        at += plane_bytes(k);
    }
    return L2K_OK;
}

static l2k_status decode_opened(l2k_decoder *decoder, l2k_image *image)
{
    L2K_TRY(l2k_decoder_image(decoder, image));
    L2K_TRY(take_planes(decoder, image));
    return l2k_decoder_decode(decoder, decoder->memory_planes);
}

l2k_status l2k_decoder_decode_memory(l2k_decoder *decoder, const void *data, size_t bytes, l2k_image *image,
                                     const l2k_plane **planes)
{
    if (planes)
        *planes = NULL;
    if (!image || !planes)
        return l2k_fail(&decoder->context, L2K_ERROR_ARGUMENT, "nowhere to return the image to");
    L2K_TRY(l2k_decoder_open_memory(decoder, data, bytes));
    l2k_status status = decode_opened(decoder, image);
    if (status != L2K_OK && status != L2K_INCOMPLETE)
        return finish_opening(decoder, status);
    *planes = decoder->memory_planes;
    return status;
}
