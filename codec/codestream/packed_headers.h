/* Packet headers that stand in the main header (PPM, A.7.4) or in tile-part headers (PPT, A.7.5). */
#ifndef L2K_CODEC_CODESTREAM_PACKED_HEADERS_H
#define L2K_CODEC_CODESTREAM_PACKED_HEADERS_H

#include "codec/codestream/codestream_read.h"
#include "codec/codestream/header_parser.h"

/* Appends the segments in the order of their indices. */
void l2k_packed_join(const l2k_packed_segments *segments, l2k_buffer *out);

/* Gives each tile-part, in the order of the codestream, its share of PPM. */
l2k_status l2k_packed_share(l2k_codestream *codestream);

#endif
