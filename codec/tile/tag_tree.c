/* Tag trees (B.10.2): building one over a grid of leaves, and what a decoded threshold says about others. */
#include "codec/tile/tag_tree.h"

enum { MAX_TREE_LEVELS = L2K_TAG_TREE_LEVELS };

typedef struct tree_shape {
    unsigned num_levels;
    uint32_t width[MAX_TREE_LEVELS], height[MAX_TREE_LEVELS];
    uint64_t num_nodes;
} tree_shape;

static tree_shape measure(uint32_t width, uint32_t height)
{
    tree_shape shape = {0};
    if (width == 0 || height == 0)
        return shape;
    for (;;) {
        shape.width[shape.num_levels] = width;
        shape.height[shape.num_levels++] = height;
        shape.num_nodes += (uint64_t)width * height;
        if (width == 1 && height == 1)
            return shape;
        width = width / 2 + (width & 1);
        height = height / 2 + (height & 1);
    }
}

/* Initialises the nodes of a level below the root. */
static void make_level(l2k_tag_node *nodes, uint32_t start, uint32_t width, uint32_t height)
{
    uint32_t above = start + width * height, above_width = width / 2 + (width & 1);
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            nodes[start + y * width + x] =
                (l2k_tag_node){.parent = above + y / 2 * above_width + x / 2, .value = UINT32_MAX};
}

l2k_status l2k_tag_tree_create(const l2k_context *context, l2k_arena *arena, uint32_t width, uint32_t height,
                               l2k_tag_tree *tree)
{
    tree_shape shape = measure(width, height);
    *tree = (l2k_tag_tree){0};
    if (shape.num_nodes == 0)
        return L2K_OK;
    if (shape.num_nodes < UINT32_MAX)
        tree->nodes = l2k_arena_take(context, arena, (size_t)shape.num_nodes * sizeof *tree->nodes);
    if (!tree->nodes)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for a tag tree of %u x %u", width, height);
    tree->num_nodes = (uint32_t)shape.num_nodes;
    uint32_t start = 0;
    for (unsigned level = 0; level + 1 < shape.num_levels; level++) {
        make_level(tree->nodes, start, shape.width[level], shape.height[level]);
        start += shape.width[level] * shape.height[level];
    }
    tree->nodes[start] = (l2k_tag_node){.parent = start, .value = UINT32_MAX};
    return L2K_OK;
}

void l2k_tag_tree_restart(l2k_tag_tree *tree)
{
    for (uint32_t i = 0; i < tree->num_nodes; i++) {
        tree->nodes[i].low = 0;
        tree->nodes[i].known = false;
    }
}

uint32_t l2k_tag_tree_above(const l2k_tag_tree *tree, uint32_t leaf, uint32_t width, uint32_t threshold)
{
    unsigned levels = 0;
    uint32_t node = leaf;
    for (; tree->nodes[node].parent != node; levels++) {
        uint32_t parent = tree->nodes[node].parent;
        if (tree->nodes[parent].low < threshold)
            break;
        node = parent;
    }
    if (tree->nodes[node].parent == node)
        return UINT32_MAX;
    uint32_t x = leaf % width;
    uint64_t end = ((uint64_t)(x >> levels) + 1) << levels;
    return (uint32_t)(end < width ? end : width) - x;
}
