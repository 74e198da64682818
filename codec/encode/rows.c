/* Encodes an image that is larger than memory: by rows of tiles or tile by tile, each of which is written when it is
 * done; or its only tile in strips of rows. */
#include "codec/encode/encoder.h"

#include "base/integer.h"
#include "codec/codestream/markers.h"
#include "quant/steps.h"

/* Sets a Ccap15 that holds for any tiles, for a stream that cannot be rewritten: the bit-planes of the subbands, with
 * another guard bit in some tiles. */
static void promise_magnitudes(l2k_encoding *e)
{
    l2k_capabilities *capabilities = &e->coding.capabilities;
    unsigned bound = 0;
    for (uint32_t c = 0; c < e->siz.num_components; c++) {
        const l2k_component_coding *coding = &e->coding.components[c];
        for (unsigned band = 0; band <= 3u * coding->levels; band++) {
            const unsigned resolution = l2k_band_resolution(band), orientation = l2k_band_orientation(band);
            if (!l2k_coding_has_band(coding, resolution, orientation))
                continue;
            const l2k_step finest = {L2K_MOST_EXPONENT, 0};
            const l2k_step step = e->tile_steps ? finest : l2k_coding_step(coding, resolution, orientation);
            unsigned planes = l2k_magnitude_bits(step, l2k_max_u32(coding->guard_bits, L2K_GUARD_BITS) + 1u);
            bound = l2k_max_u32(bound, l2k_encode_magnitude_bound(coding, resolution, planes));
        }
    }
    capabilities->ht |= (uint16_t)(L2K_HT_HETEROGENEOUS | l2k_magnitude_code(bound));
}

/* ---- A tile in strips ---------------------------------------------------------------------------------------- */

static l2k_encode_call call_of(l2k_encoder *encoder, const l2k_plane *planes)
{
    const l2k_rect image = encoder->encoding.siz.grid.image;
    return (l2k_encode_call){.encoder = encoder,
                             .area = {image.x0, encoder->next_row, image.x1, encoder->strip_end},
                             .planes = planes,
                             .in_strips = true,
                             .advances = true};
}

static void next_strip(l2k_encoder *encoder)
{
    const l2k_rect image = encoder->encoding.siz.grid.image;
    uint64_t end = image.y1;
    encoder->next_row = encoder->strip_end;
    if (l2k_engine_next_strip(&encoder->workers.groups[0].slots[0], &end))
        encoder->strip_end = end < image.y1 ? (uint32_t)end : image.y1;
}

/* Boxes and main header as far as they are known. Of a stream that cannot be rewritten, they hold for any samples. */
l2k_status l2k_encode_make_head(l2k_encoder *encoder)
{
    l2k_encoding *e = &encoder->encoding;
    l2k_output *out = &encoder->output;
    if (e->tlm && !out->parts.size)
        L2K_TRY(l2k_output_plan_parts(encoder));
    if (e->coding.capabilities.parts && !encoder->stream->rewrite)
        promise_magnitudes(e);
    L2K_TRY(l2k_output_head(encoder, 0));
    e->coding.capabilities.ht &= (uint16_t)~L2K_HT_HETEROGENEOUS;
    out->parts.size = 0;
    return L2K_OK;
}

/* Whether packets leave as soon as their code-blocks are coded. A file that can be rewritten has no need of that, and
 * is that of l2k_encoder_encode. Profiles fix the guard bits, of which RCT may need another one. */
static bool leaves_early(const l2k_encoder *encoder)
{
    const l2k_encoding *e = &encoder->encoding;
    const bool by_position =
        e->coding.progression == L2K_PCRL || (e->coding.progression == L2K_CPRL && e->siz.num_components == 1);
    return by_position && !encoder->stream->rewrite && !e->changes && !e->plt && !e->tlm &&
           !l2k_layers_need_distortions(&e->targets) && !(encoder->fixed_by && e->coding.component_transform);
}

/* Starts the only tile's packets, which go to the stream one by one. */
static l2k_status begin_packets(l2k_encoder *encoder, const l2k_engine_slot *slot)
{
    l2k_output *out = &encoder->output;
    L2K_TRY(l2k_encode_make_head(encoder));
    L2K_TRY(l2k_parts_begin(encoder, 0, encoder->stream, &out->writer));
    out->writer.slot = slot;
    return L2K_OK;
}

static l2k_status begin_early(l2k_encoder *encoder)
{
    const l2k_encoding *e = &encoder->encoding;
    l2k_encode_provide_guard_bits(encoder);
    L2K_TRY(l2k_layers_allocate(e->context, encoder->tiles, 1, &e->targets, false, 0));
    return begin_packets(encoder, &encoder->workers.groups[0].slots[0]);
}

static l2k_status write_packets(l2k_encoder *encoder)
{
    l2k_output *out = &encoder->output;
    const double start = l2k_stage_start(&encoder->context);
    L2K_TRY(l2k_poll(&encoder->context, L2K_POLL_NOW));
    L2K_TRY(l2k_encode_flush(encoder, encoder->stream, &out->head));
    L2K_TRY(l2k_parts_write(&out->writer));
    l2k_stage_end(&encoder->context, L2K_STAGE_TIER2, start);
    return L2K_OK;
}

