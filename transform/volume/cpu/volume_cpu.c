/* Volumes on the CPU: moves slices of samples and of coefficients through the stages, one at a time; lifts them in parts
 * that stay in the cache. */
#include "base/memory.h"
#include "base/sample.h"
#include "dwt/kernel_rows.h"
#include "quant/quantiser_rows.h"
#include "transform/volume/volume.h"

/* Samples of a slice per run of all operations. With some twenty slices in use, for a group of eight in three levels, a
 * second-level cache of a megabyte holds this many of each. */
#define PART ((size_t)4096)

/* Below this many samples, starting threads costs more than they save. */
#define MIN_PARALLEL_SAMPLES ((size_t)1 << 16)

/* Slices that are lifted together, for each lifting step. The slices in each level's window, as many as there are
 * steps, are read and written again with the next group, so four levels double the memory traffic. */
#define IN_GROUP_PER_STEP 4u

enum { STAGGER = 576, PAGE = 4096 }; /* bytes: keeps equal parts of different slices out of the same cache sets */

/* Bytes of a slice before its values. */
enum { HEADER = (sizeof(l2k_z_slice) + L2K_ALIGNMENT - 1) / L2K_ALIGNMENT * L2K_ALIGNMENT };

/* ---- Slices -------------------------------------------------------------------------------------------------- */

/* A slice to be filled, which goes back to stage->free. */
static l2k_status new_slice(const l2k_volume *volume, l2k_volume_stage *stage, l2k_z_slice **slice)
{
    *slice = l2k_z_take(&stage->free);
    if (*slice)
        return L2K_OK;
    uint32_t *made =
        l2k_allocate(&volume->context, stage->samples + (HEADER + PAGE) / sizeof(uint32_t), sizeof(uint32_t));
    L2K_TRY(l2k_check_memory(&volume->context, made, "a slice of %zu samples", stage->samples));
    *slice = (void *)made;
    (*slice)->values = made + (HEADER + stage->made * STAGGER % PAGE) / sizeof(uint32_t);
    l2k_stage_keep(stage, *slice);
    return L2K_OK;
}

/* ---- Operations ---------------------------------------------------------------------------------------------- */

/* All steps and scaling that two more slices allow. */
static void run_pair(const l2k_volume *volume, const l2k_z_levels *z, void *const *rows, size_t n)
{
    const l2k_kernel_rows *kernels = volume->lifting.rows;
    const float low = z->scales[0], high = z->scales[1];
    if (z->inverse && low != 1) {
        kernels->scale(rows[z->steps], n, low);
        kernels->scale(rows[z->steps + 1], n, high);
    }
    volume->lifting.fused->all[z->inverse](rows, n);
    if (!z->inverse && low != 1) {
        kernels->scale(rows[0], n, high);
        kernels->scale(rows[1], n, low);
    }
}

/* Samples first .. first + n - 1 of an operation's slices. */
static void run_op(const l2k_volume *volume, const l2k_z_levels *z, const l2k_z_op *op, size_t first, size_t n)
{
    void *rows[L2K_Z_ROWS] = {0};
    for (unsigned i = 0; i < L2K_Z_ROWS && op->rows[i]; i++)
        rows[i] = op->rows[i]->values + first;
    switch (op->kind) {
    case L2K_Z_CHAIN:
        for (unsigned pair = 0; pair < op->pairs; pair++)
            run_pair(volume, z, rows + 2 * pair, n);
        break;
    case L2K_Z_STEP:
    case L2K_Z_TAPS:
        volume->lifting.step(l2k_z_step(z, op->step), z->inverse, rows[0], (const void *const *)(rows + 1), n);
        break;
    case L2K_Z_LONE:
        l2k_kernel_lone(z->wavelet, z->inverse, rows[0], n);
        break;
    case L2K_Z_SCALE:
        volume->lifting.rows->scale(rows[0], n, op->factor);
        break;
    }
}

/* The number of threads worth starting. */
static int threads_for(const l2k_volume *volume, size_t samples)
{
    return samples < MIN_PARALLEL_SAMPLES ? 1 : (int)volume->context.threads;
}

static void run_part(const l2k_volume *volume, const l2k_z_levels *z, size_t first, size_t n)
{
    for (unsigned level = 0; level < z->levels; level++) {
        const l2k_z_list *list = l2k_z_list_at(z, level);
        for (size_t i = 0; i < list->count; i++)
            run_op(volume, z, &list->ops[i], first, n);
    }
}

