/* Writes the boxes of a JP2 file up to the codestream (Annex I). */
#include "codec/jp2/jp2_boxes.h"

#include <math.h>
#include <string.h>

#include "codec/tile/coding.h"

static size_t start_box(l2k_buffer *out, uint32_t type)
{
    l2k_buffer_put(out, 0, 4);
    l2k_buffer_put(out, type, 4);
    return out->size - 8;
}

static void end_box(l2k_buffer *out, size_t start)
{
    l2k_buffer_patch(out, start, out->size - start, 4);
}

static unsigned depth_code(const l2k_component *component)
{
    return (component->precision - 1) | (component->is_signed ? 0x80u : 0);
}

static bool equal_depths(const l2k_image *image)
{
    for (uint32_t c = 1; c < image->num_components; c++)
        if (depth_code(&image->components[c]) != depth_code(&image->components[0]))
            return false;
    return true;
}

static void write_image_header(l2k_buffer *out, const l2k_image *image)
{
    size_t box = start_box(out, L2K_BOX('i', 'h', 'd', 'r'));
    l2k_buffer_put(out, image->y1 - image->y0, 4);
    l2k_buffer_put(out, image->x1 - image->x0, 4);
    l2k_buffer_put(out, image->num_components, 2);
    l2k_buffer_put(out, equal_depths(image) ? depth_code(&image->components[0]) : 255, 1);
    l2k_buffer_put(out, 7, 1);                                   /* compression type */
    l2k_buffer_put(out, image->colour == L2K_COLOUR_UNKNOWN, 1); /* UnkC */
    l2k_buffer_put(out, 0, 1);                                   /* no intellectual property box */
    end_box(out, box);
    if (equal_depths(image))
        return;
    box = start_box(out, L2K_BOX('b', 'p', 'c', 'c'));
    for (uint32_t c = 0; c < image->num_components; c++)
        l2k_buffer_put(out, depth_code(&image->components[c]), 1);
    end_box(out, box);
}

/* Colour components; the others are opacity or unspecified. */
static uint32_t count_colours(const l2k_image *image)
{
    uint32_t count = 0;
    for (uint32_t c = 0; c < image->num_components; c++)
        count += image->components[c].channel == L2K_CHANNEL_COLOUR;
    return count;
}

bool l2k_image_is_alike(const l2k_image *image)
{
    const l2k_component *c = image->components;
    for (uint32_t i = 1; i < 3 && image->num_components >= 3; i++)
        if (c[i].dx != c[0].dx || c[i].dy != c[0].dy || c[i].precision != c[0].precision ||
            c[i].is_signed != c[0].is_signed)
            return false;
    return image->num_components >= 3;
}

bool l2k_image_is_rgb(const l2k_image *image)
{
    const bool icc = image->icc && image->icc_bytes >= 20 && memcmp(image->icc + 16, "RGB ", 4) == 0;
    return l2k_image_is_alike(image) && (icc || image->colour == L2K_COLOUR_SRGB || count_colours(image) == 3);
}

/* The colour box is mandatory: guesses a colour that is unknown, with UnkC set in the image header. */
static unsigned enumerated_colour(const l2k_image *image)
{
    const l2k_enumerated *known = l2k_jp2_enumerated(0, image->colour);
    return known ? known->code : l2k_image_is_rgb(image) ? L2K_ENUM_SRGB : L2K_ENUM_GRAY;
}

/* EP of CIELab, unless it is the default. */
static void write_lab(l2k_buffer *out, const l2k_lab *lab)
{
    if (lab->illuminant == 0)
        return;
    for (int i = 0; i < 3; i++) {
        l2k_buffer_put(out, lab->range[i], 4);
        l2k_buffer_put(out, lab->offset[i], 4);
    }
    l2k_buffer_put(out, lab->illuminant, 4);
}

