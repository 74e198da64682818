/* What the handlers of single marker segments share (header_parser.c has the table of them). */
#ifndef L2K_CODEC_CODESTREAM_HEADER_SEGMENTS_H
#define L2K_CODEC_CODESTREAM_HEADER_SEGMENTS_H

#include "codec/codestream/header_parser.h"

typedef struct l2k_header_state {
    const l2k_context *context;
    const l2k_siz *siz;
    l2k_tile_coding *coding;
    char **comment;
    l2k_packed_segments *packed;
    l2k_header_kind kind;
    uint8_t *specific;                                 /* per component: which of COC and QCC this header has had */
    bool seen_cod, seen_qcd, seen_component, seen_poc; /* seen_component: a COC or QCC */
    l2k_component_coding common;                       /* of the last COD and QCD, until the header has ended */
} l2k_header_state;

static inline size_t l2k_segment_length(const l2k_segment *segment)
{
    return (size_t)(segment->end - segment->data);
}

/* Components are numbered in a byte up to 256 of them, else in two (A.6.2). */
static inline unsigned l2k_component_index_bytes(const l2k_siz *siz)
{
    return siz->num_components < 257 ? 1 : 2;
}

/* "MARKER: what", as damage. */
l2k_status l2k_segment_wrong(const l2k_header_state *state, const l2k_segment *segment, const char *what);

/* The component index that COC, QCC and RGN start with; *d is moved behind it, where there is at least a byte. */
l2k_status l2k_parse_component_index(const l2k_header_state *state, const l2k_segment *segment, const uint8_t **d,
                                     uint32_t *c);

/* Gives the components what COD and QCD said, where COC and QCC did not say otherwise. At the end of a header, since a
 * hostile one may repeat them for thousands of components. */
void l2k_assign_common(l2k_header_state *state);

l2k_status l2k_parse_cod(l2k_header_state *state, const l2k_segment *segment);
l2k_status l2k_parse_coc(l2k_header_state *state, const l2k_segment *segment);
l2k_status l2k_parse_qcd(l2k_header_state *state, const l2k_segment *segment);
l2k_status l2k_parse_qcc(l2k_header_state *state, const l2k_segment *segment);
l2k_status l2k_parse_rgn(l2k_header_state *state, const l2k_segment *segment);
l2k_status l2k_parse_poc(l2k_header_state *state, const l2k_segment *segment);
l2k_status l2k_parse_packed(l2k_header_state *state, const l2k_segment *segment);

#endif
