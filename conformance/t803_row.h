/* One row of a test set like that of ISO/IEC 15444-4 (T.803), and its result. */
#ifndef CONFORMANCE_T803_ROW_H
#define CONFORMANCE_T803_ROW_H

#include "conformance/opj.h"

/* The set's folder, the command that decodes it, and a folder for results. */
typedef struct t803_set {
    const char *directory, *command, *backend;
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

#endif
