/* The encoder's inside: options, and the job that one call of l2k_encoder_encode is. The stages run in this order:
 * setup (options to headers), tiles (transform and tier-1), rate (layers), assemble (tier-2 and markers). */
#ifndef L2K_CODEC_ENCODER_H
#define L2K_CODEC_ENCODER_H

#include "codec/tile.h"
#include "transform/choice.h"

struct l2k_encoder {
    l2k_context context;
    l2k_choice choice;
    int64_t options[L2K_ENCODER_GPU_MIN_SAMPLES + 1];
    l2k_size precincts[L2K_MAX_LEVELS + 1];
    size_t num_precincts;
    l2k_target target_kind;
    double *targets;
    size_t num_targets; /* 0 = one layer with everything */
};

typedef struct l2k_encode_job {
    const l2k_encoder *encoder;
    const l2k_context *context;
    const l2k_image *image;
    const l2k_plane *planes;
    l2k_siz siz;
    l2k_tile_coding coding;
    bool measure;         /* some layer is not simply everything, so distortions are needed */
    bool needs_guard_bit; /* some coefficient exceeds what two guard bits provide for */
    uint32_t num_tiles;
    l2k_tile *tiles;
    unsigned num_arenas;
    l2k_arena *arenas; /* one per thread: the bytes and passes of coded blocks */
} l2k_encode_job;

static inline int64_t l2k_encoder_option_value(const l2k_encoder *encoder, l2k_encoder_option option)
{
    return encoder->options[option];
}

/* Whether a target asks for everything that tier-1 coded. */
static inline bool l2k_target_is_everything(l2k_target kind, double target)
{
    return kind == L2K_TARGET_RATIO ? !(target > 1) : !(target > 0);
}

/* Checks image, planes and options, and fills siz and coding. */
l2k_status l2k_encode_setup(l2k_encode_job *job);

/* Transform and tier-1 of all tiles. */
l2k_status l2k_encode_tiles(l2k_encode_job *job);

/* Distributes passes over layers. `fixed_bytes` is what the output takes beside tile-parts. */
l2k_status l2k_encode_rate(l2k_encode_job *job, size_t fixed_bytes);

/* Tier-2 and all headers, written to `stream`. */
l2k_status l2k_encode_assemble(l2k_encode_job *job, const l2k_stream *stream);

/* Bytes of the output that do not depend on the packets, without what belongs to tile-parts. */
l2k_status l2k_encode_fixed_bytes(l2k_encode_job *job, size_t *bytes);

#endif
