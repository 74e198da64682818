/* Makes tile-parts: of a tile whose code-blocks are all coded, or while they are coded in strips. */
#include "codec/encode/encoder.h"

#include "codec/codestream/markers.h"
#include "codec/packets/packet.h"

l2k_status l2k_parts_count(const l2k_encoding *e, l2k_packet_order *order, uint32_t *count)
{
    l2k_packet_id before, id;
    *count = 1;
    l2k_packet_order_restart(order);
    for (bool first = true; l2k_packet_order_next(order, &id); first = false, before = id)
        *count += !first && l2k_packet_starts_part(order, e->tile_parts, &before, &id);
    l2k_packet_order_restart(order);
    return order->status;
}

static const l2k_encoding *encoding_of(const l2k_part_writer *w)
{
    return &w->encoder->encoding;
}

/* Where the first of out->bytes is, or will be behind a head that is still to be written. */
static uint64_t base_of(const l2k_part_writer *w)
{
    return w->stream ? w->encoder->output.written + w->encoder->output.head.size : 0;
}

static l2k_status flush(l2k_part_writer *w)
{
    return w->stream ? l2k_encode_flush(w->encoder, w->stream, &w->out->bytes) : L2K_OK;
}

static void begin_part(l2k_part_writer *w)
{
    const l2k_encoding *e = encoding_of(w);
    l2k_buffer *to = &w->out->bytes;
    w->psot_at = base_of(w) + l2k_write_sot(to, w->tile->index, w->part, w->num_parts);
    if (w->part == 0 && (e->more_guard_bits || e->tile_steps))
        l2k_write_quantisation(to, &e->siz, &e->coding, e->more_guard_bits);
    const l2k_tile_coding *own = w->part == 0 && !e->present ? l2k_poc_of_tile(e, w->tile->index) : NULL;
    if (own)
        l2k_write_poc(to, &e->siz, own);
    if (e->present && w->part == 0)
        l2k_write_tile_header(to, &e->siz, &e->coding, e->present);
    if (!e->plt)
        l2k_buffer_put(to, L2K_SOD, 2);
}

/* PLT comes before the packets that it lists. */
static l2k_status put_listed_packets(l2k_part_writer *w)
{
    l2k_buffer *to = &w->out->bytes;
    L2K_TRY(l2k_buffer_status(&w->lengths));
    if (!l2k_write_plt(to, (const uint32_t *)(const void *)w->lengths.data, w->lengths.size / sizeof(uint32_t)))
        return l2k_fail(encoding_of(w)->context, L2K_ERROR_ARGUMENT, "tile %u has more packets than PLT can list",
                        w->tile->index);
    l2k_buffer_put(to, L2K_SOD, 2);
    L2K_TRY(l2k_buffer_status(&w->packets));
    l2k_buffer_append(to, w->packets.data, w->packets.size);
    w->packets.size = w->lengths.size = 0;
    return L2K_OK;
}

static l2k_status put_length(l2k_part_writer *w, uint32_t bytes)
{
    const uint64_t base = base_of(w);
    if (w->psot_at >= base) {
        l2k_buffer_patch(&w->out->bytes, (size_t)(w->psot_at - base), bytes, 4);
        return L2K_OK;
    }
    if (!w->stream->rewrite)
        return L2K_OK;
    l2k_buffer psot = {.context = encoding_of(w)->context};
    l2k_buffer_put(&psot, bytes, 4);
    const l2k_status status = l2k_encode_rewrite(w->encoder, w->stream, w->psot_at, &psot);
    l2k_buffer_release(&psot);
    return status;
}

l2k_status l2k_parts_end(l2k_part_writer *w, size_t more)
{
    l2k_tile_output *out = w->out;
    if (encoding_of(w)->plt)
        L2K_TRY(put_listed_packets(w));
    const uint64_t bytes = base_of(w) + out->bytes.size - (w->psot_at - 6) + more;
    if (bytes > UINT32_MAX)
        return l2k_fail(encoding_of(w)->context, L2K_ERROR_ARGUMENT,
                        "tile %u takes more than 2^32 bytes: smaller tiles are needed", w->tile->index);
    L2K_TRY(put_length(w, (uint32_t)bytes));
    const l2k_tile_part entry = {w->tile->index, (uint32_t)bytes};
    l2k_buffer_append(&out->parts, &entry, sizeof entry);
    L2K_TRY(l2k_buffer_status(&out->bytes));
    return flush(w);
}

/* Whether all code-blocks of a packet are coded. Strips complete them row by row. */
static bool is_coded(const l2k_part_writer *w, const l2k_packet_id *id)
{
    const l2k_resolution *resolution = &w->tile->components[id->component].resolutions[id->resolution];
    for (uint32_t b = 0; b < resolution->num_bands; b++) {
        const l2k_subband *band = &resolution->bands[b];
        const l2k_precinct *precinct = &band->precincts[id->precinct];
        const uint32_t count = l2k_precinct_blocks(precinct);
        if (count && precinct->blocks[count - 1].rect.y1 > l2k_engine_strip_rows(w->slot, id->component, band).y1)
            return false;
    }
    return true;
}

