/* Reading the codestream's headers (Annex A): everything before the packets is parsed, and the tile-parts are located.
 * Nothing is decoded here. */
#ifndef L2K_CODEC_CODESTREAM_CODESTREAM_READ_H
#define L2K_CODEC_CODESTREAM_CODESTREAM_READ_H

#include "base/buffer.h"
#include "codec/tile/coding.h"
#include "codec/codestream/limits.h"

/* One tile-part: its marker segments between SOT and SOD, and its packets. */
typedef struct l2k_tile_part_span {
    uint32_t tile;
    uint32_t part; /* TPsot */
    const uint8_t *header, *packets, *end;
    const uint8_t *packed, *packed_end; /* its share of PPM, if there is one */
    size_t next;                        /* tile-part of the same tile, L2K_NO_PART at the end */
} l2k_tile_part_span;

#define L2K_NO_PART SIZE_MAX

typedef struct l2k_codestream {
    const l2k_context *context;
    const uint8_t *data, *end; /* the caller's, starting at SOC */
    l2k_siz siz;
    l2k_tile_coding coding; /* from the main header */
    char *comment;          /* the first Latin-1 COM, or NULL */
    uint32_t num_tiles;
    l2k_tile_part_span *parts; /* in codestream order */
    size_t *first_part;        /* of each tile, L2K_NO_PART if it has none */
    size_t num_parts, parts_capacity;
    l2k_buffer packed; /* PPM: packet headers of all tile-parts */
    bool has_packed;
    bool has_end; /* EOC was found */
    bool strict;
} l2k_codestream;

typedef struct l2k_codestream_limits {
    l2k_sample_limits size;
    uint32_t components, tiles;
    bool strict; /* a truncated stream is an error */
} l2k_codestream_limits;

/* Parses the main header and locates the tile-parts. On failure nothing is kept. A stream that ends within or after a
 * tile-part is accepted as far as it reaches, with a warning; has_end is then false. */
l2k_status l2k_codestream_open(const l2k_context *context, const uint8_t *data, size_t bytes,
                               const l2k_codestream_limits *limits, l2k_codestream *codestream);
void l2k_codestream_close(l2k_codestream *codestream);

/* The packed packet headers of a whole tile. */
typedef struct l2k_packed_headers {
    bool used;
    l2k_buffer bytes;
} l2k_packed_headers;

/* The coding parameters of one tile: the main header's, overridden by those in its tile-part headers; and its packed
 * packet headers, from PPM or PPT. The caller releases both, also after an error. */
l2k_status l2k_codestream_tile_coding(const l2k_codestream *codestream, uint32_t tile, l2k_tile_coding *coding,
                                      l2k_packed_headers *packed);

/* ---- Stages of opening a codestream (tile_parts.c) ----------------------------------------------------------- */

/* Locates all tile-parts from the first SOT marker, at `at`, to EOC. */
l2k_status l2k_tile_parts_walk(l2k_codestream *codestream, const uint8_t *at);

/* Gives each tile-part, in codestream order, its share of PPM (A.7.4). */
l2k_status l2k_tile_parts_share_packed(l2k_codestream *codestream);

/* Links the tile-parts of each tile in the order of TPsot. */
l2k_status l2k_tile_parts_link(l2k_codestream *codestream);

#endif
