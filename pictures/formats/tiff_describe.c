/* Reads the tags of a TIFF file: how its samples are stored, and what they mean. */
#ifdef L2K_WITH_TIFF

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pictures/formats/tiff.h"
#include "pictures/user/report.h"

#define MOST_BITS 32u

typedef struct description {
    cli_reader *reader;
    TIFF *tiff;
    cli_tiff_layout *layout;
    uint16_t photometric, compression;
    uint16_t colours; /* components that are colours; the others are extra samples */
    l2k_colour colour;
    bool opacity; /* one was found */
} description;

static uint16_t tag16(TIFF *tiff, uint32_t tag)
{
    uint16_t value = 0;
    TIFFGetFieldDefaulted(tiff, tag, &value);
    return value;
}

static bool refuse(const description *d, const char *what)
{
    return cli_error(d->reader->name, "TIFF: %s not supported", what);
}

static bool check_samples(description *d)
{
    cli_tiff_layout *layout = d->layout;
    const uint16_t format = tag16(d->tiff, TIFFTAG_SAMPLEFORMAT);
    layout->bits = tag16(d->tiff, TIFFTAG_BITSPERSAMPLE);
    layout->samples = tag16(d->tiff, TIFFTAG_SAMPLESPERPIXEL);
    layout->is_signed = format == SAMPLEFORMAT_INT;
    if (format == SAMPLEFORMAT_IEEEFP)
        return cli_error(d->reader->name,
                         "TIFF: %u-bit floating-point samples are not supported; integers of 1 to %u "
                         "bits are",
                         layout->bits, MOST_BITS);
    if (format == SAMPLEFORMAT_COMPLEXINT || format == SAMPLEFORMAT_COMPLEXIEEEFP)
        return refuse(d, "complex samples are");
    if (!layout->bits || layout->bits > MOST_BITS)
        return cli_error(d->reader->name, "TIFF: samples of %u bits are not supported; 1 to %u are", layout->bits,
                         MOST_BITS);
    if (!layout->samples || layout->samples > L2K_MAX_COMPONENTS)
        return cli_error(d->reader->name, "TIFF: %u samples per pixel; 1 to %u are possible", layout->samples,
                         L2K_MAX_COMPONENTS);
    return true;
}

static bool check_compression(description *d)
{
    d->compression = tag16(d->tiff, TIFFTAG_COMPRESSION);
    d->layout->j2k = cli_tiff_is_j2k(d->compression);
    if (d->layout->j2k && d->layout->bits != 8 && d->layout->bits != 16)
        return refuse(d, "JPEG 2000 of other than 8 or 16 bits is");
    if (d->compression == COMPRESSION_OJPEG)
        return refuse(d, "old-style JPEG compression is");
    if (!d->layout->j2k && !TIFFIsCODECConfigured(d->compression))
        return cli_error(d->reader->name, "TIFF: compression scheme %u is not in this build of libtiff",
                         d->compression);
    return true;
}

/* A palette has 16-bit entries, which often are 8-bit values: times 257, times 256 or, in old files, unscaled. */
static bool take_palette(description *d)
{
    cli_tiff_layout *layout = d->layout;
    uint16_t *maps[3], any = 0;
    bool shifted = true;
    if (layout->samples != 1 || layout->is_signed)
        return refuse(d, "a palette with extra or signed samples is");
    if (!TIFFGetField(d->tiff, TIFFTAG_COLORMAP, &maps[0], &maps[1], &maps[2]))
        return cli_error(d->reader->name, "TIFF: there is no colour map");
    for (int k = 0; k < 3; k++) {
        layout->palette[k] = maps[k];
        for (uint32_t i = 0; i < 1u << layout->bits; i++) {
            any |= maps[k][i];
            shifted = shifted && (maps[k][i] % 257 == 0 || maps[k][i] % 256 == 0);
        }
    }
    layout->palette_bits = any <= 255 || shifted ? 8 : 16;
    layout->palette_shift = any > 255 && shifted ? 8 : 0;
    d->colours = 3;
    d->colour = L2K_COLOUR_SRGB;
    return true;
}

/* True for the coefficients of sYCC: ITU-R BT.601, full range. */
static bool is_usual_ycc(TIFF *tiff)
{
    static const float usual[3] = {0.299f, 0.587f, 0.114f}, range[6] = {0, 255, 128, 255, 128, 255};
    float *coefficients = NULL, *reference = NULL;
    if (TIFFGetField(tiff, TIFFTAG_YCBCRCOEFFICIENTS, &coefficients))
        for (int i = 0; i < 3; i++)
            if (coefficients[i] < usual[i] - 0.001f || coefficients[i] > usual[i] + 0.001f)
                return false;
    if (TIFFGetField(tiff, TIFFTAG_REFERENCEBLACKWHITE, &reference))
        for (int i = 0; i < 6; i++)
            if (reference[i] != range[i])
                return false;
    return true;
}

