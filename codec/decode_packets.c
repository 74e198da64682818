/* The packets of one tile (Annex B), one after the other, out of its tile-parts. */
#include "codec/decoder.h"
#include "codec/packets/packet.h"

typedef struct tile_reader {
    const l2k_decoding *decoding;
    l2k_tile *tile;
    uint32_t index;
    size_t next_part;
    uint64_t bytes; /* of packets and packed headers */
    l2k_packet_input input;
} tile_reader;

/* Moves on to the next tile-part that has packets. */
static bool advance_part(tile_reader *reader)
{
    while (reader->next_part != L2K_NO_PART) {
        const l2k_tile_part_span *span = &reader->decoding->codestream->parts[reader->next_part];
        reader->next_part = span->next;
        if (span->packets == span->end)
            continue;
        reader->input.data = span->packets;
        reader->input.end = span->end;
        return true;
    }
    return false;
}

uint64_t l2k_tile_bytes(const l2k_codestream *cs, uint32_t tile)
{
    uint64_t bytes = 0;
    for (size_t i = cs->first_part[tile]; i != L2K_NO_PART; i = cs->parts[i].next)
        bytes += (uint64_t)(cs->parts[i].end - cs->parts[i].packets);
    return bytes;
}

static bool wanted(const tile_reader *reader, const l2k_packet_id *id)
{
    const l2k_decoding *d = reader->decoding;
    const l2k_resolution *resolution = &reader->tile->components[id->component].resolutions[id->resolution];
    return (d->layers == 0 || id->layer < d->layers) && l2k_precinct_is_wanted(resolution, id->precinct);
}

static const char fewer_packets[] = "has fewer packets than its header promises";

/* What can be wrong with the packets of a tile: damage, truncation, or an encoder that left some packets out.
 * The latter is common, and not counted as truncation if EOC follows. What there is gets decoded; one warning of each
 * kind for all tiles. */
static l2k_status stop(const tile_reader *reader, l2k_status error, const char *what, const char *detail)
{
    const l2k_decoding *d = reader->decoding;
    if (d->codestream->strict)
        return l2k_fail(d->context, error, "tile %u %s%s", reader->index, what, detail);
    bool complete = d->codestream->has_end && what == fewer_packets;
    if (!atomic_exchange(complete ? &d->findings->warned_fewer : &d->findings->incomplete, true))
        l2k_warn(d->context, "tile %u %s%s", reader->index, what, detail);
    return L2K_OK;
}

l2k_status l2k_missing_tile(const l2k_decoding *d, uint32_t index)
{
    return stop(&(tile_reader){.decoding = d, .index = index}, L2K_ERROR_TRUNCATED, fewer_packets, "");
}

l2k_status l2k_report_damage(const l2k_decoding *d, l2k_tile_state *s)
{
    const tile_reader reader = {.decoding = d, .index = s->tile.index};
    return atomic_load(&s->damaged) ? stop(&reader, L2K_ERROR_CORRUPT, "has damaged code-blocks", "") : L2K_OK;
}

/* Packed headers say that there is a packet; else bytes do. */
static bool has_packet(tile_reader *reader)
{
    bool more = reader->input.data != reader->input.end || advance_part(reader);
    return reader->input.packed ? reader->input.header != reader->input.header_end : more;
}

/* Visits that cost no bits: of code-blocks that are not included, of packets that were in an earlier progression. Some
 * are free, and some per byte of the tile, far more than a well-meaning encoder needs. */
enum { FREE_LOOKS = 1 << 22, LOOKS_PER_BYTE = 64 };

static bool looks_too_often(const tile_reader *reader, const l2k_packet_order *order)
{
    return reader->input.looks + order->skipped > FREE_LOOKS + LOOKS_PER_BYTE * reader->bytes;
}

static l2k_status read_all(tile_reader *reader, l2k_packet_order *order)
{
    const l2k_decoding *d = reader->decoding;
    l2k_packet_id id;
    uint64_t left = l2k_window_packets(d, reader->tile);
    const bool all = left == reader->tile->num_precincts * reader->tile->coding->num_layers;
    while ((all || left > 0) && l2k_packet_order_next(order, &id)) {
        if (!has_packet(reader))
            return stop(reader, L2K_ERROR_TRUNCATED, fewer_packets, "");
        bool keep = wanted(reader, &id);
        l2k_status status = l2k_packet_read(d->context, reader->tile, &id, keep, &reader->input);
        if (status == L2K_ERROR_TRUNCATED)
            return stop(reader, status, "ends in the middle of a packet", "");
        if (status == L2K_ERROR_CORRUPT)
            return stop(reader, status, "has a damaged packet header: ", reader->input.fault);
        L2K_TRY(status);
        left -= keep;
        if (looks_too_often(reader, order))
            return stop(reader, L2K_ERROR_CORRUPT, "has packets that say next to nothing of many code-blocks", "");
    }
    L2K_TRY(order->status);
    if (!all)
        return L2K_OK;
    bool more = reader->input.data != reader->input.end || reader->next_part != L2K_NO_PART;
    if (more && !atomic_exchange(&d->findings->warned_beyond, true))
        l2k_warn(d->context, "tile %u has bytes beyond its last packet", reader->index);
    return L2K_OK;
}

static l2k_status start_order(const l2k_decoding *d, l2k_tile_state *s)
{
    if (!s->order.keys)
        return l2k_packet_order_create(d->context, &s->tile, &s->order);
    l2k_packet_order_restart(&s->order);
    return s->order.status;
}

l2k_status l2k_read_packets(const l2k_decoding *d, l2k_tile_state *s)
{
    const uint32_t index = s->tile.index;
    const l2k_buffer *packed = &s->packed.bytes;
    tile_reader reader = {
        .decoding = d, .tile = &s->tile, .index = index, .next_part = d->codestream->first_part[index]};
    reader.bytes = l2k_tile_bytes(d->codestream, index) + packed->size;
    reader.input.data = reader.input.end = d->codestream->end; /* nothing, but at an address */
    if (s->packed.used) {
        reader.input.packed = true;
        reader.input.header = packed->data;
        reader.input.header_end = l2k_buffer_end(packed);
    }
    L2K_TRY(start_order(d, s));
    return read_all(&reader, &s->order);
}
