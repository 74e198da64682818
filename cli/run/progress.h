/* How far the work is, as a bar on a terminal. There is one bar, on standard error. */
#ifndef L2K_CLI_RUN_PROGRESS_H
#define L2K_CLI_RUN_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/options/common_options.h"

/* From here on, where the options or the terminal say so. `verb` is for the bar: "encoding". */
void cli_progress_begin(const cli_common_options *options, const char *verb, size_t files);

/* Which file is being coded: the how many-th, from 0 on, and its name. */
void cli_progress_file(size_t number, const char *name);

/* What follows is from this to that part of the file, 0 to 1: a strip, or one of two passes. */
void cli_progress_span(double from, double to);

/* The part of that that is done, 0 to 1. Draws where it is time: not in the first half second, ten times a second. */
void cli_progress_part(double done);

/* Takes the bar away. */
void cli_progress_end(void);

/* For cli_report_guard: a line takes the bar away until the next cli_progress_part, and keeps other threads' lines and
 * bars out. */
void cli_progress_guard(bool begins);

#endif
