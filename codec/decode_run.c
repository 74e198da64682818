/* A decoding from its start to its end: which tiles, memory, threads, and what is kept for the next one. */
#include "codec/decoder.h"

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
    l2k_start_sweep(decoder, d);
    l2k_run_restart(&decoder->run, (uint64_t)L2K_UNITS_TILE * d->num_tiles);
    if (d->planes && lacks_tiles(d))
        L2K_TRY(l2k_blacken(d));
    const bool by_tile = l2k_teams_by_tile(d->context, &d->codestream->siz, d->num_tiles);
    const l2k_thread_room room = l2k_decode_threads(decoder, d, by_tile);
    decoder->context.threads = room.threads;
    L2K_TRY(l2k_teams_prepare(d->context, backend, l2k_decode_coders(d->codestream), &d->codestream->siz, d->num_tiles,
                              by_tile, &decoder->teams));
    decoder->teams.keep_plans = room.keep_plans;
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
    l2k_choice_start(&decoder->choice,
                     l2k_gpu_min_samples(options[L2K_DECODER_GPU_MIN_SAMPLES], true,
                                         decoder->codestream.coding.capabilities.parts & L2K_PART_15));
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
