/* Several threads each take a file through reading, coding and writing. Either one thread codes all files with all
 * processors; or each thread codes its own, which keeps more processors, or a device, busy if the files are small. */
#define _POSIX_C_SOURCE 200809L /* sysconf */
#include "cli/run/pipeline.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/run/progress.h"
#include "pictures/user/report.h"

/* Beside one coder; each holds a picture in memory. */
#define MAX_WORKERS 4u

typedef enum phase { AT_WORK, READY, CODED, REFUSED } phase;

typedef struct worker {
    struct pipeline *pipeline;
    pthread_t thread;
    void *state;
    size_t task;
    phase phase;
} worker;

typedef struct pipeline {
    const cli_tasks *tasks;
    const cli_stages *stages;
    cli_file_done *count;
    void *context;
    pthread_mutex_t lock; /* guards all that follows, and the tasks and phases of the workers */
    pthread_cond_t changed;
    worker workers[CLI_MOST_CODERS];
    size_t num_workers, at_work, next;
    unsigned coders;
    size_t to_code, to_count; /* the files whose turn it is */
} pipeline;

static void set_phase(worker *w, phase next)
{
    w->phase = next;
    pthread_cond_broadcast(&w->pipeline->changed);
}

/* This and the next two are called with the lock held, and release it while they wait. */
static void wait_for_turn(worker *w, const size_t *turn)
{
    while (*turn != w->task)
        pthread_cond_wait(&w->pipeline->changed, &w->pipeline->lock);
}

/* A file that could not be read gives its turn to the next one. */
static bool wait_until_coded(worker *w, bool was_read)
{
    pipeline *p = w->pipeline;
    if (!was_read) {
        wait_for_turn(w, &p->to_code);
        p->to_code++;
        set_phase(w, REFUSED);
        return false;
    }
    set_phase(w, READY);
    while (w->phase == READY)
        pthread_cond_wait(&p->changed, &p->lock);
    return w->phase == CODED;
}

/* Codes with the coder that has the worker's number. */
static bool code_here(worker *w)
{
    pipeline *p = w->pipeline;
    const cli_task *task = &p->tasks->items[w->task];
    cli_progress_file(task->input);
    const bool done = p->stages->code(w->state, task, p->context, (unsigned)(w - p->workers));
    cli_progress_part(1);
    return done;
}

static bool get_coded(worker *w, bool was_read)
{
    pipeline *p = w->pipeline;
    if (p->coders > 1)
        return was_read && code_here(w);
    pthread_mutex_lock(&p->lock);
    const bool done = wait_until_coded(w, was_read);
    pthread_mutex_unlock(&p->lock);
    return done;
}

static void count_in_turn(worker *w, bool done)
{
    pipeline *p = w->pipeline;
    wait_for_turn(w, &p->to_count);
    p->count(p->context, &p->tasks->items[w->task], w->state, done);
    p->to_count++;
    pthread_cond_broadcast(&p->changed);
}

static void run_task(worker *w)
{
    pipeline *p = w->pipeline;
    const cli_task *task = &p->tasks->items[w->task];
    memset(w->state, 0, p->stages->state_bytes);
    bool done = p->stages->read(w->state, task, p->context);
    done = get_coded(w, done);
    done = done && p->stages->write(w->state, task, p->context);
    pthread_mutex_lock(&p->lock);
    count_in_turn(w, done);
    pthread_mutex_unlock(&p->lock);
    p->stages->release(w->state, p->context);
}

static void *work(void *argument)
{
    worker *w = argument;
    pipeline *p = w->pipeline;
    pthread_mutex_lock(&p->lock);
    while (p->next < p->tasks->count) {
        w->task = p->next++;
        pthread_mutex_unlock(&p->lock);
        run_task(w);
        pthread_mutex_lock(&p->lock);
    }
    p->at_work--;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static worker *next_ready(pipeline *p)
{
    for (size_t i = 0; i < p->num_workers; i++)
        if (p->workers[i].phase == READY && p->workers[i].task == p->to_code)
            return &p->workers[i];
    return NULL;
}

static void code_all(pipeline *p)
{
    pthread_mutex_lock(&p->lock);
    while (p->at_work) {
        worker *w = next_ready(p);
        if (!w) {
            pthread_cond_wait(&p->changed, &p->lock);
            continue;
        }
        pthread_mutex_unlock(&p->lock);
        const cli_task *task = &p->tasks->items[w->task];
        cli_progress_file(task->input);
        bool done = p->stages->code(w->state, task, p->context, 0);
        pthread_mutex_lock(&p->lock);
        p->to_code++;
        set_phase(w, done ? CODED : REFUSED);
    }
    pthread_mutex_unlock(&p->lock);
}

static size_t wanted_workers(const pipeline *p)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t wanted = processors < 2 ? 2 : processors > (long)MAX_WORKERS ? MAX_WORKERS : (size_t)processors;
    wanted = p->coders > 1 ? p->coders : wanted;
    return wanted < p->tasks->count ? wanted : p->tasks->count;
}

/* Signals go to the main thread. False if not even one thread could be started. */
static bool start_workers(pipeline *p)
{
    sigset_t all, before;
    size_t wanted = wanted_workers(p);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_mutex_lock(&p->lock);
    for (; p->num_workers < wanted; p->num_workers++) {
        worker *w = &p->workers[p->num_workers];
        w->pipeline = p;
        w->state = malloc(p->stages->state_bytes);
        if (!w->state || pthread_create(&w->thread, NULL, work, w) != 0) {
            free(w->state);
            break;
        }
        p->at_work++;
    }
    pthread_mutex_unlock(&p->lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return p->num_workers > 0;
}

static void run_many(pipeline *p)
{
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    if (start_workers(p) && p->coders == 1)
        code_all(p);
    for (size_t i = 0; i < p->num_workers; i++) {
        pthread_join(p->workers[i].thread, NULL);
        free(p->workers[i].state);
    }
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
}

/* One file on this thread, or all those left if no thread could be started. */
static void run_here(pipeline *p)
{
    void *state = malloc(p->stages->state_bytes);
    for (; p->next < p->tasks->count; p->next++) {
        const cli_task *task = &p->tasks->items[p->next];
        if (!state) {
            cli_error(task->input, "out of memory");
            p->count(p->context, task, NULL, false);
            continue;
        }
        memset(state, 0, p->stages->state_bytes);
        cli_progress_file(task->input);
        p->count(p->context, task, state,
                 p->stages->read(state, task, p->context) && p->stages->code(state, task, p->context, 0) &&
                     p->stages->write(state, task, p->context));
        p->stages->release(state, p->context);
    }
    free(state);
}

void cli_pipeline_run(const cli_tasks *tasks, const cli_stages *stages, cli_file_done *count, void *context,
                      unsigned coders)
{
    pipeline p = {.tasks = tasks, .stages = stages, .count = count, .context = context, .coders = coders};
    if (tasks->count > 1 && !tasks->together)
        run_many(&p);
    run_here(&p);
}
