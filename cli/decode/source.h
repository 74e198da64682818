/* A JPEG 2000 file opened with the library's decoder. */
#ifndef L2K_CLI_DECODE_SOURCE_H
#define L2K_CLI_DECODE_SOURCE_H

#include "cli/run/messages.h"
#include "lift2k/lift2k.h"
#include "pictures/files/file.h"
#include "pictures/picture.h"
#include "pictures/user/report.h"

typedef struct cli_source {
    l2k_decoder *decoder;
    cli_messages messages; /* subject: the file's name for messages */
    bool incomplete;       /* decoding met the file's early end */
    const void *mapped;    /* the file in memory, or NULL */
    size_t mapped_bytes;
    uint64_t beside; /* bytes of samples that somebody else keeps meanwhile */
} cli_source;

/* A decoder for one file after the other. `strict` takes none that ends early. The source must not be moved until it is
 * closed. `name` is for messages. */
bool cli_source_create(cli_source *source, const char *name, bool quiet, bool strict);

/* Opens the next file, which its input no longer needs afterwards. */
bool cli_source_next(cli_source *source, cli_input *input);

/* A decoder for one file: opens `path`, or reads all of standard input for "-". */
bool cli_source_open(cli_source *source, const char *path, bool quiet, bool strict);

/* The same from an input that is open already, and that the source no longer needs afterwards. */
bool cli_source_read(cli_source *source, cli_input *input, bool quiet, bool strict);

/* Takes memory for the picture, which has its shape, and decodes. Incomplete samples are samples: source->incomplete
 * tells. */
bool cli_source_decode(cli_source *source, cli_picture *picture, cli_layout layout);

/* The same for the rows of the reference grid from y0 to y1, across the picture, which is what `reduce` leaves of the
 * file. Of the file in memory, what they needed is let go. */
bool cli_source_decode_rows(cli_source *source, cli_picture *picture, cli_layout layout, uint32_t y0, uint32_t y1,
                            uint32_t reduce);

/* Gives the decoder what is left of --max-memory when so many bytes are taken, and those beside it. Where the user says
 * nothing, it is the library's own choice. */
l2k_status cli_source_limit_memory(cli_source *source, uint64_t taken);

void cli_source_close(cli_source *source);

#endif
