/* The decoder's state: the opened file, the options, and the parameters of a decoding. */
#ifndef L2K_CODEC_DECODE_DECODER_H
#define L2K_CODEC_DECODE_DECODER_H

#include "base/buffer.h"
#include "base/partial.h"
#include "base/pool.h"
#include "base/run.h"
#include "codec/codestream/codestream_read.h"
#include "codec/decode/cache.h"
#include "codec/jp2/jp2.h"
#include "codec/packets/packet_index.h"
#include "codec/run/batch.h"
#include "codec/run/workers.h"
#include "transform/choice.h"

/* Where a component of the output comes from: a component of the codestream, directly or through a palette column. */
typedef struct l2k_output_source {
    uint32_t component;
    bool through_palette;
    uint32_t column;
} l2k_output_source;

/* Findings of the tiles of a decoding, from several threads. Each warning comes once for all tiles. */
typedef struct l2k_findings {
    atomic_bool incomplete; /* the stream ends early or is damaged */
    atomic_bool warned_fewer, warned_beyond;
    atomic_bool lengths_are_wrong;      /* so data that earlier windows read by them may be wrong, too */
    atomic_int_least64_t extra_packets; /* that headers may still promise beyond the bytes present (tile.c) */
} l2k_findings;

struct l2k_decoder {
    l2k_context context;
    l2k_choice choice;
    l2k_pool pool;
    l2k_run run;
    l2k_workers workers;
    int64_t options[L2K_DECODER_NUM_OPTIONS];
    bool has_region;
    l2k_rect region;
    bool is_open;
    bool is_pushed, has_ended; /* the caller pushes the file; no more bytes arrive */
    size_t next_try;           /* until it is open: the size from which its headers are read once more */
    uint64_t file_bytes;       /* if it is still arriving, at least L2K_ARRIVING_BYTES */
    bool is_jp2;
    l2k_buffer file;     /* the part read from a stream */
    l2k_partial parts;   /* or in parts; context.partial points here then */
    const uint8_t *data; /* all of it, file_bytes */
    l2k_jp2 jp2;
    l2k_codestream codestream;
    uint32_t num_outputs; /* of the file, with all components */
    l2k_output_source *outputs;
    l2k_component *components; /* num_outputs of them */
    l2k_component alone;       /* that of the option COMPONENT */
    l2k_component *shown;      /* by l2k_decoder_image last: one of these two */
    uint32_t next_tile;        /* after those decoded last, 0 = none */
    l2k_findings findings;
    void *stream;               /* the caller's, for planes off the host */
    uint64_t opened;            /* changes with the file, and when knowledge of it turns out to be wrong */
    l2k_packet_index **indices; /* of each tile, NULL = none; no array before the first window */
    l2k_block_cache cache;
    struct l2k_tile_state *states; /* one for each slot of the worker groups, kept with them */
    unsigned num_states;
    l2k_plan_component *bounds; /* of components, to estimate memory */
    uint32_t num_bounds;
    l2k_arena memory; /* of the last result of l2k_decoder_decode_memory */
    l2k_plane *memory_planes;
    l2k_batch_workers batch;       /* of batches */
    struct l2k_row_decoding *rows; /* the image that is decoded by rows (rows.c); NULL: none */
};

/* The part of codestream component c in an area of the reference grid, without `discard` resolutions; the main header
 * tells how levels split. */
static inline l2k_rect l2k_reduced_rect(const l2k_codestream *codestream, uint32_t c, l2k_rect area, unsigned discard)
{
    const l2k_component *component = &codestream->siz.components[c];
    return l2k_unsplit_resolution(l2k_component_rect(area, component->dx, component->dy),
                                  codestream->coding.components[c].unsplit, discard);
}

