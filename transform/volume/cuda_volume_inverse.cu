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

/* In device memory, what goes across slices waits for the planes of those that leave. */
l2k_status run_waiting(l2k_volume *v)
{
    l2k_cuda_volume *d = v->cuda;
    l2k_cuda_later *later = &d->later[d->whose % 2];
    if (!d->waits)
        return L2K_OK;
    d->waits = false;
    L2K_TRY(check(v, cudaStreamWaitEvent(d->stream, slot_number(d, d->whose)->used, 0), "ordering streams"));
    L2K_TRY(l2k_cuda_programs_run(v, &later->z, &d->got));
    join_queues(&stage_of(v)->free, &d->got);
    return L2K_OK;
}

/* Keeps what a group is to do across slices for later; what the next one does is recorded elsewhere. */
void defer(const l2k_volume *v, unsigned group)
{
    l2k_z_levels *z = &stage_of(v)->z;
    l2k_cuda_later *later = &v->cuda->later[group % 2];
    l2k_z_program spare[L2K_MAX_LEVELS + 1];
    memcpy(spare, later->z.program, sizeof spare);
    later->z = *z;
    later->there = true;
    memcpy(z->program, spare, sizeof spare);
    l2k_z_forget_programs(z);
    z->out = l2k_z_queue{};
}

/* The slices of a group that was deferred may be got. */
void let_go(const l2k_volume *v, unsigned group)
{
    l2k_cuda_later *later = &v->cuda->later[group % 2];
    if (!later->there)
        return;
    later->there = false;
    join_queues(&stage_of(v)->finished, &later->z.out);
    v->cuda->whose = group;
    v->cuda->waits = true;
}

/* A group whose coefficients the caller has stored: within slices. */
l2k_status begin_inverse(l2k_volume *v)
{
    l2k_cuda_volume *d = v->cuda;
    l2k_cuda_slot *s = slot_number(d, d->begun);
    l2k_z_slice *rest = s->slices[0];
    if (s->count < s->room)
        L2K_TRY(l2k_cuda_new_slice(v, &rest));
    L2K_TRY(run_waiting(v));
    if (!d->on_device) {
        L2K_TRY(check(v, cudaStreamWaitEvent(d->stream, s->moved, 0), "ordering streams"));
        L2K_TRY(await_samples(v, s));
    }
    if (d->within != d->stream)
        L2K_TRY(hand_over(v, s->asked, d->stream, d->within));
    L2K_TRY(l2k_plan_run_on_device(s->now, l2k_cuda_planes_of(v, s, rest), d->within));
    if (d->on_device)
        L2K_TRY(check(v, cudaEventRecord(s->used, d->within), "ordering streams"));
    if (rest != s->slices[0])
        l2k_cuda_give_back(v, rest);
    s->count = 0;
    d->half = L2K_CUDA_FIRST;
    return L2K_OK;
}

/* Across them. */
l2k_status end_inverse(l2k_volume *v)
{
    l2k_cuda_volume *d = v->cuda;
    l2k_volume_stage *stage = stage_of(v);
    d->half = L2K_CUDA_NONE;
    d->begun++;
    if (d->on_device) {
        if (d->begun > 1)
            let_go(v, d->begun - 2);
        defer(v, d->begun - 1);
        if (d->slots == 1)
            let_go(v, d->begun - 1);
        return L2K_OK;
    }
    for (l2k_z_slice *slice = stage->z.out.first; slice; slice = slice->next) {
        slice->samples = l2k_cuda_values_are_clamped(v) ? (char *)slice->values : NULL;
        slice->group = d->begun - 1;
    }
    L2K_TRY(l2k_cuda_programs_run(v, &stage->z, &stage->z.out));
    L2K_TRY(check(v, cudaEventRecord(slot_number(d, d->begun - 1)->used, d->stream), "ordering streams"));
    join_queues(&stage->finished, &d->leaving);
    join_queues(&d->leaving, &d->held);
    join_queues(&d->held, &stage->z.out);
    if (all_put(v)) {
        join_queues(&stage->finished, &d->leaving);
        join_queues(&stage->finished, &d->held);
    }
    return L2K_OK;
}

/* What is left of a group that is complete; before the slices of the next one come across slices. */
l2k_status run_complete(l2k_volume *v)
{
    if (v->cuda->half == L2K_CUDA_COMPLETE)
        L2K_TRY(begin_inverse(v));
    return v->cuda->half == L2K_CUDA_FIRST ? end_inverse(v) : L2K_OK;
}

/* ---- Slices -------------------------------------------------------------------------------------------------- */

/* So many slices of coefficients go up in one go, at once where the slot's last group has been read. */
const unsigned TOGETHER = 4;

/* The coefficients of slices first .. end - 1 of a group. */
l2k_status upload_coefficients(const l2k_volume *v, const l2k_cuda_slot *s, unsigned first, unsigned end)
{
    const uint32_t count = components_of(v);
    char *start = (char *)l2k_plan_coefficients(s->now, 0)->base;
    char *from = (char *)l2k_plan_coefficients(s->now, first * count)->base;
    char *to = end < s->room ? (char *)l2k_plan_coefficients(s->now, end * count)->base : start + s->bytes;
    if (first == 0)
        L2K_TRY(check(v, cudaStreamWaitEvent(v->cuda->up, s->used, 0), "ordering streams"));
    const cudaError_t error =
        cudaMemcpyAsync(from, s->pinned + (from - start), (size_t)(to - from), cudaMemcpyHostToDevice, v->cuda->up);
    return check(v, error, "uploading coefficients");
}

