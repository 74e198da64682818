/* Reads the boxes of a JP2 file (I.4, I.5) up to the codestream. */
#include "compat/openjp2/boxes.h"

#include <stdlib.h>
#include <string.h>

#define BOX(a, b, c, d) ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

enum { MOST_HEADER_BYTES = 1 << 30, LARGEST_PALETTE = 1024 };

/* ---- Boxes of the JP2 header --------------------------------------------------------------------------------- */

static bool parse_ihdr(jp2_boxes *b, fields *g, const events *handlers)
{
    if (b->num_components) {
        event_send(handlers, EVENT_WARNING, "Ignoring ihdr box. First ihdr box already read\n");
        return true;
    }
    b->height = fields_take(g, 4);
    b->width = fields_take(g, 4);
    b->num_components = fields_take(g, 2);
    b->depth = fields_take(g, 1);
    fields_take(g, 3);
    if (g->bytes != 14 || !b->height || !b->width || !b->num_components || b->num_components > 16384)
        return event_fail(handlers, "ihdr: %u x %u, %u components, %zu bytes\n", b->width, b->height, b->num_components,
                          g->bytes);
    return true;
}

/* Enumerated colour space 14: what the samples mean, in the form in which OpenJPEG's programs expect it. */
static bool parse_lab(jp2_boxes *b, fields *g, const events *handlers)
{
    enum { DEFAULTS = 0x44454600, VALUES = 9 };
    uint32_t *lab = calloc(VALUES, sizeof *lab);
    if (!lab)
        return event_fail(handlers, "out of memory\n");
    lab[0] = 14;
    lab[1] = DEFAULTS;
    if (g->bytes == 35) {
        lab[1] = 0;
        for (size_t i = 2; i < VALUES; i++)
            lab[i] = fields_take(g, 4);
    } else if (g->bytes != 7) {
        event_send(handlers, EVENT_WARNING, "colr: bad length %zu for CIELab\n", g->bytes);
    }
    b->profile = (uint8_t *)lab;
    b->profile_bytes = 0;
    return true;
}

static bool parse_colr(jp2_boxes *b, fields *g, const events *handlers)
{
    if (g->bytes < 3)
        return event_fail(handlers, "colr: too short\n");
    if (b->has_colour) {
        event_send(handlers, EVENT_INFO,
                   "A conforming JP2 reader shall ignore all Colour Specification boxes after the first\n");
        return true;
    }
    b->method = fields_take(g, 1);
    fields_take(g, 2);
    if (b->method == 1) {
        b->enumerated = fields_take(g, 4);
        if (g->overrun)
            return event_fail(handlers, "colr: too short\n");
        b->has_colour = true;
        return b->enumerated != 14 || parse_lab(b, g, handlers);
    }
    if (b->method != 2) {
        event_send(handlers, EVENT_INFO, "colr: method %u is not known, the box is ignored\n", b->method);
        return true;
    }
    b->profile_bytes = (uint32_t)(g->bytes - 3);
    b->profile = calloc(1, (size_t)b->profile_bytes + 1);
    if (!b->profile)
        return event_fail(handlers, "out of memory\n");
    memcpy(b->profile, g->data + 3, b->profile_bytes);
    b->has_colour = true;
    return true;
}

static bool parse_pclr(jp2_boxes *b, fields *g, const events *handlers)
{
    if (b->palette)
        return event_fail(handlers, "a second pclr box\n");
    b->entries = fields_take(g, 2);
    b->columns = fields_take(g, 1);
    if (g->overrun || !b->entries || b->entries > LARGEST_PALETTE || !b->columns)
        return event_fail(handlers, "pclr: %u entries, %u columns\n", b->entries, b->columns);
    b->palette = calloc((size_t)b->entries * b->columns, sizeof *b->palette);
    b->column_depth = calloc(b->columns, 1);
    if (!b->palette || !b->column_depth)
        return event_fail(handlers, "out of memory\n");
    for (uint32_t c = 0; c < b->columns; c++)
        b->column_depth[c] = (uint8_t)fields_take(g, 1);
    for (size_t i = 0; i < (size_t)b->entries * b->columns; i++) {
        uint32_t bytes = ((b->column_depth[i % b->columns] & 0x7fu) + 8) / 8;
        b->palette[i] = fields_take(g, bytes > 4 ? 4 : bytes);
    }
    return !g->overrun || event_fail(handlers, "pclr: too short\n");
}

