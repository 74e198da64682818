/* An image file that is written by rows, top to bottom, while the samples come; it appears when it is complete. */
#ifndef L2K_PICTURES_WRITER_H
#define L2K_PICTURES_WRITER_H

#include "pictures/colour.h"
#include "pictures/files/file.h"
#include "pictures/formats.h"

typedef enum cli_compression { CLI_COMPRESSION_NONE, CLI_COMPRESSION_DEFLATE, CLI_COMPRESSION_LZW } cli_compression;

typedef struct cli_write_options {
    bool big_endian, interleaved; /* raw */
    cli_compression compression;  /* TIFF */
    bool quiet;
} cli_write_options;

typedef struct cli_writer cli_writer;

/* What a format does; NULL for what it has no need of. All of them report their errors. */
typedef struct cli_writer_kind {
    bool (*open)(cli_writer *writer);
    /* The next rows of the view (cli_view_row), one behind the other; they may be changed. */
    bool (*rows)(cli_writer *writer, uint8_t *bytes, uint32_t count);
    bool (*planes)(cli_writer *writer); /* instead of `rows`: those of the picture that are in memory */
    bool (*finish)(cli_writer *writer); /* what comes behind the last row */
    void (*close)(cli_writer *writer);  /* frees `state`; also after a failed `open` */
} cli_writer_kind;

struct cli_writer {
    cli_output output; /* none, with the stream NULL, for numbered planes */
    const char *name;  /* for messages */
    const char *path;
    cli_format format;
    const cli_picture *picture;
    const cli_view *view; /* NULL where planes are written without conversion */
    cli_write_options options;
    uint32_t next; /* row of the view */
    uint8_t *rows;
    uint32_t rows_at_a_time;
    const cli_writer_kind *kind;
    void *state; /* of the kind */
};

/* Picture and view, which cli_format_check has been through, must outlive the writer. The view is NULL for a format of
 * planes (CLI_FORMAT_PGX and after). A failure leaves nothing to close. */
bool cli_writer_open(cli_writer *writer, const char *path, cli_format format, const cli_picture *picture,
                     const cli_view *view, const cli_write_options *options);

/* What of the next rows is in memory: up to row `end` of the view, or what the picture has of its planes. */
bool cli_writer_rows(cli_writer *writer, uint32_t end);

/* Ends the file and puts it in its place, where `done` and all goes well, else leaves no trace of it. Returns whether
 * the file is there. */
bool cli_writer_close(cli_writer *writer, bool done);

/* Can the format be written row by row to this path? Planes one after the other in one file cannot go to a pipe so. */
bool cli_writer_takes_rows(const char *path, cli_format format, const cli_write_options *options);

extern const cli_writer_kind cli_png_writer, cli_pnm_writer, cli_pgx_writer, cli_raw_writer, cli_tiff_writer;

#endif
