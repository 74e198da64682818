/* The launches of a CUDA plan: fills in a level pass for each group of levels, from the pixels to the deepest LL (F.4) or
 * back (F.3). */
#include <cuda_runtime.h>

#include <string.h>

extern "C" {
#include "base/sample.h"
#include "dwt/wavelet.h"
#include "transform/cuda/cuda_levels.h"
#include "transform/cuda/cuda_level_pass.h"
#include "transform/layout.h"
#include "transform/window.h"
}

namespace
{

/* ---- One launch ---------------------------------------------------------------------------------------------- */

/* One run of a plan. */
struct level_run {
    const l2k_plan *plan;
    void *const *coefficients;
    char *low[2];
    cudaStream_t stream;
    l2k_level_groups groups; /* of the components that are being launched */
    size_t first_of_band[L2K_MAX_SUBBANDS];
};

/* The LL of component c + k between groups g - 1 and g, from sample `from` on: the input of group g - 1 may begin
 * inside the output of group g. */
l2k_cuda_plane low_plane(const level_run *run, uint32_t c, unsigned k, unsigned g, l2k_rect from)
{
    const l2k_plan_spec *spec = &run->plan->spec;
    const l2k_plan_component *component = &run->plan->components[c + k];
    const l2k_rect rect = run->groups.of[g].samples;
    const unsigned parity = (g - 1) & 1;
    l2k_cuda_plane plane;
    memset(&plane, 0, sizeof plane);
    plane.type = l2k_low_type(spec, component);
    plane.sample_stride = plane.type == L2K_SAMPLE_S16 ? 2 : 4;
    plane.row_stride = (int32_t)l2k_low_row_bytes(spec, component, rect);
    plane.data = run->low[parity] + k * run->groups.low_bytes[parity] +
                 (rect.x0 % 8 + from.x0 - rect.x0) * plane.sample_stride +
                 (size_t)(from.y0 - rect.y0) * plane.row_stride;
    plane.shift = l2k_level_shift{0, INT32_MIN, INT32_MAX};
    return plane;
}

/* Subband 0 as a plane, for kernels that read the deepest LL. */
l2k_cuda_plane deepest_plane(const level_run *run, uint32_t c)
{
    const l2k_coefficients *view = &run->plan->views[c];
    l2k_cuda_plane plane;
    memset(&plane, 0, sizeof plane);
    plane.type = view->type == L2K_COEFFICIENT_INT16 ? L2K_SAMPLE_S16 : L2K_SAMPLE_S32;
    plane.sample_stride = (int32_t)l2k_coefficient_bytes(view->type);
    plane.row_stride = (int32_t)view->stride * plane.sample_stride;
    plane.data = (char *)run->coefficients[c] + run->first_of_band[0] * plane.sample_stride;
    return plane;
}

/* Components that share launches with c have views of the same layout. */
l2k_cuda_bands bands_of(const level_run *run, uint32_t c, l2k_level_group group)
{
    const l2k_plan_component *component = &run->plan->components[c];
    const l2k_coefficients *view = &run->plan->views[c];
    l2k_cuda_bands bands;
    memset(&bands, 0, sizeof bands);
    bands.stride = (int32_t)view->stride;
    for (unsigned i = 0; i < (group.count ? group.count : 1); i++)
        for (unsigned o = 0; o < 4; o++) {
            unsigned number = o == L2K_LL ? 0 : l2k_band_number(component->levels - (group.first + i) + 1, o);
            if (o != L2K_LL && group.count == 0)
                continue;
            bands.at[i][o] =
                (char *)run->coefficients[c] + run->first_of_band[number] * l2k_coefficient_bytes(view->type);
        }
    return bands;
}

l2k_cuda_bands move_bands(l2k_cuda_bands bands, const void *from, void *to)
{
    for (auto &level : bands.at)
        for (void *&at : level)
            if (at)
                at = (char *)to + ((char *)at - (const char *)from);
    return bands;
}

l2k_cuda_steps steps_of(const l2k_plan *plan, uint32_t c, l2k_level_group group)
{
    const l2k_plan_component *component = &plan->components[c];
    float factor = plan->spec.direction == L2K_INVERSE ? 0.5f : 1.0f;
    l2k_cuda_steps steps;
    memset(&steps, 0, sizeof steps);
    for (unsigned i = 0; i < 2 && l2k_wavelet_get(component->wavelet)->quantised; i++)
        for (unsigned o = 0; o < 4; o++) {
            unsigned number =
                o == L2K_LL || i >= group.count ? 0 : l2k_band_number(component->levels - (group.first + i) + 1, o);
            steps.of[i][o] = l2k_quantiser_step_make(factor * component->steps[number]);
        }
    return steps;
}

/* Coordinates minus the multiple of 8 before `origin`. */
l2k_span span_of(uint32_t origin, uint32_t first, uint32_t end)
{
    uint32_t base = origin & ~(uint32_t)7;
    return l2k_span{(int32_t)(first - base), (int32_t)(end - base)};
}

/* The level pass of group g of `count` components from c + first on. The samples of group 0 are the caller's planes,
 * those of other groups the LL of the previous group. */
l2k_cuda_level_pass pass_of(const level_run *run, uint32_t c, unsigned first, unsigned count, unsigned g,
                            const l2k_plane *planes)
{
    const l2k_plan_spec *spec = &run->plan->spec;
    const l2k_level_group &group = run->groups.of[g];
    const l2k_rect rect = group.samples;
    const l2k_rect kept = g == 0 ? l2k_plan_output(spec->direction, &run->plan->components[c]) : rect;
    const l2k_cuda_bands bands = bands_of(run, c, group);
    l2k_cuda_level_pass pass;
    memset(&pass, 0, sizeof pass);
    pass.x = span_of(rect.x0, rect.x0, rect.x1);
    pass.y = span_of(rect.y0, rect.y0, rect.y1);
    pass.kept_x = span_of(rect.x0, kept.x0, kept.x1);
    pass.kept_y = span_of(rect.y0, kept.y0, kept.y1);
    pass.levels = (int32_t)group.count;
    pass.components = (int32_t)count;
    pass.joined = spec->component_transform && c == 0 && g == 0;
    pass.low_in_bands = g + 1 == run->groups.count;
    pass.type = spec->type;
    pass.wavelet = run->plan->components[c].wavelet;
    pass.wide_sums = l2k_has_wide_sums(spec, &run->plan->components[c]);
    for (unsigned i = 0; i < count; i++) {
        unsigned k = first + i;
        const l2k_plan_component *component = &run->plan->components[c + k];
        pass.samples[i] = g == 0 ? l2k_cuda_plane_of(&planes[c + k], component->precision, component->is_signed)
                                 : low_plane(run, c, k, g, rect);
        pass.low[i] = pass.low_in_bands ? deepest_plane(run, c + k) : low_plane(run, c, k, g + 1, group.low);
        pass.bands[i] = move_bands(bands, run->coefficients[c], run->coefficients[c + k]);
        if (i < L2K_CUDA_TOGETHER)
            pass.steps[i] = steps_of(run->plan, c + k, group);
    }
    return pass;
}

/* Components that share launches. */
struct component_range {
    uint32_t c;            /* the first of the plan's components that are interleaved or alike */
    unsigned first, count; /* counted from c */
};

int launch_group(const level_run *run, component_range range, unsigned g, bool follows, const l2k_plane *planes)
{
    l2k_cuda_level_pass pass = pass_of(run, range.c, range.first, range.count, g, planes);
    pass.follows = follows;
    return l2k_cuda_run_pass(&pass, run->plan->spec.direction == L2K_FORWARD, run->stream);
}

/* ---- All launches -------------------------------------------------------------------------------------------- */

/* Launches groups begin .. end - 1 in the order of the direction. */
int launch_groups(const level_run *run, component_range range, unsigned begin, unsigned end, const l2k_plane *planes)
{
    const bool forward = run->plan->spec.direction == L2K_FORWARD;
    int error = cudaSuccess;
    for (unsigned done = 0; done < end - begin && error == cudaSuccess; done++)
        error =
            launch_group(run, range, forward ? begin + done : end - 1 - done, range.c + range.first + done > 0, planes);
    return error;
}

int launch_one_by_one(const level_run *run, uint32_t c, unsigned together, unsigned begin, unsigned end,
                      const l2k_plane *planes)
{
    int error = cudaSuccess;
    for (unsigned k = 0; k < together && error == cudaSuccess; k++)
        error = launch_groups(run, component_range{c, k, 1}, begin, end, planes);
    return error;
}

/* Components of a component transform that are not alike share only the launch at the pixels. */
int launch_components(const level_run *run, uint32_t c, unsigned together, const l2k_plane *planes)
{
    const l2k_plan_spec *spec = &run->plan->spec;
    const unsigned groups = run->groups.count;
    component_range all = {c, 0, together};
    if (l2k_count_alike(spec, c, together) == together)
        return launch_groups(run, all, 0, groups, planes);
    int error = cudaSuccess;
    if (spec->direction == L2K_INVERSE)
        error = launch_one_by_one(run, c, together, 1, groups, planes);
    if (error == cudaSuccess)
        error = launch_groups(run, all, 0, 1, planes);
    if (spec->direction == L2K_FORWARD && error == cudaSuccess)
        error = launch_one_by_one(run, c, together, 1, groups, planes);
    return error;
}

level_run run_in(const l2k_plan *plan, void *const *coefficients, char *low, void *stream)
{
    size_t bytes[2];
    l2k_measure_low(&plan->spec, bytes);
    level_run run = {};
    run.plan = plan;
    run.coefficients = coefficients;
    run.low[0] = low;
    run.low[1] = low + bytes[0];
    run.stream = (cudaStream_t)stream;
    return run;
}

} // namespace

extern "C" size_t l2k_cuda_low_bytes(const l2k_plan_spec *spec)
{
    size_t bytes[2];
    l2k_measure_low(spec, bytes);
    return bytes[0] + bytes[1];
}

extern "C" int l2k_cuda_run_levels(const l2k_plan *plan, const l2k_plane *planes, void *const *coefficients, char *low,
                                   void *stream)
{
    level_run run = run_in(plan, coefficients, low, stream);
    int error = cudaSuccess;
    for (uint32_t c = 0; c < plan->spec.num_components && error == cudaSuccess;) {
        unsigned together = l2k_components_together(&plan->spec, c);
        run.groups = l2k_list_groups(&plan->spec, c);
        l2k_list_first(&plan->components[c], &plan->views[c], run.first_of_band);
        error = launch_components(&run, c, together, planes);
        c += together;
    }
    return error;
}
