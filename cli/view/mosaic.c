/* Collects subbands in a mosaic, and chooses the gain of each. */
#include "cli/view/mosaic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pictures/user/limits.h"
#include "pictures/user/report.h"

bool cli_mosaic_create(cli_mosaic *mosaic, uint32_t width, uint32_t height, uint32_t channels, const char *name)
{
    uint64_t count = (uint64_t)width * height * channels;
    *mosaic = (cli_mosaic){.name = name, .width = width, .height = height, .channels = channels};
    if (count <= CLI_MAX_SAMPLES && !cli_memory_allowed(count * sizeof *mosaic->values, name))
        return false;
    if (count <= CLI_MAX_SAMPLES && count <= SIZE_MAX / sizeof *mosaic->values)
        mosaic->values = malloc((size_t)count * sizeof *mosaic->values);
    if (!mosaic->values)
        return cli_error(name, "out of memory for %llu coefficients", (unsigned long long)count);
    cli_memory_hold(count * sizeof *mosaic->values);
    for (uint64_t i = 0; i < count; i++)
        mosaic->values[i] = NAN;
    return true;
}

void cli_mosaic_free(cli_mosaic *mosaic)
{
    free(mosaic->values);
    free(mosaic->bands);
    mosaic->values = NULL;
    mosaic->bands = NULL;
}

static float *row_of(const cli_mosaic *mosaic, uint32_t channel, uint32_t x, uint32_t y)
{
    return mosaic->values + ((size_t)channel * mosaic->height + y) * mosaic->width + x;
}

/* ---- Filling ------------------------------------------------------------------------------------------------- */

static bool list_band(cli_mosaic *mosaic, const cli_mosaic_band *band)
{
    if (mosaic->num_bands == mosaic->capacity) {
        size_t capacity = mosaic->capacity ? 2 * mosaic->capacity : 64;
        if (!cli_memory_allowed(capacity * sizeof *mosaic->bands, mosaic->name))
            return false;
        cli_mosaic_band *bands = realloc(mosaic->bands, capacity * sizeof *bands);
        if (!bands)
            return cli_error(mosaic->name, "out of memory");
        cli_memory_hold((capacity - mosaic->capacity) * sizeof *bands);
        mosaic->bands = bands;
        mosaic->capacity = capacity;
    }
    mosaic->bands[mosaic->num_bands++] = *band;
    return true;
}

bool cli_mosaic_put(cli_mosaic *mosaic, uint32_t channel, const l2k_tile_coefficients *k, uint32_t number, uint32_t x,
                    uint32_t y, uint32_t precision)
{
    const l2k_band_view *band = &k->view->bands[number];
    const l2k_subband_info *info = &k->bands[number];
    if ((uint64_t)x + band->width > mosaic->width || (uint64_t)y + band->height > mosaic->height)
        return cli_error(mosaic->name, "only levels that split both ways can be left out or shown by themselves");
    double most = ldexp(1, (int)precision) - 1;
    float scale = (float)(info->step_size / most);
    mosaic->low_offset = (float)(ldexp(1, (int)precision - 1) / most);
    for (uint32_t row = 0; row < band->height; row++) {
        const int32_t *from = (const int32_t *)k->view->base + (size_t)(band->y + row) * k->view->stride + band->x;
        float *to = row_of(mosaic, channel, x, y + row);
        for (uint32_t i = 0; i < band->width; i++)
            to[i] = (float)from[i] * scale;
    }
    if (channel > 0 || !band->width || !band->height)
        return true;
    return list_band(mosaic, &(cli_mosaic_band){x, y, band->width, band->height, info->level, info->orientation,
                                                mosaic->one_band || band->x == 0, mosaic->one_band || band->y == 0});
}

/* G.2 and G.3 without level shift; the rounding of the RCT is not visible. */
static void undo_pixel(float *a, float *b, float *c, l2k_wavelet wavelet)
{
    float y = *a, u = *b, v = *c;
    if (!l2k_wavelet_reversible(wavelet)) {
        *a = y + 1.402f * v;
        *b = y - 0.344136f * u - 0.714136f * v;
        *c = y + 1.772f * u;
    } else {
        *b = y - (u + v) / 4;
        *a = v + *b;
        *c = u + *b;
    }
}

