/* The CPU backend: a plan's memory, and the order of the level passes over the levels of all components (F.3.1,
 * F.4.1). */
#include "transform/cpu/cpu.h"

#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/run.h"

/* Below this many samples, starting threads costs more than they save. */
#define MIN_PARALLEL_SAMPLES ((uint64_t)1 << 16)
#define MIN_STRIPE_ROWS      32
#define GOOD_STRIPE_ROWS     128
#define MOST_STRIPES         3 /* of a thread */

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- Memory -------------------------------------------------------------------------------------------------- */

/* Stripes for `threads` threads of a level pass over `width` x `height` samples: short ones read many rows twice. */
static size_t count_stripes(uint64_t width, uint64_t height, unsigned num_joined, size_t threads)
{
    const bool is_small = width * height < (MIN_PARALLEL_SAMPLES + num_joined - 1) / num_joined;
    if (width == 0 || height == 0)
        return 0;
    if (threads <= 1 || is_small || height < 2 * MIN_STRIPE_ROWS)
        return 1;
    const size_t each = max_size(min_size(height / GOOD_STRIPE_ROWS / threads, MOST_STRIPES), 1);
    return min_size(height / MIN_STRIPE_ROWS, each * threads);
}

/* Deeper levels of a window can have more than the first. */
static size_t most_stripes(const l2k_level_pass *s, size_t threads)
{
    return count_stripes(s->shape.width, l2k_rect_height(s->shape.passed), s->num_joined ? s->num_joined : 1, threads);
}

static size_t low_stride(size_t width)
{
    return (width + 15) / 16 * 16;
}

/* Of the parts of a plan's memory, which start on cache lines. */
static size_t rounded(size_t bytes)
{
    return (bytes + L2K_ALIGNMENT - 1) / L2K_ALIGNMENT * L2K_ALIGNMENT;
}

static size_t view_bytes(const l2k_coefficients *view)
{
    return rounded(view->stride * view->height * l2k_coefficient_bytes(view->type));
}

static size_t count_samples(const l2k_level_pass *s)
{
    return s->stride * s->num_rows * s->num_joined;
}

static size_t samples_bytes(const l2k_level_pass *passes, unsigned count)
{
    size_t samples = 0;
    for (unsigned i = 0; i < count; i++)
        samples += count_samples(&passes[i]);
    return rounded(samples * sizeof(uint32_t));
}

static size_t scratch_bytes(const l2k_cpu_sizes *s)
{
    return s->scratch_samples * s->threads * sizeof(uint32_t);
}

/* Lists the rows of each subband that the view holds at a time. Returns whether it lacks some. */
static bool list_rows(const l2k_level_pass *passes, unsigned count, uint32_t *rows)
{
    bool lacks = false;
    for (unsigned i = 0; i < count; i++)
        for (unsigned o = L2K_LL; o <= L2K_HH; o++)
            if (l2k_cpu_takes_band(&passes[i], o))
                lacks |= (rows[l2k_cpu_band(&passes[i], o)] = passes[i].bands[o].rows) > 0;
    return lacks;
}

/* Shapes the passes of component c and measures their rows; updates the sizes of all components. */
static void measure_component(const l2k_plan_spec *spec, uint32_t c, unsigned threads, l2k_level_pass *passes,
                              l2k_cpu_sizes *s, l2k_coefficients *view)
{
    l2k_rect held[L2K_MAX_SUBBANDS];
    uint32_t rows[L2K_MAX_SUBBANDS];
    const unsigned count = l2k_cpu_count_passes(spec, c);
    size_t stripes = 0;
    l2k_cpu_shape_passes(spec, c, passes, held);
    l2k_cpu_measure_rows(spec, &s->strips, c, passes);
    for (unsigned i = 0; i < count; i++) {
        passes[i].stride = low_stride(passes[i].shape.width);
        s->row_stride = max_size(s->row_stride, passes[i].stride);
        stripes = max_size(stripes, most_stripes(&passes[i], threads));
    }
    s->threads = min_size((c > 0 ? s->threads : 0) + stripes, threads); /* components side by side */
    l2k_layout_parts(spec->direction, spec->type, &spec->components[c], held, view);
    if (list_rows(passes, count, rows))
        l2k_layout_rows(held, rows, view);
}

