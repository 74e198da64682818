/* Forward: slices of samples on a CUDA device become groups, across slices and within them, and slices of coefficients.
 */
#include "transform/volume/cuda_volume.cuh"

namespace
{

/* ---- Groups -------------------------------------------------------------------------------------------------- */

/* Whether there are slices for a group. It waits for some more where that makes a walk whole. */
bool is_ready(const l2k_volume *v)
{
    const l2k_z_queue *out = &stage_of(v)->z.out;
    const bool are_enough = out->count >= v->cuda->group && (!has_periods(v) || l2k_z_may_end(&stage_of(v)->z));
    return out->first && (are_enough || all_put(v));
}

bool may_begin(const l2k_volume *v)
{
    return is_ready(v) && v->cuda->begun - v->cuda->served < v->cuda->slots;
}

/* The coefficients of a group. */
l2k_status download_coefficients(const l2k_volume *v, const l2k_cuda_slot *s)
{
    const cudaError_t error = cudaMemcpyAsync(s->pinned, l2k_plan_coefficients(s->plan, 0)->base, s->bytes,
                                              cudaMemcpyDeviceToHost, v->cuda->down);
    return check(v, error, "downloading coefficients");
}

/* The next group: across slices. */
l2k_status begin_group(l2k_volume *v)
{
    l2k_cuda_volume *d = v->cuda;
    l2k_volume_stage *stage = stage_of(v);
    l2k_cuda_slot *s = slot_number(d, d->begun);
    L2K_TRY(l2k_cuda_samples_move(v, d->stream));
    L2K_TRY(l2k_cuda_batch_send(v));
    if (!d->on_device)
        L2K_TRY(hand_over(v, s->crossed, d->up, d->stream));
    int number = 0;
    for (l2k_z_slice *slice = stage->z.out.first; slice; slice = slice->next, number++)
        slice->slot = number < (int)d->group ? number : -1;
    l2k_cuda_find_walk(v);
    L2K_TRY(l2k_cuda_programs_run(v, s, &stage->z.out));
    for (s->count = 0, s->given = 0; s->count < d->group && stage->z.out.first; s->count++) {
        s->slices[s->count] = l2k_z_take(&stage->z.out);
        s->places[s->count] = s->slices[s->count]->place;
    }
    d->is_lifted = true;
    return L2K_OK;
}

/* Within its slices, and down. */
l2k_status end_group(l2k_volume *v)
{
    l2k_cuda_volume *d = v->cuda;
    l2k_cuda_slot *s = slot_number(d, d->begun);
    d->is_lifted = false;
    if (d->within != d->stream)
        L2K_TRY(hand_over(v, s->asked, d->stream, d->within));
    L2K_TRY(l2k_plan_run_on_device(s->plan, l2k_cuda_planes_of(v, s, d->prisms ? NULL : s->slices[0]), d->within));
    for (unsigned i = 0; i < s->count; i++)
        l2k_cuda_give_back(v, s->slices[i]); /* what fills them next comes behind in the stream, or waits for `used` */
    d->begun++;
    if (d->on_device)
        return check(v, cudaEventRecord(s->used, d->within), "ordering streams");
    L2K_TRY(hand_over(v, s->used, d->stream, d->down));
    L2K_TRY(download_coefficients(v, s));
    return check(v, cudaEventRecord(s->moved, d->down), "downloading coefficients");
}

/* All groups that can be begun, the last one by half if more slices will come. */
l2k_status begin_groups(l2k_volume *v)
{
    l2k_cuda_volume *d = v->cuda;
    for (;;) {
        if (d->is_lifted && (d->on_device || is_ready(v) || all_put(v)))
            L2K_TRY(end_group(v));
        if (d->is_lifted || !may_begin(v))
            return L2K_OK;
        L2K_TRY(begin_group(v));
    }
}

/* Whether the oldest group may be given: the next one is under way, or there is none. */
bool may_give(const l2k_volume *v)
{
    const l2k_cuda_volume *d = v->cuda;
    const unsigned under_way = d->begun - d->served;
    return under_way > 0 && (under_way == d->slots || (all_put(v) && !stage_of(v)->z.out.first) ||
                             d->slot_of[d->served % d->slots].given > 0);
}

/* ---- Slices -------------------------------------------------------------------------------------------------- */

/* Behind the group before the last, which may have used the slice's memory. */
l2k_status upload_values(const l2k_volume *v, l2k_z_slice *slice, const l2k_plane *planes)
{
    l2k_cuda_volume *d = v->cuda;
    if (d->begun >= 2)
        L2K_TRY(check(v, cudaStreamWaitEvent(d->up, slot_number(d, d->begun - 2)->used, 0), "ordering streams"));
    slice->samples = (char *)slice->values;
    return l2k_cuda_samples_copy_values(v, slice->samples, planes);
}

l2k_status upload_raw(const l2k_volume *v, l2k_cuda_raw_slice *raw, const l2k_z_slice *slice, const l2k_plane *planes)
{
    l2k_cuda_volume *d = v->cuda;
    L2K_TRY(check(v, cudaStreamWaitEvent(d->up, raw->used, 0), "ordering streams"));
    if (raw->gathered) /* the host is about to write there */
        L2K_TRY(check(v, cudaEventSynchronize(raw->moved), "uploading a slice"));
    L2K_TRY(l2k_cuda_samples_upload(v, raw, planes));
    L2K_TRY(hand_over(v, raw->moved, d->up, d->stream));
    L2K_TRY(l2k_cuda_samples_add(v, slice, d->raw_planes, d->stream));
    L2K_TRY(l2k_cuda_samples_move(v, d->stream));
    return check(v, cudaEventRecord(raw->used, d->stream), "ordering streams");
}

/* A slice that is not part of a batch. */
l2k_status upload_alone(l2k_volume *v, l2k_z_slice *slice, const l2k_plane *planes)
{
    l2k_cuda_volume *d = v->cuda;
    l2k_cuda_raw_slice *raw = &d->raw[d->next_raw % L2K_CUDA_RING];
    L2K_TRY(l2k_cuda_batch_send(v));
    L2K_TRY(l2k_cuda_samples_cross_as_values(v, planes) ? upload_values(v, slice, planes)
                                                        : upload_raw(v, raw, slice, planes));
    return check(v, cudaEventRecord(raw->moved, d->up), "uploading a slice");
}

/* Until the slice before it has been uploaded. */
l2k_status await_last(l2k_volume *v)
{
    l2k_cuda_volume *d = v->cuda;
    const l2k_cuda_raw_slice *raw = &d->raw[d->next_raw % L2K_CUDA_RING],
                             *last = &d->raw[(d->next_raw + L2K_CUDA_RING - 1) % L2K_CUDA_RING];
    if (d->next_raw++ > 0)
        L2K_TRY(check(v, cudaEventSynchronize(last->moved), "uploading a slice"));
    return all_put(v) ? check(v, cudaEventSynchronize(raw->moved), "uploading a slice") : L2K_OK;
}

/* Returns when the slices before have been uploaded, but for few: their planes are the caller's again, even if they are
 * pinned. So no more than two copies are on the bus while the host enqueues a group, half with one slice and half with
 * the next. */
l2k_status put_host_slice(l2k_volume *v, l2k_z_slice *slice, const l2k_plane *planes, bool batched)
{
    l2k_cuda_volume *d = v->cuda;
    L2K_TRY(batched ? l2k_cuda_batch_up(v, slice, planes) : upload_alone(v, slice, planes));
    L2K_TRY(l2k_z_put(&v->context, &stage_of(v)->z, slice));
    if (d->is_lifted)
        L2K_TRY(end_group(v));
    else if (may_begin(v))
        L2K_TRY(begin_group(v));
    if (!batched)
        L2K_TRY(await_last(v));
    return all_put(v) ? l2k_cuda_batch_finish(v) : L2K_OK;
}

} // namespace

