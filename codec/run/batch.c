/* The workers of a batch: their threads, the assignment of images to workers, and the hooks of a worker's coder, which
 * call the caller's. */
#define _POSIX_C_SOURCE 200112L /* pthread_sigmask */
#include "codec/run/batch.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/object.h"
#include "codec/engine/engine.h"
#include "transform/device.h"

/* Progress of one image. */
#define UNITS ((uint64_t)1 << 16)

static const l2k_context *context_of(const void *coder)
{
    return coder;
}

static int64_t *options_of(const l2k_batch_kind *kind, void *coder)
{
    return (int64_t *)(void *)((char *)coder + kind->options);
}

static void *item_of(const l2k_batch_workers *workers, size_t number)
{
    return workers->items + number * workers->kind->item_bytes;
}

static l2k_status *status_of(const l2k_batch_workers *workers, size_t number)
{
    return (l2k_status *)(void *)((char *)item_of(workers, number) + workers->kind->status);
}

/* ---- Hooks ----------------------------------------------------------------------------------------------------- */

static void *take_memory(void *user, size_t bytes)
{
    const l2k_batch_worker *worker = user;
    return l2k_hook_allocate(&worker->workers->context->hooks, bytes);
}

static void give_memory(void *user, void *block)
{
    const l2k_batch_worker *worker = user;
    l2k_hook_release(&worker->workers->context->hooks, block);
}

/* Lines of several images arrive mixed, so each begins with the image's number. */
static void pass_message(void *user, l2k_severity severity, const char *text)
{
    l2k_batch_worker *worker = user;
    const l2k_hooks *hooks = &worker->workers->context->hooks;
    char line[256];
    if (worker->silent)
        return;
    snprintf(line, sizeof line, "image %zu: %s", worker->item, text);
    if (severity != L2K_SEVERITY_ERROR || l2k_engine_count(worker->workers->context) < 2)
        hooks->message(hooks->user, severity, line);
    else if (!atomic_exchange(&worker->has_error, true))
        memcpy(worker->error, line, sizeof line);
}

/* Passes on the error of an image on one of several devices, as a note if another device takes the image. */
static void pass_error(l2k_batch_worker *worker, bool again)
{
    const l2k_hooks *hooks = &worker->workers->context->hooks;
    if (atomic_exchange(&worker->has_error, false) && hooks->message)
        hooks->message(hooks->user, again ? L2K_SEVERITY_NOTE : L2K_SEVERITY_ERROR, worker->error);
    if (again)
        l2k_note(worker->workers->context, "image %zu: device %d takes it", worker->item, worker->device);
}

/* Calls the caller's hook only on the caller's thread. */
static bool may_go_on(const l2k_batch_workers *workers)
{
    return l2k_poll(&workers->asking, L2K_POLL_NOW) == L2K_OK;
}

static void advance(l2k_batch_worker *worker, uint64_t units)
{
    if (units > worker->units)
        l2k_run_advance(worker->workers->context, units - worker->units);
    worker->units = units > worker->units ? units : worker->units;
}

static bool pass_progress(void *user, double done)
{
    l2k_batch_worker *worker = user;
    advance(worker, (uint64_t)(done * (double)UNITS));
    return may_go_on(worker->workers);
}

static l2k_hooks hooks_of(l2k_batch_worker *worker)
{
    const l2k_hooks *hooks = &worker->workers->context->hooks;
    return (l2k_hooks){.allocate = take_memory,
                       .release = give_memory,
                       .message = hooks->message ? pass_message : NULL,
                       .progress = hooks->progress ? pass_progress : NULL,
                       .user = worker};
}

/* ---- The work of a worker ---------------------------------------------------------------------------------------- */

static void add_timings(const l2k_batch_workers *workers, const void *coder)
{
    double seconds[L2K_NUM_STAGES];
    if (!l2k_is_timed(workers->context))
        return;
    l2k_run_timings(context_of(coder)->run, seconds);
    for (int stage = 0; stage < L2K_NUM_STAGES; stage++)
        l2k_stage_add(workers->context, (l2k_stage)stage, seconds[stage]);
}

/* Gives a worker's coder the settings of the owner, except that the workers divide threads and devices. */
static bool settle(l2k_batch_worker *worker, unsigned in_flight)
{
    const l2k_batch_kind *kind = worker->workers->kind;
    l2k_context *owner = worker->workers->context;
    int64_t *options = options_of(kind, worker->coder);
    memcpy(options, options_of(kind, owner), kind->num_options * sizeof *options);
    options[kind->threads] = worker->threads;
    options[kind->in_flight] = in_flight;
    options[kind->device] = worker->device;
    options[kind->devices] = 0;
    context_of(worker->coder)->choice->seen = owner->choice->seen;
    return kind->settle(worker->coder, owner) == L2K_OK;
}

