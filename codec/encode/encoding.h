/* What an image is encoded with, and the settings that this comes from. */
#ifndef L2K_CODEC_ENCODE_ENCODING_H
#define L2K_CODEC_ENCODE_ENCODING_H

#include "codec/codestream/codestream_write.h"
#include "codec/jp2/jp2.h"
#include "codec/packets/rate.h"
#include "codec/tile/coding.h"

struct l2k_encoder;

/* What was set, completed by a profile. Not to be copied: it may point to its own members. */
typedef struct l2k_settings {
    const struct l2k_encoder *encoder;
    int64_t options[L2K_ENCODER_NUM_OPTIONS];
    const l2k_size *precincts;
    size_t num_precincts;
    const l2k_poc *poc;
    size_t num_poc;
    l2k_size own_precincts[L2K_MAX_LEVELS + 1]; /* of the profile, as own_poc */
    l2k_poc own_poc[2];
} l2k_settings;

/* What quantiser steps are to reach (steps.c). */
typedef struct l2k_step_target {
    bool given;
    l2k_target kind;
    double value;
} l2k_step_target;

/* Coding parameters of a tile with progression order changes of its own; the components are the image's. */
typedef struct l2k_own_coding {
    uint32_t tile;
    l2k_tile_coding coding;
} l2k_own_coding;

/* What an image is encoded with: settled by l2k_encode_setup before the first tile, and only read after that. */
typedef struct l2k_encoding {
    const l2k_context *context;
    const l2k_image *image;
    l2k_siz siz;
    uint32_t num_tiles;
    l2k_tile_coding coding;
    l2k_layer_targets targets;
    l2k_progression_change *changes; /* of POC: all entries, by tile; `coding` and `own_codings` point into them */
    l2k_own_coding *own_codings;     /* by tile */
    size_t num_own_codings;
    uint32_t roi_component; /* whose samples are a region of interest, if there is a shift */
    uint8_t roi_shift;
    const char *comment; /* of COM; "" = none */
    const l2k_new_palette *palette;
    double *own_targets;     /* HT: what targets.targets points to, the last one without end: all passes are in it */
    bool blocks_follow;      /* code-blocks may be coded where the transform runs */
    bool off_host;           /* the caller's planes are in memory of a processor */
    void *planes_stream;     /* which are ready after what is in this stream */
    bool keeps_tiles;        /* their trees are for the next image, too */
    l2k_step_target by_step; /* HT: what the steps are to reach, in place of that target */
    bool tile_steps;         /* tiles have steps of their own, not those of the main header */
    l2k_format format;
    l2k_tile_parts tile_parts;
    bool plt, tlm;
    uint8_t magnitude_bound; /* HT: B that the tiles so far need */
} l2k_encoding;

#endif
