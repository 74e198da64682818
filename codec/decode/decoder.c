/* The decoder's block diagram: from a codestream or a JP2 file to an image (ISO/IEC 15444-1), the encoder's stages in
 * reverse. Around it: options in options.c, opening in open.c, limits in codestream/limits.c and
 * memory.c, start and end of a decoding in start.c. */
#include "codec/decode/decoder.h"

l2k_status l2k_decode_headers(l2k_decoder *decoder, const uint8_t *data, size_t bytes)
{
    const l2k_context *context = &decoder->context;
    const l2k_codestream_limits limits = l2k_decoder_limits(decoder, bytes);

    /* Boxes: Annex I, codec/jp2/. */
    decoder->is_jp2 = l2k_jp2_detect(data, bytes);
    if (decoder->is_jp2) {
        L2K_TRY(l2k_jp2_open(context, data, bytes, limits.strict, &decoder->jp2));
        data += decoder->jp2.codestream_at;
        bytes = decoder->jp2.codestream_bytes;
    }

    /* Main header and tile-parts: Annex A, codec/codestream/. */
    L2K_TRY(l2k_codestream_open(context, data, bytes, &limits, &decoder->codestream));
    if (decoder->is_jp2)
        L2K_TRY(l2k_jp2_settle_palette(&decoder->jp2, decoder->codestream.siz.num_components));
    L2K_TRY(l2k_decoder_plan_outputs(decoder));
    return l2k_decoder_check_outputs(decoder, &limits.size);
}

l2k_status l2k_decode_packets(const l2k_decoding *d, l2k_tile_state *s, l2k_team *team, uint32_t index)
{
    /* Packets, out of tile-parts: Annex B, codec/packets/. */
    const double start = l2k_stage_start(d->context);
    s->bytes = l2k_tile_span(d, index, &s->num_bytes);
    if (s->bytes)
        L2K_TRY(l2k_need(d->context, s->bytes, s->bytes + s->num_bytes));
    if (s->is_kept)
        l2k_team_send(team, s->bytes, s->num_bytes);
    L2K_TRY(l2k_read_tile(d, s, index));
    s->is_blank = !s->is_absent && d->planes && !s->tile.has_contributions;
    if (s->is_absent || s->is_blank)
        l2k_team_send(team, NULL, 0);
    else
        L2K_TRY(l2k_list_blocks(d, s));
    l2k_stage_end(d->context, L2K_STAGE_READ, start);
    return L2K_OK;
}

l2k_status l2k_begin_blocks(const l2k_decoding *d, l2k_tile_state *s, l2k_team *team, l2k_tile_slot *slot)
{
    /* Code-blocks, arithmetic decoder and bit-planes: Annexes C, D, codec/blocks/. */
    L2K_TRY(l2k_make_decode_plan(d, s, team, slot));
    L2K_TRY(l2k_fetch_blocks(d, s));
    l2k_hold_blocks(d, s, slot->plan);
    L2K_TRY(l2k_need_blocks(d, s));
    const double start = l2k_stage_start(d->context);
    const l2k_block_batch batch = {.places = s->to_decode,
                                   .num_places = s->num_to_decode,
                                   .damaged = &s->damaged,
                                   .units = L2K_UNITS_TILE_BLOCKS,
                                   .stream = l2k_plan_stream(slot->plan),
                                   .bytes = s->bytes,
                                   .num_bytes = s->num_bytes};
    atomic_store(&s->damaged, false);
    s->is_begun = true;
    L2K_TRY(l2k_team_coder(team, slot->plan, l2k_device_coder_of(s), &s->coder));
    if (s->coder != team->device_coder)
        l2k_team_send(team, NULL, 0);
    L2K_TRY(s->coder->table->begin_decode(s->coder, &batch));
    l2k_stage_end(d->context, L2K_STAGE_TIER1, start);
    return L2K_OK;
}

l2k_status l2k_finish_blocks(const l2k_decoding *d, l2k_tile_state *s)
{
    const double start = l2k_stage_start(d->context);
    L2K_TRY(s->coder->table->finish(s->coder));
    l2k_keep_blocks(d, s);
    l2k_stage_end(d->context, L2K_STAGE_TIER1, start);
    return L2K_OK;
}

