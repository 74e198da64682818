/* Allocation through the pool and the caller's hooks, and arenas. */
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "base/pool.h"

/* Stored right before the aligned block. */
typedef struct origin {
    void *raw; /* from the pool or the hook */
    size_t bytes;
} origin;

#define HEADROOM (L2K_ALIGNMENT + sizeof(origin))

void *l2k_hook_allocate(const l2k_hooks *hooks, size_t bytes)
{
    return hooks->allocate ? hooks->allocate(hooks->user, bytes) : l2k_pages_allocate(bytes);
}

void l2k_hook_release(const l2k_hooks *hooks, void *block)
{
    if (hooks->release)
        hooks->release(hooks->user, block);
    else
        free(block);
}

static void *allocate(const l2k_context *context, bool coded, size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX - HEADROOM) / size)
        return NULL;
    size_t bytes = count * size + HEADROOM;
    uint8_t *raw = context->pool ? l2k_pool_take(context->pool, &context->hooks, coded, &bytes)
                                 : l2k_hook_allocate(&context->hooks, bytes);
    if (!raw)
        return NULL;
    uintptr_t aligned = ((uintptr_t)raw + HEADROOM) & ~(uintptr_t)(L2K_ALIGNMENT - 1);
    uint8_t *block = raw + (aligned - (uintptr_t)raw);
    memcpy(block - sizeof(origin), &(origin){raw, bytes}, sizeof(origin));
    return block;
}

void *l2k_allocate(const l2k_context *context, size_t count, size_t size)
{
    return allocate(context, false, count, size);
}

void *l2k_allocate_coded(const l2k_context *context, size_t count, size_t size)
{
    return allocate(context, true, count, size);
}

void *l2k_allocate_zeroed(const l2k_context *context, size_t count, size_t size)
{
    void *block = l2k_allocate(context, count, size);
    return block ? memset(block, 0, count * size) : NULL;
}

uint64_t l2k_allocation_bytes(uint64_t count, uint64_t size)
{
    if (size != 0 && count > (UINT64_MAX / 2 - HEADROOM) / size)
        return UINT64_MAX / 2;
    return l2k_pool_bytes(count * size + HEADROOM);
}

void *l2k_enlarge(const l2k_context *context, void *old, size_t used, size_t count, size_t size)
{
    void *block = l2k_allocate_coded(context, count, size);
    if (!block)
        return NULL;
    if (used)
        memcpy(block, old, used * size);
    l2k_release(context, old);
    return block;
}

void l2k_release(const l2k_context *context, void *block)
{
    if (!block)
        return;
    origin from;
    memcpy(&from, (uint8_t *)block - sizeof from, sizeof from);
    if (context->pool)
        l2k_pool_give(context->pool, from.raw, from.bytes);
    else
        l2k_hook_release(&context->hooks, from.raw);
}

#define FIRST_CHUNK_BYTES ((size_t)1 << 12)
#define MOST_CHUNK_BYTES  ((size_t)1 << 18)

struct l2k_arena_chunk {
    struct l2k_arena_chunk *next;
    size_t capacity;
};

static const size_t chunk_head = (sizeof(struct l2k_arena_chunk) + 7) & ~(size_t)7;

/* Takes the first large enough chunk from before the last rewind and releases those before it. */
static struct l2k_arena_chunk *take_idle(const l2k_context *context, l2k_arena *arena, size_t capacity)
{
    struct l2k_arena_chunk *chunk = arena->idle;
    while (chunk && chunk->capacity < capacity) {
        arena->idle = chunk->next;
        l2k_release(context, chunk);
        chunk = arena->idle;
    }
    if (chunk)
        arena->idle = chunk->next;
    return chunk;
}

static struct l2k_arena_chunk *take_chunk(const l2k_context *context, l2k_arena *arena, size_t capacity)
{
    struct l2k_arena_chunk *chunk = take_idle(context, arena, capacity);
    if (!chunk) {
        chunk = l2k_allocate(context, 1, chunk_head + capacity);
        if (!chunk)
            return NULL;
        chunk->capacity = capacity;
    }
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    return chunk;
}

void *l2k_arena_take(const l2k_context *context, l2k_arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    bytes = bytes ? (bytes + 7) & ~(size_t)7 : 8;
    if (bytes > arena->left) {
        size_t shared = arena->chunk_bytes ? arena->chunk_bytes * 2 : FIRST_CHUNK_BYTES;
        shared = shared < MOST_CHUNK_BYTES ? shared : MOST_CHUNK_BYTES;
        bool alone = bytes > shared / 4;
        struct l2k_arena_chunk *chunk = take_chunk(context, arena, alone ? bytes : shared);
        if (!chunk)
            return NULL;
        /* A block too big to share a chunk gets its own; the half-used chunk stays current. */
        if (alone)
            return (uint8_t *)chunk + chunk_head;
        arena->chunk_bytes = shared;
        arena->next = (uint8_t *)chunk + chunk_head;
        arena->left = chunk->capacity;
    }
    void *block = arena->next;
    arena->next += bytes;
    arena->left -= bytes;
    return block;
}

static void release_chunks(const l2k_context *context, struct l2k_arena_chunk *chunks)
{
    for (struct l2k_arena_chunk *next; chunks; chunks = next) {
        next = chunks->next;
        l2k_release(context, chunks);
    }
}

void l2k_arena_release(const l2k_context *context, l2k_arena *arena)
{
    release_chunks(context, arena->chunks);
    release_chunks(context, arena->idle);
    *arena = (l2k_arena){0};
}

void l2k_arena_rewind(l2k_arena *arena)
{
    l2k_arena rewound = {.idle = arena->idle};
    while (arena->chunks) {
        struct l2k_arena_chunk *chunk = arena->chunks;
        arena->chunks = chunk->next;
        chunk->next = rewound.idle;
        rewound.idle = chunk;
    }
    *arena = rewound;
}
