/* Tag trees (B.10.2): makes one over a grid of leaves, and finds the leaves that a decoded threshold rules out. */
#include "codec/tile/tag_tree.h"

#include <string.h>

uint64_t l2k_tag_nodes(uint32_t width, uint32_t height)
{
    uint64_t nodes = (uint64_t)width * height;
    while (nodes > 0 && (width > 1 || height > 1)) {
        width = width / 2 + (width & 1);
        height = height / 2 + (height & 1);
        nodes += (uint64_t)width * height;
    }
    return nodes;
}

l2k_status l2k_tag_tree_create(const l2k_context *context, l2k_arena *arena, uint32_t width, uint32_t height,
                               l2k_tag_tree *tree)
{
    const uint64_t count = l2k_tag_nodes(width, height);
    *tree = (l2k_tag_tree){.width = width, .height = height};
    if (count < UINT32_MAX)
        tree->nodes = l2k_arena_take(context, arena, (size_t)count * sizeof *tree->nodes);
    L2K_TRY(l2k_check_memory(context, tree->nodes, "a tag tree of %u x %u", width, height));
    l2k_tag_tree_restart(tree);
    return L2K_OK;
}

void l2k_tag_tree_restart(const l2k_tag_tree *tree)
{
    memset(tree->nodes, 0, (size_t)l2k_tag_nodes(tree->width, tree->height) * sizeof *tree->nodes);
}

uint32_t l2k_tag_above(const l2k_tag_tree *tree, uint32_t x, uint32_t y, uint32_t threshold)
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
