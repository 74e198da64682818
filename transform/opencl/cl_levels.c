/* Fills in a launch for each level, from the pixels to the deepest LL (F.4) or back (F.3). */
#include "transform/opencl/cl_levels.h"

#include <stdio.h>
#include <string.h>

#include "base/integer.h"
#include "base/sample.h"
#include "dwt/wavelet.h"
#include "quant/quantiser.h"
#include "tiling/pixel/pixel.h"
#include "transform/layout.h"
#include "transform/opencl/cl_level.h"
#include "transform/window.h"

extern const char l2k_cl_forward[], l2k_cl_inverse[];

enum { MOST_ROUNDS = 64, LEAST_ROUNDS = 2, COLUMNS_OF_A_UNIT = 64 };

/* Kernels for any sides, for short ones, and for rows of whole vectors with four or eight columns a work-item. */
enum { GENERAL, SMALL, WHOLE, EIGHT };

/* ---- Kernels ------------------------------------------------------------------------------------------------- */

static const char *const sample_types[] = {"uchar", "char", "ushort", "short", "int", "float"};

static unsigned components_of(unsigned form)
{
    return form == L2K_CL_PLANES || form == L2K_CL_TRIPLES ? 3 : 1;
}

/* Columns of a work-item, and work-items of a group: eight columns take more registers. */
static unsigned columns_of(unsigned care)
{
    return care == EIGHT ? 8 : 4;
}

static unsigned items_of(unsigned care)
{
    return care == EIGHT ? 96 : 128;
}

/* The kernel for samples of that form and type; `copies`: without a decomposition. */
static l2k_status find_kernel(const l2k_plan *plan, l2k_cl_levels *levels, unsigned form, l2k_sample_type type,
                              bool copies, unsigned care, cl_kernel *kernel)
{
    static const char *const coefficients[] = {"short", "int", "float"};
    static const char *const names[2][2] = {{"analyse", "copy_in"}, {"synthesise", "copy_out"}};
    const bool floats = l2k_wavelet_get(plan->components[0].wavelet)->is_float;
    const bool inverse = plan->spec.direction == L2K_INVERSE;
    cl_kernel *known = &levels->kernels[form][type][copies][care];
    char options[320];
    cl_program program;
    if (!*known) {
        snprintf(options, sizeof options,
                 "-DFLOATS=%d -DCOEFFICIENT=%s -DQUANTISES=%d -DLOW=%s -DSAMPLE=%s -DPIXELS=%d -DCOMPONENTS=%u "
                 "-DTRIPLES=%d -DCOLUMNS=%u -DGROUP=%u -DWHOLE=%d -DSMALL=%d",
                 floats, coefficients[plan->spec.type], floats && plan->spec.type != L2K_COEFFICIENT_FLOAT32,
                 sample_types[levels->narrow], sample_types[type], form != L2K_CL_BETWEEN && type != L2K_SAMPLE_F32,
                 components_of(form), form == L2K_CL_TRIPLES, columns_of(care), items_of(care), care >= WHOLE,
                 care == SMALL);
        L2K_TRY(l2k_cl_program(plan->context, levels->device, inverse ? l2k_cl_inverse : l2k_cl_forward, options,
                               &program));
        L2K_TRY(l2k_cl_kernel(plan->context, program, names[inverse][copies], known));
    }
    *kernel = *known;
    return L2K_OK;
}

void l2k_cl_release_kernels(l2k_cl_levels *levels)
{
    cl_kernel *kernels = &levels->kernels[0][0][0][0];
    for (size_t i = 0; i < sizeof levels->kernels / sizeof *kernels; i++)
        if (kernels[i])
            l2k_cl.ReleaseKernel(kernels[i]);
    memset(levels->kernels, 0, sizeof levels->kernels);
}

/* ---- LL between levels --------------------------------------------------------------------------------------- */

/* Components from c on that share launches: the three of a component transform, or up to three alike. */
static unsigned count_together(const l2k_plan_spec *spec, uint32_t c)
{
    unsigned count = 1;
    if (spec->component_transform && c == 0)
        return 3;
    while (count < L2K_CL_COMPONENTS && c + count < spec->num_components &&
           l2k_share_shape(&spec->components[c], &spec->components[c + count]))
        count++;
    return count;
}

l2k_sample_type l2k_cl_low_type(const l2k_plan_spec *spec)
{
    bool is_narrow = spec->type == L2K_COEFFICIENT_INT16;
    if (l2k_wavelet_get(spec->components[0].wavelet)->is_float)
        return L2K_SAMPLE_F32;
    for (uint32_t c = 0; c < spec->num_components && spec->direction == L2K_INVERSE; c++)
        is_narrow = is_narrow && spec->components[c].narrow_low;
    return is_narrow ? L2K_SAMPLE_S16 : L2K_SAMPLE_S32;
}

