/* What JavaScript needs besides the public header: hooks, files whose bytes come in parts, colour to RGBA, magnitudes.
 * Nothing here waits: bytes of a file behind HTTP that have not come yet fail the call and are listed, so that
 * JavaScript fetches them and calls again. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lift2k/lift2k.h"
#include "pictures/rgb8.h"
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
bool cli_print(l2k_severity severity, const char *subject, const char *format, ...)
{
    va_list arguments;
    (void)subject;
    va_start(arguments, format);
    if (severity == L2K_SEVERITY_ERROR)
        vsnprintf(lines[severity], sizeof lines[severity], format, arguments);
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

/* The image of l2k_decoder_image as 8-bit sRGB with opacity, 4 bytes a pixel, on the grid of the finest component. ICC
 * profiles are not applied. */
API l2k_status web_rgba(const l2k_image *image, l2k_plane *planes, uint32_t reduce, uint8_t *to)
{
    cli_rows *rows = calloc(image->num_components, sizeof *rows);
    cli_picture picture = {.image = *image, .components = (void *)image->components, .planes = planes, .rows = rows};
    cli_rgb8 conversion = {0};
    if (image->colour == L2K_COLOUR_ICC)
        picture.image.colour = L2K_COLOUR_SRGB;
    l2k_status status = !rows                                                      ? L2K_ERROR_MEMORY
                        : cli_rgb8_create(&conversion, &picture, reduce, true, "") ? L2K_OK
                                                                                   : L2K_ERROR_UNSUPPORTED;
    uint8_t *row = status == L2K_OK ? malloc((size_t)conversion.decoded.width * cli_rgb8_count(&conversion)) : NULL;
    if (status == L2K_OK && !row)
        status = L2K_ERROR_MEMORY;
    for (uint32_t y = 0; y < conversion.decoded.height && status == L2K_OK; y++) {
        const uint32_t count = cli_rgb8_count(&conversion), step = conversion.channels == 1 ? 0 : 1;
        cli_rgb8_row(&conversion, y, row);
        for (const uint8_t *pixel = row; pixel < row + (size_t)count * conversion.decoded.width; pixel += count) {
            *to++ = pixel[0];
            *to++ = pixel[step];
            *to++ = pixel[2 * step];
            *to++ = conversion.opacity < 0 ? 255 : pixel[count - 1];
        }
    }
    free(row);
    free(rows);
    cli_rgb8_free(&conversion);
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
