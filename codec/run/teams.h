/* How tiles are spread over threads. Many small tiles: each thread is a team of one and takes whole tiles. Few or large
 * tiles: one team of all threads takes tile after tile, its threads sharing rows and code-blocks. The result does not
 * depend on which it is. */
#ifndef L2K_CODEC_TEAMS_H
#define L2K_CODEC_TEAMS_H

#include <pthread.h>

#include "base/failure.h"
#include "codec/blocks/block_coder.h"
#include "transform/choice.h"
#include "transform/plan.h"

/* A plan on a device for tiles of another shape: the last ones of rows and columns differ from the rest, and making a
 * plan there takes longer than a tile. */
typedef struct l2k_spare_plan {
    l2k_plan *plan;
    uint64_t devices; /* of the context that it was made for */
    unsigned idle;    /* images that have begun since a tile needed it */
} l2k_spare_plan;

/* Those of all teams: whichever team gets a tile of that shape next, on that device, takes one. */
typedef struct l2k_spare_plans {
    pthread_mutex_t lock;
    l2k_spare_plan *plans; /* those used last are at the end */
    unsigned count, room;
} l2k_spare_plans;

enum { L2K_SLOTS_OF_TEAM = 2, L2K_SPARES_OF_SLOT = 3 };

/* Room for a tile under way, and its plan. Where the transform may run on a device, a team has two: one tile is with
 * the device while the threads work on the other. */
typedef struct l2k_tile_slot {
    l2k_plan *plan;
    unsigned number; /* among all slots of all teams */
} l2k_tile_slot;

typedef struct l2k_team {
    l2k_context context; /* with the number of its threads, and its device */
    l2k_choice choice;   /* the context's, where teams are on several devices, which do not all fail together */
    l2k_context quiet;   /* the same, for what may fail and is then done again: reports nothing */
    l2k_backend backend;
    l2k_block_coder *coder;
    l2k_block_coder *device_coder; /* NULL until a plan has kept its coefficients on the device */
    l2k_spare_plans *spares;       /* of all teams */
    unsigned num_slots;            /* 1 or 2 */
    l2k_tile_slot slots[L2K_SLOTS_OF_TEAM];
    /* During a run: tiles begun and ended so far, and the last two begun. */
    uint32_t begun, ended, tiles[L2K_SLOTS_OF_TEAM];
    bool exhausted; /* no tile is left to begin */
} l2k_team;

typedef struct l2k_teams {
    const l2k_context *context;
    unsigned threads;
    uint64_t devices;
    bool spread; /* over the devices, if there are several */
    l2k_cpu cpu;
    l2k_backend backend;
    const l2k_block_coder_table *coders;
    int64_t gpu_min_samples;       /* from where on AUTO takes the GPU */
    unsigned num_teams, num_slots; /* slots of all teams together */
    bool by_tile;                  /* there are as many as threads, or as a GPU is worth: each takes whole tiles */
    l2k_team *teams;
    l2k_spare_plans spares;
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
 * where a GPU may take part, not more than it is worth, and with `spread` at least one for each of the context's
 * devices. Present teams, with their plans, stay where they would be the same; zero-initialise before the first call.
 * Errors: L2K_ERROR_MEMORY. */
l2k_status l2k_teams_prepare(const l2k_context *context, l2k_backend backend, const l2k_block_coder_table *coders,
                             const l2k_siz *siz, uint32_t num_tiles, bool by_tile, bool spread, l2k_teams *teams);

/* Waits for plans that are under way. Takes zero-initialised teams, too. */
void l2k_teams_release(l2k_teams *teams);

/* Frees all plans, of which none is needed any more. */
void l2k_teams_drop_plans(l2k_teams *teams);

/* Releases the code that block coders hold, those of all teams or of one. */
void l2k_teams_forget(l2k_teams *teams);
void l2k_team_forget(const l2k_team *team);

/* A team's next duty: to begin a tile in a slot (up to l2k_plan_begin), or to end the one begun there (from
 * l2k_plan_finish on). Tiles of a team end in the order in which they began; with two slots, another one begins
 * before. */
typedef struct l2k_turn {
    bool begins;
    uint32_t tile; /* 0 .. count - 1 */
    l2k_tile_slot *slot;
} l2k_turn;

/* Runs `share` once per team, on that team's thread, and returns the failure of the lowest tile, which does not depend
 * on the number of threads unless time or memory has a part in it. Tiles after a failure are not begun. */
typedef void l2k_team_share(void *job, l2k_teams *teams, l2k_team *team);
l2k_status l2k_teams_run(l2k_teams *teams, uint32_t count, l2k_team_share *share, void *job);

/* For shares:  while (l2k_next_turn(teams, team, &turn)) l2k_end_turn(teams, team, &turn, what became of it);  */
bool l2k_next_turn(l2k_teams *teams, l2k_team *team, l2k_turn *turn);
void l2k_end_turn(l2k_teams *teams, l2k_team *team, const l2k_turn *turn, l2k_status status);

/* A plan for `spec`. One on a device that AUTO has chosen fails without a message: the CPU then does its work. */
l2k_status l2k_team_new_plan(const l2k_team *team, const l2k_plan_spec *spec, l2k_plan **plan);

/* The slot's plan for `spec`: the present one, a spare one, or a new one. */
l2k_status l2k_team_plan(const l2k_team *team, l2k_tile_slot *slot, const l2k_plan_spec *spec);

/* The coder for coefficients where a plan has them: the team's own, also for NULL, or, on a device, one of that table.
 */
l2k_status l2k_team_coder(l2k_team *team, const l2k_plan *plan, const l2k_block_coder_table *on_device,
                          l2k_block_coder **coder);

/* Lets the coder on a device have the bytes of the next tile early; NULL takes them back. It does nothing where there
 * is no such coder yet. */
void l2k_team_send(const l2k_team *team, const uint8_t *bytes, size_t num_bytes);
/* One of that table, for coefficients on its device. */
l2k_status l2k_team_device_coder(l2k_team *team, const l2k_block_coder_table *on_device, l2k_block_coder **coder);

/* Whether a tile that failed with `status` is to be done again on the CPU: it was on a device that AUTO had chosen. A
 * note says so the first time; the slot has no plan any more, and its next one will be on the CPU. The coder on the
 * device stays, with the code of other tiles. */
bool l2k_team_falls_back(l2k_team *team, l2k_tile_slot *slot, l2k_status status);

#endif
