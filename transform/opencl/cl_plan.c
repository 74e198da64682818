/* The OpenCL backend of the transform. A plan owns a queue, its kernels, and buffers: the coefficients of all
 * components, LL between levels, and, if its planes are in host memory, pixels and staging. */
#include "base/memory.h"
#include "base/run.h"
#include "base/sample.h"
#include "transform/backend.h"
#include "transform/layout.h"
#include "transform/opencl/cl_levels.h"

typedef struct cl_state {
    l2k_cl_levels levels;
    cl_command_queue queue;
    cl_mem *parts;         /* of the coefficients, one per component, if these stay on the device; else: */
    l2k_cl_pinned pinned;  /* host memory for all coefficients */
    size_t bytes;          /* of all coefficients */
    l2k_cl_pixels *pixels; /* per component, host plans; only the first of three that are transformed together */
    l2k_cl_plane *planes;  /* of the current run, per component */
} cl_state;

/* ---- Devices ------------------------------------------------------------------------------------------------- */

static bool usable(int device, char *text, size_t bytes)
{
    return l2k_cl_find(device, text, bytes);
}

static bool has_gpu(void)
{
    const l2k_cl_device *d = l2k_cl_find(-1, NULL, 0);
    return d && d->is_gpu;
}

static uint32_t count(void)
{
    return l2k_cl_count(NULL);
}

static bool describe(uint32_t device, l2k_device_info *info)
{
    *info = l2k_cl_device_at(device)->info;
    return true;
}

/* For a caller's own use. */
static void *context_of(int device)
{
    const l2k_context context = {.devices = device < 0 ? 0 : (uint64_t)1 << device};
    l2k_cl_device *opened;
    return device < L2K_MOST_DEVICES && l2k_cl_open(&context, &opened) == L2K_OK ? opened->context : NULL;
}

static const char *cpu_reason(const l2k_context *context, const l2k_plan_spec *spec)
{
    const l2k_cl_device *d = l2k_cl_find(l2k_device_of_share(context, 0), NULL, 0);
    for (uint32_t c = 0; c < spec->num_components; c++) {
        if (spec->components[c].wavelet > L2K_WAVELET_9_7)
            return "OpenCL has the wavelets of Part 1; the others are transformed on the CPU";
        if (spec->components[c].wavelet != spec->components[0].wavelet)
            return "OpenCL takes components of one wavelet; others are transformed on the CPU";
        if (!l2k_splits_all(spec->components[c].unsplit))
            return L2K_SPLIT_REASON;
    }
    return spec->components[0].wavelet == L2K_WAVELET_9_7 && d && !d->lifts_floats
               ? "this OpenCL device does not round floats as the 9/7 must; it is transformed on the CPU"
               : NULL;
}

/* ---- Memory -------------------------------------------------------------------------------------------------- */

enum { GUARD_BYTES = 256, USUAL_ALIGNMENT = 512, MOST_SIDE = 1 << 30 };

static bool coefficients_stay(const l2k_plan_spec *spec)
{
    return spec->memory != L2K_PLAN_HOST;
}

/* Components begin at the alignment of sub-buffers, with some unused bytes between them. */
static size_t view_bytes(uint32_t alignment, const l2k_coefficients *view)
{
    const size_t unit = alignment > GUARD_BYTES ? alignment : GUARD_BYTES;
    const size_t bytes = view->stride * view->height * l2k_coefficient_bytes(view->type);
    return (bytes + unit - 1) / unit * unit + unit;
}

/* Kernels count samples of a row, and rows, in 32 bits. */
static l2k_status check_sides(const l2k_plan *plan)
{
    for (uint32_t c = 0; c < plan->spec.num_components; c++)
        if (plan->views[c].stride > MOST_SIDE || plan->views[c].height > MOST_SIDE)
            return l2k_fail(plan->context, L2K_ERROR_BACKEND, "component %u: OpenCL: sides of 2^30 or more",
                            (unsigned)c);
    return L2K_OK;
}

static l2k_status take_state(l2k_plan *plan)
{
    const l2k_context *context = plan->context;
    const size_t count = plan->spec.num_components;
    cl_state *s = l2k_allocate_zeroed(context, 1, sizeof *s);
    plan->state = s;
    if (s) {
        s->levels.first = l2k_allocate_zeroed(context, count, sizeof *s->levels.first);
        s->parts = l2k_allocate_zeroed(context, count, sizeof *s->parts);
        s->pixels = l2k_allocate_zeroed(context, count, sizeof *s->pixels);
        s->planes = l2k_allocate_zeroed(context, count, sizeof *s->planes);
    }
    L2K_TRY(
        l2k_check_memory(context, s && s->levels.first && s->parts && s->pixels && s->planes, "the wavelet transform"));
    return L2K_OK;
}

