#define _POSIX_C_SOURCE 199309L /* nanosleep */
#include "codec/workers.h"

#include <stdatomic.h>
#include <time.h>

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

static bool is_small(const l2k_siz *siz)
{
    uint64_t area = (uint64_t)siz->grid.tile_width * siz->grid.tile_height;
    return area <= SMALL_TILE_AREA && samples_of_tile(siz) <= SMALL_TILE_SAMPLES;
}

static l2k_status create_team(const l2k_context *context, unsigned threads, l2k_team *team)
{
    team->context = *context;
    team->context.threads = threads;
    team->coders = l2k_allocate_zeroed(context, threads, sizeof *team->coders);
    if (!team->coders)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for %u threads", threads);
    for (unsigned i = 0; i < threads; i++)
        L2K_TRY(l2k_t1_create(context, &team->coders[i]));
    return L2K_OK;
}

/* Two where the plan of one tile may have work under way; some tiles may turn out smaller than they all could be. */
static unsigned slots_of_team(const l2k_context *context, l2k_backend backend, const l2k_siz *siz, uint32_t num_tiles)
{
    bool overlaps = num_tiles > 1 && l2k_backend_overlaps(context, backend, samples_of_tile(siz));
    return overlaps ? L2K_SLOTS_OF_TEAM : 1;
}

static l2k_status create_teams(const l2k_context *context, bool by_tile, l2k_workers *workers)
{
    unsigned slots = workers->num_slots / workers->num_teams;
    workers->teams = l2k_allocate_zeroed(context, workers->num_teams, sizeof *workers->teams);
    if (!workers->teams)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for %u threads", workers->num_teams);
    for (unsigned i = 0; i < workers->num_teams; i++) {
        l2k_team *team = &workers->teams[i];
        *team = (l2k_team){.backend = workers->backend, .num_slots = slots, .first_thread = i};
        for (unsigned k = 0; k < slots; k++)
            team->slots[k].number = i * slots + k;
        L2K_TRY(create_team(context, by_tile ? 1 : context->threads, team));
    }
    return L2K_OK;
}

static bool same_workers(const l2k_workers *a, const l2k_workers *b)
{
    return a->teams && a->threads == b->threads && a->backend == b->backend &&
           a->gpu_min_samples == b->gpu_min_samples && a->num_teams == b->num_teams && a->num_slots == b->num_slots;
}

l2k_status l2k_workers_prepare(const l2k_context *context, l2k_backend backend, const l2k_siz *siz, uint32_t num_tiles,
                               l2k_workers *workers)
{
    bool by_tile = num_tiles >= 2 * context->threads && is_small(siz);
    l2k_workers wanted = {.context = context,
                          .threads = context->threads,
                          .backend = backend,
                          .gpu_min_samples = context->choice ? context->choice->gpu_min_samples : L2K_GPU_MIN_SAMPLES,
                          .num_teams = by_tile ? context->threads : 1};
    wanted.num_slots = wanted.num_teams * slots_of_team(context, backend, siz, num_tiles);
    if (same_workers(workers, &wanted))
        return L2K_OK;
    l2k_workers_release(workers);
    *workers = wanted;
    l2k_status status = create_teams(context, by_tile, workers);
    if (status != L2K_OK)
        l2k_workers_release(workers);
    return status;
}

void l2k_workers_release(l2k_workers *workers)
{
    for (unsigned i = 0; workers->teams && i < workers->num_teams; i++) {
        l2k_team *team = &workers->teams[i];
        for (unsigned t = 0; team->coders && t < team->context.threads; t++)
            l2k_t1_free(team->coders[t]);
        l2k_release(workers->context, team->coders);
        for (unsigned k = 0; k < team->num_slots; k++)
            l2k_plan_free(team->slots[k].plan);
    }
    if (workers->teams)
        l2k_release(workers->context, workers->teams);
    *workers = (l2k_workers){0};
}

/* ---- Failures ------------------------------------------------------------------------------------------------ */

/* Of all failures that of the lowest index counts, whichever thread is first: index and status in one word, so that it
 * is settled in one step. Every index is a number below 2^32 - 1; code-blocks beyond, if ever, share one. */
typedef atomic_uint_least64_t first_failure;

#define NO_FAILURE UINT64_MAX

static uint64_t rank_of(uint64_t index)
{
    return index < UINT32_MAX - 1 ? index : UINT32_MAX - 1;
}

static bool note(first_failure *first, uint64_t index, l2k_status status)
{
    uint_least64_t own = rank_of(index) << 32 | (uint32_t)status, seen = atomic_load(first);
    while (status != L2K_OK && own < seen && !atomic_compare_exchange_weak(first, &seen, own)) {
    }
    return status == L2K_OK;
}

/* Then what becomes of this index does not matter. */
static bool failed_before(const first_failure *first, uint64_t index)
{
    return atomic_load(first) >> 32 < rank_of(index);
}

