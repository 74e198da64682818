/* Tag trees (B.10.2). A tree codes an array of non-negative integers; each node holds the minimum of its children. */
#ifndef L2K_CODEC_TILE_TAG_TREE_H
#define L2K_CODEC_TILE_TAG_TREE_H

#include "base/memory.h"
#include "codec/tile/bits.h"

typedef struct l2k_tag_node {
    uint32_t parent; /* index; the root's is its own */
    uint32_t value;  /* encoder: the minimum below; decoder: known once low has reached it */
    uint32_t low;    /* what coder and decoder both know: value >= low */
    bool known;      /* value == low is known too */
} l2k_tag_node;

typedef struct l2k_tag_tree {
    uint32_t num_nodes; /* leaves first, in raster order */
    l2k_tag_node *nodes;
} l2k_tag_tree;

/* Takes the nodes from the arena; all values are infinite. width and height may be 0. */
l2k_status l2k_tag_tree_create(const l2k_context *context, l2k_arena *arena, uint32_t width, uint32_t height,
                               l2k_tag_tree *tree);

/* Forgets what has been coded; the values stay. */
void l2k_tag_tree_restart(l2k_tag_tree *tree);

/* Encoder: lowers leaf `leaf` and its ancestors to `value`. */
void l2k_tag_tree_set(l2k_tag_tree *tree, uint32_t leaf, uint32_t value);

/* Codes whether the leaf's value is below `threshold`. */
void l2k_tag_tree_encode(l2k_tag_tree *tree, uint32_t leaf, uint32_t threshold, l2k_bit_writer *bits);

/* Decodes the same. */
bool l2k_tag_tree_decode(l2k_tag_tree *tree, uint32_t leaf, uint32_t threshold, l2k_bit_reader *bits);

/* Decoder, after it has said no: how many leaves from `leaf` on in raster order, itself among them, are no less than
 * `threshold` for what is known of a node above them, as far as its rows go. A row has `width` leaves. */
uint32_t l2k_tag_tree_above(const l2k_tag_tree *tree, uint32_t leaf, uint32_t width, uint32_t threshold);

#endif
