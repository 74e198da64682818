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

/* ---- Across the bus ------------------------------------------------------------------------------------------ */

/* The rows of a component in host memory, and packed on the device. */
struct crossing {
    size_t bytes, width, height; /* of a sample; a row in bytes; rows */
    char *device, *gathered;
};

/* Lays out packed planes for the caller's samples in a buffer; returns the place of component c. */
crossing cross(const l2k_volume *v, l2k_cuda_raw_slice *raw, const l2k_plane *planes, uint32_t c)
{
    const l2k_rect rect = v->spec.tile.components[c].rect;
    crossing x;
    x.bytes = l2k_sample_bytes(planes[c].type);
    x.width = l2k_rect_width(rect) * x.bytes;
    x.height = l2k_rect_height(rect);
    x.device = raw->device + v->stages[0].offsets[c] * 4;
    x.gathered = NULL;
    v->cuda->raw_planes[c] = l2k_plane{x.device, (ptrdiff_t)x.width, (ptrdiff_t)x.bytes, planes[c].type};
    return x;
}

bool is_by_rows(const l2k_plane *plane, const crossing *x)
{
    return plane->sample_stride == (ptrdiff_t)x->bytes && plane->row_stride >= (ptrdiff_t)x->width;
}

void gather(const l2k_plane *plane, const crossing *x, bool back)
{
    for (size_t y = 0; y < x->height; y++)
        for (size_t i = 0; i < x->width / x->bytes; i++) {
            char *at = (char *)plane->data + (ptrdiff_t)y * plane->row_stride + (ptrdiff_t)i * plane->sample_stride;
            char *packed = x->gathered + y * x->width + i * x->bytes;
            memcpy(back ? at : packed, back ? packed : at, x->bytes);
        }
}

/* Memory for planes that are not packed by rows. */
l2k_status need_gathered(const l2k_volume *v, l2k_cuda_raw_slice *raw, uint32_t c, crossing *x)
{
    if (!raw->gathered)
        raw->gathered = (char *)l2k_allocate(&v->context, v->stages[0].samples, 4);
    L2K_TRY(l2k_check_memory(&v->context, raw->gathered, "a slice of samples"));
    x->gathered = raw->gathered + v->stages[0].offsets[c] * 4;
    return L2K_OK;
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

/* A type of the same width. Integer samples of float values would need rounding. */
static bool is_type_of(l2k_cuda_value value, l2k_sample_type type)
{
    return value == L2K_CUDA_INT16   ? type == L2K_SAMPLE_S16 || type == L2K_SAMPLE_U16
           : value == L2K_CUDA_INT32 ? type == L2K_SAMPLE_S32
                                     : type == L2K_SAMPLE_F32;
}

/* Whether samples differ from values by a level shift at most, which all components share. */
static bool are_alike(const l2k_volume *v, const l2k_plane *planes)
{
    const l2k_plan_component *components = v->spec.tile.components;
    bool alike = !v->spec.tile.plan.component_transform && is_type_of(v->cuda->value, planes[0].type);
    for (uint32_t c = 0; c < components_of(v); c++)
        alike =
            alike && planes[c].type == planes[0].type && planes[c].sample_stride == (ptrdiff_t)v->cuda->value_bytes &&
            components[c].precision == components[0].precision && components[c].is_signed == components[0].is_signed;
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

/* A component between planes by rows and packed memory on the device. */
static l2k_status copy_rows(const l2k_volume *v, const crossing *x, const l2k_plane *plane)
{
    const size_t stride = (size_t)plane->row_stride;
    const cudaError_t error = is_inverse(v) ? cudaMemcpy2DAsync(plane->data, stride, x->device, x->width, x->width,
                                                                x->height, cudaMemcpyDeviceToHost, v->cuda->down)
                                            : cudaMemcpy2DAsync(x->device, x->width, plane->data, stride, x->width,
                                                                x->height, cudaMemcpyHostToDevice, v->cuda->up);
    return check(v, error, is_inverse(v) ? "downloading a slice" : "uploading a slice");
}

/* A component that is not packed by rows. */
static l2k_status cross_gathered(const l2k_volume *v, const crossing *x, const l2k_plane *plane)
{
    const l2k_plane packed = {x->gathered, (ptrdiff_t)x->width, (ptrdiff_t)x->bytes, plane->type};
    if (!is_inverse(v))
        gather(plane, x, false);
    L2K_TRY(copy_rows(v, x, &packed));
    if (!is_inverse(v))
        return L2K_OK;
    L2K_TRY(check(v, cudaStreamSynchronize(v->cuda->down), "downloading a slice"));
    gather(plane, x, true);
    return L2K_OK;
}

l2k_status l2k_cuda_samples_cross(const l2k_volume *v, l2k_cuda_raw_slice *raw, const l2k_plane *planes)
{
    for (uint32_t c = 0; c < components_of(v); c++) {
        crossing x = cross(v, raw, planes, c);
        const bool by_rows = is_by_rows(&planes[c], &x);
        if (x.width == 0 || x.height == 0)
            continue;
        if (!by_rows)
            L2K_TRY(need_gathered(v, raw, c, &x));
        L2K_TRY(by_rows ? copy_rows(v, &x, &planes[c]) : cross_gathered(v, &x, &planes[c]));
    }
    return L2K_OK;
}

void l2k_cuda_samples_place(const l2k_volume *v, l2k_cuda_raw_slice *raw, const l2k_plane *planes)
{
    for (uint32_t c = 0; c < components_of(v); c++)
        cross(v, raw, planes, c);
}
