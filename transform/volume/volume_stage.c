/* The stages of a volume on the CPU: memory of slices, programs of lifting steps in parts that stay in the cache, and a
 * plan for the levels of each slice. That a volume is transformed while its slices pass by follows Franco, Bernabe,
 * Fernandez, Ujaldon: Parallel 3D fast wavelet transform on manycore GPUs and multicore CPUs (Procedia Computer Science
 * 1, 2010), with lifting in place of convolution. */
#include "base/memory.h"
#include "base/sample.h"
#include "dwt/kernel.h"
#include "dwt/kernel_rows.h"
#include "quant/quantiser_rows.h"
#include "transform/volume/volume.h"

/* Samples of a slice that a program goes through at once. With some twenty slices of a group of eight in three levels,
 * this many of each stay in a second-level cache of a megabyte. */
#define PART ((size_t)4096)

/* Below this many samples, starting threads costs more than they save. */
#define MIN_PARALLEL_SAMPLES ((size_t)1 << 16)

/* Slices that are lifted together: so many for each lifting step. Of each level the slices in its window, as many as
 * there are steps, are read and written once more with the next group, so four levels double what memory moves. */
#define IN_GROUP_PER_STEP 4u

enum { STAGGER = 576, PAGE = 4096 }; /* bytes: equal parts of different slices shall not compete for the same sets */

/* ---- Making -------------------------------------------------------------------------------------------------- */

static bool is_float(l2k_wavelet wavelet)
{
    return l2k_wavelet_get(wavelet)->is_float;
}

/* The plan of stage `number`. Its pixels are values of the third direction, which have no level shift; what comes out
 * of an inverse plan is within the type of the coefficients, and so is each LL on the way: coefficients of int16 are
 * those of a forward transform, whose LL fit. */
static l2k_plan_component component_of(const l2k_volume *volume, unsigned number, uint32_t c)
{
    const l2k_volume_spec *spec = &volume->spec;
    const l2k_wavelet_descriptor *own = &volume->own;
    l2k_plan_component component = {.rect = l2k_resolution_rect(spec->tile.components[c].rect, number),
                                    .levels = spec->isotropic ? 1 : spec->levels,
                                    .wavelet = spec->wavelet,
                                    .own = spec->wavelet > L2K_WAVELET_9_7 ? own : NULL,
                                    .precision = spec->tile.plan.type == L2K_COEFFICIENT_INT16 ? 16 : 31,
                                    .is_signed = true,
                                    .narrow_low = spec->tile.plan.type == L2K_COEFFICIENT_INT16};
    if (spec->isotropic && spec->levels == 0)
        component.levels = 0;
    for (unsigned band = 0; band < L2K_MAX_SUBBANDS; band++)
        component.steps[band] = 1;
    return component;
}

l2k_status l2k_stage_make_plan(const l2k_volume *volume, unsigned number, unsigned slices, bool first_alone,
                               l2k_plan **plan)
{
    const l2k_volume_spec *spec = &volume->spec;
    const uint32_t count = spec->tile.plan.num_components;
    l2k_plan_component *components = l2k_allocate(&volume->context, (size_t)count * slices, sizeof *components);
    if (!components)
        return l2k_fail(&volume->context, L2K_ERROR_MEMORY, "out of memory for a volume");
    for (uint32_t c = 0; c < count * slices; c++)
        components[c] = component_of(volume, number, c % count);
    l2k_plan_spec wanted = {.direction = spec->tile.plan.direction,
                            .type = spec->tile.plan.type,
                            .num_components = count * slices,
                            .components = components,
                            .on_device = volume->functions != &l2k_volume_cpu,
                            .first_alone = first_alone};
    l2k_status status =
        l2k_plan_create(&volume->context, wanted.on_device ? L2K_BACKEND_CUDA : L2K_BACKEND_CPU, &wanted, plan);
    l2k_release(&volume->context, components);
    return status;
}

static l2k_status lay_out(const l2k_volume *volume, l2k_volume_stage *stage, unsigned number)
{
    const l2k_volume_spec *spec = &volume->spec;
    stage->planes = l2k_allocate_zeroed(&volume->context, spec->tile.plan.num_components, sizeof *stage->planes);
    stage->offsets = l2k_allocate_zeroed(&volume->context, spec->tile.plan.num_components, sizeof *stage->offsets);
    if (!stage->planes || !stage->offsets)
        return l2k_fail(&volume->context, L2K_ERROR_MEMORY, "out of memory for a volume");
    for (uint32_t c = 0; c < spec->tile.plan.num_components; c++) {
        const l2k_rect rect = l2k_resolution_rect(spec->tile.components[c].rect, number);
        stage->planes[c] = (l2k_plane){.row_stride = (ptrdiff_t)(l2k_rect_width(rect) * sizeof(uint32_t)),
                                       .sample_stride = sizeof(uint32_t),
                                       .type = is_float(spec->z_wavelet) ? L2K_SAMPLE_F32 : L2K_SAMPLE_S32};
        stage->offsets[c] = stage->samples;
        stage->samples += (size_t)l2k_rect_width(rect) * l2k_rect_height(rect);
    }
    return L2K_OK;
}