void cli_mosaic_undo_transform(cli_mosaic *mosaic, size_t first, l2k_wavelet wavelet)
{
    for (size_t i = first; i < mosaic->num_bands; i++) {
        const cli_mosaic_band *band = &mosaic->bands[i];
        for (uint32_t y = band->y; y < band->y + band->height; y++) {
            float *rows[CLI_MOSAIC_CHANNELS];
            for (uint32_t c = 0; c < CLI_MOSAIC_CHANNELS; c++)
                rows[c] = row_of(mosaic, c, band->x, y);
            for (uint32_t x = 0; x < band->width; x++)
                undo_pixel(&rows[0][x], &rows[1][x], &rows[2][x], wavelet);
        }
    }
}

/* ---- Gains --------------------------------------------------------------------------------------------------- */

/* The share of magnitudes to keep between black and white. A gain of 1 shows details at the scale of LL; at
 * most 32 is chosen, so that coefficients near 0 do not look large. */
#define INSIDE    0.98
#define MOST_GAIN 32.0f

enum { NUM_BINS = 1 << 14 };

/* A histogram of the magnitudes of the bands of one kind, which `scale` maps to bins. */
static bool count_magnitudes(const cli_mosaic *mosaic, const cli_mosaic_band *kind, float scale, uint64_t *bins)
{
    for (size_t i = 0; i < mosaic->num_bands; i++) {
        const cli_mosaic_band *band = &mosaic->bands[i];
        if (band->level != kind->level || band->orientation != kind->orientation)
            continue;
        for (uint32_t c = 0; c < mosaic->channels; c++)
            for (uint32_t y = 0; y < band->height; y++) {
                if (!cli_time_left(mosaic->name))
                    return false;
                const float *row = row_of(mosaic, c, band->x, band->y + y);
                for (uint32_t x = 0; x < band->width; x++) {
                    float bin = fabsf(row[x]) * scale;
                    bins[bin < NUM_BINS - 1 ? (size_t)bin : NUM_BINS - 1]++;
                }
            }
    }
    return true;
}

/* The magnitude below which INSIDE of the nonzero ones are; 0 after a failure. Bins are finer than half a level of gray
 * at any gain. */
static float high_magnitude(const cli_mosaic *mosaic, const cli_mosaic_band *kind, uint64_t *bins)
{
    const float scale = NUM_BINS / 2.0f;
    uint64_t total = 0, sum = 0;
    memset(bins, 0, NUM_BINS * sizeof *bins);
    if (!count_magnitudes(mosaic, kind, scale, bins))
        return 0;
    for (size_t i = 1; i < NUM_BINS; i++)
        total += bins[i];
    for (size_t i = 1; i < NUM_BINS; i++) {
        sum += bins[i];
        if ((double)sum >= INSIDE * (double)total)
            return (float)(i + 1) / scale;
    }
    return 1;
}

static bool choose_gain(const cli_mosaic *mosaic, const cli_mosaic_band *kind, uint64_t *bins, float *gain)
{
    const float high = high_magnitude(mosaic, kind, bins);
    if (high <= 0)
        return false;
    *gain = 0.5f / high < MOST_GAIN ? 0.5f / high : MOST_GAIN;
    return true;
}

bool cli_mosaic_choose_gains(cli_mosaic *mosaic, float fixed)
{
    static uint64_t bins[NUM_BINS];
    memset(mosaic->gains, 0, sizeof mosaic->gains);
    for (size_t i = 0; i < mosaic->num_bands; i++) {
        const cli_mosaic_band *band = &mosaic->bands[i];
        float *gain = &mosaic->gains[band->level][band->orientation];
        if (band->orientation == L2K_LL)
            *gain = 1;
        else if (*gain == 0 && fixed > 0)
            *gain = fixed;
        else if (*gain == 0 && !choose_gain(mosaic, band, bins, gain))
            return false;
    }
    return true;
}
