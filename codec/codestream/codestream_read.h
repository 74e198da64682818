/* Reading the codestream's headers (Annex A): everything before the packets is parsed, and the tile-parts are located.
 * Nothing is decoded here. */
#ifndef L2K_CODEC_CODESTREAM_CODESTREAM_READ_H
#define L2K_CODEC_CODESTREAM_CODESTREAM_READ_H

#include "base/buffer.h"
#include "codec/codestream/header_parser.h"
#include "codec/tile/coding.h"
#include "tiling/geometry.h"

/* Limits on what a file may need. Blank samples take almost no bytes in a codestream, so a few bytes could require any
 * amount of memory: by default the limits are proportional to the file's size, with a minimum that suffices for blank
 * pictures. */
typedef struct l2k_sample_limits {
    uint64_t samples; /* all components together */
    uint64_t bytes;   /* of these samples, in the smallest types that hold them */
    uint64_t file_bytes;
} l2k_sample_limits;

/* The limits for a value of L2K_DECODER_LIMIT_SAMPLES, 0 = by the file's size. */
l2k_sample_limits l2k_limit_samples(int64_t option, uint64_t file_bytes);

/* The limit for a value of L2K_DECODER_LIMIT_MEMORY, 0 = by the file's size. */
uint64_t l2k_limit_memory(int64_t option, uint64_t file_bytes);

/* L2K_ERROR_LIMIT if an image with these components is too large; L2K_ERROR_CORRUPT if a component has no samples. */
l2k_status l2k_check_samples(const l2k_context *context, const l2k_sample_limits *limits, l2k_rect image,
                             uint32_t num_components, const l2k_component *components);

/* One tile-part: its marker segments between SOT and SOD, and its packets. */
typedef struct l2k_tile_part_span {
    uint32_t tile;
    uint32_t part;                         /* TPsot */
    const uint8_t *header, *packets, *end; /* packets NULL: the header has not been read yet */
    const uint8_t *packed, *packed_end;    /* its share of PPM, if any */
    const uint8_t *lengths, *lengths_end;  /* its share of PLM, if any */
    size_t next;                           /* next tile-part of the same tile, L2K_NO_PART at the end */
} l2k_tile_part_span;

#define L2K_NO_PART SIZE_MAX

typedef struct l2k_codestream {
    const l2k_context *context;
    const uint8_t *data, *end; /* owned by the caller, starting at SOC */
    const uint8_t *first;      /* the first SOT */
    l2k_siz siz;
    l2k_tile_coding coding; /* from the main header */
    char *comment;          /* the first Latin-1 COM, or NULL */
    uint32_t num_tiles;
    l2k_tile_part_span *parts; /* in codestream order */
    size_t *first_part;        /* of each tile, L2K_NO_PART if it has no tile-part */
    size_t num_parts, parts_capacity;
    l2k_buffer packed;         /* PPM: packet headers of all tile-parts */
    l2k_buffer packet_lengths; /* PLM: packet lengths of all tile-parts; unused if there is PPM */
    bool has_packed, has_tlm;
    bool is_listed; /* the tile-parts are those that TLM lists; their headers are read when a tile is wanted */
    bool has_end;   /* EOC was found */
    bool strict;
} l2k_codestream;

typedef struct l2k_codestream_limits {
    l2k_sample_limits size;
    uint32_t components, tiles;
    bool strict; /* a truncated stream is an error */
} l2k_codestream_limits;

/* Parses the main header and locates the tile-parts. On failure nothing is kept. A stream that ends within or after a
 * tile-part is accepted as far as it reaches, with a warning; has_end is then false. If a file is read in parts and TLM
 * is plausible, takes the tile-parts from TLM, unless the file is read strictly. */
l2k_status l2k_codestream_open(const l2k_context *context, const uint8_t *data, size_t bytes,
                               const l2k_codestream_limits *limits, l2k_codestream *codestream);
void l2k_codestream_close(l2k_codestream *codestream);

/* Takes more bytes of an open codestream: `data` begins with those that it has, which are still at their old place,
 * too. The last tile-part goes on, and others may follow. Errors as above; it then can only be closed. */
l2k_status l2k_codestream_extend(l2k_codestream *codestream, const uint8_t *data, size_t bytes);

/* The packed packet headers of a whole tile. */
typedef struct l2k_packed_headers {
    bool used;
    l2k_buffer bytes;
} l2k_packed_headers;

/* The coding parameters of one tile: the main header's, overridden by those of its tile-part headers; and its packed
 * packet headers, from PPM or PPT. The caller releases both, also after an error. */
l2k_status l2k_codestream_tile_coding(const l2k_codestream *codestream, uint32_t tile, l2k_tile_coding *coding,
                                      l2k_packed_headers *packed);

/* Call before tiles are decoded: reads the headers of their tile-parts, if so far only TLM lists these. If one of them
 * differs from TLM, makes a note, finds all tile-parts one after the other and sets *changed: their known places no
 * longer hold. `share`: 1 / 2^share of the bytes of a tile-part are read with its header, none from 64 on. Errors: as of
 * l2k_codestream_open. */
enum { L2K_NO_SHARE = 64 };
l2k_status l2k_codestream_locate(l2k_codestream *codestream, const uint32_t *tiles, uint32_t count, unsigned share,
                                 bool *changed);

/* Whether a tile-part's header has marker segments in front of SOD. */
static inline bool l2k_part_has_segments(const l2k_tile_part_span *part)
{
    return part->packets - part->header > 2;
}

/* Appends the packet lengths that the header of a tile-part states in PLT, or else the main header in PLM: seven bits a
 * byte, the highest first (A.7.2, A.7.3). Appends nothing if there are none or their indices are wrong. */
l2k_status l2k_codestream_lengths(const l2k_codestream *codestream, const l2k_tile_part_span *part,
                                  l2k_buffer *lengths);

/* Whether the header of the first tile-part has PLT; false if that header is damaged. */
l2k_status l2k_codestream_has_plt(const l2k_codestream *codestream, bool *has_plt);

/* ---- Stages of opening a codestream (tile_parts.c, lengths.c) ------------------------------------------------- */

/* Makes the tile-parts from TLM and links them, if TLM is usable; codestream->is_listed says whether it was. */
l2k_status l2k_tile_parts_list(l2k_codestream *codestream, const l2k_segment_list *lengths);

/* Locates all tile-parts one after the other, gives them their shares of PPM and PLM, and links them. */
l2k_status l2k_tile_parts_find(l2k_codestream *codestream);

/* Adds a tile-part, in codestream order. */
l2k_status l2k_tile_parts_add(l2k_codestream *codestream, l2k_tile_part_span span);

/* Reads the header of a tile-part that was added without it. *is_right is false if SOT disagrees with the tile-part or
 * the header has no end. *count: the number of the tile's tile-parts, if SOT states it. `share`: below. */
l2k_status l2k_tile_part_locate(const l2k_codestream *codestream, l2k_tile_part_span *span, unsigned share,
                                unsigned *count, bool *is_right);

/* Gives each tile-part its share of PLM; if their numbers differ, none gets a share. */
void l2k_tile_parts_share_lengths(l2k_codestream *codestream);

/* Links the tile-parts of each tile in the order of TPsot. */
l2k_status l2k_tile_parts_link(l2k_codestream *codestream);

#endif
