/* Reading headers: a table says where each marker segment is legal and which function parses it. */
#ifndef L2K_CODEC_CODESTREAM_HEADER_PARSER_H
#define L2K_CODEC_CODESTREAM_HEADER_PARSER_H

#include "base/buffer.h"
#include "codec/codestream/markers.h"
#include "codec/tile/coding.h"

typedef enum l2k_header_kind {
    L2K_MAIN_HEADER = 1,
    L2K_FIRST_PART_HEADER = 2,
    L2K_LATER_PART_HEADER = 4
} l2k_header_kind;

/* Marker segments of one kind in a header, by the index with which they begin (A.7). */
typedef struct l2k_segment_list {
    unsigned count;
    bool is_wrong; /* a segment has no index, or the index of another */
    struct {
        const uint8_t *data; /* behind the index; NULL = absent */
        uint32_t bytes;
    } segments[256];
} l2k_segment_list;

/* Adds a segment. False if it has no index, or the index of another. */
bool l2k_segment_list_add(l2k_segment_list *list, const l2k_segment *segment);

/* Appends the contents of the segments in the order of their indices. */
void l2k_segment_list_join(const l2k_segment_list *list, l2k_buffer *out);

/* The contents of a header besides coding parameters; NULL: not wanted. */
typedef struct l2k_header_rest {
    char **comment;                                  /* the first Latin-1 comment, allocated */
    l2k_segment_list *packed;                        /* PPM, PPT */
    l2k_segment_list *part_lengths, *packet_lengths; /* TLM; PLM, PLT */
} l2k_header_rest;

/* Parses SIZ and allocates siz->components. Checks everything except limits and the number of tiles. */
l2k_status l2k_parse_siz(const l2k_context *context, const l2k_segment *segment, l2k_siz *siz);

/* Parses all marker segments from *at up to SOT (main header; *at stays on it) or SOD into `coding`, whose component
 * array exists. A marker that changes the meaning of the data and is not implemented is L2K_ERROR_UNSUPPORTED; the
 * message names it. */
l2k_status l2k_parse_header(const l2k_context *context, const l2k_siz *siz, l2k_header_kind kind, const uint8_t **at,
                            const uint8_t *end, l2k_tile_coding *coding, const l2k_header_rest *rest);

/* ---- Between the files that parse headers (header_*.c) -------------------------------------------------------- */

typedef struct l2k_header_state {
    const l2k_context *context;
    const l2k_siz *siz;
    l2k_tile_coding *coding;
    const l2k_header_rest *rest;
    l2k_header_kind kind;
    uint8_t *specific; /* per component: whether this header had a COC or a QCC for it */
    bool seen_cod, seen_qcd, seen_component, seen_poc; /* seen_component: a COC or QCC */
    l2k_component_coding common;                       /* from the last COD and QCD, until the header has ended */
} l2k_header_state;

/* Reports "MARKER: what" as damage. */
l2k_status l2k_segment_wrong(const l2k_header_state *state, const l2k_segment *segment, const char *what);

/* Gives all components the values of COD and QCD, unless COC and QCC override them. Called once per header, because a
 * hostile header may repeat COD and QCD for thousands of components. */
void l2k_assign_common(l2k_header_state *state);

/* Parse a marker segment each; packed: PPM and PPT. */
typedef l2k_status l2k_segment_parser(l2k_header_state *state, const l2k_segment *segment);
l2k_segment_parser l2k_parse_cod, l2k_parse_coc, l2k_parse_qcd, l2k_parse_qcc, l2k_parse_rgn, l2k_parse_poc,
    l2k_parse_packed, l2k_parse_cap, l2k_parse_prf, l2k_parse_cpf, l2k_parse_atk, l2k_parse_dfs;

/* Finds the levels of component c, if its COC names a DFS. Call once the header is complete: DFS and COD may follow
 * COC. */
l2k_status l2k_find_splits(const l2k_header_state *state, uint32_t c);

/* Finds the wavelet of component c by its index in COD or COC. Call once the header is complete: ATK may follow
 * these. */
l2k_status l2k_find_kernel(const l2k_header_state *state, uint32_t c);

#endif
