/* Peak error, MSE, PSNR and SSIM of two components. */
#include "cli/compare/difference.h"

#include <math.h>
#include <stdlib.h>

#include "pictures/picture.h"
#include "pictures/user/limits.h"
#include "pictures/user/report.h"

/* Squares of 31-bit differences take 62 bits, so the sum of a row is a double: exact up to 2^53, which no row of fewer
 * than 2^21 16-bit samples exceeds. */
static void take_row(cli_difference *difference, const char *a, const char *b, const l2k_plane *planes[2],
                     uint32_t width)
{
    double row = 0;
    for (uint32_t x = 0; x < width; x++, a += planes[0]->sample_stride, b += planes[1]->sample_stride) {
        int64_t error = (int64_t)cli_load_sample(a, planes[0]->type) - cli_load_sample(b, planes[1]->type);
        uint64_t size = (uint64_t)(error < 0 ? -error : error);
        difference->differing += size != 0;
        difference->peak_error = size > difference->peak_error ? size : difference->peak_error;
        row += (double)size * (double)size;
    }
    difference->squares += row;
}

void cli_difference_add(cli_difference *difference, const l2k_component *component, uint32_t rows, const l2k_plane *a,
                        const l2k_plane *b)
{
    const l2k_plane *planes[2] = {a, b};
    difference->samples += (uint64_t)component->width * rows;
    for (uint32_t y = 0; y < rows; y++)
        take_row(difference, (const char *)a->data + (ptrdiff_t)y * a->row_stride,
                 (const char *)b->data + (ptrdiff_t)y * b->row_stride, planes, component->width);
    difference->mse = difference->samples ? difference->squares / (double)difference->samples : 0;
}

double cli_psnr(double mse, uint32_t precision)
{
    double peak = ldexp(1, (int)precision) - 1;
    return mse > 0 ? 10 * log10(peak * peak / mse) : INFINITY;
}

/* ---- SSIM ---------------------------------------------------------------------------------------------------- */

/* Structural similarity (SSIM) after Z. Wang, A. C. Bovik, H. R. Sheikh, E. P. Simoncelli, "Image Quality Assessment:
 * From Error Visibility to Structural Similarity", IEEE Transactions on Image Processing 13 (4), 2004, pages 600 to
 * 612:
 *
 *     SSIM = (2 mu_a mu_b + C1) (2 sigma_ab + C2) / ((mu_a^2 + mu_b^2 + C1) (sigma_a^2 + sigma_b^2 + C2))      (13)
 *
 * with C1 = (K1 L)^2, C2 = (K2 L)^2, K1 = 0.01, K2 = 0.03, L = 2^precision - 1. Means, variances and covariance are
 * weighted with a Gaussian of 11 x 11, sigma 1.5, whose sum is 1 (14 to 16), at every position of the window within
 * the component; the result is the mean over these positions (17). The components are not scaled down first. */
#define WINDOW 11u

/* The Gaussian is separable: rows are filtered as they are read, and the last 11 are kept in a ring. */
enum { MEAN_A, MEAN_B, SQUARE_A, SQUARE_B, PRODUCT, NUM_MOMENTS };

typedef struct ssim_state {
    double gauss[WINDOW];
    double c1, c2;
    uint32_t width, places; /* samples of a row; positions of the window in it */
    double *a, *b;          /* one row of samples each, in one allocation with the ring */
    double *ring;           /* WINDOW rows of `places` times NUM_MOMENTS */
} ssim_state;

static void make_gauss(double gauss[WINDOW])
{
    const double sigma = 1.5;
    double sum = 0;
    for (uint32_t i = 0; i < WINDOW; i++) {
        double distance = (double)i - WINDOW / 2;
        gauss[i] = exp(-distance * distance / (2 * sigma * sigma));
        sum += gauss[i];
    }
    for (uint32_t i = 0; i < WINDOW; i++)
        gauss[i] /= sum;
}

