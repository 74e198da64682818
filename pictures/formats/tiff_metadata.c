/* XMP, IPTC, Exif and georeferencing between TIFF files and blobs. In a TIFF file, Exif is tags of its directory and
 * further directories (Exif 2.32, 4.6.2); as a blob it is a TIFF file of its own, without samples. */
#ifdef L2K_WITH_TIFF

#include <stdlib.h>

#include "pictures/formats/ifd.h"
#include "pictures/formats/tiff.h"
#include "pictures/user/report.h"

/* Texts that describe the picture, in tags that libtiff knows; orientation and directories. */
static const uint16_t described[] = {TIFFTAG_IMAGEDESCRIPTION, TIFFTAG_MAKE,     TIFFTAG_MODEL,  TIFFTAG_ORIENTATION,
                                     TIFFTAG_SOFTWARE,         TIFFTAG_DATETIME, TIFFTAG_ARTIST, TIFFTAG_HOSTCOMPUTER,
                                     TIFFTAG_COPYRIGHT,        CLI_TAG_EXIF,     CLI_TAG_GPS,    0};

/* GeoTIFF (OGC 19-008r4): scale, tie points, transformation, keys and their numbers and texts; and GDAL's text with the
 * value of pixels without data. */
enum {
    TAG_PIXEL_SCALE = 33550,
    TAG_TIE_POINT = 33922,
    TAG_TRANSFORMATION = 34264,
    TAG_GEO_KEYS = 34735,
    TAG_NO_DATA = 42113
};
static const uint16_t geo[] = {TAG_PIXEL_SCALE, TAG_TIE_POINT, TAG_TRANSFORMATION, TAG_GEO_KEYS,
                               34736,           34737,         TAG_NO_DATA,        0};

/* ---- Reading ------------------------------------------------------------------------------------------------- */

static ptrdiff_t read_input(const void *user, void *buffer, size_t bytes, uint64_t offset)
{
    return cli_input_read_at(user, buffer, bytes, offset);
}

static bool take_tag(cli_reader *reader, const cli_ifd_source *source, uint64_t ifd, uint16_t tag, l2k_content kind)
{
    cli_ifd_entry entry;
    if (!cli_ifd_find(source, ifd, tag, &entry))
        return true;
    uint8_t *value = cli_ifd_load(source, &entry, CLI_MOST_METADATA, source->big_endian);
    const uint64_t bytes = value || entry.bytes > CLI_MOST_METADATA ? entry.bytes : 0; /* 0: damaged */
    const bool done = cli_reader_keep(reader, kind, value, bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX);
    free(value);
    return done;
}

/* Orientation 1 alone is not worth an Exif blob. */
static bool says_anything(const cli_ifd_source *source, uint64_t ifd)
{
    cli_ifd_entry entry;
    for (const uint16_t *tag = described; *tag; tag++)
        if (cli_ifd_find(source, ifd, *tag, &entry) &&
            (*tag != TIFFTAG_ORIENTATION || cli_ifd_number(source, &entry) > ORIENTATION_TOPLEFT))
            return true;
    return false;
}

/* A TIFF file of some of the tags, in the file's own byte order, so that values need no change: a gap behind the
 * header, and then the directory. */
static bool take_tags(cli_reader *reader, const cli_ifd_source *source, uint64_t ifd, const uint16_t *only,
                      const cli_ifd_tag *more, l2k_content kind)
{
    enum { HEAD_BYTES = 8, GAP = 2 };
    cli_ifd_sink sink = {.big_endian = source->big_endian};
    const char *head = source->big_endian ? "MM\0*\0\0\0\12" : "II*\0\12\0\0\0";
    uint64_t place;
    const bool copied = cli_ifd_append(&sink, head, HEAD_BYTES) && cli_ifd_append(&sink, NULL, GAP) &&
                        cli_ifd_copy(source, ifd, only, more, &sink, &place);
    const bool done = cli_reader_keep(reader, kind, sink.data, copied ? sink.bytes : 0);
    free(sink.data);
    return done;
}

/* In a GeoJP2 box, the tags belong to a picture of one pixel, whose sample is in the gap. */
static bool take_geo(cli_reader *reader, const cli_ifd_source *source, uint64_t ifd)
{
    static const cli_ifd_tag pixel[] = {{TIFFTAG_IMAGEWIDTH, 1},
                                        {TIFFTAG_IMAGELENGTH, 1},
                                        {TIFFTAG_BITSPERSAMPLE, 8},
                                        {TIFFTAG_COMPRESSION, COMPRESSION_NONE},
                                        {TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK},
                                        {TIFFTAG_STRIPOFFSETS, 8},
                                        {TIFFTAG_SAMPLESPERPIXEL, 1},
                                        {TIFFTAG_ROWSPERSTRIP, 1},
                                        {TIFFTAG_STRIPBYTECOUNTS, 1},
                                        {0, 0}};
    cli_ifd_entry entry;
    return (!cli_ifd_find(source, ifd, TAG_GEO_KEYS, &entry) && !cli_ifd_find(source, ifd, TAG_NO_DATA, &entry)) ||
           take_tags(reader, source, ifd, geo, pixel, L2K_CONTENT_GEOTIFF);
}

