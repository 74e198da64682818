/* opencl_parity [CASES [SEED [SIDE]]]: compares the OpenCL backend with the CPU's on random shapes, as gpu_parity does
 * CUDA's: coefficients and samples must be equal bit for bit. Two concurrent host plans, and planes in memory objects on
 * a caller's queue. Exits with 77 without an OpenCL device, unless L2K_REQUIRE_OPENCL=1. */
#include "tests/gpu/parity_cases.h"
#include "tests/gpu/require.h"
#include "transform/opencl/cl_runtime.h"

/* Of the shared cases: host memory is all alike here. */
void *gpu_take_pinned(size_t bytes)
{
    return malloc(bytes);
}

void gpu_give_back_pinned(void *pinned)
{
    free(pinned);
}

void gpu_copy_out(void *host, const void *device, size_t bytes)
{
    (void)device;
    memset(host, 0xFF, bytes);
    exit(1); /* memory objects are no addresses */
}

/* ---- Memory objects ------------------------------------------------------------------------------------------ */

static cl_context cl;
static cl_command_queue queue;

static void must(cl_int error)
{
    if (error == CL_SUCCESS)
        return;
    fprintf(stderr, "an OpenCL call of the test: error %d\n", (int)error);
    exit(1);
}

static cl_mem take(const void *from, size_t bytes)
{
    cl_int error;
    cl_mem memory = l2k_cl.CreateBuffer(cl, CL_MEM_READ_WRITE, bytes, NULL, &error);
    must(error);
    must(l2k_cl.EnqueueWriteBuffer(queue, memory, CL_TRUE, 0, bytes, from, 0, NULL, NULL));
    return memory;
}

/* The planes of a picture: interleaved ones share a memory object. */
static void to_device(const test_case *t, const picture *p, size_t bytes[MAX_COMPONENTS],
                      l2k_plane planes[MAX_COMPONENTS])
{
    for (uint32_t c = 0; c < t->spec.num_components; c++) {
        planes[c] = p->planes[c];
        bytes[c] = (size_t)(p->memory + p->bytes - (uint8_t *)p->planes[c].data);
        planes[c].data = t->interleaved && c > 0 ? planes[0].data : take(p->planes[c].data, bytes[c]);
    }
}

/* Compares, and releases them. */
static bool same_planes(const test_case *t, const picture *p, const size_t bytes[MAX_COMPONENTS],
                        const l2k_plane planes[MAX_COMPONENTS])
{
    bool same = true;
    for (uint32_t c = 0; c < (t->interleaved ? 1 : t->spec.num_components); c++) {
        const size_t used = l2k_plane_extent(&p->planes[c], p->width, p->height);
        uint8_t *copy = malloc(bytes[c]);
        must(copy ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY);
        must(l2k_cl.EnqueueReadBuffer(queue, planes[c].data, CL_TRUE, 0, bytes[c], copy, 0, NULL, NULL));
        same = same && memcmp(copy, p->planes[c].data, t->interleaved ? bytes[c] : used) == 0;
        for (size_t i = bytes[c] - GUARD; i < bytes[c]; i++)
            same = same && copy[i] == 0xA5;
        free(copy);
        must(l2k_cl.ReleaseMemObject(planes[c].data));
    }
    return same;
}

enum { VIEW_GUARD = 256 };

static l2k_coefficients host_copy(const l2k_coefficients *view)
{
    l2k_coefficients copy = *view;
    copy.on_device = false;
    copy.base = malloc(view_bytes(view) + VIEW_GUARD);
    must(copy.base ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY);
    must(l2k_cl.EnqueueReadBuffer(queue, view->base, CL_TRUE, 0, view_bytes(view) + VIEW_GUARD, copy.base, 0, NULL,
                                  NULL));
    return copy;
}

