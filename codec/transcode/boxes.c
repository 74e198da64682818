/* The boxes of a transcoded JP2 file: those of the input, but for the brand, which tells JPH from JP2 (Annex D of T.814),
 * and the size in the image header box. */
#include "codec/transcode/transcode.h"

#include <string.h>

#include "base/integer.h"
#include "base/partial.h"

static const l2k_box *find_box(const l2k_jp2 *jp2, const char *type, uint32_t depth)
{
    for (size_t i = 0; i < jp2->num_boxes; i++)
        if (jp2->boxes[i].depth == depth && strcmp(jp2->boxes[i].type, type) == 0)
            return &jp2->boxes[i];
    return NULL;
}

/* The brand, its version, and the list of compatible brands. */
static void change_brands(const l2k_box *box, bool is_ht, uint8_t *file)
{
    for (uint64_t at = 8; at + 4 <= box->bytes; at += at == 8 ? 8 : 4)
        if (memcmp(file + box->offset + at, is_ht ? "jp2 " : "jph ", 4) == 0)
            memcpy(file + box->offset + at, is_ht ? "jph " : "jp2 ", 4);
}

l2k_status l2k_transcode_boxes(l2k_transcoding *t)
{
    const l2k_decoder *decoder = t->decoder;
    const l2k_jp2 *jp2 = &decoder->jp2;
    const l2k_box *codestream = find_box(jp2, "jp2c", 0), *brands = find_box(jp2, "ftyp", 0),
                  *header = find_box(jp2, "ihdr", 1);
    l2k_encoding *e = &t->encoder->encoding;
    l2k_buffer *to = &e->boxes;
    const size_t bytes = (size_t)codestream->offset;
    const l2k_rect image = e->siz.grid.image;
    L2K_TRY(l2k_need(&decoder->context, decoder->data, decoder->data + bytes));
    l2k_buffer_append(to, decoder->data, bytes);
    l2k_buffer_put(to, 0, 4);
    l2k_buffer_append(to, "jp2c", 4);
    L2K_TRY(l2k_buffer_status(to));
    if (brands && brands->offset < bytes)
        change_brands(brands, e->coding.capabilities.parts, to->data);
    if (header && header->offset < bytes && header->bytes >= 16 && decoder->options[L2K_DECODER_REDUCE]) {
        l2k_buffer_patch(to, (size_t)header->offset + 8, l2k_rect_height(image), 4);
        l2k_buffer_patch(to, (size_t)header->offset + 12, l2k_rect_width(image), 4);
    }
    return L2K_OK;
}
