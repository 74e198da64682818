/* The decoder's inside: the opened file, the options, and what a decoding works with. */
#ifndef L2K_CODEC_DECODER_H
#define L2K_CODEC_DECODER_H

#include "base/buffer.h"
#include "base/partial.h"
#include "base/pool.h"
#include "base/run.h"
#include "codec/run/batch.h"
#include "codec/codestream/codestream_read.h"
#include "codec/decode/cache.h"
#include "codec/jp2/jp2.h"
#include "codec/packets/packet_index.h"
#include "codec/run/teams.h"
#include "transform/choice.h"
#include "transform/device_planes.h"

/* Where a component of the output comes from: a component of the codestream, directly or through a palette column. */
typedef struct l2k_output_source {
    uint32_t component;
    bool through_palette;
    uint32_t column;
} l2k_output_source;

/* What the tiles of a decoding find, from several threads. Warnings come once for all tiles. */
typedef struct l2k_findings {
    atomic_bool incomplete; /* the stream ends early or is damaged */
    atomic_bool warned_fewer, warned_beyond;
    atomic_bool lengths_are_wrong;      /* so that what earlier windows read by them may be, too */
    atomic_int_least64_t spare_packets; /* that headers may still promise beyond the bytes there are (tile.c) */
} l2k_findings;

struct l2k_decoder {
    l2k_context context;
    l2k_choice choice;
    l2k_pool pool;
    l2k_run run;
    l2k_teams teams;
    int64_t options[L2K_DECODER_NUM_OPTIONS];
    bool has_region;
    l2k_rect region;
    bool is_open;
    uint64_t file_bytes;
    bool is_jp2;
    l2k_buffer file;     /* as far as it was read from a stream */
    l2k_partial parts;   /* or in parts; context.partial points here then */
    const uint8_t *data; /* all of it, file_bytes */
    l2k_jp2 jp2;
    l2k_codestream codestream;
    uint32_t num_outputs; /* as the file has them, with all components */
    l2k_output_source *outputs;
    l2k_component *components; /* num_outputs of them */
    l2k_component alone;       /* that of the option COMPONENT */
    l2k_component *shown;      /* by l2k_decoder_image last: one of these two */
    uint32_t next_tile;        /* after those decoded last, 0 = none */
    l2k_findings findings;
    void *stream;               /* the caller's, for planes in device memory */
    uint64_t opened;            /* changes with the file, and when what is known of it turns out to be wrong */
    l2k_packet_index **indices; /* of each tile, NULL where there is none; or no array, before the first window */
    l2k_block_cache cache;
    struct l2k_tile_state *states; /* one for each slot of the teams, kept with them */
    unsigned num_states;
    l2k_plan_component *bounds; /* of components, while memory is worked out */
    uint32_t num_bounds;
    void *memory; /* samples that l2k_decoder_decode_memory gave last */
    l2k_plane *memory_planes;
    l2k_lanes lanes; /* of batches */
};

/* ---- Options and files (options.c, info.c, open.c) --------------------------------------- */

/* Whether a file has been opened, and whether options are possible for it; whether a tile has enough resolutions is
 * checked when decoding. */
l2k_status l2k_decoder_check_options(const l2k_decoder *decoder);

/* The component that alone is wanted, or UINT32_MAX for all. */
uint32_t l2k_decoder_only_component(const l2k_decoder *decoder);

/* Bytes that the opened file may take from the hook. */
uint64_t l2k_decoder_memory_limit(const l2k_decoder *decoder);

/* Gives back what is kept for the next image. */
void l2k_decoder_drop(l2k_decoder *decoder);

/* l2k_device_enter for the device of the options; what is kept on another is given back before. */
int l2k_decoder_enter(l2k_decoder *decoder);

/* Whatever windows of the opened file have left to later ones is of no use from now on. */
void l2k_decoder_forget_windows(l2k_decoder *decoder);

/* Closes the file, if one is open. */
void l2k_decoder_close(l2k_decoder *decoder);

/* What headers may ask for in a file of `bytes` bytes. */
l2k_codestream_limits l2k_decoder_limits(const l2k_decoder *decoder, size_t bytes);

/* The part of the reference grid to decode: region and image area. L2K_ERROR_ARGUMENT where it is empty. */
l2k_status l2k_decoder_area(const l2k_decoder *decoder, l2k_rect *area);

/* A rectangle of codestream component c without so many resolutions, whose levels split as the main header says. */
static inline l2k_rect l2k_reduced_rect(const l2k_codestream *codestream, uint32_t c, l2k_rect rect, unsigned discard)
{
    return l2k_unsplit_resolution(rect, codestream->coding.components[c].unsplit, discard);
}

