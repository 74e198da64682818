/* What JavaScript needs besides the public header: hooks, files whose bytes come in parts, colour to RGBA, magnitudes.
 * Nothing here waits: bytes of a file behind HTTP that have not come yet fail the call and are listed, so that
 * JavaScript fetches them and calls again. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lift2k/lift2k.h"
#include "pictures/colour.h"
#include "pictures/user/report.h"

#define API __attribute__((used)) /* exported by emscripten */

static char lines[2][1024]; /* the last error and the last warning */

static void keep_line(void *user, l2k_severity severity, const char *text)
{
    (void)user;
    if (severity != L2K_SEVERITY_NOTE)
        snprintf(lines[severity], sizeof lines[severity], "%s", text);
}

/* For decoders and encoders. */
API const l2k_hooks *web_hooks(void)
{
    static const l2k_hooks hooks = {.message = keep_line};
    return &hooks;
}

/* The caller empties lines that it has seen. */
API char *web_line(l2k_severity severity)
{
    return lines[severity];
}

/* For pictures/. */
bool cli_error(const char *subject, const char *format, ...)
{
    va_list arguments;
    (void)subject;
    va_start(arguments, format);
    vsnprintf(lines[L2K_SEVERITY_ERROR], sizeof lines[L2K_SEVERITY_ERROR], format, arguments);
    va_end(arguments);
    return false;
}

/* ---- Bytes that are read in parts --------------------------------------------------------------------------------- */

typedef struct web_part {
    struct web_part *next;
    uint32_t bytes;
    double offset; /* in the file */
    uint8_t data[];
} web_part;

/* A call that needs more than `parts` returns L2K_ERROR_IO and lists offsets and numbers of bytes. With these parts, and
 * those that were listed for this call before, it gets further. */
enum { MOST_MISSING = 1024 };

typedef struct web_file {
    web_part *parts;
    uint32_t num_missing;
    double missing[MOST_MISSING][2];
} web_file;

static int read_at(void *user, uint64_t offset, void *buffer, size_t bytes)
{
    web_file *file = user;
    const double from = (double)offset, to = from + (double)bytes;
    for (const web_part *part = file->parts; part; part = part->next)
        if (part->offset <= from && to <= part->offset + part->bytes) {
            memcpy(buffer, part->data + (size_t)(from - part->offset), bytes);
            return 0;
        }
    if (file->num_missing < MOST_MISSING) {
        file->missing[file->num_missing][0] = from;
        file->missing[file->num_missing++][1] = (double)bytes;
    }
    return 1;
}

/* The file must outlive the decoder. */
API l2k_status web_open(l2k_decoder *d, double bytes, web_file *file)
{
    return l2k_decoder_open_file(d, &(l2k_file){(uint64_t)bytes, read_at, file});
}

/* ---- Colour: as lift2k decode --rgb8 ------------------------------------------------------------------------------ */

typedef struct colours {
    cli_view view;   /* in 16 bits, or 8 if these are the result */
    uint32_t count;  /* of channels: 1, 3, or 4 inks */
    int32_t opacity; /* its channel, or -1 */
    bool ycc;
} colours;

/* Without a JP2 file, a second or fourth component is most likely opacity. */
static void choose(colours *c)
{
    const uint32_t n = c->view.colours;
    const bool guess = c->view.image->colour == L2K_COLOUR_UNKNOWN && n == c->view.num_channels && (n == 2 || n == 4);
    c->opacity = guess ? (int32_t)n - 1 : n < c->view.num_channels ? (int32_t)n : -1;
    c->count = n - guess < 3 ? 1 : c->view.image->colour == L2K_COLOUR_CMYK && n > 3 ? 4 : 3;
    c->ycc = c->view.ycc;
    c->view.ycc = false;
    if (c->view.depth != 8 || c->view.least != c->view.most || c->count == 4 || c->ycc || c->opacity >= 0)
        c->view.depth = 16;
}

static uint32_t fetch(const uint8_t *pixel, uint32_t channel)
{
    return (uint32_t)pixel[2 * channel] << 8 | pixel[2 * channel + 1];
}

static double middle(const colours *c, uint32_t channel)
{
    const double half = ldexp(1, (int)c->view.channels[channel].precision - 1);
    return half / (2 * half - 1);
}