/* The LL that a level leaves for the next one, of a component: rows are multiples of 16 bytes, and the even columns of
 * the next level, of which `from` begins there, begin at such a multiple. */
typedef struct low_place {
    size_t first, stride, end; /* in samples, of a component */
} low_place;

static low_place place_low(const l2k_plan_component *component, unsigned level, size_t begin)
{
    const l2k_level shape = l2k_level_of(component, level), next = l2k_level_of(component, level + 1);
    const size_t from = (next.passed.x0 + next.parity_x) % 8, stride = (shape.low_width + from + 7) / 8 * 8;
    return (low_place){begin + from, stride, begin + stride * shape.low_height};
}

/* The end of the LL of levels discard + 1 to last - 1, one behind the other. */
static size_t end_of_lows(const l2k_plan_component *component, unsigned discard, unsigned last)
{
    size_t end = 0;
    for (unsigned level = discard + 1; level < last; level++)
        end = place_low(component, level, end).end;
    return end;
}

size_t l2k_cl_low_bytes(const l2k_plan_spec *spec)
{
    size_t most = 0;
    for (uint32_t c = 0; c < spec->num_components;) {
        const l2k_plan_component *component = &spec->components[c];
        const unsigned together = count_together(spec, c);
        const size_t samples = end_of_lows(component, l2k_discarded(spec->direction, component), component->levels);
        most = samples * together > most ? samples * together : most;
        c += together;
    }
    return most * l2k_sample_bytes(l2k_cl_low_type(spec));
}

/* ---- One launch ---------------------------------------------------------------------------------------------- */

/* The launches under way: components c to c + count - 1, which are alike. */
typedef struct level_run {
    const l2k_plan *plan;
    l2k_cl_levels *levels;
    const l2k_cl_plane *planes;
    cl_command_queue queue;
    uint32_t c;
    unsigned count, discard, last;
    unsigned number;    /* of c among those alike */
    size_t low_samples; /* of a component */
    size_t first_of_band[L2K_MAX_SUBBANDS];
} level_run;

static int64_t low_at(const level_run *run, unsigned k, unsigned level, size_t *stride)
{
    const l2k_plan_component *component = &run->plan->components[run->c];
    const low_place place = place_low(component, level, end_of_lows(component, run->discard, level));
    *stride = place.stride;
    return (int64_t)((run->number + k) * run->low_samples + place.first);
}

/* The step of the quantiser, inverse half of it. */
static void set_step(const level_run *run, unsigned k, unsigned orientation, unsigned band, l2k_cl_level *to)
{
    const l2k_plan_component *component = &run->plan->components[run->c + k];
    const float half = run->plan->spec.direction == L2K_INVERSE ? 0.5f : 1.0f;
    to->bands_at[k][orientation] = (int64_t)(run->levels->first[run->c + k] + run->first_of_band[band]);
    if (!l2k_wavelet_get(component->wavelet)->quantised)
        return;
    const l2k_quantiser_step step = l2k_quantiser_step_make(half * component->steps[band]);
    to->step[k][orientation] = step.step;
    to->reciprocal[k][orientation] = step.reciprocal;
}

static void set_bands(const level_run *run, unsigned k, unsigned level, l2k_cl_level *to)
{
    size_t stride = 0;
    if (level == run->last)
        set_step(run, k, L2K_LL, 0, to);
    else
        to->low_at[k] = low_at(run, k, level, &stride);
    to->low_stride = (int32_t)stride;
    for (unsigned o = L2K_HL; o <= L2K_HH && level > run->discard; o++)
        set_step(run, k, o, l2k_band_number(run->last - level + 1, o), to);
}

static void set_samples(const level_run *run, unsigned k, unsigned level, l2k_cl_level *to)
{
    const l2k_plan_component *component = &run->plan->components[run->c + k];
    if (level > run->discard + 1) { /* LL of the level before */
        size_t stride;
        const size_t bytes = l2k_sample_bytes(run->levels->narrow);
        to->samples_at[k] = low_at(run, k, level - 1, &stride) * (int64_t)bytes;
        to->row_stride[k] = (int64_t)(stride * bytes);
        to->sample_stride[k] = (int64_t)bytes;
        return;
    }
    const l2k_cl_plane *plane = &run->planes[run->c + k];
    const l2k_level_shift shift = l2k_level_shift_make(component->precision, component->is_signed);
    to->samples_at[k] = plane->at;
    to->row_stride[k] = plane->row_stride;
    to->sample_stride[k] = plane->sample_stride;
    to->shift[k] = shift.shift;
    to->low[k] = shift.low;
    to->high[k] = shift.high;
}