static bool parse_cmap(jp2_boxes *b, fields *g, const events *handlers)
{
    if (!b->palette || b->mapping)
        return event_fail(handlers, b->mapping ? "a second cmap box\n" : "a cmap box before the pclr box\n");
    b->mapping = calloc(b->columns, sizeof *b->mapping);
    if (!b->mapping)
        return event_fail(handlers, "out of memory\n");
    for (uint32_t i = 0; i < b->columns; i++) {
        b->mapping[i].component = (uint16_t)fields_take(g, 2);
        b->mapping[i].type = (uint8_t)fields_take(g, 1);
        b->mapping[i].column = (uint8_t)fields_take(g, 1);
    }
    return !g->overrun || event_fail(handlers, "cmap: too short\n");
}

static bool parse_cdef(jp2_boxes *b, fields *g, const events *handlers)
{
    if (b->definitions)
        return event_fail(handlers, "a second cdef box\n");
    uint32_t count = fields_take(g, 2);
    if (g->overrun || !count || g->bytes - g->at < 6ull * count)
        return event_fail(handlers, "cdef: %u channels, or too short\n", count);
    b->definitions = calloc(count, sizeof *b->definitions);
    if (!b->definitions)
        return event_fail(handlers, "out of memory\n");
    b->num_definitions = count;
    for (uint32_t i = 0; i < count; i++) {
        b->definitions[i].channel = (uint16_t)fields_take(g, 2);
        b->definitions[i].type = (uint16_t)fields_take(g, 2);
        b->definitions[i].association = (uint16_t)fields_take(g, 2);
    }
    return true;
}

static bool parse_bpcc(jp2_boxes *b, fields *g, const events *handlers)
{
    if (b->depth != 255)
        event_send(handlers, EVENT_WARNING, "A bpcc box is present although ihdr gives %u bits\n", b->depth);
    return g->bytes == b->num_components || event_fail(handlers, "bpcc: not one byte for each component\n");
}

typedef bool (*box_parser)(jp2_boxes *b, fields *g, const events *handlers);

/* The parser of a box of the JP2 header; NULL for others. */
static box_parser parser_of(uint32_t type)
{
    static const struct {
        uint32_t type;
        box_parser parse;
    } known[] = {{BOX('i', 'h', 'd', 'r'), parse_ihdr}, {BOX('c', 'o', 'l', 'r'), parse_colr},
                 {BOX('p', 'c', 'l', 'r'), parse_pclr}, {BOX('c', 'm', 'a', 'p'), parse_cmap},
                 {BOX('c', 'd', 'e', 'f'), parse_cdef}, {BOX('b', 'p', 'c', 'c'), parse_bpcc}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].type == type)
            return known[i].parse;
    return NULL;
}

static bool parse_header(jp2_boxes *b, fields *g, const events *handlers)
{
    while (g->at < g->bytes) {
        if (g->bytes - g->at < 8)
            return event_fail(handlers, "Stream error while reading JP2 Header box\n");
        uint32_t bytes = fields_take(g, 4);
        const box_parser parse = parser_of(fields_take(g, 4));
        if (bytes < 8 || bytes - 8 > g->bytes - g->at)
            return event_fail(handlers, "Stream error while reading JP2 Header box: box length is inconsistent.\n");
        fields inner = {.data = g->data + g->at, .bytes = bytes - 8};
        if (parse && !parse(b, &inner, handlers))
            return false;
        g->at += bytes - 8;
    }
    if (!b->num_components)
        return event_fail(handlers, "Stream error while reading JP2 Header box: no 'ihdr' box.\n");
    b->has_header = true;
    return true;
}

