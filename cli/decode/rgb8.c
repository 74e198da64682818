/* --rgb8: colours to gray or sRGB in 8 bits, by equation or by ICC profile. */
#include "cli/decode/rgb8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pictures/user/report.h"

/* ---- Pixels -------------------------------------------------------------------------------------------------- */

static void convert_directly(const cli_rgb8 *conversion, const uint16_t *pixel, double *rgb)
{
    for (uint32_t i = 0; i < conversion->colours; i++)
        rgb[i] = pixel[i] / 65535.0;
}

/* Inks on white paper, without a profile. */
static void convert_cmyk(const cli_rgb8 *conversion, const uint16_t *pixel, double *rgb)
{
    (void)conversion;
    for (int i = 0; i < 3; i++)
        rgb[i] = (1 - pixel[i] / 65535.0) * (1 - pixel[3] / 65535.0);
}

static void to_values(const cli_rgb8 *conversion, const uint16_t *pixel, double value[3])
{
    for (int i = 0; i < 3; i++)
        value[i] = conversion->scale[i] * (pixel[i] / 65535.0 - conversion->offset[i]);
}

/* The inverse of ITU-R BT.601's matrix. e-sYCC has the same matrix and a wider gamut, which is clipped to sRGB. */
static void convert_ycc(const cli_rgb8 *conversion, const uint16_t *pixel, double *rgb)
{
    double v[3];
    to_values(conversion, pixel, v);
    rgb[0] = v[0] + 1.402 * v[2];
    rgb[1] = v[0] - 0.344136286 * v[1] - 0.714136286 * v[2];
    rgb[2] = v[0] + 1.772 * v[1];
}

/* CIE 15: the inverse of f, the cube root with a straight foot. */
static double lab_inverse(double t)
{
    const double foot = 6.0 / 29;
    return t > foot ? t * t * t : 3 * foot * foot * (t - 4.0 / 29);
}

static double srgb_encode(double linear)
{
    return linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
}

static void convert_lab(const cli_rgb8 *conversion, const uint16_t *pixel, double *rgb)
{
    double v[3];
    to_values(conversion, pixel, v);
    double f = (v[0] + 16) / 116;
    double xyz[3] = {lab_inverse(f + v[1] / 500), lab_inverse(f), lab_inverse(f - v[2] / 200)};
    for (int i = 0; i < 3; i++) {
        const double *m = conversion->matrix[i];
        rgb[i] = srgb_encode(m[0] * xyz[0] + m[1] * xyz[1] + m[2] * xyz[2]);
    }
}

/* ---- Choosing the conversion --------------------------------------------------------------------------------- */

static void set_up_ycc(cli_rgb8 *conversion)
{
    for (int i = 0; i < 3; i++) {
        double half = ldexp(1, (int)conversion->decoded.channels[i].precision - 1);
        conversion->scale[i] = 1;
        conversion->offset[i] = i == 0 ? 0 : half / (2 * half - 1);
    }
    conversion->convert = convert_ycc;
}

static bool set_up_lab(cli_rgb8 *conversion, const char *name)
{
    static const double ranges[3] = {100, 170, 200};
    l2k_lab lab = conversion->decoded.image->lab;
    bool given = lab.illuminant != 0;
    for (int i = 0; i < 3; i++) {
        const cli_channel *channel = &conversion->decoded.channels[i];
        double all = ldexp(1, (int)channel->precision);
        const double offsets[3] = {0, all / 2, all / 4 + all / 8};
        conversion->scale[i] = given ? lab.range[i] : ranges[i];
        conversion->offset[i] = (given ? (double)lab.offset[i] + channel->shift : offsets[i]) / (all - 1);
    }
    conversion->convert = convert_lab;
    return cli_lab_matrix(given ? lab.illuminant : CLI_D50, conversion->matrix, name);
}

/* False only if a profile should be applied and cannot be. */
static bool set_up_icc(cli_rgb8 *conversion, uint32_t colours, const char *name)
{
    bool usable = true;
    if (conversion->decoded.image->colour != L2K_COLOUR_ICC)
        return true;
    conversion->colours = colours;
    conversion->icc = cli_icc_open(conversion->decoded.image, &conversion->colours, name, &usable);
    return conversion->icc || !usable;
}

static bool set_up_colours(cli_rgb8 *conversion, uint32_t colours, const char *name)
{
    const l2k_colour colour = conversion->decoded.image->colour;
    if (!set_up_icc(conversion, colours, name))
        return false;
    if (conversion->icc)
        return true;
    conversion->colours = colours < 3 ? 1 : colour == L2K_COLOUR_CMYK && colours >= 4 ? 4 : 3;
    if (conversion->colours == 4)
        conversion->convert = convert_cmyk;
    else if (conversion->colours == 3 && conversion->decoded.ycc)
        set_up_ycc(conversion);
    else if (conversion->colours == 3 && colour == L2K_COLOUR_CIELAB)
        return set_up_lab(conversion, name);
    else
        conversion->convert = convert_directly;
    return true;
}

/* Without a JP2 file, a second or fourth component is most likely opacity. */
static uint32_t split_opacity(cli_rgb8 *conversion)
{
    const cli_view *view = &conversion->decoded;
    uint32_t colours = view->colours;
    conversion->opacity = view->num_channels > colours ? (int32_t)colours : -1;
    if (view->image->colour == L2K_COLOUR_UNKNOWN && conversion->opacity < 0 && (colours == 2 || colours == 4))
        conversion->opacity = (int32_t)--colours;
    return colours;
}

