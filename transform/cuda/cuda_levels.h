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

/* ---- What launches take (cuda_launches.c) ------------------------------------------------------------------------ */

/* The launches of a component from the pixels on: one for each level from `first` on, or one that copies. They use two
 * areas for LL samples in turn. */
typedef struct l2k_cuda_launches {
    unsigned first, count;
    bool copies;                          /* no decomposition */
    size_t low_bytes[2];                  /* of a component, for the largest LL behind even and behind odd launches */
    l2k_rect samples[L2K_MAX_LEVELS + 1]; /* on the side of the pixels */
} l2k_cuda_launches;

l2k_cuda_launches l2k_list_launches(const l2k_plan_spec *spec, uint32_t c);

/* How many components from c on, at most `most`, are alike: of one shape, with the same quantiser steps. */
unsigned l2k_count_alike(const l2k_plan_spec *spec, uint32_t c, unsigned most);

/* How many components from c on share launches: those of a component transform, or those that are alike. */
unsigned l2k_components_together(const l2k_plan_spec *spec, uint32_t c);

/* Whether the steps of a component's kernel need sums of 64 bits. `component` is one of spec->components. */
bool l2k_has_wide_sums(const l2k_plan_spec *spec, const l2k_plan_component *component);

/* The type of LL samples. Forward, LL fits int16 if the coefficients do (docs/numerics.md); inverse, only if the plan
 * says so (narrow_low), of all three components of a component transform. `component` is one of spec->components. */
l2k_sample_type l2k_low_type(const l2k_plan_spec *spec, const l2k_plan_component *component);

/* Bytes of a row of the LL of rectangle `rect`. Columns are placed by their coordinates modulo 8, so that lanes, which
 * take eight columns from a multiple of 8 on, are aligned. */
size_t l2k_low_row_bytes(const l2k_plan_spec *spec, const l2k_plan_component *component, l2k_rect rect);

/* Memory for the LL behind even and odd launches, which is used alternately; all components use the same memory. */
void l2k_measure_low(const l2k_plan_spec *spec, size_t bytes[2]);

#endif
