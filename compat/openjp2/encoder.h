/* Encoding with lift2k: shared by encoder.c, encode_options.c and encode_boxes.c. */
#ifndef COMPAT_OPENJP2_ENCODER_H
#define COMPAT_OPENJP2_ENCODER_H

#include "compat/openjp2/codec.h"

typedef struct encode_codec {
    opj_cparameters_t parameters; /* pointers in it belong to the caller, except the comment */
    char *comment;
    int guard_bits;
    opj_image_t *image;
    stream *output;
    l2k_encoder *lift; /* since opj_start_compress */
    l2k_component *components;
    l2k_image shape;
    l2k_stream to;       /* of lift2k, while tiles are written */
    uint64_t boxes;      /* where the codestream box starts */
    uint64_t codestream; /* where the codestream starts */
    uint32_t next_tile;  /* opj_write_tile */
    bool begun;
    bool encoded; /* the image or a tile */
} encode_codec;

/* Sets an option of lift2k's encoder. */
bool encode_set(const codec *c, l2k_encoder_option option, int64_t value);

/* Turns opj_cparameters_t into lift2k's options for the image; false after an error message. */
bool encode_set_options(codec *c);

/* Profiles: settle_profile resolves deprecated fields and layers before anything else; profile_fixes tells whether a
 * profile overrides parameters; set_profile sets its options after the others. */
void encode_settle_profile(const codec *c, opj_cparameters_t *p);
bool encode_profile_fixes(const opj_cparameters_t *p);
bool encode_set_profile(codec *c);

/* Writes the boxes of a JP2 file up to the codestream; completes its length afterwards. */
bool encode_write_boxes(codec *c);
bool encode_finish_boxes(codec *c);

#endif
