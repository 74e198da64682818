/* The part of a codestream's main header (Annex A) that opj_get_cstr_info, opj_get_cstr_index and opj_dump_codec
 * expose. lift2k reads the header again for decoding. */
#ifndef COMPAT_OPENJP2_HEADER_H
#define COMPAT_OPENJP2_HEADER_H

#include "compat/openjp2/events.h"
#include "compat/openjp2/streams.h"

typedef struct main_header {
    uint64_t start, end;              /* of the main header in the stream */
    uint32_t area[4];                 /* of the image on the reference grid: x0, y0, x1, y1 */
    opj_image_cmptparm_t *components; /* sub-sampling, precision and sign; NULL before SIZ */
    bool (*own)[2];                   /* of a component: whether COC and QCC have set its style */
    opj_codestream_info_v2_t info;    /* tiles, coding style, and that of each component */
    opj_marker_info_t *markers;
    size_t num_markers;
    bool has_qcd;
} main_header;

/* Reads the header that starts at `start`. False, after an error message, if OpenJPEG would not accept it. */
bool header_read(main_header *h, stream *s, uint64_t start, const events *handlers);
void header_clear(main_header *h);

typedef struct header_part {
    uint32_t tile;
    uint64_t start, header_end, end; /* header_end is behind SOD */
} header_part;

/* The tile-part (A.4.2) that starts at `at`; false without one, or with an incomplete header. */
bool header_part_at(stream *s, uint64_t at, header_part *part);

/* One tile on the reference grid, clipped to the image: x0, y0, x1, y1. */
void header_tile(const main_header *h, uint32_t tile, uint32_t area[4]);

#endif
