/* Kernels as data: their reach, their checks, and their borders (T.801, Annex H). */
#include "dwt/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

unsigned l2k_kernel_step_reach(const l2k_kernel_step *step)
{
    const int before = abs(l2k_kernel_first_tap(step)), after = abs(l2k_kernel_last_tap(step));
    return (unsigned)(before > after ? before : after);
}

unsigned l2k_kernel_reach(const l2k_kernel *kernel)
{
    unsigned reach = 0;
    for (unsigned s = 0; s < kernel->num_steps; s++)
        reach += l2k_kernel_step_reach(&kernel->steps[s]);
    return reach;
}

/* ---- Checks -------------------------------------------------------------------------------------------------- */

static const char *wrong_taps(const l2k_kernel *kernel, const l2k_kernel_step *step)
{
    for (unsigned k = 0; k < step->num_taps && k < L2K_KERNEL_TAPS; k++) {
        const float tap = step->taps[k];
        if (!isfinite(tap))
            return "a tap that is not a finite number";
        if (kernel->reversible && (tap != rintf(tap) || fabsf(tap) > INT16_MAX))
            return "a tap of a reversible kernel that is not an integer of 16 bits";
    }
    return NULL;
}

static const char *wrong_step(const l2k_kernel *kernel, unsigned number)
{
    const l2k_kernel_step *step = &kernel->steps[number];
    if (step->num_taps == 0)
        return "a lifting step without taps";
    if (step->num_taps > L2K_KERNEL_TAPS)
        return "a lifting step of more than 32 taps";
    if (step->offset > L2K_KERNEL_OFFSET || step->offset < -L2K_KERNEL_OFFSET)
        return "an offset beyond 31";
    if (kernel->reversible && step->shift > 15)
        return "a shift beyond 15";
    if (number && step->high == kernel->steps[number - 1].high)
        return "two lifting steps in a row that change samples of one parity";
    return wrong_taps(kernel, step);
}

const char *l2k_kernel_wrong(const l2k_kernel *kernel)
{
    if (kernel->num_steps == 0)
        return "no lifting steps";
    if (kernel->num_steps > L2K_KERNEL_STEPS)
        return "more than 8 lifting steps";
    /* Its reciprocal is a scale, too. */
    if (!kernel->reversible &&
        !(isfinite(kernel->scale) && fabsf(kernel->scale) >= 0x1p-100f && fabsf(kernel->scale) <= 0x1p100f))
        return "a scaling factor that is 0 or not a finite number";
    for (unsigned s = 0; s < kernel->num_steps; s++) {
        const char *wrong = wrong_step(kernel, s);
        if (wrong)
            return wrong;
    }
    return l2k_kernel_reach(kernel) > L2K_KERNEL_REACH ? "a support of more than 64 samples to a side" : NULL;
}

static bool same_step(const l2k_kernel *kernel, const l2k_kernel_step *a, const l2k_kernel_step *b)
{
    return a->high == b->high && a->offset == b->offset && a->num_taps == b->num_taps &&
           (!kernel->reversible || (a->shift == b->shift && a->rounding == b->rounding)) &&
           memcmp(a->taps, b->taps, a->num_taps * sizeof *a->taps) == 0;
}

bool l2k_kernel_has_borders(const l2k_kernel *kernel)
{
    for (unsigned s = 0; s < kernel->num_steps; s++)
        if (l2k_kernel_first_tap(&kernel->steps[s]) < -1 || l2k_kernel_last_tap(&kernel->steps[s]) > 1)
            return true;
    return false;
}

bool l2k_kernel_is_symmetric(const l2k_kernel *kernel)
{
    for (unsigned s = 0; s < kernel->num_steps; s++) {
        const l2k_kernel_step *step = &kernel->steps[s];
        if (l2k_kernel_first_tap(step) != -l2k_kernel_last_tap(step))
            return false;
        for (unsigned k = 0; k < step->num_taps; k++)
            if (step->taps[k] != step->taps[step->num_taps - 1 - k])
                return false;
    }
    return true;
}

bool l2k_kernel_equals(const l2k_kernel *a, const l2k_kernel *b)
{
    if (a->reversible != b->reversible || a->num_steps != b->num_steps || (!a->reversible && a->scale != b->scale))
        return false;
    for (unsigned s = 0; s < a->num_steps; s++)
        if (!same_step(a, &a->steps[s], &b->steps[s]))
            return false;
    return a->mirrors == b->mirrors || !l2k_kernel_has_borders(a);
}

/* ---- Borders ------------------------------------------------------------------------------------------------- */

/* In a line of a few samples a step may reach beyond both ends. */
static int64_t mirror(int64_t i, int64_t first, int64_t end)
{
    while (i < first || i >= end)
        i = i < first ? 2 * first - i : 2 * (end - 1) - i;
    return i;
}

int64_t l2k_kernel_place(const l2k_kernel *kernel, int64_t i, int64_t first, int64_t end)
{
    if (kernel->mirrors)
        return mirror(i, first, end);
    if (i < first)
        return first + ((first ^ i) & 1);
    return i >= end ? end - 1 - (((end - 1) ^ i) & 1) : i;
}

/* ---- Ranges -------------------------------------------------------------------------------------------------- */

/* The sum of a step's taps, as factors of samples. */
static double step_factor(const l2k_kernel_step *step)
{
    double sum = 0;
    for (unsigned k = 0; k < step->num_taps; k++)
        sum += fabs((double)step->taps[k]);
    return sum;
}

/* Bounds, with all signs at their worst: of the low and high coefficients that one level makes of samples below 1 in a
 * line, and `most`, of all values in between. Each step may also round by up to 1. */
bool l2k_kernel_is_wide(const l2k_kernel *kernel, unsigned precision, unsigned levels)
{
    double bound[2] = {1, 1}, most = 1, taps = 1;
    for (unsigned s = 0; s < kernel->num_steps; s++) {
        const l2k_kernel_step *step = &kernel->steps[s];
        const double sum = step_factor(step);
        bound[step->high] += bound[!step->high] * ldexp(sum, -step->shift);
        most = fmax(most, bound[step->high]);
        taps = fmax(taps, sum);
    }
    /* A bit for signs, one for the RCT, one for roundings; two directions, and the low-pass of all levels before. */
    const double bits = precision + 2 + 2 * log2(most) + 2 * log2(bound[0]) * (levels ? levels - 1 : 0);
    return taps >= L2K_KERNEL_WIDE_TAPS || bits + log2(taps) > 31;
}

void l2k_kernel_undo_bounds(const l2k_kernel *kernel, double bounds[2], double *sums)
{
    for (unsigned s = kernel->num_steps; s-- > 0;) {
        const l2k_kernel_step *step = &kernel->steps[s];
        const double sum = step_factor(step) * bounds[!step->high] + fabs((double)step->rounding);
        *sums = fmax(*sums, sum);
        bounds[step->high] += ldexp(sum, -step->shift) + 1;
    }
}
