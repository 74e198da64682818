#include "cli/run/tally.h"
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "pictures/user/limits.h"
#include "pictures/user/report.h"
#include "pictures/user/text.h"

void cli_tally_begin(cli_tally *tally)
{
    memset(tally, 0, sizeof *tally);
    tally->start = cli_now();
}

void cli_tally_file(cli_tally *tally, int status)
{
    tally->failed += status == CLI_EXIT_FAILURE;
    tally->done += status != CLI_EXIT_FAILURE;
    tally->incomplete += status == CLI_EXIT_INCOMPLETE;
}

void cli_tally_print(const cli_tally *tally)
{
    char failed[40] = "", incomplete[40] = "", pictures[CLI_UNITS_ROOM], coded[CLI_UNITS_ROOM], time[CLI_UNITS_ROOM];
    size_t files = tally->done + tally->failed;
    if (tally->failed)
        snprintf(failed, sizeof failed, ", %zu failed", tally->failed);
    if (tally->incomplete)
        snprintf(incomplete, sizeof incomplete, " (%zu incomplete)", tally->incomplete);
    cli_note("%zu file%s: %zu done%s%s; pictures %s, JPEG 2000 %s, ratio %.3f; %s", files, files == 1 ? "" : "s",
             tally->done, incomplete, failed, cli_bytes_text(tally->picture_bytes, pictures),
             cli_bytes_text(tally->coded_bytes, coded),
             tally->coded_bytes ? (double)tally->picture_bytes / (double)tally->coded_bytes : 0.0,
             cli_seconds_text(cli_now() - tally->start, time));
}

int cli_tally_status(const cli_tally *tally)
{
    return tally->failed ? CLI_EXIT_FAILURE : tally->incomplete ? CLI_EXIT_INCOMPLETE : CLI_EXIT_OK;
}