unsigned l2k_jp2_jpx_feature(const l2k_image *image, uint32_t rsiz)
{
    enum { ANY_ICC = 44, ANY_LAB = 57 };
    const l2k_enumerated *known = l2k_jp2_enumerated(0, image->colour);
    if (rsiz & L2K_RSIZ_CAP)
        return 0;
    if (image->icc && image->icc_bytes > 0) /* names its colour space in byte 16; JP2 allows gray and RGB (I.5.3.3) */
        return image->icc_bytes >= 20 && memcmp(image->icc + 16, "CMYK", 4) == 0 ? ANY_ICC : 0;
    if (image->colour == L2K_COLOUR_CIELAB && image->lab.illuminant)
        return ANY_LAB;
    return known ? known->feature : 0;
}

static void write_colour(l2k_buffer *out, const l2k_image *image, bool jpx)
{
    size_t box = start_box(out, L2K_BOX('c', 'o', 'l', 'r'));
    bool icc = image->icc && image->icc_bytes > 0;
    l2k_buffer_put(out, !icc ? 1 : jpx ? 3 : 2, 1); /* METH */
    l2k_buffer_put(out, 0, 2);                      /* PREC, APPROX */
    if (icc)
        l2k_buffer_append(out, image->icc, image->icc_bytes);
    else
        l2k_buffer_put(out, enumerated_colour(image), 4);
    if (!icc && image->colour == L2K_COLOUR_CIELAB)
        write_lab(out, &image->lab);
    end_box(out, box);
}

/* cdef, which is needed only if some component is not simply the next colour. */
static void write_channels(l2k_buffer *out, const l2k_image *image)
{
    if (count_colours(image) == image->num_components)
        return;
    size_t box = start_box(out, L2K_BOX('c', 'd', 'e', 'f'));
    l2k_buffer_put(out, image->num_components, 2);
    uint32_t next_colour = 1;
    for (uint32_t c = 0; c < image->num_components; c++) {
        const l2k_component *component = &image->components[c];
        static const uint16_t types[] = {0, 1, 2, 65535};
        bool is_colour = component->channel == L2K_CHANNEL_COLOUR;
        l2k_buffer_put(out, c, 2);
        l2k_buffer_put(out, types[component->channel], 2);
        l2k_buffer_put(out, is_colour ? next_colour++ : component->association, 2);
    }
    end_box(out, box);
}

/* pclr, cmap and, for opacity, cdef. */
static void write_palette(l2k_buffer *out, const l2k_new_palette *palette)
{
    static const l2k_component channels[] = {
        {.association = 1}, {.association = 2}, {.association = 3}, {.channel = L2K_CHANNEL_OPACITY}};
    const uint32_t columns = palette->num_columns;
    size_t box = start_box(out, L2K_BOX('p', 'c', 'l', 'r'));
    l2k_buffer_put(out, palette->num_entries, 2);
    l2k_buffer_put(out, columns, 1);
    for (uint32_t i = 0; i < columns; i++)
        l2k_buffer_put(out, 7, 1); /* 8 bits, unsigned */
    l2k_buffer_append(out, palette->values, (size_t)palette->num_entries * columns);
    end_box(out, box);
    box = start_box(out, L2K_BOX('c', 'm', 'a', 'p'));
    for (uint32_t i = 0; i < columns; i++)
        l2k_buffer_put(out, 1 << 8 | i, 4); /* component 0, through the palette, column i */
    end_box(out, box);
    write_channels(out, &(l2k_image){.num_components = columns, .components = channels});
}

/* value ~ numerator / denominator * 10^exponent with 16-bit numbers and an 8-bit exponent (I.5.3.7.1). */
static void split_density(double value, unsigned *numerator, unsigned *denominator, int *exponent)
{
    *exponent = 0;
    *denominator = 1;
    while (value >= 65535.5) {
        value /= 10;
        ++*exponent;
    }
    while (value != floor(value) && *denominator < 10000 && value * 10 < 65535.5) {
        value *= 10;
        *denominator *= 10;
    }
    *numerator = (unsigned)lround(value);
}

static void write_density(l2k_buffer *out, const l2k_image *image)
{
    if (!(image->density_x > 0) || !(image->density_y > 0))
        return;
    unsigned numerator[2], denominator[2];
    int exponent[2];
    split_density(image->density_y, &numerator[0], &denominator[0], &exponent[0]);
    split_density(image->density_x, &numerator[1], &denominator[1], &exponent[1]);
    size_t outer = start_box(out, L2K_BOX('r', 'e', 's', ' '));
    size_t inner = start_box(out, L2K_BOX('r', 'e', 's', 'c'));
    for (int i = 0; i < 2; i++) {
        l2k_buffer_put(out, numerator[i], 2);
        l2k_buffer_put(out, denominator[i], 2);
    }
    for (int i = 0; i < 2; i++)
        l2k_buffer_put(out, (uint8_t)exponent[i], 1);
    end_box(out, inner);
    end_box(out, outer);
}

