/* Conversion between samples and the bytes of PGX and raw files, and writing rows of planes as such bytes. */
#include "pictures/words.h"

#include <stdlib.h>

#include "pictures/user/limits.h"
#include "pictures/user/report.h"

static uint32_t assemble(const uint8_t *bytes, uint32_t count, bool big_endian)
{
    uint32_t value = 0;
    for (uint32_t i = 0; i < count; i++)
        value = value << 8 | bytes[big_endian ? i : count - 1 - i];
    return value;
}

/* The two's complement value of the lowest 8 * count bits. */
static int64_t extend(uint32_t value, uint32_t count)
{
    int64_t range = (int64_t)1 << (8 * count);
    return (int64_t)value >= range / 2 ? (int64_t)value - range : (int64_t)value;
}

static void store(void *data, size_t index, uint32_t count, int64_t value)
{
    if (count == 1)
        ((uint8_t *)data)[index] = (uint8_t)value;
    else if (count == 2)
        ((uint16_t *)data)[index] = (uint16_t)value;
    else
        ((int32_t *)data)[index] = (int32_t)value;
}

bool cli_words_to_samples(const cli_words *words, void *data, size_t samples, const char *name)
{
    const uint32_t count = cli_sample_bytes(words->precision);
    const int64_t range = (int64_t)1 << words->precision;
    const int64_t least = words->is_signed ? -range / 2 : 0, most = least + range - 1;
    const uint8_t *bytes = data;
    if (words->precision == 8) /* no conversion */
        return true;
    for (size_t i = 0; i < samples; i++) {
        uint32_t raw = assemble(bytes + i * count, count, words->big_endian);
        int64_t value = words->is_signed ? extend(raw, count) : (int64_t)raw;
        if (value < least || value > most)
            return cli_error(name, "a sample of %lld does not fit %u bits", (long long)value, words->precision);
        store(data, i, count, value);
    }
    return true;
}

void cli_words_from_samples(const cli_words *words, const char *row, const l2k_plane *plane, uint32_t count,
                            uint8_t *to, size_t stride)
{
    const uint32_t bytes = cli_sample_bytes(words->precision);
    for (uint32_t x = 0; x < count; x++, row += plane->sample_stride, to += stride) {
        uint32_t value = (uint32_t)cli_load_sample(row, plane->type);
        for (uint32_t i = 0; i < bytes; i++)
            to[i] = (uint8_t)(value >> (8 * (words->big_endian ? bytes - 1 - i : i)));
    }
}

static const char *row_of(const l2k_plane *plane, uint32_t y)
{
    return (const char *)plane->data + (ptrdiff_t)y * plane->row_stride;
}

bool cli_write_plane_rows(cli_output *output, uint64_t offset, const cli_picture *picture, uint32_t c,
                          const cli_words *words)
{
    const l2k_plane *plane = &picture->planes[c];
    const uint32_t sample = cli_sample_bytes(words->precision), width = picture->components[c].width;
    const size_t bytes = (size_t)width * sample;
    uint8_t *row = malloc(bytes ? bytes : 1);
    bool done = row || cli_error(output->name, "out of memory");
    for (uint32_t y = 0; done && y < picture->rows[c].count; y++, offset += bytes) {
        cli_words_from_samples(words, row_of(plane, y), plane, width, row, sample);
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
