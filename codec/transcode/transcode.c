/* l2k_encoder_transcode: tile by tile from the decoder's packets to the encoder's. */
#include "codec/transcode/transcode.h"

#include <string.h>

#include "base/partial.h"
#include "codec/decode/packets.h"

/* ---- Memory as a stream that can be rewritten ------------------------------------------------------------------ */

static int write_memory(void *buffer, const void *data, size_t bytes)
{
    l2k_buffer *to = buffer;
    l2k_buffer_append(to, data, bytes);
    return to->failed ? -1 : 0;
}

static int rewrite_memory(void *buffer, uint64_t offset, const void *data, size_t bytes)
{
    memcpy(((l2k_buffer *)buffer)->data + offset, data, bytes);
    return 0;
}

/* ---- A tile ----------------------------------------------------------------------------------------------------- */

static l2k_status take_tile(void *opaque, l2k_worker_group *group, const l2k_job *job)
{
    const l2k_decode_call *call = opaque;
    const l2k_decoding *d = call->decoding;
    l2k_tile_state *s = &call->states[job->slot->number];
    L2K_TRY(l2k_decode_packets(d, s, &group->engine, d->tiles[job->tile]));
    if (s->is_absent)
        return L2K_OK;
    L2K_TRY(l2k_fetch_blocks(d, s));
    return l2k_need_blocks(d, s);
}

static l2k_status make_tile(l2k_transcoding *t, const l2k_decoding *d, l2k_tile_state *s, uint32_t index)
{
    l2k_encoder *encoder = t->encoder;
    const l2k_context *context = &encoder->context;
    l2k_encoding *e = &encoder->encoding;
    l2k_tile *tile = &encoder->tiles[0];
    L2K_TRY(l2k_transcode_take_coding(t, index, &s->read));
    L2K_TRY(l2k_tile_create(context, &e->siz, &t->own, index, UINT64_MAX, tile));
    L2K_TRY(l2k_transcode_charge(t, tile, l2k_tile_bytes(t->input, index) + s->packed.bytes.size));
    L2K_TRY(l2k_tile_prepare(context, tile));
    L2K_TRY(l2k_tile_list_blocks(context, tile, &tile->places, &tile->num_places));
    L2K_TRY(l2k_transcode_blocks(t, s, tile));
    L2K_TRY(l2k_report_damage(d, s));
    if (l2k_transcode_recodes_any(t, &s->tile) && e->coding.capabilities.parts)
        l2k_encode_state_magnitudes(encoder);
    const double start = l2k_stage_start(context);
    L2K_TRY(l2k_output_tiles(encoder));
    l2k_stage_end(context, L2K_STAGE_TIER2, start);
    return L2K_OK;
}

/* A tile without bytes, empty or missing, stays so: a tile-part without packets. */
static l2k_status make_empty_tile(l2k_encoder *encoder, uint32_t index)
{
    l2k_output *out = &encoder->output;
    encoder->tiles[0].index = index;
    encoder->encoding.present = &encoder->encoding.coding;
    L2K_TRY(l2k_parts_put_made(encoder, 0));
    l2k_buffer_append(&out->parts, out->tiles[0].parts.data, out->tiles[0].parts.size);
    return l2k_buffer_status(&out->parts);
}

static l2k_status write_tile(l2k_transcoding *t, const l2k_decoding *d, l2k_tile_state *s, uint32_t index)
{
    l2k_encoder *encoder = t->encoder;
    const l2k_status status = !s || s->is_absent ? make_empty_tile(encoder, index) : make_tile(t, d, s, index);
    l2k_transcode_release_coding(t);
    if (t->coders[1])
        t->coders[1]->table->forget(t->coders[1]);
    L2K_TRY(status);
    L2K_TRY(l2k_poll(&encoder->context, L2K_POLL_NOW));
    return l2k_encode_write(encoder, encoder->stream);
}

static l2k_status give_tile(void *opaque, l2k_worker_group *group, const l2k_job *job)
{
    const l2k_decode_call *call = opaque;
    const l2k_decoding *d = call->decoding;
    l2k_tile_state *s = &call->states[job->slot->number];
    (void)group;
    L2K_TRY(write_tile(call->user, d, s, d->tiles[job->tile]));
    l2k_run_advance(d->context, L2K_UNITS_TILE);
    l2k_tile_state_leave(d, s);
    return L2K_OK;
}

/* Starts on a tile as if all were decoded in one call: each warning comes once. */
static l2k_decoding start_tile(l2k_decoder *decoder, uint32_t index)
{
    l2k_findings *findings = &decoder->findings;
    const bool incomplete = index && atomic_load(&findings->incomplete),
               fewer = index && atomic_load(&findings->warned_fewer),
               beyond = index && atomic_load(&findings->warned_beyond);
    l2k_decoding d = l2k_decode_start(decoder, l2k_tile_rect(&decoder->codestream.siz.grid, index), NULL);
    atomic_store(&findings->incomplete, incomplete);
    atomic_store(&findings->warned_fewer, fewer);
    atomic_store(&findings->warned_beyond, beyond);
    d.only = UINT32_MAX;
    return d;
}

