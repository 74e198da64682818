/* Random cases: how many another decoder took, why it did not take the others, and what failed. */
#ifndef CONFORMANCE_TALLY_H
#define CONFORMANCE_TALLY_H

#include <stddef.h>

#include "conformance/coding.h"

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

/* A case that failed: why, and where it differs most, unless `worst` is NULL. Several threads may call it. */
void print_failure(const char *part, uint64_t seed, const picture *p, const coding *o, const char *message,
                   const difference *worst);

#endif
