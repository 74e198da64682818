/* The decoder's block diagram: from a codestream or a JP2 file to an image (ISO/IEC 15444-1), the encoder's stages in
 * reverse. Around it: options in options.c, opening in open.c, limits in codestream/limits.c and
 * memory.c, start and end of a decoding in start.c. */

#include "codec/decode/packets.h"

l2k_status l2k_decode_headers(l2k_decoder *decoder, const uint8_t *data, size_t bytes)
{
    const l2k_context *context = &decoder->context;
    const int64_t *options = decoder->options;
    const l2k_codestream_limits limits = {l2k_limit_samples(options[L2K_DECODER_LIMIT_SAMPLES], decoder->file_bytes),
                                          (uint32_t)options[L2K_DECODER_LIMIT_COMPONENTS],
                                          (uint32_t)options[L2K_DECODER_LIMIT_TILES], options[L2K_DECODER_STRICT] != 0};

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
    return l2k_decoder_plan_outputs(decoder, &limits.size);
}

l2k_status l2k_decode_packets(const l2k_decoding *d, l2k_tile_state *s, l2k_engine *engine, uint32_t index)
{
    /* Packets, out of tile-parts: Annex B, codec/packets/. */
    const double start = l2k_stage_start(d->context);
    s->bytes = d->arrives ? NULL : l2k_tile_span(d, index, &s->num_bytes);
    if (s->bytes)
        L2K_TRY(l2k_need(d->context, s->bytes, s->bytes + s->num_bytes));
    if (s->is_kept)
        l2k_engine_send(engine, s->bytes, s->num_bytes);
    L2K_TRY(l2k_read_tile(d, s, index, engine->context.threads));
    if (d->arrives)
        return l2k_list_blocks(d, s);
    s->is_blank = !s->is_absent && d->planes && !s->tile.has_contributions;
    if (s->is_absent || s->is_blank)
        l2k_engine_send(engine, NULL, 0);
    else
        L2K_TRY(l2k_list_blocks(d, s));
    l2k_stage_end(d->context, L2K_STAGE_READ, start);
    return L2K_OK;
}

l2k_status l2k_decode_blocks(const l2k_decoding *d, l2k_tile_state *s, l2k_engine *engine, l2k_engine_slot *slot)
{
    /* Code-blocks, arithmetic decoder and bit-planes: Annexes C, D, codec/blocks/; and, where samples are wanted,
     * inverse quantiser, wavelet, component transform, level shift: Annexes E, F, G, transform/. */
    L2K_TRY(l2k_prepare_blocks(d, s, engine, slot));
    L2K_TRY(l2k_fetch_blocks(d, s));
    L2K_TRY(l2k_need_blocks(d, s));
    if (d->planes)
        L2K_TRY(l2k_place_planes(d, s));
    const l2k_decode_request request = l2k_decode_request_of(d, s);
    atomic_store(&s->damaged, false);
    s->is_begun = true;
    L2K_TRY(l2k_engine_begin_decode(engine, slot, &request));
    if (s->rest && !atomic_load(&s->damaged)) /* for later windows, if the caller allows it */
        l2k_block_cache_store(d->cache, s->tile.index, s->rest, s->num_to_decode);
    return L2K_OK;
}

static l2k_status decode_tile(const l2k_decoding *d, l2k_tile_state *s, l2k_engine *engine, const l2k_job *job)
{
    L2K_TRY(l2k_decode_packets(d, s, engine, d->tiles[job->tile]));
    if (s->is_absent || s->is_blank)
        return L2K_OK;
    const l2k_status status = l2k_decode_blocks(d, s, engine, job->slot);
    L2K_TRY(l2k_engine_falls_back(engine, job->slot, status) ? l2k_decode_blocks(d, s, engine, job->slot) : status);
    return l2k_report_damage(d, s);
}

/* Where bytes come later, a tile that lacks some lets the tiles behind it ask for theirs: one wait in place of many.
 * Blocks that are cached are not known before a tile is prepared. */
