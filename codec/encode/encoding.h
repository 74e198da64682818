/* The parameters with which an image is encoded, and the settings that they come from. */
#ifndef L2K_CODEC_ENCODE_ENCODING_H
#define L2K_CODEC_ENCODE_ENCODING_H

#include "codec/codestream/codestream_write.h"
#include "codec/jp2/jp2.h"
#include "codec/packets/rate.h"
#include "codec/tile/coding.h"

struct l2k_encoder;

/* The caller's settings, completed by a profile. Do not copy it: it may point to its own members. */
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

/* Coding parameters of a tile with progression order changes of its own; the components are the image's. */
typedef struct l2k_own_coding {
    uint32_t tile;
    l2k_tile_coding coding;
} l2k_own_coding;

/* The parameters with which an image is encoded: set by l2k_encode_setup before the first tile, and only read after
 * that. */
typedef struct l2k_encoding {
    const l2k_context *context;
    const l2k_image *image;
    l2k_siz siz;
    uint32_t num_tiles;
    l2k_tile_coding coding;
    l2k_layer_targets targets;
    l2k_layer_targets truncation;    /* HT: target of the last layer, and limits, that code-blocks are truncated for */
    bool finds_steps;                /* by steps, too */
    l2k_progression_change *changes; /* of POC: all entries, by tile; `coding` and `own_codings` point into them */
    l2k_own_coding *own_codings;     /* by tile */
    size_t num_own_codings;
    uint32_t roi_component; /* its samples are a region of interest, if roi_shift is not 0 */
    uint8_t roi_shift;
    const char *comment; /* of COM; "" = none */
    const l2k_new_palette *palette;
    double *own_targets; /* HT: storage of targets.targets, whose last takes all passes; then of truncation.targets */
    bool blocks_follow;  /* code-blocks may be coded on the processor of the transform */
    bool off_host;       /* the caller's planes are off the host */
    void *planes_stream; /* the planes are ready after the work in this stream */
    bool keeps_tiles;    /* their trees serve the next image, too */
    bool tile_steps;     /* tiles have steps of their own, not those of the main header */
    l2k_format format;
    l2k_tile_parts tile_parts;
    bool plt, tlm;
    uint8_t magnitude_bound; /* HT: the B that the tiles so far need */
} l2k_encoding;

/* Whether HT code-blocks are truncated. */
static inline bool l2k_encoding_truncates(const l2k_encoding *e)
{
    return l2k_layers_need_distortions(&e->truncation);
}

#endif
