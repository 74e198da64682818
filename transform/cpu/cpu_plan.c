#include "transform/cpu/cpu.h"

#include <stdatomic.h>

#include "base/memory.h"
#include "base/run.h"

/* Below this many samples, starting threads costs more than they save. */
#define MIN_PARALLEL_SAMPLES ((uint64_t)1 << 16)
#define MIN_STRIPE_ROWS      32

static size_t round_up(size_t n, size_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

/* ---- Memory -------------------------------------------------------------------------------------------------- */

typedef struct sizes {
    size_t width, height;     /* of the widest row and the highest column */
    size_t low_odd, low_even; /* samples of the largest LL of either kind */
    unsigned lanes;
} sizes;

static size_t low_samples(const l2k_plan_component *component, unsigned level)
{
    if (level >= component->levels)
        return 0;
    l2k_level l = l2k_level_of(component, level);
    return round_up(l.low_width, 16) * l.low_height;
}

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static sizes measure(const l2k_plan *plan)
{
    sizes s = {.lanes = 1};
    for (uint32_t c = 0; c < plan->spec.num_components; c++) {
        const l2k_plan_component *component = &plan->components[c];
        unsigned discard = l2k_discarded(plan->spec.direction, component);
        s.width = max_size(s.width, plan->views[c].width);
        s.height = max_size(s.height, plan->views[c].height);
        s.low_odd = max_size(s.low_odd, low_samples(component, discard + 1));
        s.low_even = max_size(s.low_even, low_samples(component, discard + 2));
    }
    if (plan->spec.component_transform)
        s.lanes = L2K_MAX_LANES;
    return s;
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

/* The most stripes that a pass over so many columns and rows is cut into; no more over fewer. */
static size_t most_stripes(uint64_t width, uint64_t height, unsigned lanes)
{
    bool is_small = width * height < (MIN_PARALLEL_SAMPLES + lanes - 1) / lanes;
    return is_small || height < MIN_STRIPE_ROWS ? 1 : height / MIN_STRIPE_ROWS;
}

static l2k_status allocate_state(l2k_plan *plan, l2k_cpu_state *state)
{
    const l2k_context *context = plan->context;
    sizes s = measure(plan);
    /* Rows a multiple of 4 KiB apart would make the processor take stores to one for stores to the next. */
    state->row_stride = round_up(s.width, 16);
    if (state->row_stride % 1024 < 48)
        state->row_stride += 48;
    state->scratch_samples = (s.lanes * L2K_SLIDE_ROWS + 2) * state->row_stride;
    size_t threads = min_size(context->threads, most_stripes(s.width, s.height, s.lanes));
    state->scratch = l2k_allocate(context, state->scratch_samples, threads * sizeof(uint32_t));
    bool complete = state->scratch;
    for (unsigned lane = 0; lane < s.lanes; lane++) {
        state->low[lane] = l2k_allocate(context, s.low_odd, sizeof(uint32_t));
        complete = complete && state->low[lane];
    }
    state->low_even = l2k_allocate(context, s.low_even, sizeof(uint32_t));
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
    L2K_TRY(allocate_state(plan, state));
    return allocate_views(plan);
}

static void destroy(l2k_plan *plan)
{
    l2k_cpu_state *state = plan->state;
    for (uint32_t c = 0; c < plan->spec.num_components; c++)
        l2k_release(plan->context, plan->views[c].base);
    if (!state)
        return;
    for (unsigned lane = 0; lane < L2K_MAX_LANES; lane++)
        l2k_release(plan->context, state->low[lane]);
    l2k_release(plan->context, state->low_even);
    l2k_release(plan->context, state->scratch);
    l2k_release(plan->context, state);
}

/* ---- Passes -------------------------------------------------------------------------------------------------- */

unsigned l2k_cpu_lanes(const l2k_plan_spec *spec, uint32_t first)
{
    return spec->component_transform && first == 0 ? 3 : 1;
}

l2k_cpu_pass l2k_cpu_pass_make(l2k_plan *plan, const l2k_plane *planes, uint32_t first, unsigned lanes, unsigned level)
{
    const l2k_plan_component *component = &plan->components[first];
    unsigned discard = l2k_discarded(plan->spec.direction, component);
    unsigned low_first = plan->spec.component_transform && first < L2K_MAX_LANES ? first : 0;
    l2k_cpu_pass pass = {plan, planes, first, lanes, low_first, component->levels, discard, level, component->wavelet,
                         {0}};
    if (level > discard)
        pass.shape = l2k_level_of(component, level);
    else
        pass.shape = (l2k_level){.width = plan->views[first].width, .height = plan->views[first].height};
    return pass;
}

static l2k_cpu_worker make_worker(const l2k_cpu_pass *pass, unsigned number)
{
    const l2k_cpu_state *state = pass->plan->state;
    uint32_t *halves = state->scratch + number * state->scratch_samples;
    return (l2k_cpu_worker){
        .pass = pass, .ring = halves + 2 * state->row_stride, .half = {halves, halves + state->row_stride}};
}

static int64_t count_stripes(const l2k_cpu_pass *pass)
{
    unsigned threads = pass->plan->context->threads;
    size_t most = most_stripes(pass->shape.width, pass->shape.height, pass->lanes);
    return threads <= 1 ? 1 : (int64_t)min_size(most, (size_t)threads * 3);
}

/* A thread takes scratch memory with its first stripe: there is as much as there are threads or stripes. */
static void run_stripes(const l2k_cpu_pass *pass, l2k_cpu_stripe *stripe, int64_t stripes)
{
    int64_t height = pass->shape.height;
    atomic_uint taken = 0;
#pragma omp parallel num_threads(pass->plan->context->threads)
    {
        l2k_cpu_worker worker = {0};
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < stripes; i++) {
            if (!worker.pass)
                worker = make_worker(pass, atomic_fetch_add(&taken, 1));
            stripe(&worker, height * i / stripes, height * (i + 1) / stripes);
        }
    }
}

/* Where the pass before was not ended, there is nothing to go on with. */
void l2k_cpu_run(const l2k_cpu_pass *pass, l2k_cpu_stripe *stripe)
{
    int64_t stripes = count_stripes(pass);
    if (pass->shape.height == 0 || pass->shape.width == 0 || !l2k_goes_on(pass->plan->context))
        return;
    if (stripes > 1) {
        run_stripes(pass, stripe, stripes);
        return;
    }
    l2k_cpu_worker worker = make_worker(pass, 0);
    stripe(&worker, 0, pass->shape.height);
}

void *l2k_cpu_low_row(const l2k_cpu_pass *pass, unsigned lane, unsigned level, uint32_t width, int64_t y)
{
    const l2k_cpu_state *state = pass->plan->state;
    uint32_t *base = (level - pass->discard) % 2 ? state->low[pass->low_first + lane] : state->low_even;
    return base + (size_t)y * round_up(width, 16);
}

void *l2k_cpu_band_row(const l2k_cpu_pass *pass, unsigned lane, unsigned band, int64_t y)
{
    const l2k_coefficients *view = &pass->plan->views[pass->first + lane];
    const l2k_band_view *b = &view->bands[band];
    return (char *)view->base + (((size_t)b->y + (size_t)y) * view->stride + b->x) * l2k_coefficient_bytes(view->type);
}

l2k_pixel_row l2k_cpu_pixel_row(const l2k_cpu_pass *pass, unsigned lane, int64_t y)
{
    const l2k_plane *plane = &pass->planes[pass->first + lane];
    const l2k_plan_component *component = &pass->plan->components[pass->first + lane];
    return (l2k_pixel_row){(char *)plane->data + (ptrdiff_t)y * plane->row_stride, plane->sample_stride, plane->type,
                           l2k_level_shift_make(component->precision, component->is_signed)};
}

bool l2k_cpu_goes_on(l2k_cpu_worker *worker, size_t samples)
{
    const l2k_context *context = worker->pass->plan->context;
    if (!l2k_goes_on_after(context, &worker->steps, l2k_steps_of_samples(samples)))
        worker->stopped = true;
    return !worker->stopped;
}

static bool goes_on(void *user, size_t samples)
{
    return l2k_cpu_goes_on(user, samples);
}

l2k_slide l2k_cpu_slide(l2k_cpu_worker *worker, const l2k_lifting *lifting)
{
    const l2k_cpu_pass *pass = worker->pass;
    const l2k_cpu_state *state = pass->plan->state;
    return (l2k_slide){.lifting = lifting,
                       .width = pass->shape.width,
                       .height = pass->shape.height,
                       .parity = pass->shape.parity_y,
                       .lanes = pass->lanes,
                       .ring = worker->ring,
                       .stride = state->row_stride,
                       .goes_on = goes_on,
                       .user = worker};
}

/* All of the work: there is nobody else who could do it meanwhile. */
static l2k_status begin(l2k_plan *plan, const l2k_plane *planes)
{
    double start = l2k_stage_start(plan->context);
    l2k_status status =
        plan->spec.direction == L2K_FORWARD ? l2k_cpu_forward(plan, planes) : l2k_cpu_inverse(plan, planes);
    l2k_stage_end(plan->context, L2K_STAGE_TRANSFORM, start);
    return status;
}

const l2k_backend_functions l2k_backend_cpu = {create, destroy, begin, NULL, NULL};
