/* Reads the box structure of a JP2 file (I.4): lists all boxes, parses those that matter, and finds the codestream. */
#include "codec/jp2/jp2_boxes.h"

#include <string.h>

#include "base/memory.h"
#include "base/partial.h"
#include "base/run.h"

l2k_status l2k_jp2_wrong(const l2k_jp2 *jp2, const char *box, const char *what)
{
    return l2k_fail(jp2->context, L2K_ERROR_CORRUPT, "box '%s': %s", box, what);
}

l2k_status l2k_jp2_tolerate(const l2k_jp2 *jp2, const char *box, const char *what)
{
    if (jp2->strict)
        return l2k_jp2_wrong(jp2, box, what);
    l2k_warn(jp2->context, "box '%s': %s", box, what);
    return L2K_OK;
}

l2k_status l2k_jp2_check_memory(const l2k_jp2 *jp2, bool obtained)
{
    return l2k_check_memory(jp2->context, obtained, "the boxes of a JP2 file");
}

/* ---- The box structure (I.4) --------------------------------------------------------------------------------- */

typedef struct box {
    uint32_t type;
    l2k_box_bytes content;
    const uint8_t *start;
} box;

/* Work per box, for l2k_poll: the next one may have to come from a slow disk. */
enum { WEIGHT_OF_BOX = 1024 };

static l2k_status add_box(l2k_jp2 *jp2, const box *b, uint32_t depth)
{
    L2K_TRY(l2k_poll(jp2->context, WEIGHT_OF_BOX));
    if (jp2->num_boxes == jp2->boxes_capacity) {
        size_t capacity = 2 * jp2->boxes_capacity + 16;
        l2k_box *boxes = l2k_enlarge(jp2->context, jp2->boxes, jp2->num_boxes, capacity, sizeof *boxes);
        L2K_TRY(l2k_jp2_check_memory(jp2, boxes));
        jp2->boxes = boxes;
        jp2->boxes_capacity = capacity;
    }
    l2k_box *out = &jp2->boxes[jp2->num_boxes++];
    *out = (l2k_box){
        .depth = depth, .offset = (uint64_t)(b->start - jp2->file), .bytes = (uint64_t)(b->content.end - b->start)};
    for (int i = 0; i < 4; i++) {
        char c = (char)(b->type >> (24 - 8 * i));
        out->type[i] = c >= ' ' && c <= '~' ? c : '?';
    }
    return L2K_OK;
}

/* Reads LBox, or XLBox if LBox is 1; 0 marks a last box that extends to the end. *head advances past these and TBox;
 * false if the data ends before that. */
static bool read_length(const uint8_t **head, size_t left, uint64_t *length)
{
    const uint8_t *at = *head;
    if (left < 8)
        return false;
    *length = l2k_get_be(at, 4);
    *head = at + 8;
    if (*length == 0)
        *length = left;
    if (*length != 1)
        return true;
    if (left < 16)
        return false;
    *length = (uint64_t)l2k_get_be(at + 8, 4) << 32 | l2k_get_be(at + 12, 4);
    *head = at + 16;
    return true;
}

/* Reads the box at *at, which must end by `end`, and advances *at past it. */
static l2k_status next_box(const l2k_jp2 *jp2, const uint8_t **at, const uint8_t *end, box *b)
{
    size_t left = (size_t)(end - *at);
    uint64_t length;
    L2K_TRY(l2k_need_header(jp2->context, *at, 16, end));
    b->start = b->content.data = *at;
    if (!read_length(&b->content.data, left, &length))
        return l2k_fail(jp2->context, L2K_ERROR_TRUNCATED, "the file ends in the head of a box");
    b->type = l2k_get_be(*at + 4, 4);
    if (length < (size_t)(b->content.data - b->start))
        return l2k_fail(jp2->context, L2K_ERROR_CORRUPT, "a box of %llu bytes", (unsigned long long)length);
    if (length > left && b->type == L2K_BOX('j', 'p', '2', 'c'))
        length = left; /* a careless writer or a truncated file; reading the codestream will tell */
    if (length > left)
        return l2k_fail(jp2->context, L2K_ERROR_TRUNCATED, "the file ends in box '%c%c%c%c'", b->type >> 24 & 0x7F,
                        b->type >> 16 & 0x7F, b->type >> 8 & 0x7F, b->type & 0x7F);
    b->content.end = *at += length;
    return L2K_OK;
}

