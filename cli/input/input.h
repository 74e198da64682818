/* Files that the command reads: JPEG 2000, opened with the library's decoder, and any other format. */
#ifndef L2K_CLI_INPUT_INPUT_H
#define L2K_CLI_INPUT_INPUT_H

#include "cli/run/messages.h"
#include "lift2k/lift2k.h"
#include "pictures/files/file.h"
#include "pictures/picture.h"
#include "pictures/user/report.h"

typedef struct cli_coded_file {
    l2k_decoder *decoder;
    cli_messages messages; /* subject: the file's name for messages */
    bool in_strips;        /* the decoder has begun an image by rows: cli_strips_decode takes its next ones */
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

/* Takes the status of decoding: true for whole and incomplete pictures, else false after a report. */
bool cli_coded_is_done(cli_coded_file *file, l2k_status status);

/* Limits the decoder to what --max-memory leaves after `taken` bytes and other_bytes; without that option, the
 * library's own limit stays. */
bool cli_coded_limit_memory(cli_coded_file *file, uint64_t taken);

void cli_coded_close(cli_coded_file *file);

/* ---- A picture cut into strips that can be decoded and written one after another ---- */

typedef struct cli_strips {
    cli_coded_file *file; /* makes the cuts itself if in_strips; else they are at ends of rows of tiles */
    cli_picture *picture;
    uint32_t reduce;
    uint32_t tile_y0, tile_height;
    uint64_t unit;   /* rows of the reference grid that no cut may divide */
    uint32_t least;  /* fewest rows of a strip */
    uint32_t y0, y1; /* the strip, on the reference grid */
} cli_strips;

/* A strip with fewer samples would leave threads idle. */
#define CLI_STRIP_SAMPLES ((uint64_t)1 << 24)

/* `picture`, which must outlive the strips, is the decoder's region after `reduce`. Each strip has at least
 * `least_samples` samples, unless they may be `low` and the decoder can make them so (l2k_decoder_begin). The end is to
 * be called after the last one. */
bool cli_strips_begin(cli_strips *strips, cli_coded_file *file, cli_picture *picture, const l2k_info *info,
                      uint32_t reduce, uint64_t least_samples, bool low);
bool cli_strips_end(const cli_strips *strips);

/* Goes to the next strip, and gives it its share of the progress bar from `from` to the end. False after the last. */
bool cli_strips_next(cli_strips *strips, double from);

/* Allocates and decodes its rows of the picture. Succeeds with incomplete samples; see file->incomplete. Releases the pages
 * of a mapped file afterwards. */
bool cli_strips_decode(cli_strips *strips, cli_layout layout);

/* ---- A picture of any format that the command reads, JPEG 2000 or not ---- */

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
