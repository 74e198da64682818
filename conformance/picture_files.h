/* Pictures from files. */
#ifndef CONFORMANCE_PICTURE_FILES_H
#define CONFORMANCE_PICTURE_FILES_H

#include "conformance/pictures.h"

/* By its ending: PNG, PGM or PPM. */
bool is_picture_name(const char *name);

/* The picture in such a file, or NULL. PNG files, gray or RGB, are converted by the command that L2K_COMMAND names,
 * else by lift2k from PATH. */
picture *picture_read(const char *path);

#endif
