/* l2k_volume, the transform of volumes of the public header: an object with options around stages. */
#include "transform/volume/volume.h"

#include "base/memory.h"
#include "base/object.h"

static const l2k_option_rule rules[] = {
    [L2K_VOLUME_DIRECTION] = {"direction", 0, L2K_INVERSE, L2K_FORWARD},
    [L2K_VOLUME_WAVELET] = {"wavelet", 0, L2K_WAVELET_9_7, L2K_WAVELET_5_3},
    [L2K_VOLUME_LEVELS] = {"number of decomposition levels", 0, L2K_MAX_LEVELS, 5},
    [L2K_VOLUME_Z_WAVELET] = {"wavelet of Z", -1, L2K_WAVELET_9_7, -1},
    [L2K_VOLUME_Z_LEVELS] = {"number of levels in Z", 0, L2K_MAX_LEVELS, 3},
    [L2K_VOLUME_ORDER] = {"order of levels", 0, L2K_VOLUME_ISOTROPIC, L2K_VOLUME_Z_FIRST},
    [L2K_VOLUME_COMPONENT_TRANSFORM] = {"component transform", 0, 1, 0},
    [L2K_VOLUME_COEFFICIENTS] = {"coefficient type", -1, L2K_COEFFICIENT_FLOAT32, -1},
    [L2K_VOLUME_THREADS] = {"number of threads", 0, 1024, 0},
    [L2K_VOLUME_LIMIT_SAMPLES] = {"limit of samples", 0, INT64_MAX, (int64_t)1 << 36},
    [L2K_VOLUME_CPU] = {"instruction set", 0, L2K_CPU_NEON, L2K_CPU_AUTO},
};

static const l2k_object_kind kind = {.bytes = sizeof(l2k_volume),
                                     .options = offsetof(l2k_volume, options),
                                     .rules = rules,
                                     .num_options = L2K_VOLUME_NUM_OPTIONS};

/* ---- Life, options, preparation ------------------------------------------------------------------------------ */

l2k_volume *l2k_volume_new(const l2k_hooks *hooks)
{
    return l2k_object_create(&kind, hooks);
}

static void forget(l2k_volume *v)
{
    l2k_stages_release(v);
    l2k_tile_spec_release(&v->context, &v->spec.tile);
    v->prepared = false;
}

void l2k_volume_free(l2k_volume *volume)
{
    if (!volume)
        return;
    forget(volume);
    l2k_object_free(&kind, volume);
}

l2k_status l2k_volume_set(l2k_volume *volume, l2k_volume_option option, int64_t value)
{
    return l2k_object_set(&kind, volume, option, value);
}

l2k_status l2k_volume_prepare(l2k_volume *volume, const l2k_image *slice, uint32_t z0, uint32_t z1)
{
    forget(volume);
    volume->context.threads = l2k_thread_count((unsigned)volume->options[L2K_VOLUME_THREADS]);
    volume->context.cpu = (l2k_cpu)volume->options[L2K_VOLUME_CPU];
    L2K_TRY(l2k_cpu_check(&volume->context));
    L2K_TRY(l2k_volume_spec_make(volume, slice, z0, z1, &volume->spec));
    l2k_status status = l2k_stages_make(volume);
    if (status != L2K_OK)
        forget(volume);
    volume->prepared = status == L2K_OK;
    return status;
}

uint32_t l2k_volume_depth(const l2k_volume *volume, uint32_t level, bool high)
{
    const l2k_volume_spec *s = &volume->spec;
    if (!volume->prepared || level > s->z_levels || (level == 0 && high))
        return 0;
    return l2k_z_depth(s->z0, s->z1, level, high);
}

/* ---- Both directions ----------------------------------------------------------------------------------------- */

static l2k_status check_prepared(const l2k_volume *v, l2k_direction direction)
{
    if (!v->prepared)
        return l2k_fail(&v->context, L2K_ERROR_STATE, "the volume has not been prepared");
    if (v->spec.tile.plan.direction != direction)
        return l2k_fail(&v->context, L2K_ERROR_STATE, "the volume has been prepared for the other direction");
    return L2K_OK;
}

static l2k_status check_planes(const l2k_volume *v, const l2k_plane *planes)
{
    const l2k_tile_spec *tile = &v->spec.tile;
    const bool floats = l2k_wavelet_get(v->spec.z_wavelet)->is_float;
    if (!planes)
        return l2k_fail(&v->context, L2K_ERROR_ARGUMENT, "no planes");
    for (uint32_t c = 0; c < tile->plan.num_components; c++) {
        const bool joined = tile->plan.component_transform && c < 3;
        if ((unsigned)planes[c].type > L2K_SAMPLE_F32 || (planes[c].type == L2K_SAMPLE_F32 && (joined || !floats)))
            return l2k_fail(&v->context, L2K_ERROR_ARGUMENT,
                            "component %u: its transform does not take samples of this type", (unsigned)c);
        const l2k_rect rect = tile->components[c].rect;
        L2K_TRY(l2k_plane_check(&v->context, &planes[c], &tile->components[c], !l2k_rect_empty(rect), c));
    }
    return L2K_OK;
}

/* Whether slices wait to be got. */
static bool has_finished(const l2k_volume_stage *stage)
{
    return stage->finished.first || l2k_stage_is_ready(stage);
}

/* Whether the stage is not the last one, so that its low-pass slices leave without LL. */
static bool has_next(const l2k_volume *v, unsigned stage)
{
    return stage + 1 < v->num_stages;
}

