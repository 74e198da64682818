/* Copies samples between the caller's planes and the device: packed through pinned memory, or directly. */
#include <cuda_runtime.h>

#include <string.h>

extern "C" {
#include "base/sample.h"
#include "tiling/pixel/pixel_rows.h"
#include "transform/backend.h"
#include "transform/cuda/cuda_device.h"
#include "transform/cuda/cuda_levels.h"
#include "transform/cuda/cuda_staging.h"
#include "transform/layout.h"
}

namespace
{

/* One chunk crosses the bus while the next one is packed. Memory for uploads holds only a few: pinning takes longer
 * than an upload. */
const size_t CHUNK_BYTES = (size_t)4 << 20, UPLOAD_BYTES = 3 * CHUNK_BYTES;

size_t used_row_bytes(const l2k_cuda_pixels *pixels)
{
    return (size_t)pixels->width * pixels->components * l2k_sample_bytes(pixels->type);
}

/* ---- Planes that need no staging ----------------------------------------------------------------------------- */

/* A copy takes row strides up to 2^31 - 1. */
bool goes_directly(const l2k_cuda_pixels *pixels, const l2k_plane *planes)
{
    size_t used = used_row_bytes(pixels);
    ptrdiff_t stride = planes[0].row_stride;
    return pixels->height > 0 && used > 0 && stride >= (ptrdiff_t)used && stride <= INT32_MAX &&
           l2k_are_packed(planes, pixels->components, pixels->type) &&
           l2k_cuda_is_pinned(planes[0].data, (size_t)(pixels->height - 1) * (size_t)stride + used);
}

/* ---- Packing ------------------------------------------------------------------------------------------------- */

l2k_pixel_row row_of(void *data, ptrdiff_t stride, l2k_sample_type type)
{
    return l2k_pixel_row{data, stride, type, {0, INT32_MIN, INT32_MAX}};
}

/* Copies row y of one plane into the packed row, or out of it. */
void copy_plane_row(const l2k_cuda_pixels *pixels, const l2k_plane *plane, unsigned k, uint32_t y, char *row, bool in)
{
    const size_t bytes = l2k_sample_bytes(pixels->type);
    const l2k_pixel_row caller = row_of(l2k_sample_at(plane, 0, y), plane->sample_stride, plane->type);
    const l2k_pixel_row packed = row_of(row + k * bytes, (ptrdiff_t)(pixels->components * bytes), pixels->type);
    l2k_pixels_convert(l2k_pixel_rows_get(L2K_CPU_AUTO), in ? &caller : &packed, in ? &packed : &caller, pixels->width);
}

/* Copies rows y0 .. y1 - 1 between the caller's planes and pinned memory. */
void copy_rows(const l2k_cuda_pixels *pixels, const l2k_plane *planes, uint32_t y0, uint32_t y1, char *staged, bool in)
{
    bool packed = l2k_are_packed(planes, pixels->components, pixels->type);
    for (uint32_t y = y0; y < y1; y++, staged += pixels->row_bytes) {
        char *caller = (char *)l2k_sample_at(planes, 0, y);
        if (packed)
            memcpy(in ? staged : caller, in ? caller : staged, used_row_bytes(pixels));
        for (unsigned k = 0; k < pixels->components && !packed; k++)
            copy_plane_row(pixels, &planes[k], k, y, staged, in);
    }
}

/* ---- Copies -------------------------------------------------------------------------------------------------- */

/* Finds room for an upload behind `used` bytes; without room, waits until these have arrived. */
l2k_status take_staging(const l2k_context *context, const l2k_cuda_pixels *pixels, size_t bytes, cudaStream_t stream,
                        size_t *used, char **at)
{
    if (*used + bytes > pixels->staging_bytes) {
        L2K_TRY(l2k_cuda_check(context, cudaStreamSynchronize(stream), "uploading samples"));
        *used = 0;
    }
    *at = pixels->staging + *used;
    *used += bytes;
    return L2K_OK;
}

uint32_t rows_in_chunk(const l2k_cuda_pixels *pixels)
{
    size_t rows = pixels->row_bytes ? CHUNK_BYTES / pixels->row_bytes : 1;
    return rows < 1 ? 1 : rows > UINT32_MAX ? UINT32_MAX : (uint32_t)rows;
}

/* Directly, or through pinned memory, of which `used` bytes are in use, a chunk at a time. */
l2k_status upload(const l2k_context *context, const l2k_cuda_pixels *pixels, const l2k_plane *planes,
                  cudaStream_t stream, size_t *used)
{
    if (goes_directly(pixels, planes))
        return l2k_cuda_check(context,
                              cudaMemcpy2DAsync(pixels->device, pixels->row_bytes, planes[0].data,
                                                (size_t)planes[0].row_stride, used_row_bytes(pixels), pixels->height,
                                                cudaMemcpyHostToDevice, stream),
                              "uploading samples");
    const uint32_t rows = rows_in_chunk(pixels);
    for (uint32_t y = 0; y < pixels->height;) {
        const uint32_t end = pixels->height - y < rows ? pixels->height : y + rows;
        const size_t bytes = (end - y) * pixels->row_bytes;
        char *staged;
        L2K_TRY(take_staging(context, pixels, bytes, stream, used, &staged));
        copy_rows(pixels, planes, y, end, staged, true);
        L2K_TRY(l2k_cuda_check(
            context,
            cudaMemcpyAsync(pixels->device + y * pixels->row_bytes, staged, bytes, cudaMemcpyHostToDevice, stream),
            "uploading samples"));
        y = end;
    }
    return L2K_OK;
}

l2k_status download(const l2k_context *context, const l2k_cuda_pixels *pixels, const l2k_plane *planes, bool direct,
                    cudaStream_t stream)
{
    return l2k_cuda_check(context,
                          direct ? cudaMemcpy2DAsync(planes[0].data, (size_t)planes[0].row_stride, pixels->device,
                                                     pixels->row_bytes, used_row_bytes(pixels), pixels->height,
                                                     cudaMemcpyDeviceToHost, stream)
                                 : cudaMemcpyAsync(pixels->staging, pixels->device, l2k_cuda_pixel_bytes(pixels),
                                                   cudaMemcpyDeviceToHost, stream),
                          "downloading samples");
}

/* ---- Three planes that are interleaved, or separated, on the device ------------------------------------------ */

/* Rows of whole words, so that kernels load words. */
size_t planar_row_bytes(const l2k_cuda_pixels *pixels)
{
    return ((size_t)pixels->width * l2k_sample_bytes(pixels->type) + 3) / 4 * 4;
}

/* Adjacent samples, so not interleaved ones, and room for the planes. */
bool goes_planar(const l2k_cuda_pixels *pixels, const l2k_plane *planes)
{
    const size_t plane = planar_row_bytes(pixels) * pixels->height;
    if (pixels->components != 3 || plane == 0 || plane > pixels->planar_bytes ||
        3 * plane > pixels->row_bytes * pixels->height)
        return false;
    for (unsigned k = 0; k < 3; k++)
        if (planes[k].sample_stride != (ptrdiff_t)l2k_sample_bytes(planes[k].type))
            return false;
    return true;
}

/* Plane k on the device as pixels of one component. Samples as large as the caller's need no conversion. */
l2k_cuda_pixels planar_pixels(const l2k_cuda_pixels *pixels, unsigned k, const l2k_plane *plane)
{
    l2k_cuda_pixels own = *pixels;
    own.components = 1;
    own.row_bytes = planar_row_bytes(pixels);
    own.device = pixels->planar[k];
    if (l2k_sample_bytes(plane->type) == l2k_sample_bytes(pixels->type))
        own.type = plane->type;
    return own;
}

/* The same, with a part of the pinned memory to itself. */
l2k_cuda_pixels staged_pixels(const l2k_cuda_pixels *pixels, unsigned k, const l2k_plane *plane)
{
    l2k_cuda_pixels own = planar_pixels(pixels, k, plane);
    own.staging += k * l2k_cuda_pixel_bytes(&own);
    return own;
}

l2k_status upload_planar(const l2k_context *context, const l2k_cuda_pixels *pixels, const l2k_plane *planes,
                         cudaStream_t stream)
{
    const ptrdiff_t bytes = (ptrdiff_t)l2k_sample_bytes(pixels->type);
    l2k_plane on_device[3];
    size_t used = 0;
    for (unsigned k = 0; k < 3; k++) {
        const l2k_cuda_pixels own = planar_pixels(pixels, k, &planes[k]);
        on_device[k] = l2k_plane{own.device, (ptrdiff_t)own.row_bytes, bytes, pixels->type};
        L2K_TRY(upload(context, &own, &planes[k], stream, &used));
    }
    return l2k_cuda_check(context, l2k_cuda_pack(pixels, on_device, stream), "interleaving samples");
}

/* Separates into the memory of the coefficients, which the transform has read. */
l2k_status download_planar(const l2k_context *context, l2k_cuda_pixels *pixels, const l2k_plane *planes,
                           cudaStream_t stream)
{
    L2K_TRY(l2k_cuda_check(context, l2k_cuda_separate(pixels, planar_row_bytes(pixels), stream), "separating samples"));
    for (unsigned k = 0; k < 3; k++) {
        const l2k_cuda_pixels own = staged_pixels(pixels, k, &planes[k]);
        pixels->direct_planes[k] = goes_directly(&own, &planes[k]);
        L2K_TRY(download(context, &own, &planes[k], pixels->direct_planes[k], stream));
    }
    return L2K_OK;
}

void unpack_planar(const l2k_cuda_pixels *pixels, const l2k_plane *planes)
{
    for (unsigned k = 0; k < 3; k++) {
        const l2k_cuda_pixels own = staged_pixels(pixels, k, &planes[k]);
        if (!pixels->direct_planes[k])
            copy_rows(&own, &planes[k], 0, own.height, own.staging, false);
    }
}

} // namespace

