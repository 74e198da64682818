#include "codec/header_parser.h"

#include <string.h>

#include "base/memory.h"
#include "codec/header_segments.h"
#include "codec/markers.h"

typedef l2k_header_state header_parser;

enum { SEEN_COC = 1, SEEN_QCC = 2 };

l2k_status l2k_segment_wrong(const l2k_header_state *parser, const l2k_segment *segment, const char *what)
{
    return l2k_fail(parser->context, L2K_ERROR_CORRUPT, "%s: %s", l2k_marker_name(segment->marker), what);
}

#define wrong     l2k_segment_wrong
#define length_of l2k_segment_length

/* ---- SIZ ----------------------------------------------------------------------------------------------------- */

static l2k_status check_grid(const l2k_context *context, const l2k_tile_grid *g)
{
    if (g->image.x0 >= g->image.x1 || g->image.y0 >= g->image.y1)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "SIZ: an image area without samples");
    if (g->tile_width == 0 || g->tile_height == 0)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "SIZ: a tile size of 0");
    if (g->tile_x0 > g->image.x0 || g->tile_y0 > g->image.y0 || (uint64_t)g->tile_x0 + g->tile_width <= g->image.x0 ||
        (uint64_t)g->tile_y0 + g->tile_height <= g->image.y0)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "SIZ: the first tile lies outside the image");
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
                        "SIZ: component %u has %u bits a sample, at most 31 are "
                        "implemented",
                        c, component->precision);
    return L2K_OK;
}

l2k_status l2k_parse_siz(const l2k_context *context, const l2k_segment *segment, l2k_siz *siz)
{
    const uint8_t *d = segment->data;
    if (length_of(segment) < 36)
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
    if (length_of(segment) != 36 + 3 * (size_t)siz->num_components)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "SIZ: its length does not fit %u components", siz->num_components);
    siz->components = l2k_allocate(context, siz->num_components, sizeof *siz->components);
    if (!siz->components)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for %u components", siz->num_components);
    for (uint32_t c = 0; c < siz->num_components; c++)
        L2K_TRY(parse_component_size(context, d + 36 + 3 * (size_t)c, c, &siz->components[c]));
    return L2K_OK;
}

/* ---- COD, COC ------------------------------------------------------------------------------------------------ */

static l2k_status parse_precincts(const header_parser *parser, const l2k_segment *segment, const uint8_t *d,
                                  l2k_component_coding *coding)
{
    if ((size_t)(segment->end - d) != (coding->user_precincts ? coding->levels + 1u : 0u))
        return wrong(parser, segment, "its length does not fit its content");
    for (unsigned r = 0; r <= coding->levels; r++) {
        coding->log2_precinct_width[r] = coding->user_precincts ? d[r] & 15 : 15;
        coding->log2_precinct_height[r] = coding->user_precincts ? d[r] >> 4 : 15;
        if (r > 0 && (coding->log2_precinct_width[r] == 0 || coding->log2_precinct_height[r] == 0))
            return wrong(parser, segment, "a precinct of one sample above the lowest resolution");
    }
    return L2K_OK;
}