/* ---- The file ------------------------------------------------------------------------------------------------ */

typedef struct box {
    uint32_t type;
    uint64_t content, end; /* in the stream; end 0: the rest of it */
} box;

static bool next_box(stream *s, uint64_t at, box *found)
{
    uint8_t head[16];
    if (!stream_read_at(s, at, head, 8))
        return false;
    fields g = {.data = head, .bytes = 8};
    uint64_t bytes = fields_take(&g, 4);
    found->type = fields_take(&g, 4);
    found->content = at + 8;
    if (bytes == 1) {
        if (!stream_read_at(s, at + 8, head + 8, 8))
            return false;
        g.bytes = 16;
        bytes = (uint64_t)fields_take(&g, 4) << 32;
        bytes |= fields_take(&g, 4);
        found->content = at + 16;
    }
    found->end = bytes ? at + bytes : 0;
    return !bytes || found->end >= found->content;
}

static bool with_content(jp2_boxes *b, stream *s, const box *found, box_parser parse, const events *handlers)
{
    uint64_t end = found->end ? found->end : s->bytes;
    if (end > s->bytes || end - found->content > MOST_HEADER_BYTES)
        return event_fail(handlers, "Stream error while reading JP2 Header box\n");
    size_t bytes = (size_t)(end - found->content);
    uint8_t *data = malloc(bytes + 1);
    bool good = data && stream_read_at(s, found->content, data, bytes) &&
                parse(b, &(fields){.data = data, .bytes = bytes}, handlers);
    free(data);
    return good;
}

/* Accepts boxes of the header that are after it. */
static bool read_misplaced(jp2_boxes *b, stream *s, const box *found, const events *handlers)
{
    const box_parser parse = parser_of(found->type);
    if (!parse)
        return true;
    event_send(handlers, EVENT_WARNING, "Found a box of the jp2h box outside of it\n");
    return !b->has_header || with_content(b, s, found, parse, handlers);
}

static bool is_signature(stream *s, const box *found)
{
    static const uint8_t magic[4] = {0x0d, 0x0a, 0x87, 0x0a};
    uint8_t bytes[4];
    return found->type == BOX('j', 'P', ' ', ' ') && stream_read_at(s, found->content, bytes, 4) &&
           memcmp(bytes, magic, 4) == 0;
}

bool boxes_read(jp2_boxes *b, stream *s, const events *handlers)
{
    box found;
    uint64_t at = 0;
    for (unsigned number = 0;; number++) {
        if (!next_box(s, at, &found))
            return event_fail(handlers, "Stream error: no box at %llu\n", (unsigned long long)at);
        if (number == 0 && !is_signature(s, &found))
            return event_fail(handlers, "The signature box must be the first box in the file.\n");
        if (number == 1 && found.type != BOX('f', 't', 'y', 'p'))
            return event_fail(handlers, "The ftyp box must be the second box in the file.\n");
        if (found.type == BOX('j', 'p', '2', 'c'))
            break;
        if (found.type == BOX('j', 'p', '2', 'h') && !with_content(b, s, &found, parse_header, handlers))
            return false;
        if (!found.end)
            return event_fail(handlers, "Cannot handle box of undefined sizes\n");
        if (!read_misplaced(b, s, &found, handlers))
            return false;
        at = found.end;
    }
    if (!b->has_header)
        return event_fail(handlers, "JP2H box missing. Required.\n");
    b->codestream = found.content;
    return true;
}

void boxes_clear(jp2_boxes *b)
{
    free(b->profile);
    free(b->palette);
    free(b->column_depth);
    free(b->mapping);
    free(b->definitions);
    *b = (jp2_boxes){0};
}