/* A bound on values in three directions: l2k_kernel_is_wide has those of two, so it is asked for more levels. */
static l2k_kernel_sums sums_of(const l2k_volume *volume)
{
    const l2k_volume_spec *spec = &volume->spec;
    const l2k_wavelet_descriptor *wavelet = l2k_volume_z_wavelet(volume);
    unsigned precision = 1;
    for (uint32_t c = 0; c < spec->tile.plan.num_components; c++)
        if (spec->tile.components[c].precision > precision)
            precision = spec->tile.components[c].precision;
    const unsigned levels = spec->isotropic ? 2 * spec->levels : spec->z_levels;
    return wavelet->is_float                                         ? L2K_SUMS_FLOAT
           : l2k_kernel_is_wide(&wavelet->kernel, precision, levels) ? L2K_SUMS_64
                                                                     : L2K_SUMS_32;
}

l2k_status l2k_stages_make(l2k_volume *volume)
{
    const l2k_volume_spec *spec = &volume->spec;
    volume->num_stages = spec->isotropic && spec->levels ? spec->levels : 1;
    volume->stages = l2k_allocate_zeroed(&volume->context, volume->num_stages, sizeof *volume->stages);
    volume->views = l2k_allocate_zeroed(&volume->context, spec->tile.plan.num_components, sizeof *volume->views);
    if (!volume->stages || !volume->views)
        return l2k_fail(&volume->context, L2K_ERROR_MEMORY, "out of memory for a volume");
    for (unsigned i = 0; i < volume->num_stages; i++)
        L2K_TRY(lay_out(volume, &volume->stages[i], i));
    volume->cpu = l2k_cpu_resolve(volume->context.cpu);
    volume->sums = sums_of(volume);
    l2k_stages_rewind(volume);
    return L2K_OK;
}

void l2k_stages_rewind(l2k_volume *volume)
{
    const l2k_volume_spec *spec = &volume->spec;
    const bool inverse = spec->tile.plan.direction == L2K_INVERSE;
    const l2k_wavelet_rows *rows =
        l2k_wavelet_rows_get(volume->cpu, is_float(spec->z_wavelet) ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3);
    for (unsigned i = 0; i < volume->num_stages; i++) {
        l2k_volume_stage *stage = &volume->stages[i];
        l2k_z_start(&stage->z, l2k_volume_z_wavelet(volume), rows, inverse,
                    volume->num_stages == 1 ? spec->z_levels : 1, l2k_z_edge(spec->z0, i), l2k_z_edge(spec->z1, i));
        stage->free = stage->finished = (l2k_z_queue){0};
        for (l2k_z_slice *slice = stage->all; slice; slice = slice->older)
            l2k_z_append(&stage->free, slice);
    }
}

static void release_stage(const l2k_context *context, l2k_volume_stage *stage)
{
    while (stage->all) {
        l2k_z_slice *slice = stage->all;
        stage->all = slice->older;
        l2k_release(context, slice->memory);
        l2k_release(context, slice);
    }
    l2k_z_release(context, &stage->z);
    l2k_release(context, stage->planes);
    l2k_release(context, stage->offsets);
}

void l2k_stages_release(l2k_volume *volume)
{
    for (unsigned i = 0; volume->stages && i < volume->num_stages; i++)
        release_stage(&volume->context, &volume->stages[i]);
    l2k_release(&volume->context, volume->stages);
    l2k_release(&volume->context, volume->views);
    volume->stages = NULL;
    volume->views = NULL;
    volume->num_stages = 0;
}

/* ---- Slices -------------------------------------------------------------------------------------------------- */

l2k_z_slice *l2k_stage_new_slice(const l2k_volume *volume, l2k_volume_stage *stage)
{
    l2k_z_slice *slice = l2k_z_take(&stage->free);
    if (slice)
        return slice;
    slice = l2k_allocate_zeroed(&volume->context, 1, sizeof *slice);
    if (slice)
        slice->memory = l2k_allocate(&volume->context, stage->samples + PAGE / sizeof(uint32_t), sizeof(uint32_t));
    if (!slice || !slice->memory) {
        l2k_release(&volume->context, slice);
        l2k_fail(&volume->context, L2K_ERROR_MEMORY, "out of memory for a slice of %zu samples", stage->samples);
        return NULL;
    }
    slice->values = (uint32_t *)slice->memory + stage->made++ * STAGGER % PAGE / sizeof(uint32_t);
    slice->older = stage->all;
    stage->all = slice;
    return slice;
}

