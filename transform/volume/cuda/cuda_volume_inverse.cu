/* Inverse: transforms slices of coefficients by groups, within slices and across them, to slices of samples. */
#include "transform/volume/cuda/cuda_volume.cuh"

namespace
{

/* ---- Groups -------------------------------------------------------------------------------------------------- */

/* In device memory, operations of the first stage wait for the planes of the slices that leave. */
l2k_status run_waiting(l2k_volume *v)
{
    l2k_cuda_volume *d = v->cuda;
    if (!d->waits)
        return L2K_OK;
    d->waits = false;
    L2K_TRY(l2k_cuda_ops_run(v, 0, &d->got));
    join(&v->stages[0].free, &d->got);
    return L2K_OK;
}

/* Host memory: the caller gets slices of samples once the next group, if any, is under way, so that they come down
 * while it goes up. */
l2k_status leave(l2k_volume *v)
{
    l2k_cuda_volume *d = v->cuda;
    l2k_volume_stage *stage = &v->stages[0];
    join(&stage->finished, &d->held);
    join(&d->held, &stage->z.out);
    if (!all_put(stage))
        return L2K_OK;
    join(&stage->finished, &d->held);
    return hand_over(v, d->order, d->stream, d->store);
}

/* Uploads coefficients of a group that the caller has stored in host memory. `store` follows the held slices and
 * `stream` follows `store`, so slices that have become samples may be reused. */
l2k_status bring(l2k_volume *v, unsigned number)
{
    l2k_cuda_volume *d = v->cuda;
    l2k_cuda_group *g = &d->groups[number];
    if (number == 0) {
        L2K_TRY(hand_over(v, d->order, d->stream, d->store));
        L2K_TRY(hand_over(v, d->order, d->store, d->stream));
    }
    L2K_TRY(l2k_cuda_crossing_up(v, g->filled));
    if (g->last) {
        g->last->next = d->idle;
        d->idle = g->last;
    }
    g->last = g->filled;
    g->filled = NULL;
    return L2K_OK;
}

l2k_status give_lows(l2k_volume *v, unsigned number)
{
    l2k_cuda_group *g = &v->cuda->groups[number];
    for (unsigned i = 0; i < g->count; i++)
        if (g->lows[i]) {
            L2K_TRY(l2k_cuda_copy_low(v, number, i, g->lows[i], true));
            l2k_z_push(&v->stages[number + 1].free, g->lows[i]);
        }
    return L2K_OK;
}

/* Runs a group of a stage whose coefficients are complete. */
l2k_status run_group(l2k_volume *v, unsigned number)
{
    l2k_cuda_volume *d = v->cuda;
    l2k_volume_stage *stage = &v->stages[number];
    l2k_cuda_group *g = &d->groups[number];
    l2k_z_slice *rest = NULL;
    if (!d->on_device)
        L2K_TRY(bring(v, number));
    L2K_TRY(give_lows(v, number));
    if (g->count < g->size)
        L2K_TRY(l2k_cuda_new_slice(v, number, &rest));
    L2K_TRY(l2k_cuda_plan_run(v, number, rest));
    if (rest)
        l2k_z_push(&stage->free, rest);
    g->count = 0;
    d->waits = number == 0 && d->on_device;
    if (!d->waits)
        L2K_TRY(l2k_cuda_ops_run(v, number, &stage->z.out));
    if (number == 0 && !d->on_device)
        return leave(v);
    join(&stage->finished, &stage->z.out);
    return L2K_OK;
}

/* ---- Samples ------------------------------------------------------------------------------------------------- */

/* On the device, a slice is stored together with the next ones, if any. */
l2k_status get_on_device(l2k_volume *volume, l2k_z_slice *slice, const l2k_plane *planes)
{
    l2k_cuda_volume *d = volume->cuda;
    l2k_volume_stage *stage = &volume->stages[0];
    if (slice && d->waits && l2k_cuda_samples_are_values(volume, planes)) {
        of_device(slice)->samples = (char *)planes[0].data;
        l2k_z_append(&d->got, slice);
    } else if (slice) {
        L2K_TRY(run_waiting(volume));
        L2K_TRY(l2k_cuda_samples_add(volume, slice, planes, d->stream));
        l2k_z_push(&stage->free, slice);
    }
    if (slice && stage->finished.first)
        return L2K_OK;
    L2K_TRY(run_waiting(volume));
    return l2k_cuda_samples_move(volume, d->stream);
}

/* Values become samples in one stream and come down in another. Pinned planes fill while the caller goes on, which
 * keeps the bus in use; this waits for those of the last slice in the same buffer. */
l2k_status get_in_host(l2k_volume *v, l2k_z_slice *slice, const l2k_plane *planes)
{
    l2k_cuda_volume *d = v->cuda;
    l2k_cuda_raw_slice *raw = &d->raw[d->next_raw++ % L2K_CUDA_RAW];
    L2K_TRY(check(v, cudaEventSynchronize(raw->moved), "downloading a slice"));
    l2k_cuda_samples_place(v, raw, planes);
    L2K_TRY(l2k_cuda_samples_add(v, slice, d->raw_planes, d->store));
    L2K_TRY(l2k_cuda_samples_move(v, d->store));
    L2K_TRY(hand_over(v, raw->used, d->store, d->down));
    L2K_TRY(l2k_cuda_samples_cross(v, raw, planes));
    L2K_TRY(check(v, cudaEventRecord(raw->moved, d->down), "downloading a slice"));
    l2k_z_push(&v->stages[0].free, slice);
    const bool is_last = all_put(&v->stages[0]) && !v->stages[0].finished.first;
    return is_last || !l2k_cuda_is_pinned(planes[0].data, 1)
               ? check(v, cudaEventSynchronize(raw->moved), "downloading a slice")
               : L2K_OK;
}

} // namespace

