/* What the readers of single boxes share; jp2_read.c has the box structure. */
#ifndef L2K_CODEC_JP2_JP2_READ_H
#define L2K_CODEC_JP2_JP2_READ_H

#include "codec/jp2/jp2.h"

/* The content of a box. */
typedef struct l2k_box_bytes {
    const uint8_t *data, *end;
} l2k_box_bytes;

static inline size_t l2k_box_length(l2k_box_bytes s)
{
    return (size_t)(s.end - s.data);
}

/* "box 'NAME': what", as damage. */
l2k_status l2k_jp2_wrong(const l2k_jp2 *jp2, const char *box, const char *what);

/* The same for what the standard forbids and yet can be read: a warning, or damage where the file is read strictly. */
l2k_status l2k_jp2_tolerate(const l2k_jp2 *jp2, const char *box, const char *what);

l2k_status l2k_jp2_out_of_memory(const l2k_jp2 *jp2);

l2k_status l2k_jp2_read_image_header(l2k_jp2 *jp2, l2k_box_bytes s);
l2k_status l2k_jp2_read_colour(l2k_jp2 *jp2, l2k_box_bytes s);
l2k_status l2k_jp2_read_palette(l2k_jp2 *jp2, l2k_box_bytes s);
l2k_status l2k_jp2_read_channel_map(l2k_jp2 *jp2, l2k_box_bytes s);
l2k_status l2k_jp2_read_definitions(l2k_jp2 *jp2, l2k_box_bytes s);
l2k_status l2k_jp2_read_density(l2k_jp2 *jp2, l2k_box_bytes s, bool capture);

#endif
