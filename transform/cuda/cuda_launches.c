/* Which levels and components the launches of a CUDA plan take, and the memory for LL samples between them. */
#include "transform/cuda/cuda_levels.h"

#include <string.h>

#include "dwt/kernel.h"
#include "transform/cuda/cuda_level_pass.h"
#include "transform/layout.h"
#include "transform/window.h"

/* ---- Levels and components ------------------------------------------------------------------------------------ */

l2k_cuda_launches l2k_list_launches(const l2k_plan_spec *spec, uint32_t c)
{
    const l2k_plan_component *component = &spec->components[c];
    l2k_cuda_launches launches = {.first = l2k_discarded(spec->direction, component) + 1};
    for (unsigned level = launches.first; level <= component->levels; level++) {
        const l2k_rect rect = l2k_level_rect(component, level);
        const size_t bytes = l2k_low_row_bytes(spec, component, rect) * l2k_rect_height(rect);
        size_t *low = &launches.low_bytes[(launches.count + 1) % 2];
        if (launches.count > 0)
            *low = bytes > *low ? bytes : *low;
        launches.samples[launches.count++] = rect;
    }
    launches.copies = launches.count == 0;
    if (launches.copies)
        launches.samples[launches.count++] = l2k_plan_output(spec->direction, component);
    return launches;
}

/* Compares quantiser steps too, since kernels take one set. */
static bool are_alike(const l2k_plan_spec *spec, const l2k_plan_component *a, const l2k_plan_component *b)
{
    return l2k_share_shape(a, b) && a->narrow_low == b->narrow_low &&
           l2k_has_wide_sums(spec, a) == l2k_has_wide_sums(spec, b) &&
           (!l2k_wavelet_get(a->wavelet)->quantised ||
            memcmp(a->steps, b->steps, l2k_plan_bands(spec->direction, a) * sizeof *a->steps) == 0);
}

unsigned l2k_count_alike(const l2k_plan_spec *spec, uint32_t c, unsigned most)
{
    unsigned count = 1;
    while (count < most && c + count < spec->num_components &&
           are_alike(spec, &spec->components[c], &spec->components[c + count]))
        count++;
    return count;
}

/* A launch takes many alike components if there are at least MANY_FROM, of at most SMALL samples each: a few of them
 * would leave most of a device idle. */
enum { MANY_FROM = 8, SMALL = 1 << 20 };

unsigned l2k_components_together(const l2k_plan_spec *spec, uint32_t c)
{
    if (spec->component_transform && c == 0)
        return 3;
    const l2k_rect rect = l2k_plan_output(spec->direction, &spec->components[c]);
    const bool small = l2k_rect_area(rect) <= SMALL;
    const unsigned alike = l2k_count_alike(spec, c, small ? L2K_CUDA_MANY : L2K_CUDA_TOGETHER);
    return alike < MANY_FROM && alike > L2K_CUDA_TOGETHER ? L2K_CUDA_TOGETHER : alike;
}

/* ---- LL samples between launches ----------------------------------------------------------------------------- */

/* Kernels take one type for all components of a component transform. */
static bool inverse_low_is_narrow(const l2k_plan_spec *spec, const l2k_plan_component *component)
{
    const l2k_plan_component *all = spec->components;
    if (spec->component_transform && component - all < 3)
        return all[0].narrow_low && all[1].narrow_low && all[2].narrow_low;
    return component->narrow_low;
}

/* Forward, the plan promises that int16 coefficients fit, and with them the sums; inverse, narrow_low tells. */
bool l2k_has_wide_sums(const l2k_plan_spec *spec, const l2k_plan_component *component)
{
    const l2k_wavelet_descriptor *own = component->own;
    if (!own || own->is_float)
        return false;
    if (spec->type == L2K_COEFFICIENT_INT16 &&
        (spec->direction == L2K_FORWARD || inverse_low_is_narrow(spec, component)))
        return false;
    const bool joined = spec->component_transform && component - spec->components < 3;
    const l2k_plan_component *precise = joined ? spec->components : component;
    return l2k_kernel_is_wide(&own->kernel, precise->precision, component->levels);
}

l2k_sample_type l2k_low_type(const l2k_plan_spec *spec, const l2k_plan_component *component)
{
    bool narrow = spec->direction == L2K_FORWARD || inverse_low_is_narrow(spec, component);
    if (l2k_wavelet_get(component->wavelet)->is_float)
        return L2K_SAMPLE_F32;
    return spec->type == L2K_COEFFICIENT_INT16 && narrow ? L2K_SAMPLE_S16 : L2K_SAMPLE_S32;
}

size_t l2k_low_row_bytes(const l2k_plan_spec *spec, const l2k_plan_component *component, l2k_rect rect)
{
    size_t bytes = l2k_low_type(spec, component) == L2K_SAMPLE_S16 ? 2 : 4;
    return ((rect.x0 % 8 + (size_t)l2k_rect_width(rect)) * bytes + 127) / 128 * 128;
}

void l2k_measure_low(const l2k_plan_spec *spec, size_t bytes[2])
{
    bytes[0] = bytes[1] = 0;
    for (uint32_t c = 0; c < spec->num_components; c += l2k_components_together(spec, c)) {
        const l2k_cuda_launches launches = l2k_list_launches(spec, c);
        for (unsigned parity = 0; parity < 2; parity++) {
            size_t most = launches.low_bytes[parity] * l2k_components_together(spec, c);
            bytes[parity] = most > bytes[parity] ? most : bytes[parity];
        }
    }
}
