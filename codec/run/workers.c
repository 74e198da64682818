/* Worker groups of threads and the order in which tiles pass through them. */
#include "codec/run/workers.h"

#include "base/integer.h"
#include "base/memory.h"
#include "base/run.h"

/* One thread takes a tile up to this size, as splitting its rows costs more than it gains. The limit on samples assumes
 * three components: a tile of more could keep one thread busy long after the others. */
#define SMALL_TILE_AREA    ((uint64_t)1 << 21)
#define SMALL_TILE_SAMPLES (3 * SMALL_TILE_AREA)

/* An upper bound, as components may be sub-sampled. */
static uint64_t samples_of_tile(const l2k_siz *siz)
{
    uint64_t area = (uint64_t)siz->grid.tile_width * siz->grid.tile_height, n = siz->num_components;
    return area <= UINT64_MAX / n ? area * n : UINT64_MAX;
}

bool l2k_workers_by_tile(const l2k_context *context, const l2k_siz *siz, uint32_t num_tiles)
{
    uint64_t area = (uint64_t)siz->grid.tile_width * siz->grid.tile_height;
    bool small = area <= SMALL_TILE_AREA && samples_of_tile(siz) <= SMALL_TILE_SAMPLES;
    return small && num_tiles >= 2 * context->threads;
}

static l2k_status create_groups(l2k_workers *workers)
{
    const l2k_context *context = workers->kind.context;
    const unsigned slots = workers->num_slots / workers->num_groups;
    workers->groups = l2k_allocate_zeroed(context, workers->num_groups, sizeof *workers->groups);
    L2K_TRY(l2k_check_memory(context, workers->groups, "%u threads", workers->num_groups));
    L2K_TRY(l2k_plan_cache_create(context, slots > 1 ? workers->num_slots * L2K_CACHED_OF_SLOT : 0, &workers->plans));
    for (unsigned i = 0; i < workers->num_groups; i++) {
        l2k_worker_group *group = &workers->groups[i];
        group->num_slots = slots;
        for (unsigned k = 0; k < slots; k++)
            group->slots[k].number = i * slots + k;
        L2K_TRY(l2k_engine_create(&workers->kind, i, workers->num_groups, &workers->plans, &group->engine));
    }
    return L2K_OK;
}

static void drop_plan(l2k_engine_slot *slot)
{
    l2k_plan_free(slot->plan);
    slot->plan = NULL;
}

/* Frees all plans, none of which may be needed any more. */
static void drop_plans(l2k_workers *workers)
{
    for (unsigned i = 0; workers->groups && i < workers->num_groups; i++) {
        l2k_worker_group *group = &workers->groups[i];
        const int before = l2k_engine_enter(&group->engine.context);
        for (unsigned k = 0; k < group->num_slots; k++)
            drop_plan(&group->slots[k]);
        l2k_engine_leave(before);
    }
    if (workers->plans.plans)
        l2k_plan_cache_clear(workers->kind.context, &workers->plans);
}

/* ---- Preparation --------------------------------------------------------------------------------------------- */

/* Reuses the worker groups of the last run; the number of images in flight only affects the use of processors. */
static void take_again(const l2k_context *context, l2k_workers *workers)
{
    workers->keep_plans = true;
    for (unsigned i = 0; i < workers->num_groups; i++) {
        l2k_engine *engine = &workers->groups[i].engine;
        engine->context.in_flight = engine->quiet.in_flight = context->in_flight;
    }
    l2k_plan_cache_age(context, &workers->plans);
}

/* On each processor off the host. More only wait for each other in its driver (measured with two H200, tiles of 1024 x
 * 1024 and 32 threads), and each takes memory there. */
enum { MOST_GROUPS_OF_PROCESSOR = 8 };

static unsigned number_of_groups(const l2k_workers *workers, const l2k_siz *siz, uint32_t num_tiles)
{
    const l2k_context *context = workers->kind.context;
    const unsigned processors = workers->kind.spread ? l2k_engine_count(context) : 1;
    const unsigned most = processors * MOST_GROUPS_OF_PROCESSOR, some = workers->by_tile ? context->threads : 1;
    if ((some >= processors && some <= most) ||
        !l2k_backend_overlaps(context, workers->kind.backend, samples_of_tile(siz)))
        return some;
    return some > most ? most : l2k_min_u32(processors, num_tiles);
}

l2k_status l2k_workers_prepare(const l2k_context *context, l2k_backend backend, const l2k_block_coder_table *coders,
                               const l2k_siz *siz, uint32_t num_tiles, bool by_tile, bool spread, l2k_workers *workers)
{
    l2k_workers wanted = {
        .kind = l2k_engine_kind_of(context, backend, coders, spread), .by_tile = by_tile, .keep_plans = true};
    wanted.num_groups = number_of_groups(&wanted, siz, num_tiles);
    wanted.num_slots = wanted.num_groups;
    if (num_tiles > 1 && l2k_backend_overlaps(context, backend, samples_of_tile(siz))) /* perhaps not all tiles do */
        wanted.num_slots *= L2K_SLOTS_OF_GROUP;
    if (workers->groups && l2k_engine_same_kind(&workers->kind, &wanted.kind) &&
        workers->num_groups == wanted.num_groups && workers->num_slots == wanted.num_slots &&
        workers->by_tile == wanted.by_tile) {
        take_again(context, workers);
        return L2K_OK;
    }
    l2k_workers_release(workers);
    *workers = wanted;
    l2k_status status = create_groups(workers);
    if (status != L2K_OK)
        l2k_workers_release(workers);
    return status;
}