bool cli_tiff_take_metadata(cli_reader *reader, TIFF *tiff)
{
    cli_ifd_source source = {.read = read_input, .user = &reader->input};
    const uint64_t ifd = TIFFCurrentDirOffset(tiff);
    if (!cli_ifd_open(&source))
        return true; /* libtiff has read it, but let it be */
    return take_tag(reader, &source, ifd, TIFFTAG_XMLPACKET, L2K_CONTENT_XMP) &&
           take_tag(reader, &source, ifd, TIFFTAG_RICHTIFFIPTC, L2K_CONTENT_IPTC) &&
           (!says_anything(&source, ifd) || take_tags(reader, &source, ifd, described, NULL, L2K_CONTENT_EXIF)) &&
           take_geo(reader, &source, ifd);
}

/* ---- Writing ------------------------------------------------------------------------------------------------- */

/* Appends a directory to the file, with a tag that points to it. False if it is damaged. */
static bool put_directory(cli_tiff_io *io, const cli_ifd_source *source, uint16_t tag, bool big)
{
    cli_ifd_sink sink = {.big_endian = !cli_is_little_endian(), .big = big};
    cli_ifd_entry entry;
    uint64_t place;
    if (!cli_ifd_find(source, source->first, tag, &entry))
        return true;
    sink.base = io->output->bytes + io->output->bytes % 2;
    bool done = cli_ifd_copy(source, cli_ifd_number(source, &entry), NULL, NULL, &sink, &place);
    if (done && cli_output_write_at(io->output, sink.base, sink.data, sink.bytes))
        done = TIFFSetField(io->tiff, tag, place) == 1;
    free(sink.data);
    return done;
}

static bool put_exif(cli_tiff_io *io, const cli_blob *exif, bool big)
{
    enum { ASCII = 2, MOST_TEXT = 1 << 16 };
    cli_ifd_source source = {.read = cli_ifd_read_blob, .user = exif};
    cli_ifd_entry entry;
    if (!cli_ifd_open(&source))
        return false;
    for (const uint16_t *tag = described; *tag < CLI_TAG_EXIF; tag++) {
        if (!cli_ifd_find(&source, source.first, *tag, &entry))
            continue;
        if (*tag == TIFFTAG_ORIENTATION) {
            const uint64_t orientation = cli_ifd_number(&source, &entry);
            if (orientation >= ORIENTATION_TOPLEFT && orientation <= ORIENTATION_LEFTBOT)
                TIFFSetField(io->tiff, *tag, (uint16_t)orientation);
        } else if (entry.type == ASCII) {
            char *text = (char *)cli_ifd_load(&source, &entry, MOST_TEXT, source.big_endian);
            if (text && *text)
                TIFFSetField(io->tiff, *tag, text);
            free(text);
        }
    }
    return put_directory(io, &source, CLI_TAG_EXIF, big) && put_directory(io, &source, CLI_TAG_GPS, big);
}

/* libtiff does not know these tags. */
static void declare_geo(TIFF *tiff)
{
    static const TIFFFieldInfo fields[] = {
        {33550, TIFF_VARIABLE2, TIFF_VARIABLE2, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1, (char *)(uintptr_t) "ModelPixelScale"},
        {33922, TIFF_VARIABLE2, TIFF_VARIABLE2, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1, (char *)(uintptr_t) "ModelTiepoint"},
        {34264, TIFF_VARIABLE2, TIFF_VARIABLE2, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1,
         (char *)(uintptr_t) "ModelTransformation"},
        {34735, TIFF_VARIABLE2, TIFF_VARIABLE2, TIFF_SHORT, FIELD_CUSTOM, 1, 1, (char *)(uintptr_t) "GeoKeyDirectory"},
        {34736, TIFF_VARIABLE2, TIFF_VARIABLE2, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1, (char *)(uintptr_t) "GeoDoubleParams"},
        {34737, TIFF_VARIABLE2, TIFF_VARIABLE2, TIFF_ASCII, FIELD_CUSTOM, 1, 1, (char *)(uintptr_t) "GeoAsciiParams"},
        {TAG_NO_DATA, TIFF_VARIABLE2, TIFF_VARIABLE2, TIFF_ASCII, FIELD_CUSTOM, 1, 1,
         (char *)(uintptr_t) "GDALNoData"}};
    TIFFMergeFieldInfo(tiff, fields, sizeof fields / sizeof fields[0]);
}

