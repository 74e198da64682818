/* The combinations of the identity test. */
#ifndef CONFORMANCE_IDENTITY_CASES_H
#define CONFORMANCE_IDENTITY_CASES_H

#include "conformance/opj/opj.h"

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

/* What it cannot write: more levels than the tiles allow, odd sub-sampled sizes, more than 16 bits, unusual lines. */
void foreign_cases(identity_list *list);

#endif