/* SPcod, SPcoc (Table A.15) from `d` on. */
static l2k_status parse_style(const header_parser *parser, const l2k_segment *segment, const uint8_t *d,
                              bool user_precincts, l2k_component_coding *coding)
{
    if (segment->end - d < 5)
        return wrong(parser, segment, "too short");
    if (d[0] > L2K_MAX_LEVELS)
        return wrong(parser, segment, "more than 32 decomposition levels");
    if (d[1] > 8 || d[2] > 8 || d[1] + d[2] > 8)
        return wrong(parser, segment, "an impossible code-block size");
    if (d[3] & 0x40)
        return l2k_fail(parser->context, L2K_ERROR_UNSUPPORTED, "%s: high-throughput code-blocks (Part 15)",
                        l2k_marker_name(segment->marker));
    if (d[3] & 0x80)
        return wrong(parser, segment, "an impossible code-block style");
    if (d[4] > 1)
        return l2k_fail(parser->context, L2K_ERROR_UNSUPPORTED, "%s: wavelet transform %u",
                        l2k_marker_name(segment->marker), d[4]);
    coding->levels = d[0];
    coding->log2_block_width = d[1] + 2;
    coding->log2_block_height = d[2] + 2;
    coding->style = d[3];
    coding->wavelet = d[4] == 1 ? L2K_WAVELET_5_3 : L2K_WAVELET_9_7;
    coding->user_precincts = user_precincts;
    return parse_precincts(parser, segment, d + 5, coding);
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

static l2k_status parse_cod(header_parser *parser, const l2k_segment *segment)
{
    const uint8_t *d = segment->data;
    l2k_tile_coding *coding = parser->coding;
    if (length_of(segment) < 10)
        return wrong(parser, segment, "too short");
    if (d[0] & ~7u)
        return wrong(parser, segment, "an impossible coding style");
    if (d[1] > L2K_CPRL)
        return wrong(parser, segment, "an impossible progression order");
    if (l2k_get_be(d + 2, 2) == 0)
        return wrong(parser, segment, "no layers");
    if (d[4] > 1)
        return l2k_fail(parser->context, L2K_ERROR_UNSUPPORTED, "COD: multiple component transform %u", d[4]);
    coding->sop = d[0] & 2;
    coding->eph = d[0] & 4;
    coding->progression = d[1];
    coding->num_layers = l2k_get_be(d + 2, 2);
    coding->component_transform = d[4];
    l2k_component_coding style = {0};
    L2K_TRY(parse_style(parser, segment, d + 5, d[0] & 1, &style));
    for (uint32_t c = 0; c < parser->siz->num_components; c++)
        if (!(parser->specific[c] & SEEN_COC))
            assign_style(&coding->components[c], &style);
    parser->seen_cod = true;
    return L2K_OK;
}

l2k_status l2k_parse_component_index(const l2k_header_state *parser, const l2k_segment *segment, const uint8_t **d,
                                     uint32_t *c)
{
    unsigned bytes = l2k_component_index_bytes(parser->siz);
    *d = segment->data + bytes;
    if (length_of(segment) < bytes + 1u)
        return wrong(parser, segment, "too short");
    *c = l2k_get_be(segment->data, bytes);
    if (*c >= parser->siz->num_components)
        return wrong(parser, segment, "a component that does not exist");
    return L2K_OK;
}

static l2k_status parse_coc(header_parser *parser, const l2k_segment *segment)
{
    const uint8_t *d;
    uint32_t c = 0;
    L2K_TRY(l2k_parse_component_index(parser, segment, &d, &c));
    if (*d & ~1u)
        return wrong(parser, segment, "an impossible coding style");
    l2k_component_coding style = {0};
    L2K_TRY(parse_style(parser, segment, d + 1, *d & 1, &style));
    assign_style(&parser->coding->components[c], &style);
    parser->specific[c] |= SEEN_COC;
    return L2K_OK;
}

/* ---- QCD, QCC ------------------------------------------------------------------------------------------------ */

static l2k_status parse_steps(const header_parser *parser, const l2k_segment *segment, const uint8_t *d,
                              l2k_component_coding *out)
{
    if (d >= segment->end)
        return wrong(parser, segment, "too short");
    unsigned kind = *d & 31, width = kind == L2K_QUANT_NONE ? 1 : 2;
    if (kind > L2K_QUANT_EXPOUNDED)
        return wrong(parser, segment, "an impossible quantisation style");
    out->quantisation = (uint8_t)kind;
    out->guard_bits = *d++ >> 5;
    size_t count = (size_t)(segment->end - d) / width;
    if (count == 0)
        return wrong(parser, segment, "no step sizes");
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

static l2k_status parse_qcd(header_parser *parser, const l2k_segment *segment)
{
    l2k_component_coding steps = {0};
    L2K_TRY(parse_steps(parser, segment, segment->data, &steps));
    for (uint32_t c = 0; c < parser->siz->num_components; c++)
        if (!(parser->specific[c] & SEEN_QCC))
            assign_steps(&parser->coding->components[c], &steps);
    parser->seen_qcd = true;
    return L2K_OK;
}

static l2k_status parse_qcc(header_parser *parser, const l2k_segment *segment)
{
    const uint8_t *d;
    uint32_t c = 0;
    L2K_TRY(l2k_parse_component_index(parser, segment, &d, &c));
    l2k_component_coding steps = {0};
    L2K_TRY(parse_steps(parser, segment, d, &steps));
    assign_steps(&parser->coding->components[c], &steps);
    parser->specific[c] |= SEEN_QCC;
    return L2K_OK;
}

/* ---- COM, and what need not or cannot be read ---------------------------------------------------------------- */

static l2k_status parse_com(header_parser *parser, const l2k_segment *segment)
{
    size_t length = length_of(segment);
    if (!parser->comment || *parser->comment || length < 2 || l2k_get_be(segment->data, 2) != 1)
        return L2K_OK;
    char *text = l2k_allocate(parser->context, length - 1, 1);
    if (!text)
        return l2k_fail(parser->context, L2K_ERROR_MEMORY, "out of memory for a comment");
    memcpy(text, segment->data + 2, length - 2);
    text[length - 2] = 0;
    *parser->comment = text;
    return L2K_OK;
}

/* Pointers and hints that decoding in order does without. */
static l2k_status skip(header_parser *parser, const l2k_segment *segment)
{
    (void)parser;
    (void)segment;
    return L2K_OK;
}

static l2k_status refuse(header_parser *parser, const l2k_segment *segment)
{
    return l2k_fail(parser->context, L2K_ERROR_UNSUPPORTED, "%s marker segments are not supported",
                    l2k_marker_name(segment->marker));
}

/* COD, COC, QCD, QCC and RGN belong into the first tile-part only (A.6); some encoders repeat them in every one. */
#define ANY_PART (L2K_FIRST_PART_HEADER | L2K_LATER_PART_HEADER)

static const struct marker_rule {
    uint32_t marker;
    const char *name;
    unsigned where;
    l2k_status (*handle)(header_parser *, const l2k_segment *);
} rules[] = {
    {L2K_COD, "COD", L2K_MAIN_HEADER | ANY_PART, parse_cod},
    {L2K_COC, "COC", L2K_MAIN_HEADER | ANY_PART, parse_coc},
    {L2K_QCD, "QCD", L2K_MAIN_HEADER | ANY_PART, parse_qcd},
    {L2K_QCC, "QCC", L2K_MAIN_HEADER | ANY_PART, parse_qcc},
    {L2K_COM, "COM", L2K_MAIN_HEADER | ANY_PART, parse_com},
    {L2K_TLM, "TLM", L2K_MAIN_HEADER, skip},
    {L2K_PLM, "PLM", L2K_MAIN_HEADER, skip},
    {L2K_CRG, "CRG", L2K_MAIN_HEADER, skip},
    {L2K_PLT, "PLT", ANY_PART, skip},
    {L2K_CAP, "CAP", L2K_MAIN_HEADER, refuse},
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

l2k_status l2k_segment_next(const l2k_context *context, const uint8_t **at, const uint8_t *end, l2k_segment *segment)
{
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
    return L2K_OK;
}

/* ---- Whole headers ------------------------------------------------------------------------------------------- */

/* Extensions that change what the data means (ISO/IEC 15444-2, Table A.2); others, such as those for error resilience
 * (Part 11) and security (Part 8), come beside it. */
static bool is_part_2(uint32_t marker)
{
    return marker >= 0xFF70 && marker <= 0xFF7F;
}

static l2k_status handle_segment(header_parser *parser, l2k_header_kind kind, const l2k_segment *segment)
{
    const struct marker_rule *rule = rule_of(segment->marker);
    if (!rule && segment->marker >= 0xFF30 && segment->marker <= 0xFF3F)
        return L2K_OK;
    if (!rule && is_part_2(segment->marker))
        return l2k_fail(parser->context, L2K_ERROR_UNSUPPORTED, "marker %04X of Part 2 is not supported",
                        segment->marker);
    if (!rule) {
        l2k_warn(parser->context, "marker %04X is not known and passed over", segment->marker);
        return L2K_OK;
    }
    if (!(rule->where & (unsigned)kind))
        return wrong(parser, segment, "not allowed in this place");
    return rule->handle(parser, segment);
}

/* What can only be checked when COD, COC, QCD and QCC have all been seen. */
static l2k_status check_component(const header_parser *parser, uint32_t c)
{
    const l2k_component_coding *coding = &parser->coding->components[c];
    if (coding->quantisation == L2K_QUANT_NONE && coding->wavelet == L2K_WAVELET_9_7)
        return l2k_fail(parser->context, L2K_ERROR_CORRUPT, "component %u: 9/7 wavelet without quantisation", c);
    if (coding->quantisation != L2K_QUANT_DERIVED && coding->num_steps < 3u * coding->levels + 1)
        return l2k_fail(parser->context, L2K_ERROR_CORRUPT, "component %u: too few step sizes for %u levels", c,
                        coding->levels);
    return L2K_OK;
}

/* RCT and ICT need three components of one size and wavelet (Annex G). Fewer than three leave nothing to
 * transform, which some encoders do not mind. */
static l2k_status check_component_transform(const header_parser *parser)
{
    const l2k_component *size = parser->siz->components;
    const l2k_component_coding *coding = parser->coding->components;
    if (!parser->coding->component_transform)
        return L2K_OK;
    if (parser->siz->num_components < 3) {
        l2k_warn(parser->context, "COD: a component transform of %u components", parser->siz->num_components);
        parser->coding->component_transform = false;
        return L2K_OK;
    }
    for (int c = 1; c < 3; c++) {
        if (size[c].dx != size[0].dx || size[c].dy != size[0].dy)
            return l2k_fail(parser->context, L2K_ERROR_CORRUPT, "COD: a component transform of unequal components");
        if (coding[c].wavelet != coding[0].wavelet)
            return l2k_fail(parser->context, L2K_ERROR_CORRUPT, "COD: a component transform of different wavelets");
    }
    return L2K_OK;
}

static l2k_status parse_segments(header_parser *parser, l2k_header_kind kind, const uint8_t **at, const uint8_t *end)
{
    for (;;) {
        const uint8_t *before = *at;
        l2k_segment segment;
        L2K_TRY(l2k_segment_next(parser->context, at, end, &segment));
        if (kind == L2K_MAIN_HEADER && segment.marker == L2K_SOT) {
            *at = before;
            break;
        }
        if (kind != L2K_MAIN_HEADER && segment.marker == L2K_SOD)
            break;
        L2K_TRY(handle_segment(parser, kind, &segment));
    }
    if (kind == L2K_MAIN_HEADER && (!parser->seen_cod || !parser->seen_qcd))
        return l2k_fail(parser->context, L2K_ERROR_CORRUPT, "a main header without %s",
                        parser->seen_cod ? "QCD" : "COD");
    for (uint32_t c = 0; c < parser->siz->num_components; c++)
        L2K_TRY(check_component(parser, c));
    return check_component_transform(parser);
}

l2k_status l2k_parse_header(const l2k_context *context, const l2k_siz *siz, l2k_header_kind kind, const uint8_t **at,
                            const uint8_t *end, l2k_tile_coding *coding, char **comment, l2k_packed_segments *packed)
{
    header_parser parser = {
        .context = context, .siz = siz, .coding = coding, .comment = comment, .packed = packed, .kind = kind};
    parser.specific = l2k_allocate_zeroed(context, siz->num_components, 1);
    if (!parser.specific)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for a header");
    l2k_status status = parse_segments(&parser, kind, at, end);
    l2k_release(context, parser.specific);
    return status;
}