/* The samples of codestream component c that decoding gives, in the domain of the reduced component. */
l2k_rect l2k_decoder_component_area(const l2k_decoder *decoder, l2k_rect area, uint32_t c);

/* ---- Outputs: palette and channel order (outputs.c) ----------------------------------------------------- */

/* Works out outputs from component mapping and channel definitions; once, when a file is opened. */
l2k_status l2k_decoder_plan_outputs(l2k_decoder *decoder);

/* A palette may make many outputs of one component, or a component mapping: these too must stay within the limits. */
l2k_status l2k_decoder_check_outputs(l2k_decoder *decoder, const l2k_sample_limits *limits);

/* The output of a component alone, or output k. */
l2k_output_source l2k_decoder_output(const l2k_decoder *decoder, uint32_t k);
uint32_t l2k_decoder_num_outputs(const l2k_decoder *decoder);

/* Where the codestream's components are decoded to, for the caller's planes: per component, the only output that takes
 * it as it is, else memory of its own. */
typedef struct l2k_sources {
    l2k_plane *planes;
    bool *owned;
} l2k_sources;

/* Release also after an error. */
l2k_status l2k_sources_prepare(const l2k_decoder *decoder, l2k_rect area, const l2k_plane *outputs,
                               l2k_sources *sources);
void l2k_sources_release(const l2k_decoder *decoder, l2k_sources *sources);

/* Fills the outputs that are not decoded into: through the palette where there is one. */
l2k_status l2k_sources_deliver(const l2k_decoder *decoder, const l2k_sources *sources, const l2k_plane *outputs);

/* Allocates decoder->memory_planes for l2k_decoder_decode_memory. */
l2k_status l2k_decoder_take_planes(l2k_decoder *decoder, const l2k_image *image);

/* ---- Decoding (decoder.c, start.c) ------------------------------------------------------------------------- */

/* What a decoding is to give; only read once it has begun. */
typedef struct l2k_decoding {
    const l2k_context *context;
    const l2k_codestream *codestream;
    l2k_findings *findings;
    l2k_rect area;           /* of the reference grid */
    const l2k_plane *planes; /* per component; data NULL = not wanted. NULL: no samples, coefficients alone */
    uint32_t only;           /* the component that alone is wanted, or UINT32_MAX */
    bool on_device;          /* planes are in device memory */
    bool blocks_on_cpu;      /* code-blocks are decoded on the CPU wherever the transform runs */
    void *stream;            /* then: a cudaStream_t whose work so far comes before they are written */
    uint32_t discard;        /* highest resolutions left out */
    uint32_t layers;         /* to decode, 0 = all */
    uint32_t *tiles;         /* numbers of those that meet the area */
    uint32_t num_tiles;
    bool like_openjpeg;         /* see the option */
    bool keeps_tiles;           /* each slot has one tile at most, which may come again in the next image */
    uint64_t opened;            /* the number of the file */
    l2k_packet_index **indices; /* of the decoder, for windows */
    l2k_block_cache *cache;     /* likewise; NULL: none is wanted */
} l2k_decoding;

static inline bool l2k_wants_component(const l2k_decoding *d, uint32_t c)
{
    return d->planes ? d->planes[c].data != NULL : d->only == UINT32_MAX || d->only == c;
}

/* A tile under way, and all that is allocated for it. Where the next image may have the same tile, what only depends on
 * its shape is kept. */
typedef struct l2k_tile_state {
    l2k_tile_coding read;   /* out of this image's headers */
    l2k_tile_coding coding; /* the same, as long as the tree stays */
    l2k_packed_headers packed;
    const uint8_t *bytes; /* that have all contributions, or NULL (l2k_tile_span) */
    size_t num_bytes;
    l2k_tile tile; /* its arena also holds the arrays of components */
    l2k_packet_order order;
    bool is_absent;    /* the stream has nothing of this tile */
    bool is_blank;     /* it has no byte of any code-block, and samples are wanted of it */
    bool joined_later; /* the component transform follows the plan, which needs equal numbers of levels for it */
    bool on_host;      /* planes are in device memory, but samples come from the CPU */
    bool is_begun;     /* the code-blocks are with their coder, or have been */
    bool is_kept;      /* there was an image with this tile before */
    bool is_whole;     /* the packets that were wanted are all there */
    bool has_packets;  /* since an earlier window */
    uint64_t opened;   /* the file that they were read from */
    uint32_t layers;   /* as many of them as d->layers said */
    l2k_block_place *places;
    size_t num_places;
    l2k_block_place *rest;            /* of those, if others were kept from an earlier window */
    const l2k_block_place *to_decode; /* either of the two */
    size_t num_to_decode;
    l2k_block_coder *coder;         /* that has the code-blocks */
    atomic_bool damaged;            /* what it found */
    l2k_plan_component *components; /* of the plan */
    uint32_t *plan_component;       /* the plan's number of each component */
    l2k_plane *planes;              /* per component of the plan */
    void **joined;                  /* per component: its part before it is joined with others, if joined_later */
    l2k_device_memory *device;      /* if on_host, per component: what is on its way there */
    l2k_plane *host_planes;         /* if on_host: per component, of what the area has of the tile */
    l2k_decoding host;              /* likewise: the decoding of this tile alone, into these */
} l2k_tile_state;

