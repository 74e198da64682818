/* The only progress bar, on standard error. */
#ifndef L2K_CLI_RUN_PROGRESS_H
#define L2K_CLI_RUN_PROGRESS_H

#include "cli/options/options.h"

/* Starts the bar, if the options or the terminal ask for it. `verb` is shown: "encoding". */
void cli_progress_begin(const cli_options *options, const char *verb, size_t files);

/* The file that this thread codes from now on; the one before is done. */
void cli_progress_file(void);

/* The next part of the thread's file, between 0 and 1: a strip, or the encoding before --verify. */
void cli_progress_span(double from, double to);

/* How much of that part is done, 0 to 1. Draws the bar ten times a second, but not in the first half second. */
void cli_progress_part(double done);

/* Removes the bar. */
void cli_progress_end(void);

/* For cli_report_guard: removes the bar before a line is printed, until the next cli_progress_part, and keeps the lines
 * and bars of other threads out meanwhile. */
void cli_progress_guard(bool begins);

#endif
