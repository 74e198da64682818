/* The encoder's output: packets into tile-parts with their headers (A.4.2, B.3), the main header and the boxes. */
#include <string.h>

#include "base/failure.h"
#include "base/integer.h"
#include "codec/codestream/codestream_write.h"
#include "codec/codestream/markers.h"
#include "codec/encoder.h"
#include "codec/jp2/jp2.h"
#include "codec/packets/packet.h"

/* Parts of a tile's packets between which a new tile-part starts: also where the progression order changes, as in
 * OpenJPEG.
 */
static bool starts_part(const l2k_encoding *e, const l2k_packet_order *order, size_t change,
                        const l2k_packet_id *before, const l2k_packet_id *id)
{
    return order->change != change || l2k_packet_starts_part(order->progression, e->tile_parts, before, id);
}

static l2k_status count_parts(const l2k_encoding *e, l2k_packet_order *order, uint32_t *count)
{
    l2k_packet_id before, id;
    size_t change = 0;
    *count = 1;
    l2k_packet_order_restart(order);
    for (bool first = true; l2k_packet_order_next(order, &id); first = false, before = id) {
        *count += !first && starts_part(e, order, change, &before, &id);
        change = order->change;
    }
    l2k_packet_order_restart(order);
    return order->status;
}

/* ---- Tile-parts ---------------------------------------------------------------------------------------------- */

/* The tile-part under way. */
typedef struct part_writer {
    const l2k_encoding *encoding;
    l2k_output *out;
    uint32_t tile;
    uint32_t num_parts;
    unsigned more_guard_bits;
    size_t psot_at; /* in out->body */
} part_writer;

static void begin_part(part_writer *w, uint32_t part)
{
    const l2k_encoding *e = w->encoding;
    l2k_buffer *body = &w->out->body;
    w->psot_at = l2k_write_sot(body, w->tile, part);
    l2k_buffer_patch(body, w->psot_at + 5, w->num_parts, 1);
    if (part == 0 && (w->more_guard_bits || e->tile_steps))
        l2k_write_quantisation(body, &e->siz, &e->coding, w->more_guard_bits);
    const l2k_tile_coding *own = part == 0 ? l2k_poc_of_tile(e, w->tile) : NULL;
    if (own)
        l2k_write_poc(body, &e->siz, own);
    if (!e->plt)
        l2k_buffer_put(body, L2K_SOD, 2);
}

/* PLT comes before the packets that it lists. */
static l2k_status put_listed_packets(part_writer *w)
{
    l2k_output *out = w->out;
    L2K_TRY(l2k_buffer_status(&out->lengths));
    if (!l2k_write_plt(&out->body, (const uint32_t *)(const void *)out->lengths.data,
                       out->lengths.size / sizeof(uint32_t)))
        return l2k_fail(w->encoding->context, L2K_ERROR_ARGUMENT, "tile %u has more packets than PLT can list",
                        w->tile);
    l2k_buffer_put(&out->body, L2K_SOD, 2);
    L2K_TRY(l2k_buffer_status(&out->part));
    l2k_buffer_append(&out->body, out->part.data, out->part.size);
    out->part.size = out->lengths.size = 0;
    return L2K_OK;
}

static l2k_status end_part(part_writer *w)
{
    l2k_output *out = w->out;
    if (w->encoding->plt)
        L2K_TRY(put_listed_packets(w));
    uint64_t bytes = out->body.size - (w->psot_at - 6) + out->packets.count;
    if (bytes > UINT32_MAX)
        return l2k_fail(w->encoding->context, L2K_ERROR_ARGUMENT,
                        "tile %u takes more than 2^32 bytes: smaller tiles are needed", w->tile);
    l2k_buffer_patch(&out->body, w->psot_at, bytes, 4);
    l2k_tile_part entry = {w->tile, (uint32_t)bytes};
    l2k_buffer_append(&out->parts, &entry, sizeof entry);
    return l2k_buffer_status(&out->body);
}

static l2k_status write_packet(part_writer *w, l2k_tile *tile, const l2k_packet_id *id, uint32_t number)
{
    l2k_buffer *to = w->encoding->plt ? &w->out->part : &w->out->body;
    size_t before = to->size;
    L2K_TRY(l2k_packet_write(w->encoding->context, tile, id, number, to));
    uint32_t bytes = (uint32_t)(to->size - before);
    if (w->encoding->plt)
        l2k_buffer_append(&w->out->lengths, &bytes, sizeof bytes);
    return L2K_OK;
}