static l2k_status transcode_tile(l2k_transcoding *t, uint32_t index)
{
    l2k_decoding d = start_tile(t->decoder, index);
    if (t->input->first_part[index] == L2K_NO_PART && !t->input->strict) {
        L2K_TRY(l2k_missing_tile(&d, index)); /* files may lack most of 65535 tiles, which take no time then */
        return write_tile(t, &d, NULL, index);
    }
    const l2k_status status =
        l2k_decode_end(t->decoder, l2k_decode_tiles(t->decoder, &d, L2K_BACKEND_CPU, take_tile, give_tile, t));
    return status == L2K_INCOMPLETE ? L2K_OK : status;
}

/* ---- The file --------------------------------------------------------------------------------------------------- */

/* Boxes behind the codestream, whose box then states its length. */
static l2k_status write_rest(l2k_transcoding *t)
{
    l2k_encoder *encoder = t->encoder;
    const l2k_decoder *decoder = t->decoder;
    const uint8_t *at = decoder->data + decoder->jp2.codestream_at + decoder->jp2.codestream_bytes,
                  *end = decoder->data + decoder->file_bytes;
    l2k_buffer rest = {.context = &encoder->context};
    if (!encoder->encoding.boxes.size || at == end)
        return L2K_OK;
    if (encoder->output.written - encoder->output.box_at > UINT32_MAX)
        return l2k_fail(&encoder->context, L2K_ERROR_LIMIT, "boxes behind a codestream of more than 2^32 bytes");
    L2K_TRY(l2k_need(&decoder->context, at, end));
    l2k_buffer_append(&rest, at, (size_t)(end - at));
    const l2k_status status = l2k_encode_flush(encoder, encoder->stream, &rest);
    l2k_buffer_release(&rest);
    return status;
}

static l2k_status transcode_to(l2k_transcoding *t, const l2k_stream *stream)
{
    l2k_encoder *encoder = t->encoder;
    l2k_encoding *e = &encoder->encoding;
    encoder->stream = stream;
    L2K_TRY(l2k_transcode_plan(t));
    const uint16_t ht = e->coding.capabilities.ht;
    L2K_TRY(l2k_encode_make_head(encoder));
    e->coding.capabilities.ht = ht;
    for (uint32_t i = 0; i < t->input->num_tiles; i++)
        L2K_TRY(transcode_tile(t, i));
    encoder->next_tile = e->num_tiles;
    L2K_TRY(l2k_encode_end_rows(encoder));
    return write_rest(t);
}

/* A stream that cannot be rewritten gets the file when all of it is known. */
static l2k_status transcode(l2k_transcoding *t, const l2k_stream *stream)
{
    l2k_encoder *encoder = t->encoder;
    l2k_buffer memory = {.context = &encoder->context};
    const l2k_stream to_memory = {.write = write_memory, .rewrite = rewrite_memory, .user = &memory};
    L2K_TRY(l2k_transcode_setup(t));
    if (stream->rewrite)
        return transcode_to(t, stream);
    l2k_status status = transcode_to(t, &to_memory);
    if (status != L2K_OK && memory.failed)
        status = l2k_buffer_status(&memory);
    if (status == L2K_OK)
        status = l2k_encode_flush(encoder, stream, &memory);
    l2k_buffer_release(&memory);
    return status;
}

l2k_status l2k_encoder_transcode(l2k_encoder *encoder, l2k_decoder *decoder, const l2k_stream *stream)
{
    l2k_transcoding t = {.encoder = encoder, .decoder = decoder};
    if (!decoder || !stream || !stream->write)
        return l2k_fail(&encoder->context, L2K_ERROR_ARGUMENT, "no file to read or no stream to write to");
    L2K_TRY(l2k_decoder_check_options(decoder));
    if (decoder->is_pushed && !decoder->has_ended)
        return l2k_fail(&encoder->context, L2K_ERROR_STATE, "the file is still arriving");
    t.input = &decoder->codestream;
    l2k_decoder_leave_rows(decoder);
    const int before = l2k_encode_enter(encoder);
    l2k_encode_start_call(encoder);
    const uint64_t limit = l2k_decoder_memory_limit(decoder); /* hostile headers may promise the output as much */
    encoder->pool.limit = limit < encoder->pool.limit ? limit : encoder->pool.limit;
    const l2k_status status = l2k_encode_end(encoder, transcode(&t, stream));
    l2k_block_coder_free(t.coders[0]);
    l2k_block_coder_free(t.coders[1]);
    l2k_engine_leave(before);
    return status == L2K_OK && atomic_load(&decoder->findings.incomplete) ? L2K_INCOMPLETE : status;
}
