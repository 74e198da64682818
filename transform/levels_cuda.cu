/* What a CUDA plan launches: one level or two at a time from the pixels down, or back, with LL samples in memory of
 * their own between. */
#include <cuda_runtime.h>

#include <string.h>

extern "C" {
#include "base/sample.h"
#include "transform/cuda_deep.h"
#include "transform/cuda_levels.h"
#include "transform/cuda_pass.h"
#include "transform/layout.h"
}

namespace
{

/* ---- Which levels go together -------------------------------------------------------------------------------- */

/* Levels first .. first + count - 1 of a component; count 0 stands for no wavelet at all. A deep level goes into one
 * launch with those after it. */
struct level_group {
    unsigned first, count;
    bool deep;
};

/* From how many samples on a walk takes two levels: that saves memory traffic, but a warp has rows to warm up for, and
 * columns on both sides that only its neighbours keep. Three components at once have a smaller share of lanes left. */
uint64_t two_levels_from(const l2k_plan_spec *spec, l2k_wavelet wavelet, bool joined)
{
    if (wavelet == L2K_WAVELET_5_3)
        return (uint64_t)1 << 22;
    if (!joined)
        return (uint64_t)1 << 24;
    return spec->direction == L2K_FORWARD ? (uint64_t)1 << 26 : UINT64_MAX;
}

/* Up to how many samples a level is deep: it fits into the cache, and wants few launches and many short ways. */
uint64_t deep_to(const l2k_plan_spec *spec, l2k_wavelet wavelet)
{
    return (uint64_t)1 << (wavelet == L2K_WAVELET_9_7 && spec->direction == L2K_FORWARD ? 22 : 20);
}

/* The group whose first level is `first`; bench/lab/README.md has what the limits were measured by. */
level_group group_from(const l2k_plan_spec *spec, uint32_t c, unsigned first)
{
    const l2k_plan_component *component = &spec->components[c];
    l2k_rect rect = l2k_resolution_rect(component->rect, first - 1);
    uint64_t samples = (uint64_t)l2k_rect_width(rect) * l2k_rect_height(rect);
    unsigned left = component->levels + 1 - first, most = spec->levels_at_once;
    bool joined = spec->component_transform && c == 0 && first == l2k_discarded(spec->direction, component) + 1;
    bool deep = most == 0 ? samples <= deep_to(spec, component->wavelet) : most > 2;
    if (most == 0)
        most = samples >= two_levels_from(spec, component->wavelet, joined) ? 2 : 1;
    return left > 0 && deep ? level_group{first, 1, true} : level_group{first, left < most ? left : most, false};
}

/* Group g from the pixels on. */
level_group group_at(const l2k_plan_spec *spec, uint32_t c, unsigned g)
{
    level_group group = group_from(spec, c, l2k_discarded(spec->direction, &spec->components[c]) + 1);
    while (g-- > 0)
        group = group_from(spec, c, group.first + group.count);
    return group;
}

unsigned count_groups(const l2k_plan_spec *spec, uint32_t c)
{
    const l2k_plan_component *component = &spec->components[c];
    unsigned first = l2k_discarded(spec->direction, component) + 1, count = 0;
    while (first <= component->levels) {
        first += group_from(spec, c, first).count;
        count++;
    }
    return count ? count : 1;
}

/* Steps and all: kernels know one set of them. */
bool are_alike(l2k_direction direction, const l2k_plan_component *a, const l2k_plan_component *b)
{
    if (memcmp(&a->rect, &b->rect, sizeof a->rect) != 0 || a->levels != b->levels ||
        l2k_discarded(direction, a) != l2k_discarded(direction, b) || a->wavelet != b->wavelet ||
        a->narrow_low != b->narrow_low)
        return false;
    return a->wavelet == L2K_WAVELET_5_3 ||
           memcmp(a->steps, b->steps, (3 * (a->levels - l2k_discarded(direction, a)) + 1) * sizeof *a->steps) == 0;
}

/* How many components from c on, `most` of them, are alike. */
unsigned count_alike(const l2k_plan_spec *spec, uint32_t c, unsigned most)
{
    unsigned count = 1;
    while (count < most && c + count < spec->num_components &&
           are_alike(spec->direction, &spec->components[c], &spec->components[c + count]))
        count++;
    return count;
}

/* Components from c on that go through the launches together: those of a component transform, or such as are alike. */
unsigned components_together(const l2k_plan_spec *spec, uint32_t c)
{
    return spec->component_transform && c == 0 ? 3 : count_alike(spec, c, L2K_CUDA_TOGETHER);
}

/* ---- LL samples between launches ----------------------------------------------------------------------------- */

/* Forward, the LL of what fits int16 fits as well (docs/numerics.md); inverse, somebody must have looked. */
l2k_sample_type low_type(const l2k_plan_spec *spec, const l2k_plan_component *component)
{
    bool narrow = spec->direction == L2K_FORWARD || component->narrow_low;
    if (component->wavelet == L2K_WAVELET_9_7)
        return L2K_SAMPLE_F32;
    return spec->type == L2K_COEFFICIENT_INT16 && narrow ? L2K_SAMPLE_S16 : L2K_SAMPLE_S32;
}

/* The LL of `level`: its rectangle, and the bytes of a row. Columns stand where their coordinates modulo 8 say, so that
 * lanes, which take eight from a multiple of 8 on, find them at aligned addresses. */
size_t low_row_bytes(const l2k_plan_spec *spec, const l2k_plan_component *component, l2k_rect rect)
{
    size_t bytes = low_type(spec, component) == L2K_SAMPLE_S16 ? 2 : 4;
    return ((rect.x0 % 8 + (size_t)l2k_rect_width(rect)) * bytes + 127) / 128 * 128;
}

/* Bytes of the LL that group g leaves to the next one. */
size_t low_bytes(const l2k_plan_spec *spec, uint32_t c, unsigned g)
{
    if (g + 1 >= count_groups(spec, c))
        return 0;
    level_group group = group_at(spec, c, g);
    l2k_rect rect = l2k_resolution_rect(spec->components[c].rect, group.first + group.count - 1);
    return low_row_bytes(spec, &spec->components[c], rect) * l2k_rect_height(rect);
}

/* Memory for the LL of even and of odd groups, one after the other in use; all components take their turn in it. */
void measure_low(const l2k_plan_spec *spec, size_t bytes[2])
{
    bytes[0] = bytes[1] = 0;
    for (uint32_t c = 0; c < spec->num_components; c += components_together(spec, c))
        for (unsigned g = 0; g < 2; g++) {
            size_t most = low_bytes(spec, c, g) * components_together(spec, c);
            bytes[g] = most > bytes[g] ? most : bytes[g];
        }
}

/* ---- One launch ---------------------------------------------------------------------------------------------- */

/* The counters of deep launches lie before the LL samples. */
const size_t ARRIVED_BYTES = 128;
static_assert(L2K_CUDA_DEEP_LEVELS * sizeof(uint32_t) <= ARRIVED_BYTES, "room for all counters");

/* One run of a plan. */
struct level_run {
    const l2k_plan *plan;
    void *const *coefficients;
    uint32_t *arrived;
    char *low[2];
    cudaStream_t stream;
};

/* The LL that group g leaves, of component c + lane; those of deeper groups lie where the group's of the same parity
 * would, so that a component's never reach into another's. */
l2k_cuda_plane low_plane(const level_run *run, uint32_t c, unsigned lane, unsigned g)
{
    const l2k_plan_spec *spec = &run->plan->spec;
    const l2k_plan_component *component = &run->plan->components[c + lane];
    level_group group = group_at(spec, c, g);
    l2k_rect rect = l2k_resolution_rect(component->rect, group.first + group.count - 1);
    l2k_cuda_plane plane;
    memset(&plane, 0, sizeof plane);
    plane.type = low_type(spec, component);
    plane.sample_stride = plane.type == L2K_SAMPLE_S16 ? 2 : 4;
    plane.row_stride = (int32_t)low_row_bytes(spec, component, rect);
    plane.data = run->low[g & 1] + lane * low_bytes(spec, c, g & 1) + rect.x0 % 8 * plane.sample_stride;
    plane.shift = l2k_level_shift{0, INT32_MIN, INT32_MAX};
    return plane;
}

/* Band 0 as a plane, for who reads the deepest LL. */
l2k_cuda_plane deepest_plane(const level_run *run, uint32_t c)
{
    const l2k_coefficients *view = &run->plan->views[c];
    l2k_cuda_plane plane;
    memset(&plane, 0, sizeof plane);
    plane.type = view->type == L2K_COEFFICIENT_INT16 ? L2K_SAMPLE_S16 : L2K_SAMPLE_S32;
    plane.sample_stride = (int32_t)l2k_coefficient_bytes(view->type);
    plane.row_stride = (int32_t)view->stride * plane.sample_stride;
    plane.data = (char *)run->coefficients[c];
    return plane;
}

l2k_cuda_bands bands_of(const level_run *run, uint32_t c, level_group group)
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
            size_t at = view->bands[number].y * view->stride + view->bands[number].x;
            bands.at[i][o] = (char *)run->coefficients[c] + at * l2k_coefficient_bytes(view->type);
        }
    return bands;
}

