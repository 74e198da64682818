/* Several threads each take whole files: large ones with a share of the processors each, so that one is read or written
 * while another is coded; small ones with one, since their parts are too small for many threads. */
#include "cli/run/batch.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/run/progress.h"
#include "pictures/user/limits.h"
#include "pictures/user/report.h"

typedef struct worker {
    struct crew *crew;
    cli_coder *coder;
    cli_outcome *file;
    pthread_t thread;
} worker;

typedef struct crew {
    cli_batch *batch;
    const cli_tasks *tasks;
    pthread_mutex_t lock; /* guards all that follows */
    pthread_cond_t counted;
    size_t next, to_count; /* the files whose turn it is */
    cli_tally tally;
} crew;

/* A file whose device fails is begun again with another one. */
static bool run_file(worker *w, const cli_task *task)
{
    cli_batch *batch = w->crew->batch;
    cli_coder *coder = w->coder;
    cli_progress_file(task->input);
    for (;;) {
        memset(w->file, 0, batch->file_bytes);
        coder->failed = NULL;
        if (batch->prepare(batch, coder) && batch->code(batch, coder, task, w->file))
            return true;
        if (!coder->failed || !cli_device_failed(&batch->share.devices, coder))
            return false;
        batch->release(w->file);
        batch->close(coder);
    }
}

/* With the lock held. */
static void count_in_turn(worker *w, size_t number, bool done)
{
    crew *c = w->crew;
    const cli_task *task = &c->tasks->items[number];
    while (c->to_count != number)
        pthread_cond_wait(&c->counted, &c->lock);
    cli_tally_file(&c->tally, done ? w->file : NULL, task->input);
    if (done && !c->batch->options->quiet)
        c->batch->report(task, w->file);
    c->to_count++;
    pthread_cond_broadcast(&c->counted);
}

/* The last files, if they are too few for all coders, get the processors of the others. */
static cli_setting threads_for(const cli_batch *batch, size_t file, size_t files)
{
    const cli_share *share = &batch->share;
    const size_t left = files - file + file % share->coders;
    const unsigned at_once = left < share->coders ? (unsigned)left : share->coders;
    return at_once > 1 ? (cli_setting){(share->threads + at_once - 1) / at_once, true} : batch->options->threads;
}

static void *work(void *argument)
{
    worker *w = argument;
    crew *c = w->crew;
    pthread_mutex_lock(&c->lock);
    while (c->next < c->tasks->count) {
        const size_t number = c->next++;
        pthread_mutex_unlock(&c->lock);
        w->coder->threads = threads_for(c->batch, number, c->tasks->count);
        const bool done = run_file(w, &c->tasks->items[number]);
        pthread_mutex_lock(&c->lock);
        count_in_turn(w, number, done);
        pthread_mutex_unlock(&c->lock);
        c->batch->release(w->file);
        pthread_mutex_lock(&c->lock);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* This thread is the first worker, and gets all signals. */
static void run_all(worker *workers, unsigned count)
{
    sigset_t all, before;
    unsigned started = 1;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    while (started < count && pthread_create(&workers[started].thread, NULL, work, &workers[started]) == 0)
        started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    work(&workers[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(workers[i].thread, NULL);
}

static bool make_workers(crew *c, worker *workers)
{
    const cli_share *share = &c->batch->share;
    for (unsigned i = 0; i < share->coders; i++) {
        workers[i] =
            (worker){.crew = c, .coder = calloc(1, c->batch->coder_bytes), .file = malloc(c->batch->file_bytes)};
        if (!workers[i].coder || !workers[i].file)
            return cli_error(cli_command_names[c->batch->options->command], "out of memory");
        workers[i].coder->number = i;
        workers[i].coder->device = cli_device_of_coder(&share->devices, i);
    }
    return true;
}

static void print_results(const crew *c)
{
    const cli_options *options = c->batch->options;
    if ((c->tasks->many || c->tasks->skipped) && !options->quiet)
        cli_tally_print(&c->tally);
    if (options->timings)
        cli_tally_print_timings(&c->tally);
}

/* The first coder is made before any file is read, to find impossible options at once. */
int cli_batch_run(cli_batch *batch, const cli_tasks *tasks)
{
    crew c = {.batch = batch, .tasks = tasks, .tally = {.skipped = tasks->skipped, .start = cli_now()}};
    cli_share_work(tasks, batch->options, &batch->share);
    worker *workers = calloc(batch->share.coders, sizeof *workers);
    bool ready = workers && make_workers(&c, workers) && batch->prepare(batch, workers[0].coder);
    if (ready) {
        for (size_t i = 0; i < tasks->num_cut; i++)
            cli_tally_file(&c.tally, NULL, tasks->cut);
        pthread_mutex_init(&c.lock, NULL);
        pthread_cond_init(&c.counted, NULL);
        cli_progress_begin(batch->options, batch->verb, tasks->count);
        run_all(workers, batch->share.coders);
        cli_progress_end();
        print_results(&c);
        pthread_cond_destroy(&c.counted);
        pthread_mutex_destroy(&c.lock);
    }
    for (unsigned i = 0; workers && i < batch->share.coders; i++) {
        if (workers[i].coder)
            batch->close(workers[i].coder);
        free(workers[i].coder);
        free(workers[i].file);
    }
    free(workers);
    return ready ? cli_tally_status(&c.tally) : CLI_EXIT_FAILURE;
}
