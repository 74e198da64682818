/* A transform by a lifting kernel as plainly as in T.801, Annex H: whole lines, one sample after the other, sums of
 * 64 bits or of floats, no rings and no halves. */
#ifndef L2K_TESTS_SUPPORT_REFERENCE_KERNEL_H
#define L2K_TESTS_SUPPORT_REFERENCE_KERNEL_H

#include "dwt/wavelet.h"

typedef union ref_value {
    int32_t i;
    float f;
} ref_value;

static inline long ref_border(const l2k_kernel *k, long at, long n)
{
    while (at < 0 || at >= n)
        if (k->mirrors)
            at = at < 0 ? -at : 2 * (n - 1) - at;
        else
            at += at < 0 ? 2 : -2;
    return at;
}

/* Sample `at` of a line whose samples are `stride` apart, by one step. */
static inline void ref_lift(const l2k_kernel *k, const l2k_kernel_step *step, ref_value *line, long n, long stride,
                            long at, bool undo)
{
    const ref_value *found[L2K_KERNEL_TAPS];
    const int taps = step->num_taps;
    bool pairs = taps % 2 == 0;
    for (int t = 0; t < taps; t++) {
        const long to = at + 2 * (t + step->offset) + (step->high ? -1 : 1);
        found[t] = &line[stride * ref_border(k, to, n)];
        pairs = pairs && step->taps[t] == step->taps[taps - 1 - t];
    }
    ref_value *x = &line[stride * at];
    if (k->reversible) {
        int64_t sum = step->rounding;
        for (int t = 0; t < taps; t++)
            sum += (int64_t)step->taps[t] * found[t]->i;
        const uint32_t change = (uint32_t)(uint64_t)(sum >> step->shift);
        x->i = (int32_t)(undo ? (uint32_t)x->i - change : (uint32_t)x->i + change);
        return;
    }
    float sum = 0;
    for (int t = 0; t < (pairs ? taps / 2 : taps); t++) {
        const int left = pairs ? taps / 2 - 1 - t : t;
        const float part = (pairs ? found[left]->f + found[taps - 1 - left]->f : found[left]->f) * step->taps[left];
        sum = t ? sum + part : part;
    }
    x->f = undo ? x->f - sum : x->f + sum;
}

static inline void ref_scale_line(ref_value *line, long n, long stride, unsigned parity, const float scale[2])
{
    for (long i = 0; i < n; i++)
        line[stride * i].f *= scale[(i + parity) & 1];
}

/* In place, low and high samples where they were. */
static inline void ref_kernel_line(const l2k_wavelet_descriptor *w, ref_value *line, long n, long stride,
                                   unsigned parity, bool undo)
{
    const l2k_kernel *k = &w->kernel;
    if (n == 1 && parity) {
        if (k->reversible)
            line->i = undo ? line->i / 2 : (int32_t)((uint32_t)line->i * 2);
        else
            line->f *= undo ? 0.5f : 2.0f;
    }
    if (n <= 1)
        return;
    if (undo && !k->reversible)
        ref_scale_line(line, n, stride, parity, w->inverse_scale);
    for (int s = 0; s < k->num_steps; s++) {
        const l2k_kernel_step *step = &k->steps[undo ? k->num_steps - 1 - s : s];
        for (long at = (step->high + parity) & 1; at < n; at += 2)
            ref_lift(k, step, line, n, stride, at, undo);
    }
    if (!undo && !k->reversible)
        ref_scale_line(line, n, stride, parity, w->forward_scale);
}

/* Low samples before high ones, or back. */
static inline void ref_kernel_sort(ref_value *line, long n, long stride, unsigned parity, bool undo)
{
    ref_value sorted[512];
    const long lows = (n + 1 - (long)parity) / 2;
    for (long i = 0; i < n; i++) {
        const long to = (i + parity) & 1 ? lows + (i - (long)(1 - parity)) / 2 : (i - (long)parity) / 2;
        sorted[undo ? i : to] = line[stride * (undo ? to : i)];
    }
    for (long i = 0; i < n; i++)
        line[stride * i] = sorted[i];
}

#endif
