/* Moves the samples of a volume on a CUDA device between the caller's planes and the values of slices, several slices a
 * launch, and across the bus. */
#include <string.h>

extern "C" {
#include "base/memory.h"
#include "base/sample.h"
}
#include "transform/volume/cuda/cuda_volume.cuh"

namespace
{

/* ---- On the device ------------------------------------------------------------------------------------------- */

/* The components from c on that are moved together. */
int joined_from(const l2k_volume *v, uint32_t c)
{
    return v->spec.tile.plan.component_transform && c == 0 ? 3 : 1;
}

l2k_cuda_slice_part part_of(const l2k_volume *v, const l2k_z_slice *slice, const l2k_plane *planes, uint32_t c)
{
    l2k_cuda_slice_part part;
    memset(&part, 0, sizeof part);
    for (int k = 0; k < joined_from(v, c); k++) {
        const l2k_plan_component *component = &v->spec.tile.components[c + k];
        part.values[k] = (char *)slice->values + v->stages[0].offsets[c + k] * v->cuda->value_bytes;
        part.planes[k] = l2k_cuda_plane_of(&planes[c + k], component->precision, component->is_signed);
    }
    return part;
}

} // namespace

l2k_status l2k_cuda_samples_move(const l2k_volume *v, cudaStream_t stream)
{
    for (uint32_t c = 0; c < components_of(v); c += (uint32_t)joined_from(v, c)) {
        l2k_cuda_slice_parts *parts = &v->cuda->waiting[c];
        const l2k_rect rect = v->spec.tile.components[c].rect;
        parts->width = (int32_t)l2k_rect_width(rect);
        parts->height = (int32_t)l2k_rect_height(rect);
        parts->components = joined_from(v, c);
        const int error = l2k_cuda_slices_move(parts, v->cuda->value, is_inverse(v), stream);
        parts->count = 0;
        L2K_TRY(check(v, error, "launching the loading or storing of slices"));
    }
    return L2K_OK;
}

l2k_status l2k_cuda_samples_add(const l2k_volume *v, const l2k_z_slice *slice, const l2k_plane *planes,
                                cudaStream_t stream)
{
    for (uint32_t c = 0; c < components_of(v); c += (uint32_t)joined_from(v, c)) {
        l2k_cuda_slice_parts *parts = &v->cuda->waiting[c];
        parts->of[parts->count++] = part_of(v, slice, planes, c);
    }
    return v->cuda->waiting[0].count == L2K_CUDA_SLICES ? l2k_cuda_samples_move(v, stream) : L2K_OK;
}

/* Whether samples differ from values by a level shift at most, which all components share. */
static bool are_alike(const l2k_volume *v, const l2k_plane *planes)
{
    const l2k_plan_component *components = v->spec.tile.components;
    const l2k_sample_type type = planes[0].type, value = v->cuda->value;
    bool alike = !v->spec.tile.plan.component_transform &&
                 (type == value || (type == L2K_SAMPLE_U16 && value == L2K_SAMPLE_S16));
    for (uint32_t c = 0; c < components_of(v); c++)
        alike = alike && planes[c].type == type && planes[c].sample_stride == (ptrdiff_t)v->cuda->value_bytes &&
                components[c].precision == components[0].precision &&
                components[c].is_signed == components[0].is_signed;
    return alike;
}

/* Without gaps between rows and components. */
static bool are_packed(const l2k_volume *v, const l2k_plane *planes)
{
    const size_t bytes = v->cuda->value_bytes;
    bool packed = true;
    for (uint32_t c = 0; c < components_of(v); c++)
        packed = packed &&
                 planes[c].row_stride == (ptrdiff_t)(l2k_rect_width(v->spec.tile.components[c].rect) * bytes) &&
                 (char *)planes[c].data == (char *)planes[0].data + v->stages[0].offsets[c] * bytes;
    return packed;
}

