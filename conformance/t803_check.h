/* Shared by the tests of a set: running the command, comparing pictures. */
#ifndef CONFORMANCE_T803_CHECK_H
#define CONFORMANCE_T803_CHECK_H

#include "conformance/t803_row.h"

enum { PATH_BYTES = 1024 };

t803_finding t803_found(t803_outcome outcome, const char *format, ...);

/* Decodes the row's file to `output` with one further option (or NULL) and its value (or NULL), within 20 seconds and 4
 * GiB. Returns the exit status, or 128 plus the signal; `message` receives the first line of standard error. */
int t803_decode(const t803_set *set, const t803_row *row, const char *output, const char *option, const char *value,
                char message[MESSAGE_BYTES]);

/* The same to raw planes, all of them or only the first, before the component transform; and reading plane c of
 * them. */
int t803_decode_planes(const t803_set *set, const t803_row *row, bool first_alone, char message[MESSAGE_BYTES]);
picture *t803_read_plane(const t803_set *set, uint32_t c);

typedef struct t803_distance {
    double peak, mse;
} t803_distance;

/* The distance between component r of a reference and c of ours, shifted down, over the part common to both. */
t803_distance t803_measure(const picture *reference, const picture *ours, uint32_t r, uint32_t c, unsigned shift);

/* The tests: raw planes against libopenjp2's. */
t803_finding t803_check_planes(const t803_set *set, const t803_row *row);

#endif
