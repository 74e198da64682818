/* How tiles are spread over threads. Many small tiles: each thread is a team of one and takes whole tiles. Few or large
 * tiles: one team of all threads takes tile after tile, its threads sharing rows and code-blocks. The result does not
 * depend on which it is. */
#ifndef L2K_CODEC_TEAMS_H
#define L2K_CODEC_TEAMS_H

#include "base/failure.h"
#include "codec/engine/engine.h"

enum { L2K_SLOTS_OF_TEAM = 2, L2K_CACHED_OF_SLOT = 3 };

typedef struct l2k_team {
    l2k_engine engine;
    /* One or two: where the engine works by itself, a tile is with it while the threads work on another. */
    unsigned num_slots;
    l2k_engine_slot slots[L2K_SLOTS_OF_TEAM];
    /* During a run: tiles begun and ended so far, and the last two begun. */
    uint32_t begun, ended, tiles[L2K_SLOTS_OF_TEAM];
    bool exhausted; /* no tile is left to begin */
} l2k_team;

typedef struct l2k_teams {
    l2k_engine_kind kind;
    unsigned num_teams, num_slots; /* slots of all teams together */
    bool by_tile; /* there are as many as threads, or as a processor is worth: each takes whole tiles */
    l2k_team *teams;
    l2k_plan_cache plans;
    bool keep_plans; /* from one tile to the next; costs memory */
    /* During a run: */
    uint32_t count; /* tiles */
    atomic_uint_least32_t next;
    atomic_uint at_work;
    l2k_first_failure first;
} l2k_teams;

/* Whether tiles of `siz`, `num_tiles` at a time, are worth a team each. */
bool l2k_teams_by_tile(const l2k_context *context, const l2k_siz *siz, uint32_t num_tiles);

/* Prepares teams for `num_tiles` tiles at a time of those that `siz` describes: one for each thread, or a single one;
 * where AUTO may leave the CPU, not more than that is worth, and with `spread` at least one for each of the context's
 * processors. Present teams, with their plans, stay where they would be the same; zero-initialise before the first
 * call. Errors: L2K_ERROR_MEMORY. */
l2k_status l2k_teams_prepare(const l2k_context *context, l2k_backend backend, const l2k_block_coder_table *coders,
                             const l2k_siz *siz, uint32_t num_tiles, bool by_tile, bool spread, l2k_teams *teams);

/* Waits for plans that are under way. Takes zero-initialised teams, too. */
void l2k_teams_release(l2k_teams *teams);

/* Frees all plans, of which none is needed any more. */
void l2k_teams_drop_plans(l2k_teams *teams);

/* Releases the code that the engines hold. */
void l2k_teams_forget(l2k_teams *teams);

/* A team's next duty: to begin a tile in a slot (up to l2k_plan_begin), or to end the one begun there (from
 * l2k_plan_finish on). Tiles of a team end in the order in which they began; with two slots, another one begins
 * before. */
typedef struct l2k_turn {
    bool begins;
    uint32_t tile; /* 0 .. count - 1 */
    l2k_engine_slot *slot;
} l2k_turn;

/* Runs `share` once per team, on that team's thread, and returns the failure of the lowest tile, which does not depend
 * on the number of threads unless time or memory has a part in it. Tiles after a failure are not begun. */
typedef void l2k_team_share(void *job, l2k_teams *teams, l2k_team *team);
l2k_status l2k_teams_run(l2k_teams *teams, uint32_t count, l2k_team_share *share, void *job);

/* For shares:  while (l2k_next_turn(teams, team, &turn)) l2k_end_turn(teams, team, &turn, what became of it);  */
bool l2k_next_turn(l2k_teams *teams, l2k_team *team, l2k_turn *turn);
void l2k_end_turn(l2k_teams *teams, l2k_team *team, const l2k_turn *turn, l2k_status status);

#endif
