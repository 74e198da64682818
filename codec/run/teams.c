/* Teams of threads and the order in which tiles pass through them. */
#define _POSIX_C_SOURCE 199309L /* nanosleep */
#include "codec/run/teams.h"

#include <time.h>

#include "base/integer.h"
#include "base/memory.h"
#include "base/run.h"

/* A tile up to this is done by one thread: splitting its rows costs more than it gains. The samples are those of three
 * components: with more, one tile could keep one thread busy when the others have long run out of tiles. */
#define SMALL_TILE_AREA    ((uint64_t)1 << 21)
#define SMALL_TILE_SAMPLES (3 * SMALL_TILE_AREA)

/* At most; components may be sub-sampled. */
static uint64_t samples_of_tile(const l2k_siz *siz)
{
    uint64_t area = (uint64_t)siz->grid.tile_width * siz->grid.tile_height, n = siz->num_components;
    return area <= UINT64_MAX / n ? area * n : UINT64_MAX;
}

bool l2k_teams_by_tile(const l2k_context *context, const l2k_siz *siz, uint32_t num_tiles)
{
    uint64_t area = (uint64_t)siz->grid.tile_width * siz->grid.tile_height;
    bool small = area <= SMALL_TILE_AREA && samples_of_tile(siz) <= SMALL_TILE_SAMPLES;
    return small && num_tiles >= 2 * context->threads;
}

/* Two where the plan of one tile may have work under way; some tiles may turn out smaller than they all could be. */
static unsigned slots_of_team(const l2k_context *context, l2k_backend backend, const l2k_siz *siz, uint32_t num_tiles)
{
    bool overlaps = num_tiles > 1 && l2k_backend_overlaps(context, backend, samples_of_tile(siz));
    return overlaps ? L2K_SLOTS_OF_TEAM : 1;
}

static l2k_status create_teams(l2k_teams *teams)
{
    const l2k_context *context = teams->kind.context;
    const unsigned slots = teams->num_slots / teams->num_teams;
    teams->teams = l2k_allocate_zeroed(context, teams->num_teams, sizeof *teams->teams);
    if (!teams->teams)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for %u threads", teams->num_teams);
    L2K_TRY(l2k_plan_cache_create(context, slots > 1 ? teams->num_slots * L2K_CACHED_OF_SLOT : 0, &teams->plans));
    for (unsigned i = 0; i < teams->num_teams; i++) {
        l2k_team *team = &teams->teams[i];
        team->num_slots = slots;
        for (unsigned k = 0; k < slots; k++)
            team->slots[k].number = i * slots + k;
        L2K_TRY(l2k_engine_create(&teams->kind, i, teams->num_teams, &teams->plans, &team->engine));
    }
    return L2K_OK;
}

static bool same_teams(const l2k_teams *a, const l2k_teams *b)
{
    return a->teams && l2k_engine_same_kind(&a->kind, &b->kind) && a->num_teams == b->num_teams &&
           a->num_slots == b->num_slots && a->by_tile == b->by_tile;
}

static void drop_plan(l2k_engine_slot *slot)
{
    l2k_plan_free(slot->plan);
    slot->plan = NULL;
}

void l2k_teams_drop_plans(l2k_teams *teams)
{
    for (unsigned i = 0; teams->teams && i < teams->num_teams; i++) {
        l2k_team *team = &teams->teams[i];
        const int before = l2k_engine_enter(&team->engine.context);
        for (unsigned k = 0; k < team->num_slots; k++)
            drop_plan(&team->slots[k]);
        l2k_engine_leave(before);
    }
    if (teams->plans.plans)
        l2k_plan_cache_clear(teams->kind.context, &teams->plans);
}

/* ---- Preparation --------------------------------------------------------------------------------------------- */

