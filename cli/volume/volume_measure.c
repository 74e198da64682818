/* Counts small coefficients: the gain of a third direction before any coding. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/volume/volume.h"

/* Bits of the magnitude, rounded to an integer. */
static unsigned bits_of(const void *value, bool is_float)
{
    const double magnitude =
        is_float ? rint(fabs((double)*(const float *)value)) : fabs((double)*(const int32_t *)value);
    int exponent;
    frexp(magnitude, &exponent);
    return magnitude < 1 ? 0 : exponent > 32 ? 32 : (unsigned)exponent;
}

void cli_volume_count(cli_volume_measure *measure, const l2k_volume_slice *slice)
{
    for (uint32_t c = 0; c < slice->num_components; c++) {
        const l2k_coefficients *view = &slice->views[c];
        for (uint32_t band = 0; band < view->num_bands; band++) {
            const l2k_band_view *b = &view->bands[band];
            for (uint32_t y = 0; y < b->height; y++)
                for (uint32_t x = 0; x < b->width; x++) {
                    const size_t at = (size_t)(b->y + y) * view->stride + b->x + x;
                    measure
                        ->counts[bits_of((const uint32_t *)view->base + at, view->type == L2K_COEFFICIENT_FLOAT32)]++;
                }
        }
    }
}

static double count_up_to(const cli_volume_measure *measure, unsigned bits)
{
    double count = 0;
    for (unsigned i = 0; i <= bits; i++)
        count += (double)measure->counts[i];
    return count;
}

static double share_up_to(const cli_volume_measure *measure, unsigned bits)
{
    const double all = count_up_to(measure, 32);
    return all > 0 ? 100 * count_up_to(measure, bits) / all : 0;
}

static double mean_bits(const cli_volume_measure *measure)
{
    double sum = 0;
    for (unsigned i = 0; i <= 32; i++)
        sum += i * (double)measure->counts[i];
    return sum > 0 ? sum / count_up_to(measure, 32) : 0;
}

void cli_volume_print(const cli_volume_measure *alone, const cli_volume_measure *together)
{
    printf("magnitude    slices alone    with Z\n");
    for (unsigned bits = 0; bits <= 6; bits++)
        printf("%s%-2u %17.1f %% %7.1f %%\n", bits ? "up to " : "      ", (1u << bits) - 1, share_up_to(alone, bits),
               share_up_to(together, bits));
    printf("mean bits %14.2f %11.2f\n", mean_bits(alone), mean_bits(together));
}
