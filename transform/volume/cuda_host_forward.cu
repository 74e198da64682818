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
    L2K_TRY(follow(v, v->cuda->up, x->raw.used));
    if (x->raw.gathered) /* the host is about to write there */
        L2K_TRY(check(v, cudaEventSynchronize(x->raw.moved), "uploading a slice"));
    L2K_TRY(l2k_cuda_samples_upload(v, &x->raw, planes));
    return order(v, x->raw.moved, v->cuda->up, v->host->stream);
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

/* Coefficients show that the device has read all samples that were put, or will have in the order of its stream. */
static l2k_status release_taken(const l2k_volume *v)
{
    l2k_cuda_host *h = v->host;
    if (h->taken.first)
        h->last = h->taken.count;
    for (; h->taken.first; l2k_z_append(&h->free, l2k_z_take(&h->taken)))
        L2K_TRY(check(v, cudaEventRecord(from_link(h->taken.first)->raw.used, h->stream), "ordering streams"));
    return L2K_OK;
}

static l2k_status download(const l2k_volume *v, const l2k_volume_slice *slice)
{
    l2k_cuda_host *h = v->host;
    l2k_cuda_crossing *x;
    L2K_TRY(l2k_cuda_crossing_take(v, slice, &x));
    l2k_cuda_crossing_place(slice, x);
    L2K_TRY(l2k_cuda_crossing_copy(v, x, slice->views));
    L2K_TRY(order(v, x->raw.used, h->stream, v->cuda->down));
    cudaError_t error = cudaMemcpyAsync(x->link.memory, x->raw.device, l2k_cuda_crossing_bytes(x),
                                        cudaMemcpyDeviceToHost, v->cuda->down);
    if (error == cudaSuccess)
        error = cudaEventRecord(x->raw.moved, v->cuda->down);
    l2k_z_append(&h->coming, &x->link);
    return check(v, error, "downloading coefficients");
}

/* All that the device has. */
static l2k_status download_all(l2k_volume *v)
{
    l2k_cuda_host *h = v->host;
    for (;;) {
        l2k_volume_slice slice = {};
        L2K_TRY(h->device.functions->get_coefficients(&h->device, &slice));
        if (!slice.views)
            return L2K_OK;
        L2K_TRY(release_taken(v));
        L2K_TRY(download(v, &slice));
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

/* Coefficients are given when the next ones are on their way, or there are none. */
extern "C" l2k_status l2k_cuda_host_get_coefficients(l2k_volume *v, l2k_volume_slice *slice)
{
    l2k_cuda_host *h = v->host;
    if (h->shown)
        l2k_z_append(&h->empty[h->shown->slice.level], &h->shown->link);
    h->shown = NULL;
    if (h->givable == 0 && device_is_full(v)) {
        h->givable = h->coming.count;
        L2K_TRY(download_all(v));
    }
    if (h->givable == 0 && v->come == depth_of(v))
        h->givable = h->coming.count;
    if (h->givable == 0)
        return L2K_OK;
    h->givable--;
    h->shown = from_link(l2k_z_take(&h->coming));
    L2K_TRY(check(v, cudaEventSynchronize(h->shown->raw.moved), "downloading coefficients"));
    *slice = h->shown->slice;
    return L2K_OK;
}