/* Without a decomposition the level is that of subband 0. */
static l2k_level shape_of(const level_run *run, unsigned level)
{
    const l2k_plan_component *component = &run->plan->components[run->c];
    if (level > run->discard)
        return l2k_level_of(component, level);
    const l2k_rect r = l2k_read_part(component, 0);
    const uint32_t width = l2k_rect_width(r), height = l2k_rect_height(r);
    return (l2k_level){.width = width, .height = height, .passed = {0, 0, width, height}};
}

static l2k_cl_level make_level(const level_run *run, unsigned level)
{
    const l2k_level shape = shape_of(run, level);
    const int32_t x = (int32_t)shape.parity_x, y = (int32_t)shape.parity_y;
    l2k_cl_level made;
    memset(&made, 0, sizeof made);
    made.first_x = x;
    made.end_x = x + (int32_t)shape.width;
    made.first_y = y;
    made.end_y = y + (int32_t)shape.height;
    made.kept_x0 = x + (int32_t)shape.passed.x0;
    made.kept_x1 = x + (int32_t)shape.passed.x1;
    made.kept_y0 = y + (int32_t)shape.passed.y0;
    made.kept_y1 = y + (int32_t)shape.passed.y1;
    made.bands_stride = (int32_t)run->plan->views[run->c].stride;
    made.is_last = level == run->last;
    for (unsigned k = 0; k < run->count; k++) {
        set_bands(run, k, level, &made);
        set_samples(run, k, level, &made);
    }
    return made;
}

/* Whether rows of samples and of subbands consist of whole vectors, for work-items of `columns` columns. */
static bool are_whole(const level_run *run, unsigned form, int64_t bytes, const l2k_cl_level *level, int columns)
{
    const bool triples = form == L2K_CL_TRIPLES;
    int64_t samples = 0, coefficients = level->bands_stride;
    for (unsigned k = 0; k < run->count; k++) {
        samples |= level->row_stride[k] | level->samples_at[triples ? 0 : k];
        samples |= level->sample_stride[k] != (triples ? 3 * bytes : bytes);
        coefficients |= level->low_at[k];
        for (unsigned o = L2K_LL; o <= L2K_HH; o++)
            coefficients |= level->bands_at[k][o];
    }
    return samples % (columns * bytes) == 0 && coefficients % (columns / 2) == 0 && level->first_x == 0 &&
           (level->end_x | level->kept_x0 | level->kept_x1) % columns == 0;
}

static unsigned choose_care(const level_run *run, unsigned form, l2k_sample_type type, const l2k_cl_level *level)
{
    const int64_t bytes = (int64_t)l2k_sample_bytes(type);
    const bool is_float = l2k_wavelet_get(run->plan->components[run->c].wavelet)->is_float;
    if (level->end_x - level->first_x < L2K_CL_LEAST_SIDE || level->end_y - level->first_y < L2K_CL_LEAST_SIDE)
        return SMALL;
    if (bytes <= 2 && !is_float && components_of(form) == 1 && are_whole(run, form, bytes, level, 8))
        return EIGHT;
    return are_whole(run, form, bytes, level, 4) ? WHOLE : GENERAL;
}

/* Few rounds keep all units of the device busy, many repeat less work. */
static uint32_t choose_rounds(const level_run *run, uint64_t strips, uint32_t rows, unsigned columns)
{
    const uint64_t groups = (uint64_t)run->levels->device->info.processors * (COLUMNS_OF_A_UNIT / columns);
    const uint64_t rounds = (strips * rows + groups - 1) / groups;
    return rounds < LEAST_ROUNDS ? LEAST_ROUNDS : rounds > MOST_ROUNDS ? MOST_ROUNDS : (uint32_t)rounds;
}

