/* Directions in which decomposition levels split (T.801, A.3): in Part 1 all split horizontally and vertically. */
#ifndef L2K_TILING_SPLITS_H
#define L2K_TILING_SPLITS_H

#include "base/context.h"

/* Levels that do not split horizontally, and vertically: bit level - 1. {0}: all levels split both ways. */
typedef struct l2k_unsplit {
    uint32_t across, down;
} l2k_unsplit;

static inline bool l2k_splits_all(l2k_unsplit unsplit)
{
    return (unsplit.across | unsplit.down) == 0;
}

/* Whether a level, 1 to 32, splits in that direction. */
static inline bool l2k_splits_across(l2k_unsplit unsplit, unsigned level)
{
    return !(unsplit.across >> (level - 1) & 1);
}

static inline bool l2k_splits_down(l2k_unsplit unsplit, unsigned level)
{
    return !(unsplit.down >> (level - 1) & 1);
}

/* Whether both agree on the levels 1 to `levels`. */
bool l2k_same_splits(l2k_unsplit a, l2k_unsplit b, unsigned levels);

/* How often the highest `levels` levels split in each direction. */
unsigned l2k_count_across(l2k_unsplit unsplit, unsigned levels);
unsigned l2k_count_down(l2k_unsplit unsplit, unsigned levels);

/* The unsplit directions from level + 1 on, which becomes level 1. */
static inline l2k_unsplit l2k_unsplit_behind(l2k_unsplit unsplit, unsigned level)
{
    return level < 32 ? (l2k_unsplit){unsplit.across >> level, unsplit.down >> level} : (l2k_unsplit){0};
}

/* How many subbands the lowest `resolutions` of levels + 1 resolutions have: 1 and then 3 for each, less those that do
 * not exist. Also the number of the next resolution's first subband in QCD. */
unsigned l2k_count_bands(l2k_unsplit unsplit, unsigned levels, unsigned resolutions);

/* Whether a level has a subband of that orientation; LL always exists. */
static inline bool l2k_band_exists(l2k_unsplit unsplit, unsigned level, unsigned orientation)
{
    return (!(orientation & L2K_HL) || l2k_splits_across(unsplit, level)) &&
           (!(orientation & L2K_LH) || l2k_splits_down(unsplit, level));
}

/* Reads a letter for each level from the highest resolution on: b both ways, h horizontally, v vertically; further
 * levels split both ways. L2K_ERROR_ARGUMENT for another letter or more than 32 of them. */
l2k_status l2k_splits_parse(const l2k_context *context, const char *text, l2k_unsplit *unsplit, unsigned *letters);

/* Writes the letters of that number of levels; nothing if all split both ways. 0-terminated, cut off at `bytes`.
 * Returns the length needed, without the 0. */
size_t l2k_splits_print(l2k_unsplit unsplit, unsigned levels, char *text, size_t bytes);

#endif
