/* The wavelet transform of VC-2 (15.4) and Dirac: the inverse of each level first vertically, then horizontally, in
 * place; the forward transform the other way round. The kernels are those of dwt/kernel_named.h. */
#include <string.h>

#include "dirac/transform.h"
#include "dwt/kernel_named.h"

/* A wavelet by the index of the standards. */
static const l2k_kernel *kernel_of(unsigned wavelet)
{
    static const l2k_wavelet wavelets[] = {L2K_WAVELET_DD_9_7,        L2K_WAVELET_5_3,  L2K_WAVELET_DD_13_7,
                                           L2K_WAVELET_HAAR,          L2K_WAVELET_HAAR, L2K_WAVELET_FIDELITY,
                                           L2K_WAVELET_DAUBECHIES_INT};
    static const l2k_kernel le_gall = L2K_KERNEL_LE_GALL;
    return wavelet == 1 ? &le_gall : &l2k_wavelet_get(wavelets[wavelet])->kernel;
}

/* A level on its way, and where its rows go: to `out`, or, if that is NULL, over its own rows. Forward, they come from
 * `plane`, or, if that is NULL, from its own rows. */
typedef struct level {
    const l2k_kernel *kernel;
    bool forward;
    const l2k_plane *plane;
    l2k_kernel_step_rows *step; /* on 32 bits */
    const l2k_dirac_rows *rows;
    uint32_t over; /* as in l2k_dirac_transform */
    uint8_t *data;
    size_t stride, bytes;       /* in bytes: from row to row, of a sample */
    uint32_t half, half_height; /* samples of half a row, pairs of rows */
    l2k_dirac_join join;
    l2k_dirac_join_rows *join_rows;
    uint8_t *scratch, *out;
    size_t out_stride, out_bytes;
    uint32_t width, height; /* of what goes there */
} level;

/* The steps in the order in which they are done. */
static const l2k_kernel_step *step_of(const level *l, unsigned s)
{
    return &l->kernel->steps[l->forward ? s : l->kernel->num_steps - 1 - s];
}

/* Does or undoes a step on n samples `at` its place; tap k belongs to the row or sample i + k + offset of the other half, which
 * begins at `other`. The taps of several samples stay within that half, those of one are clamped. */
static void lift(level *l, const l2k_kernel_step *step, uint8_t *at, const uint8_t *other, size_t apart, uint32_t i,
                 uint32_t end, size_t n)
{
    const void *from[L2K_KERNEL_TAPS];
    for (int k = 0; k < step->num_taps; k++)
        from[k] = other + (size_t)l2k_clamp_i32((int32_t)i + k + step->offset, 0, (int32_t)end - 1) * apart;
    if (l->bytes == sizeof(int16_t))
        l->over |= l->rows->step(step, (int16_t *)(void *)at, from, n);
    else
        l->step(step, !l->forward, at, from, n);
}

static void lift_row(level *l, const l2k_kernel_step *step, uint32_t y)
{
    lift(l, step, l->data + (2 * (size_t)y + step->high) * l->stride, l->data + !step->high * l->stride, 2 * l->stride,
         y, l->half_height, 2 * (size_t)l->half);
}

static void lift_halves(level *l, uint8_t *row)
{
    for (unsigned s = 0; s < l->kernel->num_steps; s++) {
        const l2k_kernel_step *step = step_of(l, s);
        const int last = step->offset + step->num_taps - 1;
        uint8_t *halves[2] = {row, row + l->half * l->bytes};
        const uint32_t first = l2k_min_u32(step->offset < 0 ? (uint32_t)-step->offset : 0, l->half);
        const uint32_t after = last > 0 ? (uint32_t)last : 0, end = l->half > first + after ? l->half - after : first;
        for (uint32_t i = 0, n; i < l->half; i += n) {
            n = i == first && end > first ? end - first : 1;
            lift(l, step, halves[step->high] + i * l->bytes, halves[!step->high], l->bytes, i, l->half, n);
        }
    }
}

static void finish_row(level *l, uint32_t y)
{
    uint8_t *row = l->data + y * l->stride;
    if (y >= l->height)
        return;
    lift_halves(l, row);
    l->join_rows(&l->join, row, row + l->half * l->bytes, l->width, l->out ? l->out + y * l->out_stride : l->scratch);
    if (!l->out)
        memcpy(row, l->scratch, l->width * l->out_bytes);
}

/* Forward: a row into its halves, with the bit of accuracy. Beyond a plane its last samples come again. */
static void start_row(level *l, uint32_t y)
{
    int32_t *row = (int32_t *)(void *)(l->data + y * l->stride), *samples = (int32_t *)(void *)l->scratch;
    memcpy(samples, row, 2 * l->half * sizeof *row);
    for (uint32_t x = 0; x < 2 * l->half && l->plane; x++) {
        const l2k_plane *p = l->plane;
        const uint8_t *at = (const uint8_t *)p->data + (ptrdiff_t)l2k_min_u32(y, l->height - 1) * p->row_stride +
                            (ptrdiff_t)l2k_min_u32(x, l->width - 1) * p->sample_stride;
        const int32_t sample = p->type == L2K_SAMPLE_U16 ? *(const uint16_t *)(const void *)at : *at;
        samples[x] = l2k_clamp_i32(sample, 0, l->join.high) - l->join.offset;
    }
    for (size_t x = 0; x < l->half; x++) {
        row[x] = samples[2 * x] * (1 << l->join.shift);
        row[l->half + x] = samples[2 * x + 1] * (1 << l->join.shift);
    }
    lift_halves(l, (uint8_t *)row);
}