/* Whether coordinates are those of pixels' centres (GTRasterTypeGeoKey is RasterPixelIsPoint): keys
 * have four numbers. */
static bool is_of_centres(const cli_ifd_source *source)
{
    enum { RASTER_TYPE = 1025, POINT = 2 };
    cli_ifd_entry entry;
    uint16_t *keys = NULL;
    bool found = false;
    if (cli_ifd_find(source, source->first, TAG_GEO_KEYS, &entry) && entry.type == TIFF_SHORT)
        keys = (uint16_t *)(void *)cli_ifd_load(source, &entry, CLI_MOST_METADATA, !cli_is_little_endian());
    for (uint64_t i = 4; keys && i + 3 < entry.count; i += 4)
        found = found || (keys[i] == RASTER_TYPE && keys[i + 3] == POINT);
    free(keys);
    return found;
}

/* From coordinates of the whole picture to those of the part. */
static void move_to_part(uint16_t tag, double *values, uint64_t count, const cli_part *part)
{
    for (uint64_t i = 0; tag == TAG_PIXEL_SCALE && i < 2 && i < count; i++)
        values[i] *= part->scale;
    for (uint64_t i = 0; tag == TAG_TIE_POINT && i + 5 < count; i += 6) {
        values[i] = (values[i] - part->x) / part->scale;
        values[i + 1] = (values[i + 1] - part->y) / part->scale;
    }
    for (uint64_t i = 0; tag == TAG_TRANSFORMATION && i + 3 < count && i < 12; i += 4) {
        values[i + 3] += values[i] * part->x + values[i + 1] * part->y;
        values[i] *= part->scale;
        values[i + 1] *= part->scale;
    }
}

static bool put_geo_tag(TIFF *tiff, const cli_ifd_source *source, uint16_t tag, const cli_part *part)
{
    cli_ifd_entry entry;
    if (!cli_ifd_find(source, source->first, tag, &entry))
        return true;
    const TIFFField *field = TIFFFindField(tiff, tag, TIFF_ANY);
    if (!field || TIFFFieldDataType(field) != (TIFFDataType)entry.type)
        return false;
    uint8_t *value = cli_ifd_load(source, &entry, CLI_MOST_METADATA, !cli_is_little_endian());
    if (value && part->scale > 0 && entry.type == TIFF_DOUBLE)
        move_to_part(tag, (double *)(void *)value, entry.count, part);
    const bool done = value && TIFFSetField(tiff, tag, (uint32_t)entry.count, value) == 1;
    free(value);
    return done;
}

static bool put_geo(TIFF *tiff, const cli_blob *blob, cli_part part)
{
    cli_ifd_source source = {.read = cli_ifd_read_blob, .user = blob};
    bool done = cli_ifd_open(&source);
    declare_geo(tiff);
    if (done && is_of_centres(&source)) {
        part.x += (part.scale - 1) / 2;
        part.y += (part.scale - 1) / 2;
    }
    for (const uint16_t *tag = geo; done && *tag; tag++)
        done = put_geo_tag(tiff, &source, *tag, &part);
    return done;
}

/* Old versions of libtiff take IPTC as 32-bit numbers. */
static bool put_blob(TIFF *tiff, uint32_t tag, const cli_blob *blob)
{
    const TIFFField *field = TIFFFindField(tiff, tag, TIFF_ANY);
    if (!field || TIFFDataWidth(TIFFFieldDataType(field)) != 1)
        return false;
    return TIFFSetField(tiff, tag, (uint32_t)blob->bytes, blob->data) == 1;
}

static bool put(cli_tiff_io *io, l2k_content kind, const cli_metadata *metadata, bool big)
{
    const cli_blob *blob = &metadata->blobs[kind];
    if (kind == L2K_CONTENT_EXIF)
        return put_exif(io, blob, big);
    if (kind == L2K_CONTENT_GEOTIFF)
        return put_geo(io->tiff, blob, metadata->part);
    return put_blob(io->tiff, kind == L2K_CONTENT_XMP ? TIFFTAG_XMLPACKET : TIFFTAG_RICHTIFFIPTC, blob);
}

void cli_tiff_put_metadata(cli_writer *writer, cli_tiff_io *io, bool big)
{
    const cli_metadata *metadata = writer->options.metadata;
    for (int kind = 0; metadata && kind < CLI_NUM_METADATA; kind++)
        if (metadata->blobs[kind].data && !put(io, (l2k_content)kind, metadata, big) && !writer->options.quiet)
            cli_warning(writer->name, "the %s cannot be written, at least not all of it", cli_metadata_names[kind]);
    io->message[0] = 0; /* libtiff's complaints about metadata are no failures */
}

#endif
