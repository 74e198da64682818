/* Reads TIFF through libtiff: strips row by row, tiles, sub-sampled YCbCr and JPEG 2000 by chunk. */
#include "pictures/reader.h"

#include "pictures/user/limits.h"
#include "pictures/user/report.h"

#ifdef L2K_WITH_TIFF

#include <stdlib.h>
#include <string.h>

#include "pictures/formats/tiff.h"

/* A whole row or tile is held in memory, and the file states its size. */
#define MOST_CHUNK ((tmsize_t)1 << 30)

typedef struct tiff_job {
    cli_tiff_io io;
    cli_tiff_layout layout;
    uint8_t *chunk; /* a row of a strip, a tile, or a strip of sub-sampled YCbCr */
    tmsize_t chunk_bytes;
} tiff_job;

static bool in_units(const cli_tiff_layout *layout)
{
    return layout->h > 1 || layout->v > 1;
}

static bool by_chunk(const cli_tiff_layout *layout)
{
    return layout->tiled || layout->j2k || in_units(layout);
}

/* ---- Opening ------------------------------------------------------------------------------------------------- */

static uint64_t bytes_of_row(const cli_tiff_layout *layout, uint32_t width)
{
    return ((uint64_t)width * (layout->separate ? 1 : layout->samples) * layout->bits + 7) / 8;
}

/* The bytes that libtiff will store, on which placing relies. */
static uint64_t bytes_of_chunk(const cli_tiff_layout *layout)
{
    if (in_units(layout)) {
        uint64_t across = (layout->chunk_width + layout->h - 1) / layout->h;
        return across * ((layout->chunk_height + layout->v - 1) / layout->v) * (layout->h * layout->v + 2);
    }
    return by_chunk(layout) ? bytes_of_row(layout, layout->chunk_width) * layout->chunk_height
                            : bytes_of_row(layout, layout->width);
}

/* A tile is decompressed as a whole, however small its part in the picture. Refuses tilings with parts so small that a
 * few KB would keep the reader busy for hours. */
static bool tiles_fit(const cli_reader *reader, const cli_tiff_layout *layout)
{
    const uint64_t across = ((uint64_t)layout->width + layout->chunk_width - 1) / layout->chunk_width;
    const uint64_t down = ((uint64_t)layout->height + layout->chunk_height - 1) / layout->chunk_height;
    const uint64_t pixels = (uint64_t)layout->width * layout->height, most = 16 * pixels + (1 << 26) / layout->samples;
    return across * down <= most / ((uint64_t)layout->chunk_width * layout->chunk_height) ||
           cli_error(reader->name, "TIFF: tiles of %u x %u are too large for %u x %u samples", layout->chunk_width,
                     layout->chunk_height, layout->width, layout->height);
}

static bool take_chunk(cli_reader *reader, tiff_job *job)
{
    const cli_tiff_layout *layout = &job->layout;
    TIFF *tiff = job->io.tiff;
    job->chunk_bytes = layout->j2k        ? (tmsize_t)bytes_of_chunk(layout)
                       : layout->tiled    ? TIFFTileSize(tiff)
                       : in_units(layout) ? TIFFStripSize(tiff)
                                          : TIFFScanlineSize(tiff);
    if (job->chunk_bytes > MOST_CHUNK || bytes_of_chunk(layout) > MOST_CHUNK)
        return cli_error(reader->name, "TIFF: a %s of %llu bytes; 2^30 is the most", layout->tiled ? "tile" : "strip",
                         (unsigned long long)bytes_of_chunk(layout));
    if (job->chunk_bytes <= 0 || (uint64_t)job->chunk_bytes != bytes_of_chunk(layout))
        return cli_tiff_fail(&job->io, reader->name, "unexpected size of a strip or tile");
    if (layout->tiled && !tiles_fit(reader, layout))
        return false;
    if (in_units(layout) && (layout->chunk_height % layout->v && layout->chunk_height < layout->height))
        return cli_error(reader->name, "TIFF: strips of %u rows cut the units of YCbCr", layout->chunk_height);
    reader->picture.held = (uint64_t)job->chunk_bytes;
    if (!cli_memory_allowed(reader->picture.held, reader->name))
        return false;
    job->chunk = malloc((size_t)job->chunk_bytes);
    return job->chunk || cli_error(reader->name, "out of memory");
}

