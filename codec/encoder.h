/* The encoder's inside: options, and the job that an image is. The stages run in this order: setup (options to
 * headers), tiles (transform and tier-1), rate (layers), assembly (tier-2 and markers). All tiles go through them
 * together, or, of an image that comes by rows of tiles, one row after the other: `first_tile` to `end_tile` are those
 * in hand. */
#ifndef L2K_CODEC_ENCODER_H
#define L2K_CODEC_ENCODER_H

#include "base/pool.h"
#include "base/run.h"
#include "base/buffer.h"
#include "codec/tile/tile.h"
#include "codec/workers.h"
#include "transform/choice.h"

typedef struct l2k_encode_job {
    const l2k_encoder *encoder;
    const l2k_context *context;
    const l2k_image *image;
    const l2k_stream *stream;
    bool by_rows;
    l2k_rect area;           /* of the reference grid: the rows in hand */
    const l2k_plane *planes; /* of them */
    l2k_siz siz;
    l2k_tile_coding coding;
    bool measure;         /* some layer is not simply everything, so distortions are needed */
    bool needs_guard_bit; /* some coefficient exceeds what two guard bits provide for */
    uint32_t num_tiles, first_tile, end_tile;
    l2k_tile *tiles;
    unsigned num_arenas;
    l2k_arena *arenas; /* one per thread: the bytes and passes of coded blocks */
    uint64_t written;  /* bytes, to the stream */
    uint64_t tlm_at;   /* by rows: where TLM stands in the output */
    uint64_t box_at;   /* by rows: where the codestream's box begins */
} l2k_encode_job;

/* The output. */
typedef struct l2k_assembly {
    l2k_buffer head;    /* boxes and main header */
    l2k_buffer body;    /* tile-parts and EOC */
    l2k_buffer part;    /* with PLT: packets of the present tile-part, whose lengths come first */
    l2k_buffer lengths; /* with PLT: uint32_t per packet of the tile-part */
    l2k_buffer parts;   /* l2k_tile_part of every tile-part */
} l2k_assembly;

struct l2k_encoder {
    l2k_context context;
    l2k_choice choice;
    l2k_pool pool;
    l2k_run run;
    int64_t options[L2K_ENCODER_NUM_OPTIONS];
    l2k_size precincts[L2K_MAX_LEVELS + 1];
    size_t num_precincts;
    l2k_target target_kind;
    double *targets;
    size_t num_targets; /* 0 = one layer with everything */
    bool has_job;       /* between begin and end */
    l2k_encode_job job;
    l2k_assembly assembly;
    l2k_workers workers;
    l2k_buffer memory; /* what l2k_encoder_encode_memory gave last */
};

static inline int64_t l2k_encoder_option_value(const l2k_encoder *encoder, l2k_encoder_option option)
{
    return encoder->options[option];
}

/* Whether a target asks for everything that tier-1 coded. */
static inline bool l2k_target_is_everything(l2k_target kind, double target)
{
    return kind == L2K_TARGET_RATIO ? !(target > 1) : !(target > 0);
}

/* Ends the image in hand, if there is one, and gives back what was kept for the next. */
void l2k_encode_abandon(l2k_encoder *encoder);

/* What a sample counts in progress, stage by stage. */
enum { L2K_UNITS_TRANSFORM = 3, L2K_UNITS_TIER1 = 12, L2K_UNITS_TIER2 = 1 };

/* Checks image and options, and fills siz and coding. */
l2k_status l2k_encode_setup(l2k_encode_job *job);

/* Whether the planes' types can hold the components' samples. */
l2k_status l2k_encode_check_planes(const l2k_encode_job *job);

/* Transform and tier-1 of the tiles in hand. */
l2k_status l2k_encode_tiles(l2k_encode_job *job, l2k_workers *workers);

/* Distributes passes of the tiles in hand over layers. `fixed_bytes` is what they and the output take beside packets.
 */
l2k_status l2k_encode_rate(l2k_encode_job *job, size_t fixed_bytes);

/* ---- Tier-2 and headers (encode_assemble.c) ------------------------------------------------------------------- */

/* An empty output. */
void l2k_assembly_start(l2k_assembly *assembly, const l2k_context *context);
void l2k_assembly_release(l2k_assembly *assembly);

/* Bytes of the output that do not depend on the packets in hand: headers, where no row was written yet, and what
 * tile-parts take beside packets. */
l2k_status l2k_encode_fixed_bytes(l2k_encode_job *job, l2k_assembly *assembly, size_t *bytes);

/* Tile-parts of the tiles in hand, whose trees are released; they are in assembly->body. */
l2k_status l2k_encode_tile_parts(l2k_encode_job *job, l2k_assembly *assembly);

/* All headers into assembly->head, for a body of so many bytes. */
l2k_status l2k_encode_head(l2k_encode_job *job, l2k_assembly *assembly, uint64_t body_bytes);

/* Adds the tile-parts of all tiles to assembly->parts, their lengths 0, as TLM needs them beforehand. */
l2k_status l2k_encode_plan_parts(l2k_encode_job *job, l2k_assembly *assembly);

#endif