/* In a batch on several devices, moves a worker whose device failed to one that has not. Whether the image failed, too,
 * and must be coded again there. */
static bool moves_on(l2k_batch_worker *worker)
{
    l2k_batch_workers *workers = worker->workers;
    const l2k_status status = *status_of(workers, worker->item);
    const bool failed = status == L2K_ERROR_BACKEND || status == L2K_ERROR_MEMORY;
    if (l2k_engine_count(workers->context) < 2 ||
        (!failed && !l2k_choice_has_failed(context_of(worker->coder)->choice))) /* with AUTO, the CPU has coded it */
        return false;
    l2k_context left = *workers->context;
    const uint64_t bit = (uint64_t)1 << worker->device;
    left.devices &= ~(atomic_fetch_or(&workers->failed, bit) | bit);
    if (!left.devices)
        return false;
    worker->device = l2k_device_of_share(&left, worker->number);
    return settle(worker, workers->active) && failed;
}

/* Every worker begins with the image of its own number, so that after the first batch each has the memory that such an
 * image takes; free workers take the rest. */
static void work(l2k_batch_worker *worker)
{
    l2k_batch_workers *workers = worker->workers;
    worker->silent = false;
    for (size_t i = worker->number; i < workers->count && may_go_on(workers); i = atomic_fetch_add(&workers->next, 1)) {
        worker->item = i;
        worker->units = 0;
        bool again = true;
        while (again) {
            *status_of(workers, i) = workers->kind->code(worker->coder, item_of(workers, i));
            add_timings(workers, worker->coder);
            again = moves_on(worker) && may_go_on(workers);
            pass_error(worker, again);
        }
        advance(worker, UNITS);
    }
    atomic_fetch_sub(&workers->at_work, 1);
}

static void *serve(void *opaque)
{
    l2k_batch_worker *worker = opaque;
    const int before = l2k_engine_enter(&worker->workers->asking);
    work(worker);
    l2k_engine_leave(before);
    return NULL;
}

/* ---- Workers come and go ----------------------------------------------------------------------------------------- */

/* If a worker cannot be made, the batch has those before it. */
static void take_workers(l2k_batch_workers *workers, unsigned wanted)
{
    for (workers->active = 0; workers->active < wanted; workers->active++) {
        l2k_batch_worker *worker = &workers->list[workers->active];
        const unsigned share = (workers->context->threads + wanted - 1 - workers->active) / wanted;
        worker->workers = workers;
        worker->number = workers->active;
        worker->idle = 0;
        worker->silent = true;
        worker->threads = share ? share : 1;
        worker->device = l2k_device_of_share(workers->context, worker->number);
        const l2k_hooks hooks = hooks_of(worker);
        if (!worker->coder)
            worker->coder = workers->kind->create(&hooks);
        if (!worker->coder || !settle(worker, wanted))
            break;
    }
}

/* Releases the coders of workers that two batches in a row did not need. */
static void rest(l2k_batch_workers *workers)
{
    for (l2k_batch_worker *w = workers->list + workers->active; w < workers->list + L2K_MOST_BATCH_WORKERS; w++) {
        if (++w->idle < 2)
            continue;
        workers->kind->free(w->coder);
        w->coder = NULL;
    }
}

void l2k_batch_workers_release(l2k_batch_workers *workers)
{
    for (unsigned i = 0; workers->list && i < L2K_MOST_BATCH_WORKERS; i++)
        workers->kind->free(workers->list[i].coder);
    if (workers->list)
        l2k_release(workers->context, workers->list);
}

/* ---- A batch ----------------------------------------------------------------------------------------------------- */

/* Samples in flight together, about a gigabyte with all that is allocated for them, and workers, both on a device: with
 * more, they compete for its memory and the bus. */
#define MOST_SAMPLES   ((uint64_t)1 << 27)
#define MOST_ON_DEVICE 8u

/* Counts the samples of all images, for AUTO; returns those of the largest. A batch of HT files and any MQ file counts
 * as MQ. */
