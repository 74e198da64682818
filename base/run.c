/* Progress, cancelling and timings of a call. */
#define _POSIX_C_SOURCE 199309L /* clock_gettime, nanosleep */
#include "base/run.h"

#include <time.h>

/* The least time between calls of the progress hook, which may draw. */
#define SECONDS_BETWEEN_CALLS 0.02

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void l2k_run_start(l2k_run *run, uint64_t total, bool timed)
{
    *run = (l2k_run){.timed = timed, .groups = 1};
    l2k_run_restart(run, total);
}

void l2k_run_restart(l2k_run *run, uint64_t total)
{
    atomic_store(&run->cancelled, false);
    atomic_store(&run->done, 0);
    run->total = total;
    run->reported = run->reported_at = 0;
    l2k_run_enter(run);
}

void l2k_run_enter(l2k_run *run)
{
    run->caller = pthread_self();
}

void l2k_run_advance(const l2k_context *context, uint64_t units)
{
    if (context->run)
        atomic_fetch_add_explicit(&context->run->done, units, memory_order_relaxed);
}

/* The fraction done. It never falls, although totals may be estimates. */
static double part_done(l2k_run *run)
{
    double part = run->total ? (double)atomic_load(&run->done) / (double)run->total : 0;
    part = part < 1 ? part : 1;
    return run->reported = part > run->reported ? part : run->reported;
}

static l2k_status cancelled(const l2k_context *context)
{
    return l2k_fail(context, L2K_ERROR_CANCELLED, "cancelled");
}

/* Calls the progress hook unless it was called just before. */
static l2k_status ask(const l2k_context *context)
{
    l2k_run *run = context->run;
    double time = now();
    run->weight = 0;
    if (time - run->reported_at < SECONDS_BETWEEN_CALLS)
        return L2K_OK;
    run->reported_at = time;
    if (context->hooks.progress(context->hooks.user, part_done(run)))
        return L2K_OK;
    atomic_store(&run->cancelled, true);
    return cancelled(context);
}

l2k_status l2k_poll(const l2k_context *context, uint64_t weight)
{
    l2k_run *run = context->run;
    if (!run)
        return L2K_OK;
    if (atomic_load_explicit(&run->cancelled, memory_order_relaxed))
        return cancelled(context);
    if (!context->hooks.progress || !pthread_equal(run->caller, pthread_self()))
        return L2K_OK;
    run->weight += weight;
    return run->weight < L2K_POLL_NOW ? L2K_OK : ask(context);
}

l2k_status l2k_await(const l2k_context *context, atomic_uint *at_work)
{
    /* The fraction of the time waited so far by which a wait may be too long, and the longest nap in nanoseconds. */
    enum { PART_OF_WAIT = 8, LONGEST_NAP = 5000000 };
    for (long nap = 20000; context->hooks.progress && atomic_load(at_work) > 0; nap += nap / PART_OF_WAIT) {
        L2K_TRY(l2k_poll(context, L2K_POLL_NOW));
        nanosleep(&(struct timespec){.tv_nsec = nap < LONGEST_NAP ? nap : LONGEST_NAP}, NULL);
    }
    return L2K_OK;
}

bool l2k_is_timed(const l2k_context *context)
{
    return context->run && context->run->timed;
}

double l2k_stage_start(const l2k_context *context)
{
    return l2k_is_timed(context) ? now() : 0;
}

void l2k_stage_end(const l2k_context *context, l2k_stage stage, double start)
{
    if (l2k_is_timed(context))
        l2k_stage_add(context, stage, now() - start);
}

void l2k_stage_add(const l2k_context *context, l2k_stage stage, double seconds)
{
    l2k_run *run = context->run;
    if (l2k_is_timed(context))
        atomic_fetch_add(&run->nanoseconds[stage], (uint64_t)(seconds * 1e9 / run->groups));
}

void l2k_run_timings(const l2k_run *run, double seconds[L2K_NUM_STAGES])
{
    for (int stage = 0; stage < L2K_NUM_STAGES; stage++)
        seconds[stage] = 1e-9 * (double)atomic_load(&run->nanoseconds[stage]);
}
