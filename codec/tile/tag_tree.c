/* Tag trees (B.10.2): builds one over a grid of leaves, and finds the leaves that a decoded threshold rules out. */
#include "codec/tile/tag_tree.h"

#include <string.h>

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

uint64_t l2k_tag_nodes(uint32_t width, uint32_t height)
{
    return measure(width, height).num_nodes;
}

l2k_status l2k_tag_reader_create(const l2k_context *context, l2k_arena *arena, l2k_tag_reader *tree)
{
    const uint64_t count = l2k_tag_nodes(tree->width, tree->height);
    tree->nodes = NULL;
    if (count < UINT32_MAX)
        tree->nodes = l2k_arena_take(context, arena, (size_t)count * sizeof *tree->nodes);
    if (!tree->nodes)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for a tag tree of %u x %u", tree->width,
                        tree->height);
    l2k_tag_reader_restart(tree);
    return L2K_OK;
}

void l2k_tag_reader_restart(const l2k_tag_reader *tree)
{
    memset(tree->nodes, 0, (size_t)l2k_tag_nodes(tree->width, tree->height) * sizeof *tree->nodes);
}

uint32_t l2k_tag_above(const l2k_tag_reader *tree, uint32_t x, uint32_t y, uint32_t threshold)
{
    l2k_tag_place place = {tree->nodes, x, y, tree->width, tree->height};
    for (unsigned levels = 0; !l2k_tag_is_root(&place); levels++) {
        l2k_tag_rise(&place);
        if (*l2k_tag_node_at(&place) < 2 * threshold) {
            const uint64_t end = ((uint64_t)(x >> levels) + 1) << levels;
            return (uint32_t)(end < tree->width ? end : tree->width) - x;
        }
    }
    return UINT32_MAX;
}