l2k_cuda_steps steps_of(const l2k_plan *plan, uint32_t c, level_group group)
{
    const l2k_plan_component *component = &plan->components[c];
    float factor = plan->spec.direction == L2K_INVERSE ? 0.5f : 1.0f;
    l2k_cuda_steps steps;
    memset(&steps, 0, sizeof steps);
    for (unsigned i = 0; i < 2 && component->wavelet == L2K_WAVELET_9_7; i++)
        for (unsigned o = 0; o < 4; o++) {
            bool deep = o == L2K_LL || i >= group.count;
            unsigned number = deep ? 0 : l2k_band_number(component->levels - (group.first + i) + 1, o);
            steps.of[i][o] = l2k_quantiser_step_make(factor * component->steps[number]);
        }
    return steps;
}

l2k_cuda_plane device_plane(const l2k_plan *plan, uint32_t c, const l2k_plane *from)
{
    const l2k_plan_component *component = &plan->components[c];
    l2k_cuda_plane plane;
    memset(&plane, 0, sizeof plane);
    plane.data = (char *)from->data;
    plane.row_stride = (int32_t)from->row_stride;
    plane.sample_stride = (int32_t)from->sample_stride;
    plane.type = from->type;
    plane.shift = l2k_level_shift_make(component->precision, component->is_signed);
    return plane;
}