static l2k_status read_superbox(l2k_jp2 *jp2, l2k_box_bytes content, uint32_t depth, bool lists);

/* Reads boxes on which the picture does not depend: tolerates damage in them, for the caller to report. */
static l2k_status read_beside(l2k_jp2 *jp2, l2k_box_bytes content, uint32_t depth, bool lists, bool *damaged)
{
    const l2k_context *context = jp2->context;
    l2k_context silent = *context;
    silent.hooks.message = NULL;
    jp2->context = jp2->strict ? context : &silent;
    l2k_status status = read_superbox(jp2, content, depth, lists);
    jp2->context = context;
    *damaged = status != L2K_OK;
    if (status == L2K_OK || jp2->strict)
        return status;
    if (status == L2K_ERROR_MEMORY || status == L2K_ERROR_LIMIT)
        return l2k_jp2_check_memory(jp2, false); /* not reported yet */
    if (status == L2K_ERROR_CANCELLED)
        return l2k_poll(context, 0); /* reports it */
    if (status == L2K_ERROR_IO)
        return l2k_fail(context, status, "reading failed");
    return L2K_OK;
}

static l2k_status read_resolution(l2k_jp2 *jp2, l2k_box_bytes content, uint32_t depth)
{
    bool damaged;
    if (depth > 2)
        return l2k_jp2_tolerate(jp2, "res ", "inside itself");
    L2K_TRY(read_beside(jp2, content, depth, false, &damaged));
    if (!damaged)
        return L2K_OK;
    jp2->density_x = jp2->density_y = 0;
    return l2k_jp2_tolerate(jp2, "res ", "damaged, ignored");
}

static bool is_listed_inside(uint32_t type)
{
    return type == L2K_BOX('a', 's', 'o', 'c') || type == L2K_BOX('u', 'i', 'n', 'f');
}

static l2k_status list_inside(l2k_jp2 *jp2, const box *b)
{
    bool damaged;
    L2K_TRY(read_beside(jp2, b->content, 1, true, &damaged));
    if (damaged && !jp2->warned_inside)
        l2k_warn(jp2->context, "box '%s': boxes in it are damaged, and not all are listed",
                 b->type == L2K_BOX('a', 's', 'o', 'c') ? "asoc" : "uinf");
    jp2->warned_inside |= damaged;
    return L2K_OK;
}

static l2k_status read_header_box(l2k_jp2 *jp2, const box *b)
{
    switch (b->type) {
    case L2K_BOX('i', 'h', 'd', 'r'):
        return l2k_jp2_read_image_header(jp2, b->content);
    case L2K_BOX('c', 'o', 'l', 'r'):
        return l2k_jp2_read_colour(jp2, b->content);
    case L2K_BOX('p', 'c', 'l', 'r'):
        return l2k_jp2_read_palette(jp2, b->content);
    case L2K_BOX('c', 'm', 'a', 'p'):
        return l2k_jp2_read_channel_map(jp2, b->content);
    case L2K_BOX('c', 'd', 'e', 'f'):
        return l2k_jp2_read_definitions(jp2, b->content);
    default:
        return L2K_OK;
    }
}

/* Boxes on which the picture depends are read in the header box only, since damage in the resolution box is ignored. */
static l2k_status read_inner_box(l2k_jp2 *jp2, const box *b, uint32_t depth)
{
    switch (b->type) {
    case L2K_BOX('r', 'e', 's', ' '):
        return read_resolution(jp2, b->content, depth + 1);
    case L2K_BOX('r', 'e', 's', 'c'):
        return l2k_jp2_read_density(jp2, b->content, true);
    case L2K_BOX('r', 'e', 's', 'd'):
        return l2k_jp2_read_density(jp2, b->content, false);
    default:
        return depth == 1 ? read_header_box(jp2, b) : L2K_OK;
    }
}

