/* The C part of the Python package: DLPack's tensor (https://dmlc.github.io/dlpack/latest/c_api.html), and the command's
 * conversion of colours. native.py includes it in the extension module. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lift2k/lift2k.h"
#include "pictures/rgb8.h"
#include "pictures/user/report.h"

/* DLTensor, whose device and type are written out. Strides are in elements, or NULL for packed rows. */
typedef struct l2k_py_tensor {
    void *data;
    int32_t device_type, device_id, ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} l2k_py_tensor;

/* ---- Colours as `lift2k decode --rgb8` shows them ------------------------------------------------------------------ */

/* What pictures/ said last on this thread. */
static _Thread_local char l2k_py_lines[2][400];

static char *l2k_py_line(l2k_severity severity)
{
    return l2k_py_lines[severity];
}

bool cli_print(l2k_severity severity, const char *subject, const char *format, ...)
{
    va_list arguments;
    (void)subject;
    va_start(arguments, format);
    if (severity < L2K_SEVERITY_NOTE)
        vsnprintf(l2k_py_lines[severity], sizeof l2k_py_lines[severity], format, arguments);
    va_end(arguments);
    return false;
}

struct l2k_py_rgb8 {
    cli_picture picture;
    cli_rgb8 conversion;
};

static void l2k_py_rgb8_free(struct l2k_py_rgb8 *c)
{
    cli_rgb8_free(&c->conversion);
    cli_picture_free(&c->picture);
    free(c);
}

/* For the image of a decoder, whose samples come later. NULL after a fault. */
static struct l2k_py_rgb8 *l2k_py_rgb8_new(const l2k_image *image, uint32_t reduce)
{
    struct l2k_py_rgb8 *c = calloc(1, sizeof *c);
    memset(l2k_py_lines, 0, sizeof l2k_py_lines);
    if (c && cli_picture_adopt(&c->picture, image, "") && cli_rgb8_create(&c->conversion, &c->picture, reduce, true, ""))
        return c;
    if (c)
        l2k_py_rgb8_free(c);
    return NULL;
}

/* Height, width and number of channels of the result. */
static void l2k_py_rgb8_shape(const struct l2k_py_rgb8 *c, uint32_t shape[3])
{
    shape[0] = c->conversion.decoded.height;
    shape[1] = c->conversion.decoded.width;
    shape[2] = cli_rgb8_count(&c->conversion);
}

static void l2k_py_rgb8_convert(struct l2k_py_rgb8 *c, const l2k_plane *planes, uint8_t *pixels)
{
    const size_t row = (size_t)c->conversion.decoded.width * cli_rgb8_count(&c->conversion);
    memcpy(c->picture.planes, planes, c->picture.image.num_components * sizeof *planes);
    for (uint32_t y = 0; y < c->conversion.decoded.height; y++)
        cli_rgb8_row(&c->conversion, y, pixels + row * y);
}