/* A side's coordinates less a multiple of 8. */
l2k_span span_of(uint32_t first, uint32_t end)
{
    uint32_t base = first & ~(uint32_t)7;
    return l2k_span{(int32_t)(first - base), (int32_t)(end - base)};
}

/* Group g of `count` components from c + lane0 on. At the pixel side the samples are the caller's planes, elsewhere the
 * LL that the group before left. */
l2k_cuda_pass pass_of(const level_run *run, uint32_t c, unsigned lane0, unsigned count, unsigned g,
                      const l2k_plane *planes)
{
    const l2k_plan_spec *spec = &run->plan->spec;
    level_group group = group_at(spec, c, g);
    l2k_rect rect = l2k_resolution_rect(run->plan->components[c].rect, group.first - 1);
    l2k_cuda_pass pass;
    memset(&pass, 0, sizeof pass);
    pass.x = span_of(rect.x0, rect.x1);
    pass.y = span_of(rect.y0, rect.y1);
    pass.levels = (int32_t)group.count;
    pass.components = (int32_t)count;
    pass.joined = spec->component_transform && c == 0 && g == 0;
    pass.low_in_bands = g + 1 == count_groups(spec, c);
    pass.type = spec->type;
    pass.wavelet = run->plan->components[c].wavelet;
    for (unsigned i = 0; i < count; i++) {
        unsigned lane = lane0 + i;
        pass.samples[i] =
            g == 0 ? device_plane(run->plan, c + lane, &planes[c + lane]) : low_plane(run, c, lane, g - 1);
        pass.low[i] = pass.low_in_bands ? deepest_plane(run, c + lane) : low_plane(run, c, lane, g);
        pass.bands[i] = bands_of(run, c + lane, group);
        pass.steps[i] = steps_of(run->plan, c + lane, group);
    }
    return pass;
}

