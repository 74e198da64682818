/* The part of a tile that a window of the picture needs. */
#ifndef L2K_CODEC_DECODE_WINDOW_H
#define L2K_CODEC_DECODE_WINDOW_H

#include "codec/decode/tile_state.h"

/* The wanted area of component c, in the domain of the resolution that is decoded. */
l2k_rect l2k_window_output(const l2k_decoding *d, uint32_t c);

/* Enters the window into a plan's component. */
void l2k_window_enter(const l2k_decoding *d, uint32_t c, l2k_plan_component *component);

/* Enters the needed part of each resolution and subband into the tree. If the wanted precincts have changed, the tree
 * needs memory for the new ones. */
typedef enum l2k_window_change {
    L2K_WINDOW_SAME = 0,
    L2K_WINDOW_OTHER_BLOCKS,
    L2K_WINDOW_OTHER_PRECINCTS
} l2k_window_change;
l2k_window_change l2k_window_set(const l2k_decoding *d, l2k_tile *tile);

/* The number of wanted precincts. */
uint64_t l2k_window_precincts(const l2k_tile *tile);

#endif
