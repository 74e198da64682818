/* From slices of coefficients in host memory to slices of samples there (cuda_host.cu). */
#include "transform/volume/cuda_host.cuh"

extern "C" l2k_status l2k_cuda_host_next_coefficients(l2k_volume *v, l2k_volume_slice *slice)
{
    l2k_cuda_host *h = v->host;
    l2k_volume_slice wanted = {};
    if (h->finished.first)
        return L2K_OK;
    L2K_TRY(h->device.functions->next_coefficients(&h->device, &wanted));
    if (!wanted.views)
        return L2K_OK;
    if (!h->shown)
        L2K_TRY(l2k_cuda_crossing_take(v, &wanted, &h->shown));
    l2k_cuda_crossing_place(&wanted, h->shown);
    L2K_TRY(check(v, cudaEventSynchronize(h->shown->raw.moved), "uploading coefficients"));
    *slice = h->shown->slice;
    return L2K_OK;
}

/* To where the device wants them, in the order of its stream. */
static l2k_status send(const l2k_volume *v, const l2k_cuda_crossing *x)
{
    for (uint32_t c = 0; c < x->slice.num_components; c++)
        L2K_TRY(check(v,
                      cudaMemcpyAsync(v->host->device.views[c].base, x->views[c].base,
                                      l2k_cuda_view_bytes(&x->views[c]), cudaMemcpyHostToDevice, v->host->stream),
                      "uploading coefficients"));
    return check(v, cudaEventRecord(x->raw.moved, v->host->stream), "uploading coefficients");
}

/* The values of one more slice, if there is one. */
static l2k_status take_values(l2k_volume *v, l2k_z_queue *made, bool *got)
{
    l2k_cuda_host *h = v->host;
    l2k_cuda_crossing *x;
    if (h->free.first)
        x = from_link(l2k_z_take(&h->free));
    else
        L2K_TRY(l2k_cuda_crossing_make(v, l2k_cuda_part_slice_bytes(&h->device), 0, &x));
    l2k_cuda_part_planes(&h->device, &x->link, v->cuda->planes);
    const l2k_status status = h->device.functions->get_slice(&h->device, v->cuda->planes, got);
    l2k_z_append(status == L2K_OK && *got ? made : &h->free, &x->link);
    return status;
}

/* All values that the device has; they are there when there are no more. Those whose place they take have become
 * samples. */
static l2k_status take_all_values(l2k_volume *v)
{
    l2k_cuda_host *h = v->host;
    l2k_z_queue made = {};
    L2K_TRY(follow(v, h->stream, h->raw[(h->got + 1) % L2K_CUDA_DOWN].used));
    for (bool got = true; got;)
        L2K_TRY(take_values(v, &made, &got));
    if (!made.first)
        return L2K_OK;
    join(&h->finished, &h->leaving);
    join(&h->leaving, &made);
    return hand_over(v, h->made, h->stream, v->cuda->stream);
}

extern "C" l2k_status l2k_cuda_host_put_coefficients(l2k_volume *v)
{
    l2k_cuda_host *h = v->host;
    l2k_cuda_crossing *x = h->shown;
    h->shown = NULL;
    l2k_z_append(&h->empty[x->slice.level], &x->link);
    L2K_TRY(send(v, x));
    L2K_TRY(h->device.functions->put_coefficients(&h->device));
    L2K_TRY(take_all_values(v));
    if (h->leaving.first)
        l2k_z_append(&h->finished, l2k_z_take(&h->leaving));
    l2k_volume_slice wanted = {};
    L2K_TRY(h->device.functions->next_coefficients(&h->device, &wanted));
    if (!wanted.views)
        join(&h->finished, &h->leaving);
    return L2K_OK;
}

/* Values to samples, and down, each in a stream of its own. */
static l2k_status send_back(l2k_volume *v, const l2k_cuda_crossing *x, l2k_cuda_raw_slice *raw, const l2k_plane *planes)
{
    l2k_cuda_volume *d = v->cuda;
    l2k_cuda_samples_place(v, raw, planes);
    L2K_TRY(l2k_cuda_samples_add(v, &x->link, d->raw_planes, d->stream));
    L2K_TRY(l2k_cuda_samples_move(v, d->stream));
    L2K_TRY(hand_over(v, raw->used, d->stream, d->down));
    L2K_TRY(l2k_cuda_samples_download(v, raw, planes));
    return check(v, cudaEventRecord(raw->moved, d->down), "downloading a slice");
}

/* Pinned planes are filled while the caller goes on, until he gets the next slice. */
extern "C" l2k_status l2k_cuda_host_get_slice(l2k_volume *v, const l2k_plane *planes, bool *got)
{
    l2k_cuda_host *h = v->host;
    l2k_z_slice *link = l2k_z_take(&h->finished);
    l2k_cuda_raw_slice *raw = &h->raw[h->got % L2K_CUDA_DOWN],
                       *last = &h->raw[(h->got + L2K_CUDA_DOWN - 1) % L2K_CUDA_DOWN];
    if (!link)
        return L2K_OK;
    l2k_z_append(&h->free, link);
    L2K_TRY(send_back(v, from_link(link), raw, planes));
    if (h->got++ > 0)
        L2K_TRY(check(v, cudaEventSynchronize(last->moved), "downloading a slice"));
    if (h->got == depth_of(v) || !is_pinned(planes))
        L2K_TRY(check(v, cudaEventSynchronize(raw->moved), "downloading a slice"));
    *got = true;
    return L2K_OK;
}
