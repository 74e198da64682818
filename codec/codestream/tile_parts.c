/* Locates the tile-parts of a codestream from SOT to SOT (A.4.2), and sorts them by tile and number. A damaged or
 * truncated file is accepted up to the last good tile-part unless it is read strictly. */
#include "codec/codestream/codestream_read.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/partial.h"
#include "base/run.h"
#include "codec/codestream/markers.h"

enum { SOT_BYTES = 12 };

/* Work per tile-part, for l2k_poll, and the bytes skipped at the cost of one sample: a distant header may have to come
 * from a slow disk. */
enum { WEIGHT_OF_PART = 64, BYTES_PER_SAMPLE = 4 };

l2k_status l2k_tile_parts_add(l2k_codestream *cs, l2k_tile_part_span span)
{
    if (cs->num_parts == cs->parts_capacity) {
        size_t capacity = 2 * cs->parts_capacity + 16;
        l2k_tile_part_span *parts = l2k_enlarge(cs->context, cs->parts, cs->num_parts, capacity, sizeof *parts);
        L2K_TRY(l2k_check_memory(cs->context, parts, "%zu tile-parts", capacity));
        cs->parts = parts;
        cs->parts_capacity = capacity;
    }
    cs->parts[cs->num_parts++] = span;
    return L2K_OK;
}

/* The file ends early: an error, or the end of what can be decoded. */
static l2k_status ends_early(const l2k_codestream *cs, const uint8_t **at, const char *where)
{
    if (cs->strict)
        return l2k_fail(cs->context, L2K_ERROR_TRUNCATED, "the file ends in %s", where);
    l2k_warn(cs->context, "the file ends in %s", where);
    *at = cs->end;
    return L2K_OK;
}

/* Not a tile-part: an error in place of the first one, else the end of what can be decoded. */
L2K_PRINTF(3, 4)
static l2k_status is_damaged(const l2k_codestream *cs, const uint8_t **at, const char *format, ...)
{
    char text[96];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (cs->strict || cs->num_parts == 0)
        return l2k_fail(cs->context, L2K_ERROR_CORRUPT, "%s", text);
    l2k_warn(cs->context, "%s; the rest of the file is ignored", text);
    *at = cs->end;
    return L2K_OK;
}

/* Skips the marker segments of a tile-part header up to and including SOD. */
static l2k_status find_packets(const l2k_context *context, l2k_tile_part_span *span)
{
    l2k_segment segment;
    const uint8_t *at = span->header;
    do
        L2K_TRY(l2k_segment_next(context, &at, span->end, &segment));
    while (segment.marker != L2K_SOD);
    span->packets = at;
    return L2K_OK;
}

/* The same without a message, for callers that decide later what a failure means. */
static l2k_status try_packets(const l2k_codestream *cs, l2k_tile_part_span *span)
{
    l2k_context silent = *cs->context;
    silent.hooks.message = NULL;
    return find_packets(&silent, span);
}

/* Reports failures that are not the header's fault; L2K_OK for all others. */
static l2k_status report_reading(const l2k_context *context, l2k_status header)
{
    if (header == L2K_ERROR_IO)
        return l2k_fail(context, header, "reading failed");
    if (header == L2K_ERROR_MEMORY)
        return l2k_fail(context, header, "out of memory for the parts of a file");
    if (header == L2K_ERROR_CANCELLED)
        return l2k_poll(context, 0); /* reports it */
    return L2K_OK;
}

