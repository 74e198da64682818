/* An output before it is complete: a file without a name, or with a hidden name in the target's folder. */
#ifndef L2K_PICTURES_FILES_TEMPORARY_H
#define L2K_PICTURES_FILES_TEMPORARY_H

#include <sys/types.h>

#include "pictures/files/file.h"

/* Opens one for output->target with the permissions `mode` less the umask; under a hidden name, others can open it from
 * the start. Returns the descriptor, or -1 with errno. */
int cli_temporary_open(cli_output *output, mode_t mode);

/* Gives a file without a name a hidden one, output->temporary. False with errno. */
bool cli_temporary_name(cli_output *output, int descriptor);

/* Gives the file its final name, replacing an existing file. False with errno. */
bool cli_temporary_publish(cli_output *output);

/* Removes a file with a hidden name. */
void cli_temporary_remove(cli_output *output);

#endif
