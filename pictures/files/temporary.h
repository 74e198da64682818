/* What an output is until it is complete: a file without a name, or one of a hidden name in the target's folder. */
#ifndef L2K_PICTURES_FILES_TEMPORARY_H
#define L2K_PICTURES_FILES_TEMPORARY_H

#include <sys/types.h>

#include "pictures/files/file.h"

/* Opens one for output->target, with those permissions less the umask: from the first moment it can be opened by others
 * under a hidden name. Returns the descriptor, or -1 with errno. */
int cli_temporary_open(cli_output *output, mode_t mode);

/* A file without a name gets the hidden one, which is then output->temporary. False with errno. */
bool cli_temporary_name(cli_output *output, int descriptor);

/* Gives it its own name, replacing what has that. False with errno. */
bool cli_temporary_publish(cli_output *output);

/* What is at output->target gets a hidden name, which cli_temporary_publish takes back. False with errno. */
bool cli_temporary_aside(cli_output *output);

/* Removes a file of a hidden name. */
void cli_temporary_remove(cli_output *output);

#endif
