/* A subband as a file. */
#include <stdlib.h>

#include "cli/coefficients/dump_parts.h"
#include "pictures/formats.h"
#include "pictures/user/limits.h"
#include "pictures/user/report.h"

enum { MAX_PGX_BITS = 31 };

static const int32_t *row_of(const l2k_tile_coefficients *k, uint32_t band, uint32_t y)
{
    const l2k_band_view *view = &k->view->bands[band];
    return (const int32_t *)k->view->base + (size_t)(view->y + y) * k->view->stride + view->x;
}

/* The sign and Mb (E-2), and a bit more after RCT, which the forward transform leaves to the guard bits. The decoder
 * takes at most 30 bit-planes, so what Mb may say beyond is not needed. */
uint32_t cli_dump_bits(const l2k_tile_coefficients *k, uint32_t band)
{
    bool rct = k->component_transform && k->wavelet == L2K_WAVELET_5_3;
    uint32_t bits = k->bands[band].magnitude_bits + 1 + rct;
    return bits < MAX_PGX_BITS ? bits : MAX_PGX_BITS;
}

static bool write_pgx(cli_output *output, const l2k_tile_coefficients *k, uint32_t band)
{
    const l2k_band_view *view = &k->view->bands[band];
    l2k_plane plane = {(void *)(uintptr_t)row_of(k, band, 0), (ptrdiff_t)(k->view->stride * sizeof(int32_t)),
                       sizeof(int32_t), L2K_SAMPLE_S32};
    l2k_component component = {
        .precision = cli_dump_bits(k, band), .is_signed = true, .width = view->width, .height = view->height};
    return cli_pgx_write_plane(output, &plane, &component);
}

static void put_little_endian(const int32_t *values, uint32_t count, uint8_t *bytes)
{
    for (uint32_t x = 0; x < count; x++)
        for (int i = 0; i < 4; i++)
            *bytes++ = (uint8_t)((uint32_t)values[x] >> (8 * i));
}

static bool write_raw(cli_output *output, const l2k_tile_coefficients *k, uint32_t band)
{
    const l2k_band_view *view = &k->view->bands[band];
    size_t bytes = (size_t)view->width * 4;
    uint8_t *row = malloc(bytes);
    if (!row)
        return cli_error(output->name, "out of memory");
    bool done = true;
    for (uint32_t y = 0; done && y < view->height; y++) {
        put_little_endian(row_of(k, band, y), view->width, row);
        done = cli_time_left(output->name) && (cli_output_write(output, row, bytes) || cli_output_fail(output));
    }
    free(row);
    return done;
}

bool cli_dump_write_band(const cli_dump *dump, const l2k_tile_coefficients *k, uint32_t band, cli_output *output)
{
    return (dump->format == CLI_DUMP_RAW ? write_raw : write_pgx)(output, k, band);
}
