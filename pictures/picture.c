/* An image's description: components, sizes, and its place on the reference grid (B.2). */
#include "pictures/picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pictures/user/limits.h"
#include "pictures/user/report.h"

#define MAX_SUBSAMPLING 255u

bool cli_picture_create(cli_picture *picture, uint32_t count, const char *name)
{
    *picture = (cli_picture){.metadata = picture->metadata};
    picture->components = calloc(count, sizeof *picture->components);
    picture->planes = calloc(count, sizeof *picture->planes);
    picture->rows = calloc(count, sizeof *picture->rows);
    picture->buffers = calloc(count, sizeof *picture->buffers);
    if (!picture->components || !picture->planes || !picture->rows || !picture->buffers) {
        cli_picture_free(picture);
        return cli_error(name, "out of memory");
    }
    for (uint32_t c = 0; c < count; c++) {
        picture->components[c].dx = picture->components[c].dy = 1;
        picture->components[c].association = c + 1;
    }
    picture->image.num_components = count;
    picture->image.components = picture->components;
    return true;
}

bool cli_picture_adopt(cli_picture *picture, const l2k_image *image, const char *name)
{
    if (!cli_picture_create(picture, image->num_components, name))
        return false;
    memcpy(picture->components, image->components, image->num_components * sizeof *picture->components);
    picture->image = *image;
    picture->image.components = picture->components;
    return true;
}

void cli_picture_free(cli_picture *picture)
{
    for (uint32_t c = 0; picture->buffers && c < picture->image.num_components; c++)
        free(picture->buffers[c]);
    free(picture->buffers);
    free(picture->planes);
    free(picture->rows);
    free(picture->components);
    free(picture->icc);
    cli_metadata_free(&picture->metadata);
    memset(picture, 0, sizeof *picture);
}

bool cli_picture_take_profile(cli_picture *picture, const void *profile, size_t bytes)
{
    picture->icc = malloc(bytes);
    if (!picture->icc)
        return false;
    picture->image.icc = memcpy(picture->icc, profile, bytes);
    picture->image.icc_bytes = bytes;
    picture->image.colour = L2K_COLOUR_ICC;
    return true;
}

bool cli_picture_allowed(const cli_picture *picture, const char *name)
{
    uint64_t samples = 0;
    for (uint32_t c = 0; c < picture->image.num_components; c++) {
        /* At most 2^64 - 2^33 + 1, so no overflow; the sum is checked before it can overflow. */
        uint64_t more = (uint64_t)picture->components[c].width * picture->components[c].height;
        if (!cli_pixels_allowed(picture->components[c].width, picture->components[c].height, name))
            return false;
        if (more > CLI_MAX_SAMPLES || (samples += more) > CLI_MAX_SAMPLES || samples > SIZE_MAX / 4)
            return cli_error(name, "%u x %u x %u: more than 2^36 samples", picture->components->width,
                             picture->components->height, picture->image.num_components);
    }
    return true;
}

uint64_t cli_picture_samples(const cli_picture *picture)
{
    uint64_t samples = 0;
    for (uint32_t c = 0; c < picture->image.num_components; c++)
        samples += (uint64_t)picture->components[c].width * picture->components[c].height;
    return samples;
}

void cli_picture_uniform(cli_picture *picture, uint32_t width, uint32_t height, uint32_t precision, bool opacity)
{
    for (uint32_t c = 0; c < picture->image.num_components; c++) {
        picture->components[c].width = width;
        picture->components[c].height = height;
        picture->components[c].precision = precision;
    }
    if (opacity) {
        l2k_component *last = &picture->components[picture->image.num_components - 1];
        last->channel = L2K_CHANNEL_OPACITY;
        last->association = 0;
    }
}

/* A sub-sampling factor that leaves `length` samples of [start, end): the one the file states if it fits, otherwise the
 * smallest; 0: none fits. */
static uint32_t find_subsampling(uint32_t start, uint32_t end, uint32_t length, uint32_t stated)
{
    if (cli_grid_start(end, stated, 0) - cli_grid_start(start, stated, 0) == length)
        return stated;
    for (uint32_t factor = 1; factor <= MAX_SUBSAMPLING; factor++)
        if (cli_grid_start(end, factor, 0) - cli_grid_start(start, factor, 0) == length)
            return factor;
    return 0;
}

bool cli_picture_place(cli_picture *picture, uint32_t x0, uint32_t y0, const char *name)
{
    uint32_t width = 0, height = 0;
    for (uint32_t c = 0; c < picture->image.num_components; c++) {
        width = picture->components[c].width > width ? picture->components[c].width : width;
        height = picture->components[c].height > height ? picture->components[c].height : height;
    }
    if (width > UINT32_MAX - x0 || height > UINT32_MAX - y0)
        return cli_error(name, "--origin %u,%u moves an image of %u x %u beyond 2^32 - 1", x0, y0, width, height);
    for (uint32_t c = 0; c < picture->image.num_components; c++) {
        l2k_component *component = &picture->components[c];
        component->dx = find_subsampling(x0, x0 + width, component->width, component->dx);
        component->dy = find_subsampling(y0, y0 + height, component->height, component->dy);
        if (!component->dx || !component->dy)
            return cli_error(name, "component %u of %u x %u is not a sub-sampling of %u x %u at %u,%u", c,
                             component->width, component->height, width, height, x0, y0);
    }
    picture->image.x0 = x0;
    picture->image.y0 = y0;
    picture->image.x1 = x0 + width;
    picture->image.y1 = y0 + height;
    return true;
}

uint64_t cli_picture_raw_bytes(const l2k_image *image)
{
    uint64_t bits = 0;
    for (const l2k_component *k = image->components; k < image->components + image->num_components; k++)
        bits += (uint64_t)k->width * k->height * k->precision;
    return (bits + 7) / 8;
}

void cli_picture_text(const cli_picture *picture, char *text, size_t room)
{
    uint32_t width = 0, height = 0, least = UINT32_MAX, most = 0, count = picture->image.num_components;
    for (uint32_t c = 0; c < count; c++) {
        const l2k_component *component = &picture->components[c];
        width = component->width > width ? component->width : width;
        height = component->height > height ? component->height : height;
        least = component->precision < least ? component->precision : least;
        most = component->precision > most ? component->precision : most;
    }
    if (least == most)
        snprintf(text, room, "%ux%ux%u %u bit", width, height, count, most);
    else
        snprintf(text, room, "%ux%ux%u %u to %u bit", width, height, count, least, most);
}
