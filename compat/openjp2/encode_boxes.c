/* The boxes that OpenJPEG's encoder puts before the codestream of a JP2 file (I.5). */
#include <string.h>

#include "compat/openjp2/encoder.h"

enum { UNSPECIFIED = 65535 };

/* Collects boxes; long ones are written at once. */
typedef struct box_buffer {
    uint8_t bytes[64];
    size_t count;
} box_buffer;

static void put(box_buffer *to, uint64_t value, size_t bytes)
{
    while (bytes--)
        to->bytes[to->count++] = (uint8_t)(value >> 8 * bytes);
}

static void put_type(box_buffer *to, uint64_t bytes, const char *type)
{
    put(to, bytes, 4);
    for (size_t i = 0; i < 4; i++)
        put(to, (uint8_t)type[i], 1);
}

static bool send(stream *s, const box_buffer *from)
{
    return stream_write(s, from->bytes, from->count);
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

static bool write_ihdr(stream *s, const opj_image_t *image)
{
    box_buffer b = {.count = 0};
    put_type(&b, 22, "ihdr");
    put(&b, image->y1 - image->y0, 4);
    put(&b, image->x1 - image->x0, 4);
    put(&b, image->numcomps, 2);
    put(&b, same_depths(image) ? depth_of(&image->comps[0]) : 255, 1);
    put(&b, 7, 1);
    put(&b, 0, 2);
    return send(s, &b);
}

static bool write_bpcc(stream *s, const opj_image_t *image)
{
    box_buffer b = {.count = 0};
    put_type(&b, 8ull + image->numcomps, "bpcc");
    bool good = send(s, &b);
    for (uint32_t c = 0; good && c < image->numcomps; c++)
        good = stream_write(s, &(uint8_t){(uint8_t)depth_of(&image->comps[c])}, 1);
    return good;
}

static bool write_colr(stream *s, const opj_image_t *image)
{
    box_buffer b = {.count = 0};
    bool profile = image->icc_profile_len > 0;
    put_type(&b, 11ull + (profile ? image->icc_profile_len : 4), "colr");
    put(&b, profile ? 2 : 1, 1);
    put(&b, 0, 2);
    if (!profile)
        put(&b, enumerated(image->color_space), 4);
    return send(s, &b) && (!profile || stream_write(s, image->icc_profile_buf, image->icc_profile_len));
}

static bool write_cdef(stream *s, const opj_image_t *image, uint32_t colours)
{
    box_buffer b = {.count = 0};
    put_type(&b, 10 + 6ull * image->numcomps, "cdef");
    put(&b, image->numcomps, 2);
    bool good = send(s, &b);
    for (uint32_t c = 0; good && c < image->numcomps; c++) {
        b.count = 0;
        put(&b, c, 2);
        put(&b, c < colours ? 0 : image->comps[c].alpha ? 1 : UNSPECIFIED, 2);
        put(&b, c < colours ? c + 1 : image->comps[c].alpha ? 0 : UNSPECIFIED, 2);
        good = send(s, &b);
    }
    return good;
}

static bool write_jp2h(codec *c)
{
    const opj_image_t *image = c->e->image;
    stream *s = c->e->output;
    uint32_t colours = colours_before_alpha(c);
    uint64_t bytes = 8 + 22 + 11ull + (image->icc_profile_len ? image->icc_profile_len : 4);
    bytes += same_depths(image) ? 0 : 8ull + image->numcomps;
    bytes += colours ? 10 + 6ull * image->numcomps : 0;
    box_buffer b = {.count = 0};
    put_type(&b, bytes, "jp2h");
    return send(s, &b) && write_ihdr(s, image) && (same_depths(image) || write_bpcc(s, image)) &&
           write_colr(s, image) && (!colours || write_cdef(s, image, colours));
}

bool encode_write_boxes(codec *c)
{
    box_buffer first = {.count = 0}, last = {.count = 0};
    put_type(&first, 12, "jP  ");
    put(&first, 0x0d0a870a, 4);
    put_type(&first, 20, "ftyp");
    put(&first, 0x6a703220, 4);
    put(&first, 0, 4);
    put(&first, 0x6a703220, 4);
    put_type(&last, 0, "jp2c");
    if (!send(c->e->output, &first) || !write_jp2h(c))
        return false;
    c->e->boxes = c->e->output->at;
    return send(c->e->output, &last);
}

bool encode_finish_boxes(codec *c)
{
    uint64_t bytes = c->e->output->at - c->e->boxes;
    box_buffer b = {.count = 0};
    put(&b, bytes > UINT32_MAX ? 0 : bytes, 4);
    return stream_rewrite(c->e->output, c->e->boxes, b.bytes, b.count);
}