/* The views of a stage, and where the slice belongs. */
static void show(l2k_volume *v, unsigned number, l2k_z_place place, l2k_volume_slice *slice)
{
    const uint32_t count = v->spec.tile.plan.num_components;
    for (uint32_t c = 0; c < count; c++) {
        v->views[c] = *l2k_plan_coefficients(v->stages[number].plan, c);
        if (!place.high && has_next(v, number))
            v->views[c].bands[0] = (l2k_band_view){0, 0, 0, 0};
    }
    *slice = (l2k_volume_slice){place.level ? number + place.level : 0, place.high, place.index, count, v->views};
}

/* ---- Forward ------------------------------------------------------------------------------------------------- */

l2k_status l2k_volume_put_slice(l2k_volume *volume, const l2k_plane *planes)
{
    l2k_volume_stage *stage = volume->stages;
    l2k_z_place place;
    L2K_TRY(check_prepared(volume, L2K_FORWARD));
    L2K_TRY(check_planes(volume, planes));
    for (unsigned i = 0; i < volume->num_stages; i++)
        if (has_finished(&volume->stages[i]))
            return l2k_fail(&volume->context, L2K_ERROR_STATE, "slices of coefficients wait to be got");
    if (!l2k_z_wanted(&stage->z, &place))
        return l2k_fail(&volume->context, L2K_ERROR_STATE, "all slices of the volume have been put");
    l2k_z_slice *slice = l2k_stage_new_slice(volume, stage);
    if (!slice)
        return L2K_ERROR_MEMORY;
    l2k_stage_load(volume, stage, planes, slice);
    return l2k_stage_put(volume, stage, slice);
}

/* LL of a low-pass slice, to the next stage. */
static l2k_status pass_low_on(l2k_volume *v, unsigned number)
{
    l2k_volume_stage *next = &v->stages[number + 1];
    l2k_z_slice *slice = l2k_stage_new_slice(v, next);
    if (!slice)
        return L2K_ERROR_MEMORY;
    l2k_stage_take_low(v, &v->stages[number], slice);
    return l2k_stage_put(v, next, slice);
}

l2k_status l2k_volume_get_coefficients(l2k_volume *volume, l2k_volume_slice *slice)
{
    *slice = (l2k_volume_slice){.views = NULL};
    L2K_TRY(check_prepared(volume, L2K_FORWARD));
    for (unsigned i = volume->num_stages; i-- > 0;) {
        l2k_volume_stage *stage = &volume->stages[i];
        l2k_z_slice *finished = l2k_stage_get(volume, stage, false);
        if (!finished)
            continue;
        const l2k_z_place place = finished->place;
        l2k_status status = l2k_stage_analyse(volume, stage, finished);
        l2k_stage_free(stage, finished);
        if (status == L2K_OK && !place.high && has_next(volume, i))
            status = pass_low_on(volume, i);
        if (status == L2K_OK)
            show(volume, i, place, slice);
        return status;
    }
    return L2K_OK;
}

/* ---- Inverse ------------------------------------------------------------------------------------------------- */

/* The stage whose coefficients are wanted, and which. A low-pass slice needs a slice of the next stage for its LL. */
static bool find_wanted(const l2k_volume *v, unsigned *number, l2k_z_place *place)
{
    for (*number = 0; l2k_z_wanted(&v->stages[*number].z, place); ++*number) {
        const l2k_volume_stage *next = &v->stages[*number + 1];
        if (place->high || !has_next(v, *number) || next->finished.first || next->z.out.first)
            return true;
    }
    return false;
}

l2k_status l2k_volume_next_coefficients(l2k_volume *volume, l2k_volume_slice *slice)
{
    unsigned number;
    l2k_z_place place;
    *slice = (l2k_volume_slice){.views = NULL};
    L2K_TRY(check_prepared(volume, L2K_INVERSE));
    volume->asked = !has_finished(&volume->stages[0]) && find_wanted(volume, &number, &place);
    if (volume->asked)
        show(volume, number, place, slice);
    return L2K_OK;
}

/* LL of a low-pass slice, from the next stage. */
static void fetch_low(l2k_volume *v, unsigned number)
{
    l2k_volume_stage *next = &v->stages[number + 1];
    l2k_z_slice *slice = l2k_stage_get(v, next, true);
    l2k_stage_give_low(v, &v->stages[number], slice);
    l2k_stage_free(next, slice);
}

l2k_status l2k_volume_put_coefficients(l2k_volume *volume)
{
    unsigned number;
    l2k_z_place place;
    L2K_TRY(check_prepared(volume, L2K_INVERSE));
    if (!volume->asked || !find_wanted(volume, &number, &place))
        return l2k_fail(&volume->context, L2K_ERROR_STATE, "no coefficients are wanted, or they were not asked for");
    l2k_volume_stage *stage = &volume->stages[number];
    l2k_z_slice *slice = l2k_stage_new_slice(volume, stage);
    if (!slice)
        return L2K_ERROR_MEMORY;
    volume->asked = false;
    if (!place.high && has_next(volume, number))
        fetch_low(volume, number);
    l2k_status status = l2k_stage_synthesise(volume, stage, slice);
    return status == L2K_OK ? l2k_stage_put(volume, stage, slice) : status;
}

l2k_status l2k_volume_get_slice(l2k_volume *volume, const l2k_plane *planes, bool *got)
{
    *got = false;
    L2K_TRY(check_prepared(volume, L2K_INVERSE));
    L2K_TRY(check_planes(volume, planes));
    l2k_z_slice *slice = l2k_stage_get(volume, volume->stages, false);
    if (!slice)
        return L2K_OK;
    l2k_stage_store(volume, volume->stages, planes, slice);
    l2k_stage_free(volume->stages, slice);
    *got = true;
    return L2K_OK;
}