static void ask_for_others(const l2k_decode_call *call, l2k_tile_state *s, l2k_engine *engine, const l2k_job *failed)
{
    const l2k_decoding *d = call->decoding;
    for (uint32_t i = failed->tile + 1; l2k_comes_later(d->context) && call->is_alone && i < d->num_tiles; i++) {
        l2k_tile_state_leave(d, s);
        if (l2k_decode_packets(d, s, engine, d->tiles[i]) == L2K_OK && !s->is_absent && !s->is_blank && !d->cache &&
            l2k_fetch_blocks(d, s) == L2K_OK)
            l2k_need_blocks(d, s);
    }
}

static l2k_status begin_tile(void *opaque, l2k_worker_group *group, const l2k_job *job)
{
    const l2k_decode_call *call = opaque;
    l2k_tile_state *s = &call->states[job->slot->number];
    const l2k_status status = decode_tile(call->decoding, s, &group->engine, job);
    if (status == L2K_ERROR_IO)
        ask_for_others(call, s, &group->engine, job);
    return status;
}

static l2k_status finish_samples(const l2k_decoding *d, l2k_tile_state *s, l2k_engine *engine, l2k_engine_slot *slot)
{
    l2k_status status = l2k_engine_finish(slot);
    if (l2k_engine_falls_back(engine, slot, status)) {
        L2K_TRY(l2k_decode_blocks(d, s, engine, slot));
        status = l2k_engine_finish(slot);
    }
    return status == L2K_OK ? l2k_collect_planes(d, s) : status;
}

/* While an asynchronous engine works, its worker group decodes the next tile's blocks. */
static l2k_status end_tile(void *opaque, l2k_worker_group *group, const l2k_job *job)
{
    const l2k_decode_call *call = opaque;
    const l2k_decoding *d = call->decoding;
    l2k_tile_state *s = &call->states[job->slot->number];
    if (s->is_blank)
        L2K_TRY(l2k_fill_tile(d, d->tiles[job->tile]));
    else if (!s->is_absent)
        L2K_TRY(finish_samples(d, s, &group->engine, job->slot));
    l2k_run_advance(d->context, L2K_UNITS_TILE - (s->is_begun ? L2K_UNITS_TILE_BLOCKS : 0));
    l2k_tile_state_leave(d, s);
    return L2K_OK;
}

static l2k_status decode_sources(l2k_decoder *decoder, l2k_rect area, const l2k_plane *planes, l2k_sources *sources)
{
    l2k_backend backend;
    l2k_decoding d = l2k_decode_start(decoder, area, NULL);
    L2K_TRY(l2k_decoder_memory_kind(decoder, &d, &backend));
    L2K_TRY(l2k_sources_prepare(decoder, area, planes, sources));
    d.planes = sources->planes;
    L2K_TRY(l2k_decode_tiles(decoder, &d, backend, begin_tile, end_tile, NULL));
    if (d.off_host)
        return l2k_engine_wait(d.context, d.stream);

    /* Palette and channel order: Annex I.5.3, outputs.c. */
    return l2k_sources_deliver(decoder, area, sources, planes);
}

l2k_status l2k_decode_area(l2k_decoder *decoder, l2k_rect area, const l2k_plane *planes)
{
    l2k_sources sources = {0};
    const l2k_status status = decode_sources(decoder, area, planes, &sources);
    l2k_sources_release(decoder, &sources);
    return status;
}

l2k_status l2k_decoder_decode(l2k_decoder *decoder, const l2k_plane *planes)
{
    l2k_image image;
    L2K_TRY(l2k_decoder_image(decoder, &image));
    if (!planes)
        return l2k_fail(&decoder->context, L2K_ERROR_ARGUMENT, "no planes to decode into");
    l2k_rect area = {image.x0, image.y0, image.x1, image.y1};
    l2k_decoder_leave_rows(decoder);
    const int before = l2k_decoder_enter(decoder);
    return l2k_engine_left(before, l2k_decode_end(decoder, l2k_decode_area(decoder, area, planes)));
}
