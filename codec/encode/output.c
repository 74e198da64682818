/* The encoder's output: tile-parts (parts.c), the main header and the boxes. */
#include "codec/encode/encoder.h"

#include <string.h>

#include "base/integer.h"
#include "codec/codestream/markers.h"

/* SOT and SOD; the least bytes of PLT; EOC; most heads, for which an only tile has room (l2k_output_join). */
enum { PART_BYTES = 14, PLT_BYTES = 5, EOC_BYTES = 2, HEAD_BYTES = 4096 };

/* Bytes of packets: their code, and an estimate of their headers. */
static size_t expected_bytes(const l2k_tile *tile)
{
    enum { PACKET_HEADER = 4, BLOCK_HEADER = 5 };
    const uint32_t num_layers = tile->coding->num_layers;
    size_t bytes = num_layers * (size_t)(PACKET_HEADER * tile->num_precincts) + BLOCK_HEADER * tile->num_places;
    for (size_t i = 0; i < tile->num_places; i++) {
        const l2k_block *block = tile->places[i].block;
        bytes += l2k_bytes_of_passes(block, l2k_block_passes(block, num_layers - 1));
    }
    return bytes;
}

static l2k_status make_parts(l2k_encoder *encoder, uint32_t number)
{
    l2k_part_writer writer;
    l2k_status status = l2k_parts_begin(encoder, number, NULL, &writer);
    if (status == L2K_OK)
        status = l2k_parts_write(&writer);
    if (status == L2K_OK)
        status = l2k_parts_end(&writer, 0);
    l2k_parts_release(&writer);
    return status;
}

/* A failed reservation shows with the first byte written. */
static l2k_status put_tile(l2k_encoder *encoder, uint32_t number)
{
    const bool made = encoder->output.packets.bytes;
    const l2k_tile *tile = &encoder->tiles[number];
    l2k_tile_output *out = &encoder->output.tiles[number];
    const size_t head = encoder->num_tiles == 1 ? HEAD_BYTES : 0;
    (void)l2k_buffer_reserve(&out->bytes, head + PART_BYTES + EOC_BYTES + (made ? 0 : expected_bytes(tile)));
    L2K_TRY(made ? l2k_parts_put_made(encoder, number) : make_parts(encoder, number));
    l2k_run_advance(encoder->encoding.context, L2K_UNITS_PACKETS * l2k_tile_samples(tile));
    return l2k_buffer_status(&out->parts);
}

bool l2k_output_can_be_by_tile(const l2k_encoder *encoder)
{
    const l2k_encoding *e = &encoder->encoding;
    return encoder->workers.by_tile && encoder->workers.num_groups > 1 && !l2k_layers_need_distortions(&e->targets) &&
           !l2k_encoding_truncates(e);
}

l2k_status l2k_output_tile(l2k_encoder *encoder, l2k_engine *engine, uint32_t number)
{
    const l2k_encoding *e = &encoder->encoding;
    l2k_tile *tile = &encoder->tiles[number];
    const double start = l2k_stage_start(e->context);
    if (!tile->missing_guard_bits) { /* else all tiles are coded again */
        L2K_TRY(l2k_layers_allocate(e->context, tile, 1, &e->targets, e->plt, 0));
        L2K_TRY(put_tile(encoder, number));
    }
    l2k_stage_end(e->context, L2K_STAGE_TIER2, start);
    l2k_engine_forget(engine);
    return L2K_OK;
}

/* Tiles of fewer samples together take some milliseconds, so one thread makes them. */
#define SAMPLES_SIDE_BY_SIDE ((uint64_t)1 << 25)

static unsigned threads_for(const l2k_encoder *encoder)
{
    const uint64_t samples = (l2k_tile_samples(&encoder->tiles[0]) + 1) * encoder->num_tiles;
    return samples < SAMPLES_SIDE_BY_SIDE ? 1 : l2k_min_u32(encoder->context.threads, encoder->num_tiles);
}

