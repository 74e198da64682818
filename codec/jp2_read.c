#include "codec/jp2.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "codec/header_parser.h"
#include "codec/jp2_boxes.h"

typedef struct span {
    const uint8_t *data, *end;
} span;

static size_t length_of(span s)
{
    return (size_t)(s.end - s.data);
}

static l2k_status wrong(const l2k_jp2 *jp2, const char *box, const char *what)
{
    return l2k_fail(jp2->context, L2K_ERROR_CORRUPT, "box '%s': %s", box, what);
}

static l2k_status out_of_memory(const l2k_jp2 *jp2)
{
    return l2k_fail(jp2->context, L2K_ERROR_MEMORY, "out of memory for the boxes of a JP2 file");
}

/* ---- Boxes inside the header box ------------------------------------------------------------------------------------
 */

static l2k_status read_image_header(l2k_jp2 *jp2, span s)
{
    if (length_of(s) != 14)
        return wrong(jp2, "ihdr", "its length is not 14");
    if (s.data[11] != 7)
        return l2k_fail(jp2->context, L2K_ERROR_UNSUPPORTED, "box 'ihdr': compression type %u", s.data[11]);
    return L2K_OK;
}

static l2k_colour colour_of(uint32_t enumerated)
{
    switch (enumerated) {
    case L2K_ENUM_SRGB:
        return L2K_COLOUR_SRGB;
    case L2K_ENUM_GRAY:
        return L2K_COLOUR_GRAY;
    case L2K_ENUM_SYCC:
        return L2K_COLOUR_SYCC;
    case L2K_ENUM_CMYK:
        return L2K_COLOUR_CMYK;
    case L2K_ENUM_ESYCC:
        return L2K_COLOUR_ESYCC;
    case L2K_ENUM_CIELAB:
        return L2K_COLOUR_CIELAB;
    default:
        return L2K_COLOUR_UNKNOWN;
    }
}

/* The EP field of CIELab: range and offset of L*, a* and b* in turn, then the illuminant. */
static void read_lab(l2k_jp2 *jp2, span s)
{
    if (length_of(s) < 28)
        return; /* the defaults */
    for (int i = 0; i < 3; i++) {
        jp2->lab.range[i] = l2k_get_be(s.data + 8 * i, 4);
        jp2->lab.offset[i] = l2k_get_be(s.data + 8 * i + 4, 4);
    }
    jp2->lab.illuminant = l2k_get_be(s.data + 24, 4);
}

/* The first colour specification that can be used counts (I.5.3.3). */
static l2k_status read_colour(l2k_jp2 *jp2, span s)
{
    if (length_of(s) < 3)
        return wrong(jp2, "colr", "too short");
    if (jp2->colour != L2K_COLOUR_UNKNOWN)
        return L2K_OK;
    if (s.data[0] == 1 && length_of(s) >= 7) {
        uint32_t enumerated = l2k_get_be(s.data + 3, 4);
        jp2->colour = colour_of(enumerated);
        if (jp2->colour == L2K_COLOUR_UNKNOWN)
            l2k_warn(jp2->context, "box 'colr': colour space %u is not known; samples are given as they are",
                     enumerated);
        if (jp2->colour == L2K_COLOUR_CIELAB)
            read_lab(jp2, (span){s.data + 7, s.end});
    } else if ((s.data[0] == 2 || s.data[0] == 3) && length_of(s) > 3) {
        jp2->colour = L2K_COLOUR_ICC;
        jp2->icc = s.data + 3;
        jp2->icc_bytes = length_of(s) - 3;
    }
    return L2K_OK;
}

