/* Shared by the TIFF reader and writer: libtiff on the command's own files, with its messages kept. */
#ifndef L2K_PICTURES_FORMATS_TIFF_H
#define L2K_PICTURES_FORMATS_TIFF_H

#include <tiffio.h>

#include "pictures/reader.h"
#include "pictures/writer.h"

typedef struct cli_tiff_io {
    TIFF *tiff;
    cli_input *input; /* one of input and output is NULL */
    cli_output *output;
    uint64_t at;
    bool ended;           /* something was read past the end of the file */
    char message[200];    /* libtiff's first complaint since the last cli_tiff_fail, or "" */
    l2k_decoder *decoder; /* of JPEG 2000, made when needed */
    l2k_encoder *encoder;
} cli_tiff_io;

/* `mode` is that of TIFFOpen. The caller has set input or output. Returns NULL without a report. */
TIFF *cli_tiff_open(cli_tiff_io *io, const char *name, const char *mode);
void cli_tiff_close(cli_tiff_io *io);

/* Reports libtiff's message, or `otherwise` where it gave none. Returns false. */
bool cli_tiff_fail(const cli_tiff_io *io, const char *name, const char *otherwise);

/* How a file stores its samples, for a reader to undo. */
typedef struct cli_tiff_layout {
    uint32_t width, height;
    uint32_t chunk_width, chunk_height; /* of a tile, or of a strip that must be decoded as a whole */
    uint32_t h, v;                      /* YCbCr sub-sampling; 1 where samples are not in units */
    uint16_t bits, samples;             /* bits of a sample, samples of a pixel in the file */
    bool is_signed;
    bool inverted; /* 0 is white, in the first sample */
    bool separate; /* a plane for each sample */
    bool tiled;
    bool j2k;                   /* strips and tiles are codestreams */
    const uint16_t *palette[3]; /* or NULL; owned by libtiff */
    uint32_t palette_bits;      /* 8 or 16, as its entries require */
    uint32_t palette_shift;     /* right shift of an entry to that */
} cli_tiff_layout;

/* Reads the tags of the first page into the layout and reader->picture. */
bool cli_tiff_describe(cli_reader *reader, TIFF *tiff, cli_tiff_layout *layout);

/* Compression schemes of JPEG 2000, of which libtiff knows none. Aperio's hold YCbCr, or RGB. In 33004 libvips puts
 * YCbCr that it calls RGB, and others RGB. */
enum { CLI_TIFF_APERIO_YCC = 33003, CLI_TIFF_APERIO = 33005, CLI_TIFF_J2K = 34712, CLI_TIFF_TILE = 256 };
bool cli_tiff_is_j2k(uint16_t compression);

/* Decodes a strip or tile, of which `width` and `height` are in the picture, to interleaved samples in native order.
 * False with a complaint in io->message, or without one for want of memory. */
bool cli_tiff_decode(cli_tiff_io *io, const cli_tiff_layout *layout, uint32_t index, uint32_t width, uint32_t height,
                     uint8_t *chunk);

/* Writes a row of tiles, all whole, whose samples are interleaved in native order; `first` is the number of their first
 * row. May change them. False as above. */
bool cli_tiff_encode(cli_tiff_io *io, const cli_view *view, uint16_t compression, uint8_t *rows, uint32_t first);

/* Reads XMP, IPTC and Exif of the page into reader->picture; leaves out damaged ones, with a warning. False only for
 * want of memory. */
bool cli_tiff_take_metadata(cli_reader *reader, TIFF *tiff);

/* Writes those of the writer's options; leaves out, with a warning, what it cannot write. `big`: to a BigTIFF. */
void cli_tiff_put_metadata(cli_writer *writer, cli_tiff_io *io, bool big);

#endif