/* Clears the memory, because whole rows cross the bus, including gaps that kernels do not write. */
static l2k_status take_coefficients(l2k_plan *plan)
{
    cl_state *s = plan->state;
    l2k_cl_levels *levels = &s->levels;
    const cl_uchar zero = 0;
    for (uint32_t c = 0; c < plan->spec.num_components; c++) {
        levels->first[c] = s->bytes / l2k_coefficient_bytes(plan->spec.type);
        s->bytes += view_bytes(levels->device->alignment, &plan->views[c]);
    }
    L2K_TRY(l2k_cl_buffer(plan->context, levels->device, CL_MEM_READ_WRITE, s->bytes, &levels->coefficients));
    L2K_CL_TRY(plan->context, EnqueueFillBuffer,
               (s->queue, levels->coefficients, &zero, sizeof zero, 0, s->bytes, 0, NULL, NULL));
    return L2K_OK;
}

static l2k_status take_part(l2k_plan *plan, uint32_t c)
{
    cl_state *s = plan->state;
    cl_int error;
    const cl_buffer_region region = {s->levels.first[c] * l2k_coefficient_bytes(plan->spec.type),
                                     view_bytes(s->levels.device->alignment, &plan->views[c])};
    s->parts[c] = l2k_cl.CreateSubBuffer(s->levels.coefficients, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                                         &region, &error);
    plan->views[c].base = s->parts[c];
    plan->views[c].on_device = true;
    return l2k_cl_check(plan->context, error, "clCreateSubBuffer");
}

static l2k_status take_views(l2k_plan *plan)
{
    cl_state *s = plan->state;
    if (!coefficients_stay(&plan->spec))
        L2K_TRY(l2k_cl_pin(plan->context, s->levels.device, s->queue, &s->pinned, s->bytes));
    for (uint32_t c = 0; c < plan->spec.num_components; c++) {
        if (coefficients_stay(&plan->spec))
            L2K_TRY(take_part(plan, c));
        else
            plan->views[c].base = s->pinned.at + s->levels.first[c] * l2k_coefficient_bytes(plan->spec.type);
    }
    return L2K_OK;
}

static l2k_status take_pixels(l2k_plan *plan)
{
    cl_state *s = plan->state;
    for (uint32_t c = 0; c < plan->spec.num_components && !l2k_plan_on_device(&plan->spec);
         c += s->pixels[c].components) {
        l2k_cl_pixels *pixels = &s->pixels[c];
        *pixels = l2k_cl_pixels_of(&plan->spec, c);
        const size_t bytes = l2k_cl_pixel_bytes(pixels);
        L2K_TRY(l2k_cl_buffer(plan->context, s->levels.device, CL_MEM_READ_WRITE, bytes, &pixels->memory));
        L2K_TRY(l2k_cl_pin(plan->context, s->levels.device, s->queue, &pixels->staging, bytes));
    }
    return L2K_OK;
}

/* Of any device whose sub-buffers are aligned as usual. */
static uint64_t device_bytes(const l2k_plan_spec *spec)
{
    uint64_t bytes = l2k_cl_low_bytes(spec);
    for (uint32_t c = 0; c < spec->num_components; c++) {
        l2k_coefficients view;
        l2k_layout(spec->direction, spec->type, &spec->components[c], &view);
        bytes += view_bytes(USUAL_ALIGNMENT, &view);
    }
    for (uint32_t c = 0; c < spec->num_components && !l2k_plan_on_device(spec);) {
        const l2k_cl_pixels pixels = l2k_cl_pixels_of(spec, c);
        bytes += l2k_cl_pixel_bytes(&pixels);
        c += pixels.components;
    }
    return bytes;
}

/* ---- Creation and release ------------------------------------------------------------------------------------ */

static l2k_status create(l2k_plan *plan)
{
    L2K_TRY(check_sides(plan));
    L2K_TRY(take_state(plan));
    cl_state *s = plan->state;
    l2k_cl_levels *levels = &s->levels;
    L2K_TRY(l2k_cl_open(plan->context, &levels->device));
    L2K_TRY(l2k_cl_queue(plan->context, levels->device, false, &s->queue));
    plan->stream = s->queue;
    levels->narrow = l2k_cl_low_type(&plan->spec);
    L2K_TRY(
        l2k_cl_buffer(plan->context, levels->device, CL_MEM_READ_WRITE, l2k_cl_low_bytes(&plan->spec), &levels->low));
    L2K_TRY(take_coefficients(plan));
    L2K_TRY(take_views(plan));
    L2K_TRY(take_pixels(plan));
    L2K_CL_TRY(plan->context, Finish, (s->queue));
    return L2K_OK;
}

