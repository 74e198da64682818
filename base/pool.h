/* Memory that an object keeps between images: released blocks are reused for about the same size, so that an image of a
 * known shape takes nothing from the caller's hook. Sizes are rounded up to classes, by at most an eighth. The object holds
 * less than a limit, and about the peak of what was in use. Thread safe; one thread at a time calls the hooks. */
#ifndef L2K_BASE_POOL_H
#define L2K_BASE_POOL_H

#include <pthread.h>
#include <stdatomic.h>

#include "lift2k/lift2k.h"

enum { L2K_POOL_CLASSES = 16 + 8 * 52 };

typedef struct l2k_pool {
    pthread_mutex_t lock;  /* protects the members below */
    uint64_t limit;        /* most bytes held from the hook */
    uint64_t in_use, idle; /* bytes, rounded up to classes */
    uint64_t peak;         /* most in use since the start of the call */
    unsigned call;
    atomic_bool refused; /* a block was refused in this call because of the limit */
    struct l2k_pool_block *classes[L2K_POOL_CLASSES];
} l2k_pool;

void l2k_pool_init(l2k_pool *pool, uint64_t limit);

/* A block of at least *room bytes from the pool or the hook, or NULL; aligned no better than the hook's. *room becomes
 * the bytes that the block has: if it is for what grows with `coded` bytes, which differ from image to image, up to
 * four times as many. */
void *l2k_pool_take(l2k_pool *pool, const l2k_hooks *hooks, bool coded, size_t *room);

/* The bytes that a block of that size counts: the size of its class. */
uint64_t l2k_pool_bytes(uint64_t bytes);

/* Takes back a block that has `bytes` bytes. */
void l2k_pool_give(l2k_pool *pool, void *block, size_t bytes);

/* Counts memory that comes from elsewhere as in use. False if that would exceed the limit. */
bool l2k_pool_count(l2k_pool *pool, const l2k_hooks *hooks, uint64_t bytes);
void l2k_pool_uncount(l2k_pool *pool, uint64_t bytes);

/* Starts a call: an encoding, the opening of a file, a decoding. Blocks that stayed idle through the last two calls go
 * back to the hook. */
void l2k_pool_start_call(l2k_pool *pool, const l2k_hooks *hooks, uint64_t limit);

/* Whether the pool holds more than its limit, which the caller may have lowered. */
bool l2k_pool_exceeds(const l2k_pool *pool);

/* Gives everything idle back to the hook. */
void l2k_pool_drain(l2k_pool *pool, const l2k_hooks *hooks);

/* Also ends the pool, none of whose blocks may be in use. */
void l2k_pool_end(l2k_pool *pool, const l2k_hooks *hooks);

#endif
