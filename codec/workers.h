/* How the codec's work is spread over threads. Many small tiles: each thread takes whole tiles. Few or large tiles: one
 * after the other, all threads on the rows and code-blocks of one. Nothing of the result depends on which it is. */
#ifndef L2K_CODEC_WORKERS_H
#define L2K_CODEC_WORKERS_H

#include "base/memory.h"
#include "codec/t1.h"

/* A team that works on one tile: `context.threads` threads, each with its block coder, and the plan that they share. */
typedef struct l2k_team {
    l2k_context context;
    l2k_t1 **coders;
    l2k_plan *plan;
    unsigned first_thread; /* number of the team's first thread among all */
} l2k_team;

typedef struct l2k_workers {
    const l2k_context *context;
    unsigned num_teams;
    l2k_team *teams;
} l2k_workers;

l2k_status l2k_workers_create(const l2k_context *context, uint32_t num_tiles, uint64_t samples_of_a_tile,
                              l2k_workers *workers);
void l2k_workers_release(l2k_workers *workers);

/* Calls `work` for every index below `count`, each on some team, until one fails; returns the first failure seen. */
typedef l2k_status (*l2k_tile_work)(void *job, l2k_team *team, uint32_t index);
l2k_status l2k_workers_run(l2k_workers *workers, uint32_t count, l2k_tile_work work, void *job);

/* The team's plan for `spec`, made anew where the one at hand does not fit. */
l2k_status l2k_team_plan(l2k_team *team, l2k_backend backend, const l2k_plan_spec *spec);

/* Calls `work` for every index below `count` on the team's threads; `coder` is the thread's own and `thread` its number
 * among all threads of the workers. */
typedef l2k_status (*l2k_block_work)(void *job, l2k_t1 *coder, unsigned thread, size_t index);
l2k_status l2k_team_run(l2k_team *team, size_t count, l2k_block_work work, void *job);

#endif