static l2k_status read_palette(l2k_jp2 *jp2, span s)
{
    l2k_palette *p = &jp2->palette;
    if (p->values)
        return wrong(jp2, "pclr", "a second one");
    if (length_of(s) < 3)
        return wrong(jp2, "pclr", "too short");
    p->num_entries = l2k_get_be(s.data, 2);
    p->num_columns = s.data[2];
    if (p->num_entries == 0 || p->num_entries > 1024 || p->num_columns == 0)
        return wrong(jp2, "pclr", "an impossible size");
    if (length_of(s) < 3 + (size_t)p->num_columns)
        return wrong(jp2, "pclr", "too short");
    size_t row_bytes = 0;
    for (uint32_t i = 0; i < p->num_columns; i++) {
        p->precision[i] = (uint8_t)((s.data[3 + i] & 0x7F) + 1);
        p->is_signed[i] = s.data[3 + i] >> 7;
        if (p->precision[i] > 31)
            return l2k_fail(jp2->context, L2K_ERROR_UNSUPPORTED, "box 'pclr': %u bits", p->precision[i]);
        row_bytes += (p->precision[i] + 7u) / 8;
    }
    const uint8_t *at = s.data + 3 + p->num_columns;
    if ((size_t)(s.end - at) < row_bytes * p->num_entries)
        return wrong(jp2, "pclr", "too short");
    p->values = l2k_allocate(jp2->context, (size_t)p->num_entries * p->num_columns, sizeof *p->values);
    if (!p->values)
        return out_of_memory(jp2);
    for (uint32_t e = 0; e < p->num_entries; e++)
        for (uint32_t i = 0; i < p->num_columns; i++) {
            unsigned bytes = (p->precision[i] + 7u) / 8;
            uint32_t value = l2k_get_be(at, bytes);
            if (p->is_signed[i] && value >> (p->precision[i] - 1) & 1)
                value |= ~0u << p->precision[i];
            else
                value &= (1u << p->precision[i]) - 1;
            p->values[e * p->num_columns + i] = (int32_t)value;
            at += bytes;
        }
    return L2K_OK;
}

static l2k_status read_channel_map(l2k_jp2 *jp2, span s)
{
    if (jp2->channels)
        return wrong(jp2, "cmap", "a second one");
    if (length_of(s) == 0 || length_of(s) % 4)
        return wrong(jp2, "cmap", "an impossible length");
    jp2->num_channels = length_of(s) / 4;
    jp2->channels = l2k_allocate(jp2->context, jp2->num_channels, sizeof *jp2->channels);
    if (!jp2->channels)
        return out_of_memory(jp2);
    for (size_t i = 0; i < jp2->num_channels; i++) {
        const uint8_t *d = s.data + 4 * i;
        if (d[2] > 1)
            return wrong(jp2, "cmap", "an impossible mapping type");
        jp2->channels[i] = (l2k_channel_map){(uint16_t)l2k_get_be(d, 2), d[2] == 1, d[3]};
    }
    return L2K_OK;
}

static l2k_status read_definitions(l2k_jp2 *jp2, span s)
{
    if (jp2->definitions)
        return wrong(jp2, "cdef", "a second one");
    size_t count = length_of(s) >= 2 ? l2k_get_be(s.data, 2) : 0;
    if (count == 0 || length_of(s) < 2 + 6 * count)
        return wrong(jp2, "cdef", "an impossible length");
    jp2->definitions = l2k_allocate(jp2->context, count, sizeof *jp2->definitions);
    if (!jp2->definitions)
        return out_of_memory(jp2);
    jp2->num_definitions = count;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *d = s.data + 2 + 6 * i;
        jp2->definitions[i] = (l2k_channel_definition){(uint16_t)l2k_get_be(d, 2), (uint16_t)l2k_get_be(d + 2, 2),
                                                       (uint16_t)l2k_get_be(d + 4, 2)};
    }
    return L2K_OK;
}

/* resc or resd: vertical, then horizontal, as a fraction times a power of ten (I.5.3.7). The capture resolution wins.
 */
