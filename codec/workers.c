#include "codec/workers.h"

/* A tile smaller than this is done by one thread: splitting its rows costs more than it gains. */
#define SMALL_TILE_SAMPLES ((uint64_t)1 << 21)

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

l2k_status l2k_workers_create(const l2k_context *context, uint32_t num_tiles, uint64_t samples_of_a_tile,
                              l2k_workers *workers)
{
    bool by_tile = num_tiles >= 2 * context->threads && samples_of_a_tile <= SMALL_TILE_SAMPLES;
    *workers = (l2k_workers){.context = context, .num_teams = by_tile ? context->threads : 1};
    workers->teams = l2k_allocate_zeroed(context, workers->num_teams, sizeof *workers->teams);
    l2k_status status = L2K_OK;
    if (!workers->teams)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for %u threads", workers->num_teams);
    for (unsigned i = 0; i < workers->num_teams && status == L2K_OK; i++) {
        workers->teams[i].first_thread = i;
        status = create_team(context, by_tile ? 1 : context->threads, &workers->teams[i]);
    }
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
        l2k_plan_free(team->plan);
    }
    l2k_release(workers->context, workers->teams);
    workers->teams = NULL;
}

l2k_status l2k_workers_run(l2k_workers *workers, uint32_t count, l2k_tile_work work, void *job)
{
    l2k_status first = L2K_OK;
    (void)workers->num_teams;
#pragma omp parallel for schedule(dynamic) num_threads(workers->num_teams) if (workers->num_teams > 1)
    for (uint32_t i = 0; i < count; i++) {
        l2k_status seen;
#pragma omp atomic read
        seen = first;
        if (seen != L2K_OK)
            continue;
        l2k_team *team = &workers->teams[workers->num_teams > 1 ? l2k_thread_index() : 0];
        l2k_status status = work(job, team, i);
        if (status != L2K_OK) {
#pragma omp atomic write
            first = status;
        }
    }
    return first;
}

l2k_status l2k_team_plan(l2k_team *team, l2k_backend backend, const l2k_plan_spec *spec)
{
    if (team->plan && l2k_plan_fits(team->plan, spec))
        return L2K_OK;
    l2k_plan_free(team->plan);
    team->plan = NULL;
    return l2k_plan_create(&team->context, backend, spec, &team->plan);
}

l2k_status l2k_team_run(l2k_team *team, size_t count, l2k_block_work work, void *job)
{
    l2k_status first = L2K_OK;
#pragma omp parallel for schedule(dynamic) num_threads(team->context.threads) if (team->context.threads > 1)
    for (size_t i = 0; i < count; i++) {
        l2k_status seen;
#pragma omp atomic read
        seen = first;
        if (seen != L2K_OK)
            continue;
        unsigned thread = team->context.threads > 1 ? l2k_thread_index() : 0;
        l2k_status status = work(job, team->coders[thread], team->first_thread + thread, i);
        if (status != L2K_OK) {
#pragma omp atomic write
            first = status;
        }
    }
    return first;
}