/* Teams of the last run; how many images are in flight now only matters for the way processors are used. */
static void take_again(const l2k_context *context, l2k_teams *teams)
{
    teams->keep_plans = true;
    for (unsigned i = 0; i < teams->num_teams; i++) {
        l2k_engine *engine = &teams->teams[i].engine;
        engine->context.in_flight = engine->quiet.in_flight = context->in_flight;
    }
    l2k_plan_cache_age(context, &teams->plans);
}

/* On each processor off the host. Measured with two H200, tiles of 1024 x 1024 and 32 threads: more than that only wait
 * for each other in its driver, and each has memory there. */
enum { MOST_TEAMS_OF_PROCESSOR = 8 };

static unsigned number_of_teams(const l2k_teams *teams, const l2k_siz *siz, uint32_t num_tiles)
{
    const l2k_context *context = teams->kind.context;
    const unsigned processors = teams->kind.spread ? l2k_engine_count(context) : 1;
    const unsigned most = processors * MOST_TEAMS_OF_PROCESSOR, some = teams->by_tile ? context->threads : 1;
    if ((some >= processors && some <= most) ||
        !l2k_backend_overlaps(context, teams->kind.backend, samples_of_tile(siz)))
        return some;
    return some > most ? most : l2k_min_u32(processors, num_tiles);
}

l2k_status l2k_teams_prepare(const l2k_context *context, l2k_backend backend, const l2k_block_coder_table *coders,
                             const l2k_siz *siz, uint32_t num_tiles, bool by_tile, bool spread, l2k_teams *teams)
{
    l2k_teams wanted = {
        .kind = l2k_engine_kind_of(context, backend, coders, spread), .by_tile = by_tile, .keep_plans = true};
    wanted.num_teams = number_of_teams(&wanted, siz, num_tiles);
    wanted.num_slots = wanted.num_teams * slots_of_team(context, backend, siz, num_tiles);
    if (same_teams(teams, &wanted)) {
        take_again(context, teams);
        return L2K_OK;
    }
    l2k_teams_release(teams);
    *teams = wanted;
    l2k_status status = create_teams(teams);
    if (status != L2K_OK)
        l2k_teams_release(teams);
    return status;
}

void l2k_teams_release(l2k_teams *teams)
{
    const l2k_context *context = teams->kind.context;
    for (unsigned i = 0; teams->teams && i < teams->num_teams; i++)
        l2k_engine_release(&teams->teams[i].engine);
    l2k_teams_drop_plans(teams);
    if (teams->plans.plans)
        l2k_plan_cache_release(context, &teams->plans);
    if (context)
        l2k_release(context, teams->teams);
    *teams = (l2k_teams){0};
}

void l2k_teams_forget(l2k_teams *teams)
{
    for (unsigned i = 0; teams->teams && i < teams->num_teams; i++)
        l2k_engine_forget(&teams->teams[i].engine);
}

/* ---- A run --------------------------------------------------------------------------------------------------- */

/* What is left to a team whose processor has failed, the teams of others do faster than the CPU. */
static bool others_do_it(const l2k_teams *teams, const l2k_team *team)
{
    bool others = false;
    if (!l2k_engine_has_failed(&team->engine))
        return false;
    for (unsigned i = 0; i < teams->num_teams && !others; i++)
        others = !l2k_engine_has_failed(&teams->teams[i].engine);
    return others;
}

/* Tiles are taken in rising order: none that is taken after a failure could fail before it. */
static bool begin_another(l2k_teams *teams, l2k_team *team, l2k_turn *turn)
{
    team->exhausted |= others_do_it(teams, team);
    if (team->exhausted || team->begun - team->ended == team->num_slots)
        return false;
    team->exhausted = l2k_first_status(&teams->first) != L2K_OK;
    uint32_t tile = team->exhausted ? 0 : (uint32_t)atomic_fetch_add(&teams->next, 1);
    team->exhausted |= tile >= teams->count;
    if (team->exhausted)
        return false;
    unsigned k = team->begun % team->num_slots;
    team->tiles[k] = tile;
    *turn = (l2k_turn){true, tile, &team->slots[k]};
    return true;
}

