/* The CPU backend: a plan's memory, and the order of the level passes over the levels of all components (F.3.1,
 * F.4.1). */
#include "transform/cpu/cpu.h"

#include <stdatomic.h>

#include "base/memory.h"
#include "base/run.h"
#include "dwt/kernel.h"
#include "transform/window.h"

/* Below this many samples, starting threads costs more than they save. */
#define MIN_PARALLEL_SAMPLES ((uint64_t)1 << 16)
#define MIN_STRIPE_ROWS      32

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- Memory -------------------------------------------------------------------------------------------------- */

/* Adds a component to the sizes: levels of a window of few samples grow with their depth. */
static void measure_component(const l2k_plan_spec *spec, const l2k_plan_component *component, l2k_cpu_sizes *s,
                              size_t *width, size_t *height)
{
    const unsigned discard = l2k_discarded(spec->direction, component);
    const unsigned most = l2k_has_window(component) ? component->levels : min_size(component->levels, discard + 3);
    const l2k_rect out = l2k_plan_output(spec->direction, component);
    *width = max_size(*width, l2k_rect_width(out));
    *height = max_size(*height, l2k_rect_height(out));
    for (unsigned level = discard + 1; level <= most; level++) {
        const l2k_rect r = l2k_level_rect(component, level);
        const size_t samples = l2k_cpu_low_stride(l2k_rect_width(r)) * l2k_rect_height(r);
        size_t *low = (level - discard) % 2 ? &s->low_even : &s->low_odd;
        *width = max_size(*width, l2k_rect_width(r));
        *height = max_size(*height, l2k_rect_height(r));
        if (level > discard + 1)
            *low = max_size(*low, samples);
    }
}

/* The most stripes of a level pass over at most `width` x `height` samples. */
static size_t most_stripes(uint64_t width, uint64_t height, unsigned num_joined)
{
    bool is_small = width * height < (MIN_PARALLEL_SAMPLES + num_joined - 1) / num_joined;
    return is_small || height < MIN_STRIPE_ROWS ? 1 : height / MIN_STRIPE_ROWS;
}

/* Rows of a ring for a component, if more than Part 1's wavelets need. */
static unsigned ring_rows(l2k_direction direction, const l2k_plan_component *component)
{
    return component->own ? l2k_kernel_period(&component->own->kernel, direction == L2K_INVERSE) : 0;
}

static l2k_cpu_sizes measure(const l2k_plan_spec *spec, unsigned threads)
{
    l2k_cpu_sizes s = {.num_joined = spec->component_transform ? L2K_MAX_JOINED : 1};
    size_t width = 0, height = 0; /* of the widest row and the highest column */
    for (uint32_t c = 0; c < spec->num_components; c++)
        measure_component(spec, &spec->components[c], &s, &width, &height);
    /* With rows a multiple of 4 KiB apart, the processor would take stores to one for stores to the next. */
    s.row_stride = l2k_cpu_low_stride(width);
    if (s.row_stride % 1024 < 48)
        s.row_stride += 48;
    s.ring_rows = L2K_RING_ROWS;
    for (uint32_t c = 0; c < spec->num_components; c++)
        s.ring_rows = max_size(s.ring_rows, ring_rows(spec->direction, &spec->components[c]));
    s.scratch_samples = (s.num_joined * s.ring_rows + 2) * s.row_stride;
    s.threads = min_size(threads, most_stripes(width, height, s.num_joined));
    return s;
}

uint64_t l2k_cpu_bytes(const l2k_plan_spec *spec, unsigned threads)
{
    l2k_cpu_sizes s = measure(spec, threads);
    uint64_t bytes = l2k_allocation_bytes(1, sizeof(l2k_cpu_state));
    bytes += l2k_allocation_bytes(s.scratch_samples, s.threads * sizeof(uint32_t));
    bytes += s.num_joined * l2k_allocation_bytes(s.low_odd, sizeof(uint32_t));
    bytes += l2k_allocation_bytes(s.low_even, sizeof(uint32_t));
    for (uint32_t c = 0; c < spec->num_components; c++) {
        l2k_coefficients view;
        l2k_layout(spec->direction, spec->type, &spec->components[c], &view);
        bytes += l2k_allocation_bytes(view.stride * view.height, l2k_coefficient_bytes(view.type));
    }
    return bytes;
}

static l2k_status allocate_views(l2k_plan *plan)
{
    for (uint32_t c = 0; c < plan->spec.num_components; c++) {
        l2k_coefficients *view = &plan->views[c];
        view->base = l2k_allocate(plan->context, view->stride * view->height, l2k_coefficient_bytes(view->type));
        if (!view->base)
            return l2k_fail(plan->context, L2K_ERROR_MEMORY, "out of memory for %u x %u coefficients",
                            (unsigned)view->width, (unsigned)view->height);
    }
    return L2K_OK;
}

