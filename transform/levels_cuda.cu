/* What a CUDA plan launches: one pass a level, from the pixels down or back, LL samples in memory of their own between. */
#include <cuda_runtime.h>

#include <string.h>

extern "C" {
#include "transform/cuda_levels.h"
#include "transform/cuda_pass.h"
#include "transform/layout.h"
}

namespace
{

/* One run of a plan. */
struct level_run {
    const l2k_plan *plan;
    void *const *coefficients;
    char *low[2]; /* LL samples of odd and even levels, for each lane */
    size_t low_lane_bytes[2];
    cudaStream_t stream;
};

size_t round_up(size_t n, size_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

/* Forward, the LL of what fits int16 fits as well (docs/numerics.md); inverse, somebody must have looked. */
size_t low_sample_bytes(const l2k_plan_spec *spec, const l2k_plan_component *component)
{
    bool narrow = spec->direction == L2K_FORWARD || component->narrow_low;
    return component->wavelet == L2K_WAVELET_5_3 && spec->type == L2K_COEFFICIENT_INT16 && narrow ? 2 : 4;
}

size_t low_row_bytes(const l2k_plan_spec *spec, const l2k_plan_component *component, uint32_t low_width)
{
    return round_up(low_width * low_sample_bytes(spec, component), 128);
}

size_t low_bytes(const l2k_plan_spec *spec, const l2k_plan_component *component, unsigned level)
{
    if (level >= component->levels)
        return 0;
    l2k_level l = l2k_level_of(component, level);
    return low_row_bytes(spec, component, l.low_width) * l.low_height;
}

/* Every component in turn uses the same LL memory. The result is for how many at once it must do. */
unsigned measure_low(const l2k_plan_spec *spec, size_t lane_bytes[2])
{
    lane_bytes[0] = lane_bytes[1] = 0;
    for (uint32_t c = 0; c < spec->num_components; c++)
        for (int odd = 0; odd < 2; odd++) {
            unsigned level = l2k_discarded(spec->direction, &spec->components[c]) + (odd ? 1 : 2);
            size_t bytes = low_bytes(spec, &spec->components[c], level);
            lane_bytes[odd] = bytes > lane_bytes[odd] ? bytes : lane_bytes[odd];
        }
    return spec->component_transform ? 3 : 1;
}

/* ---- Launches ------------------------------------------------------------------------------------------------ */

char *low_plane(const level_run *s, unsigned level, unsigned discard, unsigned lane)
{
    unsigned odd = (level - discard) & 1;
    return s->low[odd] + lane * s->low_lane_bytes[odd];
}

void fill_low(const level_run *run, uint32_t c, unsigned lane, unsigned level, l2k_cuda_plane *out)
{
    const l2k_plan *plan = run->plan;
    const l2k_plan_component *component = &plan->components[c];
    l2k_level l = l2k_level_of(component, level);
    size_t bytes = low_sample_bytes(&plan->spec, component);
    memset(out, 0, sizeof *out);
    out->data = low_plane(run, level, l2k_discarded(plan->spec.direction, component), lane);
    out->row_stride = (int64_t)low_row_bytes(&plan->spec, component, l.low_width);
    out->sample_stride = (int64_t)bytes;
    out->type = component->wavelet == L2K_WAVELET_9_7 ? L2K_CUDA_F32 : bytes == 2 ? L2K_CUDA_S16 : L2K_CUDA_S32;
    out->is_low = true;
    out->shift = l2k_level_shift{0, INT32_MIN, INT32_MAX};
}

void fill_bands(const level_run *run, uint32_t c, unsigned level, l2k_cuda_bands *out)
{
    const l2k_plan *plan = run->plan;
    const l2k_plan_component *component = &plan->components[c];
    const l2k_coefficients *view = &plan->views[c];
    float factor = plan->spec.direction == L2K_INVERSE ? 0.5f : 1.0f;
    out->data = run->coefficients[c];
    out->stride = (int64_t)view->stride;
    for (unsigned o = 0; o < 4; o++) {
        unsigned number = o == L2K_LL || level == 0 ? 0 : l2k_band_number(component->levels - level + 1, o);
        out->x[o] = view->bands[number].x;
        out->y[o] = view->bands[number].y;
        out->step[o] = component->wavelet == L2K_WAVELET_9_7 ? factor * component->steps[number] : 1.0f;
    }
}

/* What all lanes of a pass share. */
l2k_cuda_pass begin_pass(const l2k_plan *plan, uint32_t c, unsigned lanes, unsigned level)
{
    const l2k_plan_component *component = &plan->components[c];
    unsigned discard = l2k_discarded(plan->spec.direction, component);
    l2k_cuda_pass pass;
    memset(&pass, 0, sizeof pass);
    pass.components = (int32_t)lanes;
    pass.type = plan->spec.type;
    pass.wavelet = component->wavelet;
    pass.decompose = level > discard;
    pass.low_in_bands = level == component->levels;
    if (pass.decompose) {
        l2k_level l = l2k_level_of(component, level);
        pass.width = (int32_t)l.width;
        pass.height = (int32_t)l.height;
        pass.low_width = (int32_t)l.low_width;
        pass.low_height = (int32_t)l.low_height;
        pass.parity_x = (int32_t)l.parity_x;
        pass.parity_y = (int32_t)l.parity_y;
    } else {
        pass.width = (int32_t)plan->views[c].width;
        pass.height = (int32_t)plan->views[c].height;
    }
    return pass;
}

typedef int (*pass_launcher)(const l2k_cuda_pass *, void *);

/* One launch: level `level` (the number of `discard` where there is no wavelet) of `lanes` components from c on. At the
 * pixel side the samples are planes[lane], elsewhere the LL of the level above. */
int launch_pass(const level_run *run, uint32_t c, unsigned lanes, unsigned lane0, unsigned level,
                const l2k_cuda_plane *planes, pass_launcher launch)
{
    const l2k_plan *plan = run->plan;
    unsigned discard = l2k_discarded(plan->spec.direction, &plan->components[c]);
    l2k_cuda_pass pass = begin_pass(plan, c, lanes, level);
    bool at_pixels = level <= discard + 1;
    pass.joined = at_pixels && lanes == 3;
    for (unsigned lane = 0; lane < lanes; lane++) {
        if (at_pixels)
            pass.samples[lane] = planes[lane];
        else
            fill_low(run, c + lane, lane0 + lane, level - 1, &pass.samples[lane]);
        if (pass.decompose && !pass.low_in_bands)
            fill_low(run, c + lane, lane0 + lane, level, &pass.low[lane]);
        fill_bands(run, c + lane, level, &pass.bands[lane]);
    }
    return launch(&pass, run->stream);
}

/* All levels of the components from c on that go together. Only the level at the pixels joins them; the others run lane by
 * lane, each in its own LL memory. */
int launch_lanes(const level_run *run, uint32_t c, unsigned lanes, const l2k_cuda_plane *planes)
{
    const l2k_plan *plan = run->plan;
    const l2k_plan_component *component = &plan->components[c];
    unsigned discard = l2k_discarded(plan->spec.direction, component), levels = component->levels;
    unsigned first = levels > discard ? discard + 1 : discard;
    bool forward = plan->spec.direction == L2K_FORWARD;
    pass_launcher launch = forward ? l2k_cuda_forward_pass : l2k_cuda_inverse_pass;
    int error = cudaSuccess;
    if (forward)
        error = launch_pass(run, c, lanes, 0, first, planes, launch);
    for (unsigned i = 0; i + first < levels && error == cudaSuccess; i++) {
        unsigned level = forward ? first + 1 + i : levels - i;
        for (unsigned lane = 0; lane < lanes && error == cudaSuccess; lane++)
            error = launch_pass(run, c + lane, 1, lane, level, NULL, launch);
    }
    if (!forward && error == cudaSuccess)
        error = launch_pass(run, c, lanes, 0, first, planes, launch);
    return error;
}

l2k_cuda_plane device_plane(const l2k_plan *plan, uint32_t c, const l2k_plane *from)
{
    const l2k_plan_component *component = &plan->components[c];
    l2k_cuda_plane plane;
    memset(&plane, 0, sizeof plane);
    plane.data = (char *)from->data;
    plane.row_stride = from->row_stride;
    plane.sample_stride = from->sample_stride;
    plane.type = (l2k_cuda_type)from->type;
    plane.shift = l2k_level_shift_make(component->precision, component->is_signed);
    return plane;
}

} // namespace

extern "C" size_t l2k_cuda_low_bytes(const l2k_plan_spec *spec)
{
    size_t lane_bytes[2];
    unsigned lanes = measure_low(spec, lane_bytes);
    return (lane_bytes[0] + lane_bytes[1]) * lanes;
}

extern "C" int l2k_cuda_run_levels(const l2k_plan *plan, const l2k_plane *planes, void *const *coefficients, char *low,
                                   void *stream)
{
    level_run run = {plan, coefficients, {}, {}, (cudaStream_t)stream};
    unsigned low_lanes = measure_low(&plan->spec, run.low_lane_bytes);
    run.low[0] = low;
    run.low[1] = low + low_lanes * run.low_lane_bytes[0];
    int error = cudaSuccess;
    for (uint32_t c = 0; c < plan->spec.num_components && error == cudaSuccess;) {
        unsigned lanes = l2k_cuda_lanes(&plan->spec, c);
        l2k_cuda_plane device[3];
        for (unsigned lane = 0; lane < lanes; lane++)
            device[lane] = device_plane(plan, c + lane, &planes[c + lane]);
        error = launch_lanes(&run, c, lanes, device);
        c += lanes;
    }
    return error;
}
