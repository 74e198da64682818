/* The stages of a volume, for all backends: their levels across slices, slices, and plans for the levels within. The
 * transform of a volume while its slices pass by follows Franco, Bernabe, Fernandez, Ujaldon: Parallel 3D fast wavelet
 * transform on manycore GPUs and multicore CPUs (Procedia Computer Science 1, 2010), with lifting in place of
 * convolution. */
#include "base/memory.h"
#include "transform/volume/volume.h"

/* The plan of stage `number`. Its pixels are values of the third direction, which have no level shift; the output of an
 * inverse plan fits the type of the coefficients, and so does each LL on the way: int16 coefficients come from a
 * forward transform, whose LL fit. */
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

l2k_status l2k_stage_make_plan(const l2k_volume *volume, unsigned number, unsigned slices)
{
    const l2k_volume_spec *spec = &volume->spec;
    const uint32_t count = spec->tile.plan.num_components;
    l2k_plan_component *components = l2k_allocate(&volume->context, (size_t)count * slices, sizeof *components);
    L2K_TRY(l2k_check_memory(&volume->context, components, "a volume"));
    for (uint32_t c = 0; c < count * slices; c++)
        components[c] = component_of(volume, number, c % count);
    const bool on_cpu = volume->functions == &l2k_volume_cpu;
    l2k_plan_spec wanted = {.direction = spec->tile.plan.direction,
                            .type = spec->tile.plan.type,
                            .num_components = count * slices,
                            .components = components,
                            .memory = on_cpu ? L2K_PLAN_HOST : L2K_PLAN_DEVICE};
    l2k_status status = l2k_plan_create(&volume->context, on_cpu ? L2K_BACKEND_CPU : L2K_BACKEND_CUDA, &wanted,
                                        &volume->stages[number].plan);
    l2k_release(&volume->context, components);
    return status;
}

static l2k_status lay_out(const l2k_volume *volume, l2k_volume_stage *stage, unsigned number)
{
    const l2k_volume_spec *spec = &volume->spec;
    stage->offsets = l2k_allocate_zeroed(&volume->context, spec->tile.plan.num_components, sizeof *stage->offsets);
    L2K_TRY(l2k_check_memory(&volume->context, stage->offsets, "a volume"));
    for (uint32_t c = 0; c < spec->tile.plan.num_components; c++) {
        const l2k_rect rect = l2k_resolution_rect(spec->tile.components[c].rect, number);
        stage->offsets[c] = stage->samples;
        stage->samples += (size_t)l2k_rect_area(rect);
    }
    return L2K_OK;
}

/* Three directions need a larger bound than l2k_kernel_is_wide's for two, so it is called for more levels. */
static l2k_kernel_lifting lifting_of(const l2k_volume *volume)
{
    const l2k_volume_spec *spec = &volume->spec;
    const l2k_wavelet_descriptor *wavelet = l2k_volume_z_wavelet(volume);
    unsigned precision = 1;
    for (uint32_t c = 0; c < spec->tile.plan.num_components; c++)
        if (spec->tile.components[c].precision > precision)
            precision = spec->tile.components[c].precision;
    const unsigned levels = spec->isotropic ? 2 * spec->levels : spec->z_levels;
    return l2k_kernel_lifting_of(volume->cpu, wavelet, precision, levels);
}

l2k_status l2k_stages_make(l2k_volume *volume)
{
    const l2k_volume_spec *spec = &volume->spec;
    volume->num_stages = spec->isotropic && spec->levels ? spec->levels : 1;
    volume->stages = l2k_allocate_zeroed(&volume->context, volume->num_stages, sizeof *volume->stages);
    volume->views = l2k_allocate_zeroed(&volume->context, spec->tile.plan.num_components, sizeof *volume->views);
    volume->planes = l2k_allocate_zeroed(&volume->context, spec->tile.plan.num_components, sizeof *volume->planes);
    L2K_TRY(l2k_check_memory(&volume->context, volume->stages && volume->views && volume->planes, "a volume"));
    for (unsigned i = 0; i < volume->num_stages; i++)
        L2K_TRY(lay_out(volume, &volume->stages[i], i));
    volume->cpu = l2k_cpu_resolve(volume->context.cpu);
    volume->lifting = lifting_of(volume);
    l2k_stages_rewind(volume);
    return L2K_OK;
}

void l2k_stages_rewind(l2k_volume *volume)
{
    const l2k_volume_spec *spec = &volume->spec;
    const bool inverse = spec->tile.plan.direction == L2K_INVERSE;
    for (unsigned i = 0; i < volume->num_stages; i++) {
        l2k_volume_stage *stage = &volume->stages[i];
        l2k_z_start(&stage->z, l2k_volume_z_wavelet(volume), inverse, volume->num_stages == 1 ? spec->z_levels : 1,
                    l2k_ceil_shift(spec->z0, i), l2k_ceil_shift(spec->z1, i));
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
        l2k_release(context, slice);
    }
    l2k_plan_free(stage->plan);
    l2k_z_release(context, &stage->z);
    l2k_release(context, stage->offsets);
}

void l2k_stages_release(l2k_volume *volume)
{
    for (unsigned i = 0; volume->stages && i < volume->num_stages; i++)
        release_stage(&volume->context, &volume->stages[i]);
    l2k_release(&volume->context, volume->stages);
    l2k_release(&volume->context, volume->views);
    l2k_release(&volume->context, volume->planes);
    volume->stages = NULL;
    volume->views = NULL;
    volume->planes = NULL;
    volume->num_stages = 0;
}

/* ---- Slices -------------------------------------------------------------------------------------------------- */

l2k_z_slice *l2k_stage_keep(l2k_volume_stage *stage, l2k_z_slice *slice)
{
    slice->older = stage->all;
    stage->all = slice;
    stage->made++;
    return slice;
}

bool l2k_stage_has_next(const l2k_volume *volume, unsigned number)
{
    return number + 1 < volume->num_stages;
}

bool l2k_stage_wanted(const l2k_volume *volume, bool at_once, unsigned *number, l2k_z_place *place)
{
    for (*number = 0; l2k_z_wanted(&volume->stages[*number].z, place); ++*number) {
        const l2k_volume_stage *next = &volume->stages[*number + 1];
        if (place->high || !l2k_stage_has_next(volume, *number) || next->finished.first ||
            (at_once && next->z.out.first))
            return true;
    }
    return false;
}

void l2k_stage_show(l2k_volume *volume, unsigned number, unsigned i, l2k_z_place place, l2k_volume_slice *slice)
{
    const uint32_t count = volume->spec.tile.plan.num_components;
    for (uint32_t c = 0; c < count; c++) {
        volume->views[c] = *l2k_plan_coefficients(volume->stages[number].plan, i * count + c);
        if (!place.high && l2k_stage_has_next(volume, number))
            volume->views[c].bands[0] = (l2k_band_view){0, 0, 0, 0};
    }
    *slice = (l2k_volume_slice){place.level ? number + place.level : 0, place.high, place.index, count, volume->views};
}