static l2k_status allocate_state(const l2k_context *context, l2k_cpu_state *state)
{
    const l2k_cpu_sizes *s = &state->sizes;
    state->scratch = l2k_allocate(context, s->scratch_samples, s->threads * sizeof(uint32_t));
    bool complete = state->scratch;
    for (unsigned j = 0; j < s->num_joined; j++) {
        state->low[j] = l2k_allocate(context, s->low_odd, sizeof(uint32_t));
        complete = complete && state->low[j];
    }
    state->low_even = l2k_allocate(context, s->low_even, sizeof(uint32_t));
    if (!complete || !state->low_even)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for the wavelet transform");
    return L2K_OK;
}

static l2k_status create(l2k_plan *plan)
{
    l2k_cpu_state *state = l2k_allocate_zeroed(plan->context, 1, sizeof *state);
    if (!state)
        return l2k_fail(plan->context, L2K_ERROR_MEMORY, "out of memory for the wavelet transform");
    plan->state = state;
    state->sizes = measure(&plan->spec, plan->context->threads);
    state->cpu = l2k_cpu_resolve(plan->context->cpu);
    state->pixel = l2k_pixel_rows_get(state->cpu);
    state->quantiser = l2k_quantiser_rows_get(state->cpu);
    L2K_TRY(allocate_state(plan->context, state));
    return allocate_views(plan);
}

static void destroy(l2k_plan *plan)
{
    l2k_cpu_state *state = plan->state;
    for (uint32_t c = 0; c < plan->spec.num_components; c++)
        l2k_release(plan->context, plan->views[c].base);
    if (!state)
        return;
    for (unsigned j = 0; j < L2K_MAX_JOINED; j++)
        l2k_release(plan->context, state->low[j]);
    l2k_release(plan->context, state->low_even);
    l2k_release(plan->context, state->scratch);
    l2k_release(plan->context, state);
}

/* ---- Level passes
 * -------------------------------------------------------------------------------------------------- */

/* How many components from `first` on go together: 3 if the component transform joins them, else 1. */
static unsigned count_joined(const l2k_plan_spec *spec, uint32_t first)
{
    return spec->component_transform && first == 0 ? L2K_MAX_JOINED : 1;
}

/* The component transform joins its components in one level pass at the level next to the pixels; deeper levels have a
 * level pass for each component. */
static unsigned deep_levels(const l2k_plan *plan, uint32_t first)
{
    const l2k_plan_component *component = &plan->components[first];
    unsigned levels = component->levels - l2k_discarded(plan->spec.direction, component);
    return levels ? levels - 1 : 0;
}

/* The place in a component's view of a subband's coefficients that the plan reads. */
static l2k_band_view place_part(const l2k_plan *plan, const l2k_plan_component *component, unsigned band)
{
    const l2k_band_view *view = &plan->views[component - plan->components].bands[band];
    if (!l2k_has_window(component))
        return *view;
    const l2k_rect read = l2k_read_part(component, band), held = l2k_held_part(component, band);
    return (l2k_band_view){view->x + read.x0 - held.x0, view->y + read.y0 - held.y0, l2k_rect_width(read),
                           l2k_rect_height(read)};
}

static void shape_pass(const l2k_plan *plan, const l2k_plan_component *component, l2k_level_pass *s)
{
    const bool is_last = s->level == s->levels, decomposes = s->level > s->discard;
    if (is_last)
        s->bands[L2K_LL] = place_part(plan, component, 0);
    if (!decomposes) {
        const uint32_t width = s->bands[L2K_LL].width, height = s->bands[L2K_LL].height;
        s->shape = (l2k_level){.width = width, .height = height, .passed = {0, 0, width, height}};
        return;
    }
    s->shape = l2k_level_of(component, s->level);
    if (!is_last)
        s->next = l2k_level_of(component, s->level + 1);
    for (unsigned o = L2K_HL; o <= L2K_HH; o++)
        s->bands[o] = place_part(plan, component, l2k_band_number(s->levels - s->level + 1, o));
}

static l2k_kernel_lifting lift_kernel(l2k_cpu cpu, const l2k_plan_component *component)
{
    const l2k_wavelet_descriptor *own = component->own;
    const bool wide = !own->is_float && l2k_kernel_is_wide(&own->kernel, component->precision, component->levels);
    return (l2k_kernel_lifting){own, l2k_kernel_rows_get(cpu),
                                own->is_float ? L2K_SUMS_FLOAT
                                : wide        ? L2K_SUMS_64
                                              : L2K_SUMS_32};
}

