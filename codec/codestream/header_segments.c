/* The parsers of the marker segments that describe the coding: SIZ (A.5.1); COD, COC (A.6.1, A.6.2); QCD, QCC (A.6.4,
 * A.6.5); RGN (A.6.3); POC (A.6.6); PPM, PPT (A.7.4, A.7.5). */
#include "codec/codestream/header_parser.h"

#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"

/* ---- SIZ (A.5.1) --------------------------------------------------------------------------------------------- */

static l2k_status check_grid(const l2k_context *context, const l2k_tile_grid *g)
{
    if (g->image.x0 >= g->image.x1 || g->image.y0 >= g->image.y1)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "SIZ: an image area without samples");
    if (g->tile_width == 0 || g->tile_height == 0)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "SIZ: a tile size of 0");
    if (g->tile_x0 > g->image.x0 || g->tile_y0 > g->image.y0 || (uint64_t)g->tile_x0 + g->tile_width <= g->image.x0 ||
        (uint64_t)g->tile_y0 + g->tile_height <= g->image.y0)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "SIZ: the first tile is outside the image");
    return L2K_OK;
}

static l2k_status parse_component_size(const l2k_context *context, const uint8_t *data, uint32_t c,
                                       l2k_component *component)
{
    *component =
        (l2k_component){.dx = data[1], .dy = data[2], .precision = (data[0] & 0x7Fu) + 1, .is_signed = data[0] >> 7};
    if (component->dx == 0 || component->dy == 0)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "SIZ: component %u has a sub-sampling factor of 0", c);
    if (component->precision > 38)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "SIZ: component %u has %u bits a sample, at most 38 are possible",
                        c, component->precision);
    if (component->precision > 31)
        return l2k_fail(context, L2K_ERROR_UNSUPPORTED,
                        "SIZ: component %u has %u bits a sample, at most 31 are implemented", c, component->precision);
    return L2K_OK;
}

l2k_status l2k_parse_siz(const l2k_context *context, const l2k_segment *segment, l2k_siz *siz)
{
    const uint8_t *d = segment->data;
    if (l2k_segment_length(segment) < 36)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "SIZ: too short");
    siz->profile = l2k_get_be(d, 2);
    siz->grid =
        (l2k_tile_grid){{l2k_get_be(d + 10, 4), l2k_get_be(d + 14, 4), l2k_get_be(d + 2, 4), l2k_get_be(d + 6, 4)},
                        l2k_get_be(d + 26, 4),
                        l2k_get_be(d + 30, 4),
                        l2k_get_be(d + 18, 4),
                        l2k_get_be(d + 22, 4)};
    siz->num_components = l2k_get_be(d + 34, 2);
    L2K_TRY(check_grid(context, &siz->grid));
    if (siz->num_components == 0 || siz->num_components > L2K_MAX_COMPONENTS)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "SIZ: %u components", siz->num_components);
    if (l2k_segment_length(segment) != 36 + 3 * (size_t)siz->num_components)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "SIZ: its length does not fit %u components", siz->num_components);
    siz->components = l2k_allocate(context, siz->num_components, sizeof *siz->components);
    L2K_TRY(l2k_check_memory(context, siz->components, "%u components", siz->num_components));
    for (uint32_t c = 0; c < siz->num_components; c++)
        L2K_TRY(parse_component_size(context, d + 36 + 3 * (size_t)c, c, &siz->components[c]));
    return L2K_OK;
}

/* ---- COD, COC (A.6.1, A.6.2) --------------------------------------------------------------------------------- */

/* If COC names a DFS, COD will give the number of levels (header_splits.c); until then, it is the number that have
 * precincts. */