/* Rows of a ring for a component. */
static unsigned ring_rows(l2k_direction direction, const l2k_plan_component *component)
{
    const l2k_kernel_lifting lifting = {.wavelet = l2k_plan_wavelet(component)};
    const l2k_ring ring = {.lifting = &lifting, .inverse = direction == L2K_INVERSE};
    return l2k_ring_period(&ring);
}

static void settle_sizes(const l2k_plan_spec *spec, l2k_cpu_sizes *s)
{
    const unsigned num_joined = spec->component_transform ? L2K_MAX_JOINED : 1;
    /* With rows a multiple of 4 KiB apart, the processor would take stores to one for stores to the next. */
    if (s->row_stride % 1024 < 48)
        s->row_stride += 48;
    size_t rows = 0; /* of a component's ring */
    for (uint32_t c = 0; c < spec->num_components; c++)
        rows = max_size(rows, ring_rows(spec->direction, &spec->components[c]));
    s->scratch_samples = (num_joined * rows + 2) * s->row_stride;
}

/* In one block: the state, components, all their passes, and the first rows of all their subbands. */
static size_t state_bytes(const l2k_plan_spec *spec)
{
    size_t bytes = sizeof(l2k_cpu_state) + spec->num_components * sizeof(l2k_cpu_component);
    for (uint32_t c = 0; c < spec->num_components; c++)
        bytes += l2k_cpu_count_passes(spec, c) * sizeof(l2k_level_pass) +
                 l2k_plan_bands(spec->direction, &spec->components[c]) * sizeof(uint32_t);
    return bytes;
}

uint64_t l2k_cpu_bytes(const l2k_plan_spec *spec, unsigned threads)
{
    l2k_cpu_sizes s = {.strips = l2k_cpu_strips_of(spec), .threads = 1};
    uint64_t memory = 0;
    for (uint32_t c = 0; c < spec->num_components; c++) {
        l2k_level_pass passes[L2K_MAX_LEVELS];
        l2k_coefficients view;
        const unsigned count = l2k_cpu_count_passes(spec, c);
        measure_component(spec, c, threads, passes, &s, &view);
        memory += view_bytes(&view) + samples_bytes(passes, count);
    }
    settle_sizes(spec, &s);
    return l2k_allocation_bytes(1, state_bytes(spec)) + l2k_allocation_bytes(1, memory + scratch_bytes(&s));
}

static l2k_cpu_state *allocate_state(const l2k_plan *plan)
{
    const l2k_plan_spec *spec = &plan->spec;
    l2k_cpu_state *state = l2k_allocate_zeroed(plan->context, 1, state_bytes(spec));
    if (!state)
        return NULL;
    state->components = (l2k_cpu_component *)(state + 1);
    l2k_level_pass *passes = (l2k_level_pass *)(state->components + spec->num_components);
    for (uint32_t c = 0; c < spec->num_components; c++) {
        state->components[c].num_passes = l2k_cpu_count_passes(spec, c);
        state->components[c].passes = passes;
        passes += state->components[c].num_passes;
    }
    uint32_t *rows = (uint32_t *)passes;
    for (uint32_t c = 0; c < spec->num_components; c++) {
        state->components[c].first_rows = rows;
        rows += l2k_plan_bands(spec->direction, &spec->components[c]);
    }
    return state;
}

/* Where the pass finds its subbands. */
static void place_bands(const l2k_coefficients *view, l2k_level_pass *s)
{
    for (unsigned o = L2K_LL; o <= L2K_HH; o++) {
        if (!l2k_cpu_takes_band(s, o))
            continue;
        const l2k_band_view *at = &view->bands[l2k_cpu_band(s, o)];
        s->bands[o].x += at->x;
        s->bands[o].y = at->y;
    }
}