void l2k_stage_free(l2k_volume_stage *stage, l2k_z_slice *slice)
{
    l2k_z_push(&stage->free, slice);
}

/* ---- Programs ------------------------------------------------------------------------------------------------ */

/* Samples first .. first + n - 1 of an operation's slices. */
static void run_op(const l2k_volume *volume, const l2k_z_levels *z, const l2k_z_op *op, size_t first, size_t n)
{
    void *rows[L2K_Z_ROWS] = {0};
    for (unsigned i = 0; i < L2K_Z_ROWS && op->rows[i]; i++)
        rows[i] = op->rows[i]->values + first;
    switch (op->kind) {
    case L2K_Z_CHAIN:
        z->lifting->chain(rows, op->pairs, n, z->scales);
        break;
    case L2K_Z_STEP:
        z->lifting->step[op->step](rows[0], rows[1], rows[2], n);
        break;
    case L2K_Z_TAPS:
        l2k_kernel_rows_get(volume->cpu)
            ->step[volume->sums](l2k_z_step(z, op->step), z->inverse, rows[0], (const void *const *)(rows + 1), n);
        break;
    case L2K_Z_LONE:
        z->lifting->lone(rows[0], n);
        break;
    case L2K_Z_SCALE:
        z->functions->scale(rows[0], n, op->factor);
        break;
    }
}

/* Threads that are worth starting for a number of samples. */
static int threads_for(const l2k_volume *volume, size_t samples)
{
    return samples < MIN_PARALLEL_SAMPLES ? 1 : (int)volume->context.threads;
}

static void run_part(const l2k_volume *volume, const l2k_z_levels *z, size_t first, size_t n)
{
    for (unsigned level = 0; level < z->levels; level++) {
        const l2k_z_program *program = l2k_z_program_at(z, level);
        for (size_t i = 0; i < program->count; i++)
            run_op(volume, z, &program->ops[i], first, n);
    }
}

static void run_programs(const l2k_volume *volume, l2k_volume_stage *stage)
{
    const int64_t parts = (int64_t)((stage->samples + PART - 1) / PART);
    const int threads = threads_for(volume, stage->samples);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t part = 0; part < parts; part++) {
        const size_t first = (size_t)part * PART, left = stage->samples - first;
        run_part(volume, &stage->z, first, left < PART ? left : PART);
    }
    l2k_z_forget_programs(&stage->z);
    while (stage->z.out.first)
        l2k_z_append(&stage->finished, l2k_z_take(&stage->z.out));
}

l2k_status l2k_stage_put(const l2k_volume *volume, l2k_volume_stage *stage, l2k_z_slice *slice)
{
    return l2k_z_put(&volume->context, &stage->z, slice);
}

bool l2k_stage_is_ready(const l2k_volume_stage *stage)
{
    l2k_z_place place;
    return stage->z.out.first &&
           (stage->z.out.count >= IN_GROUP_PER_STEP * stage->z.steps || !l2k_z_wanted(&stage->z, &place));
}

l2k_z_slice *l2k_stage_get(const l2k_volume *volume, l2k_volume_stage *stage, bool at_once)
{
    if (!stage->finished.first && (at_once || l2k_stage_is_ready(stage)))
        run_programs(volume, stage);
    return l2k_z_take(&stage->finished);
}

/* ---- Samples ------------------------------------------------------------------------------------------------- */

/* Rows of a slice between planes and values, of the components from c on that the component transform joins, or of one.
 */
typedef struct joined {
    uint32_t c;
    unsigned lanes;
    size_t width, height;
} joined;

static joined join_from(const l2k_volume_spec *spec, uint32_t c)
{
    const l2k_rect rect = spec->tile.components[c].rect;
    return (joined){c, spec->tile.plan.component_transform && c == 0 ? 3 : 1, l2k_rect_width(rect),
                    l2k_rect_height(rect)};
}

