/* Samples between the caller's planes and the device. */
#include "transform/opencl/cl_levels.h"

#include <string.h>

#include "base/integer.h"
#include "base/sample.h"
#include "tiling/pixel/pixel_rows.h"
#include "transform/layout.h"

enum { ROW_ALIGNMENT = 16 }; /* a work-item's load */

l2k_cl_pixels l2k_cl_pixels_of(const l2k_plan_spec *spec, uint32_t c)
{
    const l2k_plan_component *components = &spec->components[c];
    const l2k_rect output = l2k_plan_output(spec->direction, components);
    l2k_cl_pixels pixels = {.components = spec->component_transform && c == 0 ? 3 : 1,
                            .width = l2k_rect_width(output),
                            .height = l2k_rect_height(output)};
    pixels.type = l2k_packed_type(components, pixels.components);
    const size_t bytes = l2k_sample_bytes(pixels.type) * (size_t)pixels.width;
    pixels.row_bytes = (bytes + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
    return pixels;
}

size_t l2k_cl_pixel_bytes(const l2k_cl_pixels *pixels)
{
    return pixels->components * pixels->row_bytes * pixels->height;
}

/* ---- Places -------------------------------------------------------------------------------------------------- */

void l2k_cl_place_pixels(l2k_cl_pixels *pixels, const l2k_plane *planes, l2k_cl_plane *placed)
{
    const size_t bytes = l2k_sample_bytes(pixels->type);
    pixels->triples = pixels->components == 3 && l2k_are_packed(planes, 3, pixels->type);
    for (unsigned k = 0; k < pixels->components; k++) {
        pixels->converted[k] = !pixels->triples && !l2k_are_packed(&planes[k], 1, pixels->type);
        placed[k] = (l2k_cl_plane){.memory = pixels->memory,
                                   .at = (int64_t)(k * (pixels->triples ? bytes : pixels->row_bytes * pixels->height)),
                                   .row_stride = (int64_t)(pixels->row_bytes * (pixels->triples ? 3 : 1)),
                                   .sample_stride = (int64_t)(bytes * (pixels->triples ? 3 : 1)),
                                   .type = pixels->type};
    }
}

/* ---- Packing ------------------------------------------------------------------------------------------------- */

/* A chunk crosses the bus while the host copies the next one; each thread copies a part of it. */
enum { CHUNK_BYTES = 4 << 20, PART_BYTES = 1 << 20 };

/* A row of the layout is one of a plane, or of triples. */
static size_t row_bytes(const l2k_cl_pixels *pixels)
{
    return pixels->row_bytes * (pixels->triples ? 3 : 1);
}

static size_t count_rows(const l2k_cl_pixels *pixels)
{
    return (size_t)pixels->height * (pixels->triples ? 1 : pixels->components);
}

static l2k_pixel_row row_of(void *data, ptrdiff_t stride, l2k_sample_type type)
{
    return (l2k_pixel_row){data, stride, type, {0, INT32_MIN, INT32_MAX}};
}

static void copy_row(const l2k_context *context, const l2k_cl_pixels *pixels, const l2k_plane *planes, size_t row,
                     bool in)
{
    const size_t k = row / pixels->height, bytes = l2k_sample_bytes(pixels->type);
    void *staged = pixels->staging.at + row * row_bytes(pixels);
    void *caller = l2k_sample_at(&planes[k], 0, (uint32_t)(row % pixels->height));
    if (!pixels->converted[k]) {
        memcpy(in ? staged : caller, in ? caller : staged, bytes * pixels->width * (pixels->triples ? 3 : 1));
        return;
    }
    const l2k_pixel_row theirs = row_of(caller, planes[k].sample_stride, planes[k].type);
    const l2k_pixel_row packed = row_of(staged, (ptrdiff_t)bytes, pixels->type);
    l2k_pixels_convert(l2k_pixel_rows_get(context->cpu), in ? &theirs : &packed, in ? &packed : &theirs, pixels->width);
}

static void copy_rows(const l2k_context *context, const l2k_cl_pixels *pixels, const l2k_plane *planes, size_t first,
                      size_t end, bool in)
{
    const size_t parts = (end - first) * row_bytes(pixels) / PART_BYTES;
    const int threads = (int)l2k_min_u32(context->threads, parts < UINT16_MAX ? (uint32_t)parts + 1 : UINT16_MAX);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t row = (int64_t)first; row < (int64_t)end; row++)
        copy_row(context, pixels, planes, (size_t)row, in);
}

/* ---- Copies -------------------------------------------------------------------------------------------------- */

l2k_status l2k_cl_upload_pixels(const l2k_context *context, const l2k_cl_pixels *pixels, const l2k_plane *planes,
                                cl_command_queue queue)
{
    const size_t stride = row_bytes(pixels), rows = stride ? count_rows(pixels) : 0;
    const size_t chunk = CHUNK_BYTES / (stride + 1) + 1;
    for (size_t row = 0; row < rows; row += chunk) {
        const size_t end = row + chunk < rows ? row + chunk : rows;
        copy_rows(context, pixels, planes, row, end, true);
        L2K_CL_TRY(context, EnqueueWriteBuffer,
                   (queue, pixels->memory, CL_FALSE, row * stride, (end - row) * stride,
                    pixels->staging.at + row * stride, 0, NULL, NULL));
        L2K_CL_TRY(context, Flush, (queue));
    }
    return L2K_OK;
}

l2k_status l2k_cl_download_pixels(const l2k_context *context, const l2k_cl_pixels *pixels, cl_command_queue queue)
{
    const size_t bytes = l2k_cl_pixel_bytes(pixels);
    if (bytes)
        L2K_CL_TRY(context, EnqueueReadBuffer,
                   (queue, pixels->memory, CL_FALSE, 0, bytes, pixels->staging.at, 0, NULL, NULL));
    return L2K_OK;
}

void l2k_cl_unpack_pixels(const l2k_context *context, const l2k_cl_pixels *pixels, const l2k_plane *planes)
{
    copy_rows(context, pixels, planes, 0, count_rows(pixels), false);
}
