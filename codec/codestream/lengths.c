/* Lengths that headers state: of tile-parts (TLM, A.7.1), which locate these if a file is read in parts, and of packets
 * (PLM, A.7.2; PLT, A.7.3). */
#include "base/memory.h"
#include "base/partial.h"
#include "base/run.h"
#include "codec/codestream/codestream_read.h"
#include "codec/codestream/header_parser.h"

/* ---- TLM ------------------------------------------------------------------------------------------------------ */

enum { SOT_BYTES = 12, LEAST_BYTES = SOT_BYTES + 2, MOST_PARTS = 256 };

/* Where the next tile-part begins, and how many each tile has so far. */
typedef struct part_list {
    const uint8_t *at;
    uint16_t *counts;
    uint32_t next_tile; /* if TLM names no tiles: each has one tile-part, in order */
} part_list;

/* Lists one tile-part; *is_right: whether it is possible. */
static l2k_status list_part(l2k_codestream *cs, part_list *list, uint32_t tile, uint32_t bytes, bool *is_right)
{
    *is_right = bytes >= LEAST_BYTES && bytes <= (size_t)(cs->end - list->at) && tile < cs->num_tiles &&
                list->counts[tile] < MOST_PARTS;
    if (!*is_right)
        return L2K_OK;
    const l2k_tile_part_span span = {
        .tile = tile, .part = list->counts[tile]++, .header = list->at + SOT_BYTES, .end = list->at + bytes};
    list->at = span.end;
    return l2k_tile_parts_add(cs, span);
}

/* Lists the tile-parts of a segment, from the byte after Ztlm on. */
static l2k_status list_segment(l2k_codestream *cs, part_list *list, const uint8_t *data, size_t bytes, bool *is_right)
{
    const unsigned style = bytes ? data[0] : 0, of_tile = style >> 4 & 3, of_length = style & 0x40 ? 4 : 2;
    const unsigned entry = of_tile + of_length;
    *is_right = bytes > 0 && of_tile < 3 && (bytes - 1) % entry == 0;
    for (size_t at = 1; *is_right && at < bytes; at += entry) {
        const uint32_t tile = of_tile ? l2k_get_be(data + at, of_tile) : list->next_tile++;
        L2K_TRY(list_part(cs, list, tile, l2k_get_be(data + at + of_tile, of_length), is_right));
    }
    return l2k_poll(cs->context, bytes);
}

static void forget_parts(l2k_codestream *cs)
{
    l2k_release(cs->context, cs->parts);
    l2k_release(cs->context, cs->first_part);
    cs->parts = NULL;
    cs->first_part = NULL;
    cs->num_parts = cs->parts_capacity = 0;
    cs->is_listed = cs->has_end = false;
}

/* Lists all tile-parts; they are plausible only if EOC follows the last one. */
static l2k_status list_parts(l2k_codestream *cs, const l2k_segment_list *lengths, part_list *list, bool *is_right)
{
    *is_right = !lengths->is_wrong;
    for (unsigned i = 0; i < 256 && *is_right; i++)
        if (lengths->segments[i].data)
            L2K_TRY(list_segment(cs, list, lengths->segments[i].data, lengths->segments[i].bytes, is_right));
    *is_right = *is_right && cs->num_parts > 0 && cs->end - list->at >= 2;
    if (!*is_right || cs->end - list->at == 2) /* as good as EOC, which need not be read */
        return L2K_OK;
    L2K_TRY(l2k_need(cs->context, list->at, list->at + 2));
    *is_right = l2k_get_be(list->at, 2) == L2K_EOC;
    return L2K_OK;
}

static const char wrong_parts[] = "TLM does not match the tile-parts, which are located one by one";

l2k_status l2k_tile_parts_list(l2k_codestream *cs, const l2k_segment_list *lengths)
{
    bool is_right = false;
    part_list list = {.at = cs->first};
    if (!cs->context->partial || cs->strict || cs->has_packed || lengths->count == 0)
        return L2K_OK;
    list.counts = l2k_allocate_zeroed(cs->context, cs->num_tiles, sizeof *list.counts);
    L2K_TRY(l2k_check_memory(cs->context, list.counts, "%u tiles", cs->num_tiles));
    const l2k_status status = list_parts(cs, lengths, &list, &is_right);
    l2k_release(cs->context, list.counts);
    L2K_TRY(status);
    if (!is_right) {
        l2k_note(cs->context, wrong_parts);
        forget_parts(cs);
        return L2K_OK;
    }
    cs->is_listed = cs->has_end = true;
    l2k_tile_parts_share_lengths(cs);
    return l2k_tile_parts_link(cs);
}