static uint64_t count_samples(const l2k_batch_workers *workers)
{
    bool all_ht = true;
    uint64_t all = 0, most = 0;
    for (size_t i = 0; i < workers->count; i++) {
        bool ht = true;
        const uint64_t samples = workers->kind->samples(workers->context, item_of(workers, i), &ht);
        all_ht = all_ht && ht;
        all += samples < UINT64_MAX - all ? samples : 0;
        most = samples > most ? samples : most;
    }
    l2k_choice_start_image(workers->context->choice,
                           options_of(workers->kind, workers->context)[workers->kind->min_samples],
                           workers->kind->decodes, all_ht, all);
    return most;
}

/* `samples`: of the largest image; `wanted`: workers that the caller wants, 0 = as many as help. */
static unsigned number_of_workers(const l2k_batch_workers *workers, uint64_t samples, bool on_device, unsigned wanted)
{
    const unsigned devices = l2k_engine_count(workers->context), threads = workers->context->threads;
    const uint64_t room = devices * MOST_SAMPLES / (samples ? samples : 1);
    uint64_t number = wanted;
    if (!number) {
        number = threads < room ? threads : room;
        number = on_device && number > devices * MOST_ON_DEVICE ? devices * MOST_ON_DEVICE : number;
        number = number > devices ? number : devices;
    }
    number = number < workers->count ? number : workers->count;
    return number < L2K_MOST_BATCH_WORKERS ? (unsigned)number : L2K_MOST_BATCH_WORKERS;
}

/* All workers work, those without a thread on the caller's. Signals are left to the program's own threads. */
static void work_all(l2k_batch_workers *workers)
{
    sigset_t all, before;
    atomic_store(&workers->next, workers->active);
    atomic_store(&workers->at_work, workers->active);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    for (l2k_batch_worker *w = workers->list; w < workers->list + workers->active; w++)
        w->has_thread = w->number > 0 && pthread_create(&w->thread, NULL, serve, w) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    for (unsigned i = 0; i < workers->active; i++)
        if (!workers->list[i].has_thread)
            work(&workers->list[i]);
    l2k_await(&workers->asking, &workers->at_work);
    for (unsigned i = 0; i < workers->active; i++)
        if (workers->list[i].has_thread)
            pthread_join(workers->list[i].thread, NULL);
}

static l2k_status run(l2k_batch_workers *workers)
{
    l2k_context *context = workers->context;
    const l2k_batch_kind *kind = workers->kind;
    const int64_t *options = options_of(kind, context);
    L2K_TRY(l2k_object_check_memory(context, options[kind->memory])); /* for all workers: each has one device */
    const uint64_t samples = count_samples(workers);
    const bool on_device = options[kind->memory] != L2K_MEMORY_HOST ||
                           l2k_backend_overlaps(context, (l2k_backend)options[kind->backend], samples);
    if (!workers->list)
        workers->list = l2k_allocate_zeroed(context, L2K_MOST_BATCH_WORKERS, sizeof *workers->list);
    L2K_TRY(l2k_check_memory(context, workers->list, "a batch of %zu images", workers->count));
    take_workers(workers, number_of_workers(workers, samples, on_device, (unsigned)options[kind->in_flight]));
    L2K_TRY(l2k_check_memory(context, workers->active, "a batch of %zu images", workers->count));
    if (on_device && workers->active > 1 && !workers->asking.devices &&
        l2k_current_device() >= 0) /* that of the caller */
        workers->asking.devices = (uint64_t)1 << l2k_current_device();
    context->run->groups = workers->active;
    work_all(workers);
    context->run->groups = 1;
    rest(workers);
    return L2K_OK;
}

l2k_status l2k_batch_run(l2k_batch_workers *workers, const l2k_batch_kind *kind, void *owner, void *items, size_t count)
{
    const int64_t *options = options_of(kind, owner);
    l2k_context *context = owner;
    if (!items && count)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "no images to %s", kind->decodes ? "decode" : "encode");
    context->threads = l2k_thread_count((unsigned)options[kind->threads]);
    l2k_run_start(context->run, count * UNITS, options[kind->timings]);
    if (!count)
        return L2K_OK;
    workers->context = context;
    workers->kind = kind;
    workers->items = items;
    workers->count = count;
    workers->asking = *context;
    workers->asking.hooks.message = NULL;
    atomic_store(&workers->failed, 0);
    for (size_t i = 0; i < count; i++)
        *status_of(workers, i) = L2K_ERROR_CANCELLED;
    const l2k_status ran = run(workers);
    l2k_status outcome = L2K_OK;
    for (size_t i = 0; i < count; i++) {
        l2k_status *status = status_of(workers, i);
        *status = ran == L2K_OK ? *status : ran;
        if (outcome == L2K_OK || (outcome == L2K_INCOMPLETE && *status != L2K_OK))
            outcome = *status;
    }
    return outcome;
}
