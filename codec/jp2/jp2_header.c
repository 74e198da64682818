/* Parses the boxes inside the JP2 header box (I.5.3): image header, colour specification, channel definition, and
 * resolution. Palettes are in jp2_palette.c. */
#include "codec/jp2/jp2_boxes.h"

#include <math.h>

#include "base/memory.h"

l2k_status l2k_jp2_read_image_header(l2k_jp2 *jp2, l2k_box_bytes s)
{
    if (l2k_box_length(s) != 14)
        return l2k_jp2_wrong(jp2, "ihdr", "its length is not 14");
    if (s.data[11] != 7)
        return l2k_jp2_tolerate(jp2, "ihdr", "a compression type other than JPEG 2000");
    return L2K_OK;
}

const l2k_enumerated *l2k_jp2_enumerated(uint32_t code, l2k_colour colour)
{
    static const l2k_enumerated all[] = {
        {L2K_COLOUR_SRGB, L2K_ENUM_SRGB, 0}, {L2K_COLOUR_GRAY, L2K_ENUM_GRAY, 0}, {L2K_COLOUR_SYCC, 18, 0},
        {L2K_COLOUR_CMYK, 12, 55},           {L2K_COLOUR_ESYCC, 24, 71},          {L2K_COLOUR_CIELAB, 14, 56}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].code == code || all[i].colour == colour)
            return &all[i];
    return NULL;
}

/* The EP field of CIELab: range and offset of L*, a* and b* in turn, then the illuminant. */
static void read_lab(l2k_jp2 *jp2, l2k_box_bytes s)
{
    if (l2k_box_length(s) < 28)
        return; /* the defaults */
    for (int i = 0; i < 3; i++) {
        jp2->lab.range[i] = l2k_get_be(s.data + 8 * i, 4);
        jp2->lab.offset[i] = l2k_get_be(s.data + 8 * i + 4, 4);
    }
    jp2->lab.illuminant = l2k_get_be(s.data + 24, 4);
}

/* The first usable colour specification counts (I.5.3.3). */
l2k_status l2k_jp2_read_colour(l2k_jp2 *jp2, l2k_box_bytes s)
{
    if (l2k_box_length(s) < 3)
        return l2k_jp2_wrong(jp2, "colr", "too short");
    if (jp2->colour != L2K_COLOUR_UNKNOWN)
        return L2K_OK;
    if (s.data[0] == 1 && l2k_box_length(s) >= 7) {
        const uint32_t code = l2k_get_be(s.data + 3, 4);
        const l2k_enumerated *enumerated = l2k_jp2_enumerated(code, L2K_COLOUR_UNKNOWN);
        if (enumerated)
            jp2->colour = enumerated->colour;
        else
            l2k_warn(jp2->context, "box 'colr': unknown colour space %u; samples are not converted", code);
        if (jp2->colour == L2K_COLOUR_CIELAB)
            read_lab(jp2, (l2k_box_bytes){s.data + 7, s.end});
    } else if ((s.data[0] == 2 || s.data[0] == 3) && l2k_box_length(s) > 3) {
        jp2->colour = L2K_COLOUR_ICC;
        jp2->icc = s.data + 3;
        jp2->icc_bytes = l2k_box_length(s) - 3;
    }
    return L2K_OK;
}

l2k_status l2k_jp2_read_definitions(l2k_jp2 *jp2, l2k_box_bytes s)
{
    if (jp2->definitions)
        return l2k_jp2_wrong(jp2, "cdef", "a second one");
    size_t count = l2k_box_length(s) >= 2 ? l2k_get_be(s.data, 2) : 0;
    if (count == 0 || l2k_box_length(s) < 2 + 6 * count)
        return l2k_jp2_wrong(jp2, "cdef", "an impossible length");
    jp2->definitions = l2k_allocate(jp2->context, count, sizeof *jp2->definitions);
    L2K_TRY(l2k_jp2_check_memory(jp2, jp2->definitions));
    jp2->num_definitions = count;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *d = s.data + 2 + 6 * i;
        jp2->definitions[i] = (l2k_channel_definition){(uint16_t)l2k_get_be(d, 2), (uint16_t)l2k_get_be(d + 2, 2),
                                                       (uint16_t)l2k_get_be(d + 4, 2)};
    }
    return L2K_OK;
}

/* resc or resd: vertical, then horizontal, as a fraction times a power of ten (I.5.3.7). Capture resolution has
 * precedence. */
l2k_status l2k_jp2_read_density(l2k_jp2 *jp2, l2k_box_bytes s, bool capture)
{
    if (l2k_box_length(s) != 10)
        return l2k_jp2_wrong(jp2, capture ? "resc" : "resd", "its length is not 10");
    const uint8_t *d = s.data;
    double denominator_y = l2k_get_be(d + 2, 2), denominator_x = l2k_get_be(d + 6, 2);
    if (denominator_y == 0 || denominator_x == 0 || (!capture && jp2->density_x > 0))
        return L2K_OK;
    jp2->density_y = l2k_get_be(d, 2) / denominator_y * pow(10, (int8_t)d[8]);
    jp2->density_x = l2k_get_be(d + 4, 2) / denominator_x * pow(10, (int8_t)d[9]);
    return L2K_OK;
}
