/* The lanes of a batch: their threads, which lane takes which image, and what passes between an image at work and the
 * caller's hooks. */
#define _POSIX_C_SOURCE 200112L /* pthread_sigmask */
#include "codec/run/batch.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "transform/device.h"

/* Progress of one image. */
#define UNITS ((uint64_t)1 << 16)

uint64_t l2k_batch_units(size_t count)
{
    return count * UNITS;
}

/* ---- Hooks ----------------------------------------------------------------------------------------------------- */

static void *take_memory(void *user, size_t bytes)
{
    const l2k_lane *lane = user;
    return l2k_hook_allocate(&lane->lanes->context->hooks, bytes);
}

static void give_memory(void *user, void *block)
{
    const l2k_lane *lane = user;
    l2k_hook_release(&lane->lanes->context->hooks, block);
}

/* Lines of several images arrive mixed, so each says which image it is about. */
static void pass_message(void *user, l2k_severity severity, const char *text)
{
    l2k_lane *lane = user;
    const l2k_hooks *hooks = &lane->lanes->context->hooks;
    char line[256];
    if (lane->silent)
        return;
    snprintf(line, sizeof line, "image %zu: %s", lane->item, text);
    if (severity != L2K_SEVERITY_ERROR || l2k_device_count(lane->lanes->context) < 2)
        hooks->message(hooks->user, severity, line);
    else if (!atomic_exchange(&lane->has_error, true))
        memcpy(lane->error, line, sizeof line);
}

/* What an image on one of several devices has said, once it is known whether another one takes it. */
static void pass_error(l2k_lane *lane, bool again)
{
    const l2k_hooks *hooks = &lane->lanes->context->hooks;
    if (atomic_exchange(&lane->has_error, false) && hooks->message)
        hooks->message(hooks->user, again ? L2K_SEVERITY_NOTE : L2K_SEVERITY_ERROR, lane->error);
    if (again)
        l2k_note(lane->lanes->context, "image %zu: device %d takes it", lane->item, lane->device);
}

/* Only on the caller's thread does this call the caller's hook. */
static bool may_go_on(const l2k_lanes *lanes)
{
    return l2k_poll(&lanes->asking, L2K_POLL_NOW) == L2K_OK;
}

static void advance(l2k_lane *lane, uint64_t units)
{
    if (units > lane->units)
        l2k_run_advance(lane->lanes->context, units - lane->units);
    lane->units = units > lane->units ? units : lane->units;
}

static bool pass_progress(void *user, double done)
{
    l2k_lane *lane = user;
    advance(lane, (uint64_t)(done * (double)UNITS));
    return may_go_on(lane->lanes);
}

static l2k_hooks hooks_of(l2k_lane *lane)
{
    const l2k_hooks *hooks = &lane->lanes->context->hooks;
    return (l2k_hooks){.allocate = take_memory,
                       .release = give_memory,
                       .message = hooks->message ? pass_message : NULL,
                       .progress = hooks->progress ? pass_progress : NULL,
                       .user = lane};
}

/* ---- The work of a lane ------------------------------------------------------------------------------------------ */

static void add_timings(const l2k_lanes *lanes, const void *coder)
{
    double seconds[L2K_NUM_STAGES];
    if (!l2k_is_timed(lanes->context))
        return;
    lanes->kind->timings(coder, seconds);
    for (int stage = 0; stage < L2K_NUM_STAGES; stage++)
        l2k_stage_add(lanes->context, (l2k_stage)stage, seconds[stage]);
}

/* A lane whose device failed goes to one that has not, if the batch is on several. Whether the image, which failed with
 * it, is to be done again there. */
static bool moves_on(l2k_lane *lane)
{
    l2k_lanes *lanes = lane->lanes;
    bool failed = false;
    if (l2k_device_count(lanes->context) < 2 ||
        !lanes->kind->lost_device(lane->coder, lanes->items, lane->item, &failed))
        return false;
    l2k_context left = *lanes->context;
    const uint64_t bit = (uint64_t)1 << lane->device;
    left.devices &= ~(atomic_fetch_or(&lanes->failed, bit) | bit);
    if (!left.devices)
        return false;
    lane->device = l2k_device_of_share(&left, lane->number);
    return lanes->kind->settle(lane->coder, lanes->owner, lane->threads, lanes->active, lane->device) == L2K_OK &&
           failed;
}

