/* Tier-2 and markers: from coded blocks to the bytes of the output. */
#include "codec/encoder.h"

#include "codec/codestream/codestream_write.h"
#include "codec/jp2/jp2.h"
#include "codec/codestream/markers.h"
#include "codec/packets/packet.h"

/* An assembly at work for a job. */
typedef struct assembly {
    l2k_encode_job *job;
    l2k_assembly *out;
} assembly;

static const char comment[] = "Created by lift2k";

static bool option(const assembly *a, l2k_encoder_option which)
{
    return a->job->encoder->options[which] != 0;
}

/* Parts of a tile's packets between which a new tile-part starts. */
static l2k_status count_parts(const l2k_encode_job *job, l2k_packet_order *order, uint32_t *count)
{
    l2k_packet_id before, id;
    l2k_tile_parts parts = (l2k_tile_parts)job->encoder->options[L2K_ENCODER_TILE_PARTS];
    *count = 1;
    l2k_packet_order_restart(order);
    for (bool first = true; l2k_packet_order_next(order, &id); first = false, before = id)
        if (!first && l2k_packet_starts_part(order->progression, parts, &before, &id))
            ++*count;
    l2k_packet_order_restart(order);
    return order->status;
}

/* ---- Tile-parts ---------------------------------------------------------------------------------------------- */

static size_t begin_part(assembly *a, uint32_t tile, uint32_t part, uint32_t num_parts)
{
    size_t psot_at = l2k_write_sot(&a->out->body, tile, part);
    l2k_buffer_patch(&a->out->body, psot_at + 5, num_parts, 1);
    if (part == 0 && a->job->needs_guard_bit && a->job->by_rows)
        l2k_write_quantisation(&a->out->body, &a->job->siz, &a->job->coding, 1);
    if (!option(a, L2K_ENCODER_PLT))
        l2k_buffer_put(&a->out->body, L2K_SOD, 2);
    return psot_at;
}

static l2k_status end_part(assembly *a, uint32_t tile, size_t psot_at)
{
    if (option(a, L2K_ENCODER_PLT)) {
        L2K_TRY(l2k_buffer_status(&a->out->lengths));
        if (!l2k_write_plt(&a->out->body, (const uint32_t *)(const void *)a->out->lengths.data,
                           a->out->lengths.size / sizeof(uint32_t)))
            return l2k_fail(a->job->context, L2K_ERROR_ARGUMENT, "tile %u has more packets than PLT can list", tile);
        l2k_buffer_put(&a->out->body, L2K_SOD, 2);
        L2K_TRY(l2k_buffer_status(&a->out->part));
        l2k_buffer_append(&a->out->body, a->out->part.data, a->out->part.size);
        a->out->part.size = a->out->lengths.size = 0;
    }
    uint64_t bytes = a->out->body.size - (psot_at - 6);
    if (bytes > UINT32_MAX)
        return l2k_fail(a->job->context, L2K_ERROR_ARGUMENT,
                        "tile %u takes more than 2^32 bytes: smaller tiles are needed", tile);
    l2k_buffer_patch(&a->out->body, psot_at, bytes, 4);
    l2k_tile_part entry = {tile, (uint32_t)bytes};
    l2k_buffer_append(&a->out->parts, &entry, sizeof entry);
    return l2k_buffer_status(&a->out->body);
}

static l2k_status write_packet(assembly *a, l2k_tile *tile, const l2k_packet_id *id, uint32_t number)
{
    bool plt = option(a, L2K_ENCODER_PLT);
    l2k_buffer *out = plt ? &a->out->part : &a->out->body;
    size_t before = out->size;
    L2K_TRY(l2k_packet_write(a->job->context, tile, id, number, out));
    uint32_t bytes = (uint32_t)(out->size - before);
    if (plt)
        l2k_buffer_append(&a->out->lengths, &bytes, sizeof bytes);
    return L2K_OK;
}

static l2k_status write_packets(assembly *a, uint32_t index, l2k_packet_order *order, uint32_t num_parts)
{
    l2k_tile *tile = &a->job->tiles[index];
    l2k_tile_parts parts = (l2k_tile_parts)a->job->encoder->options[L2K_ENCODER_TILE_PARTS];
    l2k_packet_id before = {0}, id;
    uint32_t number = 0, part = 0;
    size_t psot_at = begin_part(a, index, part, num_parts);
    for (; l2k_packet_order_next(order, &id); before = id) {
        if (number > 0 && l2k_packet_starts_part(order->progression, parts, &before, &id)) {
            L2K_TRY(end_part(a, index, psot_at));
            psot_at = begin_part(a, index, ++part, num_parts);
        }
        L2K_TRY(write_packet(a, tile, &id, number++));
    }
    L2K_TRY(order->status);
    return end_part(a, index, psot_at);
}

static l2k_status write_tile(assembly *a, uint32_t index)
{
    const l2k_context *context = a->job->context;
    l2k_tile *tile = &a->job->tiles[index];
    l2k_packet_order order;
    L2K_TRY(l2k_packets_restart(context, tile));
    L2K_TRY(l2k_packet_order_create(context, tile, &order));
    uint32_t num_parts;
    l2k_status status = count_parts(a->job, &order, &num_parts);
    if (status == L2K_OK && num_parts > 255)
        status = l2k_fail(context, L2K_ERROR_ARGUMENT, "tile %u would have %u tile-parts, at most 255 are possible",
                          index, num_parts);
    if (status == L2K_OK)
        status = write_packets(a, index, &order, num_parts);
    l2k_packet_order_release(context, &order);
    l2k_tile_release(context, tile);
    return status;
}