static l2k_status enqueue(const level_run *run, unsigned form, l2k_sample_type type, unsigned level,
                          const cl_mem memory[3])
{
    const bool copies = level == run->discard;
    const unsigned layers = components_of(form) == 3 ? 1 : run->count;
    l2k_cl_level made = make_level(run, level);
    cl_kernel kernel;
    if (made.end_x == made.first_x || made.end_y == made.first_y)
        return L2K_OK;
    const unsigned care = copies ? GENERAL : choose_care(run, form, type, &made);
    const uint32_t columns = columns_of(care), group = items_of(care);
    L2K_TRY(find_kernel(run->plan, run->levels, form, type, copies, care, &kernel));
    const uint32_t across = l2k_ceil_div((uint32_t)made.end_x, columns);
    const uint32_t strips = l2k_ceil_div(across, copies ? group : group - 2);
    const uint32_t rows = copies ? (uint32_t)made.end_y : l2k_ceil_div((uint32_t)made.end_y, 2);
    made.rounds = (int32_t)choose_rounds(run, (uint64_t)strips * layers, rows, columns);
    const l2k_cl_argument arguments[] = {L2K_CL_ARGUMENT(memory[0]),        L2K_CL_ARGUMENT(memory[1]),
                                         L2K_CL_ARGUMENT(memory[2]),        L2K_CL_ARGUMENT(run->levels->coefficients),
                                         L2K_CL_ARGUMENT(run->levels->low), L2K_CL_ARGUMENT(made)};
    L2K_TRY(l2k_cl_set_arguments(run->plan->context, kernel, arguments, 6));
    const size_t items[3] = {(size_t)strips * group, l2k_ceil_div(rows, (uint32_t)made.rounds), layers};
    L2K_CL_TRY(run->plan->context, EnqueueNDRangeKernel,
               (run->queue, kernel, 3, NULL, items, (size_t[3]){group, 1, 1}, 0, NULL, NULL));
    return L2K_OK;
}

/* ---- All launches -------------------------------------------------------------------------------------------- */

/* Whether one buffer holds the pixels of all components, so that one launch can take them. */
static bool share_memory(const level_run *run)
{
    const l2k_cl_plane *planes = &run->planes[run->c];
    for (unsigned i = 1; i < run->count; i++)
        if (planes[i].memory != planes[0].memory || planes[i].type != planes[0].type)
            return false;
    return true;
}

static bool are_triples(const l2k_cl_plane *planes)
{
    const int64_t bytes = (int64_t)l2k_sample_bytes(planes[0].type);
    for (unsigned i = 0; i < 3; i++)
        if (planes[i].memory != planes[0].memory || planes[i].row_stride != planes[0].row_stride ||
            planes[i].sample_stride != 3 * bytes || planes[i].at != planes[0].at + (int64_t)i * bytes)
            return false;
    return true;
}

/* The level at the pixels. */
static l2k_status enqueue_pixels(level_run *run, unsigned level)
{
    const l2k_cl_plane *planes = &run->planes[run->c];
    if (run->plan->spec.component_transform && run->c == 0) {
        const cl_mem memory[3] = {planes[0].memory, planes[1].memory, planes[2].memory};
        if (planes[1].type != planes[0].type || planes[2].type != planes[0].type)
            return l2k_fail(run->plan->context, L2K_ERROR_ARGUMENT,
                            "OpenCL: components that are transformed together need samples of one type");
        return enqueue(run, are_triples(planes) ? L2K_CL_TRIPLES : L2K_CL_PLANES, planes[0].type, level, memory);
    }
    if (share_memory(run))
        return enqueue(run, L2K_CL_SINGLE, planes[0].type, level,
                       (cl_mem[3]){planes[0].memory, planes[0].memory, planes[0].memory});
    for (unsigned i = 0; i < run->count; i++) {
        level_run one = *run;
        one.c += i;
        one.count = 1;
        one.number = i;
        const cl_mem memory = planes[i].memory;
        L2K_TRY(enqueue(&one, L2K_CL_SINGLE, planes[i].type, level, (cl_mem[3]){memory, memory, memory}));
    }
    return L2K_OK;
}

static l2k_status enqueue_level(level_run *run, unsigned level)
{
    const cl_mem low = run->levels->low;
    if (level <= run->discard + 1)
        return enqueue_pixels(run, level);
    return enqueue(run, L2K_CL_BETWEEN, run->levels->narrow, level, (cl_mem[3]){low, low, low});
}

static l2k_status enqueue_components(level_run *run)
{
    const bool inverse = run->plan->spec.direction == L2K_INVERSE;
    const l2k_plan_component *component = &run->plan->components[run->c];
    run->last = component->levels;
    run->discard = l2k_discarded(run->plan->spec.direction, component);
    run->low_samples = end_of_lows(component, run->discard, run->last);
    l2k_list_first(component, &run->plan->views[run->c], run->first_of_band);
    if (run->last == run->discard)
        return enqueue_level(run, run->last);
    for (unsigned i = run->discard + 1; i <= run->last; i++)
        L2K_TRY(enqueue_level(run, inverse ? run->last + run->discard + 1 - i : i));
    return L2K_OK;
}

l2k_status l2k_cl_run_levels(const l2k_plan *plan, l2k_cl_levels *levels, const l2k_cl_plane *planes,
                             cl_command_queue queue)
{
    level_run run = {.plan = plan, .levels = levels, .planes = planes, .queue = queue};
    for (; run.c < plan->spec.num_components; run.c += run.count) {
        run.count = count_together(&plan->spec, run.c);
        L2K_TRY(enqueue_components(&run));
    }
    return L2K_OK;
}
