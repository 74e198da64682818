/* Inverse: slices of coefficients on a CUDA device become groups, within slices and across them, and slices of samples.
 */
#include "transform/volume/cuda_volume.cuh"

namespace
{

/* ---- Groups -------------------------------------------------------------------------------------------------- */

void join_queues(l2k_z_queue *to, l2k_z_queue *from)
{
    while (from->first)
        l2k_z_append(to, l2k_z_take(from));
}

/* What goes across the slices of the group that was begun last, whose places are then another group's. */
l2k_status run_programs(l2k_volume *v, const l2k_z_queue *leaving)
{
    l2k_cuda_volume *d = v->cuda;
    l2k_cuda_slot *s = slot_number(d, d->begun - 1);
    L2K_TRY(l2k_cuda_programs_run(v, s, leaving));
    for (unsigned i = 0; i < s->count; i++) {
        s->slices[i]->slot = -1;
        s->slices[i]->in_prism = false;
    }
    s->count = 0;
    return L2K_OK;
}

/* In device memory that waits for the planes of the slices that leave. */
l2k_status run_waiting(l2k_volume *v)
{
    l2k_cuda_volume *d = v->cuda;
    if (!d->waits)
        return L2K_OK;
    d->waits = false;
    L2K_TRY(run_programs(v, &d->got));
    join_queues(&stage_of(v)->free, &d->got);
    return L2K_OK;
}

/* The coefficients of a group, when the slot's last one has read its own. */
l2k_status upload_coefficients(const l2k_volume *v, const l2k_cuda_slot *s)
{
    const l2k_cuda_volume *d = v->cuda;
    L2K_TRY(check(v, cudaStreamWaitEvent(d->up, s->used, 0), "ordering streams"));
    const cudaError_t error =
        cudaMemcpyAsync(l2k_plan_coefficients(s->plan, 0)->base, s->pinned, s->bytes, cudaMemcpyHostToDevice, d->up);
    L2K_TRY(check(v, error, "uploading coefficients"));
    return hand_over(v, s->moved, d->up, d->stream);
}

/* In host memory, slices of samples leave one by one with the slices of coefficients that come: those of the group
 * before the last. */
l2k_status leave(l2k_volume *v)
{
    l2k_cuda_volume *d = v->cuda;
    l2k_volume_stage *stage = stage_of(v);
    for (l2k_z_slice *slice = stage->z.out.first; slice; slice = slice->next) {
        slice->samples = l2k_cuda_values_are_clamped(v) ? (char *)slice->values : NULL;
        slice->group = d->begun - 1;
    }
    if (l2k_cuda_values_are_clamped(v) && d->in_batch > 1)
        L2K_TRY(l2k_cuda_batch_places(v, &stage->z.out));
    L2K_TRY(run_programs(v, &stage->z.out));
    join_queues(&stage->finished, &d->leaving);
    join_queues(&d->leaving, &d->held);
    join_queues(&d->held, &stage->z.out);
    if (all_put(v)) {
        join_queues(&stage->finished, &d->leaving);
        join_queues(&stage->finished, &d->held);
    }
    return check(v, cudaEventRecord(slot_number(d, d->begun - 1)->used, d->stream), "ordering streams");
}

/* A group whose coefficients the caller has stored: up, within slices, and across them. */
l2k_status begin_inverse(l2k_volume *v)
{
    l2k_cuda_volume *d = v->cuda;
    l2k_cuda_slot *s = slot_number(d, d->begun);
    l2k_z_slice *rest = NULL;
    if (s->count < d->group && !d->prisms)
        L2K_TRY(l2k_cuda_new_slice(v, d->stream, &rest));
    l2k_cuda_find_walk(v);
    if (!d->on_device) {
        L2K_TRY(upload_coefficients(v, s));
        L2K_TRY(hand_over(v, s->crossed, d->down, d->stream));
    }
    L2K_TRY(l2k_plan_run_on_device(s->plan, l2k_cuda_planes_of(v, s, rest), d->stream));
    if (rest)
        l2k_cuda_give_back(v, rest);
    d->begun++;
    if (!d->on_device)
        return leave(v);
    join_queues(&stage_of(v)->finished, &stage_of(v)->z.out);
    d->waits = true;
    return L2K_OK;
}

/* ---- Slices -------------------------------------------------------------------------------------------------- */

/* Whether there are slices for a group, of which a walk might take no more. */
bool is_complete(const l2k_volume *v, const l2k_cuda_slot *s)
{
    const unsigned levels = stage_of(v)->z.levels,
                   period = 1u << (levels < L2K_Z_WALK_LEVELS ? levels : L2K_Z_WALK_LEVELS);
    const bool nearly = has_periods(v) && s->count + period > v->cuda->group;
    return all_put(v) || s->count == v->cuda->group || (nearly && l2k_z_may_end(&stage_of(v)->z));
}

/* On the device, what is got is stored with the next ones, unless there are none. */
l2k_status get_device_slice(l2k_volume *volume, l2k_z_slice *slice, const l2k_plane *planes)
{
    l2k_cuda_volume *d = volume->cuda;
    l2k_volume_stage *stage = stage_of(volume);
    if (slice && d->waits && l2k_cuda_samples_are_values(volume, planes)) {
        slice->samples = (char *)planes[0].data;
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

/* A slice that is not part of a batch, from where it is on the device. Pinned planes are filled while the caller goes
 * on, so that the bus is in use, until he gets the next slice. */
l2k_status download_alone(l2k_volume *volume, l2k_z_slice *slice, const l2k_plane *planes)
{
    l2k_cuda_volume *d = volume->cuda;
    l2k_cuda_raw_slice *raw = &d->raw[d->next_raw % L2K_CUDA_RING],
                       *last = &d->raw[(d->next_raw + L2K_CUDA_RING - 1) % L2K_CUDA_RING];
    const bool cross = l2k_cuda_samples_cross_as_values(volume, planes);
    if (slice->batch && !cross)
        L2K_TRY(l2k_cuda_batch_leave(volume, slice));
    if (cross) {
        L2K_TRY(slice->batch ? l2k_cuda_batch_down(volume, slice, planes)
                             : l2k_cuda_samples_copy_values(volume, (char *)slice->values, planes));
    } else {
        l2k_cuda_samples_place(volume, raw, planes);
        L2K_TRY(l2k_cuda_samples_add(volume, slice, d->raw_planes, d->down));
        L2K_TRY(l2k_cuda_samples_move(volume, d->down));
        L2K_TRY(l2k_cuda_samples_download(volume, raw, planes));
    }
    L2K_TRY(check(volume, cudaEventRecord(raw->moved, d->down), "downloading a slice"));
    if (d->next_raw++ > 0)
        L2K_TRY(check(volume, cudaEventSynchronize(last->moved), "downloading a slice"));
    const bool is_last = all_put(volume) && !stage_of(volume)->finished.first;
    return is_last || !is_pinned(planes) ? check(volume, cudaEventSynchronize(raw->moved), "downloading a slice")
                                         : L2K_OK;
}

l2k_status get_host_slice(l2k_volume *volume, l2k_z_slice *slice, const l2k_plane *planes)
{
    l2k_cuda_volume *d = volume->cuda;
    L2K_TRY(check(volume, cudaStreamWaitEvent(d->down, slot_number(d, slice->group)->used, 0), "ordering streams"));
    const bool batched = slice->batch && l2k_cuda_may_batch(volume, planes);
    L2K_TRY(batched ? l2k_cuda_batch_down(volume, slice, planes) : download_alone(volume, slice, planes));
    l2k_cuda_give_back(volume, slice);
    return all_put(volume) && !stage_of(volume)->finished.first ? l2k_cuda_batch_finish(volume) : L2K_OK;
}

} // namespace

l2k_status l2k_cuda_next_coefficients(l2k_volume *volume, l2k_volume_slice *slice)
{
    l2k_cuda_volume *d = volume->cuda;
    l2k_cuda_slot *s = slot_number(d, d->begun);
    l2k_z_place place;
    if (stage_of(volume)->finished.first || !l2k_z_wanted(&stage_of(volume)->z, &place))
        return L2K_OK;
    L2K_TRY(run_waiting(volume)); /* of a group without slices that leave */
    if (s->count == 0 && !d->on_device)
        L2K_TRY(check(volume, cudaEventSynchronize(s->moved), "uploading coefficients"));
    l2k_cuda_show(volume, s, s->count, place, slice);
    return L2K_OK;
}

l2k_status l2k_cuda_put_coefficients(l2k_volume *volume)
{
    l2k_cuda_volume *d = volume->cuda;
    l2k_cuda_slot *s = slot_number(d, d->begun);
    l2k_z_slice *slice;
    L2K_TRY(l2k_cuda_new_slice(volume, d->stream, &slice));
    slice->slot = (int)s->count;
    s->slices[s->count++] = slice;
    L2K_TRY(l2k_z_put(&volume->context, &stage_of(volume)->z, slice));
    if (d->leaving.first)
        l2k_z_append(&stage_of(volume)->finished, l2k_z_take(&d->leaving));
    return is_complete(volume, s) ? begin_inverse(volume) : L2K_OK;
}

l2k_status l2k_cuda_get_samples(l2k_volume *volume, const l2k_plane *planes, bool *got)
{
    l2k_volume_stage *stage = stage_of(volume);
    l2k_z_slice *slice = l2k_z_take(&stage->finished);
    if (volume->cuda->on_device)
        L2K_TRY(get_device_slice(volume, slice, planes));
    else if (slice)
        L2K_TRY(get_host_slice(volume, slice, planes));
    *got = slice != NULL;
    return L2K_OK;
}