static l2k_status parse_precincts(const l2k_header_state *state, const l2k_segment *segment, const uint8_t *d,
                                  l2k_component_coding *coding)
{
    const size_t bytes = (size_t)(segment->end - d);
    if (coding->split_style && coding->user_precincts && bytes - 1 <= L2K_MAX_LEVELS)
        coding->levels = (uint8_t)(bytes - 1);
    if (bytes != (coding->user_precincts ? coding->levels + 1u : 0u))
        return l2k_segment_wrong(state, segment, "its length does not fit its content");
    for (unsigned r = 0; r <= coding->levels; r++) {
        coding->log2_precinct_width[r] = coding->user_precincts ? d[r] & 15 : 15;
        coding->log2_precinct_height[r] = coding->user_precincts ? d[r] >> 4 : 15;
        if (r > 0 && !coding->split_style &&
            (coding->log2_precinct_width[r] == 0 || coding->log2_precinct_height[r] == 0))
            return l2k_segment_wrong(state, segment, "a precinct of one sample above the lowest resolution");
    }
    return L2K_OK;
}

/* SPcod, SPcoc (Table A.15), starting at `d`. */
static l2k_status parse_style(const l2k_header_state *state, const l2k_segment *segment, const uint8_t *d,
                              bool user_precincts, l2k_component_coding *coding)
{
    if (segment->end - d < 5)
        return l2k_segment_wrong(state, segment, "too short");
    const bool is_dfs = d[0] & L2K_COC_DFS && (d[0] & ~L2K_COC_DFS) <= L2K_MOST_DFS;
    if (is_dfs && segment->marker == L2K_COD)
        return l2k_segment_wrong(state, segment, "a DFS in place of the number of levels: only COC can name one");
    if (is_dfs && d[0] == L2K_COC_DFS)
        return l2k_segment_wrong(state, segment, "DFS 0, which does not exist");
    if (d[0] > L2K_MAX_LEVELS && !is_dfs)
        return l2k_segment_wrong(state, segment, "more than 32 decomposition levels");
    if (d[1] > 8 || d[2] > 8 || d[1] + d[2] > 8)
        return l2k_segment_wrong(state, segment, "an impossible code-block size");
    if (d[3] & L2K_STYLE_HT_MIXED && !(d[3] & L2K_STYLE_HT))
        return l2k_segment_wrong(state, segment, "an impossible code-block style");
    if (d[3] & L2K_STYLE_HT_MIXED && d[3] & (L2K_STYLE_BYPASS | L2K_STYLE_TERMALL))
        return l2k_fail(state->context, L2K_ERROR_UNSUPPORTED, "%s: code-block style %02X",
                        l2k_marker_name(segment->marker), d[3]);
    coding->split_style = is_dfs ? d[0] & ~L2K_COC_DFS : 0;
    coding->levels = is_dfs ? L2K_MAX_LEVELS : d[0];
    coding->log2_block_width = d[1] + 2;
    coding->log2_block_height = d[2] + 2;
    coding->style = d[3];
    coding->kernel = d[4];
    coding->user_precincts = user_precincts;
    return parse_precincts(state, segment, d + 5, coding);
}

/* Copies the members that COD or COC sets, without the quantisation. */
static void assign_style(l2k_component_coding *to, const l2k_component_coding *from)
{
    to->levels = from->levels;
    to->split_style = from->split_style;
    to->log2_block_width = from->log2_block_width;
    to->log2_block_height = from->log2_block_height;
    to->style = from->style;
    to->kernel = from->kernel;
    to->user_precincts = from->user_precincts;
    memcpy(to->log2_precinct_width, from->log2_precinct_width, sizeof to->log2_precinct_width);
    memcpy(to->log2_precinct_height, from->log2_precinct_height, sizeof to->log2_precinct_height);
}

l2k_status l2k_parse_cod(l2k_header_state *state, const l2k_segment *segment)
{
    const uint8_t *d = segment->data;
    l2k_tile_coding *coding = state->coding;
    if (l2k_segment_length(segment) < 10)
        return l2k_segment_wrong(state, segment, "too short");
    if (d[0] & ~7u)
        return l2k_segment_wrong(state, segment, "an impossible coding style");
    if (d[1] > L2K_CPRL)
        return l2k_segment_wrong(state, segment, "an impossible progression order");
    if (l2k_get_be(d + 2, 2) == 0)
        return l2k_segment_wrong(state, segment, "no layers");
    if (d[4] > 1)
        return l2k_fail(state->context, L2K_ERROR_UNSUPPORTED, "COD: multiple component transform %u", d[4]);
    coding->sop = d[0] & 2;
    coding->eph = d[0] & 4;
    coding->progression = d[1];
    coding->num_layers = l2k_get_be(d + 2, 2);
    coding->component_transform = d[4];
    L2K_TRY(parse_style(state, segment, d + 5, d[0] & 1, &state->common));
    coding->levels = state->common.levels;
    state->seen_cod = true;
    return L2K_OK;
}