/* Level pass `number` of components first .. first + num_joined - 1. All deep levels of a component follow each other,
 * since components share a buffer: forward after the level next to the pixels, inverse before it. */
static l2k_level_pass make_pass(const l2k_plan *plan, uint32_t first, unsigned num_joined, unsigned number)
{
    const l2k_cpu_state *state = plan->state;
    const l2k_plan_component *component = &plan->components[first];
    bool forward = plan->spec.direction == L2K_FORWARD;
    unsigned deep = deep_levels(plan, first), discard = l2k_discarded(plan->spec.direction, component);
    l2k_level_pass s = {.first = first,
                        .num_joined = num_joined,
                        .levels = component->levels,
                        .discard = discard,
                        .level = component->levels > discard ? discard + 1 : discard,
                        .wavelet = l2k_plan_wavelet(component)};
    if (component->own)
        s.kernel = lift_kernel(state->cpu, component);
    else
        s.rows = l2k_wavelet_rows_get(state->cpu, component->wavelet);
    if (number != (forward ? 0 : num_joined * deep)) {
        number -= forward;
        s.first += number / deep;
        s.num_joined = 1;
        s.level = forward ? 2 + number % deep : s.levels - number % deep;
    }
    s.low_first = plan->spec.component_transform && s.first < L2K_MAX_JOINED ? s.first : 0;
    shape_pass(plan, component, &s);
    return s;
}

static int64_t count_stripes(const l2k_level_pass *pass, unsigned threads)
{
    const uint32_t height = l2k_rect_height(pass->shape.passed);
    if (pass->shape.width == 0 || height == 0)
        return 0;
    size_t most = most_stripes(pass->shape.width, height, pass->num_joined);
    return threads <= 1 ? 1 : (int64_t)min_size(most, (size_t)threads * 3);
}

/* A place in the order of level passes. */
typedef struct pass_place {
    uint32_t component; /* the first of those that go together */
    unsigned number;
} pass_place;

/* The level pass at a place, which moves on to the next one; false after the last. */
static bool next_pass(const l2k_plan *plan, pass_place *at, l2k_level_pass *pass)
{
    if (at->component >= plan->spec.num_components)
        return false;
    unsigned num_joined = count_joined(&plan->spec, at->component),
             passes = 1 + num_joined * deep_levels(plan, at->component);
    *pass = make_pass(plan, at->component, num_joined, at->number);
    *at = at->number + 1 < passes ? (pass_place){at->component, at->number + 1}
                                  : (pass_place){at->component + num_joined, 0};
    return true;
}

/* By direction: without a level, and with one. */
static l2k_cpu_stripe *const stripe_functions[2][2] = {
    [L2K_FORWARD] = {l2k_cpu_copy_forward, l2k_cpu_analyse},
    [L2K_INVERSE] = {l2k_cpu_copy_inverse, l2k_cpu_synthesise},
};

/* Does all of the work: every level pass, cut into stripes that the threads share. A single stripe starts no parallel
 * region, so that plans for one thread can run side by side inside one. */
static l2k_status begin(l2k_plan *plan, const l2k_plane *planes)
{
    const l2k_cpu_state *state = plan->state;
    const double start = l2k_stage_start(plan->context);
    pass_place at = {0, 0};
    l2k_level_pass pass;
    atomic_int status = L2K_OK;
    while (status == L2K_OK && next_pass(plan, &at, &pass)) {
        l2k_cpu_stripe *run = stripe_functions[plan->spec.direction][pass.level > pass.discard];
        const int64_t stripes = count_stripes(&pass, plan->context->threads);
        const int64_t first = pass.shape.passed.y0, height = pass.shape.passed.y1 - first;
        if (stripes == 1)
            status = run(plan, planes, &pass, state->scratch, first, first + height);
        if (stripes <= 1)
            continue;
        atomic_uint taken = 0;
#pragma omp parallel num_threads(plan->context->threads)
        {
            /* A thread takes its scratch with its first stripe: there may be more threads than stripes. */
            uint32_t *scratch = NULL;
#pragma omp for schedule(dynamic)
            for (int64_t i = 0; i < stripes; i++) {
                if (!scratch)
                    scratch = state->scratch + atomic_fetch_add(&taken, 1) * state->sizes.scratch_samples;
                l2k_status ended = L2K_OK;
                if (status == L2K_OK)
                    ended = run(plan, planes, &pass, scratch, first + height * i / stripes,
                                first + height * (i + 1) / stripes);
                if (ended != L2K_OK)
                    status = ended;
            }
        }
    }
    l2k_stage_end(plan->context, L2K_STAGE_TRANSFORM, start);
    return (l2k_status)status;
}

const l2k_backend_functions l2k_backend_cpu = {
    .kind = L2K_BACKEND_CPU, .create = create, .free = destroy, .begin = begin};