bool l2k_cuda_samples_are_values(const l2k_volume *v, const l2k_plane *planes)
{
    return are_alike(v, planes) && v->stages[0].samples * v->cuda->value_bytes % 16 == 0 &&
           (uintptr_t)planes[0].data % 16 == 0 && are_packed(v, planes);
}

/* ---- Across the bus ------------------------------------------------------------------------------------------ */

void l2k_cuda_samples_place(const l2k_volume *v, const l2k_cuda_raw_slice *raw, const l2k_plane *planes)
{
    for (uint32_t c = 0; c < components_of(v); c++) {
        const size_t bytes = l2k_sample_bytes(planes[c].type);
        const size_t width = l2k_rect_width(v->spec.tile.components[c].rect) * bytes;
        v->cuda->raw_planes[c] =
            l2k_plane{raw->device + v->stages[0].offsets[c] * 4, (ptrdiff_t)width, (ptrdiff_t)bytes, planes[c].type};
    }
}

/* Component c between planes by rows and raw_planes. */
static l2k_status copy_rows(const l2k_volume *v, uint32_t c, const l2k_plane *plane)
{
    const l2k_plane *raw = &v->cuda->raw_planes[c];
    const size_t width = (size_t)raw->row_stride, stride = (size_t)plane->row_stride,
                 height = l2k_rect_height(v->spec.tile.components[c].rect);
    const cudaError_t error = is_inverse(v) ? cudaMemcpy2DAsync(plane->data, stride, raw->data, width, width, height,
                                                                cudaMemcpyDeviceToHost, v->cuda->down)
                                            : cudaMemcpy2DAsync(raw->data, width, plane->data, stride, width, height,
                                                                cudaMemcpyHostToDevice, v->cuda->up);
    return check(v, error, is_inverse(v) ? "downloading a slice" : "uploading a slice");
}

static void copy_samples(const l2k_plane *to, const l2k_plane *from, l2k_rect rect)
{
    for (uint32_t y = 0; y < l2k_rect_height(rect); y++)
        for (uint32_t x = 0; x < l2k_rect_width(rect); x++)
            memcpy(l2k_sample_at(to, x, y), l2k_sample_at(from, x, y), l2k_sample_bytes(from->type));
}

/* A component that is not packed by rows. */
static l2k_status cross_gathered(const l2k_volume *v, l2k_cuda_raw_slice *raw, uint32_t c, const l2k_plane *plane)
{
    const l2k_rect rect = v->spec.tile.components[c].rect;
    l2k_plane packed = v->cuda->raw_planes[c];
    if (!raw->gathered)
        raw->gathered = (char *)l2k_allocate(&v->context, v->stages[0].samples, 4);
    L2K_TRY(l2k_check_memory(&v->context, raw->gathered, "a slice of samples"));
    packed.data = raw->gathered + v->stages[0].offsets[c] * 4;
    if (!is_inverse(v))
        copy_samples(&packed, plane, rect);
    L2K_TRY(copy_rows(v, c, &packed));
    if (!is_inverse(v))
        return L2K_OK;
    L2K_TRY(check(v, cudaStreamSynchronize(v->cuda->down), "downloading a slice"));
    copy_samples(plane, &packed, rect);
    return L2K_OK;
}

l2k_status l2k_cuda_samples_cross(const l2k_volume *v, l2k_cuda_raw_slice *raw, const l2k_plane *planes)
{
    for (uint32_t c = 0; c < components_of(v); c++) {
        const l2k_plane *packed = &v->cuda->raw_planes[c];
        if (l2k_rect_empty(v->spec.tile.components[c].rect))
            continue;
        if (planes[c].sample_stride == packed->sample_stride && planes[c].row_stride >= packed->row_stride)
            L2K_TRY(copy_rows(v, c, &planes[c]));
        else
            L2K_TRY(cross_gathered(v, raw, c, &planes[c]));
    }
    return L2K_OK;
}