static void make_passes(l2k_plan *plan, uint32_t c)
{
    l2k_cpu_state *state = plan->state;
    const l2k_plan_component *component = &plan->components[c];
    l2k_cpu_component *k = &state->components[c];
    l2k_coefficients *view = &plan->views[c];
    measure_component(&plan->spec, c, plan->context->threads, k->passes, &state->sizes, view);
    plan->keeps_rows = state->sizes.strips.rows > 0;
    for (unsigned i = 0; i < k->num_passes; i++) {
        l2k_level_pass *s = &k->passes[i];
        s->lifting = l2k_kernel_lifting_of(state->cpu, s->wavelet, component->precision, component->levels);
        place_bands(view, s);
    }
}

/* Gives component c its part of the plan's memory, and returns the rest. */
static char *take_memory(const l2k_plan *plan, uint32_t c, char *memory)
{
    const l2k_cpu_component *components = ((const l2k_cpu_state *)plan->state)->components, *k = &components[c];
    plan->views[c].base = memory;
    memory += view_bytes(&plan->views[c]);
    uint32_t *samples = (uint32_t *)memory;
    for (unsigned i = 0; i < k->num_passes; i++) {
        k->passes[i].samples = samples;
        samples += count_samples(&k->passes[i]);
    }
    return memory + samples_bytes(k->passes, k->num_passes);
}

static l2k_status create(l2k_plan *plan)
{
    l2k_cpu_state *state = allocate_state(plan);
    L2K_TRY(l2k_check_memory(plan->context, state, "the wavelet transform"));
    plan->state = state;
    state->cpu = l2k_cpu_resolve(plan->context->cpu);
    state->pixel = l2k_pixel_rows_get(state->cpu);
    state->quantiser = l2k_quantiser_rows_get(state->cpu);
    state->sizes = (l2k_cpu_sizes){.strips = l2k_cpu_strips_of(&plan->spec), .threads = 1};
    size_t bytes = 0;
    for (uint32_t c = 0; c < plan->spec.num_components; c++) {
        make_passes(plan, c);
        bytes +=
            view_bytes(&plan->views[c]) + samples_bytes(state->components[c].passes, state->components[c].num_passes);
    }
    settle_sizes(&plan->spec, &state->sizes);
    char *memory = state->memory = l2k_allocate(plan->context, 1, bytes + scratch_bytes(&state->sizes));
    L2K_TRY(l2k_check_memory(plan->context, memory, "%u x %u coefficients", (unsigned)plan->views[0].width,
                             (unsigned)plan->views[0].height));
    for (uint32_t c = 0; c < plan->spec.num_components; c++)
        memory = take_memory(plan, c, memory);
    state->scratch = (uint32_t *)memory;
    return L2K_OK;
}

static void destroy(l2k_plan *plan)
{
    const l2k_cpu_state *state = plan->state;
    if (state)
        l2k_release(plan->context, state->memory);
    l2k_release(plan->context, plan->state);
}

/* ---- Strips --------------------------------------------------------------------------------------------------- */

static l2k_cpu_stripe *const stripe_functions[2] = {
#ifndef L2K_WITHOUT_ENCODER
    [L2K_FORWARD] = l2k_cpu_analyse,
#endif
    [L2K_INVERSE] = l2k_cpu_synthesise,
};

static const l2k_level_pass *pass_of(const l2k_plan *plan, uint32_t c, unsigned number)
{
    const l2k_cpu_component *k = &((const l2k_cpu_state *)plan->state)->components[c];
    return number < k->num_passes ? &k->passes[number] : NULL;
}

/* Of the rows up to the goal; 0 if another component's pass takes them, too. */
static uint32_t stripes_of(const l2k_plan *plan, const l2k_level_pass *pass)
{
    if (!pass || pass->num_joined == 0)
        return 0;
    return (uint32_t)count_stripes(pass->shape.width, (uint64_t)(pass->goal - pass->done), pass->num_joined,
                                   plan->context->threads);
}

/* Whether all components' passes of that number have work for several threads. Otherwise no parallel region starts, so
 * that plans for one thread can run side by side inside one. */
