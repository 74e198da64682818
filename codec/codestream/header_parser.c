/* Reads a main or tile-part header (A.1 to A.4): goes through its marker segments, has each one parsed, and checks that
 * they agree. */
#include "codec/codestream/header_parser.h"

#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/partial.h"
#include "base/run.h"

l2k_status l2k_segment_wrong(const l2k_header_state *state, const l2k_segment *segment, const char *what)
{
    return l2k_fail(state->context, L2K_ERROR_CORRUPT, "%s: %s", l2k_marker_name(segment->marker), what);
}

/* ---- COM (A.9.2), and segments that are skipped -------------------------------------------------------------- */

static l2k_status parse_com(l2k_header_state *state, const l2k_segment *segment)
{
    size_t length = l2k_segment_length(segment);
    char **comment = state->rest->comment;
    if (!comment || *comment || length < 2 || l2k_get_be(segment->data, 2) != 1)
        return L2K_OK;
    char *text = l2k_allocate(state->context, length - 1, 1);
    L2K_TRY(l2k_check_memory(state->context, text, "a comment"));
    memcpy(text, segment->data + 2, length - 2);
    text[length - 2] = 0;
    *comment = text;
    return L2K_OK;
}

/* TLM, PLM. Lengths are optional, so wrong ones are not an error. */
static l2k_status parse_lengths(l2k_header_state *state, const l2k_segment *segment)
{
    const l2k_header_rest *rest = state->rest;
    (void)l2k_segment_list_add(segment->marker == L2K_TLM ? rest->part_lengths : rest->packet_lengths, segment);
    return L2K_OK;
}

/* COD, COC, QCD, QCC and RGN are allowed in the first tile-part only (A.6); some encoders repeat them in every one. */
#define ANY_PART (L2K_FIRST_PART_HEADER | L2K_LATER_PART_HEADER)

static const struct marker_rule {
    uint32_t marker;
    const char *name;
    unsigned where;
    l2k_segment_parser *parse; /* NULL: decoding does not need it. PLT is read when a window needs it (lengths.c) */
} rules[] = {
    {L2K_COD, "COD", L2K_MAIN_HEADER | ANY_PART, l2k_parse_cod},
    {L2K_COC, "COC", L2K_MAIN_HEADER | ANY_PART, l2k_parse_coc},
    {L2K_QCD, "QCD", L2K_MAIN_HEADER | ANY_PART, l2k_parse_qcd},
    {L2K_QCC, "QCC", L2K_MAIN_HEADER | ANY_PART, l2k_parse_qcc},
    {L2K_COM, "COM", L2K_MAIN_HEADER | ANY_PART, parse_com},
    {L2K_TLM, "TLM", L2K_MAIN_HEADER, parse_lengths},
    {L2K_PLM, "PLM", L2K_MAIN_HEADER, parse_lengths},
    {L2K_CRG, "CRG", L2K_MAIN_HEADER, NULL},
    {L2K_PLT, "PLT", ANY_PART, NULL},
    {L2K_CAP, "CAP", L2K_MAIN_HEADER, l2k_parse_cap},
    {L2K_PRF, "PRF", L2K_MAIN_HEADER, l2k_parse_prf},
    {L2K_CPF, "CPF", L2K_MAIN_HEADER, l2k_parse_cpf},
    {L2K_ATK, "ATK", L2K_MAIN_HEADER | L2K_FIRST_PART_HEADER, l2k_parse_atk},
    {L2K_DFS, "DFS", L2K_MAIN_HEADER | L2K_FIRST_PART_HEADER, l2k_parse_dfs},
    {L2K_RGN, "RGN", L2K_MAIN_HEADER | ANY_PART, l2k_parse_rgn},
    {L2K_POC, "POC", L2K_MAIN_HEADER | ANY_PART, l2k_parse_poc},
    {L2K_PPM, "PPM", L2K_MAIN_HEADER, l2k_parse_packed},
    {L2K_PPT, "PPT", ANY_PART, l2k_parse_packed},
    {L2K_SIZ, "SIZ", 0, NULL},
    {L2K_SOC, "SOC", 0, NULL},
    {L2K_SOT, "SOT", 0, NULL},
    {L2K_SOD, "SOD", 0, NULL},
    {L2K_EOC, "EOC", 0, NULL},
};

static const struct marker_rule *rule_of(uint32_t marker)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].marker == marker)
            return &rules[i];
    return NULL;
}

