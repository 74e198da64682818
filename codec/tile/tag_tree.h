/* Tag trees (B.10.2). A tree codes an array of non-negative integers; each node holds the minimum of its children. */
#ifndef L2K_CODEC_TILE_TAG_TREE_H
#define L2K_CODEC_TILE_TAG_TREE_H

#include "base/memory.h"
#include "codec/tile/bits.h"

/* Sides of up to 2^32 - 1 leaves give at most 33 levels. */
enum { L2K_TAG_TREE_LEVELS = 33 };

/* A tree of width x height leaves. Four bytes a node, since large precincts have many: parents are computed. When
 * reading, each node holds twice its lower bound, plus 1 if that is its value; when writing, see packet_write.c. */
typedef struct l2k_tag_tree {
    uint32_t width, height;
    uint32_t *nodes; /* leaves first, then level by level, in raster order */
} l2k_tag_tree;

/* The number of nodes of such a tree. */
uint64_t l2k_tag_nodes(uint32_t width, uint32_t height);

/* Takes the nodes from the arena, in the state before the first reading. width and height may be 0. */
l2k_status l2k_tag_tree_create(const l2k_context *context, l2k_arena *arena, uint32_t width, uint32_t height,
                               l2k_tag_tree *tree);

/* Returns to the state before the first reading. */
void l2k_tag_tree_restart(const l2k_tag_tree *tree);

/* The value of a leaf that was decoded to be below a threshold. */
static inline uint32_t l2k_tag_value(const l2k_tag_tree *tree, uint32_t x, uint32_t y)
{
    return tree->nodes[(size_t)y * tree->width + x] >> 1;
}

/* A node and its level. */
typedef struct l2k_tag_place {
    uint32_t *level;
    uint32_t x, y, width, height;
} l2k_tag_place;

static inline uint32_t *l2k_tag_node_at(const l2k_tag_place *place)
{
    return place->level + (size_t)place->y * place->width + place->x;
}

static inline bool l2k_tag_is_root(const l2k_tag_place *place)
{
    return place->width == 1 && place->height == 1;
}

static inline void l2k_tag_rise(l2k_tag_place *place)
{
    place->level += (size_t)place->width * place->height;
    place->width = place->width / 2 + (place->width & 1);
    place->height = place->height / 2 + (place->height & 1);
    place->x /= 2;
    place->y /= 2;
}

/* Decodes whether the value of leaf x, y is below `threshold`, at most 2^31 - 1. Ancestors of a node that is known, or
 * known to reach the threshold, have nothing to add. */
static inline bool l2k_tag_decode(const l2k_tag_tree *tree, uint32_t x, uint32_t y, uint32_t threshold,
                                  l2k_bit_reader *bits)
{
    l2k_tag_place place = {tree->nodes, x, y, tree->width, tree->height};
    uint32_t *const leaf = l2k_tag_node_at(&place), *node = leaf;
    uint32_t *path[L2K_TAG_TREE_LEVELS];
    unsigned length = 0;
    uint32_t low = 0;
    while (!(*node & 1) && *node < 2 * threshold) {
        path[length++] = node;
        if (l2k_tag_is_root(&place))
            break;
        l2k_tag_rise(&place);
        node = l2k_tag_node_at(&place);
    }
    if (length == 0 || node != path[length - 1])
        low = *node >> 1;
    while (length > 0) {
        uint32_t known = 0;
        node = path[--length];
        low = *node >> 1 > low ? *node >> 1 : low; /* a child is at least its parent */
        if (low < threshold) {
            const uint32_t most = threshold - low, zeros = l2k_bits_run(bits, 0, most);
            low += zeros;
            known = zeros < most;
        }
        *node = low << 1 | known;
    }
    return (*leaf & 1) && *leaf < 2 * threshold;
}

/* After l2k_tag_decode returned false: the number of leaves of the row, from leaf x, y on, that an ancestor known to be
 * at least `threshold` rules out as well. UINT32_MAX if the root rules out all leaves. */
uint32_t l2k_tag_above(const l2k_tag_tree *tree, uint32_t x, uint32_t y, uint32_t threshold);

#endif