static l2k_status read_density(l2k_jp2 *jp2, span s, bool capture)
{
    if (length_of(s) != 10)
        return wrong(jp2, capture ? "resc" : "resd", "its length is not 10");
    const uint8_t *d = s.data;
    double denominator_y = l2k_get_be(d + 2, 2), denominator_x = l2k_get_be(d + 6, 2);
    if (denominator_y == 0 || denominator_x == 0 || (!capture && jp2->density_x > 0))
        return L2K_OK;
    jp2->density_y = l2k_get_be(d, 2) / denominator_y * pow(10, (int8_t)d[8]);
    jp2->density_x = l2k_get_be(d + 4, 2) / denominator_x * pow(10, (int8_t)d[9]);
    return L2K_OK;
}

/* ---- The box structure (I.4) --------------------------------------------------------------------------------- */

typedef struct box {
    uint32_t type;
    span content;
    const uint8_t *start;
} box;

static l2k_status add_box(l2k_jp2 *jp2, const uint8_t *file, const box *b, uint32_t depth)
{
    if (jp2->num_boxes == jp2->boxes_capacity) {
        size_t capacity = 2 * jp2->boxes_capacity + 16;
        l2k_box *boxes = l2k_allocate(jp2->context, capacity, sizeof *boxes);
        if (!boxes)
            return out_of_memory(jp2);
        if (jp2->num_boxes)
            memcpy(boxes, jp2->boxes, jp2->num_boxes * sizeof *boxes);
        l2k_release(jp2->context, jp2->boxes);
        jp2->boxes = boxes;
        jp2->boxes_capacity = capacity;
    }
    l2k_box *out = &jp2->boxes[jp2->num_boxes++];
    *out = (l2k_box){
        .depth = depth, .offset = (uint64_t)(b->start - file), .bytes = (uint64_t)(b->content.end - b->start)};
    for (int i = 0; i < 4; i++) {
        char c = (char)(b->type >> (24 - 8 * i));
        out->type[i] = c >= ' ' && c <= '~' ? c : '?';
    }
    return L2K_OK;
}

/* Reads the box at *at within `outer` and moves *at behind it. */
static l2k_status next_box(l2k_jp2 *jp2, const uint8_t **at, const uint8_t *outer_end, box *b)
{
    size_t left = (size_t)(outer_end - *at);
    if (left < 8)
        return l2k_fail(jp2->context, L2K_ERROR_TRUNCATED, "the file ends in the head of a box");
    b->start = *at;
    b->type = l2k_get_be(*at + 4, 4);
    uint64_t length = l2k_get_be(*at, 4);
    size_t head = 8;
    if (length == 1) {
        if (left < 16)
            return l2k_fail(jp2->context, L2K_ERROR_TRUNCATED, "the file ends in the head of a box");
        length = (uint64_t)l2k_get_be(*at + 8, 4) << 32 | l2k_get_be(*at + 12, 4);
        head = 16;
    } else if (length == 0) {
        length = left; /* the last box of the file */
    }
    if (length < head)
        return l2k_fail(jp2->context, L2K_ERROR_CORRUPT, "a box of %llu bytes", (unsigned long long)length);
    if (length > left && b->type == L2K_BOX('j', 'p', '2', 'c'))
        length = left; /* a careless writer, or a cut file, which the codestream will tell */
    if (length > left)
        return l2k_fail(jp2->context, L2K_ERROR_TRUNCATED, "the file ends in box '%c%c%c%c'", b->type >> 24 & 0x7F,
                        b->type >> 16 & 0x7F, b->type >> 8 & 0x7F, b->type & 0x7F);
    b->content = (span){*at + head, *at + length};
    *at += length;
    return L2K_OK;
}

static l2k_status read_superbox(l2k_jp2 *jp2, const uint8_t *file, span content, uint32_t depth);

