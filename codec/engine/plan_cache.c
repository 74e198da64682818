/* Plans on devices, kept for the next tile of their shape. */
#include "codec/engine/engine.h"

#include <string.h>

#include "base/memory.h"

l2k_status l2k_plan_cache_create(const l2k_context *context, unsigned room, l2k_plan_cache *cache)
{
    *cache = (l2k_plan_cache){.lock = PTHREAD_MUTEX_INITIALIZER, .room = room};
    cache->plans = l2k_allocate(context, room, sizeof *cache->plans);
    return l2k_check_memory(context, cache->plans, "%u plans", room);
}

static void free_plan(const l2k_context *context, l2k_cached_plan cached)
{
    l2k_context there = *context;
    there.devices = cached.devices;
    const int before = l2k_device_enter(&there);
    l2k_plan_free(cached.plan);
    l2k_device_leave(before);
}

/* Called with the lock held. */
static l2k_cached_plan take_out(l2k_plan_cache *cache, unsigned i)
{
    const l2k_cached_plan cached = cache->plans[i];
    memmove(cache->plans + i, cache->plans + i + 1, (--cache->count - i) * sizeof cached);
    return cached;
}

void l2k_plan_cache_clear(const l2k_context *context, l2k_plan_cache *cache)
{
    while (cache->count)
        free_plan(context, cache->plans[--cache->count]);
}

void l2k_plan_cache_release(const l2k_context *context, l2k_plan_cache *cache)
{
    l2k_plan_cache_clear(context, cache);
    l2k_release(context, cache->plans);
    pthread_mutex_destroy(&cache->lock);
    *cache = (l2k_plan_cache){0};
}

/* Images of one shape may vary in the number of plans that they need at once. */
enum { MOST_IDLE = 3 };

void l2k_plan_cache_age(const l2k_context *context, l2k_plan_cache *cache)
{
    for (unsigned i = cache->count; i-- > 0;)
        if (++cache->plans[i].idle > MOST_IDLE)
            free_plan(context, take_out(cache, i));
}

l2k_plan *l2k_plan_cache_take(const l2k_context *context, l2k_plan_cache *cache, const l2k_plan_spec *spec)
{
    l2k_plan *plan = NULL;
    pthread_mutex_lock(&cache->lock);
    for (unsigned i = cache->count; i-- > 0 && !plan;)
        if (cache->plans[i].devices == context->devices && l2k_plan_fits(cache->plans[i].plan, spec))
            plan = take_out(cache, i).plan;
    pthread_mutex_unlock(&cache->lock);
    return plan;
}

void l2k_plan_cache_put(const l2k_context *context, l2k_plan_cache *cache, l2k_plan *plan)
{
    l2k_cached_plan oldest = {0};
    if (!plan || !l2k_plan_stream(plan) || !cache->room) {
        l2k_plan_free(plan);
        return;
    }
    pthread_mutex_lock(&cache->lock);
    if (cache->count == cache->room)
        oldest = take_out(cache, 0);
    cache->plans[cache->count++] = (l2k_cached_plan){plan, context->devices, 0};
    pthread_mutex_unlock(&cache->lock);
    if (oldest.plan)
        free_plan(context, oldest);
}

bool l2k_plan_cache_has_any(const l2k_context *context, l2k_plan_cache *cache)
{
    bool any = false;
    pthread_mutex_lock(&cache->lock);
    for (unsigned i = 0; i < cache->count; i++)
        any |= cache->plans[i].devices == context->devices;
    pthread_mutex_unlock(&cache->lock);
    return any;
}

void l2k_plan_cache_drop(const l2k_context *context, l2k_plan_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    for (unsigned i = cache->count; i-- > 0;)
        if (cache->plans[i].devices == context->devices)
            free_plan(context, take_out(cache, i));
    pthread_mutex_unlock(&cache->lock);
}
