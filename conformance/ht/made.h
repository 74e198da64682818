/* Codestreams of one code-block with several HT sets, which no published set of streams has: made by the writer of the
 * unit tests (tests/support/ht_sets.h). */
#ifndef CONFORMANCE_HT_MADE_H
#define CONFORMANCE_HT_MADE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ht_made ht_made;

/* The same seed gives the same block. `style`: that of SPcod. */
ht_made *ht_made_new(uint64_t seed, unsigned style);
void ht_made_free(ht_made *made);

unsigned ht_made_layers(const ht_made *made);

/* The codestream, which the caller frees. */
uint8_t *ht_made_file(const ht_made *made, size_t *size);

/* Of the first `layers` layers the set that counts, alone: behind placeholder passes, and without refinement passes
 * that have no bytes (to which OpenHTJ2K gives zeros), or with that many more missing bit-planes. NULL where none
 * counts. The caller frees it. */
uint8_t *ht_made_alone(const ht_made *made, unsigned layers, bool placeholders, size_t *size);

/* Sample i after the first `layers` layers. */
int32_t ht_made_sample(const ht_made *made, unsigned layers, size_t i);

#endif
