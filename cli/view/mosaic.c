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
}

static float *row_of(const cli_mosaic *mosaic, uint32_t channel, uint32_t x, uint32_t y)
{
    return mosaic->values + ((size_t)channel * mosaic->height + y) * mosaic->width + x;
}

/* ---- Filling ------------------------------------------------------------------------------------------------- */

static bool list_band(cli_mosaic *mosaic, const cli_mosaic_band *band)
{
    if (!cli_memory_allowed(sizeof *band, mosaic->name))
        return false;
    cli_mosaic_band *bands = realloc(mosaic->bands, (mosaic->num_bands + 1) * sizeof *bands);
    if (!bands)
        return cli_error(mosaic->name, "out of memory");
    cli_memory_hold(sizeof *band);
    mosaic->bands = bands;
    bands[mosaic->num_bands++] = *band;
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
    mosaic->unit = (float)(1 / most);
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
void cli_mosaic_undo_transform(cli_mosaic *mosaic, size_t first, l2k_wavelet wavelet)
{
    const bool reversible = l2k_wavelet_reversible(wavelet);
    for (const cli_mosaic_band *band = mosaic->bands + first; band < mosaic->bands + mosaic->num_bands; band++)
        for (uint32_t y = band->y; y < band->y + band->height; y++) {
            float *a = row_of(mosaic, 0, band->x, y), *b = row_of(mosaic, 1, band->x, y),
                  *c = row_of(mosaic, 2, band->x, y);
            for (uint32_t x = 0; x < band->width; x++) {
                const float luma = a[x], u = b[x], v = c[x];
                b[x] = reversible ? luma - (u + v) / 4 : luma - 0.344136f * u - 0.714136f * v;
                a[x] = reversible ? v + b[x] : luma + 1.402f * v;
                c[x] = reversible ? u + b[x] : luma + 1.772f * u;
            }
        }
}

/* ---- Gains --------------------------------------------------------------------------------------------------- */

/* The share of magnitudes to keep between black and white. A gain of 1 shows details at the scale of the samples. At
 * most 32 levels of gray are chosen for one unit of samples of 8 bits or more, so that coefficients near 0 do not look
 * large. */
#define INSIDE    0.98
#define MOST_GAIN 32.0f

/* LL is stretched where it would have fewer than a quarter of all levels of gray. */
#define LEAST_SPAN 0.25

enum { NUM_BINS = 1 << 14 };

typedef void (*row_visitor)(void *user, const float *row, uint32_t width);

/* The rows of all bands of one level and orientation, or of all LL. */
static void visit_rows(const cli_mosaic *mosaic, const cli_mosaic_band *kind, row_visitor visit, void *user)
{
    for (size_t i = 0; i < mosaic->num_bands; i++) {
        const cli_mosaic_band *band = &mosaic->bands[i];
        if (band->orientation != kind->orientation || (band->orientation != L2K_LL && band->level != kind->level))
            continue;
        for (uint32_t c = 0; c < mosaic->channels; c++)
            for (uint32_t y = 0; y < band->height; y++)
                visit(user, row_of(mosaic, c, band->x, band->y + y), band->width);
    }
}

typedef struct histogram {
    float scale; /* from magnitudes to bins */
    uint64_t bins[NUM_BINS];
} histogram;

static void count_magnitudes(void *user, const float *row, uint32_t width)
{
    histogram *h = user;
    for (uint32_t x = 0; x < width; x++) {
        float bin = fabsf(row[x]) * h->scale;
        h->bins[bin < NUM_BINS - 1 ? (size_t)bin : NUM_BINS - 1]++;
    }
}

/* The magnitude below which INSIDE of the nonzero ones are. */
static float high_magnitude(const cli_mosaic *mosaic, const cli_mosaic_band *kind, histogram *h)
{
    uint64_t total = 0, sum = 0;
    memset(h->bins, 0, sizeof h->bins);
    visit_rows(mosaic, kind, count_magnitudes, h);
    for (size_t i = 1; i < NUM_BINS; i++)
        total += h->bins[i];
    for (size_t i = 1; i < NUM_BINS; i++) {
        sum += h->bins[i];
        if ((double)sum >= INSIDE * (double)total)
            return (float)(i + 1) / h->scale;
    }
    return 1;
}

/* Bins are finer than half a level of gray at the chosen gain: beyond MOST_GAIN, they are counted again, finer by that
 * factor. */
static float choose_gain(const cli_mosaic *mosaic, const cli_mosaic_band *kind, histogram *h)
{
    const float finest = mosaic->unit < 1 / 256.0f ? 1 / (256 * mosaic->unit) : 1;
    float high = 0;
    for (float finer = 1;; finer = fminf(finer * MOST_GAIN, finest)) {
        h->scale = finer * NUM_BINS / 2;
        high = high_magnitude(mosaic, kind, h);
        if (finer >= finest || 0.5f / high < finer * MOST_GAIN)
            break;
    }
    return fminf(0.5f / high, finest * MOST_GAIN);
}

typedef struct spread {
    double count, sum, squares, least, most;
} spread;

static void take_spread(void *user, const float *row, uint32_t width)
{
    spread *s = user;
    for (uint32_t x = 0; x < width; x++) {
        s->sum += row[x];
        s->squares += (double)row[x] * row[x];
        s->least = fmin(s->least, row[x]);
        s->most = fmax(s->most, row[x]);
    }
    s->count += width;
}

/* Black and white are three standard deviations from the mean, so that a few outliers do not count. */
static float choose_low_gain(cli_mosaic *mosaic, const cli_mosaic_band *kind)
{
    spread s = {.least = INFINITY, .most = -INFINITY};
    visit_rows(mosaic, kind, take_spread, &s);
    const double mean = s.sum / s.count, deviation = sqrt(fmax(s.squares / s.count - mean * mean, 0));
    const double low = fmax(s.least, mean - 3 * deviation), high = fmin(s.most, mean + 3 * deviation);
    if (high - low >= LEAST_SPAN || s.least >= s.most)
        return 1;
    const float gain = (float)(1 / (high - low));
    mosaic->low_offset = (float)-low * gain;
    return gain;
}

void cli_mosaic_choose_gains(cli_mosaic *mosaic, float fixed)
{
    static histogram h;
    float low_gain = 0; /* of all LL: tiles may differ in their levels */
    memset(mosaic->gains, 0, sizeof mosaic->gains);
    for (size_t i = 0; i < mosaic->num_bands; i++) {
        const cli_mosaic_band *band = &mosaic->bands[i];
        float *gain = &mosaic->gains[band->level][band->orientation];
        if (*gain != 0)
            continue;
        if (fixed > 0)
            *gain = band->orientation == L2K_LL ? 1 : fixed;
        else if (band->orientation != L2K_LL)
            *gain = choose_gain(mosaic, band, &h);
        else
            *gain = low_gain = low_gain > 0 ? low_gain : choose_low_gain(mosaic, band);
    }
}
