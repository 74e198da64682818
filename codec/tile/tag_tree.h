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

/* A row of leaves and their parents. */
typedef struct l2k_tag_row {
    l2k_tag_place parents; /* the parent of the row's first leaf */
    uint32_t *leaves;
    const uint32_t *above; /* the parents' nodes */
} l2k_tag_row;

/* The root has no parent; a known value of 0 in its place adds nothing. */
static inline l2k_tag_row l2k_tag_row_of(const l2k_tag_tree *tree, uint32_t y)
{
    static const uint32_t zero = 1;
    l2k_tag_row row = {{tree->nodes, 0, y, tree->width, tree->height}, tree->nodes + (size_t)y * tree->width, &zero};
    if (!l2k_tag_is_root(&row.parents)) {
        l2k_tag_rise(&row.parents);
        row.above = l2k_tag_node_at(&row.parents);
    }
    return row;
}

/* Whether more bits say nothing about whether a node's value is below `threshold`. */
static inline bool l2k_tag_is_decided(uint32_t node, uint32_t threshold)
{
    return (node & 1) || node >= 2 * threshold;
}

/* Reads the bits of an undecided node whose parent is decided. */
static inline void l2k_tag_read(uint32_t *node, uint32_t parent, uint32_t threshold, l2k_bit_reader *bits)
{
    const uint32_t low = *node > parent ? *node >> 1 : parent >> 1; /* a child is at least its parent */
    if (low >= threshold) {
        *node = low << 1;
        return;
    }
    const uint32_t zeros = l2k_bits_run(bits, 0, threshold - low);
    *node = (low + zeros) << 1 | (low + zeros < threshold);
}

/* Reads the bits of the undecided parent of leaf x, and of the ancestors above it. */
static inline void l2k_tag_read_parent(const l2k_tag_row *row, uint32_t x, uint32_t threshold, l2k_bit_reader *bits)
{
    uint32_t *path[L2K_TAG_TREE_LEVELS], parent = 1;
    unsigned length = 0;
    l2k_tag_place place = row->parents;
    place.x = x / 2;
    for (uint32_t *node = l2k_tag_node_at(&place);; node = l2k_tag_node_at(&place)) {
        if (l2k_tag_is_decided(*node, threshold)) {
            parent = *node;
            break;
        }
        path[length++] = node;
        if (l2k_tag_is_root(&place))
            break;
        l2k_tag_rise(&place);
    }
    for (; length > 0; parent = *path[length])
        l2k_tag_read(path[--length], parent, threshold, bits);
}

/* Decodes whether the value of leaf x of a row is below `threshold`, at most 2^31 - 1. */
static inline bool l2k_tag_decode(const l2k_tag_row *row, uint32_t x, uint32_t threshold, l2k_bit_reader *bits)
{
    uint32_t *leaf = &row->leaves[x];
    if (!l2k_tag_is_decided(*leaf, threshold)) {
        if (!l2k_tag_is_decided(row->above[x / 2], threshold))
            l2k_tag_read_parent(row, x, threshold, bits);
        l2k_tag_read(leaf, row->above[x / 2], threshold, bits);
    }
    return (*leaf & 1) && *leaf < 2 * threshold;
}

/* The value of a leaf that was decoded to be below a threshold. */
static inline uint32_t l2k_tag_value(const l2k_tag_row *row, uint32_t x)
{
    return row->leaves[x] >> 1;
}

/* After l2k_tag_decode returned false: the number of leaves of the row, from leaf x, y on, that an ancestor known to be
 * at least `threshold` rules out as well. UINT32_MAX if the root rules out all leaves. */
uint32_t l2k_tag_above(const l2k_tag_tree *tree, uint32_t x, uint32_t y, uint32_t threshold);

#endif
