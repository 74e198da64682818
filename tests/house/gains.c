/* Prints the tables of docs/numerics.md, that is, how large a coefficient can become, from the filters alone, and which
 * precisions fit int16.
 *
 * A coefficient is a linear function of the samples (5/3: but for rounding). The greatest value it can take, with
 * samples between -1 and 1, is the sum of the magnitudes of its weights. Both directions are separable, so the gain of
 * a subband in two dimensions is the product of two one-dimensional ones. These are the greatest over lines of all
 * lengths from 1 to SHORT and from LONG to LONG + 2^LEVELS - 1 at all origins modulo 2^LEVELS, which covers borders,
 * single samples and odd origins: the interior and the two borders of any other line occur among them. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "dwt/wavelet.h"
#include "quant/steps.h"
#include "tiling/geometry.h"

enum { LEVELS = 6, ORIGINS = 1 << LEVELS, SHORT = 200, LONG = 416 };

typedef struct gains {
    double low[LEVELS + 1], high[LEVELS + 1];
} gains;

/* rows[i] are the weights of sample i of a line at coordinate origin + i. */
static void lift(double **rows, size_t n, size_t weights, unsigned origin, unsigned parity, double c)
{
    for (size_t i = (origin + parity) & 1; i < n; i += 2) {
        const double *left = rows[i > 0 ? i - 1 : i + 1], *right = rows[i + 1 < n ? i + 1 : i - 1];
        for (size_t k = 0; k < weights; k++)
            rows[i][k] += c * (left[k] + right[k]);
    }
}

static double norm(const double *row, size_t weights, double scale)
{
    double sum = 0;
    for (size_t k = 0; k < weights; k++)
        sum += fabs(row[k]);
    return sum * scale;
}

static void scale_row(double *row, size_t weights, double factor)
{
    for (size_t k = 0; k < weights; k++)
        row[k] *= factor;
}

static void steps(const l2k_wavelet_descriptor *wavelet, double **rows, size_t n, size_t weights, unsigned origin)
{
    if (n == 1) {
        if (origin & 1)
            scale_row(rows[0], weights, 2);
        return;
    }
    for (unsigned s = 0; s < wavelet->kernel.num_steps; s++) {
        const l2k_kernel_step *step = &wavelet->kernel.steps[s];
        lift(rows, n, weights, origin, step->high, ldexp(step->taps[0], -step->shift));
    }
    for (size_t i = 0; i < n; i++)
        scale_row(rows[i], weights, wavelet->forward_scale[(origin + i) & 1]);
}

static void keep(double *most, double value)
{
    *most = value > *most ? value : *most;
}

static void analyse(const l2k_wavelet_descriptor *wavelet, size_t length, unsigned origin, unsigned levels, gains *g)
{
    size_t n = length;
    double **rows = malloc(n * sizeof *rows), *all = calloc(n * n, sizeof *all);
    for (size_t i = 0; i < n; i++) {
        rows[i] = all + i * n;
        rows[i][i] = 1;
    }
    for (unsigned level = 1; level <= levels && n > 0; level++) {
        size_t low = 0;
        steps(wavelet, rows, n, length, origin);
        for (size_t i = 0; i < n; i++) {
            bool high = (origin + i) & 1;
            keep(high ? &g->high[level] : &g->low[level], norm(rows[i], length, 1));
            if (!high)
                rows[low++] = rows[i];
        }
        origin = (origin + 1) / 2;
        n = low;
    }
    free(all);
    free(rows);
}

static gains find(const l2k_wavelet_descriptor *wavelet)
{
    gains g = {{1}, {0}};
    for (size_t length = 1; length < LONG + ORIGINS; length++)
        for (unsigned origin = 0; origin < ORIGINS && (length <= SHORT || length >= LONG); origin++)
            analyse(wavelet, length, origin, LEVELS, &g);
    return g;
}

/* ---- Which precisions fit ------------------------------------------------------------------------------------------
 */

static double gain(const gains *g, unsigned level, unsigned orientation)
{
    double x = orientation & 1 ? g->high[level] : g->low[level], y = orientation & 2 ? g->high[level] : g->low[level];
    return x * y;
}

