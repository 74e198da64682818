/* Colours to gray or sRGB in 8 bits, by equation or by ICC profile. */
#include "pictures/rgb8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pictures/user/report.h"

/* ---- Pixels -------------------------------------------------------------------------------------------------- */

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
        double half = ldexp(1, (int)conversion->decoded.channels[i].component->precision - 1);
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
        double all = ldexp(1, (int)channel->component->precision);
        const double offsets[3] = {0, all / 2, all / 4 + all / 8};
        conversion->scale[i] = given ? lab.range[i] : ranges[i];
        conversion->offset[i] = (given ? (double)lab.offset[i] + channel->shift : offsets[i]) / (all - 1);
    }
    conversion->convert = convert_lab;
    return cli_lab_matrix(given ? lab.illuminant : CLI_D50, conversion->matrix, name);
}

/* False only if a profile should be applied and cannot be. */
static bool set_up_colours(cli_rgb8 *conversion, uint32_t colours, const char *name)
{
    const l2k_image *image = conversion->decoded.image;
    bool usable;
    if (image->colour == L2K_COLOUR_ICC) {
        conversion->colours = colours;
        conversion->icc = cli_icc_open(image, &conversion->colours, name, &usable);
        if (conversion->icc || usable)
            return conversion->icc;
    }
    conversion->colours = colours < 3 ? 1 : image->colour == L2K_COLOUR_CMYK && colours >= 4 ? 4 : 3;
    if (conversion->colours == 4)
        conversion->convert = convert_cmyk;
    else if (conversion->colours == 3 && conversion->decoded.ycc)
        set_up_ycc(conversion);
    else if (conversion->colours == 3 && image->colour == L2K_COLOUR_CIELAB)
        return set_up_lab(conversion, name);
    return true;
}

/* By equation or profile; gray and RGB only change their depth. */
static bool is_converted(const cli_rgb8 *conversion)
{
    return conversion->convert || conversion->icc;
}

bool cli_rgb8_create(cli_rgb8 *conversion, const cli_picture *picture, uint32_t reduce, bool quiet, const char *name)
{
    memset(conversion, 0, sizeof *conversion);
    if (!cli_view_create(&conversion->decoded, picture, reduce, name))
        return false;
    cli_view *view = &conversion->decoded;
    if (cli_view_last_may_be_opacity(view))
        view->colours--;
    const uint32_t colours = view->colours;
    conversion->opacity = view->num_channels > colours ? (int32_t)colours : -1;
    bool done = set_up_colours(conversion, colours, name);
    conversion->channels = conversion->colours == 1 && !conversion->icc ? 1 : 3;
    view->ycc = false; /* converted here instead */
    view->depth = is_converted(conversion) || view->most > 8 || view->least < 8 ? 16 : 8;
    if (done && conversion->colours < colours && !quiet)
        cli_warning(name, "only %u of %u colours are shown", conversion->colours, colours);
    if (done) {
        conversion->bytes = malloc(cli_view_row_bytes(view));
        conversion->samples = malloc((size_t)view->width * conversion->colours * sizeof *conversion->samples);
        conversion->rgb = malloc((size_t)view->width * 3);
        done = (conversion->bytes && conversion->samples && conversion->rgb) || cli_error(name, "out of memory");
    }
    if (!done)
        cli_rgb8_free(conversion);
    return done;
}

void cli_rgb8_free(cli_rgb8 *conversion)
{
    cli_view_free(&conversion->decoded);
    cli_icc_close(conversion->icc);
    free(conversion->bytes);
    free(conversion->samples);
    free(conversion->rgb);
    memset(conversion, 0, sizeof *conversion);
}

/* ---- Converting rows ---------------------------------------------------------------------------------------- */

static uint16_t fetch(const uint8_t *sample)
{
    return (uint16_t)(sample[0] << 8 | sample[1]);
}

static void convert_row(const cli_rgb8 *conversion)
{
    const cli_view *view = &conversion->decoded;
    const uint8_t *bytes = conversion->bytes;
    uint16_t *samples = conversion->samples;
    uint8_t *rgb = conversion->rgb;
    for (uint32_t x = 0; x < view->width; x++, bytes += 2 * view->count)
        for (uint32_t k = 0; k < conversion->colours; k++)
            *samples++ = fetch(bytes + 2 * k);
    samples = conversion->samples;
    if (conversion->icc) {
        cli_icc_row(conversion->icc, samples, rgb, view->width);
        return;
    }
    for (uint32_t x = 0; x < view->width; x++, samples += conversion->colours) {
        double value[3];
        conversion->convert(conversion, samples, value);
        for (uint32_t i = 0; i < conversion->channels; i++) {
            double scaled = value[i] * 255 + 0.5;
            *rgb++ = (uint8_t)(scaled > 255 ? 255 : scaled > 0 ? scaled : 0);
        }
    }
}

/* Of one byte or two. */
static uint8_t in_eight(const uint8_t *sample, uint32_t bytes)
{
    return bytes == 1 ? *sample : (uint8_t)((fetch(sample) + 128) / 257);
}

void cli_rgb8_row(const cli_rgb8 *conversion, uint32_t y, uint8_t *pixels)
{
    const cli_view *view = &conversion->decoded;
    const bool converted = is_converted(conversion);
    const uint32_t size = cli_sample_bytes(view->depth);
    const uint8_t *bytes = conversion->bytes, *rgb = conversion->rgb;
    if (!converted && size == 1 && cli_rgb8_count(conversion) == view->count) { /* opacity is the last one */
        cli_view_row(view, y, pixels);
        return;
    }
    cli_view_row(view, y, conversion->bytes);
    if (converted)
        convert_row(conversion);
    for (uint32_t x = 0; x < view->width; x++, bytes += size * view->count) {
        for (uint32_t k = 0; k < conversion->channels; k++)
            *pixels++ = converted ? *rgb++ : in_eight(bytes + size * k, size);
        if (conversion->opacity >= 0)
            *pixels++ = in_eight(bytes + size * (uint32_t)conversion->opacity, size);
    }
}
