/* Boxes with metadata (I.7; ISO/IEC 15444-2, M.11): what those of a file hold, and writing those that an image brings
 * along. The IDs of UUID boxes are those that Adobe (XMP), Exif's and IPTC's users and the GeoJP2 format have agreed
 * on. */
#include "codec/jp2/jp2_boxes.h"

#include <string.h>

enum { UUID_BYTES = 16, HEAD_BYTES = 8 };

/* The first ID of a kind is the one that is written; a second one is of other writers. */
static const struct known_uuid {
    l2k_content content;
    uint8_t id[UUID_BYTES];
} known[] = {
    {L2K_CONTENT_XMP, {0xBE, 0x7A, 0xCF, 0xCB, 0x97, 0xA9, 0x42, 0xE8, 0x9C, 0x71, 0x99, 0x94, 0x91, 0xE3, 0xAF, 0xAC}},
    {L2K_CONTENT_EXIF, "JpgTiffExif->JP2"},
    {L2K_CONTENT_EXIF,
     {0x05, 0x37, 0xCD, 0xAB, 0x9D, 0x0C, 0x44, 0x31, 0xA7, 0x2A, 0xFA, 0x56, 0x1F, 0x2A, 0x11, 0x3E}},
    {L2K_CONTENT_IPTC,
     {0x33, 0xC7, 0xA4, 0xD2, 0xB8, 0x1D, 0x47, 0x23, 0xA0, 0xBA, 0xF1, 0xA3, 0xE0, 0x97, 0xAD, 0x38}},
    {L2K_CONTENT_IPTC,
     {0x09, 0xA1, 0x4E, 0x97, 0xC0, 0xB4, 0x42, 0xE0, 0xBE, 0xBF, 0x36, 0xDF, 0x6F, 0x0C, 0xE3, 0x6F}},
    {L2K_CONTENT_GEOTIFF,
     {0xB1, 0x4B, 0xF8, 0xBD, 0x08, 0x3D, 0x4B, 0x43, 0xA5, 0xAE, 0x8C, 0xD7, 0xD5, 0xA6, 0xCE, 0x03}},
};

#define NUM_KNOWN (sizeof known / sizeof *known)

/* ---- Reading ------------------------------------------------------------------------------------------------- */

static void skip(l2k_box_data *data, size_t bytes)
{
    data->data += bytes;
    data->bytes -= bytes;
}

static void describe_uuid(l2k_box_data *data)
{
    if (data->bytes < UUID_BYTES)
        return; /* too short to be one */
    memcpy(data->uuid, data->data, UUID_BYTES);
    skip(data, UUID_BYTES);
    data->content = L2K_CONTENT_UUID;
    for (size_t i = 0; i < NUM_KNOWN; i++)
        if (memcmp(data->uuid, known[i].id, UUID_BYTES) == 0)
            data->content = known[i].content;
    if (data->content == L2K_CONTENT_EXIF && data->bytes >= 6 && memcmp(data->data, "Exif\0\0", 6) == 0)
        skip(data, 6);
}

/* LBox 1 says that XLBox follows. */
void l2k_jp2_describe_box(const uint8_t *file, const l2k_box *box, l2k_box_data *data)
{
    const uint8_t *start = file + box->offset;
    const size_t head = l2k_get_be(start, 4) == 1 ? 2 * HEAD_BYTES : HEAD_BYTES;
    *data = (l2k_box_data){.data = start + head, .bytes = (size_t)box->bytes - head};
    memcpy(data->type, box->type, sizeof data->type);
    if (strcmp(box->type, "uuid") == 0)
        describe_uuid(data);
    else if (strcmp(box->type, "xml ") == 0)
        data->content = L2K_CONTENT_XML;
    else if (strcmp(box->type, "lbl ") == 0)
        data->content = L2K_CONTENT_LABEL;
}

/* ---- Writing ------------------------------------------------------------------------------------------------- */

static const char *type_of(const l2k_box_data *data)
{
    switch (data->content) {
    case L2K_CONTENT_OTHER:
        return data->type;
    case L2K_CONTENT_XML:
        return "xml ";
    case L2K_CONTENT_LABEL:
        return "lbl ";
    default:
        return "uuid";
    }
}

/* NULL for other boxes. */
static const uint8_t *uuid_of(const l2k_box_data *data)
{
    for (size_t i = 0; i < NUM_KNOWN; i++)
        if (known[i].content == data->content)
            return known[i].id;
    return data->content == L2K_CONTENT_UUID ? data->uuid : NULL;
}

static size_t box_bytes(const l2k_box_data *data)
{
    return HEAD_BYTES + (uuid_of(data) ? UUID_BYTES : 0) + data->bytes;
}

size_t l2k_jp2_extra_bytes(const l2k_image *image)
{
    size_t bytes = 0;
    for (size_t i = 0; i < image->num_boxes; i++)
        bytes += box_bytes(&image->boxes[i]);
    return bytes;
}

static bool is_type(const char *type)
{
    for (int i = 0; i < 4; i++)
        if (type[i] < ' ' || type[i] > '~')
            return false;
    return type[4] == 0;
}

/* Boxes that say what the picture is; a UUID box needs its ID. */
static bool is_own_type(const char *type)
{
    static const char own[][5] = {"jP  ", "ftyp", "jp2h", "jp2c", "ihdr", "bpcc", "colr",
                                  "pclr", "cmap", "cdef", "res ", "resc", "resd", "uuid"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(type, own[i]) == 0)
            return true;
    return false;
}

static l2k_status check_box(const l2k_context *context, const l2k_box_data *data, size_t number)
{
    if ((unsigned)data->content > L2K_CONTENT_LABEL)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "box %zu: unknown kind of content %d", number, (int)data->content);
    if (data->content == L2K_CONTENT_OTHER && !is_type(data->type))
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "box %zu: its type is not four printable characters", number);
    if (data->content == L2K_CONTENT_OTHER && is_own_type(data->type))
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "box %zu: '%s' is not for additional boxes", number, data->type);
    if (data->bytes && !data->data)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "box %zu has no content", number);
    if (data->bytes > UINT32_MAX - HEAD_BYTES - UUID_BYTES)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "box %zu: %zu bytes, more than a box holds", number, data->bytes);
    return L2K_OK;
}

l2k_status l2k_jp2_check_boxes(const l2k_context *context, const l2k_image *image)
{
    if (image->num_boxes && !image->boxes)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "%zu boxes, but no list of them", image->num_boxes);
    for (size_t i = 0; i < image->num_boxes; i++)
        L2K_TRY(check_box(context, &image->boxes[i], i));
    return L2K_OK;
}

void l2k_jp2_write_extra(l2k_buffer *out, const l2k_image *image)
{
    for (size_t i = 0; i < image->num_boxes; i++) {
        const l2k_box_data *data = &image->boxes[i];
        const char *type = type_of(data);
        l2k_buffer_put(out, box_bytes(data), 4);
        l2k_buffer_append(out, type, 4);
        if (uuid_of(data))
            l2k_buffer_append(out, uuid_of(data), UUID_BYTES);
        l2k_buffer_append(out, data->data, data->bytes);
    }
}
