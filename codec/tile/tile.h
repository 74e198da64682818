/* A tile in memory: tile-components, resolutions, subbands, precincts, code-blocks (Annex B). All of it lives in the
 * tile's arena. Block coders and packets exchange data only through the code-blocks. */
#ifndef L2K_CODEC_TILE_TILE_H
#define L2K_CODEC_TILE_TILE_H

#include "base/memory.h"
#include "codec/tile/coding.h"
#include "codec/tile/tag_tree.h"

/* One packet's contribution to one codeword segment of a code-block (decoder). */
typedef struct l2k_contribution {
    struct l2k_contribution *next;
    const uint8_t *data;
    uint32_t bytes;
    uint8_t passes;
    bool starts_segment;
    uint16_t layer;
} l2k_contribution;

/* An encoded code-block. The block coder owns the arrays, except layer_passes, which the tile owns. */
typedef struct l2k_coded_block {
    const uint8_t *bytes;
    uint32_t *pass_bytes;    /* per pass: bytes up to its end, L2K_PASS_TERMINATED set if it ends a segment; NULL: all
                                passes are one segment, in one layer, of num_bytes */
    double *pass_distortion; /* per pass: squared error removed by it and all before, in squared quantiser steps; NULL
                                unless requested */
    uint8_t *layer_passes;   /* per layer: passes in this and all earlier layers (packets/rate.h); NULL: all of them */
    uint32_t num_bytes;      /* without pass_bytes */
    uint8_t magnitude_bits;  /* of its largest magnitude; HT only */
} l2k_coded_block;

/* Where a code-block is truncated (encoder). Not in the block, of which large pictures have many. */
typedef struct l2k_block_truncation {
    double error;               /* squared error left, in squared quantiser steps, if requested */
    uint8_t counted_bits;       /* magnitude_bits when points were estimated (ht_estimate.h) */
    uint8_t point, coded_point; /* the point that is wanted, 0 = no passes; and that of the code */
} l2k_block_truncation;

/* The coding passes that a truncation leaves out at the end, of three for each bit-plane but two less. */
static inline unsigned l2k_dropped_passes(const l2k_block_truncation *t)
{
    return t->point ? 3u * t->counted_bits - 2 - t->point : UINT8_MAX;
}

/* Nothing is coded yet. */
enum { L2K_NOT_CODED = 255 };

/* A code-block to decode. */
typedef struct l2k_received_block {
    l2k_contribution *first, *last;
    uint64_t bytes; /* of all contributions */
} l2k_received_block;

#define L2K_PASS_TERMINATED 0x80000000u

/* How a received code-block is coded. In styles with HT it is open until its first bytes arrive: earlier passes are
 * placeholders (B.1 of T.814). */
typedef enum l2k_block_kind { L2K_BLOCK_MQ = 0, L2K_BLOCK_HT, L2K_BLOCK_OPEN } l2k_block_kind;

/* A code-block's state from packet header to packet header (decoder). */
typedef struct l2k_block_state {
    uint8_t num_planes, num_passes, lblock, kind; /* as in l2k_block */
} l2k_block_state;

/* A code-block: the place of its samples, and the data that its coder and the packets exchange. */
typedef struct l2k_block {
    l2k_rect rect; /* in the subband's domain */
    uint8_t num_planes;
    uint8_t num_passes; /* encoder: number of coded passes; decoder: number received so far */
    uint8_t lblock;     /* B.10.7.1 */
    uint8_t passes_in;  /* encoder: passes in the packets so far */
    uint8_t kind;       /* decoder: l2k_block_kind. This, num_planes and num_passes are copies of the block's state */
    union {
        l2k_coded_block coded;
        l2k_received_block received;
    };
} l2k_block;

/* Encoder: a block's passes in a layer and all earlier ones. */
static inline unsigned l2k_block_passes(const l2k_block *block, uint32_t layer)
{
    return block->num_passes && block->coded.layer_passes ? block->coded.layer_passes[layer] : block->num_passes;
}

/* Encoder: bytes up to the end of a pass, and L2K_PASS_TERMINATED. */
static inline uint32_t l2k_pass_end(const l2k_block *block, unsigned pass)
{
    if (block->coded.pass_bytes)
        return block->coded.pass_bytes[pass];
    return pass + 1u == block->num_passes ? block->coded.num_bytes | L2K_PASS_TERMINATED : 0;
}

/* Encoder: the bytes of the first `passes` passes. */
static inline uint32_t l2k_bytes_of_passes(const l2k_block *block, unsigned passes)
{
    return passes ? l2k_pass_end(block, passes - 1) & ~L2K_PASS_TERMINATED : 0;
}

/* A contribution announced by a packet's header, whose bytes follow that header (decoder); or several consecutive ones
 * of code-blocks that are not kept. */
typedef struct l2k_pending {
    l2k_block *block; /* NULL: not kept */
    uint32_t bytes;
    uint16_t passes;
    bool starts_segment;
} l2k_pending;

