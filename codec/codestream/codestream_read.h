/* Reading the codestream's headers (Annex A): everything before the packets is parsed, and the tile-parts are located.
 * Nothing is decoded here. */
#ifndef L2K_CODEC_CODESTREAM_CODESTREAM_READ_H
#define L2K_CODEC_CODESTREAM_CODESTREAM_READ_H

#include "base/buffer.h"
#include "codec/codestream/header_parser.h"
#include "codec/codestream/limits.h"
#include "codec/tile/coding.h"

/* One tile-part: its marker segments between SOT and SOD, and its packets. */
typedef struct l2k_tile_part_span {
    uint32_t tile;
    uint32_t part;                         /* TPsot */
    const uint8_t *header, *packets, *end; /* packets NULL: its header has not been read yet */
    const uint8_t *packed, *packed_end;    /* its share of PPM, if there is one */
    const uint8_t *lengths, *lengths_end;  /* of PLM, likewise */
    size_t next;                           /* tile-part of the same tile, L2K_NO_PART at the end */
} l2k_tile_part_span;

#define L2K_NO_PART SIZE_MAX

typedef struct l2k_codestream {
    const l2k_context *context;
    const uint8_t *data, *end; /* the caller's, starting at SOC */
    const uint8_t *first;      /* SOT */
    l2k_siz siz;
    l2k_tile_coding coding; /* from the main header */
    char *comment;          /* the first Latin-1 COM, or NULL */
    uint32_t num_tiles;
    l2k_tile_part_span *parts; /* in codestream order */
    size_t *first_part;        /* of each tile, L2K_NO_PART if it has none */
    size_t num_parts, parts_capacity;
    l2k_buffer packed;         /* PPM: packet headers of all tile-parts */
    l2k_buffer packet_lengths; /* PLM, likewise; of no use where there is PPM */
    bool has_packed, has_tlm;
    bool is_listed; /* the tile-parts are those that TLM lists, and their headers are read where a tile is wanted */
    bool has_end;   /* EOC was found */
    bool strict;
} l2k_codestream;

typedef struct l2k_codestream_limits {
    l2k_sample_limits size;
    uint32_t components, tiles;
    bool strict; /* a truncated stream is an error */
} l2k_codestream_limits;

/* Parses the main header and locates the tile-parts. On failure nothing is kept. A stream that ends within or after a
 * tile-part is accepted as far as it reaches, with a warning; has_end is then false. Of a file that is read in parts
 * the tile-parts are those of TLM, if that can be right, unless it is read strictly. */
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

/* Before tiles are decoded: reads the headers of their tile-parts, where TLM alone has named these. Where one of them
 * is not as TLM says, a note says so, all tile-parts are found one after the other, and *changed is set: what is
 * known of their places is of no use any more. Errors: as of l2k_codestream_open. */
l2k_status l2k_codestream_locate(l2k_codestream *codestream, const uint32_t *tiles, uint32_t count, bool *changed);

/* Appends the lengths of packets that the header of a tile-part states, in PLT, or else the main header, in PLM: seven
 * bits a byte, the highest first (A.7.2, A.7.3). Nothing where there are none, or where their indices are wrong. */
l2k_status l2k_codestream_lengths(const l2k_codestream *codestream, const l2k_tile_part_span *part,
                                  l2k_buffer *lengths);

/* Whether PLT is in the header of the first tile-part; not so if that is damaged. */
l2k_status l2k_codestream_has_plt(const l2k_codestream *codestream, bool *has_plt);

/* ---- Stages of opening a codestream (tile_parts.c, lengths.c) ------------------------------------------------- */

/* Makes the tile-parts out of TLM, and links them, where this is of use; codestream->is_listed says whether it was. */
l2k_status l2k_tile_parts_list(l2k_codestream *codestream, const l2k_segment_list *lengths);

/* Locates all tile-parts one after the other, gives them their shares of PPM and PLM, and links them. */
l2k_status l2k_tile_parts_find(l2k_codestream *codestream);

/* Adds one, in codestream order. */
l2k_status l2k_tile_parts_add(l2k_codestream *codestream, l2k_tile_part_span span);

/* Reads the header of a tile-part that was added without it. *is_right: not so where SOT says something else than the
 * tile-part, or the header has no end. *count: of the tile's tile-parts, where SOT says it. */
l2k_status l2k_tile_part_locate(const l2k_codestream *codestream, l2k_tile_part_span *span, unsigned *count,
                                bool *is_right);

/* Locates all tile-parts from the first SOT marker, at `at`, to EOC. */
l2k_status l2k_tile_parts_scan(l2k_codestream *codestream, const uint8_t *at);

/* Gives each tile-part its share of PLM; leaves all without where these are not as many. */
void l2k_tile_parts_share_lengths(l2k_codestream *codestream);

/* Gives each tile-part, in codestream order, its share of PPM (A.7.4). */
l2k_status l2k_tile_parts_share_packed(l2k_codestream *codestream);

/* Links the tile-parts of each tile in the order of TPsot. */
l2k_status l2k_tile_parts_link(l2k_codestream *codestream);

#endif