static void run_ops(const l2k_volume *volume, l2k_volume_stage *stage)
{
    const int64_t parts = (int64_t)((stage->samples + PART - 1) / PART);
    const int threads = threads_for(volume, stage->samples);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t part = 0; part < parts; part++) {
        const size_t first = (size_t)part * PART, left = stage->samples - first;
        run_part(volume, &stage->z, first, left < PART ? left : PART);
    }
    l2k_z_forget(&stage->z);
    while (stage->z.out.first)
        l2k_z_append(&stage->finished, l2k_z_take(&stage->z.out));
}

/* Whether enough slices wait to be lifted, or the last ones. */
static bool are_ready(const l2k_volume_stage *stage)
{
    l2k_z_place place;
    return stage->z.out.first &&
           (stage->z.out.count >= IN_GROUP_PER_STEP * stage->z.steps || !l2k_z_wanted(&stage->z, &place));
}

/* The next finished slice, or NULL. Lifts if the stage is ready; with `at_once`, if any slice waits. */
static l2k_z_slice *take_finished(const l2k_volume *volume, l2k_volume_stage *stage, bool at_once)
{
    if (!stage->finished.first && (at_once || are_ready(stage)))
        run_ops(volume, stage);
    return l2k_z_take(&stage->finished);
}

/* ---- Samples ------------------------------------------------------------------------------------------------- */

static l2k_pixel_row row_of(const l2k_plan_component *component, const l2k_plane *plane, uint32_t y)
{
    return (l2k_pixel_row){l2k_sample_at(plane, 0, y), plane->sample_stride, plane->type,
                           l2k_level_shift_make(component->precision, component->is_signed)};
}

typedef void move_pixels(const l2k_pixel_rows *kernels, bool is_float, unsigned components, const l2k_pixel_row *pixels,
                         size_t n, void *const *rows);

/* Level shift and component transform, between the first stage and the caller's planes. */
static void move_slice(const l2k_volume *volume, const l2k_volume_stage *stage, const l2k_plane *planes,
                       const l2k_z_slice *slice, move_pixels *move)
{
    const l2k_volume_spec *spec = &volume->spec;
    const l2k_pixel_rows *kernels = l2k_pixel_rows_get(volume->cpu);
    const bool floats = l2k_wavelet_get(spec->z_wavelet)->is_float;
    unsigned joined;
    for (uint32_t c = 0; c < spec->tile.plan.num_components; c += joined) {
        const l2k_rect rect = spec->tile.components[c].rect;
        const int threads = threads_for(volume, (size_t)l2k_rect_area(rect));
        joined = spec->tile.plan.component_transform && c == 0 ? 3 : 1;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
        for (uint32_t y = 0; y < l2k_rect_height(rect); y++) {
            l2k_pixel_row pixels[3];
            void *rows[3];
            for (unsigned i = 0; i < joined; i++) {
                pixels[i] = row_of(&spec->tile.components[c + i], &planes[c + i], y);
                rows[i] = slice->values + stage->offsets[c + i] + (size_t)y * l2k_rect_width(rect);
            }
            move(kernels, floats, joined, pixels, l2k_rect_width(rect), rows);
        }
    }
}

/* ---- The levels of a slice ----------------------------------------------------------------------------------- */

/* Planes over a slice's values, one component after the other, in volume->planes. */
static const l2k_plane *planes_of(const l2k_volume *volume, const l2k_volume_stage *stage, const l2k_z_slice *slice)
{
    for (uint32_t c = 0; c < volume->spec.tile.plan.num_components; c++) {
        const size_t width = l2k_rect_width(
            l2k_resolution_rect(volume->spec.tile.components[c].rect, (unsigned)(stage - volume->stages)));
        volume->planes[c] =
            (l2k_plane){slice->values + stage->offsets[c], (ptrdiff_t)(width * sizeof(uint32_t)), sizeof(uint32_t),
                        l2k_wavelet_get(volume->spec.z_wavelet)->is_float ? L2K_SAMPLE_F32 : L2K_SAMPLE_S32};
    }
    return volume->planes;
}

/* Copies subband LL of the plan's views to the values of a slice of the next stage, or back. */
static void move_low(const l2k_volume *volume, const l2k_volume_stage *stage, const l2k_z_slice *next, bool back)
{
    const l2k_quantiser_rows *kernels = l2k_quantiser_rows_get(volume->cpu);
    const bool floats = l2k_wavelet_get(volume->spec.wavelet)->is_float;
    uint32_t *values = next->values;
    for (uint32_t c = 0; c < volume->spec.tile.plan.num_components; c++) {
        const l2k_coefficients *view = l2k_plan_coefficients(stage->plan, c);
        const uint32_t width = view->bands[0].width;
        char *row = view->base;
        for (uint32_t y = 0; y < view->bands[0].height; y++, values += width) {
            if (back)
                kernels->store[floats][view->type](values, width, 1, row);
            else
                kernels->load[floats][view->type](row, width, 1, values);
            row += view->stride * l2k_coefficient_bytes(view->type);
        }
    }
}

