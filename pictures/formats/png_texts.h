/* Metadata in the text chunks of PNG files. */
#ifndef L2K_PICTURES_FORMATS_PNG_TEXTS_H
#define L2K_PICTURES_FORMATS_PNG_TEXTS_H

#include "pictures/metadata.h"

/* The most bytes of a text, compressed or not: metadata of CLI_MOST_METADATA in hexadecimal digits, with line ends. */
#define CLI_PNG_MOST_TEXT (3 * CLI_MOST_METADATA)

typedef struct cli_png_text {
    l2k_content kind;
    const uint8_t *data; /* in the chunk, or in `memory` */
    size_t bytes;        /* 0 if the text is damaged; if it is too long, more than CLI_MOST_METADATA, and no data */
    uint8_t *memory;     /* or NULL; the caller frees it */
} cli_png_text;

/* Reads the metadata of a chunk of this type; false if it has none. */
bool cli_png_text_read(const char *type, const uint8_t *chunk, size_t bytes, cli_png_text *text);

#endif
