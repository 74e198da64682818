/* Plans on devices that no tile uses at present: the last tiles of rows and columns differ in shape from the rest, and
 * making a plan there takes longer than a tile. All worker groups share one cache: whichever gets a tile of a shape
 * next, on that device, takes the plan. */
#ifndef L2K_CODEC_ENGINE_PLAN_CACHE_H
#define L2K_CODEC_ENGINE_PLAN_CACHE_H

#include <pthread.h>

#include "transform/plan.h"

typedef struct l2k_cached_plan {
    l2k_plan *plan;
    uint64_t devices; /* of the context that it was made for */
    unsigned idle;    /* images that have begun since a tile needed it */
} l2k_cached_plan;

typedef struct l2k_plan_cache {
    pthread_mutex_t lock;
    l2k_cached_plan *plans; /* those used last are at the end */
    unsigned count, room;
} l2k_plan_cache;

/* Errors: L2K_ERROR_MEMORY; release also then. Only one thread may call release, clear and age at a time. */
l2k_status l2k_plan_cache_create(const l2k_context *context, unsigned room, l2k_plan_cache *cache);
void l2k_plan_cache_release(const l2k_context *context, l2k_plan_cache *cache);

/* Frees all plans; or, when an image begins, those that no tile of the last images needed. */
void l2k_plan_cache_clear(const l2k_context *context, l2k_plan_cache *cache);
void l2k_plan_cache_age(const l2k_context *context, l2k_plan_cache *cache);

/* The next four are about plans on the context's device. */

/* Takes a plan that fits `spec` out of the cache; NULL if there is none. */
l2k_plan *l2k_plan_cache_take(const l2k_context *context, l2k_plan_cache *cache, const l2k_plan_spec *spec);

/* Keeps a plan; a full cache frees its oldest one for it. Frees a plan on the CPU, and any plan if the cache has no
 * room at all. NULL is allowed. */
void l2k_plan_cache_put(const l2k_context *context, l2k_plan_cache *cache, l2k_plan *plan);

bool l2k_plan_cache_has_any(const l2k_context *context, l2k_plan_cache *cache);
void l2k_plan_cache_drop(const l2k_context *context, l2k_plan_cache *cache);

#endif