/* Whether the only tile can be encoded in strips, which then begin. */
static l2k_status begin_strips(l2k_encoder *encoder)
{
    const l2k_encoding *e = &encoder->encoding;
    if (e->num_tiles > 1 || l2k_encoding_truncates(e) || e->off_host || encoder->options[L2K_ENCODER_BY_TILE])
        return L2K_OK;
    encoder->next_row = encoder->strip_end = e->siz.grid.image.y0;
    encoder->leaves_early = leaves_early(encoder);
    l2k_encode_call call = call_of(encoder, NULL);
    L2K_TRY(l2k_workers_run(&encoder->workers, 1, l2k_encode_begin_tile, NULL, &call));
    encoder->in_strips = l2k_engine_runs_in_strips(&encoder->workers.groups[0].slots[0]);
    if (!encoder->in_strips)
        return L2K_OK;
    encoder->writes_packets = encoder->leaves_early || encoder->stream->rewrite;
    if (encoder->leaves_early)
        L2K_TRY(begin_early(encoder));
    next_strip(encoder);
    return L2K_OK;
}

/* Writes what the last strip leaves to write. */
static l2k_status end_strips(l2k_encoder *encoder)
{
    l2k_output *out = &encoder->output;
    if (!encoder->writes_packets) {
        L2K_TRY(l2k_encode_pack(encoder));
        return l2k_encode_write(encoder, encoder->stream);
    }
    if (!encoder->leaves_early) {
        L2K_TRY(l2k_encode_layers(encoder));
        l2k_encode_state_magnitudes(encoder);
        L2K_TRY(begin_packets(encoder, NULL));
        L2K_TRY(write_packets(encoder));
    }
    L2K_TRY(l2k_parts_end(&out->writer, 0));
    l2k_buffer_append(&out->parts, out->tiles[0].parts.data, out->tiles[0].parts.size);
    l2k_run_advance(&encoder->context, L2K_UNITS_PACKETS * l2k_tile_samples(&encoder->tiles[0]));
    return l2k_buffer_status(&out->parts);
}

static l2k_status put_strip(l2k_encoder *encoder, const l2k_plane *planes)
{
    l2k_worker_group *group = &encoder->workers.groups[0];
    const l2k_encode_call call = call_of(encoder, planes);
    const l2k_encode_request request = l2k_encode_request_of(&call, &encoder->tiles[0]);
    L2K_TRY(l2k_encode_check_planes(&encoder->encoding, call.area, planes));
    L2K_TRY(l2k_engine_encode_strip(&group->engine, &group->slots[0], &request, planes));
    if (encoder->leaves_early)
        L2K_TRY(write_packets(encoder));
    next_strip(encoder);
    if (encoder->next_row < encoder->strip_end)
        return L2K_OK;
    encoder->next_tile = 1;
    L2K_TRY(l2k_engine_finish(&group->slots[0]));
    L2K_TRY(l2k_encode_check_blocks(&encoder->context, &encoder->tiles[0]));
    return end_strips(encoder);
}

/* ---- The calls ----------------------------------------------------------------------------------------------- */

static l2k_status begin_rows(l2k_encoder *encoder, const l2k_image *image, const l2k_stream *stream)
{
    const l2k_encoding *e = &encoder->encoding;
    L2K_TRY(l2k_encode_start(encoder, image, true));
    encoder->stream = stream;
    encoder->next_tile = 0;
    L2K_TRY(begin_strips(encoder));
    if (encoder->in_strips)
        return L2K_OK;
    if (e->tlm && !stream->rewrite)
        return l2k_fail(
            &encoder->context, L2K_ERROR_ARGUMENT,
            "TLM precedes the tile-parts that it lists: encoding by rows of tiles needs a stream with rewrite for it");
    return l2k_encode_make_head(encoder);
}

/* Ends a call and, after a failure, the image. */
static l2k_status leave_rows(l2k_encoder *encoder, int before, l2k_status status)
{
    if (status != L2K_OK)
        l2k_encode_end(encoder, status);
    return l2k_engine_left(before, status);
}

l2k_status l2k_encoder_begin(l2k_encoder *encoder, const l2k_image *image, const l2k_stream *stream)
{
    if (!image || !stream || !stream->write)
        return l2k_fail(&encoder->context, L2K_ERROR_ARGUMENT, "no image or no stream to write to");
    const int before = l2k_encode_enter(encoder);
    return leave_rows(encoder, before, begin_rows(encoder, image, stream));
}

static l2k_status check_begun(const l2k_encoder *encoder)
{
    if (encoder->has_image)
        return L2K_OK;
    return l2k_fail(&encoder->context, L2K_ERROR_STATE, "no image has been begun");
}