/* Whether there are slices for a group, of which a walk might take no more. */
bool is_complete(const l2k_volume *v, const l2k_cuda_slot *s)
{
    const bool nearly = has_periods(v) && s->count + L2K_CUDA_PERIOD > s->room;
    return all_put(v) || s->count == s->room || (nearly && l2k_z_may_end(&stage_of(v)->z));
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

bool is_pinned(const l2k_plane *plane)
{
    cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, plane->data) == cudaSuccess)
        return attributes.type != cudaMemoryTypeUnregistered;
    cudaGetLastError();
    return false;
}

/* Pinned planes are filled while the caller goes on, so that the bus is in use, until he gets the next slice. */
l2k_status get_host_slice(l2k_volume *volume, l2k_z_slice *slice, const l2k_plane *planes)
{
    l2k_cuda_volume *d = volume->cuda;
    l2k_cuda_raw_slice *raw = &d->raw[d->next_raw % L2K_CUDA_RING],
                       *last = &d->raw[(d->next_raw + L2K_CUDA_RING - 1) % L2K_CUDA_RING];
    L2K_TRY(await_group(volume, d->down, slice->group));
    if (l2k_cuda_samples_cross_as_values(volume, planes)) {
        L2K_TRY(l2k_cuda_samples_copy_values(volume, slice, planes));
    } else {
        l2k_cuda_samples_place(volume, raw, planes);
        L2K_TRY(l2k_cuda_samples_add(volume, slice, d->raw_planes, d->down));
        L2K_TRY(l2k_cuda_samples_move(volume, d->down));
        L2K_TRY(l2k_cuda_samples_download(volume, raw, planes));
    }
    L2K_TRY(check(volume, cudaEventRecord(raw->moved, d->down), "downloading a slice"));
    take_turns(volume);
    l2k_cuda_give_back(volume, slice);
    if (d->half == L2K_CUDA_COMPLETE)
        L2K_TRY(begin_inverse(volume));
    if (d->next_raw++ > 0)
        L2K_TRY(check(volume, cudaEventSynchronize(last->moved), "downloading a slice"));
    const bool is_last = all_put(volume) && !stage_of(volume)->finished.first;
    return is_last || !is_pinned(planes) ? check(volume, cudaEventSynchronize(raw->moved), "downloading a slice")
                                         : L2K_OK;
}

} // namespace

l2k_status l2k_cuda_next_coefficients(l2k_volume *volume, l2k_volume_slice *slice)
{
    l2k_cuda_volume *d = volume->cuda;
    const unsigned number = d->half == L2K_CUDA_NONE ? d->begun : d->begun + 1;
    l2k_cuda_slot *s = slot_number(d, number);
    l2k_z_place place;
    if (stage_of(volume)->finished.first || !l2k_z_wanted(&stage_of(volume)->z, &place))
        return L2K_OK;
    if (s->count == 0)
        open_slot(volume, number, volume->spec.z1 - volume->spec.z0 - d->put);
    if (s->count == 0 && !d->on_device)
        L2K_TRY(check(volume, cudaEventSynchronize(s->moved), "uploading coefficients"));
    l2k_cuda_show(volume, s, s->count, place, slice);
    return L2K_OK;
}

l2k_status l2k_cuda_put_coefficients(l2k_volume *volume)
{
    l2k_cuda_volume *d = volume->cuda;
    L2K_TRY(run_complete(volume));
    l2k_cuda_slot *s = slot_number(d, d->begun);
    l2k_z_slice *slice;
    L2K_TRY(l2k_cuda_new_slice(volume, &slice));
    s->slices[s->count++] = slice;
    d->put++;
    L2K_TRY(l2k_z_put(&volume->context, &stage_of(volume)->z, slice));
    if (!d->on_device && (s->count % TOGETHER == 0 || is_complete(volume, s)))
        L2K_TRY(upload_coefficients(volume, s, (s->count - 1) / TOGETHER * TOGETHER, s->count));
    if (d->leaving.first)
        l2k_z_append(&stage_of(volume)->finished, l2k_z_take(&d->leaving));
    if (!is_complete(volume, s))
        return L2K_OK;
    d->half = L2K_CUDA_COMPLETE;
    if (!d->on_device)
        L2K_TRY(check(volume, cudaEventRecord(s->moved, d->up), "uploading coefficients"));
    return d->on_device || all_put(volume) ? run_complete(volume) : L2K_OK;
}

l2k_status l2k_cuda_get_samples(l2k_volume *volume, const l2k_plane *planes, bool *got)
{
    l2k_volume_stage *stage = stage_of(volume);
    if (volume->cuda->on_device && !stage->finished.first && !volume->cuda->waits && all_put(volume))
        let_go(volume, volume->cuda->begun - 1);
    l2k_z_slice *slice = l2k_z_take(&stage->finished);
    if (volume->cuda->on_device)
        L2K_TRY(get_device_slice(volume, slice, planes));
    else if (slice)
        L2K_TRY(get_host_slice(volume, slice, planes));
    *got = slice != NULL;
    return L2K_OK;
}