l2k_status l2k_output_tiles(l2k_encoder *encoder)
{
    const l2k_encoding *e = &encoder->encoding;
    l2k_output *out = &encoder->output;
    l2k_first_failure first;
    const unsigned threads = threads_for(encoder);
    (void)threads; /* without OpenMP */
    atomic_init(&first, L2K_NO_FAILURE);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (threads > 1)
    for (uint32_t t = 0; t < encoder->num_tiles; t++) {
        if (!out->tiles[t].bytes.size && !l2k_failed_before(&first, t))
            l2k_record_status(&first, t, put_tile(encoder, t));
        if (!e->keeps_tiles)
            l2k_encode_release_tile(e->context, &encoder->tiles[t]);
    }
    L2K_TRY(l2k_first_status(&first));
    for (uint32_t t = 0; t < encoder->num_tiles; t++)
        l2k_buffer_append(&out->parts, out->tiles[t].parts.data, out->tiles[t].parts.size);
    return l2k_buffer_status(&out->parts);
}

/* ---- Headers ------------------------------------------------------------------------------------------------- */

l2k_status l2k_output_head(l2k_encoder *encoder, uint64_t body_bytes)
{
    const l2k_encoding *e = &encoder->encoding;
    l2k_output *out = &encoder->output;
    l2k_buffer codestream = {.context = e->context};
    out->head.size = 0;
    out->ht_at = l2k_write_main_header(&codestream, &e->siz, &e->coding);
    out->tlm_at = codestream.size;
    bool listed = !e->tlm || l2k_write_tlm(&codestream, (const l2k_tile_part *)(const void *)out->parts.data,
                                           out->parts.size / sizeof(l2k_tile_part), e->num_tiles);
    if (e->coding.num_changes)
        l2k_write_poc(&codestream, &e->siz, &e->coding);
    if (e->roi_shift)
        l2k_write_rgn(&codestream, &e->siz, e->roi_component, e->roi_shift);
    l2k_write_regions(&codestream, &e->siz, &e->coding, NULL);
    if (*e->comment)
        l2k_write_comment(&codestream, e->comment);
    l2k_buffer_append(&codestream, e->segments.data, e->segments.size);
    l2k_buffer_append(&out->head, e->boxes.data, e->boxes.size);
    if (e->boxes.size)
        out->box_at = e->boxes.size - 8; /* LBox and TBox */
    else if (e->format == L2K_FORMAT_JP2)
        out->box_at = l2k_jp2_write_head(&out->head, e->image, e->palette, e->siz.profile,
                                         body_bytes ? codestream.size + body_bytes : 0);
    out->tlm_at += out->head.size;
    out->ht_at += out->head.size;
    l2k_buffer_append(&out->head, codestream.data, codestream.size);
    out->head.failed |= codestream.failed;
    l2k_buffer_release(&codestream);
    if (!listed)
        return l2k_fail(e->context, L2K_ERROR_ARGUMENT, "there are more tile-parts than TLM can list");
    return l2k_buffer_status(&out->head);
}

/* ---- What is known beforehand --------------------------------------------------------------------------------- */

l2k_status l2k_output_plan_parts_of(l2k_encoder *encoder, const l2k_tile *tile, uint32_t *parts)
{
    const l2k_encoding *e = &encoder->encoding;
    l2k_packet_order order;
    L2K_TRY(l2k_packet_order_create(e->context, tile, &order));
    l2k_status status = l2k_parts_count(e, &order, parts);
    l2k_packet_order_release(e->context, &order);
    for (uint32_t i = 0; status == L2K_OK && i < *parts; i++)
        l2k_buffer_append(&encoder->output.parts, &(l2k_tile_part){tile->index, 0}, sizeof(l2k_tile_part));
    return status;
}

