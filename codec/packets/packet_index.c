/* Where the packets of a tile begin, entered as they are read, or out of PLT marker segments (A.7.3). */
#include "codec/packets/packet_index.h"

#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/partial.h"

void l2k_packet_index_empty(const l2k_context *context, l2k_packet_index *index)
{
    index->is_whole = false;
    l2k_release(context, index->lengths);
    index->lengths = NULL;
    for (size_t i = 0; i < index->num_packets; i++)
        index->offsets[i] = L2K_NO_PACKET;
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
    l2k_release(context, index);
}

l2k_packet_index *l2k_packet_index_copy(const l2k_context *context, const l2k_packet_index *index)
{
    l2k_packet_index *copy = l2k_allocate(context, 1, sizeof *copy);
    if (!copy)
        return NULL;
    *copy = *index;
    copy->offsets = l2k_allocate(context, index->num_packets, sizeof *copy->offsets);
    copy->lengths = index->lengths ? l2k_allocate(context, index->num_packets, sizeof *copy->lengths) : NULL;
    if (!copy->offsets || (index->lengths && !copy->lengths)) {
        l2k_packet_index_free(context, copy);
        return NULL;
    }
    memcpy(copy->offsets, index->offsets, index->num_packets * sizeof *copy->offsets);
    if (copy->lengths)
        memcpy(copy->lengths, index->lengths, index->num_packets * sizeof *copy->lengths);
    return copy;
}

size_t l2k_packet_index_place(const l2k_packet_index *index, const l2k_tile *tile, const l2k_packet_id *id)
{
    const l2k_resolution *resolution = &tile->components[id->component].resolutions[id->resolution];
    return (size_t)(resolution->first_precinct + id->precinct) * index->num_layers + id->layer;
}

/* ---- PLT ----------------------------------------------------------------------------------------------------- */

enum { PLT = 0xFF58, MOST_SEGMENTS = 256 };

/* The lengths that the header of a tile-part lists: segments by Zplt, and where in them the next length begins. */
typedef struct length_list {
    const uint8_t *data[MOST_SEGMENTS], *end[MOST_SEGMENTS];
    unsigned at;
} length_list;

/* False where there is none, or where two have the same number. The header was found to be sound. */
static bool find_segments(const l2k_packet_span *part, length_list *list)
{
    bool found = false;
    *list = (length_list){.at = 0};
    for (const uint8_t *at = part->header; part->packets - at >= 4;) {
        const uint32_t marker = l2k_get_be(at, 2), length = l2k_get_be(at + 2, 2);
        if (marker >= 0xFF30 && marker <= 0xFF3F) {
            at += 2;
            continue;
        }
        if (length < 2 || length > (size_t)(part->packets - at - 2))
            return false;
        if (marker == PLT && length >= 3) {
            const unsigned number = at[4];
            if (list->data[number])
                return false;
            list->data[number] = at + 5;
            list->end[number] = at + 2 + length;
            found = true;
        }
        at += 2 + length;
    }
    return found;
}

static bool next_byte(length_list *list, unsigned *byte)
{
    while (list->at < MOST_SEGMENTS && list->data[list->at] == list->end[list->at])
        list->at++;
    if (list->at == MOST_SEGMENTS)
        return false;
    *byte = *list->data[list->at]++;
    return true;
}

/* Seven bits a byte, the highest first; bit 7 says that more follow. False after the last length. */
static bool next_length(length_list *list, uint32_t *length)
{
    unsigned byte;
    *length = 0;
    do {
        if (*length >> 25 || !next_byte(list, &byte))
            return false;
        *length = *length << 7 | (byte & 0x7F);
    } while (byte & 0x80);
    return true;
}

/* The packets of one tile-part; false where PLT says something else. */
static bool enter_part(const l2k_tile *tile, const uint8_t *codestream, const l2k_packet_span *part,
                       l2k_packet_order *order, l2k_packet_index *index)
{
    length_list list;
    uint32_t length;
    l2k_packet_id id;
    const uint8_t *at = part->packets;
    if (part->packets == part->end)
        return true;
    if (!find_segments(part, &list))
        return false;
    while (next_length(&list, &length)) {
        if (length == 0 || length > (size_t)(part->end - at) || !l2k_packet_order_next(order, &id))
            return false;
        const size_t place = l2k_packet_index_place(index, tile, &id);
        index->offsets[place] = (uint64_t)(at - codestream);
        index->lengths[place] = length;
        at += length;
    }
    return at == part->end;
}

l2k_status l2k_packet_index_from_plt(const l2k_context *context, const l2k_tile *tile, const uint8_t *codestream,
                                     const l2k_packet_span *parts, size_t count, l2k_packet_order *order,
                                     l2k_packet_index *index)
{
    l2k_packet_id id;
    index->lengths = l2k_allocate_zeroed(context, index->num_packets, sizeof *index->lengths);
    bool good = count > 0 && index->lengths;
    for (size_t i = 0; good && i < count; i++) {
        L2K_TRY(l2k_need(context, parts[i].header, parts[i].packets));
        good = enter_part(tile, codestream, &parts[i], order, index);
    }
    index->is_whole = good && !l2k_packet_order_next(order, &id);
    if (!index->is_whole)
        l2k_packet_index_empty(context, index);
    return order->status;
}
