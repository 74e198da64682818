/* A volume on a CUDA device. Slices are lifted by groups, each group by one program across all levels of Z, and then
 * transformed by a plan that has the slices of the group as components. From and to host memory there are three plans,
 * and a stream for each direction of the bus: while a group is worked on, the samples of the next one go up and
 * the coefficients of the last one come down (Franco, Bernabe, Fernandez, Ujaldon, 2010, had two frames a step, and no
 * overlap).
 */
#include <string.h>

extern "C" {
#include "base/memory.h"
#include "transform/backend.h"
}
#include "transform/volume/cuda_volume.cuh"

namespace
{

/* Samples of all components in a group, at most, unless one slice has more. Measured: with a quarter of as many,
 * launches leave more of the device idle than its cache saves. */
const size_t GROUP_SAMPLES = (size_t)1 << 24;

/* In device memory so many slices are a group even if they have more samples, up to the second number: each group reads
 * and writes the slices in the windows of its levels once more. */
const size_t LEAST_SLICES = 32, MOST_SAMPLES = (size_t)1 << 27;

bool all_put(const l2k_volume *v)
{
    l2k_z_place place;
    return !l2k_z_wanted(&stage_of(v)->z, &place);
}

/* ---- Life ---------------------------------------------------------------------------------------------------- */

void choose_sizes(l2k_volume *v)
{
    l2k_cuda_volume *d = v->cuda;
    const size_t samples = stage_of(v)->samples ? stage_of(v)->samples : 1;
    const bool floats = !l2k_wavelet_reversible(v->spec.z_wavelet);
    size_t group = GROUP_SAMPLES / samples;
    if (!d->on_device && group > L2K_CUDA_HOST_GROUP)
        group = L2K_CUDA_HOST_GROUP;
    if (d->on_device && group < LEAST_SLICES)
        group = MOST_SAMPLES / samples < LEAST_SLICES ? MOST_SAMPLES / samples : LEAST_SLICES;
    if (v->most_slices && group > v->most_slices)
        group = v->most_slices;
    group = group < 1 ? 1 : group > L2K_CUDA_GROUP ? L2K_CUDA_GROUP : group;
    const size_t depth = v->spec.z1 - v->spec.z0, groups = (depth + group - 1) / group;
    d->group = (unsigned)((depth + groups - 1) / groups); /* all groups alike: a plan runs with all its slices */
    d->value = floats                                            ? L2K_CUDA_FLOAT32
               : v->spec.tile.plan.type == L2K_COEFFICIENT_INT16 ? L2K_CUDA_INT16
                                                                 : L2K_CUDA_INT32;
    d->value_bytes = d->value == L2K_CUDA_INT16 ? 2 : 4;
    d->slice_bytes = (samples * d->value_bytes + 255) / 256 * 256;
    d->raw_bytes = samples * 4;
    d->slots = d->on_device ? 1 : L2K_CUDA_SLOTS;
}

l2k_status make_slot(l2k_volume *v, l2k_cuda_slot *s)
{
    L2K_TRY(l2k_stage_make_plan(v, 0, v->cuda->group, &s->plan));
    L2K_TRY(check(v, cudaEventCreateWithFlags(&s->moved, cudaEventDisableTiming), "making an event"));
    L2K_TRY(check(v, cudaEventCreateWithFlags(&s->used, cudaEventDisableTiming), "making an event"));
    L2K_TRY(check(v, cudaEventCreateWithFlags(&s->crossed, cudaEventDisableTiming), "making an event"));
    if (v->cuda->on_device)
        return L2K_OK;
    l2k_plan_coefficient_memory(s->plan, &s->bytes);
    return check(v, cudaMallocHost((void **)&s->pinned, s->bytes), "allocating pinned memory for coefficients");
}

l2k_status make_raw(l2k_volume *v, l2k_cuda_raw_slice *raw)
{
    L2K_TRY(check(v, cudaMalloc((void **)&raw->device, v->cuda->raw_bytes), "allocating memory for samples"));
    L2K_TRY(check(v, cudaEventCreateWithFlags(&raw->moved, cudaEventDisableTiming), "making an event"));
    return check(v, cudaEventCreateWithFlags(&raw->used, cudaEventDisableTiming), "making an event");
}

l2k_status make_streams(l2k_volume *v)
{
    l2k_cuda_volume *d = v->cuda;
    d->stream = (cudaStream_t)v->stream;
    char reason[160];
    if (!l2k_cuda_usable(l2k_device_of_share(&v->context, 0), reason, sizeof reason))
        return l2k_fail(&v->context, L2K_ERROR_BACKEND, "CUDA: no usable GPU: %s", reason);
    if (d->on_device)
        return L2K_OK;
    L2K_TRY(check(v, cudaStreamCreateWithFlags(&d->stream, cudaStreamNonBlocking), "making a stream"));
    L2K_TRY(check(v, cudaStreamCreateWithFlags(&d->up, cudaStreamNonBlocking), "making a stream"));
    return check(v, cudaStreamCreateWithFlags(&d->down, cudaStreamNonBlocking), "making a stream");
}

void free_slot(l2k_cuda_slot *s)
{
    l2k_plan_free(s->plan);
    if (s->pinned)
        cudaFreeHost(s->pinned);
    if (s->moved)
        cudaEventDestroy(s->moved);
    if (s->used)
        cudaEventDestroy(s->used);
    if (s->crossed)
        cudaEventDestroy(s->crossed);
}

void free_raw(const l2k_volume *v, l2k_cuda_raw_slice *raw)
{
    if (raw->device)
        cudaFree(raw->device);
    if (raw->moved)
        cudaEventDestroy(raw->moved);
    if (raw->used)
        cudaEventDestroy(raw->used);
    l2k_release(&v->context, raw->gathered);
}

/* ---- Slices -------------------------------------------------------------------------------------------------- */

/* With host memory the slices of the last group stay free: they may be in use yet when the next ones come. */
l2k_z_slice *reuse(const l2k_volume *v)
{
    l2k_z_queue *free = &stage_of(v)->free;
    return v->cuda->on_device || free->count > v->cuda->group ? l2k_z_take(free) : NULL;
}

void give_back(const l2k_volume *v, l2k_z_slice *slice)
{
    if (v->cuda->on_device)
        l2k_z_push(&stage_of(v)->free, slice);
    else
        l2k_z_append(&stage_of(v)->free, slice);
}

/* Values start as 0, also behind the last sample, where programs go as well. */
l2k_z_slice *new_slice(const l2k_volume *v)
{
    l2k_volume_stage *stage = stage_of(v);
    l2k_z_slice *slice = reuse(v);
    if (slice) {
        slice->samples = NULL;
        slice->uses = 0;
        return slice;
    }
    slice = (l2k_z_slice *)l2k_allocate_zeroed(&v->context, 1, sizeof *slice);
    if (!slice) {
        l2k_fail(&v->context, L2K_ERROR_MEMORY, "out of memory for a slice");
        return NULL;
    }
    cudaError_t error = cudaMalloc((void **)&slice->values, v->cuda->slice_bytes);
    if (check(v, error, "allocating memory for a slice") != L2K_OK) {
        l2k_release(&v->context, slice);
        return NULL;
    }
    slice->older = stage->all;
    stage->all = slice;
    const bool crosses_first = !v->cuda->on_device && !is_inverse(v); /* samples go up next, before anything else */
    error = cudaMemsetAsync(slice->values, 0, v->cuda->slice_bytes, crosses_first ? v->cuda->up : v->cuda->stream);
    return check(v, error, "clearing memory for a slice") == L2K_OK ? slice : NULL;
}

/* The values of a group as planes. Places without a slice get those of `rest`. */
const l2k_plane *planes_of(const l2k_volume *v, const l2k_cuda_slot *s, const l2k_z_slice *rest)
{
    const uint32_t count = components_of(v);
    l2k_cuda_volume *d = v->cuda;
    for (unsigned i = 0; i < d->group; i++)
        for (uint32_t c = 0; c < count; c++) {
            const l2k_rect rect = v->spec.tile.components[c].rect;
            l2k_plane *plane = &d->planes[i * count + c];
            plane->data = values_of(v, i < s->count ? s->slices[i] : rest, c);
            plane->sample_stride = (ptrdiff_t)d->value_bytes;
            plane->row_stride = (ptrdiff_t)(l2k_rect_width(rect) * d->value_bytes);
            plane->type = d->value == L2K_CUDA_INT16   ? L2K_SAMPLE_S16
                          : d->value == L2K_CUDA_INT32 ? L2K_SAMPLE_S32
                                                       : L2K_SAMPLE_F32;
        }
    return d->planes;
}

/* ---- Coefficients -------------------------------------------------------------------------------------------- */

/* Slice `i` of a slot for the caller. */
void show(l2k_volume *v, const l2k_cuda_slot *s, unsigned i, l2k_z_place place, l2k_volume_slice *slice)
{
    const uint32_t count = components_of(v);
    size_t bytes;
    const char *start = (const char *)l2k_plan_coefficient_memory(s->plan, &bytes);
    for (uint32_t c = 0; c < count; c++) {
        l2k_coefficients *view = &v->views[c];
        *view = *l2k_plan_coefficients(s->plan, i * count + c);
        if (s->pinned) {
            view->base = s->pinned + ((const char *)view->base - start);
            view->on_device = false;
        }
    }
    *slice = l2k_volume_slice{place.level, place.high, place.index, count, v->views};
}

l2k_cuda_slot *slot_number(l2k_cuda_volume *d, unsigned number)
{
    return &d->slot_of[number % d->slots];
}

/* From one stream to another. */
l2k_status hand_over(const l2k_volume *v, cudaEvent_t event, cudaStream_t from, cudaStream_t to)
{
    cudaError_t error = cudaEventRecord(event, from);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(to, event, 0);
    return check(v, error, "ordering streams");
}

/* The coefficients of a group between its plan and pinned memory. */
l2k_status move_coefficients(const l2k_volume *v, const l2k_cuda_slot *s)
{
    size_t bytes;
    void *device = l2k_plan_coefficient_memory(s->plan, &bytes);
    return check(v,
                 is_inverse(v) ? cudaMemcpyAsync(device, s->pinned, bytes, cudaMemcpyHostToDevice, v->cuda->up)
                               : cudaMemcpyAsync(s->pinned, device, bytes, cudaMemcpyDeviceToHost, v->cuda->down),
                 "moving coefficients");
}

/* ---- Forward ------------------------------------------------------------------------------------------------- */

bool is_ready(const l2k_volume *v)
{
    const l2k_z_queue *out = &stage_of(v)->z.out;
    return out->first && (out->count >= v->cuda->group || all_put(v));
}

/* The next group: across slices, within them, and down. */
l2k_status begin_group(l2k_volume *v)
{
    l2k_cuda_volume *d = v->cuda;
    l2k_volume_stage *stage = stage_of(v);
    l2k_cuda_slot *s = slot_number(d, d->begun);
    L2K_TRY(l2k_cuda_samples_move(v, d->stream));
    if (!d->on_device)
        L2K_TRY(hand_over(v, s->crossed, d->up, d->stream));
    L2K_TRY(l2k_cuda_programs_run(v, &stage->z.out));
    for (s->count = 0, s->given = 0; s->count < d->group && stage->z.out.first; s->count++) {
        s->slices[s->count] = l2k_z_take(&stage->z.out);
        s->places[s->count] = s->slices[s->count]->place;
    }
    const l2k_plane *planes = planes_of(v, s, s->slices[0]);
    L2K_TRY(l2k_plan_run_on_device(s->plan, planes, d->stream));
    for (unsigned i = 0; i < s->count; i++)
        give_back(v, s->slices[i]); /* what fills them next comes behind in the stream, or waits for `used` */
    d->begun++;
    if (d->on_device)
        return L2K_OK;
    L2K_TRY(hand_over(v, s->used, d->stream, d->down));
    L2K_TRY(move_coefficients(v, s));
    return check(v, cudaEventRecord(s->moved, d->down), "downloading coefficients");
}

/* Whether the oldest group may be given: the next one is under way, or there is none. */
bool may_give(const l2k_volume *v)
{
    const l2k_cuda_volume *d = v->cuda;
    const unsigned under_way = d->begun - d->served;
    return under_way > 0 && (under_way == d->slots || (all_put(v) && !stage_of(v)->z.out.first) ||
                             d->slot_of[d->served % d->slots].given > 0);
}

/* ---- Inverse ------------------------------------------------------------------------------------------------- */

void join_queues(l2k_z_queue *to, l2k_z_queue *from)
{
    while (from->first)
        l2k_z_append(to, l2k_z_take(from));
}

/* In device memory, what goes across slices waits for the planes of those that leave. */
l2k_status run_waiting(l2k_volume *v)
{
    l2k_cuda_volume *d = v->cuda;
    if (!d->waits)
        return L2K_OK;
    d->waits = false;
    L2K_TRY(l2k_cuda_programs_run(v, &d->got));
    join_queues(&stage_of(v)->free, &d->got);
    return L2K_OK;
}

/* A group whose coefficients the caller has stored: up, within slices, and across them. */
l2k_status begin_inverse(l2k_volume *v)
{
    l2k_cuda_volume *d = v->cuda;
    l2k_volume_stage *stage = stage_of(v);
    l2k_cuda_slot *s = slot_number(d, d->begun);
    l2k_z_slice *rest = s->count < d->group ? new_slice(v) : s->slices[0];
    if (!rest)
        return L2K_ERROR_MEMORY;
    L2K_TRY(run_waiting(v));
    if (!d->on_device) {
        L2K_TRY(move_coefficients(v, s));
        L2K_TRY(hand_over(v, s->moved, d->up, d->stream));
        L2K_TRY(hand_over(v, s->crossed, d->down, d->stream));
    }
    L2K_TRY(l2k_plan_run_on_device(s->plan, planes_of(v, s, rest), d->stream));
    if (rest != s->slices[0])
        give_back(v, rest);
    d->begun++;
    if (d->on_device) {
        join_queues(&stage->finished, &stage->z.out);
        d->waits = true;
        return L2K_OK;
    }
    for (l2k_z_slice *slice = stage->z.out.first; slice; slice = slice->next) {
        slice->samples = l2k_cuda_values_are_clamped(v) ? (char *)slice->values : NULL;
        slice->group = d->begun - 1;
    }
    L2K_TRY(l2k_cuda_programs_run(v, &stage->z.out));
    join_queues(&stage->finished, &d->leaving);
    join_queues(&d->leaving, &d->held);
    join_queues(&d->held, &stage->z.out);
    if (all_put(v)) {
        join_queues(&stage->finished, &d->leaving);
        join_queues(&stage->finished, &d->held);
    }
    L2K_TRY(check(v, cudaEventRecord(s->used, d->stream), "ordering streams"));
    return check(v, cudaStreamWaitEvent(d->up, s->used, 0), "ordering streams");
}

/* ---- Interface ----------------------------------------------------------------------------------------------- */

l2k_status make(l2k_volume *volume)
{
    l2k_cuda_volume *d = (l2k_cuda_volume *)l2k_allocate_zeroed(&volume->context, 1, sizeof *d);
    volume->cuda = d;
    if (!d)
        return l2k_fail(&volume->context, L2K_ERROR_MEMORY, "out of memory for a volume");
    d->on_device = volume->spec.tile.plan.on_device;
    choose_sizes(volume);
    const size_t count = components_of(volume);
    d->planes = (l2k_plane *)l2k_allocate_zeroed(&volume->context, count * d->group, sizeof *d->planes);
    d->raw_planes = (l2k_plane *)l2k_allocate_zeroed(&volume->context, count, sizeof *d->raw_planes);
    d->waiting = (l2k_cuda_slice_parts *)l2k_allocate_zeroed(&volume->context, count, sizeof *d->waiting);
    if (!d->planes || !d->raw_planes || !d->waiting)
        return l2k_fail(&volume->context, L2K_ERROR_MEMORY, "out of memory for a volume");
    L2K_TRY(make_streams(volume));
    for (unsigned i = 0; i < d->slots; i++)
        L2K_TRY(make_slot(volume, &d->slot_of[i]));
    for (int i = 0; i < L2K_CUDA_RING && !d->on_device; i++)
        L2K_TRY(make_raw(volume, &d->raw[i]));
    return L2K_OK;
}

void destroy(l2k_volume *volume)
{
    l2k_cuda_volume *d = volume->cuda;
    if (!d)
        return;
    cudaStream_t streams[] = {d->up, d->down, d->stream};
    for (cudaStream_t stream : streams)
        if (stream || d->on_device)
            cudaStreamSynchronize(stream);
    for (l2k_cuda_slot &s : d->slot_of)
        free_slot(&s);
    for (l2k_cuda_raw_slice &raw : d->raw)
        free_raw(volume, &raw);
    for (l2k_z_slice *slice = volume->stages ? stage_of(volume)->all : NULL; slice; slice = slice->older)
        if (slice->values)
            cudaFree(slice->values);
    for (int i = 0; i < 3 && !d->on_device; i++)
        if (streams[i])
            cudaStreamDestroy(streams[i]);
    l2k_release(&volume->context, d->planes);
    l2k_release(&volume->context, d->raw_planes);
    l2k_release(&volume->context, d->waiting);
    l2k_release(&volume->context, d);
    volume->cuda = NULL;
}

/* What the last volume has under way ends first; in device memory the stream sees to that. */
l2k_status rewind_all(l2k_volume *volume)
{
    l2k_cuda_volume *d = volume->cuda;
    cudaStream_t streams[] = {d->up, d->stream, d->down};
    for (int i = 0; i < 3 && !d->on_device; i++)
        L2K_TRY(check(volume, cudaStreamSynchronize(streams[i]), "ending a volume"));
    for (l2k_cuda_slot &s : d->slot_of)
        s.count = s.given = 0;
    for (uint32_t c = 0; c < components_of(volume); c++)
        d->waiting[c].count = 0;
    d->begun = d->served = d->next_raw = 0;
    d->held = d->leaving = d->got = l2k_z_queue{};
    d->waits = false;
    return L2K_OK;
}

/* Behind the group before the last, which may have used the slice's memory. */
l2k_status upload_values(const l2k_volume *v, l2k_z_slice *slice, const l2k_plane *planes)
{
    l2k_cuda_volume *d = v->cuda;
    const l2k_cuda_slot *user = slot_number(d, d->begun + d->slots - 2);
    L2K_TRY(check(v, cudaStreamWaitEvent(d->up, user->used, 0), "ordering streams"));
    slice->samples = (char *)slice->values;
    return l2k_cuda_samples_copy_values(v, slice, planes);
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

/* Returns when the slice before has been uploaded: its planes are the caller's again, even if they are pinned. */
l2k_status put_host_slice(const l2k_volume *v, l2k_z_slice *slice, const l2k_plane *planes)
{
    l2k_cuda_volume *d = v->cuda;
    l2k_cuda_raw_slice *raw = &d->raw[d->next_raw % L2K_CUDA_RING],
                       *last = &d->raw[(d->next_raw + L2K_CUDA_RING - 1) % L2K_CUDA_RING];
    L2K_TRY(l2k_cuda_samples_cross_as_values(v, planes) ? upload_values(v, slice, planes)
                                                        : upload_raw(v, raw, slice, planes));
    L2K_TRY(check(v, cudaEventRecord(raw->moved, d->up), "uploading a slice"));
    if (d->next_raw++ > 0)
        L2K_TRY(check(v, cudaEventSynchronize(last->moved), "uploading a slice"));
    const l2k_z_level *level = &stage_of(v)->z.level[0];
    return level->come + 1 == level->end ? check(v, cudaEventSynchronize(raw->moved), "uploading a slice") : L2K_OK;
}

l2k_status put(l2k_volume *volume, const l2k_plane *planes)
{
    l2k_cuda_volume *d = volume->cuda;
    l2k_z_slice *slice = new_slice(volume);
    if (!slice)
        return L2K_ERROR_MEMORY;
    if (d->on_device) {
        if (l2k_cuda_samples_are_values(volume, planes))
            slice->samples = (char *)planes[0].data;
        else
            L2K_TRY(l2k_cuda_samples_add(volume, slice, planes, d->stream));
        return l2k_z_put(&volume->context, &stage_of(volume)->z, slice);
    }
    L2K_TRY(put_host_slice(volume, slice, planes));
    return l2k_z_put(&volume->context, &stage_of(volume)->z, slice);
}

bool is_full(const l2k_volume *volume)
{
    return is_ready(volume) || may_give(volume);
}

l2k_status get_coefficients(l2k_volume *volume, l2k_volume_slice *slice)
{
    l2k_cuda_volume *d = volume->cuda;
    while (is_ready(volume) && d->begun - d->served < d->slots)
        L2K_TRY(begin_group(volume));
    if (!may_give(volume))
        return L2K_OK;
    l2k_cuda_slot *s = slot_number(d, d->served);
    if (s->given == 0 && !d->on_device)
        L2K_TRY(check(volume, cudaEventSynchronize(s->moved), "downloading coefficients"));
    show(volume, s, s->given, s->places[s->given], slice);
    if (++s->given == s->count) {
        s->given = 0;
        d->served++;
    }
    return L2K_OK;
}

l2k_status next_coefficients(l2k_volume *volume, l2k_volume_slice *slice)
{
    l2k_cuda_volume *d = volume->cuda;
    l2k_cuda_slot *s = slot_number(d, d->begun);
    l2k_z_place place;
    if (stage_of(volume)->finished.first || !l2k_z_wanted(&stage_of(volume)->z, &place))
        return L2K_OK;
    if (s->count == d->group)
        s->count = 0;
    if (s->count == 0 && !d->on_device)
        L2K_TRY(check(volume, cudaEventSynchronize(s->moved), "uploading coefficients"));
    show(volume, s, s->count, place, slice);
    return L2K_OK;
}

l2k_status put_coefficients(l2k_volume *volume)
{
    l2k_cuda_volume *d = volume->cuda;
    l2k_cuda_slot *s = slot_number(d, d->begun);
    l2k_z_slice *slice = new_slice(volume);
    if (!slice)
        return L2K_ERROR_MEMORY;
    s->slices[s->count++] = slice;
    L2K_TRY(l2k_z_put(&volume->context, &stage_of(volume)->z, slice));
    if (d->leaving.first)
        l2k_z_append(&stage_of(volume)->finished, l2k_z_take(&d->leaving));
    return s->count == d->group || all_put(volume) ? begin_inverse(volume) : L2K_OK;
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
    L2K_TRY(check(volume, cudaStreamWaitEvent(d->down, slot_number(d, slice->group)->used, 0), "ordering streams"));
    if (l2k_cuda_samples_cross_as_values(volume, planes)) {
        L2K_TRY(l2k_cuda_samples_copy_values(volume, slice, planes));
    } else {
        l2k_cuda_samples_place(volume, raw, planes);
        L2K_TRY(l2k_cuda_samples_add(volume, slice, d->raw_planes, d->down));
        L2K_TRY(l2k_cuda_samples_move(volume, d->down));
        L2K_TRY(l2k_cuda_samples_download(volume, raw, planes));
    }
    L2K_TRY(check(volume, cudaEventRecord(raw->moved, d->down), "downloading a slice"));
    give_back(volume, slice);
    if (d->next_raw++ > 0)
        L2K_TRY(check(volume, cudaEventSynchronize(last->moved), "downloading a slice"));
    const bool is_last = all_put(volume) && !stage_of(volume)->finished.first;
    return is_last || !is_pinned(planes) ? check(volume, cudaEventSynchronize(raw->moved), "downloading a slice")
                                         : L2K_OK;
}

l2k_status get_slice(l2k_volume *volume, const l2k_plane *planes, bool *got)
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

} // namespace

extern "C" const l2k_volume_functions l2k_volume_cuda = {
    make, destroy, rewind_all, is_full, put, get_coefficients, next_coefficients, put_coefficients, get_slice};
