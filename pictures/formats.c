/* The format that a file name selects, and which format can hold which picture: one check per format, each error naming
 * the formats that could. */
#include "pictures/formats.h"

#include <stdio.h>

#include "pictures/files/file.h"
#include "pictures/user/report.h"

bool cli_format_of_name(const char *path, cli_format *format)
{
    static const struct {
        const char *extension;
        cli_format format;
    } known[] = {{".png", CLI_FORMAT_PNG}, {".pbm", CLI_FORMAT_PBM},  {".pgm", CLI_FORMAT_PGM},
                 {".ppm", CLI_FORMAT_PPM}, {".pnm", CLI_FORMAT_PNM},  {".pam", CLI_FORMAT_PAM},
                 {".pgx", CLI_FORMAT_PGX}, {".tif", CLI_FORMAT_TIFF}, {".tiff", CLI_FORMAT_TIFF},
                 {".raw", CLI_FORMAT_RAW}, {".y4m", CLI_FORMAT_Y4M}};
    *format = CLI_FORMAT_NETPBM;
    if (cli_is_stream(path))
        return true;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (cli_same_text(cli_extension(path), known[i].extension)) {
            *format = known[i].format;
            return true;
        }
    }
    return cli_error(path, "unknown output format; known are .png .tif .tiff .pbm .pgm .ppm .pnm .pam .pgx .raw .y4m");
}

static uint32_t opacities(const cli_view *view)
{
    return view->num_channels - view->colours;
}

static bool has_png_channels(const cli_view *view)
{
    if (view->image->colour == L2K_COLOUR_CMYK)
        return false;
    return cli_view_last_may_be_opacity(view) || (opacities(view) <= 1 && (view->colours == 1 || view->colours == 3));
}

/* The formats that can hold the view where the requested one cannot. */
static const char *others(const cli_view *view)
{
    const bool png = has_png_channels(view);
    if (view->most > 16)
        return "tif, pgx or raw";
    if (view->least != view->most)
        return png ? "png, tif, pgx or raw" : "tif, pgx or raw";
    if (!png)
        return "tif, pam, pgx or raw";
    if (view->num_channels == 3)
        return "ppm, png, tif, pam, pgx or raw";
    return view->num_channels == 1 ? "pgm, png, tif, pam, pgx or raw" : "png, tif, pam, pgx or raw";
}

/* Reports "name: WHAT do not fit FORMAT; OTHERS can hold them". */
static bool refuse(const cli_view *view, const char *name, const char *what, const char *format)
{
    return cli_error(name, "%s do not fit %s; %s can hold them", what, format, others(view));
}

static bool refuse_count(const cli_view *view, const char *name, const char *format)
{
    char what[64];
    snprintf(what, sizeof what, "%u components%s", view->num_channels,
             opacities(view) == 1 ? ", one of them opacity," : "");
    return refuse(view, name, what, format);
}

static bool is_gray_or_rgb(const cli_view *view)
{
    return opacities(view) == 0 && (view->colours == 1 || view->colours == 3);
}

/* PBM and PGM have gray, PPM and PNM also RGB; all of these and PAM have one precision up to 16 bits. */
static bool check_netpbm(cli_format *format, cli_view *view, const char *name)
{
    static const char *const names[] = {
        [CLI_FORMAT_PBM] = "pbm", [CLI_FORMAT_PGM] = "pgm", [CLI_FORMAT_PPM] = "ppm", [CLI_FORMAT_PNM] = "pnm"};
    const cli_format asked = *format;
    const bool gray = view->num_channels == 1, only_gray = asked == CLI_FORMAT_PBM || asked == CLI_FORMAT_PGM;
    if (asked == CLI_FORMAT_PBM && gray && view->most > 1)
        return refuse(view, name, "samples of more than 1 bit", "pbm");
    if (asked != CLI_FORMAT_PAM && !(only_gray ? gray : is_gray_or_rgb(view)))
        return refuse_count(view, name, names[asked]);
    if (view->most > 16)
        return refuse(view, name, "samples of more than 16 bits", "PNM or PAM");
    if (view->least != view->most)
        return refuse(view, name, "components of different precision", "PNM or PAM");
    if (asked == CLI_FORMAT_PPM)
        view->count = 3;
    else if (asked == CLI_FORMAT_PNM)
        *format = view->colours == 1 ? CLI_FORMAT_PGM : CLI_FORMAT_PPM;
    return true;
}

static bool check_png(cli_view *view, const char *name)
{
    if (cli_view_last_may_be_opacity(view))
        view->colours--;
    const uint32_t most = view->most;
    if (view->image->colour == L2K_COLOUR_CMYK)
        return cli_error(name,
                         "CMYK colours do not fit png; --rgb8 converts them, and tif, pam, pgx or raw can hold them");
    if (!has_png_channels(view))
        return refuse_count(view, name, "png");
    if (most > 16)
        return refuse(view, name, "samples of more than 16 bits", "png");
    if (view->num_channels == 1)
        view->depth = most <= 2 ? most : most <= 4 ? 4 : most <= 8 ? 8 : 16;
    else
        view->depth = most <= 8 ? 8 : 16;
    return true;
}

/* Signed samples remain signed unless they are converted. */
static bool check_tiff(cli_view *view)
{
    bool all_signed = !view->ycc && view->least == view->most;
    if (cli_view_last_may_be_opacity(view))
        view->colours--;
    for (uint32_t k = 0; k < view->num_channels; k++)
        all_signed = all_signed && view->channels[k].shift;
    for (uint32_t k = 0; all_signed && k < view->num_channels; k++)
        view->channels[k].shift = 0;
    view->is_signed = all_signed;
    return true;
}

/* The conversion to RGB needs one precision. */
static bool check_ycc(const cli_view *view, const char *name)
{
    const cli_channel *k = view->channels;
    if (!view->ycc || (k[0].component->precision == k[1].component->precision &&
                       k[0].component->precision == k[2].component->precision))
        return true;
    return cli_error(name, "YCbCr components of different precision cannot be converted to RGB; pgx can hold them");
}

bool cli_format_check(cli_format *format, cli_view *view, const char *name)
{
    if (*format == CLI_FORMAT_NETPBM)
        *format = is_gray_or_rgb(view) ? CLI_FORMAT_PNM : CLI_FORMAT_PAM;
    if (!check_ycc(view, name))
        return false;
    if (*format == CLI_FORMAT_PNG)
        return check_png(view, name);
    return *format == CLI_FORMAT_TIFF ? check_tiff(view) : check_netpbm(format, view, name);
}