static bool is_parallel(const l2k_plan *plan, unsigned number)
{
    uint64_t samples = 0;
    for (uint32_t c = 0; c < plan->spec.num_components && plan->context->threads > 1; c++) {
        const l2k_level_pass *pass = pass_of(plan, c, number);
        if (stripes_of(plan, pass) > 1)
            return true;
        samples += pass ? pass->shape.width * (uint64_t)(pass->goal - pass->done) : 0;
    }
    return plan->spec.num_components > 1 && samples >= MIN_PARALLEL_SAMPLES;
}

/* Runs all components' passes of that number to their goals, cut into stripes that the threads share. */
static l2k_status run_passes(const l2k_plan *plan, unsigned number)
{
    const l2k_cpu_state *state = plan->state;
    const bool parallel = is_parallel(plan, number);
    atomic_uint taken = 0;
    atomic_int status = L2K_OK;
    (void)parallel; /* without OpenMP */
#pragma omp parallel num_threads(plan->context->threads) if (parallel)
    {
        /* A thread takes its scratch with its first stripe: there may be more threads than stripes. */
        uint32_t *scratch = NULL;
        for (uint32_t c = 0; c < plan->spec.num_components; c++) {
            const l2k_level_pass *pass = pass_of(plan, c, number);
            const uint32_t stripes = stripes_of(plan, pass);
            const int64_t first = stripes ? pass->done : 0, height = stripes ? pass->goal - first : 0;
#pragma omp for schedule(dynamic) nowait
            for (uint32_t i = 0; i < stripes; i++) {
                if (!scratch)
                    scratch = state->scratch + atomic_fetch_add(&taken, 1) * state->sizes.scratch_samples;
                l2k_status ended = L2K_OK;
                if (status == L2K_OK)
                    ended = stripe_functions[plan->spec.direction](plan, pass, scratch, first + height * i / stripes,
                                                                   first + height * (i + 1) / stripes);
                if (ended != L2K_OK)
                    status = ended;
            }
        }
    }
    return (l2k_status)status;
}

uint64_t l2k_plan_strip_end(const l2k_plan *plan)
{
    const l2k_cpu_state *state = plan->state;
    return l2k_cpu_strip_end(&plan->spec, &state->sizes.strips, state->strip);
}

void l2k_cpu_take_planes(l2k_plan *plan)
{
    l2k_cpu_state *state = plan->state;
    for (uint32_t c = 0; c < plan->spec.num_components; c++) {
        l2k_cpu_component *k = &state->components[c];
        const l2k_level_pass *first = &k->passes[0];
        if (state->takes_planes)
            k->first_row = plan->spec.direction == L2K_INVERSE ? first->done : k->end_row;
        k->end_row = (int64_t)min_size((size_t)l2k_cpu_rows_before(&plan->spec, l2k_plan_strip_end(plan), c, first),
                                       first->shape.height);
    }
    state->takes_planes = true;
}

/* Keeps the rows of the planes that the next strip reads, too. */
static void keep_rows(const l2k_plan *plan)
{
    const l2k_cpu_state *state = plan->state;
    for (uint32_t c = 0; c < plan->spec.num_components; c++) {
        const l2k_cpu_component *k = &state->components[c];
        const l2k_level_pass *first = &k->passes[0];
        const int64_t begin = first->goal - first->reach > k->first_row ? first->goal - first->reach : k->first_row;
        if (first->num_joined && first->num_rows && first->shape.width)
            l2k_cpu_keep_rows(plan, first, begin, k->end_row);
    }
}

l2k_status l2k_plan_run_strip(l2k_plan *plan)
{
    const l2k_cpu_state *state = plan->state;
    const double start = l2k_stage_start(plan->context);
    l2k_status status = L2K_OK;
    unsigned count = 0;
    for (uint32_t c = 0; c < plan->spec.num_components; c++)
        count = state->components[c].num_passes > count ? state->components[c].num_passes : count;
    for (unsigned i = 0; i < count && status == L2K_OK; i++)
        status = run_passes(plan, plan->spec.direction == L2K_FORWARD ? i : count - 1 - i);
    if (state->takes_planes && plan->spec.direction == L2K_FORWARD && status == L2K_OK)
        keep_rows(plan);
    l2k_stage_end(plan->context, L2K_STAGE_TRANSFORM, start);
    return status;
}

