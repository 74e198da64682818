/* What the command's readers would print, in fuzz targets that are made of them: lines are formatted, so that every
 * argument is read, and dropped. There is no reader of PNG. */
#ifndef L2K_FUZZ_COMMAND_H
#define L2K_FUZZ_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern unsigned fuzz_errors; /* calls of cli_error */

/* Passes `done` on. A failure has been reported once, success not at all; then the count starts anew. */
bool fuzz_check_report(bool done);

/* Makes a file of these bytes, in memory, in place of the one before. Returns its name, valid until the next call. */
const char *fuzz_put_file(const uint8_t *data, size_t bytes);

#endif
