/* Starts and ends a decoding: tiles, memory, threads, and data kept for the next one. */

#include "base/object.h"
#include "codec/decode/packets.h"

/* Looks only at tiles that meet the area: there may be 65535, and a call for each of them. */
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
    L2K_TRY(l2k_check_memory(d->context, d->tiles, "%u tiles", cs->num_tiles));
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

static l2k_status take_states(l2k_decoder *decoder, unsigned count)
{
    if (decoder->states && decoder->num_states == count)
        return L2K_OK;
    l2k_decoder_release_tiles(decoder);
    decoder->states = l2k_allocate_zeroed(&decoder->context, count, sizeof *decoder->states);
    L2K_TRY(l2k_check_memory(&decoder->context, decoder->states, "%u tiles", count));
    decoder->num_states = count;
    return L2K_OK;
}

/* A failure can leave tiles in the slots, which are freed once no plan works on their memory any more. */
static l2k_status run_groups(l2k_decoder *decoder, const l2k_decoding *d, l2k_tile_work *begin, l2k_tile_work *end,
                             void *user)
{
    l2k_workers *workers = &decoder->workers;
    L2K_TRY(take_states(decoder, workers->num_slots));
    l2k_decode_call call = {d, decoder->states, workers->num_groups == 1, user};
    l2k_status status = l2k_workers_run(workers, d->num_tiles, begin, end, &call);
    if (status != L2K_OK)
        l2k_workers_release(workers);
    if (status != L2K_OK || !d->keeps_tiles)
        l2k_decoder_release_tiles(decoder);
    return status;
}

static l2k_status decode_selected(l2k_decoder *decoder, l2k_decoding *d, l2k_backend backend, l2k_tile_work *begin,
                                  l2k_tile_work *end, void *user)
{
    l2k_start_series(decoder, d);
    l2k_run_restart(&decoder->run, (uint64_t)L2K_UNITS_TILE * d->num_tiles);
    if (d->planes && !d->in_strips && lacks_tiles(d))
        L2K_TRY(l2k_blacken(d));
    const bool by_tile = l2k_workers_by_tile(d->context, &d->codestream->siz, d->num_tiles) &&
                         !l2k_comes_later(d->context); /* one thread knows what all tiles lack */
    const l2k_thread_room room = l2k_decode_threads(decoder, d, by_tile);
    decoder->context.threads = room.threads;
    d->indices = room.indices ? decoder->indices : NULL;
    L2K_TRY(l2k_workers_prepare(d->context, backend, l2k_decode_coders(d->codestream), &d->codestream->siz,
                                d->num_tiles, by_tile, room.tiles >= l2k_engine_count(d->context), &decoder->workers));
    decoder->workers.keep_plans = room.keep_plans || d->in_strips;
    d->keeps_tiles = (room.keep_plans || d->in_strips) && d->num_tiles <= decoder->workers.num_slots &&
                     decoder->workers.num_groups == 1;
    return run_groups(decoder, d, begin, end, user);
}

/* Allocates the tiles' packet indices if only a part of the picture is wanted; without memory for them, windows take
 * longer. */
static void take_indices(l2k_decoder *decoder, l2k_decoding *d)
{
    const bool all = l2k_rect_equals(d->area, d->codestream->siz.grid.image) && d->discard == 0 && d->layers == 0 &&
                     d->only == UINT32_MAX;
    if (!decoder->indices && !all)
        decoder->indices = l2k_allocate_zeroed(d->context, d->codestream->num_tiles, sizeof *decoder->indices);
    d->indices = decoder->indices;
    d->cache = d->planes && !d->in_strips && decoder->cache.limit > 0 ? &decoder->cache : NULL;
}

/* A codestream that is read in parts keeps no more bytes than this between decodings. */
#define MOST_PRESENT ((uint64_t)16 << 20)

/* Where each tile begins with its lowest resolutions: the share of its bytes that whole tiles will need, as a power of
 * two. The lowest have somewhat more. */
static unsigned share_of(const l2k_decoding *d)
{
    const l2k_codestream *cs = d->codestream;
    const unsigned progression = cs->coding.progression, share = 2 * d->discard;
    const bool ascends =
        progression == L2K_RLCP || progression == L2K_RPCL || (progression == L2K_LRCP && cs->coding.num_layers == 1);
    const bool all = l2k_rect_equals(d->area, cs->siz.grid.image) && d->only == UINT32_MAX;
    const bool is_small = share < 64 && (uint64_t)(cs->end - cs->first) >> share <= MOST_PRESENT;
    return ascends && all && is_small ? share : L2K_NO_SHARE;
}

/* Reads the headers of wanted tile-parts that only TLM has listed. If TLM was wrong, drops all that earlier windows
 * found. */
