/* opencl_transform [DEVICE [SIDE ...]]: the transform stage of the OpenCL backend on planes and coefficients in device
 * memory, five levels, as microseconds a run and as a multiple of a copy of the samples. */
#define _POSIX_C_SOURCE 199309L
#include "bench/bench.h"
#include "transform/opencl/cl_runtime.h"

enum { RUNS = 50, ROUNDS = 5 };

typedef struct measured {
    const char *name;
    l2k_wavelet wavelet;
    l2k_coefficient_type type;
    l2k_sample_type sample;
    uint32_t components;
} measured;

static const measured all[] = {
    {"5/3 int16", L2K_WAVELET_5_3, L2K_COEFFICIENT_INT16, L2K_SAMPLE_S16, 1},
    {"9/7 float", L2K_WAVELET_9_7, L2K_COEFFICIENT_FLOAT32, L2K_SAMPLE_F32, 1},
    {"9/7 int16", L2K_WAVELET_9_7, L2K_COEFFICIENT_INT16, L2K_SAMPLE_S16, 1},
    {"RGB 5/3", L2K_WAVELET_5_3, L2K_COEFFICIENT_INT16, L2K_SAMPLE_U8, 3},
    {"RGB 9/7", L2K_WAVELET_9_7, L2K_COEFFICIENT_INT16, L2K_SAMPLE_U8, 3},
};

/* Microseconds: the least of some rounds, each of many runs in a row, of a plan or, where that is NULL, of a copy. */
static double time_runs(l2k_plan *plan, const l2k_plane *planes, cl_command_queue queue, cl_mem from, cl_mem to,
                        size_t bytes)
{
    double least = 1e30;
    for (int round = 0; round < ROUNDS; round++) {
        l2k_cl.Finish(queue);
        const double start = now();
        for (int run = 0; run < RUNS; run++)
            check(plan ? l2k_plan_run_on_device(plan, planes, queue) == L2K_OK
                       : l2k_cl.EnqueueCopyBuffer(queue, from, to, 0, 0, bytes, 0, NULL, NULL) == CL_SUCCESS,
                  "a run");
        l2k_cl.Finish(queue);
        const double each = 1e6 * (now() - start) / RUNS;
        least = each < least ? each : least;
    }
    return least;
}

static void measure(const l2k_context *context, const l2k_cl_device *device, cl_command_queue queue, const measured *m,
                    uint32_t side)
{
    const size_t sample = m->sample == L2K_SAMPLE_F32 ? 4 : m->sample == L2K_SAMPLE_U8 ? 1 : 2;
    const size_t bytes = sample * m->components * side * side;
    l2k_plan_component components[3];
    l2k_plane planes[3];
    cl_mem memory, copy;
    check(l2k_cl_buffer(context, device, CL_MEM_READ_WRITE, bytes, &memory) == L2K_OK &&
              l2k_cl_buffer(context, device, CL_MEM_READ_WRITE, bytes, &copy) == L2K_OK,
          "memory");
    const cl_uchar zero = 0;
    l2k_cl.EnqueueFillBuffer(queue, memory, &zero, 1, 0, bytes, 0, NULL, NULL);
    const double copied = time_runs(NULL, NULL, queue, memory, copy, bytes);
    for (uint32_t c = 0; c < m->components; c++) {
        components[c] = (l2k_plan_component){.rect = {0, 0, side, side},
                                             .levels = 5,
                                             .wavelet = m->wavelet,
                                             .precision = m->sample == L2K_SAMPLE_U8 ? 8 : 10,
                                             .is_signed = m->sample == L2K_SAMPLE_S16,
                                             .narrow_low = true};
        for (unsigned b = 0; b < L2K_MAX_SUBBANDS; b++)
            components[c].steps[b] = 0.5f;
        planes[c] = (l2k_plane){memory, (ptrdiff_t)(sample * m->components * side), (ptrdiff_t)(sample * m->components),
                                m->sample};
    }
    double times[2];
    for (int direction = 0; direction < 2; direction++) {
        l2k_plan_spec spec = {.direction = direction ? L2K_INVERSE : L2K_FORWARD,
                              .type = m->type,
                              .component_transform = m->components == 3,
                              .num_components = m->components,
                              .components = components,
                              .memory = L2K_PLAN_DEVICE};
        l2k_plan *plan;
        check(l2k_plan_create(context, L2K_BACKEND_OPENCL, &spec, &plan) == L2K_OK, "making a plan");
        times[direction] = time_runs(plan, planes, queue, NULL, NULL, 0);
        l2k_plan_free(plan);
    }
    printf("%-10s %5u: copy %7.1f us; forward %7.1f us (%.2f), inverse %7.1f us (%.2f)\n", m->name, (unsigned)side,
           copied, times[0], times[0] / copied, times[1], times[1] / copied);
    fflush(stdout);
    l2k_cl.ReleaseMemObject(memory);
    l2k_cl.ReleaseMemObject(copy);
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"4096", "8192"};
    const int number = argc > 1 ? atoi(argv[1]) : -1;
    const l2k_context context = {
        .hooks = {.message = report_message}, .threads = 1, .devices = number < 0 ? 0 : (uint64_t)1 << number};
    l2k_cl_device *device;
    cl_command_queue queue;
    if (l2k_cl_open(&context, &device) != L2K_OK || l2k_cl_queue(&context, device, false, &queue) != L2K_OK)
        return 1;
    printf("%s, %s, driver %s\n", device->info.name, device->info.vendor, device->info.driver);
    for (int i = 0; i < (argc > 2 ? argc - 2 : 2); i++)
        for (unsigned k = 0; k < sizeof all / sizeof *all; k++)
            measure(&context, device, queue, &all[k], (uint32_t)atoi(argc > 2 ? argv[i + 2] : usual[i]));
    l2k_cl.ReleaseCommandQueue(queue);
    return 0;
}
