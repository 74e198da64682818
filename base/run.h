/* One call on an object, seen from the threads that work on it: its progress, whether it was cancelled, and the time of
 * each stage. */
#ifndef L2K_BASE_RUN_H
#define L2K_BASE_RUN_H

#include "base/context.h"

#ifndef __cplusplus /* C++ has other atomics */

#include <pthread.h>
#include <stdatomic.h>

typedef struct l2k_run {
    pthread_t caller; /* the thread that called the library; only it calls the progress hook */
    atomic_bool cancelled;
    atomic_uint_least64_t done; /* out of `total`, in units of the caller's choice */
    uint64_t total;
    uint64_t weight;              /* weight since the clock was last read; used by the calling thread only */
    double reported, reported_at; /* the value last given to the progress hook, and its time; used by the calling
                                     thread only */
    bool timed;
    unsigned groups; /* groups that run at once: the time of each counts for its share */
    atomic_uint_least64_t nanoseconds[L2K_NUM_STAGES];
} l2k_run;

/* Starts on a new image of `total` units of work. */
void l2k_run_start(l2k_run *run, uint64_t total, bool timed);

/* Also starts on a new image, but timings accumulate. */
void l2k_run_restart(l2k_run *run, uint64_t total);

/* Call at the start of every further call on the same image, which may come from another thread. */
void l2k_run_enter(l2k_run *run);

/* The calling thread polls, and goes on when no other is at work any more or the progress hook asks to stop: others
 * call no hook. Without a hook, returns at once. */
l2k_status l2k_await(const l2k_context *context, atomic_uint *at_work);

/* The seconds spent in each stage so far. */
void l2k_run_timings(const l2k_run *run, double seconds[L2K_NUM_STAGES]);

#endif

/* Adds to the units done. */
void l2k_run_advance(const l2k_context *context, uint64_t units);

/* Asks whether to continue: L2K_OK, or L2K_ERROR_CANCELLED once the progress hook has said no. Called per code-block,
 * per packet, per row or stripe of the transform. `weight` is the work since the last call, in samples or units that
 * take as long, about a nanosecond. The progress hook runs on the calling thread only, and no more often than every 20
 * ms. */
l2k_status l2k_poll(const l2k_context *context, uint64_t weight);

/* A weight that makes l2k_poll read the clock at once; reading it costs about as much as 30 samples. */
#define L2K_POLL_NOW ((uint64_t)1 << 14)

/* Whether timings are wanted; if not, the functions below do nothing. */
bool l2k_is_timed(const l2k_context *context);

/* Time a stage: start returns the present time, end adds the time since then. */
double l2k_stage_start(const l2k_context *context);
void l2k_stage_end(const l2k_context *context, l2k_stage stage, double start);

/* Adds a time measured elsewhere. */
void l2k_stage_add(const l2k_context *context, l2k_stage stage, double seconds);

#endif
