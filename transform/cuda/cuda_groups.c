/* How the levels of a CUDA plan are divided among launches, and the memory for LL samples between them. */
#include "transform/cuda/cuda_levels.h"

#include <string.h>

#include "dwt/kernel.h"
#include "transform/cuda/cuda_level_pass.h"
#include "transform/layout.h"
#include "transform/window.h"

/* ---- Which levels go together -------------------------------------------------------------------------------- */

/* How levels are grouped, by the samples of the first level of a group, as measured. */
typedef struct group_limits {
    /* The least samples with which a level pass takes two levels at once: this saves memory traffic, but costs each
     * warp warm-up rows and halo columns on both sides. With a component transform, three components at once, the halo
     * is a larger share. UINT64_MAX: no such kernel exists. */
    uint64_t two_levels_from, two_joined_levels_from;
} group_limits;

#define TWO_TO(n) ((uint64_t)1 << (n))

static const group_limits limits[][2] = {
    [L2K_WAVELET_5_3] = {[L2K_FORWARD] = {TWO_TO(22), TWO_TO(22)}, [L2K_INVERSE] = {TWO_TO(22), TWO_TO(22)}},
    [L2K_WAVELET_9_7] = {[L2K_FORWARD] = {TWO_TO(24), TWO_TO(26)}, [L2K_INVERSE] = {TWO_TO(24), UINT64_MAX}},
};

static group_limits limits_of(const l2k_plan_spec *spec, const l2k_plan_component *component)
{
    if (!component->own)
        return limits[component->wavelet][spec->direction];
    return (group_limits){UINT64_MAX, UINT64_MAX};
}

/* How many levels, from `first` on and at most `most`, a level pass can take: a window must cut all of them alike. */
static unsigned count_together(const l2k_plan_component *component, unsigned first, l2k_rect low, unsigned most)
{
    if (most < 2 || !l2k_has_window(component))
        return most;
    const l2k_rect next = l2k_level_rect(component, first + 1);
    return memcmp(&low, &next, sizeof low) == 0 ? most : 1;
}

static l2k_rect low_of(l2k_rect samples)
{
    return l2k_subband_rect(samples, 1, L2K_LL);
}

/* The group whose first level is `first`, of `together` components; two_levels_from counts many small ones together. */
static l2k_level_group group_from(const l2k_plan_spec *spec, uint32_t c, unsigned first, unsigned together)
{
    const l2k_plan_component *component = &spec->components[c];
    const bool many = together > L2K_CUDA_TOGETHER;
    unsigned left = component->levels + 1 - first, most = spec->levels_at_once;
    l2k_rect rect = left > 0 ? l2k_level_rect(component, first) : l2k_plan_output(spec->direction, component);
    uint64_t samples = l2k_rect_area(rect) * (many ? together : 1);
    bool joined = spec->component_transform && c == 0 && first == l2k_discarded(spec->direction, component) + 1;
    group_limits limit = limits_of(spec, component);
    uint64_t two_from = joined ? limit.two_joined_levels_from : limit.two_levels_from;
    if (most == 0)
        most = samples >= two_from ? 2 : 1;
    if (two_from == UINT64_MAX)
        most = 1;
    l2k_level_group group = {first, 0, rect, low_of(rect)};
    group.count = count_together(component, first, group.low, left < most ? left : most);
    if (group.count == 2)
        group.low = low_of(group.low);
    return group;
}

l2k_level_groups l2k_list_groups(const l2k_plan_spec *spec, uint32_t c)
{
    const l2k_plan_component *component = &spec->components[c];
    l2k_level_groups groups = {.count = 0};
    const unsigned together = l2k_components_together(spec, c);
    unsigned first = l2k_discarded(spec->direction, component) + 1;
    do {
        const l2k_level_group group = group_from(spec, c, first, together);
        const size_t bytes = l2k_low_row_bytes(spec, component, group.samples) * l2k_rect_height(group.samples);
        size_t *low = &groups.low_bytes[(groups.count + 1) % 2];
        if (groups.count > 0)
            *low = bytes > *low ? bytes : *low;
        groups.of[groups.count++] = group;
        first += group.count;
    } while (first <= component->levels);
    return groups;
}

/* Compares quantiser steps too, since kernels take one set. */
static bool are_alike(const l2k_plan_spec *spec, const l2k_plan_component *a, const l2k_plan_component *b)
{
    const l2k_direction direction = spec->direction;
    if (memcmp(&a->rect, &b->rect, sizeof a->rect) != 0 || memcmp(&a->window, &b->window, sizeof a->window) != 0 ||
        a->cell_log2_width != b->cell_log2_width || a->cell_log2_height != b->cell_log2_height ||
        a->levels != b->levels || l2k_discarded(direction, a) != l2k_discarded(direction, b) ||
        a->wavelet != b->wavelet || a->narrow_low != b->narrow_low ||
        l2k_has_wide_sums(spec, a) != l2k_has_wide_sums(spec, b))
        return false;
    return !l2k_wavelet_get(a->wavelet)->quantised ||
           memcmp(a->steps, b->steps, (3 * (a->levels - l2k_discarded(direction, a)) + 1) * sizeof *a->steps) == 0;
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
        const l2k_level_groups groups = l2k_list_groups(spec, c);
        for (unsigned parity = 0; parity < 2; parity++) {
            size_t most = groups.low_bytes[parity] * l2k_components_together(spec, c);
            bytes[parity] = most > bytes[parity] ? most : bytes[parity];
        }
    }
}