static l2k_status write_packets(part_writer *w, l2k_tile *tile, l2k_packet_order *order)
{
    l2k_packet_id before = {0}, id;
    uint32_t number = 0, part = 0;
    size_t change = 0;
    begin_part(w, part);
    for (; l2k_packet_order_next(order, &id); before = id) {
        if (number > 0 && starts_part(w->encoding, order, change, &before, &id)) {
            L2K_TRY(end_part(w));
            begin_part(w, ++part);
        }
        change = order->change;
        L2K_TRY(write_packet(w, tile, &id, number++));
    }
    L2K_TRY(order->status);
    return end_part(w);
}

/* Packets that a device has made, with their lengths in front of them. */
static l2k_status put_made_packets(part_writer *w)
{
    l2k_output *out = w->out;
    w->num_parts = 1;
    begin_part(w, 0);
    if (w->encoding->plt)
        l2k_buffer_append(&out->lengths, out->packets.lengths, out->packets.num_packets * sizeof(uint32_t));
    return end_part(w);
}

static l2k_status make_tile_parts(part_writer *w, l2k_tile *tile)
{
    const l2k_context *context = w->encoding->context;
    l2k_packet_order order;
    L2K_TRY(l2k_packets_restart(context, tile));
    L2K_TRY(l2k_packet_order_create(context, tile, &order));
    l2k_status status = count_parts(w->encoding, &order, &w->num_parts);
    if (status == L2K_OK && w->num_parts > 255)
        status = l2k_fail(context, L2K_ERROR_ARGUMENT, "tile %u would have %u tile-parts, at most 255 are possible",
                          w->tile, w->num_parts);
    if (status == L2K_OK)
        status = write_packets(w, tile, &order);
    l2k_packet_order_release(context, &order);
    return status;
}

static l2k_status put_tile(const l2k_encoding *e, l2k_tile *tile, unsigned more_guard_bits, l2k_output *out)
{
    part_writer w = {.encoding = e, .out = out, .tile = tile->index, .more_guard_bits = more_guard_bits};
    l2k_run_advance(e->context, L2K_UNITS_PACKETS * l2k_tile_samples(tile));
    L2K_TRY(out->packets.bytes ? put_made_packets(&w) : make_tile_parts(&w, tile));
    if (!e->keeps_tiles)
        l2k_encode_release_tile(e->context, tile);
    return l2k_buffer_status(&out->parts);
}

/* ---- Tiles side by side ---------------------------------------------------------------------------------------- */

/* Tiles of so many samples together are written at once, each to memory of its own until all go to the body in their
 * order. Fewer are done by one thread: they take some milliseconds. */
enum { MOST_AT_ONCE = 64 };
#define SAMPLES_AT_ONCE ((uint64_t)1 << 26)

static unsigned tiles_at_once(const l2k_encoding *e, const l2k_tile *tile, uint32_t count)
{
    const l2k_pool *pool = e->context->pool;
    const uint64_t samples = l2k_tile_samples(tile) + 1, all = samples * count;
    const uint64_t room = pool->limit > pool->in_use ? (pool->limit - pool->in_use) / 8 : 0;
    const uint64_t most = (room < SAMPLES_AT_ONCE ? room : SAMPLES_AT_ONCE) / samples;
    if (e->context->threads < 2 || all < SAMPLES_AT_ONCE / 2 || most < 2)
        return 1;
    return most < MOST_AT_ONCE ? (unsigned)most : MOST_AT_ONCE;
}

/* Where each output's bytes go in the body. */
static l2k_status make_room(const l2k_output *each, unsigned count, l2k_output *out, size_t *places)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < count; i++) {
        places[i] = out->body.size + bytes;
        bytes += each[i].body.size;
        l2k_buffer_append(&out->parts, each[i].parts.data, each[i].parts.size);
    }
    if (l2k_buffer_grow(&out->body, bytes))
        out->body.size += bytes;
    L2K_TRY(l2k_buffer_status(&out->parts));
    return l2k_buffer_status(&out->body);
}

