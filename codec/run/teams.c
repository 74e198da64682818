/* Teams of threads and the order in which tiles pass through them. */
#define _POSIX_C_SOURCE 199309L /* nanosleep */
#include "codec/run/teams.h"

#include <string.h>
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

static bool has_several_devices(const l2k_teams *teams)
{
    return teams->num_teams > 1 && teams->spread && (teams->devices & (teams->devices - 1));
}

static l2k_status create_teams(const l2k_context *context, l2k_teams *teams)
{
    unsigned slots = teams->num_slots / teams->num_teams;
    teams->teams = l2k_allocate_zeroed(context, teams->num_teams, sizeof *teams->teams);
    teams->spares.room = slots > 1 ? teams->num_slots * L2K_SPARES_OF_SLOT : 0;
    teams->spares.plans = l2k_allocate(context, teams->spares.room, sizeof *teams->spares.plans);
    if (!teams->teams || !teams->spares.plans)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for %u threads", teams->num_teams);
    for (unsigned i = 0; i < teams->num_teams; i++) {
        l2k_team *team = &teams->teams[i];
        *team =
            (l2k_team){.context = *context, .backend = teams->backend, .spares = &teams->spares, .num_slots = slots};
        team->context.threads = teams->num_teams > 1 ? 1 : context->threads;
        if (has_several_devices(teams)) {
            team->context.devices = (uint64_t)1 << l2k_device_of_share(context, i);
            team->context.choice = &team->choice;
            l2k_choice_start(&team->choice, teams->gpu_min_samples);
        }
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
    return a->teams && a->threads == b->threads && a->devices == b->devices && a->spread == b->spread &&
           a->cpu == b->cpu && a->backend == b->backend && a->coders == b->coders &&
           a->gpu_min_samples == b->gpu_min_samples && a->num_teams == b->num_teams && a->num_slots == b->num_slots &&
           a->by_tile == b->by_tile;
}

/* ---- Plans of a slot ----------------------------------------------------------------------------------------- */

static void drop_plan(l2k_tile_slot *slot)
{
    l2k_plan_free(slot->plan);
    slot->plan = NULL;
}

static void drop_spare(const l2k_context *context, const l2k_spare_plan *spare)
{
    l2k_context there = *context;
    there.devices = spare->devices;
    const int before = l2k_device_enter(&there);
    l2k_plan_free(spare->plan);
    l2k_device_leave(before);
}

/* Called with the lock held. */
static l2k_spare_plan take_out(l2k_spare_plans *spares, unsigned i)
{
    const l2k_spare_plan spare = spares->plans[i];
    memmove(spares->plans + i, spares->plans + i + 1, (--spares->count - i) * sizeof spare);
    return spare;
}

static bool has_spares(const l2k_team *team)
{
    bool any = false;
    pthread_mutex_lock(&team->spares->lock);
    for (unsigned i = 0; i < team->spares->count; i++)
        any |= team->spares->plans[i].devices == team->context.devices;
    pthread_mutex_unlock(&team->spares->lock);
    return any;
}

/* Those of the team's device. */
static void drop_spares(const l2k_team *team)
{
    l2k_spare_plans *spares = team->spares;
    pthread_mutex_lock(&spares->lock);
    for (unsigned i = spares->count; i-- > 0;)
        if (spares->plans[i].devices == team->context.devices) {
            const l2k_spare_plan spare = take_out(spares, i);
            drop_spare(&team->context, &spare);
        }
    pthread_mutex_unlock(&spares->lock);
}

/* The plan becomes a spare one if it is on a device; where there are too many, in place of the one that has been there
 * longest. */
static void set_aside(const l2k_team *team, l2k_tile_slot *slot)
{
    l2k_spare_plans *spares = team->spares;
    l2k_spare_plan oldest = {0};
    if (!slot->plan || !l2k_plan_stream(slot->plan)) {
        drop_plan(slot);
        return;
    }
    pthread_mutex_lock(&spares->lock);
    if (spares->count == spares->room)
        oldest = take_out(spares, 0);
    spares->plans[spares->count++] = (l2k_spare_plan){slot->plan, team->context.devices, 0};
    pthread_mutex_unlock(&spares->lock);
    slot->plan = NULL;
    if (oldest.plan)
        drop_spare(&team->context, &oldest);
}

static const l2k_context *context_of_plan(const l2k_team *team)
{
    return team->backend == L2K_BACKEND_AUTO ? &team->quiet : &team->context;
}

static bool take_spare(const l2k_team *team, l2k_tile_slot *slot, const l2k_plan_spec *spec)
{
    l2k_spare_plans *spares = team->spares;
    l2k_plan *plan = NULL;
    pthread_mutex_lock(&spares->lock);
    for (unsigned i = spares->count; i-- > 0 && !plan;)
        if (spares->plans[i].devices == team->context.devices && l2k_plan_fits(spares->plans[i].plan, spec))
            plan = take_out(spares, i).plan;
    pthread_mutex_unlock(&spares->lock);
    if (!plan)
        return false;
    set_aside(team, slot);
    l2k_plan_use(plan, context_of_plan(team));
    slot->plan = plan;
    return true;
}

/* Images of one shape may each need a few more, or fewer, at once than the one before. */
enum { MOST_IDLE = 3 };

/* Those that no tile of the last images needed go. */
static void age_spares(l2k_teams *teams)
{
    for (unsigned i = teams->spares.count; i-- > 0;)
        if (++teams->spares.plans[i].idle > MOST_IDLE) {
            const l2k_spare_plan spare = take_out(&teams->spares, i);
            drop_spare(teams->context, &spare);
        }
}

void l2k_teams_drop_plans(l2k_teams *teams)
{
    for (unsigned i = 0; teams->teams && i < teams->num_teams; i++) {
        l2k_team *team = &teams->teams[i];
        const int before = l2k_device_enter(&team->context);
        for (unsigned k = 0; k < team->num_slots; k++)
            drop_plan(&team->slots[k]);
        l2k_device_leave(before);
    }
    while (teams->spares.count)
        drop_spare(teams->context, &teams->spares.plans[--teams->spares.count]);
}

/* ---- Preparation --------------------------------------------------------------------------------------------- */

/* Teams of the last run; how many images are in flight now only matters for the way devices are used. */
static void take_again(const l2k_context *context, l2k_teams *teams)
{
    teams->keep_plans = true;
    for (unsigned i = 0; i < teams->num_teams; i++) {
        l2k_team *team = &teams->teams[i];
        team->context.in_flight = team->quiet.in_flight = context->in_flight;
    }
    age_spares(teams);
}

/* On each device. Measured with two H200, tiles of 1024 x 1024 and 32 threads: more than that only wait for each other
 * in its driver, and each has memory there. */
enum { MOST_TEAMS_ON_DEVICE = 8 };

static unsigned number_of_teams(const l2k_teams *teams, const l2k_siz *siz, uint32_t num_tiles)
{
    const l2k_context *context = teams->context;
    const unsigned devices = teams->spread ? l2k_device_count(context) : 1;
    const unsigned most = devices * MOST_TEAMS_ON_DEVICE, some = teams->by_tile ? context->threads : 1;
    if ((some >= devices && some <= most) || !l2k_backend_overlaps(context, teams->backend, samples_of_tile(siz)))
        return some;
    return some > most ? most : l2k_min_u32(devices, num_tiles);
}

l2k_status l2k_teams_prepare(const l2k_context *context, l2k_backend backend, const l2k_block_coder_table *coders,
                             const l2k_siz *siz, uint32_t num_tiles, bool by_tile, bool spread, l2k_teams *teams)
{
    l2k_teams wanted = {.context = context,
                        .threads = context->threads,
                        .cpu = context->cpu,
                        .devices = context->devices,
                        .spread = spread,
                        .backend = backend,
                        .coders = coders,
                        .gpu_min_samples = context->choice ? context->choice->gpu_min_samples : L2K_GPU_MIN_SAMPLES,
                        .by_tile = by_tile,
                        .spares = {.lock = PTHREAD_MUTEX_INITIALIZER},
                        .keep_plans = true};
    wanted.num_teams = number_of_teams(&wanted, siz, num_tiles);
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
        const int before = l2k_device_enter(&team->context);
        l2k_block_coder_free(team->coder);
        l2k_block_coder_free(team->device_coder);
        l2k_device_leave(before);
    }
    l2k_teams_drop_plans(teams);
    if (teams->context) {
        l2k_release(teams->context, teams->spares.plans);
        l2k_release(teams->context, teams->teams);
        pthread_mutex_destroy(&teams->spares.lock);
    }
    *teams = (l2k_teams){0};
}

