/* Volumes in device memory that are parts of another volume: the levels of the isotropic order, and what slices in host
 * memory go to. Their backends are used through l2k_volume_functions alone, by the rules of the public header for
 * device memory, so everything is ordered by part->stream. Internal to the files of volumes on a CUDA device. */
#ifndef L2K_TRANSFORM_VOLUME_CUDA_PART_CUH
#define L2K_TRANSFORM_VOLUME_CUDA_PART_CUH

#include <cuda_runtime.h>

extern "C" {
#include "transform/volume/volume.h"
}

/* How a part differs from the volume that it belongs to. */
typedef struct l2k_cuda_part {
    unsigned number; /* decomposition levels that come before it */
    unsigned levels; /* in slices and in Z */
    bool isotropic;
    bool values;          /* its samples are the values of another part, without level shift and component transform */
    unsigned most_slices; /* l2k_volume.most_slices */
    const l2k_volume_functions *functions;
    void *stream; /* a cudaStream_t */
} l2k_cuda_part;

extern "C" {

/* A volume of zeros becomes a part. l2k_cuda_part_free releases it, after an error as well. */
l2k_status l2k_cuda_part_make(const l2k_volume *whole, const l2k_cuda_part *how, l2k_volume *part);
void l2k_cuda_part_free(l2k_volume *part);

/* For another volume. */
l2k_status l2k_cuda_part_rewind(l2k_volume *part);

/* The values of a slice of the part, packed, one component behind the other, as planes; and their bytes. */
void l2k_cuda_part_planes(const l2k_volume *part, const l2k_z_slice *slice, l2k_plane *planes);
size_t l2k_cuda_part_slice_bytes(const l2k_volume *part);

/* A slice of device memory for such values, the first of `free` or a new one, which goes to `all`. Those of `all` are
 * released by l2k_cuda_part_free_slices. */
l2k_status l2k_cuda_part_slice(const l2k_volume *part, l2k_z_queue *free, l2k_z_slice **all, l2k_z_slice **slice);
void l2k_cuda_part_free_slices(const l2k_volume *part, l2k_z_slice **all);

} // extern "C"

#endif
