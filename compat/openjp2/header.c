/* Reads the marker segments of a main header (A.4 to A.6) that OpenJPEG's interface exposes, and checks them as
 * strictly as OpenJPEG does. */
#include "compat/openjp2/header.h"

#include <stdlib.h>
#include <string.h>

enum {
    SOC = 0xff4f,
    CAP = 0xff50,
    SIZ = 0xff51,
    COD = 0xff52,
    COC = 0xff53,
    QCD = 0xff5c,
    QCC = 0xff5d,
    RGN = 0xff5e,
    SOT = 0xff90,
    SOD = 0xff93
};

static uint32_t take_component(fields *g, const main_header *h)
{
    return fields_take(g, h->num_components < 257 ? 1 : 2);
}

/* ---- SIZ ----------------------------------------------------------------------------------------------------- */

static bool check_siz(main_header *h, const events *handlers)
{
    if (h->x0 >= h->x1 || h->y0 >= h->y1)
        return event_fail(handlers, "SIZ: the image is empty (%u, %u to %u, %u)\n", h->x0, h->y0, h->x1, h->y1);
    if (h->x1 > INT32_MAX || h->y1 > INT32_MAX)
        return event_fail(handlers, "SIZ: coordinates above INT_MAX are not supported\n");
    if (!h->tile_width || !h->tile_height || h->tile_width > INT32_MAX || h->tile_height > INT32_MAX)
        return event_fail(handlers, "SIZ: the tile size is zero, or above INT_MAX\n");
    if (h->tile_x0 > h->x0 || h->tile_y0 > h->y0 || (uint64_t)h->tile_x0 + h->tile_width <= h->x0 ||
        (uint64_t)h->tile_y0 + h->tile_height <= h->y0)
        return event_fail(handlers, "SIZ: the first tile contains no part of the image\n");
    uint64_t across = ((uint64_t)h->x1 - h->tile_x0 + h->tile_width - 1) / h->tile_width;
    uint64_t down = ((uint64_t)h->y1 - h->tile_y0 + h->tile_height - 1) / h->tile_height;
    if (across > 65535 || down > 65535 || across * down > 65535)
        return event_fail(handlers, "SIZ: more than 65535 tiles\n");
    h->tiles_across = (uint32_t)across;
    h->tiles_down = (uint32_t)down;
    return true;
}

static bool parse_siz(main_header *h, fields *g, const events *handlers)
{
    if (h->has_siz)
        return event_fail(handlers, "a second SIZ marker segment\n");
    h->profile = fields_take(g, 2);
    h->x1 = fields_take(g, 4);
    h->y1 = fields_take(g, 4);
    h->x0 = fields_take(g, 4);
    h->y0 = fields_take(g, 4);
    h->tile_width = fields_take(g, 4);
    h->tile_height = fields_take(g, 4);
    h->tile_x0 = fields_take(g, 4);
    h->tile_y0 = fields_take(g, 4);
    h->num_components = fields_take(g, 2);
    if (g->overrun || !h->num_components || h->num_components > 16384 || g->bytes - g->at != 3ull * h->num_components)
        return event_fail(handlers, "SIZ: its length does not match %u components\n", h->num_components);
    h->components = calloc(h->num_components, sizeof *h->components);
    if (!h->components)
        return event_fail(handlers, "out of memory\n");
    for (uint32_t c = 0; c < h->num_components; c++) {
        header_component *to = &h->components[c];
        uint32_t depth = fields_take(g, 1);
        to->precision = (depth & 0x7f) + 1;
        to->is_signed = depth >> 7;
        to->dx = fields_take(g, 1);
        to->dy = fields_take(g, 1);
        if (!to->dx || !to->dy)
            return event_fail(handlers, "SIZ: component %u has sub-sampling 0\n", c);
        if (to->precision > 31)
            return event_fail(handlers, "SIZ: component %u has %u bits, more than 31\n", c, to->precision);
    }
    h->has_siz = true;
    return check_siz(h, handlers);
}

/* ---- Styles -------------------------------------------------------------------------------------------------- */

/* SPcod or SPcoc (Table A.15). */
static bool parse_style(opj_tccp_info_t *style, bool precincts, fields *g, const events *handlers)
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
        uint32_t size = precincts ? fields_take(g, 1) : 0xff;
        style->prcw[r] = size & 15;
        style->prch[r] = size >> 4;
        if (r && (!style->prcw[r] || !style->prch[r]))
            return event_fail(handlers, "coding style: a precinct of size 1\n");
    }
    return !g->overrun || event_fail(handlers, "coding style: the marker segment is too short\n");
}

