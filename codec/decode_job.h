/* What all tiles of one decoding share. */
#ifndef L2K_CODEC_DECODE_JOB_H
#define L2K_CODEC_DECODE_JOB_H

#include "codec/decoder.h"
#include "codec/packets/packet.h"
#include "codec/blocks/mq/t1.h"
#include "codec/workers.h"

struct l2k_tile_state;

/* What a tile counts in progress, and its code-blocks together out of that. */
enum { L2K_UNITS_TILE = 1 << 16, L2K_UNITS_BLOCKS = 3 << 14 };

typedef struct l2k_decode_job {
    l2k_decoder *decoder;
    const l2k_context *context;
    const l2k_codestream *codestream;
    l2k_rect area;           /* of the reference grid */
    const l2k_plane *planes; /* per component; data NULL = not wanted. NULL: no samples, coefficients alone */
    void *user;              /* of the work on tiles */
    uint32_t only, discard, layers;
    atomic_int_least64_t *spare_packets; /* that headers may still promise beyond the bytes there are (decode_tile.c) */
    uint32_t *tiles;                     /* that meet the area */
    uint32_t num_tiles;
    struct l2k_tile_state *states; /* one per slot of the workers */
} l2k_decode_job;

static inline bool l2k_wants_component(const l2k_decode_job *job, uint32_t c)
{
    return job->planes ? job->planes[c].data != NULL : job->only == UINT32_MAX || job->only == c;
}

/* Everything that is allocated for a tile, so that one place frees it. */
typedef struct l2k_tile_state {
    l2k_tile_coding coding;
    l2k_packed_headers packed;
    l2k_tile tile;
    bool is_absent;    /* the stream has nothing of this tile */
    bool is_blank;     /* it has no byte of any code-block, and samples are wanted of it */
    bool joined_later; /* the component transform follows the plan, which wants equal numbers of levels for it */
    l2k_block_place *places;
    size_t num_places;
    l2k_plan_component *components; /* of the plan */
    l2k_plane *planes;
    uint32_t *plan_component;
    void **cropped; /* per component: samples of the whole tile-component where they do not go straight to the output */
} l2k_tile_state;

/* Whether [low, high) of a subband or resolution `level` levels below its component is needed for [area_low, area_high)
 * of that component, when a sample depends on others up to `support` away. */
static inline bool l2k_reaches(uint64_t low, uint64_t high, uint32_t area_low, uint32_t area_high, unsigned level,
                               unsigned support)
{
    uint64_t from = (uint64_t)area_low >> level, to = l2k_ceil_shift(area_high, level);
    return high + support > from && low < to + support;
}

/* A sample of a component depends on coefficients at most this far from its place in a subband, whatever the level:
 * each level of 9/7 reaches four samples further and halves the distance. */
enum { L2K_SUPPORT = 5 };

/* ---- Tiles (decode_tiles.c) ----------------------------------------------------------------------------------- */

/* Does `work` on all tiles that meet `area`, its job being an l2k_decode_job with `user` in it. */
l2k_status l2k_decode_with(l2k_decoder *decoder, l2k_rect area, const l2k_plane *planes, l2k_backend backend,
                           const l2k_tile_work *work, void *user);

/* Tier-2 and tier-1 of a tile: its coefficients into the views of the slot's plan, which is made here. Where the stream
 * has nothing of the tile, s->is_absent is set, or s->is_blank, and there is no plan for it. */
l2k_status l2k_decode_to_views(l2k_decode_job *job, l2k_tile_state *s, l2k_team *team, l2k_tile_slot *slot,
                               uint32_t index);

/* ---- One tile (decode_tile.c) --------------------------------------------------------------------------------- */

/* Tiles that are asked for in rising order, call by call, are one pass over the file, with one bound on what its
 * headers may promise beyond the bytes there are. */
void l2k_start_pass(l2k_decode_job *job);

/* Tier-2 of a tile: s->coding, s->packed and s->tile. Where the stream has nothing of it, s->is_absent alone is set.
 * L2K_ERROR_TRUNCATED, too, where headers promise too much. */
l2k_status l2k_read_tile(l2k_decode_job *job, l2k_tile_state *s, uint32_t index);

/* Has a tile no byte of any code-block? False, too, where the call is to end, as the caller learns when it asks next.
 */
bool l2k_is_blank(const l2k_context *context, const l2k_tile *tile);

/* ---- Tier-2 (decode_packets.c) -------------------------------------------------------------------------------- */

/* Bytes of a tile's packets, packed headers left out. */
uint64_t l2k_tile_bytes(const l2k_codestream *codestream, uint32_t tile);

/* Reads the packets of a tile; what is not wanted is passed over. Where the stream ends early, or packets are missing,
 * what is there is kept, and the decoder's `incomplete` is set. */
l2k_status l2k_read_packets(const l2k_decode_job *job, l2k_tile *tile, uint32_t index,
                            const l2k_packed_headers *packed);

/* A tile without any packet: a warning, and `incomplete` where the stream ends early. */
l2k_status l2k_missing_tile(const l2k_decode_job *job, uint32_t index);

/* ---- Tier-1 (decode_blocks.c) --------------------------------------------------------------------------------- */

/* What decoding a block needs to know. */
typedef struct l2k_tile_blocks {
    const l2k_decode_job *job;
    const l2k_plan *plan;
    const l2k_tile *tile;
    const uint32_t *plan_component; /* the plan's number of each component */
    const l2k_block_place *places;
    size_t num_places;
} l2k_tile_blocks;

/* Decodes the block at places[index] of an l2k_tile_blocks into its view, or clears it there; an l2k_block_work. */
l2k_status l2k_decode_block(void *blocks, l2k_t1 *coder, unsigned thread, size_t index);

/* The bit-planes that the blocks of each subband of component c have. Blocks are listed component by component: *at is
 * the first of c or of a later one, and then that of the next. */
l2k_status l2k_measure_planes(const l2k_context *context, l2k_tile_state *s, uint32_t c, size_t *at,
                              uint8_t bits[L2K_MAX_SUBBANDS]);

/* ---- Samples (decode_samples.c) ------------------------------------------------------------------------------- */

/* Chooses where the inverse transform puts the samples of each component that is wanted: the output itself where it has
 * room for the whole tile-component, else memory of the state's own. */
l2k_status l2k_place_planes(const l2k_decode_job *job, l2k_tile_state *s);

/* Brings samples that are not in the output yet there. */
l2k_status l2k_collect_planes(const l2k_decode_job *job, const l2k_tile_state *s);

/* Without any coefficient a tile is uniform, in the middle of the range (G.1.2). That needs no transform. */
l2k_status l2k_fill_tile(const l2k_decode_job *job, uint32_t tile);

/* Tiles of which there is nothing at all are black, as OpenJPEG has it. All samples are made so beforehand where there
 * are such tiles: tile by tile, 65535 of them with 16384 components each would take minutes. */
l2k_status l2k_blacken(const l2k_decode_job *job);

#endif