void l2k_workers_release(l2k_workers *workers)
{
    const l2k_context *context = workers->kind.context;
    for (unsigned i = 0; workers->groups && i < workers->num_groups; i++)
        l2k_engine_release(&workers->groups[i].engine);
    drop_plans(workers);
    if (workers->plans.plans)
        l2k_plan_cache_release(context, &workers->plans);
    if (context)
        l2k_release(context, workers->groups);
    *workers = (l2k_workers){0};
}

void l2k_workers_forget(l2k_workers *workers)
{
    for (unsigned i = 0; workers->groups && i < workers->num_groups; i++)
        l2k_engine_forget(&workers->groups[i].engine);
}

/* ---- A run --------------------------------------------------------------------------------------------------- */

/* The tiles left to a worker group whose processor has failed are faster on other groups' processors than on the
 * CPU. */
static bool others_do_it(const l2k_workers *workers, const l2k_worker_group *group)
{
    bool others = false;
    if (!l2k_engine_has_failed(&group->engine))
        return false;
    for (unsigned i = 0; i < workers->num_groups && !others; i++)
        others = !l2k_engine_has_failed(&workers->groups[i].engine);
    return others;
}

/* Tiles are taken in rising order: none taken after a failure can precede it. */
static bool begin_another(l2k_workers *workers, l2k_worker_group *group, l2k_job *job)
{
    group->exhausted |= others_do_it(workers, group);
    if (group->exhausted || group->begun - group->ended == group->num_slots)
        return false;
    group->exhausted = l2k_first_status(&workers->first) != L2K_OK;
    uint32_t tile = group->exhausted ? 0 : (uint32_t)atomic_fetch_add(&workers->next, 1);
    group->exhausted |= tile >= workers->count;
    if (group->exhausted)
        return false;
    unsigned k = group->begun % group->num_slots;
    group->tiles[k] = tile;
    *job = (l2k_job){tile, &group->slots[k]};
    return true;
}

/* Tiles that began before a failed one are still ended: one of them may fail, too, and then comes first. */
static bool end_another(l2k_workers *workers, l2k_worker_group *group, l2k_job *job)
{
    unsigned k = group->ended % group->num_slots;
    *job = (l2k_job){group->tiles[k], &group->slots[k]};
    return group->ended != group->begun && !l2k_failed_before(&workers->first, job->tile);
}

static bool do_job(l2k_workers *workers, l2k_worker_group *group, l2k_tile_work *work, void *call, const l2k_job *job)
{
    const bool succeeded = l2k_record_status(&workers->first, job->tile, work ? work(call, group, job) : L2K_OK);
    group->exhausted |= !succeeded;
    return succeeded;
}

/* Nothing that the worker group began after a tile that fails at its end matters. */
static void work_on(l2k_workers *workers, l2k_worker_group *group, l2k_tile_work *begin, l2k_tile_work *end, void *call)
{
    l2k_job job;
    for (;;)
        if (begin_another(workers, group, &job)) {
            group->begun += do_job(workers, group, begin, call, &job);
        } else if (end_another(workers, group, &job)) {
            if (do_job(workers, group, end, call, &job))
                group->ended++;
            else
                group->begun = group->ended;
            if (!workers->keep_plans)
                drop_plan(job.slot);
        } else {
            return;
        }
}

static void run_group(l2k_workers *workers, unsigned thread, l2k_tile_work *begin, l2k_tile_work *end, void *call)
{
    l2k_worker_group *group = &workers->groups[thread];
    group->begun = group->ended = 0;
    group->exhausted = false;
    atomic_fetch_add(&workers->at_work, 1);
    const int before = l2k_engine_enter(&group->engine.context);
    work_on(workers, group, begin, end, call);
    l2k_engine_leave(before);
    atomic_fetch_sub(&workers->at_work, 1);
    if (thread == 0)
        l2k_record_status(&workers->first, workers->count, l2k_await(workers->kind.context, &workers->at_work));
}

/* A single worker group must not run inside a parallel region, even one of a single thread: its own regions would be
 * nested, and OpenMP starts new threads for each nested region. */
l2k_status l2k_workers_run(l2k_workers *workers, uint32_t count, l2k_tile_work *begin, l2k_tile_work *end, void *call)
{
    workers->count = count;
    for (unsigned i = 0; i < workers->num_groups; i++)
        l2k_engine_start(&workers->kind, workers->num_groups, &workers->groups[i].engine);
    atomic_store(&workers->next, 0);
    atomic_store(&workers->first, L2K_NO_FAILURE);
    if (workers->kind.context->run)
        workers->kind.context->run->groups = workers->num_groups;
    if (workers->num_groups == 1) {
        run_group(workers, 0, begin, end, call);
    } else {
#pragma omp parallel num_threads(workers->num_groups)
        run_group(workers, l2k_thread_index(), begin, end, call);
    }
    if (workers->kind.context->run)
        workers->kind.context->run->groups = 1;
    for (unsigned i = 0; i < workers->num_groups; i++)
        l2k_engine_end(&workers->kind, workers->num_groups, &workers->groups[i].engine);
    return l2k_first_status(&workers->first);
}
