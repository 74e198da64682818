/* An index of where the packets of a tile begin, filled as they are read, or from PLT, PLM and SOP (A.7, A.8.1). */
#include "codec/packets/packet_index.h"

#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"

void l2k_packet_index_empty(const l2k_context *context, l2k_packet_index *index)
{
    index->is_whole = false;
    l2k_release(context, index->lengths);
    l2k_release(context, index->numbers);
    index->lengths = NULL;
    index->numbers = NULL;
    for (size_t i = 0; i < index->num_packets; i++)
        index->offsets[i] = L2K_NO_PACKET;
}

bool l2k_packet_index_fits(const l2k_packet_index *index, const l2k_tile *tile)
{
    return index->num_layers == tile->coding->num_layers &&
           index->num_packets == tile->num_precincts * tile->coding->num_layers;
}

l2k_packet_index *l2k_packet_index_create(const l2k_context *context, const l2k_tile *tile, uint64_t bytes)
{
    const uint64_t layers = tile->coding->num_layers;
    if (tile->num_precincts > bytes / layers || bytes > SIZE_MAX / 16)
        return NULL;
    const size_t count = (size_t)(tile->num_precincts * layers);
    l2k_packet_index *index = l2k_allocate_zeroed(context, 1, sizeof *index);
    if (!index)
        return NULL;
    index->num_layers = tile->coding->num_layers;
    index->num_packets = count;
    index->offsets = l2k_allocate(context, count, sizeof *index->offsets);
    if (!index->offsets) {
        l2k_release(context, index);
        return NULL;
    }
    l2k_packet_index_empty(context, index);
    return index;
}

void l2k_packet_index_free(const l2k_context *context, l2k_packet_index *index)
{
    if (!index)
        return;
    l2k_release(context, index->offsets);
    l2k_release(context, index->lengths);
    l2k_release(context, index->numbers);
    l2k_release(context, index);
}

static void *copy_array(const l2k_context *context, const void *array, size_t count, size_t size)
{
    void *copy = array ? l2k_allocate(context, count, size) : NULL;
    return copy ? memcpy(copy, array, count * size) : NULL;
}

l2k_packet_index *l2k_packet_index_copy(const l2k_context *context, const l2k_packet_index *index)
{
    l2k_packet_index *copy = l2k_allocate(context, 1, sizeof *copy);
    if (!copy)
        return NULL;
    *copy = *index;
    copy->offsets = copy_array(context, index->offsets, index->num_packets, sizeof *copy->offsets);
    copy->lengths = copy_array(context, index->lengths, index->num_packets, sizeof *copy->lengths);
    copy->numbers = copy_array(context, index->numbers, index->num_packets, sizeof *copy->numbers);
    if (!copy->offsets || !copy->lengths != !index->lengths || !copy->numbers != !index->numbers) {
        l2k_packet_index_free(context, copy);
        return NULL;
    }
    return copy;
}

size_t l2k_packet_index_place(const l2k_packet_index *index, const l2k_tile *tile, const l2k_packet_id *id)
{
    const l2k_resolution *resolution = &tile->components[id->component].resolutions[id->resolution];
    return (size_t)(resolution->first_precinct + id->precinct) * index->num_layers + id->layer;
}

/* ---- Lengths ------------------------------------------------------------------------------------------------- */

bool l2k_packet_index_take_lengths(const l2k_context *context, const l2k_tile *tile, l2k_packet_index *index)
{
    const bool numbered = tile->coding->sop;
    index->lengths = l2k_allocate_zeroed(context, index->num_packets, sizeof *index->lengths);
    index->numbers = numbered ? l2k_allocate_zeroed(context, index->num_packets, sizeof *index->numbers) : NULL;
    return index->lengths && (index->numbers || !numbered);
}

/* Seven bits a byte; bit 7 = more follow. False after the last length. */
static bool next_length(const uint8_t **at, const uint8_t *end, uint32_t *length)
{
    *length = 0;
    for (; *at < end && *length >> 25 == 0; ++*at) {
        *length = *length << 7 | (**at & 0x7F);
        if (!(**at & 0x80))
            return ++*at, true;
    }
    return false;
}

/* SOP with its length; no other bytes of packets can match these. */
static bool at_sop(const uint8_t *at, const uint8_t *end)
{
    enum { SOP = 0xFF91, SOP_BYTES = 6 };
    return end - at >= SOP_BYTES && l2k_get_be(at, 2) == SOP && l2k_get_be(at + 2, 2) == 4;
}

static uint32_t number_of(const uint8_t *sop)
{
    return l2k_get_be(sop + 4, 2);
}

/* The distance to the next SOP, or to the end. */
static size_t distance_to_sop(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *next = at;
    do
        next = memchr(next + 1, 0xFF, (size_t)(end - next - 1));
    while (next && !at_sop(next, end));
    return (size_t)((next ? next : end) - at);
}

static bool enter_packet(l2k_packet_index *index, l2k_packet_entry *entry, const uint8_t *at, uint32_t length)
{
    l2k_packet_id id;
    if (!l2k_packet_order_next(entry->order, &id))
        return false;
    const size_t place = l2k_packet_index_place(index, entry->tile, &id);
    index->offsets[place] = (uint64_t)(at - entry->codestream);
    index->lengths[place] = length;
    if (index->numbers)
        index->numbers[place] = (uint16_t)entry->number;
    entry->number++;
    return true;
}

static bool enter_by_lengths(l2k_packet_index *index, l2k_packet_entry *entry, const l2k_packet_span *span)
{
    uint32_t length;
    const uint8_t *at = span->packets, *from = span->lengths;
    for (; next_length(&from, span->lengths_end, &length); at += length)
        if (length == 0 || length > (size_t)(span->end - at) || !enter_packet(index, entry, at, length))
            return false;
    return at == span->end && from == span->lengths_end;
}

static bool enter_by_sop(l2k_packet_index *index, l2k_packet_entry *entry, const l2k_packet_span *span)
{
    size_t length;
    for (const uint8_t *at = span->packets; at < span->end; at += length) {
        if (!at_sop(at, span->end) || number_of(at) != (uint16_t)entry->number)
            return false;
        length = distance_to_sop(at, span->end);
        if (length > UINT32_MAX || !enter_packet(index, entry, at, (uint32_t)length))
            return false;
    }
    return true;
}

bool l2k_packet_index_enter(l2k_packet_index *index, l2k_packet_entry *entry, const l2k_packet_span *span)
{
    if (span->packets == span->end)
        return true;
    return (span->lengths < span->lengths_end ? enter_by_lengths : enter_by_sop)(index, entry, span);
}

bool l2k_packet_index_agrees(const l2k_packet_index *index, size_t place, const uint8_t *at, const uint8_t *end)
{
    return !index->numbers || !at_sop(at, end) || number_of(at) == index->numbers[place];
}
