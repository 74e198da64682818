/* Volumes in device memory that are parts of another one (cuda_part.cuh). */
#include <string.h>

extern "C" {
#include "base/memory.h"
#include "transform/cuda/cuda_device.h"
}
#include "transform/volume/cuda_part.cuh"

namespace
{

size_t value_bytes(const l2k_volume *part)
{
    return l2k_coefficient_bytes(part->spec.tile.plan.type);
}

/* A component of values has the bits of their type. */
void describe_component(const l2k_volume *whole, const l2k_cuda_part *how, l2k_plan_component *component)
{
    component->rect = l2k_resolution_rect(component->rect, how->number);
    if (!how->values)
        return;
    component->precision = whole->spec.tile.plan.type == L2K_COEFFICIENT_INT16 ? 16 : 31;
    component->is_signed = true;
}

l2k_status describe(const l2k_volume *whole, const l2k_cuda_part *how, l2k_volume_spec *spec)
{
    const uint32_t count = whole->spec.tile.plan.num_components;
    *spec = whole->spec;
    spec->tile.steps = NULL;
    spec->tile.components = (l2k_plan_component *)l2k_allocate(&whole->context, count, sizeof *spec->tile.components);
    if (!spec->tile.components)
        return l2k_fail(&whole->context, L2K_ERROR_MEMORY, "out of memory for a volume");
    memcpy(spec->tile.components, whole->spec.tile.components, count * sizeof *spec->tile.components);
    for (uint32_t c = 0; c < count; c++)
        describe_component(whole, how, &spec->tile.components[c]);
    spec->tile.plan.components = spec->tile.components;
    spec->tile.plan.component_transform = whole->spec.tile.plan.component_transform && !how->values;
    spec->tile.plan.on_device = true;
    spec->isotropic = how->isotropic;
    spec->levels = spec->z_levels = how->levels;
    spec->z0 = l2k_z_edge(whole->spec.z0, how->number);
    spec->z1 = l2k_z_edge(whole->spec.z1, how->number);
    return L2K_OK;
}

} // namespace

extern "C" l2k_status l2k_cuda_part_make(const l2k_volume *whole, const l2k_cuda_part *how, l2k_volume *part)
{
    part->context = whole->context;
    memcpy(part->options, whole->options, sizeof part->options);
    part->own = whole->own;
    part->z_own = whole->z_own;
    part->stream = how->stream;
    part->most_slices = how->most_slices;
    L2K_TRY(describe(whole, how, &part->spec));
    part->functions = how->functions;
    L2K_TRY(l2k_stages_make(part));
    part->sums = whole->sums; /* which values of the first level decide */
    return part->functions->make(part);
}

extern "C" void l2k_cuda_part_free(l2k_volume *part)
{
    if (part->functions)
        part->functions->free(part);
    l2k_stages_release(part);
    l2k_tile_spec_release(&part->context, &part->spec.tile);
    part->functions = NULL;
}

extern "C" l2k_status l2k_cuda_part_rewind(l2k_volume *part)
{
    l2k_stages_rewind(part);
    return part->functions->rewind(part);
}

extern "C" void l2k_cuda_part_planes(const l2k_volume *part, const l2k_z_slice *slice, l2k_plane *planes)
{
    const l2k_plan_spec *plan = &part->spec.tile.plan;
    const size_t bytes = value_bytes(part);
    for (uint32_t c = 0; c < plan->num_components; c++)
        planes[c] = l2k_plane{(char *)slice->values + part->stages->offsets[c] * bytes,
                              (ptrdiff_t)(l2k_rect_width(part->spec.tile.components[c].rect) * bytes), (ptrdiff_t)bytes,
                              plan->type == L2K_COEFFICIENT_INT16   ? L2K_SAMPLE_S16
                              : plan->type == L2K_COEFFICIENT_INT32 ? L2K_SAMPLE_S32
                                                                    : L2K_SAMPLE_F32};
}

extern "C" size_t l2k_cuda_part_slice_bytes(const l2k_volume *part)
{
    return part->stages->samples * value_bytes(part);
}

extern "C" l2k_status l2k_cuda_part_slice(const l2k_volume *part, l2k_z_queue *free, l2k_z_slice **all,
                                          l2k_z_slice **slice)
{
    *slice = l2k_z_take(free);
    if (*slice)
        return L2K_OK;
    l2k_z_slice *made = (l2k_z_slice *)l2k_allocate_zeroed(&part->context, 1, sizeof *made);
    if (!made)
        return l2k_fail(&part->context, L2K_ERROR_MEMORY, "out of memory for a slice");
    const cudaError_t error = cudaMalloc((void **)&made->values, l2k_cuda_part_slice_bytes(part) + 1);
    if (error != cudaSuccess) {
        l2k_release(&part->context, made);
        return l2k_cuda_check(&part->context, error, "allocating memory for a slice");
    }
    made->older = *all;
    *all = *slice = made;
    return L2K_OK;
}

extern "C" void l2k_cuda_part_free_slices(const l2k_volume *part, l2k_z_slice **all)
{
    while (*all) {
        l2k_z_slice *slice = *all;
        *all = slice->older;
        if (slice->values)
            cudaFree(slice->values);
        l2k_release(&part->context, slice);
    }
}