l2k_status l2k_cuda_put_samples(l2k_volume *volume, const l2k_plane *planes)
{
    l2k_cuda_volume *d = volume->cuda;
    const bool batched = !d->on_device && l2k_cuda_may_batch(volume, planes);
    const bool crosses = !d->on_device && !batched; /* samples go up next, to the slice's own memory */
    l2k_z_slice *slice;
    L2K_TRY(l2k_cuda_new_slice(volume, crosses ? d->up : d->stream, &slice));
    if (!d->on_device)
        return put_host_slice(volume, slice, planes, batched);
    if (l2k_cuda_samples_are_values(volume, planes))
        slice->samples = (char *)planes[0].data;
    else
        L2K_TRY(l2k_cuda_samples_add(volume, slice, planes, d->stream));
    return l2k_z_put(&volume->context, &stage_of(volume)->z, slice);
}

bool l2k_cuda_is_full(const l2k_volume *volume)
{
    return is_ready(volume) || may_give(volume);
}

l2k_status l2k_cuda_get_coefficients(l2k_volume *volume, l2k_volume_slice *slice)
{
    l2k_cuda_volume *d = volume->cuda;
    L2K_TRY(begin_groups(volume));
    if (!may_give(volume))
        return L2K_OK;
    l2k_cuda_slot *s = slot_number(d, d->served);
    if (s->given == 0)
        L2K_TRY(d->on_device ? check(volume, cudaStreamWaitEvent(d->stream, s->used, 0), "ordering streams")
                             : check(volume, cudaEventSynchronize(s->moved), "downloading coefficients"));
    l2k_cuda_show(volume, s, s->given, s->places[s->given], slice);
    if (++s->given == s->count) {
        s->given = 0;
        d->served++;
    }
    return L2K_OK;
}