/* Whether slices wait to be got. */
static bool has_finished(const l2k_volume_stage *stage)
{
    return stage->finished.first || are_ready(stage);
}

/* ---- Forward ------------------------------------------------------------------------------------------------- */

static bool is_full(const l2k_volume *v)
{
    for (unsigned i = 0; i < v->num_stages; i++)
        if (has_finished(&v->stages[i]))
            return true;
    return false;
}

static l2k_status put(l2k_volume *v, const l2k_plane *planes)
{
    l2k_volume_stage *stage = v->stages;
    l2k_z_slice *slice;
    L2K_TRY(new_slice(v, stage, &slice));
    move_slice(v, stage, planes, slice, l2k_pixels_load);
    return l2k_z_put(&v->context, &stage->z, slice);
}

/* Passes LL of a low-pass slice to the next stage. */
static l2k_status pass_low_on(l2k_volume *v, unsigned number)
{
    l2k_volume_stage *next = &v->stages[number + 1];
    l2k_z_slice *slice;
    L2K_TRY(new_slice(v, next, &slice));
    move_low(v, &v->stages[number], slice, false);
    return l2k_z_put(&v->context, &next->z, slice);
}

static l2k_status get_coefficients(l2k_volume *v, l2k_volume_slice *slice)
{
    for (unsigned i = v->num_stages; i-- > 0;) {
        l2k_volume_stage *stage = &v->stages[i];
        l2k_z_slice *finished = take_finished(v, stage, false);
        if (!finished)
            continue;
        const l2k_z_place place = finished->place;
        l2k_status status = l2k_plan_run(stage->plan, planes_of(v, stage, finished));
        l2k_z_push(&stage->free, finished);
        if (status == L2K_OK && !place.high && l2k_stage_has_next(v, i))
            status = pass_low_on(v, i);
        if (status == L2K_OK)
            l2k_stage_show(v, i, 0, place, slice);
        return status;
    }
    return L2K_OK;
}

/* ---- Inverse ------------------------------------------------------------------------------------------------- */

static l2k_status next_coefficients(l2k_volume *v, l2k_volume_slice *slice)
{
    unsigned number;
    l2k_z_place place;
    if (!has_finished(&v->stages[0]) && l2k_stage_wanted(v, true, &number, &place))
        l2k_stage_show(v, number, 0, place, slice);
    return L2K_OK;
}

/* Fetches LL of a low-pass slice from the next stage. */
static void fetch_low(l2k_volume *v, unsigned number)
{
    l2k_volume_stage *next = &v->stages[number + 1];
    l2k_z_slice *slice = take_finished(v, next, true);
    move_low(v, &v->stages[number], slice, true);
    l2k_z_push(&next->free, slice);
}

static l2k_status put_coefficients(l2k_volume *v)
{
    unsigned number;
    l2k_z_place place;
    l2k_stage_wanted(v, true, &number, &place);
    l2k_volume_stage *stage = &v->stages[number];
    l2k_z_slice *slice;
    L2K_TRY(new_slice(v, stage, &slice));
    if (!place.high && l2k_stage_has_next(v, number))
        fetch_low(v, number);
    l2k_status status = l2k_plan_run(stage->plan, planes_of(v, stage, slice));
    return status == L2K_OK ? l2k_z_put(&v->context, &stage->z, slice) : status;
}

static l2k_status get_slice(l2k_volume *v, const l2k_plane *planes, bool *got)
{
    l2k_z_slice *slice = take_finished(v, v->stages, false);
    if (!slice)
        return L2K_OK;
    move_slice(v, v->stages, planes, slice, l2k_pixels_store);
    l2k_z_push(&v->stages->free, slice);
    *got = true;
    return L2K_OK;
}

static l2k_status make(l2k_volume *v)
{
    for (unsigned i = 0; i < v->num_stages; i++)
        L2K_TRY(l2k_stage_make_plan(v, i, 1));
    return L2K_OK;
}

const l2k_volume_functions l2k_volume_cpu = {.make = make,
                                             .is_full = is_full,
                                             .put = put,
                                             .get_coefficients = get_coefficients,
                                             .next_coefficients = next_coefficients,
                                             .put_coefficients = put_coefficients,
                                             .get_slice = get_slice};
