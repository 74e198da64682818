/* The boxes that OpenJPEG's encoder puts before the codestream of a JP2 file (I.5). */
#include <stdlib.h>

#include "compat/openjp2/encoder.h"

enum { UNSPECIFIED = 65535 };

typedef struct box_buffer {
    uint8_t *bytes;
    size_t count;
} box_buffer;

static void put(box_buffer *to, uint64_t value, size_t bytes)
{
    while (bytes--)
        to->bytes[to->count++] = (uint8_t)(value >> 8 * bytes);
}

/* The header of a box. */
static void put_head(box_buffer *to, const char *type, size_t content)
{
    put(to, content + 8, 4);
    for (size_t i = 0; i < 4; i++)
        put(to, (uint8_t)type[i], 1);
}

/* ---- What is in the boxes ------------------------------------------------------------------------------------ */

static uint32_t depth_of(const opj_image_comp_t *component)
{
    return (component->prec - 1) | (component->sgnd ? 0x80u : 0);
}

static bool same_depths(const opj_image_t *image)
{
    for (uint32_t c = 1; c < image->numcomps; c++)
        if (depth_of(&image->comps[c]) != depth_of(&image->comps[0]))
            return false;
    return true;
}

static uint32_t enumerated(OPJ_COLOR_SPACE space)
{
    const struct boxes_space *found = boxes_spaces;
    while (found->number && found->space != space)
        found++;
    return found->number;
}

/* How many components are colours, if an opacity channel after them needs a channel definition box; else 0. */
static uint32_t colours_before_alpha(const codec *c)
{
    const opj_image_t *image = c->e->image;
    uint32_t space = image->icc_profile_len ? 0 : enumerated(image->color_space), alpha = 0, count = 0;
    uint32_t colours = space == 16 || space == 18 ? 3 : space == 17 ? 1 : 0;
    for (uint32_t i = 0; i < image->numcomps; i++)
        if (image->comps[i].alpha) {
            alpha = i;
            count++;
        }
    if (count != 1)
        return 0;
    if (!colours || image->numcomps < colours + 1 || alpha < colours) {
        event_send(&c->handlers, EVENT_WARNING, "No cdef box will be created for the alpha channel.\n");
        return 0;
    }
    return colours;
}

/* ---- Boxes --------------------------------------------------------------------------------------------------- */

static void put_ihdr(box_buffer *to, const opj_image_t *image)
{
    put_head(to, "ihdr", 14);
    put(to, image->y1 - image->y0, 4);
    put(to, image->x1 - image->x0, 4);
    put(to, image->numcomps, 2);
    put(to, same_depths(image) ? depth_of(&image->comps[0]) : 255, 1);
    put(to, 7, 1);
    put(to, 0, 2);
}

static void put_bpcc(box_buffer *to, const opj_image_t *image)
{
    put_head(to, "bpcc", image->numcomps);
    for (uint32_t c = 0; c < image->numcomps; c++)
        put(to, depth_of(&image->comps[c]), 1);
}

static void put_colr(box_buffer *to, const opj_image_t *image)
{
    put_head(to, "colr", 3 + (image->icc_profile_len ? image->icc_profile_len : 4));
    put(to, image->icc_profile_len ? 2 : 1, 1);
    put(to, 0, 2);
    if (!image->icc_profile_len)
        put(to, enumerated(image->color_space), 4);
    for (uint32_t i = 0; i < image->icc_profile_len; i++)
        put(to, image->icc_profile_buf[i], 1);
}

static void put_cdef(box_buffer *to, const opj_image_t *image, uint32_t colours)
{
    put_head(to, "cdef", 2 + 6 * (size_t)image->numcomps);
    put(to, image->numcomps, 2);
    for (uint32_t c = 0; c < image->numcomps; c++) {
        put(to, c, 2);
        put(to, c < colours ? 0 : image->comps[c].alpha ? 1 : UNSPECIFIED, 2);
        put(to, c < colours ? c + 1 : image->comps[c].alpha ? 0 : UNSPECIFIED, 2);
    }
}

static void put_jp2h(box_buffer *to, const codec *c)
{
    const opj_image_t *image = c->e->image;
    const uint32_t colours = colours_before_alpha(c);
    box_buffer head = *to;
    put_head(to, "jp2h", 0);
    put_ihdr(to, image);
    if (!same_depths(image))
        put_bpcc(to, image);
    put_colr(to, image);
    if (colours)
        put_cdef(to, image, colours);
    put(&head, to->count - head.count, 4);
}

bool encode_write_boxes(codec *c)
{
    enum { FIXED = 128, PER_COMPONENT = 7 }; /* most bytes: of bpcc 1, of cdef 6 */
    const opj_image_t *image = c->e->image;
    box_buffer b = {malloc(FIXED + image->icc_profile_len + PER_COMPONENT * (size_t)image->numcomps), 0};
    if (!b.bytes)
        return false;
    put_head(&b, "jP  ", 4);
    put(&b, 0x0d0a870a, 4);
    put_head(&b, "ftyp", 12);
    put(&b, 0x6a703220, 4);
    put(&b, 0, 4);
    put(&b, 0x6a703220, 4);
    put_jp2h(&b, c);
    c->e->boxes = c->e->output->at + b.count;
    put_head(&b, "jp2c", 0); /* until encode_finish_boxes */
    const bool good = stream_write(c->e->output, b.bytes, b.count);
    free(b.bytes);
    return good;
}

bool encode_finish_boxes(codec *c)
{
    const uint64_t bytes = c->e->output->at - c->e->boxes;
    uint8_t length[4];
    put(&(box_buffer){length, 0}, bytes > UINT32_MAX ? 0 : bytes, 4);
    return stream_rewrite(c->e->output, c->e->boxes, length, sizeof length);
}