/* Inks are on white paper; YCbCr has the matrix of ITU-R BT.601. */
static void convert(const colours *c, const uint8_t *pixel, uint8_t *to)
{
    double v[4] = {0};
    for (uint32_t i = 0; i < c->count; i++)
        v[i] = fetch(pixel, i) / 65535.0;
    for (uint32_t i = 0; i < 3 && c->count == 4; i++)
        v[i] = (1 - v[i]) * (1 - v[3]);
    if (c->ycc) {
        const double y = v[0], cb = v[1] - middle(c, 1), cr = v[2] - middle(c, 2);
        v[0] = y + 1.402 * cr;
        v[1] = y - 0.344136286 * cb - 0.714136286 * cr;
        v[2] = y + 1.772 * cb;
    }
    for (uint32_t i = 0; i < 3; i++) {
        const double scaled = v[c->count == 1 ? 0 : i] * 255 + 0.5;
        to[i] = (uint8_t)(scaled > 255 ? 255 : scaled > 0 ? scaled : 0);
    }
    to[3] = c->opacity < 0 ? 255 : (uint8_t)((fetch(pixel, (uint32_t)c->opacity) + 128) / 257);
}

static void rgba_row(const colours *c, const uint8_t *pixel, uint8_t *to)
{
    const uint32_t step = c->view.num_channels * c->view.depth / 8, g = c->count == 1 ? 0 : 1, b = 2 * g;
    for (uint32_t x = 0; x < c->view.width; x++, to += 4, pixel += step)
        if (c->view.depth == 16) {
            convert(c, pixel, to);
        } else {
            to[0] = pixel[0];
            to[1] = pixel[g];
            to[2] = pixel[b];
            to[3] = 255;
        }
}

/* The image of l2k_decoder_image as 8-bit sRGB with opacity, 4 bytes a pixel, on the grid of the finest component. ICC
 * profiles are not applied. */
API l2k_status web_rgba(const l2k_image *image, l2k_plane *planes, uint32_t reduce, uint8_t *to)
{
    cli_rows *rows = calloc(image->num_components, sizeof *rows);
    const cli_picture picture = {
        .image = *image, .components = (void *)image->components, .planes = planes, .rows = rows};
    colours c;
    if (!rows || !cli_view_create(&c.view, &picture, reduce, "")) {
        free(rows);
        return rows ? L2K_ERROR_UNSUPPORTED : L2K_ERROR_MEMORY;
    }
    choose(&c);
    uint8_t *bytes = malloc(cli_view_row_bytes(&c.view));
    l2k_status status = bytes ? L2K_OK : L2K_ERROR_MEMORY;
    if (image->colour == L2K_COLOUR_CIELAB || !c.view.colours) {
        cli_error("", "CIELab, or opacity alone, has no conversion to RGBA");
        status = L2K_ERROR_UNSUPPORTED;
    }
    for (uint32_t y = 0; y < c.view.height && status == L2K_OK; y++, to += 4 * (size_t)c.view.width) {
        cli_view_row(&c.view, y, bytes);
        rgba_row(&c, bytes, to);
    }
    free(bytes);
    free(rows);
    cli_view_free(&c.view);
    return status;
}

/* ---- Subbands ----------------------------------------------------------------------------------------------------- */

typedef struct web_subbands {
    uint32_t component;
    uint32_t width, height;
    uint8_t *gray; /* for `free`, also after an error; NULL at first */
} web_subbands;

/* On a logarithmic scale: each doubling is 24 steps of gray. */
static l2k_status take_magnitudes(void *user, const l2k_tile_coefficients *coefficients)
{
    web_subbands *s = user;
    const l2k_coefficients *view = coefficients->view;
    if (coefficients->component != s->component)
        return L2K_OK;
    s->gray = calloc((size_t)view->width * view->height + 1, 1);
    s->width = view->width;
    s->height = view->height;
    for (uint32_t y = 0; y < view->height && s->gray; y++)
        for (uint32_t x = 0; x < view->width; x++) {
            const double gray = 24 * log2(1 + fabs((double)((const int32_t *)view->base)[y * view->stride + x]));
            s->gray[(size_t)y * view->width + x] = (uint8_t)(gray < 255 ? gray : 255);
        }
    return s->gray ? L2K_OK : L2K_ERROR_MEMORY;
}

/* Magnitudes of a tile-component's coefficients as gray, in Mallat layout. */
API l2k_status web_subbands_of(l2k_decoder *d, uint32_t tile, web_subbands *subbands)
{
    return l2k_decoder_coefficients(d, tile, take_magnitudes, subbands);
}
