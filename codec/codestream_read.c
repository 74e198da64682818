#include "codec/codestream_read.h"

#include <string.h>

#include "base/memory.h"
#include "codec/header_parser.h"
#include "codec/markers.h"

/* ---- The walk along the tile-parts (A.4.2) ------------------------------------------------------------------- */

enum { SOT_BYTES = 12 };

static l2k_status add_part(l2k_codestream *cs, l2k_tile_part_span span)
{
    if (cs->num_parts == cs->parts_capacity) {
        size_t capacity = 2 * cs->parts_capacity + 16;
        l2k_tile_part_span *parts = l2k_allocate(cs->context, capacity, sizeof *parts);
        if (!parts)
            return l2k_fail(cs->context, L2K_ERROR_MEMORY, "out of memory for %zu tile-parts", capacity);
        if (cs->num_parts)
            memcpy(parts, cs->parts, cs->num_parts * sizeof *parts);
        l2k_release(cs->context, cs->parts);
        cs->parts = parts;
        cs->parts_capacity = capacity;
    }
    cs->parts[cs->num_parts++] = span;
    return L2K_OK;
}

/* Moves over the marker segments of a tile-part header to its SOD. */
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

/* Reads the tile-part whose SOT marker lies at *at, and moves *at behind it. */
static l2k_status read_part(l2k_codestream *cs, const uint8_t **at)
{
    const l2k_context *context = cs->context;
    const uint8_t *sot = *at;
    if (cs->end - sot < SOT_BYTES)
        return l2k_fail(context, L2K_ERROR_TRUNCATED, "the file ends in an SOT marker segment");
    if (l2k_get_be(sot + 2, 2) != 10)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "SOT: length %u instead of 10", l2k_get_be(sot + 2, 2));
    uint32_t bytes = l2k_get_be(sot + 6, 4);
    l2k_tile_part_span span = {.tile = l2k_get_be(sot + 4, 2), .part = sot[10], .header = sot + SOT_BYTES};
    if (span.tile >= cs->num_tiles)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "SOT: tile %u of only %u", span.tile, cs->num_tiles);
    if (span.part != cs->parts_seen[span.tile])
        return l2k_fail(context, L2K_ERROR_CORRUPT, "SOT: tile-part %u of tile %u where tile-part %u is due", span.part,
                        span.tile, cs->parts_seen[span.tile]);
    cs->parts_seen[span.tile]++;
    if (bytes == 0) {
        /* Psot 0: the last tile-part, up to EOC. */
        span.end = cs->end;
        if (span.end - span.header >= 2 && l2k_get_be(span.end - 2, 2) == L2K_EOC)
            span.end -= 2; /* where read_parts finds it */
    } else if (bytes < SOT_BYTES + 2) {
        return l2k_fail(context, L2K_ERROR_CORRUPT, "SOT: a tile-part of %u bytes", bytes);
    } else if (bytes > (size_t)(cs->end - sot)) {
        return l2k_fail(context, L2K_ERROR_TRUNCATED, "the file ends in tile-part %u of tile %u", span.part, span.tile);
    } else {
        span.end = sot + bytes;
    }
    L2K_TRY(find_packets(context, &span));
    *at = span.end;
    return add_part(cs, span);
}

static l2k_status read_parts(l2k_codestream *cs, const uint8_t *at)
{
    cs->parts_seen = l2k_allocate_zeroed(cs->context, cs->num_tiles, sizeof *cs->parts_seen);
    if (!cs->parts_seen)
        return l2k_fail(cs->context, L2K_ERROR_MEMORY, "out of memory for %u tiles", cs->num_tiles);
    for (;;) {
        if (cs->end - at < 2) {
            l2k_warn(cs->context, "the codestream has no EOC marker");
            return L2K_OK;
        }
        uint32_t marker = l2k_get_be(at, 2);
        if (marker == L2K_EOC) {
            cs->has_end = true;
            return L2K_OK;
        }
        if (marker != L2K_SOT)
            return l2k_fail(cs->context, L2K_ERROR_CORRUPT, "%s found where a tile-part should start",
                            l2k_marker_name(marker));
        L2K_TRY(read_part(cs, &at));
    }
}

/* ---- Opening ------------------------------------------------------------------------------------------------- */

static l2k_status allocate_coding(const l2k_context *context, uint32_t num_components, l2k_tile_coding *coding)
{
    coding->components = l2k_allocate_zeroed(context, num_components, sizeof *coding->components);
    if (!coding->components)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for the headers of %u components", num_components);
    return L2K_OK;
}

