/* Transforms a row as a line that is split into its low and high samples (F.3.6, F.4.6; T.801, Annex H). */
#include "dwt/kernel_rows.h"

#include "dwt/kernel.h"
#include "dwt/lifting.h"

/* The halves of a line of n >= 2 samples, by [high]: `at[h]` holds the samples first[h], first[h] + 2, ... */
typedef struct split_line {
    uint32_t *at[2];
    size_t count[2], n;
    int first[2];
} split_line;

static split_line split_of(void *low, void *high, size_t n, unsigned parity)
{
    const size_t lows = (n + 1 - parity) / 2;
    return (split_line){{low, high}, {lows, n - lows}, n, {(int)parity, 1 - (int)parity}};
}

/* Samples from .. to - 1 of the half that a step changes, all of whose taps are inside the line. */
static void inner_samples(const l2k_kernel_lifting *l, const l2k_kernel_step *step, bool undo, const split_line *line,
                          ptrdiff_t from, ptrdiff_t to)
{
    const void *taps[L2K_KERNEL_TAPS];
    const int to_other = line->first[step->high] - line->first[!step->high] + l2k_kernel_first_tap(step);
    for (unsigned k = 0; k < step->num_taps; k++)
        taps[k] = line->at[!step->high] + from + to_other / 2 + (ptrdiff_t)k;
    l->step(step, undo, line->at[step->high] + from, taps, (size_t)(to - from));
}

static void border_sample(const l2k_kernel_lifting *l, const l2k_kernel_step *step, bool undo, const split_line *line,
                          ptrdiff_t i)
{
    const void *taps[L2K_KERNEL_TAPS];
    const int64_t x = 2 * (int64_t)i + line->first[step->high];
    for (unsigned k = 0; k < step->num_taps; k++) {
        const int64_t place = x + l2k_kernel_first_tap(step) + 2 * (int)k;
        taps[k] = line->at[!step->high] + l2k_kernel_place(&l->wavelet->kernel, place, 0, (int64_t)line->n) / 2;
    }
    l->step(step, undo, line->at[step->high] + i, taps, 1);
}

static void apply_step(const l2k_kernel_lifting *l, unsigned number, bool undo, const split_line *line)
{
    const l2k_kernel_step *step = &l->wavelet->kernel.steps[number];
    const ptrdiff_t count = (ptrdiff_t)line->count[step->high];
    const int64_t before = line->first[step->high] + l2k_kernel_first_tap(step),
                  after = (int64_t)line->n - 1 - line->first[step->high] - l2k_kernel_last_tap(step);
    ptrdiff_t from = before < 0 ? (ptrdiff_t)((1 - before) / 2) : 0, to = after < 0 ? 0 : (ptrdiff_t)(after / 2 + 1);
    from = from < count ? from : count;
    to = to < count ? to : count;
    to = to < from ? from : to;
    for (ptrdiff_t i = 0; i < from; i++)
        border_sample(l, step, undo, line, i);
    if (to > from)
        inner_samples(l, step, undo, line, from, to);
    for (ptrdiff_t i = to; i < count; i++)
        border_sample(l, step, undo, line, i);
}

void l2k_kernel_lone(const l2k_wavelet_descriptor *wavelet, bool inverse, void *row, size_t n)
{
    float *values = row;
    int32_t *integers = row;
    for (size_t i = 0; i < n; i++)
        if (wavelet->is_float)
            values[i] = inverse ? l2k_9_7_unlone(values[i]) : l2k_9_7_lone(values[i]);
        else
            integers[i] = inverse ? l2k_5_3_unlone(integers[i]) : l2k_5_3_lone(integers[i]);
}

static void scale_row(const l2k_kernel_lifting *l, void *row, size_t n, float factor)
{
    if (l->wavelet->is_float && factor != 1)
        l->rows->scale(row, n, factor);
}

static void scale_halves(const l2k_kernel_lifting *l, const split_line *line, const float factors[2])
{
    for (unsigned h = 0; h < 2; h++)
        scale_row(l, line->at[h], line->count[h], factors[h]);
}

l2k_kernel_lifting l2k_kernel_lifting_of(l2k_cpu cpu, const l2k_wavelet_descriptor *wavelet, unsigned precision,
                                         unsigned levels)
{
    const bool is_float = wavelet->is_float;
    l2k_kernel_lifting l = {.wavelet = wavelet, .rows = l2k_kernel_rows_get(cpu)};
    if (is_float)
        l.sums = L2K_SUMS_FLOAT;
    else
        l.sums = l2k_kernel_is_wide(&wavelet->kernel, precision, levels) ? L2K_SUMS_64 : L2K_SUMS_32;
    if (!l2k_wavelet_is_kernel(wavelet))
        l.fused = l2k_wavelet_rows_get(cpu, is_float ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3);
    l.step = l.fused ? l.fused->step : l.rows->step[l.sums];
    return l;
}

void l2k_kernel_analyse(const l2k_kernel_lifting *lifting, const void *row, size_t n, unsigned parity, float scale,
                        void *low, void *high)
{
    const split_line line = split_of(low, high, n, parity);
    const float both[2] = {scale, scale};
    lifting->rows->split(row, n, line.at[parity], line.at[!parity]);
    scale_halves(lifting, &line, both);
    if (n == 1 && parity)
        l2k_kernel_lone(lifting->wavelet, false, high, 1);
    if (n == 1)
        return;
    for (unsigned s = 0; s < lifting->wavelet->kernel.num_steps; s++)
        apply_step(lifting, s, false, &line);
    scale_halves(lifting, &line, lifting->wavelet->forward_scale);
}

void l2k_kernel_synthesise(const l2k_kernel_lifting *lifting, void *low, void *high, size_t n, unsigned parity,
                           float scale, void *row)
{
    const split_line line = split_of(low, high, n, parity);
    if (n == 1 && parity)
        l2k_kernel_lone(lifting->wavelet, true, high, 1);
    if (n > 1) {
        scale_halves(lifting, &line, lifting->wavelet->inverse_scale);
        for (unsigned s = lifting->wavelet->kernel.num_steps; s-- > 0;)
            apply_step(lifting, s, true, &line);
    }
    lifting->rows->join(line.at[parity], line.at[!parity], n, row);
    scale_row(lifting, row, n, scale);
}