/* Neither an overview nor a mask, nor, in the words of older files, a reduced picture. */
static bool is_page(TIFF *tiff)
{
    uint32_t kind = 0;
    uint16_t older = 0;
    TIFFGetField(tiff, TIFFTAG_SUBFILETYPE, &kind);
    TIFFGetField(tiff, TIFFTAG_OSUBFILETYPE, &older);
    return !(kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) && older != OFILETYPE_REDUCEDIMAGE;
}

/* Goes to the directory of the page, by default the first in the file, and finds out whether a page follows it. */
static bool find_page(cli_reader *reader, tiff_job *job)
{
    TIFF *tiff = job->io.tiff;
    tdir_t at = 0;
    unsigned pages = !reader->options.page;
    bool found = pages;
    if (TIFFLastDirectory(tiff) && (!reader->options.page || (reader->options.page == 1 && is_page(tiff))))
        return true;
    for (bool more = reader->options.page || TIFFReadDirectory(tiff); more && !reader->more_pages;
         more = TIFFReadDirectory(tiff)) {
        if (!is_page(tiff))
            continue;
        reader->more_pages = found;
        if (++pages == reader->options.page) {
            at = TIFFCurrentDirectory(tiff);
            found = true;
        }
    }
    if (!found)
        return cli_error(reader->name, "there is no page %u", reader->options.page);
    job->io.message[0] = 0; /* complaints about later directories */
    job->io.ended = false;
    return TIFFSetDirectory(tiff, at) || cli_tiff_fail(&job->io, reader->name, "libtiff cannot read the page");
}

static bool open_tiff(cli_reader *reader)
{
    tiff_job *job = reader->state;
    if (!cli_input_make_seekable(&reader->input, cli_memory_left(0))) /* the copy may be in memory as well */
        return false;
    job->io.input = &reader->input;
    if (!cli_tiff_open(&job->io, reader->name, "rm"))
        return cli_tiff_fail(&job->io, reader->name, "libtiff cannot read the file");
    if (job->io.ended) /* libtiff ignores a tag that is cut off */
        return cli_tiff_fail(&job->io, reader->name, "");
    job->io.message[0] = 0;
    if (!find_page(reader, job))
        return false;
    if (!cli_tiff_describe(reader, job->io.tiff, &job->layout) || !cli_tiff_take_metadata(reader, job->io.tiff))
        return false;
    reader->layout = job->layout.separate || in_units(&job->layout) ? CLI_PLANAR : CLI_INTERLEAVED;
    if (job->layout.separate || by_chunk(&job->layout))
        reader->picture.together = job->layout.chunk_height;
    return take_chunk(reader, job);
}

static void close_tiff(cli_reader *reader)
{
    tiff_job *job = reader->state;
    cli_tiff_close(&job->io);
    free(job->chunk);
}

/* ---- Samples ------------------------------------------------------------------------------------------------- */

/* Sample `index` of a row that begins at a byte; libtiff has converted 16, 24 and 32 bits to native order. */
static inline uint32_t fetch(const uint8_t *row, size_t index, uint32_t bits)
{
    uint32_t value = 0;
    if (bits == 8)
        return row[index];
    if (bits == 16)
        return ((const uint16_t *)(const void *)row)[index];
    if (bits == 32)
        return ((const uint32_t *)(const void *)row)[index];
    if (bits == 24 && cli_is_little_endian())
        return row[3 * index] | (uint32_t)row[3 * index + 1] << 8 | (uint32_t)row[3 * index + 2] << 16;
    for (size_t bit = index * bits; bit < (index + 1) * bits; bit++)
        value = value << 1 | (row[bit / 8] >> (7 - bit % 8) & 1u);
    return value;
}

