/* The CUDA backend of the transform. A plan owns one block of device memory for coefficients, pixels and LL samples,
 * one of pinned host memory for what crosses the bus, a stream, and a graph of its launches, recorded when the plan is
 * made. */
#include <cuda_runtime.h>

#include <stdio.h>

extern "C" {
#include "base/memory.h"
#include "base/run.h"
#include "base/sample.h"
#include "transform/backend.h"
#include "transform/cuda/cuda_device.h"
#include "transform/cuda/cuda_levels.h"
#include "transform/cuda/cuda_staging.h"
#include "transform/layout.h"
}

namespace
{

struct cuda_state {
    cudaStream_t stream;
    cudaGraphExec_t graph;
    char *device, *pinned;    /* the two blocks */
    size_t coefficient_bytes; /* both start with the coefficients of all components */
    l2k_cuda_pixels *pixels;  /* per component, host plans; only the first of a joined triple is used */
    void **coefficients;      /* per component, device */
    l2k_plane *planes;        /* per component, device, host plans */
    char *low;                /* LL samples between launches */
    cudaEvent_t marks[4];     /* if timed: before and after upload, transform, download */
    cudaEvent_t others;       /* work of another stream that this one waits for */
};

cuda_state *state_of(const l2k_plan *plan)
{
    return (cuda_state *)plan->state;
}

/* ---- Memory -------------------------------------------------------------------------------------------------- */

/* Parts start at multiples of 256 bytes with at least 256 unused bytes between them: in a single allocation, only these
 * can reveal writes outside a part. */
const size_t GUARD_BYTES = 256;

size_t with_guard(size_t bytes)
{
    return (bytes + 255) / 256 * 256 + GUARD_BYTES;
}

size_t view_bytes(const l2k_coefficients *view)
{
    return with_guard(view->stride * view->height * l2k_coefficient_bytes(view->type));
}

/* Kernels count bytes of a row in 32 bits. */
l2k_status check_widths(const l2k_plan *plan)
{
    for (uint32_t c = 0; c < plan->spec.num_components; c++)
        if (plan->views[c].stride * l2k_coefficient_bytes(plan->views[c].type) > INT32_MAX)
            return l2k_fail(plan->context, L2K_ERROR_BACKEND,
                            "component %u: CUDA: rows of 2 GiB of coefficients or more", (unsigned)c);
    return L2K_OK;
}

/* Where the parts of a plan begin, in bytes, after the coefficients. The pinned block holds coefficients if they cross
 * the bus, then pixels or a part of them at a time. */
struct block_layout {
    size_t pixels, low, end, pinned_pixels, pinned_end;
};

/* Whether the pixels of the components from c on have memory in the plan. */
bool has_pixels(const l2k_plan_spec *spec, uint32_t c)
{
    return !l2k_plan_on_device(spec) || (spec->memory == L2K_PLAN_DEVICE_PACKED && l2k_cuda_interleaved(spec, c) == 3);
}

bool coefficients_stay(const l2k_plan_spec *spec)
{
    return spec->memory != L2K_PLAN_HOST;
}

block_layout lay_out(const l2k_plan_spec *spec)
{
    block_layout layout = {};
    for (uint32_t c = 0; c < spec->num_components; c++) {
        l2k_coefficients view;
        l2k_layout(spec->direction, spec->type, &spec->components[c], &view);
        layout.pixels += view_bytes(&view);
    }
    layout.low = layout.pixels;
    layout.pinned_end = layout.pinned_pixels = coefficients_stay(spec) ? 0 : layout.pixels;
    for (uint32_t c = 0; c < spec->num_components; c += l2k_cuda_interleaved(spec, c)) {
        if (!has_pixels(spec, c))
            continue;
        l2k_cuda_pixels pixels = l2k_cuda_pixels_of(spec, c);
        layout.low += with_guard(l2k_cuda_pixel_bytes(&pixels));
        layout.pinned_end += with_guard(pixels.staging_bytes);
    }
    layout.end = layout.low + with_guard(l2k_cuda_low_bytes(spec));
    return layout;
}

/* Device memory is cleared because whole rows cross the bus, including gaps that kernels do not write. */
l2k_status take_blocks(l2k_plan *plan, const block_layout *layout)
{
    cuda_state *s = state_of(plan);
    char what[80];
    snprintf(what, sizeof what, "allocating %zu bytes of device memory", layout->end);
    L2K_TRY(l2k_cuda_check(plan->context, cudaMalloc((void **)&s->device, layout->end), what));
    L2K_TRY(
        l2k_cuda_check(plan->context, cudaMemsetAsync(s->device, 0, layout->end, s->stream), "clearing device memory"));
    L2K_TRY(l2k_cuda_check(plan->context, cudaStreamSynchronize(s->stream), "clearing device memory"));
    if (l2k_plan_on_device(&plan->spec))
        return L2K_OK;
    snprintf(what, sizeof what, "allocating %zu bytes of pinned memory", layout->pinned_end);
    return l2k_cuda_check(plan->context, cudaMallocHost((void **)&s->pinned, layout->pinned_end), what);
}

void share_out_coefficients(l2k_plan *plan)
{
    cuda_state *s = state_of(plan);
    const bool stay = coefficients_stay(&plan->spec);
    size_t offset = 0;
    for (uint32_t c = 0; c < plan->spec.num_components; c++) {
        s->coefficients[c] = s->device + offset;
        plan->views[c].base = (stay ? s->device : s->pinned) + offset;
        plan->views[c].on_device = stay;
        offset += view_bytes(&plan->views[c]);
    }
}

void share_out_pixels(l2k_plan *plan, const block_layout *layout)
{
    cuda_state *s = state_of(plan);
    size_t offset = layout->pixels, pinned = layout->pinned_pixels;
    for (uint32_t c = 0; c < plan->spec.num_components; c += s->pixels[c].components) {
        l2k_cuda_pixels *pixels = &s->pixels[c];
        *pixels = l2k_cuda_pixels_of(&plan->spec, c);
        if (!has_pixels(&plan->spec, c))
            continue;
        pixels->device = s->device + offset;
        pixels->staging = s->pinned ? s->pinned + pinned : NULL;
        pinned += with_guard(pixels->staging_bytes);
        if (pixels->components == 3) { /* used before coefficients are written, or after they have been read */
            const l2k_coefficients *view = &plan->views[c];
            for (unsigned k = 0; k < 3; k++)
                pixels->planar[k] = (char *)s->coefficients[c + k];
            pixels->planar_bytes = view->stride * view->height * l2k_coefficient_bytes(view->type);
        }
        offset += with_guard(l2k_cuda_pixel_bytes(pixels));
        size_t bytes = l2k_sample_bytes(pixels->type);
        for (unsigned k = 0; k < pixels->components; k++)
            s->planes[c + k] = l2k_plane{pixels->device + k * bytes, (ptrdiff_t)pixels->row_bytes,
                                         (ptrdiff_t)(pixels->components * bytes), pixels->type};
    }
}

l2k_status take_memory(l2k_plan *plan)
{
    cuda_state *s = state_of(plan);
    block_layout layout = lay_out(&plan->spec);
    L2K_TRY(take_blocks(plan, &layout));
    s->low = s->device + layout.low;
    s->coefficient_bytes = layout.pixels;
    share_out_coefficients(plan);
    share_out_pixels(plan, &layout);
    if (l2k_plan_on_device(&plan->spec) && plan->spec.direction == L2K_FORWARD) {
        plan->idle = s->device + layout.pixels;
        plan->idle_bytes = layout.low + l2k_cuda_low_bytes(&plan->spec) - layout.pixels;
    }
    return L2K_OK;
}

/* ---- Creation and release ------------------------------------------------------------------------------------ */

/* Launches do not change from run to run, so they are recorded once. */
l2k_status record(l2k_plan *plan)
{
    cuda_state *s = state_of(plan);
    cudaGraph_t graph = NULL;
    L2K_TRY(l2k_cuda_check(plan->context, cudaStreamBeginCapture(s->stream, cudaStreamCaptureModeThreadLocal),
                           "recording the launches"));
    int launched = l2k_cuda_run_levels(plan, s->planes, s->coefficients, s->low, s->stream);
    int ended = cudaStreamEndCapture(s->stream, &graph);
    l2k_status status =
        l2k_cuda_check(plan->context, launched != cudaSuccess ? launched : ended, "recording the launches");
    if (status == L2K_OK)
        status = l2k_cuda_check(plan->context, cudaGraphInstantiate(&s->graph, graph, 0), "recording the launches");
    if (graph)
        cudaGraphDestroy(graph);
    return status;
}

l2k_status take_state(l2k_plan *plan)
{
    const l2k_context *context = plan->context;
    size_t count = plan->spec.num_components;
    cuda_state *s = (cuda_state *)l2k_allocate_zeroed(context, 1, sizeof *s);
    plan->state = s;
    if (s) {
        s->pixels = (l2k_cuda_pixels *)l2k_allocate_zeroed(context, count, sizeof *s->pixels);
        s->coefficients = (void **)l2k_allocate_zeroed(context, count, sizeof *s->coefficients);
        s->planes = (l2k_plane *)l2k_allocate_zeroed(context, count, sizeof *s->planes);
    }
    L2K_TRY(l2k_check_memory(context, s && s->pixels && s->coefficients && s->planes, "the wavelet transform"));
    return L2K_OK;
}

l2k_status create(l2k_plan *plan)
{
    char reason[160];
    if (!l2k_cuda_usable(l2k_device_of_share(plan->context, 0), reason, sizeof reason))
        return l2k_fail(plan->context, L2K_ERROR_BACKEND, "CUDA: no usable GPU: %s", reason);
    L2K_TRY(check_widths(plan));
    L2K_TRY(take_state(plan));
    L2K_TRY(l2k_cuda_check(plan->context, cudaStreamCreateWithFlags(&state_of(plan)->stream, cudaStreamNonBlocking),
                           "making a stream"));
    plan->stream = state_of(plan)->stream;
    L2K_TRY(take_memory(plan));
    return l2k_plan_on_device(&plan->spec) ? L2K_OK : record(plan);
}

/* These calls return errors of earlier calls, which have been reported. */
void destroy(l2k_plan *plan)
{
    cuda_state *s = state_of(plan);
    if (!s)
        return;
    for (cudaEvent_t mark : s->marks)
        if (mark)
            cudaEventDestroy(mark);
    if (s->others)
        cudaEventDestroy(s->others);
    if (s->stream) {
        cudaStreamSynchronize(s->stream);
        cudaStreamDestroy(s->stream);
    }
    if (s->graph)
        cudaGraphExecDestroy(s->graph);
    if (s->device)
        cudaFree(s->device);
    if (s->pinned)
        cudaFreeHost(s->pinned);
    l2k_release(plan->context, s->planes);
    l2k_release(plan->context, s->pixels);
    l2k_release(plan->context, s->coefficients);
    l2k_release(plan->context, s);
}

/* ---- Running on the host's memory ---------------------------------------------------------------------------- */

/* Records event `number` in the stream if the call is timed. */
l2k_status mark(const l2k_plan *plan, int number)
{
    cuda_state *s = state_of(plan);
    if (!l2k_is_timed(plan->context))
        return L2K_OK;
    cudaError_t error = s->marks[number] ? cudaSuccess : cudaEventCreate(&s->marks[number]);
    if (error == cudaSuccess)
        error = cudaEventRecord(s->marks[number], s->stream);
    return l2k_cuda_check(plan->context, error, "timing the transform");
}

/* To be called once all events are complete. */
void add_times(const l2k_plan *plan)
{
    static const l2k_stage stages[3] = {L2K_STAGE_UPLOAD, L2K_STAGE_TRANSFORM, L2K_STAGE_DOWNLOAD};
    const cuda_state *s = state_of(plan);
    float milliseconds = 0;
    for (int i = 0; i < 3 && l2k_is_timed(plan->context); i++)
        if (cudaEventElapsedTime(&milliseconds, s->marks[i], s->marks[i + 1]) == cudaSuccess)
            l2k_stage_add(plan->context, stages[i], 1e-3 * milliseconds);
}

l2k_status launch(const l2k_plan *plan)
{
    const cuda_state *s = state_of(plan);
    L2K_TRY(mark(plan, 1));
    L2K_TRY(l2k_cuda_check(plan->context, cudaGraphLaunch(s->graph, s->stream), "launching the transform"));
    return mark(plan, 2);
}

l2k_status enqueue_forward(l2k_plan *plan, const l2k_plane *planes)
{
    cuda_state *s = state_of(plan);
    for (uint32_t c = 0; c < plan->spec.num_components; c += s->pixels[c].components)
        L2K_TRY(l2k_cuda_upload_pixels(plan->context, &s->pixels[c], planes + c, s->stream));
    L2K_TRY(launch(plan));
    if (coefficients_stay(&plan->spec))
        return L2K_OK;
    return l2k_cuda_check(
        plan->context, cudaMemcpyAsync(s->pinned, s->device, s->coefficient_bytes, cudaMemcpyDeviceToHost, s->stream),
        "downloading coefficients");
}

l2k_status enqueue_inverse(l2k_plan *plan, const l2k_plane *planes)
{
    cuda_state *s = state_of(plan);
    if (!coefficients_stay(&plan->spec))
        L2K_TRY(l2k_cuda_check(
            plan->context,
            cudaMemcpyAsync(s->device, s->pinned, s->coefficient_bytes, cudaMemcpyHostToDevice, s->stream),
            "uploading coefficients"));
    L2K_TRY(launch(plan));
    for (uint32_t c = 0; c < plan->spec.num_components; c += s->pixels[c].components)
        L2K_TRY(l2k_cuda_download_pixels(plan->context, &s->pixels[c], planes + c, s->stream));
    return L2K_OK;
}

/* Kernels count bytes of a row in 32 bits. */
l2k_status check_strides(const l2k_plan *plan, const l2k_plane *planes)
{
    for (uint32_t c = 0; c < plan->spec.num_components; c++)
        if (planes[c].row_stride != (int32_t)planes[c].row_stride ||
            planes[c].sample_stride != (int32_t)planes[c].sample_stride)
            return l2k_fail(plan->context, L2K_ERROR_ARGUMENT, "component %u: CUDA: rows are 2 GiB or more apart",
                            (unsigned)c);
    return L2K_OK;
}

l2k_status run_on_device(l2k_plan *plan, const l2k_plane *planes, void *stream)
{
    const cuda_state *s = state_of(plan);
    L2K_TRY(check_strides(plan, planes));
    int error = l2k_cuda_run_levels(plan, planes, s->coefficients, s->low, stream);
    return l2k_cuda_check(plan->context, error, "launching the transform");
}

/* The planes of a component transform as they are, or interleaved in the plan's memory. */
l2k_status pack_planes(l2k_plan *plan, const l2k_plane **planes)
{
    cuda_state *s = state_of(plan);
    const l2k_cuda_pixels *pixels = &s->pixels[0];
    if (plan->spec.memory != L2K_PLAN_DEVICE_PACKED || pixels->components != 3 ||
        l2k_are_packed(*planes, 3, pixels->type))
        return L2K_OK;
    L2K_TRY(l2k_cuda_check(plan->context, l2k_cuda_pack(pixels, *planes, s->stream), "interleaving samples"));
    for (uint32_t c = 3; c < plan->spec.num_components; c++)
        s->planes[c] = (*planes)[c];
    *planes = s->planes;
    return L2K_OK;
}

l2k_status enqueue_on_device(l2k_plan *plan, const l2k_plane *planes)
{
    L2K_TRY(mark(plan, 1));
    L2K_TRY(check_strides(plan, planes));
    L2K_TRY(pack_planes(plan, &planes));
    L2K_TRY(run_on_device(plan, planes, state_of(plan)->stream));
    return mark(plan, 2);
}

l2k_status begin(l2k_plan *plan, const l2k_plane *planes)
{
    bool forward = plan->spec.direction == L2K_FORWARD;
    l2k_status status = mark(plan, 0);
    if (status == L2K_OK && l2k_plan_on_device(&plan->spec))
        status = enqueue_on_device(plan, planes);
    else if (status == L2K_OK)
        status = forward ? enqueue_forward(plan, planes) : enqueue_inverse(plan, planes);
    if (status == L2K_OK)
        status = mark(plan, 3);
    if (status != L2K_OK)
        cudaStreamSynchronize(state_of(plan)->stream); /* nothing may write to the planes after the return */
    return status;
}

l2k_status finish(l2k_plan *plan, const l2k_plane *planes)
{
    cuda_state *s = state_of(plan);
    L2K_TRY(l2k_cuda_check(plan->context, cudaStreamSynchronize(s->stream), "running the transform"));
    add_times(plan);
    if (l2k_plan_on_device(&plan->spec) || plan->spec.direction == L2K_FORWARD)
        return L2K_OK;
    for (uint32_t c = 0; c < plan->spec.num_components; c += s->pixels[c].components)
        l2k_cuda_unpack_pixels(&s->pixels[c], planes + c);
    return L2K_OK;
}

/* ---- Among other streams ------------------------------------------------------------------------------------- */

l2k_status follow(l2k_plan *plan, void *stream)
{
    cuda_state *s = state_of(plan);
    cudaError_t error = cudaSuccess;
    if (!s->others)
        error = cudaEventCreateWithFlags(&s->others, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaEventRecord(s->others, (cudaStream_t)stream);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(s->stream, s->others, 0);
    return l2k_cuda_check(plan->context, error, "waiting for another stream");
}

} // namespace

extern "C" uint64_t l2k_plan_device_bytes(const l2k_plan_spec *spec)
{
    return lay_out(spec).end;
}

static const l2k_device_functions devices = {NULL,           l2k_plan_device_bytes, NULL, l2k_cuda_usable, NULL,
                                             l2k_cuda_count, l2k_cuda_describe};

extern "C" const l2k_backend_functions l2k_backend_cuda = {L2K_BACKEND_CUDA, &devices,      create, destroy, begin,
                                                           finish,           run_on_device, follow};
