/* The encoder's inside: what it keeps from image to image, and what an image is encoded with. */
#ifndef L2K_CODEC_ENCODER_H
#define L2K_CODEC_ENCODER_H

#include "base/buffer.h"
#include "base/pool.h"
#include "base/run.h"
#include "codec/run/batch.h"
#include "codec/packets/device_packets.h"
#include "codec/packets/rate.h"
#include "codec/run/teams.h"
#include "transform/choice.h"

/* Of a quantiser step: no magnitude then reaches 2^26 and saturates (quant/quantiser.h). */
#define L2K_MOST_EXPONENT 25

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
    double *own_targets; /* HT: what targets.targets points to, the last one without end: all passes are in it */
    const l2k_block_coder_table *device_coders; /* NULL: no device has one for these code-blocks */
    bool device_planes;                         /* the caller's planes are in device memory */
    void *planes_stream;                        /* which are ready after what is in this stream */
    bool keeps_tiles;                           /* their trees are for the next image, too */
    l2k_step_target by_step;                    /* HT: what the steps are to reach, in place of that target */
    bool tile_steps;                            /* tiles have steps of their own, not those of the main header */
    l2k_format format;
    l2k_tile_parts tile_parts;
    bool plt, tlm;
    uint8_t magnitude_bound; /* HT: B that the tiles so far need */
} l2k_encoding;

/* A tile's part of the output. */
typedef struct l2k_tile_output {
    l2k_buffer bytes; /* from `front` on: its tile-parts */
    size_t front;     /* room for the head, of an only tile */
    l2k_buffer parts; /* l2k_tile_part of each */
    bool is_made;
} l2k_tile_output;

/* The output under way. */
typedef struct l2k_output {
    l2k_buffer head;        /* boxes and main header */
    l2k_tile_output *tiles; /* of the tiles that are coded together; EOC is with the last one */
    uint32_t num_tiles;
    bool by_tile;             /* tiles are made one by one, and nothing is left of their code-blocks */
    l2k_made_packets packets; /* of the only tile, with EOC, if a device made them; its `bytes` end before them */
    l2k_buffer parts;         /* l2k_tile_part of every tile-part */
    uint64_t written;         /* bytes, to the stream */
    uint64_t tlm_at;          /* where TLM stands in the output */
    uint64_t ht_at;           /* where Ccap15 does */
    uint64_t box_at;          /* where the codestream's box begins */
} l2k_output;

struct l2k_encoder {
    l2k_context context;
    l2k_choice choice;
    l2k_pool pool;
    l2k_run run;
    int64_t options[L2K_ENCODER_NUM_OPTIONS];
    l2k_wavelet_descriptor own; /* of the wavelet option, if that is a kernel */
    l2k_unsplit unsplit;        /* of l2k_encoder_set_splits, and of how many levels that spoke */
    unsigned num_splits;
    l2k_size precincts[L2K_MAX_LEVELS + 1];
    size_t num_precincts;
    l2k_target target_kind;
    double *targets;
    size_t num_targets; /* 0 = one layer with everything */
    double base_step;   /* of l2k_encoder_set_step */
    l2k_poc *poc;       /* of l2k_encoder_set_poc, by tile */
    size_t num_poc;
    char *comment;       /* of l2k_encoder_set_comment; NULL = the library's own */
    void *planes_stream; /* of l2k_encoder_set_stream */
    l2k_teams teams;
    const l2k_packet_maker_table *packet_makers;
    l2k_packet_maker *packet_maker; /* NULL until a device makes packets */
    bool has_image;                 /* between its start and its end: the next members are its, or, after it, kept */
    l2k_encoding set_up;            /* the image's settings */
    l2k_encoding encoding; /* the same, with arrays that stay for the next image, and whatever changes on the way */
    l2k_component_coding *as_set_up; /* of each component, before guard bits; NULL: there are no tiles */
    l2k_tile *tiles;                 /* those that are coded together: all, or a row */
    uint32_t num_tiles;              /* of them */
    uint64_t num_trees;              /* built so far: a number for those of the tiles */
    l2k_output output;
    const l2k_stream *stream; /* by rows of tiles */
    uint32_t next_tile;       /* by rows of tiles */
    l2k_buffer memory;        /* what l2k_encoder_encode_memory gave last, unless that was output.packets */
    l2k_lanes lanes;          /* of batches */
};

/* ---- An image from its start to its end (start.c) ------------------------------------------------------- */

/* Checks image and options, and prepares for all tiles together, or for a row of tiles at a time. */
l2k_status l2k_encode_start(l2k_encoder *encoder, const l2k_image *image, bool by_rows);

/* l2k_device_enter for the device of the options; what is kept on another is given back before. */
int l2k_encode_enter(l2k_encoder *encoder);

/* Samples of all components as if none were sub-sampled; also of an image that was not checked. */
uint64_t l2k_image_samples(const l2k_image *image);

