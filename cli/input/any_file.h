/* A picture of any format that the command reads, JPEG 2000 or not. */
#ifndef L2K_CLI_INPUT_ANY_FILE_H
#define L2K_CLI_INPUT_ANY_FILE_H

#include "cli/input/coded_file.h"

/* Reads all of `path`, as cli_reader_open accepts it, into a picture that the caller frees, also after an error. JPEG
 * 2000 is decoded as l2k_decoder_image says, without conversion for a file format and without its ICC profile; a file
 * that ends early is an error. */
bool cli_any_picture_read(cli_picture *picture, const char *path);

/* The same without decoding: a picture in memory, or an open JPEG 2000 file. It must not be moved while open. */
typedef struct cli_any_file {
    cli_picture picture; /* without components if JPEG 2000 */
    cli_coded_file coded;
    bool is_jpeg2000;
    const char *name; /* for messages */
} cli_any_file;

/* To be closed also after a failure. */
bool cli_any_file_open(cli_any_file *file, const char *path, bool quiet);
void cli_any_file_close(cli_any_file *file);

#endif
