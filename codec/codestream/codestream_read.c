/* Opens a codestream: parses the main header (A.3), locates the tile-parts, and gives each tile its coding parameters
 * and packed packet headers. */
#include "codec/codestream/codestream_read.h"

#include "base/memory.h"
#include "base/partial.h"
#include "base/run.h"
#include "codec/codestream/header_parser.h"

/* ---- Opening ------------------------------------------------------------------------------------------------- */

/* Checks SIZ before memory is allocated for its components and tiles. */
static l2k_status check_siz(l2k_codestream *cs, const l2k_codestream_limits *limits)
{
    const l2k_context *context = cs->context;
    const l2k_siz *siz = &cs->siz;
    uint64_t tiles = (uint64_t)l2k_tiles_across(&siz->grid) * l2k_tiles_down(&siz->grid);
    if (tiles > 65535)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "SIZ: %llu tiles, at most 65535 are possible",
                        (unsigned long long)tiles);
    if (siz->num_components > limits->components || tiles > limits->tiles)
        return l2k_fail(context, L2K_ERROR_LIMIT, "%u components and %u tiles exceed the limits of %u and %u",
                        siz->num_components, (unsigned)tiles, limits->components, limits->tiles);
    cs->num_tiles = (uint32_t)tiles;
    return l2k_check_samples(context, &limits->size, siz->grid.image, siz->num_components, siz->components);
}

static l2k_status read_main_header(l2k_codestream *cs, const l2k_codestream_limits *limits, const uint8_t **at,
                                   const l2k_header_rest *rest)
{
    const l2k_context *context = cs->context;
    l2k_segment segment;
    if (cs->end - *at < 2)
        return l2k_fail(context, L2K_ERROR_TRUNCATED, "the codestream is empty");
    L2K_TRY(l2k_need_header(context, *at, 2, cs->end));
    if (l2k_get_be(*at, 2) != L2K_SOC)
        return l2k_fail(context, L2K_ERROR_FORMAT, "not a JPEG 2000 codestream");
    *at += 2;
    L2K_TRY(l2k_segment_next(context, at, cs->end, &segment));
    if (segment.marker != L2K_SIZ)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "%s where SIZ should be", l2k_marker_name(segment.marker));
    L2K_TRY(l2k_need(context, segment.data, segment.end));
    L2K_TRY(l2k_parse_siz(context, &segment, &cs->siz));
    L2K_TRY(check_siz(cs, limits));
    cs->coding.components = l2k_allocate_zeroed(context, cs->siz.num_components, sizeof *cs->coding.components);
    L2K_TRY(l2k_check_memory(context, cs->coding.components, "the headers of %u components", cs->siz.num_components));
    return l2k_parse_header(context, &cs->siz, L2K_MAIN_HEADER, at, cs->end, &cs->coding, rest);
}

/* Joins the packed packet headers and the packet lengths of the main header. */
static l2k_status keep_segments(l2k_codestream *cs, const l2k_header_rest *rest)
{
    cs->has_packed = rest->packed->count > 0;
    cs->packed.context = cs->packet_lengths.context = cs->context;
    l2k_segment_list_join(rest->packed, &cs->packed);
    if (!rest->packet_lengths->is_wrong && !cs->has_packed)
        l2k_segment_list_join(rest->packet_lengths, &cs->packet_lengths);
    L2K_TRY(l2k_buffer_status(&cs->packet_lengths));
    return l2k_buffer_status(&cs->packed);
}

static l2k_status read_codestream(l2k_codestream *cs, const l2k_codestream_limits *limits)
{
    const uint8_t *at = cs->data;
    l2k_segment_list packed = {0}, part_lengths = {0}, packet_lengths = {0};
    const l2k_header_rest rest = {&cs->comment, &packed, &part_lengths, &packet_lengths};
    L2K_TRY(read_main_header(cs, limits, &at, &rest));
    L2K_TRY(keep_segments(cs, &rest));
    cs->first = at;
    cs->has_tlm = part_lengths.count > 0;
    L2K_TRY(l2k_tile_parts_list(cs, &part_lengths));
    return cs->is_listed ? L2K_OK : l2k_tile_parts_find(cs);
}

l2k_status l2k_codestream_open(const l2k_context *context, const uint8_t *data, size_t bytes,
                               const l2k_codestream_limits *limits, l2k_codestream *cs)
{
    *cs = (l2k_codestream){.context = context, .data = data, .end = data + bytes, .strict = limits->strict};
    l2k_status status = read_codestream(cs, limits);
    if (status != L2K_OK)
        l2k_codestream_close(cs);
    return status;
}

void l2k_codestream_close(l2k_codestream *cs)
{
    if (!cs->context)
        return;
    l2k_release(cs->context, cs->siz.components);
    l2k_tile_coding_release(cs->context, &cs->coding);
    if (cs->packed.context) {
        l2k_buffer_release(&cs->packed);
        l2k_buffer_release(&cs->packet_lengths);
    }
    l2k_release(cs->context, cs->comment);
    l2k_release(cs->context, cs->parts);
    l2k_release(cs->context, cs->first_part);
    *cs = (l2k_codestream){0};
}

/* ---- The headers of a tile ----------------------------------------------------------------------------------- */

static l2k_status read_part_header(const l2k_codestream *cs, const l2k_tile_part_span *span, l2k_tile_coding *coding,
                                   l2k_packed_headers *packed)
{
    const uint8_t *at = span->header;
    l2k_segment_list segments = {0};
    const l2k_header_rest rest = {.packed = &segments};
    bool is_empty = span->packets - span->header == 2 && !cs->has_packed; /* SOD alone */
    if (is_empty)
        return L2K_OK;
    l2k_header_kind kind = span->part == 0 ? L2K_FIRST_PART_HEADER : L2K_LATER_PART_HEADER;
    L2K_TRY(l2k_parse_header(cs->context, &cs->siz, kind, &at, span->packets, coding, &rest));
    if (cs->has_packed && segments.count)
        return l2k_fail(cs->context, L2K_ERROR_CORRUPT, "PPT where the main header has PPM");
    packed->used |= cs->has_packed || segments.count;
    l2k_segment_list_join(&segments, &packed->bytes);
    if (cs->has_packed)
        l2k_buffer_append(&packed->bytes, span->packed, (size_t)(span->packed_end - span->packed));
    return l2k_buffer_status(&packed->bytes);
}

/* Work per tile-part, for l2k_poll: its header may have to come from a slow disk. */
enum { WEIGHT_OF_PART = 1024 };

l2k_status l2k_codestream_tile_coding(const l2k_codestream *cs, uint32_t tile, l2k_tile_coding *coding,
                                      l2k_packed_headers *packed)
{
    *packed = (l2k_packed_headers){.bytes = {.context = cs->context}};
    L2K_TRY(l2k_tile_coding_copy(cs->context, &cs->coding, cs->siz.num_components, coding));
    for (size_t i = cs->first_part[tile]; i != L2K_NO_PART; i = cs->parts[i].next) {
        L2K_TRY(l2k_poll(cs->context, WEIGHT_OF_PART));
        L2K_TRY(read_part_header(cs, &cs->parts[i], coding, packed));
    }
    return L2K_OK;
}
