/* Spreads tiles over threads. With many small tiles, each thread is a worker group of one and takes whole tiles. With
 * few or large tiles, one worker group of all threads takes tile after tile, and its threads share rows and
 * code-blocks. The result is the same either way. */
#ifndef L2K_CODEC_RUN_WORKERS_H
#define L2K_CODEC_RUN_WORKERS_H

#include "base/failure.h"
#include "codec/engine/engine.h"

enum { L2K_SLOTS_OF_GROUP = 2, L2K_CACHED_OF_SLOT = 3 };

typedef struct l2k_worker_group {
    l2k_engine engine;
    /* One or two: if the engine works asynchronously, it has one tile while the threads work on another. */
    unsigned num_slots;
    l2k_engine_slot slots[L2K_SLOTS_OF_GROUP];
    /* During a run: tiles begun and ended so far, and the last two begun. */
    uint32_t begun, ended, tiles[L2K_SLOTS_OF_GROUP];
    bool exhausted; /* no tile is left to begin */
} l2k_worker_group;

typedef struct l2k_workers {
    l2k_engine_kind kind;
    unsigned num_groups, num_slots; /* slots of all worker groups together */
    bool by_tile; /* one group per thread, or as many as a processor can use, each taking whole tiles */
    l2k_worker_group *groups;
    l2k_plan_cache plans;
    bool keep_plans; /* keep plans from tile to tile; costs memory */
    /* During a run: */
    uint32_t count; /* tiles */
    atomic_uint_least32_t next;
    atomic_uint at_work;
    l2k_first_failure first;
} l2k_workers;

/* Whether tiles of `siz`, `num_tiles` at a time, are worth one worker group each. */
bool l2k_workers_by_tile(const l2k_context *context, const l2k_siz *siz, uint32_t num_tiles);

/* Prepares worker groups for `num_tiles` tiles at a time of those that `siz` describes: one for each thread, or a
 * single one. If AUTO may leave the CPU, makes no more than its processors can use, and with `spread` at least one for
 * each of the context's processors. Present worker groups that fit stay, with their plans; zero-initialise before the
 * first call. Errors: L2K_ERROR_MEMORY. */
l2k_status l2k_workers_prepare(const l2k_context *context, l2k_backend backend, const l2k_block_coder_table *coders,
                               const l2k_siz *siz, uint32_t num_tiles, bool by_tile, bool spread, l2k_workers *workers);

/* Waits for plans at work. Accepts zero-initialised worker groups. */
void l2k_workers_release(l2k_workers *workers);

/* Releases the code that the engines hold. */
void l2k_workers_forget(l2k_workers *workers);

/* A tile of 0 .. count - 1, and the slot in which it begins (up to l2k_plan_begin) and ends (from l2k_plan_finish
 * on). */
typedef struct l2k_job {
    uint32_t tile;
    l2k_engine_slot *slot;
} l2k_job;

/* Calls `begin` and `end`, unless NULL, for each tile, on the thread of its worker group, and returns the failure of
 * the lowest tile. That does not depend on the number of threads, unless time or memory plays a part. Tiles of a worker
 * group end in the order in which they began; with two slots, the next one begins before the last one ends. No tile
 * begins after a failure. */
typedef l2k_status l2k_tile_work(void *call, l2k_worker_group *group, const l2k_job *job);
l2k_status l2k_workers_run(l2k_workers *workers, uint32_t count, l2k_tile_work *begin, l2k_tile_work *end, void *call);

#endif