void l2k_team_forget(const l2k_team *team)
{
    if (team->coder)
        team->coder->table->forget(team->coder);
    if (team->device_coder)
        team->device_coder->table->forget(team->device_coder);
}

void l2k_teams_forget(l2k_teams *teams)
{
    for (unsigned i = 0; teams->teams && i < teams->num_teams; i++)
        l2k_team_forget(&teams->teams[i]);
}

/* ---- A run --------------------------------------------------------------------------------------------------- */

/* What is left to a team whose device has failed, the teams of other devices do faster than the CPU. */
static bool others_have_devices(const l2k_teams *teams, const l2k_team *team)
{
    bool others = false;
    if (team->context.choice != &team->choice || !l2k_choice_has_failed(&team->choice))
        return false;
    for (unsigned i = 0; i < teams->num_teams && !others; i++)
        others = !l2k_choice_has_failed(&teams->teams[i].choice);
    return others;
}

/* Tiles are taken in rising order: none that is taken after a failure could fail before it. */
static bool begin_another(l2k_teams *teams, l2k_team *team, l2k_turn *turn)
{
    team->exhausted |= others_have_devices(teams, team);
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

/* Each of several devices can fail by itself; that any has failed in this call is what the object is to know. */
static void share_choices(l2k_teams *teams)
{
    const l2k_choice *choice = teams->context->choice;
    for (unsigned i = 0; has_several_devices(teams) && i < teams->num_teams; i++)
        if (!l2k_choice_has_failed(choice))
            l2k_choice_start(&teams->teams[i].choice, choice->gpu_min_samples);
}

static void gather_choices(l2k_teams *teams)
{
    for (unsigned i = 0; has_several_devices(teams) && i < teams->num_teams; i++)
        l2k_choice_join(teams->context->choice, &teams->teams[i].choice);
}

static void run_team(l2k_teams *teams, unsigned thread, l2k_team_share *share, void *job)
{
    l2k_team *team = enter(teams, thread);
    const int before = l2k_device_enter(&team->context);
    share(job, teams, team);
    l2k_device_leave(before);
    leave(teams, thread);
}

/* One team alone must not have a parallel region around it, even one of a single thread: its own regions would be
 * nested, and OpenMP starts new threads for each nested region. */
l2k_status l2k_teams_run(l2k_teams *teams, uint32_t count, l2k_team_share *share, void *job)
{
    teams->count = count;
    share_choices(teams);
    atomic_store(&teams->next, 0);
    atomic_store(&teams->first, L2K_NO_FAILURE);
    if (teams->context->run)
        teams->context->run->teams = teams->num_teams;
    if (teams->num_teams == 1) {
        run_team(teams, 0, share, job);
    } else {
#pragma omp parallel num_threads(teams->num_teams)
        run_team(teams, l2k_thread_index(), share, job);
    }
    if (teams->context->run)
        teams->context->run->teams = 1;
    gather_choices(teams);
    return l2k_first_status(&teams->first);
}

l2k_status l2k_team_new_plan(const l2k_team *team, const l2k_plan_spec *spec, l2k_plan **plan)
{
    L2K_TRY(l2k_plan_create(&team->context, team->backend, spec, plan));
    if (team->backend == L2K_BACKEND_AUTO && l2k_plan_stream(*plan))
        l2k_plan_use(*plan, &team->quiet);
    return L2K_OK;
}

/* Makes a plan on a device if there is room for it beside the spare ones. Otherwise these go, since for want of room
 * AUTO would turn to the CPU for all tiles to come. */
static bool has_room(const l2k_team *team, const l2k_plan_spec *spec, l2k_tile_slot *slot)
{
    if (spec->cpu_reason || !l2k_backend_overlaps(&team->context, team->backend, l2k_plan_samples(spec)) ||
        !has_spares(team))
        return false;
    if (l2k_plan_create(&team->quiet, L2K_BACKEND_CUDA, spec, &slot->plan) != L2K_OK) {
        drop_spares(team);
        return false;
    }
    l2k_plan_use(slot->plan, context_of_plan(team));
    return true;
}

l2k_status l2k_team_plan(const l2k_team *team, l2k_tile_slot *slot, const l2k_plan_spec *spec)
{
    if ((slot->plan && l2k_plan_fits(slot->plan, spec)) || take_spare(team, slot, spec))
        return L2K_OK;
    if (team->num_slots > 1)
        set_aside(team, slot);
    else
        drop_plan(slot); /* of another image */
    if (has_room(team, spec, slot))
        return L2K_OK;
    return l2k_team_new_plan(team, spec, &slot->plan);
}

l2k_status l2k_team_device_coder(l2k_team *team, const l2k_block_coder_table *on_device, l2k_block_coder **coder)
{
    if (team->device_coder && team->device_coder->table != on_device) {
        l2k_block_coder_free(team->device_coder);
        team->device_coder = NULL;
    }
    if (!team->device_coder)
        L2K_TRY(l2k_block_coder_create(context_of_plan(team), on_device, &team->device_coder));
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
    drop_spares(team);
    return true;
}
