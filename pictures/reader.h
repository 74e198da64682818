/* A picture file that is read by rows: opening determines what it holds, then rows are delivered on request, top to
 * bottom. */
#ifndef L2K_PICTURES_READER_H
#define L2K_PICTURES_READER_H

#include "pictures/files/file.h"
#include "pictures/picture.h"

/* Samples without a header, as --raw describes them. */
typedef struct cli_raw {
    uint32_t width, height, count, precision;
    bool is_signed, big_endian, interleaved;
} cli_raw;

typedef struct cli_read_options {
    const cli_raw *raw; /* the description of a file without a header, which outlives the reader; or NULL */
    unsigned page;      /* of a TIFF or Y4M file, from 1 on; 0: the first, with a warning about others */
    bool indexed;       /* of a PNG file with a palette: the picture has indices, and the palette */
    bool quiet;
} cli_read_options;

typedef struct cli_reader cli_reader;

/* The functions of a format. All report their errors. */
typedef struct cli_reader_kind {
    /* Fills in reader->picture, except the samples, and reader->layout. Sizes stated in the header are checked against
     * the length of the file. */
    bool (*open)(cli_reader *reader);
    /* Fills the planes with picture.rows, which directly follow the previous ones. */
    bool (*read)(cli_reader *reader);
    /* Releases what reader->state refers to; also called after a failed `open`. NULL where there is nothing. */
    void (*close)(cli_reader *reader);
    size_t state_bytes; /* of reader->state, which is zero before `open` */
} cli_reader_kind;

struct cli_reader {
    cli_input input;  /* unused for numbered planes */
    const char *name; /* for messages; the path of numbered planes */
    cli_read_options options;
    bool more_pages;     /* another page follows this one */
    uint32_t precision;  /* of samples after reading; 0: that of the file */
    bool keeps_values;   /* instead of scaling them */
    uint8_t *precisions; /* then, of the file's components */
    const cli_reader_kind *kind;
    cli_picture picture;
    cli_layout layout;
    uint32_t rate[2], aspect[2]; /* of a Y4M file, as it says: 0 if it does not */
    char scan;                   /* likewise: 't' or 'b' for fields, the top or bottom one first */
    void *state;                 /* private to the kind; owned */
};

/* Opens `path`, "-", or the numbered planes NAME_0.pgx, NAME_1.pgx, ... where NAME.pgx itself does not exist. Without
 * `raw`, the content determines the format. A file that is neither TIFF nor Y4M has page 1 alone. */
bool cli_reader_open(cli_reader *reader, const char *path, const cli_read_options *options);

/* The same from an open input, whose ownership passes to the reader. */
bool cli_reader_open_input(cli_reader *reader, const cli_input *input, const cli_read_options *options);

/* Counts the pages by their headers; overviews and masks in a TIFF file are none. False after a report of one that
 * cannot be read: `count` is that of those before it. */
bool cli_reader_pages(const char *path, unsigned *count);

/* From now on samples get this precision, which the picture then states: scaled, or with their values, which must fit.
 * False after a report. */
bool cli_reader_set_precision(cli_reader *reader, uint32_t bits, bool keeps_values);

/* Does the content of an input identify a known format? */
bool cli_reader_knows(const cli_input *input);

/* Does `path` stand for numbered planes? */
bool cli_is_plane_set(const char *path);

/* Can `path` be opened and read again, unlike a pipe? */
bool cli_reader_can_repeat(const char *path);

/* Reads all rows into reader->picture, or rows y0 to y1 of a picture placed on the reference grid (cli_picture_place).
 * Each call continues where the previous one ended. */
bool cli_reader_all(cli_reader *reader);
bool cli_reader_rows(cli_reader *reader, uint32_t y0, uint32_t y1);

/* For readers: cli_metadata_keep for the picture. */
bool cli_reader_keep(cli_reader *reader, l2k_content kind, const void *data, size_t bytes);

/* Goes from a frame of a Y4M file that has been read to the next one. */
bool cli_y4m_next(cli_reader *reader, bool *ended);

/* Have all rows been requested? */
bool cli_reader_at_end(const cli_reader *reader);

/* Also frees the picture. Harmless after a failed open. */
void cli_reader_close(cli_reader *reader);

extern const cli_reader_kind cli_png_reader, cli_pnm_reader, cli_pgx_reader, cli_planes_reader, cli_raw_reader,
    cli_tiff_reader, cli_jpeg_reader, cli_y4m_reader;

#endif
