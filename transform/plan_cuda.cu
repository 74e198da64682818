/* The CUDA backend. A plan owns device memory for pixels, LL samples and coefficients, pinned host memory for what
 * crosses the bus, a stream, and a graph of its launches, which is captured when the plan is made. */
#include <cuda_runtime.h>

#include <string.h>

extern "C" {
#include "base/memory.h"
#include "transform/backend.h"
#include "transform/cuda_device.h"
#include "transform/cuda_levels.h"
#include "transform/layout.h"
}

namespace
{

/* Pixels cross the bus packed: one component, or the three of a component transform interleaved. */
struct packed_pixels {
    l2k_sample_type type;
    size_t sample_bytes, samples_per_pixel, row_bytes, bytes;
    char *device, *host;
};

struct cuda_state {
    cudaStream_t stream;
    cudaGraphExec_t graph;
    packed_pixels *pixels; /* per component; of a joined triple only the first has memory */
    void **coefficients;   /* per component, device */
    l2k_plane *planes;     /* per component, device */
    char *low;             /* LL samples between launches */
};

cuda_state *state_of(const l2k_plan *plan)
{
    return (cuda_state *)plan->state;
}

size_t round_up(size_t n, size_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

/* ---- Sizes --------------------------------------------------------------------------------------------------- */

size_t view_bytes(const l2k_coefficients *view)
{
    return round_up(view->stride * view->height * l2k_coefficient_bytes(view->type), 256);
}

/* The smallest type that holds the samples; a triple is wide enough for its widest component. */
packed_pixels pack_pixels(const l2k_plan_spec *spec, uint32_t first, unsigned lanes)
{
    packed_pixels p = {};
    unsigned precision = 0;
    bool any_signed = false;
    for (unsigned lane = 0; lane < lanes; lane++) {
        const l2k_plan_component *component = &spec->components[first + lane];
        unsigned bits = component->precision;
        precision = bits > precision ? bits : precision;
        any_signed = any_signed || component->is_signed;
    }
    if (any_signed)
        p.type = precision <= 8 ? L2K_SAMPLE_S8 : precision <= 16 ? L2K_SAMPLE_S16 : L2K_SAMPLE_S32;
    else
        p.type = precision <= 8 ? L2K_SAMPLE_U8 : precision <= 16 ? L2K_SAMPLE_U16 : L2K_SAMPLE_S32;
    p.sample_bytes = p.type <= L2K_SAMPLE_S8 ? 1 : p.type <= L2K_SAMPLE_S16 ? 2 : 4;
    p.samples_per_pixel = lanes;
    l2k_rect whole =
        l2k_resolution_rect(spec->components[first].rect, l2k_discarded(spec->direction, &spec->components[first]));
    p.row_bytes = round_up(l2k_rect_width(whole) * p.sample_bytes * lanes, 128);
    p.bytes = p.row_bytes * l2k_rect_height(whole);
    return p;
}

/* All launches of a plan between its own buffers. */
int launch_all(const l2k_plan *plan, cudaStream_t stream)
{
    const cuda_state *s = state_of(plan);
    for (uint32_t c = 0; c < plan->spec.num_components;) {
        unsigned lanes = l2k_cuda_lanes(&plan->spec, c);
        const packed_pixels *pixels = &s->pixels[c];
        for (unsigned lane = 0; lane < lanes; lane++, c++)
            s->planes[c] = l2k_plane{pixels->device + lane * pixels->sample_bytes, (ptrdiff_t)pixels->row_bytes,
                                     (ptrdiff_t)(lanes * pixels->sample_bytes), pixels->type};
    }
    return l2k_cuda_run_levels(plan, s->planes, s->coefficients, s->low, stream);
}

/* ---- Making and freeing -------------------------------------------------------------------------------------- */

/* Cleared, because whole rows cross the bus, with the gaps between what kernels write. */
l2k_status take_device(const l2k_plan *plan, size_t bytes, void **memory)
{
    bytes = bytes ? bytes : 1;
    L2K_TRY(l2k_cuda_check(plan->context, cudaMalloc(memory, bytes), "allocating device memory"));
    return l2k_cuda_check(plan->context, cudaMemset(*memory, 0, bytes), "clearing device memory");
}

l2k_status take_host(const l2k_plan *plan, size_t bytes, void **memory)
{
    return l2k_cuda_check(plan->context, cudaMallocHost(memory, bytes ? bytes : 1), "allocating pinned memory");
}

l2k_status take_pixels(l2k_plan *plan)
{
    cuda_state *s = state_of(plan);
    for (uint32_t c = 0; c < plan->spec.num_components;) {
        unsigned lanes = l2k_cuda_lanes(&plan->spec, c);
        s->pixels[c] = pack_pixels(&plan->spec, c, lanes);
        void *device = NULL, *host = NULL;
        L2K_TRY(take_device(plan, s->pixels[c].bytes, &device));
        s->pixels[c].device = (char *)device;
        L2K_TRY(take_host(plan, s->pixels[c].bytes, &host));
        s->pixels[c].host = (char *)host;
        c += lanes;
    }
    return L2K_OK;
}

l2k_status take_memory(l2k_plan *plan)
{
    cuda_state *s = state_of(plan);
    void *low = NULL;
    L2K_TRY(take_device(plan, l2k_cuda_low_bytes(&plan->spec), &low));
    s->low = (char *)low;
    for (uint32_t c = 0; c < plan->spec.num_components; c++) {
        L2K_TRY(take_device(plan, view_bytes(&plan->views[c]), &s->coefficients[c]));
        if (!plan->spec.on_device)
            L2K_TRY(take_host(plan, view_bytes(&plan->views[c]), &plan->views[c].base));
        else
            plan->views[c].base = s->coefficients[c];
        plan->views[c].on_device = plan->spec.on_device;
    }
    return plan->spec.on_device ? L2K_OK : take_pixels(plan);
}

/* The launches are always the same, so they are recorded once. */
l2k_status record(l2k_plan *plan)
{
    cuda_state *s = state_of(plan);
    cudaGraph_t graph = NULL;
    L2K_TRY(l2k_cuda_check(plan->context, cudaStreamBeginCapture(s->stream, cudaStreamCaptureModeThreadLocal),
                           "recording the launches"));
    int launched = launch_all(plan, s->stream);
    int ended = cudaStreamEndCapture(s->stream, &graph);
    l2k_status status = l2k_cuda_check(plan->context, launched != cudaSuccess ? launched : ended, "recording the launches");
    if (status == L2K_OK)
        status = l2k_cuda_check(plan->context, cudaGraphInstantiate(&s->graph, graph, 0), "recording the launches");
    if (graph)
        cudaGraphDestroy(graph);
    return status;
}

l2k_status create(l2k_plan *plan)
{
    const l2k_context *context = plan->context;
    size_t count = plan->spec.num_components;
    char reason[160];
    if (!l2k_cuda_usable(reason, sizeof reason))
        return l2k_fail(context, L2K_ERROR_BACKEND, "CUDA: no usable GPU: %s", reason);
    cuda_state *s = (cuda_state *)l2k_allocate_zeroed(context, 1, sizeof *s);
    plan->state = s;
    if (!s)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for the wavelet transform");
    s->pixels = (packed_pixels *)l2k_allocate_zeroed(context, count, sizeof *s->pixels);
    s->coefficients = (void **)l2k_allocate_zeroed(context, count, sizeof *s->coefficients);
    s->planes = (l2k_plane *)l2k_allocate_zeroed(context, count, sizeof *s->planes);
    if (!s->pixels || !s->coefficients || !s->planes)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for the wavelet transform");
    L2K_TRY(take_memory(plan));
    if (plan->spec.on_device)
        return L2K_OK;
    L2K_TRY(l2k_cuda_check(context, cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking), "making a stream"));
    return record(plan);
}

void destroy(l2k_plan *plan)
{
    cuda_state *s = state_of(plan);
    if (!s)
        return;
    if (s->graph)
        cudaGraphExecDestroy(s->graph);
    if (s->stream)
        cudaStreamDestroy(s->stream);
    for (uint32_t c = 0; c < plan->spec.num_components; c++) {
        if (s->pixels) {
            cudaFree(s->pixels[c].device);
            cudaFreeHost(s->pixels[c].host);
        }
        if (s->coefficients) {
            cudaFree(s->coefficients[c]);
            if (!plan->spec.on_device)
                cudaFreeHost(plan->views[c].base);
        }
    }
    cudaFree(s->low);
    l2k_release(plan->context, s->planes);
    l2k_release(plan->context, s->pixels);
    l2k_release(plan->context, s->coefficients);
    l2k_release(plan->context, s);
}

/* ---- Running on the host's memory ---------------------------------------------------------------------------- */

int32_t load_sample(const char *at, l2k_sample_type type)
{
    union {
        uint8_t u8;
        int8_t s8;
        uint16_t u16;
        int16_t s16;
        int32_t s32;
    } v;
    memcpy(&v, at, type <= L2K_SAMPLE_S8 ? 1 : type <= L2K_SAMPLE_S16 ? 2 : 4);
    switch (type) {
    case L2K_SAMPLE_U8:
        return v.u8;
    case L2K_SAMPLE_S8:
        return v.s8;
    case L2K_SAMPLE_U16:
        return v.u16;
    case L2K_SAMPLE_S16:
        return v.s16;
    default:
        return v.s32;
    }
}

/* Two's complement: the low bytes are right for every type (little-endian hosts, as CUDA's all are). */
void store_sample(char *at, size_t bytes, int32_t value)
{
    memcpy(at, &value, bytes);
}

/* Whether the caller's planes are laid out as the packed pixels are, but for the distance of rows. */
bool is_packed(const packed_pixels *pixels, const l2k_plane *planes)
{
    for (size_t lane = 0; lane < pixels->samples_per_pixel; lane++)
        if (planes[lane].type != pixels->type || planes[lane].row_stride != planes[0].row_stride ||
            planes[lane].sample_stride != (ptrdiff_t)(pixels->samples_per_pixel * pixels->sample_bytes) ||
            (char *)planes[lane].data != (char *)planes[0].data + lane * pixels->sample_bytes)
            return false;
    return true;
}

size_t caller_sample_bytes(l2k_sample_type type)
{
    return type <= L2K_SAMPLE_S8 ? 1 : type <= L2K_SAMPLE_S16 ? 2 : 4;
}

/* Rows y0 .. y1 - 1 between the caller's planes and pinned memory. */
void copy_rows(const packed_pixels *pixels, const l2k_plane *planes, uint32_t width, uint32_t y0, uint32_t y1, bool in)
{
    size_t lanes = pixels->samples_per_pixel, bytes = pixels->sample_bytes;
    bool packed = is_packed(pixels, planes);
    for (uint32_t y = y0; y < y1; y++) {
        char *row = pixels->host + y * pixels->row_bytes;
        if (packed) {
            char *caller = (char *)planes[0].data + (ptrdiff_t)y * planes[0].row_stride;
            memcpy(in ? row : caller, in ? caller : row, width * lanes * bytes);
            continue;
        }
        for (size_t lane = 0; lane < lanes; lane++)
            for (uint32_t x = 0; x < width; x++) {
                char *caller = (char *)planes[lane].data + (ptrdiff_t)y * planes[lane].row_stride +
                               (ptrdiff_t)x * planes[lane].sample_stride;
                char *at = row + (x * lanes + lane) * bytes;
                if (in)
                    store_sample(at, bytes, load_sample(caller, planes[lane].type));
                else
                    store_sample(caller, caller_sample_bytes(planes[lane].type), load_sample(at, pixels->type));
            }
    }
}

/* Rows that cross the bus while the next ones are copied. */
uint32_t rows_in_chunk(const packed_pixels *pixels)
{
    size_t rows = pixels->row_bytes ? ((size_t)4 << 20) / pixels->row_bytes : 1;
    return rows < 1 ? 1 : rows > UINT32_MAX ? UINT32_MAX : (uint32_t)rows;
}

l2k_status upload_pixels(l2k_plan *plan, uint32_t c, const l2k_plane *planes)
{
    cuda_state *s = state_of(plan);
    const packed_pixels *pixels = &s->pixels[c];
    uint32_t width = plan->views[c].width, height = plan->views[c].height, step = rows_in_chunk(pixels);
    for (uint32_t y = 0; y < height; y += step) {
        uint32_t end = height - y < step ? height : y + step;
        copy_rows(pixels, planes, width, y, end, true);
        size_t offset = y * pixels->row_bytes;
        L2K_TRY(l2k_cuda_check(plan->context,
                               cudaMemcpyAsync(pixels->device + offset, pixels->host + offset,
                                               (end - y) * pixels->row_bytes, cudaMemcpyHostToDevice, s->stream),
                               "uploading samples"));
    }
    return L2K_OK;
}

l2k_status copy_coefficients(l2k_plan *plan, cudaMemcpyKind kind)
{
    cuda_state *s = state_of(plan);
    for (uint32_t c = 0; c < plan->spec.num_components; c++) {
        void *host = plan->views[c].base, *device = s->coefficients[c];
        bool up = kind == cudaMemcpyHostToDevice;
        L2K_TRY(l2k_cuda_check(plan->context,
                               cudaMemcpyAsync(up ? device : host, up ? host : device, view_bytes(&plan->views[c]), kind,
                                               s->stream),
                               "copying coefficients"));
    }
    return L2K_OK;
}

l2k_status run_graph(l2k_plan *plan)
{
    cuda_state *s = state_of(plan);
    return l2k_cuda_check(plan->context, cudaGraphLaunch(s->graph, s->stream), "launching the transform");
}

l2k_status wait(l2k_plan *plan)
{
    return l2k_cuda_check(plan->context, cudaStreamSynchronize(state_of(plan)->stream), "running the transform");
}

/* Host memory is for pixels; whoever has float samples has them on the device. */
l2k_status refuse_floats(const l2k_plan *plan, const l2k_plane *planes)
{
    for (uint32_t c = 0; c < plan->spec.num_components; c++)
        if (planes[c].type == L2K_SAMPLE_F32)
            return l2k_fail(plan->context, L2K_ERROR_ARGUMENT, "CUDA: float samples must be in device memory");
    return L2K_OK;
}

l2k_status forward(l2k_plan *plan, const l2k_plane *planes)
{
    L2K_TRY(refuse_floats(plan, planes));
    for (uint32_t c = 0; c < plan->spec.num_components; c += l2k_cuda_lanes(&plan->spec, c))
        L2K_TRY(upload_pixels(plan, c, planes + c));
    L2K_TRY(run_graph(plan));
    L2K_TRY(copy_coefficients(plan, cudaMemcpyDeviceToHost));
    return wait(plan);
}

l2k_status inverse(l2k_plan *plan, const l2k_plane *planes)
{
    cuda_state *s = state_of(plan);
    L2K_TRY(refuse_floats(plan, planes));
    L2K_TRY(copy_coefficients(plan, cudaMemcpyHostToDevice));
    L2K_TRY(run_graph(plan));
    for (uint32_t c = 0; c < plan->spec.num_components; c += l2k_cuda_lanes(&plan->spec, c))
        L2K_TRY(l2k_cuda_check(plan->context,
                               cudaMemcpyAsync(s->pixels[c].host, s->pixels[c].device, s->pixels[c].bytes,
                                               cudaMemcpyDeviceToHost, s->stream),
                               "downloading samples"));
    L2K_TRY(wait(plan)); /* the caller's planes are only touched once everything is there */
    for (uint32_t c = 0; c < plan->spec.num_components; c += l2k_cuda_lanes(&plan->spec, c))
        copy_rows(&s->pixels[c], planes + c, plan->views[c].width, 0, plan->views[c].height, false);
    return L2K_OK;
}

/* ---- Running on the device's memory -------------------------------------------------------------------------- */

l2k_status run_on_device(l2k_plan *plan, const l2k_plane *planes, void *stream)
{
    int error = l2k_cuda_run_levels(plan, planes, state_of(plan)->coefficients, state_of(plan)->low, stream);
    return l2k_cuda_check(plan->context, error, "launching the transform");
}

} // namespace

extern "C" uint64_t l2k_plan_device_bytes(const l2k_plan_spec *spec)
{
    uint64_t bytes = l2k_cuda_low_bytes(spec);
    for (uint32_t c = 0; c < spec->num_components; c++) {
        l2k_coefficients view;
        l2k_layout(spec->direction, spec->type, &spec->components[c], &view);
        bytes += view_bytes(&view);
    }
    for (uint32_t c = 0; c < spec->num_components && !spec->on_device; c += l2k_cuda_lanes(spec, c))
        bytes += pack_pixels(spec, c, l2k_cuda_lanes(spec, c)).bytes;
    return bytes;
}

extern "C" const l2k_backend_functions l2k_backend_cuda = {create, destroy, forward, inverse, run_on_device};