/* Bits of l2k_header_state.specific. */
enum { SEEN_COC = 1, SEEN_QCC = 2 };

/* Parses the component index with which COC, QCC and RGN start; *d advances past it. At least one byte must follow. */
static l2k_status parse_component_index(const l2k_header_state *state, const l2k_segment *segment, const uint8_t **d,
                                        uint32_t *c)
{
    unsigned bytes = l2k_component_index_bytes(state->siz->num_components);
    *d = segment->data + bytes;
    if (l2k_segment_length(segment) < bytes + 1u)
        return l2k_segment_wrong(state, segment, "too short");
    *c = l2k_get_be(segment->data, bytes);
    if (*c >= state->siz->num_components)
        return l2k_segment_wrong(state, segment, "a component that does not exist");
    return L2K_OK;
}

l2k_status l2k_parse_coc(l2k_header_state *state, const l2k_segment *segment)
{
    const uint8_t *d;
    uint32_t c = 0;
    L2K_TRY(parse_component_index(state, segment, &d, &c));
    if (*d & ~1u)
        return l2k_segment_wrong(state, segment, "an impossible coding style");
    L2K_TRY(parse_style(state, segment, d + 1, *d & 1, &state->coding->components[c]));
    state->specific[c] |= SEEN_COC;
    state->seen_component = true;
    return L2K_OK;
}

/* ---- QCD, QCC (A.6.4, A.6.5) --------------------------------------------------------------------------------- */

static l2k_status parse_steps(const l2k_header_state *state, const l2k_segment *segment, const uint8_t *d,
                              l2k_component_coding *out)
{
    if (d >= segment->end)
        return l2k_segment_wrong(state, segment, "too short");
    unsigned kind = *d & 31, width = kind == L2K_QUANT_NONE ? 1 : 2;
    if (kind > L2K_QUANT_EXPOUNDED)
        return l2k_segment_wrong(state, segment, "an impossible quantisation style");
    out->quantisation = (uint8_t)kind;
    out->guard_bits = *d++ >> 5;
    size_t count = (size_t)(segment->end - d) / width;
    if (count == 0)
        return l2k_segment_wrong(state, segment, "no step sizes");
    out->num_steps = (uint8_t)(count > L2K_MAX_SUBBANDS ? L2K_MAX_SUBBANDS : count);
    if (kind == L2K_QUANT_DERIVED)
        out->num_steps = 1;
    for (unsigned i = 0; i < out->num_steps; i++) {
        uint32_t value = l2k_get_be(d + i * width, width);
        out->steps[i] = kind == L2K_QUANT_NONE ? (l2k_step){(uint8_t)(value >> 3), 0}
                                               : (l2k_step){(uint8_t)(value >> 11), (uint16_t)(value & 0x7FF)};
    }
    return L2K_OK;
}

static void assign_steps(l2k_component_coding *to, const l2k_component_coding *from)
{
    to->quantisation = from->quantisation;
    to->guard_bits = from->guard_bits;
    to->num_steps = from->num_steps;
    memcpy(to->steps, from->steps, sizeof to->steps);
}

l2k_status l2k_parse_qcd(l2k_header_state *state, const l2k_segment *segment)
{
    L2K_TRY(parse_steps(state, segment, segment->data, &state->common));
    state->seen_qcd = true;
    return L2K_OK;
}

void l2k_assign_common(l2k_header_state *state)
{
    for (uint32_t c = 0; c < state->siz->num_components; c++) {
        if (state->seen_cod && !(state->specific[c] & SEEN_COC))
            assign_style(&state->coding->components[c], &state->common);
        if (state->seen_qcd && !(state->specific[c] & SEEN_QCC))
            assign_steps(&state->coding->components[c], &state->common);
    }
}

