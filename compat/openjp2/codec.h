/* Shared by the files of this room: the objects behind opj_codec_t and opj_stream_t. lift2k does all coding; this room
 * turns OpenJPEG's interface (openjpeg.h, version 2.5) into calls of lift2k.h. */
#ifndef COMPAT_OPENJP2_CODEC_H
#define COMPAT_OPENJP2_CODEC_H

#include <openjpeg.h>
#include <pthread.h>

#include "compat/openjp2/boxes.h"
#include "compat/openjp2/events.h"
#include "compat/openjp2/header.h"
#include "compat/openjp2/streams.h"
#include "lift2k/lift2k.h"

/* Where a decoder is in OpenJPEG's order of calls. */
typedef enum decode_state { DECODE_NEW = 0, DECODE_HEADER, DECODE_DONE } decode_state;

typedef struct decode_codec {
    decode_state state;
    bool ignore_channels; /* OPJ_DPARAMETERS_IGNORE_PCLR_CMAP_CDEF_FLAG */
    bool dumps;           /* OPJ_DPARAMETERS_DUMP_FLAG */
    bool strict;
    uint32_t reduce, layers;
    stream *input;
    jp2_boxes boxes; /* OPJ_CODEC_JP2 */
    main_header header;
    bool header_sizes;    /* no area or reduction was set after the header: see decode_set_area */
    uint32_t area[4];     /* of the reference grid: x0, y0, x1, y1 */
    uint32_t *components; /* opj_set_decoded_components, or NULL: all */
    uint32_t num_selected;
    uint32_t next_tile; /* opj_read_tile_header */
    l2k_decoder *lift;
    bool opened; /* lift has the codestream */
} decode_codec;

struct encode_codec;

typedef struct codec {
    bool decodes;
    OPJ_CODEC_FORMAT format;
    events handlers;
    pthread_mutex_t one_message; /* lift2k's threads report one after another, as OpenJPEG's do */
    int threads;
    decode_codec d;
    struct encode_codec *e;
    bool plt, tlm; /* extra options, which may come before e */
} codec;

/* lift2k's hooks that pass messages on to the handlers of `c`. */
l2k_hooks codec_hooks(codec *c);

/* The samples of a component in rows of `width`. */
l2k_plane samples_plane(const opj_image_comp_t *component, uint64_t width);

/* A component's samples in rows of `width` that follow one another, as OpenJPEG packs those of a tile. */
l2k_plane packed_plane(const opj_image_comp_t *component, OPJ_BYTE *data, uint32_t width);

void decode_codec_clear(decode_codec *d);
void encode_codec_free(struct encode_codec *e);

/* The codec if it decodes (or encodes), else NULL, with an error that names `function` unless that is NULL. */
codec *codec_decoding(opj_codec_t *handle, const char *function);
codec *codec_encoding(opj_codec_t *handle);

#endif
