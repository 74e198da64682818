/* The inverse wavelet transform of VC-2 (15.4) and Dirac: each level first vertically, then horizontally, in place. The
 * kernels are those of dwt/kernel_named.h, undone. */
#include <string.h>

#include "dirac/transform.h"

/* The 5/3 as a kernel. Other than in Annex F of T.800, its inverse rounds halves up in both steps. */
static const l2k_kernel le_gall = {true, false, 2, 1, {{true, 0, 2, 1, 0, {-1, -1}}, {false, -1, 2, 2, 2, {1, 1}}}};

/* By index of the standards: the kernel, and the bits of accuracy that a level adds. */
static const l2k_kernel *kernel_of(unsigned wavelet)
{
    static const l2k_wavelet wavelets[] = {L2K_WAVELET_DD_9_7,        L2K_WAVELET_5_3,  L2K_WAVELET_DD_13_7,
                                           L2K_WAVELET_HAAR,          L2K_WAVELET_HAAR, L2K_WAVELET_FIDELITY,
                                           L2K_WAVELET_DAUBECHIES_INT};
    return wavelet == 1 ? &le_gall : &l2k_wavelet_get(wavelets[wavelet])->kernel;
}

static unsigned shift_of(const l2k_dirac_transform *t)
{
    return t->wavelet[1] != 3 && t->wavelet[1] != 5;
}

/* ---- A level --------------------------------------------------------------------------------------------------- */

typedef struct level {
    const l2k_kernel *vertical, *horizontal; /* vertical: NULL where the level splits only rows */
    l2k_kernel_step_rows *step[2];           /* vertical, horizontal, on 32 bits */
    const l2k_dirac_rows *rows;
    uint32_t over; /* as in l2k_dirac_transform */
    uint8_t *data;
    size_t stride, bytes;       /* in bytes: from row to row, of a sample */
    uint32_t half, half_height; /* samples of half a row, pairs of rows */
} level;

static uint32_t clamp(int64_t i, uint32_t n)
{
    return i < 0 ? 0 : i < n ? (uint32_t)i : n - 1;
}

static uint8_t *row_of(const level *l, uint32_t y)
{
    return l->data + y * l->stride;
}

static void lift(level *l, unsigned direction, const l2k_kernel_step *step, void *row, const void *const *from,
                 size_t n)
{
    if (l->bytes == sizeof(int16_t))
        l->over |= l->rows->step(step, row, from, n);
    else
        l->step[direction](step, true, row, from, n);
}

static void lift_row(level *l, const l2k_kernel_step *step, uint32_t n)
{
    const void *from[L2K_KERNEL_TAPS];
    for (int k = 0; k < step->num_taps; k++)
        from[k] = row_of(l, 2 * clamp((int64_t)n + k + step->offset, l->half_height) + !step->high);
    lift(l, 0, step, row_of(l, 2 * n + step->high), from, 2 * (size_t)l->half);
}

/* Samples from..end - 1 of the half row that a step changes; `i` and every tap of it stay within the row, or it is one
 * sample, whose taps are clamped. */
static void lift_samples(level *l, const l2k_kernel_step *step, uint8_t *row, uint32_t i, uint32_t n)
{
    const void *from[L2K_KERNEL_TAPS];
    const uint8_t *other = row + (step->high ? 0 : l->half * l->bytes);
    for (int k = 0; k < step->num_taps; k++)
        from[k] = other + clamp((int64_t)i + k + step->offset, l->half) * l->bytes;
    lift(l, 1, step, row + (i + (step->high ? (size_t)l->half : 0)) * l->bytes, from, n);
}

static void lift_halves(level *l, uint8_t *row)
{
    for (unsigned s = l->horizontal->num_steps; s-- > 0;) {
        const l2k_kernel_step *step = &l->horizontal->steps[s];
        const int last = step->offset + step->num_taps - 1;
        const uint32_t before = step->offset < 0 ? (uint32_t)-step->offset : 0, after = last > 0 ? (uint32_t)last : 0;
        const uint32_t first = before < l->half ? before : l->half;
        const uint32_t end = l->half > first + after ? l->half - after : first;
        if (end > first)
            lift_samples(l, step, row, first, end - first);
        for (uint32_t i = 0; i < first; i++)
            lift_samples(l, step, row, i, 1);
        for (uint32_t i = end; i < l->half; i++)
            lift_samples(l, step, row, i, 1);
    }
}

/* Where the rows of a level go. */
typedef struct target {
    l2k_dirac_join join;
    l2k_dirac_join_rows *rows;
    uint8_t *scratch; /* NULL: to `data`; else there first, then over the level's own row */
    uint8_t *data;
    size_t stride, width, sample; /* stride and sample in bytes */
    uint32_t height;
} target;

static void finish_row(level *l, const target *to, uint32_t y)
{
    if (y >= to->height)
        return;
    uint8_t *row = row_of(l, y);
    lift_halves(l, row);
    to->rows(&to->join, row, row + l->half * l->bytes, to->width,
             to->scratch ? to->scratch : to->data + y * to->stride);
    if (to->scratch)
        memcpy(row, to->scratch, to->width * to->sample);
}

