/* A JPEG 2000 file opened with the library's decoder. */
#ifndef L2K_CLI_INPUT_CODED_FILE_H
#define L2K_CLI_INPUT_CODED_FILE_H

#include "cli/run/messages.h"
#include "lift2k/lift2k.h"
#include "pictures/files/file.h"
#include "pictures/picture.h"
#include "pictures/user/report.h"

typedef struct cli_coded_file {
    l2k_decoder *decoder;
    cli_messages messages; /* subject: the file's name for messages */
    bool in_strips;        /* the decoder has begun an image by rows: decode_rows takes its next ones */
    bool incomplete;       /* the file ended early while it was decoded */
    const void *mapped;    /* the file in memory, or NULL */
    size_t mapped_bytes;
    uint64_t other_bytes; /* bytes of samples held elsewhere at the same time */
} cli_coded_file;

/* Creates a decoder for one file after another; if `strict`, files that end early are errors. The object must not be
 * moved until it is closed. `name` is for messages. */
bool cli_coded_create(cli_coded_file *file, const char *name, bool quiet, bool strict);

/* Opens the next file. The input is no longer needed afterwards. */
bool cli_coded_next(cli_coded_file *file, cli_input *input);

/* Creates a decoder for one file and opens the input, which it closes. */
bool cli_coded_open(cli_coded_file *file, cli_input *input, bool quiet);

/* Allocates and decodes rows y0 to y1 of the reference grid across the picture, which has its shape, reduced by
 * `reduce`. Succeeds with incomplete samples; see file->incomplete. Releases the pages of a mapped file afterwards. */
bool cli_coded_decode_rows(cli_coded_file *file, cli_picture *picture, cli_layout layout, uint32_t y0, uint32_t y1,
                           uint32_t reduce);

/* Takes the status of decoding: true for whole and incomplete pictures, else false after a report. */
bool cli_coded_is_done(cli_coded_file *file, l2k_status status);

/* Limits the decoder to what --max-memory leaves after `taken` bytes and other_bytes; without that option, the
 * library's own limit stays. */
l2k_status cli_coded_limit_memory(cli_coded_file *file, uint64_t taken);

void cli_coded_close(cli_coded_file *file);

#endif
