/* Forward: transforms slices of samples by groups, across slices and within them, to slices of coefficients. */
#include "transform/volume/cuda/cuda_volume.cuh"

namespace
{

/* ---- Groups -------------------------------------------------------------------------------------------------- */

bool is_ready(const l2k_volume *v, unsigned number)
{
    const l2k_volume_stage *stage = &v->stages[number];
    return stage->z.out.first && (stage->z.out.count >= v->cuda->groups[number].size || all_put(stage));
}

/* The deepest stage that is ready, so that slices of LL do not pile up. */
bool find_ready(const l2k_volume *v, unsigned *number)
{
    for (*number = v->cuda->count; (*number)-- > 0;)
        if (is_ready(v, *number))
            return true;
    return false;
}

/* Passes LL of the low-pass slices of a group to the next stage. */
l2k_status pass_low_on(const l2k_volume *v, unsigned number)
{
    const l2k_cuda_group *g = &v->cuda->groups[number];
    for (unsigned i = 0; i < g->count; i++) {
        l2k_z_slice *low;
        if (g->places[i].high || !l2k_stage_has_next(v, number))
            continue;
        L2K_TRY(l2k_cuda_new_slice(v, number + 1, &low));
        L2K_TRY(l2k_cuda_copy_low(v, number, i, low, false));
        L2K_TRY(l2k_z_put(&v->context, &v->stages[number + 1].z, low));
    }
    return L2K_OK;
}

/* The group's coefficients come down behind those on their way. */
l2k_status send_down(l2k_volume *v, unsigned number)
{
    const l2k_cuda_group *g = &v->cuda->groups[number];
    l2k_cuda_crossing *x, **end = &v->cuda->coming;
    L2K_TRY(l2k_cuda_crossing_take(v, number, &x));
    while (*end)
        end = &(*end)->next;
    *end = x;
    x->next = NULL;
    x->count = g->count;
    x->given = 0;
    for (unsigned i = 0; i < g->count; i++)
        x->places[i] = g->places[i];
    return l2k_cuda_crossing_down(v, x);
}

/* The next group of a stage, across slices and within them. */
l2k_status run_group(l2k_volume *v, unsigned number)
{
    l2k_cuda_volume *d = v->cuda;
    l2k_volume_stage *stage = &v->stages[number];
    l2k_cuda_group *g = &d->groups[number];
    if (number == 0)
        L2K_TRY(l2k_cuda_samples_move(v, d->stream));
    L2K_TRY(l2k_cuda_ops_run(v, number, &stage->z.out));
    for (g->count = g->given = 0; g->count < g->size && stage->z.out.first; g->count++) {
        g->slices[g->count] = l2k_z_take(&stage->z.out);
        g->places[g->count] = g->slices[g->count]->place;
    }
    L2K_TRY(l2k_cuda_plan_run(v, number, g->slices[0]));
    for (unsigned i = 0; i < g->count; i++)
        l2k_z_push(&stage->free, g->slices[i]); /* the stream orders what fills them next */
    L2K_TRY(pass_low_on(v, number));
    return d->on_device ? L2K_OK : send_down(v, number);
}

/* ---- Host memory --------------------------------------------------------------------------------------------- */

/* Planes of the last slice in the same buffer, even pinned ones, are the caller's again. */
l2k_status upload(l2k_volume *v, const l2k_z_slice *slice, const l2k_plane *planes)
{
    l2k_cuda_volume *d = v->cuda;
    l2k_cuda_raw_slice *raw = &d->raw[d->next_raw++ % L2K_CUDA_RAW];
    L2K_TRY(check(v, cudaEventSynchronize(raw->moved), "uploading a slice"));
    L2K_TRY(check(v, cudaStreamWaitEvent(d->up, raw->used, 0), "ordering streams"));
    l2k_cuda_samples_place(v, raw, planes);
    L2K_TRY(l2k_cuda_samples_cross(v, raw, planes));
    L2K_TRY(hand_over(v, raw->moved, d->up, d->stream));
    L2K_TRY(l2k_cuda_samples_add(v, slice, d->raw_planes, d->stream));
    L2K_TRY(l2k_cuda_samples_move(v, d->stream));
    L2K_TRY(check(v, cudaEventRecord(raw->used, d->stream), "ordering streams"));
    const bool is_last = v->come + 1 == v->spec.z1 - v->spec.z0;
    return is_last ? check(v, cudaEventSynchronize(raw->moved), "uploading a slice") : L2K_OK;
}

bool has_come(const l2k_volume *v)
{
    return v->come == v->spec.z1 - v->spec.z0;
}

/* Starts all groups that are ready. The caller may then get those that started before; at the end, all. */
l2k_status go_on(l2k_volume *v)
{
    l2k_cuda_volume *d = v->cuda;
    unsigned number, before = 0, all = 0;
    bool any = false;
    for (const l2k_cuda_crossing *x = d->coming; x; x = x->next)
        before++;
    for (; find_ready(v, &number); any = true)
        L2K_TRY(run_group(v, number));
    for (const l2k_cuda_crossing *x = d->coming; x; x = x->next)
        all++;
    d->givable = has_come(v) ? all : any ? before : 0;
    return L2K_OK;
}

void release_shown(l2k_cuda_volume *d)
{
    if (!d->shown || d->shown->given < d->shown->count)
        return;
    d->shown->next = d->idle;
    d->idle = d->shown;
    d->shown = NULL;
}

l2k_status give_from_host(l2k_volume *v, l2k_volume_slice *slice)
{
    l2k_cuda_volume *d = v->cuda;
    release_shown(d);
    if (!d->shown && d->givable == 0)
        L2K_TRY(go_on(v));
    if (!d->shown && d->givable == 0)
        return L2K_OK;
    if (!d->shown) {
        d->shown = d->coming;
        d->coming = d->shown->next;
        d->givable--;
        L2K_TRY(check(v, cudaEventSynchronize(d->shown->moved), "downloading coefficients"));
    }
    const unsigned i = d->shown->given++;
    l2k_stage_show(v, d->shown->number, i, d->shown->places[i], slice);
    l2k_cuda_crossing_show(v, d->shown);
    return L2K_OK;
}

} // namespace

