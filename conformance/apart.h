/* Work that ends in foreign code, done in a process of its own: should that code stop in an assertion or reach beyond
 * its buffers, it is not the test that comes to harm. */
#ifndef CONFORMANCE_APART_H
#define CONFORMANCE_APART_H

#include "conformance/coding.h"

/* Does `work` in a child, which appends what it wants to tell to `out`; that arrives in `out` here. False, and nothing
 * in `out`, where the work said so or the child came to another end. */
bool work_apart(bool (*work)(void *user, bytes *out), void *user, bytes *out);

#endif
