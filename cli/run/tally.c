/* The outcome of a command: how many files succeeded, and where the time went. */
#include "cli/run/batch.h"

#include <stdio.h>

#include "cli/commands.h"
#include "pictures/user/limits.h"
#include "pictures/user/report.h"
#include "pictures/user/text.h"

void cli_tally_file(cli_tally *tally, const cli_outcome *outcome, const char *name)
{
    cli_outcome *all = &tally->all;
    if (!outcome) {
        tally->first_failed = tally->failed++ ? tally->first_failed : name;
        return;
    }
    tally->done++;
    tally->incomplete += outcome->incomplete;
    all->picture_bytes += outcome->picture_bytes;
    all->coded_bytes += outcome->coded_bytes;
    for (int i = 0; i < L2K_NUM_STAGES; i++)
        all->seconds[i] += outcome->seconds[i];
    all->verify += outcome->verify;
    all->samples += outcome->samples;
}

static void print_files(const cli_tally *tally)
{
    char failed[1080] = "", incomplete[40] = "", skipped[40] = "", pictures[CLI_UNITS_ROOM], coded[CLI_UNITS_ROOM],
         time[CLI_UNITS_ROOM];
    const cli_outcome *all = &tally->all;
    size_t files = tally->done + tally->skipped + tally->failed;
    if (tally->failed)
        snprintf(failed, sizeof failed, ", %zu failed, %s%s", tally->failed, tally->failed > 1 ? "first " : "",
                 tally->first_failed);
    if (tally->skipped)
        snprintf(skipped, sizeof skipped, ", %zu skipped", tally->skipped);
    if (tally->incomplete)
        snprintf(incomplete, sizeof incomplete, " (%zu incomplete)", tally->incomplete);
    cli_report("%zu file%s: %zu done%s%s%s; pictures %s, JPEG 2000 %s, ratio %.3f; %s", files, files == 1 ? "" : "s",
               tally->done, incomplete, skipped, failed, cli_bytes_text(all->picture_bytes, pictures),
               cli_bytes_text(all->coded_bytes, coded),
               all->coded_bytes ? (double)all->picture_bytes / (double)all->coded_bytes : 0.0,
               cli_seconds_text(cli_now() - tally->start, time));
}

static const char *const stage_names[L2K_NUM_STAGES] = {
    [L2K_STAGE_READ] = "read",         [L2K_STAGE_UPLOAD] = "upload", [L2K_STAGE_TRANSFORM] = "transform",
    [L2K_STAGE_DOWNLOAD] = "download", [L2K_STAGE_TIER1] = "tier-1",  [L2K_STAGE_RATE] = "rate control",
    [L2K_STAGE_TIER2] = "tier-2",      [L2K_STAGE_WRITE] = "write"};

static void print_row(const char *name, double seconds, double all)
{
    cli_report("%-14s %10.3f s %7.1f %%", name, seconds, all > 0 ? 100 * seconds / all : 0);
}

/* Shares are of the sum of all stages. If files overlap, or a device works at the same time as the threads, the sum
 * exceeds the total. The rest of the total, if any, is set-up and waiting. */
static void print_timings(const cli_tally *tally)
{
    const cli_outcome *timings = &tally->all;
    const double total = cli_now() - tally->start;
    char rate[CLI_UNITS_ROOM];
    double all = timings->verify;
    for (int i = 0; i < L2K_NUM_STAGES; i++)
        all += timings->seconds[i];
    double other = total > all ? total - all : 0;
    cli_report("%-14s %12s %9s", "stage", "time", "share");
    for (int i = 0; i < L2K_NUM_STAGES; i++)
        print_row(stage_names[i], timings->seconds[i], all + other);
    if (timings->verify > 0)
        print_row("verify", timings->verify, all + other);
    print_row("other", other, all + other);
    cli_report("%-14s %10.3f s %9s %s", "total", total, "",
               cli_count_text(total > 0 ? timings->samples / total : 0, "samples/s", rate));
}

int cli_tally_end(const cli_tally *tally, const cli_tasks *tasks)
{
    const cli_options *options = tasks->options;
    if ((tasks->many || tasks->skipped) && !options->quiet)
        print_files(tally);
    if (options->timings)
        print_timings(tally);
    return tally->failed ? CLI_EXIT_FAILURE : tally->incomplete ? CLI_EXIT_INCOMPLETE : CLI_EXIT_OK;
}
