/* Pictures from files. */
#ifndef CONFORMANCE_PICTURE_FILES_H
#define CONFORMANCE_PICTURE_FILES_H

#include "conformance/pictures.h"

/* Is it a PNG, PGM or PPM file, by its extension? */
bool is_picture_name(const char *name);

/* The picture in such a file, or NULL. The command named by L2K_COMMAND, otherwise lift2k from PATH, converts PNG
 * files, gray or RGB. */
picture *picture_read(const char *path);

#endif