/* What a tile counts in progress, and its code-blocks together out of that. */
enum { L2K_UNITS_TILE = 1 << 16, L2K_UNITS_TILE_BLOCKS = 3 << 14 };

/* What teams share; `states` has one for each slot. */
typedef struct l2k_decode_job {
    const l2k_decoding *decoding;
    l2k_tile_state *states;
    void *user;
} l2k_decode_job;

/* Parses boxes and codestream headers of a file, all of which stays in use. */
l2k_status l2k_decode_headers(l2k_decoder *decoder, const uint8_t *data, size_t bytes);

/* Runs `share`, whose job is an l2k_decode_job with `user`, on all tiles that meet d->area, which sets d->tiles. */
l2k_status l2k_decode_tiles(l2k_decoder *decoder, l2k_decoding *d, l2k_backend backend, l2k_team_share *share,
                            void *user);

/* A tile's packets. Where there is nothing to decode, state->is_absent or is_blank is set, and that is all. A device
 * that had the slot's tile before is sent the bytes of this one meanwhile. */
l2k_status l2k_decode_packets(const l2k_decoding *d, l2k_tile_state *state, l2k_team *team, uint32_t index);

/* Its code-blocks, whose coefficients are in the views of the slot's plan once they are finished, or for what is
 * enqueued in the plan's stream after they have begun. */
l2k_status l2k_begin_blocks(const l2k_decoding *d, l2k_tile_state *state, l2k_team *team, l2k_tile_slot *slot);
l2k_status l2k_finish_blocks(const l2k_decoding *d, l2k_tile_state *state);

/* Releases what is kept from image to image: all of it, or the tree with all that belongs to it. */
void l2k_tile_state_forget(const l2k_context *context, l2k_tile_state *state);
void l2k_tile_state_forget_tree(const l2k_context *context, l2k_tile_state *state);

void l2k_decoder_release_tiles(l2k_decoder *decoder);

/* The end of a tile: what another image with the same tile can use stays, if there may be one. */
void l2k_tile_state_leave(const l2k_decoding *d, l2k_tile_state *state);

/* Makes ready for a decoding under the options set so far. */
l2k_decoding l2k_decode_start(l2k_decoder *decoder, l2k_rect area, const l2k_plane *planes);

/* Where the planes are, and the backend for that. */
l2k_status l2k_decoder_memory_kind(l2k_decoder *decoder, l2k_decoding *d, l2k_backend *backend);

/* What follows on a decoding that came to `status`, and what the caller gets. */
l2k_status l2k_decode_end(l2k_decoder *decoder, l2k_status status);

/* ---- One tile (tile.c, packets.c, index.c, blocks.c) ------------------------------- */

/* Tiles that are asked for in rising order, call by call, are one sweep over the file, with one bound on what its
 * headers may promise beyond the bytes there are. */
void l2k_start_sweep(l2k_decoder *decoder, const l2k_decoding *d);

/* Headers and packets of a tile: state->coding, packed and tile. Where the stream has nothing of it, state->is_absent
 * alone is set. L2K_ERROR_TRUNCATED, too, where headers promise too much. */
l2k_status l2k_read_tile(const l2k_decoding *d, l2k_tile_state *state, uint32_t index);

/* Bytes of a tile's packets, packed headers left out. */
uint64_t l2k_tile_bytes(const l2k_codestream *codestream, uint32_t tile);

/* Memory that has all of them, and little else, if most of them are to be decoded; NULL otherwise. */
const uint8_t *l2k_tile_span(const l2k_decoding *d, uint32_t tile, size_t *bytes);

/* Reads the packets of a tile; what is not wanted is skipped. Where the stream ends early, or packets are missing, what
 * there is is kept, and findings->incomplete is set. */
l2k_status l2k_read_packets(const l2k_decoding *d, l2k_tile_state *state);

/* Puts the order of packets at the first one. */
l2k_status l2k_start_packets(const l2k_decoding *d, l2k_tile_state *state);

/* The index of a tile, of `bytes` bytes of packets, of which a part is wanted; a new one has what lengths of packets
 * say. NULL where it has none. */
l2k_status l2k_find_index(const l2k_decoding *d, l2k_tile_state *state, uint64_t bytes, l2k_packet_index **index);