/* Ends the image, if there is one, and returns `status`; after a failure nothing is kept for the next image. */
l2k_status l2k_encode_end(l2k_encoder *encoder, l2k_status status);

/* ---- Tiles from image to image (keep.c) ------------------------------------------------------------------ */

/* Makes encoder->encoding of encoder->set_up. Where tiles with the same trees are kept, they are made ready; otherwise
 * what is kept is released, and there are `num_tiles` tiles without trees. */
l2k_status l2k_encode_take_tiles(l2k_encoder *encoder, uint32_t num_tiles);

/* Releases the tiles and the encoding, or one tile. */
void l2k_encode_release_tiles(l2k_encoder *encoder);
void l2k_encode_release_tile(const l2k_context *context, l2k_tile *tile);

/* ---- The block diagram (encoder.c) ------------------------------------------------------------------------------ */

/* encoder->num_tiles tiles from number `first` on, from samples to tile-parts in output.tiles. `area`: the part of the
 * image that `planes` hold. */
l2k_status l2k_encode_tiles(l2k_encoder *encoder, uint32_t first, l2k_rect area, const l2k_plane *planes);

/* What allocating layers leaves for the output. */
typedef struct l2k_allocation {
    unsigned more_guard_bits; /* as from l2k_encode_add_guard_bits */
    size_t fixed_bytes;       /* that do not depend on packets, if any target asks for them */
} l2k_allocation;

/* Decides which coding passes of encoder->tiles go into which layer. */
l2k_status l2k_encode_layers(l2k_encoder *encoder, l2k_allocation *allocation);

/* ---- A tile (tile.c) ------------------------------------------------------------------------------------- */

/* What the teams share and only read. */
typedef struct l2k_encode_job {
    const l2k_encoding *encoding;
    uint32_t first;  /* number of the first tile */
    l2k_tile *tiles; /* each one is its team's */
    l2k_rect area;   /* of the image, which `planes` hold */
    const l2k_plane *planes;
    /* Where a device is to make the packets of the only tile: how, and for whom. Otherwise NULL. */
    const l2k_packet_maker_table *makers;
    l2k_encoder *encoder;
} l2k_encode_job;

/* The planes from the tile's corner on, which belong to the tile. Where the caller's are in device memory and the
 * tile's plan is not for such planes, they are copies. */
l2k_status l2k_encode_tile_planes(const l2k_encode_job *job, l2k_tile *tile, l2k_plane **planes);

/* Builds the tile's tree, chooses the slot's plan, and gives the planes from the tile's corner on, which belong to the
 * tile. */
l2k_status l2k_encode_prepare_tile(const l2k_encode_job *job, const l2k_team *team, const l2k_turn *turn,
                                   l2k_plane **planes);

/* The makers of packets on a device, if they can make those of the image: one tile, one layer, one tile-part. */
const l2k_packet_maker_table *l2k_encode_packet_makers(const l2k_encoder *encoder);

/* Begins the plan of a tile that has been prepared, behind what is in the caller's stream. */
l2k_status l2k_encode_begin_plan(const l2k_encode_job *job, const l2k_turn *turn, const l2k_plane *planes);

/* The same; on the CPU where a device that AUTO has chosen fails. */
l2k_status l2k_encode_transform(const l2k_encode_job *job, l2k_team *team, const l2k_turn *turn,
                                const l2k_plane *planes);

/* Codes all blocks of a tile from their views, which are the plan's, or, without one, ready. Finishes the plan,
 * which has been begun. On a device, packets are made as well, where job->makers says so. */
l2k_status l2k_encode_blocks(const l2k_encode_job *job, l2k_team *team, l2k_plan *plan, l2k_tile *tile);

/* The same for a tile under way; on the CPU, from the transform on, where a device that AUTO has chosen fails. */
l2k_status l2k_encode_tile_blocks(const l2k_encode_job *job, l2k_team *team, const l2k_turn *turn);

/* Whether one of the tiles needs more guard bits. */
bool l2k_encode_needs_guard_bits(const l2k_encoder *encoder);

/* Adds to all tiles the guard bits that one of them needs. `whole`: the tiles are the image's, and the main header is
 * still to be written. Returns how many guard bits their tile-part headers have more than the main header. */
unsigned l2k_encode_add_guard_bits(l2k_encoder *encoder, bool whole);

/* The bound B of HT magnitudes of `bits` bits at the cleanup pass (8.7.3 of T.814). */
unsigned l2k_encode_magnitude_bound(const l2k_component_coding *coding, unsigned resolution, unsigned bits);

/* Ccap15 becomes what the tiles so far are. `more_guard_bits`: as above. */
void l2k_encode_state_magnitudes(l2k_encoder *encoder, unsigned more_guard_bits);

/* ---- Steps by target (steps.c) --------------------------------------------------------------------------- */

/* Adds the squared errors that the samples of each component have after quantising and decoding (error.c). The
 * tile's views hold unquantised coefficients. */
l2k_status l2k_encode_tile_error(const l2k_encode_job *job, const l2k_team *team, l2k_tile *tile,
                                 atomic_uint_least64_t *errors);