/* What rounding adds to a 5/3 coefficient at most: docs/numerics.md. */
static double rounding(const gains *g, unsigned level, unsigned orientation)
{
    static const double constant[4] = {0.5, 0.25, 0.5, 0.25}, deviation[4] = {1.25, 1.25, 0.875, 0.75};
    double sum = orientation == L2K_LL ? constant[0] * level : constant[orientation];
    sum += deviation[orientation];
    for (unsigned before = 1; before < level; before++)
        sum += deviation[L2K_LL] * gain(g, level - before, orientation);
    return sum;
}

/* The greatest magnitude of a coefficient of a subband; for 9/7 of its index. */
static double greatest(const gains *g, l2k_wavelet wavelet, bool transform, unsigned precision, unsigned level,
                       unsigned orientation)
{
    double sample = ldexp(1, (int)precision - 1);
    if (!l2k_wavelet_get(wavelet)->quantised)
        return gain(g, level, orientation) * (transform ? 2 * sample - 1 : sample) + rounding(g, level, orientation);
    float step =
        l2k_step_size(l2k_step_choose(l2k_wavelet_get(wavelet), precision, (l2k_depth){level, level}, orientation),
                      precision, orientation);
    return gain(g, level, orientation) * (transform ? 1.00002 * sample : sample) / step;
}

enum { BY_BOUND, BY_PLANES, WITHIN_PLANES };

/* BY_BOUND: is every coefficient of a transform of `levels` levels known to fit int16? BY_PLANES: is Mb at most 15 in
 * every subband? WITHIN_PLANES: is every coefficient below 2^Mb? */
static bool fits(const gains *g, int question, l2k_wavelet wavelet, bool transform, unsigned precision, unsigned levels)
{
    for (unsigned level = 1; level <= levels; level++)
        for (unsigned orientation = level == levels ? 0 : 1; orientation < 4; orientation++) {
            double most = greatest(g, wavelet, transform, precision, level, orientation);
            int planes =
                l2k_step_choose(l2k_wavelet_get(wavelet), precision, (l2k_depth){level, level}, orientation).exponent +
                2 - 1;
            if (question == BY_BOUND ? most >= 32768 : question == BY_PLANES ? planes > 15 : most >= ldexp(1, planes))
                return false;
        }
    return true;
}

static unsigned largest(const gains *g, int question, l2k_wavelet wavelet, bool transform, unsigned levels)
{
    unsigned precision = l2k_wavelet_get(wavelet)->most_bits;
    while (precision > 0 && !fits(g, question, wavelet, transform, precision, levels))
        precision--;
    return precision;
}

static void print_gains(const gains *g)
{
    printf("| level | low | high | LL | HL, LH | HH |\n|---|---|---|---|---|---|\n");
    for (unsigned level = 1; level <= LEVELS; level++)
        printf("| %u | %.4f | %.4f | %.4f | %.4f | %.4f |\n", level, g->low[level], g->high[level], gain(g, level, 0),
               gain(g, level, 1), gain(g, level, 3));
}

static void print_precisions(const gains *g, l2k_wavelet wavelet)
{
    printf("\nLargest precision: int16 proved, Mb <= 15, every coefficient below 2^Mb; the same after RCT or ICT\n\n"
           "| levels | int16 | Mb | 2^Mb | RCT/ICT int16 | Mb | 2^Mb |\n|---|---|---|---|---|---|---|\n");
    for (unsigned levels = 1; levels <= LEVELS; levels++) {
        printf("| %u ", levels);
        for (int transform = 0; transform < 2; transform++)
            for (int question = 0; question < 3; question++)
                printf("| %u ", largest(g, question, wavelet, transform, levels));
        printf("|\n");
    }
}

int main(void)
{
    for (int wavelet = L2K_WAVELET_5_3; wavelet <= L2K_WAVELET_9_7; wavelet++) {
        const l2k_wavelet_descriptor *descriptor = l2k_wavelet_get((l2k_wavelet)wavelet);
        gains g = find(descriptor);
        printf("\n%s\n\n", descriptor->name);
        print_gains(&g);
        print_precisions(&g, (l2k_wavelet)wavelet);
    }
    return 0;
}
