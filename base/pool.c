/* A pool of memory by size classes. */
#include "base/pool.h"

#include "base/memory.h"

/* Sanitizers should see an idle block as freed, and a reused one as new. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#elif __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define FORGET_CONTENT(block, bytes) __msan_allocated_memory(block, bytes)
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define FORBID(block, bytes) __asan_poison_memory_region(block, bytes)
#define ALLOW(block, bytes)  __asan_unpoison_memory_region(block, bytes)
#else
#define FORBID(block, bytes) ((void)(block), (void)(bytes))
#define ALLOW(block, bytes)  ((void)(block), (void)(bytes))
#endif
#ifndef FORGET_CONTENT
#define FORGET_CONTENT(block, bytes) ((void)(block), (void)(bytes))
#endif

struct l2k_pool_block {
    struct l2k_pool_block *next;
    unsigned call; /* the call in which the block became idle */
};

/* Bytes that the pool may hold beyond the peak in use: without them, an image whose stages alternate in their use of
 * memory would hand back blocks of one stage that the next image needs again. */
#define SLACK_BYTES ((uint64_t)64 << 20)

/* ---- Classes: multiples of 256 bytes up to 4 KiB, from there on eight to a power of two ----------------------- */

#define FINE_STEP   256u
#define FINE_LIMIT  4096u
#define FINE_COUNT  (FINE_LIMIT / FINE_STEP)
#define OCTAVE_STEP 8u

static unsigned class_of(uint64_t bytes)
{
    if (bytes <= FINE_LIMIT)
        return bytes ? (unsigned)((bytes - 1) / FINE_STEP) : 0;
    unsigned octave = 63 - (unsigned)__builtin_clzll(bytes - 1); /* 12 for 4097 to 8192 */
    unsigned step = (unsigned)((bytes - 1) >> (octave - 3)) - OCTAVE_STEP;
    return FINE_COUNT + OCTAVE_STEP * (octave - 12) + step;
}

static uint64_t class_bytes(unsigned number)
{
    if (number < FINE_COUNT)
        return (uint64_t)(number + 1) * FINE_STEP;
    unsigned octave = 12 + (number - FINE_COUNT) / OCTAVE_STEP, step = (number - FINE_COUNT) % OCTAVE_STEP;
    return (uint64_t)(OCTAVE_STEP + step + 1) << (octave - 3);
}

uint64_t l2k_pool_bytes(uint64_t bytes)
{
    return class_bytes(class_of(bytes));
}

/* ---- Taking and giving --------------------------------------------------------------------------------------- */

/* Hands idle blocks back, the largest first, until no more than `most` bytes are idle; `older` keeps those of the last
 * two calls. */
static void shrink(l2k_pool *pool, const l2k_hooks *hooks, uint64_t most, bool older)
{
    for (unsigned number = L2K_POOL_CLASSES; number-- > 0 && pool->idle > most;) {
        struct l2k_pool_block **at = &pool->classes[number];
        while (*at && pool->idle > most) {
            struct l2k_pool_block *block = *at;
            if (older && pool->call - block->call < 2) {
                at = &block->next;
                continue;
            }
            *at = block->next;
            pool->idle -= class_bytes(number);
            ALLOW(block, class_bytes(number));
            l2k_hook_release(hooks, block);
        }
    }
}

/* Of the class, or, for coded bytes and left from an earlier call, of the next larger ones up to four times the size. Blocks
 * of this call will be asked for by their own size, and near the limit each byte counts. */
static void *take_idle(l2k_pool *pool, bool coded, unsigned *number)
{
    const bool exact = !coded || pool->in_use + pool->idle > pool->limit / 8;
    const unsigned end = exact ? *number + 1 : class_of(4 * class_bytes(*number)) + 1;
    for (unsigned larger = *number; larger < end && larger < L2K_POOL_CLASSES; larger++) {
        struct l2k_pool_block *block = pool->classes[larger];
        if (!block || (larger > *number && block->call == pool->call))
            continue;
        pool->classes[larger] = block->next;
        pool->idle -= class_bytes(larger);
        *number = larger;
        return block;
    }
    return NULL;
}

