/* Reads the marker segments of a main header (A.4 to A.6) that OpenJPEG's interface exposes, and checks them as
 * strictly as OpenJPEG does. */
#include "compat/openjp2/header.h"

#include <stdlib.h>
#include <string.h>

enum {
    SOC = 0xff4f,
    SIZ = 0xff51,
    COD = 0xff52,
    COC = 0xff53,
    QCD = 0xff5c,
    QCC = 0xff5d,
    RGN = 0xff5e,
    SOT = 0xff90,
    SOD = 0xff93
};

/* The index of main_header's `own`. */
typedef enum own_style { CODING, QUANTISATION } own_style;
typedef bool (*style_parser)(opj_tccp_info_t *style, fields *g, const events *handlers);

/* The component that a marker segment begins with; false without one. */
static bool take_component(const main_header *h, fields *g, const char *segment, uint32_t *c, const events *handlers)
{
    *c = fields_take(g, h->info.nbcomps < 257 ? 1 : 2);
    return (!g->overrun && *c < h->info.nbcomps) || event_fail(handlers, "%s: there is no component %u\n", segment, *c);
}

/* ---- SIZ ----------------------------------------------------------------------------------------------------- */

static bool check_siz(main_header *h, const events *handlers)
{
    const uint32_t *area = h->area;
    opj_codestream_info_v2_t *to = &h->info;
    if (area[0] >= area[2] || area[1] >= area[3])
        return event_fail(handlers, "SIZ: the image is empty (%u, %u to %u, %u)\n", area[0], area[1], area[2], area[3]);
    if (area[2] > INT32_MAX || area[3] > INT32_MAX)
        return event_fail(handlers, "SIZ: coordinates above INT_MAX are not supported\n");
    if (!to->tdx || !to->tdy || to->tdx > INT32_MAX || to->tdy > INT32_MAX)
        return event_fail(handlers, "SIZ: the tile size is zero, or above INT_MAX\n");
    if (to->tx0 > area[0] || to->ty0 > area[1] || (uint64_t)to->tx0 + to->tdx <= area[0] ||
        (uint64_t)to->ty0 + to->tdy <= area[1])
        return event_fail(handlers, "SIZ: the first tile contains no part of the image\n");
    uint64_t across = ((uint64_t)area[2] - to->tx0 + to->tdx - 1) / to->tdx;
    uint64_t down = ((uint64_t)area[3] - to->ty0 + to->tdy - 1) / to->tdy;
    if (across > 65535 || down > 65535 || across * down > 65535)
        return event_fail(handlers, "SIZ: more than 65535 tiles\n");
    to->tw = (uint32_t)across;
    to->th = (uint32_t)down;
    return true;
}

static bool parse_siz(main_header *h, fields *g, const events *handlers)
{
    opj_codestream_info_v2_t *to = &h->info;
    if (h->components)
        return event_fail(handlers, "a second SIZ marker segment\n");
    fields_take(g, 2);
    uint32_t *const places[] = {&h->area[2], &h->area[3], &h->area[0], &h->area[1],
                                &to->tdx,    &to->tdy,    &to->tx0,    &to->ty0};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        *places[i] = fields_take(g, 4);
    to->nbcomps = fields_take(g, 2);
    if (g->overrun || !to->nbcomps || to->nbcomps > 16384 || g->bytes - g->at != 3ull * to->nbcomps)
        return event_fail(handlers, "SIZ: its length does not match %u components\n", to->nbcomps);
    h->components = calloc(to->nbcomps, sizeof *h->components);
    h->own = calloc(to->nbcomps, sizeof *h->own);
    to->m_default_tile_info.tccp_info = calloc(to->nbcomps, sizeof *to->m_default_tile_info.tccp_info);
    if (!h->components || !h->own || !to->m_default_tile_info.tccp_info)
        return event_fail(handlers, "out of memory\n");
    for (uint32_t c = 0; c < to->nbcomps; c++) {
        opj_image_cmptparm_t *component = &h->components[c];
        uint32_t depth = fields_take(g, 1);
        component->prec = (depth & 0x7f) + 1;
        component->sgnd = depth >> 7;
        component->dx = fields_take(g, 1);
        component->dy = fields_take(g, 1);
        if (!component->dx || !component->dy)
            return event_fail(handlers, "SIZ: component %u has sub-sampling 0\n", c);
        if (component->prec > 31)
            return event_fail(handlers, "SIZ: component %u has %u bits, more than 31\n", c, component->prec);
    }
    return check_siz(h, handlers);
}