/* libtiff converts JPEG to RGB; in other schemes the sub-sampled components are kept. */
static bool take_ycc(description *d)
{
    cli_tiff_layout *layout = d->layout;
    uint16_t h, v;
    d->colours = 3;
    if (d->compression == COMPRESSION_JPEG && !layout->separate) {
        d->colour = L2K_COLOUR_SRGB;
        return TIFFSetField(d->tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB) || refuse(d, "this kind of JPEG is");
    }
    d->colour = L2K_COLOUR_SYCC;
    if (layout->j2k) /* which repeats the samples of smaller components */
        return (layout->samples == 3 && is_usual_ycc(d->tiff)) || refuse(d, "this kind of YCbCr is");
    TIFFGetFieldDefaulted(d->tiff, TIFFTAG_YCBCRSUBSAMPLING, &h, &v);
    if (layout->samples != 3 || layout->bits != 8 || layout->is_signed || !is_usual_ycc(d->tiff))
        return refuse(d, "YCbCr other than three 8-bit samples with BT.601 coefficients and full range is");
    if ((h != 1 && h != 2 && h != 4) || (v != 1 && v != 2 && v != 4))
        return cli_error(d->reader->name, "TIFF: bad YCbCr sub-sampling %u, %u", h, v);
    if (layout->separate && (h > 1 || v > 1))
        return refuse(d, "sub-sampled YCbCr in separate planes is");
    layout->h = h;
    layout->v = v;
    return true;
}

static bool take_colours(description *d)
{
    cli_tiff_layout *layout = d->layout;
    uint16_t inks = 4;
    if (!TIFFGetField(d->tiff, TIFFTAG_PHOTOMETRIC, &d->photometric))
        d->photometric = layout->samples == 3 || layout->samples == 4 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
    if (d->compression == CLI_TIFF_APERIO_YCC && layout->samples == 3)
        d->photometric = PHOTOMETRIC_YCBCR; /* whatever the tag says */
    switch (d->photometric) {
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_MINISBLACK:
        layout->inverted = d->photometric == PHOTOMETRIC_MINISWHITE;
        d->colours = 1;
        d->colour = L2K_COLOUR_GRAY;
        return true;
    case PHOTOMETRIC_RGB:
        d->colours = 3;
        d->colour = L2K_COLOUR_SRGB;
        return true;
    case PHOTOMETRIC_PALETTE:
        return take_palette(d);
    case PHOTOMETRIC_SEPARATED:
        TIFFGetFieldDefaulted(d->tiff, TIFFTAG_NUMBEROFINKS, &inks);
        if (!inks)
            return cli_error(d->reader->name, "TIFF: the number of inks is 0");
        d->colours = inks;
        d->colour = tag16(d->tiff, TIFFTAG_INKSET) == INKSET_CMYK && inks == 4 ? L2K_COLOUR_CMYK : L2K_COLOUR_UNKNOWN;
        return true;
    case PHOTOMETRIC_YCBCR:
        return take_ycc(d);
    case PHOTOMETRIC_MASK:
        return refuse(d, "transparency masks are");
    case PHOTOMETRIC_CIELAB:
    case PHOTOMETRIC_ICCLAB:
    case PHOTOMETRIC_ITULAB:
        return refuse(d, "CIELab colours are");
    case PHOTOMETRIC_LOGL:
    case PHOTOMETRIC_LOGLUV:
        return refuse(d, "LogLuv colours are");
    case PHOTOMETRIC_CFA:
        return refuse(d, "colour filter arrays (raw files of cameras) are");
    default:
        return refuse(d, "this photometric interpretation is");
    }
}

static void find_chunks(description *d)
{
    cli_tiff_layout *layout = d->layout;
    uint32_t rows = layout->height;
    if (layout->tiled) {
        TIFFGetField(d->tiff, TIFFTAG_TILEWIDTH, &layout->chunk_width);
        TIFFGetField(d->tiff, TIFFTAG_TILELENGTH, &layout->chunk_height);
        return;
    }
    TIFFGetFieldDefaulted(d->tiff, TIFFTAG_ROWSPERSTRIP, &rows);
    layout->chunk_width = layout->width;
    layout->chunk_height = rows && rows < layout->height ? rows : layout->height;
}

/* The most that a scheme can expand a byte, which bounds the file's length from below. 0 where there is no such
 * limit. */
static uint32_t most_expansion(uint16_t compression)
{
    static const uint32_t known[][2] = {{COMPRESSION_NONE, 1},
                                        {COMPRESSION_PACKBITS, 64},
                                        {COMPRESSION_LZW, 4096},
                                        {COMPRESSION_DEFLATE, 1032},
                                        {COMPRESSION_ADOBE_DEFLATE, 1032}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i][0] == compression)
            return known[i][1];
    return 0;
}

/* A picture has one opacity channel (I.5.3.6), the first: the meaning of others is undefined. */
static uint16_t extra_type(description *d, uint32_t extra, uint16_t extras, const uint16_t *types)
{
    const uint16_t type = extra < extras ? types[extra] : EXTRASAMPLE_UNSPECIFIED;
    if (d->opacity || (type != EXTRASAMPLE_ASSOCALPHA && type != EXTRASAMPLE_UNASSALPHA))
        return EXTRASAMPLE_UNSPECIFIED;
    d->opacity = true;
    return type;
}

