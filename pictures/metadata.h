/* What a picture file carries besides samples, colours and density, in the form of a JP2 file's boxes. */
#ifndef L2K_PICTURES_METADATA_H
#define L2K_PICTURES_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lift2k/lift2k.h"

/* Kinds are the library's from L2K_CONTENT_XMP to L2K_CONTENT_GEOTIFF, a file of one pixel. */
enum { CLI_NUM_METADATA = L2K_CONTENT_GEOTIFF + 1 };

extern const char *const cli_metadata_names[CLI_NUM_METADATA];

typedef struct cli_blob {
    uint8_t *data; /* owned; NULL: none */
    size_t bytes;
} cli_blob;

/* A part of a picture, or a smaller one: its origin, in pixels of the whole, and the width of its pixels in these. */
typedef struct cli_part {
    double x, y, scale;
} cli_part;

typedef struct cli_metadata {
    cli_blob blobs[CLI_NUM_METADATA];
    cli_part part; /* of the georeferenced picture; scale 0: all of it */
} cli_metadata;

/* Larger metadata of a picture file are left out, with a warning. */
#define CLI_MOST_METADATA ((size_t)16 << 20)

/* Keeps a copy of the first of this kind. Drops zeros at the end of XMP, and the signature that JPEG files have before
 * Exif. Leaves out data that cannot be such metadata, or is too long, with a warning if not `quiet`; it does not read
 * `data` that is too long; with 0 bytes they are damaged. False only for want of memory, reported. */
bool cli_metadata_keep(cli_metadata *metadata, l2k_content kind, const void *data, size_t bytes, bool quiet,
                       const char *name);

/* Narrows bytes to the IIM records among image resources of Photoshop; false if there are none: skips the resources. */
bool cli_metadata_find_iptc(const uint8_t **at, const uint8_t **end);

/* "Exif\0\0", as JPEG files have it. */
bool cli_metadata_has_signature(const uint8_t *data, size_t bytes);

/* Whether the bytes begin like metadata of this kind. */
bool cli_metadata_is(l2k_content kind, const uint8_t *data, size_t bytes);

void cli_metadata_free(cli_metadata *metadata);

#endif