static bool parse_cod(main_header *h, fields *g, const events *handlers)
{
    uint32_t flags = fields_take(g, 1);
    if (flags & ~7u)
        return event_fail(handlers, "COD: unknown coding style %u\n", flags);
    h->csty = flags;
    h->progression = fields_take(g, 1);
    h->layers = fields_take(g, 2);
    h->mct = fields_take(g, 1);
    if (g->overrun || !h->layers || h->mct > 1)
        return event_fail(handlers, "COD: %u layers, component transform %u\n", h->layers, h->mct);
    if (h->progression > OPJ_CPRL)
        event_send(handlers, EVENT_ERROR, "COD: unknown progression order %u\n", h->progression);
    for (uint32_t c = 0; c < h->num_components; c++) {
        opj_tccp_info_t other = {0}, *to = h->components[c].has_coc ? &other : &h->components[c].style;
        fields own = *g;
        to->csty = flags & 1;
        if (!parse_style(to, flags & 1, &own, handlers))
            return false;
    }
    h->has_cod = true;
    return true;
}

static bool parse_coc(main_header *h, fields *g, const events *handlers)
{
    uint32_t c = take_component(g, h);
    if (g->overrun || c >= h->num_components)
        return event_fail(handlers, "COC: there is no component %u\n", c);
    opj_tccp_info_t *style = &h->components[c].style;
    style->csty = fields_take(g, 1);
    h->components[c].has_coc = true;
    return parse_style(style, style->csty & 1, g, handlers);
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
    for (uint32_t c = 0; c < h->num_components; c++) {
        opj_tccp_info_t other = {0};
        fields own = *g;
        if (!parse_steps(h->components[c].has_qcc ? &other : &h->components[c].style, &own, handlers))
            return false;
    }
    h->has_qcd = true;
    return true;
}

static bool parse_qcc(main_header *h, fields *g, const events *handlers)
{
    uint32_t c = take_component(g, h);
    if (g->overrun || c >= h->num_components)
        return event_fail(handlers, "QCC: there is no component %u\n", c);
    h->components[c].has_qcc = true;
    return parse_steps(&h->components[c].style, g, handlers);
}

static bool parse_rgn(main_header *h, fields *g, const events *handlers)
{
    uint32_t c = take_component(g, h);
    fields_take(g, 1);
    uint32_t shift = fields_take(g, 1);
    if (g->overrun || c >= h->num_components)
        return event_fail(handlers, "RGN: there is no component %u\n", c);
    h->components[c].style.roishift = (OPJ_INT32)shift;
    return true;
}

/* ---- The header ---------------------------------------------------------------------------------------------- */

static bool known_marker(uint32_t type)
{
    static const uint16_t known[] = {CAP,    SIZ,    COD,    COC,    QCD,    QCC,    RGN,
                                     SOT,    0xff55, 0xff57, 0xff58, 0xff59, 0xff5f, 0xff60,
                                     0xff61, 0xff63, 0xff64, 0xff74, 0xff75, 0xff77, 0xff78};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i] == type)
            return true;
    return false;
}

static bool add_marker(main_header *h, uint32_t type, uint64_t at, uint32_t bytes)
{
    if (h->num_markers == h->room) {
        uint32_t room = h->room ? 2 * h->room : 32;
        header_marker *larger = realloc(h->markers, room * sizeof *larger);
        if (!larger)
            return false;
        h->markers = larger;
        h->room = room;
    }
    h->markers[h->num_markers++] = (header_marker){(uint16_t)type, at, bytes};
    return true;
}

static bool parse_segment(main_header *h, uint32_t type, fields *g, const events *handlers)
{
    if (type == SIZ)
        return parse_siz(h, g, handlers);
    if (!h->has_siz)
        return event_fail(handlers, "Marker is not compliant with its position\n");
    switch (type) {
    case COD:
        return parse_cod(h, g, handlers);
    case COC:
        return parse_coc(h, g, handlers);
    case QCD:
        return parse_qcd(h, g, handlers);
    case QCC:
        return parse_qcc(h, g, handlers);
    case RGN:
        return parse_rgn(h, g, handlers);
    default:
        return true;
    }
}

/* The segment of a marker at `at`, whose length is `bytes` with its length field. */
static bool read_segment(main_header *h, stream *s, uint32_t type, uint64_t at, uint32_t bytes, const events *handlers)
{
    uint8_t *data = malloc(bytes);
    bool good = data && stream_read_at(s, at + 4, data, bytes - 2);
    if (!good)
        event_send(handlers, EVENT_ERROR, "Stream too short\n");
    else
        good = parse_segment(h, type, &(fields){.data = data, .bytes = bytes - 2}, handlers);
    free(data);
    return good && add_marker(h, type, at, bytes + 2);
}

