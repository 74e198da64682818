/* A picture of any kind that the command reads, JPEG 2000 or not. */
#ifndef L2K_CLI_ANY_PICTURE_H
#define L2K_CLI_ANY_PICTURE_H

#include "cli/picture.h"

/* Like cli_picture_read; JPEG 2000 is decoded as l2k_decoder_image says, without any conversion for a file format. One
 * that ends early is an error here. The picture has no ICC profile of a JPEG 2000 file. */
bool cli_any_picture_read(cli_picture *picture, const char *path);

#endif
