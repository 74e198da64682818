/* Teams of threads and the order in which tiles pass through them. */
#define _POSIX_C_SOURCE 199309L /* nanosleep */
#include "codec/teams.h"

#include <time.h>

#include "base/memory.h"

#include "base/run.h"
#include "transform/choice.h"

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

static l2k_status create_teams(const l2k_context *context, l2k_teams *teams)
{
    unsigned slots = teams->num_slots / teams->num_teams;
    teams->teams = l2k_allocate_zeroed(context, teams->num_teams, sizeof *teams->teams);
    if (!teams->teams)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for %u threads", teams->num_teams);
    for (unsigned i = 0; i < teams->num_teams; i++) {
        l2k_team *team = &teams->teams[i];
        *team = (l2k_team){.context = *context, .backend = teams->backend, .num_slots = slots};
        team->context.threads = teams->num_teams > 1 ? 1 : context->threads;
        team->quiet = team->context;
        team->quiet.hooks.message = NULL;
        for (unsigned k = 0; k < slots; k++)
            team->slots[k].number = i * slots + k;
        L2K_TRY(l2k_block_coder_create(&team->context, teams->coders, &team->coder));
    }
    return L2K_OK;
}

static bool same_teams(const l2k_teams *a, const l2k_teams *b)
{
    return a->teams && a->threads == b->threads && a->cpu == b->cpu && a->backend == b->backend &&
           a->coders == b->coders && a->gpu_min_samples == b->gpu_min_samples && a->num_teams == b->num_teams &&
           a->num_slots == b->num_slots;
}

/* Teams of the last run; how many images are in flight now only matters for the way devices are used. */
static void take_again(const l2k_context *context, l2k_teams *teams)
{
    teams->keep_plans = true;
    for (unsigned i = 0; i < teams->num_teams; i++)
        teams->teams[i].context.in_flight = teams->teams[i].quiet.in_flight = context->in_flight;
}

l2k_status l2k_teams_prepare(const l2k_context *context, l2k_backend backend, const l2k_block_coder_table *coders,
                             const l2k_siz *siz, uint32_t num_tiles, bool by_tile, l2k_teams *teams)
{
    l2k_teams wanted = {.context = context,
                        .threads = context->threads,
                        .cpu = context->cpu,
                        .backend = backend,
                        .coders = coders,
                        .gpu_min_samples = context->choice ? context->choice->gpu_min_samples : L2K_GPU_MIN_SAMPLES,
                        .num_teams = by_tile ? context->threads : 1,
                        .keep_plans = true};
    wanted.num_slots = wanted.num_teams * slots_of_team(context, backend, siz, num_tiles);
    if (same_teams(teams, &wanted)) {
        take_again(context, teams);
        return L2K_OK;
    }
    l2k_teams_release(teams);
    *teams = wanted;
    l2k_status status = create_teams(context, teams);
    if (status != L2K_OK)
        l2k_teams_release(teams);
    return status;
}

void l2k_teams_release(l2k_teams *teams)
{
    for (unsigned i = 0; teams->teams && i < teams->num_teams; i++) {
        l2k_team *team = &teams->teams[i];
        l2k_block_coder_free(team->coder);
        l2k_block_coder_free(team->device_coder);
        for (unsigned k = 0; k < team->num_slots; k++)
            l2k_plan_free(team->slots[k].plan);
    }
    if (teams->teams)
        l2k_release(teams->context, teams->teams);
    *teams = (l2k_teams){0};
}

void l2k_teams_forget(l2k_teams *teams)
{
    for (unsigned i = 0; teams->teams && i < teams->num_teams; i++) {
        const l2k_team *team = &teams->teams[i];
        if (team->coder)
            team->coder->table->forget(team->coder);
        if (team->device_coder)
            team->device_coder->table->forget(team->device_coder);
    }
}

/* ---- A run --------------------------------------------------------------------------------------------------- */

/* Tiles are taken in rising order: none that is taken after a failure could fail before it. */
static bool begin_another(l2k_teams *teams, l2k_team *team, l2k_turn *turn)
{
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

static void drop_plan(l2k_tile_slot *slot)
{
    l2k_plan_free(slot->plan);
    slot->plan = NULL;
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
           l2k_record_status(&teams->first, teams->count, l2k_poll(teams->context, L2K_POLL_NOW))) {
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
    if (thread == 0 && teams->context->hooks.progress)
        await_others(teams);
}

/* One team alone must not have a parallel region around it, even one of a single thread: its own regions would be
 * nested, and OpenMP starts new threads for each nested region. */
l2k_status l2k_teams_run(l2k_teams *teams, uint32_t count, l2k_team_share *share, void *job)
{
    teams->count = count;
    atomic_store(&teams->next, 0);
    atomic_store(&teams->first, L2K_NO_FAILURE);
    if (teams->context->run)
        teams->context->run->teams = teams->num_teams;
    if (teams->num_teams == 1) {
        share(job, teams, enter(teams, 0));
        leave(teams, 0);
    } else {
#pragma omp parallel num_threads(teams->num_teams)
        {
            unsigned thread = l2k_thread_index();
            share(job, teams, enter(teams, thread));
            leave(teams, thread);
        }
    }
    if (teams->context->run)
        teams->context->run->teams = 1;
    return l2k_first_status(&teams->first);
}

l2k_status l2k_team_new_plan(const l2k_team *team, const l2k_plan_spec *spec, l2k_plan **plan)
{
    L2K_TRY(l2k_plan_create(&team->context, team->backend, spec, plan));
    if (team->backend == L2K_BACKEND_AUTO && l2k_plan_stream(*plan))
        l2k_plan_use(*plan, &team->quiet);
    return L2K_OK;
}

l2k_status l2k_team_plan(const l2k_team *team, l2k_tile_slot *slot, const l2k_plan_spec *spec)
{
    if (slot->plan && l2k_plan_fits(slot->plan, spec))
        return L2K_OK;
    drop_plan(slot);
    return l2k_team_new_plan(team, spec, &slot->plan);
}

l2k_status l2k_team_device_coder(l2k_team *team, const l2k_block_coder_table *on_device, l2k_block_coder **coder)
{
    if (team->device_coder && team->device_coder->table != on_device) {
        l2k_block_coder_free(team->device_coder);
        team->device_coder = NULL;
    }
    const l2k_context *context = team->backend == L2K_BACKEND_AUTO ? &team->quiet : &team->context;
    if (!team->device_coder)
        L2K_TRY(l2k_block_coder_create(context, on_device, &team->device_coder));
    *coder = team->device_coder;
    return L2K_OK;
}

void l2k_team_send(const l2k_team *team, const uint8_t *bytes, size_t num_bytes)
{
    if (team->device_coder && team->device_coder->table->send)
        team->device_coder->table->send(team->device_coder, bytes, num_bytes);
}

l2k_status l2k_team_coder(l2k_team *team, const l2k_plan *plan, const l2k_block_coder_table *on_device,
                          l2k_block_coder **coder)
{
    *coder = team->coder;
    if (!plan || !l2k_plan_coefficients(plan, 0)->on_device)
        return L2K_OK;
    return l2k_team_device_coder(team, on_device, coder);
}

bool l2k_team_falls_back(l2k_team *team, l2k_tile_slot *slot, l2k_status status)
{
    if (status == L2K_OK || status == L2K_ERROR_CANCELLED || team->backend != L2K_BACKEND_AUTO || !slot->plan ||
        !l2k_plan_stream(slot->plan))
        return false;
    l2k_choice_fall_back(&team->context, status);
    drop_plan(slot);
    return true;
}