static uint32_t number_at(stream *s, uint64_t at, bool *there)
{
    uint8_t bytes[2] = {0};
    *there = stream_read_at(s, at, bytes, 2);
    return (uint32_t)bytes[0] << 8 | bytes[1];
}

bool header_read(main_header *h, stream *s, uint64_t start, const events *handlers)
{
    bool there;
    h->start = start;
    event_send(handlers, EVENT_INFO, "Start to read j2k main header (%llu).\n", (unsigned long long)start);
    if (number_at(s, start, &there) != SOC || !there)
        return event_fail(handlers, "Expected a SOC marker \n");
    if (!add_marker(h, SOC, start, 2))
        return event_fail(handlers, "out of memory\n");
    for (uint64_t at = start + 2;;) {
        uint32_t type = number_at(s, at, &there);
        if (!there)
            return event_fail(handlers, "Stream too short\n");
        if (type == SOT) {
            h->end = at;
            break;
        }
        if (type < 0xff00)
            return event_fail(handlers, "A marker ID was expected (0xff--) instead of %.8x\n", type);
        if (!known_marker(type)) {
            if (!h->num_markers || h->markers[h->num_markers - 1].at + h->markers[h->num_markers - 1].bytes == at)
                event_send(handlers, EVENT_WARNING, "Unknown marker\n");
            while (there && type != SOT && !known_marker(type))
                type = number_at(s, at += 2, &there);
            if (!there)
                return event_fail(handlers, "Stream too short\n");
            continue;
        }
        uint32_t bytes = number_at(s, at + 2, &there);
        if (!there || bytes < 2)
            return event_fail(handlers, "Invalid marker size\n");
        if (!read_segment(h, s, type, at, bytes, handlers))
            return event_fail(handlers, "Marker handler function failed to read the marker segment\n");
        at += bytes + 2;
    }
    if (!h->has_siz || !h->has_cod || !h->has_qcd)
        return event_fail(handlers, "required %s marker not found in main header\n",
                          !h->has_siz   ? "SIZ"
                          : !h->has_cod ? "COD"
                                        : "QCD");
    event_send(handlers, EVENT_INFO, "Main header has been correctly decoded.\n");
    return true;
}

void header_clear(main_header *h)
{
    free(h->components);
    free(h->markers);
    *h = (main_header){0};
}

/* ---- Tile-parts ---------------------------------------------------------------------------------------------- */

bool header_part_at(stream *s, uint64_t at, header_part *part)
{
    uint8_t sot[12], bytes[4];
    part->ends_at_marker = false;
    if (!stream_read_at(s, at, sot, sizeof sot))
        return false;
    fields g = {.data = sot, .bytes = sizeof sot};
    if (fields_take(&g, 2) != SOT || fields_take(&g, 2) != 10)
        return false;
    part->tile = fields_take(&g, 2);
    uint32_t length = fields_take(&g, 4);
    part->number = fields_take(&g, 1);
    part->count = fields_take(&g, 1);
    part->start = at;
    part->open = length == 0;
    part->end = length ? at + length : s->bytes;
    for (at += sizeof sot; stream_read_at(s, at, bytes, 2);) {
        fields marker = {.data = bytes, .bytes = 4};
        if (fields_take(&marker, 2) == SOD) {
            part->header_end = at + 2;
            return part->end >= part->header_end;
        }
        part->ends_at_marker = at + 2 == s->bytes;
        uint32_t skipped = stream_read_at(s, at, bytes, 4) ? fields_take(&marker, 2) : 0;
        if (bytes[0] != 0xff || skipped < 2)
            break;
        at += 2 + skipped;
    }
    return false;
}

static uint32_t clip(uint64_t value, uint32_t low, uint32_t high)
{
    return value < low ? low : value > high ? high : (uint32_t)value;
}

void header_tile(const main_header *h, uint32_t tile, uint32_t area[4])
{
    uint64_t x = h->tile_x0 + (uint64_t)(tile % h->tiles_across) * h->tile_width;
    uint64_t y = h->tile_y0 + (uint64_t)(tile / h->tiles_across) * h->tile_height;
    area[0] = clip(x, h->x0, h->x1);
    area[1] = clip(y, h->y0, h->y1);
    area[2] = clip(x + h->tile_width, h->x0, h->x1);
    area[3] = clip(y + h->tile_height, h->y0, h->y1);
}