/* Reads the tile-part whose SOT marker is at *at, and advances *at past it. */
static l2k_status read_part(l2k_codestream *cs, const uint8_t **at)
{
    const l2k_context *context = cs->context;
    const uint8_t *sot = *at;
    if (cs->end - sot < SOT_BYTES)
        return ends_early(cs, at, "an SOT marker segment");
    L2K_TRY(l2k_need_header(context, sot, SOT_BYTES, cs->end));
    if (l2k_get_be(sot + 2, 2) != 10)
        return is_damaged(cs, at, "SOT: length %u instead of 10", l2k_get_be(sot + 2, 2));
    uint32_t bytes = l2k_get_be(sot + 6, 4);
    l2k_tile_part_span span = {.tile = l2k_get_be(sot + 4, 2), .part = sot[10], .header = sot + SOT_BYTES};
    if (span.tile >= cs->num_tiles)
        return is_damaged(cs, at, "SOT: tile %u of only %u", span.tile, cs->num_tiles);
    if (bytes > 0 && bytes < SOT_BYTES + 2)
        return is_damaged(cs, at, "SOT: a tile-part of %u bytes", bytes);
    L2K_TRY(l2k_need(context, cs->end - (bytes == 0 ? 2 : 0), cs->end));
    bool cut = bytes > (size_t)(cs->end - sot);
    span.end = bytes == 0 || cut ? cs->end : sot + bytes;
    if (bytes == 0 && cs->end - span.header >= 2 && l2k_get_be(cs->end - 2, 2) == L2K_EOC)
        span.end -= 2; /* Psot 0: the last tile-part, up to EOC, which scan finds there */
    l2k_status header = try_packets(cs, &span);
    L2K_TRY(report_reading(context, header));
    if (header == L2K_ERROR_TRUNCATED && span.end == cs->end)
        return ends_early(cs, at, "a tile-part header");
    if (cut)
        L2K_TRY(ends_early(cs, at, "a tile-part"));
    if (header != L2K_OK && (cs->strict || cs->num_parts == 0))
        return find_packets(context, &span);
    if (header != L2K_OK)
        return is_damaged(cs, at, "the header of a tile-part of tile %u is damaged", span.tile);
    *at = span.end;
    return l2k_tile_parts_add(cs, span);
}

/* Locates all tile-parts from the first SOT marker, at `at`, to EOC. */
static l2k_status scan(l2k_codestream *cs, const uint8_t *at)
{
    while (cs->end - at >= 2) {
        const uint8_t *before = at;
        L2K_TRY(l2k_need_header(cs->context, at, 2, cs->end));
        uint32_t marker = l2k_get_be(at, 2);
        if (marker == L2K_EOC) {
            cs->has_end = true;
            break;
        }
        if (marker == L2K_SOT)
            L2K_TRY(read_part(cs, &at));
        else
            L2K_TRY(is_damaged(cs, &at, "%s found where a tile-part should start", l2k_marker_name(marker)));
        L2K_TRY(l2k_poll(cs->context, WEIGHT_OF_PART + (uint64_t)(at - before) / BYTES_PER_SAMPLE));
    }
    if (cs->num_parts == 0)
        return l2k_fail(cs->context, L2K_ERROR_TRUNCATED, "the codestream has no tile-part");
    if (!cs->has_end && cs->strict)
        return l2k_fail(cs->context, L2K_ERROR_TRUNCATED, "the codestream has no EOC marker");
    if (!cs->has_end)
        l2k_warn(cs->context, "the codestream has no EOC marker");
    return L2K_OK;
}

l2k_status l2k_tile_part_locate(const l2k_codestream *cs, l2k_tile_part_span *span, unsigned share, unsigned *count,
                                bool *is_right)
{
    const uint8_t *sot = span->header - SOT_BYTES;
    const size_t bytes_of_share = share < 64 ? (size_t)((uint64_t)(span->end - sot) >> share) : 0;
    L2K_TRY(l2k_need_header(cs->context, sot, bytes_of_share > SOT_BYTES ? bytes_of_share : SOT_BYTES, span->end));
    const uint32_t bytes = l2k_get_be(sot + 6, 4);
    const bool is_last = span == &cs->parts[cs->num_parts - 1];
    *count = sot[11];
    *is_right = l2k_get_be(sot, 2) == L2K_SOT && l2k_get_be(sot + 2, 2) == 10 && l2k_get_be(sot + 4, 2) == span->tile &&
                sot[10] == span->part && (bytes == (uint64_t)(span->end - sot) || (bytes == 0 && is_last));
    if (!*is_right)
        return L2K_OK;
    l2k_tile_part_span found = *span;
    const l2k_status header = try_packets(cs, &found);
    *is_right = header == L2K_OK;
    if (header == L2K_OK)
        *span = found;
    return report_reading(cs->context, header);
}

