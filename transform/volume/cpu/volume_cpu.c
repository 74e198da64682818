/* Volumes on the CPU: moves slices of samples and of coefficients through the stages, one at a time. */
#include "transform/volume/cpu/cpu_slices.h"

/* Whether slices wait to be got. */
static bool has_finished(const l2k_volume_stage *stage)
{
    return stage->finished.first || l2k_slices_are_ready(stage);
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
    l2k_z_slice *slice = l2k_slice_new(v, stage);
    if (!slice)
        return L2K_ERROR_MEMORY;
    l2k_slice_load(v, stage, planes, slice);
    return l2k_slice_put(v, stage, slice);
}

/* Passes LL of a low-pass slice to the next stage. */
static l2k_status pass_low_on(l2k_volume *v, unsigned number)
{
    l2k_volume_stage *next = &v->stages[number + 1];
    l2k_z_slice *slice = l2k_slice_new(v, next);
    if (!slice)
        return L2K_ERROR_MEMORY;
    l2k_slice_take_low(v, &v->stages[number], slice);
    return l2k_slice_put(v, next, slice);
}

static l2k_status get_coefficients(l2k_volume *v, l2k_volume_slice *slice)
{
    for (unsigned i = v->num_stages; i-- > 0;) {
        l2k_volume_stage *stage = &v->stages[i];
        l2k_z_slice *finished = l2k_slice_get(v, stage, false);
        if (!finished)
            continue;
        const l2k_z_place place = finished->place;
        l2k_status status = l2k_slice_analyse(v, stage, finished);
        l2k_slice_free(stage, finished);
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
    l2k_z_slice *slice = l2k_slice_get(v, next, true);
    l2k_slice_give_low(v, &v->stages[number], slice);
    l2k_slice_free(next, slice);
}

static l2k_status put_coefficients(l2k_volume *v)
{
    unsigned number;
    l2k_z_place place;
    l2k_stage_wanted(v, true, &number, &place);
    l2k_volume_stage *stage = &v->stages[number];
    l2k_z_slice *slice = l2k_slice_new(v, stage);
    if (!slice)
        return L2K_ERROR_MEMORY;
    if (!place.high && l2k_stage_has_next(v, number))
        fetch_low(v, number);
    l2k_status status = l2k_slice_synthesise(v, stage, slice);
    return status == L2K_OK ? l2k_slice_put(v, stage, slice) : status;
}

static l2k_status get_slice(l2k_volume *v, const l2k_plane *planes, bool *got)
{
    l2k_z_slice *slice = l2k_slice_get(v, v->stages, false);
    if (!slice)
        return L2K_OK;
    l2k_slice_store(v, v->stages, planes, slice);
    l2k_slice_free(v->stages, slice);
    *got = true;
    return L2K_OK;
}

static l2k_status make(l2k_volume *v)
{
    for (unsigned i = 0; i < v->num_stages; i++)
        L2K_TRY(l2k_stage_make_plan(v, i, 1));
    return L2K_OK;
}

static void destroy(l2k_volume *v)
{
    for (unsigned i = 0; i < v->num_stages; i++)
        l2k_slices_release(v, &v->stages[i]);
}

static l2k_status rewind_all(l2k_volume *v)
{
    (void)v;
    return L2K_OK;
}

const l2k_volume_functions l2k_volume_cpu = {
    make, destroy, rewind_all, is_full, put, get_coefficients, next_coefficients, put_coefficients, get_slice};
