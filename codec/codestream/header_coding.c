/* COD, COC, QCD and QCC (A.6.1, A.6.2, A.6.4, A.6.5): how tile-components are coded. */
#include "codec/codestream/header_segments.h"

#include <string.h>

enum { SEEN_COC = 1, SEEN_QCC = 2 };

/* ---- COD, COC ------------------------------------------------------------------------------------------------ */

static l2k_status parse_precincts(const l2k_header_state *state, const l2k_segment *segment, const uint8_t *d,
                                  l2k_component_coding *coding)
{
    if ((size_t)(segment->end - d) != (coding->user_precincts ? coding->levels + 1u : 0u))
        return l2k_segment_wrong(state, segment, "its length does not fit its content");
    for (unsigned r = 0; r <= coding->levels; r++) {
        coding->log2_precinct_width[r] = coding->user_precincts ? d[r] & 15 : 15;
        coding->log2_precinct_height[r] = coding->user_precincts ? d[r] >> 4 : 15;
        if (r > 0 && (coding->log2_precinct_width[r] == 0 || coding->log2_precinct_height[r] == 0))
            return l2k_segment_wrong(state, segment, "a precinct of one sample above the lowest resolution");
    }
    return L2K_OK;
}

/* SPcod, SPcoc (Table A.15) from `d` on. */
static l2k_status parse_style(const l2k_header_state *state, const l2k_segment *segment, const uint8_t *d,
                              bool user_precincts, l2k_component_coding *coding)
{
    if (segment->end - d < 5)
        return l2k_segment_wrong(state, segment, "too short");
    if (d[0] > L2K_MAX_LEVELS)
        return l2k_segment_wrong(state, segment, "more than 32 decomposition levels");
    if (d[1] > 8 || d[2] > 8 || d[1] + d[2] > 8)
        return l2k_segment_wrong(state, segment, "an impossible code-block size");
    if (d[3] & 0x40)
        return l2k_fail(state->context, L2K_ERROR_UNSUPPORTED, "%s: high-throughput code-blocks (Part 15)",
                        l2k_marker_name(segment->marker));
    if (d[3] & 0x80)
        return l2k_segment_wrong(state, segment, "an impossible code-block style");
    if (d[4] > 1)
        return l2k_fail(state->context, L2K_ERROR_UNSUPPORTED, "%s: wavelet transform %u",
                        l2k_marker_name(segment->marker), d[4]);
    coding->levels = d[0];
    coding->log2_block_width = d[1] + 2;
    coding->log2_block_height = d[2] + 2;
    coding->style = d[3];
    coding->wavelet = d[4] == 1 ? L2K_WAVELET_5_3 : L2K_WAVELET_9_7;
    coding->user_precincts = user_precincts;
    return parse_precincts(state, segment, d + 5, coding);
}

/* Copies COD's or COC's part, leaving the quantisation alone. */
static void assign_style(l2k_component_coding *to, const l2k_component_coding *from)
{
    to->levels = from->levels;
    to->log2_block_width = from->log2_block_width;
    to->log2_block_height = from->log2_block_height;
    to->style = from->style;
    to->wavelet = from->wavelet;
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
    state->seen_cod = true;
    return L2K_OK;
}

l2k_status l2k_parse_component_index(const l2k_header_state *state, const l2k_segment *segment, const uint8_t **d,
                                     uint32_t *c)
{
    unsigned bytes = l2k_component_index_bytes(state->siz);
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
    L2K_TRY(l2k_parse_component_index(state, segment, &d, &c));
    if (*d & ~1u)
        return l2k_segment_wrong(state, segment, "an impossible coding style");
    l2k_component_coding style = {0};
    L2K_TRY(parse_style(state, segment, d + 1, *d & 1, &style));
    assign_style(&state->coding->components[c], &style);
    state->specific[c] |= SEEN_COC;
    state->seen_component = true;
    return L2K_OK;
}

/* ---- QCD, QCC ------------------------------------------------------------------------------------------------ */

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
    L2K_TRY(l2k_parse_component_index(state, segment, &d, &c));
    l2k_component_coding steps = {0};
    L2K_TRY(parse_steps(state, segment, d, &steps));
    assign_steps(&state->coding->components[c], &steps);
    state->specific[c] |= SEEN_QCC;
    state->seen_component = true;
    return L2K_OK;
}
