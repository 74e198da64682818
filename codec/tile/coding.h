/* The parameters of Annex A's marker segments, in memory. */
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

/* The kernels of the main header's ATK segments, shared by the codings of all tiles. `code` of a descriptor is its index
 * there (T.801, A.3). */
typedef struct l2k_kernels l2k_kernels;

/* The contents of DFS segments (T.801, A.3), by index: how many levels each describes, and which directions these leave
 * unsplit. */
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
    uint8_t ht_passes; /* encoder, HT: 0 or 1 the cleanup pass alone, 2 SigProp as well, 3 MagRef as well */
    uint8_t wavelet;   /* l2k_wavelet */
    uint8_t kernel;    /* its index in COD or COC: 0 the 9/7, 1 the 5/3, others of ATK */
    const l2k_wavelet_descriptor *own; /* its kernel, NULL for those of Part 1; owned by the encoder or by `kernels` */
    l2k_unsplit unsplit;               /* {0} without DFS */
    bool user_precincts;               /* false: all exponents are 15 */
    uint8_t quantisation;              /* l2k_quantisation */
    uint8_t guard_bits;
    uint8_t num_steps; /* number of steps in the marker segment; 1 if derived */
    uint8_t roi_shift; /* RGN's max-shift (A.6.3), 0 = no region of interest */
    uint8_t log2_precinct_width[L2K_MAX_LEVELS + 1], log2_precinct_height[L2K_MAX_LEVELS + 1]; /* per resolution */
    l2k_viewing viewing;              /* encoder: what errors of subbands count */
    l2k_step steps[L2K_MAX_SUBBANDS]; /* steps of the existing subbands, in the order of QCD */
} l2k_component_coding;

/* The contents of the main header's CAP, PRF and CPF (A.5.2, A.5.3; A.6 of T.814). */
typedef struct l2k_capabilities {
    uint32_t parts;                          /* Pcap, 0 without CAP; its highest bit is Part 1 */
    uint16_t ht;                             /* Ccap15 */
    uint64_t profile, corresponding_profile; /* PRFnum, and CPFnum + 1; 0 without PRF and CPF */
} l2k_capabilities;

/* Bits of Rsiz that announce CAP (Table A.10), Part 2 and its kernels; Pcap's bit of Part 15; and bits of Ccap15 (A.3
 * of T.814): tile headers may differ from the main header; the irreversible transform. */
#define L2K_RSIZ_CAP          ((uint32_t)1 << 14)
#define L2K_RSIZ_PART_2       ((uint32_t)1 << 15)
#define L2K_RSIZ_ARBITRARY    ((uint32_t)1 << 6)
#define L2K_RSIZ_SYMMETRIC    ((uint32_t)1 << 7 | (uint32_t)1 << 5)
#define L2K_RSIZ_SPLITS       ((uint32_t)1 << 7)
#define L2K_PART_15           ((uint32_t)1 << (32 - 15))
#define L2K_HT_HETEROGENEOUS  ((uint16_t)1 << 11)
#define L2K_HT_IRREVERSIBLE   ((uint16_t)1 << 5)
#define L2K_HT_MAGNITUDE_BITS ((uint16_t)31)

/* The bound B on magnitudes and its code in the lowest bits of Ccap15: every number from 8 on, every fourth from 27 on,
 * then 74. */
unsigned l2k_magnitude_bound(unsigned code);
unsigned l2k_magnitude_code(unsigned bound);

/* The part of COD that holds for the whole tile, and the codings of its components. */
typedef struct l2k_tile_coding {
    bool sop, eph;
    uint8_t progression; /* l2k_progression */
    uint32_t num_layers; /* 1 to 65535 */
    bool component_transform;
    l2k_capabilities capabilities; /* the same for all tiles */
    l2k_component_coding *components;
    l2k_kernels *kernels;    /* NULL: none */
    l2k_split_styles splits; /* of the main header */
    uint8_t levels;          /* levels of COD, for components whose COC names a DFS instead */
    l2k_poc *changes;        /* entries of POC (A.6.6), all of tile 0; none = `progression` over all packets */
    size_t num_changes;
} l2k_tile_coding;

static inline const l2k_wavelet_descriptor *l2k_coding_wavelet(const l2k_component_coding *coding)
{
    return coding->own ? coding->own : l2k_wavelet_get((l2k_wavelet)coding->wavelet);
}

/* The kernel with that index, or NULL. */
const l2k_wavelet_descriptor *l2k_kernels_find(const l2k_kernels *kernels, unsigned index);