static void expand(const cli_tiff_layout *layout, const uint8_t *row, size_t count, char *to)
{
    const uint32_t bytes = cli_sample_bytes(layout->palette_bits);
    const l2k_sample_type type = cli_sample_type(layout->palette_bits, false);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < 3; k++, to += bytes)
            cli_store_sample(to, type, layout->palette[k][fetch(row, i, layout->bits)] >> layout->palette_shift);
}

/* Converts `width` consecutive pixels of the file to consecutive pixels in memory. Inversion is the complement, for
 * signed samples too, and applies to gray only: opacity and other extra samples, which follow it, remain. */
static void convert(const cli_tiff_layout *layout, uint32_t plane, const uint8_t *row, size_t width, char *to)
{
    const uint32_t bits = layout->bits, mask = UINT32_MAX >> (32 - bits),
                   flip = layout->inverted && plane == 0 ? mask : 0;
    const uint32_t sign = layout->is_signed ? 1u << (bits - 1) : 0, pixel = layout->separate ? 1 : layout->samples;
    if ((bits == 8 || bits == 16) && !flip) {
        memcpy(to, row, width * pixel * (bits / 8));
        return;
    }
    for (size_t x = 0, i = 0; x < width; x++)
        for (uint32_t k = 0; k < pixel; k++, i++, to += cli_sample_bytes(bits)) {
            const uint32_t value = fetch(row, i, bits) ^ (k ? 0 : flip);
            cli_store_sample(to, cli_sample_type(bits, false), (value ^ sign) - sign);
        }
}

/* ---- Placing ------------------------------------------------------------------------------------------------- */

/* Is row y of component c requested? Then sets `row` to its place in the plane. */
static bool wanted_row(const cli_reader *reader, uint32_t c, uint64_t y, char **row)
{
    const cli_rows *rows = &reader->picture.rows[c];
    const l2k_plane *plane = &reader->picture.planes[c];
    if (y < rows->first || y - rows->first >= rows->count)
        return false;
    *row = (char *)plane->data + (ptrdiff_t)(y - rows->first) * plane->row_stride;
    return true;
}

/* Stores a row of samples that begins at column x of row y; plane 0 also stands for all interleaved samples. */
static void place_row(const cli_reader *reader, const uint8_t *from, uint32_t plane, uint32_t x, uint32_t y,
                      uint32_t width)
{
    const tiff_job *job = reader->state;
    const cli_tiff_layout *layout = &job->layout;
    char *to;
    if (!wanted_row(reader, plane, y, &to))
        return;
    to += (ptrdiff_t)x * reader->picture.planes[plane].sample_stride;
    if (layout->palette[0])
        expand(layout, from, width, to);
    else
        convert(layout, plane, from, width, to);
}

/* Stores one sample of sub-sampled YCbCr, unless it is outside the picture, where coordinates may need 33 bits, or not
 * requested. */
static void place_sample(const cli_reader *reader, uint32_t c, uint64_t x, uint64_t y, uint8_t value)
{
    char *row;
    if (x < reader->picture.components[c].width && wanted_row(reader, c, y, &row))
        row[x] = (char)value;
}

/* Units of h x v samples of Y, then one of Cb and one of Cr (TIFF 6.0, section 21). */
static void place_units(const cli_reader *reader, uint64_t x, uint64_t y)
{
    const tiff_job *job = reader->state;
    const cli_tiff_layout *layout = &job->layout;
    const uint32_t across = (layout->chunk_width + layout->h - 1) / layout->h;
    const uint32_t down = (layout->chunk_height + layout->v - 1) / layout->v;
    const uint8_t *from = job->chunk;
    for (uint32_t uy = 0; uy < down; uy++)
        for (uint32_t ux = 0; ux < across; ux++) {
            for (uint32_t j = 0; j < layout->v; j++)
                for (uint32_t i = 0; i < layout->h; i++)
                    place_sample(reader, 0, x + ux * layout->h + i, y + uy * layout->v + j, *from++);
            for (uint32_t c = 1; c < 3; c++)
                place_sample(reader, c, x / layout->h + ux, y / layout->v + uy, *from++);
        }
}

/* ---- Reading ------------------------------------------------------------------------------------------------- */