/* ---- Styles -------------------------------------------------------------------------------------------------- */

/* SPcod or SPcoc (Table A.15), after the coding style. */
static bool parse_style(opj_tccp_info_t *style, fields *g, const events *handlers)
{
    style->numresolutions = fields_take(g, 1) + 1;
    style->cblkw = fields_take(g, 1) + 2;
    style->cblkh = fields_take(g, 1) + 2;
    style->cblksty = fields_take(g, 1);
    style->qmfbid = fields_take(g, 1);
    if (g->overrun || style->numresolutions > OPJ_J2K_MAXRLVLS)
        return event_fail(handlers, "coding style: %u resolutions, or too short\n", style->numresolutions);
    if (style->cblkw > 10 || style->cblkh > 10 || style->cblkw + style->cblkh > 12)
        return event_fail(handlers, "coding style: a code-block of 2^%u x 2^%u\n", style->cblkw, style->cblkh);
    if (style->qmfbid > 1)
        return event_fail(handlers, "coding style: wavelet %u\n", style->qmfbid);
    memset(style->prcw, 0, sizeof style->prcw);
    memset(style->prch, 0, sizeof style->prch);
    for (uint32_t r = 0; r < style->numresolutions; r++) {
        uint32_t size = style->csty & 1 ? fields_take(g, 1) : 0xff;
        style->prcw[r] = size & 15;
        style->prch[r] = size >> 4;
        if (r && (!style->prcw[r] || !style->prch[r]))
            return event_fail(handlers, "coding style: a precinct of size 1\n");
    }
    return !g->overrun || event_fail(handlers, "coding style: the marker segment is too short\n");
}

static bool parse_coc_style(opj_tccp_info_t *style, fields *g, const events *handlers)
{
    style->csty = fields_take(g, 1);
    return parse_style(style, g, handlers);
}

static bool parse_cod_style(opj_tccp_info_t *style, fields *g, const events *handlers)
{
    style->csty = *g->data & 1;
    return parse_style(style, g, handlers);
}

/* COD or QCD: the style of the components without one of their own, which COC or QCC may also have set before. */
static bool parse_for_all(main_header *h, own_style which, fields *g, style_parser parse, const events *handlers)
{
    for (uint32_t c = 0; c < h->info.nbcomps; c++) {
        opj_tccp_info_t unused = {0}, *style = &h->info.m_default_tile_info.tccp_info[c];
        fields own = *g;
        if (!parse(h->own[c][which] ? &unused : style, &own, handlers))
            return false;
    }
    return true;
}

/* COC or QCC. */
static bool parse_for_one(main_header *h, own_style which, fields *g, style_parser parse, const events *handlers)
{
    static const char *const segments[] = {"COC", "QCC"};
    uint32_t c;
    if (!take_component(h, g, segments[which], &c, handlers))
        return false;
    h->own[c][which] = true;
    return parse(&h->info.m_default_tile_info.tccp_info[c], g, handlers);
}

static bool parse_cod(main_header *h, fields *g, const events *handlers)
{
    opj_tile_info_v2_t *to = &h->info.m_default_tile_info;
    uint32_t flags = fields_take(g, 1);
    if (flags & ~7u)
        return event_fail(handlers, "COD: unknown coding style %u\n", flags);
    to->csty = flags;
    uint32_t order = fields_take(g, 1);
    to->prg = order > OPJ_CPRL ? OPJ_PROG_UNKNOWN : (OPJ_PROG_ORDER)order;
    to->numlayers = fields_take(g, 2);
    to->mct = fields_take(g, 1);
    if (g->overrun || !to->numlayers || to->mct > 1)
        return event_fail(handlers, "COD: %u layers, component transform %u\n", to->numlayers, to->mct);
    if (order > OPJ_CPRL)
        event_send(handlers, EVENT_ERROR, "COD: unknown progression order %u\n", order);
    return parse_for_all(h, CODING, g, parse_cod_style, handlers);
}

static bool parse_coc(main_header *h, fields *g, const events *handlers)
{
    return parse_for_one(h, CODING, g, parse_coc_style, handlers);
}

/* ---- Steps and regions --------------------------------------------------------------------------------------- */