static l2k_status read_inner_box(l2k_jp2 *jp2, const uint8_t *file, const box *b, uint32_t depth)
{
    switch (b->type) {
    case L2K_BOX('i', 'h', 'd', 'r'):
        return read_image_header(jp2, b->content);
    case L2K_BOX('c', 'o', 'l', 'r'):
        return read_colour(jp2, b->content);
    case L2K_BOX('p', 'c', 'l', 'r'):
        return read_palette(jp2, b->content);
    case L2K_BOX('c', 'm', 'a', 'p'):
        return read_channel_map(jp2, b->content);
    case L2K_BOX('c', 'd', 'e', 'f'):
        return read_definitions(jp2, b->content);
    case L2K_BOX('r', 'e', 's', ' '):
        return depth > 1 ? wrong(jp2, "res ", "inside itself") : read_superbox(jp2, file, b->content, depth + 1);
    case L2K_BOX('r', 'e', 's', 'c'):
        return read_density(jp2, b->content, true);
    case L2K_BOX('r', 'e', 's', 'd'):
        return read_density(jp2, b->content, false);
    default:
        return L2K_OK;
    }
}

/* The header box (depth 1), or the resolution box inside it (2). Boxes are taken in any order. */
static l2k_status read_superbox(l2k_jp2 *jp2, const uint8_t *file, span content, uint32_t depth)
{
    const uint8_t *at = content.data;
    while (at < content.end) {
        box b;
        L2K_TRY(next_box(jp2, &at, content.end, &b));
        L2K_TRY(add_box(jp2, file, &b, depth));
        L2K_TRY(read_inner_box(jp2, file, &b, depth));
    }
    return L2K_OK;
}

/* Whether a box reaches beyond the end of the file; none behind the codestream is needed. */
static bool box_is_cut(const uint8_t *at, const uint8_t *end)
{
    return end - at < 8 || (l2k_get_be(at, 4) > (size_t)(end - at));
}

static l2k_status read_boxes(l2k_jp2 *jp2, const uint8_t *data, size_t bytes)
{
    const uint8_t *at = data, *end = data + bytes;
    bool header = false;
    while (at < end) {
        box b;
        if (jp2->codestream_bytes && box_is_cut(at, end)) {
            l2k_warn(jp2->context, "the file ends in a box behind the codestream");
            break;
        }
        L2K_TRY(next_box(jp2, &at, end, &b));
        L2K_TRY(add_box(jp2, data, &b, 0));
        if (b.type == L2K_BOX('j', 'p', '2', 'h') && !header) {
            header = true;
            L2K_TRY(read_superbox(jp2, data, b.content, 1));
        } else if (b.type == L2K_BOX('j', 'p', '2', 'c') && jp2->codestream_bytes == 0) {
            jp2->codestream_at = (size_t)(b.content.data - data);
            jp2->codestream_bytes = length_of(b.content);
        }
    }
    if (!header)
        l2k_warn(jp2->context, "the file has no JP2 header box");
    if (jp2->codestream_bytes == 0)
        return l2k_fail(jp2->context, L2K_ERROR_TRUNCATED, "the file has no codestream box");
    return L2K_OK;
}

bool l2k_jp2_detect(const uint8_t *data, size_t bytes)
{
    static const uint8_t signature[12] = {0, 0, 0, 12, 'j', 'P', ' ', ' ', 0x0D, 0x0A, 0x87, 0x0A};
    return bytes >= sizeof signature && memcmp(data, signature, sizeof signature) == 0;
}

l2k_status l2k_jp2_open(const l2k_context *context, const uint8_t *data, size_t bytes, l2k_jp2 *jp2)
{
    *jp2 = (l2k_jp2){.context = context};
    l2k_status status = read_boxes(jp2, data, bytes);
    if (status != L2K_OK)
        l2k_jp2_close(jp2);
    return status;
}

void l2k_jp2_close(l2k_jp2 *jp2)
{
    if (!jp2->context)
        return;
    l2k_release(jp2->context, jp2->boxes);
    l2k_release(jp2->context, jp2->palette.values);
    l2k_release(jp2->context, jp2->channels);
    l2k_release(jp2->context, jp2->definitions);
    *jp2 = (l2k_jp2){0};
}
