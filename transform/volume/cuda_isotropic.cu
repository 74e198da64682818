/* The isotropic order of a volume in device memory: a volume with one level in each direction for each level, and the
 * LL of the low-pass slices of one are the slices of the next. They are copied on their way, because a group of slices
 * and the next one share the memory of their coefficients. All of it is ordered by the caller's stream. */
extern "C" {
#include "base/memory.h"
#include "transform/cuda/cuda_device.h"
#include "transform/device.h"
}
#include "transform/volume/cuda_part.cuh"

namespace
{

struct level {
    l2k_volume part;
    l2k_z_slice *all;  /* slices of samples, from or for LL of the level before */
    l2k_z_queue free;  /* those without content */
    l2k_z_queue taken; /* forward: that the part may not have read yet */
    l2k_z_queue low;   /* inverse: that the level before has yet to get */
};

} // namespace

struct l2k_cuda_isotropic {
    level *levels;
    unsigned count; /* levels with slices */
    unsigned asked; /* inverse: the level whose coefficients the caller has been asked for */
    bool asked_low; /* and whether they lack an LL */
    l2k_plane *planes;
};

namespace
{

bool has_next(const l2k_volume *v, unsigned number)
{
    return number + 1 < v->spec.levels;
}

/* ---- Life ---------------------------------------------------------------------------------------------------- */

/* Levels whose low-pass has no slice end the volume. */
unsigned count_levels(const l2k_volume *v)
{
    unsigned count = 0;
    while (count < v->spec.levels && l2k_z_depth(v->spec.z0, v->spec.z1, count, false) > 0)
        count++;
    return count;
}

l2k_status make(l2k_volume *v)
{
    l2k_cuda_isotropic *d = (l2k_cuda_isotropic *)l2k_allocate_zeroed(&v->context, 1, sizeof *d);
    v->isotropic = d;
    if (!d)
        return l2k_fail(&v->context, L2K_ERROR_MEMORY, "out of memory for a volume");
    d->count = count_levels(v);
    d->levels = (level *)l2k_allocate_zeroed(&v->context, d->count, sizeof *d->levels);
    d->planes = (l2k_plane *)l2k_allocate_zeroed(&v->context, v->spec.tile.plan.num_components, sizeof *d->planes);
    if (!d->levels || !d->planes)
        return l2k_fail(&v->context, L2K_ERROR_MEMORY, "out of memory for a volume");
    for (unsigned i = 0; i < d->count; i++) {
        const l2k_cuda_part how = {i, 1, false, i > 0, v->most_slices, &l2k_volume_cuda, v->stream};
        L2K_TRY(l2k_cuda_part_make(v, &how, &d->levels[i].part));
    }
    return L2K_OK;
}

void destroy(l2k_volume *v)
{
    l2k_cuda_isotropic *d = v->isotropic;
    if (!d)
        return;
    for (unsigned i = 0; d->levels && i < d->count; i++) {
        l2k_cuda_part_free(&d->levels[i].part);
        l2k_cuda_part_free_slices(&d->levels[i].part, &d->levels[i].all);
    }
    l2k_release(&v->context, d->levels);
    l2k_release(&v->context, d->planes);
    l2k_release(&v->context, d);
    v->isotropic = NULL;
}

l2k_status rewind_all(l2k_volume *v)
{
    for (unsigned i = 0; i < v->isotropic->count; i++) {
        level *l = &v->isotropic->levels[i];
        L2K_TRY(l2k_cuda_part_rewind(&l->part));
        l->free = l->taken = l->low = l2k_z_queue{};
        for (l2k_z_slice *slice = l->all; slice; slice = slice->older)
            l2k_z_append(&l->free, slice);
    }
    return L2K_OK;
}

/* ---- LL ------------------------------------------------------------------------------------------------------ */

/* LL of a slice of coefficients as planes. */
l2k_plane low_plane(const l2k_coefficients *view, l2k_sample_type type)
{
    const ptrdiff_t bytes = (ptrdiff_t)l2k_coefficient_bytes(view->type);
    char *const first = (char *)view->base +
                        ((ptrdiff_t)view->bands[0].y * (ptrdiff_t)view->stride + (ptrdiff_t)view->bands[0].x) * bytes;
    return l2k_plane{first, (ptrdiff_t)view->stride * bytes, bytes, type};
}

/* Between LL and a slice of the next level. */
l2k_status copy_low(const l2k_volume *v, const l2k_coefficients *views, const l2k_volume *next,
                    const l2k_z_slice *slice, bool back)
{
    l2k_plane *planes = v->isotropic->planes;
    l2k_cuda_part_planes(next, slice, planes);
    for (uint32_t c = 0; c < v->spec.tile.plan.num_components; c++) {
        const l2k_plane low = low_plane(&views[c], planes[c].type);
        L2K_TRY(l2k_device_copy(&v->context, back ? &low : &planes[c], back ? &planes[c] : &low,
                                views[c].bands[0].width, views[c].bands[0].height, v->stream));
    }
    return L2K_OK;
}

/* A slice of level `number` for the caller, without the LL that belongs to the next one. */
void show(l2k_volume *v, unsigned number, const l2k_volume_slice *slice, l2k_volume_slice *shown)
{
    for (uint32_t c = 0; c < slice->num_components; c++) {
        v->views[c] = slice->views[c];
        if (!slice->high && has_next(v, number))
            v->views[c].bands[0] = l2k_band_view{0, 0, 0, 0};
    }
    *shown = *slice;
    shown->level += number;
    shown->views = v->views;
}

/* ---- Forward ------------------------------------------------------------------------------------------------- */

bool is_full(const l2k_volume *v)
{
    const l2k_cuda_isotropic *d = v->isotropic;
    for (unsigned i = 0; i < d->count; i++)
        if (d->levels[i].part.functions->is_full(&d->levels[i].part))
            return true;
    return false;
}

l2k_status put(l2k_volume *v, const l2k_plane *planes)
{
    l2k_volume *first = &v->isotropic->levels[0].part;
    return first->functions->put(first, planes);
}

l2k_status pass_low_on(l2k_volume *v, const l2k_volume_slice *slice, level *next)
{
    l2k_z_slice *low;
    L2K_TRY(l2k_cuda_part_slice(&next->part, &next->free, &next->all, &low));
    l2k_z_append(&next->taken, low);
    L2K_TRY(copy_low(v, slice->views, &next->part, low, false));
    return next->part.functions->put(&next->part, v->isotropic->planes);
}

/* Coefficients show that the part has read all slices that were put. */
void release_taken(level *l)
{
    while (l->taken.first)
        l2k_z_append(&l->free, l2k_z_take(&l->taken));
}

/* The deepest level first, so that slices of LL do not pile up. */
l2k_status get_coefficients(l2k_volume *v, l2k_volume_slice *slice)
{
    l2k_cuda_isotropic *d = v->isotropic;
    for (unsigned i = d->count; i-- > 0;) {
        level *l = &d->levels[i];
        l2k_volume_slice got = {};
        L2K_TRY(l->part.functions->get_coefficients(&l->part, &got));
        if (!got.views)
            continue;
        release_taken(l);
        if (!got.high && has_next(v, i))
            L2K_TRY(pass_low_on(v, &got, l + 1));
        show(v, i, &got, slice);
        return L2K_OK;
    }
    return L2K_OK;
}

/* ---- Inverse ------------------------------------------------------------------------------------------------- */

/* Low-pass slices of a level are wanted when the next one has their LL. */
l2k_status next_coefficients(l2k_volume *v, l2k_volume_slice *slice)
{
    l2k_cuda_isotropic *d = v->isotropic;
    for (unsigned i = 0; i < d->count; i++) {
        l2k_volume *part = &d->levels[i].part;
        l2k_volume_slice wanted = {};
        L2K_TRY(part->functions->next_coefficients(part, &wanted));
        if (!wanted.views)
            return L2K_OK;
        d->asked = i;
        d->asked_low = !wanted.high && has_next(v, i);
        if (d->asked_low && !d->levels[i + 1].low.first)
            continue;
        show(v, i, &wanted, slice);
        return L2K_OK;
    }
    return L2K_OK;
}

l2k_status fetch_low(l2k_volume *v, const l2k_volume *part, level *next)
{
    l2k_z_slice *low = l2k_z_take(&next->low);
    l2k_z_append(&next->free, low);
    return copy_low(v, part->views, &next->part, low, true);
}

/* All slices of samples that a level has, which is when they are where they are to be. */
l2k_status take_samples(l2k_volume *v, level *l)
{
    for (bool got = true; got;) {
        l2k_z_slice *slice;
        L2K_TRY(l2k_cuda_part_slice(&l->part, &l->free, &l->all, &slice));
        l2k_cuda_part_planes(&l->part, slice, v->isotropic->planes);
        l2k_status status = l->part.functions->get_slice(&l->part, v->isotropic->planes, &got);
        l2k_z_append(status == L2K_OK && got ? &l->low : &l->free, slice);
        L2K_TRY(status);
    }
    return L2K_OK;
}

l2k_status put_coefficients(l2k_volume *v)
{
    l2k_cuda_isotropic *d = v->isotropic;
    level *l = &d->levels[d->asked];
    if (d->asked_low)
        L2K_TRY(fetch_low(v, &l->part, l + 1));
    L2K_TRY(l->part.functions->put_coefficients(&l->part));
    return d->asked > 0 ? take_samples(v, l) : L2K_OK;
}

l2k_status get_slice(l2k_volume *v, const l2k_plane *planes, bool *got)
{
    l2k_volume *first = &v->isotropic->levels[0].part;
    return first->functions->get_slice(first, planes, got);
}

} // namespace

extern "C" const l2k_volume_functions l2k_volume_cuda_isotropic = {
    make, destroy, rewind_all, is_full, put, get_coefficients, next_coefficients, put_coefficients, get_slice};