/* The last strip may have fewer rows; the rest of the chunk keeps its old content, which is below the picture. */
static bool read_chunk(const cli_reader *reader, uint32_t plane, uint32_t x, uint32_t y)
{
    tiff_job *job = reader->state;
    const cli_tiff_layout *layout = &job->layout;
    TIFF *tiff = job->io.tiff;
    const uint32_t index =
        layout->tiled ? TIFFComputeTile(tiff, x, y, 0, (uint16_t)plane) : TIFFComputeStrip(tiff, y, (uint16_t)plane);
    const uint32_t right = layout->width - x, width = right < layout->chunk_width ? right : layout->chunk_width;
    const uint32_t below = layout->height - y, height = below < layout->chunk_height ? below : layout->chunk_height;
    const size_t row_bytes = (size_t)bytes_of_row(layout, layout->chunk_width);
    const bool read = layout->j2k     ? cli_tiff_decode(&job->io, layout, index, width, height, job->chunk)
                      : layout->tiled ? TIFFReadEncodedTile(tiff, index, job->chunk, job->chunk_bytes) >= 0
                                      : TIFFReadEncodedStrip(tiff, index, job->chunk, job->chunk_bytes) >= 0;
    if (!read)
        return cli_tiff_fail(&job->io, reader->name, "a strip or tile cannot be read");
    if (in_units(layout))
        place_units(reader, x, y);
    for (uint32_t row = 0; !in_units(layout) && row < height; row++)
        place_row(reader, job->chunk + row * row_bytes, plane, x, y + row, width);
    return true;
}

/* The rows of the file that hold the requested rows: for units, of any component. */
static void wanted_range(const cli_reader *reader, uint32_t plane, uint64_t *first, uint64_t *end)
{
    const tiff_job *job = reader->state;
    const cli_rows *rows = reader->picture.rows;
    *first = rows[plane].first;
    *end = *first + rows[plane].count;
    if (in_units(&job->layout) && rows[1].count) {
        const uint64_t from = (uint64_t)rows[1].first * job->layout.v,
                       to = from + (uint64_t)rows[1].count * job->layout.v;
        *first = from < *first || *first == *end ? from : *first;
        *end = to > *end ? to : *end;
    }
    *end = *end < job->layout.height ? *end : job->layout.height;
}

static bool read_chunks(const cli_reader *reader, uint32_t plane)
{
    const tiff_job *job = reader->state;
    const cli_tiff_layout *layout = &job->layout;
    uint64_t first, end;
    wanted_range(reader, plane, &first, &end);
    for (uint64_t y = first - first % layout->chunk_height; first < end && y < end; y += layout->chunk_height)
        for (uint64_t x = 0; x < layout->width; x += layout->chunk_width)
            if (!read_chunk(reader, plane, (uint32_t)x, (uint32_t)y))
                return false;
    return true;
}

/* Reads row after row, as compression allows no skipping. In separate planes, rows of another plane were read
 * meanwhile: then the strip begins again, and the rows before the requested ones are dropped. */
static bool read_lines(const cli_reader *reader, uint32_t plane)
{
    tiff_job *job = reader->state;
    const cli_rows *rows = &reader->picture.rows[plane];
    const uint32_t skipped = job->layout.separate ? rows->first % job->layout.chunk_height : 0;
    for (uint32_t y = rows->first - skipped; y < rows->first + rows->count; y++) {
        if (TIFFReadScanline(job->io.tiff, job->chunk, y, (uint16_t)plane) != 1)
            return cli_tiff_fail(&job->io, reader->name, "a strip cannot be read");
        place_row(reader, job->chunk, plane, 0, y, job->layout.width);
    }
    return true;
}

static bool read_tiff(cli_reader *reader)
{
    const tiff_job *job = reader->state;
    const uint32_t planes = job->layout.separate ? job->layout.samples : 1;
    for (uint32_t plane = 0; plane < planes; plane++)
        if (!(by_chunk(&job->layout) ? read_chunks(reader, plane) : read_lines(reader, plane)))
            return false;
    return true;
}

const cli_reader_kind cli_tiff_reader = {open_tiff, read_tiff, close_tiff, sizeof(tiff_job)};

#endif
