/* How the codec's work is spread over threads. Many small tiles: each thread takes whole tiles. Few or large tiles: one
 * after the other, all threads on the rows and code-blocks of one. Nothing of the result depends on which it is. */
#ifndef L2K_CODEC_WORKERS_H
#define L2K_CODEC_WORKERS_H

#include "base/memory.h"
#include "codec/tile/coding.h"
#include "codec/blocks/mq/t1.h"

/* A tile that a team has in hand, and its plan. Where the transform may run on a device a team has two in hand: one is
 * with the device while the threads are at the other. */
typedef struct l2k_tile_slot {
    l2k_plan *plan;
    unsigned number; /* among all slots of the workers */
} l2k_tile_slot;

enum { L2K_SLOTS_OF_TEAM = 2 };

/* A team that works on one tile: `context.threads` threads, each with its block coder. */
typedef struct l2k_team {
    l2k_context context;
    l2k_t1 **coders;
    l2k_backend backend;
    unsigned num_slots; /* 1 or 2 */
    l2k_tile_slot slots[L2K_SLOTS_OF_TEAM];
    unsigned first_thread; /* number of the team's first thread among all */
} l2k_team;

typedef struct l2k_workers {
    const l2k_context *context;
    unsigned threads;
    l2k_backend backend;
    int64_t gpu_min_samples;       /* where AUTO finds the GPU worth it */
    unsigned num_teams, num_slots; /* slots of all teams together */
    l2k_team *teams;
    bool frugal; /* plans are not kept from one tile to the next */
} l2k_workers;

/* Makes workers ready for `num_tiles` at a time of the tiles that `siz` describes. Those at hand, with their plans,
 * stay where they would be the same; zero-initialise before the first time. */
l2k_status l2k_workers_prepare(const l2k_context *context, l2k_backend backend, const l2k_siz *siz, uint32_t num_tiles,
                               l2k_workers *workers);

/* Waits for what plans have under way. There may be none. */
void l2k_workers_release(l2k_workers *workers);

/* The work on a tile, in two halves: begin ends with l2k_plan_begin on the slot's plan, end starts with
 * l2k_plan_finish. Between the halves a team with two slots begins another tile, or ends the one before. */
typedef struct l2k_tile_work {
    l2k_status (*begin)(void *job, l2k_team *team, l2k_tile_slot *slot, uint32_t index);
    l2k_status (*end)(void *job, l2k_team *team, l2k_tile_slot *slot, uint32_t index);
} l2k_tile_work;

/* Begins and ends `work` for every index below `count`, each on some team, until one fails; returns the failure of the
 * lowest index, which does not depend on the number of threads unless time or memory has its part in it. Others may
 * have told of theirs as well, before or after. After a failure, tiles that were begun need not have been ended. */
l2k_status l2k_workers_run(l2k_workers *workers, uint32_t count, const l2k_tile_work *work, void *job);

/* The slot's plan for `spec`, made anew where the one at hand does not fit. */
l2k_status l2k_team_plan(const l2k_team *team, l2k_tile_slot *slot, const l2k_plan_spec *spec);

/* Calls `work` for every index below `count` on the team's threads; `coder` is the thread's own and `thread` its number
 * among all threads of the workers. Returns the failure of the lowest index; those behind it need not have been done.
 */
typedef l2k_status (*l2k_block_work)(void *job, l2k_t1 *coder, unsigned thread, size_t index);
l2k_status l2k_team_run(l2k_team *team, size_t count, l2k_block_work work, void *job);

#endif