static l2k_status put_tiles(const l2k_encoding *e, l2k_tile *tiles, unsigned count, unsigned more_guard_bits,
                            l2k_output *out)
{
    l2k_output each[MOST_AT_ONCE];
    size_t places[MOST_AT_ONCE];
    l2k_first_failure first;
    atomic_init(&first, L2K_NO_FAILURE);
    const unsigned threads = l2k_min_u32(e->context->threads, count);
    (void)threads; /* without OpenMP */
    for (unsigned i = 0; i < count; i++)
        l2k_output_start(&each[i], e->context, 0, 0);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (unsigned i = 0; i < count; i++)
        l2k_record_status(&first, i, put_tile(e, &tiles[i], more_guard_bits, &each[i]));
    l2k_status status = l2k_first_status(&first);
    if (status == L2K_OK)
        status = make_room(each, count, out, places);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (unsigned i = 0; i < count; i++) {
        if (status == L2K_OK && each[i].body.size)
            memcpy(out->body.data + places[i], each[i].body.data, each[i].body.size);
        l2k_output_release(&each[i]);
    }
    return status;
}

l2k_status l2k_output_tile_parts(const l2k_encoding *e, l2k_tile *tiles, uint32_t count, unsigned more_guard_bits,
                                 l2k_output *out)
{
    const unsigned most = tiles_at_once(e, &tiles[0], count);
    for (uint32_t t = 0, n; t < count; t += n) {
        n = l2k_min_u32(most, count - t);
        L2K_TRY(n == 1 ? put_tile(e, &tiles[t], more_guard_bits, out)
                       : put_tiles(e, &tiles[t], n, more_guard_bits, out));
    }
    L2K_TRY(l2k_buffer_status(&out->body));
    return l2k_buffer_status(&out->parts);
}

/* ---- Headers ------------------------------------------------------------------------------------------------- */