/* Step s runs lag[s] pairs of rows behind the first one: its taps have had all steps before it, and no step behind it
 * has changed what it reads. The horizontal lifting follows in the same way. */
static void inverse_level(level *l, const target *to)
{
    const unsigned steps = l->vertical ? l->vertical->num_steps : 0;
    const l2k_kernel_step *order[L2K_KERNEL_STEPS];
    uint32_t lag[L2K_KERNEL_STEPS + 1] = {0};
    for (unsigned s = 0; s < steps; s++) {
        order[s] = &l->vertical->steps[steps - 1 - s];
        const int last = order[s]->offset + order[s]->num_taps - 1, back = -order[s]->offset;
        lag[s] = s && (int64_t)lag[s] < (int64_t)lag[s - 1] + last ? lag[s - 1] + (uint32_t)last : lag[s];
        lag[s + 1] = lag[s] + (back > 0 ? (uint32_t)back : 0);
    }
    for (uint32_t y = 0; y < l->half_height + lag[steps]; y++) {
        for (unsigned s = 0; s < steps; s++)
            if (y >= lag[s] && y - lag[s] < l->half_height)
                lift_row(l, order[s], y - lag[s]);
        for (unsigned i = 0; i < 2 && y >= lag[steps]; i++)
            finish_row(l, to, 2 * (y - lag[steps]) + i);
    }
}

/* ---- All levels ------------------------------------------------------------------------------------------------ */

/* What a join does with values that have no other range than their type's. */
static l2k_dirac_join whole_range(unsigned shift, bool wide)
{
    return (l2k_dirac_join){shift, wide ? INT32_MIN : INT16_MIN, wide ? INT32_MAX : INT16_MAX, 0};
}

static target last_target(const l2k_context *context, const l2k_dirac_transform *t,
                          const l2k_dirac_component *component, unsigned depth, bool wide_samples,
                          const l2k_dirac_plane *plane)
{
    const unsigned shift = t->levels + t->across ? shift_of(t) : 0;
    const int32_t half = 1 << (depth - 1);
    l2k_dirac_join_rows *const *rows = l2k_dirac_rows_get(context->cpu)->join[t->wide];
    if (plane)
        return (target){.join = {shift, -half, half - 1, half},
                        .rows = rows[wide_samples],
                        .data = plane->data,
                        .sample = (size_t)1 << wide_samples,
                        .stride = (size_t)plane->stride << wide_samples,
                        .width = plane->width,
                        .height = plane->height};
    return (target){.join = whole_range(shift, wide_samples),
                    .rows = rows[1 + wide_samples],
                    .scratch = t->scratch,
                    .sample = (size_t)2 << wide_samples,
                    .width = component->width,
                    .height = component->height};
}

/* Without levels, two samples are the halves of a row. */
static void copy_samples(const level *l, const target *to)
{
    for (uint32_t y = 0; y < to->height; y++)
        for (size_t x = 0; x < to->width; x += 2) {
            uint8_t *from = row_of(l, y) + x * l->bytes, *at = to->data ? to->data + y * to->stride : row_of(l, y);
            to->rows(&to->join, from, from + l->bytes, 2, at + x * to->sample);
        }
}

void l2k_dirac_inverse(const l2k_context *context, l2k_dirac_transform *t, unsigned c, unsigned depth,
                       bool wide_samples, const l2k_dirac_plane *plane, l2k_dirac_residue *residue)
{
    const l2k_dirac_component *component = &t->components[c];
    const l2k_dirac_rows *rows = l2k_dirac_rows_get(context->cpu);
    const unsigned levels = t->levels + t->across;
    level l = {.horizontal = kernel_of(t->wavelet[1]), .data = component->data, .bytes = t->wide ? 4 : 2, .rows = rows};
    const target last = last_target(context, t, component, depth, wide_samples, plane);
    for (unsigned i = 0; i < 2; i++)
        l.step[i] = l2k_kernel_rows_get(context->cpu)->step[t->wavelet[i] < 5 ? L2K_SUMS_32 : L2K_SUMS_64];
    for (unsigned n = 1; n <= levels; n++) {
        const unsigned above = levels - n, above_down = above < t->levels ? above : t->levels;
        const target to = {.join = whole_range(shift_of(t), t->wide),
                           .rows = rows->join[t->wide][1 + t->wide],
                           .scratch = t->scratch,
                           .sample = l.bytes,
                           .width = component->width >> above,
                           .height = component->height >> above_down};
        l.vertical = n > t->across ? kernel_of(t->wavelet[0]) : NULL;
        l.stride = ((size_t)component->width << above_down) * l.bytes;
        l.half = component->width >> above >> 1;
        l.half_height = (to.height + 1) / 2;
        inverse_level(&l, n == levels ? &last : &to);
    }
    t->over |= l.over;
    l.stride = component->width * l.bytes;
    if (levels == 0)
        copy_samples(&l, &last);
    if (residue)
        *residue = (l2k_dirac_residue){component->data, (ptrdiff_t)(l.stride / last.sample)};
}
