/* Peak error, MSE and PSNR of two components. */
#include "cli/compare/difference.h"

#include <math.h>

#include "pictures/picture.h"
#include "pictures/user/limits.h"

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

bool cli_difference_add(cli_difference *difference, const l2k_component *component, uint32_t rows, const l2k_plane *a,
                        const l2k_plane *b)
{
    const l2k_plane *planes[2] = {a, b};
    difference->samples += (uint64_t)component->width * rows;
    bool done = true;
    for (uint32_t y = 0; y < rows && (done = cli_time_left("compare")); y++)
        take_row(difference, (const char *)a->data + (ptrdiff_t)y * a->row_stride,
                 (const char *)b->data + (ptrdiff_t)y * b->row_stride, planes, component->width);
    difference->mse = difference->samples ? difference->squares / (double)difference->samples : 0;
    return done;
}

double cli_psnr(double mse, uint32_t precision)
{
    double peak = ldexp(1, (int)precision) - 1;
    return mse > 0 ? 10 * log10(peak * peak / mse) : INFINITY;
}
