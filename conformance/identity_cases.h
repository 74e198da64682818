/* The combinations that the identity test goes through. */
#ifndef CONFORMANCE_IDENTITY_CASES_H
#define CONFORMANCE_IDENTITY_CASES_H

#include "conformance/opj.h"

typedef struct identity_case {
    shape s;
    coding o;
    handover h;
} identity_case;

typedef struct identity_list {
    identity_case *cases;
    size_t count, capacity;
} identity_list;

/* What opj_compress can write: systematic groups, then random mixes. */
void identity_cases(identity_list *list);

/* What it cannot: more levels than the tiles bear, odd sub-sampled sizes, more than 16 bits, awkward lines. */
void foreign_cases(identity_list *list);

#endif