/* The header box (depth 1), or the resolution box inside it (2); or lists boxes that are not read. Any order of boxes is
 * accepted. */
static l2k_status read_superbox(l2k_jp2 *jp2, l2k_box_bytes content, uint32_t depth, bool lists)
{
    const uint8_t *at = content.data;
    while (at < content.end) {
        box b;
        L2K_TRY(next_box(jp2, &at, content.end, &b));
        L2K_TRY(add_box(jp2, &b, depth));
        if (!lists)
            L2K_TRY(read_inner_box(jp2, &b, depth));
        else if (is_listed_inside(b.type) && depth < L2K_JP2_MOST_DEPTH)
            L2K_TRY(read_superbox(jp2, b.content, depth + 1, true));
    }
    return L2K_OK;
}

/* Whether a box extends past the end of the file. No box after the codestream is needed. */
static bool box_is_cut(const uint8_t *at, const uint8_t *end)
{
    uint64_t length;
    const uint8_t *head = at;
    return !read_length(&head, (size_t)(end - at), &length) || length > (size_t)(end - at);
}

/* The name of a box that should have been in the header box but was not; NULL for other boxes. */
static const char *missing_in_header(const l2k_jp2 *jp2, uint32_t type)
{
    switch (type) {
    case L2K_BOX('p', 'c', 'l', 'r'):
        return jp2->palette.values ? NULL : "pclr";
    case L2K_BOX('c', 'm', 'a', 'p'):
        return jp2->palette.values && !jp2->channels ? "cmap" : NULL;
    case L2K_BOX('c', 'd', 'e', 'f'):
        return jp2->definitions ? NULL : "cdef";
    default:
        return NULL;
    }
}

/* A box at the top level, after the header box. */
static l2k_status read_outer_box(l2k_jp2 *jp2, const box *b)
{
    const char *missing = missing_in_header(jp2, b->type);
    if (!missing)
        return L2K_OK;
    L2K_TRY(l2k_need(jp2->context, b->content.data, b->content.end));
    L2K_TRY(l2k_jp2_tolerate(jp2, missing, "it follows the header box instead of being inside"));
    return read_inner_box(jp2, b, 1);
}

static l2k_status take_box(l2k_jp2 *jp2, const box *b, bool *header)
{
    if (b->type == L2K_BOX('j', 'p', '2', 'h') && !*header) {
        *header = true;
        L2K_TRY(l2k_need(jp2->context, b->content.data, b->content.end));
        return read_superbox(jp2, b->content, 1, false);
    }
    if (b->type == L2K_BOX('j', 'p', '2', 'c') && jp2->codestream_bytes == 0) {
        jp2->codestream_at = (size_t)(b->content.data - jp2->file);
        jp2->codestream_bytes = l2k_box_length(b->content);
        return L2K_OK;
    }
    if (is_listed_inside(b->type))
        return list_inside(jp2, b);
    return *header ? read_outer_box(jp2, b) : L2K_OK;
}

static l2k_status read_boxes(l2k_jp2 *jp2, size_t bytes)
{
    const uint8_t *at = jp2->file, *end = at + bytes;
    bool header = false;
    while (at < end) {
        box b;
        L2K_TRY(l2k_need_header(jp2->context, at, 16, end));
        if (jp2->codestream_bytes && box_is_cut(at, end)) {
            l2k_warn(jp2->context, "the file ends in a box after the codestream");
            break;
        }
        L2K_TRY(next_box(jp2, &at, end, &b));
        L2K_TRY(add_box(jp2, &b, 0));
        L2K_TRY(take_box(jp2, &b, &header));
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

l2k_status l2k_jp2_open(const l2k_context *context, const uint8_t *data, size_t bytes, bool strict, l2k_jp2 *jp2)
{
    *jp2 = (l2k_jp2){.context = context, .file = data, .strict = strict};
    l2k_status status = read_boxes(jp2, bytes);
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