/* A JPX reader needs to know a colour to decode the file, and GML to understand it fully (15444-2, M.11.1). */
static void write_requirements(l2k_buffer *out, uint32_t rsiz, unsigned colour, bool gml)
{
    enum { ANY_OF_PART_1 = 5, ANY_OF_PART_2 = 6, GML = 67, DECODE = 0x80, UNDERSTAND = 0x40, SHOW = 0x20 };
    const unsigned decoded = DECODE | (colour ? SHOW : 0);
    size_t box = start_box(out, L2K_BOX('r', 'r', 'e', 'q'));
    l2k_buffer_put(out, 1, 1);                                /* ML: bytes of a mask */
    l2k_buffer_put(out, decoded | (gml ? UNDERSTAND : 0), 1); /* FUAM */
    l2k_buffer_put(out, decoded, 1);                          /* DCM */
    l2k_buffer_put(out, 1 + (colour > 0) + gml, 2); /* NSF: standard features, each with its bit of the masks */
    l2k_buffer_put(out, (rsiz & L2K_RSIZ_PART_2 ? ANY_OF_PART_2 : ANY_OF_PART_1) << 8 | DECODE, 3);
    if (colour)
        l2k_buffer_put(out, colour << 8 | SHOW, 3);
    if (gml)
        l2k_buffer_put(out, GML << 8 | UNDERSTAND, 3);
    l2k_buffer_put(out, 0, 2); /* NVF: no features of vendors */
    end_box(out, box);
}

static void write_file_type(l2k_buffer *out, const l2k_image *image, uint32_t rsiz)
{
    const uint32_t jpx = L2K_BOX('j', 'p', 'x', ' ');
    const unsigned colour = l2k_jp2_jpx_feature(image, rsiz);
    const bool gml = l2k_jp2_has_gml(image, rsiz);
    const uint32_t brand = colour                ? jpx
                           : rsiz & L2K_RSIZ_CAP ? L2K_BOX('j', 'p', 'h', ' ')
                                                 : L2K_BOX('j', 'p', '2', ' ');
    size_t box = start_box(out, L2K_BOX('f', 't', 'y', 'p'));
    l2k_buffer_put(out, brand, 4);
    l2k_buffer_put(out, 0, 4);
    l2k_buffer_put(out, brand, 4);
    if (gml && !colour)
        l2k_buffer_put(out, jpx, 4);
    end_box(out, box);
    if (gml || colour)
        write_requirements(out, rsiz, colour, gml);
}

size_t l2k_jp2_write_head(l2k_buffer *out, const l2k_image *image, const l2k_new_palette *palette, uint32_t rsiz,
                          uint64_t codestream_bytes)
{
    size_t box = start_box(out, L2K_BOX('j', 'P', ' ', ' '));
    l2k_buffer_put(out, L2K_JP2_SIGNATURE, 4);
    end_box(out, box);
    write_file_type(out, image, rsiz);
    box = start_box(out, L2K_BOX('j', 'p', '2', 'h'));
    write_image_header(out, image);
    write_colour(out, image, l2k_jp2_jpx_feature(image, rsiz) > 0);
    if (palette->num_entries)
        write_palette(out, palette);
    else
        write_channels(out, image);
    write_density(out, image);
    end_box(out, box);
    l2k_jp2_write_extra(out, image);
    bool large = codestream_bytes + 8 > UINT32_MAX;
    box = out->size;
    l2k_buffer_put(out, large ? 1 : codestream_bytes ? codestream_bytes + 8 : 0, 4);
    l2k_buffer_put(out, L2K_BOX('j', 'p', '2', 'c'), 4);
    if (large)
        l2k_buffer_put(out, codestream_bytes + 16, 8);
    return box;
}