/* Sqcd and SPqcd (Table A.27); computes derived steps (E-5). */
static bool parse_steps(opj_tccp_info_t *style, fields *g, const events *handlers)
{
    uint32_t flags = fields_take(g, 1);
    style->qntsty = flags & 31;
    style->numgbits = flags >> 5;
    uint32_t count = style->qntsty == 0 ? (uint32_t)(g->bytes - g->at) : (uint32_t)(g->bytes - g->at) / 2;
    if (g->overrun || (style->qntsty == 1 && !count))
        return event_fail(handlers, "QCD or QCC: the marker segment is too short\n");
    memset(style->stepsizes_mant, 0, sizeof style->stepsizes_mant);
    memset(style->stepsizes_expn, 0, sizeof style->stepsizes_expn);
    for (uint32_t b = 0; b < OPJ_J2K_MAXBANDS; b++) {
        if (style->qntsty == 1 && b) {
            int32_t exponent = (int32_t)style->stepsizes_expn[0] - (int32_t)((b - 1) / 3);
            style->stepsizes_expn[b] = exponent > 0 ? (uint32_t)exponent : 0;
            style->stepsizes_mant[b] = style->stepsizes_mant[0];
        } else if (b < count && style->qntsty == 0) {
            style->stepsizes_expn[b] = fields_take(g, 1) >> 3;
        } else if (b < count) {
            uint32_t step = fields_take(g, 2);
            style->stepsizes_expn[b] = step >> 11;
            style->stepsizes_mant[b] = step & 0x7ff;
        }
    }
    return true;
}

static bool parse_qcd(main_header *h, fields *g, const events *handlers)
{
    h->has_qcd = true;
    return parse_for_all(h, QUANTISATION, g, parse_steps, handlers);
}

static bool parse_qcc(main_header *h, fields *g, const events *handlers)
{
    return parse_for_one(h, QUANTISATION, g, parse_steps, handlers);
}

static bool parse_rgn(main_header *h, fields *g, const events *handlers)
{
    uint32_t c;
    if (!take_component(h, g, "RGN", &c, handlers))
        return false;
    fields_take(g, 1);
    h->info.m_default_tile_info.tccp_info[c].roishift = (OPJ_INT32)fields_take(g, 1);
    return !g->overrun || event_fail(handlers, "RGN: there is no component %u\n", c);
}

/* ---- The header ---------------------------------------------------------------------------------------------- */

/* Those that OpenJPEG knows, and what parses the segments that its interface exposes. */
static const struct marker {
    uint16_t type;
    bool (*parse)(main_header *h, fields *g, const events *handlers);
} known[] = {{SIZ, parse_siz}, {COD, parse_cod}, {COC, parse_coc}, {QCD, parse_qcd}, {QCC, parse_qcc}, {RGN, parse_rgn},
             {0xff50, NULL},   {0xff55, NULL},   {0xff57, NULL},   {0xff58, NULL},   {0xff59, NULL},   {0xff5f, NULL},
             {0xff60, NULL},   {0xff61, NULL},   {0xff63, NULL},   {0xff64, NULL},   {0xff74, NULL},   {0xff75, NULL},
             {0xff77, NULL},   {0xff78, NULL},   {SOT, NULL}};

static const struct marker *known_marker(int32_t type)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].type == type)
            return &known[i];
    return NULL;
}

static bool add_marker(main_header *h, uint32_t type, uint64_t at, uint32_t bytes)
{
    opj_marker_info_t *larger = realloc(h->markers, (h->num_markers + 1) * sizeof *larger);
    if (!larger)
        return false;
    h->markers = larger;
    h->markers[h->num_markers++] = (opj_marker_info_t){(uint16_t)type, (OPJ_OFF_T)at, (int)bytes};
    return true;
}

/* The segment of a marker at `at`, whose length is `bytes` with its length field. */
static bool read_segment(main_header *h, stream *s, uint64_t at, uint32_t bytes, const struct marker *marker,
                         const events *handlers)
{
    uint8_t *data = malloc(bytes);
    bool good = data && stream_read_at(s, at + 4, data, bytes - 2);
    if (!good)
        event_send(handlers, EVENT_ERROR, "Stream too short\n");
    else if (!h->components && marker->type != SIZ)
        good = event_fail(handlers, "Marker is not compliant with its position\n");
    else if (marker->parse)
        good = marker->parse(h, &(fields){.data = data, .bytes = bytes - 2}, handlers);
    free(data);
    return good && add_marker(h, marker->type, at, bytes + 2);
}