/* Those of the packet being read, in the order of their bytes. */
typedef struct l2k_pending_list {
    l2k_pending *at;
    size_t capacity;
} l2k_pending_list;

/* A precinct's part of one subband. */
typedef struct l2k_precinct {
    l2k_partition grid;                  /* its code-blocks */
    l2k_rect kept;                       /* columns and rows of code-blocks that exist: all when encoding */
    l2k_block *blocks;                   /* of `kept`, row by row; NULL until prepared */
    uint32_t image;                      /* tile->image when it was last prepared */
    l2k_tag_tree inclusion, zero_planes; /* no nodes until the first packet, which l2k_precinct_make_trees precedes */
    l2k_block_state *states;             /* decoder: from the packet headers so far; NULL until l2k_precinct_receive */
} l2k_precinct;

typedef struct l2k_subband {
    l2k_rect rect;
    const struct l2k_tile_component *component;
    uint8_t resolution, orientation;
    uint16_t max_planes;     /* Mb (E-2) plus the shift of a region of interest */
    l2k_rect window;         /* the part of it that is decoded */
    uint32_t view_x, view_y; /* where in the subband the part held by its view begins */
    l2k_precinct *precincts; /* those of resolution->wanted, row by row: all when encoding */
} l2k_subband;

typedef struct l2k_resolution {
    l2k_rect rect;
    l2k_partition precincts;
    uint32_t num_precincts;
    uint64_t first_precinct; /* number of its first precinct in the tile */
    l2k_rect wanted;         /* columns and rows of precincts that stay in memory as long as the tile: all when
                                encoding */
    l2k_precinct **passed;   /* decoder: for each unwanted precinct whose packets are being skipped, its parts in the
                                subbands; NULL: none so far */
    uint32_t num_bands;      /* 1 for the lowest resolution, else 3; subbands that do not exist are empty */
    l2k_subband bands[3];
} l2k_resolution;

typedef struct l2k_tile_component {
    uint32_t index;
    l2k_rect rect;
    uint32_t dx, dy, precision;
    uint32_t num_resolutions;
    l2k_resolution *resolutions;
    const l2k_component_coding *coding;
    const l2k_coefficients *view; /* the component's coefficients in the plan; set when the plan is chosen */
    const uint32_t *first_rows;   /* of each subband in the view (transform/plan.h); NULL: all */
} l2k_tile_component;

/* A code-block and where it belongs. */
typedef struct l2k_block_place {
    l2k_block *block;
    const l2k_subband *band;
} l2k_block_place;

/* The part of its component's view that holds a code-block. */
static inline l2k_band_view l2k_block_in_view(const l2k_block_place *place)
{
    const l2k_subband *band = place->band;
    const l2k_tile_component *component = band->component;
    const l2k_rect r = place->block->rect;
    const unsigned number = l2k_band_number(band->resolution, band->orientation);
    const l2k_band_view *at = &component->view->bands[number];
    const uint32_t first = component->first_rows ? component->first_rows[number] : band->rect.y0 + band->view_y;
    return (l2k_band_view){at->x + r.x0 - band->rect.x0 - band->view_x, at->y + r.y0 - first, l2k_rect_width(r),
                           l2k_rect_height(r)};
}

typedef struct l2k_tile {
    uint32_t index;
    l2k_rect rect;
    uint32_t num_components;
    l2k_tile_component *components;
    const l2k_tile_coding *coding;
    uint64_t num_precincts;     /* packets of one layer */
    uint32_t image;             /* number of earlier images with the same tree */
    bool has_contributions;     /* decoder: a code-block has a contribution */
    bool keeps_windows;         /* decoder: even in wanted precincts, only code-blocks in the windows exist */
    uint8_t missing_guard_bits; /* encoder: bit-planes that a block has beyond those of its subband */
    uint8_t magnitude_bound;    /* encoder: B that the HT blocks need (8.7.3 of T.814) */
    l2k_block_place *places;    /* encoder: the places of all code-blocks, from l2k_tile_list_blocks */
    size_t num_places;
    uint8_t *layers;                   /* encoder: the layer_passes of all places, in order */
    l2k_block_truncation *truncations; /* encoder: of all places, while blocks are truncated */
    l2k_arena arena;
    l2k_arena contributions;  /* of this image; encoder: planes of samples, and layers */
    l2k_arena passed;         /* decoder: unwanted precincts, from their first packet to their last */
    size_t num_passed;        /* number of those precincts */
    l2k_pending_list pending; /* decoder */
} l2k_tile;

/* Builds the tree down to resolutions and subbands, all of them wanted. `siz` and `coding` must outlive the tile. On
 * failure the tile is released. More than `most_precincts` precincts are L2K_ERROR_TRUNCATED, since each packet takes
 * at least a byte; UINT64_MAX when encoding. */
