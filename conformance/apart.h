/* Runs calls into foreign code in a child process: an assertion or an overrun there cannot harm the test. */
#ifndef CONFORMANCE_APART_H
#define CONFORMANCE_APART_H

#include "conformance/coding.h"

/* Runs `work` in a child process, whose output arrives in `out`. False, with `out` empty, where the work returned false
 * or the child crashed. */
bool work_apart(bool (*work)(void *user, bytes *out), void *user, bytes *out);

#endif