/* Transform, code-blocks and layers of the job's tiles, with quantiser steps that reach encoding.by_step. */
l2k_status l2k_encode_by_steps(l2k_encoder *encoder, const l2k_encode_job *job, l2k_allocation *allocation);

/* ---- Settings (setup.c) -------------------------------------------------------------------------------- */

/* Turns options into what SIZ, COD and QCD say, with every check that needs more than one option. Release also after an
 * error. */
l2k_status l2k_encode_setup(const l2k_encoder *encoder, const l2k_image *image, l2k_encoding *encoding);
void l2k_encoding_release(l2k_encoding *encoding);

/* ---- Progression order changes (poc.c) ------------------------------------------------------------------- */

/* Checks entries one by one, and copies them, by tile. */
l2k_status l2k_poc_copy(const l2k_context *context, const l2k_poc *poc, size_t count, l2k_poc **copy);

/* Divides those of the options among `encoding`.coding and own_codings, after everything else there. */
l2k_status l2k_poc_setup(const l2k_encoder *encoder, l2k_encoding *encoding);

/* The components of `encoding` are those of its own codings, too. */
void l2k_poc_share_components(l2k_encoding *encoding);

/* Releases the entries, or leaves them to the one who has them, too. */
void l2k_poc_release(l2k_encoding *encoding);
void l2k_poc_forget(l2k_encoding *encoding);

/* The coding parameters of a tile with changes of its own, or NULL; and those of any tile. */
const l2k_tile_coding *l2k_poc_of_tile(const l2k_encoding *encoding, uint32_t tile);
const l2k_tile_coding *l2k_coding_of_tile(const l2k_encoding *encoding, uint32_t tile);

/* ---- Profiles (profile.c) -------------------------------------------------------------------------------- */

/* Rsiz, and whether what has been set up is what it says. */
l2k_status l2k_profile_setup(const l2k_encoder *encoder, l2k_encoding *encoding);

/* Whether the planes are there and their types hold the components' samples. */
l2k_status l2k_encode_check_planes(const l2k_encoding *encoding, l2k_rect area, const l2k_plane *planes);

/* ---- Tile-parts and headers (output.c) ----------------------------------------------------------------- */

/* For so many tiles together; each has `front` bytes of room before it. Release also after an error. */
l2k_status l2k_output_start(l2k_output *out, const l2k_context *context, uint32_t num_tiles, size_t front);
void l2k_output_release(l2k_output *out);

/* Forgets what is there of the tiles. */
void l2k_output_restart(l2k_output *out);

/* Bytes that do not depend on the packets of these tiles: their tile-parts' headers, and the head that is still to be
 * written. `whole`: the tiles are the image's, and the head is made here. */
l2k_status l2k_output_fixed_bytes(const l2k_encoding *encoding, const l2k_tile *tiles, uint32_t count, bool whole,
                                  l2k_output *out, size_t *bytes);

/* Whether tiles can become tile-parts one by one, as soon as their code-blocks are coded, on the thread that did that:
 * no other tile has a part in what goes into their packets, and teams take whole tiles. */
bool l2k_output_can_be_by_tile(const l2k_encoder *encoder);

/* Makes the tile-parts of encoder->tiles[number], with all passes of its code-blocks, unless it needs another guard
 * bit. The code of the team's block coders goes. */
l2k_status l2k_output_tile(l2k_encoder *encoder, const l2k_team *team, uint32_t number);

/* Makes the tile-parts of all encoder->tiles that have none yet; tiles that are not kept are released. Their first
 * headers say `more_guard_bits` than the main header does. */
l2k_status l2k_output_tiles(l2k_encoder *encoder, unsigned more_guard_bits);

/* After the last tile: EOC. */
l2k_status l2k_output_end(l2k_output *out);

/* Bytes of tile-parts and EOC. */
size_t l2k_output_body_bytes(const l2k_output *out);

/* Writes out the head, or the tiles, and empties them. */
l2k_status l2k_encode_write_head(l2k_encoder *encoder, const l2k_stream *stream);
l2k_status l2k_encode_write_tiles(l2k_encoder *encoder, const l2k_stream *stream);

/* The whole output in one piece, which belongs to the encoder. */
l2k_status l2k_output_join(l2k_encoder *encoder, const uint8_t **bytes, size_t *count);

/* All headers into out->head, for a body of `body_bytes` bytes; 0 = unknown. */
l2k_status l2k_output_head(const l2k_encoding *encoding, uint64_t body_bytes, l2k_output *out);

/* Adds the tile-parts of all tiles to out->parts, their lengths 0, as TLM needs them beforehand. */
l2k_status l2k_output_plan_parts(const l2k_encoding *encoding, l2k_output *out);

/* What a sample counts in progress, stage by stage. */
enum { L2K_UNITS_TRANSFORM = 3, L2K_UNITS_BLOCKS = 12, L2K_UNITS_PACKETS = 1 };

#endif
