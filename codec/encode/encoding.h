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
    uint64_t samples; /* of all components */
    uint32_t num_tiles;
    l2k_tile_coding coding;
    l2k_layer_targets targets;
    l2k_layer_targets truncation; /* HT: target of the last layer, and limits, that code-blocks are truncated for */
    bool finds_steps;             /* by steps, too */
    l2k_poc *changes;             /* of POC: all entries, by tile; `coding` and `own_codings` point into them */
    l2k_own_coding *own_codings;  /* by tile */
    size_t num_own_codings;
    const l2k_tile_coding *present; /* transcoding: of the present tile, whatever it is */
    l2k_buffer segments;            /* transcoding: further marker segments of the main header, */
    l2k_buffer boxes;       /* and boxes up to the codestream, with the head of its box; empty: made of `image` */
    uint32_t roi_component; /* its samples are a region of interest, if roi_shift is not 0 */
    uint8_t roi_shift;
    const char *comment; /* of COM; "" = none */
    const l2k_new_palette *palette;
    double *own_targets; /* HT: storage of targets.targets, whose last takes all passes; then of truncation.targets */
    bool blocks_follow;  /* code-blocks may be coded on the processor of the transform */
    bool off_host;       /* the caller's planes are off the host */
    void *planes_stream; /* the planes are ready after the work in this stream */
    bool keeps_tiles;    /* their trees serve the next image, too */
    unsigned more_guard_bits; /* that tile-part headers state than the main header, of the tiles coded together */
    bool tile_steps;          /* tiles have steps of their own, not those of the main header */
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

/* The most exponent of a quantiser step: no magnitude then reaches 2^26 and saturates (quant/quantiser.h). */
#define L2K_MOST_EXPONENT 25

/* Turns options into the contents of SIZ, COD and QCD, with every check that needs more than one option. Release also
 * after an error. */
l2k_status l2k_encode_setup(const struct l2k_encoder *encoder, const l2k_image *image, l2k_encoding *encoding);
void l2k_encoding_release(l2k_encoding *encoding);

/* Gives a component, whose levels are set, the precincts of the settings. */
void l2k_encode_set_precincts(const l2k_settings *settings, l2k_component_coding *coding);

/* Checks that no plane is missing and that their types hold the components' samples. */
l2k_status l2k_encode_check_planes(const l2k_encoding *encoding, l2k_rect area, const l2k_plane *planes);

/* ---- Profiles of digital cinema, of broadcast and of IMF (A.10): profile.c ------------------------------------- */

/* Whether Rsiz and the frame rate (0: not given) are possible together; *fixes: Rsiz is a profile that fixes options.
 * L2K_ERROR_ARGUMENT. */
l2k_status l2k_profile_check(const l2k_context *context, uint32_t rsiz, double frames_per_second, bool *fixes);

/* Completes the encoder's settings. Sets the options even if others violate the profile. */
l2k_status l2k_profile_settle(const struct l2k_encoder *encoder, l2k_settings *settings);

/* Sets Rsiz and checks that the options comply with it. */
l2k_status l2k_profile_setup(const l2k_settings *settings, l2k_encoding *encoding);

/* ---- Progression order changes (A.6.6): poc.c ------------------------------------------------------------------ */

/* Checks entries one by one and copies them in the order of tiles. */
l2k_status l2k_poc_copy(const l2k_context *context, const l2k_poc *poc, size_t count, l2k_poc **copy);

/* Divides the changes of the settings among `encoding`.coding and own_codings, whose other members must be set. */
l2k_status l2k_poc_setup(const l2k_settings *settings, l2k_encoding *encoding);

void l2k_poc_release(l2k_encoding *encoding);

/* The coding parameters of a tile with progression order changes of its own, else NULL; and the parameters of any
 * tile. */
const l2k_tile_coding *l2k_poc_of_tile(const l2k_encoding *encoding, uint32_t tile);
const l2k_tile_coding *l2k_coding_of_tile(const l2k_encoding *encoding, uint32_t tile);

#endif