/* Moves the rows of a subband that are still needed to the top of its part of the view. */
static void move_rows(const l2k_plan *plan, uint32_t c, l2k_level_pass *s, unsigned orientation)
{
    l2k_band_rows *b = &s->bands[orientation];
    const l2k_coefficients *view = &plan->views[c];
    const size_t bytes = l2k_coefficient_bytes(view->type), row = view->stride * bytes;
    const uint32_t first = l2k_cpu_first_row(&plan->spec, s, orientation),
                   end = l2k_cpu_rows_end(&plan->spec, s, orientation, s->done);
    char *to = (char *)view->base + (b->y * view->stride + b->x) * bytes;
    if (b->rows == 0 || first == b->first)
        return;
    for (uint32_t y = first; y < end; y++, to += row)
        memcpy(to, to + (first - b->first) * row, b->width * bytes);
    b->first = first;
}

/* Before the present strip. */
static void move_views(const l2k_plan *plan, uint32_t c)
{
    const l2k_cpu_component *k = &((const l2k_cpu_state *)plan->state)->components[c];
    for (unsigned i = 0; i < k->num_passes; i++)
        for (unsigned o = L2K_LL; o <= L2K_HH; o++) {
            l2k_level_pass *s = &k->passes[i];
            if (!l2k_cpu_takes_band(s, o))
                continue;
            move_rows(plan, c, s, o);
            k->first_rows[l2k_cpu_band(s, o)] = s->bands[o].first;
        }
}

bool l2k_plan_next_strip(l2k_plan *plan)
{
    l2k_cpu_state *state = plan->state;
    bool goes_on = false;
    for (uint32_t c = 0; c < plan->spec.num_components; c++)
        goes_on = goes_on || state->components[c].passes[0].goal < state->components[c].passes[0].shape.passed.y1;
    state->strip++;
    for (uint32_t c = 0; c < plan->spec.num_components && goes_on; c++) {
        l2k_cpu_set_goals(&plan->spec, &state->sizes.strips, state->strip, c, state->components[c].passes);
        move_views(plan, c);
    }
    return goes_on;
}

static l2k_status begin(l2k_plan *plan, const l2k_plane *planes)
{
    l2k_cpu_state *state = plan->state;
    (void)planes; /* in plan->planes */
    state->strip = state->sizes.strips.first;
    for (uint32_t c = 0; c < plan->spec.num_components; c++) {
        l2k_cpu_component *k = &state->components[c];
        l2k_cpu_rewind(k->passes, k->num_passes);
        k->first_row = k->passes[0].done;
        k->end_row = k->passes[0].shape.passed.y1;
    }
    state->takes_planes = false;
    while (!plan->spec.by_rows && l2k_plan_next_strip(plan))
        L2K_TRY(l2k_plan_run_strip(plan));
    return L2K_OK;
}

l2k_plan_rows l2k_plan_cells(const l2k_plan *plan, uint32_t c, unsigned band)
{
    const l2k_cpu_state *state = plan->state;
    const unsigned orientation = band ? l2k_band_orientation(band) : L2K_LL, count = state->components[c].num_passes;
    const l2k_level_pass *s = &state->components[c].passes[band ? count - l2k_band_resolution(band) : count - 1];
    const l2k_band_rows *rows = &s->bands[orientation];
    const uint32_t y0 = l2k_cpu_cells_end(&plan->spec, s, orientation, s->done),
                   y1 = l2k_cpu_cells_end(&plan->spec, s, orientation, s->goal);
    return (l2k_plan_rows){y0 == rows->held_y0 && y0 < y1 ? 0 : y0, y1 == rows->held_y1 && y0 < y1 ? UINT32_MAX : y1};
}

const uint32_t *l2k_plan_first_rows(const l2k_plan *plan, uint32_t c)
{
    return plan->keeps_rows ? ((const l2k_cpu_state *)plan->state)->components[c].first_rows : NULL;
}

const l2k_backend_functions l2k_backend_cpu = {
    .kind = L2K_BACKEND_CPU, .create = create, .free = destroy, .begin = begin};
