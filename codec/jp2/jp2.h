/* The JP2 file format (Annex I): boxes around a codestream. */
#ifndef L2K_CODEC_JP2_JP2_H
#define L2K_CODEC_JP2_JP2_H

#include "base/buffer.h"

enum { L2K_MOST_ENTRIES = 1024 };

/* One entry of the component mapping box (I.5.3.5). */
typedef struct l2k_channel_map {
    uint16_t component;
    bool through_palette;
    uint8_t column;
} l2k_channel_map;

/* One entry of the channel definition box (I.5.3.6). */
typedef struct l2k_channel_definition {
    uint16_t channel, type, association;
} l2k_channel_definition;

/* The palette box (I.5.3.4): entries x columns values, row by row. */
typedef struct l2k_palette {
    uint32_t num_entries, num_columns;
    uint8_t precision[255];
    bool is_signed[255];
    int32_t *values;
} l2k_palette;

/* A palette to write: 8-bit values, entry by entry; the fourth value of an entry is opacity. */
typedef struct l2k_new_palette {
    uint32_t num_entries, num_columns; /* no entries: none */
    uint8_t values[4 * L2K_MOST_ENTRIES];
} l2k_new_palette;

typedef struct l2k_jp2 {
    const l2k_context *context;
    const uint8_t *file; /* while it is opened */
    bool strict;         /* readable violations of the standard are errors */
    bool warned_inside;  /* a box beside the picture was reported as damaged; reported only once */
    l2k_box *boxes;
    size_t num_boxes, boxes_capacity;
    size_t codestream_at, codestream_bytes;
    l2k_colour colour;
    const uint8_t *icc; /* into the file's bytes */
    size_t icc_bytes;
    l2k_lab lab;
    double density_x, density_y; /* pixels per metre, 0 = unknown */
    l2k_palette palette;
    l2k_channel_map *channels;
    size_t num_channels; /* 0 = no component mapping */
    l2k_channel_definition *definitions;
    size_t num_definitions;
} l2k_jp2;

/* Whether the bytes start with the JP2 signature box. */
bool l2k_jp2_detect(const uint8_t *data, size_t bytes);

/* Parses all boxes; `data` must outlive `jp2`. A file without a header box is accepted with a warning. */
l2k_status l2k_jp2_open(const l2k_context *context, const uint8_t *data, size_t bytes, bool strict, l2k_jp2 *jp2);

/* Describes the content of a listed box of the opened `file`. The bytes of the box must have been read (l2k_need). */
void l2k_jp2_describe_box(const uint8_t *file, const l2k_box *box, l2k_box_data *data);

/* is_alike: whether the first three components are of one size and kind, as the component transform needs (G.2).
 * is_rgb: whether they are the image's only colours, or the image says that they are RGB. */
bool l2k_image_is_alike(const l2k_image *image);
bool l2k_image_is_rgb(const l2k_image *image);

/* L2K_ERROR_ARGUMENT for boxes of an image that cannot be written. */
l2k_status l2k_jp2_check_boxes(const l2k_context *context, const l2k_image *image);

/* The feature (15444-2, Table M.14) that a colour needs and JP2 lacks: with a codestream of this Rsiz the file is JPX,
 * not JP2. 0 for colours of JP2, and in a JPH file. */
unsigned l2k_jp2_jpx_feature(const l2k_image *image, uint32_t rsiz);

/* The bytes that the image's boxes take in the head, with a codestream of this Rsiz. */
size_t l2k_jp2_extra_bytes(const l2k_image *image, uint32_t rsiz);

/* Call when the number of codestream components is known: drops a palette without component mapping, and repairs a
 * mapping that makes no sense. */
l2k_status l2k_jp2_settle_palette(l2k_jp2 *jp2, uint32_t num_components);
void l2k_jp2_close(l2k_jp2 *jp2);

/* Writes signature, file type and header boxes, and the head of a codestream box of `codestream_bytes` bytes, or, for
 * 0, of a box that extends to the end of the file (LBox 0). `rsiz`, of the codestream, makes it a JPH file (Annex D of
 * T.814) if it has HT code-blocks. Returns the offset of the codestream box. */
size_t l2k_jp2_write_head(l2k_buffer *out, const l2k_image *image, const l2k_new_palette *palette, uint32_t rsiz,
                          uint64_t codestream_bytes);

#endif