static void set_component(description *d, uint32_t c, uint16_t extras, const uint16_t *types)
{
    l2k_component *component = &d->reader->picture.components[c];
    const cli_tiff_layout *layout = d->layout;
    const uint32_t h = c == 1 || c == 2 ? layout->h : 1, v = c == 1 || c == 2 ? layout->v : 1;
    component->dx = h;
    component->dy = v;
    component->width = (layout->width - 1) / h + 1;
    component->height = (layout->height - 1) / v + 1;
    component->precision = layout->palette[0] ? layout->palette_bits : layout->bits;
    component->is_signed = layout->is_signed;
    if (c < d->colours)
        return;
    const uint16_t type = extra_type(d, c - d->colours, extras, types);
    component->channel = type == EXTRASAMPLE_ASSOCALPHA   ? L2K_CHANNEL_PREMULTIPLIED_OPACITY
                         : type == EXTRASAMPLE_UNASSALPHA ? L2K_CHANNEL_OPACITY
                                                          : L2K_CHANNEL_UNSPECIFIED;
    component->association = component->channel == L2K_CHANNEL_UNSPECIFIED ? 65535 : 0;
}

static bool set_components(description *d)
{
    const cli_tiff_layout *layout = d->layout;
    const uint32_t count = layout->palette[0] ? 3 : layout->samples;
    uint16_t extras = 0, *types = NULL;
    TIFFGetFieldDefaulted(d->tiff, TIFFTAG_EXTRASAMPLES, &extras, &types);
    if (count < d->colours)
        return cli_error(d->reader->name, "TIFF: %u samples per pixel are too few for %u colours", count, d->colours);
    if (!cli_picture_create(&d->reader->picture, count, d->reader->name))
        return false;
    for (uint32_t c = 0; c < count; c++)
        set_component(d, c, types ? extras : 0, types);
    const uint32_t expansion = most_expansion(d->compression);
    const uint64_t samples = cli_picture_samples(&d->reader->picture) / (layout->palette[0] ? 3 : 1);
    return cli_picture_allowed(&d->reader->picture, d->reader->name) &&
           (!expansion || cli_input_holds(&d->reader->input, samples * layout->bits / 8 / expansion));
}

static bool set_profile(description *d)
{
    cli_picture *picture = &d->reader->picture;
    uint32_t bytes = 0;
    void *profile = NULL;
    picture->image.colour = d->colour;
    if (d->colour == L2K_COLOUR_SYCC || !TIFFGetField(d->tiff, TIFFTAG_ICCPROFILE, &bytes, &profile) || !bytes)
        return true;
    return cli_picture_take_profile(picture, profile, bytes) || cli_error(d->reader->name, "out of memory");
}

/* libtiff returns a float of 24 bits; 3780 per metre must not become 3779.99992. */
static double per_metre(float value, double metre)
{
    return floor(value * metre * 1000 + 0.5) / 1000;
}

static void set_density(description *d)
{
    const uint16_t unit = tag16(d->tiff, TIFFTAG_RESOLUTIONUNIT);
    const double metre = unit == RESUNIT_CENTIMETER ? 100 : unit == RESUNIT_INCH ? 1 / 0.0254 : 0;
    float x = 0, y = 0;
    if (metre > 0 && TIFFGetField(d->tiff, TIFFTAG_XRESOLUTION, &x) && TIFFGetField(d->tiff, TIFFTAG_YRESOLUTION, &y) &&
        x > 0 && y > 0) {
        d->reader->picture.image.density_x = per_metre(x, metre);
        d->reader->picture.image.density_y = per_metre(y, metre);
    }
}

static void warn(const description *d)
{
    const uint16_t orientation = tag16(d->tiff, TIFFTAG_ORIENTATION);
    if (d->reader->options.quiet)
        return;
    if (d->reader->more_pages && !d->reader->options.page)
        cli_warning(d->reader->name, "there is more than one page; only the first is read (--page all reads all)");
    if (orientation > ORIENTATION_TOPLEFT)
        cli_warning(d->reader->name, "the orientation tag, %u, is ignored: rows keep their order in the file",
                    orientation);
}

bool cli_tiff_describe(cli_reader *reader, TIFF *tiff, cli_tiff_layout *layout)
{
    description d = {reader, tiff, layout, 0, 0, 0, L2K_COLOUR_UNKNOWN, false};
    layout->h = layout->v = 1;
    layout->tiled = TIFFIsTiled(tiff);
    layout->separate = tag16(tiff, TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE;
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &layout->width);
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &layout->height);
    if (!layout->width || !layout->height)
        return cli_error(reader->name, "TIFF: the size is %u x %u", layout->width, layout->height);
    if (!check_samples(&d) || !check_compression(&d) || !take_colours(&d) || !set_components(&d) || !set_profile(&d))
        return false;
    layout->separate = layout->separate && layout->samples > 1;
    find_chunks(&d);
    set_density(&d);
    warn(&d);
    return true;
}

#endif
