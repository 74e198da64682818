/* An image file that is read by rows: opening tells what it holds, then rows come as they are asked for, top to bottom.
 */
#ifndef L2K_PICTURES_READER_H
#define L2K_PICTURES_READER_H

#include "pictures/files/file.h"
#include "pictures/picture.h"

/* Samples without a header, as --raw describes them. */
typedef struct cli_raw {
    uint32_t width, height, count, precision;
    bool is_signed, big_endian, interleaved;
} cli_raw;

typedef struct cli_reader cli_reader;

/* What a format does. All of them report their errors. */
typedef struct cli_reader_kind {
    /* Fills in reader->picture but for its samples, and reader->layout. What the header promises is held against the
     * length of the file. */
    bool (*open)(cli_reader *reader);
    /* Fills the planes with picture.rows, which follow on those before. */
    bool (*read)(cli_reader *reader);
    /* Frees reader->state; also after a failed `open`. NULL where there is none. */
    void (*close)(cli_reader *reader);
} cli_reader_kind;

struct cli_reader {
    cli_input input;  /* of numbered planes its deadline alone */
    const char *name; /* for messages */
    const char *path;
    const cli_raw *raw; /* the description for a file without a header, or NULL */
    bool quiet;
    const cli_reader_kind *kind;
    cli_picture picture;
    cli_layout layout;
    void *state; /* of the kind */
};

/* Opens `path`, "-", or the numbered planes NAME_0.pgx, NAME_1.pgx, ... where NAME.pgx itself does not exist. With
 * `raw`, which must outlive the reader, the file has no header; else its content tells what it is. */
bool cli_reader_open(cli_reader *reader, const char *path, const cli_raw *raw, bool quiet);

/* The same from an input that is open already, and that is the reader's from then on. */
bool cli_reader_open_input(cli_reader *reader, const cli_input *input, const cli_raw *raw, bool quiet);

/* Does the content of an input tell what it is? */
bool cli_reader_knows(const cli_input *input);

/* Is `path` one that stands for numbered planes? */
bool cli_is_plane_set(const char *path);

/* Can `path` be opened and read once more, unlike a pipe? */
bool cli_reader_can_repeat(const char *path);

/* All rows into reader->picture, within the time of --timeout from the first call on (opening had its own); or, of a
 * picture that has its place on the reference grid (cli_picture_place), the rows y0 to y1 of that. Each call goes on
 * where the one before ended. */
bool cli_reader_all(cli_reader *reader);
bool cli_reader_rows(cli_reader *reader, uint32_t y0, uint32_t y1);

/* For readers, between one row and the next: little of a file can unpack for long. False with a report when the time of
 * --timeout is up. */
bool cli_reader_in_time(const cli_reader *reader);

/* Have all rows been asked for? */
bool cli_reader_at_end(const cli_reader *reader);

/* Frees the picture, too. Harmless after a failed open. */
void cli_reader_close(cli_reader *reader);

/* Moves the picture out of the reader, closes it, and returns `done`, with which reading has ended. */
bool cli_reader_finish(cli_reader *reader, bool done, cli_picture *picture);

extern const cli_reader_kind cli_png_reader, cli_pnm_reader, cli_pgx_reader, cli_planes_reader, cli_raw_reader,
    cli_tiff_reader;

#endif