/* ---- Slices -------------------------------------------------------------------------------------------------- */

extern "C" l2k_status l2k_cuda_next_coefficients(l2k_volume *volume, l2k_volume_slice *slice)
{
    unsigned number;
    l2k_z_place place;
    if (volume->stages[0].finished.first || !l2k_stage_wanted(volume, false, &number, &place))
        return L2K_OK;
    L2K_TRY(run_waiting(volume)); /* of a group without slices that leave */
    l2k_cuda_group *g = &volume->cuda->groups[number];
    l2k_stage_show(volume, number, g->count, place, slice);
    if (volume->cuda->on_device)
        return L2K_OK;
    if (!g->filled)
        L2K_TRY(l2k_cuda_crossing_take(volume, number, &g->filled));
    l2k_cuda_crossing_show(volume, g->filled);
    return g->count == 0 ? check(volume, cudaEventSynchronize(g->filled->moved), "uploading coefficients") : L2K_OK;
}

extern "C" l2k_status l2k_cuda_put_coefficients(l2k_volume *volume)
{
    unsigned number;
    l2k_z_place place;
    l2k_z_slice *slice;
    l2k_stage_wanted(volume, false, &number, &place);
    l2k_volume_stage *stage = &volume->stages[number];
    l2k_cuda_group *g = &volume->cuda->groups[number];
    const bool lacks_low = !place.high && l2k_stage_has_next(volume, number);
    L2K_TRY(l2k_cuda_new_slice(volume, number, &slice));
    g->slices[g->count] = slice;
    g->lows[g->count++] = lacks_low ? l2k_z_take(&stage[1].finished) : NULL;
    L2K_TRY(l2k_z_put(&volume->context, &stage->z, slice));
    return g->count == g->size || all_put(stage) ? run_group(volume, number) : L2K_OK;
}

extern "C" l2k_status l2k_cuda_get_samples(l2k_volume *volume, const l2k_plane *planes, bool *got)
{
    l2k_z_slice *slice = l2k_z_take(&volume->stages[0].finished);
    if (volume->cuda->on_device)
        L2K_TRY(get_on_device(volume, slice, planes));
    else if (slice)
        L2K_TRY(get_in_host(volume, slice, planes));
    *got = slice != NULL;
    return L2K_OK;
}