/* Components that go through launches together. */
struct lane_range {
    uint32_t c; /* the first of their kind */
    unsigned lane0, count;
};

int launch_group(const level_run *run, lane_range lanes, unsigned g, bool follows, const l2k_plane *planes)
{
    l2k_cuda_pass pass = pass_of(run, lanes.c, lanes.lane0, lanes.count, g, planes);
    pass.follows = follows;
    return run->plan->spec.direction == L2K_FORWARD ? l2k_cuda_forward_pass(&pass, run->stream)
                                                    : l2k_cuda_inverse_pass(&pass, run->stream);
}

/* ---- Several deep levels in one launch ----------------------------------------------------------------------- */

l2k_cuda_deep_level deep_level(const l2k_cuda_pass *pass)
{
    l2k_cuda_deep_level level;
    memset(&level, 0, sizeof level);
    level.x = pass->x;
    level.y = pass->y;
    for (int i = 0; i < pass->components; i++) {
        level.lane[i].samples = pass->samples[i].data;
        level.lane[i].low = pass->low[i].data;
        memcpy(level.lane[i].bands, pass->bands[i].at[0], sizeof level.lane[i].bands);
    }
    level.samples_stride = pass->samples[0].row_stride;
    level.low_stride = pass->low[0].row_stride;
    level.shift = pass->samples[0].shift;
    memcpy(level.steps, pass->steps[0].of[0], sizeof level.steps);
    return level;
}

/* Groups first .. first + count - 1. */
int launch_deep(const level_run *run, lane_range lanes, unsigned first, unsigned count, bool follows,
                const l2k_plane *planes)
{
    const l2k_plan_spec *spec = &run->plan->spec;
    l2k_cuda_deep deep;
    memset(&deep, 0, sizeof deep);
    for (unsigned i = 0; i < count; i++) {
        l2k_cuda_pass pass = pass_of(run, lanes.c, lanes.lane0, lanes.count, first + i, planes);
        deep.level[i] = deep_level(&pass);
        deep.low_in_bands = pass.low_in_bands;
    }
    deep.levels = (int32_t)count;
    deep.components = (int32_t)lanes.count;
    deep.bands_stride = (int32_t)run->plan->views[lanes.c].stride;
    deep.follows = follows;
    deep.narrow = low_type(spec, &run->plan->components[lanes.c + lanes.lane0]) == L2K_SAMPLE_S16;
    deep.type = spec->type;
    deep.wavelet = run->plan->components[lanes.c].wavelet;
    deep.arrived = run->arrived;
    return spec->direction == L2K_FORWARD ? l2k_cuda_forward_deep(&deep, run->stream)
                                          : l2k_cuda_inverse_deep(&deep, run->stream);
}