/* The two bytes at `at`, such as a marker; -1 behind the end of the stream. */
static int32_t number_at(stream *s, uint64_t at)
{
    uint8_t bytes[2];
    return stream_read_at(s, at, bytes, 2) ? bytes[0] << 8 | bytes[1] : -1;
}

bool header_read(main_header *h, stream *s, uint64_t start, const events *handlers)
{
    h->start = start;
    event_send(handlers, EVENT_INFO, "Start to read j2k main header (%llu).\n", (unsigned long long)start);
    if (number_at(s, start) != SOC)
        return event_fail(handlers, "Expected a SOC marker \n");
    if (!add_marker(h, SOC, start, 2))
        return event_fail(handlers, "out of memory\n");
    for (uint64_t at = start + 2, next = at;;) { /* next: behind the last segment */
        const int32_t type = number_at(s, at);
        if (type < 0)
            return event_fail(handlers, "Stream too short\n");
        if (type == SOT) {
            h->end = at;
            break;
        }
        if (at == next && type < 0xff00)
            return event_fail(handlers, "A marker ID was expected (0xff--) instead of %.8x\n", (unsigned)type);
        const struct marker *marker = known_marker(type);
        if (!marker) {
            if (at == next)
                event_send(handlers, EVENT_WARNING, "Unknown marker\n");
            at += 2;
            continue;
        }
        const int32_t bytes = number_at(s, at + 2);
        if (bytes < 2)
            return event_fail(handlers, "Invalid marker size\n");
        if (!read_segment(h, s, at, (uint32_t)bytes, marker, handlers))
            return event_fail(handlers, "Marker handler function failed to read the marker segment\n");
        at = next = at + (uint32_t)bytes + 2;
    }
    const bool has_cod = h->info.m_default_tile_info.numlayers;
    if (!h->components || !has_cod || !h->has_qcd)
        return event_fail(handlers, "required %s marker not found in main header\n",
                          !h->components ? "SIZ"
                          : !has_cod     ? "COD"
                                         : "QCD");
    event_send(handlers, EVENT_INFO, "Main header has been correctly decoded.\n");
    return true;
}

void header_clear(main_header *h)
{
    free(h->components);
    free(h->own);
    free(h->info.m_default_tile_info.tccp_info);
    free(h->markers);
    *h = (main_header){0};
}

/* ---- Tile-parts ---------------------------------------------------------------------------------------------- */

bool header_part_at(stream *s, uint64_t at, header_part *part)
{
    uint8_t sot[12], bytes[4];
    if (!stream_read_at(s, at, sot, sizeof sot))
        return false;
    fields g = {.data = sot, .bytes = sizeof sot};
    if (fields_take(&g, 2) != SOT || fields_take(&g, 2) != 10)
        return false;
    part->tile = fields_take(&g, 2);
    uint32_t length = fields_take(&g, 4);
    part->start = at;
    part->end = length ? at + length : s->bytes;
    for (at += sizeof sot; stream_read_at(s, at, bytes, 2);) {
        fields marker = {.data = bytes, .bytes = 4};
        if (fields_take(&marker, 2) == SOD) {
            part->header_end = at + 2;
            return part->end >= part->header_end;
        }
        uint32_t skipped = stream_read_at(s, at, bytes, 4) ? fields_take(&marker, 2) : 0;
        if (bytes[0] != 0xff || skipped < 2)
            break;
        at += 2 + skipped;
    }
    return false;
}

void header_tile(const main_header *h, uint32_t tile, uint32_t area[4])
{
    const opj_codestream_info_v2_t *of = &h->info;
    uint64_t x = of->tx0 + (uint64_t)(tile % of->tw) * of->tdx, y = of->ty0 + (uint64_t)(tile / of->tw) * of->tdy;
    const uint64_t edges[] = {x, y, x + of->tdx, y + of->tdy};
    for (int i = 0; i < 4; i++) {
        const uint32_t low = h->area[i & 1], high = h->area[2 + (i & 1)];
        area[i] = edges[i] < low ? low : edges[i] > high ? high : (uint32_t)edges[i];
    }
}