l2k_status l2k_parse_qcc(l2k_header_state *state, const l2k_segment *segment)
{
    const uint8_t *d;
    uint32_t c = 0;
    L2K_TRY(parse_component_index(state, segment, &d, &c));
    L2K_TRY(parse_steps(state, segment, d, &state->coding->components[c]));
    state->specific[c] |= SEEN_QCC;
    state->seen_component = true;
    return L2K_OK;
}

/* ---- RGN (A.6.3) --------------------------------------------------------------------------------------------- */

/* Part 1 has only Srgn 0, the max-shift method of Annex H. */
l2k_status l2k_parse_rgn(l2k_header_state *state, const l2k_segment *segment)
{
    const uint8_t *d;
    uint32_t c = 0;
    L2K_TRY(parse_component_index(state, segment, &d, &c));
    if (segment->end - d != 2)
        return l2k_segment_wrong(state, segment, "its length does not fit its content");
    if (d[0] != 0)
        return l2k_fail(state->context, L2K_ERROR_UNSUPPORTED, "RGN: region of interest style %u", d[0]);
    state->coding->components[c].roi_shift = d[1];
    return L2K_OK;
}

/* ---- POC (A.6.6) --------------------------------------------------------------------------------------------- */

static l2k_status parse_change(const l2k_header_state *state, const l2k_segment *segment, const uint8_t *d,
                               l2k_poc *change)
{
    unsigned index = l2k_component_index_bytes(state->siz->num_components);
    uint32_t component_end = l2k_get_be(d + 4 + index, index);
    *change = (l2k_poc){.progression = (l2k_progression)d[4 + 2 * index],
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

/* The first POC of a tile replaces the main header's; those in later tile-parts append to it. */
l2k_status l2k_parse_poc(l2k_header_state *state, const l2k_segment *segment)
{
    l2k_tile_coding *coding = state->coding;
    size_t entry = 5 + 2 * l2k_component_index_bytes(state->siz->num_components), length = l2k_segment_length(segment);
    if (state->seen_poc)
        return l2k_segment_wrong(state, segment, "a second one in the same header");
    if (length == 0 || length % entry)
        return l2k_segment_wrong(state, segment, "its length does not fit its content");
    if (state->kind == L2K_FIRST_PART_HEADER)
        coding->num_changes = 0;
    const size_t count = coding->num_changes + length / entry;
    l2k_poc *changes = l2k_enlarge(state->context, coding->changes, coding->num_changes, count, sizeof *changes);
    L2K_TRY(l2k_check_memory(state->context, changes, "%zu progression changes", count));
    coding->changes = changes;
    for (const uint8_t *d = segment->data; d < segment->end; d += entry)
        L2K_TRY(parse_change(state, segment, d, &coding->changes[coding->num_changes++]));
    state->seen_poc = true;
    return L2K_OK;
}

/* ---- Segments with an index (A.7) ---------------------------------------------------------------------------- */

bool l2k_segment_list_add(l2k_segment_list *list, const l2k_segment *segment)
{
    const size_t length = l2k_segment_length(segment);
    if (length == 0 || list->segments[segment->data[0]].data) {
        list->is_wrong = true;
        return false;
    }
    list->segments[segment->data[0]].data = segment->data + 1;
    list->segments[segment->data[0]].bytes = (uint32_t)length - 1;
    list->count++;
    return true;
}

void l2k_segment_list_join(const l2k_segment_list *list, l2k_buffer *out)
{
    for (unsigned i = 0; i < 256; i++)
        if (list->segments[i].data)
            l2k_buffer_append(out, list->segments[i].data, list->segments[i].bytes);
}

/* PPM, PPT. */
l2k_status l2k_parse_packed(l2k_header_state *state, const l2k_segment *segment)
{
    if (l2k_segment_length(segment) == 0)
        return l2k_segment_wrong(state, segment, "too short");
    if (!l2k_segment_list_add(state->rest->packed, segment))
        return l2k_segment_wrong(state, segment, "two of the same index");
    return L2K_OK;
}