extern "C" l2k_cuda_pixels l2k_cuda_pixels_of(const l2k_plan_spec *spec, uint32_t first)
{
    l2k_cuda_pixels pixels = {};
    const l2k_plan_component *components = &spec->components[first];
    pixels.components = l2k_cuda_interleaved(spec, first);
    pixels.type = l2k_packed_type(components, pixels.components);
    l2k_rect output = l2k_plan_output(spec->direction, components);
    pixels.width = l2k_rect_width(output);
    pixels.height = l2k_rect_height(output);
    pixels.row_bytes = (used_row_bytes(&pixels) + 31) / 32 * 32;
    pixels.staging_bytes = l2k_cuda_pixel_bytes(&pixels);
    const size_t most = pixels.row_bytes > UPLOAD_BYTES ? pixels.row_bytes : UPLOAD_BYTES;
    if (spec->direction == L2K_FORWARD && pixels.staging_bytes > most)
        pixels.staging_bytes = most;
    return pixels;
}

extern "C" size_t l2k_cuda_pixel_bytes(const l2k_cuda_pixels *pixels)
{
    return pixels->row_bytes * pixels->height;
}

extern "C" l2k_status l2k_cuda_upload_pixels(const l2k_context *context, const l2k_cuda_pixels *pixels,
                                             const l2k_plane *planes, void *stream)
{
    size_t used = 0;
    if (goes_planar(pixels, planes))
        return upload_planar(context, pixels, planes, (cudaStream_t)stream);
    return upload(context, pixels, planes, (cudaStream_t)stream, &used);
}

extern "C" l2k_status l2k_cuda_download_pixels(const l2k_context *context, l2k_cuda_pixels *pixels,
                                               const l2k_plane *planes, void *stream)
{
    pixels->direct = goes_directly(pixels, planes);
    pixels->separated = goes_planar(pixels, planes);
    return pixels->separated ? download_planar(context, pixels, planes, (cudaStream_t)stream)
                             : download(context, pixels, planes, pixels->direct, (cudaStream_t)stream);
}

extern "C" void l2k_cuda_unpack_pixels(const l2k_cuda_pixels *pixels, const l2k_plane *planes)
{
    if (pixels->separated)
        unpack_planar(pixels, planes);
    else if (!pixels->direct)
        copy_rows(pixels, planes, 0, pixels->height, pixels->staging, false);
}
