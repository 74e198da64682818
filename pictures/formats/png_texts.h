/* Metadata in the text chunks of PNG files. */
#ifndef L2K_PICTURES_FORMATS_PNG_TEXTS_H
#define L2K_PICTURES_FORMATS_PNG_TEXTS_H

#include "pictures/metadata.h"

/* A text is not longer, nor does it become longer than this: metadata of CLI_MOST_METADATA in hexadecimal digits, with
 * ends of lines. */
#define CLI_PNG_MOST_TEXT (3 * CLI_MOST_METADATA)

typedef struct cli_png_text {
    cli_metadata_kind kind;
    const uint8_t *data; /* in the chunk, or in `memory` */
    size_t bytes;        /* 0 if the text is damaged; if it is too long, more than CLI_MOST_METADATA, and no data */
    uint8_t *memory;     /* or NULL; the caller frees it */
} cli_png_text;

/* What a chunk of this type holds; false if that is no metadata. */
bool cli_png_text_read(const char *type, const uint8_t *chunk, size_t bytes, cli_png_text *text);

#endif