static l2k_status begin_plan(const l2k_decoding *d, l2k_tile_state *s, l2k_plan *plan)
{
    L2K_TRY(l2k_place_planes(d, s));
    if (d->on_device)
        L2K_TRY(l2k_plan_follow(plan, d->stream));
    return l2k_plan_begin(plan, s->planes);
}

/* On a device the transform is enqueued behind the code-blocks, before these are done; their coder works in the plan's
 * stream, and so is done with it in any case. */
static l2k_status begin_samples(const l2k_decoding *d, l2k_tile_state *s, l2k_team *team, l2k_tile_slot *slot)
{
    L2K_TRY(l2k_begin_blocks(d, s, team, slot));

    /* Inverse quantiser; wavelet; component transform, level shift: Annexes E, F, G, transform/. */
    const l2k_status begun = begin_plan(d, s, slot->plan);
    const l2k_status finished = l2k_finish_blocks(d, s);
    return begun == L2K_OK ? finished : begun;
}

static l2k_status begin_tile(const l2k_decoding *d, l2k_tile_state *s, l2k_team *team, const l2k_turn *turn)
{
    L2K_TRY(l2k_decode_packets(d, s, team, d->tiles[turn->tile]));
    if (s->is_absent || s->is_blank)
        return L2K_OK;
    l2k_status status = begin_samples(d, s, team, turn->slot);
    if (l2k_team_falls_back(team, turn->slot, status))
        status = begin_samples(d, s, team, turn->slot);
    return status == L2K_OK ? l2k_report_damage(d, s) : status;
}

static l2k_status finish_samples(const l2k_decoding *d, l2k_tile_state *s, l2k_team *team, l2k_tile_slot *slot)
{
    l2k_status status = l2k_plan_finish(slot->plan);
    if (l2k_team_falls_back(team, slot, status)) {
        L2K_TRY(begin_samples(d, s, team, slot));
        status = l2k_plan_finish(slot->plan);
    }
    return status == L2K_OK ? l2k_collect_planes(d, s) : status;
}

static l2k_status end_tile(const l2k_decoding *d, l2k_tile_state *s, l2k_team *team, const l2k_turn *turn)
{
    if (s->is_blank)
        L2K_TRY(l2k_fill_tile(d, d->tiles[turn->tile]));
    else if (!s->is_absent)
        L2K_TRY(finish_samples(d, s, team, turn->slot));
    l2k_run_advance(d->context, L2K_UNITS_TILE - (s->is_begun ? L2K_UNITS_TILE_BLOCKS : 0));
    l2k_tile_state_leave(d, s);
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
                     turn.begins ? begin_tile(job->decoding, s, team, &turn) : end_tile(job->decoding, s, team, &turn));
    }
}

static l2k_status decode_image(l2k_decoder *decoder, l2k_rect area, const l2k_plane *planes, l2k_sources *sources)
{
    l2k_backend backend;
    l2k_decoding d = l2k_decode_start(decoder, area, NULL);
    L2K_TRY(l2k_decoder_memory_kind(decoder, &d, &backend));
    L2K_TRY(l2k_sources_prepare(decoder, area, planes, sources));
    d.planes = sources->planes;
    L2K_TRY(l2k_decode_tiles(decoder, &d, backend, decode_share, NULL));
    if (d.on_device)
        return l2k_device_wait(d.context, d.stream);

    /* Palette and channel order: Annex I.5.3, outputs.c. */
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
    const int before = l2k_decoder_enter(decoder);
    l2k_status status = decode_image(decoder, area, planes, &sources);
    l2k_sources_release(decoder, &sources);
    status = l2k_decode_end(decoder, status);
    l2k_device_leave(before);
    return status;
}

static l2k_status decode_opened(l2k_decoder *decoder, l2k_image *image)
{
    if (decoder->options[L2K_DECODER_MEMORY] != L2K_MEMORY_HOST)
        return l2k_fail(&decoder->context, L2K_ERROR_ARGUMENT, "planes of the decoder's own are in host memory");
    L2K_TRY(l2k_decoder_image(decoder, image));
    L2K_TRY(l2k_decoder_take_planes(decoder, image));
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
    if (status == L2K_OK || status == L2K_INCOMPLETE) {
        *planes = decoder->memory_planes;
    } else {
        l2k_decoder_close(decoder);
        l2k_decoder_drop(decoder);
    }
    return status;
}