/* Step s runs lag[s] pairs of rows behind the first one: its taps have had all steps before it, and no step behind it
 * has changed what it reads. The horizontal lifting follows in the same way, or, forward, goes before. */
static void run_level(level *l, const l2k_dirac_component *component, unsigned above)
{
    const unsigned steps = l->kernel->num_steps;
    uint32_t lag[L2K_KERNEL_STEPS + 1] = {0};
    l->stride = ((size_t)component->width << above) * l->bytes;
    l->half = component->width >> above >> 1, l->half_height = component->height >> above >> 1;
    for (unsigned s = 0; s < steps; s++) {
        const l2k_kernel_step *step = step_of(l, s);
        const int last = step->offset + step->num_taps - 1;
        lag[s] = last > 0 ? l2k_max_u32(lag[s], (s ? lag[s - 1] : 0) + (uint32_t)last) : lag[s];
        lag[s + 1] = lag[s] + (step->offset < 0 ? (uint32_t)-step->offset : 0);
    }
    for (uint32_t y = 0; y < l->half_height + lag[steps]; y++) {
        for (unsigned i = 0; i < 2 && l->forward && y < l->half_height; i++)
            start_row(l, 2 * y + i);
        for (unsigned s = 0; s < steps; s++)
            if (y >= lag[s] && y - lag[s] < l->half_height)
                lift_row(l, step_of(l, s), y - lag[s]);
        for (unsigned i = 0; i < 2 && !l->forward && y >= lag[steps]; i++)
            finish_row(l, 2 * (y - lag[steps]) + i);
    }
}

/* Without levels, two samples are the halves of a row. */
static void copy_samples(const level *l)
{
    for (uint32_t y = 0; y < l->height; y++)
        for (size_t x = 0; x < l->width; x += 2) {
            const uint8_t *row = l->data + y * l->stride, *from = row + x * l->bytes;
            uint8_t *at = l->out ? l->out + y * l->out_stride : l->data + y * l->stride;
            l->join_rows(&l->join, from, from + l->bytes, 2, at + x * l->out_bytes);
        }
}

static level level_of(const l2k_context *context, const l2k_dirac_transform *t, unsigned number)
{
    level l = {.kernel = kernel_of(t->wavelet), .rows = t->rows, .data = t->components[number].data};
    l.step = l2k_kernel_rows_get(context->cpu)->step[t->wavelet < 5 ? L2K_SUMS_32 : L2K_SUMS_64];
    l.scratch = t->scratch;
    l.bytes = t->wide ? 4 : 2;
    l.stride = t->components[number].width * l.bytes;
    l.join.shift = l2k_dirac_shift(t);
    return l;
}

void l2k_dirac_inverse(const l2k_context *context, l2k_dirac_transform *t, const l2k_dirac_sequence *sequence,
                       unsigned number, const l2k_dirac_plane *plane, l2k_dirac_residue *residue)
{
    const l2k_dirac_component *component = &t->components[number];
    const int32_t half = 1 << (l2k_dirac_depth(sequence, number) - 1);
    level l = level_of(context, t, number);
    for (unsigned above = t->levels + !t->levels; above-- > 0;) {
        const bool samples = above == 0 && plane, wide = above ? t->wide : sequence->wide;
        l.join = (l2k_dirac_join){l2k_dirac_shift(t), wide ? INT32_MIN : INT16_MIN, wide ? INT32_MAX : INT16_MAX, 0};
        l.width = component->width >> above, l.height = component->height >> above;
        if (samples) {
            l.join = (l2k_dirac_join){l2k_dirac_shift(t), -half, half - 1, half};
            l.width = plane->width, l.height = plane->height;
            l.out = plane->data;
            l.out_stride = (size_t)plane->stride << wide;
        }
        l.out_bytes = (samples ? 1u : 2u) << wide;
        l.join_rows = t->rows->join[t->wide][wide + !samples];
        t->levels ? run_level(&l, component, above) : copy_samples(&l);
    }
    t->over |= l.over;
    *residue = (l2k_dirac_residue){component->data, (ptrdiff_t)(l.stride / l.out_bytes)};
}

void l2k_dirac_forward(const l2k_context *context, l2k_dirac_transform *t, const l2k_dirac_sequence *sequence,
                       unsigned number, const l2k_plane *plane)
{
    level l = level_of(context, t, number);
    l.forward = true, l.plane = plane;
    l.join.offset = 1 << (l2k_dirac_depth(sequence, number) - 1), l.join.high = 2 * l.join.offset - 1;
    l2k_dirac_size(sequence, number, &l.width, &l.height);
    for (unsigned above = 0; above < t->levels; above++, l.plane = NULL)
        run_level(&l, &t->components[number], above);
}
