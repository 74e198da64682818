/* Several threads each take whole files: large ones with a share of the processors each, so that one is read or written
 * while another is coded; small ones with one, since their parts are too small for many threads. */
#include "cli/run/batch.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/run/progress.h"
#include "pictures/user/limits.h"
#include "pictures/user/report.h"
#include "pictures/user/text.h"

/* ---- The outcome ------------------------------------------------------------------------------------------------- */

typedef struct tally {
    size_t done, failed, incomplete; /* files; `done` includes incomplete ones */
    cli_outcome all;                 /* files done, together */
    const char *first_failed;        /* of the files that failed */
    double start;                    /* by cli_now */
} tally;

/* NULL for a file that failed. Its name stays until the end. */
static void tally_file(tally *t, const cli_outcome *outcome, const char *name)
{
    cli_outcome *all = &t->all;
    if (!outcome) {
        t->first_failed = t->failed++ ? t->first_failed : name;
        return;
    }
    t->done++;
    t->incomplete += outcome->incomplete;
    all->picture_bytes += outcome->picture_bytes;
    all->coded_bytes += outcome->coded_bytes;
    for (int i = 0; i < CLI_NUM_STAGES; i++)
        all->seconds[i] += outcome->seconds[i];
    all->samples += outcome->samples;
}

static void print_files(const tally *t, size_t num_skipped)
{
    char failed[1080] = "", incomplete[40] = "", skipped[40] = "", pictures[CLI_UNITS_ROOM], coded[CLI_UNITS_ROOM],
         time[CLI_UNITS_ROOM];
    const cli_outcome *all = &t->all;
    size_t files = t->done + num_skipped + t->failed;
    if (t->failed)
        snprintf(failed, sizeof failed, ", %zu failed, %s%s", t->failed, t->failed > 1 ? "first " : "",
                 t->first_failed);
    if (num_skipped)
        snprintf(skipped, sizeof skipped, ", %zu skipped", num_skipped);
    if (t->incomplete)
        snprintf(incomplete, sizeof incomplete, " (%zu incomplete)", t->incomplete);
    cli_report("%zu file%s: %zu done%s%s%s; pictures %s, JPEG 2000 %s, ratio %.3f; %s", files, files == 1 ? "" : "s",
               t->done, incomplete, skipped, failed, cli_bytes_text(all->picture_bytes, pictures),
               cli_bytes_text(all->coded_bytes, coded),
               all->coded_bytes ? (double)all->picture_bytes / (double)all->coded_bytes : 0.0,
               cli_seconds_text(cli_now() - t->start, time));
}

static const char *const stage_names[CLI_NUM_STAGES] = {
    [L2K_STAGE_READ] = "read",         [L2K_STAGE_UPLOAD] = "upload", [L2K_STAGE_TRANSFORM] = "transform",
    [L2K_STAGE_DOWNLOAD] = "download", [L2K_STAGE_TIER1] = "tier-1",  [L2K_STAGE_RATE] = "rate control",
    [L2K_STAGE_TIER2] = "tier-2",      [L2K_STAGE_WRITE] = "write",   [CLI_STAGE_VERIFY] = "verify"};

static void print_row(const char *name, double seconds, double all)
{
    cli_report("%-14s %10.3f s %7.1f %%", name, seconds, all > 0 ? 100 * seconds / all : 0);
}

/* Shares are of the sum of all stages. If files overlap, or a device works at the same time as the threads, the sum
 * exceeds the total. The rest of the total, if any, is set-up and waiting. */
static void print_timings(const tally *t)
{
    const double *seconds = t->all.seconds;
    const double total = cli_now() - t->start;
    char rate[CLI_UNITS_ROOM];
    double all = 0;
    for (int i = 0; i < CLI_NUM_STAGES; i++)
        all += seconds[i];
    double other = total > all ? total - all : 0;
    cli_report("%-14s %12s %9s", "stage", "time", "share");
    for (int i = 0; i < CLI_NUM_STAGES; i++)
        if (i < CLI_STAGE_VERIFY || seconds[i] > 0)
            print_row(stage_names[i], seconds[i], all + other);
    print_row("other", other, all + other);
    cli_report("%-14s %10.3f s %9s %s", "total", total, "",
               cli_count_text(total > 0 ? t->all.samples / total : 0, "samples/s", rate));
}

/* Reports "12 files: 7 done, 3 skipped, 2 failed, first in/3.png; ..." if there may be many, and the table of
 * --timings. Returns the exit status of the command. */
