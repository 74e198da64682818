/* The parameters that the marker segments of Annex A carry, in memory. */
#ifndef L2K_CODEC_TILE_CODING_H
#define L2K_CODEC_TILE_CODING_H

#include "dwt/wavelet.h"
#include "quant/steps.h"
#include "tiling/geometry.h"
#include "transform/plan.h"

/* SIZ (A.5.1). */
typedef struct l2k_siz {
    uint32_t profile; /* Rsiz */
    l2k_tile_grid grid;
    uint32_t num_components;
    l2k_component *components; /* dx, dy, precision, is_signed */
} l2k_siz;

typedef enum l2k_quantisation { L2K_QUANT_NONE = 0, L2K_QUANT_DERIVED = 1, L2K_QUANT_EXPOUNDED = 2 } l2k_quantisation;

/* The kernels of the main header's ATK segments, and what its DFS segments say, shared by the codings of all tiles;
 * `code` of a descriptor is its index there (T.801, A.3). */
typedef struct l2k_kernels l2k_kernels;

/* What DFS segments say (T.801, A.3), by index: the levels that each describes, and how these do not split. */
#define L2K_MOST_DFS 15
typedef struct l2k_split_styles {
    uint8_t levels[L2K_MOST_DFS + 1]; /* 0: no such segment */
    l2k_unsplit of[L2K_MOST_DFS + 1];
} l2k_split_styles;

/* COD or COC, and QCD or QCC, of one tile-component (A.6.1, A.6.2, A.6.4, A.6.5). */
typedef struct l2k_component_coding {
    uint8_t levels;
    uint8_t split_style; /* index of the DFS that COC names; 0: none */
    uint8_t log2_block_width, log2_block_height;
    uint8_t style;
    uint8_t ht_passes; /* encoder: of an HT code-block, 0 or 1 cleanup alone, 2 and SigProp, 3 and MagRef */
    uint8_t wavelet;   /* l2k_wavelet */
    uint8_t kernel;    /* its index in COD or COC: 0 the 9/7, 1 the 5/3, others of ATK */
    const l2k_wavelet_descriptor *own; /* its kernel, NULL for Part 1's; of the encoder, or of `kernels` */
    l2k_unsplit unsplit;               /* {0} without DFS */
    bool user_precincts;               /* else all exponents are 15 */
    uint8_t quantisation;              /* l2k_quantisation */
    uint8_t guard_bits;
    uint8_t num_steps; /* read from the marker segment; derived has one */
    uint8_t roi_shift; /* RGN's max-shift (A.6.3), 0 = no region of interest */
    uint8_t log2_precinct_width[L2K_MAX_LEVELS + 1], log2_precinct_height[L2K_MAX_LEVELS + 1]; /* per resolution */
    l2k_step steps[L2K_MAX_SUBBANDS]; /* of the subbands that exist, one after the other, as in QCD */
} l2k_component_coding;

/* One entry of POC (A.6.6): a progression over resolutions and components [start, end) and layers below layer_end. */
typedef struct l2k_progression_change {
    uint8_t progression; /* l2k_progression */
    uint8_t resolution_start, resolution_end;
    uint32_t component_start, component_end;
    uint32_t layer_end;
} l2k_progression_change;

/* What the main header's CAP, PRF and CPF say (A.5.2, A.5.3; A.5 of T.814). */
typedef struct l2k_capabilities {
    uint32_t parts;                          /* Pcap, 0 without CAP; its highest bit is Part 1 */
    uint16_t ht;                             /* Ccap15 */
    uint64_t profile, corresponding_profile; /* PRFnum, and CPFnum + 1; 0 without PRF and CPF */
} l2k_capabilities;

/* Rsiz's bit that announces CAP (Table A.10), those of Part 2 and of its kernels, Pcap's bit of Part 15, and bits of
 * Ccap15 (A.3 of T.814): headers of tiles may differ from the main header; the irreversible transform. */
#define L2K_RSIZ_CAP          ((uint32_t)1 << 14)
#define L2K_RSIZ_PART_2       ((uint32_t)1 << 15)
#define L2K_RSIZ_ARBITRARY    ((uint32_t)1 << 6)
#define L2K_RSIZ_SYMMETRIC    ((uint32_t)1 << 7 | (uint32_t)1 << 5)
#define L2K_RSIZ_SPLITS       ((uint32_t)1 << 7)
#define L2K_PART_15           ((uint32_t)1 << (32 - 15))
#define L2K_HT_HETEROGENEOUS  ((uint16_t)1 << 11)
#define L2K_HT_IRREVERSIBLE   ((uint16_t)1 << 5)
#define L2K_HT_MAGNITUDE_BITS ((uint16_t)31)

/* The bound B on magnitudes, and its code in the lowest bits of Ccap15: from 8 on every number, from 27 on every
 * fourth, then 74. */