/* ---- Slices -------------------------------------------------------------------------------------------------- */

extern "C" l2k_status l2k_cuda_put_samples(l2k_volume *volume, const l2k_plane *planes)
{
    l2k_cuda_volume *d = volume->cuda;
    l2k_z_slice *slice;
    L2K_TRY(l2k_cuda_new_slice(volume, 0, &slice));
    if (!d->on_device)
        L2K_TRY(upload(volume, slice, planes));
    else if (l2k_cuda_samples_are_values(volume, planes))
        of_device(slice)->samples = (char *)planes[0].data;
    else
        L2K_TRY(l2k_cuda_samples_add(volume, slice, planes, d->stream));
    return l2k_z_put(&volume->context, &volume->stages[0].z, slice);
}

extern "C" bool l2k_cuda_is_full(const l2k_volume *volume)
{
    const l2k_cuda_volume *d = volume->cuda;
    unsigned number;
    if (d->giving && d->giving->given < d->giving->count)
        return true;
    if (d->givable > 0 || (d->shown && d->shown->given < d->shown->count) || (has_come(volume) && d->coming))
        return true;
    return find_ready(volume, &number);
}

/* The caller gets coefficients in host memory once the next ones are on their way, or none are left. */
extern "C" l2k_status l2k_cuda_get_coefficients(l2k_volume *volume, l2k_volume_slice *slice)
{
    l2k_cuda_volume *d = volume->cuda;
    unsigned number;
    if (!d->on_device)
        return give_from_host(volume, slice);
    if (!d->giving || d->giving->given == d->giving->count) {
        d->giving = NULL;
        if (!find_ready(volume, &number))
            return L2K_OK;
        L2K_TRY(run_group(volume, number));
        d->giving = &d->groups[number];
    }
    const unsigned i = d->giving->given++;
    l2k_stage_show(volume, (unsigned)(d->giving - d->groups), i, d->giving->places[i], slice);
    return L2K_OK;
}
