/* What a picture file carries beside samples, colours and density, as it stands in boxes of a JP2 file. */
#ifndef L2K_PICTURES_METADATA_H
#define L2K_PICTURES_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum cli_metadata_kind {
    CLI_XMP,  /* an XMP packet in UTF-8 */
    CLI_EXIF, /* a TIFF stream */
    CLI_IPTC, /* IIM records */
    CLI_GEO,  /* a GeoTIFF file of one pixel, as in a GeoJP2 box: where on earth the picture is */
    CLI_NUM_METADATA
} cli_metadata_kind;

extern const char *const cli_metadata_names[CLI_NUM_METADATA];

typedef struct cli_blob {
    uint8_t *data; /* owned; NULL = there is none */
    size_t bytes;
} cli_blob;

/* A part of a picture, or a smaller one: where it begins, in pixels of the whole, and how many of these each of its
 * pixels is wide. */
typedef struct cli_part {
    double x, y, scale;
} cli_part;

typedef struct cli_metadata {
    cli_blob blobs[CLI_NUM_METADATA];
    cli_part part; /* of what georeferencing is about; scale 0: all of it */
} cli_metadata;

/* Of more bytes than this a picture file's metadata are left out, with a warning. */
#define CLI_MOST_METADATA ((size_t)16 << 20)

/* Keeps a copy, unless there is one of this kind already. Of XMP, zeros at the end are dropped; of Exif, the signature
 * that JPEG files have before it. What cannot be such metadata, or is too long, is left out: with a warning if not
 * `quiet`. Of what is too long, `data` is not read. False only for want of memory, reported. */
bool cli_metadata_keep(cli_metadata *metadata, cli_metadata_kind kind, const void *data, size_t bytes, bool quiet,
                       const char *name);

/* "Exif\0\0", as JPEG files have it. */
bool cli_metadata_has_signature(const uint8_t *data, size_t bytes);

/* Whether the bytes begin as such metadata do. */
bool cli_metadata_is(cli_metadata_kind kind, const uint8_t *data, size_t bytes);

void cli_metadata_free(cli_metadata *metadata);

#endif
