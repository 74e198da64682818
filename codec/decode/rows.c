/* An image decoded by rows: of a single tile in strips, of several tiles by rows of these. */
#include "base/memory.h"
#include "codec/decode/packets.h"

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

/* Whether all wanted packets of a precinct have been read. That at the input, which the order has counted, has not. */
static bool has_precinct(const struct l2k_row_decoding *r, const l2k_tile_state *s, const l2k_packet_id *id)
{
    const l2k_resolution *resolution = &s->tile.components[id->component].resolutions[id->resolution];
    const l2k_packet_id *next = &r->reader->next;
    const bool is_next =
        next->component == id->component && next->resolution == id->resolution && next->precinct == id->precinct;
    return s->order.layers_done[resolution->first_precinct + id->precinct] - (is_next ? 1u : 0) >= r->reader->layers;
}

/* Whether the code-blocks that the present strip reads of a resolution have arrived. */
static bool has_resolution(const l2k_decoder *decoder, const struct l2k_row_decoding *r, uint32_t c,
                           uint32_t resolution)
{
    const l2k_tile_state *s = &decoder->states[0];
    const l2k_resolution *at = &s->tile.components[c].resolutions[resolution];
    for (uint32_t b = 0; b < at->num_bands && !l2k_rect_empty(at->wanted); b++) {
        const l2k_plan_rows rows = l2k_engine_strip_rows(slot_of(decoder), l2k_number_in_plan(&r->d, c), &at->bands[b]);
        for (uint32_t y = at->wanted.y0; y < at->wanted.y1; y++)
            for (uint32_t x = at->wanted.x0; x < at->wanted.x1; x++) {
                const l2k_packet_id id = {c, resolution, y * at->precincts.across + x, 0};
                const l2k_rect rect = l2k_precinct_of(at, b, id.precinct)->grid.rect;
                if (rect.y0 < rows.y1 && rows.y0 < rect.y1 && !has_precinct(r, s, &id))
                    return false;
            }
    }
    return true;
}

static bool has_arrived(const l2k_decoder *decoder, const struct l2k_row_decoding *r)
{
    const l2k_tile_state *s = &decoder->states[0];
    bool arrived = true;
    for (uint32_t c = 0; r->reader && r->reader->awaits && c < s->tile.num_components; c++)
        for (uint32_t i = 0; l2k_wants_component(&r->d, c) && arrived && i < s->tile.components[c].num_resolutions; i++)
            arrived = has_resolution(decoder, r, c, i);
    return arrived;
}

/* Goes on to the next strip that passes on any rows, as far as the file has arrived. */
static l2k_status next_strip(l2k_decoder *decoder, struct l2k_row_decoding *r)
{
    r->y0 = r->y1;
    while (r->under_way && r->y0 < r->area.y1) {
        r->has_strip = r->has_strip || l2k_engine_next_strip(slot_of(decoder), &r->strip_end);
        if (!r->has_strip)
            break;
        if (!has_arrived(decoder, r))
            return L2K_OK;
        const uint64_t y1 = r->strip_end > r->area.y1 >> r->d.discard ? r->area.y1 : r->strip_end << r->d.discard;
        if (y1 > r->y0) {
            r->y1 = (uint32_t)y1;
            return L2K_OK;
        }
        L2K_TRY(decode_strip(decoder, &r->d, NULL));
        r->has_strip = false;
    }
    r->y1 = r->area.y1;
    return L2K_OK;
}

static l2k_status begin_tile(void *opaque, l2k_worker_group *group, const l2k_job *job)
{
    const l2k_decode_call *call = opaque;
    struct l2k_row_decoding *r = call->user;
    l2k_engine *engine = &group->engine;
    l2k_tile_state *s = &call->states[job->slot->number];
    r->tile = r->d.tiles[job->tile];
    L2K_TRY(l2k_decode_packets(&r->d, s, engine, r->tile));
    r->in_strips = true;
    if (s->is_absent || s->is_blank)
        return L2K_OK;
    L2K_TRY(l2k_prepare_blocks(&r->d, s, engine, job->slot));
    r->in_strips = l2k_engine_runs_in_strips(job->slot) && !s->joined_later && reduces_alike(&r->d) &&
                   !(r->d.arrives && s->packed.used);
    if (!r->in_strips) {
        l2k_tile_state_leave(&r->d, s);
        return L2K_OK;
    }
    L2K_TRY(l2k_fetch_blocks(&r->d, s));
    L2K_TRY(l2k_need_blocks(&r->d, s));
    atomic_store(&s->damaged, false);
    s->is_begun = true;
    L2K_TRY(l2k_engine_begin_strips(job->slot));
    r->under_way = true;
    return L2K_OK;
}