/* Whether the kernels of deep levels can have the pixels as they are: they know planes such as those of LL. */
bool are_like_low(const level_run *run, lane_range lanes, const l2k_plane *planes)
{
    const l2k_plan_spec *spec = &run->plan->spec;
    for (uint32_t c = lanes.c + lanes.lane0; c < lanes.c + lanes.lane0 + lanes.count; c++) {
        l2k_sample_type type = low_type(spec, &run->plan->components[c]);
        ptrdiff_t bytes = (ptrdiff_t)l2k_sample_bytes(type);
        if (planes[c].type != type || planes[c].sample_stride != bytes ||
            planes[c].row_stride != planes[lanes.c].row_stride ||
            ((uintptr_t)planes[c].data | (uintptr_t)planes[c].row_stride) % bytes != 0)
            return false;
    }
    return !(spec->component_transform && lanes.c == 0);
}

/* The first group from which on all are deep. */
unsigned first_deep(const level_run *run, lane_range lanes, const l2k_plane *planes)
{
    unsigned g = count_groups(&run->plan->spec, lanes.c);
    while (g > 0 && group_at(&run->plan->spec, lanes.c, g - 1).deep)
        g--;
    return g > 0 || are_like_low(run, lanes, planes) ? g : 1;
}

/* How many groups one launch may take: all blocks of several must be on the device together. */
unsigned most_deep()
{
    int device = 0, together = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&together, cudaDevAttrCooperativeLaunch, device) != cudaSuccess)
        return 1;
    return together ? L2K_CUDA_DEEP_LEVELS : 1;
}

/* ---- All launches -------------------------------------------------------------------------------------------- */

/* Groups begin .. end - 1, in the direction's order. */
int launch_groups(const level_run *run, lane_range lanes, unsigned begin, unsigned end, const l2k_plane *planes)
{
    bool forward = run->plan->spec.direction == L2K_FORWARD;
    unsigned deep = first_deep(run, lanes, planes), most = most_deep(), done = 0;
    int error = cudaSuccess;
    while (done < end - begin && error == cudaSuccess) {
        unsigned g = forward ? begin + done : end - 1 - done, count = 1;
        bool follows = lanes.c + lanes.lane0 + done > 0;
        if (g >= deep) {
            unsigned left = forward ? end - g : g + 1 - (deep > begin ? deep : begin);
            count = left < most ? left : most;
            error = launch_deep(run, lanes, forward ? g : g + 1 - count, count, follows, planes);
        } else {
            error = launch_group(run, lanes, g, follows, planes);
        }
        done += count;
    }
    return error;
}

int launch_one_by_one(const level_run *run, uint32_t c, unsigned lanes, unsigned begin, unsigned end,
                      const l2k_plane *planes)
{
    int error = cudaSuccess;
    for (unsigned lane = 0; lane < lanes && error == cudaSuccess; lane++)
        error = launch_groups(run, lane_range{c, lane, 1}, begin, end, planes);
    return error;
}

/* The components from c on through all their groups. Those of a component transform that are not alike go together at
 * the pixels only. */
int launch_components(const level_run *run, uint32_t c, unsigned together, const l2k_plane *planes)
{
    const l2k_plan_spec *spec = &run->plan->spec;
    unsigned groups = count_groups(spec, c);
    lane_range all = {c, 0, together};
    if (count_alike(spec, c, together) == together)
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

} // namespace

extern "C" size_t l2k_cuda_low_bytes(const l2k_plan_spec *spec)
{
    size_t bytes[2];
    measure_low(spec, bytes);
    return ARRIVED_BYTES + bytes[0] + bytes[1];
}

extern "C" int l2k_cuda_run_levels(const l2k_plan *plan, const l2k_plane *planes, void *const *coefficients, char *low,
                                   void *stream)
{
    size_t bytes[2];
    measure_low(&plan->spec, bytes);
    char *first = low + ARRIVED_BYTES;
    level_run run = {plan, coefficients, (uint32_t *)low, {first, first + bytes[0]}, (cudaStream_t)stream};
    int error = cudaSuccess;
    for (uint32_t c = 0; c < plan->spec.num_components && error == cudaSuccess;) {
        unsigned together = components_together(&plan->spec, c);
        error = launch_components(&run, c, together, planes);
        c += together;
    }
    return error;
}