/* Reads the headers of a tile's tile-parts. *is_right: they agree with TLM, and with the number that an SOT states. */
static l2k_status locate_tile(const l2k_codestream *cs, uint32_t tile, unsigned share, bool *is_right)
{
    unsigned most = 0, parts = 0;
    *is_right = true;
    for (size_t i = cs->first_part[tile]; *is_right && i != L2K_NO_PART; i = cs->parts[i].next, parts++) {
        unsigned count;
        L2K_TRY(l2k_tile_part_locate(cs, &cs->parts[i], share, &count, is_right));
        most = count > most ? count : most;
        *is_right = *is_right && (count == 0 || count == most);
        L2K_TRY(l2k_poll(cs->context, SOT_BYTES));
    }
    *is_right = *is_right && parts > 0 && parts == most;
    return L2K_OK;
}

static bool is_located(const l2k_codestream *cs, uint32_t tile)
{
    size_t i = cs->first_part[tile];
    while (i != L2K_NO_PART && cs->parts[i].packets)
        i = cs->parts[i].next;
    return i == L2K_NO_PART && cs->first_part[tile] != L2K_NO_PART;
}

l2k_status l2k_codestream_locate(l2k_codestream *cs, const uint32_t *tiles, uint32_t count, unsigned share,
                                 bool *changed)
{
    bool is_right = cs->first_part != NULL;
    l2k_status status = L2K_OK;
    *changed = false;
    for (uint32_t i = 0; i < count && cs->is_listed && is_right; i++) {
        const l2k_status located = is_located(cs, tiles[i]) ? L2K_OK : locate_tile(cs, tiles[i], share, &is_right);
        status = status == L2K_OK ? located : status;
        if (located != L2K_OK && !l2k_comes_later(cs->context))
            break;
    }
    L2K_TRY(status);
    *changed = !is_right;
    if (is_right)
        return L2K_OK;
    if (cs->is_listed)
        l2k_note(cs->context, wrong_parts);
    forget_parts(cs);
    status = l2k_tile_parts_find(cs);
    if (status != L2K_OK)
        forget_parts(cs); /* the next window tries again */
    return status;
}

/* ---- PLM, PLT ------------------------------------------------------------------------------------------------- */

/* For each tile-part PLM has a byte, Nplm, then Nplm bytes of lengths. */
void l2k_tile_parts_share_lengths(l2k_codestream *cs)
{
    const uint8_t *at = cs->packet_lengths.data, *end = l2k_buffer_end(&cs->packet_lengths);
    size_t shares = 0;
    for (; at < end && shares < cs->num_parts && *at < end - at; at += 1 + *at)
        cs->parts[shares++].lengths = at;
    const bool is_right = at == end && shares == cs->num_parts;
    for (size_t i = 0; i < shares; i++) {
        l2k_tile_part_span *span = &cs->parts[i];
        span->lengths_end = is_right ? span->lengths + 1 + *span->lengths : NULL;
        span->lengths = is_right ? span->lengths + 1 : NULL;
    }
}

static l2k_status list_plt(const l2k_codestream *cs, const l2k_tile_part_span *part, l2k_segment_list *list)
{
    l2k_segment segment;
    L2K_TRY(l2k_need(cs->context, part->header, part->packets));
    for (const uint8_t *at = part->header; at < part->packets;) {
        L2K_TRY(l2k_segment_next(cs->context, &at, part->packets, &segment));
        if (segment.marker == L2K_PLT)
            (void)l2k_segment_list_add(list, &segment);
    }
    return L2K_OK;
}

l2k_status l2k_codestream_has_plt(const l2k_codestream *cs, bool *has_plt)
{
    l2k_tile_part_span part = cs->num_parts ? cs->parts[0] : (l2k_tile_part_span){0};
    l2k_segment_list list = {0};
    bool is_right = cs->num_parts > 0;
    unsigned count;
    *has_plt = false;
    if (is_right && !part.packets)
        L2K_TRY(l2k_tile_part_locate(cs, &part, L2K_NO_SHARE, &count, &is_right));
    if (!is_right)
        return L2K_OK;
    L2K_TRY(list_plt(cs, &part, &list));
    *has_plt = list.count || list.is_wrong;
    return L2K_OK;
}

l2k_status l2k_codestream_lengths(const l2k_codestream *cs, const l2k_tile_part_span *part, l2k_buffer *lengths)
{
    l2k_segment_list list = {0};
    L2K_TRY(list_plt(cs, part, &list));
    if (list.is_wrong)
        return L2K_OK;
    if (list.count)
        l2k_segment_list_join(&list, lengths);
    else if (part->lengths)
        l2k_buffer_append(lengths, part->lengths, (size_t)(part->lengths_end - part->lengths));
    return l2k_buffer_status(lengths);
}