/* Appends a kernel, and may move all of them: call it before they are shared. L2K_ERROR_MEMORY. */
l2k_status l2k_kernels_add(const l2k_context *context, l2k_kernels **kernels, const l2k_wavelet_descriptor *wavelet);

/* Frees the memory of a tile's coding. */
void l2k_tile_coding_release(const l2k_context *context, l2k_tile_coding *coding);

/* Makes a copy with arrays of its own. The caller releases it, also after an error. */
l2k_status l2k_tile_coding_copy(const l2k_context *context, const l2k_tile_coding *from, uint32_t num_components,
                                l2k_tile_coding *to);

/* Whether two tiles have the same progression order changes. */
bool l2k_same_changes(const l2k_tile_coding *a, const l2k_tile_coding *b);

/* Clips the ends of changes to the image: CEpoc of one byte codes 256 as 0, which some decoders take for no component.
 * Drops changes without any of its components, which a component index of one byte would misname. */
void l2k_clip_changes(l2k_tile_coding *coding, uint32_t num_components);

/* Whether two tiles of `num_components` components are coded alike. */
bool l2k_tile_coding_equals(const l2k_tile_coding *a, const l2k_tile_coding *b, uint32_t num_components);

/* Whether two components of the same levels and quantisation have the same steps. */
bool l2k_coding_same_steps(const l2k_component_coding *a, const l2k_component_coding *b);

/* The number of subbands of a component, and of its steps. */
static inline unsigned l2k_coding_bands(const l2k_component_coding *coding)
{
    return l2k_count_bands(coding->unsplit, coding->levels, coding->levels + 1u);
}

/* How often the samples of a resolution's subbands were split in each direction. */
static inline l2k_depth l2k_coding_depth(const l2k_component_coding *coding, unsigned resolution)
{
    const unsigned level = l2k_band_level(coding->levels, resolution);
    return (l2k_depth){l2k_count_across(coding->unsplit, level), l2k_count_down(coding->unsplit, level)};
}

/* Whether a resolution is split in that direction: if so, its precincts have half their size there in subbands (B.7). 0
 * or 1. */
static inline unsigned l2k_coding_halves_across(const l2k_component_coding *coding, unsigned resolution)
{
    return resolution && l2k_splits_across(coding->unsplit, coding->levels - resolution + 1u);
}

static inline unsigned l2k_coding_halves_down(const l2k_component_coding *coding, unsigned resolution)
{
    return resolution && l2k_splits_down(coding->unsplit, coding->levels - resolution + 1u);
}

/* Log2 of the height of a resolution's code-blocks (B.7). */
static inline unsigned l2k_coding_block_height(const l2k_component_coding *coding, unsigned resolution)
{
    const unsigned precinct = coding->log2_precinct_height[resolution],
                   halves = l2k_coding_halves_down(coding, resolution);
    return coding->log2_block_height + halves < precinct ? coding->log2_block_height : precinct - halves;
}

static inline bool l2k_coding_has_band(const l2k_component_coding *coding, unsigned resolution, unsigned orientation)
{
    return resolution == 0 || l2k_band_exists(coding->unsplit, l2k_band_level(coding->levels, resolution), orientation);
}

/* The steps of l2k_coding_bands subbands: of a base step, with the coding's `viewing`; if that is 0, of a quality factor;
 * without one, those that suit samples of that precision. */
void l2k_coding_steps(const l2k_component_coding *coding, float base, l2k_quality_of of, l2k_step *steps);

/* The step of a subband; {0} if the subband does not exist. If the quantisation is derived, computed from LL's step
 * (E-5). */
l2k_step l2k_coding_step(const l2k_component_coding *coding, unsigned resolution, unsigned orientation);

/* Sets the size of the cells that hold the code-blocks of component c. The components of a component transform must
 * have the same cells, though their code-blocks may differ in size (COC). */
void l2k_coding_set_cells(const l2k_tile_coding *coding, uint32_t num_components, uint32_t c,
                          l2k_plan_component *component);

/* Describes a tile's transform; fills in `components`, which has siz->num_components entries. When decoding, leaves out
 * `discard` resolutions. The caller sets the coefficient type. */
void l2k_coding_plan_spec(const l2k_siz *siz, const l2k_tile_coding *coding, l2k_rect tile, unsigned discard,
                          l2k_plan_component *components, l2k_plan_spec *spec);

#endif