static void locate_row(const l2k_volume *volume, const l2k_volume_stage *stage, const l2k_plane *planes,
                       const l2k_z_slice *slice, const joined *j, size_t y, l2k_pixel_row pixels[3], void *rows[3])
{
    for (unsigned lane = 0; lane < j->lanes; lane++) {
        const l2k_plan_component *component = &volume->spec.tile.components[j->c + lane];
        const l2k_plane *plane = &planes[j->c + lane];
        pixels[lane] = (l2k_pixel_row){(char *)plane->data + (ptrdiff_t)y * plane->row_stride, plane->sample_stride,
                                       plane->type, l2k_level_shift_make(component->precision, component->is_signed)};
        rows[lane] = slice->values + stage->offsets[j->c + lane] + y * j->width;
    }
}

typedef void move_pixels(const l2k_pixel_rows *kernels, bool is_float, unsigned components, const l2k_pixel_row *pixels,
                         size_t n, void *const *rows);

static void move_slice(const l2k_volume *volume, const l2k_volume_stage *stage, const l2k_plane *planes,
                       const l2k_z_slice *slice, move_pixels *move)
{
    const l2k_volume_spec *spec = &volume->spec;
    const l2k_pixel_rows *kernels = l2k_pixel_rows_get(volume->cpu);
    const bool floats = is_float(spec->z_wavelet);
    joined j;
    for (uint32_t c = 0; c < spec->tile.plan.num_components; c += j.lanes) {
        j = join_from(spec, c);
        const int threads = threads_for(volume, j.width * j.height);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
        for (int64_t y = 0; y < (int64_t)j.height; y++) {
            l2k_pixel_row pixels[3];
            void *rows[3];
            locate_row(volume, stage, planes, slice, &j, (size_t)y, pixels, rows);
            move(kernels, floats, j.lanes, pixels, j.width, rows);
        }
    }
}

void l2k_stage_load(const l2k_volume *volume, const l2k_volume_stage *stage, const l2k_plane *planes,
                    const l2k_z_slice *slice)
{
    move_slice(volume, stage, planes, slice, l2k_pixels_load);
}

void l2k_stage_store(const l2k_volume *volume, const l2k_volume_stage *stage, const l2k_plane *planes,
                     const l2k_z_slice *slice)
{
    move_slice(volume, stage, planes, slice, l2k_pixels_store);
}

/* ---- The levels of a slice ----------------------------------------------------------------------------------- */

static const l2k_plane *planes_of(const l2k_volume *volume, l2k_volume_stage *stage, const l2k_z_slice *slice)
{
    for (uint32_t c = 0; c < volume->spec.tile.plan.num_components; c++)
        stage->planes[c].data = slice->values + stage->offsets[c];
    return stage->planes;
}

l2k_status l2k_stage_analyse(const l2k_volume *volume, l2k_volume_stage *stage, const l2k_z_slice *slice)
{
    return l2k_plan_forward(stage->plan, planes_of(volume, stage, slice));
}

l2k_status l2k_stage_synthesise(const l2k_volume *volume, l2k_volume_stage *stage, const l2k_z_slice *slice)
{
    return l2k_plan_inverse(stage->plan, planes_of(volume, stage, slice));
}

typedef void move_row(void *coefficients, size_t n, void *values, const l2k_quantiser_rows *kernels, bool is_float,
                      l2k_coefficient_type type);

static void load_row(void *coefficients, size_t n, void *values, const l2k_quantiser_rows *kernels, bool floats,
                     l2k_coefficient_type type)
{
    kernels->load[floats][type](coefficients, n, 1, values);
}

static void store_row(void *coefficients, size_t n, void *values, const l2k_quantiser_rows *kernels, bool floats,
                      l2k_coefficient_type type)
{
    kernels->store[floats][type](values, n, 1, coefficients);
}

static void move_low(const l2k_volume *volume, const l2k_volume_stage *stage, const l2k_z_slice *next, move_row *move)
{
    const l2k_quantiser_rows *kernels = l2k_quantiser_rows_get(volume->cpu);
    uint32_t *values = next->values;
    for (uint32_t c = 0; c < volume->spec.tile.plan.num_components; c++) {
        const l2k_coefficients *view = l2k_plan_coefficients(stage->plan, c);
        const size_t row_bytes = view->stride * l2k_coefficient_bytes(view->type);
        for (uint32_t y = 0; y < view->bands[0].height; y++, values += view->bands[0].width)
            move((char *)view->base + y * row_bytes, view->bands[0].width, values, kernels,
                 is_float(volume->spec.wavelet), view->type);
    }
}

void l2k_stage_take_low(const l2k_volume *volume, const l2k_volume_stage *stage, const l2k_z_slice *next)
{
    move_low(volume, stage, next, load_row);
}

void l2k_stage_give_low(const l2k_volume *volume, const l2k_volume_stage *stage, const l2k_z_slice *next)
{
    move_low(volume, stage, next, store_row);
}