/* Makes room below the limit, by handing idle blocks back if need be; false if the limit does not allow it. */
static bool make_room(l2k_pool *pool, const l2k_hooks *hooks, uint64_t bytes)
{
    if (bytes > pool->limit || pool->in_use > pool->limit - bytes) {
        atomic_store(&pool->refused, true);
        return false;
    }
    uint64_t total = pool->in_use + bytes, peak = total > pool->peak ? total : pool->peak;
    uint64_t most = peak + peak / 4 + SLACK_BYTES;
    shrink(pool, hooks, (most < pool->limit ? most : pool->limit) - total, false);
    return true;
}

static void *take_new(l2k_pool *pool, const l2k_hooks *hooks, uint64_t bytes)
{
    if (!make_room(pool, hooks, bytes))
        return NULL;
    void *block = l2k_hook_allocate(hooks, bytes);
    if (block || !pool->idle)
        return block;
    shrink(pool, hooks, 0, false);
    return l2k_hook_allocate(hooks, bytes);
}

void *l2k_pool_take(l2k_pool *pool, const l2k_hooks *hooks, bool coded, size_t *room)
{
    const size_t bytes = *room;
    unsigned number = class_of(bytes);
    if (bytes > SIZE_MAX / 2 || number >= L2K_POOL_CLASSES)
        return NULL;
    pthread_mutex_lock(&pool->lock);
    void *block = take_idle(pool, coded, &number);
    if (!block)
        block = take_new(pool, hooks, class_bytes(number));
    if (block) {
        pool->in_use += class_bytes(number);
        pool->peak = pool->in_use > pool->peak ? pool->in_use : pool->peak;
        *room = (size_t)class_bytes(number);
        ALLOW(block, bytes);
        FORBID((char *)block + bytes, class_bytes(number) - bytes);
        FORGET_CONTENT(block, bytes);
    }
    pthread_mutex_unlock(&pool->lock);
    return block;
}

void l2k_pool_give(l2k_pool *pool, void *block, size_t bytes)
{
    struct l2k_pool_block *idle = block;
    unsigned number = class_of(bytes);
    pthread_mutex_lock(&pool->lock);
    *idle = (struct l2k_pool_block){pool->classes[number], pool->call};
    pool->classes[number] = idle;
    pool->in_use -= class_bytes(number);
    pool->idle += class_bytes(number);
    FORBID(idle + 1, class_bytes(number) - sizeof *idle);
    pthread_mutex_unlock(&pool->lock);
}

bool l2k_pool_count(l2k_pool *pool, const l2k_hooks *hooks, uint64_t bytes)
{
    pthread_mutex_lock(&pool->lock);
    const bool fits = make_room(pool, hooks, bytes);
    if (fits)
        pool->in_use += bytes;
    pool->peak = pool->in_use > pool->peak ? pool->in_use : pool->peak;
    pthread_mutex_unlock(&pool->lock);
    return fits;
}

void l2k_pool_uncount(l2k_pool *pool, uint64_t bytes)
{
    pthread_mutex_lock(&pool->lock);
    pool->in_use -= bytes;
    pthread_mutex_unlock(&pool->lock);
}

/* ---- Jobs ---------------------------------------------------------------------------------------------------- */

void l2k_pool_init(l2k_pool *pool, uint64_t limit)
{
    *pool = (l2k_pool){.lock = PTHREAD_MUTEX_INITIALIZER, .limit = limit};
}

void l2k_pool_start_call(l2k_pool *pool, const l2k_hooks *hooks, uint64_t limit)
{
    shrink(pool, hooks, 0, true);
    pool->limit = limit;
    pool->peak = pool->in_use;
    pool->call++;
    atomic_store(&pool->refused, false);
}

bool l2k_pool_exceeds(const l2k_pool *pool)
{
    return pool->in_use + pool->idle > pool->limit;
}

void l2k_pool_drain(l2k_pool *pool, const l2k_hooks *hooks)
{
    shrink(pool, hooks, 0, false);
}

void l2k_pool_end(l2k_pool *pool, const l2k_hooks *hooks)
{
    l2k_pool_drain(pool, hooks);
    pthread_mutex_destroy(&pool->lock);
}