l2k_status l2k_output_plan_parts(l2k_encoder *encoder)
{
    const l2k_encoding *e = &encoder->encoding;
    l2k_status status = L2K_OK;
    for (uint32_t t = 0, parts; t < e->num_tiles && status == L2K_OK; t++) {
        l2k_tile tile;
        L2K_TRY(l2k_tile_create(e->context, &e->siz, l2k_coding_of_tile(e, t), t, UINT64_MAX, &tile));
        status = l2k_output_plan_parts_of(encoder, &tile, &parts);
        l2k_tile_release(e->context, &tile);
    }
    return status == L2K_OK ? l2k_buffer_status(&encoder->output.parts) : status;
}

/* A marker segment takes 65532 bytes of lengths, and a length takes at most five. */
static size_t most_plt_bytes(const l2k_tile *tile, uint32_t parts)
{
    return PLT_BYTES * (parts + (size_t)(tile->num_precincts * tile->coding->num_layers * 5 / 65000));
}

static size_t quantisation_bytes(const l2k_encoding *e)
{
    l2k_buffer buffer = {.context = e->context};
    l2k_write_quantisation(&buffer, &e->siz, &e->coding, 0);
    const size_t bytes = buffer.size;
    l2k_buffer_release(&buffer);
    return bytes;
}

l2k_status l2k_output_find_fixed_bytes(l2k_encoder *encoder)
{
    const l2k_encoding *e = &encoder->encoding;
    l2k_output *out = &encoder->output;
    size_t *bytes = &out->fixed_bytes, before = out->parts.size;
    *bytes = EOC_BYTES;
    if (!l2k_layers_need_distortions(&e->targets) && !l2k_encoding_truncates(e))
        return L2K_OK; /* not wanted */
    if (e->tile_steps)
        *bytes += encoder->num_tiles * quantisation_bytes(e);
    for (uint32_t t = 0; t < encoder->num_tiles; t++) {
        const l2k_tile *tile = &encoder->tiles[t];
        uint32_t parts;
        L2K_TRY(l2k_output_plan_parts_of(encoder, tile, &parts));
        *bytes += parts * (size_t)PART_BYTES + (e->plt ? most_plt_bytes(tile, parts) : 0);
        const l2k_tile_coding *own = l2k_poc_of_tile(e, tile->index);
        *bytes += own ? l2k_poc_bytes(&e->siz, own) : 0;
    }
    if (l2k_encode_is_whole(encoder)) /* by rows, the head exists until the first row is written */
        L2K_TRY(l2k_output_head(encoder, 0));
    *bytes += out->head.size;
    if (out->head.size && e->format == L2K_FORMAT_JP2)
        *bytes -= l2k_jp2_extra_bytes(e->image, e->siz.profile); /* metadata does not count against the picture's
                                                                    bytes */
    out->parts.size = before;
    return L2K_OK;
}

/* ---- The output ------------------------------------------------------------------------------------------------ */

l2k_status l2k_output_start(l2k_output *out, const l2k_context *context, uint32_t num_tiles)
{
    const l2k_buffer empty = {.context = context};
    *out = (l2k_output){.head = empty, .parts = empty};
    out->tiles = l2k_allocate_zeroed(context, num_tiles, sizeof *out->tiles);
    L2K_TRY(l2k_check_memory(context, out->tiles, "%u tiles", num_tiles));
    out->num_tiles = num_tiles;
    for (uint32_t t = 0; t < num_tiles; t++)
        out->tiles[t] = (l2k_tile_output){.bytes = empty, .parts = empty};
    return L2K_OK;
}

void l2k_output_restart(l2k_output *out)
{
    for (uint32_t t = 0; t < out->num_tiles; t++)
        out->tiles[t].bytes.size = out->tiles[t].parts.size = 0;
}

void l2k_output_release(l2k_output *out)
{
    for (uint32_t t = 0; t < out->num_tiles; t++) {
        l2k_buffer_release(&out->tiles[t].bytes);
        l2k_buffer_release(&out->tiles[t].parts);
    }
    l2k_parts_release(&out->writer);
    l2k_release(out->head.context, out->tiles);
    l2k_buffer_release(&out->head);
    l2k_buffer_release(&out->parts);
    out->tiles = NULL;
    out->num_tiles = 0;
}