static void release_memory(cl_mem memory)
{
    if (memory)
        l2k_cl.ReleaseMemObject(memory);
}

/* These calls return errors of earlier calls, which have been reported. */
static void destroy(l2k_plan *plan)
{
    cl_state *s = plan->state;
    if (!s)
        return;
    if (s->queue)
        l2k_cl.Finish(s->queue);
    l2k_cl_unpin(s->queue, &s->pinned);
    l2k_cl_release_kernels(&s->levels);
    for (uint32_t c = 0; c < plan->spec.num_components; c++) {
        if (s->parts)
            release_memory(s->parts[c]);
        if (s->pixels) {
            release_memory(s->pixels[c].memory);
            l2k_cl_unpin(s->queue, &s->pixels[c].staging);
        }
    }
    release_memory(s->levels.coefficients);
    release_memory(s->levels.low);
    if (s->queue)
        l2k_cl.ReleaseCommandQueue(s->queue);
    l2k_release(plan->context, s->planes);
    l2k_release(plan->context, s->pixels);
    l2k_release(plan->context, s->parts);
    l2k_release(plan->context, s->levels.first);
    l2k_release(plan->context, s);
}

/* ---- Running on the host's memory ---------------------------------------------------------------------------- */

/* The host measures times, and waits for each stage if they are wanted. */
static l2k_status end_stage(const l2k_plan *plan, l2k_stage stage, double *start)
{
    if (!l2k_is_timed(plan->context))
        return L2K_OK;
    L2K_CL_TRY(plan->context, Finish, (((cl_state *)plan->state)->queue));
    l2k_stage_end(plan->context, stage, *start);
    *start = l2k_stage_start(plan->context);
    return L2K_OK;
}

static l2k_status enqueue_forward(l2k_plan *plan, const l2k_plane *planes)
{
    cl_state *s = plan->state;
    double start = l2k_stage_start(plan->context);
    for (uint32_t c = 0; c < plan->spec.num_components; c += s->pixels[c].components) {
        l2k_cl_place_pixels(&s->pixels[c], &planes[c], &s->planes[c]);
        L2K_TRY(l2k_cl_upload_pixels(plan->context, &s->pixels[c], &planes[c], s->queue));
    }
    L2K_TRY(end_stage(plan, L2K_STAGE_UPLOAD, &start));
    L2K_TRY(l2k_cl_run_levels(plan, &s->levels, s->planes, s->queue));
    L2K_TRY(end_stage(plan, L2K_STAGE_TRANSFORM, &start));
    if (coefficients_stay(&plan->spec))
        return L2K_OK;
    L2K_CL_TRY(plan->context, EnqueueReadBuffer,
               (s->queue, s->levels.coefficients, CL_FALSE, 0, s->bytes, s->pinned.at, 0, NULL, NULL));
    return end_stage(plan, L2K_STAGE_DOWNLOAD, &start);
}

static l2k_status enqueue_inverse(l2k_plan *plan, const l2k_plane *planes)
{
    cl_state *s = plan->state;
    double start = l2k_stage_start(plan->context);
    if (!coefficients_stay(&plan->spec))
        L2K_CL_TRY(plan->context, EnqueueWriteBuffer,
                   (s->queue, s->levels.coefficients, CL_FALSE, 0, s->bytes, s->pinned.at, 0, NULL, NULL));
    L2K_TRY(end_stage(plan, L2K_STAGE_UPLOAD, &start));
    for (uint32_t c = 0; c < plan->spec.num_components; c += s->pixels[c].components)
        l2k_cl_place_pixels(&s->pixels[c], &planes[c], &s->planes[c]);
    L2K_TRY(l2k_cl_run_levels(plan, &s->levels, s->planes, s->queue));
    L2K_TRY(end_stage(plan, L2K_STAGE_TRANSFORM, &start));
    for (uint32_t c = 0; c < plan->spec.num_components; c += s->pixels[c].components)
        L2K_TRY(l2k_cl_download_pixels(plan->context, &s->pixels[c], s->queue));
    return end_stage(plan, L2K_STAGE_DOWNLOAD, &start);
}

/* ---- On the device's memory ---------------------------------------------------------------------------------- */