/* Tiles that began before one that failed are ended all the same: one of them may fail, too, and is then the first. */
bool l2k_next_turn(l2k_teams *teams, l2k_team *team, l2k_turn *turn)
{
    if (begin_another(teams, team, turn))
        return true;
    unsigned k = team->ended % team->num_slots;
    if (team->ended == team->begun || l2k_failed_before(&teams->first, team->tiles[k]))
        return false;
    *turn = (l2k_turn){false, team->tiles[k], &team->slots[k]};
    return true;
}

void l2k_end_turn(l2k_teams *teams, l2k_team *team, const l2k_turn *turn, l2k_status status)
{
    bool succeeded = l2k_record_status(&teams->first, turn->tile, status);
    if (turn->begins) {
        team->begun += succeeded;
        team->exhausted |= !succeeded;
        return;
    }
    team->ended += succeeded;
    if (!succeeded) { /* nothing that this team began later matters */
        team->begun = team->ended;
        team->exhausted = true;
    }
    if (!teams->keep_plans)
        drop_plan(turn->slot);
}

/* Of the time waited so far, the part by which a wait may be too long, and the longest nap in nanoseconds. */
enum { PART_OF_WAIT = 8, LONGEST_NAP = 5000000 };

/* The progress hook is asked on the caller's thread alone, which continues to ask when it has run out of tiles and
 * other threads have not. */
static void await_others(l2k_teams *teams)
{
    long nap = 20000;
    while (atomic_load(&teams->at_work) > 0 &&
           l2k_record_status(&teams->first, teams->count, l2k_poll(teams->kind.context, L2K_POLL_NOW))) {
        nanosleep(&(struct timespec){.tv_nsec = nap}, NULL);
        nap += nap / PART_OF_WAIT;
        nap = nap < LONGEST_NAP ? nap : LONGEST_NAP;
    }
}

static l2k_team *enter(l2k_teams *teams, unsigned thread)
{
    l2k_team *team = &teams->teams[thread];
    team->begun = team->ended = 0;
    team->exhausted = false;
    atomic_fetch_add(&teams->at_work, 1);
    return team;
}

static void leave(l2k_teams *teams, unsigned thread)
{
    atomic_fetch_sub(&teams->at_work, 1);
    if (thread == 0 && teams->kind.context->hooks.progress)
        await_others(teams);
}

static void run_team(l2k_teams *teams, unsigned thread, l2k_team_share *share, void *job)
{
    l2k_team *team = enter(teams, thread);
    const int before = l2k_engine_enter(&team->engine.context);
    share(job, teams, team);
    l2k_engine_leave(before);
    leave(teams, thread);
}

/* One team alone must not have a parallel region around it, even one of a single thread: its own regions would be
 * nested, and OpenMP starts new threads for each nested region. */
l2k_status l2k_teams_run(l2k_teams *teams, uint32_t count, l2k_team_share *share, void *job)
{
    teams->count = count;
    for (unsigned i = 0; i < teams->num_teams; i++)
        l2k_engine_start(&teams->kind, teams->num_teams, &teams->teams[i].engine);
    atomic_store(&teams->next, 0);
    atomic_store(&teams->first, L2K_NO_FAILURE);
    if (teams->kind.context->run)
        teams->kind.context->run->teams = teams->num_teams;
    if (teams->num_teams == 1) {
        run_team(teams, 0, share, job);
    } else {
#pragma omp parallel num_threads(teams->num_teams)
        run_team(teams, l2k_thread_index(), share, job);
    }
    if (teams->kind.context->run)
        teams->kind.context->run->teams = 1;
    for (unsigned i = 0; i < teams->num_teams; i++)
        l2k_engine_end(&teams->kind, teams->num_teams, &teams->teams[i].engine);
    return l2k_first_status(&teams->first);
}