l2k_status l2k_output_end(l2k_output *out)
{
    l2k_buffer *last = &out->tiles[out->num_tiles - 1].bytes;
    if (!out->packets.bytes) {
        l2k_buffer_put(last, L2K_EOC, EOC_BYTES);
        return l2k_buffer_status(last);
    }
    out->packets.bytes[out->packets.count++] = L2K_EOC >> 8;
    out->packets.bytes[out->packets.count++] = L2K_EOC & 0xFF;
    return L2K_OK;
}

size_t l2k_output_body_bytes(const l2k_output *out)
{
    size_t bytes = out->packets.count;
    for (uint32_t t = 0; t < out->num_tiles; t++)
        bytes += out->tiles[t].bytes.size;
    return bytes;
}

static l2k_status write_bytes(l2k_encoder *encoder, const l2k_stream *stream, const uint8_t *bytes, size_t count)
{
    const l2k_context *context = &encoder->context;
    double start = l2k_stage_start(context);
    int failed = count ? stream->write(stream->user, bytes, count) : 0;
    l2k_stage_end(context, L2K_STAGE_WRITE, start);
    if (failed)
        return l2k_fail(context, L2K_ERROR_IO, "writing failed");
    encoder->output.written += count;
    return L2K_OK;
}

l2k_status l2k_encode_flush(l2k_encoder *encoder, const l2k_stream *stream, l2k_buffer *bytes)
{
    L2K_TRY(l2k_buffer_status(bytes));
    L2K_TRY(write_bytes(encoder, stream, bytes->data, bytes->size));
    bytes->size = 0;
    return L2K_OK;
}

l2k_status l2k_encode_rewrite(const l2k_encoder *encoder, const l2k_stream *stream, uint64_t offset, l2k_buffer *bytes)
{
    L2K_TRY(l2k_buffer_status(bytes));
    if (stream->rewrite(stream->user, offset, bytes->data, bytes->size) != 0)
        return l2k_fail(&encoder->context, L2K_ERROR_IO, "rewriting failed");
    bytes->size = 0;
    return L2K_OK;
}

l2k_status l2k_encode_write(l2k_encoder *encoder, const l2k_stream *stream)
{
    l2k_output *out = &encoder->output;
    L2K_TRY(l2k_encode_flush(encoder, stream, &out->head));
    for (uint32_t t = 0; t < out->num_tiles; t++) {
        const l2k_buffer *tile = &out->tiles[t].bytes;
        L2K_TRY(write_bytes(encoder, stream, tile->data, tile->size));
    }
    L2K_TRY(write_bytes(encoder, stream, out->packets.bytes, out->packets.count));
    l2k_output_restart(out);
    return L2K_OK;
}

/* ---- In one piece ---------------------------------------------------------------------------------------------- */

/* Packets that the engine has made have room before them; others join the first tile's. */
l2k_status l2k_output_join(l2k_encoder *encoder, const uint8_t **bytes, size_t *count)
{
    l2k_output *out = &encoder->output;
    l2k_buffer *first = &out->tiles[0].bytes;
    const size_t head = out->head.size, before = head + first->size, all = head + l2k_output_body_bytes(out);
    uint8_t *start;
    if (out->packets.bytes && before <= L2K_PACKETS_FRONT) {
        start = out->packets.bytes - before;
        memcpy(start + head, first->data, first->size);
    } else {
        l2k_workers_forget(&encoder->workers); /* the code of blocks, which has become packets */
        if (!l2k_buffer_reserve(first, all - first->size))
            return l2k_buffer_status(first);
        start = first->data;
        memmove(start + head, start, first->size);
        first->size = before;
        for (uint32_t t = 1; t < out->num_tiles; t++)
            l2k_buffer_append(first, out->tiles[t].bytes.data, out->tiles[t].bytes.size);
        l2k_buffer_append(first, out->packets.bytes, out->packets.count);
        encoder->memory = *first;
        *first = (l2k_buffer){.context = first->context};
    }
    memcpy(start, out->head.data, head);
    *bytes = start;
    *count = all;
    return L2K_OK;
}
