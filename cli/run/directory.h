/* The files of a directory that a command can take. */
#ifndef L2K_CLI_RUN_DIRECTORY_H
#define L2K_CLI_RUN_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cli_directory {
    char **files; /* "PATH/name", in the order of their names */
    size_t count, room, left_out;
} cli_directory;

/* Files directly in `path` whose names end in one of the `extensions`, a list with NULL at its end. A note, unless
 * `quiet`, says how many others there are; hidden files do not count. Planes NAME_0.pgx, NAME_1.pgx, ... without a gap
 * are one picture, NAME.pgx, unless that is there itself. To be freed also after a failure. */
bool cli_directory_list(cli_directory *directory, const char *path, const char *const *extensions, bool quiet);
void cli_directory_free(cli_directory *directory);

#endif