/* Inverse: copies the CPU's coefficients to the device. Forward: poisons the device's. */
static void give_coefficients(const test_case *t, const l2k_plan *cpu, const l2k_plan *plan)
{
    for (uint32_t c = 0; c < t->spec.num_components; c++) {
        const l2k_coefficients *view = l2k_plan_coefficients(plan, c);
        l2k_coefficients copy = host_copy(view);
        if (t->spec.direction == L2K_INVERSE)
            fill_coefficients(t, l2k_plan_coefficients(cpu, c), &copy);
        else
            poison(&copy);
        if (view_bytes(view))
            must(l2k_cl.EnqueueWriteBuffer(queue, view->base, CL_TRUE, 0, view_bytes(view), copy.base, 0, NULL, NULL));
        free(copy.base);
    }
}

static bool check_view(const l2k_coefficients *expected, const l2k_coefficients *view)
{
    l2k_coefficients copy = host_copy(view);
    bool same = same_coefficients(expected, &copy) && guard_is_clean(&copy);
    free(copy.base);
    return same;
}

/* In the caller's queue, in that of the plan, or by begin and finish behind what is in the caller's. */
static bool run(l2k_plan *plan, const l2k_plane *planes)
{
    switch (below(3)) {
    case 0:
        return l2k_plan_run_on_device(plan, planes, queue) == L2K_OK && l2k_cl.Finish(queue) == CL_SUCCESS;
    case 1:
        return l2k_plan_run_on_device(plan, planes, NULL) == L2K_OK;
    default:
        return l2k_plan_follow(plan, queue) == L2K_OK && l2k_plan_begin(plan, planes) == L2K_OK &&
               l2k_plan_finish(plan) == L2K_OK;
    }
}

/* Forward: the device's picture must not change. Inverse: it must equal the CPU's result in the same memory. */
static bool test_device(const l2k_context *context, test_case *t)
{
    size_t bytes[MAX_COMPONENTS];
    l2k_plane planes[MAX_COMPONENTS];
    t->spec.memory = L2K_PLAN_DEVICE;
    t->pinned = false;
    set_direction(t, below(2) ? L2K_INVERSE : L2K_FORWARD);
    if (l2k_plan_wavelet(&t->components[0])->is_float && !t->spec.component_transform && below(2))
        t->type = L2K_SAMPLE_F32;
    bool forward = t->spec.direction == L2K_FORWARD;
    l2k_plan *cpu = make_plan(context, t, L2K_BACKEND_CPU), *plan = make_plan(context, t, L2K_BACKEND_OPENCL);
    picture p = make_picture(t, t->components[0].discard);
    if (forward)
        fill_picture(t, &p);
    to_device(t, &p, bytes, planes);
    give_coefficients(t, cpu, plan);
    bool same = run(plan, planes);
    same = l2k_plan_run(cpu, p.planes) == L2K_OK && same;
    same = same_planes(t, &p, bytes, planes) && same;
    for (uint32_t c = 0; c < t->spec.num_components && same; c++)
        same = check_view(l2k_plan_coefficients(cpu, c), l2k_plan_coefficients(plan, c));
    if (!same)
        describe(t, "DEVICE PATH DIFFERS");
    free_picture(&p);
    l2k_plan_free(cpu);
    l2k_plan_free(plan);
    return same;
}

int main(int argc, char **argv)
{
    const unsigned cases = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 400;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    const uint32_t most = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 600;
    const l2k_context context = {.hooks = {.message = print_message}, .threads = l2k_thread_count(0)};
    l2k_cl_device *device;
    const int ending = gpu_missing();
    if (ending)
        return ending;
    if (l2k_cl_open(&context, &device) != L2K_OK || l2k_cl_queue(&context, device, false, &queue) != L2K_OK)
        return 1;
    cl = device->context;
    const unsigned failed = run_cases(&context, L2K_BACKEND_OPENCL, test_device, cases, seed, most);
    l2k_cl.ReleaseCommandQueue(queue);
    return failed != 0;
}
