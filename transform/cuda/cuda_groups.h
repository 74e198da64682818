/* How the levels of a CUDA plan are divided among launches, and the memory for LL samples between them. */
#ifndef L2K_TRANSFORM_CUDA_CUDA_GROUPS_H
#define L2K_TRANSFORM_CUDA_CUDA_GROUPS_H

#include "transform/backend.h"

/* Levels first .. first + count - 1 of a component; count 0 stands for no wavelet at all. A deep level goes into one
 * launch with those after it. */
typedef struct l2k_level_group {
    unsigned first, count;
    bool deep;
} l2k_level_group;

/* Group g of component c from the pixels on, and how many there are: at least one. */
l2k_level_group l2k_group_at(const l2k_plan_spec *spec, uint32_t c, unsigned g);
unsigned l2k_count_groups(const l2k_plan_spec *spec, uint32_t c);

/* How many components from c on, `most` of them, are alike: of one shape, and with the same steps. */
unsigned l2k_count_alike(const l2k_plan_spec *spec, uint32_t c, unsigned most);

/* Components from c on that go through the launches together: those of a component transform, or such as are alike. */
unsigned l2k_components_together(const l2k_plan_spec *spec, uint32_t c);

/* The type of LL samples. Forward, the LL of what fits int16 fits as well (docs/numerics.md); inverse, somebody must
 * have looked. */
l2k_sample_type l2k_low_type(const l2k_plan_spec *spec, const l2k_plan_component *component);

/* Bytes of a row of the LL of rectangle `rect`. Columns stand where their coordinates modulo 8 say, so that lanes,
 * which take eight from a multiple of 8 on, find them at aligned addresses. */
size_t l2k_low_row_bytes(const l2k_plan_spec *spec, const l2k_plan_component *component, l2k_rect rect);

/* Bytes of the LL that group g of component c leaves to the next one. */
size_t l2k_low_bytes(const l2k_plan_spec *spec, uint32_t c, unsigned g);

/* Memory for the LL of even and of odd groups, one after the other in use; all components take their turn in it. */
void l2k_measure_low(const l2k_plan_spec *spec, size_t bytes[2]);

#endif