/* Where lengths of packets prove wrong: a note, and packets are to be read one after the other. An error if read
 * strictly. */
l2k_status l2k_distrust_index(const l2k_decoding *d, l2k_tile_state *state, l2k_packet_index *index);

/* A tile without any packet: a warning, and findings->incomplete where the stream ends early. */
l2k_status l2k_missing_tile(const l2k_decoding *d, uint32_t index);

/* Where there were code-blocks whose bytes cannot be right, which are zeros then: a warning, and
 * findings->incomplete. */
l2k_status l2k_report_damage(const l2k_decoding *d, l2k_tile_state *state);

/* Lists the code-blocks of what is wanted. */
l2k_status l2k_list_blocks(const l2k_decoding *d, l2k_tile_state *state);

/* The table for all code-blocks of the tile on a device; NULL where there is none. */
const l2k_block_coder_table *l2k_device_coder_of(const l2k_tile_state *state);

/* Chooses those that are to be decoded: not those that an earlier window left, whose coefficients go into the views. */
l2k_status l2k_fetch_blocks(const l2k_decoding *d, l2k_tile_state *state);

/* Tells a plan whose coefficients come from the CPU which code-blocks have some. */
void l2k_hold_blocks(const l2k_decoding *d, const l2k_tile_state *state, l2k_plan *plan);

/* Reads their bytes, of a file that is read in parts. */
l2k_status l2k_need_blocks(const l2k_decoding *d, const l2k_tile_state *state);

/* Leaves those that have been decoded to later windows, where the caller allows for it. */
void l2k_keep_blocks(const l2k_decoding *d, l2k_tile_state *state);

/* Makes the slot's plan, and the views, for the blocks that were listed. */
l2k_status l2k_make_decode_plan(const l2k_decoding *d, l2k_tile_state *state, const l2k_team *team,
                                l2k_tile_slot *slot);

/* ---- What a window needs (window.c) ---------------------------------------------------------------------- */

/* What is wanted of component c, in the domain of the resolution that is decoded. */
l2k_rect l2k_window_output(const l2k_decoding *d, uint32_t c);

/* Enters the window into a plan's component. */
void l2k_window_enter(const l2k_decoding *d, uint32_t c, const l2k_tile_coding *coding, l2k_plan_component *component);

/* Enters into the tree what the decoding needs of each resolution and subband. Where the precincts that are wanted have
 * changed, the tree needs memory for others. */
typedef enum l2k_window_change {
    L2K_WINDOW_SAME = 0,
    L2K_WINDOW_OTHER_BLOCKS,
    L2K_WINDOW_OTHER_PRECINCTS
} l2k_window_change;
l2k_window_change l2k_window_set(const l2k_decoding *d, l2k_tile *tile);

/* The number of precincts that are wanted. */
uint64_t l2k_window_precincts(const l2k_tile *tile);

/* ---- Samples (samples.c) --------------------------------------------------------------------------------- */

/* Chooses where the inverse transform puts the samples of each component that is wanted: the output itself, unless they
 * are joined with others first, or go to a device. */
l2k_status l2k_place_planes(const l2k_decoding *d, l2k_tile_state *state);

/* Brings samples that are not in the output yet there; in device memory, in the caller's stream, like the next two. */
l2k_status l2k_collect_planes(const l2k_decoding *d, l2k_tile_state *state);

/* Without any coefficient a tile is uniform, in the middle of the range (G.1.2), and needs no transform. */
l2k_status l2k_fill_tile(const l2k_decoding *d, uint32_t tile);

/* Tiles of which there is nothing at all are black, as in OpenJPEG. All samples are cleared beforehand where there are
 * such tiles: tile by tile, 65535 of them with 16384 components each would take minutes. */
l2k_status l2k_blacken(const l2k_decoding *d);

/* ---- Memory (memory.c) ----------------------------------------------------------------------------------- */

/* The coder for all code-blocks of a codestream, whatever the styles of its components and tiles. */
static inline const l2k_block_coder_table *l2k_decode_coders(const l2k_codestream *codestream)
{
    return l2k_block_coder_for(codestream->coding.capabilities.parts & L2K_PART_15 ? L2K_STYLE_HT : 0);
}

/* What fits below the memory limit: threads, or, on devices, tiles, at least 1; and plans kept from tile to tile. */
typedef struct l2k_thread_room {
    unsigned threads, tiles;
    bool keep_plans;
    bool indices; /* of packets */
} l2k_thread_room;

/* How many of the context's threads there is room for, each with tiles of its own where `by_tile`. Drops what is kept
 * of earlier images if it takes room that these threads need. */
l2k_thread_room l2k_decode_threads(l2k_decoder *decoder, const l2k_decoding *d, bool by_tile);

#endif
