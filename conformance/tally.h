/* How many cases another decoder took, and why it did not take the others. */
#ifndef CONFORMANCE_TALLY_H
#define CONFORMANCE_TALLY_H

#include <stddef.h>

typedef struct tally {
    const char *decoder;
    long compared;
    size_t num_reasons;
    struct {
        char text[160];
        long count;
    } reasons[64];
} tally;

/* Both may be called by several threads. */
void tally_compared(tally *t);
void tally_reason(tally *t, const char *text);

void tally_print(const tally *t, unsigned cases);

#endif
