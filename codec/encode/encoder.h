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

/* Encodes encoder->num_tiles tiles from number `first` on, from samples to tile-parts in output.tiles. `area`: the part
 * of the image that `planes` hold. */
l2k_status l2k_encode_tiles(l2k_encoder *encoder, uint32_t first, l2k_rect area, const l2k_plane *planes);

/* Layers, packets and headers of the encoded tiles, which are all of the image; and writes the file. */
l2k_status l2k_encode_pack(l2k_encoder *encoder);
l2k_status l2k_encode_write(l2k_encoder *encoder, const l2k_stream *stream);

/* Units of progress that a sample counts, by stage. */
enum { L2K_UNITS_TRANSFORM = 3, L2K_UNITS_BLOCKS = 12, L2K_UNITS_PACKETS = 1 };

#endif
