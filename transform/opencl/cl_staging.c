/* Samples between the caller's planes and the device. */
#include "transform/opencl/cl_staging.h"

#include "base/integer.h"
#include "base/sample.h"
#include "tiling/pixel/pixel_rows.h"
#include "transform/layout.h"

enum { ROW_ALIGNMENT = 16 }; /* a work-item's load */

static l2k_sample_type smallest_type(unsigned precision, bool is_signed)
{
    if (is_signed)
        return precision <= 8 ? L2K_SAMPLE_S8 : precision <= 16 ? L2K_SAMPLE_S16 : L2K_SAMPLE_S32;
    return precision <= 8 ? L2K_SAMPLE_U8 : precision <= 16 ? L2K_SAMPLE_U16 : L2K_SAMPLE_S32;
}

l2k_cl_pixels l2k_cl_pixels_of(const l2k_plan_spec *spec, uint32_t c)
{
    const l2k_plan_component *components = &spec->components[c];
    const l2k_rect output = l2k_plan_output(spec->direction, components);
    l2k_cl_pixels pixels = {.components = spec->component_transform && c == 0 ? 3 : 1,
                            .width = l2k_rect_width(output),
                            .height = l2k_rect_height(output)};
    bool any_signed = false;
    unsigned precision = 0;
    for (unsigned k = 0; k < pixels.components; k++)
        any_signed = any_signed || components[k].is_signed;
    for (unsigned k = 0; k < pixels.components; k++)
        precision = l2k_max_u32(precision, components[k].precision + (any_signed && !components[k].is_signed));
    pixels.type = smallest_type(precision, any_signed);
    const size_t bytes = l2k_sample_bytes(pixels.type) * (size_t)pixels.width;
    pixels.row_bytes = (bytes + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
    return pixels;
}

size_t l2k_cl_pixel_bytes(const l2k_cl_pixels *pixels)
{
    return pixels->components * pixels->row_bytes * pixels->height;
}

/* ---- Places -------------------------------------------------------------------------------------------------- */

/* Whether a copy can take the plane as rows of `count` samples. */
static bool has_rows(const l2k_cl_pixels *pixels, const l2k_plane *plane, unsigned count)
{
    const size_t bytes = l2k_sample_bytes(pixels->type);
    return l2k_sample_bytes(plane->type) == bytes && plane->sample_stride == (ptrdiff_t)(count * bytes) &&
           plane->row_stride >= (ptrdiff_t)(count * bytes * pixels->width);
}

static bool are_interleaved(const l2k_cl_pixels *pixels, const l2k_plane *planes)
{
    const size_t bytes = l2k_sample_bytes(pixels->type);
    for (unsigned k = 0; k < 3; k++)
        if (!has_rows(pixels, &planes[k], 3) || planes[k].row_stride != planes[0].row_stride ||
            planes[k].type != planes[0].type || (char *)planes[k].data != (char *)planes[0].data + k * bytes)
            return false;
    return true;
}

static bool is_interleaved(const l2k_cl_pixels *pixels, const l2k_cl_plane *placed)
{
    return pixels->components == 3 && placed[1].at == (int64_t)l2k_sample_bytes(pixels->type);
}

void l2k_cl_place_pixels(l2k_cl_pixels *pixels, const l2k_plane *planes, l2k_cl_plane *placed)
{
    const size_t bytes = l2k_sample_bytes(pixels->type);
    const bool triples = pixels->components == 3 && pixels->width > 0 && are_interleaved(pixels, planes);
    const bool alike =
        pixels->components == 1 || (planes[1].type == planes[0].type && planes[2].type == planes[0].type);
    for (unsigned k = 0; k < pixels->components; k++) {
        pixels->staged[k] = !triples && !(alike && has_rows(pixels, &planes[k], 1));
        placed[k] = (l2k_cl_plane){.memory = pixels->memory,
                                   .at = (int64_t)(k * (triples ? bytes : pixels->row_bytes * pixels->height)),
                                   .row_stride = (int64_t)(triples ? 3 * pixels->row_bytes : pixels->row_bytes),
                                   .sample_stride = (int64_t)(triples ? 3 * bytes : bytes),
                                   .type = alike && !pixels->staged[k] ? planes[0].type : pixels->type};
    }
    for (unsigned k = 0; k < pixels->components; k++) /* of one type */
        if (pixels->staged[k])
            for (unsigned other = 0; other < pixels->components; other++)
                placed[other].type = pixels->type;
}

/* ---- Packing ------------------------------------------------------------------------------------------------- */

static l2k_pixel_row row_of(void *data, ptrdiff_t stride, l2k_sample_type type)
{
    return (l2k_pixel_row){data, stride, type, {0, INT32_MIN, INT32_MAX}};
}

/* Copies a plane into its place in host memory, or out of it, sample by sample. */
static void copy_plane(const l2k_plan *plan, const l2k_cl_pixels *pixels, const l2k_plane *plane, unsigned k, bool in,
                       int32_t *values)
{
    const l2k_pixel_rows *rows = l2k_pixel_rows_get(plan->context->cpu);
    const ptrdiff_t bytes = (ptrdiff_t)l2k_sample_bytes(pixels->type);
    uint8_t *at = pixels->staging + (size_t)k * pixels->row_bytes * pixels->height;
    void *const row = values;
    for (uint32_t y = 0; y < pixels->height; y++, at += pixels->row_bytes) {
        const l2k_pixel_row caller = row_of(l2k_sample_at(plane, 0, y), plane->sample_stride, plane->type);
        const l2k_pixel_row packed = row_of(at, bytes, pixels->type);
        l2k_pixels_load(rows, false, 1, in ? &caller : &packed, pixels->width, &row);
        l2k_pixels_store(rows, false, 1, in ? &packed : &caller, pixels->width, &row);
    }
}

/* ---- Copies -------------------------------------------------------------------------------------------------- */

/* One copy: rows of a plane, or of interleaved pixels. */
typedef struct rows_copy {
    size_t bytes, device_stride, host_stride; /* of a row */
    size_t at, height;
    void *host;
} rows_copy;

static rows_copy copy_of(const l2k_cl_pixels *pixels, const l2k_plane *planes, const l2k_cl_plane *placed, unsigned k)
{
    const bool triples = is_interleaved(pixels, placed);
    rows_copy copy = {.bytes = l2k_sample_bytes(pixels->type) * pixels->width * (triples ? 3 : 1),
                      .device_stride = (size_t)placed[k].row_stride,
                      .host_stride = (size_t)planes[k].row_stride,
                      .at = (size_t)placed[k].at,
                      .height = pixels->height,
                      .host = planes[k].data};
    if (pixels->staged[k]) {
        copy.host_stride = pixels->row_bytes;
        copy.host = pixels->staging + copy.at;
    }
    return copy;
}

static bool is_whole(const rows_copy *copy)
{
    return copy->device_stride == copy->host_stride;
}

/* Rows with one stride, without the gap behind the last. */
static size_t whole_bytes(const rows_copy *copy)
{
    return copy->device_stride * (copy->height - 1) + copy->bytes;
}

static l2k_status upload(const l2k_context *context, cl_command_queue queue, cl_mem memory, const rows_copy *c)
{
    const size_t device[3] = {0, c->at / c->device_stride, 0}, host[3] = {0}, region[3] = {c->bytes, c->height, 1};
    if (is_whole(c))
        L2K_CL_TRY(context, EnqueueWriteBuffer,
                   (queue, memory, CL_FALSE, c->at, whole_bytes(c), c->host, 0, NULL, NULL));
    else
        L2K_CL_TRY(context, EnqueueWriteBufferRect,
                   (queue, memory, CL_FALSE, device, host, region, c->device_stride, 0, c->host_stride, 0, c->host, 0,
                    NULL, NULL));
    return L2K_OK;
}

/* Leaves the gaps between the caller's rows as they are. */
static l2k_status download(const l2k_context *context, cl_command_queue queue, cl_mem memory, const rows_copy *c)
{
    const size_t device[3] = {0, c->at / c->device_stride, 0}, host[3] = {0}, region[3] = {c->bytes, c->height, 1};
    if (is_whole(c) && (c->bytes == c->device_stride))
        L2K_CL_TRY(context, EnqueueReadBuffer,
                   (queue, memory, CL_FALSE, c->at, whole_bytes(c), c->host, 0, NULL, NULL));
    else
        L2K_CL_TRY(context, EnqueueReadBufferRect,
                   (queue, memory, CL_FALSE, device, host, region, c->device_stride, 0, c->host_stride, 0, c->host, 0,
                    NULL, NULL));
    return L2K_OK;
}

static unsigned count_copies(const l2k_cl_pixels *pixels, const l2k_cl_plane *placed)
{
    return pixels->width == 0 || pixels->height == 0 ? 0 : is_interleaved(pixels, placed) ? 1 : pixels->components;
}

l2k_status l2k_cl_upload_pixels(const l2k_plan *plan, const l2k_cl_pixels *pixels, const l2k_plane *planes,
                                const l2k_cl_plane *placed, cl_command_queue queue, int32_t *values)
{
    for (unsigned k = 0; k < count_copies(pixels, placed); k++) {
        const rows_copy copy = copy_of(pixels, planes, placed, k);
        if (pixels->staged[k])
            copy_plane(plan, pixels, &planes[k], k, true, values);
        L2K_TRY(upload(plan->context, queue, pixels->memory, &copy));
    }
    return L2K_OK;
}

l2k_status l2k_cl_download_pixels(const l2k_plan *plan, const l2k_cl_pixels *pixels, const l2k_plane *planes,
                                  const l2k_cl_plane *placed, cl_command_queue queue)
{
    for (unsigned k = 0; k < count_copies(pixels, placed); k++) {
        const rows_copy copy = copy_of(pixels, planes, placed, k);
        L2K_TRY(download(plan->context, queue, pixels->memory, &copy));
    }
    return L2K_OK;
}

void l2k_cl_unpack_pixels(const l2k_plan *plan, const l2k_cl_pixels *pixels, const l2k_plane *planes, int32_t *values)
{
    for (unsigned k = 0; k < pixels->components; k++)
        if (pixels->staged[k])
            copy_plane(plan, pixels, &planes[k], k, false, values);
}
