/* What the files of volumes in host memory share (cuda_host.cu). Internal to them. */
#ifndef L2K_TRANSFORM_VOLUME_CUDA_HOST_CUH
#define L2K_TRANSFORM_VOLUME_CUDA_HOST_CUH

#include "transform/volume/cuda_part.cuh"
#include "transform/volume/cuda_volume.cuh"

/* Inverse: slices of coefficients of a level that may be on their way up, and slices of samples on their way down. */
enum { L2K_CUDA_UP = 8, L2K_CUDA_DOWN = 2 };

/* A slice of samples (forward), of values (inverse, on the device alone) or of coefficients. */
struct l2k_cuda_crossing {
    l2k_z_slice link; /* in queues; values: as raw.device, memory: pinned, on the host */
    l2k_cuda_raw_slice raw;
    l2k_volume_slice slice; /* coefficients, with views of link.memory */
    l2k_coefficients *views;
};

struct l2k_cuda_host {
    l2k_volume device; /* inverse, its samples are values, since the type of samples is known when they are got */
    cudaStream_t stream;
    /* What is enqueued for the device has made its slices; forward also, in turn: samples have been read, and
     * coefficients have come down. */
    cudaEvent_t made, read[2], landed[2];
    unsigned reads, downloads;
    l2k_z_slice *all;       /* crossings */
    l2k_z_queue free;       /* those of samples or values without content */
    l2k_z_queue taken;      /* forward: that the device may not have read yet */
    unsigned last;          /* forward: samples that it read last, and may still read */
    l2k_cuda_crossing *put; /* forward: the last one */
    /* Inverse: values that leave one by one as coefficients are put, so that slices cross the bus both ways; and those
     * that may be got. */
    l2k_z_queue leaving, finished;
    l2k_cuda_raw_slice raw[L2K_CUDA_DOWN];
    unsigned got; /* inverse: slices of samples */
    /* Coefficients: those without content, by level of Z; forward, those on their way down, of which so many may be
     * given; and what the caller has in hand. */
    l2k_z_queue empty[L2K_MAX_LEVELS + 1], coming;
    unsigned givable;
    l2k_cuda_crossing *shown;
};

namespace
{

inline l2k_cuda_crossing *from_link(l2k_z_slice *link)
{
    return (l2k_cuda_crossing *)link; /* its first member */
}

inline void join(l2k_z_queue *to, l2k_z_queue *from)
{
    while (from->first)
        l2k_z_append(to, l2k_z_take(from));
}

inline uint32_t depth_of(const l2k_volume *v)
{
    return v->spec.z1 - v->spec.z0;
}

inline l2k_status follow(const l2k_volume *v, cudaStream_t stream, cudaEvent_t event)
{
    return check(v, cudaStreamWaitEvent(stream, event, 0), "ordering streams");
}

} // namespace

extern "C" {

/* Device memory for samples or values; with components pinned memory for coefficients and, forward, device memory. */
l2k_status l2k_cuda_crossing_make(const l2k_volume *v, size_t bytes, uint32_t components, l2k_cuda_crossing **x);

/* Memory for coefficients like `slice`. Inverse, not that of the last ones, which may still be read. */
l2k_status l2k_cuda_crossing_take(const l2k_volume *v, const l2k_volume_slice *slice, l2k_cuda_crossing **x);

/* Makes x->slice the place of a slice of the device in host memory. */
void l2k_cuda_crossing_place(const l2k_volume_slice *slice, l2k_cuda_crossing *x);

/* The bytes of coefficients of a component, which a slice has one behind the other, and of all components. */
size_t l2k_cuda_view_bytes(const l2k_coefficients *view);
size_t l2k_cuda_crossing_bytes(const l2k_cuda_crossing *x);

/* ---- l2k_volume_functions (cuda_host_forward.cu, cuda_host_inverse.cu) --------------------------------------- */

bool l2k_cuda_host_is_full(const l2k_volume *v);
l2k_status l2k_cuda_host_put(l2k_volume *v, const l2k_plane *planes);
l2k_status l2k_cuda_host_get_coefficients(l2k_volume *v, l2k_volume_slice *slice);
l2k_status l2k_cuda_host_next_coefficients(l2k_volume *v, l2k_volume_slice *slice);
l2k_status l2k_cuda_host_put_coefficients(l2k_volume *v);
l2k_status l2k_cuda_host_get_slice(l2k_volume *v, const l2k_plane *planes, bool *got);

} // extern "C"

#endif