/* Planes that share a memory object are interleaved there, in the order of the components. */
static l2k_status place_planes(l2k_plan *plan, const l2k_plane *planes)
{
    cl_state *s = plan->state;
    for (uint32_t c = 0; c < plan->spec.num_components; c++) {
        const l2k_plane *plane = &planes[c];
        int64_t at = 0;
        if (plane->row_stride < 0 || plane->sample_stride < 0)
            return l2k_fail(plan->context, L2K_ERROR_ARGUMENT, "component %u: OpenCL: a negative stride", (unsigned)c);
        for (uint32_t other = 0; other < c; other++)
            at += planes[other].data == plane->data ? (int64_t)l2k_sample_bytes(planes[other].type) : 0;
        s->planes[c] = (l2k_cl_plane){plane->data, at, plane->row_stride, plane->sample_stride, plane->type};
    }
    return L2K_OK;
}

static l2k_status run_in(l2k_plan *plan, const l2k_plane *planes, cl_command_queue queue)
{
    cl_state *s = plan->state;
    L2K_TRY(place_planes(plan, planes));
    L2K_TRY(l2k_cl_run_levels(plan, &s->levels, s->planes, queue));
    L2K_CL_TRY(plan->context, Flush, (queue));
    return L2K_OK;
}

/* Without a queue of the caller, runs in the plan's own and waits for it. */
static l2k_status run_on_device(l2k_plan *plan, const l2k_plane *planes, void *stream)
{
    cl_state *s = plan->state;
    if (stream)
        return run_in(plan, planes, stream);
    L2K_TRY(run_in(plan, planes, s->queue));
    L2K_CL_TRY(plan->context, Finish, (s->queue));
    return L2K_OK;
}

/* ---- Begin and finish ---------------------------------------------------------------------------------------- */

static l2k_status enqueue_run(l2k_plan *plan, const l2k_plane *planes)
{
    double start = l2k_stage_start(plan->context);
    if (l2k_plan_on_device(&plan->spec)) {
        L2K_TRY(run_in(plan, planes, ((cl_state *)plan->state)->queue));
        return end_stage(plan, L2K_STAGE_TRANSFORM, &start);
    }
    return plan->spec.direction == L2K_FORWARD ? enqueue_forward(plan, planes) : enqueue_inverse(plan, planes);
}

static l2k_status begin(l2k_plan *plan, const l2k_plane *planes)
{
    cl_state *s = plan->state;
    l2k_status status = enqueue_run(plan, planes);
    if (status == L2K_OK)
        status = l2k_cl_check(plan->context, l2k_cl.Flush(s->queue), "clFlush");
    if (status != L2K_OK)
        l2k_cl.Finish(s->queue); /* nothing may use the planes after the return */
    return status;
}

static l2k_status finish(l2k_plan *plan, const l2k_plane *planes)
{
    cl_state *s = plan->state;
    L2K_CL_TRY(plan->context, Finish, (s->queue));
    if (l2k_plan_on_device(&plan->spec) || plan->spec.direction == L2K_FORWARD)
        return L2K_OK;
    for (uint32_t c = 0; c < plan->spec.num_components; c += s->pixels[c].components)
        l2k_cl_unpack_pixels(plan->context, &s->pixels[c], &planes[c]);
    return L2K_OK;
}

/* ---- Among other queues -------------------------------------------------------------------------------------- */

static l2k_status follow(l2k_plan *plan, void *stream)
{
    cl_state *s = plan->state;
    cl_event reached;
    L2K_CL_TRY(plan->context, EnqueueMarkerWithWaitList, (stream, 0, NULL, &reached));
    cl_int error = l2k_cl.EnqueueBarrierWithWaitList(s->queue, 1, &reached, NULL);
    l2k_cl.ReleaseEvent(reached);
    L2K_TRY(l2k_cl_check(plan->context, error, "clEnqueueBarrierWithWaitList"));
    L2K_CL_TRY(plan->context, Flush, (stream)); /* or the wait might not end */
    return L2K_OK;
}

static const l2k_device_functions devices = {.cpu_reason = cpu_reason,
                                             .bytes = device_bytes,
                                             .context = context_of,
                                             .usable = usable,
                                             .has_gpu = has_gpu,
                                             .count = count,
                                             .describe = describe};

const l2k_backend_functions l2k_backend_opencl = {.kind = L2K_BACKEND_OPENCL,
                                                  .device = &devices,
                                                  .create = create,
                                                  .free = destroy,
                                                  .begin = begin,
                                                  .finish = finish,
                                                  .run_on_device = run_on_device,
                                                  .follow = follow};