static bool create(ssim_state *state, const l2k_component *component)
{
    double range = ldexp(1, (int)component->precision) - 1;
    make_gauss(state->gauss);
    state->c1 = (0.01 * range) * (0.01 * range);
    state->c2 = (0.03 * range) * (0.03 * range);
    state->width = component->width;
    state->places = component->width - WINDOW + 1;
    state->a = calloc(state->width, (2 + NUM_MOMENTS * WINDOW) * sizeof *state->a);
    if (!state->a)
        return false;
    state->b = state->a + state->width;
    state->ring = state->b + state->width;
    return true;
}

/* The formula depends on the offset of the samples. Signed samples get the one that makes them unsigned, that of the DC
 * level shift (G.1). */
static void load_row(double *row, const l2k_component *component, const l2k_plane *plane, uint32_t y)
{
    const char *at = (const char *)plane->data + (ptrdiff_t)y * plane->row_stride;
    const double shift = component->is_signed ? ldexp(1, (int)component->precision - 1) : 0;
    for (uint32_t x = 0; x < component->width; x++, at += plane->sample_stride)
        row[x] = cli_load_sample(at, plane->type) + shift;
}

static double *ring_row(const ssim_state *state, uint32_t y)
{
    return state->ring + (size_t)(y % WINDOW) * state->places * NUM_MOMENTS;
}

static void filter_row(const ssim_state *state, uint32_t y)
{
    double *to = ring_row(state, y);
    for (uint32_t x = 0; x < state->places; x++, to += NUM_MOMENTS) {
        double moments[NUM_MOMENTS] = {0};
        for (uint32_t i = 0; i < WINDOW; i++) {
            double a = state->a[x + i], b = state->b[x + i], weight = state->gauss[i];
            moments[MEAN_A] += weight * a;
            moments[MEAN_B] += weight * b;
            moments[SQUARE_A] += weight * (a * a);
            moments[SQUARE_B] += weight * (b * b);
            moments[PRODUCT] += weight * (a * b);
        }
        for (int m = 0; m < NUM_MOMENTS; m++)
            to[m] = moments[m];
    }
}

static double similarity(const ssim_state *state, const double moments[NUM_MOMENTS])
{
    const double a = moments[MEAN_A], b = moments[MEAN_B];
    const double variances = moments[SQUARE_A] - a * a + (moments[SQUARE_B] - b * b);
    const double covariance = moments[PRODUCT] - a * b;
    return (2 * (a * b) + state->c1) * (2 * covariance + state->c2) /
           ((a * a + b * b + state->c1) * (variances + state->c2));
}

/* The sum over the positions whose window ends with row y. */
static double row_similarity(const ssim_state *state, uint32_t y)
{
    double sum = 0;
    for (uint32_t x = 0; x < state->places; x++) {
        double moments[NUM_MOMENTS] = {0};
        for (uint32_t i = 0; i < WINDOW; i++) {
            const double *from = ring_row(state, y - (WINDOW - 1) + i) + (size_t)x * NUM_MOMENTS;
            for (int m = 0; m < NUM_MOMENTS; m++)
                moments[m] += state->gauss[i] * from[m];
        }
        sum += similarity(state, moments);
    }
    return sum;
}

bool cli_ssim(double *ssim, const l2k_component *component, const l2k_plane *a, const l2k_plane *b)
{
    ssim_state state = {0};
    double sum = 0;
    *ssim = NAN;
    if (component->width < WINDOW || component->height < WINDOW)
        return true;
    if (!cli_memory_allowed(component->width * (2 + (uint64_t)NUM_MOMENTS * WINDOW) * sizeof(double), "compare"))
        return false;
    if (!create(&state, component))
        return cli_error("compare", "out of memory for SSIM");
    for (uint32_t y = 0; y < component->height; y++) {
        load_row(state.a, component, a, y);
        load_row(state.b, component, b, y);
        filter_row(&state, y);
        sum += y + 1 >= WINDOW ? row_similarity(&state, y) : 0;
    }
    *ssim = sum / ((double)state.places * (component->height - WINDOW + 1));
    free(state.a);
    return true;
}
