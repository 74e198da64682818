/* Allocation through the context's pool, or, without one, through the caller's hooks. Blocks are aligned to
 * L2K_ALIGNMENT, for vector loads and against false sharing. Failures return NULL without a message: the caller knows
 * what the memory was for. */
#ifndef L2K_BASE_MEMORY_H
#define L2K_BASE_MEMORY_H

#include "base/context.h"

#define L2K_ALIGNMENT 64u

/* Call the hooks, or malloc and free if there are none. All memory of the library comes through these two. */
void *l2k_hook_allocate(const l2k_hooks *hooks, size_t bytes);
void l2k_hook_release(const l2k_hooks *hooks, void *block);

/* count * size bytes, uninitialised; NULL if the product overflows or the hook fails. count 0 gives a valid block. */
void *l2k_allocate(const l2k_context *context, size_t count, size_t size);

/* As l2k_allocate, for what grows with coded bytes (pool.h). */
void *l2k_allocate_coded(const l2k_context *context, size_t count, size_t size);

/* As l2k_allocate, filled with 0. */
void *l2k_allocate_zeroed(const l2k_context *context, size_t count, size_t size);

/* The most bytes that l2k_allocate and l2k_allocate_zeroed take from the hook, with alignment and the pool's rounding. */
uint64_t l2k_allocation_bytes(uint64_t count, uint64_t size);

/* A block of count * size bytes that begins with the first `used` elements of `old`, which is released. If l2k_allocate
 * would return NULL, returns NULL and leaves `old` as it was. `old` may be NULL if `used` is 0. */
void *l2k_enlarge(const l2k_context *context, void *old, size_t used, size_t count, size_t size);

/* Takes a block back; accepts NULL. */
void l2k_release(const l2k_context *context, void *block);

/* Many small blocks that are freed together. One thread at a time. Zero-initialise before use. */
typedef struct l2k_arena {
    struct l2k_arena_chunk *chunks; /* in use, the newest first */
    struct l2k_arena_chunk *idle;   /* from before the last rewind, the oldest first */
    uint8_t *next;
    size_t left;
    size_t chunk_bytes; /* size of the last shared chunk; chunks start small and double: there may be thousands of
                           arenas */
} l2k_arena;

/* `bytes` bytes, aligned to 8, or NULL. */
void *l2k_arena_take(const l2k_context *context, l2k_arena *arena, size_t bytes);
void l2k_arena_release(const l2k_context *context, l2k_arena *arena);

/* Forgets all blocks and keeps the memory: taking the same blocks again, in the same order, allocates nothing. */
void l2k_arena_rewind(l2k_arena *arena);

#endif