/* ---- Headers ------------------------------------------------------------------------------------------------- */

/* Where the head is patched later, its places are remembered. */
static l2k_status write_head(assembly *a, uint64_t body_bytes)
{
    l2k_encode_job *job = a->job;
    l2k_buffer codestream = {.context = job->context};
    l2k_write_main_header(&codestream, &job->siz, &job->coding);
    job->tlm_at = codestream.size;
    bool listed = !option(a, L2K_ENCODER_TLM) ||
                  l2k_write_tlm(&codestream, (const l2k_tile_part *)(const void *)a->out->parts.data,
                                a->out->parts.size / sizeof(l2k_tile_part), job->num_tiles);
    l2k_write_comment(&codestream, comment);
    if (job->encoder->options[L2K_ENCODER_FORMAT] == L2K_FORMAT_JP2)
        job->box_at = l2k_jp2_write_head(&a->out->head, job->image, body_bytes ? codestream.size + body_bytes : 0);
    job->tlm_at += a->out->head.size;
    l2k_buffer_append(&a->out->head, codestream.data, codestream.size);
    a->out->head.failed |= codestream.failed;
    l2k_buffer_release(&codestream);
    if (!listed)
        return l2k_fail(job->context, L2K_ERROR_ARGUMENT, "there are more tile-parts than TLM can list");
    return l2k_buffer_status(&a->out->head);
}

l2k_status l2k_encode_head(l2k_encode_job *job, l2k_assembly *out, uint64_t body_bytes)
{
    out->head.size = 0;
    return write_head(&(assembly){job, out}, body_bytes);
}

/* ---- What is known beforehand --------------------------------------------------------------------------------- */

/* SOT and SOD, and the least that PLT takes. */
enum { PART_BYTES = 14, PLT_BYTES = 5, EOC_BYTES = 2 };

/* Adds the tile-parts that a tile will have to the list, their lengths 0. */
static l2k_status plan_parts(assembly *a, const l2k_tile *tile, uint32_t index, uint32_t *parts)
{
    l2k_packet_order order;
    L2K_TRY(l2k_packet_order_create(a->job->context, tile, &order));
    l2k_status status = count_parts(a->job, &order, parts);
    l2k_packet_order_release(a->job->context, &order);
    for (uint32_t i = 0; status == L2K_OK && i < *parts; i++)
        l2k_buffer_append(&a->out->parts, &(l2k_tile_part){index, 0}, sizeof(l2k_tile_part));
    return status;
}

static l2k_status plan_unseen_parts(assembly *a, uint32_t index)
{
    l2k_tile tile;
    uint32_t parts;
    L2K_TRY(l2k_tile_create(a->job->context, &a->job->siz, &a->job->coding, index, UINT64_MAX, &tile));
    l2k_status status = plan_parts(a, &tile, index, &parts);
    l2k_tile_release(a->job->context, &tile);
    return status;
}

l2k_status l2k_encode_plan_parts(l2k_encode_job *job, l2k_assembly *out)
{
    assembly a = {job, out};
    for (uint32_t t = 0; t < job->num_tiles; t++)
        L2K_TRY(plan_unseen_parts(&a, t));
    return l2k_buffer_status(&out->parts);
}

/* A marker segment takes 65532 bytes of lengths, and a length takes at most five. */
static size_t most_plt_bytes(const l2k_encode_job *job, const l2k_tile *tile, uint32_t parts)
{
    return PLT_BYTES * (parts + (size_t)(tile->num_precincts * job->coding.num_layers * 5 / 65000));
}

static l2k_status count_fixed_bytes(assembly *a, size_t *bytes)
{
    l2k_encode_job *job = a->job;
    *bytes = EOC_BYTES;
    for (uint32_t t = job->first_tile; t < job->end_tile; t++) {
        uint32_t parts;
        L2K_TRY(plan_parts(a, &job->tiles[t], t, &parts));
        *bytes += parts * (size_t)PART_BYTES;
        if (option(a, L2K_ENCODER_PLT))
            *bytes += most_plt_bytes(job, &job->tiles[t], parts);
    }
    if (!job->by_rows)
        L2K_TRY(l2k_encode_head(job, a->out, 0));
    *bytes += job->first_tile == 0 ? a->out->head.size : 0;
    return L2K_OK;
}

l2k_status l2k_encode_fixed_bytes(l2k_encode_job *job, l2k_assembly *out, size_t *bytes)
{
    *bytes = 0;
    if (!job->measure)
        return L2K_OK;
    size_t before = out->parts.size;
    l2k_status status = count_fixed_bytes(&(assembly){job, out}, bytes);
    out->parts.size = before;
    return status;
}

/* ---- The output ------------------------------------------------------------------------------------------------ */

void l2k_assembly_start(l2k_assembly *out, const l2k_context *context)
{
    l2k_buffer empty = {.context = context};
    *out = (l2k_assembly){empty, empty, empty, empty, empty};
}

void l2k_assembly_release(l2k_assembly *out)
{
    l2k_buffer *buffers[] = {&out->head, &out->body, &out->part, &out->lengths, &out->parts};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        l2k_buffer_release(buffers[i]);
}

l2k_status l2k_encode_tile_parts(l2k_encode_job *job, l2k_assembly *out)
{
    assembly a = {job, out};
    for (uint32_t t = job->first_tile; t < job->end_tile; t++) {
        l2k_run_advance(job->context, L2K_UNITS_TIER2 * l2k_tile_samples(&job->tiles[t]));
        L2K_TRY(write_tile(&a, t));
    }
    L2K_TRY(l2k_buffer_status(&out->body));
    return l2k_buffer_status(&out->parts);
}