/* The image's part of the next row of tiles, or of the next tile; empty after the last one. */
static l2k_rect next_area(const l2k_encoder *encoder)
{
    const l2k_tile_grid *grid = &encoder->encoding.siz.grid;
    l2k_rect area = grid->image;
    if (encoder->in_strips)
        return (l2k_rect){area.x0, encoder->next_row, area.x1, encoder->strip_end};
    if (encoder->next_tile == encoder->encoding.num_tiles) {
        area.y0 = area.y1;
        return area;
    }
    l2k_rect tile = l2k_tile_rect(grid, encoder->next_tile);
    area.y0 = tile.y0;
    area.y1 = tile.y1;
    return encoder->options[L2K_ENCODER_BY_TILE] ? tile : area;
}

l2k_status l2k_encoder_next_tile(const l2k_encoder *encoder, uint32_t *x0, uint32_t *y0, uint32_t *x1, uint32_t *y1)
{
    L2K_TRY(check_begun(encoder));
    l2k_rect area = next_area(encoder);
    *x0 = area.x0;
    *y0 = area.y0;
    *x1 = area.x1;
    *y1 = area.y1;
    return L2K_OK;
}

l2k_status l2k_encoder_next_rows(const l2k_encoder *encoder, uint32_t *y0, uint32_t *y1)
{
    uint32_t x0, x1;
    return l2k_encoder_next_tile(encoder, &x0, y0, &x1, y1);
}

/* The head is written with the first row: until then, an error leaves the stream untouched. */
static l2k_status put_rows(l2k_encoder *encoder, const l2k_plane *planes)
{
    if (encoder->in_strips)
        return put_strip(encoder, planes);
    L2K_TRY(l2k_encode_tiles(encoder, encoder->next_tile, next_area(encoder), planes));
    L2K_TRY(l2k_poll(&encoder->context, L2K_POLL_NOW));
    l2k_workers_forget(&encoder->workers);
    encoder->next_tile += encoder->num_tiles;
    return l2k_encode_write(encoder, encoder->stream);
}

l2k_status l2k_encoder_put_rows(l2k_encoder *encoder, const l2k_plane *planes)
{
    L2K_TRY(check_begun(encoder));
    if (!planes || encoder->next_tile == encoder->encoding.num_tiles)
        return l2k_fail(&encoder->context, planes ? L2K_ERROR_STATE : L2K_ERROR_ARGUMENT,
                        planes ? "all rows of the image have been put" : "no planes");
    l2k_run_enter(&encoder->run);
    encoder->encoding.planes_stream = encoder->planes_stream; /* may have changed since begin */
    const int before = l2k_encode_enter(encoder);
    return leave_rows(encoder, before, put_rows(encoder, planes));
}

/* Completes what was unknown when the head was written: HT magnitudes, the lengths of tile-parts and codestream. A
 * length too large for LBox stays unstated (0, I.4). */
static l2k_status complete_head(l2k_encoder *encoder)
{
    const l2k_encoding *e = &encoder->encoding;
    l2k_output *out = &encoder->output;
    uint64_t box_bytes = out->written - out->box_at;
    if (e->coding.capabilities.parts && encoder->stream->rewrite) {
        l2k_buffer_put(&out->head, e->coding.capabilities.ht, 2);
        L2K_TRY(l2k_encode_rewrite(encoder, encoder->stream, out->ht_at, &out->head));
    }
    if (e->tlm) {
        l2k_write_tlm(&out->head, (const l2k_tile_part *)(const void *)out->parts.data,
                      out->parts.size / sizeof(l2k_tile_part), e->num_tiles);
        L2K_TRY(l2k_encode_rewrite(encoder, encoder->stream, out->tlm_at, &out->head));
    }
    if (e->format != L2K_FORMAT_JP2 || !encoder->stream->rewrite || box_bytes > UINT32_MAX)
        return L2K_OK;
    l2k_buffer_put(&out->head, box_bytes, 4);
    return l2k_encode_rewrite(encoder, encoder->stream, out->box_at, &out->head);
}

l2k_status l2k_encode_end_rows(l2k_encoder *encoder)
{
    l2k_buffer *head = &encoder->output.head; /* already written */
    if (encoder->next_tile != encoder->encoding.num_tiles)
        return l2k_fail(&encoder->context, L2K_ERROR_STATE, "rows of the image are missing");
    if (encoder->in_strips && !encoder->writes_packets)
        return L2K_OK;
    l2k_buffer_put(head, L2K_EOC, 2);
    L2K_TRY(l2k_buffer_status(head));
    L2K_TRY(l2k_poll(&encoder->context, L2K_POLL_NOW));
    L2K_TRY(l2k_encode_flush(encoder, encoder->stream, head));
    double start = l2k_stage_start(&encoder->context);
    l2k_status status = complete_head(encoder);
    l2k_stage_end(&encoder->context, L2K_STAGE_WRITE, start);
    return status;
}

l2k_status l2k_encoder_end(l2k_encoder *encoder)
{
    L2K_TRY(check_begun(encoder));
    l2k_run_enter(&encoder->run);
    const int before = l2k_encode_enter(encoder);
    return l2k_engine_left(before, l2k_encode_end(encoder, l2k_encode_end_rows(encoder)));
}