static int tally_end(const tally *t, const cli_tasks *tasks)
{
    const cli_options *options = tasks->options;
    if ((options->out_dir || tasks->skipped) && !options->quiet)
        print_files(t, tasks->skipped);
    if (options->timings)
        print_timings(t);
    return t->failed ? CLI_EXIT_FAILURE : t->incomplete ? CLI_EXIT_INCOMPLETE : CLI_EXIT_OK;
}

/* ---- The work ---------------------------------------------------------------------------------------------------- */

typedef struct worker {
    struct crew *crew;
    cli_coder *coder;
    cli_outcome *file;
    pthread_t thread;
} worker;

typedef struct crew {
    cli_batch *batch;
    const cli_tasks *tasks;
    atomic_size_t next;   /* the file to begin */
    pthread_mutex_t lock; /* guards all that follows */
    pthread_cond_t counted;
    size_t to_count; /* the file whose turn it is */
    tally tally;
} crew;

/* A file whose device fails is begun again with another one. */
static bool run_file(worker *w, const cli_task *task)
{
    cli_batch *batch = w->crew->batch;
    cli_coder *coder = w->coder;
    cli_progress_file();
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

static void count_in_turn(worker *w, size_t number, bool done)
{
    crew *c = w->crew;
    const cli_task *task = &c->tasks->items[number];
    pthread_mutex_lock(&c->lock);
    while (c->to_count != number)
        pthread_cond_wait(&c->counted, &c->lock);
    tally_file(&c->tally, done ? w->file : NULL, task->input);
    if (done && !c->batch->options->quiet)
        c->batch->report(c->batch, task, w->file);
    c->to_count++;
    pthread_cond_broadcast(&c->counted);
    pthread_mutex_unlock(&c->lock);
}

/* 0 for all processors. The last files, if they are too few for all coders, get the processors of the others. */
static unsigned threads_for(const cli_batch *batch, size_t file, size_t files)
{
    const cli_share *share = &batch->share;
    const size_t left = files - file + file % share->coders;
    const unsigned at_once = left < share->coders ? (unsigned)left : share->coders;
    return at_once > 1 ? (share->threads + at_once - 1) / at_once : (unsigned)batch->options->threads.value;
}

static void *work(void *argument)
{
    worker *w = argument;
    crew *c = w->crew;
    for (size_t number; (number = atomic_fetch_add(&c->next, 1)) < c->tasks->count;) {
        w->coder->threads = threads_for(c->batch, number, c->tasks->count);
        count_in_turn(w, number, run_file(w, &c->tasks->items[number]));
        c->batch->release(w->file);
    }
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

/* The first coder is made before any file is read, to find impossible options at once. */
int cli_batch_run(cli_batch *batch, const cli_tasks *tasks)
{
    crew c = {.batch = batch, .tasks = tasks, .tally.start = cli_now()};
    int status = CLI_EXIT_FAILURE;
    cli_share_work(tasks, batch->options, &batch->share);
    const unsigned count = batch->share.coders;
    worker *workers = calloc(count, sizeof *workers);
    char *coders = calloc(count, batch->coder_bytes), *files = calloc(count, batch->file_bytes);
    const bool ready =
        (workers && coders && files) || cli_error(cli_command_names[batch->options->command], "out of memory");
    for (unsigned i = 0; ready && i < count; i++) {
        cli_coder *coder = (void *)(coders + i * batch->coder_bytes);
        *coder = (cli_coder){.number = i, .device = cli_device_of_coder(&batch->share.devices, i)};
        workers[i] = (worker){.crew = &c, .coder = coder, .file = (void *)(files + i * batch->file_bytes)};
    }
    if (ready && batch->prepare(batch, workers[0].coder)) {
        for (size_t i = 0; i < tasks->num_cut; i++)
            tally_file(&c.tally, NULL, tasks->cut);
        pthread_mutex_init(&c.lock, NULL);
        pthread_cond_init(&c.counted, NULL);
        cli_progress_begin(batch->options, batch->verb, tasks->count);
        run_all(workers, count);
        cli_progress_end();
        status = tally_end(&c.tally, tasks);
        pthread_cond_destroy(&c.counted);
        pthread_mutex_destroy(&c.lock);
    }
    for (unsigned i = 0; ready && i < count; i++)
        batch->close(workers[i].coder);
    free(workers);
    free(coders);
    free(files);
    return status;
}