/* Packets that leave early rely on the guard bits of the main header. */
static l2k_status check_blocks(const l2k_part_writer *w, const l2k_packet_id *id)
{
    const l2k_resolution *resolution = &w->tile->components[id->component].resolutions[id->resolution];
    for (uint32_t b = 0; b < resolution->num_bands; b++) {
        const l2k_precinct *precinct = &resolution->bands[b].precincts[id->precinct];
        const uint32_t count = l2k_precinct_blocks(precinct);
        for (uint32_t i = 0; i < count; i++)
            L2K_TRY(l2k_encode_check_block(encoding_of(w)->context, w->tile,
                                           &(l2k_block_place){&precinct->blocks[i], &resolution->bands[b]}, true));
    }
    return L2K_OK;
}

/* Whether bytes can leave before their tile-part ends. */
static bool may_leave(const l2k_part_writer *w)
{
    return w->stream && (w->stream->rewrite || w->num_parts == 1);
}

static l2k_status drain(void *writer)
{
    enum { BYTES_AT_ONCE = 1 << 18 };
    l2k_part_writer *w = writer;
    return w->out->bytes.size >= BYTES_AT_ONCE ? flush(w) : L2K_OK;
}

static l2k_status write_packet(l2k_part_writer *w)
{
    const l2k_encoding *e = encoding_of(w);
    l2k_buffer *to = e->plt ? &w->packets : &w->out->bytes;
    const size_t before = to->size;
    if (w->slot && w->next.layer == 0)
        L2K_TRY(check_blocks(w, &w->next));
    L2K_TRY(l2k_packet_write(e->context, w->tile, &w->next, w->number++, to, may_leave(w) ? drain : NULL, w));
    const uint32_t bytes = (uint32_t)(to->size - before);
    if (e->plt)
        l2k_buffer_append(&w->lengths, &bytes, sizeof bytes);
    return L2K_OK;
}

l2k_status l2k_parts_write(l2k_part_writer *w)
{
    while (w->has_next && (!w->slot || is_coded(w, &w->next))) {
        if (w->number > 0 && l2k_packet_starts_part(&w->order, encoding_of(w)->tile_parts, &w->before, &w->next)) {
            L2K_TRY(l2k_parts_end(w, 0));
            w->part++;
            begin_part(w);
        }
        L2K_TRY(write_packet(w));
        w->before = w->next;
        w->has_next = l2k_packet_order_next(&w->order, &w->next);
    }
    L2K_TRY(w->order.status);
    return may_leave(w) ? flush(w) : L2K_OK;
}

static l2k_part_writer writer_of(l2k_encoder *encoder, uint32_t number)
{
    const l2k_context *context = encoder->encoding.context;
    return (l2k_part_writer){.encoder = encoder,
                             .tile = &encoder->tiles[number],
                             .out = &encoder->output.tiles[number],
                             .num_parts = 1,
                             .packets = {.context = context},
                             .lengths = {.context = context}};
}

l2k_status l2k_parts_begin(l2k_encoder *encoder, uint32_t number, const l2k_stream *stream, l2k_part_writer *w)
{
    const l2k_context *context = encoder->encoding.context;
    *w = writer_of(encoder, number);
    w->stream = stream;
    L2K_TRY(l2k_packet_order_create(context, w->tile, &w->order));
    L2K_TRY(l2k_parts_count(&encoder->encoding, &w->order, &w->num_parts));
    if (w->num_parts > 255)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "tile %u would have %u tile-parts, at most 255 are possible",
                        w->tile->index, w->num_parts);
    begin_part(w);
    w->has_next = l2k_packet_order_next(&w->order, &w->next);
    return w->order.status;
}

void l2k_parts_release(l2k_part_writer *w)
{
    if (!w->encoder)
        return;
    l2k_packet_order_release(encoding_of(w)->context, &w->order);
    l2k_buffer_release(&w->packets);
    l2k_buffer_release(&w->lengths);
    w->encoder = NULL;
}

l2k_status l2k_parts_put_made(l2k_encoder *encoder, uint32_t number)
{
    const l2k_made_packets *made = &encoder->output.packets;
    l2k_part_writer w = writer_of(encoder, number);
    begin_part(&w);
    if (encoder->encoding.plt)
        l2k_buffer_append(&w.lengths, made->lengths, made->num_packets * sizeof(uint32_t));
    const l2k_status status = l2k_parts_end(&w, made->count);
    l2k_parts_release(&w);
    return status;
}
