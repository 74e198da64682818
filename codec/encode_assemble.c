/* Tier-2 and markers: from coded blocks to the finished stream. */
#include "codec/encoder.h"

#include "codec/codestream_write.h"
#include "codec/jp2.h"
#include "codec/markers.h"
#include "codec/packet.h"

typedef struct assembly {
    l2k_encode_job *job;
    l2k_buffer head;    /* boxes and main header */
    l2k_buffer body;    /* tile-parts and EOC */
    l2k_buffer part;    /* with PLT: packets of the present tile-part, whose lengths come first */
    l2k_buffer lengths; /* with PLT: uint32_t per packet of the tile-part */
    l2k_buffer parts;   /* l2k_tile_part of every tile-part */
} assembly;

static const char comment[] = "Created by lift2k";

static bool option(const assembly *a, l2k_encoder_option which)
{
    return a->job->encoder->options[which] != 0;
}

/* Parts of a tile's packets between which a new tile-part starts. */
static uint32_t count_parts(const l2k_encode_job *job, l2k_packet_order *order)
{
    l2k_packet_id before, id;
    l2k_tile_parts parts = (l2k_tile_parts)job->encoder->options[L2K_ENCODER_TILE_PARTS];
    uint32_t count = 1;
    l2k_packet_order_restart(order);
    for (bool first = true; l2k_packet_order_next(order, &id); first = false, before = id)
        if (!first && l2k_packet_starts_part(order->progression, parts, &before, &id))
            count++;
    l2k_packet_order_restart(order);
    return count;
}

/* ---- Tile-parts ---------------------------------------------------------------------------------------------- */

static size_t begin_part(assembly *a, uint32_t tile, uint32_t part, uint32_t num_parts)
{
    size_t psot_at = l2k_write_sot(&a->body, tile, part);
    l2k_buffer_patch(&a->body, psot_at + 5, num_parts, 1);
    if (!option(a, L2K_ENCODER_PLT))
        l2k_buffer_put(&a->body, L2K_SOD, 2);
    return psot_at;
}

static l2k_status end_part(assembly *a, uint32_t tile, size_t psot_at)
{
    if (option(a, L2K_ENCODER_PLT)) {
        L2K_TRY(l2k_buffer_status(&a->lengths));
        if (!l2k_write_plt(&a->body, (const uint32_t *)(const void *)a->lengths.data,
                           a->lengths.size / sizeof(uint32_t)))
            return l2k_fail(a->job->context, L2K_ERROR_ARGUMENT, "tile %u has more packets than PLT can list", tile);
        l2k_buffer_put(&a->body, L2K_SOD, 2);
        L2K_TRY(l2k_buffer_status(&a->part));
        l2k_buffer_append(&a->body, a->part.data, a->part.size);
        a->part.size = a->lengths.size = 0;
    }
    uint64_t bytes = a->body.size - (psot_at - 6);
    if (bytes > UINT32_MAX)
        return l2k_fail(a->job->context, L2K_ERROR_ARGUMENT,
                        "tile %u takes more than 2^32 bytes: smaller tiles are needed", tile);
    l2k_buffer_patch(&a->body, psot_at, bytes, 4);
    l2k_tile_part entry = {tile, (uint32_t)bytes};
    l2k_buffer_append(&a->parts, &entry, sizeof entry);
    return l2k_buffer_status(&a->body);
}

static void write_packet(assembly *a, const l2k_tile *tile, const l2k_packet_id *id, uint32_t number)
{
    bool plt = option(a, L2K_ENCODER_PLT);
    l2k_buffer *out = plt ? &a->part : &a->body;
    size_t before = out->size;
    l2k_packet_write(tile, id, number, out);
    uint32_t bytes = (uint32_t)(out->size - before);
    if (plt)
        l2k_buffer_append(&a->lengths, &bytes, sizeof bytes);
}

static l2k_status write_packets(assembly *a, uint32_t index, l2k_packet_order *order, uint32_t num_parts)
{
    const l2k_tile *tile = &a->job->tiles[index];
    l2k_tile_parts parts = (l2k_tile_parts)a->job->encoder->options[L2K_ENCODER_TILE_PARTS];
    l2k_packet_id before = {0}, id;
    uint32_t number = 0, part = 0;
    size_t psot_at = begin_part(a, index, part, num_parts);
    for (; l2k_packet_order_next(order, &id); before = id) {
        if (number > 0 && l2k_packet_starts_part(order->progression, parts, &before, &id)) {
            L2K_TRY(end_part(a, index, psot_at));
            psot_at = begin_part(a, index, ++part, num_parts);
        }
        write_packet(a, tile, &id, number++);
    }
    return end_part(a, index, psot_at);
}