/* Every lane begins with the image of its own number, so that in the first batch already each has what an image of that
 * shape takes; the rest go to whoever is free. */
static void work(l2k_lane *lane)
{
    l2k_lanes *lanes = lane->lanes;
    lane->silent = false;
    for (size_t i = lane->number; i < lanes->count && may_go_on(lanes); i = atomic_fetch_add(&lanes->next, 1)) {
        lane->item = i;
        lane->units = 0;
        bool again = true;
        while (again) {
            lanes->kind->code(lane->coder, lanes->items, i);
            add_timings(lanes, lane->coder);
            again = moves_on(lane) && may_go_on(lanes);
            pass_error(lane, again);
        }
        advance(lane, UNITS);
    }
}

static bool await_batch(l2k_lane *lane)
{
    l2k_lanes *lanes = lane->lanes;
    while (!lane->wanted && !lanes->closing)
        pthread_cond_wait(&lanes->begins, &lanes->lock);
    return lane->wanted;
}

static void *serve(void *opaque)
{
    l2k_lane *lane = opaque;
    l2k_lanes *lanes = lane->lanes;
    pthread_mutex_lock(&lanes->lock);
    while (await_batch(lane)) {
        lane->wanted = false;
        pthread_mutex_unlock(&lanes->lock);
        const int before = l2k_device_enter(&lanes->asking);
        work(lane);
        l2k_device_leave(before);
        pthread_mutex_lock(&lanes->lock);
        if (--lanes->at_work == 0)
            pthread_cond_signal(&lanes->ended);
    }
    pthread_mutex_unlock(&lanes->lock);
    return NULL;
}

/* ---- Lanes come and go ------------------------------------------------------------------------------------------- */

/* Signals are the business of the program's own threads. */
static bool start_thread(l2k_lane *lane)
{
    sigset_t all, before;
    if (lane->has_thread)
        return true;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    lane->has_thread = pthread_create(&lane->thread, NULL, serve, lane) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return lane->has_thread;
}

static l2k_lane *add_lane(l2k_lanes *lanes)
{
    l2k_lane *lane = l2k_allocate_zeroed(lanes->context, 1, sizeof *lane);
    if (!lane)
        return NULL;
    lane->lanes = lanes;
    lane->number = lanes->num_lanes;
    return lanes->lanes[lanes->num_lanes++] = lane;
}

/* Whether the lane of that number can take part: the first needs no thread. */
static bool equip(l2k_lanes *lanes, unsigned number, unsigned threads, unsigned in_flight)
{
    l2k_lane *lane = number < lanes->num_lanes ? lanes->lanes[number] : add_lane(lanes);
    if (!lane || (number && !start_thread(lane)))
        return false;
    const l2k_hooks hooks = hooks_of(lane);
    if (!lane->coder)
        lane->coder = lanes->kind->create(&hooks);
    lane->idle = 0;
    lane->silent = true;
    lane->threads = threads;
    lane->device = l2k_device_of_share(lanes->context, number);
    return lane->coder && lanes->kind->settle(lane->coder, lanes->owner, threads, in_flight, lane->device) == L2K_OK;
}

/* What lanes hold that two batches in a row did not need is returned. */
static void rest(l2k_lanes *lanes)
{
    for (unsigned i = lanes->active; i < lanes->num_lanes; i++) {
        l2k_lane *lane = lanes->lanes[i];
        if (++lane->idle < 2)
            continue;
        lanes->kind->free(lane->coder);
        lane->coder = NULL;
    }
}

static void prepare(l2k_lanes *lanes, const l2k_lane_kind *kind, const void *owner, const l2k_context *context)
{
    lanes->owner = owner;
    atomic_store(&lanes->failed, 0);
    lanes->context = context;
    lanes->kind = kind;
    lanes->asking = *context;
    lanes->asking.hooks.message = NULL;
    if (!lanes->has_lock) {
        pthread_mutex_init(&lanes->lock, NULL);
        pthread_cond_init(&lanes->begins, NULL);
        pthread_cond_init(&lanes->ended, NULL);
        lanes->has_lock = true;
    }
}