/* The parameters of a decoding; only read once it has begun. */
typedef struct l2k_decoding {
    const l2k_context *context;
    const l2k_codestream *codestream;
    l2k_findings *findings;
    l2k_rect area;           /* of the reference grid */
    const l2k_plane *planes; /* per component; data NULL = not wanted. NULL: no samples, coefficients alone */
    uint32_t only;           /* the only wanted component, or UINT32_MAX */
    bool off_host;           /* planes are off the host */
    void *stream;            /* then: its work so far comes before they are written */
    bool blocks_on_host;     /* code-blocks are decoded on the host wherever the transform runs */
    uint32_t discard;        /* number of highest resolutions left out */
    uint32_t layers;         /* to decode, 0 = all */
    uint32_t *tiles;         /* numbers of those that meet the area */
    uint32_t num_tiles;
    bool like_openjpeg;         /* see the option */
    bool in_strips;             /* the tile's strips are the caller's: planes[] come with them, not yet here */
    bool arrives;               /* the file is still arriving (push.c) */
    bool keeps_tiles;           /* each slot has at most one tile, which may recur in the next image */
    uint64_t opened;            /* the number of the file */
    l2k_packet_index **indices; /* of the decoder, for windows */
    l2k_block_cache *cache;     /* likewise; NULL: not wanted */
} l2k_decoding;

/* An image that is decoded by rows (rows.c). */
struct l2k_row_decoding {
    l2k_rect area;   /* of the reference grid */
    uint32_t y0, y1; /* of the next rows; equal after the last, or as long as these have not arrived */
    bool incomplete;
    bool awaits_end; /* the file is still arriving and begins to be decoded when it has */
    /* A single tile, in the first slot of the workers: */
    bool in_strips;
    bool under_way;     /* its plan has begun */
    bool has_strip;     /* the present strip is still to be decoded, */
    uint64_t strip_end; /* up to this row at the resolution of the output */
    uint32_t tile;
    l2k_decoding d;
    /* If d.arrives: */
    struct l2k_tile_reader *reader; /* of its packets (packets.h) */
    size_t num_parts;               /* tile-parts whose headers have been read */
};

static inline bool l2k_wants_component(const l2k_decoding *d, uint32_t c)
{
    return d->only == UINT32_MAX || d->only == c;
}

/* The plan's number of component c: it is for all components, or for the only wanted one. */
static inline uint32_t l2k_number_in_plan(const l2k_decoding *d, uint32_t c)
{
    return d->only == UINT32_MAX ? c : 0;
}

/* Limits that depend on the size of a file take this one as long as it has not arrived. */
enum { L2K_ARRIVING_BYTES = 1 << 12 };

/* Decodes a part of the image into planes for it. */
l2k_status l2k_decode_area(l2k_decoder *decoder, l2k_rect area, const l2k_plane *planes);

/* Opens the first `bytes` bytes of a file, which must stay. */
l2k_status l2k_decoder_open_bytes(l2k_decoder *decoder, const uint8_t *data, size_t bytes);

/* Goes on with the image that is decoded by rows after more of its file has arrived. */
l2k_status l2k_rows_arrive(l2k_decoder *decoder);

/* Parses boxes and codestream headers. */
l2k_status l2k_decode_headers(l2k_decoder *decoder, const uint8_t *data, size_t bytes);

/* ---- Options, and what is kept from image to image (options.c) --------------------------------------------------- */

/* L2K_ERROR_STATE if no file has been opened. */
l2k_status l2k_decoder_check_open(const l2k_decoder *decoder);

/* The same, and whether the options are possible for the file; decoding checks that a tile has enough resolutions. */
l2k_status l2k_decoder_check_options(const l2k_decoder *decoder);

/* Bytes that the opened file may take from the allocation hook; a file that was read into memory counts as well. */
uint64_t l2k_decoder_memory_limit(const l2k_decoder *decoder);

/* Ends an image that is decoded by rows, if there is one. */
void l2k_decoder_leave_rows(l2k_decoder *decoder);

/* l2k_engine_enter for the processor of the options; first gives back what is kept on another. */
int l2k_decoder_enter(l2k_decoder *decoder);

/* Gives back all memory kept for the next image. */
void l2k_decoder_drop(l2k_decoder *decoder);

/* Discards all data that windows of the opened file left to later ones. */
void l2k_decoder_forget_windows(l2k_decoder *decoder);

/* Forgets what has been read from the headers of a file. */
void l2k_decoder_forget_headers(l2k_decoder *decoder);

/* Closes the file, if one is open. */
void l2k_decoder_close(l2k_decoder *decoder);

