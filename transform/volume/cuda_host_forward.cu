/* From slices of samples in host memory to slices of coefficients there (cuda_host.cu). */
#include "transform/volume/cuda_host.cuh"

/* Memory that the group under way does not use, so that nothing that goes up waits for it. */
static l2k_status take_samples(const l2k_volume *v, l2k_cuda_crossing **x)
{
    l2k_cuda_host *h = v->host;
    if (h->free.count <= h->last)
        return l2k_cuda_crossing_make(v, v->cuda->raw_bytes, 0, x);
    *x = from_link(l2k_z_take(&h->free));
    return L2K_OK;
}

static l2k_status upload(l2k_volume *v, l2k_cuda_crossing *x, const l2k_plane *planes)
{
    if (x->raw.gathered) /* the host is about to write there */
        L2K_TRY(check(v, cudaEventSynchronize(x->raw.moved), "uploading a slice"));
    L2K_TRY(l2k_cuda_samples_upload(v, &x->raw, planes));
    return hand_over(v, x->raw.moved, v->cuda->up, v->host->stream);
}

/* Returns when the slice before has been uploaded: its planes are the caller's again, even if they are pinned. */
extern "C" l2k_status l2k_cuda_host_put(l2k_volume *v, const l2k_plane *planes)
{
    l2k_cuda_host *h = v->host;
    l2k_cuda_crossing *x;
    L2K_TRY(take_samples(v, &x));
    L2K_TRY(upload(v, x, planes));
    l2k_z_append(&h->taken, &x->link);
    L2K_TRY(h->device.functions->put(&h->device, v->cuda->raw_planes));
    if (h->put)
        L2K_TRY(check(v, cudaEventSynchronize(h->put->raw.moved), "uploading a slice"));
    h->put = x;
    return v->come + 1 == depth_of(v) ? check(v, cudaEventSynchronize(x->raw.moved), "uploading a slice") : L2K_OK;
}

/* Coefficients show that the device has read all samples that were put, or will have in the order of its stream. What
 * goes up next takes the place of those before. */
static l2k_status release_taken(const l2k_volume *v)
{
    l2k_cuda_host *h = v->host;
    if (!h->taken.first)
        return L2K_OK;
    L2K_TRY(follow(v, v->cuda->up, h->read[(h->reads + 1) % 2]));
    L2K_TRY(check(v, cudaEventRecord(h->read[h->reads++ % 2], h->stream), "ordering streams"));
    h->last = h->taken.count;
    join(&h->free, &h->taken);
    return L2K_OK;
}

/* Out of the memory of a plan, which belongs to other slices soon. */
static l2k_status keep(const l2k_volume *v, const l2k_volume_slice *slice, l2k_z_queue *kept)
{
    l2k_cuda_crossing *x;
    L2K_TRY(l2k_cuda_crossing_take(v, slice, &x));
    l2k_cuda_crossing_place(slice, x);
    l2k_z_append(kept, &x->link);
    char *to = x->raw.device;
    for (uint32_t c = 0; c < slice->num_components; to += l2k_cuda_view_bytes(&slice->views[c++]))
        L2K_TRY(check(v,
                      cudaMemcpyAsync(to, slice->views[c].base, l2k_cuda_view_bytes(&slice->views[c]),
                                      cudaMemcpyDeviceToDevice, v->host->stream),
                      "copying coefficients"));
    return L2K_OK;
}

static l2k_status download(const l2k_volume *v, l2k_z_queue *kept)
{
    l2k_cuda_host *h = v->host;
    if (!kept->first)
        return L2K_OK;
    L2K_TRY(hand_over(v, h->made, h->stream, v->cuda->down));
    for (l2k_z_slice *link = kept->first; link; link = link->next) {
        const l2k_cuda_crossing *x = from_link(link);
        L2K_TRY(check(v,
                      cudaMemcpyAsync(link->memory, x->raw.device, l2k_cuda_crossing_bytes(x), cudaMemcpyDeviceToHost,
                                      v->cuda->down),
                      "downloading coefficients"));
    }
    join(&h->coming, kept);
    return check(v, cudaEventRecord(h->landed[h->downloads++ % 2], v->cuda->down), "downloading coefficients");
}

/* All that the device has. */
static l2k_status download_all(l2k_volume *v)
{
    l2k_cuda_host *h = v->host;
    l2k_z_queue kept = {};
    for (;;) {
        l2k_volume_slice slice = {};
        L2K_TRY(h->device.functions->get_coefficients(&h->device, &slice));
        if (!slice.views)
            return download(v, &kept);
        L2K_TRY(release_taken(v));
        L2K_TRY(keep(v, &slice, &kept));
    }
}

static bool device_is_full(const l2k_volume *v)
{
    return v->host->device.functions->is_full(&v->host->device);
}

extern "C" bool l2k_cuda_host_is_full(const l2k_volume *v)
{
    const l2k_cuda_host *h = v->host;
    return h->givable > 0 || device_is_full(v) || (v->come == depth_of(v) && h->coming.first);
}

/* Sends what the device has on its way, and waits for what was on its way before, or for all of it at the end. */
static l2k_status go_on(l2k_volume *v)
{
    l2k_cuda_host *h = v->host;
    unsigned downloads = h->downloads;
    h->givable = h->coming.count;
    if (device_is_full(v))
        L2K_TRY(download_all(v));
    else if (v->come < depth_of(v))
        h->givable = 0;
    if (h->givable == 0 && v->come == depth_of(v)) {
        h->givable = h->coming.count;
        downloads = h->downloads;
    }
    if (h->givable == 0)
        return L2K_OK;
    return check(v, cudaEventSynchronize(h->landed[(downloads + 1) % 2]), "downloading coefficients");
}

/* Coefficients are given when the next ones are on their way, or there are none. */
extern "C" l2k_status l2k_cuda_host_get_coefficients(l2k_volume *v, l2k_volume_slice *slice)
{
    l2k_cuda_host *h = v->host;
    if (h->shown)
        l2k_z_append(&h->empty[h->shown->slice.level], &h->shown->link);
    h->shown = NULL;
    if (h->givable == 0)
        L2K_TRY(go_on(v));
    if (h->givable == 0)
        return L2K_OK;
    h->givable--;
    h->shown = from_link(l2k_z_take(&h->coming));
    *slice = h->shown->slice;
    return L2K_OK;
}
