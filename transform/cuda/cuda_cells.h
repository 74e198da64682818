/* Cells of coefficients (transform/cells.h) on their way to the device. Internal to the CUDA backend. */
#ifndef L2K_TRANSFORM_CUDA_CUDA_CELLS_H
#define L2K_TRANSFORM_CUDA_CUDA_CELLS_H

#include "lift2k/lift2k.h"

/* Enqueues a kernel that fills `device`, memory for the coefficients of `view`, with the cells marked in `cells` and
 * with zeros elsewhere. The view and the cells are in pinned memory, which the kernel reads. `stream` is a
 * cudaStream_t, the result a cudaError_t. */
int l2k_cuda_upload_cells(const l2k_coefficients *view, const uint8_t *cells, void *device, void *stream);

#endif
