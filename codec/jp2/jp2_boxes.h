/* Box types and numbers of Annex I, and the readers of single boxes. Internal to this folder. */
#ifndef L2K_CODEC_JP2_JP2_BOXES_H
#define L2K_CODEC_JP2_JP2_BOXES_H

#include "codec/jp2/jp2.h"

#define L2K_BOX(a, b, c, d) ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

enum { L2K_JP2_SIGNATURE = 0x0D0A870A };

/* Association boxes of sound files nest, too, but not this deep. */
enum { L2K_JP2_MOST_DEPTH = 16 };

/* An enumerated colour space (Table I.10 and its amendments). */
typedef struct l2k_enumerated {
    l2k_colour colour;
    uint8_t code;    /* EnumCS */
    uint8_t feature; /* of JPX (15444-2, Table M.14), if JP2 lacks the colour; else 0 */
} l2k_enumerated;

enum { L2K_ENUM_SRGB = 16, L2K_ENUM_GRAY = 17 };

/* The colour space with that EnumCS, or that colour; NULL if there is none. */
const l2k_enumerated *l2k_jp2_enumerated(uint32_t code, l2k_colour colour);

/* The content of a box. */
typedef struct l2k_box_bytes {
    const uint8_t *data, *end;
} l2k_box_bytes;

static inline size_t l2k_box_length(l2k_box_bytes s)
{
    return (size_t)(s.end - s.data);
}

/* Reports "box 'NAME': what" as damage. */
l2k_status l2k_jp2_wrong(const l2k_jp2 *jp2, const char *box, const char *what);

/* Reports something readable that the standard forbids: a warning, or damage if the file is read strictly. */
l2k_status l2k_jp2_tolerate(const l2k_jp2 *jp2, const char *box, const char *what);

/* As l2k_check_memory. */
l2k_status l2k_jp2_check_memory(const l2k_jp2 *jp2, bool obtained);

l2k_status l2k_jp2_read_image_header(l2k_jp2 *jp2, l2k_box_bytes s);
l2k_status l2k_jp2_read_colour(l2k_jp2 *jp2, l2k_box_bytes s);
l2k_status l2k_jp2_read_palette(l2k_jp2 *jp2, l2k_box_bytes s);
l2k_status l2k_jp2_read_channel_map(l2k_jp2 *jp2, l2k_box_bytes s);
l2k_status l2k_jp2_read_definitions(l2k_jp2 *jp2, l2k_box_bytes s);
l2k_status l2k_jp2_read_density(l2k_jp2 *jp2, l2k_box_bytes s, bool capture);

/* Whether the file, with a codestream of this Rsiz, has GML and must announce it to JPX readers. */
bool l2k_jp2_has_gml(const l2k_image *image, uint32_t rsiz);

/* The bytes of an entry of the reader requirements box; and of the rest of that box with an entry of the file type
 * box. */
enum { L2K_JPX_ENTRY_BYTES = 3, L2K_JPX_BYTES = 22 };

/* Writes the image's additional boxes. */
void l2k_jp2_write_extra(l2k_buffer *out, const l2k_image *image);

#endif
