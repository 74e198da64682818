#include "cli/run/timings.h"

#include "pictures/user/report.h"
#include "pictures/user/text.h"

static const char *const names[L2K_NUM_STAGES] = {
    [L2K_STAGE_READ] = "read",         [L2K_STAGE_UPLOAD] = "upload", [L2K_STAGE_TRANSFORM] = "transform",
    [L2K_STAGE_DOWNLOAD] = "download", [L2K_STAGE_TIER1] = "tier-1",  [L2K_STAGE_RATE] = "rate control",
    [L2K_STAGE_TIER2] = "tier-2",      [L2K_STAGE_WRITE] = "write"};

void cli_timings_add(cli_timings *all, const cli_timings *more)
{
    for (int i = 0; i < L2K_NUM_STAGES; i++)
        all->seconds[i] += more->seconds[i];
    all->verify += more->verify;
    all->samples += more->samples;
}

static void print_row(const char *name, double seconds, double all)
{
    cli_note("%-14s %10.3f s %7.1f %%", name, seconds, all > 0 ? 100 * seconds / all : 0);
}

/* Shares are of all stages together: where files overlap, and where a device works beside the threads, that is more
 * than the total. What the stages leave of the total is setting up, and waiting. */
void cli_timings_print(const cli_timings *timings, double total)
{
    char rate[CLI_UNITS_ROOM];
    double all = timings->verify;
    for (int i = 0; i < L2K_NUM_STAGES; i++)
        all += timings->seconds[i];
    double other = total > all ? total - all : 0;
    cli_note("%-14s %12s %9s", "stage", "time", "share");
    for (int i = 0; i < L2K_NUM_STAGES; i++)
        print_row(names[i], timings->seconds[i], all + other);
    if (timings->verify > 0)
        print_row("verify", timings->verify, all + other);
    print_row("other", other, all + other);
    cli_note("%-14s %10.3f s %9s %s", "total", total, "",
             cli_count_text(total > 0 ? timings->samples / total : 0, "samples/s", rate));
}