const char *l2k_marker_name(uint32_t marker)
{
    const struct marker_rule *rule = rule_of(marker);
    return rule ? rule->name : "an unknown marker";
}

/* Delimiters and the reserved range 0xFF30 to 0xFF3F have no parameters (A.1.1). */
static bool stands_alone(uint32_t marker)
{
    return (marker >= 0xFF30 && marker <= 0xFF3F) || marker == L2K_SOC || marker == L2K_SOD || marker == L2K_EOC;
}

/* Work per marker segment, for l2k_poll. */
enum { WEIGHT_OF_SEGMENT = 64 };

l2k_status l2k_segment_next(const l2k_context *context, const uint8_t **at, const uint8_t *end, l2k_segment *segment)
{
    L2K_TRY(l2k_need_header(context, *at, 4, end));
    if (end - *at < 2)
        return l2k_fail(context, L2K_ERROR_TRUNCATED, "the data ends in a header");
    segment->marker = l2k_get_be(*at, 2);
    *at += 2;
    segment->data = segment->end = *at;
    if (segment->marker < 0xFF00)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "%04X where a marker should be", segment->marker);
    if (stands_alone(segment->marker))
        return L2K_OK;
    if (end - *at < 2)
        return l2k_fail(context, L2K_ERROR_TRUNCATED, "the data ends in a header");
    uint32_t length = l2k_get_be(*at, 2);
    if (length < 2)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "%s: a length of %u", l2k_marker_name(segment->marker), length);
    if (length > (size_t)(end - *at))
        return l2k_fail(context, L2K_ERROR_TRUNCATED, "the data ends in %s", l2k_marker_name(segment->marker));
    segment->data = *at + 2;
    segment->end = *at += length;
    return l2k_poll(context, WEIGHT_OF_SEGMENT);
}

/* ---- Whole headers ------------------------------------------------------------------------------------------- */

/* Extensions that change the meaning of the data (ISO/IEC 15444-2, Table A.2). Others, such as those for error
 * resilience (Part 11) and security (Part 8), only add to it. */
static bool is_part_2(uint32_t marker)
{
    return (marker >= 0xFF70 && marker <= 0xFF7F) || marker == 0xFF5A || marker == 0xFF5B;
}

static l2k_status refuse_part_2(const l2k_context *context, uint32_t marker)
{
    static const char names[][5] = {" QPD", " QPC"};
    static const char more[][5] = {" DCO", " VMS", " DFS", " ADS", " MCT", " MCC", " NLT", " MCO", " CBD"};
    const char *name = marker < 0xFF70 ? names[marker - 0xFF5A] : marker < 0xFF79 ? more[marker - 0xFF70] : "";
    return l2k_fail(context, L2K_ERROR_UNSUPPORTED, "marker %04X%s of Part 2 is not supported", marker, name);
}

static l2k_status handle_segment(l2k_header_state *state, l2k_header_kind kind, const l2k_segment *segment)
{
    const struct marker_rule *rule = rule_of(segment->marker);
    if (!rule && segment->marker >= 0xFF30 && segment->marker <= 0xFF3F)
        return L2K_OK;
    if (!rule && is_part_2(segment->marker))
        return refuse_part_2(state->context, segment->marker);
    if (!rule) {
        l2k_warn(state->context, "marker %04X is unknown and skipped", segment->marker);
        return L2K_OK;
    }
    if (!(rule->where & (unsigned)kind))
        return l2k_segment_wrong(state, segment, "not allowed in this place");
    if (!rule->parse)
        return L2K_OK;
    L2K_TRY(l2k_need(state->context, segment->data, segment->end));
    return rule->parse(state, segment);
}

/* If CAP, which may follow COD, announces HT code-blocks only, the style need not state them (A.3 of T.814). */
static void settle_style(const l2k_capabilities *capabilities, l2k_component_coding *coding)
{
    if (capabilities->parts & L2K_PART_15 && capabilities->ht >> 14 == L2K_HT_ONLY)
        coding->style = (uint8_t)((coding->style | L2K_STYLE_HT) & ~L2K_STYLE_HT_MIXED);
}

