/* The parts of the round-trip test; each returns its number of failures. */
#ifndef CONFORMANCE_ROUNDTRIP_H
#define CONFORMANCE_ROUNDTRIP_H

#include "conformance/opj/opj.h"

long roundtrip_lossless(unsigned count);
long roundtrip_lossy(unsigned count);
long roundtrip_foreign(unsigned count);
long roundtrip_encoder(unsigned count, uint64_t first_seed);

/* These two use natural pictures of at least 512 x 512. */
typedef struct natural_picture {
    char name[128];
    picture *p;
} natural_picture;

long roundtrip_rates(const natural_picture *pictures, size_t count);
long roundtrip_quality(const natural_picture *pictures, size_t count);

#endif
