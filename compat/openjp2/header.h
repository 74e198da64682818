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
    uint32_t num_markers, room;
    bool has_qcd;
} main_header;

/* Reads the header that starts at `start`. False, after an error message, if OpenJPEG would not accept it. */
bool header_read(main_header *h, stream *s, uint64_t start, const events *handlers);
void header_clear(main_header *h);

enum { SOT = 0xff90, SOD = 0xff93, EOC = 0xffd9 };

/* The two bytes at `at`, such as a marker; -1 behind the end of the stream. */
int32_t header_number_at(stream *s, uint64_t at);

typedef struct header_part {
    uint32_t tile;
    uint32_t number, count;          /* TPsot, and TNsot, 0 if unknown */
    uint64_t start, header_end, end; /* header_end is behind SOD */
    bool open;                       /* Psot 0: it goes on to the end of the codestream */
    bool ends_at_marker;             /* the stream ends behind the code of a marker in the header */
} header_part;

/* The tile-part (A.4.2) that starts at `at`; false without one, or with an incomplete header. */
bool header_part_at(stream *s, uint64_t at, header_part *part);

/* One tile on the reference grid, clipped to the image: x0, y0, x1, y1. */
void header_tile(const main_header *h, uint32_t tile, uint32_t area[4]);

static inline bool header_areas_meet(const uint32_t a[4], const uint32_t b[4])
{
    return a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
}

#endif
