#include "pictures/formats/plane_rows.h"

#include <stdlib.h>

#include "pictures/files/limits.h"
#include "pictures/files/report.h"

static const char *row_of(const l2k_plane *plane, uint32_t y)
{
    return (const char *)plane->data + (ptrdiff_t)y * plane->row_stride;
}

bool cli_write_plane_rows(cli_output *output, uint64_t offset, const cli_picture *picture, uint32_t c,
                          const cli_words *words)
{
    const l2k_plane *plane = &picture->planes[c];
    const uint32_t step = cli_sample_bytes(words->precision), width = picture->components[c].width;
    const size_t bytes = (size_t)width * step;
    uint8_t *row = malloc(bytes ? bytes : 1);
    bool done = row || cli_error(output->name, "out of memory");
    for (uint32_t y = 0; done && y < picture->rows[c].count; y++, offset += bytes) {
        cli_words_from_samples(words, row_of(plane, y), plane, width, row, step);
        done = cli_time_left(output->name) && cli_output_write_at(output, offset, row, bytes);
    }
    free(row);
    return done;
}

bool cli_write_pixel_rows(cli_output *output, const cli_picture *picture, const cli_words *words)
{
    const uint32_t count = picture->image.num_components, width = picture->components->width;
    const uint32_t sample = cli_sample_bytes(words->precision);
    const size_t bytes = (size_t)width * count * sample;
    uint8_t *row = malloc(bytes ? bytes : 1);
    bool done = row || cli_error(output->name, "out of memory");
    for (uint32_t y = 0; done && y < picture->rows->count; y++) {
        for (uint32_t c = 0; c < count; c++)
            cli_words_from_samples(words, row_of(&picture->planes[c], y), &picture->planes[c], width,
                                   row + (size_t)c * sample, (size_t)count * sample);
        done = cli_time_left(output->name) && cli_output_write(output, row, bytes);
    }
    free(row);
    return done;
}
