/* The encoder's state, and its block diagram. */
#ifndef L2K_CODEC_ENCODE_ENCODER_H
#define L2K_CODEC_ENCODE_ENCODER_H

#include "base/buffer.h"
#include "base/object.h"
#include "base/pool.h"
#include "base/run.h"
#include "codec/encode/output.h"
#include "codec/encode/encoding.h"
#include "codec/run/batch.h"
#include "codec/run/workers.h"
#include "transform/choice.h"

struct l2k_encoder {
    l2k_context context;
    l2k_choice choice;
    l2k_pool pool;
    l2k_run run;
    int64_t options[L2K_ENCODER_NUM_OPTIONS];
    uint64_t given;             /* a bit for each option that was set */
    uint32_t fixed_by;          /* from l2k_encoder_set_profile: the Rsiz that fixes other options, else 0 */
    double frames_per_second;   /* from l2k_encoder_set_profile; 0 = not given */
    l2k_wavelet_descriptor own; /* descriptor of the wavelet option, if it names a kernel */
    l2k_unsplit unsplit;        /* from l2k_encoder_set_splits, which covered num_splits levels */
    unsigned num_splits;
    l2k_size precincts[L2K_MAX_LEVELS + 1];
    size_t num_precincts;
    l2k_target target_kind;
    double *targets;
    size_t num_targets; /* 0 = one layer with everything */
    double base_step;   /* from l2k_encoder_set_step */
    l2k_new_palette palette;
    l2k_poc *poc; /* from l2k_encoder_set_poc, ordered by tile */
    size_t num_poc;
    char *comment;       /* from l2k_encoder_set_comment; NULL = the library's own */
    void *planes_stream; /* from l2k_encoder_set_stream */
    l2k_workers workers;
    bool has_image; /* an image has started and not ended. The members below are its own, or are kept after its end */
    l2k_encoding encoding; /* with arrays that stay for the next image, and values that change during encoding */
    l2k_component_coding *as_set_up; /* each component's coding before guard bits are added; NULL: there are no tiles */
    l2k_tile *tiles;                 /* the tiles that are coded together: all, or a row */
    uint32_t num_tiles;              /* number of `tiles` */
    uint64_t num_trees;              /* number of trees built so far, which numbers the trees of the tiles */
    l2k_output output;
    const l2k_stream *stream;     /* if encoding by rows of tiles */
    uint32_t next_tile;           /* if encoding by rows of tiles */
    bool in_strips;               /* the only tile is encoded in strips: */
    uint32_t next_row, strip_end; /* rows of the reference grid of the present one; equal after the last */
    bool writes_packets;          /* in strips: packets go to the stream one by one, */
    bool leaves_early;            /* the first ones before the last strip */
    l2k_buffer memory;            /* the last result of l2k_encoder_encode_memory, unless that was output.packets */
    l2k_batch_workers batch;      /* workers of batches */
};

extern const l2k_option_rule l2k_encoder_rules[];

/* Whether the tiles that are coded together are the image's, and the main header is still to be written. */
static inline bool l2k_encode_is_whole(const l2k_encoder *encoder)
{
    return !encoder->stream || encoder->in_strips;
}

/* Encodes encoder->num_tiles tiles from number `first` on, from samples to tile-parts in output.tiles. `area`: the part
 * of the image that `planes` hold. */
l2k_status l2k_encode_tiles(l2k_encoder *encoder, uint32_t first, l2k_rect area, const l2k_plane *planes);

/* Layers, packets and headers of the encoded tiles, which are all of the image. */
l2k_status l2k_encode_pack(l2k_encoder *encoder);

/* Units of progress that a sample counts, by stage. */
enum { L2K_UNITS_TRANSFORM = 3, L2K_UNITS_BLOCKS = 12, L2K_UNITS_PACKETS = 1 };

/* ---- The start and end of an image: start.c ------------------------------------------------------------------- */

/* Ends the image before, if any, and begins a call that codes another one. */
void l2k_encode_start_call(l2k_encoder *encoder);

/* Releases all tiles and the parameters of the image. */
void l2k_encode_release_tiles(l2k_encoder *encoder);

/* Checks image and options, and prepares for all tiles together, or for a row of tiles at a time. */
l2k_status l2k_encode_start(l2k_encoder *encoder, const l2k_image *image, bool by_rows);

