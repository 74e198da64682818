#include "cli/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/report.h"

char *cli_pgx_plane_name(const char *path, uint32_t number)
{
    const char *extension = cli_extension(path);
    size_t stem = strlen(path) - strlen(extension), room = strlen(path) + 16;
    char *name = malloc(room);
    if (name)
        snprintf(name, room, "%.*s_%u%s", (int)stem, path, number, extension);
    return name;
}

static uint32_t load(const char *at, l2k_sample_type type)
{
    switch (type) {
    case L2K_SAMPLE_U8:
    case L2K_SAMPLE_S8:
        return *(const uint8_t *)at;
    case L2K_SAMPLE_U16:
    case L2K_SAMPLE_S16:
        return *(const uint16_t *)(const void *)at;
    default:
        return *(const uint32_t *)(const void *)at;
    }
}

/* Big-endian, two's complement, as many bytes as the sample has in memory. */
static bool write_rows(cli_output *output, const l2k_plane *plane, const l2k_component *component)
{
    const uint32_t count = cli_sample_bytes(component->precision);
    size_t bytes = (size_t)component->width * count;
    uint8_t *row = malloc(bytes ? bytes : 1);
    if (!row)
        return cli_error(output->name, "out of memory");
    bool done = true;
    for (uint32_t y = 0; done && y < component->height; y++) {
        const char *at = (const char *)plane->data + (ptrdiff_t)y * plane->row_stride;
        uint8_t *to = row;
        for (uint32_t x = 0; x < component->width; x++, at += plane->sample_stride) {
            uint32_t value = load(at, plane->type);
            for (uint32_t i = count; i-- > 0;)
                *to++ = (uint8_t)(value >> (8 * i));
        }
        done = cli_output_write(output, row, bytes);
    }
    free(row);
    return done || cli_output_fail(output);
}

bool cli_pgx_write_plane(const char *name, const l2k_plane *plane, const l2k_component *component)
{
    cli_output output;
    char header[64];
    if (!cli_output_open(&output, name))
        return false;
    int length = snprintf(header, sizeof header, "PG ML %c %u %u %u\n", component->is_signed ? '-' : '+',
                          component->precision, component->width, component->height);
    bool done = cli_output_write(&output, header, (size_t)length) || cli_output_fail(&output);
    done = done && write_rows(&output, plane, component);
    if (done)
        return cli_output_commit(&output);
    cli_output_discard(&output);
    return false;
}

static void remove_planes(const char *path, uint32_t count)
{
    for (uint32_t c = 0; c < count; c++) {
        char *name = cli_pgx_plane_name(path, c);
        if (name)
            unlink(name);
        free(name);
    }
}

bool cli_pgx_write(const char *path, const cli_picture *picture)
{
    for (uint32_t c = 0; c < picture->image.num_components; c++) {
        char *name = cli_pgx_plane_name(path, c);
        bool done = name ? cli_pgx_write_plane(name, &picture->planes[c], &picture->components[c])
                         : cli_error(path, "out of memory");
        free(name);
        if (!done) {
            remove_planes(path, c);
            return false;
        }
    }
    return true;
}
