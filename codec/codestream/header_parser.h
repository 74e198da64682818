/* Marker segments one by one: a table says where each is legal and who reads it. */
#ifndef L2K_CODEC_CODESTREAM_HEADER_PARSER_H
#define L2K_CODEC_CODESTREAM_HEADER_PARSER_H

#include "codec/tile/coding.h"

/* A marker and, where it has them, its parameters (without the length). */
typedef struct l2k_segment {
    uint32_t marker;
    const uint8_t *data, *end;
} l2k_segment;

typedef enum l2k_header_kind {
    L2K_MAIN_HEADER = 1,
    L2K_FIRST_PART_HEADER = 2,
    L2K_LATER_PART_HEADER = 4
} l2k_header_kind;

/* A big-endian integer of 1 to 4 bytes. */
static inline uint32_t l2k_get_be(const uint8_t *data, unsigned bytes)
{
    uint32_t value = 0;
    while (bytes-- > 0)
        value = value << 8 | *data++;
    return value;
}

/* "COD", or "an unknown marker" for a code without a name here; static. */
const char *l2k_marker_name(uint32_t marker);

/* Reads the marker (and its segment) at *at and moves *at behind it. */
l2k_status l2k_segment_next(const l2k_context *context, const uint8_t **at, const uint8_t *end, l2k_segment *segment);

/* Whether to go on, which is asked where the way from one place in the file to another enters another 64 KiB of it. */
l2k_status l2k_check_way(const l2k_context *context, const uint8_t *from, const uint8_t *to);

/* SIZ; siz->components is allocated. Everything is checked but limits and the number of tiles. */
l2k_status l2k_parse_siz(const l2k_context *context, const l2k_segment *segment, l2k_siz *siz);

/* The PPM segments of the main header or the PPT segments of a tile-part header, by Zppm or Zppt (A.7.4, A.7.5). */
typedef struct l2k_packed_segments {
    unsigned count;
    struct {
        const uint8_t *data; /* NULL = not there */
        uint32_t bytes;
    } segments[256];
} l2k_packed_segments;

/* All marker segments from *at up to SOT (main header; *at stays on it) or SOD, into `coding`, whose component array
 * exists. `comment`, where not NULL, gets the first Latin-1 comment, allocated; `packed` gets the
 * packed packet headers. A marker that changes the meaning of the data and is not implemented is
 * L2K_ERROR_UNSUPPORTED, by name. */
l2k_status l2k_parse_header(const l2k_context *context, const l2k_siz *siz, l2k_header_kind kind, const uint8_t **at,
                            const uint8_t *end, l2k_tile_coding *coding, char **comment, l2k_packed_segments *packed);

#endif