/* l2k_engine_enter for the processor of the options; first gives back what is kept on another. */
int l2k_encode_enter(l2k_encoder *encoder);

/* Samples of all components as if none were sub-sampled; safe for an unchecked image. */
uint64_t l2k_image_samples(const l2k_image *image);

/* Ends the image, if any, and returns `status`; after a failure keeps nothing for the next image. */
l2k_status l2k_encode_end(l2k_encoder *encoder, l2k_status status);

/* Releases one of the tiles. */
void l2k_encode_release_tile(const l2k_context *context, l2k_tile *tile);

/* ---- Rows of tiles: rows.c -------------------------------------------------------------------------------------- */

/* Makes boxes and main header, as far as they are known before the first tile; unless done, lists tile-parts for TLM. */
l2k_status l2k_encode_make_head(l2k_encoder *encoder);

/* Writes EOC after the last tile and completes the head in the stream. */
l2k_status l2k_encode_end_rows(l2k_encoder *encoder);

/* ---- A tile: tile.c ------------------------------------------------------------------------------------------- */

/* Data that the worker groups share and only read. */
typedef struct l2k_encode_call {
    l2k_encoder *encoder; /* whose tiles each belong to the worker group that codes it */
    uint32_t first;       /* number of the first tile */
    l2k_rect area;        /* the part of the image that `planes` hold */
    const l2k_plane *planes;
    bool in_strips;      /* `planes` come later, strip by strip */
    l2k_block_task task; /* of l2k_encode_recode, and its distance */
    uint32_t distance;
    bool advances;       /* recoding is progress */
    bool blocks_on_host; /* recoding is done on the host */
} l2k_encode_call;

/* The request without the transform, which only begin_tile needs. */
l2k_encode_request l2k_encode_request_of(const l2k_encode_call *call, l2k_tile *tile);

/* Builds the tile's tree and begins its transform in the slot: an l2k_tile_work whose call is an l2k_encode_call. */
l2k_status l2k_encode_begin_tile(void *call, l2k_worker_group *group, const l2k_job *job);

/* Codes the tile's code-blocks. If the engine can make the packets of an only tile, these become
 * encoder->output.packets. */
l2k_status l2k_encode_end_tile(const l2k_encode_call *call, l2k_engine *engine, const l2k_job *job);

/* Notes the bit-planes that a coded block needs, or all blocks of a tile. `is_final`: guard bits cannot be added any
 * more. L2K_ERROR_ARGUMENT: no sample within its precision needs as many. */
l2k_status l2k_encode_check_block(const l2k_context *context, l2k_tile *tile, const l2k_block_place *place,
                                  bool is_final);
l2k_status l2k_encode_check_blocks(const l2k_context *context, l2k_tile *tile);

/* Gives the only tile, before its first packet, all guard bits that samples within their precision may need. */
void l2k_encode_provide_guard_bits(l2k_encoder *encoder);

/* For coding the same coefficients more than once (truncation.c), in place of l2k_encode_end_tile: the transform ends,
 * with views on the host; the call's task is done there with all blocks of a tile, by a worker group. */
l2k_status l2k_encode_end_transform(const l2k_encode_call *call, l2k_engine *engine, const l2k_job *job);
l2k_status l2k_encode_recode(void *call, l2k_worker_group *group, const l2k_job *job);

/* ---- Rate control, and the headers that it changes: layers.c --------------------------------------------------- */

/* Decides which coding passes of encoder->tiles go into which layer. */
l2k_status l2k_encode_layers(l2k_encoder *encoder);

/* The most guard bits that one of the tiles lacks. */
unsigned l2k_encode_missing_guard_bits(const l2k_encoder *encoder);

/* Gives all tiles the guard bits that one of them needs. */
void l2k_encode_add_guard_bits(l2k_encoder *encoder);

/* The bound B of HT magnitudes of `bits` bits at the cleanup pass (8.7.3 of T.814). */
unsigned l2k_encode_magnitude_bound(const l2k_component_coding *coding, unsigned resolution, unsigned bits);

/* Writes the bound of the tiles coded so far into Ccap15. */
void l2k_encode_state_magnitudes(l2k_encoder *encoder);

/* Transforms the call's tiles, codes their code-blocks and allocates layers, so that encoding.truncation is met. */
l2k_status l2k_encode_truncated(l2k_encoder *encoder, const l2k_encode_call *call);

#endif