l2k_status l2k_output_head(const l2k_encoding *e, uint64_t body_bytes, l2k_output *out)
{
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
    if (*e->comment)
        l2k_write_comment(&codestream, e->comment);
    if (e->format == L2K_FORMAT_JP2)
        out->box_at = l2k_jp2_write_head(&out->head, e->image, e->coding.capabilities.parts & L2K_PART_15,
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

/* SOT and SOD, and the least that PLT takes. */
enum { PART_BYTES = 14, PLT_BYTES = 5, EOC_BYTES = 2 };

/* Adds the tile-parts that a tile will have to the list, their lengths 0. */
static l2k_status plan_parts(const l2k_encoding *e, const l2k_tile *tile, l2k_output *out, uint32_t *parts)
{
    l2k_packet_order order;
    L2K_TRY(l2k_packet_order_create(e->context, tile, &order));
    l2k_status status = count_parts(e, &order, parts);
    l2k_packet_order_release(e->context, &order);
    for (uint32_t i = 0; status == L2K_OK && i < *parts; i++)
        l2k_buffer_append(&out->parts, &(l2k_tile_part){tile->index, 0}, sizeof(l2k_tile_part));
    return status;
}

static l2k_status plan_unseen_parts(const l2k_encoding *e, uint32_t index, l2k_output *out)
{
    l2k_tile tile;
    uint32_t parts;
    L2K_TRY(l2k_tile_create(e->context, &e->siz, l2k_coding_of_tile(e, index), index, UINT64_MAX, &tile));
    l2k_status status = plan_parts(e, &tile, out, &parts);
    l2k_tile_release(e->context, &tile);
    return status;
}

l2k_status l2k_output_plan_parts(const l2k_encoding *e, l2k_output *out)
{
    for (uint32_t t = 0; t < e->num_tiles; t++)
        L2K_TRY(plan_unseen_parts(e, t, out));
    return l2k_buffer_status(&out->parts);
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

static size_t poc_bytes(const l2k_encoding *e, uint32_t tile)
{
    const l2k_tile_coding *own = l2k_poc_of_tile(e, tile);
    return own ? l2k_poc_bytes(&e->siz, own) : 0;
}

l2k_status l2k_output_fixed_bytes(const l2k_encoding *e, const l2k_tile *tiles, uint32_t count, bool whole,
                                  l2k_output *out, size_t *bytes)
{
    *bytes = EOC_BYTES;
    if (!l2k_layers_need_distortions(&e->targets) && !e->by_step.given)
        return L2K_OK; /* nobody asks */
    size_t before = out->parts.size;
    if (e->tile_steps)
        *bytes += count * quantisation_bytes(e);
    for (uint32_t t = 0; t < count; t++) {
        uint32_t parts;
        L2K_TRY(plan_parts(e, &tiles[t], out, &parts));
        *bytes += parts * (size_t)PART_BYTES + (e->plt ? most_plt_bytes(&tiles[t], parts) : 0);
        *bytes += poc_bytes(e, tiles[t].index);
    }
    if (whole) /* by rows the head is there, until the first row is written */
        L2K_TRY(l2k_output_head(e, 0, out));
    *bytes += out->head.size;
    out->parts.size = before;
    return L2K_OK;
}

/* ---- The output ------------------------------------------------------------------------------------------------ */

/* A failure of the reservation shows with the first byte. */
void l2k_output_start(l2k_output *out, const l2k_context *context, size_t front, size_t body)
{
    l2k_buffer empty = {.context = context};
    *out = (l2k_output){.head = empty, .body = empty, .front = front, .part = empty, .lengths = empty, .parts = empty};
    if (front + body && l2k_buffer_reserve(&out->body, front + body))
        out->body.size = front;
}

void l2k_output_release(l2k_output *out)
{
    l2k_buffer *buffers[] = {&out->head, &out->body, &out->part, &out->lengths, &out->parts};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        l2k_buffer_release(buffers[i]);
}

l2k_status l2k_output_end(l2k_output *out)
{
    if (!out->packets.bytes) {
        l2k_buffer_put(&out->body, L2K_EOC, EOC_BYTES);
        return l2k_buffer_status(&out->body);
    }
    out->packets.bytes[out->packets.count++] = L2K_EOC >> 8;
    out->packets.bytes[out->packets.count++] = L2K_EOC & 0xFF;
    return L2K_OK;
}

size_t l2k_output_body_bytes(const l2k_output *out)
{
    return out->body.size - out->front + out->packets.count;
}

size_t l2k_output_room(const l2k_output *out)
{
    return out->body.size > out->body.capacity / 2 ? out->body.capacity - out->front : 0;
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

l2k_status l2k_encode_write(l2k_encoder *encoder, const l2k_stream *stream, l2k_buffer *bytes, size_t from)
{
    if (bytes->size > from)
        L2K_TRY(write_bytes(encoder, stream, bytes->data + from, bytes->size - from));
    bytes->size = from;
    return L2K_OK;
}

l2k_status l2k_encode_write_packets(l2k_encoder *encoder, const l2k_stream *stream)
{
    return write_bytes(encoder, stream, encoder->output.packets.bytes, encoder->output.packets.count);
}

/* ---- In one piece ---------------------------------------------------------------------------------------------- */

/* Headers that are longer than the room for them. */
static l2k_status copy_output(l2k_encoder *encoder, const uint8_t **bytes, size_t *count)
{
    const l2k_output *out = &encoder->output;
    l2k_buffer *to = &encoder->memory;
    if (l2k_buffer_reserve(to, out->head.size + l2k_output_body_bytes(out))) {
        l2k_buffer_append(to, out->head.data, out->head.size);
        l2k_buffer_append(to, out->body.data + out->front, out->body.size - out->front);
        l2k_buffer_append(to, out->packets.bytes, out->packets.count);
    }
    *bytes = to->failed ? NULL : to->data;
    *count = to->failed ? 0 : to->size;
    return l2k_buffer_status(to);
}

l2k_status l2k_output_join(l2k_encoder *encoder, const uint8_t **bytes, size_t *count)
{
    l2k_output *out = &encoder->output;
    const bool made = out->packets.bytes != NULL;
    const size_t head = out->head.size, body = out->body.size - out->front, before = head + (made ? body : 0);
    if (before > (made ? (size_t)L2K_PACKETS_FRONT : out->front))
        return copy_output(encoder, bytes, count);
    uint8_t *start = (made ? out->packets.bytes : out->body.data + out->front) - before;
    memcpy(start, out->head.data, head);
    if (made)
        memcpy(start + head, out->body.data + out->front, body);
    *bytes = start;
    *count = head + body + out->packets.count;
    if (!made) {
        encoder->memory = out->body;
        out->body = (l2k_buffer){.context = &encoder->context};
    }
    return L2K_OK;
}
