/* Decoded code-blocks that are kept between windows of a file: a table by place, and a list by age. */
#include "codec/decode/cache.h"

#include <string.h>

#include "base/memory.h"

enum { TABLE_SIZE = 1 << 14 };

/* Positions are in the subband's domain, where no two blocks begin at one place. Sizes differ only if the file has
 * changed. */
typedef struct block_key {
    uint32_t tile, component, band, x, y, width, height;
} block_key;

typedef struct l2k_kept_block {
    block_key key;
    struct l2k_kept_block *next;          /* of the same row of the table */
    struct l2k_kept_block *newer, *older; /* used */
    l2k_coefficient_type type;
    size_t bytes;
    uint8_t data[]; /* rows without gaps */
} l2k_kept_block;

static size_t row_of(const block_key *key)
{
    uint32_t hash = key->tile * 2654435761u ^ (key->component * 40503u + key->band) * 2246822519u;
    hash ^= (key->x >> 2) * 3266489917u ^ (key->y >> 2) * 668265263u;
    return (hash ^ hash >> 15) % TABLE_SIZE;
}

static block_key key_of(uint32_t tile, const l2k_block_place *place)
{
    const l2k_subband *band = place->band;
    const l2k_rect rect = place->block->rect;
    return (block_key){tile,
                       band->component->index,
                       l2k_band_number(band->resolution, band->orientation),
                       rect.x0,
                       rect.y0,
                       l2k_rect_width(rect),
                       l2k_rect_height(rect)};
}

/* ---- The list ------------------------------------------------------------------------------------------------ */

static void leave_list(l2k_block_cache *cache, l2k_kept_block *block)
{
    *(block->newer ? &block->newer->older : &cache->newest) = block->older;
    *(block->older ? &block->older->newer : &cache->oldest) = block->newer;
}

static void enter_list(l2k_block_cache *cache, l2k_kept_block *block)
{
    block->newer = NULL;
    block->older = cache->newest;
    *(cache->newest ? &cache->newest->newer : &cache->oldest) = block;
    cache->newest = block;
}

static l2k_kept_block **find(const l2k_block_cache *cache, const block_key *key)
{
    l2k_kept_block **link = &cache->table[row_of(key)];
    while (*link && memcmp(&(*link)->key, key, sizeof *key) != 0)
        link = &(*link)->next;
    return link;
}

static void forget(l2k_block_cache *cache, l2k_kept_block *block)
{
    *find(cache, &block->key) = block->next;
    leave_list(cache, block);
    cache->bytes -= block->bytes;
    l2k_release(cache->context, block);
}

static void shrink(l2k_block_cache *cache, uint64_t bytes)
{
    while (cache->oldest && cache->bytes > bytes)
        forget(cache, cache->oldest);
}

/* ---- From image to image -------------------------------------------------------------------------------------- */

void l2k_block_cache_clear(l2k_block_cache *cache)
{
    shrink(cache, 0);
    l2k_release(cache->context, cache->table);
    cache->table = NULL;
}

void l2k_block_cache_start(l2k_block_cache *cache, uint64_t limit, uint64_t opened, uint32_t layers)
{
    if (limit == 0 || opened != cache->opened || layers != cache->layers)
        l2k_block_cache_clear(cache);
    shrink(cache, limit);
    cache->limit = limit;
    cache->opened = opened;
    cache->layers = layers;
    if (limit > 0 && !cache->table)
        cache->table = l2k_allocate_zeroed(cache->context, TABLE_SIZE, sizeof *cache->table);
    if (!cache->table)
        cache->limit = 0;
}

void l2k_block_cache_bound(l2k_block_cache *cache, uint64_t bytes)
{
    if (bytes < cache->limit && cache->bytes + bytes < cache->limit)
        cache->limit = cache->bytes + bytes;
}

/* ---- Blocks -------------------------------------------------------------------------------------------------- */

/* Where a view has a block. */
static uint8_t *place_in_view(const l2k_block_place *place)
{
    const l2k_coefficients *view = place->band->component->view;
    const l2k_band_view at = l2k_block_in_view(place);
    return (uint8_t *)view->base + ((size_t)at.y * view->stride + at.x) * l2k_coefficient_bytes(view->type);
}

/* One window's blocks may fit the narrow type, and another's need the wide one. */
static void copy_row(const l2k_kept_block *block, uint32_t y, void *to, l2k_coefficient_type type)
{
    const int16_t *narrow = (const int16_t *)block->data + (size_t)y * block->key.width;
    const int32_t *wide = (const int32_t *)(const void *)block->data + (size_t)y * block->key.width;
    if (type == block->type)
        memcpy(to, block->data + y * block->key.width * l2k_coefficient_bytes(type),
               block->key.width * l2k_coefficient_bytes(type));
    else if (type == L2K_COEFFICIENT_INT32)
        for (uint32_t x = 0; x < block->key.width; x++)
            ((int32_t *)to)[x] = narrow[x];
    else
        for (uint32_t x = 0; x < block->key.width; x++)
            ((int16_t *)to)[x] = (int16_t)wide[x];
}

static bool fetch(l2k_block_cache *cache, uint32_t tile, const l2k_block_place *place)
{
    const block_key key = key_of(tile, place);
    const l2k_coefficients *view = place->band->component->view;
    l2k_kept_block *block = cache->table && place->block->received.first ? *find(cache, &key) : NULL;
    uint8_t *to = place_in_view(place);
    if (!block)
        return false;
    for (uint32_t y = 0; y < block->key.height; y++)
        copy_row(block, y, to + y * view->stride * l2k_coefficient_bytes(view->type), view->type);
    leave_list(cache, block);
    enter_list(cache, block);
    return true;
}

size_t l2k_block_cache_fetch(l2k_block_cache *cache, uint32_t tile, const l2k_block_place *places, size_t count,
                             l2k_block_place *rest)
{
    size_t left = 0;
    pthread_mutex_lock(&cache->lock);
    for (size_t i = 0; i < count; i++)
        if (!fetch(cache, tile, &places[i]))
            rest[left++] = places[i];
    pthread_mutex_unlock(&cache->lock);
    return left;
}

/* False if the cache has no room left. */
static bool store(l2k_block_cache *cache, uint32_t tile, const l2k_block_place *place)
{
    const l2k_coefficients *view = place->band->component->view;
    const block_key key = key_of(tile, place);
    const size_t row = key.width * l2k_coefficient_bytes(view->type), bytes = sizeof(l2k_kept_block) + key.height * row;
    const uint8_t *from = place_in_view(place);
    if (bytes > cache->limit || !cache->table)
        return false;
    shrink(cache, cache->limit - bytes);
    l2k_kept_block *block = l2k_allocate(cache->context, 1, bytes);
    if (!block)
        return false;
    *block = (l2k_kept_block){.key = key, .type = view->type, .bytes = bytes};
    for (uint32_t y = 0; y < key.height; y++)
        memcpy(block->data + y * row, from + y * view->stride * l2k_coefficient_bytes(view->type), row);
    l2k_kept_block **link = &cache->table[row_of(&block->key)];
    block->next = *link;
    *link = block;
    enter_list(cache, block);
    cache->bytes += bytes;
    return true;
}

/* Skips blocks of which nothing was received: clearing them again costs nothing. */
void l2k_block_cache_store(l2k_block_cache *cache, uint32_t tile, const l2k_block_place *places, size_t count)
{
    bool room = true;
    pthread_mutex_lock(&cache->lock);
    for (size_t i = 0; i < count && room; i++)
        if (places[i].block->received.first)
            room = store(cache, tile, &places[i]);
    pthread_mutex_unlock(&cache->lock);
}