l2k_status l2k_tile_outline(const l2k_context *context, const l2k_siz *siz, const l2k_tile_coding *coding,
                            uint32_t index, uint64_t most_precincts, l2k_tile *tile);

/* Then takes memory for the wanted precincts, not yet prepared. On failure the tile is released. */
l2k_status l2k_tile_take_precincts(const l2k_context *context, l2k_tile *tile);

/* Calls both, for all precincts. */
l2k_status l2k_tile_create(const l2k_context *context, const l2k_siz *siz, const l2k_tile_coding *coding,
                           uint32_t index, uint64_t most_precincts, l2k_tile *tile);
void l2k_tile_release(const l2k_context *context, l2k_tile *tile);

/* Whether the tree fits tile `index` of another image whose coding equals the tile's. */
bool l2k_tile_fits(const l2k_tile *tile, const l2k_siz *siz, uint32_t index);

/* Makes the tree ready for the next image: code-blocks keep their memory and are reset when their precinct is prepared.
 * L2K_ERROR_TRUNCATED as above. */
l2k_status l2k_tile_restart(const l2k_context *context, uint64_t most_precincts, l2k_tile *tile);

/* Decoder: moves all contributions of this image from bytes at `from` to a copy of them. */
void l2k_tile_move_contributions(l2k_tile *tile, const uint8_t *from, const uint8_t *to);

/* The number of samples of all components. */
uint64_t l2k_tile_samples(const l2k_tile *tile);

/* The size of a subband's quantiser step (E.1). */
float l2k_band_step_size(const l2k_subband *band);

/* For coding the tile again with other steps in its coding: sets the bit-planes of all subbands to match the steps, and
 * resets missing_guard_bits and magnitude_bound. */
void l2k_tile_take_steps(l2k_tile *tile);

/* Provides for more guard bits in all subbands (E-2). */
void l2k_tile_add_guard_bits(l2k_tile *tile, unsigned bits);

/* Makes the code-blocks of one wanted precinct in all subbands of a resolution, unless that was done for this image. */
l2k_status l2k_precinct_prepare(const l2k_context *context, l2k_tile *tile, const l2k_tile_component *component,
                                uint32_t resolution, uint32_t precinct);

/* The same with all wanted precincts of the tile. */
l2k_status l2k_tile_prepare(const l2k_context *context, l2k_tile *tile);

/* Also makes the state for the precinct's packet headers. A precinct that is not wanted has no code-blocks. */
l2k_status l2k_precinct_receive(const l2k_context *context, l2k_tile *tile, const l2k_tile_component *component,
                                uint32_t resolution, uint32_t precinct);

/* Takes the tag trees of the precinct, which is prepared. */
l2k_status l2k_precinct_make_trees(const l2k_context *context, l2k_arena *arena, l2k_precinct *precinct);

/* The approximate number of code-blocks in the wanted precincts. */
uint64_t l2k_tile_wanted_blocks(const l2k_tile *tile);

bool l2k_precinct_is_wanted(const l2k_resolution *resolution, uint32_t precinct);

/* The part of a precinct in subband `band` of a resolution; NULL if it is neither wanted nor prepared. */
l2k_precinct *l2k_precinct_of(const l2k_resolution *resolution, uint32_t band, uint32_t precinct);

/* After a precinct's last packet: frees the precinct if it is not wanted. */
void l2k_precinct_leave(l2k_tile *tile, l2k_resolution *resolution, uint32_t precinct);

/* Makes room for more pending contributions. */
l2k_status l2k_pending_grow(const l2k_context *context, l2k_pending_list *list);

/* The number of code-blocks of a precinct, kept or not. */
static inline uint32_t l2k_precinct_blocks(const l2k_precinct *precinct)
{
    return precinct->grid.across * precinct->grid.down;
}

/* The code-block in a column and row; NULL if it is not kept. */
static inline l2k_block *l2k_precinct_block(const l2k_precinct *precinct, uint32_t x, uint32_t y)
{
    const l2k_rect kept = precinct->kept;
    if (x < kept.x0 || x >= kept.x1 || y < kept.y0 || y >= kept.y1)
        return NULL;
    return &precinct->blocks[(size_t)(y - kept.y0) * (kept.x1 - kept.x0) + (x - kept.x0)];
}

/* Lists all prepared blocks in the windows, component by component, from the lowest resolution up. The caller releases
 * the array. */
l2k_status l2k_tile_list_blocks(const l2k_context *context, const l2k_tile *tile, l2k_block_place **places,
                                size_t *count);

/* Appends the prepared blocks of a subband's window that meet rows y0 .. y1 - 1 of its domain to a list of `count`
 * places, or only counts them if `places` is NULL. Returns the new count. */
size_t l2k_tile_list_rows(const l2k_resolution *resolution, const l2k_subband *band, uint32_t y0, uint32_t y1,
                          l2k_block_place *places, size_t count);

#endif
