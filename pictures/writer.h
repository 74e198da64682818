/* A picture file that is written by rows, top to bottom, as the samples arrive; it appears when it is complete. */
#ifndef L2K_PICTURES_WRITER_H
#define L2K_PICTURES_WRITER_H

#include "pictures/colour.h"
#include "pictures/files/file.h"
#include "pictures/formats.h"

typedef enum cli_compression {
    CLI_COMPRESSION_NONE,
    CLI_COMPRESSION_DEFLATE,
    CLI_COMPRESSION_LZW,
    CLI_COMPRESSION_J2K, /* this and the next ones in tiles */
    CLI_COMPRESSION_APERIO,
    CLI_COMPRESSION_APERIO_YCC
} cli_compression;

enum { CLI_PNG_LEVEL = 1 }; /* less than half the time of 6, files up to a tenth larger */

/* A file of several pictures, to which each writer in turn adds its own. */
typedef struct cli_film {
    cli_output output;
    char header[1024]; /* of Y4M; "" before the first picture */
} cli_film;

typedef struct cli_write_options {
    bool big_endian, interleaved; /* raw; interleaved pictures are so in memory */
    cli_compression compression;  /* TIFF */
    int png_level;                /* of zlib, 0 to 9; 0: none */
    const cli_metadata *metadata; /* PNG and TIFF; NULL: none */
    cli_film *film;               /* Y4M and raw: gets the picture; NULL: a file of its own */
    uint32_t fps[2];              /* Y4M: frames, and in how many seconds */
    bool quiet;
} cli_write_options;

typedef struct cli_writer cli_writer;

/* The functions of a format, NULL where not needed. All report their errors. */
typedef struct cli_writer_kind {
    bool (*open)(cli_writer *writer);
    bool (*write_row)(cli_writer *writer, uint8_t *row); /* the next one of the view (cli_view_row); may change it */
    bool (*planes)(cli_writer *writer); /* instead of `write_row`: writes the picture's rows that are in memory */
    bool (*finish)(cli_writer *writer); /* writes what follows the last row */
    void (*close)(cli_writer *writer);  /* releases what `state` refers to; also called after a failed `open` */
    size_t state_bytes;                 /* of `state`, which is zero before `open` */
} cli_writer_kind;

struct cli_writer {
    cli_output output; /* unused and closed for numbered planes */
    const char *name;  /* for messages */
    const char *path;
    cli_format format;
    const cli_picture *picture;
    const cli_view *view; /* NULL where planes are written without conversion */
    cli_write_options options;
    uint32_t next;  /* next row of the view */
    uint64_t start; /* where the first plane begins, if planes follow each other */
    uint8_t *row;
    const cli_writer_kind *kind;
    void *state; /* private to the kind; owned */
};

/* Picture and view must have passed cli_format_check and must outlive the writer. The view is NULL for a format of
 * planes (CLI_FORMAT_PGX and later). After a failure there is nothing to close. */
bool cli_writer_open(cli_writer *writer, const char *path, cli_format format, const cli_picture *picture,
                     const cli_view *view, const cli_write_options *options);

/* Writes the next rows that are in memory: up to row `end` of the view, or the picture's rows of each plane. */
bool cli_writer_rows(cli_writer *writer, uint32_t end);

/* Completes the file and gives it its name if `done` is true and nothing fails; otherwise leaves no trace of it.
 * Returns whether the file exists. */
bool cli_writer_close(cli_writer *writer, bool done);

/* Writes a whole picture in memory. False after a report. */
bool cli_write_picture(const char *path, cli_format format, const cli_picture *picture, const cli_write_options *how);

/* Can the format be written row by row to this path? Consecutive planes in one file need an output that can seek. */
bool cli_writer_takes_rows(const char *path, cli_format format, const cli_write_options *options);

extern const cli_writer_kind cli_png_writer, cli_pnm_writer, cli_pgx_writer, cli_raw_writer, cli_tiff_writer,
    cli_y4m_writer;

#endif
