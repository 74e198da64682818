/* An image decoded by rows: of a single tile in strips, of several tiles by rows of these. */
#include "codec/decode/blocks.h"
#include "codec/decode/options.h"
#include "codec/decode/outputs.h"
#include "codec/decode/packets.h"
#include "codec/decode/samples.h"
#include "codec/decode/start.h"

static l2k_engine_slot *slot_of(const l2k_decoder *decoder)
{
    return &decoder->workers.groups[0].slots[0];
}

/* ---- A tile in strips ----------------------------------------------------------------------------------------- */

/* Whether components have rows that correspond after reduction. */
static bool reduces_alike(const l2k_decoding *d)
{
    const l2k_tile_coding *coding = &d->codestream->coding;
    bool alike = true;
    for (uint32_t c = 0; c < d->codestream->siz.num_components && d->discard; c++)
        alike = alike && coding->components[c].levels >= d->discard && l2k_splits_all(coding->components[c].unsplit);
    return alike;
}

static l2k_status decode_strip(l2k_decoder *decoder, const l2k_decoding *d, const l2k_plane *planes)
{
    const l2k_decode_request request = l2k_decode_request_of(d, &decoder->states[0]);
    return l2k_engine_decode_strip(&decoder->workers.groups[0].engine, slot_of(decoder), &request, planes);
}

/* Goes on to the next strip that passes on any rows. */
static l2k_status next_strip(l2k_decoder *decoder, struct l2k_row_decoding *r)
{
    uint64_t end;
    r->y0 = r->y1;
    while (r->under_way && r->y0 < r->area.y1 && l2k_engine_next_strip(slot_of(decoder), &end)) {
        const uint64_t y1 = end > r->area.y1 >> r->d.discard ? r->area.y1 : end << r->d.discard;
        if (y1 > r->y0) {
            r->y1 = (uint32_t)y1;
            return L2K_OK;
        }
        L2K_TRY(decode_strip(decoder, &r->d, NULL));
    }
    r->y1 = r->area.y1;
    return L2K_OK;
}

static l2k_status begin_tile(l2k_decoder *decoder, struct l2k_row_decoding *r, l2k_engine *engine, const l2k_job *job)
{
    l2k_tile_state *s = &decoder->states[job->slot->number];
    r->tile = r->d.tiles[job->tile];
    L2K_TRY(l2k_decode_packets(&r->d, s, engine, r->tile));
    r->in_strips = true;
    if (s->is_absent || s->is_blank)
        return L2K_OK;
    L2K_TRY(l2k_prepare_blocks(&r->d, s, engine, job->slot));
    r->in_strips = l2k_engine_runs_in_strips(job->slot) && !s->joined_later && reduces_alike(&r->d);
    if (!r->in_strips)
        return L2K_OK;
    L2K_TRY(l2k_fetch_blocks(&r->d, s));
    L2K_TRY(l2k_need_blocks(&r->d, s));
    atomic_store(&s->damaged, false);
    s->is_begun = true;
    L2K_TRY(l2k_engine_begin_strips(job->slot));
    r->under_way = true;
    return L2K_OK;
}

static void begin_share(void *opaque, l2k_workers *workers, l2k_worker_group *group)
{
    const l2k_decode_call *call = opaque;
    l2k_decoder *decoder = call->user;
    l2k_job job;
    workers->keep_plans = true;
    while (l2k_next_job(workers, group, &job)) {
        l2k_status status = L2K_OK;
        if (job.begins)
            status = begin_tile(decoder, decoder->rows, &group->engine, &job);
        l2k_end_job(workers, group, &job, status);
    }
}

static l2k_status begin_strips(l2k_decoder *decoder, struct l2k_row_decoding *r)
{
    l2k_backend backend;
    const uint32_t count = decoder->codestream.siz.num_components, only = l2k_decoder_only_component(decoder);
    r->wanted = l2k_allocate_zeroed(&decoder->context, count, sizeof *r->wanted);
    if (!r->wanted)
        return l2k_fail(&decoder->context, L2K_ERROR_MEMORY, "out of memory for planes");
    for (uint32_t c = 0; c < count; c++)
        r->wanted[c].data = only == UINT32_MAX || only == c ? r->wanted : NULL;
    r->d = l2k_decode_start(decoder, r->area, r->wanted);
    r->d.in_strips = true;
    L2K_TRY(l2k_decoder_memory_kind(decoder, &r->d, &backend));
    L2K_TRY(l2k_decode_tiles(decoder, &r->d, backend, begin_share, decoder));
    return r->in_strips ? next_strip(decoder, r) : L2K_OK;
}

static l2k_status decode_rows(l2k_decoder *decoder, const struct l2k_row_decoding *r, const l2k_decoding *d)
{
    l2k_tile_state *s = &decoder->states[0];
    if (s->is_absent)
        return l2k_blacken(d);
    if (s->is_blank)
        return l2k_fill_tile(d, r->tile);
    L2K_TRY(l2k_place_planes(d, s));
    L2K_TRY(decode_strip(decoder, d, s->planes));
    return l2k_report_damage(d, s);
}

