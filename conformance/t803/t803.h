/* A test set like that of ISO/IEC 15444-4 (T.803): its rows, their results, and what the tests share. */
#ifndef CONFORMANCE_T803_H
#define CONFORMANCE_T803_H

#include "conformance/opj/opj.h"

/* The set's folder, the command that decodes it, and a folder for results. */
typedef struct t803_set {
    const char *directory, *command, *backend;
    const char *openhtj2k; /* its program, or NULL */
    char scratch[256];
} t803_set;

/* Lists have a member for each component, joined by ":" (numbers) or "," (files); the last one applies to the remaining
 * components. */
typedef struct t803_row {
    char file[512], kind[16], test[16], references[2048], peak[256], mse[256];
    uint32_t reduce;
    bool exact[PICTURE_MAX_COMPONENTS];                                     /* planes: 5/3 only */
    uint32_t width[PICTURE_MAX_COMPONENTS], height[PICTURE_MAX_COMPONENTS]; /* planes: in the set, 0 = unknown */
} t803_row;

typedef enum t803_outcome { T803_PASS, T803_FAIL, T803_REFUSED, T803_SKIPPED, T803_OUTCOMES } t803_outcome;

/* The result, in words for the table. */
typedef struct t803_finding {
    t803_outcome outcome;
    char text[200];
} t803_finding;

t803_finding t803_check(const t803_set *set, const t803_row *row);

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

/* The tests: raw planes against libopenjp2's, and several HT sets in a code-block, in streams that the test makes. */
t803_finding t803_check_planes(const t803_set *set, const t803_row *row);
t803_finding t803_check_sets(const t803_set *set, const t803_row *row);

#endif
