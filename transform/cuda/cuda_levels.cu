/* The launches of a CUDA plan: a pass for each level, from the pixels to the deepest LL (F.4) or back (F.3). */
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
    l2k_cuda_launches launches; /* of the components that are being launched */
    size_t first_of_band[L2K_MAX_SUBBANDS];
};

/* The LL of component c + k between launches n - 1 and n, from sample `from` on: the input of launch n - 1 may begin
 * inside the output of launch n. */
l2k_cuda_plane low_plane(const level_run *run, uint32_t c, unsigned k, unsigned n, l2k_rect from)
{
    const l2k_plan_spec *spec = &run->plan->spec;
    const l2k_plan_component *component = &run->plan->components[c + k];
    const l2k_rect rect = run->launches.samples[n];
    const unsigned parity = (n - 1) & 1;
    l2k_cuda_plane plane;
    memset(&plane, 0, sizeof plane);
    plane.type = l2k_low_type(spec, component);
    plane.sample_stride = plane.type == L2K_SAMPLE_S16 ? 2 : 4;
    plane.row_stride = (int32_t)l2k_low_row_bytes(spec, component, rect);
    plane.data = run->low[parity] + k * run->launches.low_bytes[parity] +
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

/* The subband of an orientation at launch n. */
unsigned band_number(const level_run *run, uint32_t c, unsigned n, unsigned o)
{
    const l2k_plan_component *component = &run->plan->components[c];
    return o == L2K_LL ? 0 : l2k_band_number(component->levels - (run->launches.first + n) + 1, o);
}

/* Components that share launches with c have views of the same layout. */
l2k_cuda_bands bands_of(const level_run *run, uint32_t c, unsigned n)
{
    const l2k_coefficients *view = &run->plan->views[c];
    l2k_cuda_bands bands;
    memset(&bands, 0, sizeof bands);
    bands.stride = (int32_t)view->stride;
    for (unsigned o = 0; o < (run->launches.copies ? 1 : 4); o++)
        bands.at[o] = (char *)run->coefficients[c] +
                      run->first_of_band[band_number(run, c, n, o)] * l2k_coefficient_bytes(view->type);
    return bands;
}

l2k_cuda_steps steps_of(const level_run *run, uint32_t c, unsigned n)
{
    const l2k_plan_component *component = &run->plan->components[c];
    float factor = run->plan->spec.direction == L2K_INVERSE ? 0.5f : 1.0f;
    l2k_cuda_steps steps;
    memset(&steps, 0, sizeof steps);
    for (unsigned o = 0; o < (run->launches.copies ? 1 : 4) && l2k_wavelet_get(component->wavelet)->quantised; o++)
        steps.of[o] = l2k_quantiser_step_make(factor * component->steps[band_number(run, c, n, o)]);
    return steps;
}

/* Coordinates minus the multiple of 8 before `origin`. */
l2k_span span_of(uint32_t origin, uint32_t first, uint32_t end)
{
    uint32_t base = origin & ~(uint32_t)7;
    return l2k_span{(int32_t)(first - base), (int32_t)(end - base)};
}

/* The level pass of launch n of `count` components from c + first on. The samples of launch 0 are the caller's planes,
 * those of other launches the LL of the previous one. */
l2k_cuda_level_pass pass_of(const level_run *run, uint32_t c, unsigned first, unsigned count, unsigned n,
                            const l2k_plane *planes)
{
    const l2k_plan_spec *spec = &run->plan->spec;
    const l2k_rect rect = run->launches.samples[n], low = l2k_subband_rect(rect, 1, L2K_LL);
    const l2k_rect kept = n == 0 ? l2k_plan_output(spec->direction, &run->plan->components[c]) : rect;
    l2k_cuda_level_pass pass;
    memset(&pass, 0, sizeof pass);
    pass.x = span_of(rect.x0, rect.x0, rect.x1);
    pass.y = span_of(rect.y0, rect.y0, rect.y1);
    pass.kept_x = span_of(rect.x0, kept.x0, kept.x1);
    pass.kept_y = span_of(rect.y0, kept.y0, kept.y1);
    pass.components = (int32_t)count;
    pass.copies = run->launches.copies;
    pass.joined = spec->component_transform && c == 0 && n == 0;
    pass.low_in_bands = n + 1 == run->launches.count;
    pass.type = spec->type;
    pass.wavelet = run->plan->components[c].wavelet;
    pass.wide_sums = l2k_has_wide_sums(spec, &run->plan->components[c]);
    for (unsigned i = 0; i < count; i++) {
        unsigned k = first + i;
        const l2k_plan_component *component = &run->plan->components[c + k];
        pass.samples[i] = n == 0 ? l2k_cuda_plane_of(&planes[c + k], component->precision, component->is_signed)
                                 : low_plane(run, c, k, n, rect);
        pass.low[i] = pass.low_in_bands ? deepest_plane(run, c + k) : low_plane(run, c, k, n + 1, low);
        pass.bands[i] = bands_of(run, c + k, n);
        if (i < L2K_CUDA_TOGETHER)
            pass.steps[i] = steps_of(run, c + k, n);
    }
    return pass;
}

/* ---- All launches -------------------------------------------------------------------------------------------- */

/* The levels of components from c on, in the order of the direction. Those of a component transform that are not alike
 * share only the launch at the pixels. */
int launch_components(const level_run *run, uint32_t c, unsigned together, const l2k_plane *planes)
{
    const l2k_plan_spec *spec = &run->plan->spec;
    const bool forward = spec->direction == L2K_FORWARD, alike = l2k_count_alike(spec, c, together) == together;
    int error = cudaSuccess;
    for (unsigned done = 0; done < run->launches.count; done++) {
        const unsigned n = forward ? done : run->launches.count - 1 - done, count = alike || n == 0 ? together : 1;
        for (unsigned first = 0; first < together && error == cudaSuccess; first += count) {
            l2k_cuda_level_pass pass = pass_of(run, c, first, count, n, planes);
            pass.follows = c + first + done > 0;
            error = l2k_cuda_run_pass(&pass, forward, run->stream);
        }
    }
    return error;
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
    size_t bytes[2];
    l2k_measure_low(&plan->spec, bytes);
    level_run run = {plan, coefficients, {low, low + bytes[0]}, (cudaStream_t)stream, {}, {}};
    int error = cudaSuccess;
    for (uint32_t c = 0; c < plan->spec.num_components && error == cudaSuccess;) {
        unsigned together = l2k_components_together(&plan->spec, c);
        run.launches = l2k_list_launches(&plan->spec, c);
        l2k_list_first(&plan->components[c], &plan->views[c], run.first_of_band);
        error = launch_components(&run, c, together, planes);
        c += together;
    }
    return error;
}
