/* The launches of a CUDA plan: all levels of all components, between planes and coefficients in device memory. */
#ifndef L2K_TRANSFORM_CUDA_CUDA_LEVELS_H
#define L2K_TRANSFORM_CUDA_CUDA_LEVELS_H

#include "transform/backend.h"

/* Components from c on that are interleaved in memory: the three of a component transform, or one. */
static inline unsigned l2k_cuda_interleaved(const l2k_plan_spec *spec, uint32_t c)
{
    return spec->component_transform && c == 0 ? 3 : 1;
}

/* Bytes of device memory for LL samples between launches; nothing stays there from run to run. */
size_t l2k_cuda_low_bytes(const l2k_plan_spec *spec);

/* Enqueues the plan's transform on `stream` (a cudaStream_t). planes[c] and coefficients[c] are in device memory, the
 * latter laid out as the plan's views; `low` has l2k_cuda_low_bytes. The result is a cudaError_t. */
int l2k_cuda_run_levels(const l2k_plan *plan, const l2k_plane *planes, void *const *coefficients, char *low,
                        void *stream);

#endif