static l2k_status write_tile(assembly *a, uint32_t index)
{
    const l2k_context *context = a->job->context;
    l2k_tile *tile = &a->job->tiles[index];
    l2k_packet_order order;
    l2k_packets_restart(tile);
    L2K_TRY(l2k_packet_order_create(context, tile, &order));
    uint32_t num_parts = count_parts(a->job, &order);
    l2k_status status = num_parts > 255
                            ? l2k_fail(context, L2K_ERROR_ARGUMENT,
                                       "tile %u would have %u tile-parts, at most 255 are possible", index, num_parts)
                            : write_packets(a, index, &order, num_parts);
    l2k_packet_order_release(context, &order);
    l2k_tile_release(context, tile);
    return status;
}

/* ---- Headers ------------------------------------------------------------------------------------------------- */

static l2k_status write_head(assembly *a, uint64_t body_bytes)
{
    l2k_encode_job *job = a->job;
    l2k_buffer codestream = {.context = job->context};
    l2k_write_main_header(&codestream, &job->siz, &job->coding);
    bool listed =
        !option(a, L2K_ENCODER_TLM) || l2k_write_tlm(&codestream, (const l2k_tile_part *)(const void *)a->parts.data,
                                                     a->parts.size / sizeof(l2k_tile_part), job->num_tiles);
    l2k_write_comment(&codestream, comment);
    if (job->encoder->options[L2K_ENCODER_FORMAT] == L2K_FORMAT_JP2)
        l2k_jp2_write_head(&a->head, job->image, codestream.size + body_bytes);
    l2k_buffer_append(&a->head, codestream.data, codestream.size);
    a->head.failed |= codestream.failed;
    l2k_buffer_release(&codestream);
    if (!listed)
        return l2k_fail(job->context, L2K_ERROR_ARGUMENT, "there are more tile-parts than TLM can list");
    return l2k_buffer_status(&a->head);
}

static assembly make_assembly(l2k_encode_job *job)
{
    l2k_buffer empty = {.context = job->context};
    return (assembly){job, empty, empty, empty, empty, empty};
}

static void release_assembly(assembly *a)
{
    l2k_buffer_release(&a->head);
    l2k_buffer_release(&a->body);
    l2k_buffer_release(&a->part);
    l2k_buffer_release(&a->lengths);
    l2k_buffer_release(&a->parts);
}

/* SOT and SOD, and the least that PLT takes. */
enum { PART_BYTES = 14, PLT_BYTES = 5, EOC_BYTES = 2 };

static l2k_status count_fixed_bytes(assembly *a, size_t *bytes)
{
    *bytes = EOC_BYTES;
    for (uint32_t t = 0; t < a->job->num_tiles; t++) {
        l2k_packet_order order;
        L2K_TRY(l2k_packet_order_create(a->job->context, &a->job->tiles[t], &order));
        uint32_t parts = count_parts(a->job, &order);
        l2k_packet_order_release(a->job->context, &order);
        *bytes += parts * (size_t)PART_BYTES;
        /* A marker segment takes 65532 bytes of lengths, and a length takes at most five. */
        if (option(a, L2K_ENCODER_PLT))
            *bytes +=
                PLT_BYTES * (parts + (size_t)(a->job->tiles[t].num_precincts * a->job->coding.num_layers * 5 / 65000));
        for (uint32_t i = 0; i < parts; i++)
            l2k_buffer_append(&a->parts, &(l2k_tile_part){t, 0}, sizeof(l2k_tile_part));
    }
    L2K_TRY(write_head(a, 0));
    *bytes += a->head.size;
    return L2K_OK;
}

l2k_status l2k_encode_fixed_bytes(l2k_encode_job *job, size_t *bytes)
{
    *bytes = 0;
    if (!job->measure)
        return L2K_OK;
    assembly a = make_assembly(job);
    l2k_status status = count_fixed_bytes(&a, bytes);
    release_assembly(&a);
    return status;
}

static l2k_status assemble(assembly *a, const l2k_stream *stream)
{
    for (uint32_t t = 0; t < a->job->num_tiles; t++)
        L2K_TRY(write_tile(a, t));
    l2k_buffer_put(&a->body, L2K_EOC, 2);
    L2K_TRY(l2k_buffer_status(&a->body));
    L2K_TRY(l2k_buffer_status(&a->parts));
    L2K_TRY(write_head(a, a->body.size));
    if (stream->write(stream->user, a->head.data, a->head.size) != 0 ||
        stream->write(stream->user, a->body.data, a->body.size) != 0)
        return l2k_fail(a->job->context, L2K_ERROR_IO, "writing failed");
    return L2K_OK;
}

l2k_status l2k_encode_assemble(l2k_encode_job *job, const l2k_stream *stream)
{
    assembly a = make_assembly(job);
    l2k_status status = assemble(&a, stream);
    release_assembly(&a);
    return status;
}