/* Checks that need all of COD, COC, QCD and QCC. */
static l2k_status check_component(const l2k_header_state *state, uint32_t c)
{
    const l2k_component_coding *coding = &state->coding->components[c];
    if (coding->style & L2K_STYLE_HT && !(state->coding->capabilities.parts & L2K_PART_15))
        return l2k_fail(state->context, L2K_ERROR_CORRUPT, "component %u: HT code-blocks that CAP does not announce",
                        c);
    if (coding->quantisation == L2K_QUANT_NONE && l2k_coding_wavelet(coding)->quantised)
        return l2k_fail(state->context, L2K_ERROR_CORRUPT, "component %u: %s wavelet without quantisation", c,
                        l2k_coding_wavelet(coding)->name);
    if (coding->quantisation == L2K_QUANT_DERIVED && !l2k_splits_all(coding->unsplit))
        return l2k_fail(state->context, L2K_ERROR_UNSUPPORTED,
                        "component %u: derived quantiser steps of levels that split in one direction", c);
    if (coding->quantisation != L2K_QUANT_DERIVED && coding->num_steps < l2k_coding_bands(coding))
        return l2k_fail(state->context, L2K_ERROR_CORRUPT, "component %u: too few step sizes for %u levels", c,
                        coding->levels);
    return L2K_OK;
}

/* RCT and ICT need three components of the same size and wavelet (Annex G). Some encoders announce a transform for
 * fewer than three, which is then ignored. */
static l2k_status check_component_transform(const l2k_header_state *state)
{
    const l2k_component *size = state->siz->components;
    const l2k_component_coding *coding = state->coding->components;
    if (!state->coding->component_transform)
        return L2K_OK;
    if (state->siz->num_components < 3) {
        l2k_warn(state->context, "COD: a component transform of %u components", state->siz->num_components);
        state->coding->component_transform = false;
        return L2K_OK;
    }
    for (int c = 1; c < 3; c++) {
        if (size[c].dx != size[0].dx || size[c].dy != size[0].dy)
            return l2k_fail(state->context, L2K_ERROR_CORRUPT, "COD: a component transform of unequal components");
        if (coding[c].wavelet != coding[0].wavelet || coding[c].own != coding[0].own)
            return l2k_fail(state->context, L2K_ERROR_CORRUPT, "COD: a component transform of different wavelets");
        if (!l2k_same_splits(coding[c].unsplit, coding[0].unsplit, L2K_MAX_LEVELS))
            return l2k_fail(state->context, L2K_ERROR_UNSUPPORTED,
                            "COD: a component transform of components whose levels split differently");
    }
    return L2K_OK;
}

static l2k_status parse_segments(l2k_header_state *state, l2k_header_kind kind, const uint8_t **at, const uint8_t *end)
{
    for (;;) {
        const uint8_t *before = *at;
        l2k_segment segment;
        L2K_TRY(l2k_segment_next(state->context, at, end, &segment));
        if (kind == L2K_MAIN_HEADER && segment.marker == L2K_SOT) {
            *at = before;
            break;
        }
        if (kind != L2K_MAIN_HEADER && segment.marker == L2K_SOD)
            break;
        L2K_TRY(handle_segment(state, kind, &segment));
    }
    if (kind == L2K_MAIN_HEADER && (!state->seen_cod || !state->seen_qcd))
        return l2k_fail(state->context, L2K_ERROR_CORRUPT, "a main header without %s", state->seen_cod ? "QCD" : "COD");
    if (!state->seen_cod && !state->seen_qcd && !state->seen_component)
        return L2K_OK; /* no component changed: there may be many tile-parts and many components */
    l2k_assign_common(state);
    for (uint32_t c = 0; c < state->siz->num_components; c++) {
        settle_style(&state->coding->capabilities, &state->coding->components[c]);
        L2K_TRY(l2k_find_kernel(state, c));
        L2K_TRY(l2k_find_splits(state, c));
        L2K_TRY(check_component(state, c));
    }
    return check_component_transform(state);
}

l2k_status l2k_parse_header(const l2k_context *context, const l2k_siz *siz, l2k_header_kind kind, const uint8_t **at,
                            const uint8_t *end, l2k_tile_coding *coding, const l2k_header_rest *rest)
{
    l2k_header_state state = {.context = context, .siz = siz, .coding = coding, .rest = rest, .kind = kind};
    state.specific = l2k_allocate_zeroed(context, siz->num_components, 1);
    L2K_TRY(l2k_check_memory(context, state.specific, "a header"));
    l2k_status status = parse_segments(&state, kind, at, end);
    l2k_release(context, state.specific);
    return status;
}