static bool shape_result(cli_rgb8 *conversion, cli_format format, bool quiet, const char *name)
{
    const cli_view *view = &conversion->decoded;
    cli_picture *picture = &conversion->picture;
    bool room =
        format == CLI_FORMAT_PNG || format == CLI_FORMAT_PAM || format == CLI_FORMAT_NETPBM || format == CLI_FORMAT_PGX;
    if (conversion->opacity >= 0 && !room) {
        if (!quiet)
            cli_warning(name, "opacity does not fit this format and is dropped; png or pam can hold it");
        conversion->opacity = -1;
    }
    uint32_t colours = !conversion->icc && conversion->colours == 1 ? 1 : 3;
    if (!cli_picture_create(picture, colours + (conversion->opacity >= 0), name))
        return false;
    picture->image.colour = colours == 1 ? L2K_COLOUR_GRAY : L2K_COLOUR_SRGB;
    picture->image.density_x = view->image->density_x;
    picture->image.density_y = view->image->density_y;
    cli_picture_uniform(picture, view->width, view->height, 8, conversion->opacity >= 0);
    return cli_picture_place(picture, 0, 0, name);
}

bool cli_rgb8_create(cli_rgb8 *conversion, const cli_picture *picture, cli_format format, const cli_options *options,
                     const char *name)
{
    memset(conversion, 0, sizeof *conversion);
    if (!cli_view_create(&conversion->decoded, picture, (uint32_t)options->reduce.value, name))
        return false;
    conversion->decoded.depth = 16;
    uint32_t colours = split_opacity(conversion);
    bool done = set_up_colours(conversion, colours, name);
    conversion->decoded.ycc = false; /* converted here instead */
    if (done && conversion->colours < colours && !options->quiet)
        cli_warning(name, "only %u of %u colours are shown", conversion->colours, colours);
    done = done && shape_result(conversion, format, options->quiet, name);
    if (!done)
        cli_rgb8_free(conversion);
    return done;
}

void cli_rgb8_free(cli_rgb8 *conversion)
{
    cli_view_free(&conversion->decoded);
    cli_picture_free(&conversion->picture);
    cli_icc_close(conversion->icc);
    conversion->icc = NULL;
}

/* ---- Converting rows ---------------------------------------------------------------------------------------- */

static void take_colours(const cli_rgb8 *conversion, const uint8_t *bytes, uint16_t *colours)
{
    const cli_view *view = &conversion->decoded;
    for (uint32_t x = 0; x < view->width; x++, bytes += 2 * view->count)
        for (uint32_t k = 0; k < conversion->colours; k++)
            *colours++ = (uint16_t)(bytes[2 * k] << 8 | bytes[2 * k + 1]);
}

static void convert_row(const cli_rgb8 *conversion, const uint16_t *colours, uint8_t *rgb, uint32_t channels)
{
    for (uint32_t x = 0; x < conversion->decoded.width; x++, colours += conversion->colours) {
        double value[3];
        conversion->convert(conversion, colours, value);
        for (uint32_t i = 0; i < channels; i++) {
            double scaled = value[i] * 255 + 0.5;
            *rgb++ = (uint8_t)(scaled > 255 ? 255 : scaled > 0 ? scaled : 0);
        }
    }
}

static void store_row(cli_rgb8 *conversion, uint32_t y, const uint8_t *bytes, const uint8_t *rgb, uint32_t channels)
{
    const cli_view *view = &conversion->decoded;
    for (uint32_t k = 0; k < conversion->picture.image.num_components; k++) {
        const l2k_plane *plane = &conversion->picture.planes[k];
        uint8_t *to = (uint8_t *)plane->data + (ptrdiff_t)(y - conversion->picture.rows->first) * plane->row_stride;
        for (uint32_t x = 0; x < view->width; x++, to += plane->sample_stride)
            if (k < channels) {
                *to = rgb[(size_t)x * channels + k];
            } else {
                const uint8_t *at = bytes + 2 * ((size_t)x * view->count + (uint32_t)conversion->opacity);
                *to = (uint8_t)(((at[0] << 8 | at[1]) + 128) / 257);
            }
    }
}

bool cli_rgb8_convert(cli_rgb8 *conversion, uint32_t first, uint32_t end, const char *name)
{
    const cli_view *view = &conversion->decoded;
    uint32_t channels = conversion->picture.image.num_components - (conversion->opacity >= 0);
    if (!cli_picture_window(&conversion->picture, first, end, 0, CLI_INTERLEAVED, name))
        return false;
    uint8_t *bytes = malloc(cli_view_row_bytes(view)), *rgb = malloc((size_t)view->width * 3);
    uint16_t *colours = malloc((size_t)view->width * conversion->colours * sizeof *colours);
    bool done = bytes && rgb && colours;
    for (uint32_t y = first; done && y < end; y++) {
        cli_view_row(view, y, bytes);
        take_colours(conversion, bytes, colours);
        if (conversion->icc)
            cli_icc_row(conversion->icc, colours, rgb, view->width);
        else
            convert_row(conversion, colours, rgb, channels);
        store_row(conversion, y, bytes, rgb, channels);
    }
    free(bytes);
    free(rgb);
    free(colours);
    return done || cli_error(name, "out of memory");
}
