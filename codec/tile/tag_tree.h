/* Tag trees (B.10.2). A tree codes an array of non-negative integers; each node holds the minimum of its children. */
#ifndef L2K_CODEC_TILE_TAG_TREE_H
#define L2K_CODEC_TILE_TAG_TREE_H

#include "base/memory.h"
#include "codec/tile/bits.h"

typedef struct l2k_tag_node {
    uint32_t parent; /* index; the root is its own parent */
    uint32_t value;  /* encoder: the minimum of its leaves */
    uint32_t low;    /* coded so far: value >= low */
    bool known;      /* coded as well: value == low */
} l2k_tag_node;

typedef struct l2k_tag_tree {
    uint32_t num_nodes; /* leaves first, in raster order */
    l2k_tag_node *nodes;
} l2k_tag_tree;

/* Takes the nodes from the arena; all values are UINT32_MAX. width and height may be 0. */
l2k_status l2k_tag_tree_create(const l2k_context *context, l2k_arena *arena, uint32_t width, uint32_t height,
                               l2k_tag_tree *tree);

/* Forgets what has been coded; keeps the values. */
void l2k_tag_tree_restart(l2k_tag_tree *tree);

/* Sides of up to 2^32 - 1 leaves give at most 33 levels. */
enum { L2K_TAG_TREE_LEVELS = 33 };

/* Decodes whether the leaf's value is below `threshold`. What is above a node that is known, or known not to be below
 * the threshold, has nothing more to say. */
static inline bool l2k_tag_tree_decode(l2k_tag_tree *tree, uint32_t leaf, uint32_t threshold, l2k_bit_reader *bits)
{
    l2k_tag_node *const nodes = tree->nodes, *node = &nodes[leaf];
    l2k_tag_node *path[L2K_TAG_TREE_LEVELS];
    unsigned length = 0;
    uint32_t low = 0;
    while (!node->known && node->low < threshold) {
        path[length++] = node;
        if (&nodes[node->parent] == node)
            break;
        node = &nodes[node->parent];
    }
    if (length == 0 || node != path[length - 1])
        low = node->low;
    while (length > 0) {
        node = path[--length];
        low = node->low > low ? node->low : low; /* a child is at least its parent */
        if (low < threshold) {
            const uint32_t most = threshold - low, zeros = l2k_bits_run(bits, 0, most);
            low += zeros;
            node->known = zeros < most;
        }
        node->low = low;
    }
    return nodes[leaf].known && nodes[leaf].low < threshold;
}

/* Decoder, after a decoded "no": the number of leaves of the row, starting with `leaf`, that an ancestor already known
 * to be at least `threshold` rules out as well. A row has `width` leaves. UINT32_MAX if the root rules out all leaves.
 */
uint32_t l2k_tag_tree_above(const l2k_tag_tree *tree, uint32_t leaf, uint32_t width, uint32_t threshold);

#endif
