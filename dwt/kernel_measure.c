/* Norms of a kernel's synthesis and gains of its analysis, level by level, from the responses of its steps. */
#include "dwt/kernel.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* A line long enough for the response of one coefficient of the deepest level, which spans its reach, both ways, over
 * all levels. */
typedef struct response {
    const l2k_wavelet_descriptor *wavelet;
    double *line, *other;
    size_t length; /* of the present level */
} response;

static size_t length_at(const l2k_kernel *kernel, unsigned level)
{
    const size_t reach = l2k_kernel_reach(kernel) + 1;
    return 4 * reach * (((size_t)2 << level) - 1);
}

/* The part of a step in a sample; without rounding. */
static double factor(const l2k_kernel_step *step, unsigned tap)
{
    return ldexp((double)step->taps[tap], -(int)step->shift);
}

/* One level up: `line` holds the coefficients, interleaved, and taps beyond the ends find zeros. Or, if `transposes`,
 * the same for the samples on which coefficients depend: the transposes of the analysis's steps, backwards. */
static void step_up(response *r, bool transposes)
{
    const l2k_kernel *kernel = &r->wavelet->kernel;
    const float *scales = transposes ? r->wavelet->forward_scale : r->wavelet->inverse_scale;
    for (size_t i = 0; i < r->length; i++)
        r->line[i] *= (double)scales[i & 1];
    for (unsigned s = kernel->num_steps; s-- > 0;) {
        const l2k_kernel_step *step = &kernel->steps[s];
        for (size_t i = step->high; i < r->length; i += 2)
            for (unsigned k = 0; k < step->num_taps; k++) {
                const size_t at = i + (size_t)(l2k_kernel_first_tap(step) + 2 * (int)k);
                if (at < r->length && transposes)
                    r->line[at] += factor(step, k) * r->line[i];
                else if (at < r->length)
                    r->line[i] -= factor(step, k) * r->line[at];
            }
    }
}

/* Turns a level's result into the low-pass of the next one, in the middle of a line of its length. */
static void widen(response *r, size_t length)
{
    const size_t before = (length / 2 - r->length) / 2;
    memset(r->other, 0, length * sizeof *r->other);
    for (size_t i = 0; i < r->length; i++)
        r->other[2 * (before + i)] = r->line[i];
    double *line = r->line;
    r->line = r->other;
    r->other = line;
    r->length = length;
}

static float sum_up(const response *r, bool is_gain)
{
    double sum = 0;
    for (size_t i = 0; i < r->length; i++)
        sum += is_gain ? fabs(r->line[i]) : r->line[i] * r->line[i];
    return (float)(is_gain ? sum : sqrt(sum));
}

/* The norms or gains of a coefficient of level 1 and up. Each level starts from the response of the one before. */
static void respond(response *r, bool high, bool is_gain, float *out)
{
    r->length = length_at(&r->wavelet->kernel, 1);
    memset(r->line, 0, r->length * sizeof *r->line);
    r->line[r->length / 4 * 2 + high] = 1;
    for (unsigned level = 1; level <= L2K_NORM_LEVELS; level++) {
        if (level > 1)
            widen(r, length_at(&r->wavelet->kernel, level));
        step_up(r, is_gain);
        out[level - 1] = sum_up(r, is_gain);
    }
}

/* Norms for quantiser steps contain a factor of two for each high-pass direction, as the 9/7's do. */
static void measure_factors(response *r, bool is_gain, float factors[2][L2K_NORM_LEVELS + 1])
{
    factors[0][0] = 1;
    respond(r, false, is_gain, &factors[0][1]);
    respond(r, true, is_gain, factors[1]);
    for (unsigned i = 0; i < L2K_NORM_LEVELS && !is_gain && r->wavelet->quantised; i++)
        factors[1][i] *= 2;
    factors[1][L2K_NORM_LEVELS] = factors[1][L2K_NORM_LEVELS - 1];
}

/* Column 0 of the first row is LL of level 0; in the other rows, level 1. */
static void multiply_norms(l2k_wavelet_descriptor *w)
{
    for (unsigned column = 0; column < L2K_NORM_LEVELS; column++) {
        const double low = (double)w->factor_norms[0][column], high = (double)w->factor_norms[1][column];
        w->norms[0][column] = low * low;
        w->norms[1][column] = (double)w->factor_norms[0][column + 1] * high;
        w->norms[2][column] = high * high;
    }
}

l2k_status l2k_wavelet_measure(const l2k_context *context, l2k_wavelet_descriptor *wavelet)
{
    const size_t length = length_at(&wavelet->kernel, L2K_NORM_LEVELS);
    double *lines = l2k_allocate(context, 2 * length, sizeof *lines);
    L2K_TRY(l2k_check_memory(context, lines, "a wavelet's norms"));
    response r = {wavelet, lines, lines + length, 0};
    measure_factors(&r, false, wavelet->factor_norms);
    measure_factors(&r, true, wavelet->gains);
    multiply_norms(wavelet);
    l2k_release(context, lines);
    return L2K_OK;
}

l2k_status l2k_wavelet_take_kernel(const l2k_context *context, const l2k_kernel *kernel, l2k_wavelet_descriptor *own,
                                   int64_t *wavelet)
{
    l2k_wavelet_descriptor measured;
    const l2k_wavelet number = l2k_wavelet_of_kernel(kernel, &measured);
    L2K_TRY(l2k_wavelet_measure(context, &measured));
    *own = measured;
    *wavelet = number;
    return L2K_OK;
}

/* Beyond the deepest measured level, a factor grows as between the last two. */
static double line_gain(const l2k_wavelet_descriptor *w, unsigned level, bool high)
{
    const float *gains = w->gains[high];
    const unsigned column = level - high, last = L2K_NORM_LEVELS - high;
    if (column <= last)
        return (double)gains[column];
    return (double)gains[last] * pow((double)gains[last] / (double)gains[last - 1], column - last);
}

double l2k_wavelet_gain(const l2k_wavelet_descriptor *wavelet, unsigned across, unsigned down, unsigned orientation)
{
    return (across ? line_gain(wavelet, across, orientation & 1) : 1) *
           (down ? line_gain(wavelet, down, orientation >> 1) : 1);
}