static l2k_status locate_parts(l2k_decoder *decoder, l2k_decoding *d)
{
    bool changed;
    const l2k_status status =
        l2k_codestream_locate(&decoder->codestream, d->tiles, d->num_tiles, share_of(d), &changed);
    if (changed) {
        l2k_decoder_forget_windows(decoder);
        l2k_block_cache_clear(&decoder->cache);
        decoder->cache.limit = 0; /* the cache is still that of the file before the change */
        d->opened = decoder->opened;
    }
    return status;
}

l2k_status l2k_decode_tiles(l2k_decoder *decoder, l2k_decoding *d, l2k_backend backend, l2k_tile_work *begin,
                            l2k_tile_work *end, void *user)
{
    L2K_TRY(select_tiles(d));
    l2k_status status = locate_parts(decoder, d);
    take_indices(decoder, d);
    if (status == L2K_OK)
        status = decode_selected(decoder, d, backend, begin, end, user);
    l2k_release(d->context, d->tiles);
    return status == L2K_OK ? l2k_poll(d->context, L2K_POLL_NOW) : status;
}

/* Counts all components as if none were sub-sampled. */
static uint64_t samples_of(const l2k_decoder *decoder, l2k_rect area)
{
    const int64_t reduce = decoder->options[L2K_DECODER_REDUCE];
    const uint64_t width = l2k_rect_width(area), height = l2k_rect_height(area);
    const uint64_t samples = width * height >> (reduce < 31 ? 2 * reduce : 62),
                   n = decoder->codestream.siz.num_components;
    return samples <= UINT64_MAX / L2K_MAX_COMPONENTS ? samples * n : UINT64_MAX;
}

l2k_decoding l2k_decode_start(l2k_decoder *decoder, l2k_rect area, const l2k_plane *planes)
{
    const int64_t *options = decoder->options;
    decoder->context.threads = l2k_thread_count((unsigned)options[L2K_DECODER_THREADS]);
    decoder->context.cpu = (l2k_cpu)options[L2K_DECODER_CPU];
    decoder->context.in_flight = (unsigned)options[L2K_DECODER_IN_FLIGHT];
    l2k_choice_start_image(&decoder->choice, options[L2K_DECODER_GPU_MIN_SAMPLES], true,
                           decoder->codestream.coding.capabilities.parts & L2K_PART_15, samples_of(decoder, area));
    l2k_pool_start_call(&decoder->pool, &decoder->context.hooks, l2k_decoder_memory_limit(decoder));
    if (l2k_pool_exceeds(&decoder->pool))
        l2k_decoder_drop(decoder);
    l2k_block_cache_start(&decoder->cache, (uint64_t)options[L2K_DECODER_CACHE_BYTES], decoder->opened,
                          (uint32_t)options[L2K_DECODER_LAYERS]);
    atomic_store(&decoder->findings.incomplete, false);
    atomic_store(&decoder->findings.warned_fewer, false);
    atomic_store(&decoder->findings.warned_beyond, false);
    atomic_store(&decoder->findings.lengths_are_wrong, false);
    return (l2k_decoding){.context = &decoder->context,
                          .codestream = &decoder->codestream,
                          .findings = &decoder->findings,
                          .area = area,
                          .planes = planes,
                          .only = l2k_decoder_only_component(decoder),
                          .blocks_on_host = options[L2K_DECODER_BLOCK_CODER] == L2K_BACKEND_CPU,
                          .opened = decoder->opened,
                          .like_openjpeg = options[L2K_DECODER_LIKE_OPENJPEG] != 0,
                          .discard = (uint32_t)options[L2K_DECODER_REDUCE],
                          .layers = (uint32_t)options[L2K_DECODER_LAYERS]};
}

l2k_status l2k_decoder_memory_kind(l2k_decoder *decoder, l2k_decoding *d, l2k_backend *backend)
{
    *backend = (l2k_backend)decoder->options[L2K_DECODER_BACKEND];
    d->off_host = decoder->options[L2K_DECODER_MEMORY] != L2K_MEMORY_HOST;
    d->stream = decoder->stream;
    if (!d->off_host)
        return L2K_OK;
    L2K_TRY(l2k_object_check_memory(d->context, decoder->options[L2K_DECODER_MEMORY]));
    return l2k_engine_of_planes(d->context, backend);
}

l2k_status l2k_decode_end(l2k_decoder *decoder, l2k_status status)
{
    if (decoder->context.partial && l2k_partial_present(&decoder->parts) > MOST_PRESENT)
        l2k_partial_forget(&decoder->parts, decoder->codestream.first, decoder->codestream.end);
    if (status != L2K_OK || !l2k_choice_is_settled(&decoder->choice))
        l2k_decoder_drop(decoder);
    if (atomic_load(&decoder->findings.lengths_are_wrong))
        l2k_block_cache_clear(&decoder->cache);
    return status == L2K_OK && atomic_load(&decoder->findings.incomplete) ? L2K_INCOMPLETE : status;
}