/* Gives each tile-part its share of PPM (A.7.4). A share is Nppm followed by that many bytes. Both may be split between marker segments, which have been joined. */
static l2k_status share_packed(l2k_codestream *cs)
{
    const uint8_t *at = cs->packed.data, *end = l2k_buffer_end(&cs->packed);
    for (size_t i = 0; i < cs->num_parts; i++) {
        if (end - at < 4)
            return l2k_fail(cs->context, L2K_ERROR_CORRUPT, "PPM: packet headers for %zu tile-parts of %zu", i,
                            cs->num_parts);
        uint32_t bytes = l2k_get_be(at, 4);
        at += 4;
        if (bytes > (size_t)(end - at))
            return l2k_fail(cs->context, L2K_ERROR_CORRUPT, "PPM: %u bytes of packet headers, but only %zu are present",
                            bytes, (size_t)(end - at));
        cs->parts[i].packed = at;
        cs->parts[i].packed_end = at += bytes;
    }
    return L2K_OK;
}

l2k_status l2k_tile_parts_find(l2k_codestream *cs)
{
    L2K_TRY(scan(cs, cs->first));
    if (cs->has_packed)
        L2K_TRY(share_packed(cs));
    else
        l2k_tile_parts_share_lengths(cs);
    return l2k_tile_parts_link(cs);
}

l2k_status l2k_codestream_extend(l2k_codestream *cs, const uint8_t *data, size_t bytes)
{
    for (size_t i = 0; i < cs->num_parts; i++) {
        l2k_tile_part_span *span = &cs->parts[i];
        span->header = data + (span->header - cs->data);
        span->packets = data + (span->packets - cs->data);
        span->end = data + (span->end - cs->data);
    }
    cs->first = data + (cs->first - cs->data);
    cs->data = data;
    cs->end = data + bytes;
    cs->num_parts--;
    L2K_TRY(scan(cs, cs->parts[cs->num_parts].header - SOT_BYTES));
    if (cs->has_packed)
        L2K_TRY(share_packed(cs));
    l2k_release(cs->context, cs->first_part);
    return l2k_tile_parts_link(cs);
}

/* ---- The tile-parts of each tile ----------------------------------------------------------------------------- */

/* The standard requires the tile-parts of a tile in the order of TPsot, which this puts in front of each other. For
 * other orders a list has at most 256 to pass, since TPsot is a byte. */
l2k_status l2k_tile_parts_link(l2k_codestream *cs)
{
    cs->first_part = l2k_allocate(cs->context, cs->num_tiles, sizeof *cs->first_part);
    L2K_TRY(l2k_check_memory(cs->context, cs->first_part, "%u tiles", cs->num_tiles));
    for (uint32_t t = 0; t < cs->num_tiles; t++)
        cs->first_part[t] = L2K_NO_PART;
    for (size_t i = cs->num_parts; i-- > 0;) {
        l2k_tile_part_span *span = &cs->parts[i];
        size_t *link = &cs->first_part[span->tile];
        while (*link != L2K_NO_PART && cs->parts[*link].part < span->part)
            link = &cs->parts[*link].next;
        if (*link != L2K_NO_PART && cs->parts[*link].part == span->part)
            return l2k_fail(cs->context, L2K_ERROR_CORRUPT, "SOT: tile %u has two tile-parts %u", span->tile,
                            span->part);
        span->next = *link;
        *link = i;
    }
    for (uint32_t t = 0; t < cs->num_tiles; t++) {
        uint32_t due = 0; /* a missing tile-part makes those after it unreadable */
        for (size_t i = cs->first_part[t]; i != L2K_NO_PART; i = cs->parts[i].next, due++)
            if (cs->parts[i].part != due)
                return l2k_fail(cs->context, L2K_ERROR_CORRUPT,
                                "SOT: tile-part %u of tile %u where tile-part %u is due", cs->parts[i].part, t, due);
    }
    return L2K_OK;
}