/* The strip's rows, into planes of the area that they cover. */
static l2k_status get_strip(l2k_decoder *decoder, struct l2k_row_decoding *r, l2k_rect area, const l2k_plane *planes)
{
    l2k_sources sources = {0};
    l2k_decoding d = r->d;
    l2k_status status = l2k_sources_prepare(decoder, area, planes, &sources);
    d.area = area;
    d.planes = sources.planes;
    if (status == L2K_OK)
        status = decode_rows(decoder, r, &d);
    if (status == L2K_OK)
        status = l2k_sources_deliver(decoder, area, &sources, planes);
    l2k_sources_release(decoder, &sources);
    return status == L2K_OK ? next_strip(decoder, r) : status;
}

/* ---- Rows of tiles ------------------------------------------------------------------------------------------- */

static void next_tiles(const l2k_decoder *decoder, struct l2k_row_decoding *r)
{
    const l2k_tile_grid *grid = &decoder->codestream.siz.grid;
    const uint64_t row = ((uint64_t)r->y1 - grid->tile_y0) / grid->tile_height + 1,
                   end = grid->tile_y0 + row * grid->tile_height;
    r->y0 = r->y1;
    r->y1 = end < r->area.y1 ? (uint32_t)end : r->area.y1;
}

static l2k_status get_tiles(l2k_decoder *decoder, struct l2k_row_decoding *r, l2k_rect area, const l2k_plane *planes)
{
    const l2k_status status = l2k_decode_end(decoder, l2k_decode_area(decoder, area, planes));
    if (status != L2K_OK && status != L2K_INCOMPLETE)
        return status;
    r->incomplete = r->incomplete || status == L2K_INCOMPLETE;
    next_tiles(decoder, r);
    return L2K_OK;
}

/* ---- The calls ----------------------------------------------------------------------------------------------- */

static bool is_one_tile(const l2k_decoder *decoder, l2k_rect area)
{
    const l2k_tile_grid *grid = &decoder->codestream.siz.grid;
    return (area.x0 - grid->tile_x0) / grid->tile_width == (area.x1 - 1 - grid->tile_x0) / grid->tile_width &&
           (area.y0 - grid->tile_y0) / grid->tile_height == (area.y1 - 1 - grid->tile_y0) / grid->tile_height;
}

static l2k_status begin(l2k_decoder *decoder)
{
    l2k_image image;
    L2K_TRY(l2k_decoder_image(decoder, &image));
    struct l2k_row_decoding *r = decoder->rows = l2k_allocate_zeroed(&decoder->context, 1, sizeof *r);
    if (!r)
        return l2k_fail(&decoder->context, L2K_ERROR_MEMORY, "out of memory for rows");
    r->area = (l2k_rect){image.x0, image.y0, image.x1, image.y1};
    r->y0 = r->y1 = image.y0;
    if (is_one_tile(decoder, r->area))
        L2K_TRY(begin_strips(decoder, r));
    if (!r->in_strips)
        next_tiles(decoder, r);
    return L2K_OK;
}

/* Ends a call and, after a failure, the image. */
static l2k_status leave(l2k_decoder *decoder, int before, l2k_status status)
{
    if (status != L2K_OK) {
        l2k_decoder_leave_rows(decoder);
        status = l2k_decode_end(decoder, status);
    }
    l2k_engine_leave(before);
    return status;
}

l2k_status l2k_decoder_begin(l2k_decoder *decoder)
{
    l2k_decoder_leave_rows(decoder);
    const int before = l2k_decoder_enter(decoder);
    return leave(decoder, before, begin(decoder));
}

static l2k_status check_begun(const l2k_decoder *decoder)
{
    return decoder->rows ? L2K_OK : l2k_fail(&decoder->context, L2K_ERROR_STATE, "no image has been begun");
}

l2k_status l2k_decoder_next_rows(const l2k_decoder *decoder, uint32_t *y0, uint32_t *y1)
{
    L2K_TRY(check_begun(decoder));
    *y0 = decoder->rows->y0;
    *y1 = decoder->rows->y1;
    return L2K_OK;
}

static l2k_status get_rows(l2k_decoder *decoder, const l2k_plane *planes)
{
    L2K_TRY(check_begun(decoder));
    struct l2k_row_decoding *r = decoder->rows;
    if (!planes || r->y0 == r->y1)
        return l2k_fail(&decoder->context, planes ? L2K_ERROR_STATE : L2K_ERROR_ARGUMENT,
                        planes ? "all rows of the image have been decoded" : "no planes to decode into");
    const l2k_rect area = {r->area.x0, r->y0, r->area.x1, r->y1};
    return r->in_strips ? get_strip(decoder, r, area, planes) : get_tiles(decoder, r, area, planes);
}

l2k_status l2k_decoder_get_rows(l2k_decoder *decoder, const l2k_plane *planes)
{
    l2k_run_enter(&decoder->run);
    const int before = l2k_decoder_enter(decoder);
    return leave(decoder, before, get_rows(decoder, planes));
}

static l2k_status end(l2k_decoder *decoder)
{
    L2K_TRY(check_begun(decoder));
    const bool in_strips = decoder->rows->in_strips, incomplete = decoder->rows->incomplete;
    l2k_decoder_leave_rows(decoder);
    return in_strips ? l2k_decode_end(decoder, L2K_OK) : incomplete ? L2K_INCOMPLETE : L2K_OK;
}

/* Entering may have ended the image. */
l2k_status l2k_decoder_end(l2k_decoder *decoder)
{
    const int before = l2k_decoder_enter(decoder);
    const l2k_status status = end(decoder);
    l2k_engine_leave(before);
    return status;
}
