/* What somebody who mistyped a word may have meant. */
#ifndef L2K_CLI_OPTIONS_NEAREST_H
#define L2K_CLI_OPTIONS_NEAREST_H

#include <stddef.h>

typedef struct cli_nearest {
    const char *word; /* as typed; ends at a 0 or at '=' */
    const char *best; /* NULL where nothing is near: more than a third of the letters differ */
    size_t distance;  /* of the best */
} cli_nearest;

/* The candidate becomes the best if it is nearer than those before: by letters left out, added, changed, or two
 * neighbours in the wrong order. */
void cli_nearest_try(cli_nearest *nearest, const char *candidate);

#endif
