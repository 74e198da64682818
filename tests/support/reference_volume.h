/* The transform of a volume in three directions from the definitions alone: all lines of a direction one after the
 * other, in one array. Shares no code with transform/volume/. */
#ifndef L2K_TESTS_SUPPORT_REFERENCE_VOLUME_H
#define L2K_TESTS_SUPPORT_REFERENCE_VOLUME_H

#include "reference_kernel.h"
#include "reference_wavelet.h"

/* Values in Mallat layout in all three directions: x, y and z from low to high. */
typedef struct ref_volume {
    ref_sample *values;
    long origin[3], size[3]; /* x, y, z */
    int levels, z_levels, isotropic, real, z_real;
    const l2k_wavelet_descriptor *kernel, *z_kernel; /* NULL: a wavelet of Part 1 */
} ref_volume;

/* A line from samples to low and high coefficients, or back. */
static inline void ref_volume_line(const l2k_wavelet_descriptor *kernel, int real, ref_sample *line, long count,
                                   long distance, unsigned parity, int inverse)
{
    ref_value *values = (ref_value *)(void *)line;
    if (kernel && inverse)
        ref_kernel_sort(values, count, distance, parity, true);
    if (kernel)
        ref_kernel_line(kernel, values, count, distance, parity, inverse);
    if (kernel && !inverse)
        ref_kernel_sort(values, count, distance, parity, false);
    if (kernel)
        return;
    if (inverse)
        ref_sort(line, count, distance, parity, 1);
    ref_line(line, count, distance, parity, real, inverse);
    if (!inverse)
        ref_sort(line, count, distance, parity, 0);
}

static inline ref_sample *ref_at(const ref_volume *v, long x, long y, long z)
{
    return v->values + (z * v->size[1] + y) * v->size[0] + x;
}

/* The size of the low-pass after some levels, and the origin's parity there. */
static inline long ref_low_origin(const ref_volume *v, int direction, int level)
{
    return (v->origin[direction] + (1L << level) - 1) >> level;
}

static inline long ref_low_size(const ref_volume *v, int direction, int level)
{
    long end = (v->origin[direction] + v->size[direction] + (1L << level) - 1) >> level;
    return end - ref_low_origin(v, direction, level);
}

/* The value of the third direction becomes one of the slices', or the reverse, where the wavelets differ. */
static inline void ref_convert(ref_volume *v, int inverse)
{
    for (long i = 0; v->real != v->z_real && i < v->size[0] * v->size[1] * v->size[2]; i++)
        if (inverse)
            v->values[i].i = (int32_t)lrintf(v->values[i].f);
        else
            v->values[i].f = (float)v->values[i].i;
}

/* A level of lines along z, in the columns of the first `width` x `height`. */
static inline void ref_z_level(ref_volume *v, long width, long height, int level, int inverse)
{
    long count = ref_low_size(v, 2, level), distance = v->size[0] * v->size[1];
    unsigned parity = ref_low_origin(v, 2, level) & 1;
    for (long y = 0; y < height && count > 0; y++)
        for (long x = 0; x < width; x++) {
            ref_sample *line = ref_at(v, x, y, 0);
            ref_volume_line(v->z_kernel, v->z_real, line, count, distance, parity, inverse);
        }
}

/* The columns or rows of the first `width` x `height` of a slice. */
static inline void ref_slice_lines(const ref_volume *v, ref_sample *slice, int down, long width, long height,
                                   unsigned parity, int inverse)
{
    const long stride = v->size[0], lines = down ? width : height, count = down ? height : width;
    for (long k = 0; k < lines && count > 0; k++)
        ref_volume_line(v->kernel, v->real, slice + (down ? k : k * stride), count, down ? stride : 1, parity, inverse);
}

/* A level of rows and columns of the first `depth` slices. */
static inline void ref_slice_level(ref_volume *v, long depth, int level, int inverse)
{
    for (long z = 0; z < depth; z++)
        for (int direction = 0; direction < 2; direction++) {
            const int down = direction == inverse;
            ref_slice_lines(v, ref_at(v, 0, 0, z), down, ref_low_size(v, 0, level), ref_low_size(v, 1, level),
                            ref_low_origin(v, down, level) & 1, inverse);
        }
}

static inline void ref_forward(ref_volume *v)
{
    if (v->isotropic) {
        for (int level = 0; level < v->levels; level++) {
            ref_z_level(v, ref_low_size(v, 0, level), ref_low_size(v, 1, level), level, 0);
            ref_slice_level(v, ref_low_size(v, 2, level), level, 0);
        }
        return;
    }
    for (int level = 0; level < v->z_levels; level++)
        ref_z_level(v, v->size[0], v->size[1], level, 0);
    ref_convert(v, 0);
    for (int level = 0; level < v->levels; level++)
        ref_slice_level(v, v->size[2], level, 0);
}

static inline void ref_inverse(ref_volume *v)
{
    if (v->isotropic) {
        for (int level = v->levels; level-- > 0;) {
            ref_slice_level(v, ref_low_size(v, 2, level), level, 1);
            ref_z_level(v, ref_low_size(v, 0, level), ref_low_size(v, 1, level), level, 1);
        }
        return;
    }
    for (int level = v->levels; level-- > 0;)
        ref_slice_level(v, v->size[2], level, 1);
    ref_convert(v, 1);
    for (int level = v->z_levels; level-- > 0;)
        ref_z_level(v, v->size[0], v->size[1], level, 1);
}

#endif