unsigned l2k_magnitude_bound(unsigned code);
unsigned l2k_magnitude_code(unsigned bound);

/* COD's part for the whole tile, and its components. */
typedef struct l2k_tile_coding {
    bool sop, eph;
    uint8_t progression; /* l2k_progression */
    uint32_t num_layers; /* 1 to 65535 */
    bool component_transform;
    l2k_capabilities capabilities; /* the same for all tiles */
    l2k_component_coding *components;
    l2k_kernels *kernels;            /* NULL: none */
    uint8_t levels;                  /* decoder: of COD, for components whose COC names a DFS instead */
    l2k_progression_change *changes; /* of POC; none = `progression` over all packets */
    size_t num_changes;
} l2k_tile_coding;

static inline const l2k_wavelet_descriptor *l2k_coding_wavelet(const l2k_component_coding *coding)
{
    return coding->own ? coding->own : l2k_wavelet_get((l2k_wavelet)coding->wavelet);
}

/* Another user of the kernels, if there are any. */
l2k_kernels *l2k_kernels_share(l2k_kernels *kernels);

/* The kernel of that index, NULL if there is none. */
const l2k_wavelet_descriptor *l2k_kernels_find(const l2k_kernels *kernels, unsigned index);

/* What DFS segments say; NULL if there are neither these nor kernels. To be changed before it is shared. */
l2k_split_styles *l2k_kernels_splits(l2k_kernels *kernels);

/* Makes room for what DFS segments say, if there is none. L2K_ERROR_MEMORY. */
l2k_status l2k_kernels_need_splits(const l2k_context *context, l2k_kernels **kernels);

/* Appends one, and may move all: before they are shared. L2K_ERROR_MEMORY. */
l2k_status l2k_kernels_add(const l2k_context *context, l2k_kernels **kernels, const l2k_wavelet_descriptor *wavelet);

/* Frees what a tile's coding owns. */
void l2k_tile_coding_release(const l2k_context *context, l2k_tile_coding *coding);

/* A copy with arrays of its own; after an error, too, the caller releases it. */
l2k_status l2k_tile_coding_copy(const l2k_context *context, const l2k_tile_coding *from, uint32_t num_components,
                                l2k_tile_coding *to);

/* Whether two tiles of `num_components` components are coded alike. */
bool l2k_tile_coding_equals(const l2k_tile_coding *a, const l2k_tile_coding *b, uint32_t num_components);

/* The subbands that a component has, which is also how many steps it needs. */
static inline unsigned l2k_coding_bands(const l2k_component_coding *coding)
{
    return l2k_count_bands(coding->unsplit, coding->levels, coding->levels + 1u);
}

/* How often the samples of a resolution's subbands were split. */
static inline l2k_depth l2k_coding_depth(const l2k_component_coding *coding, unsigned resolution)
{
    const unsigned level = l2k_band_level(coding->levels, resolution);
    return (l2k_depth){l2k_count_across(coding->unsplit, level), l2k_count_down(coding->unsplit, level)};
}

/* Whether a resolution's samples are split into its subbands in that direction: then precincts have half their size
 * there (B.7). 0 or 1. */
static inline unsigned l2k_coding_halves_across(const l2k_component_coding *coding, unsigned resolution)
{
    return resolution && l2k_splits_across(coding->unsplit, coding->levels - resolution + 1u);
}

static inline unsigned l2k_coding_halves_down(const l2k_component_coding *coding, unsigned resolution)
{
    return resolution && l2k_splits_down(coding->unsplit, coding->levels - resolution + 1u);
}

static inline bool l2k_coding_has_band(const l2k_component_coding *coding, unsigned resolution, unsigned orientation)
{
    return resolution == 0 || l2k_band_exists(coding->unsplit, l2k_band_level(coding->levels, resolution), orientation);
}

/* The steps that the encoder writes for such samples, of l2k_coding_bands subbands; and those of a base step. */
void l2k_coding_choose_steps(const l2k_component_coding *coding, unsigned precision, l2k_step *steps);
void l2k_coding_steps_of_base(const l2k_component_coding *coding, float base, l2k_step *steps);

/* The step of a subband, {0} of one that does not exist; worked out from LL's where the quantisation is
 * derived (E-5). */
l2k_step l2k_coding_step(const l2k_component_coding *coding, unsigned resolution, unsigned orientation);

/* What the transform has to do for a tile; `components` has siz->num_components entries and is filled in. `discard`
 * resolutions are left out when decoding. The coefficient type is left to the caller. */
void l2k_coding_plan_spec(const l2k_siz *siz, const l2k_tile_coding *coding, l2k_rect tile, unsigned discard,
                          l2k_plan_component *components, l2k_plan_spec *spec);

#endif