static l2k_status check_samples(const l2k_codestream *cs, const l2k_codestream_limits *limits)
{
    uint64_t samples = 0;
    for (uint32_t c = 0; c < cs->siz.num_components; c++) {
        l2k_rect r = l2k_component_rect(cs->siz.grid.image, cs->siz.components[c].dx, cs->siz.components[c].dy);
        if (l2k_rect_empty(r))
            return l2k_fail(cs->context, L2K_ERROR_CORRUPT, "SIZ: component %u has no samples", c);
        uint64_t area = (uint64_t)l2k_rect_width(r) * l2k_rect_height(r);
        if (area > limits->samples - samples)
            return l2k_fail(cs->context, L2K_ERROR_LIMIT, "an image of %u x %u x %u is more than the limit allows",
                            cs->siz.grid.image.x1 - cs->siz.grid.image.x0,
                            cs->siz.grid.image.y1 - cs->siz.grid.image.y0, cs->siz.num_components);
        samples += area;
    }
    return L2K_OK;
}

static l2k_status read_main_header(l2k_codestream *cs, const l2k_codestream_limits *limits, const uint8_t **at)
{
    const l2k_context *context = cs->context;
    l2k_segment segment;
    if (cs->end - *at < 2)
        return l2k_fail(context, L2K_ERROR_TRUNCATED, "the codestream ends before it begins");
    if (l2k_get_be(*at, 2) != L2K_SOC)
        return l2k_fail(context, L2K_ERROR_FORMAT, "not a JPEG 2000 codestream");
    *at += 2;
    L2K_TRY(l2k_segment_next(context, at, cs->end, &segment));
    if (segment.marker != L2K_SIZ)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "%s where SIZ should be", l2k_marker_name(segment.marker));
    L2K_TRY(l2k_parse_siz(context, &segment, &cs->siz));
    uint64_t tiles = (uint64_t)l2k_tiles_across(&cs->siz.grid) * l2k_tiles_down(&cs->siz.grid);
    if (tiles > 65535)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "SIZ: %llu tiles, at most 65535 are possible",
                        (unsigned long long)tiles);
    cs->num_tiles = (uint32_t)tiles;
    L2K_TRY(check_samples(cs, limits));
    L2K_TRY(allocate_coding(context, cs->siz.num_components, &cs->coding));
    return l2k_parse_header(context, &cs->siz, L2K_MAIN_HEADER, at, cs->end, &cs->coding, &cs->comment);
}

/* Threads the tile-parts of each tile, which may lie far apart. */
static l2k_status link_parts(l2k_codestream *cs)
{
    cs->first_part = l2k_allocate(cs->context, cs->num_tiles, sizeof *cs->first_part);
    if (!cs->first_part)
        return l2k_fail(cs->context, L2K_ERROR_MEMORY, "out of memory for %u tiles", cs->num_tiles);
    for (uint32_t t = 0; t < cs->num_tiles; t++)
        cs->first_part[t] = L2K_NO_PART;
    for (size_t i = cs->num_parts; i-- > 0;) {
        cs->parts[i].next = cs->first_part[cs->parts[i].tile];
        cs->first_part[cs->parts[i].tile] = i;
    }
    return L2K_OK;
}

l2k_status l2k_codestream_open(const l2k_context *context, const uint8_t *data, size_t bytes,
                               const l2k_codestream_limits *limits, l2k_codestream *cs)
{
    *cs = (l2k_codestream){.context = context, .data = data, .end = data + bytes};
    const uint8_t *at = data;
    l2k_status status = read_main_header(cs, limits, &at);
    if (status == L2K_OK)
        status = read_parts(cs, at);
    if (status == L2K_OK)
        status = link_parts(cs);
    if (status != L2K_OK)
        l2k_codestream_close(cs);
    return status;
}

void l2k_codestream_close(l2k_codestream *cs)
{
    if (!cs->context)
        return;
    l2k_release(cs->context, cs->siz.components);
    l2k_release(cs->context, cs->coding.components);
    l2k_release(cs->context, cs->comment);
    l2k_release(cs->context, cs->parts);
    l2k_release(cs->context, cs->first_part);
    l2k_release(cs->context, cs->parts_seen);
    *cs = (l2k_codestream){0};
}

l2k_status l2k_codestream_tile_coding(const l2k_codestream *cs, uint32_t tile, l2k_tile_coding *coding)
{
    *coding = cs->coding;
    L2K_TRY(allocate_coding(cs->context, cs->siz.num_components, coding));
    memcpy(coding->components, cs->coding.components, cs->siz.num_components * sizeof *coding->components);
    for (size_t i = cs->first_part[tile]; i != L2K_NO_PART; i = cs->parts[i].next) {
        const l2k_tile_part_span *span = &cs->parts[i];
        const uint8_t *at = span->header;
        l2k_header_kind kind = span->part == 0 ? L2K_FIRST_PART_HEADER : L2K_LATER_PART_HEADER;
        l2k_status status = l2k_parse_header(cs->context, &cs->siz, kind, &at, span->packets, coding, NULL);
        if (status != L2K_OK) {
            l2k_release(cs->context, coding->components);
            coding->components = NULL;
            return status;
        }
    }
    return L2K_OK;
}
