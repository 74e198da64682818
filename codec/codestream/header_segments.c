/* RGN, POC, PPM and PPT: what changes the meaning or the place of packets. */
#include "codec/codestream/header_segments.h"

#include "base/memory.h"

/* A.6.3; Srgn 0, the max-shift method of Annex H, is all that Part 1 has. */
l2k_status l2k_parse_rgn(l2k_header_state *state, const l2k_segment *segment)
{
    const uint8_t *d;
    uint32_t c = 0;
    L2K_TRY(l2k_parse_component_index(state, segment, &d, &c));
    if (segment->end - d != 2)
        return l2k_segment_wrong(state, segment, "its length does not fit its content");
    if (d[0] != 0)
        return l2k_fail(state->context, L2K_ERROR_UNSUPPORTED, "RGN: region of interest style %u", d[0]);
    state->coding->components[c].roi_shift = d[1];
    return L2K_OK;
}

/* ---- POC (A.6.6) --------------------------------------------------------------------------------------------- */

static l2k_status parse_change(const l2k_header_state *state, const l2k_segment *segment, const uint8_t *d,
                               l2k_progression_change *change)
{
    unsigned index = l2k_component_index_bytes(state->siz);
    uint32_t component_end = l2k_get_be(d + 4 + index, index);
    *change = (l2k_progression_change){.progression = d[4 + 2 * index],
                                       .resolution_start = d[0],
                                       .resolution_end = d[3 + index],
                                       .component_start = l2k_get_be(d + 1, index),
                                       .component_end = component_end ? component_end : L2K_MAX_COMPONENTS,
                                       .layer_end = l2k_get_be(d + 1 + index, 2)};
    if (change->progression > L2K_CPRL)
        return l2k_segment_wrong(state, segment, "an impossible progression order");
    if (change->resolution_start >= change->resolution_end || change->component_start >= change->component_end ||
        change->layer_end == 0)
        return l2k_segment_wrong(state, segment, "a progression without packets");
    return L2K_OK;
}

static l2k_status grow_changes(const l2k_header_state *state, size_t more)
{
    l2k_tile_coding *coding = state->coding;
    size_t count = coding->num_changes + more;
    l2k_progression_change *changes =
        l2k_enlarge(state->context, coding->changes, coding->num_changes, count, sizeof *changes);
    if (!changes)
        return l2k_fail(state->context, L2K_ERROR_MEMORY, "out of memory for %zu progression changes", count);
    coding->changes = changes;
    return L2K_OK;
}

/* The first POC of a tile replaces the main header's; those of further tile-parts go on where it ends. */
l2k_status l2k_parse_poc(l2k_header_state *state, const l2k_segment *segment)
{
    l2k_tile_coding *coding = state->coding;
    size_t entry = 5 + 2 * l2k_component_index_bytes(state->siz), length = l2k_segment_length(segment);
    if (state->seen_poc)
        return l2k_segment_wrong(state, segment, "a second one in the same header");
    if (length == 0 || length % entry)
        return l2k_segment_wrong(state, segment, "its length does not fit its content");
    if (state->kind == L2K_FIRST_PART_HEADER)
        coding->num_changes = 0;
    L2K_TRY(grow_changes(state, length / entry));
    for (const uint8_t *d = segment->data; d < segment->end; d += entry)
        L2K_TRY(parse_change(state, segment, d, &coding->changes[coding->num_changes++]));
    state->seen_poc = true;
    return L2K_OK;
}

/* ---- PPM, PPT (A.7.4, A.7.5) --------------------------------------------------------------------------------- */

l2k_status l2k_parse_packed(l2k_header_state *state, const l2k_segment *segment)
{
    l2k_packed_segments *packed = state->packed;
    if (l2k_segment_length(segment) == 0)
        return l2k_segment_wrong(state, segment, "too short");
    unsigned index = segment->data[0];
    if (packed->segments[index].data)
        return l2k_segment_wrong(state, segment, "two of the same index");
    packed->segments[index].data = segment->data + 1;
    packed->segments[index].bytes = (uint32_t)l2k_segment_length(segment) - 1;
    packed->count++;
    return L2K_OK;
}