/* Begins and ends opening a file; a failed one is closed. */
void l2k_decoder_start_opening(l2k_decoder *decoder);
l2k_status l2k_decoder_finish_opening(l2k_decoder *decoder, l2k_status status);

/* ---- The caller's output: palette and channel order applied (outputs.c) ------------------------------------------ */

/* The only component wanted, or UINT32_MAX for all. */
uint32_t l2k_decoder_only_component(const l2k_decoder *decoder);

/* Derives the outputs from component mapping and channel definitions, and checks them against the limits: a palette or
 * component mapping may make many of one component. Called once, when a file is opened. */
l2k_status l2k_decoder_plan_outputs(l2k_decoder *decoder, const l2k_sample_limits *limits);

/* Shape and precision of an output of that area; its channel stays. */
void l2k_decoder_describe_output(const l2k_decoder *decoder, l2k_rect area, l2k_output_source output,
                                 l2k_component *component);

/* The source of output k or, if one component alone is wanted, of that component. */
l2k_output_source l2k_decoder_output(const l2k_decoder *decoder, uint32_t k);
uint32_t l2k_decoder_num_outputs(const l2k_decoder *decoder);

/* The destinations of the codestream's components: for each, the plane of its only output if that takes it unchanged,
 * else memory of its own. */
typedef struct l2k_sources {
    l2k_plane *planes;
    bool *owned;
} l2k_sources;

/* Call l2k_sources_release also after an error. */
l2k_status l2k_sources_prepare(const l2k_decoder *decoder, l2k_rect area, const l2k_plane *outputs,
                               l2k_sources *sources);
void l2k_sources_release(const l2k_decoder *decoder, l2k_sources *sources);

/* Fills the outputs that were not decoded in place, through the palette if there is one. */
l2k_status l2k_sources_deliver(const l2k_decoder *decoder, l2k_rect area, const l2k_sources *sources,
                               const l2k_plane *outputs);

/* Allocates decoder->memory_planes for l2k_decoder_decode_memory. */
l2k_status l2k_decoder_take_planes(l2k_decoder *decoder, const l2k_image *image);

/* ---- How many threads and tiles fit below the memory limit (memory.c) -------------------------------------------- */

/* The coder for all code-blocks of a codestream, whatever the styles of its components and tiles. */
static inline const l2k_block_coder_table *l2k_decode_coders(const l2k_codestream *codestream)
{
    return l2k_block_coder_for(codestream->coding.capabilities.parts & L2K_PART_15 ? L2K_STYLE_HT : 0);
}

/* Threads or, off the host, tiles that fit below the memory limit, at least 1; and whether plans are kept from tile to
 * tile. */
typedef struct l2k_thread_room {
    unsigned threads, tiles;
    bool keep_plans;
    bool indices; /* packet indices are kept */
} l2k_thread_room;

/* How many of the context's threads fit; with `by_tile`, each has tiles of its own. Drops data kept from earlier images
 * if these threads need its memory. */
l2k_thread_room l2k_decode_threads(l2k_decoder *decoder, const l2k_decoding *d, bool by_tile);

/* ---- The start and end of a decoding (start.c) ------------------------------------------------------------------- */

/* What the worker groups share; `states` has one entry per slot. */
typedef struct l2k_decode_call {
    const l2k_decoding *decoding;
    struct l2k_tile_state *states;
    bool is_alone; /* there is one worker group */
    void *user;
} l2k_decode_call;

/* Runs `begin` and `end`, with an l2k_decode_call that carries `user`, on all tiles that meet d->area; sets
 * d->tiles. */
l2k_status l2k_decode_tiles(l2k_decoder *decoder, l2k_decoding *d, l2k_backend backend, l2k_tile_work *begin,
                            l2k_tile_work *end, void *user);

/* Prepares a decoding under the options set so far. */
l2k_decoding l2k_decode_start(l2k_decoder *decoder, l2k_rect area, const l2k_plane *planes);

/* Finds out where the planes are, and the backend for them. */
l2k_status l2k_decoder_memory_kind(l2k_decoder *decoder, l2k_decoding *d, l2k_backend *backend);

/* Ends a decoding that returned `status`; returns what the caller gets. */
l2k_status l2k_decode_end(l2k_decoder *decoder, l2k_status status);

#endif
