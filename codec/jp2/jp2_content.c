/* Boxes with metadata (I.7; ISO/IEC 15444-2, M.11): describes those of a file, and writes those of an image. The UUIDs
 * are those of Adobe (XMP), of common Exif and IPTC writers, and of the GeoJP2 format. */
#include "codec/jp2/jp2_boxes.h"

#include <string.h>

#include "codec/tile/coding.h"

enum { UUID_BYTES = 16, HEAD_BYTES = 8 };

/* The first ID of a kind is the one to write; other writers use the second. */
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

static void skip(l2k_box_data *data, size_t bytes)
{
    data->data += bytes;
    data->bytes -= bytes;
}

static void describe_uuid(l2k_box_data *data)
{
    if (data->bytes < UUID_BYTES)
        return; /* too short for a UUID box */
    memcpy(data->uuid, data->data, UUID_BYTES);
    skip(data, UUID_BYTES);
    data->content = L2K_CONTENT_UUID;
    for (size_t i = 0; i < NUM_KNOWN; i++)
        if (memcmp(data->uuid, known[i].id, UUID_BYTES) == 0)
            data->content = known[i].content;
    if (data->content == L2K_CONTENT_EXIF && data->bytes >= 6 && memcmp(data->data, "Exif\0\0", 6) == 0)
        skip(data, 6);
}

/* XLBox follows if LBox is 1. */
void l2k_jp2_describe_box(const uint8_t *file, const l2k_box *box, l2k_box_data *data)
{
    const uint8_t *start = file + box->offset;
    const size_t head = l2k_get_be(start, 4) == 1 ? 2 * HEAD_BYTES : HEAD_BYTES;
    *data = (l2k_box_data){.depth = box->depth, .data = start + head, .bytes = (size_t)box->bytes - head};
    memcpy(data->type, box->type, sizeof data->type);
    if (strcmp(box->type, "uuid") == 0)
        describe_uuid(data);
    else if (strcmp(box->type, "xml ") == 0)
        data->content = L2K_CONTENT_XML;
    else if (strcmp(box->type, "lbl ") == 0)
        data->content = L2K_CONTENT_LABEL;
}

static const char *type_of(const l2k_box_data *data)
{
    return data->content == L2K_CONTENT_OTHER   ? data->type
           : data->content == L2K_CONTENT_XML   ? "xml "
           : data->content == L2K_CONTENT_LABEL ? "lbl "
                                                : "uuid";
}

/* NULL for other boxes. */
static const uint8_t *uuid_of(const l2k_box_data *data)
{
    for (size_t i = 0; i < NUM_KNOWN; i++)
        if (known[i].content == data->content)
            return known[i].id;
    return data->content == L2K_CONTENT_UUID ? data->uuid : NULL;
}

/* The box without the boxes inside it, which follow in the list. */
static size_t box_bytes(const l2k_box_data *data)
{
    return HEAD_BYTES + (uuid_of(data) ? UUID_BYTES : 0) + data->bytes;
}

/* GMLJP2 (OGC 08-085): an association box whose first box is the label gml.data. */
static bool is_gml(const l2k_box_data *outer, const l2k_box_data *first)
{
    static const char label[] = "gml.data";
    return outer->depth == 0 && outer->content == L2K_CONTENT_OTHER && memcmp(outer->type, "asoc", 4) == 0 &&
           first->depth == 1 && first->content == L2K_CONTENT_LABEL && first->bytes == strlen(label) &&
           memcmp(first->data, label, strlen(label)) == 0;
}

bool l2k_jp2_has_gml(const l2k_image *image, uint32_t rsiz)
{
    if (rsiz & (L2K_RSIZ_CAP | L2K_RSIZ_PART_2))
        return false; /* a JPX reader would not have to understand the codestream */
    for (size_t i = 1; i < image->num_boxes; i++)
        if (is_gml(&image->boxes[i - 1], &image->boxes[i]))
            return true;
    return false;
}

size_t l2k_jp2_extra_bytes(const l2k_image *image, uint32_t rsiz)
{
    size_t bytes = l2k_jp2_has_gml(image, rsiz) ? L2K_JPX_ENTRY_BYTES : 0;
    if (bytes && !l2k_jp2_jpx_feature(image, rsiz))
        bytes += L2K_JPX_BYTES;
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

/* Boxes that describe the picture are the library's own; a UUID box needs its ID. */
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
    return L2K_OK;
}

/* Checks that a box is inside the one before it, or follows that or a box around it; `before` is NULL for the first. */
static l2k_status check_depth(const l2k_context *context, const l2k_box_data *before, const l2k_box_data *data,
                              size_t number)
{
    if (data->depth > L2K_JP2_MOST_DEPTH)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "box %zu: depth %u, the limit is %u", number, data->depth,
                        L2K_JP2_MOST_DEPTH);
    if (data->depth > (before ? before->depth + 1 : 0))
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "box %zu: no box before it has depth %u", number, data->depth - 1);
    if (before && data->depth > before->depth && (before->content != L2K_CONTENT_OTHER || before->bytes))
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "box %zu cannot be inside the one before it, which has content",
                        number);
    return L2K_OK;
}

l2k_status l2k_jp2_check_boxes(const l2k_context *context, const l2k_image *image)
{
    if (image->num_boxes && !image->boxes)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "%zu boxes, but no list of them", image->num_boxes);
    uint64_t total = 0; /* of a top-level box with all boxes inside */
    for (size_t i = 0; i < image->num_boxes; i++) {
        const l2k_box_data *data = &image->boxes[i];
        L2K_TRY(check_box(context, data, i));
        L2K_TRY(check_depth(context, i ? data - 1 : NULL, data, i));
        total = data->depth ? total : 0;
        if (data->bytes > UINT32_MAX || (total += box_bytes(data)) > UINT32_MAX)
            return l2k_fail(context, L2K_ERROR_ARGUMENT, "box %zu: %zu bytes, more than a box holds", i, data->bytes);
    }
    return L2K_OK;
}

static size_t start_box(l2k_buffer *out, const l2k_box_data *data)
{
    const size_t start = out->size;
    l2k_buffer_put(out, 0, 4);
    l2k_buffer_append(out, type_of(data), 4);
    if (uuid_of(data))
        l2k_buffer_append(out, uuid_of(data), UUID_BYTES);
    l2k_buffer_append(out, data->data, data->bytes);
    return start;
}

/* Ends boxes, writing their lengths, until `depth` are open. */
static void end_boxes(l2k_buffer *out, const size_t *starts, uint32_t *open, uint32_t depth)
{
    for (; *open > depth; --*open)
        l2k_buffer_patch(out, starts[*open - 1], out->size - starts[*open - 1], 4);
}

void l2k_jp2_write_extra(l2k_buffer *out, const l2k_image *image)
{
    size_t starts[L2K_JP2_MOST_DEPTH + 1]; /* of the boxes that are open */
    uint32_t open = 0;
    for (size_t i = 0; i < image->num_boxes; i++) {
        end_boxes(out, starts, &open, image->boxes[i].depth);
        starts[open++] = start_box(out, &image->boxes[i]);
    }
    end_boxes(out, starts, &open, 0);
}