static l2k_status status_of(const first_failure *first)
{
    uint64_t seen = atomic_load(first);
    return seen == NO_FAILURE ? L2K_OK : (l2k_status)(uint32_t)seen;
}

/* ---- Tiles --------------------------------------------------------------------------------------------------- */

#define NO_TILE UINT32_MAX

typedef struct tile_run {
    const l2k_context *context;
    const l2k_tile_work *work;
    void *job;
    uint32_t count;
    atomic_uint_least32_t next;
    atomic_uint at_work; /* teams */
    first_failure first;
} tile_run;

/* Tiles are taken in rising order: none that is taken after a failure could fail before it. */
static uint32_t take_tile(tile_run *run)
{
    if (status_of(&run->first) != L2K_OK)
        return NO_TILE;
    uint32_t index = atomic_fetch_add(&run->next, 1);
    return index < run->count ? index : NO_TILE;
}

/* A team's share: as many tiles in hand as it has slots, ended in the order in which they were begun. Where a tile
 * fails, those before it are ended all the same: one of them may fail, too, and is then the first. */
static void run_team(tile_run *run, l2k_team *team)
{
    uint32_t tiles[L2K_SLOTS_OF_TEAM], begun = 0, ended = 0;
    for (bool more = true;; ended++) {
        while (more && begun - ended < team->num_slots) {
            unsigned k = begun % team->num_slots;
            uint32_t tile = tiles[k] = take_tile(run);
            more = tile != NO_TILE && note(&run->first, tile, run->work->begin(run->job, team, &team->slots[k], tile));
            begun += more;
        }
        unsigned k = ended % team->num_slots;
        uint32_t tile = tiles[k];
        if (ended == begun || failed_before(&run->first, tile) ||
            !note(&run->first, tile, run->work->end(run->job, team, &team->slots[k], tile)))
            return;
    }
}

/* Of the time waited, by which a wait may be too long, and the most that it may be. */
enum { PART_OF_WAIT = 8, LONGEST_NAP = 5000000 };

/* The caller alone asks the progress hook: it goes on asking when it has run out of tiles and others have not. The
 * others see that it was told to stop. */
static void await_others(tile_run *run)
{
    long nap = 20000;
    while (atomic_load(&run->at_work) > 0 && note(&run->first, run->count, l2k_check_run(run->context))) {
        nanosleep(&(struct timespec){.tv_nsec = nap}, NULL);
        nap += nap / PART_OF_WAIT;
        nap = nap < LONGEST_NAP ? nap : LONGEST_NAP;
    }
}

/* What a thread does: its team's share, and the calling thread, number 0, then looks after the others. One that comes
 * late, and was not counted, finds no tile that is left. */
static void take_part(tile_run *run, l2k_team *team, unsigned thread)
{
    atomic_fetch_add(&run->at_work, 1);
    run_team(run, team);
    atomic_fetch_sub(&run->at_work, 1);
    if (thread == 0 && run->context->hooks.progress)
        await_others(run);
}

/* A region of OpenMP, even one of a single thread, makes those within it nested ones, for which threads are started
 * each time: one team alone must not have any around it. */
static void run_teams(tile_run *run, l2k_workers *workers)
{
#pragma omp parallel num_threads(workers->num_teams)
    {
        unsigned thread = l2k_thread_index();
        take_part(run, &workers->teams[thread], thread);
    }
}

l2k_status l2k_workers_run(l2k_workers *workers, uint32_t count, const l2k_tile_work *work, void *job)
{
    tile_run run = {.context = workers->context, .work = work, .job = job, .count = count, .first = NO_FAILURE};
    unsigned teams = workers->num_teams;
    if (workers->context->run)
        workers->context->run->teams = teams;
    if (teams == 1)
        take_part(&run, &workers->teams[0], 0);
    else
        run_teams(&run, workers);
    if (workers->context->run)
        workers->context->run->teams = 1;
    return status_of(&run.first);
}

/* ---- One tile ------------------------------------------------------------------------------------------------ */

l2k_status l2k_team_plan(const l2k_team *team, l2k_tile_slot *slot, const l2k_plan_spec *spec)
{
    if (slot->plan && l2k_plan_fits(slot->plan, spec))
        return L2K_OK;
    l2k_plan_free(slot->plan);
    slot->plan = NULL;
    return l2k_plan_create(&team->context, team->backend, spec, &slot->plan);
}

static l2k_status do_block(l2k_team *team, l2k_block_work work, void *job, size_t index, unsigned thread)
{
    L2K_TRY(l2k_check_run(&team->context));
    return work(job, team->coders[thread], team->first_thread + thread, index);
}

l2k_status l2k_team_run(l2k_team *team, size_t count, l2k_block_work work, void *job)
{
    first_failure first = NO_FAILURE;
    const unsigned threads = count > 1 ? team->context.threads : 1;
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1)
    for (size_t i = 0; i < count; i++)
        if (!failed_before(&first, i))
            note(&first, i, do_block(team, work, job, i, threads > 1 ? l2k_thread_index() : 0));
    return status_of(&first);
}