void l2k_lanes_release(l2k_lanes *lanes)
{
    if (!lanes->has_lock)
        return;
    pthread_mutex_lock(&lanes->lock);
    lanes->closing = true;
    pthread_cond_broadcast(&lanes->begins);
    pthread_mutex_unlock(&lanes->lock);
    for (unsigned i = 0; i < lanes->num_lanes; i++) {
        l2k_lane *lane = lanes->lanes[i];
        if (lane->has_thread)
            pthread_join(lane->thread, NULL);
        lanes->kind->free(lane->coder);
        l2k_release(lanes->context, lane);
    }
    pthread_cond_destroy(&lanes->ended);
    pthread_cond_destroy(&lanes->begins);
    pthread_mutex_destroy(&lanes->lock);
    *lanes = (l2k_lanes){0};
}

/* ---- A batch ----------------------------------------------------------------------------------------------------- */

/* Samples in flight together, about a gigabyte with all that is allocated for them, and lanes, both on a device: with
 * more, its memory and the bus are shared by so many that none of them gains. */
#define MOST_SAMPLES   ((uint64_t)1 << 27)
#define MOST_ON_DEVICE 8u

static unsigned number_of_lanes(const l2k_batch_shape *shape, unsigned devices)
{
    const uint64_t room = devices * MOST_SAMPLES / (shape->samples ? shape->samples : 1);
    uint64_t lanes = shape->wanted;
    if (!lanes) {
        lanes = shape->threads < room ? shape->threads : room;
        lanes = shape->on_device && lanes > devices * MOST_ON_DEVICE ? devices * MOST_ON_DEVICE : lanes;
        lanes = lanes > devices ? lanes : devices;
    }
    lanes = lanes < shape->count ? lanes : shape->count;
    return lanes < L2K_MOST_LANES ? (unsigned)lanes : L2K_MOST_LANES;
}

/* Where a lane cannot be had, the batch has those before it. */
static void take_lanes(l2k_lanes *lanes, const l2k_batch_shape *shape)
{
    const unsigned wanted = number_of_lanes(shape, l2k_device_count(lanes->context));
    for (lanes->active = 0; lanes->active < wanted; lanes->active++) {
        const unsigned share = (shape->threads + wanted - 1 - lanes->active) / wanted;
        if (!equip(lanes, lanes->active, share ? share : 1, wanted))
            break;
    }
}

static void begin_others(l2k_lanes *lanes)
{
    pthread_mutex_lock(&lanes->lock);
    for (unsigned i = 1; i < lanes->active; i++)
        lanes->lanes[i]->wanted = true;
    lanes->at_work = lanes->active - 1;
    pthread_cond_broadcast(&lanes->begins);
    pthread_mutex_unlock(&lanes->lock);
}

/* The caller's hook is asked now and then, until all others have ended. */
static void await_others(l2k_lanes *lanes)
{
    pthread_mutex_lock(&lanes->lock);
    while (lanes->at_work) {
        struct timespec until;
        if (!lanes->context->hooks.progress) {
            pthread_cond_wait(&lanes->ended, &lanes->lock);
            continue;
        }
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 10000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&lanes->ended, &lanes->lock, &until);
        pthread_mutex_unlock(&lanes->lock);
        may_go_on(lanes);
        pthread_mutex_lock(&lanes->lock);
    }
    pthread_mutex_unlock(&lanes->lock);
}

l2k_status l2k_lanes_run(l2k_lanes *lanes, const l2k_lane_kind *kind, const void *owner, const l2k_context *context,
                         const l2k_batch_shape *shape, void *items)
{
    prepare(lanes, kind, owner, context);
    take_lanes(lanes, shape);
    if (!lanes->active)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for a batch of %zu images", shape->count);
    lanes->items = items;
    lanes->count = shape->count;
    if (shape->on_device && lanes->active > 1 && !lanes->asking.devices &&
        l2k_current_device() >= 0) /* that of the caller */
        lanes->asking.devices = (uint64_t)1 << l2k_current_device();
    atomic_store(&lanes->next, lanes->active);
    context->run->groups = lanes->active;
    begin_others(lanes);
    work(lanes->lanes[0]);
    await_others(lanes);
    context->run->groups = 1;
    rest(lanes);
    return L2K_OK;
}
