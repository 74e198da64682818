/* Allocation through the context's pool, or, without one, through the caller's hooks. Blocks are aligned to
 * L2K_ALIGNMENT, for vector loads and against false sharing. Failures return NULL without a message: the caller knows
 * what the memory was for. */
#ifndef L2K_BASE_MEMORY_H
#define L2K_BASE_MEMORY_H

#include "base/context.h"

#define L2K_ALIGNMENT 64u

/* The hooks, or malloc and free where there are none. All memory of the library comes through these two. */
void *l2k_hook_allocate(const l2k_hooks *hooks, size_t bytes);
void l2k_hook_release(const l2k_hooks *hooks, void *block);

/* count * size bytes, uninitialised; NULL where the product overflows or the hook fails. count 0 gives a
 * valid block. */
void *l2k_allocate(const l2k_context *context, size_t count, size_t size);

/* The same, filled with 0. */
void *l2k_allocate_zeroed(const l2k_context *context, size_t count, size_t size);

/* What either takes from the hook at most: with alignment, and what a pool rounds up. */
uint64_t l2k_allocation_bytes(uint64_t count, uint64_t size);

/* A block of count * size bytes that begins with the first `used` elements of `old`, which is released; NULL, and `old`
 * as it was, where the above would be NULL. `old` may be NULL if none is used. */
void *l2k_enlarge(const l2k_context *context, void *old, size_t used, size_t count, size_t size);

/* Takes a block back; NULL is allowed. */
void l2k_release(const l2k_context *context, void *block);

/* Many small blocks that are freed together. Not for use by two threads at once. Zero-initialise before use. */
typedef struct l2k_arena {
    struct l2k_arena_chunk *chunks; /* in use, the last one first */
    struct l2k_arena_chunk *idle;   /* from before the last rewind, the first one first */
    uint8_t *next;
    size_t left;
    size_t chunk_bytes; /* of the last shared chunk; chunks start small and double: there may be thousands of arenas */
} l2k_arena;

/* `bytes` bytes, aligned to 8, or NULL. */
void *l2k_arena_take(const l2k_context *context, l2k_arena *arena, size_t bytes);
void l2k_arena_release(const l2k_context *context, l2k_arena *arena);

/* Forgets all blocks and keeps the memory: the same blocks again, in the same order, allocate nothing. */
void l2k_arena_rewind(l2k_arena *arena);

#endif
