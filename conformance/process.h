/* Child processes: programs, functions that may crash, and the folders for their files. */
#ifndef CONFORMANCE_PROCESS_H
#define CONFORMANCE_PROCESS_H

#include "conformance/coding.h"

/* Runs a program found through PATH, with its output in the file, or discarded if that is NULL. True for status 0. */
bool run_program(char *const argv[], const char *output);
bool program_exists(const char *name);

/* For calls into foreign code, whose assertions and overruns must not harm the test. Runs `work` in a child process,
 * whose output arrives in `out`. False, with `out` empty, where the work returned false or the child crashed. */
bool work_apart(bool (*work)(void *user, bytes *out), void *user, bytes *out);

/* Makes a folder for temporary files, or removes it with its content. Ends the program on failure. */
void scratch_make(char *path, size_t size);
void scratch_remove(const char *path);

#endif