static l2k_status begin_strips(l2k_decoder *decoder, struct l2k_row_decoding *r)
{
    static const l2k_plane none; /* planes come with the strips */
    l2k_backend backend;
    r->d = l2k_decode_start(decoder, r->area, &none);
    r->d.in_strips = true;
    r->d.arrives = decoder->is_pushed && !decoder->has_ended;
    L2K_TRY(l2k_decoder_memory_kind(decoder, &r->d, &backend));
    return l2k_decode_tiles(decoder, &r->d, backend, begin_tile, NULL, r);
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
    r->has_strip = false;
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

/* Later tile-parts may have POC or PPT, which would change packets that have been read. */
static l2k_status check_parts(l2k_decoder *decoder, struct l2k_row_decoding *r)
{
    const l2k_codestream *cs = &decoder->codestream;
    l2k_tile_coding coding = {0};
    l2k_packed_headers packed = {0};
    if (cs->num_parts == r->num_parts)
        return L2K_OK;
    l2k_status status = l2k_codestream_tile_coding(cs, r->tile, &coding, &packed);
    if (status == L2K_OK &&
        (packed.used || !l2k_tile_coding_equals(&coding, &decoder->states[0].coding, cs->siz.num_components)))
        status = l2k_fail(&decoder->context, L2K_ERROR_UNSUPPORTED,
                          "a tile-part whose header changes rows that are being decoded as they arrive");
    l2k_tile_coding_release(&decoder->context, &coding);
    l2k_buffer_release(&packed.bytes);
    r->num_parts = cs->num_parts;
    return status;
}

/* Reads what has arrived of the tile's packets. */
static l2k_status read_arrived(l2k_decoder *decoder, struct l2k_row_decoding *r)
{
    bool restarted, done;
    l2k_tile_state *s = &decoder->states[0];
    L2K_TRY(check_parts(decoder, r));
    L2K_TRY(l2k_read_arrived_packets(&r->d, s, decoder->has_ended, r->reader, &restarted, &done));
    return restarted ? l2k_list_blocks(&r->d, s) : L2K_OK;
}

static l2k_status begin(l2k_decoder *decoder)
{
    l2k_image image;
    const bool arrives = decoder->is_pushed && !decoder->has_ended;
    L2K_TRY(l2k_decoder_image(decoder, &image));
    struct l2k_row_decoding *r = decoder->rows = l2k_allocate_zeroed(&decoder->context, 1, sizeof *r);
    L2K_TRY(l2k_check_memory(&decoder->context, r, "rows"));
    r->area = (l2k_rect){image.x0, image.y0, image.x1, image.y1};
    r->y0 = r->y1 = image.y0;
    if (is_one_tile(decoder, r->area))
        L2K_TRY(begin_strips(decoder, r));
    r->awaits_end = arrives && !r->in_strips;
    if (arrives && r->in_strips) {
        r->reader = l2k_allocate_zeroed(&decoder->context, 1, sizeof *r->reader);
        L2K_TRY(l2k_check_memory(&decoder->context, r->reader, "packets"));
        L2K_TRY(read_arrived(decoder, r));
    }
    if (r->in_strips)
        return next_strip(decoder, r);
    if (!r->awaits_end)
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
    return l2k_engine_left(before, status);
}

l2k_status l2k_decoder_begin(l2k_decoder *decoder)
{
    l2k_decoder_leave_rows(decoder);
    const int before = l2k_decoder_enter(decoder);
    return leave(decoder, before, begin(decoder));
}

static l2k_status arrive(l2k_decoder *decoder)
{
    struct l2k_row_decoding *r = decoder->rows;
    if (r->awaits_end) {
        if (!decoder->has_ended)
            return L2K_OK;
        l2k_decoder_leave_rows(decoder);
        return begin(decoder);
    }
    if (!r->reader || !r->reader->awaits)
        return L2K_OK;
    L2K_TRY(read_arrived(decoder, r));
    return r->y0 == r->y1 ? next_strip(decoder, r) : L2K_OK;
}

l2k_status l2k_rows_arrive(l2k_decoder *decoder)
{
    const int before = l2k_decoder_enter(decoder);
    return leave(decoder, before, decoder->rows ? arrive(decoder) : L2K_OK);
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
                        !planes              ? "no planes to decode into"
                        : r->y1 < r->area.y1 ? "the next rows of the image have not arrived"
                                             : "all rows of the image have been decoded");
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
    return l2k_engine_left(before, end(decoder));
}
