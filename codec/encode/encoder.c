/* The encoder's block diagram: from an image to a codestream or a JP2 file (ISO/IEC 15444-1). Around it: options in
 * options.c, their checks in setup.c, start and end of an image in start.c, images by rows of tiles in rows.c. */
#include "codec/encode/encoder.h"

/* With an asynchronous engine, the next tile's transform runs meanwhile. */
static l2k_status end_tile(void *opaque, l2k_worker_group *group, const l2k_job *job)
{
    const l2k_encode_call *call = opaque;
    /* Code-blocks, bit-planes and arithmetic coder: Annexes D, C, codec/blocks/. */
    L2K_TRY(l2k_encode_end_tile(call, &group->engine, job));
    /* Packets at once, if no other tile has a part in them: Annex B. */
    return call->encoder->output.by_tile ? l2k_output_tile(call->encoder, &group->engine, job->tile) : L2K_OK;
}

/* Level shift and component transform, wavelet, quantiser: Annexes G, F, E, transform/; then code-blocks. */
static l2k_status run_tiles(l2k_encoder *encoder, l2k_encode_call *call)
{
    return l2k_workers_run(&encoder->workers, encoder->num_tiles, l2k_encode_begin_tile, end_tile, call);
}

/* Tiles whose packets are made one by one rely on the guard bits of the options; if a tile needs more, which is rare,
 * all tiles are coded again. */
static l2k_status code_tiles(l2k_encoder *encoder, l2k_encode_call *call)
{
    l2k_output *out = &encoder->output;
    out->by_tile = l2k_output_can_be_by_tile(encoder);
    encoder->encoding.more_guard_bits = 0;
    L2K_TRY(run_tiles(encoder, call));
    if (!out->by_tile || !l2k_encode_missing_guard_bits(encoder))
        return L2K_OK;
    out->by_tile = false;
    l2k_output_restart(out);
    return run_tiles(encoder, call);
}

static l2k_status pack_tiles(l2k_encoder *encoder)
{
    const double start = l2k_stage_start(&encoder->context);
    l2k_encode_state_magnitudes(encoder);

    /* Packets, in tile-parts: Annex B, codec/packets/. */
    L2K_TRY(l2k_output_tiles(encoder));
    l2k_stage_end(&encoder->context, L2K_STAGE_TIER2, start);
    return L2K_OK;
}

l2k_status l2k_encode_tiles(l2k_encoder *encoder, uint32_t first, l2k_rect area, const l2k_plane *planes)
{
    const l2k_encoding *e = &encoder->encoding;
    l2k_encode_call call = {.encoder = encoder, .first = first, .area = area, .planes = planes, .advances = true};
    L2K_TRY(l2k_encode_check_planes(e, area, planes));

    if (l2k_encoding_truncates(e)) {
        /* The same with HT code-blocks that are truncated: transform, code-blocks, layers; truncation.c. */
        L2K_TRY(l2k_encode_truncated(encoder, &call));
    } else {
        /* Transform and code-blocks, tile by tile on all threads: run_tiles. */
        L2K_TRY(code_tiles(encoder, &call));
        /* Rate control, coding passes into layers: J.14, layers.c. */
        L2K_TRY(l2k_encode_layers(encoder));
    }
    return pack_tiles(encoder);
}

static l2k_status complete_output(l2k_encoder *encoder)
{
    l2k_output *out = &encoder->output;

    /* Headers: Annex A, codec/codestream/; boxes: Annex I, codec/jp2/. */
    L2K_TRY(l2k_output_end(out));
    L2K_TRY(l2k_output_head(encoder, l2k_output_body_bytes(out)));
    return l2k_poll(&encoder->context, L2K_POLL_NOW); /* nothing is written after a "no" */
}

l2k_status l2k_encode_pack(l2k_encoder *encoder)
{
    L2K_TRY(l2k_encode_layers(encoder));
    L2K_TRY(pack_tiles(encoder));
    return complete_output(encoder);
}

static l2k_status make_output(l2k_encoder *encoder, const l2k_image *image, const l2k_plane *planes)
{
    L2K_TRY(l2k_encode_start(encoder, image, false));
    L2K_TRY(l2k_encode_tiles(encoder, 0, encoder->encoding.siz.grid.image, planes));
    return complete_output(encoder);
}

/* To a stream or, if that is NULL, into memory. */
static l2k_status encode_image(l2k_encoder *encoder, const l2k_image *image, const l2k_plane *planes,
                               const l2k_stream *stream, const uint8_t **bytes, size_t *count)
{
    const int before = l2k_encode_enter(encoder);
    l2k_status status = make_output(encoder, image, planes);
    if (status == L2K_OK)
        status = stream ? l2k_encode_write(encoder, stream) : l2k_output_join(encoder, bytes, count);
    return l2k_engine_left(before, l2k_encode_end(encoder, status));
}

l2k_status l2k_encoder_encode(l2k_encoder *encoder, const l2k_image *image, const l2k_plane *planes,
                              const l2k_stream *stream)
{
    if (!image || !planes || !stream || !stream->write)
        return l2k_fail(&encoder->context, L2K_ERROR_ARGUMENT, "no image, no planes or no stream to write to");
    return encode_image(encoder, image, planes, stream, NULL, NULL);
}

l2k_status l2k_encoder_encode_memory(l2k_encoder *encoder, const l2k_image *image, const l2k_plane *planes,
                                     const uint8_t **bytes, size_t *count)
{
    if (bytes)
        *bytes = NULL;
    if (count)
        *count = 0;
    if (!bytes || !count || !image || !planes)
        return l2k_fail(&encoder->context, L2K_ERROR_ARGUMENT, "no image, no planes or nowhere to return the file to");
    return encode_image(encoder, image, planes, NULL, bytes, count);
}
