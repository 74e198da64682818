/* The boxes of a JP2 file (Annex I) that the decoder of OPJ_CODEC_JP2 applies. */
#ifndef COMPAT_OPENJP2_BOXES_H
#define COMPAT_OPENJP2_BOXES_H

#include "compat/openjp2/events.h"
#include "compat/openjp2/streams.h"

typedef struct jp2_mapping {
    uint16_t component;
    uint8_t type, column;
} jp2_mapping;

typedef struct jp2_definition {
    uint16_t channel, type, association;
} jp2_definition;

typedef struct jp2_boxes {
    uint64_t codestream; /* where it starts */
    bool has_header, has_colour;
    uint32_t width, height, num_components, depth; /* of ihdr; 0 before it */
    uint32_t method, enumerated;
    uint8_t *profile; /* ICC */
    uint32_t profile_bytes;
    uint32_t entries, columns; /* palette */
    uint32_t *palette;         /* entry by entry */
    uint8_t *column_depth;     /* as stored: bit 7 signed, precision - 1 */
    jp2_mapping *mapping;      /* cmap, one for each column, or NULL */
    jp2_definition *definitions;
    uint32_t num_definitions;
} jp2_boxes;

/* Reads boxes up to the codestream. False, after an error message, if OpenJPEG would not accept them. */
bool boxes_read(jp2_boxes *b, stream *s, const events *handlers);
void boxes_clear(jp2_boxes *b);

/* The enumerated colour spaces (Table I.10, M.11.7.3.1) with a name in OpenJPEG; ends with 0. */
extern const struct boxes_space {
    uint32_t number;
    OPJ_COLOR_SPACE space;
} boxes_spaces[];

/* Applies palette and channel definitions to a decoded image. */
bool boxes_apply(jp2_boxes *b, opj_image_t *image, const events *handlers);

#endif
